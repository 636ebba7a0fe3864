import type { Fired } from '@vigia/checks/alerts/judge'
import { formatCount, formatInteger } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { isShown, readHiding, shownConditions } from '../../companies/switches.ts'
import { named, type Writer } from '../../companies/topics.ts'
import { recordsOf } from '../../documents/store.ts'
import type { Database, WithDatabase } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { queueJob } from '../../platform/jobs/jobs.ts'
import { announce } from '../../platform/outbox.ts'
import { gravestFirst, isOpen, type ListContext, readRows, ruleName, toAlerts } from './list.ts'

// News for people: an alert is new, or graver than before. Never tells the same of one document twice.

const [high, critical] = [2, 3]

export interface Risen {
  document_id: bigint
  company_id: number
  band: number
  /** Somebody knew it, and there is another reason now: told although it was as grave before. */
  again: boolean
}

/** Writes what has risen, in the order that everybody sees, and tells open pages of grave alerts. Holds the alerts of the workspace. */
export async function noteRisen({ db }: WithDatabase, workspaceId: number, risen: readonly Risen[]): Promise<void> {
  if (risen.length === 0) return
  // Not within the insert: a number that another server gives would not be in one order with the others.
  const { rows: told } = await sql<{ id: bigint; band: number }>`
    select document_id as id, max(band) as band from alert_news
     where workspace_id = ${workspaceId} and document_id = any (${risen.map(({ document_id }) => document_id)}::bigint[])
     group by document_id`.execute(db)
  const bands = new Map(told.map(({ id, band }) => [id, band]))
  const news = risen.filter(({ document_id, band, again }) => again || (bands.get(document_id) ?? -1) < band)
  if (news.length === 0) return
  const columns = { document_id: 'bigint', company_id: 'int', band: 'smallint' }
  const { rows } = await sql<{ id: bigint; documentId: bigint; band: number }>`
    insert into alert_news (workspace_id, document_id, company_id, band)
    select ${workspaceId}, r.document_id, r.company_id, r.band from ${recordsOf(news, columns)}
    returning id, document_id as "documentId", band`.execute(db)
  await queueJob({ db }, { kind: 'letters', workspaceId })
  const grave = rows.flatMap(({ documentId, band }) => (band >= high ? documentId : []))
  if (grave.length > 0) await tellOpenPages(db, workspaceId, grave)
}

interface Raised {
  high: number
  critical: number
  /** The gravest of them. */
  first: { type: number; number: number; issuer: string; rules: string[] }
}

// More of the same is likely to follow: a page of the capture has fifty documents.
const waitMs = 5_000

async function tellOpenPages(db: Database, workspaceId: number, documentIds: readonly bigint[]): Promise<void> {
  const { rows } = await sql<Omit<Raised['first'], 'rules'> & { companyId: number; band: number; fired: Fired[] }>`
    select a.company_id as "companyId", a.band, a.fired, d.type, d.number::float8 as number, s.name as issuer
      from alert a
      join document d on d.workspace_id = a.workspace_id and d.id = a.document_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
     where a.workspace_id = ${workspaceId} and a.document_id = any (${documentIds}::bigint[]) and ${isShown(workspaceId, 'd')}
     order by ${gravestFirst}`.execute(db)
  for (const [companyId, some] of Map.groupBy(rows, ({ companyId }) => companyId)) {
    const { type, number, issuer, fired } = some[0]!
    // Habits that are not known yet are shown on the screen only.
    const rules = fired.flatMap(({ id, learning }) => (learning ? [] : id))
    const payload: Raised = {
      high: some.filter(({ band }) => band === high).length,
      critical: some.filter(({ band }) => band === critical).length,
      first: { type, number, issuer, rules },
    }
    await announce({ db }, workspaceId, { what: 'alerta', companyId, payload, waitMs })
  }
}

const namedRules = 2

// Names of rules, no sentences: these have numbers of documents that not everybody may see.
const raised: Writer = {
  topic: 'documento',
  write(items) {
    const all = items.map(({ payload }) => payload as Raised)
    const sum = (name: 'high' | 'critical') => all.reduce((total, one) => total + one[name], 0)
    const [highs, criticals] = [sum('high'), sum('critical')]
    const [company, ...others] = new Set(items.map(({ companyPublicId }) => companyPublicId))
    const narrowing = new URLSearchParams({
      ...(company && others.length === 0 && { empresa: company }),
      ...(highs === 0 && { faixa: 'critico' }),
      ...(criticals === 0 && { faixa: 'alto' }),
    })
    const link = narrowing.size > 0 ? `/alertas?${narrowing}` : '/alertas'
    const whatToDo = 'Confira antes de pagar; nada foi enviado à SEFAZ por causa disso.'
    if (highs + criticals === 1) {
      const { type, number, issuer, rules } = all[0]!.first
      const why = rules.slice(0, namedRules).map(ruleName).join(' • ')
      return {
        kind: 'alert',
        header: criticals === 1 ? 'Alerta crítico' : 'Alerta alto',
        body: `${familyOf(type).name} ${formatInteger(number)} de ${issuer}, para ${items[0]!.company}: ${why}. ${whatToDo}`,
        link,
      }
    }
    const counts = [
      ...(criticals > 0 ? [formatCount(criticals, 'crítico', 'críticos')] : []),
      ...(highs > 0 ? [formatCount(highs, 'alto', 'altos')] : []),
    ].join(' e ')
    return {
      kind: 'alert',
      header: criticals > 0 ? 'Alertas críticos' : 'Alertas altos',
      body: `Documentos de ${named(items.map(({ company }) => company))} têm alertas novos: ${counts}. ${whatToDo}`,
      link,
    }
  },
}

export const alertAnnouncements: Readonly<Record<string, Writer>> = { alerta: raised }

/** News for one letter: those after one item and up to another. */
export interface NewsRange {
  after: bigint
  upTo: bigint
  /** Only those that are critical, and still are. */
  onlyCritical: boolean
}

/** Alerts of these news that are still open and shown, heaviest first, `most` of them, with their count and two CNPJs. Inside the workspace. */
export async function readNews(
  ctx: ListContext,
  workspaceId: number,
  { after, upTo, onlyCritical }: NewsRange,
  most: number,
) {
  const shown = shownConditions(await readHiding(ctx, workspaceId), 'd')
  const conditions = [
    sql`a.workspace_id = ${workspaceId}`,
    isOpen,
    sql`a.score > 0`,
    sql`a.document_id in (select n.document_id from alert_news n
                           where n.workspace_id = ${workspaceId} and n.id > ${after} and n.id <= ${upTo} ${onlyCritical ? sql`and n.band = ${critical}` : sql``})`,
    ...(onlyCritical ? [sql`a.band = ${critical}`] : []),
    ...shown,
  ]
  const found = sql`from alert a join document d on d.workspace_id = a.workspace_id and d.id = a.document_id where ${sql.join(conditions, sql` and `)}`
  const { rows } = await sql<{ total: number; cnpjs: string[] }>`
    select count(*)::int as total,
           array(select c.cnpj from company c where c.workspace_id = ${workspaceId} and c.id = any (array_agg(x.company_id)) order by c.id limit 2) as cnpjs
      from (select a.company_id ${found}) x`.execute(ctx.db)
  const chosen = sql`select a.document_id ${found} order by ${gravestFirst} limit ${most}`
  const alerts = await toAlerts(ctx, workspaceId, await readRows(ctx.db, workspaceId, chosen))
  return { alerts, total: rows[0]!.total, cnpjs: rows[0]!.cnpjs }
}

// As long as announcements; by then nobody waits for a letter of them.
const keptDays = 30

export async function forgetNews(ctx: WithDatabase, workspaceId: number): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      delete from alert_news where workspace_id = ${workspaceId} and at < now() - ${keptDays} * interval '1 day'`.execute(
      db,
    ),
  )
}
