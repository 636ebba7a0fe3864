import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseReceived } from '@vigia/xml/parse'
import { signEnveloped } from '@vigia/xml/sign'
import { describe, expect, test } from 'vitest'
import { newCertificate } from '../../tests/support/certificates.ts'
import { findSamples } from '../../tests/support/samples.ts'
import { chaveCheckDigit } from './chave.ts'
import { type Proof, proofOf } from './proof.ts'

const { key, pem } = newCertificate('EMITENTE LTDA:11222333000181')
const x509 = new X509Certificate(pem)
const chaveOf = (body: string) => `${body}${chaveCheckDigit(body)}`
const chave = chaveOf('3526081122233300018155001000012345187654321')
const head =
  '<cUF>35</cUF><cNF>87654321</cNF><natOp>VENDA</natOp><mod>55</mod><serie>1</serie><nNF>12345</nNF><dhEmi>2026-08-31T23:30:00-03:00</dhEmi>'
const ide = `<ide>${head}<tpEmis>1</tpEmis></ide><emit><CNPJ>11222333000181</CNPJ></emit><total><ICMSTot><vNF>1500.00</vNF></ICMSTot></total>`

function sign(document: string, id: string): { signed: string; digest: string } {
  const signed = signEnveloped(document, id, createPrivateKey(key), x509)
  return { signed, digest: /<DigestValue>([^<]*)/.exec(signed)![1]! }
}

function nfe(inside = ide, of = chave, versao = '4.00'): string {
  const id = `NFe${of}`
  const { signed, digest } = sign(
    `<NFe xmlns="http://www.portalfiscal.inf.br/nfe"><infNFe Id="${id}" versao="${versao}">${inside}</infNFe></NFe>`,
    id,
  )
  return `<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe">${signed}<protNFe><infProt><chNFe>${of}</chNFe><digVal>${digest}</digVal><cStat>100</cStat></infProt></protNFe></nfeProc>`
}

const cteChave = chaveOf('4126087788899900018157001000009876113572468')
const carried = '35260811222333000181550010000123451876543214'
function cte(): string {
  const { signed, digest } = sign(
    `<CTe xmlns="http://www.portalfiscal.inf.br/cte"><infCte Id="CTe${cteChave}" versao="4.00"><ide><cUF>41</cUF><cCT>13572468</cCT><mod>57</mod><serie>1</serie><nCT>9876</nCT><dhEmi>2026-08-01T00:00:00-03:00</dhEmi><tpEmis>1</tpEmis></ide><emit><CNPJ>77888999000181</CNPJ></emit><infCTeNorm><infDoc><infNFe><chave>${carried}</chave></infNFe></infDoc></infCTeNorm></infCte></CTe>`,
    `CTe${cteChave}`,
  )
  return `<cteProc xmlns="http://www.portalfiscal.inf.br/cte">${signed}<protCTe><infProt><chCTe>${cteChave}</chCTe><digVal>${digest}</digVal></infProt></protCTe></cteProc>`
}

const eventFacts = (of: string) => `<chNFe>${of}</chNFe><tpEvento>110111</tpEvento><nSeqEvento>1</nSeqEvento>`
function event(id = `ID110111${chave}01`, before = '', of = chave): string {
  const facts = eventFacts(of)
  const { signed } = sign(
    `<evento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><infEvento Id="${id}"><cOrgao>35</cOrgao>${before}${facts}<detEvento versao="1.00"><xJust>x</xJust></detEvento></infEvento></evento>`,
    id,
  )
  return `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00">${signed}<retEvento><infEvento><cStat>135</cStat>${eventFacts(chave)}</infEvento></retEvento></procEventoNFe>`
}

const proof = (xml: string): Proof | null => proofOf(parseReceived(xml))
const whole = nfe()

describe('proofOf', () => {
  test('finds that signature, protocol and chave agree', () => {
    expect(proof(whole)).toBe('proved')
    expect(proof(cte())).toBe('proved')
    expect(proof(whole.replace(/<protNFe>.*<\/protNFe>/, ''))).toBe('proved')
    // digVal is optional.
    expect(proof(whole.replace(/<digVal>.*<\/digVal>/, ''))).toBe('proved')
  })

  test.each<[string, Proof, RegExp, string]>([
    ['a value altered after signing', 'altered', /<vNF>1/, '<vNF>9'],
    ['another signature', 'signature', /<SignatureValue>..../, '<SignatureValue>AAAA'],
    ['no signature', 'unsigned', /<Signature .*<\/Signature>/, ''],
    ['a signature of another form', 'form', /xmldsig#rsa-sha1/, 'xmldsig#rsa-md5'],
    ['a signature of no namespace', 'form', / xmlns="http:\/\/www.w3.org\/2000\/09\/xmldsig#"/, ''],
    [
      'a certificate that is none',
      'form',
      /<X509Certificate>.*<\/X509Certificate>/,
      '<X509Certificate>AA</X509Certificate>',
    ],
    ['a protocol of another content', 'protocol', /<digVal>.../, '<digVal>AAA'],
    ['a protocol of another note', 'protocol', /<chNFe>\d\d/, '<chNFe>99'],
  ])('finds %s: %s', (_, found, from, to) => {
    expect(from.test(whole)).toBe(true)
    expect(proof(whole.replace(from, to))).toBe(found)
  })

  test('does not take the signature of something else for that of the note', () => {
    const unsigned = whole.replace(/<Signature .*<\/Signature>/, '').replace('<vNF>1', '<vNF>9')
    const { signed } = sign('<x xmlns="y"><z Id="other"></z></x>', 'other')
    expect(proof(unsigned.replace('<NFe ', `${signed}<NFe `))).toBe('unsigned')
  })

  test('does not prove a document in which two could be read', () => {
    const other = whole.replaceAll(chave, `${chave.slice(0, 43)}0`).replace('<vNF>1', '<vNF>9')
    const note = /<NFe .*<\/NFe>/.exec(whole)![0]
    const forged = /<NFe .*<\/NFe>/.exec(other)![0]
    for (const both of [note + forged, note.replaceAll('NFe xmlns', 'x xmlns').replace('</NFe>', '</x>') + forged])
      expect(proof(whole.replace(note, both))).toBe('form')
    expect(proof(whole.replace('</nfeProc>', `${/<infNFe.*<\/infNFe>/.exec(other)![0]}</nfeProc>`))).toBe('form')
    expect(proof(whole.replace('</infNFe>', `</infNFe>${/<infNFe.*<\/infNFe>/.exec(other)![0]}`))).toBe('form')
  })

  test('looks for the signature over what is read, wherever the authority signs its own', () => {
    const signed = (xml: string, element: string) =>
      xml.replace(
        new RegExp(`<${element}>.*</${element}>`),
        (part) => sign(part.replace(/<inf(Prot|Evento)>/, '<inf$1 Id="ID135">'), 'ID135').signed,
      )
    const note = signed(whole, 'protNFe')
    const happened = signed(event(), 'retEvento')
    const first = note.replace(/(<NFe .*<\/NFe>)(<protNFe>.*<\/protNFe>)/, '$2$1')
    const firstRegistered = happened.replace(/(<evento .*<\/evento>)(<retEvento>.*<\/retEvento>)/, '$2$1')
    const ways = [note, first, happened, firstRegistered]
    expect(ways.map((xml) => xml.split('<Signature ').length)).toEqual([3, 3, 3, 3])
    expect(ways.map(proof)).toEqual(ways.map(() => 'proved'))
    // Its own signature is still looked at.
    expect(proof(first.replace('<vNF>1', '<vNF>9'))).toBe('altered')
    expect(proof(note.replace(/<Signature .*?<\/Signature>/, ''))).toBe('unsigned')
  })

  test('proves what is signed beside an entity that nobody declared, and in bytes that are not UTF-8', () => {
    const odd = whole.replace(
      '</infProt>',
      '</infProt><Signature><SignatureValue>&null;&null;</SignatureValue></Signature>',
    )
    expect(proof(odd)).toBe('proved')
    // The same characters after parsing, but the signature does not cover an entity reference.
    const escaped = nfe(ide.replace('VENDA', 'VENDA &amp;null;'))
    expect([proof(escaped), proof(escaped.replace('&amp;null;', '&null;'))]).toEqual(['proved', 'altered'])
    const accents = nfe(ide.replace('VENDA', 'Venda de produção'))
    expect(proofOf(parseReceived(Buffer.from(accents, 'latin1')))).toBe('proved')
    expect(proofOf(parseReceived(Buffer.from(accents.replace('ção', 'cão'), 'latin1')))).toBe('altered')
  })

  test('takes other ways of writing the same document', () => {
    const ways = [
      whole.replace(/Id="([^"]*)" versao="4.00"/, 'versao="4.00" Id="$1"'),
      whole.replace('<NFe xmlns="http://www.portalfiscal.inf.br/nfe">', '<NFe>'),
      `\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n${whole}\n`,
      whole.replace(/(<Transform Algorithm="[^"]*")\/>/g, '$1></Transform>'),
      nfe(`${ide}<x></x>`).replace('<x></x>', '<x/>'),
    ]
    for (const xml of ways) expect(xml).not.toBe(whole)
    expect(ways.map(proof)).toEqual(ways.map(() => 'proved'))
  })

  test.each([
    ['cUF', '<cUF>35', '<cUF>33'],
    ['the month, in the time of the place', '2026-08-31', '2026-09-01'],
    ['the CNPJ of the issuer', '<CNPJ>11222333000181', '<CNPJ>44555666000181'],
    ['mod', '<mod>55', '<mod>65'],
    ['serie', '<serie>1', '<serie>2'],
    ['nNF', '<nNF>12345', '<nNF>12346'],
    ['tpEmis', '<tpEmis>1', '<tpEmis>9'],
    ['cNF', '<cNF>8', '<cNF>7'],
  ])('finds a chave that is not made of %s', (_, from, to) => {
    expect(proof(nfe(ide.replace(from, to)))).toBe('chave')
  })

  test('finds a wrong check digit', () => {
    expect(proof(nfe(ide, `${chave.slice(0, 43)}${(Number(chave[43]) + 1) % 10}`))).toBe('chave')
  })

  test('knows the chaves of a person, of a nota avulsa and of the time before tpEmis', () => {
    const withSerie = (serie: string, inside: string) =>
      nfe(
        ide.replace('<serie>1', `<serie>${serie}`).replace('<CNPJ>11222333000181</CNPJ>', inside),
        chaveOf(`352608${inside.includes('CPF') ? '00011144477735' : '11222333000181'}55${serie}000012345187654321`),
      )
    expect(proof(withSerie('920', '<CPF>11144477735</CPF>'))).toBe('proved')
    expect(proof(withSerie('890', '<CNPJ>44555666000181</CNPJ>'))).toBe('proved')
    expect(proof(nfe(ide.replace('87654321', '187654321').replace('<tpEmis>1</tpEmis>', ''), chave, '1.10'))).toBe(
      'proved',
    )
  })

  test('cannot tell of the copy of a CT-e in which the authority hides the other documents', () => {
    const nines = '9'.repeat(44)
    expect(proof(cte().replace(carried, nines))).toBe('hidden')
    expect(proof(whole.replace('VENDA', nines))).toBe('altered')
  })

  test('finds that an event and its registration agree', () => {
    const whole = event()
    const moved = whole.replace(/(<evento .*<\/evento>)(<retEvento>.*<\/retEvento>)/, '$2$1')
    const ways = [
      whole,
      whole.replace(/<retEvento>.*<\/retEvento>/, ''),
      moved,
      whole.replace('<retEvento>', '').replace('</retEvento>', ''),
    ]
    expect(ways.map(proof)).toEqual(ways.map(() => 'proved'))
  })

  test.each<[string, Proof, RegExp, string]>([
    ['an altered event', 'altered', /<xJust>x/, '<xJust>y'],
    ['an event without signature', 'unsigned', /<Signature .*<\/Signature>/, ''],
    ['another signature', 'signature', /<SignatureValue>..../, '<SignatureValue>AAAA'],
    [
      'the registration of another event',
      'protocol',
      /<retEvento>(.*)<tpEvento>110111/,
      '<retEvento>$1<tpEvento>110110',
    ],
    ['the registration for another note', 'protocol', /<retEvento>(.*)<chNFe>35/, '<retEvento>$1<chNFe>33'],
    ['two events', 'form', /(<evento .*<\/evento>)/, '$1$1'],
    ['two registrations', 'form', /(<retEvento>.*<\/retEvento>)/, '$1$1'],
  ])('finds %s: %s', (_, found, from, to) => {
    expect(from.test(event())).toBe(true)
    expect(proof(event().replace(from, to))).toBe(found)
  })

  test('finds an event whose Id is not made of what it says', () => {
    expect(proof(event(`ID110110${chave}01`))).toBe('chave')
    expect(proof(event(`ID110111${chave}02`))).toBe('chave')
  })

  test('does not take what stands elsewhere in the signed group for what is read', () => {
    const inner = '<x><cUF>35</cUF></x>'
    expect(proof(nfe(ide.replace('<cUF>35', `${inner}<cUF>33`)))).toBe('chave')
    const emit = '<emit><CNPJ>11222333000181</CNPJ></emit>'
    for (const another of [`<compl>${emit}</compl>`, `<compl><compl></compl>${emit}</compl>`, `<x>${emit}</x>`])
      expect(proof(nfe(ide.replace(emit, `${another}<emit><CNPJ>44555666000181</CNPJ></emit>`)))).toBe('chave')
    expect(proof(nfe(ide.replace(emit, `<compl><compl></compl>${emit}</compl>`)))).toBe('chave')
    const note = chaveOf('3526081122233300018155001000012346187654321')
    expect(proof(event(undefined, `<x>${eventFacts(chave)}</x>`, note))).toBe('protocol')
  })

  test('reads the group that stands directly in the signed one, however another is written', () => {
    const other = '<CNPJ>99999999000191</CNPJ>'
    const emit = '<emit><CNPJ>11222333000181</CNPJ></emit>'
    const other2 = `<emit a="1">${other}</emit>`
    const rest = `${head}<tpEmis>1</tpEmis>`
    const forms: [string, Proof][] = [
      // The first emit is inside ide; only the second one belongs to the note.
      [`<ide>${rest}<ide a="1">x</ide>${emit}</ide>${other2}`, 'chave'],
      [`<ide>${rest}<ide a="1">x</ide></ide>${emit}`, 'proved'],
      [`<ide>${rest}</ide><compl><compl a="1"></compl>${emit}</compl>${other2}`, 'chave'],
      [`<ide>${rest}</ide><avulsa><avulsa/>${emit}</avulsa>${other2}`, 'chave'],
      [`<ide>${rest}<ide/></ide>${emit}${other2}`, 'proved'],
      [`<ide>${rest}</ide>${other2}${emit}`, 'chave'],
      [`<ide>${rest}</ide>${emit}<emitente a="1">x</emitente><ideX/>`, 'proved'],
    ]
    for (const [inside, found] of forms) expect(proof(nfe(inside)), inside).toBe(found)
  })

  test('does not take the proof of an event for that of a note, nor the other way round', () => {
    const forged = whole.replace(/<Signature .*<\/Signature>/, '').replace('<vNF>1', '<vNF>9')
    const signedEvent = /<evento .*<\/evento>/.exec(event())![0]
    expect(proof(forged.replace('<protNFe>', `${signedEvent}<protNFe>`))).toBe('unsigned')
    expect(proof(forged.replace('<NFe ', `${signedEvent}<NFe `))).toBe('unsigned')
    const unsigned = event().replace(/<Signature .*<\/Signature>/, '')
    expect(proof(unsigned.replace('<evento ', `${/<NFe .*<\/NFe>/.exec(whole)![0]}<evento `))).toBe('unsigned')
  })

  test('gives none for what is not a complete document', () => {
    expect(proof(`<resNFe><chNFe>${chave}</chNFe></resNFe>`)).toBeNull()
    expect(proof('<evento xmlns="http://www.sped.fazenda.gov.br/nfse"><infEvento/></evento>')).toBeNull()
  })

  test.runIf(findSamples())('finds what is wrong in the samples', async () => {
    const read = (name: string) => readFile(join(findSamples()!, 'invalidos', `${name}.xml`))
    for (const folder of ['nfe', 'cte', 'eventos']) {
      const files = (await readdir(join(findSamples()!, folder))).filter((name) => name.endsWith('.xml'))
      const found = await Promise.all(files.map((name) => readFile(join(findSamples()!, folder, name))))
      expect(files.filter((_, index) => proofOf(parseReceived(found[index]!)) !== 'proved')).toEqual([])
    }
    expect(proofOf(parseReceived(await read('nfe-dv-da-chave-errado')))).toBe('chave')
    expect(proofOf(parseReceived(await read('nfe-protocolo-de-outra-chave')))).toBe('protocol')
    expect(proofOf(parseReceived(await read('nfe-assinatura-nao-confere')))).toBe('signature')
    expect(proofOf(parseReceived(await read('cte-digest-nao-confere')))).toBe('altered')
  })
})
