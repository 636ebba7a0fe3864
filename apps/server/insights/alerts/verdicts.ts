import type { AlertFacts } from '@vigia/checks/alerts/facts'
import { askOf } from '@vigia/checks/alerts/history'
import { type Band, type Fired, textOf, type Verdict } from '@vigia/checks/alerts/judge'
import { sql } from 'kysely'
import { recordsOf } from '../../documents/store.ts'
import type { Database } from '../../platform/context.ts'
import type { Risen } from './news.ts'

// Keeps what verdicts find, and tells what rose.

export const bands: readonly Band[] = ['informativo', 'médio', 'alto', 'crítico']

const keptMax = 20

export interface Judged {
  documentId: bigint
  companyId: number
  facts: AlertFacts
  verdict: Verdict
}

interface KeptAlert {
  documentId: bigint
  companyId: number
  /** As the database writes it. */
  judgedAt: string
  rules: string[]
  score: number
  band: number
  state: string
  fired: Fired[]
  statedRules: string[] | null
}

/** Writes verdicts and keeps the earlier ones; returns those that people are told of. */
export async function writeVerdicts(db: Database, workspaceId: number, judged: readonly Judged[]): Promise<Risen[]> {
  const { rows } = await sql<KeptAlert>`
    select document_id as "documentId", company_id as "companyId", judged_at::text as "judgedAt", rules, score, band, state, fired,
           stated_rules as "statedRules" from alert
     where workspace_id = ${workspaceId}
       and document_id = any (${judged.map(({ documentId }) => documentId)}::bigint[])`.execute(db)
  const kept = new Map(rows.map((row) => [row.documentId, row]))
  const changed = judged.flatMap((one) => {
    const old = kept.get(one.documentId)
    const row = alertRow(one, old)
    const same = old
      ? old.score === row.score && old.band === row.band && JSON.stringify(old.fired) === JSON.stringify(row.fired)
      : row.fired.length === 0
    return same ? [] : { old, row }
  })
  if (changed.length === 0) return []
  const past = changed.flatMap(({ old }) =>
    old && old.fired.length > 0
      ? {
          ...{ document_id: old.documentId, company_id: old.companyId, judged_at: old.judgedAt },
          ...{ score: old.score, band: old.band, rules: old.rules, text: textOf(old.fired) },
        }
      : [],
  )
  if (past.length > 0) {
    const before = past.map(({ document_id }) => document_id)
    // On a cluster a row with a number would come by COPY, which policies do not allow, but for what is to be returned.
    await sql`
      insert into alert_verdict (workspace_id, ${sql.join(verdictNames)})
      select ${workspaceId}, ${sql.join(verdictNames)} from ${recordsOf(past, verdictTypes)} returning id`.execute(db)
    await sql`
      delete from alert_verdict v using unnest(${before}::bigint[]) q (id)
       where v.workspace_id = ${workspaceId} and v.document_id = q.id
         and v.id <= (select o.id from alert_verdict o where o.workspace_id = ${workspaceId} and o.document_id = q.id
                       order by o.id desc offset ${keptMax} limit 1)`.execute(db)
  }
  // Alerts that a person made a statement about stay, so that it can be taken back.
  const gone = changed.flatMap(({ old, row }) =>
    row.fired.length === 0 && old?.state === 'nova' ? old.documentId : [],
  )
  if (gone.length > 0)
    await sql`
      delete from alert where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[])`.execute(db)
  const isGone = new Set(gone)
  const written = changed.map(({ row }) => row).filter(({ document_id }) => !isGone.has(document_id))
  if (written.length === 0) return []
  await sql`
    insert into alert as a (workspace_id, ${sql.join(alertNames)})
    select ${workspaceId}, ${sql.join(alertNames)} from ${recordsOf(written, alertTypes)}
    on conflict (workspace_id, document_id) do update
       set judged_at = excluded.judged_at, ${sql.join(alertNames.map((name) => sql`${name} = excluded.${name}`))}`.execute(
    db,
  )
  return changed.flatMap(({ old, row }) => {
    const again = old?.state === 'conhecida' && row.state === 'nova'
    const rises = !old || old.score === 0 || row.band > old.band
    // A score of nothing is that of habits which are not known yet.
    if (row.score === 0 || row.state === 'conhecida' || !(again || rises)) return []
    return { document_id: row.document_id, company_id: row.company_id, band: row.band, again }
  })
}

const verdictTypes = {
  ...{ document_id: 'bigint', company_id: 'int', judged_at: 'timestamptz', score: 'smallint', band: 'smallint' },
  ...{ rules: 'text[]', text: 'text' },
}
const verdictNames = Object.keys(verdictTypes).map((name) => sql.ref(name))
const alertTypes = {
  document_id: 'bigint',
  company_id: 'int',
  at: 'bigint',
  score: 'smallint',
  band: 'smallint',
  state: 'text',
  company_base: 'text',
  issuer_base: 'text',
  chave: 'text',
  rules: 'text[]',
  fired: 'json',
  learning: 'boolean',
}
const alertNames = Object.keys(alertTypes).map((name) => sql.ref(name))

function alertRow({ documentId, companyId, facts, verdict }: Judged, old: KeptAlert | undefined) {
  const { companyBase, issuerBase, at } = askOf(facts)
  const rules = verdict.fired.map(({ id }) => id)
  // A known alert is told again when it has another reason.
  const isNews = old?.state === 'conhecida' && rules.some((id) => !old.statedRules?.includes(id))
  return {
    document_id: documentId,
    company_id: companyId,
    at: Number.isFinite(at) ? at : 0,
    score: Math.round(verdict.score * 100),
    band: bands.indexOf(verdict.band),
    state: isNews ? 'nova' : (old?.state ?? 'nova'),
    company_base: companyBase,
    issuer_base: issuerBase,
    chave: facts.chave,
    rules,
    fired: verdict.fired,
    learning: verdict.learning,
  }
}
