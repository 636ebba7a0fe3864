import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { joined, money, quantity } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { stack } from '../layout/block.ts'
import type { FormField } from '../layout/fields.ts'
import { type PrintSheet, sheetRow } from '../layout/sheet.ts'
import { codeAndText, codeText, codeTexts } from './code-texts.ts'
import type { PrintedCte } from './cte.ts'

// Measures beside each other.
const perRow = { portrait: 5, landscape: 7 }

/** The cargo block, and the measures that have no room in it. */
export interface Cargo {
  block: Block | undefined
  overflow: string[]
}

/** Carga, or the service of the CT-e OS, or the values of the GTV-e (MOC CT-e 4.00, Anexo II, correlation table). */
export function cargo(cte: PrintedCte, rowsMax: number): Cargo {
  const { sheet } = cte
  if (cte.layout === 'os') return { block: hiredService(cte), overflow: [] }
  if (cte.layout === 'gtve') return valuables(cte, rowsMax)
  const carga = child(cte.norm, 'infCarga')
  if (!carga) return { block: undefined, overflow: [] }
  const insured = value(carga, 'vCargaAverb')
  const head: FormField[] = [
    { label: 'PRODUTO PREDOMINANTE', value: value(carga, 'proPred'), width: 50 },
    { label: 'OUTRAS CARACTERÍSTICAS DA CARGA', value: value(carga, 'xOutCat'), width: 34 },
    {
      label: 'VALOR TOTAL DA CARGA',
      value: money(value(carga, 'vCarga') ?? value(carga, 'vMerc')),
      width: 22,
      align: 'right',
    },
  ]
  if (insured !== undefined) {
    head.push({ label: 'VALOR PARA AVERBAÇÃO', value: money(insured), width: 22, align: 'right' })
  }
  const measures = children(carga, 'infQ').map((infQ) => measure(infQ, cte.layout === 'simplificado'))
  const { rows, rest } = grid(measures, rowsMax, sheet)
  return { block: stack(sheetRow(sheet, head), ...rows), overflow: rest }
}

// One cell per infQ under the issuer's name for it: nothing is sorted or added up.
function measure(infQ: XmlElement, coded: boolean): FormField {
  const name = value(infQ, 'tpMed')
  return {
    label: (coded ? codeText(codeTexts.tpMed, name)?.toUpperCase() : name) ?? '',
    value: joined(' ', quantity(value(infQ, 'qCarga')), codeText(codeTexts.cUnid, value(infQ, 'cUnid'))),
    width: 1,
    align: 'right',
  }
}

function grid(cells: readonly FormField[], rowsMax: number, sheet: PrintSheet): { rows: Block[]; rest: string[] } {
  const count = perRow[sheet.landscape ? 'landscape' : 'portrait']
  const rows: Block[] = []
  const shown = cells.slice(0, count * rowsMax)
  for (let from = 0; from < shown.length; from += count) {
    const row = shown.slice(from, from + count)
    if (from > 0) while (row.length < count) row.push({ label: '', width: 1 })
    rows.push(sheetRow(sheet, row))
  }
  return { rows, rest: cells.slice(shown.length).map((cell) => `${cell.label}: ${cell.value ?? ''}`) }
}

function hiredService({ norm, sheet }: PrintedCte): Block | undefined {
  const service = child(norm, 'infServico')
  if (!service) return undefined
  return sheetRow(sheet, [
    { label: 'DESCRIÇÃO DO SERVIÇO PRESTADO', value: value(service, 'xDescServ'), width: 3 },
    { label: 'QUANTIDADE', value: quantity(value(service, 'infQ/qCarga')), width: 1, align: 'right' },
  ])
}

function valuables({ infCte, sheet }: PrintedCte, rowsMax: number): Cargo {
  const detail = child(infCte, 'detGTV')
  const species = children(detail, 'infEspecie').map((one): FormField => {
    const kind = [
      codeText(codeTexts.tpEspecie, value(one, 'tpEspecie')),
      codeText(codeTexts.tpNumerario, value(one, 'tpNumerario')),
    ]
    return {
      label: joined(' - ', ...kind, value(one, 'xMoedaEstr'))?.toUpperCase() ?? '',
      value: money(value(one, 'vEspecie')),
      width: 1,
      align: 'right',
    }
  })
  const vehicles = children(detail, 'infVeiculo').map((one) =>
    joined(' ', value(one, 'placa'), value(one, 'UF'), value(one, 'RNTRC')),
  )
  const { rows, rest } = grid(species, rowsMax, sheet)
  const last = sheetRow(sheet, [
    { label: 'QUANTIDADE DE VOLUMES / MALOTES', value: quantity(value(detail, 'qCarga')), width: 1, align: 'right' },
    { label: 'VEÍCULOS', value: joined(' / ', ...vehicles), width: 3 },
  ])
  return { block: stack(...rows, last), overflow: rest }
}

const insuranceRowsMax = 2

/** The seguro of the layouts that still have it (CT-e OS, CT-e 2.00): rows for the first ones. */
export function insurance({ norm, sheet }: PrintedCte): Block | undefined {
  const groups = children(norm, 'seg').slice(0, insuranceRowsMax)
  if (groups.length === 0) return undefined
  return stack(
    ...groups.map((seg) =>
      sheetRow(sheet, [
        { label: 'RESPONSÁVEL PELO SEGURO', value: responsible(seg), width: 1 },
        { label: 'NOME DA SEGURADORA', value: value(seg, 'xSeg'), width: 2 },
        { label: 'NÚMERO DA APÓLICE', value: value(seg, 'nApol'), width: 1 },
      ]),
    ),
  )
}

/** Sentences for the seguros without a row. */
export function furtherInsurance({ norm }: PrintedCte): string[] {
  return children(norm, 'seg')
    .slice(insuranceRowsMax)
    .map((seg) => `SEGURO: ${joined(' - ', responsible(seg), value(seg, 'xSeg'), value(seg, 'nApol')) ?? ''}`)
}

function responsible(seg: XmlElement): string | undefined {
  return codeAndText(codeTexts.respSeg, value(seg, 'respSeg'))
}
