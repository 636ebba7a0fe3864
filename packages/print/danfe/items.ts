import { child, value } from '@vigia/dfe/document'
import { type Table, type TableColumn, table } from '../layout/table.ts'
import { type DanfeItem, readItem, situationTitle } from './item.ts'
import type { PrintedNfe } from './note.ts'
import { type NewTaxItem, newTaxColumns, readNewTaxes } from './taxes.ts'

/** Sizes of the product table, which may not go below 6 points (MOC NF-e 7.0, Anexo II, 3.7). */
export const itemSizes: readonly number[] = [7, 6.5, 6]
const descriptionMin = 150

/**
 * Tight columns stack two fields, for wider descriptions; narrow ones also save a line of taxes.
 */
export type ItemColumns = 'any' | 'tight' | 'narrow'

/** DADOS DOS PRODUTOS / SERVIÇOS: columns chosen once for all sheets, description never cut (MOC NF-e 7.0, Anexo II, 3.2 and 3.8). */
export function itemTable(note: PrintedNfe, columns: ItemColumns, sizes: readonly number[]): Table {
  const { sheet } = note
  const items = note.items.map(readItem)
  if (note.newTaxes) {
    const rows: NewTaxItem[] = items.map((item) => ({ ...item, taxes: readNewTaxes(item, columns === 'narrow') }))
    return table(rows, newTaxColumns(rows, columns !== 'any' ? columns : sheet.landscape ? 'wide' : 'usual'), {
      width: sheet.width,
      sizes,
      freeMin: () => 120,
      freeEnough: columns === 'any' ? 160 : Number.POSITIVE_INFINITY,
    })
  }
  const discount = items.some((item) => item.discount !== '')
  const st = items.some((item) => item.icmsSt.base !== '' || item.icmsSt.value !== '')
  const candidates = [oneLine(discount, st, situationTitle(items)), stacked(discount, st, situationTitle(items))]
  return table(items, columns === 'any' ? candidates : candidates.slice(1), {
    width: sheet.width,
    sizes,
    freeMin: () => descriptionMin,
    freeEnough: columns === 'any' ? 230 : Number.POSITIVE_INFINITY,
  })
}

type ItemColumn = TableColumn<DanfeItem>

/** True when the items have so many taxes that narrow columns save a line of each. */
export function hasCrowdedTaxes(note: PrintedNfe): boolean {
  return (
    note.newTaxes &&
    note.items.some((det) => child(det, 'imposto/IPI/IPITrib') ?? child(det, 'imposto/IS')) &&
    note.items.some((det) => value(child(det, 'imposto/ICMS')?.children[0], 'vICMSST'))
  )
}

function text(title: string[], widest: number, read: (item: DanfeItem) => string): ItemColumn {
  return { title, align: 'left', widest, cells: (item) => [read(item)] }
}

function centred(title: string[], widest: number, read: (item: DanfeItem) => string): ItemColumn {
  return { title, align: 'center', widest, cells: (item) => [read(item)] }
}

function number(title: string[], read: (item: DanfeItem) => string): ItemColumn {
  return { title, align: 'right', widest: 72, cells: (item) => [read(item)] }
}

/** Two fields in two lines of one column (MOC NF-e 7.0, Anexo II, 3.2). */
function pair(title: string[], align: ItemColumn['align'], read: (item: DanfeItem) => [string, string]): ItemColumn {
  return { title, align, widest: 72, cells: read }
}

const code = text(['CÓDIGO'], 62, (item) => item.code)
const description: ItemColumn = {
  title: ['DESCRIÇÃO DO PRODUTO / SERVIÇO'],
  align: 'left',
  cells: (item) => item.description,
}

function oneLine(discount: boolean, st: boolean, situation: string): ItemColumn[] {
  return [
    code,
    description,
    centred(['NCM/SH'], 40, (item) => item.ncm),
    centred(situation.split(/(?<=^O\/)/), 30, (item) => item.situation),
    centred(['CFOP'], 30, (item) => item.cfop),
    centred(['UN'], 40, (item) => item.unit),
    number(['QUANT.'], (item) => item.quantity),
    number(['VALOR', 'UNIT.'], (item) => item.unitValue),
    ...(discount ? [number(['DESC.'], (item) => item.discount)] : []),
    number(['VALOR', 'TOTAL'], (item) => item.total),
    number(['B. CÁLC.', 'ICMS'], (item) => item.icms.base),
    ...(st ? [number(['B. CÁLC.', 'ICMS ST'], (item) => item.icmsSt.base)] : []),
    number(['VALOR', 'ICMS'], (item) => item.icms.value),
    ...(st ? [number(['VALOR', 'ICMS ST'], (item) => item.icmsSt.value)] : []),
    number(['VALOR', 'IPI'], (item) => item.ipi.value),
    number(['ALÍQ.', 'ICMS'], (item) => item.icms.rate),
    number(['ALÍQ.', 'IPI'], (item) => item.ipi.rate),
  ]
}

function stacked(discount: boolean, st: boolean, situation: string): ItemColumn[] {
  return [
    pair(['CÓDIGO', 'NCM/SH'], 'left', (item) => [item.code, item.ncm]),
    description,
    pair([situation, 'CFOP'], 'center', (item) => [item.situation, item.cfop]),
    pair(['QUANT.', 'UN'], 'right', (item) => [item.quantity, item.unit]),
    discount
      ? pair(['VALOR UNIT.', 'DESC.'], 'right', (item) => [item.unitValue, item.discount])
      : number(['VALOR', 'UNIT.'], (item) => item.unitValue),
    pair(['VALOR TOTAL', 'B. CÁLC. ICMS'], 'right', (item) => [item.total, item.icms.base]),
    ...(st
      ? [
          pair(
            ['B. CÁLC. ST', 'VALOR ST'],
            'right',
            (item) => [item.icmsSt.base, item.icmsSt.value] as [string, string],
          ),
        ]
      : []),
    pair(['VALOR ICMS', 'VALOR IPI'], 'right', (item) => [item.icms.value, item.ipi.value]),
    pair(['ALÍQ. ICMS', 'ALÍQ. IPI'], 'right', (item) => [item.icms.rate, item.ipi.rate]),
  ]
}
