import { openReceived, type Server, start as startServer } from '@vigia/server/start'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { control, order } from '../support/authority.ts'
import { type Client, type ClientResponse, type ListRow, newClient } from '../support/client.ts'
import { hasSchemas, schema, verifyWithXmlCrypto } from '../support/judges.ts'
import { type Product, startProduct } from '../support/product.ts'
import { letPass } from '../support/time.ts'

// The whole product against the simulated authority, which verifies signatures and schemas, and remembers every sending.

const main = { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' }
const automatic = { cnpj: '44555666000181', nome: 'EMPRESA LTDA', uf: 'SC' }
const many = { cnpj: '11222333000181', nome: 'EMPRESA BETA LTDA', uf: 'RJ' }
// Everything is younger than every deadline.
const hourMs = 600_000
const since = () => Date.now() - 5 * 86_400_000

const patience = { timeout: 60_000, interval: 100 }
const stack = new AsyncDisposableStack()
let product: Product
let worker: Server
let client: Client
let database: pg.Client
const ids = new Map<string, string>()

beforeAll(async () => {
  product = stack.use(
    await startProduct({
      hourMs,
      roles: ['api'],
      simulator: { seed: 11, since: since(), companies: [main, automatic, many] },
    }),
  )
  worker = await startServer(product.config, { roles: ['worker'] })
  stack.defer(() => worker[Symbol.asyncDispose]())
  database = new pg.Client({ connectionString: product.databaseUrl })
  await database.connect()
  stack.defer(() => database.end())
  client = await newClient(product)
  for (const { cnpj } of [main, many]) ids.set(cnpj, await client.register(cnpj))
  await client.captured({ timeoutMs: 60_000 })
}, 120_000)
afterAll(() => stack.disposeAsync())

interface Manifested {
  documentos: { idDfe: string; numero: number; situacao: string; codigo?: number; mensagem: string }[]
}

interface Sent {
  chave: string
  tpEvento: number
  nSeqEvento: number
  cStat: number
  nProt?: string
  times: number
  authorizer: string
}

const manifest = (
  service: 'nfe' | 'cte',
  rows: Pick<ListRow, 'idDfe'>[],
  tipoManifestacao: number,
  more: object = {},
  by = client,
) =>
  by.call<Manifested>('POST', `/v1/api/DocumentosFiscais/manifestar-${service}`, {
    justificativa: 'A pedido do departamento fiscal',
    idsDFe: rows.map(({ idDfe }) => idDfe),
    tipoManifestacao,
    ...more,
  })

const listOf = (cnpj: string, query: string) => client.list(`${query}&IdEmpresa=${ids.get(cnpj)}`)
const rowOf = async (chave: string, type = 0) =>
  (await client.list(`TipoDFe=${type}&CampoPesquisa=${chave}`)).find((row) => row.chave === chave)!

const completed = (rows: Pick<ListRow, 'chave'>[]) =>
  vi.waitFor(async () => {
    for (const { chave } of rows)
      expect(await rowOf(chave)).toMatchObject({ notaCompleta: true, status: { codigoEvento: 210210 } })
  }, patience)

// Documents of which nothing has been asked yet.
const used = new Set<string>()
async function fresh(count: number, query = 'TipoDFe=0&Status=1', cnpj = main.cnpj): Promise<ListRow[]> {
  const untouched = (row: ListRow) => !used.has(row.chave) && row.status.codigoEvento !== 110111
  const rows = (await listOf(cnpj, query)).filter(untouched).slice(0, count)
  expect(rows).toHaveLength(count)
  for (const row of rows) used.add(row.chave)
  return rows
}

const addFault = (fault: object) => order(product.simulator, 'faults', fault)

const sentBy = async (cnpj: string) =>
  (await control<{ events: Sent[] }>(product.simulator, `events?cnpj=${cnpj}`)).events
const sentAbout = async ({ chave }: Pick<ListRow, 'chave'>, cnpj = main.cnpj) =>
  (await sentBy(cnpj)).filter((event) => event.chave === chave)

function outcome({ status, body }: { status: number; body: ClientResponse<Manifested> }) {
  return { status, message: body.message, documents: body.data?.documentos.map(({ situacao }) => situacao) }
}

test('a Ciência turns the summary into the complete note', async () => {
  const rows = await fresh(2)
  expect(outcome(await manifest('nfe', rows, 1))).toEqual({
    status: 200,
    message: '2 documentos manifestados.',
    documents: ['registrada', 'registrada'],
  })
  for (const { chave } of rows)
    expect((await rowOf(chave)).status).toEqual({ codigoEvento: 210210, descricaoEvento: 'Ciência da Operação' })
  // The distribution is asked as soon as its rules allow, not an hour later than that.
  await letPass(product, 1.25 * hourMs)
  await completed(rows)
})

test.each([
  [2, 210200, 'Confirmação da Operação', 6],
  [3, 210220, 'Desconhecimento da Operação', 4],
  [4, 210240, 'Operação não Realizada', 5],
])('choice %i is registered as %i, shown and found as %s', async (choice, tpEvento, descricaoEvento, status) => {
  const [row] = await fresh(1)
  const { body } = await manifest('nfe', [row!], choice)
  expect(body).toMatchObject({
    success: true,
    message: '1 documento manifestado.',
    data: {
      documentos: [{ idDfe: row!.idDfe, numero: row!.numero, chave: row!.chave, situacao: 'registrada', codigo: 135 }],
    },
  })
  expect(await rowOf(row!.chave)).toMatchObject({ status: { codigoEvento: tpEvento, descricaoEvento } })
  expect((await listOf(main.cnpj, `TipoDFe=0&Status=${status}`)).map(({ chave }) => chave)).toContain(row!.chave)
  expect(await sentAbout(row!)).toMatchObject([{ tpEvento, nSeqEvento: 1, cStat: 135, times: 1 }])
})

test('a service that is closed is left alone until it may be asked again', async () => {
  const [row] = await fresh(1)
  await addFault({ fault: '108', of: 'events', times: 1 })
  expect(outcome(await manifest('nfe', [row!], 1)).documents).toEqual(['enviando'])
  await vi.waitFor(async () => {
    await letPass(product, hourMs / 6)
    expect((await rowOf(row!.chave)).status.codigoEvento).toBe(210210)
  }, patience)
  const { rows } = await database.query(
    'select k.c_stat from outgoing_event o join outgoing_event_call k on k.event_id = o.id where o.chave = $1 order by k.at',
    [row!.chave],
  )
  expect(rows.map((call) => call.c_stat)).toEqual([108, 135])
})

test('of many documents each is answered, and the refused ones are named with their reasons', async () => {
  const rows = await fresh(2)
  const [done] = await listOf(main.cnpj, 'TipoDFe=0&Status=6')
  const [cancelled] = await listOf(main.cnpj, 'TipoDFe=0&Status=3')
  const answer = await manifest('nfe', [rows[0]!, done!, cancelled!, rows[1]!], 1)
  expect(outcome(answer)).toEqual({
    status: 200,
    message: `2 manifestados, 2 recusados: Documento ${done!.numero}: A nota já tem uma manifestação final, que vale mais do que a Ciência. Documento ${cancelled!.numero}: A nota foi cancelada pelo emitente: não há mais o que manifestar.`,
    documents: ['registrada', 'recusada', 'recusada', 'registrada'],
  })
})

test('the Ciência that a switch gives says why, and brings the complete notes', async () => {
  const { cnpj } = automatic
  ids.set(cnpj, await client.register(cnpj))
  await client.captured({ timeoutMs: 40_000 })
  const waiting = await listOf(cnpj, 'TipoDFe=0&Status=1')
  expect(waiting.length).toBeGreaterThan(0)
  expect(await sentBy(cnpj)).toEqual([])
  const form = new FormData()
  form.append('IdEmpresa', ids.get(cnpj)!)
  form.append('RazaoSocial', automatic.nome)
  form.append('ConfiguracoesNfe.ManifestarCienciaAutomaticamente', 'true')
  expect((await client.call('PUT', '/v1/api/Empresas', form)).status).toBe(200)
  // The next query of the capture gives it; the notes come with the one after that.
  await letPass(product, 2.25 * hourMs)
  await vi.waitFor(async () => expect(await sentBy(cnpj)).toHaveLength(waiting.length), patience)
  await letPass(product, 1.25 * hourMs)
  await completed(waiting)
  const sent = await sentBy(cnpj)
  expect(sent.map(({ chave }) => chave).sort()).toEqual(waiting.map(({ chave }) => chave).sort())
  expect(sent.every(({ tpEvento, times, cStat }) => tpEvento === 210210 && times === 1 && cStat === 135)).toBe(true)
  const { body } = await client.call<{ eventos: { motivo: string; automatica: boolean }[] }>(
    'GET',
    `/v1/api/DocumentosFiscais/manifestacoes/${waiting[0]!.idDfe}`,
  )
  expect(body.data.eventos).toMatchObject([
    {
      automatica: true,
      motivo: expect.stringMatching(/^Ciência automática, ligada em \d\d\/\d\d\/\d{4} às \d\d:\d\d por Ana Souza\.$/),
    },
  ])
}, 180_000)

describe('CT-e', () => {
  const authorizedOnly = 'TipoDFe=2&Status=2'
  const untouched = (rows: ListRow[]) =>
    rows.filter((row) => row.status.codigoEvento === 100 && row.chave.slice(20, 22) === '57' && !used.has(row.chave))

  test('who pays disagrees, and takes it back', async () => {
    const [row] = untouched(await listOf(main.cnpj, `${authorizedOnly}&TipoParticipacao=7`))
    used.add(row!.chave)
    const short = await manifest('cte', [row!], 610110, { justificativa: 'caro' })
    expect(short.body.message).toBe(
      'A justificativa da Prestação em Desacordo precisa ter de 15 a 255 caracteres, e tem 4.',
    )
    expect((await manifest('cte', [row!], 610111)).body.message).toBe(
      'Não há desacordo registrado que possa ser cancelado.',
    )
    expect(outcome(await manifest('cte', [row!], 610110))).toMatchObject({ message: '1 evento registrado.' })
    expect((await rowOf(row!.chave, 2)).status).toEqual({
      codigoEvento: 610110,
      descricaoEvento: 'Prestação do Serviço em Desacordo',
    })
    expect(outcome(await manifest('cte', [row!], 610111))).toMatchObject({ message: '1 evento registrado.' })
    expect(await sentAbout(row!)).toMatchObject([
      { tpEvento: 610110, cStat: 135 },
      { tpEvento: 610111, cStat: 135 },
    ])
    expect((await manifest('cte', [row!], 1)).body).toMatchObject({
      statusCode: 409,
      message: 'Só a transportadora que emitiu o CT-e pode cancelá-lo ou corrigi-lo.',
    })
  })

  test('who issued it corrects, again and again, and cancels what has no correction', async () => {
    const mine = untouched(await listOf(main.cnpj, authorizedOnly))
    const byIssuer = Map.groupBy(mine, (row) => row.chave.slice(6, 20))
    const [carrier, rows] = [...byIssuer].sort((a, b) => b[1].length - a[1].length)[0]!
    expect(rows.length).toBeGreaterThan(1)
    const [corrected, cancelled] = rows as [ListRow, ListRow]
    for (const { chave } of [corrected, cancelled]) await handOver(chave, carrier)
    ids.set(carrier, await client.register(carrier))
    await client.captured({ timeoutMs: 40_000 })
    const own = await listOf(carrier, 'TipoDFe=2')
    const [first, second] = [corrected, cancelled].map((row) => own.find(({ chave }) => chave === row.chave)!)

    const refused = { correcoes: [{ grupoAlterado: 'vPrest', campoAlterado: 'vTPrest', valorAlterado: '1.00' }] }
    expect((await manifest('cte', [first!], 2, refused)).body).toMatchObject({
      statusCode: 400,
      message: 'O campo vPrest/vTPrest não pode ser corrigido por Carta de Correção (MOC CT-e, item 13).',
    })
    const text = { justificativa: 'ENTREGAR SOMENTE COM AGENDAMENTO' }
    expect(outcome(await manifest('cte', [first!], 2, text))).toMatchObject({ documents: ['registrada'] })
    const correcoes = [{ grupoAlterado: 'ide', campoAlterado: 'xMunFim', valorAlterado: 'JOINVILLE' }]
    expect(outcome(await manifest('cte', [first!], 2, { correcoes }))).toMatchObject({ documents: ['registrada'] })
    const own2 = (await listOf(carrier, 'TipoDFe=2&Status=7')).map(({ chave }) => chave)
    expect(own2).toContain(corrected.chave)
    const { rows: letters } = await database.query<{ signed_xml: string }>(
      'select signed_xml from outgoing_event where tp_evento = 110110 and chave = $1 order by sequence',
      [corrected.chave],
    )
    expect(letters).toHaveLength(2)
    expect(letters[1]!.signed_xml).toContain('ENTREGAR SOMENTE COM AGENDAMENTO')
    expect(letters[1]!.signed_xml).toContain(
      '<campoAlterado>xMunFim</campoAlterado><valorAlterado>JOINVILLE</valorAlterado>',
    )

    expect((await manifest('cte', [first!], 1)).body.message).toMatch(/Carta de Correção não pode mais ser cancelado/)
    expect(outcome(await manifest('cte', [second!], 1))).toMatchObject({ documents: ['registrada'] })
    const after = (await listOf(carrier, 'TipoDFe=2&Status=3')).map(({ chave }) => chave)
    expect(after).toContain(cancelled.chave)
    expect(await sentAbout(cancelled, carrier)).toMatchObject([{ tpEvento: 110111, cStat: 135, times: 1 }])
  })
})

// The distribution brings the emitente none of its own documents: here its sequence holds them all the same.
async function handOver(chave: string, cnpj: string): Promise<void> {
  const { rows } = await database.query<{ content: Buffer }>(
    `select case when k.id is null then r.content else r.content || k.der end as content
       from document d join receipt r using (workspace_id, company_id, nsu)
       left join issuer_certificate k on k.workspace_id = r.workspace_id and k.id = r.issuer_certificate_id
      where d.chave = $1 and r.service = 2`,
    [chave],
  )
  const xmlBase64 = openReceived(rows[0]!.content).toString('base64')
  await order(product.simulator, 'publish', { cnpj, service: 'cte', schema: 'procCTe_v4.00.xsd', xmlBase64 })
}

test('a worker that stops waits for the response that is under way', async () => {
  const [row] = await fresh(1)
  await addFault({ fault: 'delay', of: 'events', delayMs: 500, times: 1 })
  const answer = manifest('nfe', [row!], 1)
  await vi.waitFor(async () => expect(await sentAbout(row!)).toHaveLength(1), patience)
  await worker[Symbol.asyncDispose]()
  expect(outcome(await answer)).toMatchObject({ documents: ['registrada'] })
  expect(await sentAbout(row!)).toMatchObject([{ times: 1, cStat: 135 }])
  worker = await startServer(product.config, { roles: ['worker'] })
})

describe('everything that was sent', () => {
  interface Row {
    tp_evento: number
    signed_xml: string
  }
  const signed = async () =>
    (await database.query<Row>('select tp_evento, signed_xml from outgoing_event where signed_xml is not null')).rows

  test('carries a signature that xml-crypto accepts', async () => {
    const rows = await signed()
    const codes = [...new Set(rows.map((row) => row.tp_evento))].sort()
    expect(codes).toEqual([110110, 110111, 210200, 210210, 210220, 210240, 610110, 610111])
    for (const { signed_xml } of rows) expect(verifyWithXmlCrypto(signed_xml), signed_xml).toBe(true)
  })

  test.runIf(hasSchemas)('is valid against the official schemas', async () => {
    for (const { tp_evento, signed_xml } of await signed()) {
      const isNfe = signed_xml.startsWith('<evento ')
      const letters = /<CNPJ>[^<]*[A-Z]|<ch(NFe|CTe)>[^<]*[A-Z]/.test(signed_xml)
      const errors = isNfe ? nfeErrors(tp_evento, signed_xml, letters) : cteErrors(signed_xml)
      expect(errors, signed_xml).toEqual([])
    }
  })
})

function nfeErrors(tpEvento: number, xml: string, letters: boolean): string[] {
  const folder = letters ? 'nfe/Eventos_PL_010_V1.30' : 'nfe/Evento_ConfRecebto'
  const lote = `<envEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><idLote>1</idLote>${xml}</envEvento>`
  const detEvento = (/<detEvento.*<\/detEvento>/.exec(xml)?.[0] ?? '').replace(
    '<detEvento',
    '<detEvento xmlns="http://www.portalfiscal.inf.br/nfe"',
  )
  // The schema of 210220 knows no xJust, which that of the lote lets it have.
  const own = tpEvento === 210220 ? [] : schema(folder, `e${tpEvento}_v1.00.xsd`)(detEvento)
  return [...schema(folder, 'envConfRecebto_v1.00.xsd', letters)(lote), ...own]
}

function cteErrors(xml: string): string[] {
  const folder = 'cte/PL_CTe_400_NT2026.002_RTC_1.00'
  const [, name = '', content = ''] = /<detEvento versaoEvento="4.00"><(\w+)>(.*)<\/detEvento>/.exec(xml) ?? []
  const inner = `<${name} xmlns="http://www.portalfiscal.inf.br/cte">${content}`
  return [...schema(folder, 'eventoCTe_v4.00.xsd')(xml), ...schema(folder, `${name}_v4.00.xsd`)(inner)]
}
