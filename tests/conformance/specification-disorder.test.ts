import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import {
  type Answer,
  type CallOptions,
  type CompanyDetail,
  type CompanyRow,
  certificateForm,
  cnpjOf,
  companyForm,
  cte,
  type DocumentPage,
  enter,
  nfe,
  openClient,
  readDocuments,
  type SpecificationClient,
} from '../support/specification.ts'

const mine = { cnpj: '12ABC34501DE35', nome: 'Padaria Aurora Ltda', uf: 'SP' }
const theirs = { cnpj: cnpjOf('98ZYX765'), nome: 'Oficina Ipê Ltda', uf: 'MG' }
const unknownCompany = '00000000-0000-4000-8000-000000000000'
const unknownDocument = 'AAAAAAAAAAAAAAAAAAAAAA'
let product: Product
let me: SpecificationClient
let other: SpecificationClient
let ended = ''
const foreign = { company: '', nfe: '', cte: '', chave: '' }

beforeAll(async () => {
  product = await startProduct({
    hourMs: 5_000,
    simulator: { companies: [mine, theirs], documentsEach: 40, liveEveryMs: 3_600_000 },
  })
  me = await enter(product.url)
  other = await enter(product.url, { nome: 'Outra Pessoa' })
  const gone = await enter(product.url)
  await gone.post('/v1/api/Auth/sair')
  ended = `Bearer ${gone.token}`
  await register(me, mine)
  foreign.company = await register(other, theirs)
  await vi.waitFor(
    async () => {
      for (const client of [me, other]) {
        for (const TipoDFe of [nfe, cte]) expect((await readDocuments(client, { TipoDFe })).length).toBeGreaterThan(0)
      }
    },
    { timeout: 120_000, interval: 1_000 },
  )
  // A document that both companies share belongs to both.
  const mineToo = new Set((await readDocuments(me, { TipoDFe: nfe })).map((row) => row.chave))
  const note = (await readDocuments(other, { TipoDFe: nfe })).find(
    (row) => row.notaCompleta && !mineToo.has(row.chave),
  )!
  foreign.nfe = note.idDfe
  foreign.chave = note.chave
  foreign.cte = (await readDocuments(other, { TipoDFe: cte }))[0]!.idDfe
}, 180_000)
afterAll(() => product?.[Symbol.asyncDispose]())

async function register(client: SpecificationClient, company: { cnpj: string; nome: string }): Promise<string> {
  const file = await product.simulator.issueCertificate({ ...company, senha: 'abc123' })
  const form = certificateForm({ file, password: 'abc123' })
  const answer = await client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', { form })
  return answer.data.idEmpresa
}

const documents = '/v1/api/DocumentosFiscais'
const manifestation = (id: string) => ({
  json: { idsDFe: [id], justificativa: 'A carga não foi entregue', tipoManifestacao: 1 },
})

/** Every call of section 7 that needs a login. */
const guarded: [string, string, () => CallOptions][] = [
  ['GET', '/v1/api/Dashboard', () => ({})],
  ['GET', documents, () => ({ query: { TipoDFe: 0 } })],
  ['GET', `${documents}/danfe/${unknownDocument}`, () => ({})],
  ['GET', `${documents}/dacte/${unknownDocument}`, () => ({})],
  ['POST', `${documents}/manifestar-nfe`, () => manifestation(unknownDocument)],
  ['POST', `${documents}/manifestar-cte`, () => manifestation(unknownDocument)],
  ['GET', '/v1/api/Empresas/obter-empresas', () => ({})],
  ['GET', '/v1/api/Empresas/obter-empresa', () => ({ query: { id: unknownCompany } })],
  ['POST', '/v1/api/Empresas', () => ({ form: certificateForm({ file: new Uint8Array(9), password: 'abc123' }) })],
  ['PUT', '/v1/api/Empresas', () => ({ form: companyForm(unknownCompany) })],
  ['POST', '/v1/api/Empresas/sincronizar', () => ({ query: { idEmpresa: unknownCompany } })],
]

describe.each(guarded)('%s %s', (method, path, options) => {
  it.each([
    ['no token', undefined],
    ['a token nobody has', 'Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['an empty token', 'Bearer '],
    ['a word', 'Bearer'],
    ['another scheme', 'Basic YW5hOnNlbmhh'],
    ['two tokens', 'Bearer a b'],
    ['an unsigned JWT', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.'],
    ['quotes', 'Bearer \' or "1"="1'],
    ['8,000 characters', `Bearer ${'x'.repeat(8_000)}`],
  ])('refuses %s', async (_, authorization) => {
    const answer = await openClient(product.url).call(method, path, { ...options(), authorization })
    expect(answer).toMatchObject({
      success: false,
      status: 401,
      message: 'Sessão expirada. Faça login novamente.',
    })
  })

  it('refuses a session that was ended', async () => {
    const answer = await openClient(product.url).call(method, path, { ...options(), authorization: ended })
    expect(answer).toMatchObject({ success: false, status: 401, message: 'Sessão expirada. Faça login novamente.' })
  })

  it('refuses before it looks at the body', async () => {
    const type = method === 'PUT' || path === '/v1/api/Empresas' ? 'multipart/form-data' : 'application/json'
    if (method === 'GET') return
    const answer = await openClient(product.url).call(method, path, { raw: { body: '{"a":', type } })
    expect([400, 401]).toContain(answer.status)
  })
})

describe('the ids of another workspace', () => {
  const same = async (ask: (id: string) => Promise<Answer<unknown>>, id: string, unknown: string) => {
    const [answer, missing] = [await ask(id), await ask(unknown)]
    expect(answer.success).toBe(false)
    expect(answer.status).toBe(404)
    expect({ ...answer, headers: null }).toEqual({ ...missing, headers: null })
  }
  const companyCalls: [string, (id: string) => Promise<Answer<unknown>>][] = [
    ['detail', (id) => me.call('GET', '/v1/api/Empresas/obter-empresa', { query: { id } })],
    ['edit', (id) => me.call('PUT', '/v1/api/Empresas', { form: companyForm(id, { RazaoSocial: 'Tomada' }) })],
    ['sincronizar', (id) => me.call('POST', '/v1/api/Empresas/sincronizar', { query: { idEmpresa: id } })],
  ]

  it.each(companyCalls)('are unknown companies: %s', (_, ask) => same(ask, foreign.company, unknownCompany))

  it('are no filter', async () => {
    const answers = await Promise.all(
      [foreign.company, unknownCompany].map((IdEmpresa) =>
        me.call<DocumentPage | null>('GET', documents, { query: { TipoDFe: 0, IdEmpresa } }),
      ),
    )
    expect(answers[0]?.data?.items ?? []).toEqual([])
    expect({ ...answers[0], headers: null }).toEqual({ ...answers[1], headers: null })
  })

  it('are unknown documents', async () => {
    const print = (kind: string) => async (id: string) => {
      const answer = await me.file(`${documents}/${kind}/${id}`)
      if ('bytes' in answer) throw new Error('printed')
      return answer
    }
    await same(print('danfe'), foreign.nfe, unknownDocument)
    await same(print('dacte'), foreign.cte, unknownDocument)
    for (const kind of ['nfe', 'cte'] as const) {
      const ask = (id: string) => me.call('POST', `${documents}/manifestar-${kind}`, manifestation(id))
      await same(ask, foreign[kind], unknownDocument)
    }
  })

  it('spoil a list of documents together with mine, which stays as it was', async () => {
    const summary = (await readDocuments(me, { TipoDFe: nfe, Status: 1 }))[0]!
    const json = {
      idsDFe: [summary.idDfe, foreign.nfe],
      justificativa: 'A carga não foi entregue',
      tipoManifestacao: 1,
    }
    const answer = await me.call('POST', `${documents}/manifestar-nfe`, { json })
    expect(JSON.stringify(answer)).not.toContain(foreign.chave)
    expect(answer.status).toBeLessThan(500)
  })

  it('are found by no search', async () => {
    for (const CampoPesquisa of [foreign.chave, theirs.nome]) {
      for (const row of await readDocuments(me, { TipoDFe: nfe, CampoPesquisa })) {
        expect(row.idDfe).not.toBe(foreign.nfe)
        expect(row.chave).not.toBe(foreign.chave)
      }
    }
    const found = await me.get<CompanyRow[]>('/v1/api/Empresas/obter-empresas', { busca: theirs.nome })
    expect(found.data).toEqual([])
  })

  it('belong to the other as before', async () => {
    const { data } = await other.get<CompanyDetail>('/v1/api/Empresas/obter-empresa', { id: foreign.company })
    expect(data.razaoSocial).toBe(theirs.nome)
    const answer = await other.file(`${documents}/danfe/${foreign.nfe}`)
    expect('bytes' in answer).toBe(true)
  })
})

it('lets two workspaces watch the same company without showing one to the other', async () => {
  const id = await register(other, mine)
  const own = (await me.get<CompanyRow[]>('/v1/api/Empresas/obter-empresas')).data[0]!
  expect(id).not.toBe(own.id)
  expect((await me.call('GET', '/v1/api/Empresas/obter-empresa', { query: { id } })).status).toBe(404)
})

it.each([
  ['GET', '/v1/api/Auth'],
  ['PUT', '/v1/api/Auth'],
  ['GET', '/v1/api/Usuarios'],
  ['DELETE', '/v1/api/Dashboard'],
  ['POST', '/v1/api/Dashboard'],
  ['PATCH', '/v1/api/Empresas'],
  ['GET', '/v1/api/Empresas/sincronizar'],
  ['GET', '/v1/api/DocumentosFiscais/manifestar-nfe'],
  ['GET', '/v1/api/DocumentosFiscais/danfe/'],
  ['GET', '/v1/api/Nada'],
  ['GET', '/v1/api/'],
  ['GET', '/v1/api'],
  ['POST', '/health'],
])('answers %s %s, which the specification does not know, with the envelope', async (method, path) => {
  const answer = await me.call(method, path)
  expect([404, 405]).toContain(answer.status)
})

it.each([
  `${documents}/danfe/..%2f..%2fetc%2fpasswd`,
  `${documents}/danfe/%00`,
  `${documents}/dacte/%E0%A4%A`,
  `${documents}/danfe/${'a'.repeat(5_000)}`,
  '/v1/api/RecuperarSenha/%E0%A4%A',
  '/v1/api/%',
])('answers GET %s with words', async (path) => {
  const answer = await me.call('GET', path)
  expect(answer.success).toBe(false)
  expect(answer.status).toBeLessThan(500)
})
