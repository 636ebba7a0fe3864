import type { ServerResponse } from 'node:http'
import { readReceived } from '@vigia/dfe/read'
import { verifySignature } from '@vigia/xml/verify'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasSchemas, schema } from '../../tests/support/judges.ts'
import { type Connection, connect } from './connection.ts'
import { cteEventUrl, simulatedEndpoints } from './endpoints.ts'
import type { SefazError, SefazErrorKind } from './error.ts'
import {
  processedEvent,
  type SignedEvent,
  sendCteEvent,
  sendManifestations,
  signCteEvent,
  signManifestation,
} from './events.ts'
import { failure, issue, newKey, serve, type TestServer } from './testing.ts'

const root = issue({ commonName: 'AC de Teste', authority: true, key: newKey() })
const key = newKey()
const server = issue({ commonName: 'localhost', hosts: ['localhost'], issuer: root, key })
const company = issue({ commonName: 'EMPRESA LTDA:44555666000181', issuer: root, key })

const open = (timeoutMs: number) => connect({ ...company, chain: [] }, { ca: [root.certificate], timeoutMs })

let peer: TestServer
let connection: Connection
let respond: (response: ServerResponse) => void
let received: { url?: string; contentType?: string; length?: string; body: string }

beforeAll(async () => {
  peer = await serve({ server, clientAuthorities: [root] }, (request, body, response) => {
    const { 'content-type': contentType, 'content-length': length } = request.headers
    received = { url: request.url, contentType, length, body }
    respond(response)
  })
  connection = open(20_000)
})
beforeEach(() => {
  respond = (response) => response.end('not prepared')
})
afterAll(async () => {
  connection.close()
  await peer[Symbol.asyncDispose]()
})

function respondWith(body: string | Buffer, status = 200) {
  respond = (response) => response.writeHead(status, { 'content-type': 'application/soap+xml' }).end(body)
}

const head = { tpAmb: 2, cnpj: '44555666000181', at: new Date('2026-08-11T11:30:00Z') } as const
const chave = '35260811222333000181550010000123451876543214'
const another = '43180999012478000107550010000011111000010300'
const ciencia = signManifestation({ ...head, chave, tpEvento: 210210, nSeqEvento: 1 }, company)
const confirmacao = signManifestation({ ...head, chave, tpEvento: 210200, nSeqEvento: 1 }, company)
const segunda = signManifestation({ ...head, chave, tpEvento: 210200, nSeqEvento: 2 }, company)
const outra = signManifestation({ ...head, chave: another, tpEvento: 210210, nSeqEvento: 1 }, company)

const chCTe = '41260877888999000181570010000098761135724684'
const xObs = 'Valor do frete cobrado diverge da tabela contratada'
const desacordo = signCteEvent({ ...head, chave: chCTe, tpEvento: 610110, nSeqEvento: 1, xObs }, company)

const send = (events: SignedEvent[] = [ciencia], idLote = '202608110001') =>
  sendManifestations(connection, { url: simulatedEndpoints(peer.origin).manifestation, idLote, events })
const sendCte = () =>
  sendCteEvent(connection, { url: cteEventUrl(simulatedEndpoints(peer.origin), chCTe), event: desacordo })

const nfe = 'http://www.portalfiscal.inf.br/nfe'
const cte = 'http://www.portalfiscal.inf.br/cte'

function retEvento(event: SignedEvent, cStat: number, more: Record<string, string | undefined> = {}): string {
  const fields: Record<string, string | undefined> = {
    tpAmb: '2',
    verAplic: 'AN_1.6.4',
    cOrgao: '91',
    cStat: String(cStat),
    xMotivo: `Motivo ${cStat}`,
    chNFe: event.chave,
    tpEvento: String(event.tpEvento),
    nSeqEvento: String(event.nSeqEvento),
    dhRegEvento: '2026-08-11T08:30:04-03:00',
    ...more,
  }
  const inside = Object.entries(fields).map(([name, text]) => (text === undefined ? '' : `<${name}>${text}</${name}>`))
  return `<retEvento versao="1.00"><infEvento>${inside.join('')}</infEvento></retEvento>`
}

function retEnvEvento(cStat: number, ...results: string[]): string {
  return `<retEnvEvento xmlns="${nfe}" versao="1.00"><idLote>202608110001</idLote><tpAmb>2</tpAmb><verAplic>AN_1.6.4</verAplic><cOrgao>91</cOrgao><cStat>${cStat}</cStat><xMotivo>Lote &amp; motivo</xMotivo>${results.join('')}</retEnvEvento>`
}

const retEventoCTe = `<retEventoCTe versao="4.00" xmlns="${cte}"><infEvento><tpAmb>2</tpAmb><verAplic>PR-v4_0_1</verAplic><cOrgao>41</cOrgao><cStat>135</cStat><xMotivo>Evento registrado e vinculado a CT-e</xMotivo><chCTe>${chCTe}</chCTe><tpEvento>610110</tpEvento><xEvento>Prestacao do Servico em Desacordo</xEvento><nSeqEvento>1</nSeqEvento><dhRegEvento>2026-08-12T09:00:03-03:00</dhRegEvento><nProt>141260000799999</nProt></infEvento></retEventoCTe>`
const cteRejection = `<retEventoCTe versao="4.00" xmlns="${cte}"><infEvento><tpAmb>2</tpAmb><verAplic>PR-v4_0_1</verAplic><cOrgao>41</cOrgao><cStat>787</cStat><xMotivo>Rejeicao: prazo</xMotivo><chCTe>${chCTe}</chCTe><tpEvento>610110</tpEvento><nSeqEvento>1</nSeqEvento></infEvento></retEventoCTe>`

function soap(result: string, wrapper = 'nfeRecepcaoEventoNFResult', wsdl = `${nfe}/wsdl/NFeRecepcaoEvento4`): string {
  return `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soap:Body><${wrapper} xmlns="${wsdl}">${result}</${wrapper}></soap:Body></soap:Envelope>`
}

const soapCte = (result: string) => soap(result, 'cteRecepcaoEventoResult', `${cte}/wsdl/CTeRecepcaoEventoV4`)
const escaped = (xml: string) => xml.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

async function expectFailure(sending: Promise<unknown>, kind: SefazErrorKind): Promise<SefazError> {
  const error = await failure(sending)
  expect(error.kind).toBe(kind)
  return error
}

describe('the request', () => {
  test('of a manifestação is, byte by byte, the example of the dossier', async () => {
    respondWith(soap(retEnvEvento(128, retEvento(ciencia, 135))))
    await send()
    expect(received).toEqual({
      url: '/NFeRecepcaoEvento4/NFeRecepcaoEvento4.asmx',
      contentType:
        'application/soap+xml; charset=utf-8; action="http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4/nfeRecepcaoEventoNF"',
      length: String(received.body.length),
      body: `<soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body><nfeDadosMsg xmlns="http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4"><envEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><idLote>202608110001</idLote>${ciencia.xml}</envEvento></nfeDadosMsg></soap12:Body></soap12:Envelope>`,
    })
    expect(verifySignature(received.body)).toMatchObject({ valid: true, id: ciencia.id })
  })

  test('of an event of a CT-e too, at the authoriser of its UF', async () => {
    respondWith(soapCte(retEventoCTe))
    await sendCte()
    expect(received).toMatchObject({
      url: '/PR/CTeRecepcaoEventoV4',
      contentType:
        'application/soap+xml; charset=utf-8; action="http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4/cteRecepcaoEvento"',
      body: `<soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body><cteDadosMsg xmlns="http://www.portalfiscal.inf.br/cte/wsdl/CTeRecepcaoEventoV4">${desacordo.xml}</cteDadosMsg></soap12:Body></soap12:Envelope>`,
    })
    expect(verifySignature(received.body)).toMatchObject({ valid: true, id: desacordo.id })
  })

  const twenty = Array.from({ length: 20 }, (_, i) =>
    signManifestation({ ...head, chave, tpEvento: 210200, nSeqEvento: i + 1 }, company),
  )

  test('holds one to twenty events', async () => {
    respondWith(soap(retEnvEvento(128)))
    await send(twenty)
    expect(received.body.split('<evento ')).toHaveLength(21)
    const lote = /<envEvento.*<\/envEvento>/.exec(received.body)?.[0] ?? ''
    if (hasSchemas) expect(schema('nfe/Evento_ConfRecebto', 'envConfRecebto_v1.00.xsd')(lote)).toEqual([])
  })

  const stranger = signManifestation(
    { ...head, cnpj: '11222333000181', chave, tpEvento: 210200, nSeqEvento: 1 },
    company,
  )
  test.each([
    ['no event', [], '1'],
    ['more than twenty', [...twenty, ciencia], '1'],
    ['the same event twice', [ciencia, ciencia], '1'],
    ['two authors', [ciencia, stranger], '1'],
    ['no number', [ciencia], ''],
    ['a number of sixteen digits', [ciencia], '1234567890123456'],
    ['a number with letters', [ciencia], '1a'],
  ])('with %s is a bug of the caller, and not sent', async (_, events, idLote) => {
    received = { body: '' }
    await expect(send(events, idLote)).rejects.toThrow(TypeError)
    expect(received.body).toBe('')
  })
})

describe('the response to a lote', () => {
  test('tells what became of the event, and keeps what came', async () => {
    const ret = retEvento(ciencia, 135, { nProt: '891260000054321' })
    respondWith(soap(retEnvEvento(128, ret)))
    expect(await send()).toEqual({
      cStat: 128,
      xMotivo: 'Lote & motivo',
      results: [
        {
          chave,
          tpEvento: 210210,
          nSeqEvento: 1,
          cStat: 135,
          xMotivo: 'Motivo 135',
          registeredAt: '2026-08-11T08:30:04-03:00',
          protocol: '891260000054321',
          xml: ret,
        },
      ],
    })
  })

  const events = [ciencia, confirmacao, segunda, outra]
  const rets = [
    retEvento(ciencia, 655),
    retEvento(confirmacao, 573),
    retEvento(segunda, 135, { nSeqEvento: '02' }),
    retEvento(outra, 596),
  ]
  const order = (results: { cStat: number }[]) => results.map(({ cStat }) => cStat)

  test('is matched by chave, tpEvento and nSeqEvento, never by place', async () => {
    for (const shuffled of [rets, rets.toReversed(), [2, 0, 3, 1].map((i) => rets[i]!)]) {
      respondWith(soap(retEnvEvento(128, ...shuffled)))
      const { results } = await send(events)
      expect(order(results)).toEqual([655, 573, 135, 596])
      expect(results.map(({ xml }) => xml)).toEqual(rets)
      expect(results.map(({ chave, tpEvento, nSeqEvento }) => [chave, tpEvento, nSeqEvento])).toEqual(
        events.map(({ chave, tpEvento, nSeqEvento }) => [chave, tpEvento, nSeqEvento]),
      )
    }
  })

  test('leaves out events without a result, and results of other events', async () => {
    respondWith(soap(retEnvEvento(128, rets[3]!, rets[1]!)))
    expect(order((await send(events)).results)).toEqual([573, 596])
    respondWith(soap(retEnvEvento(128, rets[3]!, rets[1]!)))
    expect((await send([ciencia])).results).toEqual([])
    respondWith(soap(retEnvEvento(128, retEvento(ciencia, 135), retEvento(ciencia, 573))))
    expect(order((await send([ciencia])).results)).toEqual([135])
    respondWith(soap(retEnvEvento(128, '<retEvento/>', retEvento(ciencia, 135).replace('<cStat>135</cStat>', ''))))
    expect((await send([ciencia])).results).toEqual([])
  })

  test('may leave out which event is meant, when only one can be', async () => {
    const anonymous = retEvento(ciencia, 493, { chNFe: undefined, tpEvento: undefined, nSeqEvento: undefined })
    respondWith(soap(retEnvEvento(128, anonymous)))
    expect(order((await send()).results)).toEqual([493])
    respondWith(soap(retEnvEvento(128, anonymous)))
    expect((await send([ciencia, outra])).results).toEqual([])
    respondWith(soap(retEnvEvento(128, anonymous, rets[3]!)))
    expect(order((await send([ciencia, outra])).results)).toEqual([493, 596])
    respondWith(
      soap(retEnvEvento(128, retEvento(outra, 236, { tpEvento: undefined, nSeqEvento: undefined }), rets[0]!)),
    )
    expect(order((await send([ciencia, outra])).results)).toEqual([655, 236])
  })

  test('rejects the whole lote without results', async () => {
    respondWith(soap(retEnvEvento(215)))
    expect(await send(events)).toEqual({ cStat: 215, xMotivo: 'Lote & motivo', results: [] })
  })

  test.each([
    ['573 without more', 573, { xMotivo: 'Rejeicao: Duplicidade de evento' }, {}],
    [
      '573 with the protocol of the registered event',
      573,
      { xMotivo: 'Rejeicao: Duplicidade [nProt:891260000054321][dhRegEvento: 2026-08-01T10:00:00-03:00]' },
      { protocol: '891260000054321', registeredAt: '2026-08-01T10:00:00-03:00' },
    ],
    ['a rejection that names another event', 218, { xMotivo: 'Rejeicao: ja cancelado [nProt:141260000765432]' }, {}],
    ['a rejection', 596, {}, {}],
    [
      '136',
      136,
      { nProt: '891260000054321' },
      { protocol: '891260000054321', registeredAt: '2026-08-11T08:30:04-03:00' },
    ],
  ])('of %s', async (_, cStat, fields, told) => {
    respondWith(soap(retEnvEvento(128, retEvento(ciencia, cStat, fields))))
    const [result] = (await send()).results
    const { protocol, registeredAt } = result ?? {}
    expect({ cStat: result?.cStat, protocol, registeredAt }).toEqual({ cStat, ...told })
  })

  const ret = retEvento(ciencia, 135, { xMotivo: 'raz&#227;o &amp; <![CDATA[<tudo>]]>' })
  const full = retEnvEvento(128, ret)
  test.each([
    ['the wrapper of the UFs', soap(full, 'nfeResultMsg')],
    ['a byte order mark', `\ufeff${soap(full)}`],
    ['escaped text', soap(escaped(full))],
    ['escaped text with an XML declaration', soap(`\n${escaped(`<?xml version="1.0"?>${full}`)}\n`)],
    ['CDATA', soap(`<![CDATA[${full.replace(']]>', ']]]]><![CDATA[>')}]]>`)],
    ['no envelope', full],
  ])('is found in %s, and cut out of it unchanged', async (_, body) => {
    respondWith(body)
    const { results } = await send()
    expect(results).toMatchObject([{ cStat: 135, xMotivo: 'razão & <tudo>', xml: ret }])
  })

  test('in another encoding is cut out as text', async () => {
    const latin = soap(retEnvEvento(128, retEvento(ciencia, 135, { xMotivo: 'Operação' })))
    respondWith(Buffer.from(latin.replace('utf-8', 'iso-8859-1'), 'latin1'))
    expect((await send()).results).toMatchObject([{ xMotivo: 'Operação', xml: expect.stringContaining('Operação') }])
  })

  test.each([
    ['bytes that are not as declared', 'Operação'],
    ['an entity that nobody declared', 'Operação &null;'],
  ])('with %s is the response all the same', async (_, xMotivo) => {
    respondWith(Buffer.from(soap(retEnvEvento(128, retEvento(ciencia, 135, { xMotivo }))), 'latin1'))
    expect((await send()).results).toMatchObject([{ cStat: 135, xMotivo, xml: expect.stringContaining(xMotivo) }])
    respondWith(Buffer.from(soapCte(retEventoCTe.replace('Evento registrado', xMotivo)), 'latin1'))
    const result = await sendCte()
    expect(result).toMatchObject({ cStat: 135, protocol: '141260000799999' })
    const { facts } = readReceived(Buffer.from(processedEvent(desacordo, result)))
    expect(facts).toMatchObject({ registration: 'registered', protocol: '141260000799999' })
  })

  test('with prefixes keeps their declarations', async () => {
    const prefixed = full.replaceAll(/<(\/?)(?=\w)/g, '<$1n:').replace('xmlns=', 'xmlns:n=')
    respondWith(soap(prefixed))
    const [result] = (await send()).results
    expect(result?.xml).toMatch(`<n:retEvento xmlns:n="${nfe}" versao="1.00"><n:infEvento>`)
    expect(result?.xml).not.toContain('xsi')
  })
})

describe('the response to an event of a CT-e', () => {
  test('tells what became of it', async () => {
    for (const body of [soapCte(retEventoCTe), soapCte(escaped(retEventoCTe)), retEventoCTe]) {
      respondWith(body)
      expect(await sendCte()).toEqual({
        chave: chCTe,
        tpEvento: 610110,
        nSeqEvento: 1,
        cStat: 135,
        xMotivo: 'Evento registrado e vinculado a CT-e',
        protocol: '141260000799999',
        registeredAt: '2026-08-12T09:00:03-03:00',
        xml: retEventoCTe,
      })
    }
  })

  test('may be a rejection, with or without the chave, with four digits too', async () => {
    respondWith(soapCte(cteRejection))
    expect(await sendCte()).toEqual({
      chave: chCTe,
      tpEvento: 610110,
      nSeqEvento: 1,
      cStat: 787,
      xMotivo: 'Rejeicao: prazo',
      xml: cteRejection,
    })
    respondWith(soapCte(cteRejection.replace(/<chCTe>.*<\/nSeqEvento>/, '').replace('787', '1234')))
    expect(await sendCte()).toMatchObject({ chave: chCTe, cStat: 1234 })
  })

  test('about another event is no response', async () => {
    respondWith(soapCte(retEventoCTe.replace('<nSeqEvento>1<', '<nSeqEvento>2<')))
    const error = await expectFailure(sendCte(), 'not-xml')
    expect(error).toMatchObject({ detail: 'an answer about another event', body: expect.stringContaining('610110') })
  })
})

// Everything else that is no response is in distribution.test.ts, by the same code.
test.each([
  ['another service', '<retDistDFeInt><cStat>137</cStat></retDistDFeInt>'],
  ['a response without cStat', '<retEnvEvento/><retEventoCTe/>'],
])('%s is no response', async (_, result) => {
  respondWith(soap(result))
  await expectFailure(send(), 'not-xml')
  await expectFailure(sendCte(), 'not-xml')
})

describe('the processed event', () => {
  test('of the NF-e is the event as sent and the result as received', async () => {
    const ret = retEvento(ciencia, 135, { nProt: '891260000054321' })
    respondWith(soap(retEnvEvento(128, ret)))
    const [result] = (await send()).results
    const xml = processedEvent(ciencia, result!)
    expect(xml).toBe(`<procEventoNFe xmlns="${nfe}" versao="1.00">${ciencia.xml}${ret}</procEventoNFe>`)
    expect(verifySignature(xml).valid).toBe(true)
    expect(readReceived(Buffer.from(xml)).facts).toMatchObject({ cStat: '135', protocol: '891260000054321' })
    if (hasSchemas) expect(schema('nfe/Evento_ConfRecebto', 'procConfRecebtoNFe_v1.00.xsd')(xml)).toEqual([])
  })

  test('of the CT-e too', async () => {
    respondWith(soapCte(retEventoCTe))
    const xml = processedEvent(desacordo, await sendCte())
    expect(xml).toBe(`<procEventoCTe xmlns="${cte}" versao="4.00">${desacordo.xml}${retEventoCTe}</procEventoCTe>`)
    expect(verifySignature(xml).valid).toBe(true)
    expect(readReceived(Buffer.from(xml)).facts).toMatchObject({ type: 'cte', cStat: '135', tpEvento: 610110 })
    if (hasSchemas) expect(schema('cte/PL_CTe_400_NT2026.002_RTC_1.00', 'procEventoCTe_v4.00.xsd')(xml)).toEqual([])
  })
})
