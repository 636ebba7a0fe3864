import { value } from '@vigia/dfe/document'
import { additional, additionalHeightMin, additionalText, textSize } from './danfe/additional.ts'
import { type Billing, billing, billingHeightMin, hasBilling } from './danfe/billing.ts'
import { canhoto } from './danfe/canhoto.ts'
import { header } from './danfe/header.ts'
import { issqn } from './danfe/issqn.ts'
import { hasCrowdedTaxes, itemSizes, itemTable } from './danfe/items.ts'
import { type PrintedNfe, readNote, stampLines, upright } from './danfe/note.ts'
import { destinatario, place, placeText } from './danfe/parties.ts'
import { totals } from './danfe/totals.ts'
import { transport, transportOverflow, volumeRowsMax } from './danfe/transport.ts'
import { assemble, formTitle } from './layout/assemble.ts'
import { type Block, stack, title } from './layout/block.ts'
import { addSheet, continuedText } from './layout/continued.ts'
import { qrBlock } from './layout/qrcode.ts'
import { beside, type PrintSheet } from './layout/sheet.ts'
import { paginate, type Table, type TableRow } from './layout/table.ts'
import { Canvas } from './pdf/canvas.ts'
import type { Ansi } from './pdf/winansi.ts'
import { assertRoom, openPrintable, PrintError, type PrintOptions, printedOn } from './printable.ts'

export type { PrintOptions }
export { PrintError }

// Least height below the header: every further sheet carries something.
const bodyMin = 300
// Minimum height of products on the first sheet, with heading; duplicatas and texts shrink for it.
const itemsHeightMin = 60
// Smaller letters, which also break later, do not save more than this share.
const smallerMax = 1.7
// How much more room the first sheet may have for lower rows, a text giving way.
const productsGrowth = 120
// Rows of three lines and more on the average.
const tallRow = 20
// A first item taller than this may start on the second sheet; otherwise other blocks shrink.
const itemHeightKept = 160
// A text may take this share of the room under the totals before it continues on the next sheet.
const textShareMax = 0.4
// The code itself must measure 25 mm or more, its quiet zone apart (NT 2026.010, 4.5).
const qrSide = 92

/** The DANFE of an NF-e, model 55, as a PDF in A4, portrait or landscape as the issuer chose (MOC NF-e 7.0, Anexo II; NT 2026.010). Throws `PrintError`. */
export function danfe(nfeProc: Uint8Array, options: PrintOptions = {}): Uint8Array {
  return printedOn(readNote(openPrintable(nfeProc), options), upright, (note) => {
    const receipt = canhoto(note)
    // Keeps the margin of the receipt on all sheets: header and columns must not move.
    return printNote(note.sheet.landscape ? { ...note, sheet: beside(note.sheet, receipt.height) } : note, receipt)
  })
}

function printNote(note: PrintedNfe, receipt: Block): Uint8Array {
  const { sheet } = note
  const head = header(note)
  assertRoom(sheet.bottom - sheet.top - head.height, bodyMin)
  const { products, first } = sharedOut(note, head.height, receipt)
  const pages = paginate(products.rows, first.rowsRoom, laterRoom(note, head.height, products))
  const canvases = pages.map((rows, i) =>
    i === 0 ? drawFirst(first, rows, sheet) : drawItems(products, head.height, rows, sheet),
  )
  drawContinuation(first.rest, pages, canvases, head.height, products.headingHeight, sheet)
  canvases.forEach((canvas, i) => {
    canvas.silently(() => {
      head.sheetNumber(canvas, sheet.top + (i === 0 ? first.shift : 0), `FOLHA ${i + 1}/${canvases.length}`)
    })
  })
  return assemble({
    title: formTitle('DANFE', value(note.ide, 'nNF'), value(note.ide, 'serie'), value(note.infNFe, 'emit/xNome')),
    sheet,
    header: (canvas) => head.draw(canvas, sheet.left, sheet.top),
    headerHeight: head.height,
    firstShift: first.shift,
    picture: note.logo,
    stamp: stampLines(note),
    sheets: canvases,
  })
}

// Tries layouts that save sheets, least change first: closer rows, stacked fields, smaller letters.
function sharedOut(note: PrintedNfe, headerHeight: number, receipt: Block): SharedOut {
  const whole = (products: Table): SharedOut => {
    return { products, first: firstSheet(note, headerHeight, products, receipt, true) }
  }
  const usual = whole(itemTable(note, 'any', itemSizes))
  if (isWhole(usual)) return usual
  let chosen = usual
  let fewest = sheetsOf(note, headerHeight, usual)
  for (const products of denser(note, usual)) {
    const height = heightOf(products.rows)
    // Skips most layouts by their height alone.
    const later = laterRoom(note, headerHeight, products)
    if (fewest > 1 && height > usual.first.rowsRoom + productsGrowth + (fewest - 2) * later) continue
    const other = whole(products)
    if (isWhole(other)) return other
    const sheets = sheetsOf(note, headerHeight, other)
    if (sheets < fewest) [chosen, fewest] = [other, sheets]
  }
  // A sheet that no item fits on is one of texts.
  const [item] = chosen.products.rows
  const isEmpty =
    item && item.height > chosen.first.rowsRoom && item.height <= laterRoom(note, headerHeight, chosen.products)
  if (!isEmpty) return chosen
  return { ...chosen, first: firstSheet(note, headerHeight, chosen.products, receipt, false) }
}

function* denser(note: PrintedNfe, { products, first }: SharedOut): Generator<Table> {
  const height = heightOf(products.rows)
  yield products.closer(0.5)
  // One sheet is worth any setting.
  if (height <= first.rowsRoom * smallerMax && first.rest.length === 0) {
    for (const size of itemSizes)
      for (const columns of ['any', 'tight'] as const) yield itemTable(note, columns, [size])
  }
  yield products.closer(1)
  // Only descriptions and taxes of several lines can save sheets.
  if (height <= products.rows.length * tallRow) return
  const tight = itemTable(note, 'tight', itemSizes)
  yield tight
  yield tight.closer(1)
  if (!hasCrowdedTaxes(note)) return
  for (const size of itemSizes) {
    const narrow = itemTable(note, 'narrow', [size])
    yield narrow
    yield narrow.closer(1)
  }
}

interface SharedOut {
  products: Table
  first: DanfeFirstSheet
}

function sheetsOf(note: PrintedNfe, headerHeight: number, { products, first }: SharedOut): number {
  return paginate(products.rows, first.rowsRoom, laterRoom(note, headerHeight, products)).length
}

function laterRoom({ sheet }: PrintedNfe, headerHeight: number, products: Table): number {
  return sheet.bottom - sheet.top - headerHeight - productsTitle.height - products.headingHeight
}

function isWhole({ products, first }: SharedOut): boolean {
  return heightOf(products.rows) <= first.rowsRoom && first.rest.length === 0
}

function heightOf(rows: readonly TableRow[]): number {
  return rows.reduce((sum, row) => sum + row.height, 0)
}

function drawItems(products: Table, headerHeight: number, rows: readonly TableRow[], sheet: PrintSheet): Canvas {
  const canvas = new Canvas()
  const top = sheet.top + headerHeight
  const height = heightOf(rows) + products.headingHeight
  products.draw(canvas, sheet.left, top, productsTitle, rows, top + productsTitle.height + height)
  return canvas
}

const productsTitle = title('DADOS DOS PRODUTOS / SERVIÇOS')

interface DanfeFirstSheet {
  receipt: Block | undefined
  /** Height of a receipt at the top, by which the header is lower than on other sheets. */
  shift: number
  /** Everything between the header and the products. */
  upper: Block
  products: Table
  /** Top of the products' title, and bottom of their frame. */
  productsTop: number
  productsBottom: number
  rowsRoom: number
  withItems: boolean
  /** ISSQN and DADOS ADICIONAIS. */
  lower: Block
  rest: Ansi[]
}

/** Steps that shrink the first sheet, in this order, until the products have room. */
interface DanfeVariant {
  volumes: number
  places: boolean
  receipt: boolean
}

const variants: readonly DanfeVariant[] = [
  { volumes: volumeRowsMax, places: true, receipt: true },
  { volumes: 1, places: true, receipt: true },
  { volumes: 1, places: false, receipt: true },
  { volumes: 1, places: false, receipt: false },
]

interface Blocks {
  before: Block
  after: Block
  /** Texts that the variant moves to INFORMAÇÕES COMPLEMENTARES. */
  moved: (string | undefined)[]
}

function blocksOf(note: PrintedNfe, variant: DanfeVariant): Blocks {
  const { places } = variant
  return {
    before: stack(
      destinatario(note),
      places ? place(note, 'retirada') : undefined,
      places ? place(note, 'entrega') : undefined,
    ),
    after: stack(totals(note), transport(note, variant.volumes)),
    moved: [
      ...(places ? [] : [placeText(note, 'retirada'), placeText(note, 'entrega')]),
      ...transportOverflow(note, variant.volumes),
    ],
  }
}

// Lays out the first sheet: fixed blocks, duplicatas as far as they fit, products, texts.
function firstSheet(
  note: PrintedNfe,
  headerHeight: number,
  products: Table,
  receipt: Block,
  withItems: boolean,
): DanfeFirstSheet {
  const { sheet } = note
  const services = issqn(note)
  const servicesHeight = services?.height ?? 0
  const qr = qrBlock(note.qrCode, qrSide)
  const leastText = additionalHeightMin(note, qr)
  const firstItem = Math.min(products.rows[0]?.height ?? 0, itemHeightKept)
  const leastItems = productsTitle.height + products.headingHeight + Math.max(itemsHeightMin, firstItem)
  const whole = sheet.bottom - sheet.top - headerHeight - servicesHeight
  const freeBeside = (one: Blocks) => whole - shift - one.before.height - one.after.height
  let shift = sheet.landscape ? 0 : receipt.height
  let blocks = blocksOf(note, variants[0]!)
  for (const variant of variants.slice(1)) {
    if (freeBeside(blocks) >= leastText + leastItems + (hasBilling(note) ? billingHeightMin : 0)) break
    if (!variant.receipt) shift = 0
    blocks = blocksOf(note, variant)
  }
  const free = freeBeside(blocks)
  const spare = free - leastText - productsTitle.height - products.headingHeight
  assertRoom(spare, 0)
  const bills: Billing | undefined = billing(
    note,
    Math.max(free - leastText - leastItems, Math.min(billingHeightMin, spare)),
  )
  const upper = stack(blocks.before, bills?.block, blocks.after)
  const room = free - (bills?.block?.height ?? 0)
  const texts = additional(note, additionalText(note, bills?.overflow ?? [], blocks.moved), qr)
  const itemsHeight = productsTitle.height + products.headingHeight + heightOf(products.rows)
  const textHeight = !withItems ? room : textRoom(room, itemsHeight, leastItems, leastText, texts.wholeHeight)
  const dados = texts.fit(textHeight)
  const productsTop = sheet.top + headerHeight + shift + upper.height
  const productsBottom = sheet.bottom - servicesHeight - textHeight
  return {
    receipt: sheet.landscape || shift > 0 ? receipt : undefined,
    shift,
    upper,
    products,
    productsTop,
    productsBottom,
    rowsRoom: withItems ? productsBottom - productsTop - productsTitle.height - products.headingHeight : 0,
    withItems,
    lower: stack(services, dados.block),
    rest: dados.rest,
  }
}

// Height of DADOS ADICIONAIS. In order of preference: whole text beside all items; all items with
// the remaining room for text; whole text within its maximum share; the minimum.
function textRoom(room: number, itemsHeight: number, leastItems: number, leastText: number, wholeText: number): number {
  const whole = Math.max(leastText, wholeText)
  if (itemsHeight + whole <= room) return whole
  if (itemsHeight + Math.min(leastText, wholeText) <= room) return room - itemsHeight
  if (wholeText <= room * textShareMax && wholeText + leastItems <= room) return wholeText
  return Math.min(leastText, wholeText)
}

function drawFirst(first: DanfeFirstSheet, rows: readonly TableRow[], sheet: PrintSheet): Canvas {
  const canvas = new Canvas()
  const { receipt, upper, lower, products, productsTop, productsBottom } = first
  upper.draw(canvas, sheet.left, productsTop - upper.height)
  if (first.withItems) {
    products.draw(canvas, sheet.left, productsTop, productsTitle, rows, productsBottom)
  }
  lower.draw(canvas, sheet.left, productsBottom)
  if (!receipt) return canvas
  canvas.atEnd(() => {
    if (!sheet.landscape) return receipt.draw(canvas, sheet.left, sheet.top)
    canvas.upwards(sheet.left - receipt.height, sheet.bottom, (strip) => receipt.draw(strip, 0, 0))
  })
  return canvas
}

// Draws the rest of the text below the last items if some lines fit, else on further sheets.
function drawContinuation(
  text: readonly Ansi[],
  pages: readonly TableRow[][],
  canvases: Canvas[],
  headerHeight: number,
  headingHeight: number,
  sheet: PrintSheet,
): void {
  if (text.length === 0) return
  const last = pages.length - 1
  const used = heightOf(pages[last]!) + productsTitle.height + headingHeight
  const below = sheet.top + headerHeight
  continuedText('INFORMAÇÕES COMPLEMENTARES - CONTINUAÇÃO', text, textSize, sheet, {
    canvas: last > 0 ? canvases[last] : undefined,
    top: last > 0 ? below + used : sheet.bottom,
    nextTop: below,
    nextCanvas: () => addSheet(canvases),
  })
}
