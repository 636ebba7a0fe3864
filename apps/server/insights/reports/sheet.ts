import { type ReportRow, reportSheetMax, reportTaxes } from '@vigia/contract/reports'
import { formatBrasiliaMoment, formatInteger, formatMoney } from '@vigia/contract/text'
import { column, type SpreadsheetColumn, startSpreadsheet } from '../../documents/export/spreadsheet.ts'
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
    `${about}, ${periodText(question.from, question.to)}${text === '' ? '' : `, com “${text}”`}`,
    `Total ${formatMoney(total.valor)}${total.documentos === null ? '' : `, ${formatInteger(total.documentos)} documentos`}. IBS e CBS de 2026 são informativos.`,
    `Feita em ${formatBrasiliaMoment(at)}`,
  ]
  const sheet = startSpreadsheet(lines, isProduct ? productColumns : columnsOf(titleOf(question)), at, 'Relatório')
  for (let begin = 0; begin < rows.length; begin += rowsAtOnce) {
    await sheet.add(rows.slice(begin, begin + rowsAtOnce))
    await new Promise(setImmediate)
  }
  if (demais) await sheet.add([{ ...demais, chave: '', nome: isProduct ? restOfProducts : 'Demais', produto: null }])
  return sheet.end()
}

const restOfProducts = 'Demais produtos, frete e impostos por fora'

const money = (title: string, of: (row: ReportRow) => number) =>
  column<ReportRow>(title, 16, (row) => of(row).toFixed(2), 'money')
const documents = column<ReportRow>('Documentos', 12, ({ documentos }) => String(documentos ?? ''), 'whole')
const amounts = [
  money('Valor', ({ valor }) => valor),
  money('Período anterior', ({ anterior }) => anterior),
  money('Ano anterior', ({ anoAnterior }) => anoAnterior),
]

const columnsOf = (title: string): SpreadsheetColumn<ReportRow>[] => [
  column(
    title.replace(/^.* por /, '').replace(/^./, (letter) => letter.toUpperCase()),
    48,
    ({ nome }) => nome,
  ),
  column('Código', 18, ({ chave }) => chave),
  documents,
  ...amounts,
  ...reportTaxes.map((tax) =>
    money(tax === 'st' ? 'ICMS ST' : tax.toUpperCase(), ({ impostos }) => impostos?.[tax] ?? 0),
  ),
]

const productColumns: SpreadsheetColumn<ReportRow>[] = [
  column('Produto', 48, ({ nome }) => nome),
  column('Código', 18, ({ produto }) => produto?.codigo ?? ''),
  column('NCM', 12, ({ produto }) => produto?.ncm ?? ''),
  column('Fornecedor', 40, ({ produto }) => produto?.fornecedor ?? ''),
  column('CNPJ/CPF', 18, ({ produto }) => produto?.cnpjCpf ?? ''),
  column('Unidade', 10, ({ produto }) => produto?.unidade ?? ''),
  documents,
  column('Quantidade', 16, ({ produto }) => String(produto?.quantidade ?? ''), 'money'),
  column('Preço médio', 16, ({ produto }) => String(produto?.precoMedio ?? ''), 'money'),
  ...amounts,
]
