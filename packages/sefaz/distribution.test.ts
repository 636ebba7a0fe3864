import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sizeBytesMax } from '@vigia/xml/parse'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasSchemas, schema } from '../../tests/support/judges.ts'
import { findSamples } from '../../tests/support/samples.ts'
import { type Connection, connect } from './connection.ts'
import { type DistributionRequest, queryDistribution, unzipDocument } from './distribution.ts'
import { simulatedEndpoints } from './endpoints.ts'
import { DocumentTooLargeError, type SefazError, type SefazErrorKind } from './error.ts'
import { failure, issue, newKey, serve, type TestServer } from './testing.ts'

const root = issue({ commonName: 'AC de Teste', authority: true, key: newKey() })
const key = newKey()
const server = issue({ commonName: 'localhost', hosts: ['localhost'], issuer: root, key })
const company = issue({ commonName: 'EMPRESA LTDA:44555666000181', issuer: root, key })

let peer: TestServer
let connection: Connection
let respond: (response: ServerResponse) => void
let received: { url?: string; contentType?: string; body: string }

beforeAll(async () => {
  peer = await serve({ server, clientAuthorities: [root] }, (request, body, response) => {
    received = { url: request.url, contentType: request.headers['content-type'], body }
    respond(response)
  })
  connection = connect({ ...company, chain: [] }, { ca: [root.certificate] })
})
beforeEach(() => {
  respond = (response) => response.end(soap(ret({ cStat: '137' })))
})
afterAll(async () => {
  connection.close()
  await peer[Symbol.asyncDispose]()
})

function query(request: Partial<DistributionRequest> = {}) {
  const service = request.service ?? 'nfe'
  const url = simulatedEndpoints(peer.origin).distribution[service]
  const cursor = { ultNSU: '000000000000000' }
  return queryDistribution(connection, {
    service,
    url,
    tpAmb: 1,
    cUFAutor: 42,
    cnpj: '44555666000181',
    query: cursor,
    ...request,
  })
}

function respondWith(body: string | Buffer, status = 200) {
  respond = (response) => response.writeHead(status, { 'content-type': 'application/soap+xml' }).end(body)
}

const xmlns = 'http://www.portalfiscal.inf.br/nfe'

function ret(fields: { cStat?: string; ultNSU?: string; maxNSU?: string; lote?: string }): string {
  const { cStat, ultNSU, maxNSU, lote = '' } = fields
  const element = (name: string, text?: string) => (text === undefined ? '' : `<${name}>${text}</${name}>`)
  return `<retDistDFeInt xmlns="${xmlns}" versao="1.01"><tpAmb>1</tpAmb><verAplic>1.7.6</verAplic>${element('cStat', cStat)}<xMotivo>Motivo &amp; raz&#227;o</xMotivo><dhResp>2026-08-11T15:00:01-03:00</dhResp>${element('ultNSU', ultNSU)}${element('maxNSU', maxNSU)}${lote}</retDistDFeInt>`
}

function soap(result: string, prefix = 'soap', version = 'http://www.w3.org/2003/05/soap-envelope'): string {
  return `<?xml version="1.0" encoding="utf-8"?><${prefix}:Envelope xmlns:${prefix}="${version}"><${prefix}:Body><nfeDistDFeInteresseResponse xmlns="${xmlns}/wsdl/NFeDistribuicaoDFe"><nfeDistDFeInteresseResult>${result}</nfeDistDFeInteresseResult></nfeDistDFeInteresseResponse></${prefix}:Body></${prefix}:Envelope>`
}

async function expectFailure(asking: Promise<unknown>, kind: SefazErrorKind): Promise<SefazError> {
  const error = await failure(asking)
  expect(error.kind).toBe(kind)
  return error
}

describe('the request', () => {
  test('to the NF-e is, byte by byte, the example of the manual', async () => {
    await query()
    expect(received).toEqual({
      url: '/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
      contentType:
        'application/soap+xml; charset=utf-8; action="http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe/nfeDistDFeInteresse"',
      body: '<soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body><nfeDistDFeInteresse xmlns="http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe"><nfeDadosMsg><distDFeInt xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01"><tpAmb>1</tpAmb><cUFAutor>42</cUFAutor><CNPJ>44555666000181</CNPJ><distNSU><ultNSU>000000000000000</ultNSU></distNSU></distDFeInt></nfeDadosMsg></nfeDistDFeInteresse></soap12:Body></soap12:Envelope>',
    })
  })

  test('to the CT-e is, byte by byte, the example of the manual', async () => {
    await query({ service: 'cte' })
    expect(received).toEqual({
      url: '/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
      contentType:
        'application/soap+xml; charset=utf-8; action="http://www.portalfiscal.inf.br/cte/wsdl/CTeDistribuicaoDFe/cteDistDFeInteresse"',
      body: '<soap12:Envelope xmlns:soap12="http://www.w3.org/2003/05/soap-envelope"><soap12:Body><cteDistDFeInteresse xmlns="http://www.portalfiscal.inf.br/cte/wsdl/CTeDistribuicaoDFe"><cteDadosMsg><distDFeInt xmlns="http://www.portalfiscal.inf.br/cte" versao="1.00"><tpAmb>1</tpAmb><cUFAutor>42</cUFAutor><CNPJ>44555666000181</CNPJ><distNSU><ultNSU>000000000000000</ultNSU></distNSU></distDFeInt></cteDadosMsg></cteDistDFeInteresse></soap12:Body></soap12:Envelope>',
    })
  })

  test('by NSU and by chave, with letters in the CNPJ', async () => {
    await query({ cnpj: '12ABC34501DE35', query: { NSU: '000000000000157' }, tpAmb: 2 })
    expect(received.body).toContain(
      '<tpAmb>2</tpAmb><cUFAutor>42</cUFAutor><CNPJ>12ABC34501DE35</CNPJ><consNSU><NSU>000000000000157</NSU></consNSU></distDFeInt>',
    )
    await query({ query: { chNFe: '35260811222333000181550010000123451876543214' } })
    expect(received.body).toContain(
      '<CNPJ>44555666000181</CNPJ><consChNFe><chNFe>35260811222333000181550010000123451876543214</chNFe></consChNFe></distDFeInt>',
    )
  })

  test('an NSU always goes with fifteen digits, and only digits', async () => {
    await query({ query: { ultNSU: '157' } })
    expect(received.body).toContain('<ultNSU>000000000000157</ultNSU>')
    for (const ultNSU of ['', '1e3', '-1', '1234567890123456', '</ultNSU>']) {
      await expect(query({ query: { ultNSU } })).rejects.toThrow(TypeError)
    }
  })
})

describe('the response', () => {
  const first = gzipSync('<resNFe>ação</resNFe>')
  const second = gzipSync(Buffer.from([0xff, 0xfe]))
  const lote = `<loteDistDFeInt><docZip NSU="000000000000156" schema="resNFe_v1.01.xsd">${first.toString('base64')}</docZip><docZip schema="novo_v9.99.xsd">\n ${second.toString('base64').replace(/.{8}/, '$&\n')} </docZip></loteDistDFeInt>`
  const full = ret({ cStat: '138', ultNSU: '000000000000157', maxNSU: '000000000000200', lote })
  const expected = {
    cStat: 138,
    xMotivo: 'Motivo & razão',
    dhResp: '2026-08-11T15:00:01-03:00',
    ultNSU: '000000000000157',
    maxNSU: '000000000000200',
    documents: [
      { nsu: '000000000000156', schema: 'resNFe_v1.01.xsd', content: first },
      { nsu: null, schema: 'novo_v9.99.xsd', content: second },
    ],
  }

  test.each([
    ['SOAP 1.2', soap(full)],
    ['SOAP 1.1', soap(full, 's', 'http://schemas.xmlsoap.org/soap/envelope/')],
    ['a byte order mark', `\ufeff${soap(full)}`],
    ['a prefix on the response', soap(full.replaceAll(/<(\/?)(?=\w)/g, '<$1n:').replace('xmlns=', 'xmlns:n='))],
    ['escaped text', soap(full.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'))],
    [
      'escaped text with an XML declaration',
      soap(`\n&lt;?xml version="1.0" encoding="utf-8"?>${full.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}\n`),
    ],
    ['CDATA', soap(`<![CDATA[${full}]]>`)],
    ['no envelope', full],
  ])('is found in %s', async (_, body) => {
    respondWith(body)
    const { bytes, durationMs, ...rest } = await query()
    expect(rest).toEqual(expected)
    expect(bytes).toBe(Buffer.byteLength(body))
    expect(durationMs).toBeGreaterThanOrEqual(0)
  })

  test('may leave out or garble its NSU', async () => {
    respondWith(soap(ret({ cStat: '656' })))
    expect(await query()).toMatchObject({ cStat: 656, ultNSU: null, maxNSU: null, documents: [] })
    respondWith(soap(ret({ cStat: '656', ultNSU: '', maxNSU: '12x' })))
    expect(await query()).toMatchObject({ ultNSU: null, maxNSU: null })
    respondWith(soap(ret({ cStat: '137', ultNSU: ' 157 ', maxNSU: '0' })))
    expect(await query()).toMatchObject({ ultNSU: '000000000000157', maxNSU: '000000000000000' })
  })

  test('keeps a damaged docZip, so that it can be stored', async () => {
    const damaged = '<loteDistDFeInt><docZip NSU="000000000000001" schema="x">AAAA</docZip><docZip/></loteDistDFeInt>'
    respondWith(soap(ret({ cStat: '138', lote: damaged })))
    expect((await query()).documents).toEqual([
      { nsu: '000000000000001', schema: 'x', content: Buffer.alloc(3) },
      { nsu: null, schema: '', content: Buffer.alloc(0) },
    ])
  })
})

describe('without a response', () => {
  test('403 is forbidden, and the page is kept short', async () => {
    respondWith(`<html>403.7 ${'x'.repeat(10_000)}</html>`, 403)
    const error = await expectFailure(query(), 'forbidden')
    expect(error).toMatchObject({ status: 403, message: expect.stringContaining('certificado') })
    expect(error.body).toHaveLength(4096)
    expect(error.body).toMatch(/^<html>403.7/)
  })

  test.each([500, 503, 408, 429, 404, 302])('HTTP %i', async (status) => {
    respondWith('<html>Service unavailable</html>', status)
    expect(await expectFailure(query(), 'http')).toMatchObject({ status, detail: `HTTP ${status}` })
    respondWith(soap(ret({ cStat: '137' })), status)
    await expectFailure(query(), 'http')
  })

  test.each([
    [
      'SOAP 1.2',
      '<s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code><s:Reason><s:Text xml:lang="en">%</s:Text></s:Reason></s:Fault>',
    ],
    ['SOAP 1.1', '<s:Fault><faultcode>s:Client</faultcode><faultstring>%</faultstring><detail/></s:Fault>'],
  ])('a Fault of %s says why, and whether to repeat', async (_, fault) => {
    const body = (reason: string) =>
      `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body>${fault.replace('%', reason)}</s:Body></s:Envelope>`
    respondWith(body('Server was unable to process request.'), 500)
    expect(await expectFailure(query(), 'fault')).toMatchObject({
      detail: 'Server was unable to process request.',
    })
    respondWith(body("Unable to handle request. The action 'x' was not recognized."), 200)
    await expectFailure(query(), 'fault')
  })

  test.each([
    ['nothing', ''],
    ['a page', '<html><body>Manutenção<br></body></html>'],
    ['text', 'Serviço indisponível'],
    ['an empty result', soap('')],
    ['a truncated response', soap(ret({ cStat: '137' })).slice(0, -60)],
    ['a response without cStat', soap(ret({}))],
    ['a response with a strange cStat', soap(ret({ cStat: 'abc' }))],
    ['escaped text that is no XML', soap('&lt;retDistDFeInt')],
    ['another service', soap('<retConsSitNFe/>')],
    ['bytes', Buffer.from([0, 0xff, 0xfe, 1])],
  ])('%s is not XML of this service', async (_, body) => {
    respondWith(body)
    expect((await expectFailure(query(), 'not-xml')).status).toBe(200)
  })
})

describe('a docZip', () => {
  test.each([0, 1, 500, 20_000, 3_000_000])('of %i bytes is unzipped unchanged', (size) => {
    const content = Buffer.from(Array.from({ length: size }, (_, i) => (i * 31) % 256))
    expect(unzipDocument(gzipSync(content)).equals(content)).toBe(true)
    const inside = Buffer.concat([Buffer.alloc(7), gzipSync(content), Buffer.alloc(7)])
    expect(unzipDocument(inside.subarray(7, -7)).equals(content)).toBe(true)
  })

  test('may come in several members', () => {
    expect(unzipDocument(Buffer.concat([gzipSync('<a>'), gzipSync('</a>')])).toString()).toBe('<a></a>')
  })

  test.each([
    ['empty', Buffer.alloc(0)],
    ['not gzip', Buffer.from('<resNFe/> without any compression')],
    ['truncated', gzipSync('x'.repeat(1000)).subarray(0, -9)],
    ['damaged', gzipSync('abcdefghijklmnopqrstuvwxyz').fill(0x55, 12, 24)],
  ])('that is %s throws', (_, content) => {
    expect(() => unzipDocument(content)).toThrow(/incorrect|invalid|unexpected/)
  })

  test('is as large as what can be read afterwards, and no larger', () => {
    expect(unzipDocument(gzipSync(Buffer.alloc(sizeBytesMax)))).toHaveLength(sizeBytesMax)
    const larger = gzipSync(Buffer.alloc(sizeBytesMax + 1))
    expect(() => unzipDocument(larger)).toThrow(DocumentTooLargeError)
    expect(() => unzipDocument(larger)).toThrow('O arquivo tem mais de 20 MB depois de descompactado.')
  })
})

const samples = join(findSamples() ?? '', 'distribuicao')
const sampleFiles = findSamples() === null ? [] : readdirSync(samples)
const readSample = (file: string) => readFileSync(join(samples, file), 'utf8')
const inside = (xml: string, name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]

describe.runIf(sampleFiles.length > 0)('the sample exchanges', () => {
  test.each(sampleFiles.filter((file) => file.includes('-ret')))('%s is read', async (file) => {
    const xml = readSample(file)
    respondWith(file.includes('-soap') ? xml : soap(xml))
    const got = await query({ service: file.startsWith('cte') ? 'cte' : 'nfe' })
    expect(got).toMatchObject({
      cStat: Number(inside(xml, 'cStat')),
      xMotivo: inside(xml, 'xMotivo'),
      dhResp: inside(xml, 'dhResp'),
      ultNSU: inside(xml, 'ultNSU') ?? null,
      maxNSU: inside(xml, 'maxNSU') ?? null,
    })
    const docZips = [...xml.matchAll(/<docZip(?: NSU="(\d+)")? schema="([^"]+)">([^<]+)<\/docZip>/g)]
    expect(docZips).toHaveLength(xml.split('<docZip').length - 1)
    expect(got.documents).toEqual(
      docZips.map(([, nsu, schema, base64]) => ({
        nsu: nsu ?? null,
        schema,
        content: Buffer.from(base64 ?? '', 'base64'),
      })),
    )
    for (const { content } of got.documents) expect(unzipDocument(content).equals(gunzipSync(content))).toBe(true)
  })

  // Requests for a person: this product serves companies only.
  test.each(sampleFiles.filter((file) => file.includes('-distDFeInt') && !file.includes('-cpf')))(
    '%s is what we would send',
    async (file) => {
      const xml = readSample(file).trim()
      const [ultNSU, NSU, chNFe] = ['ultNSU', 'NSU', 'chNFe'].map((name) => inside(xml, name))
      await query({
        service: file.startsWith('cte') ? 'cte' : 'nfe',
        tpAmb: 2,
        cUFAutor: Number(inside(xml, 'cUFAutor')),
        cnpj: inside(xml, 'CNPJ') ?? '',
        query: ultNSU ? { ultNSU } : NSU ? { NSU } : { chNFe: chNFe ?? '' },
      })
      expect(/<distDFeInt.*<\/distDFeInt>/.exec(received.body)?.[0]).toBe(xml)
    },
  )
})

describe.runIf(hasSchemas)('the official schema accepts', () => {
  const nfe = ['nfe/PL_NFeDistDFe_1.02', 'distDFeInt_v1.01.xsd'] as const
  const cte = ['cte/PL_CTeDistDFe_1.00', 'distDFeInt_v1.00.xsd'] as const
  const chNFe = '35260811222333000181550010000123451876543214'

  test.each([
    ['nfe', { ultNSU: '0' }, '44555666000181', ...nfe],
    ['nfe', { NSU: '000000000000157' }, '44555666000181', ...nfe],
    ['nfe', { chNFe }, '44555666000181', ...nfe],
    ['cte', { ultNSU: '0' }, '44555666000181', ...cte],
    ['cte', { NSU: '157' }, '44555666000181', ...cte],
    // No official package has letters yet; this one edits the pattern of the CNPJ.
    ['cte', { ultNSU: '0' }, '12ABC34501DE35', 'cte/PL_CTeDistDFe_1.00_cnpj_alfa', 'distDFeInt_v1.00.xsd'],
  ] as const)('%s %j of %s', async (service, query_, cnpj, folder, file) => {
    await query({ service, query: query_, cnpj })
    const message = /<distDFeInt.*<\/distDFeInt>/.exec(received.body)?.[0] ?? ''
    expect(schema(folder, file)(message)).toEqual([])
    expect(schema(folder, file)(message.replace('<tpAmb>', '<tpAmb>9'))).not.toEqual([])
  })
})
