import { generateKeyPairSync } from 'node:crypto'
import { chaveCheckDigit } from '@vigia/dfe/chave'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { SignedXml } from 'xml-crypto'
import { hasSchemas, schema, verifyWithXmlCrypto } from '../../../tests/support/judges.ts'
import { type IssuedCertificate, openCertificationAuthority } from '../certificates.ts'
import { dateTimeWithOffset } from '../clock.ts'
import {
  action,
  type EventBench,
  type EventResponse,
  envEvento,
  envelope,
  headers,
  type NfeEvent,
  nfeEvent,
  nfePath,
  openBench,
  post,
  readEventResponse,
} from '../events.testing.ts'
import type { GeneratedNfe } from '../generate/nfe.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

const dayMs = 86_400_000
let bench: EventBench
const answers: EventResponse[] = []

beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.test.stop())

async function lote(...events: string[]): Promise<EventResponse> {
  const answer = await post(bench.client, 'nfe', nfePath, envEvento(...events))
  answers.push(answer)
  return answer
}

const signed = async (order: NfeEvent, signer?: IssuedCertificate) =>
  nfeEvent(order, signer ?? (await bench.signer(order.author)), bench.now())

async function send(nfe: GeneratedNfe, order: Partial<NfeEvent> = {}, signer?: IssuedCertificate) {
  const event = await signed({ chave: nfe.chave, author: nfe.recipient.cnpj, ...order }, signer)
  const { results } = await lote(event)
  return results[0]
}

const message = (from: (event: string) => string) => async () => {
  const nfe = await bench.note()
  return lote(from(await signed({ chave: nfe.chave, author: nfe.recipient.cnpj })))
}

describe('a manifestação', () => {
  it('210210 is registered and releases the XML; the emitente and autXML are told', async () => {
    const reader = '33444555000181'
    const nfe = await bench.note({ reader })
    expect(await bench.truth(nfe.recipient.cnpj)).toContain('summary')
    const before = (await bench.truth(nfe.recipient.cnpj)).length
    const answer = await lote(await signed({ chave: nfe.chave, author: nfe.recipient.cnpj }))
    expect(answer.http.body).toContain(
      '<soap:Body><nfeRecepcaoEventoNFResult xmlns="http://www.portalfiscal.inf.br/nfe/wsdl/NFeRecepcaoEvento4"><retEnvEvento ',
    )
    expect(answer).toMatchObject({
      cStat: '128',
      results: [
        {
          cStat: '135',
          xMotivo: 'Evento registrado e vinculado a NF-e',
          cOrgao: '91',
          xEvento: 'Ciencia da Operacao',
          CNPJDest: nfe.recipient.cnpj,
          nProt: expect.stringMatching(/^89\d{13}$/),
        },
      ],
    })
    expect(answer.message).toContain('<idLote>202608110001</idLote>')
    expect((await bench.truth(nfe.recipient.cnpj)).slice(before)).toEqual(['document'])
    expect((await bench.truth(nfe.issuer.cnpj)).at(-1)).toBe('210210')
    expect((await bench.truth(reader)).at(-1)).toBe('210210')
  })

  it.each([
    [210200, undefined, ['document']],
    [210240, 'Mercadoria devolvida no recebimento', ['document']],
    [210220, undefined, []],
  ])('%i is registered; 210220 alone releases nothing', async (tpEvento, xJust, released) => {
    const nfe = await bench.note()
    const before = (await bench.truth(nfe.recipient.cnpj)).length
    const xEvento = tpEvento === 210200 ? 'Confirmacao de Operacao registrada' : expect.stringMatching(/eracao/)
    expect(await send(nfe, { tpEvento, xJust })).toMatchObject({ cStat: '135', xEvento })
    expect((await bench.truth(nfe.recipient.cnpj)).slice(before)).toEqual(released)
    expect((await bench.truth(nfe.issuer.cnpj)).at(-1)).toBe(String(tpEvento))
  })

  it('of a person is signed with an e-CPF', async () => {
    const cpf = '52998224725'
    const nfe = await bench.note()
    const xml = Buffer.from(nfe.bytes).toString('utf8')
    const chave = otherChave(nfe.chave)
    const person = xml
      .replace(`<dest><CNPJ>${nfe.recipient.cnpj}</CNPJ>`, `<dest><CPF>${cpf}</CPF>`)
      .replaceAll(nfe.chave, chave)
    await bench.receive(person)
    expect(await send(nfe, { chave, author: cpf })).toMatchObject({ cStat: '135' })
    expect(await bench.truth(cpf)).toEqual(['summary', 'document'])
  })

  it('136: of a chave that is not known, also with letters in its CNPJ', async () => {
    const nfe = await bench.note()
    const chave = otherChave(nfe.chave)
    expect(await send(nfe, { chave })).toMatchObject({
      cStat: '136',
      xMotivo: 'Evento registrado, mas nao vinculado a NF-e',
      nProt: expect.stringMatching(/^89/),
    })
    expect(await send(nfe, { chave })).toMatchObject({ cStat: '573' })
  })

  it('twenty in a lote have a result each; twenty-one are refused', async () => {
    const notes = await Promise.all(Array.from({ length: 3 }, () => bench.note()))
    const events = await Promise.all(
      Array.from({ length: 21 }, async (_, index) => {
        const nfe = notes[index % 3]!
        return signed({ chave: nfe.chave, author: nfe.recipient.cnpj, tpEvento: index < 3 ? 210210 : 210200 })
      }),
    )
    const answer = await lote(...events.slice(0, 20))
    expect(answer.results.map((one) => one.cStat)).toEqual([
      ...Array.from({ length: 6 }, () => '135'),
      ...Array.from({ length: 14 }, () => '573'),
    ])
    expect(await lote(...events)).toMatchObject({ cStat: '225', results: [] })
  })
})

// The same but for its random code.
function otherChave(chave: string): string {
  const body = `${chave.slice(0, 35)}${String((Number(chave.slice(35, 43)) + 1) % 100_000_000).padStart(8, '0')}`
  return body + chaveCheckDigit(body)
}

describe('the lote', () => {
  it.each([
    ['225', 'no event', () => Promise.resolve(lote())],
    ['225', 'another order', message((xml) => xml.replace(/(<cOrgao>91<\/cOrgao>)(<tpAmb>2<\/tpAmb>)/, '$2$1'))],
    [
      '225',
      'a CNPJ in small letters',
      message((xml) => xml.replace(/<CNPJ>.*?<\/CNPJ>/, '<CNPJ>12abc34501de35</CNPJ>')),
    ],
    ['225', 'no signature', message((xml) => xml.replace(/<Signature.*<\/Signature>/, ''))],
    ['225', 'Z instead of an offset', message((xml) => xml.replace(/-03:00<\/dhEvento>/, 'Z</dhEvento>'))],
    ['225', 'nSeqEvento 0', message((xml) => xml.replace('<nSeqEvento>1', '<nSeqEvento>0'))],
    ['587', 'a namespace that is not used', message((xml) => xml.replace('<evento ', '<evento xmlns:xsi="urn:x" '))],
    ['588', 'a line break between tags', message((xml) => xml.replace('<tpAmb>', '\n<tpAmb>'))],
    [
      '404',
      'a prefix',
      message((xml) =>
        xml
          .replace('<infEvento', '<n:infEvento xmlns:n="http://www.portalfiscal.inf.br/nfe"')
          .replace('</infEvento>', '</n:infEvento>'),
      ),
    ],
  ])('%s: %s', async (cStat, _, sent) => {
    expect(await sent()).toMatchObject({ cStat, results: [] })
  })

  it('214, 215, 516, 517 and 243', async () => {
    const raw = async (text: string) => {
      const answer = await post(bench.client, 'nfe', nfePath, text)
      answers.push(answer)
      return answer
    }
    expect(await raw(`${' '.repeat(500 * 1024)}${envEvento()}`)).toMatchObject({ cStat: '214' })
    expect(await raw('<outro xmlns="http://www.portalfiscal.inf.br/nfe"/>')).toMatchObject({ cStat: '516' })
    expect(await raw(envEvento().replace(' versao="1.00"', ''))).toMatchObject({ cStat: '517' })
    expect(await raw('&lt;envEvento/&gt;')).toMatchObject({ cStat: '215' })
    expect(await raw(envEvento().replace('portalfiscal.inf.br/nfe', 'portalfiscal.inf.br/cte'))).toMatchObject({
      cStat: '215',
    })
    expect(await raw('<a>')).toMatchObject({ cStat: '243' })
  })

  it('402: another encoding', async () => {
    const nfe = await bench.note()
    const event = await signed({ chave: nfe.chave, author: nfe.recipient.cnpj })
    const body = `<?xml version="1.0" encoding="ISO-8859-1"?>${envelope('nfe', envEvento(event))}`
    const answer = readEventResponse(await bench.client.post(nfePath, headers('nfe'), Buffer.from(body, 'latin1')))
    expect(answer.cStat).toBe('402')
  })

  it('takes no action and SOAP 1.1; another action, a wrapper and another body are faults', async () => {
    const nfe = await bench.note()
    const body = envelope('nfe', envEvento(await signed({ chave: nfe.chave, author: nfe.recipient.cnpj })))
    const plain = { 'Content-Type': 'application/soap+xml; charset=utf-8' }
    expect(readEventResponse(await bench.client.post(nfePath, plain, body)).cStat).toBe('128')
    const old = body.replaceAll('http://www.w3.org/2003/05/soap-envelope', 'http://schemas.xmlsoap.org/soap/envelope/')
    const oldHeaders = { 'Content-Type': 'text/xml; charset=utf-8', SOAPAction: `"${action('nfe')}"` }
    expect(readEventResponse(await bench.client.post(nfePath, oldHeaders, old)).results[0]?.cStat).toBe('573')
    // Other clients announce SOAP 1.1 for an envelope of 1.2, or write a prefix outside the fiscal message.
    expect(readEventResponse(await bench.client.post(nfePath, oldHeaders, body)).results[0]?.cStat).toBe('573')
    const prefixed = body
      .replace('<nfeDadosMsg xmlns=', '<w:nfeDadosMsg xmlns:w=')
      .replace('</nfeDadosMsg>', '</w:nfeDadosMsg>')
    expect(readEventResponse(await bench.client.post(nfePath, plain, prefixed)).results[0]?.cStat).toBe('573')
    const other = {
      'Content-Type': `application/soap+xml; action="${action('nfe').replace('EventoNF', 'EventoLote')}"`,
    }
    expect((await bench.client.post(nfePath, other, body)).body).toContain('was not recognized')
    const wrapped = body
      .replace(/<nfeDadosMsg xmlns/, '<nfeRecepcaoEventoNF xmlns')
      .replace('</nfeDadosMsg>', '</nfeRecepcaoEventoNF>')
    expect((await bench.client.post(nfePath, plain, wrapped)).status).toBe(500)
  })

  it('gives a WSDL', async () => {
    const answer = await bench.client.get(`${nfePath}?wsdl`)
    expect(answer.body).toContain('<wsdl:operation name="nfeRecepcaoEventoNF">')
    expect(answer.body).toContain('element="tns:nfeDadosMsg"')
  })
})

describe('the signature', () => {
  const spoiled = async (change: (event: string) => string) => {
    const nfe = await bench.note()
    const { results } = await lote(change(await signed({ chave: nfe.chave, author: nfe.recipient.cnpj })))
    return results[0]?.cStat
  }

  it('213: of another company; the head office signs for its branches', async () => {
    const nfe = await bench.note()
    expect(await send(nfe, {}, await bench.signer('44555666000181'))).toMatchObject({ cStat: '213' })
    const first12 = `${nfe.recipient.cnpj.slice(0, 8)}0099`
    expect(await send(nfe, {}, await bench.signer(first12 + cnpjCheckDigits(first12)))).toMatchObject({ cStat: '135' })
  })

  it('290: what is no certificate', async () => {
    expect(await spoiled((xml) => xml.replace(/(<X509Certificate>).{20}/, '$1AAAAAAAAAAAAAAAAAAAA'))).toBe('290')
  })

  it('291: an expired one', async () => {
    const nfe = await bench.note()
    const holder = { cnpj: nfe.recipient.cnpj, nome: 'VENCIDA', expires: Date.now() - dayMs }
    expect(await send(nfe, {}, await bench.authority.issue(holder, Date.now()))).toMatchObject({ cStat: '291' })
  })

  it('293: one of another authority of the same name', async () => {
    const nfe = await bench.note()
    const foreign = await openCertificationAuthority(`${bench.test.directory}/foreign`, Date.now())
    const holder = { cnpj: nfe.recipient.cnpj, nome: 'ESTRANGEIRA' }
    expect(await send(nfe, {}, await foreign.issue(holder, Date.now()))).toMatchObject({ cStat: '293' })
  })

  it('294: one that was revoked', async () => {
    const nfe = await bench.note()
    const signer = await bench.authority.issue({ cnpj: nfe.recipient.cnpj, nome: 'REVOGADA' }, Date.now())
    await bench.test.control('POST', 'revocations', { serialNumber: signer.certificate.serialNumber })
    expect(await send(nfe, {}, signer)).toMatchObject({ cStat: '294' })
  })

  it('297: changed after signing, or signed with another key', async () => {
    expect(await spoiled((xml) => xml.replace(/<dhEvento>20../, '<dhEvento>2025'))).toBe('297')
    const nfe = await bench.note()
    const signer = await bench.signer(nfe.recipient.cnpj)
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    expect(await send(nfe, {}, { ...signer, key: privateKey })).toMatchObject({ cStat: '297' })
  })

  it('298: other algorithms, a chain, line breaks', async () => {
    expect(await spoiled((xml) => xml.replace('xmldsig#rsa-sha1', 'xmldsig-more#rsa-sha256'))).toBe('298')
    expect(await spoiled((xml) => xml.replace(/(<X509Certificate>.*<\/X509Certificate>)/, '$1$1'))).toBe('298')
    expect(await spoiled((xml) => xml.replace(/(<SignatureValue>.{76})/, '$1\n'))).toBe('298')
  })

  it('of another library holds', async () => {
    const nfe = await bench.note()
    const { key, certificate } = await bench.signer(nfe.recipient.cnpj)
    const event = await signed({ chave: nfe.chave, author: nfe.recipient.cnpj })
    const signer = new SignedXml({
      privateKey: key.export({ type: 'pkcs8', format: 'pem' }),
      publicCert: certificate.toString(),
      canonicalizationAlgorithm: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
      signatureAlgorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
    })
    const xpath = "//*[local-name(.)='infEvento']"
    signer.addReference({
      xpath,
      transforms: [
        'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
        'http://www.w3.org/TR/2001/REC-xml-c14n-20010315',
      ],
      digestAlgorithm: 'http://www.w3.org/2000/09/xmldsig#sha1',
    })
    const unsigned = event.replace(/<Signature.*<\/Signature>/, '')
    signer.computeSignature(unsigned, { location: { reference: xpath, action: 'after' } })
    expect((await lote(signer.getSignedXml())).results[0]?.cStat).toBe('135')
  })

  it('holds when the namespace comes from the lote', async () => {
    const nfe = await bench.note()
    const event = await signed({ chave: nfe.chave, author: nfe.recipient.cnpj })
    const { results } = await lote(event.replace('<evento xmlns="http://www.portalfiscal.inf.br/nfe" ', '<evento '))
    expect(results[0]?.cStat).toBe('135')
    expect((await bench.truth(nfe.recipient.cnpj)).at(-1)).toBe('document')
  })
})

describe('the rules', () => {
  it.each([
    ['489', 'a CNPJ with wrong digits', { author: '44555666000182' }],
    ['491', 'an event of somebody else', { tpEvento: 110111 }],
    ['492', 'verEvento', { verEvento: '1.01' }],
    ['493', 'descEvento with accents', { descEvento: 'Ciência da Operação' }],
    ['493', 'descEvento of another event', { descEvento: 'Confirmacao da Operacao' }],
    ['493', 'an xJust that is too short', { tpEvento: 210240, xJust: 'curta' }],
    ['493', 'an xJust with a space at its end', { tpEvento: 210240, xJust: 'Mercadoria devolvida ' }],
    ['493', 'an xJust beyond Latin-1', { tpEvento: 210240, xJust: 'Mercadoria devolvida – toda' }],
    ['493', 'something more', { detail: '<descEvento>Ciencia da Operacao</descEvento><xOutro>1</xOutro>' }],
    ['595', '210240 without xJust', { tpEvento: 210240 }],
    ['572', 'an Id with three digits', { Id: 'ID2102103526081122233300018155001000012345187654321401001' }],
    ['250', 'cOrgao of a state', { cOrgao: '35' }],
    ['252', 'the other ambiente', { tpAmb: '1' }],
    ['594', 'a second Ciência', { nSeqEvento: 2 }],
    ['594', 'a third Confirmação', { tpEvento: 210200, nSeqEvento: 3 }],
  ])('%s: %s', async (cStat, _, order: Partial<NfeEvent>) => {
    const nfe = await bench.note()
    const signer = await bench.signer(order.author ?? nfe.recipient.cnpj)
    const result = await send(nfe, order, signer)
    expect(result).toMatchObject({ cStat, nProt: '', xMotivo: expect.stringMatching(/^Rejeicao: /) })
  })

  it.each([
    ['236', (chave: string) => chave.slice(0, 43) + String((Number(chave[43]) + 1) % 10)],
    ['614', (chave: string) => withDigit(`99${chave.slice(2, 43)}`)],
    ['615', (chave: string) => withDigit(`${chave.slice(0, 2)}99${chave.slice(4, 43)}`)],
    ['616', (chave: string) => withDigit(`${chave.slice(0, 4)}13${chave.slice(6, 43)}`)],
    ['617', (chave: string) => withDigit(`${chave.slice(0, 6)}${'1'.repeat(14)}${chave.slice(20, 43)}`)],
    ['618', (chave: string) => withDigit(`${chave.slice(0, 20)}65${chave.slice(22, 43)}`)],
    ['619', (chave: string) => withDigit(`${chave.slice(0, 25)}${'0'.repeat(9)}${chave.slice(34, 43)}`)],
    ['496', (chave: string) => withDigit(`${chave.slice(0, 34)}8${chave.slice(35, 43)}`)],
  ])('%s: the chave', async (cStat, change) => {
    const nfe = await bench.note()
    expect(await send(nfe, { chave: change(nfe.chave) })).toMatchObject({ cStat })
  })

  it('575: only the destinatário, with all 14 positions', async () => {
    const nfe = await bench.note()
    const first12 = `${nfe.recipient.cnpj.slice(0, 8)}0077`
    const branch = first12 + cnpjCheckDigits(first12)
    expect(await send(nfe, { author: branch })).toMatchObject({ cStat: '575' })
    expect(await send(nfe, { author: nfe.issuer.cnpj })).toMatchObject({ cStat: '575' })
  })

  it('573: a duplicate names the registration', async () => {
    const nfe = await bench.note()
    const first = await send(nfe)
    expect(await send(nfe)).toMatchObject({
      cStat: '573',
      xMotivo: `Rejeicao: Duplicidade de evento [nProt:${first?.nProt}][dhRegEvento:${first?.dhRegEvento}]`,
      nProt: '',
    })
  })

  it('655: Ciência after a conclusive one; conclusive ones follow each other up to twice', async () => {
    const nfe = await bench.note()
    expect(await send(nfe, { tpEvento: 210200 })).toMatchObject({ cStat: '135' })
    expect(await send(nfe, { tpEvento: 210210 })).toMatchObject({ cStat: '655' })
    expect(await send(nfe, { tpEvento: 210220 })).toMatchObject({ cStat: '135' })
    expect(await send(nfe, { tpEvento: 210200, nSeqEvento: 2 })).toMatchObject({ cStat: '135' })
    expect(await send(nfe, { tpEvento: 210200, nSeqEvento: 3 })).toMatchObject({ cStat: '594' })
  })

  it('650 and 651: of a note that was cancelled', async () => {
    const nfe = await bench.note()
    await bench.receive(cancellationOf(nfe.chave, nfe.issuer.cnpj))
    expect(await send(nfe)).toMatchObject({ cStat: '650' })
    expect(await send(nfe, { tpEvento: 210220 })).toMatchObject({ cStat: '651' })
  })

  it('577, 578 and 579: the date of the event, with five minutes of tolerance', async () => {
    const nfe = await bench.note()
    const at = (ms: number) => ({ dhEvento: dateTimeWithOffset(bench.now() + ms) })
    expect(await send(nfe, at(-3_600_000))).toMatchObject({ cStat: '577' })
    expect(await send(nfe, at(6 * 60_000))).toMatchObject({ cStat: '578' })
    expect(await send(nfe, at(4 * 60_000))).toMatchObject({ cStat: '135' })
    const late = Buffer.from(nfe.bytes).toString('utf8')
    const chave = otherChave(nfe.chave)
    const issued = dateTimeWithOffset(bench.now() - 3_600_000)
    await bench.receive(late.replaceAll(nfe.chave, chave).replace(/<dhEmi>[^<]*/, `<dhEmi>${issued}`))
    expect(await send(nfe, { chave, ...at(-1_800_000) })).toMatchObject({ cStat: '579' })
  })

  it('573: who answered in another system before the archive arrived', async () => {
    const nfe = await bench.note()
    const chave = otherChave(nfe.chave)
    const xml = Buffer.from(nfe.bytes).toString('utf8').replaceAll(nfe.chave, chave)
    await bench.test.control('POST', 'documents?answered=true', xml)
    expect(await send(nfe, { chave })).toMatchObject({ cStat: '573', xMotivo: 'Rejeicao: Duplicidade de evento' })
    expect(await send(nfe, { chave, tpEvento: 210200 })).toMatchObject({ cStat: '135' })
  })

  it('656: the twenty-first equal rejection blocks the author for an hour', async () => {
    const nfe = await bench.note()
    const other = await bench.note({ recipient: nfe.recipient.cnpj })
    await send(nfe)
    for (let times = 1; times <= 20; times++) expect(await send(nfe)).toMatchObject({ cStat: '573' })
    expect(await send(nfe)).toMatchObject({ cStat: '656' })
    expect(await send(other)).toMatchObject({ cStat: '656' })
    expect(await bench.test.control('GET', 'misuse')).toMatchObject({
      misuse: [{ service: 'nfe', cnpj: nfe.recipient.cnpj, of: 'events', count: 2, excused: 0 }],
    })
    await bench.advance(3_600_000)
    expect(await send(other)).toMatchObject({ cStat: '135' })
  })

  it('596: ten days for Ciência, ninety for the others, from the reception on', async () => {
    const nfe = await bench.note()
    const other = await bench.note()
    await bench.advance(10 * dayMs - 60_000)
    expect(await send(other)).toMatchObject({ cStat: '135' })
    await bench.advance(120_000)
    expect(await send(nfe)).toMatchObject({
      cStat: '596',
      xMotivo: 'Rejeicao: Evento apresentado apos o prazo permitido para o evento: [10 dias]',
    })
    await bench.advance(80 * dayMs - 120_000)
    expect(await send(nfe, { tpEvento: 210200 })).toMatchObject({ cStat: '135' })
    await bench.advance(120_000)
    expect(await send(nfe, { tpEvento: 210220 })).toMatchObject({ cStat: '596' })
  })
})

function withDigit(body: string): string {
  return body + chaveCheckDigit(body)
}

function cancellationOf(chave: string, issuer: string): string {
  const info = `<cOrgao>${chave.slice(0, 2)}</cOrgao><tpAmb>2</tpAmb><CNPJ>${issuer}</CNPJ><chNFe>${chave}</chNFe><dhEvento>2026-08-10T18:00:00-03:00</dhEvento><tpEvento>110111</tpEvento><nSeqEvento>1</nSeqEvento>`
  return `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><evento versao="1.00"><infEvento>${info}</infEvento></evento><retEvento versao="1.00"><infEvento><cStat>135</cStat><chNFe>${chave}</chNFe><nProt>135260001234567</nProt></infEvento></retEvento></procEventoNFe>`
}

it('of generated documents the deadline runs from the authorisation that is written in them', async () => {
  const cnpj = '12ABC34501DE35'
  const company = { cnpj, nome: 'EMPRESA EXEMPLO LTDA', uf: 'SC' }
  const made = await openBench({ companies: [company], since: Date.now() - 20 * dayMs })
  const { documents } = (await made.test.control('GET', `truth?cnpj=${cnpj}&service=nfe`)) as {
    documents: { kind: string; chave: string; roles: string[] }[]
  }
  const complete = documents.filter((one) => one.kind === 'document').map((one) => one.chave)
  const open = documents.filter((one) => one.kind === 'summary' && !complete.includes(one.chave))
  const signer = await made.signer(cnpj)
  // The oldest and the newest: a lote holds twenty.
  const ends = new Set([...open.slice(0, 10), ...open.slice(-10)])
  const events = [...ends].map(({ chave }) => nfeEvent({ chave, author: cnpj }, signer, made.now()))
  const { results } = await post(made.client, 'nfe', nfePath, envEvento(...events))
  const codes = new Set(results.map((one) => one.cStat))
  expect([...codes].filter((one) => one !== '650' && one !== '655').sort()).toEqual(['135', '596'])
  await made.test.stop()
})

it('what the emitente receives is the event as it was sent, with the response', async () => {
  const nfe = await bench.note()
  const event = await signed({ chave: nfe.chave, author: nfe.recipient.cnpj, tpEvento: 210220 })
  await lote(event)
  const { documents } = (await bench.test.control('GET', `truth?cnpj=${nfe.issuer.cnpj}&service=nfe&expired=true`)) as {
    documents: unknown[]
  }
  const client = await bench.test.client(nfe.issuer.cnpj)
  const page = await client.ask('nfe', { cnpj: nfe.issuer.cnpj, NSU: documents.length })
  expect(page.documents[0]?.schema).toBe('procEventoNFe_v1.00.xsd')
  const xml = page.documents[0]?.xml ?? ''
  expect(xml).toContain(event)
  expect(verifyWithXmlCrypto(event)).toBe(true)
  if (hasSchemas) expect(schema('nfe/Eventos_PL_010_V1.30', 'procEventoNFe_v1.00.xsd', true)(xml)).toEqual([])
})

it.runIf(hasSchemas)('every answer obeys the official schema', () => {
  const validate = schema('nfe/Eventos_PL_010_V1.30', 'retEnvEvento_v1.00.xsd')
  expect(answers.length).toBeGreaterThan(80)
  expect(answers.flatMap((one) => validate(one.message))).toEqual([])
})
