import { start } from '@vigia/server/start'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import {
  certificateForm,
  cnpjOf,
  cte,
  type DashboardData,
  type DocumentPage,
  type DocumentRow,
  enter,
  nfe,
  type Query,
  readDocuments,
  type SpecificationClient,
  waitForCapture,
  withMask,
} from '../support/specification.ts'

const path = '/v1/api/DocumentosFiscais'
const companies = [
  { cnpj: '12ABC34501DE35', nome: 'Padaria Aurora Ltda', uf: 'SP' },
  { cnpj: cnpjOf('11222333'), nome: 'Oficina Ipê Ltda', uf: 'MG' },
]
const ids: string[] = []
const rows: Record<number, DocumentRow[]> = {}
let product: Product
let client: SpecificationClient

beforeAll(async () => {
  product = await startProduct({
    roles: ['api'],
    hourMs: 600_000,
    simulator: { companies, documentsEach: 100 },
  })
  await using _workers = await start(product.config, { roles: ['worker'] })
  client = await enter(product.url)
  for (const { cnpj, nome } of companies) {
    const file = await product.simulator.issueCertificate({ cnpj, nome, senha: 'abc123', sharedKey: true })
    const answer = await client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', {
      form: certificateForm({ file, password: 'abc123' }),
    })
    ids.push(answer.data.idEmpresa)
  }
  await waitForCapture(client)
  for (const TipoDFe of [nfe, cte]) rows[TipoDFe] = await readDocuments(client, { TipoDFe })
}, 180_000)
afterAll(() => product?.[Symbol.asyncDispose]())

const keys = (list: DocumentRow[]) => list.map((row) => row.idDfe).sort()
const plain = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()

/** The moment as the clocks of São Paulo show it, which observe no summer time. */
const local = (moment: string) => new Date(Date.parse(moment) - 3 * 3_600_000).toISOString().slice(0, 19)

const today = () => local(new Date().toISOString()).slice(0, 10)

function currentMonth(): Query {
  const [year, month] = today().split('-').map(Number) as [number, number]
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const prefix = today().slice(0, 7)
  return { DataDe: `${prefix}-01T00:00:00`, DataAte: `${prefix}-${last}T23:59:59` }
}

describe.each([
  ['NF-e', nfe, ['55'], [0, 1, 2, 3], [1, 2, 3, 4, 5, 6, 8]],
  ['CT-e', cte, ['57', '67'], [0, 1, 3, 4, 5, 6, 7], [2, 3, 7]],
])('the list of %s', (_, TipoDFe, models, participations, statuses) => {
  const list = () => rows[TipoDFe]!
  const find = (query: Query) => readDocuments(client, { TipoDFe, ...query })

  it('has rows as the specification names them', () => {
    for (const row of list()) {
      expect(row).toMatchObject({
        emitente: expect.stringMatching(/\S/),
        chave: expect.stringMatching(/^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/),
        valor: expect.any(Number),
        tipoParticipacao: expect.any(Number),
        status: { codigoEvento: expect.any(Number), descricaoEvento: expect.stringMatching(/\S/) },
        notaCompleta: expect.any(Boolean),
      })
      expect(String(row.idDfe)).toMatch(/\S/)
      expect(Date.parse(row.dataEmissao)).toBeLessThan(Date.now() + 60_000)
      expect(models).toContain(row.chave.slice(20, 22))
      expect(String(row.numero)).toBe(String(Number(row.chave.slice(25, 34))))
      expect(participations).toContain(row.tipoParticipacao)
    }
  })

  it('has every document once, the newest first', () => {
    expect(new Set(keys(list())).size).toBe(list().length)
    const moments = list().map((row) => Date.parse(row.dataEmissao))
    expect(moments).toEqual(moments.toSorted((a, b) => b - a))
  })

  it('has pages of one size, and an empty one or a refusal past the end', async () => {
    const first = await client.get<DocumentPage>(path, { TipoDFe, PaginaAtual: 1 })
    expect(first.data.totalDePaginas).toBe(Math.ceil(list().length / first.data.items.length))
    const past = await client.call<DocumentPage | null>('GET', path, {
      query: { TipoDFe, PaginaAtual: first.data.totalDePaginas + 1 },
    })
    if (past.success) expect(past.data).toMatchObject({ items: [], totalDePaginas: first.data.totalDePaginas })
    else expect(past.status).toBe(400)
  })

  it('takes page 1 when none is named', async () => {
    const first = await client.get<DocumentPage>(path, { TipoDFe, PaginaAtual: 1 })
    expect((await client.get<DocumentPage>(path, { TipoDFe })).data).toEqual(first.data)
  })

  it('takes an empty filter for none', async () => {
    const blank = { CampoPesquisa: '   ', IdEmpresa: '', Status: '', TipoParticipacao: '', DataDe: '', DataAte: '' }
    expect(keys(await find(blank))).toEqual(keys(list()))
  })

  it('puts each document into one company at least', async () => {
    const each = await Promise.all(ids.map((IdEmpresa) => find({ IdEmpresa })))
    for (const found of each) expect(found.length).toBeGreaterThan(0)
    expect([...new Set(each.flatMap(keys))].sort()).toEqual(keys(list()))
  })

  it('puts each document under one status', async () => {
    const each = await Promise.all(statuses.map((Status) => find({ Status })))
    expect(each.flatMap(keys).sort()).toEqual(keys(list()))
  })

  it('puts each document under its participation', async () => {
    const found = new Set<string>()
    for (const TipoParticipacao of participations) {
      const matches = keys(await find({ TipoParticipacao }))
      for (const id of matches) found.add(id)
      const shown = list().filter((row) => row.tipoParticipacao === TipoParticipacao)
      expect(matches).toEqual(expect.arrayContaining(keys(shown)))
    }
    expect([...found].sort()).toEqual(keys(list()))
  })

  it('shows the participation that was asked for', async () => {
    for (const TipoParticipacao of participations) {
      for (const row of await find({ TipoParticipacao })) expect(row.tipoParticipacao).toBe(TipoParticipacao)
    }
  })

  it('filters by the date of issue, both ends included, on the clock of São Paulo', async () => {
    const moments = list().map((row) => local(row.dataEmissao))
    for (const i of [0, Math.floor(moments.length / 2), moments.length - 1]) {
      const moment = moments[i]!
      const after = list().filter((row) => local(row.dataEmissao) >= moment)
      const before = list().filter((row) => local(row.dataEmissao) <= moment)
      expect(keys(await find({ DataDe: moment }))).toEqual(keys(after))
      expect(keys(await find({ DataAte: moment }))).toEqual(keys(before))
      const same = list().filter((row) => local(row.dataEmissao) === moment)
      expect(keys(await find({ DataDe: moment, DataAte: moment }))).toEqual(keys(same))
    }
  })

  it('finds by chave, with and without spaces', async () => {
    for (const row of [list()[0]!, list().at(-1)!]) {
      expect(keys(await find({ CampoPesquisa: row.chave }))).toEqual([row.idDfe])
      const spaced = row.chave.replace(/(.{4})/g, '$1 ')
      expect(keys(await find({ CampoPesquisa: spaced }))).toEqual([row.idDfe])
      expect(keys(await find({ CampoPesquisa: row.chave.toLowerCase() }))).toEqual([row.idDfe])
    }
  })

  it('finds by number', async () => {
    const row = list()[0]!
    const same = list().filter((other) => other.numero === row.numero)
    expect(keys(await find({ CampoPesquisa: String(row.numero) }))).toEqual(expect.arrayContaining(keys(same)))
  })

  it('finds by the CNPJ of the issuer, with and without mask', async () => {
    const cnpj = list()[0]!.chave.slice(6, 20)
    const issued = keys(list().filter((row) => row.chave.slice(6, 20) === cnpj))
    const found = keys(await find({ CampoPesquisa: cnpj }))
    expect(found).toEqual(expect.arrayContaining(issued))
    expect(keys(await find({ CampoPesquisa: withMask(cnpj) }))).toEqual(found)
    expect(keys(await find({ CampoPesquisa: withMask(cnpj).toLowerCase() }))).toEqual(found)
  })

  it('finds by the name of the issuer without its accents', async () => {
    const name =
      list().find((row) => plain(row.emitente) !== row.emitente.toLowerCase())?.emitente ?? list()[0]!.emitente
    const issued = keys(list().filter((row) => plain(row.emitente).includes(plain(name))))
    expect(keys(await find({ CampoPesquisa: name }))).toEqual(issued)
    expect(keys(await find({ CampoPesquisa: plain(name) }))).toEqual(issued)
    expect(keys(await find({ CampoPesquisa: `  ${plain(name).toUpperCase()} ` }))).toEqual(issued)
  })

  it.each(['%', '_', "' or 1=1 --", '\\', 'nada com este nome'])('finds nothing by %s', async (CampoPesquisa) => {
    expect(await find({ CampoPesquisa })).toEqual([])
  })
})

it('shows different documents as NF-e and CT-e', () => {
  expect(keys(rows[nfe]!).filter((id) => keys(rows[cte]!).includes(id))).toEqual([])
})

it.each([
  ['no TipoDFe', {}],
  ['an empty TipoDFe', { TipoDFe: '' }],
  ['an unknown TipoDFe', { TipoDFe: 1 }],
  ['words for TipoDFe', { TipoDFe: 'nfe' }],
  ['the wrong case', { tipodfe: 0 }],
  ['page 0', { TipoDFe: 0, PaginaAtual: 0 }],
  ['page -1', { TipoDFe: 0, PaginaAtual: -1 }],
  ['page 1.5', { TipoDFe: 0, PaginaAtual: 1.5 }],
  ['page um', { TipoDFe: 0, PaginaAtual: 'um' }],
  ['page NaN', { TipoDFe: 0, PaginaAtual: 'NaN' }],
  ['status 99', { TipoDFe: 0, Status: 99 }],
  ['status all', { TipoDFe: 0, Status: 'all' }],
  ['participation 9', { TipoDFe: 0, TipoParticipacao: 9 }],
  ['30 February', { TipoDFe: 0, DataDe: '2026-02-30T00:00:00' }],
  ['25 o’clock', { TipoDFe: 0, DataAte: '2026-02-03T25:00:00' }],
  ['a date in words', { TipoDFe: 0, DataDe: 'ontem' }],
  ['an inverted range', { TipoDFe: 0, DataDe: '2026-03-02T00:00:00', DataAte: '2026-03-01T00:00:00' }],
] satisfies [string, Query][])('refuses %s with words', async (_, query) => {
  const answer = await client.call('GET', path, { query })
  expect(answer).toMatchObject({ success: false, status: 400 })
})

it.each([
  ['a page far past the end', { TipoDFe: 0, PaginaAtual: 2_000_000_000 }],
  ['a page beyond every number', { TipoDFe: 0, PaginaAtual: '9'.repeat(30) }],
  ['a search of 4,000 characters', { TipoDFe: 0, CampoPesquisa: 'a'.repeat(4_000) }],
  ['a search of symbols', { TipoDFe: 0, CampoPesquisa: '🧾&|!:*()<->' }],
  ['a search with a null character', { TipoDFe: 0, CampoPesquisa: 'a\0b' }],
  ['the year 1', { TipoDFe: 0, DataDe: '0001-01-01T00:00:00' }],
] satisfies [string, Query][])('survives %s', async (_, query) => {
  const answer = await client.call<DocumentPage | null>('GET', path, { query })
  expect([200, 400]).toContain(answer.status)
})

// The first and the last moment that many languages know stand for "always"; they are written as the specification asks.
it('finds everything in a range far too wide, or says what is wrong with it', async () => {
  const query = { TipoDFe: nfe, DataDe: '0001-01-01T00:00:00', DataAte: '9999-12-31T23:59:59' }
  const answer = await client.call<DocumentPage>('GET', path, { query })
  if (answer.success) expect(keys(await readDocuments(client, query))).toEqual(keys(rows[nfe]!))
  else expect(answer.message).not.toMatch(/formato/)
})

it('prints a complete NF-e and a CT-e as PDF', async () => {
  const complete = rows[nfe]!.find((row) => row.notaCompleta)!
  for (const address of [`${path}/danfe/${complete.idDfe}`, `${path}/dacte/${rows[cte]![0]!.idDfe}`]) {
    const answer = await client.file(address)
    if (!('bytes' in answer)) throw new Error(answer.message)
    expect(answer.type).toMatch(/^application\/pdf\b/)
    expect(Buffer.from(answer.bytes.subarray(0, 5)).toString('latin1')).toBe('%PDF-')
  }
})

it('says why a note of which only the summary arrived has no DANFE', async () => {
  const summary = rows[nfe]!.find((row) => !row.notaCompleta)!
  const answer = await client.file(`${path}/danfe/${summary.idDfe}`)
  expect(answer).toMatchObject({ success: false, message: expect.stringMatching(/resumo/i) })
})

it('prints nothing of the wrong kind', async () => {
  const complete = rows[nfe]!.find((row) => row.notaCompleta)!
  for (const address of [
    `${path}/dacte/${complete.idDfe}`,
    `${path}/danfe/${rows[cte]![0]!.idDfe}`,
    `${path}/danfe/${ids[0]}`,
    `${path}/dacte/nada`,
  ]) {
    expect(await client.file(address)).toMatchObject({ success: false, status: 404 })
  }
})

it('has a dashboard that agrees with the lists of the month', async () => {
  const { data } = await client.get<DashboardData>('/v1/api/Dashboard')
  const count = async (query: Query) => (await readDocuments(client, { ...query, ...currentMonth() })).length
  expect(data.qtdEmpresasCadastradas).toBe(2)
  expect(data.qtdNfe).toBe(await count({ TipoDFe: nfe }))
  expect(data.qtdCte).toBe(await count({ TipoDFe: cte }))
  expect(data.totalNfeCte).toBe(data.qtdNfe + data.qtdCte)
  expect(data.qtdDocumentosPorEmpresa).toHaveLength(2)
  for (const [i, { nome }] of companies.entries()) {
    const row = data.qtdDocumentosPorEmpresa.find((company) => company.razaoSocial === nome)
    const qtdNfe = await count({ TipoDFe: nfe, IdEmpresa: ids[i] })
    const qtdCte = await count({ TipoDFe: cte, IdEmpresa: ids[i] })
    expect(row).toMatchObject({ razaoSocial: nome, qtdNfe, qtdCte, totalNfeCte: qtdNfe + qtdCte, ativa: true })
  }
})

it('has a recent activity of documents registered today', async () => {
  const { data } = await client.get<DashboardData>('/v1/api/Dashboard')
  expect(data.ultimosDocumentosProcessados.length).toBeGreaterThan(0)
  for (const recent of data.ultimosDocumentosProcessados) {
    const names = Object.keys(recent)
    expect(names).toEqual(expect.arrayContaining(['chaveDfe', 'dataCadastro', 'nomeEmitente', 'tipoDfe']))
    expect(local(recent.dataCadastro).slice(0, 10)).toBe(today())
    const row = rows[recent.tipoDfe]?.find((document) => document.chave === recent.chaveDfe)
    expect(row?.emitente).toBe(recent.nomeEmitente)
  }
})
