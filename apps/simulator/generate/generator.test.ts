import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { child, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { verifySignature } from '@vigia/xml/verify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasSchemas, schema, verifyWithXmlCrypto } from '../../../tests/support/judges.ts'
import { withTestKeys } from '../../../tests/support/keys.ts'
import { openCertificationAuthority } from '../certificates.ts'
import { createClock, parseInstant } from '../clock.ts'
import { type Ledger, openLedger, type ReceivedRecord } from '../ledger.ts'
import { openGenerator } from './generator.ts'

const company = { cnpj: '12ABC34501DE35', nome: 'EMPRESA EXEMPLO LTDA', uf: 'SC' }
const now = Date.parse('2026-08-20T15:00:00-03:00')

let directory: string
let ledger: Ledger
let received: { record: ReceivedRecord; xml: string }[]

beforeAll(async () => {
  directory = withTestKeys(mkdtempSync(join(tmpdir(), 'simulator-generator-')))
  ledger = openLedger(directory)
  const clock = createClock(now - Date.now())
  const certification = await openCertificationAuthority(directory, now)
  const generator = await openGenerator({ seed: 7, tpAmb: 2, directory, ledger, clock, certification })
  await generator.history(company)
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
    const check = schema('nfe/PL_NFeDistDFe_1.02', 'resNFe_v1.01.xsd', true)
    expect(summaries.flatMap((one) => check(gunzipSync(ledger.gzip(one.content)).toString('utf8')))).toEqual([])
  })

  it('carry signatures that verify, here and with xml-crypto', () => {
    const signed = received.filter(({ record }) => record.facts.kind !== 'event-summary')
    for (const { record, xml } of signed) {
      const alone = signedElement(xml)
      expect(verifySignature(alone), record.identity).toMatchObject({ valid: true })
    }
    for (const { record, xml } of signed.filter((_, index) => index % 12 === 0)) {
      expect(verifyWithXmlCrypto(signedElement(xml)), record.identity).toBe(true)
    }
    const [first] = signed
    expect(verifyWithXmlCrypto(signedElement(first?.xml ?? '').replace('<serie>1<', '<serie>2<'))).toBe(false)
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

  it('have letters in the CNPJ of somebody in every role', () => {
    const parties = [...ledger.documents.values()].flatMap((one) => one.facts.parties)
    const lettered = parties.filter(({ taxId }) => taxId !== company.cnpj && /[A-Z]/.test(taxId))
    const roles = new Set<string>(lettered.map(({ role }) => role))
    for (const role of ['emitente', 'destinatario', 'transportador', 'terceiro', 'remetente'])
      expect(roles).toContain(role)
  })

  it('are about as many as asked for', async () => {
    const own = withTestKeys(mkdtempSync(join(tmpdir(), 'simulator-generator-')))
    const few = openLedger(own)
    const certification = await openCertificationAuthority(own, now)
    const options = { seed: 7, tpAmb: 2, directory: own, ledger: few, certification } as const
    const generator = await openGenerator({ ...options, clock: createClock(now - Date.now()) })
    for (let index = 10; index < 20; index++) {
      const first12 = `98ABC0${index}0001`
      const cnpj = first12 + cnpjCheckDigits(first12)
      const { length } = await generator.history({ ...company, cnpj }, undefined, 20)
      expect(length).toBeGreaterThanOrEqual(20)
      expect(length).toBeLessThan(30)
      expect(few.sequence('nfe', cnpj).length).toBeGreaterThan(5)
    }
    few.close()
    rmSync(own, { recursive: true, force: true })
  })

  it('lie in the current month, in the past', () => {
    for (const { record } of received) {
      const at = Date.parse(record.facts.registeredAt ?? '')
      expect(at).toBeGreaterThanOrEqual(Date.parse('2026-08-01T00:00:00-03:00'))
      expect(at).toBeLessThanOrEqual(now + 60_000)
    }
  })

  it('are the same for the same seed and month, but for certificates and signatures', async () => {
    const other = withTestKeys(mkdtempSync(join(tmpdir(), 'simulator-generator-')))
    const otherLedger = openLedger(other)
    const clock = createClock(now - Date.now())
    const certification = await openCertificationAuthority(other, now)
    const open = () => openGenerator({ seed: 7, tpAmb: 2, directory: other, ledger: otherLedger, clock, certification })
    await (await open()).history(company)
    expect([...otherLedger.received.keys()]).toEqual([...ledger.received.keys()])
    const unsigned = (text: string) => text.replace(/<Signature[\s\S]*?<\/Signature>/g, '')
    const again = [...otherLedger.received.values()].map((record) =>
      unsigned(gunzipSync(otherLedger.gzip(record.content)).toString('utf8')),
    )
    expect(again).toEqual(received.map(({ xml }) => unsigned(xml)))

    expect(await (await open()).history(company)).toEqual([])
    const [reception] = await (await open()).live([company])
    expect(reception?.outcome).toBe('accepted')
    otherLedger.close()
    rmSync(other, { recursive: true, force: true })
  }, 30_000)
})

describe('when the month is young', () => {
  const days = (ms: number) => ms / 86_400_000
  const start = Date.parse('2026-12-01T00:00:00-03:00')

  /** Generates the history of a company that starts at an instant. */
  const begin = async (at: number, options: { since?: number; before?: number } = {}) => {
    const own = withTestKeys(mkdtempSync(join(tmpdir(), 'simulator-generator-')))
    const ownLedger = openLedger(own)
    const clock = createClock((options.before ?? at) - Date.now())
    const certification = await openCertificationAuthority(own, at)
    const generator = await openGenerator({
      seed: 7,
      tpAmb: 2,
      directory: own,
      ledger: ownLedger,
      clock,
      certification,
    })
    if (options.before !== undefined) await generator.history(company)
    const known = ownLedger.received.size
    clock.setNow(at)
    await generator.history(company, options.since)
    const facts = [...ownLedger.received.values()].slice(known).map((one) => one.facts)
    const sequence = ownLedger.sequence('nfe', company.cnpj)
    ownLedger.close()
    rmSync(own, { recursive: true, force: true })
    return {
      issued: facts.filter((one) => one.kind === 'document').map((one) => parseInstant(one.registeredAt) ?? 0),
      latest: Math.max(...facts.map((one) => parseInstant(one.registeredAt) ?? 0)),
      cancelled: sequence.filter((one) => one.tpEvento === 110111).length,
      complete: sequence.filter((one) => one.kind === 'document').length,
    }
  }

  it.each([5 * 60_000, 12 * 3_600_000, 3 * 86_400_000])('%i ms after midnight nothing is missing', async (age) => {
    const { issued, latest, cancelled, complete } = await begin(start + age)
    expect(issued.filter((at) => at < start).length).toBeGreaterThan(40)
    expect(issued.filter((at) => at >= start).length).toBeGreaterThan(40)
    expect(days(start - Math.min(...issued))).toBeGreaterThan(20)
    expect(latest).toBeLessThanOrEqual(start + age)
    expect(cancelled).toBeGreaterThan(0)
    expect(complete).toBeGreaterThan(10)
  })

  it('what was made in the month before is not made again', async () => {
    const { issued } = await begin(start + 3_600_000, { before: start - 86_400_000 })
    expect(issued.length).toBeGreaterThan(40)
    expect(Math.min(...issued)).toBeGreaterThanOrEqual(start)
  })

  it('everything begins where it is told to', async () => {
    const at = start + 12 * 3_600_000
    const { issued, latest, cancelled } = await begin(at, { since: at - 25 * 86_400_000 })
    expect(issued.filter((one) => one < start).length).toBeGreaterThan(40)
    expect(days(at - Math.min(...issued))).toBeGreaterThan(20)
    expect(days(at - Math.min(...issued))).toBeLessThanOrEqual(25)
    expect(latest).toBeLessThanOrEqual(at)
    expect(cancelled).toBeGreaterThan(0)
  })
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

const nfePackage = 'nfe/PL_010e_NT2025.002_v1.01'
const ctePackage = 'cte/PL_CTe_400_NT2026.002_RTC_1.00'
const eventPackage = 'nfe/Eventos_PL_010_V1.30'

function validate({ facts }: ReceivedRecord, xml: string): string[] {
  const root = openDocument(Buffer.from(xml))
  if (facts.kind === 'event-summary') return schema('nfe/PL_NFeDistDFe_1.02', 'resEvento_v1.01.xsd', true)(xml)
  if (facts.service === 'nfe' && facts.kind === 'document') return schema(nfePackage, 'procNFe_v4.00.xsd')(xml)
  if (facts.service === 'nfe') {
    const detail = slice(xml, child(root, 'evento/infEvento/detEvento'), 'http://www.portalfiscal.inf.br/nfe')
    return [
      ...schema(eventPackage, 'procEventoNFe_v1.00.xsd')(xml),
      ...schema(eventPackage, `e${facts.tpEvento}_v1.00.xsd`)(detail),
    ]
  }
  if (facts.kind === 'event') {
    const inner = child(root, 'eventoCTe/infEvento/detEvento')?.children[0]
    const detail = slice(xml, inner, 'http://www.portalfiscal.inf.br/cte')
    return [
      ...schema(ctePackage, 'procEventoCTe_v4.00.xsd')(xml),
      ...schema(ctePackage, `${inner?.name}_v4.00.xsd`)(detail),
    ]
  }
  const modal = findModal(root)
  const modalSchema = modal?.name === 'rodoOS' ? 'cteModalRodoviarioOS_v4.00.xsd' : 'cteModalRodoviario_v4.00.xsd'
  return [
    ...schema(ctePackage, facts.schema)(xml),
    ...schema(ctePackage, modalSchema)(slice(xml, modal, 'http://www.portalfiscal.inf.br/cte')),
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
