import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { useFolder } from '../../tests/support/folder.ts'
import { findSamples } from '../../tests/support/samples.ts'
import { openArchive } from './archive.ts'
import { openCertificationAuthority } from './certificates.ts'
import { createClock } from './clock.ts'
import { distribute, keptSince } from './distribution.ts'
import { createCast } from './generate/cast.ts'
import { buildCte, buildSimplifiedCte } from './generate/cte.ts'
import {
  buildCteEvent,
  buildNfeEvent,
  buildTrailSummary,
  cteCancellationDetail,
  manifestationDetail,
  nfeCancellationDetail,
  nfeCorrectionDetail,
} from './generate/events.ts'
import { buildNfe, type GeneratedNfe } from './generate/nfe.ts'
import { createRandom } from './generate/random.ts'
import type { Service } from './inspect.ts'
import { type Ledger, openLedger } from './ledger.ts'
import { publishFiles, type ReceiveOptions } from './publication.ts'

const at = Date.parse('2026-08-10T09:00:00-03:00')
const hour = 3_600_000
const clock = createClock(Date.parse('2026-08-20T12:00:00-03:00') - Date.now())
const random = createRandom('publication')

const root = await useFolder()
const authority = await openCertificationAuthority(root, at)
const signer = await authority.issue({ cnpj: '11222333000181', nome: 'QUALQUER' }, at)
const cast = createCast(1)
let ledger: Ledger
let folders = 0

beforeEach(() => {
  ledger = openLedger(join(root, String(folders++)))
})

const give = (files: Uint8Array[], options: Partial<ReceiveOptions> = {}) => {
  const incoming = files.map((bytes) => ({ load: () => bytes }))
  return publishFiles(ledger, clock, incoming, { activateParties: true, ...options })
}

/** Short names of a taxpayer's sequence: resNFe, procNFe, 110111… */
const sequence = (taxId: string, service: Service = 'nfe') =>
  ledger.sequence(service, taxId).map((one) => {
    if (one.tpEvento === undefined) return one.schema.replace(/_v.*/, '')
    return one.kind === 'event' ? `${one.tpEvento}/${one.nSeqEvento}` : `res${one.tpEvento}`
  })

const content = (taxId: string, service: Service, nsu: number) => {
  const published = ledger.sequence(service, taxId)[nsu - 1]
  return published === undefined ? '' : gunzipSync(ledger.gzip(published.content)).toString('utf8')
}

function note(
  parts: { carrier?: boolean; reader?: boolean; carrierIsRecipient?: boolean; own?: boolean } = {},
): GeneratedNfe {
  const issuer = cast.suppliers[0]!
  const recipient = parts.own ? issuer : cast.customers[0]!
  const carrier = parts.carrierIsRecipient ? recipient : parts.carrier ? cast.carriers[0] : undefined
  const reader = parts.reader ? cast.accountant : undefined
  return buildNfe(random, { at, tpAmb: 2, issuer, recipient, carrier, reader, serie: 1, numero: 10, items: 2 }, signer)
}

function event(nfe: GeneratedNfe, tpEvento: 210200 | 210210 | 210220 | 210240, hours: number): Uint8Array {
  const author = nfe.recipient.cnpj
  const order = { at: at + hours * hour, tpAmb: 2 as const, chave: nfe.chave, author, recipient: author, tpEvento }
  return buildNfeEvent(random, { ...order, ...manifestationDetail(tpEvento) }, signer)
}

function cancellation(nfe: GeneratedNfe, hours: number): Uint8Array {
  const order = {
    at: at + hours * hour,
    tpAmb: 2 as const,
    chave: nfe.chave,
    author: nfe.issuer.cnpj,
    tpEvento: 110111,
  }
  return buildNfeEvent(random, { ...order, recipient: nfe.recipient.cnpj, ...nfeCancellationDetail(nfe.nProt) }, signer)
}

function correction(nfe: GeneratedNfe, nSeqEvento: number, hours: number): Uint8Array {
  const order = {
    at: at + hours * hour,
    tpAmb: 2 as const,
    chave: nfe.chave,
    author: nfe.issuer.cnpj,
    tpEvento: 110110,
  }
  return buildNfeEvent(random, { ...order, nSeqEvento, ...nfeCorrectionDetail('Peso bruto de 10 quilos') }, signer)
}

/** An event 110150 that names a taxpayer, unsigned: not checked here. */
function interested(nfe: GeneratedNfe, taxId: string): Uint8Array {
  const xml = `<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><evento versao="1.00"><infEvento><cOrgao>91</cOrgao><CNPJ>${nfe.issuer.cnpj}</CNPJ><chNFe>${nfe.chave}</chNFe><tpEvento>110150</tpEvento><nSeqEvento>1</nSeqEvento><detEvento><autXML><CNPJ>${taxId}</CNPJ></autXML></detEvento></infEvento></evento><retEvento><infEvento><dhRegEvento>2026-08-12T09:00:00-03:00</dhRegEvento></infEvento></retEvento></procEventoNFe>`
  return Buffer.from(xml)
}

describe('an NF-e', () => {
  it('goes as resumo to the destinatário, whole to transportador and autXML, not to the emitente', () => {
    const nfe = note({ carrier: true, reader: true })
    give([nfe.bytes])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe'])
    expect(sequence(cast.carriers[0]!.cnpj)).toEqual(['procNFe'])
    expect(sequence(cast.accountant.cnpj)).toEqual(['procNFe'])
    expect(sequence(nfe.issuer.cnpj)).toEqual([])
    expect(content(cast.accountant.cnpj, 'nfe', 1)).toBe(Buffer.from(nfe.bytes).toString('utf8'))
    expect(content(nfe.recipient.cnpj, 'nfe', 1)).toContain(`<chNFe>${nfe.chave}</chNFe>`)
  })

  it('waits for the manifestação also when the destinatário is the transportador', () => {
    const nfe = note({ carrierIsRecipient: true })
    give([nfe.bytes])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe'])
    give([event(nfe, 210210, 5)])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe', 'procNFe'])
    expect(ledger.sequence('nfe', nfe.recipient.cnpj)[1]?.roles).toEqual(['destinatario', 'transportador'])
  })

  it('goes to nobody when emitente and destinatário are one', () => {
    const nfe = note({ own: true })
    give([nfe.bytes])
    expect(sequence(nfe.issuer.cnpj)).toEqual([])
  })

  it('is followed, after Ciência, by its XML in a new NSU; the emitente hears of the Ciência', () => {
    const nfe = note({ reader: true })
    give([nfe.bytes])
    give([event(nfe, 210210, 5)])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe', 'procNFe'])
    expect(sequence(nfe.issuer.cnpj)).toEqual(['210210/1'])
    expect(sequence(cast.accountant.cnpj)).toEqual(['procNFe', '210210/1'])
    give([event(nfe, 210200, 50)])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe', 'procNFe'])
    expect(sequence(nfe.issuer.cnpj)).toEqual(['210210/1', '210200/1'])
  })

  it.each([210200, 210240] as const)('is released by %i too', (tpEvento) => {
    const nfe = note()
    give([nfe.bytes, event(nfe, tpEvento, 5)])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe', 'procNFe'])
  })

  it('is not released by Desconhecimento', () => {
    const nfe = note()
    give([nfe.bytes, event(nfe, 210220, 5)])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe'])
    expect(sequence(nfe.issuer.cnpj)).toEqual(['210220/1'])
  })

  it('cancelled before Ciência: the destinatário gets resumo and cancelamento', () => {
    const nfe = note({ carrier: true })
    give([nfe.bytes, correction(nfe, 1, 1), cancellation(nfe, 2)])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe', '110111/1'])
    expect(sequence(cast.carriers[0]!.cnpj)).toEqual(['procNFe', '110110/1', '110111/1'])
    expect(sequence(nfe.issuer.cnpj)).toEqual([])
  })

  it('released late: the events that waited come after the XML, each once', () => {
    const nfe = note()
    const trail = buildTrailSummary(random, { at: at + 2 * hour, chave: nfe.chave, tpEvento: 610600 })
    give([nfe.bytes, correction(nfe, 1, 1), correction(nfe, 2, 2), trail])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe'])
    give([event(nfe, 210210, 5)])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe', 'procNFe', '110110/1', '110110/2', 'res610600'])
    give([correction(nfe, 3, 8)])
    expect(sequence(nfe.recipient.cnpj).at(-1)).toBe('110110/3')
    expect(sequence(nfe.issuer.cnpj)).toEqual(['res610600', '210210/1'])
  })

  it('is opened to whom an event 110150 names', () => {
    const nfe = note()
    const other = cast.carriers[1]!.cnpj
    give([nfe.bytes])
    give([interested(nfe, other)])
    expect(sequence(other)).toEqual(['procNFe', '110150/1'])
    give([cancellation(nfe, 90)])
    expect(sequence(other).at(-1)).toBe('110111/1')
  })

  it('whose event comes first is told to the same parties', () => {
    const nfe = note({ reader: true })
    give([cancellation(nfe, 2)])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['110111/1'])
    expect(sequence(cast.accountant.cnpj)).toEqual([])
    give([nfe.bytes])
    expect(sequence(nfe.recipient.cnpj)).toEqual(['110111/1', 'resNFe'])
  })

  it('gives no NSU to who does not use the service', () => {
    const nfe = note({ reader: true })
    give([nfe.bytes], { activateParties: false })
    expect(sequence(nfe.recipient.cnpj)).toEqual([])
    expect(sequence(cast.accountant.cnpj)).toEqual([])
  })
})

describe('a CT-e', () => {
  const load = (reader = false) => {
    const [sender, receiver] = [cast.suppliers[0]!, cast.customers[0]!]
    const cargo = [{ chave: note().chave, vNF: 100_00, weight: 5_000 }]
    const parties = { carrier: cast.carriers[0]!, sender, receiver, reader: reader ? cast.accountant : undefined }
    return { at, tpAmb: 2 as const, serie: 1, numero: 5, vTPrest: 320_00, toma: '3' as const, cargo, ...parties }
  }

  it('goes complete to everybody but its emitente, with all roles', () => {
    const order = load()
    give([buildCte(random, order, signer).bytes])
    expect(sequence(order.sender.cnpj, 'cte')).toEqual(['procCTe'])
    expect(sequence(order.receiver.cnpj, 'cte')).toEqual(['procCTe'])
    expect(ledger.sequence('cte', order.receiver.cnpj)[0]?.roles).toEqual(['destinatario', 'tomador'])
    expect(sequence(order.carrier.cnpj, 'cte')).toEqual([])
    expect(sequence(order.receiver.cnpj)).toEqual([])
  })

  it('has the chaves of other documents taken out for readers by autXML', () => {
    const order = load(true)
    const nines = '9'.repeat(44)
    for (const [cte, name] of [
      [buildCte(random, order, signer), 'chave'],
      [buildSimplifiedCte(random, order, signer), 'chNFe'],
    ] as const) {
      give([cte.bytes])
      const copy = content(cast.accountant.cnpj, 'cte', ledger.sequence('cte', cast.accountant.cnpj).length)
      const whole = Buffer.from(cte.bytes).toString('utf8')
      expect(copy).toContain(`<${name}>${nines}</${name}>`)
      expect(copy.replace(nines, order.cargo[0]!.chave)).toBe(whole)
      expect(content(order.receiver.cnpj, 'cte', ledger.sequence('cte', order.receiver.cnpj).length)).toBe(whole)
    }
  })

  it('tells its events to everybody but their author', () => {
    const order = load(true)
    const cte = buildCte(random, order, signer)
    const cancelled = {
      at: at + hour,
      tpAmb: 2 as const,
      chave: cte.chave,
      author: order.carrier.cnpj,
      tpEvento: 110111,
    }
    give([cte.bytes, buildCteEvent(random, { ...cancelled, ...cteCancellationDetail(cte.nProt) }, signer)])
    expect(sequence(order.receiver.cnpj, 'cte')).toEqual(['procCTe', '110111/1'])
    expect(sequence(cast.accountant.cnpj, 'cte')).toEqual(['procCTe', '110111/1'])
    expect(sequence(order.carrier.cnpj, 'cte')).toEqual([])
  })
})

it('keeps NF-e for 90 days and CT-e for three months', () => {
  const day = (text: string) => Date.parse(`${text}T12:00:00-03:00`)
  expect(keptSince('nfe', day('2026-05-31'))).toBe(day('2026-03-02'))
  expect(keptSince('cte', day('2026-05-31'))).toBe(day('2026-02-28'))
  expect(keptSince('cte', day('2026-11-23'))).toBe(day('2026-08-23'))
})

describe('consChNFe', () => {
  const ask = (taxId: string, chNFe: string, now = clock) =>
    distribute(ledger, now, { hourMs: hour }, { service: 'nfe', taxId, query: { chNFe } })

  it('gives the resumo before and the XML after the manifestação, and the XML to the others', () => {
    const nfe = note({ reader: true })
    give([nfe.bytes])
    expect(ask(nfe.recipient.cnpj, nfe.chave)).toMatchObject({
      cStat: 138,
      documents: [{ nsu: 1, schema: 'resNFe_v1.01.xsd' }],
    })
    expect(ask(cast.accountant.cnpj, nfe.chave)).toMatchObject({
      cStat: 138,
      documents: [{ schema: 'procNFe_v4.00.xsd' }],
    })
    give([event(nfe, 210210, 3)])
    expect(ask(nfe.recipient.cnpj, nfe.chave)).toMatchObject({ documents: [{ nsu: 2, schema: 'procNFe_v4.00.xsd' }] })
  })

  it('needs no NSU', () => {
    const nfe = note()
    give([nfe.bytes], { activateParties: false })
    expect(ask(nfe.recipient.cnpj, nfe.chave)).toMatchObject({
      cStat: 138,
      documents: [{ nsu: null, schema: 'resNFe_v1.01.xsd' }],
    })
  })

  it('refuses the emitente (641), strangers (640), cancelled (653), denied (654), old (632) and unknown notes (217)', () => {
    const nfe = note()
    give([nfe.bytes])
    expect(ask(nfe.issuer.cnpj, nfe.chave).cStat).toBe(641)
    expect(ask(cast.accountant.cnpj, nfe.chave).cStat).toBe(640)
    const later = createClock(clock.offsetMs() + 91 * 24 * hour)
    expect(ask(nfe.recipient.cnpj, nfe.chave, later).cStat).toBe(632)
    give([cancellation(nfe, 3)])
    expect(ask(nfe.recipient.cnpj, nfe.chave).cStat).toBe(653)
    const denied = note()
    give([Buffer.from(Buffer.from(denied.bytes).toString('utf8').replace('<cStat>100<', '<cStat>302<'))])
    expect(ask(denied.recipient.cnpj, denied.chave).cStat).toBe(654)
    expect(content(denied.recipient.cnpj, 'nfe', 3)).toContain('<cSitNFe>2</cSitNFe>')
    expect(ask(nfe.recipient.cnpj, '35260811222333000181550010000123451876543214').cStat).toBe(217)
  })

  it.each([
    ['a check digit', '35260811222333000181550010000123451876543215', 236],
    ['the state', '34260811222333000181550010000123451876543210', 614],
    ['the year', '35270811222333000181550010000123451876543210', 615],
    ['the month', '35261311222333000181550010000123451876543210', 616],
    ['the CNPJ', '35260811222333000182550010000123451876543210', 617],
    ['the model', '35260811222333000181650010000123451876543210', 618],
    ['the number', '35260811222333000181550010000000001876543210', 619],
  ])('refuses %s of the chave that is wrong', (_, chave, cStat) => {
    const digit = chaveWithDigit(chave)
    expect(ask('44555666000181', cStat === 236 ? chave : digit).cStat).toBe(cStat)
  })
})

function chaveWithDigit(chave: string): string {
  let total = 0
  for (let i = 0; i < 43; i++) total += Number(chave[42 - i]) * (2 + (i % 8))
  const rest = total % 11
  return chave.slice(0, 43) + String(rest < 2 ? 0 : 11 - rest)
}

describe('the archive', () => {
  const folder = () => {
    const made = join(root, `archive-${folders}`)
    mkdirSync(join(made, 'deep'), { recursive: true })
    return made
  }

  it('is read with its subfolders; what is no processed document is reported', () => {
    const place = folder()
    const nfe = note({ reader: true })
    writeFileSync(join(place, 'deep', 'a.XML'), nfe.bytes)
    writeFileSync(join(place, 'deep', 'same.xml'), nfe.bytes)
    writeFileSync(join(place, 'truncated.xml'), nfe.bytes.slice(0, 900))
    writeFileSync(
      join(place, 'NFe.xml'),
      Buffer.from(nfe.bytes)
        .toString('utf8')
        .replace(/^<nfeProc.*?><NFe/, '<NFe')
        .replace(/<protNFe.*/, ''),
    )
    writeFileSync(join(place, 'nfce.xml'), Buffer.from(note().bytes).toString('utf8').replace('<mod>55<', '<mod>65<'))
    writeFileSync(join(place, 'ret.xml'), '<retDistDFeInt xmlns="http://www.portalfiscal.inf.br/nfe"/>')
    writeFileSync(join(place, 'notes.txt'), 'nothing')
    const receptions = openArchive(ledger, clock, place, { answered: false }).read()
    const outcomes = Object.fromEntries(receptions.map((one) => [one.source?.file, one.outcome]))
    expect(outcomes).toEqual({
      [join('deep', 'a.XML')]: 'accepted',
      [join('deep', 'same.xml')]: 'duplicate',
      'truncated.xml': 'refused',
      'NFe.xml': 'refused',
      'nfce.xml': 'refused',
      'ret.xml': 'refused',
    })
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe'])
  })

  it('answered: the sequence of the destinatário holds the resumo, then the XML and the events', () => {
    const place = folder()
    const nfe = note()
    writeFileSync(join(place, '1.xml'), correction(nfe, 1, 1))
    writeFileSync(join(place, '2.xml'), nfe.bytes)
    openArchive(ledger, clock, place, { answered: true }).read()
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe', 'procNFe', '110110/1'])
  })

  it('answered after it was read: the XML follows', () => {
    const place = folder()
    const nfe = note()
    writeFileSync(join(place, '1.xml'), nfe.bytes)
    openArchive(ledger, clock, place, { answered: false }).read()
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe'])
    for (const _ of [1, 2]) openArchive(ledger, clock, place, { answered: true }).read()
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe', 'procNFe'])
  })

  it('gives the resNFe it holds instead of a made one, and reports one that is alone', () => {
    const place = folder()
    const nfe = note()
    give([nfe.bytes])
    const summary = content(nfe.recipient.cnpj, 'nfe', 1).replace('<cSitNFe>1<', '<cSitNFe>3<')
    ledger = openLedger(join(root, String(folders++)))
    writeFileSync(join(place, 'res.xml'), summary)
    const [alone] = openArchive(ledger, clock, place, { answered: false }).read()
    expect(alone).toMatchObject({ outcome: 'refused' })
    writeFileSync(join(place, 'proc.xml'), nfe.bytes)
    openArchive(ledger, clock, place, { answered: false }).read()
    expect(sequence(nfe.recipient.cnpj)).toEqual(['resNFe'])
    expect(content(nfe.recipient.cnpj, 'nfe', 1)).toBe(summary)
  })

  it('finds files that come later, and gives the same NSU after a restart', () => {
    const place = folder()
    const [first, second] = [note(), note()]
    writeFileSync(join(place, 'b.xml'), first.bytes)
    const archive = openArchive(ledger, clock, place, { answered: false })
    expect(archive.read()).toHaveLength(1)
    expect(archive.read()).toHaveLength(0)
    writeFileSync(join(place, 'a.xml'), second.bytes)
    expect(archive.read()).toMatchObject([{ outcome: 'accepted' }])
    const before = ledger.sequence('nfe', first.recipient.cnpj)
    expect(before.map((one) => one.chave)).toEqual([first.chave, second.chave])
    ledger.close()

    ledger = openLedger(join(root, String(folders - 1)))
    expect(openArchive(ledger, clock, place, { answered: false }).read()).toEqual([])
    expect(ledger.sequence('nfe', first.recipient.cnpj)).toEqual(before)
  })
})

const samples = findSamples() ?? ''

describe.runIf(samples)('the sample documents', () => {
  // Read here with regular expressions, apart from the simulator's own reading.
  const files = (folder: string) =>
    readdirSync(join(samples, folder)).map((name) => ({
      name,
      xml: readFileSync(join(samples, folder, name), 'latin1'),
    }))
  const id = (xml: string, group: string) => new RegExp(`<${group}[^>]*>\\s*<(?:CNPJ|CPF)>([0-9A-Z]+)<`).exec(xml)?.[1]

  it('of NF-e reach destinatário, transportador and autXML once each', () => {
    openArchive(ledger, clock, samples, { answered: true }).read()
    const has = (taxId: string, chave: string, kind: string) =>
      ledger.sequence('nfe', taxId).filter((one) => one.chave === chave && one.kind === kind).length
    let checked = 0
    for (const { name, xml } of files('nfe')) {
      const chave = /Id="NFe([0-9A-Z]{44})"/.exec(xml)?.[1]
      if (chave === undefined || chave.slice(20, 22) !== '55') continue
      const [emit, dest, transporta] = [id(xml, 'emit'), id(xml, 'dest'), id(xml, 'transporta')]
      if (emit !== undefined) expect(has(emit, chave, 'document'), name).toBe(0)
      if (dest !== undefined && dest !== emit) {
        expect([has(dest, chave, 'summary'), has(dest, chave, 'document')], name).toEqual([1, 1])
        checked++
      }
      const readers = [...xml.matchAll(/<autXML>\s*<(?:CNPJ|CPF)>([0-9A-Z]+)</g)].map((one) => one[1])
      for (const other of [transporta, ...readers]) {
        if (other === undefined || other === emit || other === dest) continue
        expect([has(other, chave, 'summary'), has(other, chave, 'document')], name).toEqual([0, 1])
        checked++
      }
    }
    expect(checked).toBeGreaterThan(50)
  })

  it('of CT-e reach remetente, destinatário, expedidor, recebedor and tomador once each', () => {
    openArchive(ledger, clock, samples, { answered: false }).read()
    let checked = 0
    for (const { name, xml } of files('cte')) {
      const chave = /Id="CTe([0-9A-Z]{44})"/.exec(xml)?.[1]
      if (chave === undefined) continue
      const emit = id(xml, 'emit')
      const others = new Set(['rem', 'dest', 'exped', 'receb'].map((group) => id(xml, group)))
      const own =
        /<toma4>[\s\S]*?<CNPJ>([0-9A-Z]{14})</.exec(xml)?.[1] ??
        /<toma>(?:<toma>\d<\/toma><indIEToma>\d<\/indIEToma>)?<CNPJ>([0-9A-Z]{14})</.exec(xml)?.[1]
      for (const other of others.add(own)) {
        if (other === undefined || other === emit || /^0+$/.test(other)) continue
        const copies = ledger.sequence('cte', other).filter((one) => one.chave === chave && one.kind === 'document')
        expect(copies.length, `${name} ${other}`).toBe(1)
        checked++
      }
    }
    expect(checked).toBeGreaterThan(25)
  })
})
