import { type Report, type ReportRow, reportSheetMax, reportTaxes } from '@vigia/contract/reports'
import { formatBrasiliaMoment, formatInteger, formatMoney } from '@vigia/contract/text'
import { type SpreadsheetColumn, startSpreadsheet } from '../../documents/export/spreadsheet.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { periodText, readReport, titleOf } from './reports.ts'
import type { Question } from './sums.ts'

// Rows written at once, without holding up others.
const rowsAtOnce = 200

/** The whole report as an XLSX file; `about` names its companies. Rows sum up to the total above them. */
export async function makeSheet(
  ctx: WithDatabase,
  workspaceId: number,
  question: Question,
  about: string,
): Promise<Buffer> {
  const { group, text } = question
  const { linhas: rows, demais, total } = await readReport(ctx, workspaceId, question, 1, reportSheetMax)
  const at = new Date()
  const isProduct = group === 'produto'
  const lines = [
    titleOf(question),
    `${about}, ${periodText(question)}${text === '' ? '' : `, com “${text}”`}`,
    `Total ${formatMoney(total.valor)}${total.documentos === null ? '' : `, ${formatInteger(total.documentos)} documentos`}. IBS e CBS de 2026 são informativos.`,
    `Feita em ${formatBrasiliaMoment(at)}`,
  ]
  const sheet = startSpreadsheet(lines, isProduct ? productColumns : columnsOf(titleOf(question)), at, 'Relatório')
  const write = isProduct ? productCells : cells
  for (let begin = 0; begin < rows.length; begin += rowsAtOnce) {
    await sheet.add(rows.slice(begin, begin + rowsAtOnce).map(write))
    await new Promise(setImmediate)
  }
  if (demais)
    await sheet.add([write({ ...demais, chave: '', nome: isProduct ? restOfProducts : 'Demais', produto: null })])
  return sheet.end()
}

const restOfProducts = 'Demais produtos, frete e impostos por fora'

const money = (title: string): SpreadsheetColumn => ({ title, width: 16, kind: 'money' })
const compared = [money('Período anterior'), money('Ano anterior')]

const columnsOf = (title: string): SpreadsheetColumn[] => [
  { title: title.replace(/^.* por /, '').replace(/^./, (letter) => letter.toUpperCase()), width: 48, kind: 'text' },
  { title: 'Código', width: 18, kind: 'text' },
  { title: 'Documentos', width: 12, kind: 'whole' },
  money('Valor'),
  ...compared,
  ...reportTaxes.map((tax) => money(tax === 'st' ? 'ICMS ST' : tax.toUpperCase())),
]

const productColumns: SpreadsheetColumn[] = [
  { title: 'Produto', width: 48, kind: 'text' },
  { title: 'Código', width: 18, kind: 'text' },
  { title: 'NCM', width: 12, kind: 'text' },
  { title: 'Fornecedor', width: 40, kind: 'text' },
  { title: 'CNPJ/CPF', width: 18, kind: 'text' },
  { title: 'Unidade', width: 10, kind: 'text' },
  { title: 'Documentos', width: 12, kind: 'whole' },
  money('Quantidade'),
  money('Preço médio'),
  money('Valor'),
  ...compared,
]

type Cells = (row: ReportRow) => string[]

const written = (amount: number) => amount.toFixed(2)
const count = (documents: number | null) => (documents === null ? '' : String(documents))
const comparison = ({ anterior, anoAnterior }: Report['total']) => [written(anterior), written(anoAnterior)]

const cells: Cells = (row) => [
  row.nome,
  row.chave,
  count(row.documentos),
  written(row.valor),
  ...comparison(row),
  ...reportTaxes.map((tax) => written(row.impostos?.[tax] ?? 0)),
]

const productCells: Cells = (row) => {
  const { codigo = '', ncm = '', fornecedor = '', cnpjCpf = '', unidade = '' } = row.produto ?? {}
  const price = row.produto?.precoMedio ?? null
  return [
    row.nome,
    codigo,
    ncm,
    fornecedor,
    cnpjCpf,
    unidade,
    count(row.documentos),
    row.produto ? String(row.produto.quantidade) : '',
    price === null ? '' : String(price),
    written(row.valor),
    ...comparison(row),
  ]
}
