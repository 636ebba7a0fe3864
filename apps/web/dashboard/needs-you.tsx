import { ChevronRight, CircleAlert, CircleCheck, CircleDot } from 'lucide-react'
import { useId } from 'react'
import { useCompanies } from '../lib/companies.ts'
import type { Dashboard } from '../lib/response-adapter.ts'
import { useNow } from '../ui/hooks/clock.ts'
import { Skeleton } from '../ui/skeleton.tsx'
import { NumberLink } from './number-link.tsx'
import { type Pending, pendingOf } from './pending.ts'

/** Everything that needs a person. */
export function NeedsYou({ counts }: { counts: Dashboard['pendencias'] | undefined }) {
  const now = useNow()
  const companies = useCompanies()
  const pending = counts !== undefined && companies.data ? pendingOf(counts, companies.data, now) : undefined
  const nothing = pending?.length === 0
  return (
    <section aria-labelledby="needs-you">
      <h2 id="needs-you" className="pb-2 text-lg">
        Precisa de você
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        {pending?.map((one) => (
          <PendingLine key={one.to + one.words} pending={one} />
        ))}
        {nothing && counts !== null && !companies.error && (
          <li className="flex items-start gap-2.5 py-2">
            <CircleCheck aria-hidden className="mt-px size-4.5 shrink-0 text-success" />
            <span>
              Nada precisa de você agora.
              <span className="block text-muted text-sm">
                Notas sem resposta, cancelamentos e certificados perto do fim aparecem aqui.
              </span>
            </span>
          </li>
        )}
        {!pending &&
          !companies.error &&
          [0, 1, 2].map((index) => (
            <li key={index} aria-hidden>
              <span className="flex min-h-9 items-center pointer-coarse:min-h-11">
                <Skeleton className="w-3/5" />
              </span>
            </li>
          ))}
        {nothing && counts === null && !companies.error && (
          <li className="py-2 text-muted">
            Não sabemos: o servidor não informa o que espera por você. Veja as listas.
          </li>
        )}
        {(!pending || nothing) && companies.error && (
          <li className="py-2 text-muted">Não sabemos agora: a lista de empresas não chegou.</li>
        )}
      </ul>
    </section>
  )
}

function PendingLine({ pending: { count, words, to, urgent } }: { pending: Pending }) {
  const id = useId()
  return (
    <li className="relative flex min-h-9 items-start gap-2.5 py-2 hover:bg-sunken pointer-coarse:min-h-11">
      <UrgencyMark urgent={urgent} />
      <span className="flex-1">
        <NumberLink count={count} to={to} action="ver quais" about={id} className="font-semibold tabular-nums" />{' '}
        <span id={id}>{words}</span>
      </span>
      <ChevronRight aria-hidden className="mt-0.5 size-4 shrink-0 text-muted" />
    </li>
  )
}

function UrgencyMark({ urgent }: { urgent: boolean }) {
  const Icon = urgent ? CircleAlert : CircleDot
  return (
    <Icon aria-hidden className={urgent ? 'mt-px size-4.5 shrink-0 text-error' : 'mt-px size-4.5 shrink-0 text-info'} />
  )
}
