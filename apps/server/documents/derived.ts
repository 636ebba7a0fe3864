import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { recordsOf } from './store.ts'

const types = {
  alert_band: 'smallint',
  reform: 'smallint',
  misfits: 'boolean',
  ibs: 'bigint',
  cbs: 'bigint',
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
}

/**
 * Writes columns of documents that others decide and lists show, in the transaction that decides them. The documents are locked by id, so that two
 * transactions that call it once never wait for each other.
 */
export async function setDerived<Column extends keyof typeof types>(
  { db }: WithDatabase,
  workspaceId: number,
  columns: readonly Column[],
  documents: readonly ({ id: bigint } & Record<Column, unknown>)[],
): Promise<void> {
  if (documents.length === 0) return
  const sorted = documents.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const typed = Object.fromEntries(columns.map((name) => [name, types[name]]))
  const list = (alias: string) => sql.join(columns.map((name) => sql.ref(`${alias}.${name}`)))
  const set = sql.join(columns.map((name) => sql`${sql.ref(name)} = ${sql.ref(`h.${name}`)}`))
  await sql`
    with held as (
      select r.* from ${recordsOf<{ id: bigint }>(sorted, { id: 'bigint', ...typed })}
       cross join lateral (select from document d where d.workspace_id = ${workspaceId} and d.id = r.id
                              and (${list('d')}) is distinct from (${list('r')}) for no key update) d)
    update document d set ${set} from held h where d.workspace_id = ${workspaceId} and d.id = h.id`.execute(db)
}
