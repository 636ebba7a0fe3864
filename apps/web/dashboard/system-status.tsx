import { health } from '@vigia/contract/accounts'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { ApiError, isUnreadable } from '../lib/api.ts'
import { synchronizationOf, type Watch, watchOf } from '../lib/capture.ts'
import { useWatchedCompanies } from '../lib/companies.ts'
import { useDisconnectedSince } from '../lib/connection.ts'
import { isEmpty, useScreenQuery } from '../lib/query.ts'
import { useNow } from '../ui/hooks/clock.ts'
import { StateMark } from '../ui/state-mark.tsx'

/** State of capture, storage and synchronization, with reasons not already in `notices`. */
export function SystemStatus({ canStore, notices }: { canStore: boolean; notices: readonly string[] }) {
  const now = useNow()
  const { known, lost } = useWatchedCompanies()
  const server = useScreenQuery(health, {}, { refreshMs: 30_000 })
  const away = useDisconnectedSince() !== null
  const watch = known && watchOf(known, now)
  // A response that is no envelope shows that the server responds, but not that all is well.
  const answered = server.error instanceof ApiError && (isUnreadable(server.error) || isEmpty(server.error))
  const unanswered = away || (server.error !== null && !answered)
  const sync = known
    ? synchronizationOf(known, now)
    : ({ state: lost ? 'stopped' : 'unlit', value: unheard(lost), detail: 'Ver a lista' } as const)
  return (
    <section aria-labelledby="system-status">
      <h2 id="system-status" className="pb-2 text-lg">
        Status do Sistema
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        <StatusLine
          icon={<StateMark state={watch?.lamp ?? (lost ? 'stopped' : 'unlit')} className="size-4.5" />}
          name="Captura Automática"
          value={watch ? stateTexts[watch.state] || watch.title : known ? stateTexts.well : unheard(lost)}
          detail={
            <span className="block min-h-9 2xl:min-h-4.5">
              {watch ? detailOf(watch, notices) : known && 'Começa sozinha com a primeira empresa.'}
            </span>
          }
        />
        <StatusLine
          icon={
            <StateMark
              state={unanswered || !canStore ? 'stopped' : server.data ? 'waiting' : 'unlit'}
              className="size-4.5"
            />
          }
          name="Armazenamento"
          value={
            unanswered
              ? 'Sem resposta'
              : !canStore
                ? 'Com problema'
                : server.data || answered
                  ? 'Saudável'
                  : 'Verificando'
          }
          detail={
            unanswered ? (
              'O servidor não respondeu à verificação.'
            ) : !canStore ? (
              'O que já foi guardado está seguro.'
            ) : (
              <>
                <span>0% de uso</span>, sem limite de espaço
              </>
            )
          }
        />
        <StatusLine
          icon={<StateMark state={sync.state} className="size-4.5" />}
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

// `untold`: the server does not report the captures, so no mark shows that all is well.
const stateTexts: Record<Watch['state'], string> = { well: 'Online', untold: 'Online', off: 'Online', trouble: '' }

function detailOf({ state, title, detail }: Watch, notices: readonly string[]): string {
  if (notices.includes(detail)) return 'O motivo está no aviso acima.'
  return state === 'untold' || state === 'off' ? `${title}. ${detail}` : detail
}

interface StatusLineProps {
  icon: ReactNode
  name: string
  value: string
  detail: ReactNode
}

function StatusLine({ icon, name, value, detail }: StatusLineProps) {
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

function unheard(lost: boolean): string {
  return lost ? 'Sem resposta' : 'Verificando'
}
