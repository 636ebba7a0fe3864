import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'

const cnpj = '12ABC34501DE35'
interface List {
  items: { idDfe: string }[]
  totalDeItens: number
}
let product: Product
let mine: Client
let other: Client
let companyId: string
const documents: { idDfe: string; type: number }[] = []

beforeAll(async () => {
  product = await startProduct({ simulator: { seed: 3, companies: [{ cnpj, nome: 'EMPRESA ALFA LTDA', uf: 'SP' }] } })
  mine = await newClient(product)
  other = await newClient(product)
  companyId = await mine.register(cnpj)
  await vi.waitFor(
    async () => {
      documents.length = 0
      for (const type of [0, 2]) {
        const { body } = await mine.call<List>('GET', `/v1/api/DocumentosFiscais?TipoDFe=${type}`)
        documents.push(...body.data.items.map((item) => ({ idDfe: item.idDfe, type })))
      }
      expect(documents.filter((row) => row.type === 2)).not.toEqual([])
      expect(documents.filter((row) => row.type === 0)).not.toEqual([])
    },
    { timeout: 60_000, interval: 200 },
  )
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

test('every resource of another workspace is not found', async () => {
  const paths = [
    ['POST', `/v1/api/Empresas/sincronizar?idEmpresa=${companyId}`],
    ['GET', `/v1/api/DocumentosFiscais?TipoDFe=0&IdEmpresa=${companyId}`],
    ...documents
      .slice(0, 20)
      .map((row) => ['GET', `/v1/api/DocumentosFiscais/${row.type === 0 ? 'danfe' : 'dacte'}/${row.idDfe}`]),
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

test('asking again within the hour is answered with the time, and the authority is not asked', async () => {
  const calls = async () => {
    const response = await fetch(`${product.simulator.origin.replace('https:', 'http:')}/_control/calls?cnpj=${cnpj}`)
    return ((await response.json()) as { calls: unknown[] }).calls.length
  }
  const before = await calls()
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
  expect(await calls()).toBe(before)
})
