import { value } from '@vigia/dfe/document'
import { canhoto } from './dacte/canhoto.ts'
import { type Cargo, cargo, furtherInsurance, insurance } from './dacte/cargo.ts'
import { type PrintedCte, readPrintedCte, stampLines, upright } from './dacte/cte.ts'
import { type CteDocumentTable, documentTable } from './dacte/documents.ts'
import { header } from './dacte/header.ts'
import { type Modal, modal } from './dacte/modal.ts'
import { participants, secondPairText, tomador } from './dacte/parties.ts'
import { fiscoNotes, issuerNotes, remarks } from './dacte/remarks.ts'
import { cargoFlow, service } from './dacte/service.ts'
import { type Components, components, taxes } from './dacte/values.ts'
import { assemble, formTitle } from './layout/assemble.ts'
import { type Block, stack, title } from './layout/block.ts'
import { addSheet, continuedText } from './layout/continued.ts'
import type { PrintSheet } from './layout/sheet.ts'
import { paginate, splitMin, type TableRow } from './layout/table.ts'
import { paragraphs } from './layout/text.ts'
import { type TextBoxes, textBoxes } from './layout/text-box.ts'
import { Canvas } from './pdf/canvas.ts'
import type { Ansi } from './pdf/winansi.ts'
import { assertRoom, openPrintable, PrintError, type PrintOptions, printedOn } from './printable.ts'

export type { PrintOptions }
export { PrintError }

const textSize = 7
// Least height below the header: every further sheet carries something.
const bodyMin = 300
// Minimum heights: documents on the first sheet (with title and heading), OBSERVAÇÕES, and the
// texts below, when cut and when short.
const least = {
  portrait: { documents: 58, observations: 36, lines: 3, blank: 3 },
  landscape: { documents: 36, observations: 28, lines: 2, blank: 1 },
}

/** The DACTE of a CT-e (57, 67, Simplificado, GTV-e) as a PDF in A4, portrait or landscape as the issuer chose (MOC CT-e 4.00, Anexo II). Throws `PrintError`. */
export function dacte(cteProc: Uint8Array, options: PrintOptions = {}): Uint8Array {
  return printedOn(readPrintedCte(openPrintable(cteProc), options), upright, printCte)
}

function printCte(cte: PrintedCte): Uint8Array {
  const { sheet } = cte
  const head = header(cte)
  assertRoom(sheet.bottom - sheet.top - head.height, bodyMin)
  const usual = documentTable(cte)
  let first = firstSheet(cte, head.height, usual, true)
  const [row] = usual.rows
  // A title and a heading without a line below them are left out.
  if (row && first.rowsRoom < Math.min(splitMin, row.height)) first = firstSheet(cte, head.height, usual, false)
  const heading = title(usual.title)
  const continuedHeading = title(`${usual.title} - CONTINUAÇÃO`)
  const body = sheet.top + head.height
  const next = sheet.bottom - body - heading.height - usual.headingHeight
  const { documents, pages } = sharedOut(usual, first.rowsRoom, next)
  const filled = first.ahead.map((block) => {
    const canvas = new Canvas()
    block.draw(canvas, sheet.left, body)
    return canvas
  })
  const listed = pages.map((rows, i) => {
    const canvas = new Canvas()
    if (i === 0) {
      first.upper.draw(canvas, sheet.left, first.documentsTop - first.upper.height)
      if (!first.withoutDocuments) {
        documents.draw(canvas, sheet.left, first.documentsTop, heading, rows, first.documentsBottom)
      }
      first.lower.draw(canvas, sheet.left, first.documentsBottom)
      canvas.atEnd(() => first.receipt?.draw(canvas, sheet.left, sheet.top))
    } else {
      documents.draw(canvas, sheet.left, body, continuedHeading, rows, body + usedHeight(rows, documents))
    }
    return canvas
  })
  const canvases = [...filled, ...listed]
  drawContinuations(first.rest, pages, canvases, body, documents, sheet)
  canvases.forEach((canvas, i) => {
    canvas.silently(() => {
      head.sheetNumber(canvas, sheet.top + (i === 0 ? first.shift : 0), `${i + 1}/${canvases.length}`)
    })
  })
  const name = { cte: 'DACTE', simplificado: 'DACTE', os: 'DACTE OS', gtve: 'DAGTV-E' }[cte.layout]
  return assemble({
    title: formTitle(name, value(cte.ide, 'nCT'), value(cte.ide, 'serie'), value(cte.infCte, 'emit/xNome')),
    sheet,
    header: (canvas) => head.draw(canvas, sheet.left, sheet.top),
    headerHeight: head.height,
    firstShift: first.shift,
    picture: cte.logo,
    stamp: stampLines(cte),
    sheets: canvases,
  })
}

// Reduces the row spacing if that saves a sheet.
function sharedOut(usual: CteDocumentTable, first: number, next: number) {
  let chosen = { documents: usual, pages: paginate(usual.rows, first, next, first) }
  for (const share of [0.5, 1]) {
    if (chosen.pages.length === 1) break
    const documents = usual.closer(share)
    const pages = paginate(documents.rows, first, next, first)
    if (pages.length < chosen.pages.length) chosen = { documents, pages }
  }
  return chosen
}

function usedHeight(rows: readonly TableRow[], documents: CteDocumentTable): number {
  return rows.reduce((sum, row) => sum + row.height, title('').height + documents.headingHeight)
}

interface Rest {
  heading: string
  text: Ansi[]
}

interface DacteFirstSheet {
  /** Blocks of sheets before this one; empty unless all texts are as long and wide as possible. */
  ahead: Block[]
  receipt: Block | undefined
  /** Height of the receipt, by which the header is lower than on other sheets. */
  shift: number
  upper: Block
  documentsTop: number
  documentsBottom: number
  /** True for services, valuables and crowded sheets: OBSERVAÇÕES takes the room of documents. */
  withoutDocuments: boolean
  rowsRoom: number
  lower: Block
  rest: Rest[]
}

/** Steps that shrink the first sheet, in this order, until the documents have room. */
interface DacteVariant {
  components: number
  measures: number
  receipt: boolean
  /** Boxes of expedidor and recebedor; without them they become sentences of OBSERVAÇÕES. */
  secondPair: boolean
}

const variants: readonly DacteVariant[] = [
  { components: 9, measures: 4, receipt: true, secondPair: true },
  { components: 5, measures: 2, receipt: true, secondPair: true },
  { components: 3, measures: 1, receipt: true, secondPair: true },
  { components: 3, measures: 1, receipt: false, secondPair: true },
  { components: 3, measures: 1, receipt: false, secondPair: false },
]

interface Upper {
  receipt: Block | undefined
  blocks: (Block | undefined)[]
  /** Height of the receipt and of the blocks. */
  height: number
  measures: string[]
  components: string[]
  parties: string[]
}

function upperBlocks(cte: PrintedCte, variant: DacteVariant): Upper {
  const receipt = variant.receipt ? canhoto(cte) : undefined
  const carried: Cargo = cargo(cte, variant.measures)
  const values: Components = components(cte, variant.components)
  const parties = participants(cte, variant.secondPair)
  const blocks = [service(cte), parties, tomador(cte), carried.block, values.block, taxes(cte)]
  return {
    receipt,
    blocks,
    height: stack(receipt, ...blocks).height,
    measures: carried.overflow,
    components: values.overflow,
    parties: variant.secondPair ? [] : secondPairText(cte),
  }
}

function inOneText(pieces: readonly string[]): Ansi[] {
  return pieces.length > 0 ? paragraphs(pieces.join('; ')) : []
}

// Lays out the first sheet: fixed blocks above; texts below, as far as some documents fit.
function firstSheet(
  cte: PrintedCte,
  headerHeight: number,
  documents: CteDocumentTable,
  withTable: boolean,
): DacteFirstSheet {
  const { sheet } = cte
  const {
    observations: observationsMin,
    documents: documentsMin,
    lines,
    blank,
  } = least[sheet.landscape ? 'landscape' : 'portrait']
  const way: Modal = modal(cte)
  const list = way.list.flatMap(paragraphs)
  const modalList =
    list.length > 0 ? textBoxes([{ label: '', text: list, share: 1 }], sheet.width, textSize, 1) : undefined
  const notes = textBoxes(
    [
      { label: 'USO EXCLUSIVO DO EMISSOR DO CT-E', text: issuerNotes(cte), share: 0.62 },
      { label: 'RESERVADO AO FISCO', text: fiscoNotes(cte), share: 0.38 },
    ],
    sheet.width,
    textSize,
    lines,
    blank,
  )
  const fixedLower = [insurance(cte), cargoFlow(cte)]
  const fixedHeight = stack(...fixedLower, way.block).height
  const hasNone = documents.rows.length === 0 && (cte.layout === 'os' || cte.layout === 'gtve')
  const withoutDocuments = !withTable || hasNone
  const firstDocuments = withoutDocuments ? 0 : documentsLeast(documents, documentsMin)
  const fixed = fixedHeight + observationsMin + (modalList?.least ?? 0) + notes.least + firstDocuments
  const whole = sheet.bottom - sheet.top - headerHeight
  let upper = upperBlocks(cte, variants[0]!)
  for (const variant of variants.slice(1)) {
    if (upper.height + fixed <= whole) break
    upper = upperBlocks(cte, variant)
  }
  const leastBelow = fixed - firstDocuments + (withoutDocuments ? 0 : title('').height + documents.headingHeight)
  const { ahead, block, height } = spill(upper, whole, whole - leastBelow, sheet)
  const text = [...upper.parties.flatMap(paragraphs), ...remarks(cte), ...furtherInsurance(cte).flatMap(paragraphs)]
  const observations = textBoxes([{ label: 'OBSERVAÇÕES', text, share: 1 }], sheet.width, textSize, lines, blank)
  const room = whole - height - fixedHeight
  const heights = shareOut([observations, modalList, notes], room - firstDocuments)
  if (withoutDocuments) heights[0]! += Math.max(0, room - heights.reduce((sum, height) => sum + height, 0))
  const [obs, modalTexts, uso] = [observations.fit(heights[0]!), modalList?.fit(heights[1]!), notes.fit(heights[2]!)]
  const lower = stack(...fixedLower, obs.block, way.block, modalTexts?.block, uso.block)
  const documentsTop = sheet.top + headerHeight + height
  const documentsBottom = sheet.bottom - lower.height
  return {
    ahead,
    receipt: upper.receipt,
    shift: upper.receipt?.height ?? 0,
    upper: block,
    documentsTop,
    documentsBottom,
    withoutDocuments,
    rowsRoom: documentsBottom - documentsTop - title('').height - documents.headingHeight,
    lower,
    rest: [
      { heading: 'MEDIDAS DA CARGA', text: inOneText(upper.measures) },
      { heading: 'COMPONENTES DO VALOR DA PRESTAÇÃO', text: inOneText(upper.components) },
      { heading: 'OBSERVAÇÕES', text: obs.rest[0]! },
      { heading: 'INFORMAÇÕES DO MODAL', text: modalTexts?.rest[0] ?? [] },
      { heading: 'USO EXCLUSIVO DO EMISSOR DO CT-E', text: uso.rest[0]! },
      { heading: 'RESERVADO AO FISCO', text: uso.rest[1]! },
    ].filter(({ text }) => text.length > 0),
  }
}

// Keeps the last blocks that fit above the documents, and moves the others to as few sheets before
// as possible. A landscape form becomes portrait instead.
function spill({ blocks, height }: Upper, whole: number, room: number, sheet: PrintSheet) {
  if (height <= room) return { ahead: [], block: stack(...blocks), height }
  assertRoom(sheet.landscape ? -1 : room, 0)
  const before: Block[][] = [[]]
  const kept = blocks.filter((block) => block !== undefined)
  while (stack(...kept).height > room) {
    const block = kept.shift()!
    assertRoom(whole, block.height)
    if (stack(...before.at(-1)!, block).height > whole) before.push([])
    before.at(-1)!.push(block)
  }
  return { ahead: before.map((sheet) => stack(...sheet)), block: stack(...kept), height: stack(...kept).height }
}

function documentsLeast(documents: CteDocumentTable, documentsMin: number): number {
  const rows = documents.rows.slice(0, 2).reduce((sum, row) => sum + row.height, 0)
  return Math.max(documentsMin, title('').height + documents.headingHeight + Math.min(rows, 90))
}

// Heights of the texts: all whole if there is room; otherwise the first ones shrink first.
function shareOut(boxes: readonly (TextBoxes | undefined)[], room: number): number[] {
  const heights = boxes.map((box) => box?.whole ?? 0)
  boxes.forEach((box, i) => {
    const excess = heights.reduce((sum, height) => sum + height, 0) - room
    if (box && excess > 0) heights[i] = Math.max(box.least, heights[i]! - excess)
  })
  return heights
}

// Draws overflowing texts after the last documents, then on further sheets.
function drawContinuations(
  rest: readonly Rest[],
  pages: readonly TableRow[][],
  canvases: Canvas[],
  body: number,
  documents: CteDocumentTable,
  sheet: PrintSheet,
): void {
  const last = pages.length - 1
  let canvas = last > 0 ? canvases.at(-1) : undefined
  let top = last > 0 ? body + usedHeight(pages[last]!, documents) : body
  for (const { heading, text } of rest) {
    const end = continuedText(`${heading} - CONTINUAÇÃO`, text, textSize, sheet, {
      canvas,
      top,
      nextTop: body,
      nextCanvas: () => addSheet(canvases),
    })
    canvas = end.canvas
    top = end.top
  }
}
