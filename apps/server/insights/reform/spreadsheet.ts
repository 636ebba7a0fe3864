import type { ReformSheet } from '@vigia/contract/reform'
import { formatCount, formatMonth } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { column, type SpreadsheetColumn, startSpreadsheet } from '../../documents/export/spreadsheet.ts'

/** A row of any part: `text` says what there is. */
interface Row {
  part: string
  cnpjCpf?: string
  codigo?: string
  nome?: string
  emitente?: string
  tipoDFe?: number
  numero?: number
  dataEmissao?: string
  documentos?: number
  valor?: number
  ibs?: number
  cbs?: number
  is?: number
  text?: string
}

const whole = (count: number | undefined) => (count === undefined ? '' : String(count))
const money = (amount: number | undefined) => amount?.toFixed(2) ?? ''

const columns: readonly SpreadsheetColumn<Row>[] = [
  column('Parte', 26, (row) => row.part),
  column('CNPJ, CPF ou código', 20, (row) => row.cnpjCpf ?? row.codigo ?? ''),
  column('Nome', 44, (row) => row.nome ?? row.emitente ?? ''),
  column('Tipo', 8, ({ tipoDFe }) => (tipoDFe === undefined ? '' : familyOf(tipoDFe).name)),
  column('Número', 10, (row) => whole(row.numero), 'whole'),
  column('Emissão', 17, (row) => row.dataEmissao ?? '', 'date'),
  column('Documentos', 12, (row) => whole(row.documentos), 'whole'),
  column('Valor', 16, (row) => money(row.valor), 'money'),
  column('IBS', 14, (row) => money(row.ibs), 'money'),
  column('CBS', 14, (row) => money(row.cbs), 'money'),
  column('IS', 14, (row) => money(row.is), 'money'),
  column('O que há', 80, (row) => row.text ?? ''),
]

export function sheetFile(sheet: ReformSheet, companies: string, at: Date): Promise<Buffer> {
  const lines = [
    `IBS, CBS e IS de ${formatMonth(sheet.mes)}`,
    companies,
    ...(sheet.aviso ? [sheet.aviso] : []),
    ...(sheet.faltam > 0
      ? [`Ainda ${formatCount(sheet.faltam, 'documento por ler', 'documentos por ler')} na conta, que não entram aqui.`]
      : []),
  ]
  const file = startSpreadsheet(lines, columns, at)
  return file.add(rowsOf(sheet)).then(() => file.end())
}

function rowsOf(sheet: ReformSheet): Row[] {
  const part = (name: string, rows: readonly Omit<Row, 'part'>[], text = '') =>
    rows.map((row) => ({ ...row, part: name, text }))
  return [
    ...part('Total', sheet.total),
    ...part('Com IBS/CBS', sheet.com),
    ...part('Em parte dos itens', sheet.parcial),
    ...part('Sem, regime normal', sheet.sem),
    ...part('Sem, Simples ou MEI', sheet.dispensado),
    ...part('Destacado por fornecedor', sheet.fornecedores),
    ...part('Destacado por CFOP', sheet.cfops),
    ...part('Destacado por NCM', sheet.ncms),
    ...part('Por cClassTrib', sheet.classificacoes),
    ...part('Sem grupos por fornecedor', sheet.semGrupos, 'Regime normal sem IBS e CBS'),
    ...sheet.achados.flatMap((row) => row.achados.map(({ frase }) => ({ ...row, part: 'Divergência', text: frase }))),
    ...sheet.creditos.map((row) => ({
      ...row,
      part: 'Nota de crédito',
      text: `Sem resposta (211128) há ${formatCount(row.dias, 'dia', 'dias')}`,
    })),
    ...part('Nota de débito', sheet.debitos, 'Do fornecedor, no mês'),
  ]
}
