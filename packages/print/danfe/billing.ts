import { child, children, value } from '@vigia/dfe/document'
import { date, money } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { stack, title } from '../layout/block.ts'
import { type FormField, fieldRow } from '../layout/fields.ts'
import type { PrintSheet } from '../layout/sheet.ts'
import { emWidth, roman } from '../pdf/fonts.ts'
import { type Ansi, winAnsi } from '../pdf/winansi.ts'
import type { PrintedNfe } from './note.ts'

/** FATURA / DUPLICATAS, and the lines without room on the sheet. */
export interface Billing {
  block: Block | undefined
  /** "número vencimento valor" of each duplicata outside the grid, after the fatura if left out. */
  overflow: string[]
}

/** Height of the block with its fatura and the note that duplicatas were left out. */
export const billingHeightMin = 42

const size = 7
const rowHeight = 10.5
const cellGap = 5
const noteHeight = 10

/** True when the file has the group cobr. */
export function hasBilling({ infNFe }: PrintedNfe): boolean {
  return child(infNFe, 'cobr') !== undefined
}

/** FATURA / DUPLICATAS in at most `heightMax`; undefined when the file has no cobr (MOC NF-e 7.0, Anexo II, 3.3.2). */
export function billing(note: PrintedNfe, heightMax: number): Billing | undefined {
  const { sheet } = note
  const cobr = child(note.infNFe, 'cobr')
  if (!cobr) return undefined
  const fat = child(cobr, 'fat')
  const fields: FormField[] = [
    { label: 'NÚMERO DA FATURA', value: value(fat, 'nFat'), width: 2 },
    { label: 'VALOR ORIGINAL', value: money(value(fat, 'vOrig')), width: 1, align: 'right' },
    { label: 'DESCONTO', value: money(value(fat, 'vDesc')), width: 1, align: 'right' },
    { label: 'VALOR LÍQUIDO', value: money(value(fat, 'vLiq')), width: 1, align: 'right' },
  ]
  const row = sheet.landscape ? { height: 18, size: 9 } : { height: 21.2 }
  const head = stack(title('FATURA / DUPLICATAS'), fat && fieldRow(fields, sheet.width, row))
  const cells = children(cobr, 'dup').map((dup) =>
    [value(dup, 'nDup'), date(value(dup, 'dVenc')), money(value(dup, 'vDup'))].map((text) => winAnsi(text ?? '')),
  )
  const sentences = cells.map((cell) => cell.filter((text) => text !== '').join(' '))
  if (heightMax < head.height + (cells.length > 0 ? noteHeight : 0)) {
    const fatura = fields.filter((field) => field.value).map((field) => `${field.label}: ${field.value}`)
    return { block: undefined, overflow: [...fatura, ...sentences] }
  }
  const columns = [0, 1, 2].map((i) =>
    cells.reduce((most, cell) => Math.max(most, (emWidth(cell[i]!, roman) * size) / 1000), 0),
  )
  const natural = columns.reduce((sum, width) => sum + width + cellGap, cellGap)
  const perRow = Math.min(sheet.landscape ? 8 : 6, Math.max(1, Math.floor(sheet.width / natural)))
  // A number far beyond the layout fits into no cell: the text takes them all.
  let rowsMax = natural > sheet.width ? 0 : Math.max(0, Math.floor((heightMax - head.height) / rowHeight))
  if (rowsMax * perRow < cells.length) rowsMax = Math.max(0, rowsMax - Math.ceil(noteHeight / rowHeight))
  const shown = cells.slice(0, rowsMax * perRow)
  const overflow = sentences.slice(shown.length)
  return {
    block: stack(
      head,
      grid(shown, columns, perRow, sheet),
      overflow.length > 0 ? leftOut(overflow.length, sheet) : undefined,
    ),
    overflow,
  }
}

// Number on the left of a cell, value on the right, date between; cells read along the rows.
function grid(cells: readonly Ansi[][], columns: readonly number[], perRow: number, sheet: PrintSheet): Block {
  const rows = Math.ceil(cells.length / perRow)
  const width = sheet.width / perRow
  const [first = 0, second = 0, third = 0] = columns
  const spare = (width - first - second - third - 2 * cellGap) / 2
  return {
    height: rows * rowHeight,
    draw(canvas, x, y) {
      if (rows === 0) return
      canvas.box(x, y, sheet.width, rows * rowHeight)
      for (let i = 1; i < perRow; i++) canvas.line(x + i * width, y, x + i * width, y + rows * rowHeight)
      for (let i = 1; i < rows; i++) canvas.line(x, y + i * rowHeight, x + sheet.width, y + i * rowHeight)
      cells.forEach(([number, due, amount], i) => {
        const left = x + (i % perRow) * width + cellGap
        const baseline = y + Math.floor(i / perRow) * rowHeight + 7.6
        canvas.tagged('P', () => {
          canvas.text(left, baseline, number!, roman, size)
          canvas.text(left + first + spare, baseline, due!, roman, size)
          canvas.aligned(left, width - 2 * cellGap, baseline, amount!, roman, size, 'right')
        })
      })
    },
  }
}

function leftOut(count: number, sheet: PrintSheet): Block {
  const text = winAnsi(`+ ${count} DUPLICATAS NAS INFORMAÇÕES COMPLEMENTARES`)
  return {
    height: noteHeight,
    draw: (canvas, x, y) => canvas.aligned(x, sheet.width, y + 7.4, text, roman, 6.5, 'center'),
  }
}
