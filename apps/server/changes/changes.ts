import { sql } from 'kysely'
import { shownTo } from '../companies/companies.ts'
import type { Context, Database, WithDatabase } from '../platform/context.ts'
import { asOperator, beforeCommit, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Change, ChangeKind } from './change.ts'

export type { Change, ChangeKind } from './change.ts'
export type { Follower, Turn } from './following.ts'
export {
  behindMax,
  claimTurn,
  dueTurns,
  holdTurn,
  nextPortion,
  postponeTurn,
  readBehind,
  readPosition,
} from './following.ts'
export { wireOf } from './wire.ts'

// What changed in a workspace, in order: docs/decisions/0033-change-feed.md. Whoever changes a document says so here, in the transaction that does
// it, and the version is given right before its commit.

const codes: Record<ChangeKind, number> = { new: 1, completed: 2, standing: 3, cancelled: 4, answered: 5 }
const kinds = new Map(Object.entries(codes).map(([kind, code]) => [code, kind as ChangeKind]))

/** A change as whoever makes it notes it. */
interface NotedChange {
  documentId: bigint
  /** Of the document; looked up where whoever makes the change does not know it. */
  companyId?: number
  kind: ChangeKind
  /** Of `answered`: the event that is settled: registered, rejected or unconfirmed. */
  eventId?: bigint
}

const notedIn = new WeakMap<Database, Map<number, NotedChange[]>>()

/** Notes changes of documents of a workspace, in their order. `ctx.db` is the transaction that makes them. */
export function noteChanges({ db }: WithDatabase, workspaceId: number, changes: readonly NotedChange[]): void {
  if (changes.length === 0) return
  const noted = notedIn.get(db) ?? new Map<number, NotedChange[]>()
  notedIn.set(db, noted)
  const known = noted.get(workspaceId)
  if (known) return void known.push(...changes)
  const all = [...changes]
  noted.set(workspaceId, all)
  beforeCommit({ db }, { lock: 'changes', workspaceId }, () => write({ db }, workspaceId, all))
}

// However much changed. The row of the position stays locked until the commit, which is about to come: a transaction that takes later versions commits
// later. Version and companies are asked for by themselves: in one statement Citus would send them to all servers, and none may be away then.
async function write({ db }: WithDatabase, workspaceId: number, noted: readonly NotedChange[]): Promise<void> {
  const { rows } = await sql<{ version: bigint }>`
    insert into change_position as p (workspace_id, version) values (${workspaceId}, ${noted.length})
    on conflict (workspace_id) do update set version = p.version + excluded.version
    returning version`.execute(db)
  const companies = await readCompanies(
    { db },
    workspaceId,
    noted.flatMap(({ documentId, companyId }) => (companyId === undefined ? [documentId] : [])),
  )
  await sql`
    insert into document_change (workspace_id, version, at, kind, document_id, company_id, event_id)
    select ${workspaceId}, ${rows[0]!.version}::bigint - ${noted.length} + n.place, clock_timestamp(), n.kind, n.document_id, n.company_id, n.event_id
      from unnest(${noted.map(({ kind }) => codes[kind])}::smallint[], ${noted.map(({ documentId }) => documentId)}::bigint[],
                  ${noted.map(({ documentId, companyId }) => companyId ?? companies.get(documentId) ?? null)}::int[],
                  ${noted.map(({ eventId }) => eventId ?? null)}::bigint[])
                 with ordinality n (kind, document_id, company_id, event_id, place)
    returning version`.execute(db)
}

async function readCompanies(
  { db }: WithDatabase,
  workspaceId: number,
  documentIds: readonly bigint[],
): Promise<ReadonlyMap<bigint, number>> {
  if (documentIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('document')
    .select(['id', 'company_id'])
    .where('workspace_id', '=', workspaceId)
    .where(sql<boolean>`id = any (${documentIds}::bigint[])`)
    .execute()
  return new Map(rows.map(({ id, company_id }) => [id, company_id]))
}

export interface ChangePage {
  changes: Change[]
  /** Up to where this page goes. */
  version: number
  more: boolean
}

const atOnce = 500
export const keptDays = 90

/**
 * What changed after version `since`, oldest first; null: from the oldest that is kept. At most 500 changes are looked at, and of these, those of
 * documents that a switch of their company hides, or that are here no more, are left out: a page may be shorter, even empty, and still not be the last.
 * Refuses a version from which something was forgotten since, or that was never given.
 */
export async function readChanges(ctx: WithDatabase, workspaceId: number, since: number | null): Promise<ChangePage> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { newest, forgotten } = await readPosition({ db }, workspaceId)
    if (since !== null && since < forgotten) throw new AppError('gone', tooOld)
    if (since !== null && since > newest) throw new AppError('gone', neverGiven)
    const { rows } = await sql<ChangeRow>`
      select c.version::float8 as version, c.kind, c.at, c.document_id as "documentId", d.chave, d.type, d.company_id as "companyId", co.public_id as "companyPublicId",
             coalesce(${shownTo('co', 'd')}, false) as shown, o.tp_evento as "tpEvento", o.state, o.message
        from (select * from document_change
               where workspace_id = ${workspaceId} and version > ${since ?? 0} order by version limit ${atOnce + 1}) c
        left join document d on d.workspace_id = ${workspaceId} and d.id = c.document_id
        left join company co on co.workspace_id = ${workspaceId} and co.id = d.company_id
        left join outgoing_event o on o.workspace_id = ${workspaceId} and o.id = c.event_id
       order by c.version`.execute(db)
    const page = rows.slice(0, atOnce)
    const more = rows.length > atOnce
    return {
      changes: page.filter(({ shown }) => shown).map(toChange),
      version: more ? page.at(-1)!.version : Math.max(newest, page.at(-1)?.version ?? 0),
      more,
    }
  })
}

/** The newest version of a workspace: what changes from now on comes after it. */
export async function newestVersion(ctx: WithDatabase, workspaceId: number): Promise<number> {
  const { newest } = await readWorkspace(ctx, workspaceId, (ctx) => readPosition(ctx, workspaceId))
  return newest
}

/**
 * Lifts the version of each workspace to the milliseconds of now, because programs may know versions that were given after the copy from which
 * the database came back. No workspace has had as many changes as milliseconds have passed.
 */
export async function liftVersions(ctx: WithDatabase): Promise<void> {
  const workspaces = await asOperator(ctx, ({ db }) => db.selectFrom('workspace').select('id').orderBy('id').execute())
  for (const { id } of workspaces)
    await inWorkspace(ctx, id, ({ db }) =>
      sql`
        insert into change_position as p (workspace_id, version) values (${id}, extract(epoch from now()) * 1000)
        on conflict (workspace_id) do update set version = greatest(p.version, excluded.version)`.execute(db),
    )
}

async function readPosition({ db }: WithDatabase, workspaceId: number): Promise<{ newest: number; forgotten: number }> {
  const { rows } = await sql<{ newest: number; forgotten: number }>`
    select version::float8 as newest, forgotten::float8 as forgotten from change_position where workspace_id = ${workspaceId}`.execute(
    db,
  )
  return rows[0] ?? { newest: 0, forgotten: 0 }
}

const beginAnew =
  'Nenhum documento se perdeu. Comece de novo: chame com desde=agora, guarde a versao, leia os documentos pelas listas e siga a partir dela.'
const tooOld = `As alterações são guardadas por ${keptDays} dias, e as seguintes a esta versão já não estão completas. ${beginAnew}`
const neverGiven = `Esta versão não é deste workspace. ${beginAnew}`

interface ChangeRow extends Omit<Change, 'kind' | 'answer'> {
  kind: number
  shown: boolean
  tpEvento: number | null
  state: NonNullable<Change['answer']>['state'] | null
  message: string | null
}

function toChange({ kind, tpEvento, state, message, shown: _, ...row }: ChangeRow): Change {
  const answer = tpEvento === null || state === null ? null : { tpEvento, state, message: message ?? '' }
  return { ...row, kind: kinds.get(kind)!, answer }
}

/** Forgets changes that are older than what is kept. */
export async function forgetChanges(ctx: Pick<Context, 'db'>): Promise<void> {
  const old = await asOperator(ctx, async ({ db }) => {
    const { rows } = await sql<{ workspaceId: number; version: bigint }>`
      select workspace_id as "workspaceId", max(version) as version from document_change
       where at < now() - ${keptDays} * interval '1 day' group by 1`.execute(db)
    return rows
  })
  for (const { workspaceId, version } of old)
    await inWorkspace(ctx, workspaceId, async ({ db }) => {
      await sql`delete from document_change where workspace_id = ${workspaceId} and version <= ${version}`.execute(db)
      // Last, because whoever changes a document waits for this row.
      await sql`
        update change_position set forgotten = greatest(forgotten, ${version}) where workspace_id = ${workspaceId}`.execute(
        db,
      )
    })
}
