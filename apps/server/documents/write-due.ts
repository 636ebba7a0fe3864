import type { OwnAnswer } from '@vigia/dfe/families/family'
import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { asOperator, inWorkspace } from '../platform/database.ts'
import { holdLock } from '../platform/locks.ts'
import { serviceCodes } from '../platform/service.ts'
import { setDerived } from './derived.ts'
import { type Answerable, answersIn, dueOf, type ReceivedEvent } from './due.ts'

/** Columns of a document about the events that left from here, or are about to. */
export interface Sent {
  own_answers: OwnAnswer[] | null
  answered: boolean
  asked: number | null
  asked_by: number | null
  unconfirmed: number | null
}

/**
 * Decides again what is due to documents and writes it, with what left from here about each; null: as before. `ctx.db` is a transaction
 * inside the workspace; it holds the companies of the documents until it ends.
 */
export async function writeDue(
  { db }: WithDatabase,
  workspaceId: number,
  now: Date,
  sent: ReadonlyMap<bigint, Sent | null>,
): Promise<void> {
  const these = sql`d.workspace_id = ${workspaceId} and d.id = any (${[...sent.keys()]}::bigint[])`
  const { rows: companies } = await sql<{ id: number }>`
    select distinct d.company_id as id from document d where ${these} order by 1`.execute(db)
  // Locks the companies as `receive` does, because two writers do not see rows that the other has not committed.
  for (const { id } of companies) await holdLock({ db }, 'company', id)
  const { rows: documents } = await sql<Answerable & Sent & { id: bigint }>`
    select d.id, d.chave, d.roles, d.status, d.complete, d.authorized_at, d.own_answers, d.answered, d.asked, d.asked_by, d.unconfirmed
      from document d where ${these}`.execute(db)
  const { rows: events } = await sql<ReceivedEvent & { id: bigint; cnpj: string }>`
    select d.id, c.cnpj, e.tp_evento, e.sequence, e.rank, e.status, e.author
      from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
      join document_event e on e.workspace_id = d.workspace_id and e.company_id = d.company_id and e.chave = d.chave
     where ${these}`.execute(db)
  const eventsOf = Map.groupBy(events, ({ id }) => id)
  const decided = documents.map(({ id, chave, roles, status, complete, authorized_at, ...before }) => {
    const left = sent.get(id) ?? before
    const received = eventsOf.get(id) ?? []
    const own = [...answersIn(received, received[0]?.cnpj ?? ''), ...(left.own_answers ?? [])]
    return { id, ...left, ...dueOf({ chave, roles, status, complete, authorized_at }, own, now) }
  })
  const columns = [
    'answer_due_at',
    'answer_due',
    'own_answers',
    'answered',
    'asked',
    'asked_by',
    'unconfirmed',
  ] as const
  await setDerived({ db }, workspaceId, columns, decided)
}

const decidedAtOnce = 500

/** Writes anew what is due to documents whose deadline passed: after the Ciência, another one is due. */
export async function writeOverdue(ctx: WithDatabase, now = new Date()): Promise<void> {
  const workspaces = await asOperator(ctx, ({ db }) => db.selectFrom('workspace').select('id').orderBy('id').execute())
  for (const { id: workspaceId } of workspaces) {
    const decideSome = async ({ db }: WithDatabase) => {
      const { rows } = await sql<{ id: bigint }>`
        select id from document where workspace_id = ${workspaceId} and type = any (${Object.values(serviceCodes)}::smallint[])
           and answer_due_at < ${now}::timestamptz limit ${decidedAtOnce}`.execute(db)
      if (rows.length > 0) await writeDue({ db }, workspaceId, now, new Map(rows.map(({ id }) => [id, null])))
      return rows.length
    }
    while ((await inWorkspace(ctx, workspaceId, decideSome)) === decidedAtOnce);
  }
}
