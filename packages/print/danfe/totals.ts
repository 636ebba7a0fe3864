import { child, value, type XmlElement } from '@vigia/dfe/document'
import { money, quantity } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { stack, title } from '../layout/block.ts'
import { type FormField, labelsFit } from '../layout/fields.ts'
import { type PrintSheet, sheetRow } from '../layout/sheet.ts'
import type { PrintedNfe } from './note.ts'

// A box of a total: label, element and, for quantities, another format.
type Total = readonly [label: string, path: string, format?: (text: string | undefined) => string | undefined]

const vNF: Total = ['VALOR TOTAL DA NOTA', 'ICMSTot/vNF']
const vTotTrib: Total = ['VALOR APROX. DOS TRIBUTOS', 'ICMSTot/vTotTrib']

/** The totals: CÁLCULO DO IMPOSTO of MOC NF-e 7.0 or the three blocks of NT 2026.010. */
export function totals(note: PrintedNfe): Block {
  const total = child(note.infNFe, 'total')
  return note.newTaxes ? stack(...threeBlocks(total, note.sheet)) : taxCalculation(total, note.sheet)
}

function taxCalculation(total: XmlElement | undefined, sheet: PrintSheet): Block {
  const first: Total[] = [
    ['BASE DE CÁLCULO DO ICMS', 'ICMSTot/vBC'],
    ['VALOR DO ICMS', 'ICMSTot/vICMS'],
    ['BASE DE CÁLCULO DO ICMS ST', 'ICMSTot/vBCST'],
    ['VALOR DO ICMS ST', 'ICMSTot/vST'],
    ['VALOR TOTAL DOS PRODUTOS', 'ICMSTot/vProd'],
  ]
  if (value(total, vTotTrib[1]) !== undefined) first.splice(4, 0, vTotTrib)
  const second: Total[] = [
    ['VALOR DO FRETE', 'ICMSTot/vFrete'],
    ['VALOR DO SEGURO', 'ICMSTot/vSeg'],
    ['DESCONTO', 'ICMSTot/vDesc'],
    ['OUTRAS DESPESAS ACESSÓRIAS', 'ICMSTot/vOutro'],
    ['VALOR DO IPI', 'ICMSTot/vIPI'],
    vNF,
  ]
  return stack(title('CÁLCULO DO IMPOSTO'), totalRow(total, first, sheet), totalRow(total, second, sheet))
}

function threeBlocks(total: XmlElement | undefined, sheet: PrintSheet): Block[] {
  const order: Total[] = [
    ['VALOR TOTAL DOS PRODUTOS', 'ICMSTot/vProd'],
    ['VALOR DO FRETE', 'ICMSTot/vFrete'],
    ['VALOR DO SEGURO', 'ICMSTot/vSeg'],
    ['DESCONTO', 'ICMSTot/vDesc'],
    ['OUTRAS DESPESAS ACESSÓRIAS', 'ICMSTot/vOutro'],
  ]
  if (value(total, vTotTrib[1]) !== undefined) order.push(vTotTrib)
  order.push(vNF)
  const withTaxes = value(total, 'vNFTot')
  if (withTaxes !== undefined && withTaxes !== value(total, 'ICMSTot/vNF')) {
    order.push(['VALOR TOTAL COM IBS/CBS/IS', 'vNFTot'])
  }
  return [
    stack(title('TOTAL DOS PRODUTOS E TOTAL DA NOTA'), totalRow(total, order, sheet)),
    stack(title('TOTAL DO ICMS / IPI'), ...icmsRows(total, sheet)),
    ...newTaxRows(total, sheet),
  ]
}

function icmsRows(total: XmlElement | undefined, sheet: PrintSheet): Block[] {
  const always: Total[] = [
    ['BASE DE CÁLCULO DO ICMS', 'ICMSTot/vBC'],
    ['VALOR DO ICMS', 'ICMSTot/vICMS'],
    ['BASE DE CÁLCULO DO ICMS ST', 'ICMSTot/vBCST'],
    ['VALOR DO ICMS ST', 'ICMSTot/vST'],
    ['VALOR DO IPI', 'ICMSTot/vIPI'],
  ]
  const conditional: Total[] = [
    ['VALOR DO FCP', 'ICMSTot/vFCP'],
    ['VALOR DO FCP RETIDO POR ST', 'ICMSTot/vFCPST'],
    ['VALOR DO DIFAL NA UF DE DESTINO', 'ICMSTot/vICMSUFDest'],
    ['VALOR DO FCP NA UF DE DESTINO', 'ICMSTot/vFCPUFDest'],
    ['BC (QTD.) DO ICMS MONOFÁSICO', 'ICMSTot/qBCMono', quantity],
    ['VALOR DO ICMS MONOFÁSICO', 'ICMSTot/vICMSMono'],
    ['BC (QTD.) DO ICMS MONOF. POR RETENÇÃO', 'ICMSTot/qBCMonoReten', quantity],
    ['VALOR DO ICMS MONOF. POR RETENÇÃO', 'ICMSTot/vICMSMonoReten'],
  ]
  const present = conditional.filter(([, path]) => /[1-9]/.test(value(total, path) ?? ''))
  const perRow = sheet.landscape ? 8 : 4
  // One more box finds room in the row.
  if (present.length === 1) return [totalRow(total, [...always, ...present], sheet)]
  const rows = [totalRow(total, always, sheet)]
  for (let from = 0; from < present.length; from += perRow) {
    rows.push(totalRow(total, present.slice(from, from + perRow), sheet))
  }
  return rows
}

function newTaxRows(total: XmlElement | undefined, sheet: PrintSheet): Block[] {
  if (child(total, 'IBSCBSTot') === undefined && child(total, 'ISTot') === undefined) return []
  const rows: Total[][] = [
    [
      ['VALOR DA CBS', 'IBSCBSTot/gCBS/vCBS'],
      ['VALOR DO IBS UF', 'IBSCBSTot/gIBS/gIBSUF/vIBSUF'],
      ['VALOR DO IBS MUNICÍPIO', 'IBSCBSTot/gIBS/gIBSMun/vIBSMun'],
      ['VALOR DO IMPOSTO SELETIVO', 'ISTot/vIS'],
    ],
  ]
  if (child(total, 'IBSCBSTot/gMono') !== undefined) {
    rows.push([
      ['VALOR DO IBS MONOFÁSICO', 'IBSCBSTot/gMono/vIBSMono'],
      ['VALOR DA CBS MONOFÁSICA', 'IBSCBSTot/gMono/vCBSMono'],
      ['VALOR DO IBS MONOF. POR RETENÇÃO', 'IBSCBSTot/gMono/vIBSMonoReten'],
      ['VALOR DA CBS MONOF. POR RETENÇÃO', 'IBSCBSTot/gMono/vCBSMonoReten'],
    ])
  }
  const lines = sheet.landscape ? [rows.flat()] : rows
  return [stack(title('TOTAL DO IBS / CBS / IS'), ...lines.map((cells) => totalRow(total, cells, sheet)))]
}

function totalRow(total: XmlElement | undefined, cells: readonly Total[], sheet: PrintSheet): Block {
  const fields = (least: number) =>
    cells.map(
      ([label, path, format = money]): FormField => ({
        label,
        value: format(value(total, path)),
        width: Math.max(least, label.length),
        align: 'right',
        bold: path === vNF[1],
      }),
    )
  // Widens boxes with long labels; others get less if labels need it to fit on one line.
  const shares = [22, 16].map(fields)
  return sheetRow(sheet, shares.find((one) => labelsFit(one, sheet.width)) ?? shares[0]!)
}

// Totals without a box, which the issuer should write in the texts (MOC NF-e 7.0, Anexo II, 3.1.8).
const unprinted: readonly Total[] = [
  ['VALOR DO II', 'ICMSTot/vII'],
  ['VALOR DO PIS', 'ICMSTot/vPIS'],
  ['VALOR DA COFINS', 'ICMSTot/vCOFINS'],
  ['VALOR DO ICMS DESONERADO', 'ICMSTot/vICMSDeson'],
  ['VALOR DO IPI DEVOLVIDO', 'ICMSTot/vIPIDevol'],
  ['VALOR DO FCP RETIDO ANTERIORMENTE POR ST', 'ICMSTot/vFCPSTRet'],
  ['VALOR DO ICMS INTERESTADUAL PARA A UF DO REMETENTE', 'ICMSTot/vICMSUFRemet'],
  ['QUANTIDADE DO ICMS MONOFÁSICO RETIDO ANTERIORMENTE', 'ICMSTot/qBCMonoRet', quantity],
  ['VALOR DO ICMS MONOFÁSICO RETIDO ANTERIORMENTE', 'ICMSTot/vICMSMonoRet'],
]
const unprintedBefore: readonly Total[] = [
  ['VALOR DO FCP', 'ICMSTot/vFCP'],
  ['VALOR DO FCP RETIDO POR ST', 'ICMSTot/vFCPST'],
  ['VALOR DO DIFAL NA UF DE DESTINO', 'ICMSTot/vICMSUFDest'],
  ['VALOR DO FCP NA UF DE DESTINO', 'ICMSTot/vFCPUFDest'],
  ['QUANTIDADE DO ICMS MONOFÁSICO', 'ICMSTot/qBCMono', quantity],
  ['VALOR DO ICMS MONOFÁSICO', 'ICMSTot/vICMSMono'],
  ['QUANTIDADE DO ICMS MONOFÁSICO POR RETENÇÃO', 'ICMSTot/qBCMonoReten', quantity],
  ['VALOR DO ICMS MONOFÁSICO POR RETENÇÃO', 'ICMSTot/vICMSMonoReten'],
]

/** Nonzero totals without a box that the issuer's text does not mention. */
export function totalsWithoutBox(note: PrintedNfe, issuerText: string): string | undefined {
  const total = child(note.infNFe, 'total')
  const lines: string[] = []
  for (const [label, path, format = money] of note.newTaxes ? unprinted : [...unprintedBefore, ...unprinted]) {
    const amount = value(total, path)
    const shown = format(amount)
    if (amount && shown && /[1-9]/.test(amount) && !issuerText.includes(shown)) lines.push(`${label}: ${shown}`)
  }
  return lines.length > 0 ? lines.join(' - ') : undefined
}
