import type { RouteData } from '@vigia/contract/route'
import { listSystemJobs } from '@vigia/contract/system'
import { sql } from 'kysely'
import type { Context, WithDatabase } from '../platform/context.ts'
import { asScheduler, beyondLimit } from '../platform/database.ts'
import { handle } from '../platform/http/http.ts'
import { isAlone } from './held.ts'

/** Names of jobs for people. */
export const jobNames: Readonly<Record<string, string>> = {
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
  reading: 'Nova leitura de documentos guardados sem ler',
  alerts: 'Alertas',
  'alerts-night': 'Alertas, à noite',
  'alert-test': 'Testes de regras de alerta',
  backup: 'Cópias de segurança',
  operator: 'Avisos a quem administra o sistema',
  erase: 'Exclusão de contas',
  forget: 'Limpeza do que é antigo',
  'tidy-batches': 'Limpeza de lotes de certificados',
  'decide-overdue': 'Prazos de resposta que passaram',
  'mark-alive': 'Sinal de que o sistema está no ar',
}

/** The jobs of a kind, for the operator: `proximo` is when the first of them runs, `erro` that of the one that failed most often. */
export type JobsOfKind = Omit<RouteData<typeof listSystemJobs>['items'][number], 'proximo'> & { proximo: Date | null }

/** Counts the jobs that wait and fail, with the next run of each kind; capture lines and events count as jobs. */
export async function listJobs(ctx: WithDatabase): Promise<JobsOfKind[]> {
  const jobs = await asScheduler(ctx, async ({ db }) => {
    const { rows: jobs } = await sql<Omit<JobsOfKind, 'nome'>>`
      select regexp_replace(kind, '^forget-.*', 'forget') as trabalho, count(*) filter (where lease is null)::int as esperam, count(*) filter (where lease_until > now())::int as executando,
             count(*) filter (where error is not null)::int as falhando, min(run_at) filter (where run_at < 'infinity') as proximo,
             (array_agg(error order by attempts desc) filter (where error is not null))[1] as erro
        from job group by 1
      union all
      select 'capture', count(*) filter (where lease_until is null)::int, count(*) filter (where lease_until > now())::int,
             count(*) filter (where state in ('failed', 'stopped'))::int, min(next_at) filter (where next_at < 'infinity'),
             max(message) filter (where state in ('failed', 'stopped'))
        from capture_line having count(*) > 0`.execute(db)
    const { rows: events } = await sql<Omit<JobsOfKind, 'nome'>>`
      select 'event' as trabalho, count(*) filter (where lease_until is null)::int as esperam, count(*) filter (where lease_until > now())::int as executando,
             count(*) filter (where c_stat is not null)::int as falhando, min(next_at) as proximo,
             max(message) filter (where c_stat is not null) as erro
        from outgoing_event where state in ('waiting', 'sending') having count(*) > 0`.execute(db)
    return [...jobs, ...events]
  })
  return jobs
    .map(({ trabalho, ...job }) => ({ trabalho, nome: jobNames[trabalho] ?? trabalho, ...job }))
    .sort((a, b) => b.falhando - a.falhando || a.nome.localeCompare(b.nome))
}

const ofSeveral =
  'Esta instalação tem mais de um workspace: quem administra o sistema vê os trabalhos com npm run admin -- jobs.'

export const jobRoutes = [
  handle(listSystemJobs, async (shown: Context) => {
    const ctx = beyondLimit(shown)
    if (!(await isAlone(ctx))) return { data: { items: [], impedimento: ofSeveral } }
    return { data: { items: await listJobs(ctx), impedimento: null } }
  }),
]
