import { child, value, type XmlElement } from '@vigia/dfe/document'
import { joined, money, percent, quantity } from '../formats.ts'
import type { TableColumn } from '../layout/table.ts'
import { type DanfeItem, situationTitle, together } from './item.ts'

// One tax of an item: name, rate and value as printed, empty where the file has none.
type Tax = readonly [name: string, rate: string, amount: string]

/** An item with the lines of its tax columns. */
export interface NewTaxItem extends DanfeItem {
  taxes: {
    bases: (readonly [string, string])[]
    /** Two taxes side by side in each line. */
    lines: (readonly [Tax, Tax])[]
    codes: string | undefined
  }
}

const none: Tax = ['', '', '']

/**
 * Taxes of an item in the order of NT 2026.010, 4.3: ICMS and CBS, IBS UF and IPI, IBS MUN and IS;
 * ICMS ST may be separate.
 */
export function readNewTaxes(item: DanfeItem, stApart: boolean): NewTaxItem['taxes'] {
  const { imposto } = item
  const ibscbs = child(imposto, 'IBSCBS')
  const group = child(ibscbs, 'gIBSCBS')
  const selective = child(imposto, 'IS')
  const mono = child(ibscbs, 'gIBSCBSMono')
  const bases: (readonly [string, string])[] = []
  const base = (name: string, amount: string | undefined) => {
    if (amount) bases.push([name, amount])
  }
  base('ICMS', item.icms.base)
  if (!stApart) base('ICMS ST', item.icmsSt.base)
  base('IBS/CBS', money(value(group, 'vBC')))
  base('IS', money(value(selective, 'vBCIS')))
  base('IPI', item.ipi.base)
  base('MONO QTD.', quantity(value(mono, 'gMonoPadrao/qBCMono')))
  const icms = tax('ICMS', item.icms.rate, item.icms.value)
  const cbs = ibsOrCbs('CBS', child(group, 'gCBS'), 'pCBS', 'vCBS')
  const state = ibsOrCbs('IBS UF', child(group, 'gIBSUF'), 'pIBSUF', 'vIBSUF')
  const city = ibsOrCbs('IBS MUN', child(group, 'gIBSMun'), 'pIBSMun', 'vIBSMun')
  const ipi = tax('IPI', item.ipi.rate, item.ipi.value)
  const is = tax('IS', percent(value(selective, 'pIS')), money(value(selective, 'vIS')))
  const st = stApart ? none : tax('ICMS ST', item.icmsSt.rate, item.icmsSt.value)
  const monoPair: readonly [Tax, Tax] = [
    tax('IBS MONO', percent(value(mono, 'gMonoPadrao/adRemIBS')), money(value(mono, 'vTotIBSMonoItem'))),
    tax('CBS MONO', percent(value(mono, 'gMonoPadrao/adRemCBS')), money(value(mono, 'vTotCBSMonoItem'))),
  ]
  const full: (readonly [Tax, Tax])[] = [[icms, cbs], [state, ipi], [city, is], [st, none], monoPair]
  const lines = full.filter(([left, right]) => left !== none || right !== none)
  // Without IPI and IS both IBS are side by side; without IBS and CBS values nothing must align.
  const few = group === undefined || (ipi === none && is === none)
  return {
    bases,
    lines: few ? compact([icms, cbs, state, city, ipi, st, is, ...monoPair]) : lines,
    codes: joined(
      ' ',
      code('cClassTrib', value(ibscbs, 'cClassTrib')),
      code('CST IBS/CBS', value(ibscbs, 'CST')),
      code('cClassTribIS', value(selective, 'cClassTribIS')),
    ),
  }
}

function compact(taxes: readonly Tax[]): (readonly [Tax, Tax])[] {
  const present = taxes.filter((one) => one !== none)
  const lines: (readonly [Tax, Tax])[] = []
  for (let i = 0; i < present.length; i += 2) lines.push([present[i]!, present[i + 1] ?? none])
  return lines
}

function tax(name: string, rate = '', amount = ''): Tax {
  return rate === '' && amount === '' ? none : [name, rate, amount]
}

// Uses the effective rate of a tax that has a reduction of its own (NT 2026.010, 4.3).
function ibsOrCbs(name: string, group: XmlElement | undefined, rate: string, amount: string): Tax {
  return tax(name, percent(value(group, 'gRed/pAliqEfet') ?? value(group, rate)), money(value(group, amount)))
}

function code(label: string, text: string | undefined): string | undefined {
  return text && `[${label}${together}${text}]`.replaceAll(' ', together)
}

type TaxColumn = TableColumn<NewTaxItem>

/**
 * Columns of the product table with IBS, CBS and IS (NT 2026.010, 4.3): wide sheets first try one
 * field per column; tight ones have two bases per line, narrow ones also a column for ICMS ST.
 */
export function newTaxColumns(
  items: readonly NewTaxItem[],
  setting: 'usual' | 'wide' | 'tight' | 'narrow',
): TaxColumn[][] {
  const second = items.some((item) => item.taxes.lines.some(([, right]) => right !== none))
  const discount = items.some((item) => item.discount !== '')
  const code: TaxColumn = {
    title: ['CÓDIGO', 'NCM/SH'],
    align: 'left',
    widest: 52,
    cells: (item) => [item.code, item.ncm],
  }
  const description: TaxColumn = {
    title: ['DESCRIÇÃO DO PRODUTO / SERVIÇO'],
    align: 'left',
    cells: (item) => [joined(' ', item.description[0], item.taxes.codes) ?? '', ...item.description.slice(1)],
  }
  const taxes: TaxColumn[] = [
    ...(setting === 'narrow' ? stColumns : []),
    ...baseColumns(
      (setting === 'tight' || setting === 'narrow') && items.some((item) => item.taxes.bases.length > basesMax),
    ),
    ...taxColumns('ALÍQUOTAS', 1, second),
    ...taxColumns('VALOR DOS TRIBUTOS', 2, second),
  ]
  const stacked: TaxColumn[] = [
    code,
    description,
    {
      title: [situationTitle(items), 'CFOP'],
      align: 'center',
      widest: 30,
      cells: (item) => [item.situation, item.cfop],
    },
    { title: ['QTD.', 'UN'], align: 'right', widest: 60, cells: (item) => [item.quantity, item.unit] },
    {
      title: discount ? ['VLR UNIT.', 'DESC.'] : ['VLR UNIT.'],
      align: 'right',
      widest: 60,
      cells: (item) => (discount ? [item.unitValue, item.discount] : [item.unitValue]),
    },
    { title: ['VLR TOTAL'], align: 'right', widest: 60, cells: (item) => [item.total] },
    ...taxes,
  ]
  if (setting !== 'wide') return [stacked]
  const beside: TaxColumn[] = [
    code,
    description,
    { title: [situationTitle(items)], align: 'center', widest: 30, cells: (item) => [item.situation] },
    { title: ['CFOP'], align: 'center', widest: 30, cells: (item) => [item.cfop] },
    { title: ['UN'], align: 'center', widest: 40, cells: (item) => [item.unit] },
    { title: ['QTD.'], align: 'right', widest: 72, cells: (item) => [item.quantity] },
    { title: ['VLR UNIT.'], align: 'right', widest: 72, cells: (item) => [item.unitValue] },
    ...(discount
      ? [{ title: ['DESC.'], align: 'right', widest: 72, cells: (item) => [item.discount] } satisfies TaxColumn]
      : []),
    { title: ['VLR TOTAL'], align: 'right', widest: 72, cells: (item) => [item.total] },
    ...taxes,
  ]
  return [beside, stacked]
}

const stColumns: TaxColumn[] = ([0, 1] as const).map((field) => ({
  title: field === 0 ? ['ICMS ST'] : [],
  align: field === 0 ? 'left' : 'right',
  widest: 60,
  cells: ({ icmsSt }) =>
    [
      ['BC', icmsSt.base],
      ['ALÍQ.', icmsSt.rate],
      ['VLR', icmsSt.value],
    ].flatMap((line) => (line[1] === '' ? [] : [line[field]!])),
}))

// As many lines as the taxes of an item usually have.
const basesMax = 3

function baseColumns(two: boolean): TaxColumn[] {
  const step = two ? 2 : 1
  const side = (which: number): TaxColumn[] => {
    const read = (item: NewTaxItem, field: 0 | 1) =>
      item.taxes.bases.flatMap((base, i) => (i % step === which ? [base[field]] : []))
    return [
      { title: which === 0 ? ['BASES DE CÁLCULO'] : [], align: 'left', widest: 60, cells: (item) => read(item, 0) },
      { title: [], align: 'right', widest: 70, cells: (item) => read(item, 1) },
    ]
  }
  return two ? [...side(0), ...side(1)] : side(0)
}

function taxColumns(title: string, field: 1 | 2, second: boolean): TaxColumn[] {
  const side = (which: 0 | 1): TaxColumn[] => [
    {
      title: which === 0 ? [title] : [],
      align: 'left',
      widest: 60,
      cells: (item) => item.taxes.lines.map((line) => (line[which][field] === '' ? '' : line[which][0])),
    },
    { title: [], align: 'right', widest: 70, cells: (item) => item.taxes.lines.map((line) => line[which][field]) },
  ]
  return second ? [...side(0), ...side(1)] : side(0)
}
