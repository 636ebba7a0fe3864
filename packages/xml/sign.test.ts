import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SignedXml } from 'xml-crypto'
import { verifyWithXmlCrypto } from '../../tests/support/judges.ts'
import { canonicalize, dsigNamespace } from './canonicalize.ts'
import { testCertificate } from './certificate.testing.ts'
import { decodeXml, parseXml } from './parse.ts'
import { bytesOf, samples } from './samples.testing.ts'
import { SignError, signEnveloped } from './sign.ts'
import { c14n, enveloped, rsaSha1, sha1 } from './signature.ts'
import { verifySignature } from './verify.ts'

const { key, certificate } = testCertificate('EMPRESA DESTINATARIA LTDA:44555666000181')
const other = testCertificate('OUTRA EMPRESA LTDA:11222333000181')

const id = 'ID2102103526081122233300018155001000012345187654321401'
const evento = `<evento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><infEvento Id="${id}"><cOrgao>91</cOrgao><tpAmb>2</tpAmb><CNPJ>44555666000181</CNPJ><chNFe>35260811222333000181550010000123451876543214</chNFe><dhEvento>2026-08-11T08:30:00-03:00</dhEvento><tpEvento>210210</tpEvento><nSeqEvento>1</nSeqEvento><verEvento>1.00</verEvento><detEvento versao="1.00"><descEvento>Ciencia da Operacao</descEvento></detEvento></infEvento></evento>`
const signed = signEnveloped(evento, id, key, certificate)

const eventoCTe = `<eventoCTe xmlns="http://www.portalfiscal.inf.br/cte" versao="4.00"><infEvento Id="ID1"><detEvento versaoEvento="4.00"><evCCeCTe><xCondUso>É disciplinada &amp; "é" &lt;lida&gt;</xCondUso></evCCeCTe></detEvento></infEvento></eventoCTe>`

describe('signEnveloped', () => {
  test('has the digests published with the dossier of the signature (§4)', () => {
    const signature = parseXml(signed).children[1]!
    const signedInfo = canonicalize(signature.children[0]!, { '': dsigNamespace })
    expect(signed).toContain('<DigestValue>btSc1rfb02C7X7kdbKcFUDUrmRo=</DigestValue>')
    expect(signedInfo).toHaveLength(684)
    expect(createHash('sha1').update(signedInfo).digest('base64')).toBe('df/QNrsCtfbglwgmQ6Rto8a14zA=')
  })

  test('changes nothing but the place before the end tag of the parent', () => {
    const [before, after] = signed.split(/<Signature .*<\/Signature>/)
    expect(before! + after!).toBe(evento)
    expect(after).toBe('</evento>')
    expect(signed).not.toMatch(/>\s|\s</)
  })

  test('is byte by byte what xml-crypto writes', () => {
    expect(signed).toBe(signWithXmlCrypto(evento, 'infEvento'))
    expect(signEnveloped(eventoCTe, 'ID1', key, certificate)).toBe(signWithXmlCrypto(eventoCTe, 'infEvento'))
  })

  test('puts the signature after what already follows the signed element', () => {
    const nfe = `<NFe xmlns="u"><infNFe Id="NFe1"/><infNFeSupl><qrCode/></infNFeSupl></NFe>`
    const result = signEnveloped(nfe, 'NFe1', key, certificate)
    expect(parseXml(result).children.map(({ name }) => name)).toEqual(['infNFe', 'infNFeSupl', 'Signature'])
    expect(verifySignature(result)).toMatchObject({ valid: true, id: 'NFe1' })
  })

  test('signs inside a lote as if the event were alone', () => {
    const lote = `<envEvento xmlns="http://www.portalfiscal.inf.br/nfe" xmlns:xsi="x" versao="1.00"><idLote>1</idLote>${evento}</envEvento>`
    expect(signEnveloped(lote, id, key, certificate)).toContain(signed)
    const inherited = lote.replace('<evento xmlns="http://www.portalfiscal.inf.br/nfe"', '<evento')
    expect(signEnveloped(inherited, id, key, certificate)).toContain('btSc1rfb02C7X7kdbKcFUDUrmRo=')
  })

  test.each([
    ['an Id that is absent', '<a><b Id="2"/></a>', 'No element'],
    ['an Id used twice', '<a><b Id="1"/><c Id="1"/></a>', 'More than one'],
    ['the root itself', '<a Id="1"/>', 'must have a parent'],
    ['what is signed already', '<a><b Id="1"/><Signature/></a>', 'signed already'],
  ])('refuses %s', (_, xml, message) => {
    const attempt = () => signEnveloped(xml, '1', key, certificate)
    expect(attempt).toThrow(SignError)
    expect(attempt).toThrow(message)
  })
})

describe('verifySignature accepts', () => {
  test('what we sign', () => {
    const result = verifySignature(signed)
    expect(result).toMatchObject({ valid: true, id })
    expect(result.certificate?.raw.equals(certificate.raw)).toBe(true)
  })

  test('what xml-crypto signs, and the other way round', () => {
    expect(verifySignature(signWithXmlCrypto(eventoCTe, 'infEvento')).valid).toBe(true)
    for (const xml of [signed, signEnveloped(eventoCTe, 'ID1', key, certificate)]) {
      expect(verifyWithXmlCrypto(xml)).toBe(true)
      expect(verifyWithXmlCrypto(xml.replace('<infEvento', '<infEvento x="1"'))).toBe(false)
    }
  })

  test('a document inside an envelope that declares more namespaces', () => {
    const envelope = `<s:Envelope xmlns:s="s" xmlns:xsi="x" xmlns="e"><s:Body>${signed}</s:Body></s:Envelope>`
    expect(verifySignature(envelope).valid).toBe(true)
  })

  test('a document that lost its own declaration when it was put into a proc', () => {
    const proc = `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe">${signed.replace(/ xmlns="[^"]*"/, '')}</procEventoNFe>`
    expect(verifySignature(proc).valid).toBe(true)
  })

  test('a document signed inside its envelope', () => {
    const envelope = '<e xmlns:xsi="x">A</e>'
    const inside = signWithXmlCrypto(envelope.replace('A', evento), 'infEvento')
    expect(inside).not.toContain('btSc1rfb02C7X7kdbKcFUDUrmRo=')
    expect(verifySignature(inside).valid).toBe(true)
  })

  test('another way of writing the same document', () => {
    const rewritten = signed
      .replace(`Id="${id}"`, `Id = '${id}'`)
      .replace('<tpAmb>2</tpAmb>', '<tpAmb><!-- homologação --><![CDATA[2]]></tpAmb >')
    expect(verifySignature(rewritten).valid).toBe(true)
  })
})

describe('verifySignature refuses', () => {
  const alter = (from: string | RegExp, to: string) => {
    const altered = signed.replace(from, to)
    expect(altered).not.toBe(signed)
    return altered
  }

  test.each([
    ['a changed value', alter('<tpAmb>2<', '<tpAmb>1<'), 'digest'],
    ['added white space', alter('<tpAmb>', ' <tpAmb>'), 'digest'],
    ['an added processing instruction', alter('<tpAmb>', '<?p?><tpAmb>'), 'digest'],
    ['another namespace', alter('portalfiscal.inf.br/nfe', 'portalfiscal.inf.br/cte'), 'digest'],
    ['another digest', alter(/<DigestValue>../, '<DigestValue>AA'), 'digest'],
    ['another signature value', alter(/<SignatureValue>..../, '<SignatureValue>AAAA'), 'signature'],
    ['a cut signature value', alter(/<SignatureValue>.{8}/, '<SignatureValue>'), 'signature'],
    [
      'the certificate of someone else',
      alter(certificate.raw.toString('base64'), other.certificate.raw.toString('base64')),
      'signature',
    ],
    ['a certificate that is none', alter(/<X509Certificate>[^<]*/, '<X509Certificate>AAAA'), 'form'],
    ['no certificate', alter(/<KeyInfo>.*<\/KeyInfo>/, ''), 'form'],
    ['another canonicalization', alter(c14n, `${c14n}#WithComments`), 'form'],
    ['another signature method', alter(rsaSha1, 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256'), 'form'],
    ['another digest method', alter(sha1, 'http://www.w3.org/2001/04/xmlenc#sha256'), 'form'],
    ['another transform', alter(enveloped, 'http://www.w3.org/TR/1999/REC-xpath-19991116'), 'form'],
    ['a third transform', alter('</Transforms>', `<Transform Algorithm="${c14n}"/></Transforms>`), 'form'],
    ['a second reference', alter('</Reference>', '</Reference><Reference URI="#x"/>'), 'form'],
    ['a reference to the whole document', alter(`URI="#${id}"`, 'URI=""'), 'form'],
    ['a reference to nothing', alter(`URI="#${id}"`, 'URI="#ID0"'), 'form'],
    ['the signed element moved elsewhere', alter(/(<infEvento.*<\/infEvento>)/, '<x>$1</x><infEvento/>'), 'form'],
    ['a second element with the same Id', `<e>${signed}<infEvento Id="${id}"/></e>`, 'form'],
    ['a document that is not well formed', signed.slice(0, -1), 'form'],
    ['a document without signature', evento, 'no-signature'],
    ['a Signature of another namespace', alter(`<Signature xmlns="${dsigNamespace}">`, '<Signature>'), 'no-signature'],
  ])('%s', (_, xml, reason) => {
    expect(verifySignature(xml)).toMatchObject({ valid: false, reason })
  })
})

describe.runIf(samples.length > 0)('the samples', () => {
  test.each(samples)('$file', (sample) => {
    const result = verifySignature(decodeXml(bytesOf(sample)))
    expect(result.valid).toBe(sample.assinaturaConfere === true)
    if (sample.file.includes('digest-nao-confere')) expect(result.reason).toBe('digest')
    if (sample.file.includes('assinatura-nao-confere')) expect(result.reason).toBe('signature')
  })

  test('verify with xml-crypto too, where they stand', { timeout: 60_000 }, () => {
    // The longest takes as much time as a hundred others.
    const list = samples.filter((sample) => sample.assinaturaConfere && bytesOf(sample).length < 500_000)
    const agreed = list.filter((sample) => verifyWithXmlCrypto(decodeXml(bytesOf(sample))))
    expect(list.filter((sample) => !agreed.includes(sample)).map(({ file }) => file)).toEqual([])
  })
})

const examples = join(import.meta.dirname, '../../../shared/reference/sefaz/exemplos.md')

describe.runIf(existsSync(examples))('the complete messages of the dossier', () => {
  const sections = existsSync(examples) ? readFileSync(examples, 'utf8').split(/^## /m) : []
  test.each(['1', '2', '4', '5', '6', '7'])('section %s', (number) => {
    const section = sections.find((text) => text.startsWith(`${number}.`)) ?? ''
    const message = /```xml\n(.*)\n```/.exec(section)?.[1] ?? ''
    const document = /<(envEvento|eventoCTe) .*<\/\1>/.exec(message)?.[0] ?? message
    expect(verifySignature(document)).toMatchObject({ valid: true })
    expect(verifySignature(message)).toMatchObject({ valid: true })
  })
})

function signWithXmlCrypto(xml: string, element: string): string {
  const signer = new SignedXml({
    privateKey: key.export({ type: 'pkcs8', format: 'pem' }),
    publicCert: certificate.toString(),
    canonicalizationAlgorithm: c14n,
    signatureAlgorithm: rsaSha1,
  })
  const xpath = `//*[local-name(.)='${element}']`
  signer.addReference({ xpath, transforms: [enveloped, c14n], digestAlgorithm: sha1 })
  signer.computeSignature(xml, { location: { reference: xpath, action: 'after' } })
  return signer.getSignedXml()
}
