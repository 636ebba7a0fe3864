import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import {
  certificateForm,
  cte,
  type DocumentPage,
  type DocumentRow,
  enter,
  nfe,
  readDocuments,
  type SpecificationClient,
  waitForCapture,
} from '../support/specification.ts'
import { letPass } from '../support/time.ts'

const path = '/v1/api/DocumentosFiscais'
const company = { cnpj: '12ABC34501DE35', nome: 'Padaria Aurora Ltda', uf: 'SP' }
const justificativa = 'A mercadoria não foi entregue'
const noDocument = 'Selecione pelo menos um documento para manifestar.'
const noJustification = 'A justificativa é obrigatória'
const longJustification = 'A justificativa deve ter no máximo 200 caracteres'
let product: Product
let client: SpecificationClient
let summaries: DocumentRow[]
let transport: DocumentRow[]

beforeAll(async () => {
  product = await startProduct({
    hourMs: 600_000,
    simulator: { companies: [company], documentsEach: 180 },
  })
  client = await enter(product.url)
  const file = await product.simulator.issueCertificate({ ...company, senha: 'abc123', sharedKey: true })
  await client.call('POST', '/v1/api/Empresas', { form: certificateForm({ file, password: 'abc123' }) })
  await waitForCapture(client)
  summaries = await readDocuments(client, { TipoDFe: nfe, Status: 1, TipoParticipacao: 1 })
  transport = await readDocuments(client, { TipoDFe: cte })
  expect(summaries.length).toBeGreaterThanOrEqual(8)
  expect(transport.length).toBeGreaterThan(0)
}, 180_000)
afterAll(() => product?.[Symbol.asyncDispose]())

const manifest = (kind: 'nfe' | 'cte', json: unknown) => client.call('POST', `${path}/manifestar-${kind}`, { json })

async function find(chave: string): Promise<DocumentRow> {
  const { data } = await client.get<DocumentPage>(path, { TipoDFe: nfe, CampoPesquisa: chave })
  return data.items[0]!
}

describe.each(['nfe', 'cte'] as const)('validation of %s', (kind) => {
  const id = () => (kind === 'nfe' ? summaries[0]! : transport[0]!).idDfe

  it.each([
    ['no document', { idsDFe: [] }, noDocument],
    ['documents left out', { idsDFe: undefined }, noDocument],
    ['documents null', { idsDFe: null }, noDocument],
    ['no justification', { justificativa: '' }, noJustification],
    ['a blank justification', { justificativa: '  \n\t ' }, noJustification],
    ['a justification left out', { justificativa: undefined }, noJustification],
    ['a justification null', { justificativa: null }, noJustification],
    ['201 characters', { justificativa: 'ã'.repeat(201) }, longJustification],
  ])('refuses %s', async (_, changes, message) => {
    const answer = await manifest(kind, { idsDFe: [id()], justificativa, tipoManifestacao: 2, ...changes })
    expect(answer).toMatchObject({ success: false, status: 400, errors: [message] })
  })

  it('names both mistakes at once', async () => {
    const answer = await manifest(kind, { idsDFe: [], justificativa: '', tipoManifestacao: 1 })
    expect(answer.errors.toSorted()).toEqual([noJustification, noDocument])
  })

  it.each([0, 5, -1, 1.5, 99, null, undefined, 'Ciência', {}, []])('refuses type %j', async (tipoManifestacao) => {
    expect(await manifest(kind, { idsDFe: [id()], justificativa, tipoManifestacao })).toMatchObject({ status: 400 })
  })

  it.each([
    ['a number', 5],
    ['an object', { a: 1 }],
    ['objects', [{ a: 1 }]],
    ['numbers', [1, 2]],
    ['nulls', [null]],
    ['empty texts', ['']],
    ['a path', ['../../etc/passwd']],
    ['a null character', ['\0']],
    ['10,000 unknown ids', Array.from({ length: 10_000 }, (_, i) => `desconhecido-${i}`)],
  ])('refuses %s for the documents', async (_, idsDFe) => {
    const answer = await manifest(kind, { idsDFe, justificativa, tipoManifestacao: 1 })
    expect(answer.success).toBe(false)
    expect(answer.status).toBeLessThan(500)
  })

  it('refuses an unknown document', async () => {
    const answer = await manifest(kind, { idsDFe: ['YlY_9LbxcLT-GoM0Oocwow'], justificativa, tipoManifestacao: 1 })
    expect(answer).toMatchObject({ success: false, status: 404 })
  })

  it('refuses a document of the other kind as it refuses an unknown one', async () => {
    const other = (kind === 'nfe' ? transport[0]! : summaries[0]!).idDfe
    const unknown = await manifest(kind, { idsDFe: ['YlY_9LbxcLT-GoM0Oocwow'], justificativa, tipoManifestacao: 1 })
    const answer = await manifest(kind, { idsDFe: [other], justificativa, tipoManifestacao: 1 })
    expect(answer).toMatchObject({ success: false, status: unknown.status, message: unknown.message })
  })
})

it('has changed nothing by all that was refused', async () => {
  const rows = await readDocuments(client, { TipoDFe: nfe, Status: 1, TipoParticipacao: 1 })
  expect(rows.map((row) => row.idDfe)).toEqual(summaries.map((row) => row.idDfe))
})

it('refuses a list in which one document is unknown, or leaves the unknown one out in words', async () => {
  const ids = [summaries.at(-1)!.idDfe, 'YlY_9LbxcLT-GoM0Oocwow']
  const answer = await manifest('nfe', { idsDFe: ids, justificativa, tipoManifestacao: 1 })
  if (answer.success) expect(answer.message).toMatch(/1/)
  else expect((await find(summaries.at(-1)!.chave)).status).toEqual(summaries.at(-1)!.status)
})

// Ciência is taken for ten days only, so it has the newest notes.
it.each([
  ['Ciência', 1, 0, 210210, 8],
  ['Confirmação', 2, 3, 210200, 6],
  ['Desconhecimento', 3, 4, 210220, 4],
  ['Não Realizada', 4, 5, 210240, 5],
])('manifests %s', async (_, tipoManifestacao, note, codigoEvento, Status) => {
  const { chave, idDfe } = summaries[note]!
  const answer = await manifest('nfe', { idsDFe: [idDfe], justificativa, tipoManifestacao })
  expect(answer).toMatchObject({ success: true, status: 200, errors: [] })
  await vi.waitFor(async () => expect((await find(chave)).status.codigoEvento).toBe(codigoEvento), {
    timeout: 60_000,
    interval: 500,
  })
  const found = await readDocuments(client, { TipoDFe: nfe, Status })
  expect(found.map((row) => row.chave)).toContain(chave)
  const before = await readDocuments(client, { TipoDFe: nfe, Status: 1 })
  expect(before.map((row) => row.chave)).not.toContain(chave)
})

it('gets the complete note after Ciência, and its DANFE', async () => {
  const { chave, idDfe } = summaries[0]!
  await letPass(product, 1.25 * 600_000)
  await vi.waitFor(async () => expect((await find(chave)).notaCompleta).toBe(true), { timeout: 25_000, interval: 100 })
  const answer = await client.file(`${path}/danfe/${idDfe}`)
  expect(answer).toMatchObject({ type: expect.stringMatching(/^application\/pdf\b/) })
})

it('manifests several at once, each once, and says how many', async () => {
  const chosen = [summaries[1]!, summaries[2]!, summaries[1]!]
  const answer = await manifest('nfe', {
    idsDFe: chosen.map((row) => row.idDfe),
    justificativa: ` ${'ç'.repeat(200)} `,
    tipoManifestacao: 1,
  })
  expect(answer).toMatchObject({ success: true, message: expect.stringMatching(/\b2\b/) })
})

it('says in words what became of a second Ciência', async () => {
  const answer = await manifest('nfe', { idsDFe: [summaries[0]!.idDfe], justificativa, tipoManifestacao: 1 })
  expect(answer.status).toBeLessThan(500)
  expect(answer.message).toMatch(/\S+ \S+ \S+/)
})

it.each([
  ['Cancelamento', 1],
  ['Carta Correção', 2],
])('refuses the %s of a CT-e that another company issued', async (_, tipoManifestacao) => {
  const answer = await manifest('cte', { idsDFe: [transport[0]!.idDfe], justificativa, tipoManifestacao })
  expect(answer.success).toBe(false)
  expect(answer.status).toBeLessThan(500)
})

it('does not know the types of the NF-e for a CT-e', async () => {
  for (const tipoManifestacao of [3, 4]) {
    const answer = await manifest('cte', { idsDFe: [transport[0]!.idDfe], justificativa, tipoManifestacao })
    expect(answer).toMatchObject({ success: false, status: 400 })
  }
})
