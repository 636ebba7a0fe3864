import { agendaDays, listDue } from '@vigia/contract/agenda'
import { AlarmClock, BadgeAlert, ChevronRight, type LucideIcon, PauseCircle } from 'lucide-react'
import { Link } from 'react-router'
import { useCompanies } from '../lib/companies.ts'
import { useScreenQuery } from '../lib/query.ts'
import { productName } from '../lib/site.ts'
import { useNow } from '../ui/hooks/clock.ts'
import { Loaded } from '../ui/loaded.tsx'
import { Notice } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'
import { type AgendaDay, type AgendaEntry, agendaOf, certificateDays, dayOf } from './agenda.ts'
import { CalendarFeed } from './calendar-feed.tsx'

const refreshMs = 60_000

/** Deadlines of answers and certificates, and ends of pauses. */
export function AgendaPage() {
  const due = useScreenQuery(listDue, {}, { refreshMs })
  const companies = useCompanies()
  const now = useNow(60_000)
  return (
    <Page
      title="Prazos"
      site={productName}
      subtitle={`Respostas dos próximos ${agendaDays} dias, certificados dos próximos ${certificateDays} e pausas da captura.`}
    >
      <CalendarFeed kind="prazos" />
      {companies.error && !companies.data && (
        <div className="mb-4">
          <Notice tone="warning" title="A lista de empresas não chegou">
            Faltam aqui certificados e pausas; os prazos de resposta estão completos.
          </Notice>
        </div>
      )}
      <Loaded query={due}>
        {(data) => (
          <Days days={agendaOf(data, companies.data ?? [], now)} now={now} whole={companies.data !== undefined} />
        )}
      </Loaded>
    </Page>
  )
}

function Days({ days, now, whole }: { days: readonly AgendaDay[]; now: Date; whole: boolean }) {
  if (days.length === 0)
    return (
      <p className="ledger py-4">
        {whole ? 'Nada vence nos próximos dias.' : 'Nenhum prazo de resposta termina nos próximos dias.'}
      </p>
    )
  return days.map(({ day, entries }) => (
    <section key={day} aria-labelledby={`dia-${day}`} className="mb-8">
      <h2 id={`dia-${day}`} className="mb-2 text-lg">
        {nameOf(day, now)}
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        {entries.map((entry) => (
          <Entry key={entry.to + entry.words} entry={entry} />
        ))}
      </ul>
    </section>
  ))
}

const icons: Record<AgendaEntry['kind'], LucideIcon> = {
  answer: AlarmClock,
  certificate: BadgeAlert,
  capture: PauseCircle,
}

function Entry({ entry: { kind, words, detail, amount, to } }: { entry: AgendaEntry }) {
  const Icon = icons[kind]
  return (
    <li>
      <Link to={to} className="group flex items-center gap-3 py-2.5">
        <Icon aria-hidden className="size-4.5 shrink-0 text-muted" />
        <span className="min-w-0 flex-1">
          <span className="block font-semibold group-hover:underline group-hover:underline-offset-3">{words}</span>
          <span className="block break-words text-muted text-sm tabular-nums">{detail}</span>
        </span>
        {amount && <span className="shrink-0 font-semibold tabular-nums">{amount}</span>}
        <ChevronRight aria-hidden className="size-4 shrink-0 text-muted" />
      </Link>
    </li>
  )
}

const format = new Intl.DateTimeFormat('pt-BR', { weekday: 'long', day: 'numeric', month: 'long' })

// "Hoje, quarta-feira, 25 de novembro"
function nameOf(day: string, now: Date): string {
  const date = new Date(`${day}T12:00:00`)
  const tomorrow = new Date(now.getTime() + 86_400_000)
  const words = format.format(date)
  if (day === dayOf(now)) return `Hoje, ${words}`
  if (day === dayOf(tomorrow)) return `Amanhã, ${words}`
  return words[0]!.toUpperCase() + words.slice(1)
}
