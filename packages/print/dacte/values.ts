import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { joined, money, percent } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { padding, stack, title } from '../layout/block.ts'
import { type FormField, fieldRow, fittingSize } from '../layout/fields.ts'
import { type PrintSheet, sheetRow } from '../layout/sheet.ts'
import { leading, wrap } from '../layout/text.ts'
import { emWidth, roman } from '../pdf/fonts.ts'
import { type Ansi, winAnsi } from '../pdf/winansi.ts'
import { assertRoom } from '../printable.ts'
import type { PrintedCte } from './cte.ts'

// Components beside each other.
const pairsPerRow = { portrait: 3, landscape: 5 }
const rowHeight = 11
const totalsWidth = 132
const headHeight = 8.5
const leastTotal = { portrait: 21, landscape: 19 }

/** COMPONENTES DO VALOR, and the components for which the box has no room. */
export interface Components {
  block: Block | undefined
  overflow: string[]
}

/** COMPONENTES DO VALOR DA PRESTAÇÃO DO SERVIÇO: every Comp beside the totals (MOC CT-e 4.00, Anexo II, correlation table). */
export function components({ infCte, layout, sheet }: PrintedCte, rowsMax: number): Components {
  if (layout === 'gtve') return { block: undefined, overflow: [] }
  const prest = child(infCte, layout === 'simplificado' ? 'total' : 'vPrest')
  const all = children(prest, 'Comp').map(component)
  const total: FormField = { label: 'VALOR TOTAL DO SERVIÇO', value: money(value(prest, 'vTPrest')), ...totalField }
  const due = money(value(prest, 'vRec') ?? value(prest, 'vTRec'))
  const receivable: FormField = { label: 'VALOR A RECEBER', value: due, ...totalField }
  if (all.length === 0) return { block: sheetRow(sheet, [total, receivable]), overflow: [] }
  const pairs = pairsPerRow[sheet.landscape ? 'landscape' : 'portrait']
  const shown = all.slice(0, pairs * rowsMax)
  const width = (sheet.width - totalsWidth) / pairs
  const rows: AmountCell[][] = []
  for (let from = 0; from < shown.length; from += pairs) {
    rows.push(shown.slice(from, from + pairs).map((one) => componentCell(one, width - 2 * padding)))
  }
  const heights = rows.map((row) =>
    Math.max(...row.map((cell) => rowHeight + (cell.lines.length - 1) * leading(cell.size))),
  )
  const totalsOf = (least: number) =>
    [total, receivable].map((field) => fieldRow([field], totalsWidth, { height: least }))
  const least = totalsOf(leastTotal[sheet.landscape ? 'landscape' : 'portrait'])
  const height = Math.max(
    headHeight + heights.reduce((sum, one) => sum + one, 0) + 2,
    ...least.map((row) => 2 * row.height),
  )
  const totals = totalsOf(height / 2)
  const box: Block = {
    height,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      for (let i = 0; i < pairs; i++) {
        const left = x + i * width
        if (i > 0) canvas.line(left, y, left, y + height)
        canvas.silently(() => {
          canvas.text(left + padding, y + 6.6, winAnsi('NOME'), roman, 6)
          canvas.aligned(left, width - padding, y + 6.6, winAnsi('VALOR'), roman, 6, 'right')
        })
      }
      let top = y + headHeight
      rows.forEach((row, n) => {
        row.forEach((cell, i) => {
          const left = x + i * width + padding
          canvas.tagged('P', () => {
            cell.lines.forEach((line, k) => {
              canvas.text(left, top + 8 + k * leading(cell.size), line, roman, cell.size)
            })
            canvas.aligned(left, width - 2 * padding, top + 8, cell.amount, roman, cell.size, 'right')
          })
        })
        top += heights[n]!
      })
      totals.forEach((row, i) => {
        row.draw(canvas, x + sheet.width - totalsWidth, y + (i * height) / 2)
      })
    },
  }
  return {
    block: stack(title('COMPONENTES DO VALOR DA PRESTAÇÃO DO SERVIÇO'), box),
    overflow: all.slice(shown.length).map(({ name, amount }) => `${name}: ${amount}`),
  }
}

interface AmountCell {
  lines: Ansi[]
  amount: Ansi
  size: number
}

// Name and value share a line; a name that does not fit beside its value shrinks, then wraps.
function componentCell({ name, amount }: { name: string; amount: string }, room: number): AmountCell {
  const whole = winAnsi(`${name}  ${amount}`)
  const size = fittingSize([{ value: whole, font: roman, room }], 9, 6)
  const value = winAnsi(amount)
  const beside = room - (emWidth(winAnsi(`  ${amount}`), roman) * size) / 1000
  assertRoom(beside, room / 4)
  return { lines: wrap(winAnsi(name), roman, size, beside + 0.1), amount: value, size }
}

const totalField = { width: 1, align: 'right', bold: true } as const

function component(comp: XmlElement): { name: string; amount: string } {
  return { name: value(comp, 'xNome') ?? '', amount: money(value(comp, 'vComp')) ?? '' }
}

const situations = new Map(
  Object.entries({
    ICMS00: '00 - tributação normal ICMS',
    ICMS20: '20 - tributação com BC reduzida do ICMS',
    ICMS60: '60 - ICMS cobrado anteriormente por substituição tributária',
    ICMS90: '90 - outros',
    ICMSOutraUF: '90 - ICMS devido à UF de origem da prestação, quando diferente da UF do emitente',
    ICMSSN: 'Simples Nacional',
  }),
)
const exemptions = new Map(
  Object.entries({
    40: '40 - ICMS isenção',
    41: '41 - ICMS não tributada',
    51: '51 - ICMS diferido',
  }),
)

/** INFORMAÇÕES RELATIVAS AO IMPOSTO, with the federal taxes of the CT-e OS and the IBS and CBS when the file has them. */
export function taxes({ infCte, sheet }: PrintedCte): Block | undefined {
  const imp = child(infCte, 'imp')
  if (!imp) return undefined
  const icms = child(imp, 'ICMS')?.children[0]
  const total = value(imp, 'vTotTrib')
  const fields: FormField[] = [
    { label: 'SITUAÇÃO TRIBUTÁRIA', value: situation(icms), width: 44 },
    { label: 'BASE DE CÁLCULO', value: money(icmsBase(icms)), width: 17, align: 'right' },
    {
      label: 'ALÍQ. ICMS',
      value: percent(value(icms, 'pICMS') ?? value(icms, 'pICMSSTRet') ?? value(icms, 'pICMSOutraUF')),
      width: 11,
      align: 'right',
    },
    {
      label: 'VALOR ICMS',
      value: money(value(icms, 'vICMS') ?? value(icms, 'vICMSOutraUF')),
      width: 16,
      align: 'right',
    },
    {
      label: '% RED. BC ICMS',
      value: percent(value(icms, 'pRedBC') ?? value(icms, 'pRedBCOutraUF')),
      width: 14,
      align: 'right',
    },
    { label: 'ICMS ST', value: money(value(icms, 'vICMSSTRet')), width: 14, align: 'right' },
  ]
  if (total !== undefined) {
    fields.push({ label: 'VALOR APROX. TRIBUTOS', value: money(total), width: 20, align: 'right' })
  }
  return stack(
    title('INFORMAÇÕES RELATIVAS AO IMPOSTO'),
    sheetRow(sheet, fields),
    federalTaxes(child(imp, 'infTribFed'), sheet),
    newTaxes(child(imp, 'IBSCBS'), sheet),
  )
}

function icmsBase(icms: XmlElement | undefined): string | undefined {
  return value(icms, 'vBC') ?? value(icms, 'vBCSTRet') ?? value(icms, 'vBCOutraUF')
}

function situation(icms: XmlElement | undefined): string | undefined {
  const cst = value(icms, 'CST')
  return exemptions.get(cst ?? '') ?? situations.get(icms?.name ?? '') ?? cst
}

function federalTaxes(group: XmlElement | undefined, sheet: PrintSheet): Block | undefined {
  if (!group) return undefined
  const amount = (label: string, name: string): FormField => ({
    label,
    value: money(value(group, name)),
    width: 1,
    align: 'right',
  })
  return sheetRow(sheet, [
    amount('VALOR DO PIS', 'vPIS'),
    amount('VALOR DA COFINS', 'vCOFINS'),
    amount('VALOR DO IR', 'vIR'),
    amount('VALOR DO INSS', 'vINSS'),
    amount('VALOR DA CSLL', 'vCSLL'),
  ])
}

// A row of ours until the manual of the DACTE has fields; blank without values (NT 2025.001 RTC).
function newTaxes(group: XmlElement | undefined, sheet: PrintSheet): Block | undefined {
  if (!group) return undefined
  const taxed = child(group, 'gIBSCBS')
  const rateAndValue = (tax: XmlElement | undefined, rate: string, amount: string) => {
    const shown = percent(value(tax, 'gRed/pAliqEfet') ?? value(tax, rate))
    return joined(' - ', shown && `${shown}%`, money(value(tax, amount)))
  }
  return sheetRow(sheet, [
    {
      label: 'IBS/CBS - CST / CLASSTRIB',
      value: joined(' / ', value(group, 'CST'), value(group, 'cClassTrib')),
      width: 1.1,
    },
    { label: 'BASE DE CÁLCULO IBS/CBS', value: money(value(taxed, 'vBC')), width: 1, align: 'right' },
    {
      label: 'IBS UF (ALÍQ. - VALOR)',
      value: rateAndValue(child(taxed, 'gIBSUF'), 'pIBSUF', 'vIBSUF'),
      width: 1.1,
      align: 'right',
    },
    {
      label: 'IBS MUNICÍPIO (ALÍQ. - VALOR)',
      value: rateAndValue(child(taxed, 'gIBSMun'), 'pIBSMun', 'vIBSMun'),
      width: 1.15,
      align: 'right',
    },
    {
      label: 'CBS (ALÍQ. - VALOR)',
      value: rateAndValue(child(taxed, 'gCBS'), 'pCBS', 'vCBS'),
      width: 1.1,
      align: 'right',
    },
  ])
}
