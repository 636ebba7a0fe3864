import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { child, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { verifySignature } from '@vigia/xml/verify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SignedXml } from 'xml-crypto'
import { openCertificationAuthority } from '../certificates.ts'
import { createClock } from '../clock.ts'
import { type Ledger, openLedger, type Received } from '../ledger.ts'
import { hasSchemas, schema, type Validate } from '../schemas.testing.ts'
import { openGenerator } from './generator.ts'

const company = { cnpj: '12ABC34501DE35', nome: 'EMPRESA EXEMPLO LTDA', uf: 'SC' }
const now = Date.parse('2026-08-20T15:00:00-03:00')

let directory: string
let ledger: Ledger
let received: { record: Received; xml: string }[]

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'simulator-generator-'))
  ledger = openLedger(directory)
  const clock = createClock(now - Date.now())
  const certification = await openCertificationAuthority(directory, now)
  const generator = await openGenerator({ seed: 7, tpAmb: 2, directory, ledger, clock, certification })
  await generator.month(company)
  received = [...ledger.received.values()].map((record) => ({
    record,
    xml: gunzipSync(ledger.gzip(record.content)).toString('utf8'),
  }))
}, 60_000)

afterAll(() => {
  ledger.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('generated documents', () => {
  it('fill the sequences of the company, with complete notes and with summaries only', () => {
    const nfe = ledger.sequence('nfe', company.cnpj)
    const cte = ledger.sequence('cte', company.cnpj)
    const of = (kind: string) => nfe.filter((one) => one.kind === kind).length
    expect(nfe.length + cte.length).toBeGreaterThanOrEqual(60)
    expect(of('summary')).toBeGreaterThan(of('document') / 2)
    expect(of('document')).toBeGreaterThan(10)
    expect(of('event-summary')).toBeGreaterThan(3)
    expect(new Set(cte.map((one) => one.schema))).toContain('procCTeOS_v4.00.xsd')
  })

  it.runIf(hasSchemas)('obey the official schemas', () => {
    const problems = received.flatMap(({ record, xml }) =>
      validate(record, xml).map((error) => `${record.identity} ${error}`),
    )
    expect(problems.slice(0, 5)).toEqual([])
    const spoiled = received.find(({ record }) => record.facts.schema === 'procNFe_v4.00.xsd')
    expect(spoiled && validate(spoiled.record, spoiled.xml.replace('<mod>55</mod>', ''))).not.toEqual([])
  })

  it.runIf(hasSchemas)('give summaries that obey the schema of the distribution', () => {
    const summaries = ledger.sequence('nfe', company.cnpj).filter((one) => one.kind === 'summary')
    const check = validator('nfe/PL_NFeDistDFe_1.02', 'resNFe_v1.01.xsd', true)
    expect(summaries.flatMap((one) => check(gunzipSync(ledger.gzip(one.content)).toString('utf8')))).toEqual([])
  })

  it('carry signatures that verify, here and with xml-crypto', () => {
    const signed = received.filter(({ record }) => record.facts.kind !== 'event-summary')
    for (const { record, xml } of signed) {
      const alone = signedElement(xml)
      expect(verifySignature(alone), record.identity).toMatchObject({ valid: true })
    }
    for (const { record, xml } of signed.filter((_, index) => index % 12 === 0)) {
      expect(verifiesWithXmlCrypto(signedElement(xml)), record.identity).toBe(true)
    }
    const [first] = signed
    expect(verifiesWithXmlCrypto(signedElement(first?.xml ?? '').replace('<serie>1<', '<serie>2<'))).toBe(false)
  })

  it('repeat the digest of the signature in the protocol', () => {
    for (const { record, xml } of received.filter((one) => one.record.facts.kind === 'document')) {
      const digest = /<DigestValue>([^<]+)</.exec(xml)?.[1]
      expect(/<digVal>([^<]+)</.exec(xml)?.[1], record.identity).toBe(digest)
    }
  })

  it('close in every NF-e: items, taxes, total, duplicatas', () => {
    const notes = received.filter(({ record }) => record.facts.schema === 'procNFe_v4.00.xsd')
    expect(notes.length).toBeGreaterThan(40)
    for (const { xml } of notes) {
      const info = child(openDocument(Buffer.from(xml)), 'NFe/infNFe')
      const items = (info?.children ?? []).filter((one) => one.name === 'det')
      const of = (path: string) => items.reduce((total, item) => total + cents(value(item, path)), 0)
      const taxes = (name: string) =>
        items.reduce((total, item) => total + cents(textOf(child(item, 'imposto'), name)), 0)
      const total = (name: string) => cents(value(info, `total/ICMSTot/${name}`))
      expect(total('vProd')).toBe(of('prod/vProd'))
      expect(total('vFrete')).toBe(of('prod/vFrete'))
      expect(total('vDesc')).toBe(of('prod/vDesc'))
      expect(total('vIPI')).toBe(taxes('vIPI'))
      expect(total('vICMS')).toBe(taxes('vICMS'))
      expect(total('vST')).toBe(taxes('vICMSST'))
      expect(total('vNF')).toBe(
        total('vProd') -
          total('vDesc') +
          total('vST') +
          total('vFrete') +
          total('vSeg') +
          total('vOutro') +
          total('vIPI'),
      )
      for (const item of items) {
        const quantity = Number(value(item, 'prod/qCom'))
        expect(cents(value(item, 'prod/vProd'))).toBe(Math.round(quantity * Number(value(item, 'prod/vUnCom')) * 100))
      }
      const bill = child(info, 'cobr')
      if (bill !== undefined) {
        const parts = bill.children.filter((one) => one.name === 'dup')
        expect(parts.reduce((sum, one) => sum + cents(value(one, 'vDup')), 0)).toBe(total('vNF'))
      }
    }
  })

  it('have suppliers and carriers with letters in their CNPJ', () => {
    const issuers = new Set([...ledger.documents.keys()].map((chave) => chave.slice(6, 20)))
    expect([...issuers].filter((cnpj) => /[A-Z]/.test(cnpj) && cnpj !== company.cnpj).length).toBeGreaterThan(2)
  })

  it('lie in the current month, in the past', () => {
    for (const { record } of received) {
      const at = Date.parse(record.facts.registeredAt ?? '')
      expect(at).toBeGreaterThanOrEqual(Date.parse('2026-08-01T00:00:00-03:00'))
      expect(at).toBeLessThanOrEqual(now + 60_000)
    }
  })

  it('are the same for the same seed and month, but for certificates and signatures', async () => {
    const other = mkdtempSync(join(tmpdir(), 'simulator-generator-'))
    const otherLedger = openLedger(other)
    const clock = createClock(now - Date.now())
    const certification = await openCertificationAuthority(other, now)
    const open = () => openGenerator({ seed: 7, tpAmb: 2, directory: other, ledger: otherLedger, clock, certification })
    await (await open()).month(company)
    expect([...otherLedger.received.keys()]).toEqual([...ledger.received.keys()])
    const unsigned = (text: string) => text.replace(/<Signature[\s\S]*?<\/Signature>/g, '')
    const again = [...otherLedger.received.values()].map((record) =>
      unsigned(gunzipSync(otherLedger.gzip(record.content)).toString('utf8')),
    )
    expect(again).toEqual(received.map(({ xml }) => unsigned(xml)))

    expect(await (await open()).month(company)).toEqual([])
    const [receipt] = await (await open()).live([company])
    expect(receipt?.outcome).toBe('accepted')
    otherLedger.close()
    rmSync(other, { recursive: true, force: true })
  }, 30_000)
})

function cents(text: string | undefined): number {
  return text === undefined ? 0 : Number(text.replace('.', ''))
}

// First element of that name below, wherever it is.
function textOf(element: XmlElement | undefined, name: string): string | undefined {
  for (const one of element?.children ?? []) {
    const found = one.name === name ? one.text : textOf(one, name)
    if (found !== undefined) return found
  }
  return undefined
}

function signedElement(xml: string): string {
  const root = openDocument(Buffer.from(xml))
  const signed = root.children[0]
  return signed === undefined ? '' : xml.slice(signed.start, signed.end)
}

function verifiesWithXmlCrypto(xml: string): boolean {
  const signature = /<Signature[\s\S]*?<\/Signature>/.exec(xml)?.[0] ?? ''
  const certificate = /<X509Certificate>([^<]+)</.exec(signature)?.[1] ?? ''
  const publicCert = `-----BEGIN CERTIFICATE-----\n${certificate.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----`
  const verifier = new SignedXml({ publicCert })
  verifier.loadSignature(signature)
  try {
    return verifier.checkSignature(xml)
  } catch {
    return false
  }
}

const validators = new Map<string, Validate>()
function validator(packageFolder: string, file: string, letters = false): Validate {
  const key = `${packageFolder}/${file}`
  const known = validators.get(key) ?? schema(packageFolder, file, letters)
  validators.set(key, known)
  return known
}

const nfePackage = 'nfe/PL_010e_NT2025.002_v1.01'
const ctePackage = 'cte/PL_CTe_400_NT2026.002_RTC_1.00'
const eventPackage = 'nfe/Eventos_PL_010_V1.30'

function validate({ facts }: Received, xml: string): string[] {
  const root = openDocument(Buffer.from(xml))
  if (facts.kind === 'event-summary') return validator('nfe/PL_NFeDistDFe_1.02', 'resEvento_v1.01.xsd', true)(xml)
  if (facts.service === 'nfe' && facts.kind === 'document') return validator(nfePackage, 'procNFe_v4.00.xsd')(xml)
  if (facts.service === 'nfe') {
    const detail = slice(xml, child(root, 'evento/infEvento/detEvento'), 'http://www.portalfiscal.inf.br/nfe')
    return [
      ...validator(eventPackage, 'procEventoNFe_v1.00.xsd')(xml),
      ...validator(eventPackage, `e${facts.tpEvento}_v1.00.xsd`)(detail),
    ]
  }
  if (facts.kind === 'event') {
    const inner = child(root, 'eventoCTe/infEvento/detEvento')?.children[0]
    const detail = slice(xml, inner, 'http://www.portalfiscal.inf.br/cte')
    return [
      ...validator(ctePackage, 'procEventoCTe_v4.00.xsd')(xml),
      ...validator(ctePackage, `${inner?.name}_v4.00.xsd`)(detail),
    ]
  }
  const modal = findModal(root)
  const modalSchema = modal?.name === 'rodoOS' ? 'cteModalRodoviarioOS_v4.00.xsd' : 'cteModalRodoviario_v4.00.xsd'
  return [
    ...validator(ctePackage, facts.schema)(xml),
    ...validator(ctePackage, modalSchema)(slice(xml, modal, 'http://www.portalfiscal.inf.br/cte')),
  ]
}

function findModal(element: XmlElement): XmlElement | undefined {
  if (element.name === 'infModal') return element.children[0]
  for (const one of element.children) {
    const found = findModal(one)
    if (found !== undefined) return found
  }
  return undefined
}

function slice(xml: string, element: XmlElement | undefined, namespace: string): string {
  if (element === undefined) return ''
  return xml.slice(element.start, element.end).replace(element.name, `${element.name} xmlns="${namespace}"`)
}
