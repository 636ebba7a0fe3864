import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Client, type List, newClient } from '../support/client.ts'
import { newKey, newPersonOf } from '../support/good-calls.ts'
import { type Product, startProduct } from '../support/product.ts'
import { readZip } from '../support/zip.ts'

// A person limited to some companies sees the product as if the workspace had no others.

const [shown, hidden] = [
  { cnpj: '12ABC34501DE35', nome: 'PADARIA VISIVEL LTDA', uf: 'SP' },
  { cnpj: '44555666000181', nome: 'SEGREDO DO VIZINHO LTDA', uf: 'SC' },
] as const
const account = { nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }

let product: Product
let owner: pg.Client
let office: Client
let clerk: Client
let program: Client
let shownId: string
let hiddenId: string

beforeAll(async () => {
  product = await startProduct({
    hourMs: 600_000,
    simulator: { seed: 29, documentsEach: 60, companies: [shown, hidden] },
  })
  owner = new pg.Client({ connectionString: product.databaseUrl })
  await owner.connect()
  office = await newClient(product, account)
  shownId = await office.register(shown.cnpj, shown.nome)
  hiddenId = await office.register(hidden.cnpj, hidden.nome)
  await office.captured({ timeoutMs: 50_000 })
  // Lists tell of alerts, which come a moment after their documents.
  const judged = async () =>
    expect((await office.call<{ situacao: string }>('GET', '/v1/api/Alertas/resumo')).body.data.situacao).toBe('em-dia')
  await vi.waitFor(judged, { timeout: 90_000, interval: 200 })
  const { token } = await newPersonOf({ owner }, { account }, { role: 'fiscal', companies: [shownId] })
  clerk = await newClient(product, { token })
  const { idChave, chave } = await newKey({ owner }, { account })
  await owner.query(
    'update api_key set company_ids = array(select id from company where public_id = $2) where public_id = $1',
    [idChave, shownId],
  )
  program = await newClient(product, { token: chave })
}, 180_000)
afterAll(async () => {
  await owner?.end()
  await product?.[Symbol.asyncDispose]()
})

const get = async <T>(client: Client, path: string) => {
  const { status, body } = await client.call<T>('GET', path)
  expect(status, `${path}: ${body.message}`).toBe(200)
  return body.data
}
const listPath = '/v1/api/DocumentosFiscais'

test('alerts are those of the chosen companies', async () => {
  interface Alerts {
    items: { chave: string; idEmpresa: string }[]
    totalDeItens: number
  }
  const found = async (client: Client, query: string) => {
    const { items, totalDeItens } = await get<Alerts>(client, `/v1/api/Alertas?${query}`)
    return { chaves: items.map(({ chave }) => chave), totalDeItens }
  }
  // The companies are new: oddities are shown, but do not count yet.
  const state = 'Estado=em-aprendizado'
  const all = await found(office, `${state}&IdEmpresa=${shownId}`)
  expect(all.totalDeItens).toBeGreaterThan(0)
  const count = async (client: Client) =>
    (await get<{ emAprendizado: number }>(client, '/v1/api/Alertas/resumo')).emAprendizado
  for (const client of [clerk, program]) {
    expect(await found(client, state)).toEqual(all)
    expect(await count(client)).toBe(all.totalDeItens)
  }
})

test('lists, totals, orders and searches are those of the chosen companies', async () => {
  for (const type of [0, 2]) {
    const all = (await office.list(`TipoDFe=${type}`)).filter(({ idEmpresa }) => idEmpresa === shownId)
    expect(all.length).toBeGreaterThan(5)
    for (const client of [clerk, program]) expect(await client.list(`TipoDFe=${type}`)).toEqual(all)
    const { emitente, chave, dataEmissao } = all[0]!
    const month = dataEmissao.slice(0, 7)
    for (const query of [
      `Status=2&Ordem=valor`,
      `Status=1&Ordem=prazo`,
      'Ordem=emitente&Sentido=desc',
      'Ordem=chegada',
      'ValorDe=100&ValorAte=5000',
      'Marca=por-conferir',
      'Alerta=qualquer',
      `DataDe=${month}-01T00:00:00&DataAte=${month}-28T23:59:59`,
      `CampoPesquisa=${encodeURIComponent(emitente)}`,
      `CampoPesquisa=${chave}`,
      `CampoPesquisa=${encodeURIComponent('>1000')}`,
      'CampoPesquisa=ltda',
    ]) {
      const path = `${listPath}?TipoDFe=${type}&${query}`
      const wanted = await get<List>(office, `${path}&IdEmpresa=${shownId}`)
      expect(await get<List>(clerk, path), query).toEqual(wanted)
    }
    const outside = `${listPath}/fora-do-periodo?TipoDFe=${type}&CampoPesquisa=ltda&DataDe=2020-01-01T00:00:00&DataAte=2020-01-31T23:59:59`
    expect(await get(clerk, outside)).toEqual(await get(office, `${outside}&IdEmpresa=${shownId}`))
    expect(
      await get(clerk, `${listPath}?TipoDFe=${type}&CampoPesquisa=${encodeURIComponent('segredo do vizinho')}`),
    ).toMatchObject({
      totalDeItens: 0,
    })
  }
})

test('suppliers of hidden companies alone are not suggested', async () => {
  const of = async (idEmpresa: string) =>
    new Set(
      (await office.list('TipoDFe=0')).filter((row) => row.idEmpresa === idEmpresa).map(({ emitente }) => emitente),
    )
  const known = await of(shownId)
  const foreign = [...(await of(hiddenId))].find((name) => !known.has(name))!
  const suggested = async (client: Client) =>
    JSON.stringify(
      await get(client, `${listPath}/sugestoes?TipoDFe=0&CampoPesquisa=${encodeURIComponent(foreign.slice(0, 12))}`),
    )
  expect(await suggested(office)).toContain(foreign)
  expect(await suggested(clerk)).not.toContain(foreign)
})

test('the dashboard, the companies, the change feed and the messages tell of no other', async () => {
  interface Numbers {
    totalNfeCte: number
    qtdEmpresasCadastradas: number
    qtdDocumentosPorEmpresa: { razaoSocial: string; totalNfeCte: number }[]
  }
  const whole = await get<Numbers>(office, '/v1/api/Dashboard')
  const own = await get<Numbers>(clerk, '/v1/api/Dashboard')
  const row = whole.qtdDocumentosPorEmpresa.find(({ razaoSocial }) => razaoSocial === shown.nome)!
  expect(own).toMatchObject({ qtdEmpresasCadastradas: 1, totalNfeCte: row.totalNfeCte, qtdDocumentosPorEmpresa: [row] })
  expect(await get<{ id: string }[]>(clerk, '/v1/api/Empresas/obter-empresas')).toMatchObject([{ id: shownId }])
  for (const client of [clerk, program]) {
    const { alteracoes } = await get<{ alteracoes: { idEmpresa: string }[] }>(client, '/v1/api/Alteracoes?desde=0')
    expect(new Set(alteracoes.map(({ idEmpresa }) => idEmpresa))).toEqual(new Set([shownId]))
  }
  const told = async (client: Client) => JSON.stringify(await get(client, '/v1/api/Avisos'))
  await expect.poll(() => told(office), { timeout: 30_000 }).toContain('Captura')
  expect(await told(clerk)).not.toContain(hidden.nome)
})

test('a hidden document does not exist, and nothing is sent about it', async () => {
  const mine = (await office.list('TipoDFe=0&Status=1')).filter(({ idEmpresa }) => idEmpresa === hiddenId)
  const idsDFe = mine.slice(0, 2).map(({ idDfe }) => idDfe)
  const sent = async () => (await owner.query('select count(*)::int as n from outgoing_event')).rows[0].n
  const body = { idsDFe, justificativa: 'A pedido do fiscal', tipoManifestacao: 1 }
  for (const idDfe of idsDFe)
    for (const path of ['detalhes', 'xml', 'danfe', 'manifestacoes'])
      expect((await clerk.call('GET', `${listPath}/${path}/${idDfe}`)).status, path).toBe(404)
  const before = await sent()
  expect((await clerk.call('POST', `${listPath}/manifestar-nfe`, body)).status).toBe(404)
  expect((await clerk.call('POST', `${listPath}/exportar`, { idsDFe, xml: true })).status).toBe(404)
  expect((await clerk.call('GET', `/v1/api/Empresas/obter-empresa?id=${hiddenId}`)).status).toBe(404)
  expect(await sent()).toBe(before)
  const own = (await clerk.list('TipoDFe=0&Status=1'))[0]!.idDfe
  expect((await clerk.call('POST', `${listPath}/manifestar-nfe`, { ...body, idsDFe: [own] })).status).toBe(200)
  expect(await sent()).toBe(before + 1)
})

test('an export holds what its person sees, and is theirs', async () => {
  const rows = await clerk.list('TipoDFe=2')
  const { body } = await clerk.call<{ idExportacao: string; endereco: string }>('POST', `${listPath}/exportar`, {
    filtro: { TipoDFe: 2 },
    xml: true,
    planilha: true,
  })
  const { status, bytes } = await clerk.call('GET', new URL(body.data.endereco, product.url).pathname)
  expect(status).toBe(200)
  const files = readZip(bytes)
  const xml = [...files.keys()].filter((name) => name.endsWith('.xml'))
  const complete = rows.filter(({ notaCompleta }) => notaCompleta)
  expect(xml.length).toBeGreaterThanOrEqual(complete.length)
  for (const { chave } of complete)
    expect(
      xml.some((name) => name.includes(chave)),
      chave,
    ).toBe(true)
  const foreign = (await office.list('TipoDFe=2')).filter(({ idEmpresa }) => idEmpresa === hiddenId)
  for (const { chave } of foreign.filter(({ chave }) => !rows.some((row) => row.chave === chave)))
    expect(
      xml.some((name) => name.includes(chave)),
      chave,
    ).toBe(false)
  await office.call('POST', `${listPath}/exportar`, { filtro: { TipoDFe: 0 }, xml: true })
  const listed = async (client: Client) => (await get<object[]>(client, `${listPath}/exportacoes`)).length
  expect([await listed(office), await listed(clerk)]).toEqual([2, 1])
})

test('a company is cared for by who may see it, without its certificate, and of others nothing changes', async () => {
  const form = (id: string, certificate?: Uint8Array) => {
    const fields = new FormData()
    fields.append('IdEmpresa', id)
    fields.append('RazaoSocial', shown.nome)
    if (certificate) {
      fields.append('CertificadoDigital.Certificado', new File([new Uint8Array(certificate)], 'a.pfx'))
      fields.append('CertificadoDigital.Senha', 'segredo')
    }
    return fields
  }
  const change = async (id: string, certificate?: Uint8Array) =>
    (await clerk.call('PUT', '/v1/api/Empresas', form(id, certificate))).status
  expect([await change(shownId), await change(hiddenId)]).toEqual([200, 404])
  expect(await change(shownId, Buffer.from('x'))).toBe(403)
  const lines = async () =>
    (await owner.query('select cnpj, service, paused, automatic, wanted from capture_line order by 1, 2')).rows
  const before = await lines()
  expect((await clerk.call('POST', `/v1/api/Empresas/arquivar?id=${shownId}`)).status).toBe(200)
  expect((await clerk.call('POST', `/v1/api/Empresas/reativar?id=${shownId}`)).status).toBe(200)
  expect(await lines()).toEqual(before)
  expect((await clerk.call('POST', `/v1/api/Empresas/sincronizar?idEmpresa=${shownId}`)).status).toBe(200)
})

// Last: its person takes the place of the one before.
test('the archive of everything is for administrators, and a link is good for what its person may see', async () => {
  await owner.query(
    `insert into document_export (workspace_id, account_id, form, state, request)
     select workspace_id, id, 'zip', 'ready', '{"leaving": {"pdf": false, "number": 1, "of": 1, "after": null, "upto": null}, "fileName": "Tudo.zip", "requestedBy": "Ana"}'
       from account where email = $1`,
    [account.email],
  )
  const { token } = await newPersonOf({ owner }, { account }, { role: 'leitura' })
  const reader = await newClient(product, { token })
  interface Listed {
    idExportacao: string
    tudo: boolean
  }
  const everything = (await get<Listed[]>(office, `${listPath}/exportacoes`)).find(({ tudo }) => tudo)!
  expect((await get<Listed[]>(reader, `${listPath}/exportacoes`)).filter(({ tudo }) => tudo)).toEqual([])
  expect((await reader.call('POST', `${listPath}/exportacoes/${everything.idExportacao}/link`)).status).toBe(404)
  const { body } = await reader.call<{ endereco: string }>('POST', `${listPath}/exportar`, {
    filtro: { TipoDFe: 2 },
    xml: true,
  })
  await owner.query("update account set all_companies = false where name = 'Pessoa da Equipe'")
  const address = new URL(body.data.endereco, product.url).pathname
  expect((await reader.call('GET', address)).status).toBe(410)
})
