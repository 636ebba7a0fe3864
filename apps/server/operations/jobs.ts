import { listSystemJobs } from '@vigia/contract/system'
import { sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { asScheduler, beyondLimit } from '../platform/database.ts'
import { handle } from '../platform/http/http.ts'
import { isAlone } from './held.ts'

const names: Readonly<Record<string, string>> = {
  capture: 'Consultas à SEFAZ',
  event: 'Manifestações',
  mail: 'E-mails',
  review: 'Conferência de cada conta',
  webhook: 'Webhooks',
  'webhook-feed': 'Alterações para webhooks',
  letters: 'Avisos por e-mail',
  announcement: 'Mensagens nas telas',
  certificate: 'Certificados enviados em lote',
  'export-zip': 'Exportações',
  'export-pdf': 'Exportações com PDF',
  'export-leaving': 'Cópias de tudo de uma conta',
  contents: 'Leitura do que há nos documentos',
  alerts: 'Alertas',
  'alert-test': 'Testes de regras de alerta',
  erase: 'Exclusão de contas',
  forget: 'Limpeza do que é antigo',
  'tidy-batches': 'Limpeza de lotes de certificados',
  'key-uses': 'Uso das chaves de API',
  'mark-alive': 'Sinal de que o sistema está no ar',
}

/** The jobs of a kind, for the operator. */
export interface JobsOfKind {
  kind: string
  name: string
  waiting: number
  running: number
  failing: number
  /** When the first of them runs. */
  next: Date | null
  /** The error of the job that failed most often. */
  error: string | null
}

/** Counts the jobs that wait and fail, with the next run of each kind; capture lines and events count as jobs. */
export async function listJobs(ctx: WithDatabase): Promise<JobsOfKind[]> {
  const jobs = await asScheduler(ctx, async ({ db }) => {
    const { rows: jobs } = await sql<Omit<JobsOfKind, 'name'>>`
      select regexp_replace(kind, '^forget-.*', 'forget') as kind, count(*) filter (where lease is null)::int as waiting, count(*) filter (where lease_until > now())::int as running,
             count(*) filter (where error is not null)::int as failing, min(run_at) filter (where run_at < 'infinity') as next,
             (array_agg(error order by attempts desc) filter (where error is not null))[1] as error
        from job group by 1
      union all
      select 'capture', count(*) filter (where lease_until is null)::int, count(*) filter (where lease_until > now())::int,
             count(*) filter (where state in ('failed', 'stopped'))::int, min(next_at) filter (where next_at < 'infinity'),
             max(message) filter (where state in ('failed', 'stopped'))
        from capture_line having count(*) > 0`.execute(db)
    const { rows: events } = await sql<Omit<JobsOfKind, 'name'>>`
      select 'event' as kind, count(*) filter (where lease_until is null)::int as waiting, count(*) filter (where lease_until > now())::int as running,
             count(*) filter (where c_stat is not null)::int as failing, min(next_at) as next,
             max(message) filter (where c_stat is not null) as error
        from outgoing_event where state in ('waiting', 'sending') having count(*) > 0`.execute(db)
    return [...jobs, ...events]
  })
  return jobs
    .map((job) => ({ ...job, name: names[job.kind] ?? job.kind }))
    .sort((a, b) => b.failing - a.failing || a.name.localeCompare(b.name))
}

const ofSeveral =
  'Esta instalação tem mais de um workspace: quem administra o sistema vê os trabalhos com npm run admin -- jobs.'

export const jobRoutes = [
  handle(listSystemJobs, async (shown: Context) => {
    const ctx = beyondLimit(shown)
    if (!(await isAlone(ctx))) return { data: { items: [], impedimento: ofSeveral } }
    const items = (await listJobs(ctx)).map(({ kind, name, waiting, running, failing, next, error }) => ({
      trabalho: kind,
      nome: name,
      esperam: waiting,
      executando: running,
      falhando: failing,
      proximo: next?.toISOString() ?? null,
      erro: error,
    }))
    return { data: { items, impedimento: null } }
  }),
]
