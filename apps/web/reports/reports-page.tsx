import {
  addMonthlyReport,
  downloadReport,
  getReport,
  groupName,
  groupsOf,
  type Report,
  type ReportRow,
  reportMonthsMax,
  reportSubjects,
  subjectNames,
} from '@vigia/contract/reports'
import { formatCount, formatInteger, formatMoney } from '@vigia/contract/text'
import { ChartColumn } from 'lucide-react'
import { useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { callBytes, errorMessage } from '../lib/api.ts'
import { companyOptions, useCompanies } from '../lib/companies.ts'
import { notifyError } from '../lib/notify.ts'
import { useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { Button } from '../ui/button.tsx'
import { Changes } from '../ui/changes.tsx'
import { Empty } from '../ui/empty.tsx'
import { Input } from '../ui/form/input.tsx'
import { Labelled } from '../ui/form/labelled.tsx'
import { SearchSelect } from '../ui/form/search-select.tsx'
import { Select } from '../ui/form/select.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { writeMonth } from '../ui/period/days.ts'
import { MonthSelects } from '../ui/period/month-select.tsx'
import { RankedBars } from '../ui/ranked-bars.tsx'
import { fileName, saveFile } from '../ui/save-file.ts'
import { MonthlyReports } from './monthly-reports.tsx'
import {
  changeText,
  documentsOf,
  periodOf,
  type ReportQuestion,
  readQuestion,
  usualPeriod,
  writeQuestion,
} from './question.ts'
import { ReportTable } from './report-table.tsx'

const refreshMs = 60_000

/** Reports on purchases, issued notes and freight: a chart, a table and links to documents. */
export function ReportsPage() {
  const [params, setParams] = useSearchParams()
  const question = readQuestion(params, new Date())
  const change = (part: Partial<ReportQuestion>) => setParams(writeQuestion({ ...question, page: 1, ...part }))
  const query = useScreenQuery(getReport, { query: toQuery(question) }, { refreshMs, errorToast: true })
  return (
    <Page
      title="Relatórios"
      site={productName}
      subtitle="Compras, fretes e notas emitidas por fornecedor, produto e imposto."
      {...(query.isPlaceholderData && { waiting: 'Somando…' })}
      action={<SheetButton question={question} />}
    >
      <QuestionBar question={question} onChange={change} />
      <Loaded query={query}>{(report) => <Content report={report} question={question} onChange={change} />}</Loaded>
      <Changes by={addMonthlyReport}>
        <MonthlyReports question={question} />
      </Changes>
    </Page>
  )
}

function toQuery({ subject, group, from, to, company, search, page }: ReportQuestion) {
  return {
    ...{ Tipo: subject, Por: group, MesDe: from, MesAte: to },
    ...(company && { IdEmpresa: company }),
    ...(search && { CampoPesquisa: search }),
    ...(page > 1 && { PaginaAtual: page }),
  }
}

interface BarProps {
  question: ReportQuestion
  onChange: (part: Partial<ReportQuestion>) => void
}

function QuestionBar({ question, onChange }: BarProps) {
  const { data: companies = [] } = useCompanies()
  const { subject, group, from, to, company, taxes } = question
  return (
    <div className="mb-4 grid grid-cols-2 gap-3 lg:grid-cols-4 print:hidden">
      <Labelled id="report-subject" label="Relatório">
        <Select
          id="report-subject"
          value={subject}
          onChange={({ target }) => {
            const chosen = reportSubjects.find((one) => one === target.value) ?? subject
            onChange({ subject: chosen, group: groupsOf[chosen].includes(group) ? group : 'participante', search: '' })
          }}
        >
          {reportSubjects.map((one) => (
            <option key={one} value={one}>
              {subjectNames[one]}
            </option>
          ))}
        </Select>
      </Labelled>
      <Labelled id="report-group" label="Por">
        <Select
          id="report-group"
          value={group}
          onChange={({ target }) => {
            const chosen = groupsOf[subject].find((one) => one === target.value) ?? group
            const usual = usualPeriod(group, new Date())
            const isUsual = from === usual.from && to === usual.to
            onChange({ group: chosen, search: '', ...(isUsual && usualPeriod(chosen, new Date())) })
          }}
        >
          {groupsOf[subject].map((one) => (
            <option key={one} value={one}>
              {groupName(subject, one)}
            </option>
          ))}
        </Select>
      </Labelled>
      <MonthSelects id="report" from={from} to={to} max={reportMonthsMax} onChange={onChange} />
      {companies.length > 1 && (
        <Labelled id="report-company" label="Empresa">
          <SearchSelect
            id="report-company"
            all="Todas"
            value={company}
            options={companyOptions(companies)}
            onChange={(value) => onChange({ company: value })}
          />
        </Labelled>
      )}
      {group !== 'mes' && (
        <SearchField key={`${subject} ${group} ${question.search}`} question={question} onChange={onChange} />
      )}
      {group !== 'produto' && (
        <Labelled id="report-view" label="Ver">
          <Select
            id="report-view"
            value={taxes ? 'impostos' : 'valores'}
            onChange={({ target }) => onChange({ taxes: target.value === 'impostos', page: question.page })}
          >
            <option value="valores">Valores e comparações</option>
            <option value="impostos">Impostos</option>
          </Select>
        </Labelled>
      )}
    </div>
  )
}

const searchHints = {
  participante: 'Nome, CNPJ ou CPF',
  produto: 'Nome, código, GTIN ou NCM',
  cfop: 'Começo do CFOP',
  ncm: 'Começo do NCM',
  uf: 'UF',
  trecho: 'UF de início',
  mes: '',
}

// Sums are asked for when the text is finished, not with each letter.
function SearchField({ question, onChange }: BarProps) {
  const { subject, group, search } = question
  return (
    <Labelled id="report-search" label={`Procurar ${groupName(subject, group)}`}>
      <Input
        id="report-search"
        type="search"
        defaultValue={search}
        maxLength={100}
        placeholder={searchHints[group]}
        autoComplete="off"
        spellCheck={false}
        enterKeyHint="search"
        onChange={({ target }) => {
          if (target.value === '' && search !== '') onChange({ search: '' })
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') onChange({ search: currentTarget.value.trim() })
        }}
      />
    </Labelled>
  )
}

function SheetButton({ question }: { question: ReportQuestion }) {
  const [busy, setBusy] = useState(false)
  const { subject, group, from, to } = question
  const take = async () => {
    setBusy(true)
    try {
      const { PaginaAtual: _, ...query } = toQuery(question) as ReturnType<typeof toQuery> & { PaginaAtual?: number }
      const name = `${subjectNames[subject]} por ${groupName(subject, group)} ${from === to ? from : `${from} a ${to}`}`
      saveFile(await callBytes(downloadReport, { query }), `${fileName(name)}.xlsx`)
    } catch (cause) {
      notifyError(`Não foi possível fazer a planilha (${errorMessage(cause)}). Nada mudou; tente de novo em instantes.`)
    }
    setBusy(false)
  }
  return (
    <Button variant="outline" busy={busy} onClick={() => void take()}>
      Baixar planilha
    </Button>
  )
}

const barsMax = 12

const nothing: Record<ReportQuestion['subject'], string> = {
  compras: 'Nenhuma compra',
  emitidas: 'Nenhuma nota emitida',
  fretes: 'Nenhum frete',
}

function Content({ report, question, onChange }: BarProps & { report: Report }) {
  const { subject, group, company, search, page } = question
  const { linhas, total, totalDePaginas, faltam } = report
  const isEmpty = linhas.length === 0 && total.anterior === 0 && total.anoAnterior === 0
  return (
    <>
      {faltam > 0 && (
        <div className="mb-4">
          <Notice
            tone="info"
            title={`Ainda estamos lendo ${formatCount(faltam, 'documento', 'documentos')} por dentro.`}
          >
            Os documentos estão guardados; os números crescem enquanto a leitura avança.
          </Notice>
        </div>
      )}
      {isEmpty || linhas.length === 0 ? (
        <div className="ledger">
          <Empty
            icon={<ChartColumn />}
            title={`${search ? 'Nada com isso' : nothing[subject]}${company ? ' desta empresa' : ''} neste período`}
          >
            {search
              ? 'Escreva menos, ou escolha outro período ou empresa.'
              : subject === 'emitidas'
                ? 'A SEFAZ não entrega as NF-e que a própria empresa emitiu. Se uma chegar completa, aparece aqui pela data da emissão.'
                : 'Escolha outro período ou empresa. O que chegar completo da SEFAZ aparece aqui pela data da emissão.'}
          </Empty>
        </div>
      ) : (
        <>
          <Totals report={report} question={question} />
          {page === 1 && !question.taxes && (
            <section aria-label="Gráfico" className="ledger mb-6 py-4">
              <RankedBars
                label={pictureLabel(question, linhas)}
                valueName={periodWords(question)}
                beforeName={group === 'mes' ? 'mesmo mês do ano anterior' : 'mesmos meses do ano anterior'}
                rows={linhas.slice(0, barsMax).map(({ chave, nome, valor, anoAnterior }) => ({
                  key: chave,
                  name: nome,
                  value: valor,
                  before: anoAnterior,
                  text: formatMoney(valor),
                }))}
              />
            </section>
          )}
          <ReportTable report={report} question={question} />
          <Pagination page={page} pageCount={totalDePaginas} onPage={(page) => onChange({ page })} />
          <p className="mt-2 text-muted text-sm">
            Resumos, cancelados, denegados, substituídos, desconhecidos e não realizados não contam
            {subject === 'compras' && ', nem devoluções, notas de entrada do fornecedor e notas de crédito ou débito'}.{' '}
            {group === 'produto' && 'O valor dos produtos é o dos itens, sem frete e sem impostos por fora. '}
            {question.taxes && 'Impostos como os documentos os destacam. IBS e CBS são informativos em 2026. '}
            {subject === 'fretes' && 'Fretes que as empresas pagam, como tomadoras. '}
          </p>
        </>
      )}
    </>
  )
}

const periodWords = ({ from, to }: Pick<ReportQuestion, 'from' | 'to'>) =>
  from === to ? writeMonth(from) : `${writeMonth(from)} a ${writeMonth(to)}`

function pictureLabel({ subject, group }: ReportQuestion, rows: readonly ReportRow[]): string {
  const first = rows
    .slice(0, 3)
    .map(({ nome, valor }) => `${nome} ${formatMoney(valor)}`)
    .join('; ')
  return `${subjectNames[subject]} por ${groupName(subject, group)}: ${first}. A tabela abaixo tem os mesmos números.`
}

function Totals({ report: { total }, question }: { report: Report; question: ReportQuestion }) {
  const figures = [
    { label: periodWords(question), value: total.valor, change: null, which: 'now' },
    {
      label: question.from === question.to ? 'mês anterior' : 'período anterior',
      value: total.anterior,
      change: changeText(total.valor, total.anterior),
      which: 'before',
    },
    {
      label: 'ano anterior',
      value: total.anoAnterior,
      change: changeText(total.valor, total.anoAnterior),
      which: 'yearBefore',
    },
  ] as const
  const isWhole = question.search === ''
  return (
    <dl className="mb-4 grid gap-x-8 gap-y-3 sm:grid-cols-3">
      {figures.map(({ label, value, change, which }) => {
        const { from, to: until } = periodOf(question, which)
        return (
          <div key={which}>
            <dt className="text-muted text-sm first-letter:uppercase">{label}</dt>
            <dd className="text-xl tabular-nums">
              {isWhole && value !== 0 ? (
                <Link to={documentsOf(question, null, which)} className="underline-offset-3 hover:underline">
                  {formatMoney(value)}
                </Link>
              ) : (
                formatMoney(value)
              )}
              {which === 'now' && total.documentos !== null && (
                <span className="ml-2 text-muted text-sm">
                  {formatInteger(total.documentos)} {total.documentos === 1 ? 'documento' : 'documentos'}
                </span>
              )}
              {which !== 'now' && (
                <span className="ml-2 text-muted text-sm" title={periodWords({ from, to: until })}>
                  {change ?? 'sem comparação'}
                </span>
              )}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
