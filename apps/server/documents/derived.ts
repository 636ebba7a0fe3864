import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { recordsOf } from './store.ts'

const types = {
  alert_band: 'smallint',
  answer_due_at: 'timestamptz',
  answer_due: 'int',
  own_answers: 'jsonb',
  answered: 'boolean',
  asked: 'int',
  asked_by: 'int',
  unconfirmed: 'int',
  suggestion: 'jsonb',
  judged_at: 'timestamptz',
  suspect: 'boolean',
  judge_at: 'timestamptz',
}

/**
 * Writes columns of documents that others decide and lists show, in the transaction that decides them. The documents are locked by id, so that two
 * transactions that call it once never wait for each other. `version`: xmin as it was when the decision began; a row that changed since is left.
 */
export async function setDerived<Column extends keyof typeof types>(
  { db }: WithDatabase,
  workspaceId: number,
  columns: readonly Column[],
  documents: readonly ({ id: bigint; version?: string } & Record<Column, unknown>)[],
): Promise<void> {
  if (documents.length === 0) return
  const sorted = documents.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const typed = Object.fromEntries(columns.map((name) => [name, types[name]]))
  const list = (alias: string) => sql.join(columns.map((name) => sql.ref(`${alias}.${name}`)))
  const set = sql.join(columns.map((name) => sql`${sql.ref(name)} = ${sql.ref(`h.${name}`)}`))
  await sql`
    with held as (
      select r.* from ${recordsOf<{ id: bigint; version?: string }>(sorted, { id: 'bigint', version: 'text', ...typed })}
       cross join lateral (select from document d where d.workspace_id = ${workspaceId} and d.id = r.id
                              and (${list('d')}) is distinct from (${list('r')})
                              and (r.version is null or d.xmin::text = r.version) for no key update) d)
    update document d set ${set} from held h where d.workspace_id = ${workspaceId} and d.id = h.id`.execute(db)
}

// Documents that came longer ago are judged again in silence.
const newsMs = 7 * 86_400_000

/** Has documents judged again that were judged. Of those that came lately people are told what is found anew, unless it is `silent`. */
export async function judgeAgain(
  { db }: WithDatabase,
  workspaceId: number,
  ids: readonly bigint[],
  silent = false,
): Promise<void> {
  if (ids.length === 0) return
  const since = new Date(silent ? Date.now() : Date.now() - newsMs)
  await sql`
    with held as (
      select d.id from document d where d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[]) and isfinite(d.judged_at)
       order by d.id for no key update)
    update document d set judged_at = case when d.created_at < ${since}::timestamptz then '-infinity'::timestamptz end
      from held h where d.workspace_id = ${workspaceId} and d.id = h.id`.execute(db)
}

/** Has documents judged again whose verdict time may have changed, and those that could not be judged. */
export async function judgeDue({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await sql`
    with held as (
      select d.id from document d where d.workspace_id = ${workspaceId} and d.id = any (array(
               select id from document where workspace_id = ${workspaceId} and judge_at <= now()
               union select id from document where workspace_id = ${workspaceId} and judged_at = 'infinity' and not isfinite(judged_at)))
         and d.judged_at > '-infinity'
       order by d.id for no key update)
    update document d set judged_at = null from held h where d.workspace_id = ${workspaceId} and d.id = h.id`.execute(
    db,
  )
}
