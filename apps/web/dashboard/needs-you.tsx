import type { Dashboard } from '@vigia/contract/workspace'
import { Check, ChevronRight, CircleAlert, CircleCheck, CircleDot } from 'lucide-react'
import { useId } from 'react'
import { Link } from 'react-router'
import { useCompanies } from '../lib/companies.ts'
import { useMay } from '../lib/rights.ts'
import { Button } from '../ui/button.tsx'
import { useNow } from '../ui/hooks/clock.ts'
import { toDay } from '../ui/period/days.ts'
import { Skeleton } from '../ui/skeleton.tsx'
import { NumberLink } from './number-link.tsx'
import { type Pending, pendingOf } from './pending.ts'
import { useSeen } from './seen.ts'

/** Everything that needs a person. */
export function NeedsYou({ counts }: { counts: Dashboard['pendencias'] }) {
  const now = useNow()
  const companies = useCompanies()
  const [seen, putAway] = useSeen(toDay(now).slice(0, 7))
  const all = counts !== undefined && companies.data ? pendingOf(counts, companies.data, now) : undefined
  const pending = all?.filter(({ news, to, count }) => !news || count > (seen[to] ?? 0))
  const nothing = pending?.length === 0
  if (companies.data?.length === 0) return <FirstSteps />
  return (
    <section aria-labelledby="needs-you">
      <h2 id="needs-you" className="pb-2 text-lg">
        Precisa de você
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        {pending?.map((one) => (
          <PendingLine key={one.to + one.words} pending={one} onSeen={() => putAway(one.to, one.count)} />
        ))}
        {nothing && !companies.error && (
          <li className="flex items-start gap-2.5 py-2">
            <CircleCheck aria-hidden className="mt-px size-4.5 shrink-0 text-success" />
            <span>
              Nada precisa de você agora.
              <span className="block text-muted text-sm">
                Prazos, alertas, notas sem resposta e certificados perto do fim aparecem aqui.
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
        {(!pending || nothing) && companies.error && (
          <li className="py-2 text-muted">Não sabemos agora: a lista de empresas não chegou.</li>
        )}
      </ul>
    </section>
  )
}

const steps = [
  ['Cadastre a primeira empresa', 'Com o arquivo .pfx ou .p12 do certificado A1 dela e a senha. Leva dois minutos.'],
  [
    'Confira o que capturar',
    'Na edição da empresa: de quais papéis os documentos aparecem, e se a Ciência sai sozinha.',
  ],
  ['Espere a primeira captura', 'Ela começa sozinha e traz até cerca de três meses. Você pode fechar a página.'],
] as const

/** Next steps while there is no company. */
function FirstSteps() {
  const mayManage = useMay('administrador')
  if (!mayManage)
    return (
      <p className="text-muted">
        Não há empresas para você ainda. Quem administra o workspace cadastra as empresas e escolhe as que você vê.
      </p>
    )
  return (
    <section aria-labelledby="needs-you">
      <h2 id="needs-you" className="pb-2 text-lg">
        Primeiros passos
      </h2>
      <ol className="ledger [&>li]:border-line [&>li]:border-b">
        {steps.map(([title, text], index) => (
          <li key={title} className="flex gap-3 py-2.5">
            <span
              aria-hidden
              className="grid size-6 shrink-0 place-items-center rounded-full bg-sunken font-semibold text-sm tabular-nums"
            >
              {index + 1}
            </span>
            <span>
              {index === 0 ? (
                <Link to="/empresas/nova" className="font-semibold text-brand underline underline-offset-3">
                  {title}
                </Link>
              ) : (
                <span className="font-semibold">{title}</span>
              )}
              <span className="block text-muted text-sm">{text}</span>
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
}

function PendingLine({ pending, onSeen }: { pending: Pending; onSeen: () => void }) {
  const { count, words, to, detail, urgent, news } = pending
  const id = useId()
  return (
    <li className="relative flex min-h-9 items-start gap-2.5 py-2 hover:bg-sunken pointer-coarse:min-h-11">
      <UrgencyMark urgent={urgent} />
      <span className="flex-1">
        <NumberLink count={count} to={to} action="ver quais" about={id} className="font-semibold tabular-nums" />{' '}
        <span id={id}>{words}</span>
        {detail && <span className="block text-muted text-sm">{detail}</span>}
      </span>
      {news && (
        <Button
          variant="ghost"
          size="sm"
          title="Não mostrar de novo até haver mais"
          aria-describedby={id}
          className="relative -my-1.5 text-muted pointer-coarse:-my-2.5"
          onClick={onSeen}
        >
          <Check aria-hidden className="size-4" />
          Já vi
        </Button>
      )}
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
