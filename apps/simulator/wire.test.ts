import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasSchemas, schema } from '../../tests/support/judges.ts'
import { keptKey, openCertificationAuthority } from './certificates.ts'
import {
  type Client,
  createClient,
  type DistributionCall,
  type DistributionResponse,
  distDFeInt,
  envelope11,
  envelope12,
  nsu,
  paths,
  readResponse,
  startForTest,
  type TestSimulator,
  wsdlNamespace,
} from './client.testing.ts'

// Every case makes certificates and TLS connections, which a busy machine is slow at.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const cnpj = '44555666000181'
let test: TestSimulator
let client: Client

beforeAll(async () => {
  test = await startForTest()
  client = await test.client(cnpj)
  for (const service of ['nfe', 'cte']) await test.publish(cnpj, 2, service)
})
afterAll(() => test.stop())

const action = (service: 'nfe' | 'cte') => `${wsdlNamespace(service)}/${service}DistDFeInteresse`
const soap12 = (service: 'nfe' | 'cte') => ({
  'Content-Type': `application/soap+xml; charset=utf-8; action="${action(service)}"`,
})
const soap11 = (service: 'nfe' | 'cte') => ({
  'Content-Type': 'text/xml; charset=utf-8',
  SOAPAction: `"${action(service)}"`,
})
const query: DistributionCall = { cnpj, NSU: 1 }

describe('SOAP', () => {
  it.each(['nfe', 'cte'] as const)('%s answers SOAP 1.2 with SOAP 1.2', async (service) => {
    const answer = await client.post(paths[service], soap12(service), envelope12(service, distDFeInt(service, query)))
    expect(answer.status).toBe(200)
    expect(answer.contentType).toBe('application/soap+xml; charset=utf-8')
    expect(answer.body).toContain('<soap:Envelope xmlns:soap="http://www.w3.org/2003/05/soap-envelope"')
    expect(answer.body).toContain(
      `<${service}DistDFeInteresseResponse xmlns="${wsdlNamespace(service)}"><${service}DistDFeInteresseResult><retDistDFeInt `,
    )
    expect(readResponse(answer.body).documents.map((one) => one.xml)).toEqual(['<a>1</a>'])
  })

  it.each(['nfe', 'cte'] as const)('%s answers SOAP 1.1 with SOAP 1.1', async (service) => {
    const answer = await client.post(paths[service], soap11(service), envelope11(service, distDFeInt(service, query)))
    expect(answer).toMatchObject({ status: 200, contentType: 'text/xml; charset=utf-8' })
    expect(answer.body).toContain('<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"')
    expect(readResponse(answer.body).cStat).toBe('138')
  })

  it('takes SOAP 1.2 without action', async () => {
    const headers = { 'Content-Type': 'application/soap+xml; charset=utf-8' }
    const answer = await client.post(paths.nfe, headers, envelope12('nfe', distDFeInt('nfe', query)))
    expect(readResponse(answer.body).cStat).toBe('138')
  })

  it('answers a wrong action with a fault', async () => {
    const wrong = 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4/nfeRecepcaoEventoNF'
    const headers = { 'Content-Type': `application/soap+xml; charset=utf-8; action="${wrong}"` }
    const answer = await client.post(paths.nfe, headers, envelope12('nfe', distDFeInt('nfe', query)))
    expect(answer.status).toBe(500)
    expect(answer.body).toContain(`Unable to handle request. The action '${wrong}' was not recognized.`)
    expect(answer.body).toContain('<soap:Value>soap:Sender</soap:Value>')

    const old = await client.post(
      paths.nfe,
      { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: '"NFeDistribuicaoDFe"' },
      envelope11('nfe', distDFeInt('nfe', query)),
    )
    expect(old.status).toBe(500)
    expect(old.body).toContain('<faultcode>soap:Client</faultcode>')
  })

  it('goes by the envelope when the content type announces the other version', async () => {
    const message = distDFeInt('nfe', query)
    const newer = await client.post(paths.nfe, { 'Content-Type': 'text/xml' }, envelope12('nfe', message))
    expect(newer).toMatchObject({ status: 200, contentType: 'application/soap+xml; charset=utf-8' })
    const older = await client.post(paths.nfe, soap12('nfe'), envelope11('nfe', message))
    expect(older).toMatchObject({ status: 200, contentType: 'text/xml; charset=utf-8' })
    for (const { body } of [newer, older]) expect(readResponse(body).cStat).toBe('138')
  })

  it('answers an unknown envelope, another operation and a missing wrapper with faults', async () => {
    const unknown = envelope12('nfe', distDFeInt('nfe', query)).replace(
      '2003/05/soap-envelope',
      '2001/12/soap-envelope',
    )
    const mismatch = await client.post(paths.nfe, soap12('nfe'), unknown)
    expect(mismatch.status).toBe(500)
    expect(mismatch.body).toContain('Possible SOAP version mismatch')
    const other = await client.post(paths.nfe, soap12('nfe'), envelope12('cte', distDFeInt('cte', query)))
    expect(other.status).toBe(500)
    const bare = envelope12('nfe', distDFeInt('nfe', query)).replace(/<\/?nfeDadosMsg>/g, '')
    expect((await client.post(paths.nfe, soap12('nfe'), bare)).status).toBe(500)
  })

  it('refuses other media types and other paths', async () => {
    const headers = { 'Content-Type': 'application/json' }
    expect((await client.post(paths.nfe, headers, '{}')).status).toBe(415)
    expect((await client.post('/Outro.asmx', soap12('nfe'), '<a/>')).status).toBe(404)
  })

  it('gives a WSDL', async () => {
    const answer = await client.get(`${paths.nfe}?wsdl`)
    expect(answer.status).toBe(200)
    expect(answer.body).toContain('<wsdl:operation name="nfeDistDFeInteresse">')
    expect(answer.body).toContain(`targetNamespace="${wsdlNamespace('nfe')}"`)
  })
})

describe('the client certificate', () => {
  it('is demanded: without one the answer is an HTML page with 403', async () => {
    const nobody = createClient(test.simulator, {})
    const answer = await nobody.post(paths.nfe, soap12('nfe'), envelope12('nfe', distDFeInt('nfe', query)))
    expect(answer).toMatchObject({ status: 403, contentType: 'text/html' })
    expect(answer.body).toContain('403 - Forbidden: Access is denied.')
  })

  it('must come from the ICP-Brasil of the simulator and be in its validity', async () => {
    const foreign = await openCertificationAuthority(`${test.directory}/other`, Date.now())
    const own = await openCertificationAuthority(test.directory, Date.now())
    const day = 86_400_000
    const cases = [
      { authority: foreign, holder: { cnpj, nome: 'ESTRANGEIRA' }, status: 403 },
      { authority: own, holder: { cnpj, nome: 'VENCIDA', expires: Date.now() - day }, status: 403 },
      {
        authority: own,
        holder: { cnpj, nome: 'FUTURA', expires: Date.now() + 800 * day },
        at: Date.now() + 30 * day,
        status: 403,
      },
      { authority: own, holder: { cnpj, nome: 'BOA' }, status: 200 },
    ]
    const pair = await keptKey(test.directory, 'shared')
    for (const { authority, holder, status, at = Date.now() } of cases) {
      const { key, certificate } = await authority.issue(holder, at, pair)
      const pem = key.export({ format: 'pem', type: 'pkcs8' }).toString()
      const identity = { key: pem, cert: certificate.toString() }
      const answer = await createClient(test.simulator, identity).post(
        paths.nfe,
        soap12('nfe'),
        envelope12('nfe', distDFeInt('nfe', query)),
      )
      expect(answer.status, holder.nome).toBe(status)
    }
  })
})

describe('the message', () => {
  const send = async (
    service: 'nfe' | 'cte',
    message: string | Buffer,
    headers = soap12(service),
  ): Promise<DistributionResponse> => {
    const body = typeof message === 'string' ? envelope12(service, message) : message
    return readResponse((await client.post(paths[service], headers, body)).body)
  }
  const good = distDFeInt('nfe', query)
  const replace = (from: string | RegExp, to: string) => good.replace(from, to)

  it.each([
    ['214', 'larger than 10 KB', replace('<tpAmb>', `${' '.repeat(10_300)}<tpAmb>`)],
    ['215', 'order', replace(/(<tpAmb>2<\/tpAmb>)(<cUFAutor>42<\/cUFAutor>)/, '$2$1')],
    ['215', 'an unknown element', replace('</tpAmb>', '</tpAmb><xServ>X</xServ>')],
    ['215', 'cUFAutor 91', replace('>42<', '>91<')],
    ['215', 'an NSU of 14 digits', replace(nsu(1), nsu(1).slice(1))],
    ['215', 'a CNPJ in small letters', replace(cnpj, '12abc34501de35')],
    ['215', 'no query', replace(/<consNSU>.*<\/consNSU>/, '')],
    ['215', 'two queries', replace('</consNSU>', `</consNSU><distNSU><ultNSU>${nsu(0)}</ultNSU></distNSU>`)],
    ['215', 'no versao', replace(' versao="1.01"', '')],
    ['215', 'another namespace', replace('portalfiscal.inf.br/nfe"', 'portalfiscal.inf.br/cte"')],
    ['215', 'text instead of elements', '&lt;distDFeInt/&gt;'],
    ['404', 'prefixes', good.replace('xmlns=', 'xmlns:n=').replace(/<(\/?)(?=\w)/g, '<$1n:')],
    ['238', 'a version to come', replace('1.01', '1.02')],
    ['239', 'an old version', replace('1.01', '1.00')],
    ['252', 'production', replace('<tpAmb>2<', '<tpAmb>1<')],
  ])('%s: %s', async (cStat, _, message) => {
    expect(await send('nfe', message)).toMatchObject({ cStat, ultNSU: nsu(0), maxNSU: nsu(0) })
  })

  it('243: not well formed', async () => {
    const answer = await send('nfe', Buffer.from(envelope12('nfe', good).replace('</tpAmb>', '')))
    expect(answer).toMatchObject({ cStat: '243', xMotivo: 'Rejeicao: XML Mal Formado' })
  })

  it('402: another encoding', async () => {
    const body = `<?xml version="1.0" encoding="ISO-8859-1"?>${envelope12('nfe', good)}`
    expect((await send('nfe', Buffer.from(body, 'latin1'))).cStat).toBe('402')
    const utf8 = `<?xml version="1.0" encoding="UTF-8"?>${envelope12('nfe', good)}`
    expect((await send('nfe', Buffer.from(utf8))).cStat).toBe('138')
  })

  it('cUFAutor is optional for NF-e and required for CT-e', async () => {
    expect((await client.ask('nfe', { ...query, cUFAutor: null })).cStat).toBe('138')
    expect((await client.ask('cte', { ...query, cUFAutor: null })).cStat).toBe('215')
    expect((await client.ask('cte', query)).cStat).toBe('138')
  })

  it('there is no query by chave for CT-e', async () => {
    const chNFe = '35260811222333000181550010000123451876543214'
    expect((await client.ask('cte', { cnpj, chNFe })).cStat).toBe('215')
  })

  it('dhResp has an offset for NF-e and none for CT-e', async () => {
    expect((await client.ask('nfe', query)).dhResp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-03:00$/)
    expect((await client.ask('cte', query)).dhResp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  })

  it('the ambiente served is an option', async () => {
    const production = await startForTest({ tpAmb: 1 })
    const producer = await production.client(cnpj)
    expect((await producer.ask('nfe', { cnpj, tpAmb: '1' })).cStat).toBe('137')
    expect((await producer.ask('nfe', { cnpj, tpAmb: '2' })).cStat).toBe('252')
    await production.stop()
  })
})

describe.runIf(hasSchemas)('answers obey the official schemas', () => {
  it.each(['nfe', 'cte'] as const)('%s', async (service) => {
    const validate =
      service === 'nfe'
        ? schema('nfe/PL_NFeDistDFe_1.02', 'retDistDFeInt_v1.01.xsd')
        : schema('cte/PL_CTeDistDFe_1.00', 'retDistDFeInt_v1.00.xsd')
    const own = '77888999000181'
    const consumer = await test.client(own)
    await test.publish(own, 51, service)
    const answers = [
      await consumer.ask(service, { cnpj: own, ultNSU: 99 }),
      await consumer.ask(service, { cnpj: own, ultNSU: 0 }),
      await consumer.ask(service, { cnpj: own, ultNSU: 50 }),
      await consumer.ask(service, { cnpj: own, NSU: 7 }),
      await consumer.ask(service, { cnpj: own, ultNSU: 51 }),
      await consumer.ask(service, { cnpj: '77888999000182' }),
    ]
    expect(answers.map((one) => one.cStat)).toEqual(['589', '138', '138', '138', '656', '489'])
    expect(answers.flatMap((one) => validate(one.message))).toEqual([])
  })

  it('nfe, a query by chave without NSU', async () => {
    const chNFe = '35260811222333000181550010000123451876543214'
    const xml = `<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="4.00"><NFe><infNFe Id="NFe${chNFe}"><ide><mod>55</mod></ide><emit><CNPJ>11222333000181</CNPJ></emit><dest><CNPJ>33444555000181</CNPJ></dest></infNFe></NFe><protNFe><infProt><cStat>100</cStat></infProt></protNFe></nfeProc>`
    await test.control('POST', 'documents?activate=false', xml)
    const recipient = await test.client('33444555000181')
    const answer = await recipient.ask('nfe', { cnpj: '33444555000181', chNFe })
    expect(answer).toMatchObject({
      cStat: '138',
      ultNSU: nsu(0),
      maxNSU: nsu(0),
      documents: [{ NSU: undefined, schema: 'resNFe_v1.01.xsd' }],
    })
    const refused = await recipient.ask('nfe', { cnpj: '33444555000181', chNFe: `${chNFe.slice(0, 43)}5` })
    expect(refused.cStat).toBe('236')
    const validate = schema('nfe/PL_NFeDistDFe_NSU_opcional', 'retDistDFeInt_v1.01.xsd')
    expect([answer, refused].flatMap((one) => validate(one.message))).toEqual([])
  })
})
