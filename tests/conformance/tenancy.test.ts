import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start as startSimulator } from '@vigia/simulator/start'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callsOf } from '../support/authority.ts'
import { type Client, type List, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'

const cnpj = '12ABC34501DE35'
let product: Product
let mine: Client
let other: Client
let companyId: string
const documents: { idDfe: string; type: number }[] = []

beforeAll(async () => {
  product = await startProduct({
    // An hour that outlasts this file.
    hourMs: 600_000,
    simulator: { seed: 3, documentsEach: 60, companies: [{ cnpj, nome: 'EMPRESA ALFA LTDA', uf: 'SP' }] },
  })
  mine = await newClient(product)
  other = await newClient(product)
  companyId = await mine.register(cnpj)
  await mine.captured({ timeoutMs: 50_000 })
  for (const type of [0, 2]) {
    const rows = await mine.list(`TipoDFe=${type}`)
    expect(rows).not.toEqual([])
    documents.push(...rows.slice(0, 3).map(({ idDfe }) => ({ idDfe, type })))
  }
})
afterAll(() => product?.[Symbol.asyncDispose]())

test('lists, dashboard and companies of another workspace are empty', async () => {
  expect((await other.call('GET', '/v1/api/Empresas/obter-empresas')).body.data).toEqual([])
  expect((await other.call<List>('GET', '/v1/api/DocumentosFiscais?TipoDFe=0')).body.data.totalDeItens).toBe(0)
  expect((await other.call<List>('GET', '/v1/api/DocumentosFiscais?TipoDFe=2')).body.data.totalDeItens).toBe(0)
  expect((await other.call('GET', '/v1/api/Dashboard')).body.data).toMatchObject({
    totalNfeCte: 0,
    qtdEmpresasCadastradas: 0,
  })
})

test('a search in another workspace finds neither the documents nor the company', async () => {
  const [document] = await mine.list('TipoDFe=0')
  for (const text of [document!.chave, document!.emitente])
    expect(await other.list(`TipoDFe=0&CampoPesquisa=${encodeURIComponent(text)}`)).toEqual([])
  expect((await other.call('GET', '/v1/api/Empresas/obter-empresas?busca=ALFA')).body.data).toEqual([])
})

test('a manifestação that names a document of another workspace sends nothing, and does not say what the document is', async () => {
  const [document] = await mine.list('TipoDFe=0&Status=1')
  const answer = await other.call('POST', '/v1/api/DocumentosFiscais/manifestar-nfe', {
    idsDFe: [document!.idDfe],
    justificativa: 'A carga não foi entregue',
    tipoManifestacao: 1,
  })
  expect(answer.status).toBe(404)
  expect(answer.bytes.toString()).not.toContain(document!.chave)
})

test('every resource of another workspace is not found', async () => {
  const paths = [
    ['POST', `/v1/api/Empresas/sincronizar?idEmpresa=${companyId}`],
    ['GET', `/v1/api/DocumentosFiscais?TipoDFe=0&IdEmpresa=${companyId}`],
    ...documents.map((row) => ['GET', `/v1/api/DocumentosFiscais/${row.type === 0 ? 'danfe' : 'dacte'}/${row.idDfe}`]),
  ] as [string, string][]
  for (const [method, path] of paths) {
    const answer = await other.call(method, path)
    expect(answer.status, path).toBe(404)
    expect(answer.body, path).toMatchObject({ success: false, data: null, statusCode: 404 })
    expect((await mine.call(method, path)).status, path).not.toBe(404)
  }
})

test('a company that another workspace has can be registered with its certificate, and twice in one cannot', async () => {
  await other.register(cnpj)
  await expect(other.register(cnpj)).rejects.toThrow('já está cadastrada')
})

test('a certificate of a made-up authority brings nothing, and takes nothing from its owner', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'vigia-forged-'))
  await using forger = await startSimulator({ port: 0, directory })
  const thief = await newClient({ url: product.url, simulator: forger })
  await thief.register(cnpj)
  const seen = async (client: Client) =>
    (await client.call<List>('GET', '/v1/api/DocumentosFiscais?TipoDFe=0')).body.data.totalDeItens
  expect(await seen(thief)).toBe(0)
  expect(await seen(mine)).toBeGreaterThan(0)
  const { body } = await thief.call<
    { captura: { ultimoNsu: string; maxNsu: string }[]; ultimaSincronizacaoNFe: string | null }[]
  >('GET', '/v1/api/Empresas/obter-empresas')
  expect(body.data[0]).toMatchObject({ ultimaSincronizacaoNFe: null })
  for (const line of body.data[0]!.captura) expect([Number(line.ultimoNsu), Number(line.maxNsu)]).toEqual([0, 0])
  await rm(directory, { recursive: true })
})

test('asking again within the hour is answered with the time, and the authority is not asked', async () => {
  const before = await callsOf(product.simulator, cnpj)
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      mine.call<{ proximaConsulta: string }>('POST', `/v1/api/Empresas/sincronizar?idEmpresa=${companyId}`),
    ),
  )
  for (const { status, body } of answers) {
    expect(status).toBe(200)
    expect(body.message).toMatch(/^A SEFAZ permite uma consulta por hora. A próxima será feita sozinha às \d\d:\d\d\.$/)
    expect(Date.parse(body.data.proximaConsulta)).toBeGreaterThan(Date.now())
  }
  expect(await callsOf(product.simulator, cnpj)).toEqual(before)
})
