import { chaveParts, issuerInChave } from '@vigia/dfe/chave'
import { openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { dateTime, joined, taxId } from './formats.ts'
import type { PrintSheet } from './layout/sheet.ts'

/** Data about a document that is not in its file. */
export interface PrintOptions {
  /** The registered cancelamento (events 110111 and 110112): its protocol and its dhRegEvento. */
  cancelled?: { protocol?: string; at?: string }
  /** The EPEC event (110140): its nProt and its dhRegEvento, for a form printed before the authorisation. */
  epec?: { protocol?: string; at?: string }
  /** Why the document is not to be trusted, as a sentence: its signature does not verify. */
  doubt?: string | undefined
  /** Logo of the emitente: a PNG of eight bits a colour, without transparency. */
  logo?: Uint8Array
}

/** Number and moment of a response of the tax authority, as the forms print them. */
export function responseText(protocol: string | undefined, at: string | undefined): string | undefined {
  return joined(' - ', protocol, protocol && dateTime(at))
}

/** The authority's response; undefined if it is about another document. */
export function ownResponse(response: XmlElement | undefined, about: string, chave: string): XmlElement | undefined {
  const other = value(response, about)
  return other === undefined || chave === '' || other === chave ? response : undefined
}

/**
 * Issuer of the document of a chave; undefined for an avulsa (séries 890 to 899), whose chave names
 * the authority (MOC NF-e 7.0, chave de acesso).
 */
export function issuerOfChave(chave: string): string | undefined {
  const { serie } = chaveParts(chave)
  if (serie >= 890 && serie <= 899) return undefined
  const { cnpj, cpf } = issuerInChave(chave)
  return taxId(cnpj, cpf)
}

/** The bytes are not a document this package prints; the message is a sentence for the person. */
export class PrintError extends Error {
  override name = 'PrintError'
}

/** The root element of the file, or a `PrintError`. */
export function openPrintable(bytes: Uint8Array): XmlElement {
  try {
    return openDocument(bytes)
  } catch (cause) {
    throw new PrintError('O arquivo não é um XML bem formado.', { cause })
  }
}

/** Prints a form as its issuer chose; a landscape form that lacks room is printed in portrait. */
export function printedOn<Form extends { sheet: PrintSheet }>(
  form: Form,
  upright: PrintSheet,
  print: (form: Form) => Uint8Array,
): Uint8Array {
  try {
    return print(form)
  } catch (error) {
    if (form.sheet.landscape && error instanceof NoRoom) return print({ ...form, sheet: upright })
    throw error
  }
}

class NoRoom extends PrintError {}

// The largest notes of the layout, 990 items with every text at its longest, take 200.
const sheetsMax = 1_000

/**
 * Throws PrintError for more sheets than any document needs, before drawing: a text of line breaks
 * alone has a sheet per 400 bytes.
 */
export function assertSheets(count: number): void {
  if (count > sheetsMax) throw new PrintError(`O documento ocuparia mais de ${sheetsMax} folhas.`)
}

/** Throws PrintError if fixed blocks leave no room; only texts beyond the layouts' limits do. */
export function assertRoom(room: number, least: number): void {
  if (room < least) {
    throw new NoRoom('O documento tem textos maiores do que o leiaute permite e não cabe na folha.')
  }
}
