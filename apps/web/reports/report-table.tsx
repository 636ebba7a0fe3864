import { groupName, type Report, type ReportRow, type ReportTax, reportTaxes } from '@vigia/contract/reports'
import { formatInteger, formatMoney } from '@vigia/contract/text'
import { clsx } from 'clsx'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { type Compared, changeText, documentsOf, type ReportQuestion } from './question.ts'

type Figures = Report['total']

interface ReportTableProps {
  report: Report
  question: ReportQuestion
}

const taxNames: Record<ReportTax, string> = {
  icms: 'ICMS',
  st: 'ICMS ST',
  ipi: 'IPI',
  pis: 'PIS',
  cofins: 'COFINS',
  ibs: 'IBS',
  cbs: 'CBS',
  is: 'IS',
  fcp: 'FCP',
}

/** The numbers of a report; each that a list of documents shows leads to it. */
export function ReportTable({ report, question }: ReportTableProps) {
  const { linhas, demais, total } = report
  const { subject, group, taxes } = question
  const name = groupName(subject, group)
  const columns = taxes ? reportTaxes.map((tax) => taxNames[tax]) : comparedColumns(total, question)
  return (
    <section aria-label="Tabela do relatório" className="ledger overflow-x-auto">
      <table className="w-full text-right tabular-nums [&_td]:h-9 [&_td]:whitespace-nowrap [&_td]:pl-4 [&_th]:h-9 [&_th]:pl-4 [&_th]:font-semibold">
        <caption className="sr-only">{`Por ${name}`}</caption>
        <thead>
          <tr className="border-line border-b text-muted text-sm">
            <th scope="col" className="pl-0! text-left first-letter:uppercase">
              {name}
            </th>
            {columns.map((column) => (
              <th key={column} scope="col" className="whitespace-nowrap">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {linhas.map((row) => (
            <tr key={row.chave} className="border-line border-b">
              <th scope="row" className="min-w-48 pl-0! text-left font-normal!">
                <Name row={row} question={question} />
              </th>
              <Cells figures={row} row={row} question={question} total={total} />
            </tr>
          ))}
          {demais && (
            <tr className="border-line border-b text-muted">
              <th scope="row" className="pl-0! text-left font-normal!">
                {restName(demais.linhas, group === 'produto')}
              </th>
              <Cells figures={demais} row={undefined} question={question} total={total} />
            </tr>
          )}
          <tr className="font-semibold">
            <th scope="row" className="pl-0! text-left">
              Total
            </th>
            <Cells figures={total} row={null} question={question} total={total} />
          </tr>
        </tbody>
      </table>
    </section>
  )
}

function comparedColumns(total: Figures, { from, to, group }: ReportQuestion): string[] {
  // A month is compared with the month before it, and their total with the period before it.
  const before = from === to ? 'Mês anterior' : group === 'mes' ? 'Anterior' : 'Período anterior'
  return [
    'Valor',
    ...(group === 'produto' ? ['Quantidade', 'Preço médio'] : []),
    ...[before, 'Variação'],
    ...(total.anoAnterior === 0 ? [] : ['Ano anterior', 'Variação no ano']),
    'Documentos',
  ]
}

function restName(lines: number | null, isProduct: boolean): string {
  if (isProduct) return 'Demais produtos, frete e impostos por fora'
  return lines === null || lines === 0 ? 'Demais' : `Demais (${formatInteger(lines)})`
}

function Name({ row, question }: { row: ReportRow; question: ReportQuestion }) {
  const { nome, chave, produto } = row
  if (!produto) return <span className="block max-w-48 truncate sm:max-w-96">{nome}</span>
  const { from: _, to, company } = question
  const params = new URLSearchParams({ ate: to, ...(company && { empresa: company }) })
  return (
    <span className="block max-w-48 sm:max-w-96">
      {question.subject === 'compras' ? (
        <Link
          to={`/relatorios/precos/${chave}?${params}`}
          className="block truncate underline underline-offset-3 hover:text-brand"
        >
          {nome}
        </Link>
      ) : (
        <span className="block truncate">{nome}</span>
      )}
      <span className="flex text-muted text-sm">
        <span className="truncate">{produto.fornecedor}</span>
        <span className="shrink-0 whitespace-pre"> · {produto.codigo}</span>
      </span>
    </span>
  )
}

interface CellsProps {
  figures: Figures
  /** Null: the total; undefined: the rest. */
  row: ReportRow | null | undefined
  question: ReportQuestion
  /** Of the whole report. */
  total: Figures
}

function Cells({ figures, row, question, total }: CellsProps) {
  const { documentos, valor, anterior, anoAnterior, impostos } = figures
  // A total of a search has no matching list.
  const linked = row !== undefined && (row !== null || question.search === '')
  const number = (value: number | null, which: Compared, text: string): ReactNode => {
    if (!linked || !value) return text
    return (
      <Link to={documentsOf(question, row, which)} className="underline underline-offset-3 hover:text-brand">
        {text}
      </Link>
    )
  }
  if (question.taxes)
    return reportTaxes.map((tax) => (
      <td key={tax}>{impostos && number(impostos[tax], 'now', formatMoney(impostos[tax]))}</td>
    ))
  const isProduct = question.group === 'produto'
  return (
    <>
      <td className={clsx(row && 'font-semibold')}>{number(valor, 'now', formatMoney(valor))}</td>
      {isProduct && (
        <>
          <td>{row?.produto && `${quantities.format(row.produto.quantidade)} ${row.produto.unidade}`}</td>
          <td>{typeof row?.produto?.precoMedio === 'number' && prices.format(row.produto.precoMedio)}</td>
        </>
      )}
      <td>{number(anterior, 'before', formatMoney(anterior))}</td>
      <td className="text-muted">{changeText(valor, anterior) ?? '—'}</td>
      {total.anoAnterior !== 0 && (
        <>
          <td>{number(anoAnterior, 'yearBefore', formatMoney(anoAnterior))}</td>
          <td className="text-muted">{changeText(valor, anoAnterior) ?? '—'}</td>
        </>
      )}
      <td>{documentos === null ? '' : number(documentos, 'now', formatInteger(documentos))}</td>
    </>
  )
}

export const quantities = new Intl.NumberFormat('pt-BR', { maximumFractionDigits: 4 })
/** Prices of one unit have up to ten decimals; four tell them apart. */
export const prices = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL', maximumFractionDigits: 4 })
