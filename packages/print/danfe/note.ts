import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { registeredStatuses } from '@vigia/dfe/families/events'
import { type PrintSheet, sheetFor } from '../layout/sheet.ts'
import { type PngPicture, readPng } from '../pdf/png.ts'
import { ownResponse, PrintError, type PrintOptions, responseText } from '../printable.ts'

/** The parts of an NF-e that the blocks read, and the decisions for the whole form. */
export interface PrintedNfe {
  infNFe: XmlElement
  ide: XmlElement
  items: XmlElement[]
  sheet: PrintSheet
  chave: string
  /** protNFe/infProt. */
  protocol: XmlElement | undefined
  qrCode: string | undefined
  /** Form of NT 2026.010 (three totals blocks; IBS, CBS and IS by item) instead of MOC 7.0. */
  newTaxes: boolean
  homologation: boolean
  denied: boolean
  cancelled: { protocol?: string; at?: string } | undefined
  /** tpEmis 2, 4 or 5 whose authorisation is not in the file. */
  contingency: '2' | '4' | '5' | undefined
  logo: PngPicture | undefined
  /** The EPEC event, if known. */
  epec: PrintOptions['epec']
  doubt: string | undefined
}

// MOC NF-e 7.0, Anexo II, 3.8: rows of 8.5 mm in portrait and of 6.4 mm in landscape, to which descenders add a little.
const rows = { portrait: { height: 24 }, landscape: { height: 19 } }

/** The sheet of a DANFE in portrait. */
export const upright = sheetFor('1', rows)

// NT 2026.010, in production from this day; our assumptions: docs/nt-2026-010.md.
const newTaxesFrom = '2026-12-01'

const deniedStatus = new Set(['110', '205', '301', '302', '303'])
const cancelledStatus = new Set(['101', '151', '155'])

/** Finds the NF-e in a nfeProc (or a bare NFe) and decides its situation and its form (MOC NF-e 7.0, Anexo II; NT 2026.010). */
export function readNote(root: XmlElement, options: PrintOptions): PrintedNfe {
  const infNFe = child(root, root.name === 'NFe' ? 'infNFe' : 'NFe/infNFe')
  const ide = child(infNFe, 'ide')
  if (!infNFe || !ide) throw new PrintError('O arquivo não contém uma NF-e.')
  const model = value(ide, 'mod')
  if (model !== '55') throw new PrintError(`O DANFE é da NF-e modelo 55; o documento é do modelo ${model ?? '?'}.`)
  const response = child(root, 'protNFe/infProt')
  const chave = (infNFe.attributes.Id ?? value(response, 'chNFe') ?? '').replace(/^NFe/, '')
  const protocol = ownResponse(response, 'chNFe', chave)
  const status = value(protocol, 'cStat') ?? ''
  const items = children(infNFe, 'det')
  const emission = value(ide, 'tpEmis')
  const pending = value(protocol, 'nProt') === undefined
  return {
    infNFe,
    ide,
    items,
    sheet: sheetFor(value(ide, 'tpImp'), rows),
    chave,
    protocol,
    qrCode: value(root, root.name === 'NFe' ? 'infNFeSupl/qrCode' : 'NFe/infNFeSupl/qrCode'),
    newTaxes: usesNewTaxes(infNFe, ide, items),
    homologation: value(ide, 'tpAmb') === '2',
    denied: deniedStatus.has(status),
    cancelled: options.cancelled ?? cancellationInFile(root, status, chave),
    logo: options.logo && readPng(options.logo),
    epec: options.epec,
    doubt: options.doubt,
    contingency: pending && (emission === '2' || emission === '4' || emission === '5') ? emission : undefined,
  }
}

/** Whether the note has neither an authorisation protocol nor a contingency. */
export function lacksProtocol(note: PrintedNfe): boolean {
  return note.contingency === undefined && value(note.protocol, 'nProt') === undefined
}

/** Number and moment of the authorisation, as the second variable field prints them. */
export function protocolText(note: PrintedNfe): string | undefined {
  return responseText(value(note.protocol, 'nProt'), value(note.protocol, 'dhRecbto'))
}

/** The text of the diagonal stamp. */
export function stampLines(note: PrintedNfe): string[] {
  if (note.cancelled) return note.homologation ? ['CANCELADA', 'SEM VALOR FISCAL'] : ['CANCELADA']
  if (note.denied) return ['DENEGADA']
  const worthless = note.homologation || lacksProtocol(note)
  return [...(note.doubt ? ['NÃO CONFERE'] : []), ...(worthless ? ['SEM VALOR FISCAL'] : [])]
}

// NT 2026.010 applies by emission date in its offset, and to earlier notes with its values.
function usesNewTaxes(infNFe: XmlElement, ide: XmlElement, items: readonly XmlElement[]): boolean {
  const emitted = value(ide, 'dhEmi') ?? value(ide, 'dEmi') ?? ''
  if (emitted.slice(0, 10) >= newTaxesFrom) return true
  return (
    child(infNFe, 'total/IBSCBSTot') !== undefined || items.some((det) => child(det, 'imposto/IBSCBS') !== undefined)
  )
}

// Old archives append the response to a cancelamento to the note. A protocol with one of these
// cStat only reports the cancellation: nProt and dhRecbto are not those of the cancelamento.
function cancellationInFile(root: XmlElement, status: string, chave: string): PrintedNfe['cancelled'] {
  for (const event of [...children(root, 'retEvento'), ...children(root, 'procEventoNFe/retEvento')]) {
    const info = ownResponse(child(event, 'infEvento'), 'chNFe', chave)
    const kind = value(info, 'tpEvento')
    const registered = registeredStatuses.has(value(info, 'cStat') ?? '')
    if (registered && (kind === '110111' || kind === '110112')) {
      return { protocol: value(info, 'nProt'), at: value(info, 'dhRegEvento') }
    }
  }
  const answer = ownResponse(child(root, 'retCancNFe/infCanc'), 'chNFe', chave)
  if (value(answer, 'cStat') === '101') return { protocol: value(answer, 'nProt'), at: value(answer, 'dhRecbto') }
  return cancelledStatus.has(status) ? {} : undefined
}
