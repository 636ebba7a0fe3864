import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { entryOf } from '../formats.ts'
import { type PrintSheet, sheetFor } from '../layout/sheet.ts'
import { type PngPicture, readPng } from '../pdf/png.ts'
import { ownResponse, PrintError, type PrintOptions, responseText } from '../printable.ts'

/** Layout of the CT-e family: model 57, 67 (Outros Serviços), 57 Simplificado and 64 (GTV-e). */
type DacteLayout = 'cte' | 'os' | 'simplificado' | 'gtve'

/** The parts of a CT-e that the blocks read, and the decisions for the whole form. */
export interface PrintedCte {
  layout: DacteLayout
  infCte: XmlElement
  ide: XmlElement
  /** Parent of infCarga, infDoc and infModal: infCTeNorm; in the Simplificado and GTV-e infCte. */
  norm: XmlElement | undefined
  sheet: PrintSheet
  chave: string
  /** protCTe/infProt. */
  protocol: XmlElement | undefined
  /** protCTe/infFisco. */
  fisco: XmlElement | undefined
  qrCode: string | undefined
  homologation: boolean
  denied: boolean
  cancelled: { protocol?: string; at?: string } | undefined
  logo: PngPicture | undefined
  /** The EPEC event, if known. */
  epec: PrintOptions['epec']
  doubt: string | undefined
}

const layouts: Record<string, DacteLayout> = { CTe: 'cte', CTeOS: 'os', CTeSimp: 'simplificado', GTVe: 'gtve' }
const rows = { portrait: { size: 10, height: 21.2 }, landscape: { size: 9, height: 18.2 } }
/** The sheet of a DACTE in portrait. */
export const upright = sheetFor('1', rows)
const deniedStatus = new Set(['110', '205', '301', '302', '303'])

/** Finds the CT-e in a processed document (or a bare one) and decides its situation (MOC CT-e 4.00, Anexo II). */
export function readPrintedCte(root: XmlElement, options: PrintOptions): PrintedCte {
  const document = [root, ...root.children].find(({ name }) => Object.hasOwn(layouts, name))
  const layout = entryOf(layouts, document?.name)
  const infCte = child(document, 'infCte')
  const ide = child(infCte, 'ide')
  if (!layout || !infCte || !ide) throw new PrintError('O arquivo não contém um CT-e.')
  const response = child(root, 'protCTe/infProt')
  const chave = (infCte.attributes.Id ?? value(response, 'chCTe') ?? '').replace(/^CTe/, '')
  const protocol = ownResponse(response, 'chCTe', chave)
  const status = value(protocol, 'cStat') ?? ''
  return {
    layout,
    infCte,
    ide,
    norm: layout === 'cte' || layout === 'os' ? child(infCte, 'infCTeNorm') : infCte,
    sheet: sheetFor(value(ide, 'tpImp'), rows),
    chave,
    protocol,
    fisco: child(root, 'protCTe/infFisco'),
    qrCode: value(document, 'infCTeSupl/qrCodCTe'),
    homologation: value(ide, 'tpAmb') === '2',
    denied: deniedStatus.has(status),
    logo: options.logo && readPng(options.logo),
    epec: options.epec,
    doubt: options.doubt,
    // The protocol is that of the authorisation, even if it reports a cancellation.
    cancelled: options.cancelled ?? (status === '101' || status === '135' ? {} : undefined),
  }
}

/** Whether the CT-e has no authorisation protocol. */
export function lacksProtocol({ protocol }: PrintedCte): boolean {
  return value(protocol, 'nProt') === undefined
}

/** Number and moment of the authorisation. */
export function protocolText({ protocol }: PrintedCte): string | undefined {
  return responseText(value(protocol, 'nProt'), value(protocol, 'dhRecbto'))
}

/** The text of the diagonal stamp. */
export function stampLines(cte: PrintedCte): string[] {
  if (cte.cancelled) return cte.homologation ? ['CANCELADO', 'SEM VALOR FISCAL'] : ['CANCELADO']
  if (cte.denied) return ['DENEGADO']
  const worthless = cte.homologation || (lacksProtocol(cte) && !inContingency(cte))
  return [...(cte.doubt ? ['NÃO CONFERE'] : []), ...(worthless ? ['SEM VALOR FISCAL'] : [])]
}

/** EPEC and FS-DA may be printed before the authorisation (MOC CT-e 4.00, contingência). */
export function inContingency({ ide }: PrintedCte): boolean {
  return ['4', '5'].includes(value(ide, 'tpEmis') ?? '')
}

/** Whether an FS-DA without authorisation prints the second bar code instead of a protocol. */
export function needsDataCode(cte: PrintedCte): boolean {
  return lacksProtocol(cte) && value(cte.ide, 'tpEmis') === '5'
}

/** The keys of the CT-e that this one complements, in every spelling the layouts have had. */
export function complemented({ infCte }: PrintedCte): string[] {
  return ['infCteComp', 'infCTeComp'].flatMap((name) =>
    children(infCte, name).flatMap(
      (group) => value(group, 'chCTe') ?? value(group, 'chCte') ?? value(group, 'chave') ?? [],
    ),
  )
}
