import { grantPlan, operate } from '@vigia/server/start'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callsOf, control, truthOf } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { grantUnlimited, type Product, startProduct } from '../support/product.ts'
import { captureRests, letPass } from '../support/time.ts'

// The trial of a workspace ends while documents go on coming, also for another workspace with the same CNPJ, and a plan is activated later.
const company = { cnpj: '44555666000181', nome: 'EMPRESA LTDA', uf: 'SC' }
const shared = { cnpj: '12ABC34501DE35', nome: 'EMPRESA COMUM LTDA', uf: 'PR' }
const hourMs = 600_000
const anHour = () => letPass(product, 2.25 * hourMs)
const patience = { timeout: 60_000, interval: 100 }
const accounts = { basic: accountOf('ana', 1), paying: accountOf('bruno', 2), ending: accountOf('carla', 2) }
let product: Product
let owner: pg.Client
let basic: Client
let paying: Client
let ending: Client

function accountOf(name: string, tipoPlano: number) {
  return { nome: name, email: `${name}@exemplo.com.br`, senha: 'segredo1', tipoPlano }
}

interface Plan {
  nome: string
  situacao: string
  mensagem: string
  capturaPausada: boolean
  empresas: { usadas: number; limite: number | null }
  documentosNoMes: { usadas: number; limite: number | null }
}
interface Row {
  cnpj: string
  ultimaSincronizacaoNFe: string
  ultimaSincronizacaoCTe: string
  captura: {
    estado: string
    mensagem: string
    proximaConsulta: string | null
    ultimoNsu: string
    maxNsu: string
    ultimaResposta: string | null
  }[]
}

beforeAll(async () => {
  product = await startProduct({
    hourMs,
    simulator: { seed: 23, companies: [company, shared], documentsEach: 40, liveEveryMs: 100 },
  })
  owner = new pg.Client({ connectionString: product.databaseUrl })
  await owner.connect()
  ;[basic, paying, ending] = [
    await newClient(product, accounts.basic),
    await newClient(product, accounts.paying),
    await newClient(product, accounts.ending),
  ]
  await grantUnlimited(product, accounts.paying.email)
}, 120_000)
afterAll(async () => {
  await owner?.end()
  await product?.[Symbol.asyncDispose]()
})

const planOf = async (client: Client) => (await client.call<Plan>('GET', '/v1/api/Plano')).body.data
const rowsOf = async (client: Client) => (await client.call<Row[]>('GET', '/v1/api/Empresas/obter-empresas')).body.data
const chavesOf = async (client: Client) =>
  [...(await client.list('TipoDFe=0')), ...(await client.list('TipoDFe=2'))].map((row) => row.chave).sort()
const heldFor = async (cnpj: string) => {
  const rows = (await truthOf(product.simulator, cnpj)).filter(({ kind }) => kind === 'document' || kind === 'summary')
  return [...new Set(rows.map((row) => row.chave!))].sort()
}

// New documents go on coming, so that only the captured ones of one moment can be compared with those of an earlier one.
async function becomesComplete(client: Client, cnpj: string): Promise<void> {
  const held = await heldFor(cnpj)
  await vi.waitFor(async () => {
    await anHour()
    await captureRests(product)
    expect(await chavesOf(client)).toEqual(expect.arrayContaining(held))
  }, patience)
}

const endTrial = (email: string) =>
  owner.query(
    "update workspace set trial_until = now() - interval '1 minute', review_at = now() where id = (select workspace_id from account where email = $1)",
    [email],
  )

async function register(client: Client, { cnpj, nome, uf }: typeof company) {
  const pfx = await product.simulator.issueCertificate({ cnpj, nome, uf, senha: 'segredo', sharedKey: true })
  const form = new FormData()
  form.append('Certificado', new File([new Uint8Array(pfx)], 'empresa.pfx'))
  form.append('Senha', 'segredo')
  return client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', form)
}

const timeless = ({ ultimaSincronizacaoNFe, ultimaSincronizacaoCTe, captura, ...row }: Row) => ({
  ...row,
  captura: captura.map(({ ultimaResposta, ...capture }) => capture),
})

let companyId: string

test('a trial has the room of its plan, and says so', async () => {
  const created = await register(basic, company)
  expect(created.status).toBe(200)
  companyId = created.body.data.idEmpresa
  const { status, body } = await register(basic, shared)
  expect(status).toBe(402)
  expect(body).toMatchObject({ success: false, statusCode: 402, data: null })
  expect(body.message).toMatch(/^O plano Básico permite 1 empresa, .*Nada foi alterado.*mude de plano/)
  await basic.captured({ timeoutMs: 60_000 })
  expect(await planOf(basic)).toMatchObject({
    nome: 'Básico',
    situacao: 'teste',
    capturaPausada: false,
    empresas: { usadas: 1, limite: 1 },
    documentosNoMes: { usadas: (await chavesOf(basic)).length, limite: 5_000 },
  })
}, 90_000)

test('when it has ended nothing is asked any more; reading, printing and answering go on', async () => {
  await endTrial(accounts.basic.email)
  await vi.waitFor(async () => expect((await planOf(basic)).capturaPausada).toBe(true), patience)
  // What had left already may still come.
  await captureRests(product)
  const [row] = await rowsOf(basic)
  for (const line of row!.captura) {
    expect(line).toMatchObject({ estado: 'parada', proximaConsulta: null, maxNsu: line.ultimoNsu })
    expect(line.mensagem).toMatch(/^O período de teste terminou em .*estão seguros.*90 dias.*Para ativar um plano/)
  }
  const [calls, chaves] = [await callsOf(product.simulator, company.cnpj), await chavesOf(basic)]
  const sync = await basic.call('POST', `/v1/api/Empresas/sincronizar?idEmpresa=${companyId}`)
  expect(sync.status).toBe(402)
  expect(sync.body.message).toBe((await planOf(basic)).mensagem)
  expect((await register(basic, shared)).status).toBe(402)

  const rows = await basic.list('TipoDFe=0')
  const complete = rows.find((one) => one.notaCompleta)!
  const printed = await basic.call('GET', `/v1/api/DocumentosFiscais/danfe/${complete.idDfe}`)
  expect(printed.status).toBe(200)
  // A note that was addressed to the company and nobody answered yet.
  const received = rows.find((one) => one.tipoParticipacao === 1 && [0, 100].includes(one.status.codigoEvento))!
  const answered = await basic.call<{ documentos: { situacao: string }[] }>(
    'POST',
    '/v1/api/DocumentosFiscais/manifestar-nfe',
    { tipoManifestacao: 1, justificativa: 'Conferida', idsDFe: [received.idDfe] },
  )
  expect(answered.body.data.documentos.map(({ situacao }) => situacao)).toEqual(['registrada'])

  await vi.waitFor(async () => expect((await heldFor(company.cnpj)).length).toBeGreaterThan(chaves.length), patience)
  await anHour()
  await captureRests(product)
  expect(await callsOf(product.simulator, company.cnpj)).toEqual(calls)
  expect(await chavesOf(basic)).toEqual(chaves)
  const { rows: mails } = await owner.query("select kind from mail where recipient = $1 and kind like 'plano-%'", [
    accounts.basic.email,
  ])
  expect(mails).toEqual([{ kind: 'plano-terminou' }])
}, 120_000)

test('with a plan it goes on at once from where it stopped, and nothing is missing', async () => {
  await operate(product.config, (ctx) => grantPlan(ctx, accounts.basic.email, { type: 1, until: '2099-12-31' }))
  expect(await planOf(basic)).toMatchObject({ situacao: 'ativo', capturaPausada: false })
  await becomesComplete(basic, company.cnpj)
  const misuse = (await callsOf(product.simulator, company.cnpj)).filter((call) => call.cStat === 656)
  expect(misuse).toEqual([])
}, 90_000)

test('who shares a CNPJ goes on without knowing, and who was paused gets all of it afterwards', async () => {
  for (const client of [paying, ending]) expect((await register(client, shared)).status).toBe(200)
  for (const client of [paying, ending]) await client.captured({ timeoutMs: 60_000 })
  await vi.waitFor(async () => expect((await chavesOf(ending)).length).toBeGreaterThan(3), patience)
  const rowBefore = await rowsOf(paying)
  await endTrial(accounts.ending.email)
  await vi.waitFor(async () => expect((await planOf(ending)).capturaPausada).toBe(true), patience)
  await captureRests(product)
  const kept = await chavesOf(ending)
  const told = await rowsOf(ending)
  const completeness = async () =>
    (await ending.call('GET', `/v1/api/Empresas/completude?id=${await idOf(ending)}`)).body
  const before = await completeness()
  await vi.waitFor(async () => {
    await anHour()
    await captureRests(product)
    expect((await chavesOf(paying)).length).toBeGreaterThan(kept.length + 3)
  }, patience)
  expect(await chavesOf(ending)).toEqual(kept)
  // Nor does a paused workspace see what others captured, nor when: its own moments lie in the past, as far as time was moved.
  expect((await rowsOf(ending)).map(timeless)).toEqual(told.map(timeless))
  for (const [index, { ultimaSincronizacaoNFe }] of (await rowsOf(ending)).entries())
    expect(Date.parse(ultimaSincronizacaoNFe)).toBeLessThan(Date.parse(told[index]!.ultimaSincronizacaoNFe))
  expect(await completeness()).toEqual(before)
  expect((await rowsOf(paying))[0]!.captura.map(({ estado }) => estado)).not.toContain('parada')
  expect(rowBefore).toHaveLength(1)

  await operate(product.config, (ctx) => grantPlan(ctx, accounts.ending.email, { type: 2, until: null }))
  await becomesComplete(ending, shared.cnpj)
  const { misuse } = await control<{ misuse: { cnpj?: string; count: number; excused: number }[] }>(
    product.simulator,
    'misuse',
  )
  for (const row of misuse) expect(row.count - row.excused, JSON.stringify(row)).toBe(0)
}, 180_000)

const idOf = async (client: Client) =>
  (await client.call<{ id: string }[]>('GET', '/v1/api/Empresas/obter-empresas')).body.data[0]!.id
