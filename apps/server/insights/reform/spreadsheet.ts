import type { ReformSheet } from '@vigia/contract/reform'
import { formatCount, formatMonth } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { type SpreadsheetColumn, startSpreadsheet } from '../../documents/export/spreadsheet.ts'

const columns: SpreadsheetColumn[] = [
  { title: 'Parte', width: 26, kind: 'text' },
  { title: 'CNPJ, CPF ou código', width: 20, kind: 'text' },
  { title: 'Nome', width: 44, kind: 'text' },
  { title: 'Tipo', width: 8, kind: 'text' },
  { title: 'Número', width: 10, kind: 'whole' },
  { title: 'Emissão', width: 17, kind: 'date' },
  { title: 'Documentos', width: 12, kind: 'whole' },
  { title: 'Valor', width: 16, kind: 'money' },
  { title: 'IBS', width: 14, kind: 'money' },
  { title: 'CBS', width: 14, kind: 'money' },
  { title: 'IS', width: 14, kind: 'money' },
  { title: 'O que há', width: 80, kind: 'text' },
]

/** Fields of all parts, each in its column. */
interface Row {
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
}

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
  return file.add(cellsOf(sheet)).then(() => file.end())
}

function cellsOf(sheet: ReformSheet): string[][] {
  const part = (name: string, rows: readonly Row[], text = '') => rows.map((row) => cells(name, row, text))
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
    ...sheet.achados.flatMap((row) => row.achados.map(({ frase }) => cells('Achado', row, frase))),
    ...sheet.creditos.map((row) =>
      cells('Nota de crédito', row, `Sem resposta (211128) há ${formatCount(row.dias, 'dia', 'dias')}`),
    ),
    ...part('Nota de débito', sheet.debitos, 'Do fornecedor, no mês'),
  ]
}

function cells(part: string, row: Row, text: string): string[] {
  const whole = (count: number | undefined) => (count === undefined ? '' : String(count))
  const money = (amount: number | undefined) => (amount === undefined ? '' : amount.toFixed(2))
  return [
    part,
    row.cnpjCpf ?? row.codigo ?? '',
    row.nome ?? row.emitente ?? '',
    row.tipoDFe === undefined ? '' : familyOf(row.tipoDFe).name,
    whole(row.numero),
    row.dataEmissao ?? '',
    whole(row.documentos),
    money(row.valor),
    money(row.ibs),
    money(row.cbs),
    money(row.is),
    text,
  ]
}
