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

interface Line {
  part: string
  key?: string
  name?: string
  type?: number
  number?: number
  issuedAt?: string
  documents?: number
  value?: number
  sum?: { ibs: number; cbs: number; is: number }
  text?: string
}

export function sheetFile(sheet: ReformSheet, company: string, at: Date): Promise<Buffer> {
  const lines = [
    `IBS, CBS e IS de ${formatMonth(sheet.mes)}`,
    company || 'Todas as empresas',
    ...(sheet.aviso ? [sheet.aviso] : []),
    ...(sheet.faltam > 0
      ? [`Ainda ${formatCount(sheet.faltam, 'documento por ler', 'documentos por ler')} na conta, que não entram aqui.`]
      : []),
  ]
  const file = startSpreadsheet(lines, columns, at)
  return file.add(linesOf(sheet).map(toCells)).then(() => file.end())
}

function linesOf(sheet: ReformSheet): Line[] {
  const sums = (part: string, rows: ReformSheet['cfops']): Line[] =>
    rows.map((row) => ({ part, key: row.codigo, documents: row.documentos, value: row.valor, sum: row }))
  const counts = (part: string, rows: ReformSheet['com']): Line[] =>
    rows.map((row) => ({ part, type: row.tipoDFe, documents: row.documentos, value: row.valor }))
  const documents = (
    part: string,
    rows: ReformSheet['creditos'],
    text: (row: ReformSheet['creditos'][number]) => string,
  ) => rows.map((row): Line => ({ ...documentLine(part, row), text: text(row) }))
  return [
    ...sheet.total.map(
      (row): Line => ({ part: 'Total', type: row.tipoDFe, documents: row.documentos, value: row.valor, sum: row }),
    ),
    ...counts('Com IBS/CBS', sheet.com),
    ...counts('Em parte dos itens', sheet.parcial),
    ...counts('Sem, regime normal', sheet.sem),
    ...counts('Sem, Simples ou MEI', sheet.dispensado),
    ...sheet.fornecedores.map(
      (row): Line => ({
        part: 'Destacado por fornecedor',
        key: row.cnpjCpf,
        name: row.nome,
        type: row.tipoDFe,
        documents: row.documentos,
        value: row.valor,
        sum: row,
      }),
    ),
    ...sums('Destacado por CFOP', sheet.cfops),
    ...sums('Destacado por NCM', sheet.ncms),
    ...sheet.classificacoes.map(
      (row): Line => ({
        part: 'Por cClassTrib',
        key: row.codigo,
        name: row.nome,
        type: row.tipoDFe,
        documents: row.documentos,
        value: row.valor,
        sum: row,
      }),
    ),
    ...sheet.semGrupos.map(
      (row): Line => ({
        part: 'Sem grupos por fornecedor',
        key: row.cnpjCpf,
        name: row.nome,
        type: row.tipoDFe,
        documents: row.documentos,
        value: row.valor,
        text: 'Regime normal sem IBS e CBS',
      }),
    ),
    ...sheet.achados.flatMap((row) =>
      row.achados.map(({ frase }): Line => ({ ...documentLine('Achado', row), text: frase })),
    ),
    ...documents(
      'Nota de crédito',
      sheet.creditos,
      ({ dias }) => `Sem resposta (211128) há ${formatCount(dias, 'dia', 'dias')}`,
    ),
    ...documents('Nota de débito', sheet.debitos, () => 'Do fornecedor, no mês'),
  ]
}

const documentLine = (
  part: string,
  row: Pick<ReformSheet['creditos'][number], 'emitente' | 'tipoDFe' | 'numero' | 'dataEmissao' | 'valor'>,
): Line => ({
  part,
  name: row.emitente,
  type: row.tipoDFe,
  number: row.numero,
  issuedAt: row.dataEmissao,
  value: row.valor,
})

function toCells({ part, key, name, type, number, issuedAt, documents, value, sum, text }: Line): string[] {
  const whole = (count: number | undefined) => (count === undefined ? '' : String(count))
  const money = (amount: number | undefined) => (amount === undefined ? '' : amount.toFixed(2))
  return [
    part,
    key ?? '',
    name ?? '',
    type === undefined ? '' : familyOf(type).name,
    whole(number),
    issuedAt ?? '',
    whole(documents),
    money(value),
    money(sum?.ibs),
    money(sum?.cbs),
    money(sum?.is),
    text ?? '',
  ]
}
