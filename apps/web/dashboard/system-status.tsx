import { health } from '@vigia/contract/accounts'
import { CircleAlert, CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import type { CompanyRow } from '../lib/answers.ts'
import { ApiError, isUnreadable } from '../lib/api.ts'
import { capturesOf, isTroubled, type Watch, watchOf } from '../lib/capture.ts'
import { useWatchedCompanies } from '../lib/companies.ts'
import { useSilentSince } from '../lib/connection.ts'
import { isEmpty, useRoute } from '../lib/query.ts'
import { useNow } from '../ui/clock.ts'
import { Lamp } from '../ui/lamp.tsx'

/** Three lines that say that all is well until something is not, each with its reason. */
export function SystemStatus() {
  const now = useNow()
  const { known, lost } = useWatchedCompanies()
  const server = useRoute(health, {}, { refreshMs: 30_000 })
  const away = useSilentSince() !== null
  const watch = known && watchOf(known, now)
  // An answer that is no envelope is one too; whether all is well stands in an envelope only.
  const answered = server.error instanceof ApiError && (isUnreadable(server.error) || isEmpty(server.error))
  const unanswered = away || (server.error !== null && !answered)
  const sync = synchronization(known, lost, now)
  return (
    <section aria-labelledby="system-status">
      <h2 id="system-status" className="pb-2 text-lg">
        Status do Sistema
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        <Line
          icon={<Lamp state={watch?.lamp ?? (lost ? 'stopped' : known ? 'unlit' : 'waiting')} className="size-4.5" />}
          name="Captura Automática"
          value={watch ? words[watch.state] || watch.title : known ? words.well : unheard(lost)}
          detail={
            <span className="block min-h-9 2xl:min-h-4.5">
              {watch ? detailOf(watch) : known && 'Começa sozinha com a primeira empresa.'}
            </span>
          }
        />
        <Line
          icon={<Mark state={unanswered ? 'bad' : server.data ? 'good' : 'none'} />}
          name="Armazenamento"
          value={unanswered ? 'Sem resposta' : server.data || answered ? 'Saudável' : 'Verificando'}
          detail={
            unanswered ? (
              'O servidor não respondeu à verificação.'
            ) : (
              <>
                <span>0% de uso</span>, sem limite de espaço
              </>
            )
          }
        />
        <Line
          icon={<Mark state={sync.state} />}
          name="Sincronização"
          value={sync.value}
          detail={
            <Link to="/empresas" className="underline decoration-line-strong underline-offset-3 hover:text-ink">
              {sync.detail}
            </Link>
          }
        />
      </ul>
    </section>
  )
}

// The server answers for its companies; how each of their captures goes it may not tell, and then no light is lit.
const words: Record<Watch['state'], string> = { well: 'Online', untold: 'Online', off: 'Desligada', trouble: '' }

function detailOf({ state, title, detail }: Watch): string {
  return state === 'untold' ? `${title}. ${detail}` : detail
}

interface LineProps {
  icon: ReactNode
  name: string
  value: string
  detail: ReactNode
}

function Line({ icon, name, value, detail }: LineProps) {
  return (
    <li className="flex items-start gap-2.5 py-2">
      <span className="flex h-5 items-center">{icon}</span>
      <span className="grid min-w-0 flex-1 grid-cols-[minmax(0,1fr)_auto] gap-x-3 sm:grid-cols-[10rem_minmax(0,1fr)]">
        <span>{name}</span>
        <span className="font-semibold">{value}</span>
        <span className="col-span-2 min-h-4.5 text-muted text-sm sm:col-span-1 sm:col-start-2">{detail}</span>
      </span>
    </li>
  )
}

function Mark({ state }: { state: 'good' | 'bad' | 'none' }) {
  if (state === 'good') return <CircleCheck aria-hidden className="size-4.5 text-success" />
  if (state === 'bad') return <CircleAlert aria-hidden className="size-4.5 text-error" />
  return <CircleDashed aria-hidden className="size-4.5 text-muted" />
}

function unheard(lost: boolean): string {
  return lost ? 'Sem resposta' : 'Verificando'
}

function synchronization(companies: CompanyRow[] | undefined, lost: boolean, now: Date) {
  if (!companies) return { state: lost ? 'bad' : 'none', value: unheard(lost), detail: 'Ver a lista' } as const
  if (companies.length === 0) return { state: 'none', value: 'Ativa', detail: 'Nenhuma consulta por enquanto' } as const
  const captures = companies.flatMap((company) => capturesOf(company, now))
  const troubled = captures.filter(isTroubled).length
  const planned = captures.filter(({ estado }) => estado !== 'desligada').length
  if (captures.length === 0) return { state: 'none', value: 'Ativa', detail: 'Ver a lista' } as const
  if (planned === 0) return { state: 'none', value: 'Desligada', detail: 'Nenhuma consulta programada' } as const
  if (troubled === 0) return { state: 'good', value: 'Ativa', detail: `${planned} consultas programadas` } as const
  return {
    state: 'bad',
    value: 'Com pendências',
    detail: `${troubled} de ${captures.length} consultas com problema`,
  } as const
}
