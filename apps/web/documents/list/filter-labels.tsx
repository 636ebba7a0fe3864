import type { Due } from '@vigia/contract/agenda'
import type { CompanyRow } from '@vigia/contract/companies'
import { groupName, type ReportSubject, reportLine } from '@vigia/contract/reports'
import { formatMoney } from '@vigia/contract/text'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { clsx } from 'clsx'
import { X } from 'lucide-react'
import { companyText } from '../../lib/companies.ts'
import type { DocumentKind } from '../../lib/kinds.ts'
import { writeDay } from '../../ui/period/days.ts'
import {
  activeCompanies,
  alertChoices,
  defaultFilters,
  type Filters,
  isCurrentMonth,
  markChoices,
  reformChoices,
} from './filters.ts'

interface FilterLabelsProps {
  kind: DocumentKind
  companies: readonly CompanyRow[]
  filters: Filters
  onChange: (part: Partial<Filters>) => void
  /** In one row, which scrolls where it is too long. */
  inRow?: boolean
}

/** Labels of the filters that differ from the default, with buttons to remove them. */
export function FilterLabels({ kind, companies, filters, onChange, inRow = false }: FilterLabelsProps) {
  const today = new Date()
  const { period } = defaultFilters(today)
  const labels: [text: string, removal: Partial<Filters>][] = []
  if (filters.search) labels.push([`Pesquisa: ${filters.search}`, { search: '' }])
  if (filters.company) {
    const company = companies.find(({ id }) => id === filters.company)
    const name = company ? companyText(company, companies) : filters.company
    labels.push([filters.company === activeCompanies ? 'Só empresas ativas' : `Empresa: ${name}`, { company: '' }])
  }
  const participation = kind.participations.find(({ code }) => String(code) === filters.participation)
  if (participation) labels.push([`Participação: ${participation.label}`, { participation: '' }])
  const status = kind.statuses.find(({ code }) => String(code) === filters.status)
  if (status) labels.push([`Status: ${status.label}`, { status: '' }])
  if (filters.dueFrom || filters.dueTo || filters.dueAnswer)
    labels.push([dueText(filters), { dueFrom: '', dueTo: '', dueAnswer: '' }])
  const alert = alertChoices.find(({ code }) => code === filters.alert)
  if (alert) labels.push([alert.label, { alert: '' }])
  const reform = reformChoices.find(({ code }) => code === filters.reform)
  if (reform) labels.push([reform.label, { reform: '' }])
  const mark = markChoices(kind).find(({ code }) => code === filters.mark)
  if (mark) labels.push([`No workspace: ${mark.label.toLowerCase()}`, { mark: '' }])
  if (filters.product) labels.push(['Com um produto escolhido', { product: '' }])
  if (filters.ncm) labels.push([`NCM: ${filters.ncm}`, { ncm: '' }])
  if (filters.cfop) labels.push([`CFOP: ${filters.cfop}`, { cfop: '' }])
  const counted = kind.counted.find(({ code }) => code === filters.counted)
  if (counted) labels.push([counted.label, { counted: '', line: '' }])
  if (filters.counted && filters.line) labels.push([lineText(filters.counted, filters.line), { line: '' }])
  if (!filters.period) labels.push(['Qualquer data', { period }])
  else if (!isCurrentMonth(filters.period, today)) {
    labels.push([`Emissão: ${writeDay(filters.period.from)} a ${writeDay(filters.period.to)}`, { period }])
  }
  if (filters.amountFrom || filters.amountTo) labels.push([amountText(filters), { amountFrom: '', amountTo: '' }])
  if (labels.length === 0) return null
  return (
    <ul
      aria-label="Filtros em uso"
      className={clsx(
        'flex items-center gap-1.5',
        inRow ? 'min-w-0 overflow-x-auto p-1 [scrollbar-width:none] [&>li]:max-w-none [&>li]:shrink-0' : 'flex-wrap',
      )}
    >
      {labels.map(([text, removal]) => (
        <li key={text} className="max-w-full">
          <button
            type="button"
            onClick={() => onChange(removal)}
            className="flex min-h-6 max-w-full items-center gap-1 rounded-2xl border border-line bg-surface pr-1.5 pl-2.5 text-left text-sm hover:border-ink pointer-coarse:min-h-9"
          >
            <span className="min-w-0 break-words">
              <span className="sr-only">Remover filtro </span>
              {text}
            </span>
            <X aria-hidden className="size-3.5 shrink-0 text-muted" />
          </button>
        </li>
      ))}
      {labels.length > 1 && (
        <li>
          <button
            type="button"
            onClick={() => onChange({ ...defaultFilters(today), order: filters.order, ascending: filters.ascending })}
            className="h-6 px-1.5 text-brand text-sm underline underline-offset-3"
          >
            Limpar filtros
          </button>
        </li>
      )}
    </ul>
  )
}

const answers: Record<Due['para'], string> = {
  ciencia: 'Ciência',
  manifestacao: 'Resposta final',
  desacordo: 'Desacordo',
}

// "Prazo da Ciência: 30/11/2026"
function dueText({ dueFrom, dueTo, dueAnswer }: Filters): string {
  const name = dueAnswer ? `Prazo (${answers[dueAnswer]})` : 'Prazo'
  if (dueFrom && dueFrom === dueTo) return `${name}: ${writeDay(dueFrom)}`
  if (dueFrom && dueTo) return `${name}: ${writeDay(dueFrom)} a ${writeDay(dueTo)}`
  if (dueFrom) return `${name}: a partir de ${writeDay(dueFrom)}`
  return dueTo ? `${name}: até ${writeDay(dueTo)}` : `${name}: aberto`
}

function lineText(subject: ReportSubject, text: string): string {
  const { group, key } = reportLine(text)!
  if (group === 'produto') return 'Com um produto escolhido'
  if (group === 'classificacao') return `cClassTrib: ${key}`
  const name = groupName(subject, group).replace(/^./, (letter) => letter.toUpperCase())
  if (key === '') return `${name}: ${group === 'cfop' || group === 'ncm' ? 'fora dos itens' : 'nenhum'}`
  if (group === 'participante')
    return `${name}: ${key.length === 8 ? formatCnpj(`${key}000000`).slice(0, 10) : key.length === 11 ? formatCpf(key) : formatCnpj(key)}`
  return `${name}: ${group === 'trecho' ? key.replace('-', ' → ') : key}`
}

function amountText({ amountFrom, amountTo }: Filters): string {
  const [from, to] = [amountFrom, amountTo].map((amount) => formatMoney(Number(amount)))
  if (amountFrom && amountTo) return `Valor: ${from} a ${to}`
  return amountFrom ? `Valor: a partir de ${from}` : `Valor: até ${to}`
}
