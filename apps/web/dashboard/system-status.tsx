import { health } from '@vigia/contract/accounts'
import { type CompanyRow, listCompanies } from '@vigia/contract/companies'
import { CircleAlert, CircleCheck, CircleDashed } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { lampOf, watchOf } from '../lib/capture.ts'
import { useRoute } from '../lib/query.ts'
import { useNow } from '../ui/clock.ts'
import { Lamp } from '../ui/lamp.tsx'

/** Three lines that can turn bad, each with its reason. */
export function SystemStatus() {
  const now = useNow()
  const companies = useRoute(listCompanies, { query: {} }, { refreshMs: 10_000 })
  const server = useRoute(health, {}, { refreshMs: 30_000 })
  const watch = companies.data && watchOf(companies.data, now)
  const sync = synchronization(companies.data)
  return (
    <section aria-labelledby="system-status">
      <h2 id="system-status" className="pb-2 text-lg">
        Status do Sistema
      </h2>
      <ul className="ledger [&>li]:border-line [&>li]:border-b">
        <Line
          icon={<Lamp state={watch?.lamp ?? (companies.isPending ? 'waiting' : 'stopped')} className="size-4.5" />}
          name="Captura Automática"
          value={watch ? (watch.healthy ? 'Online' : watch.title) : unknown(companies.error, companies.data)}
          detail={watch?.detail}
        />
        <Line
          icon={<Mark state={server.error ? 'bad' : server.data ? 'good' : 'none'} />}
          name="Armazenamento"
          value={server.error ? 'Sem resposta' : server.data ? 'Saudável' : 'Verificando'}
          detail={server.error ? 'O servidor não respondeu à verificação.' : 'Sem limite de espaço: 0% de uso.'}
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
      <span className="w-40 shrink-0 max-sm:w-auto max-sm:flex-1">{name}</span>
      <span className="flex-1 max-sm:flex-none max-sm:text-right">
        <span className="font-semibold">{value}</span>
        <span className="block min-h-4.5 text-muted text-sm max-sm:hidden">{detail}</span>
      </span>
    </li>
  )
}

function Mark({ state }: { state: 'good' | 'bad' | 'none' }) {
  if (state === 'good') return <CircleCheck aria-hidden className="size-4.5 text-success" />
  if (state === 'bad') return <CircleAlert aria-hidden className="size-4.5 text-error" />
  return <CircleDashed aria-hidden className="size-4.5 text-muted" />
}

function unknown(error: Error | null, companies: CompanyRow[] | undefined): string {
  if (companies) return 'Nada sendo capturado'
  return error ? 'Sem resposta' : 'Verificando'
}

function synchronization(companies: CompanyRow[] | undefined) {
  if (!companies) return { state: 'none', value: 'Verificando', detail: 'Ver empresas' } as const
  if (companies.length === 0) return { state: 'none', value: 'Sem empresas', detail: 'Cadastrar a primeira' } as const
  const captures = companies.flatMap((company) => company.captura)
  const troubled = captures.filter((capture) => lampOf(capture) === 'stopped' || lampOf(capture) === 'blocked').length
  if (troubled === 0)
    return { state: 'good', value: 'Ativa', detail: `${captures.length} consultas programadas` } as const
  return {
    state: 'bad',
    value: 'Com pendências',
    detail: `${troubled} de ${captures.length} consultas com problema`,
  } as const
}
