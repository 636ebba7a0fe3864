import { gunzipSync } from 'node:zlib'
import type { DocumentDetail } from '@vigia/contract/documents'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { execute } from '../../../tests/support/database.ts'
import { showOnly } from '../companies/testing.ts'
import { documentRoutes } from '../documents/routes.ts'
import { arrive, chaveOf, evento, eventoCte, type NoteOptions, nfeProc, resNFe } from '../documents/testing.ts'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { serveRoutes } from '../platform/http/http.ts'
import { readSent } from './history.ts'
import { refreshDocuments } from './settle.ts'
import { author, type CteOptions, cteChave, cteProc, daysAgo, newOffice, type Office, store } from './testing.ts'

const { url, ctx } = await useContext({ PORT: '0' })
let office: Office
let app: FastifyInstance
let caller: Office

beforeAll(async () => {
  app = await serveRoutes(ctx, documentRoutes(readSent), async () => caller.session)
})
afterAll(async () => {
  await app.close()
})
beforeEach(async () => {
  office = await newOffice(ctx, { certificate: null })
  caller = office
})

const get = (path: string) =>
  app.inject({ url: `/v1/api/DocumentosFiscais${path}`, headers: { authorization: `Bearer ${'x'.repeat(43)}` } })

async function idOf(chave: string, of = office): Promise<string> {
  const row = await inWorkspace(ctx, of.workspaceId, ({ db }) =>
    db.selectFrom('document').select('id').where('chave', '=', chave).executeTakeFirstOrThrow(),
  )
  return ctx.ids.encode(of.workspaceId, row.id)
}

async function detail(chave: string): Promise<DocumentDetail> {
  const response = await get(`/detalhes/${await idOf(chave)}`)
  expect(response.statusCode, response.body).toBe(200)
  return response.json().data
}

const note = (options: NoteOptions, inside = '') =>
  nfeProc({ issuedAt: daysAgo(2), ...options }).replace('</infNFe>', `${inside}</infNFe>`)
const ours = (xml: string) => xml.replace('<CNPJ>11222333000181</CNPJ>', `<CNPJ>${author}</CNPJ>`)
const history = ({ historico }: DocumentDetail) =>
  historico.map(({ descricao, autor, origem, situacao }) => [descricao, autor, origem, situacao].join(' | '))

interface Sending {
  tpEvento: number
  sequence?: number
  state: 'waiting' | 'sending' | 'registered' | 'rejected'
  message?: string
  justification?: string
  automatic?: boolean
  hoursAgo?: number
}
async function send(chave: string, sending: Sending): Promise<void> {
  const { tpEvento, sequence = 1, state, message = 'Na fila.', justification = null, automatic, hoursAgo = 1 } = sending
  const at = new Date(Date.now() - hoursAgo * 3_600_000)
  await inWorkspace(ctx, office.workspaceId, async ({ db }) => {
    const document = await db
      .selectFrom('document')
      .select(['id', 'type'])
      .where('chave', '=', chave)
      .executeTakeFirstOrThrow()
    await db
      .insertInto('outgoing_event')
      .values({
        workspace_id: office.workspaceId,
        company_id: office.companyId,
        document_id: document.id,
        type: document.type,
        cnpj: author,
        chave,
        tp_evento: tpEvento,
        sequence,
        state,
        message,
        justification,
        why: automatic ? 'Ciência automática, ligada em 01/11/2026 às 10:00.' : 'Pedida por Ana Souza.',
        requested_by: automatic ? null : office.session.accountId,
        requested_at: at,
        ...(state === 'registered' && { registered_at: at, protocol: '891260000000009' }),
        ...(state === 'rejected' && { answered_at: at }),
      })
      .execute()
    await refreshDocuments({ db }, office.workspaceId, [{ documentId: document.id }])
  })
}

describe('what a document says', () => {
  test('an NF-e: its name, its parties, its totals, and the documents that it names', async () => {
    const [returned, cte] = [chaveOf({ number: 7 }), cteChave({ number: 9, issuer: '99888777000166' })]
    const ide = `<NFref><refNFe>${returned}</refNFe></NFref><NFref><refCTe>${cte}</refCTe></NFref><finNFe>4</finNFe></ide>`
    const issuerName = 'PAPELARIA SOL LTDA'
    await store(ctx, office, 'nfe', [
      arrive(1, note({ number: 1234, issuerName, issuer: '12ABC34501DE35' }).replace('</ide>', ide)),
      arrive(2, note({ number: 7 })),
    ])
    const said = await detail(chaveOf({ number: 1234, issuer: '12ABC34501DE35' }))
    expect(said).toMatchObject({
      nome: 'NF-e 1.234 da PAPELARIA SOL LTDA',
      documento: { numero: 1234, empresa: 'EMPRESA', notaCompleta: true, prazo: { para: 'manifestacao' } },
      itens: [],
      falta: null,
      relacionados: [
        { relacao: 'Nota devolvida por esta', chave: returned, tipo: 'nfe', idDfe: await idOf(returned) },
        { relacao: 'CT-e referenciado', chave: cte, tipo: 'cte', idDfe: null },
      ],
    })
    const facts = Object.fromEntries(said.secoes.map(({ titulo, campos }) => [titulo, campos]))
    expect(facts.Emitente).toEqual([
      { rotulo: 'Nome', valor: issuerName },
      { rotulo: 'CNPJ ou CPF', valor: '12.ABC.345/01DE-35' },
    ])
    expect(facts.Totais).toEqual([{ rotulo: 'Total da nota', valor: 'R$\u00a01.500,00' }])
  })

  test('a chave of a kind that is not delivered is of no family', async () => {
    const cited = ['58', '65'].map((model) => chaveOf({ number: 7 }).replace(/^(.{20})../, `$1${model}`))
    const ide = `${cited.map((chave) => `<NFref><refNFe>${chave}</refNFe></NFref>`).join('')}</ide>`
    await store(ctx, office, 'nfe', [arrive(1, note({ number: 1 }).replace('</ide>', ide))])
    expect((await detail(chaveOf({ number: 1 }))).relacionados).toEqual(
      cited.map((chave) => ({ relacao: 'Nota referenciada', chave, tipo: 'outro', idDfe: null })),
    )
  })

  test('a CT-e: who pays is marked, and the notes that it carries are found', async () => {
    const options: CteOptions = { number: 31, issuer: '99888777000166', payer: author }
    const carried = `<infCTeNorm><infDoc><infNFe><chave>${chaveOf({ number: 7 })}</chave></infNFe></infDoc></infCTeNorm></infCte>`
    await store(ctx, office, 'nfe', [arrive(1, note({ number: 7 }))])
    await store(ctx, office, 'cte', [arrive(2, cteProc(options).replace('</infCte>', carried))])
    const said = await detail(cteChave(options))
    expect(said).toMatchObject({
      nome: 'CT-e 31 da TRANSPORTES',
      documento: { prazo: { para: 'desacordo' } },
      relacionados: [{ relacao: 'Nota transportada', tipo: 'nfe', idDfe: await idOf(chaveOf({ number: 7 })) }],
    })
    expect(said.secoes.map(({ titulo }) => titulo)).toContain('Remetente (paga o frete)')
  })

  test('a CT-e leads to the one that replaces it and to its complement, and they lead back', async () => {
    const from = { issuer: '99888777000166', payer: author }
    const normal = cteProc({ ...from, number: 31 })
    const chave = cteChave({ ...from, number: 31 })
    const other = (number: number, tpCTe: number, group: string) =>
      cteProc({ ...from, number })
        .replace('<ide>', `<ide><tpCTe>${tpCTe}</tpCTe>`)
        .replace('</infCte>', `${group}</infCte>`)
    await store(ctx, office, 'cte', [
      arrive(1, normal),
      arrive(2, other(32, 3, `<infCTeNorm><infCteSub><chCte>${chave}</chCte></infCteSub></infCTeNorm>`)),
      arrive(3, other(33, 1, `<infCteComp><chCTe>${chave}</chCTe></infCteComp>`)),
    ])
    const [substitute, complement] = [32, 33].map((number) => cteChave({ ...from, number }))
    expect((await detail(chave)).relacionados).toEqual([
      { relacao: 'CT-e que substitui este', chave: substitute, tipo: 'cte', idDfe: await idOf(substitute!) },
      { relacao: 'CT-e que complementa este', chave: complement, tipo: 'cte', idDfe: await idOf(complement!) },
    ])
    expect((await detail(substitute!)).relacionados).toEqual([
      { relacao: 'CT-e substituído por este', chave, tipo: 'cte', idDfe: await idOf(chave) },
    ])
  })

  test('a related document that the switches hide is not linked', async () => {
    const ide = `<NFref><refNFe>${chaveOf({ number: 7 })}</refNFe></NFref></ide>`
    await store(ctx, office, 'nfe', [
      arrive(1, note({ number: 1 }).replace('</ide>', ide)),
      arrive(2, note({ number: 7, recipient: '99888777000166', carrier: author })),
    ])
    await show(511 & ~(1 << 2))
    expect((await detail(chaveOf({ number: 1 }))).relacionados).toMatchObject([{ idDfe: null }])
  })
})

const show = (nfe: number) => showOnly(ctx.db, office.workspaceId, { nfe, companyId: office.companyId })

describe('what happened to it', () => {
  test('the summary, the note, its authorisation and what others registered, newest first', async () => {
    const options = { number: 1, issuedAt: daysAgo(3) }
    await store(ctx, office, 'nfe', [arrive(1, resNFe(options))])
    await store(ctx, office, 'nfe', [
      arrive(2, nfeProc(options)),
      arrive(3, evento(110110, { number: 1, at: daysAgo(2), detail: '<xCorrecao>O peso é 10 kg</xCorrecao>' })),
      arrive(
        4,
        evento(610600, { number: 1, at: daysAgo(1) }).replace(
          '<CNPJ>11222333000181</CNPJ>',
          '<CNPJ>33683111000107</CNPJ>',
        ),
      ),
      {
        ...arrive(5, evento(999123, { number: 1, at: daysAgo(0.5), description: 'Evento novo' })),
        proof: 'protocol' as const,
      },
    ])
    const said = await detail(chaveOf({ number: 1 }))
    expect(history(said)).toEqual([
      'Chegou a nota completa | SEFAZ | chegada | registrado',
      'Chegou o resumo | SEFAZ | chegada | registrado',
      'Evento novo | PAPELARIA SÃO JOÃO LTDA | sefaz | registrado',
      'CT-e Autorizado | SEFAZ | sefaz | registrado',
      'Carta de Correção | PAPELARIA SÃO JOÃO LTDA | sefaz | registrado',
      'Autorização de uso | PAPELARIA SÃO JOÃO LTDA | sefaz | registrado',
    ])
    expect(said.historico[4]).toMatchObject({
      tpEvento: 110110,
      texto: 'O peso é 10 kg',
      protocolo: '8912600000110110',
    })
    expect(said.historico[5]).toMatchObject({ protocolo: '135260001234567' })
    const texto = 'O registro da SEFAZ não confere: ele é de outro evento.'
    expect(said.historico.map(({ conferencia }) => conferencia)).toEqual([
      null,
      null,
      { confere: false, texto },
      null,
      null,
      null,
    ])
  })

  test('an event of ours that came back is told once, with who asked for it', async () => {
    const chave = chaveOf({ number: 1 })
    const message = 'Registro feito na SEFAZ em 10/11/2026 às 10:00, protocolo 1.'
    await store(ctx, office, 'nfe', [arrive(1, note({ number: 1 }))])
    await send(chave, { tpEvento: 210210, state: 'registered', message, automatic: true, hoursAgo: 30 })
    await send(chave, { tpEvento: 210200, state: 'registered', message, justification: 'Chegou tudo', hoursAgo: 3 })
    await store(ctx, office, 'nfe', [
      arrive(-5, ours(evento(210210, { number: 1, at: daysAgo(1.2) }))),
      arrive(-6, ours(evento(210200, { number: 1, at: daysAgo(0.1) }))),
    ])
    const said = await detail(chave)
    expect(history(said)).toEqual([
      'Chegou a nota completa | SEFAZ | chegada | registrado',
      'Confirmação da Operação | Ana Souza | envio | registrado',
      'Ciência da Operação | Ciência automática | envio | registrado',
      'Autorização de uso | PAPELARIA SÃO JOÃO LTDA | sefaz | registrado',
    ])
    expect(said.historico[1]!.texto).toBe(`Justificativa: Chegou tudo\n${message}`)
    expect(said.historico[2]!.texto).toBe(`${message}\nCiência automática, ligada em 01/11/2026 às 10:00.`)
  })

  test('what is on its way, what was refused, and the same number of another program', async () => {
    const chave = chaveOf({ number: 1 })
    const refusal = 'A SEFAZ recusou: duplicidade (código 573).'
    await store(ctx, office, 'nfe', [
      arrive(1, note({ number: 1 })),
      arrive(2, ours(evento(210220, { number: 1, at: daysAgo(0.5) }))),
    ])
    await send(chave, { tpEvento: 210220, state: 'rejected', message: refusal, hoursAgo: 3 })
    await send(chave, { tpEvento: 210200, state: 'waiting', hoursAgo: 2 })
    const said = await detail(chave)
    expect(history(said)).toEqual([
      'Chegou a nota completa | SEFAZ | chegada | registrado',
      'Confirmação da Operação | Ana Souza | envio | em-envio',
      'Desconhecimento da Operação | Ana Souza | envio | recusado',
      'Desconhecimento da Operação | EMPRESA | sefaz | registrado',
      'Autorização de uso | PAPELARIA SÃO JOÃO LTDA | sefaz | registrado',
    ])
    expect(said.historico[2]!.texto).toBe(refusal)
    expect(said.documento.eventoEmEnvio).toBe('Confirmação da Operação')
  })

  test('what was taken back stays, as undone; what was not registered says so', async () => {
    const options = { number: 3, issuer: '99888777000166' }
    await store(ctx, office, 'cte', [
      arrive(1, cteProc({ ...options, payer: author, issuedAt: daysAgo(5) })),
      arrive(2, ours(eventoCte(610110, { ...options, at: daysAgo(4) }))),
      arrive(3, ours(eventoCte(610111, { ...options, at: daysAgo(3) }))),
      arrive(4, eventoCte(110110, { ...options, at: daysAgo(2), cStat: '594', protocol: null })),
    ])
    const said = await detail(cteChave(options))
    const states = said.historico.map(({ tpEvento, situacao }) => [tpEvento, situacao])
    expect(states).toEqual(
      expect.arrayContaining([
        [610110, 'desfeito'],
        [610111, 'registrado'],
        [110110, 'recusado'],
      ]),
    )
  })
})

describe('a summary', () => {
  const missing = async (chave: string) => (await detail(chave)).falta

  test('says what is missing, until when and how to get it', async () => {
    await store(ctx, office, 'nfe', [arrive(1, resNFe({ number: 1, issuedAt: daysAgo(2) }))])
    const chave = chaveOf({ number: 1 })
    expect(await missing(chave)).toMatch(
      /^Só o resumo desta nota chegou: .* registra a Ciência da Operação, até \d\d\/\d\d\/\d{4} às \d\d:\d\d\./,
    )
    await send(chave, { tpEvento: 210210, state: 'waiting' })
    expect(await missing(chave)).toMatch(/O evento Ciência da Operação está em envio/)
    const said = await detail(chave)
    expect(said.itens).toEqual([])
    expect(said.secoes.map(({ titulo }) => titulo)).toEqual(['Identificação', 'Emitente', 'Totais'])
  })

  test.each([
    ['a note whose ten days are over', 20, [], /O prazo da Ciência terminou\. .* ainda liberam o XML, até /],
    ['a note of long ago', 100, [], /esse tempo passou\. Peça o arquivo XML ao emitente \(PAPELARIA/],
    ['an acknowledged note', 2, [210210], /já respondeu à nota\. O XML chega sozinho/],
    ['a confirmed note', 2, [210210, 210200], /já respondeu à nota/],
    ['a disowned note', 2, [210220], /desconhece a nota, .* registre a Confirmação da Operação, até /],
    ['a cancelled note', 2, [110111], /O emitente cancelou a nota/],
  ])('%s', async (_, days, events, expected) => {
    await store(ctx, office, 'nfe', [
      arrive(1, resNFe({ number: 1, issuedAt: daysAgo(days) })),
      ...events.map((tpEvento, index) => {
        const xml = evento(tpEvento, { number: 1, at: daysAgo(1) })
        return arrive(2 + index, tpEvento === 110111 ? xml : ours(xml))
      }),
    ])
    expect(await missing(chaveOf({ number: 1 }))).toMatch(expected)
  })

  test('a denied note', async () => {
    await store(ctx, office, 'nfe', [arrive(1, resNFe({ number: 1, cSitNFe: '2' }))])
    expect(await missing(chaveOf({ number: 1 }))).toMatch(/denegou o uso/)
  })
})

test('of the reform: the groups of the document, and what an event of it says in its history', async () => {
  const chave = chaveOf({ number: 1 })
  const groups =
    '<det nItem="1"><prod><xProd>PAPEL</xProd></prod><imposto><IBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib></IBSCBS></imposto></det>'
  await store(ctx, office, 'nfe', [
    arrive(1, note({ number: 1 }, groups)),
    arrive(2, evento(211128, { number: 1, detail: '<indAceitacao>0</indAceitacao>' })),
    arrive(3, evento(211999, { number: 1, description: 'Evento de amanhã' })),
  ])
  const { reforma, historico } = await detail(chave)
  expect(reforma).toMatchObject({ presenca: 'com', itens: [{ numero: 1, descricao: 'PAPEL', cClassTrib: '000001' }] })
  expect(historico.find(({ tpEvento }) => tpEvento === 211128)?.texto).toMatch(/não aceitou o débito/)
  expect(historico.find(({ tpEvento }) => tpEvento === 211999)).toMatchObject({
    descricao: 'Evento de amanhã',
    texto: null,
  })
})

describe('the file', () => {
  test('is the best that arrived, byte for byte, under a tidy name', async () => {
    const summary = resNFe({ number: 1 })
    const whole = Buffer.concat([
      Buffer.from('\ufeff'),
      Buffer.from(nfeProc({ number: 1 }), 'utf8'),
      Buffer.from('\n\n'),
    ])
    const chave = chaveOf({ number: 1 })
    await store(ctx, office, 'nfe', [arrive(1, summary)])
    const first = await get(`/xml/${await idOf(chave)}`)
    expect([first.statusCode, first.headers['content-type'], first.body]).toEqual([200, 'application/xml', summary])
    expect(first.headers['content-disposition']).toContain(`filename="${chave}-resNFe.xml"`)
    await store(ctx, office, 'nfe', [arrive(2, whole)])
    const then = await get(`/xml/${await idOf(chave)}`)
    expect(then.rawPayload.equals(whole)).toBe(true)
    expect(then.headers['content-disposition']).toContain(`filename="${chave}-procNFe.xml"`)
    const receipts = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      db.selectFrom('receipt').select('content').where('nsu', '=', 2n).executeTakeFirstOrThrow(),
    )
    expect(then.rawPayload.equals(gunzipSync(receipts.content))).toBe(true)
  })
})

test('a file that cannot be read is refused in words, and takes no other document along', async () => {
  await store(ctx, office, 'nfe', [arrive(1, note({ number: 1 })), arrive(2, note({ number: 2 }))])
  await execute(
    url,
    `set app.ws = '${office.workspaceId}'; update receipt set content = 'no gzip' where workspace_id = ${office.workspaceId} and nsu = 1`,
  )
  const [broken, good] = await Promise.all(
    [1, 2].map(async (number) => get(`/detalhes/${await idOf(chaveOf({ number }))}`)),
  )
  expect(broken).toMatchObject({ statusCode: 503, headers: { 'retry-after': '60' } })
  expect(broken!.json().message).toMatch(/interrompido\. O XML original está guardado e íntegro/)
  expect(good!.statusCode).toBe(200)
})

test.each(['detalhes', 'xml'])(
  "%s of nobody's, of another workspace and of what is hidden: the same 404",
  async (path) => {
    await store(ctx, office, 'nfe', [arrive(1, note({ number: 1 }))])
    const own = await idOf(chaveOf({ number: 1 }))
    const other = await newOffice(ctx, { certificate: null })
    await store(ctx, other, 'nfe', [arrive(1, note({ number: 1 }))])
    expect((await get(`/${path}/${own}`)).statusCode).toBe(200)
    await show(511 & ~(1 << 1))
    const answers = await Promise.all(
      [own, await idOf(chaveOf({ number: 1 }), other), 'x', 'A'.repeat(22)].map((id) => get(`/${path}/${id}`)),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 404])
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1)
  },
)
