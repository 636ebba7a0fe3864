import { familyOf } from '@vigia/dfe/families/lookup'
import { status } from '@vigia/dfe/families/statuses'
import { sql } from 'kysely'
import { readHiding, shownConditions } from '../companies/switches.ts'
import type { Context, Database } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { all } from './list/filter.ts'
import { type DocumentListRow, readRows } from './list/rows.ts'
import { openReceived } from './received/bytes.ts'
import { receivedContent } from './received/column.ts'

/** The complete file of a document, else its summary. Refuses unknown ids, those of others and hidden documents in the same words. */
export async function getFile({ db, ids }: Pick<Context, 'db' | 'ids'>, workspaceId: number, publicId: string) {
  const id = ids.decode(workspaceId, publicId)
  const found =
    id === null ? undefined : await readWorkspace({ db }, workspaceId, ({ db }) => findFile(db, workspaceId, id))
  if (!found) throw new AppError('not-found', 'Documento não encontrado.')
  return found
}

/** A document as the list shows it, with what is exported or printed of it. */
export interface DocumentFile extends DocumentListRow {
  /** Position of the receipt with its best bytes, and when that arrived. */
  nsu: bigint
  received_at: Date
  series: number | null
  /** The remarks, a line each. */
  remark_texts: string | null
  /** Bytes of the receipt; null: not requested. */
  content: Buffer | null
  cancelProtocol: string | null
  cancelledAt: Date | null
  epecProtocol: string | null
  epecAt: Date | null
}

// EPEC of NF-e and CT-e: earlier prints show its protocol (MOC NF-e 7.0; MOC CT-e 4.00 §3.7.1).
const epecCodes = [110140, 110113]

/** Documents with their files, in the order of the ids; `db` is inside the workspace. */
export async function readFiles(
  db: Database,
  workspaceId: number,
  ids: readonly bigint[],
  withContent: boolean,
): Promise<DocumentFile[]> {
  const listed = await readRows(db, workspaceId, ids)
  const { rows } = await sql<DocumentFile>`
    select d.id, d.nsu, r.received_at, d.series, ${withContent ? receivedContent(workspaceId, 'r') : sql`null::bytea`} as content,
           (select string_agg(m.text, E'\n' order by m.id) from document_remark m
             where m.workspace_id = ${workspaceId} and m.document_id = d.id) as remark_texts,
           e.protocol as "cancelProtocol", e.registered_at as "cancelledAt", p.protocol as "epecProtocol", p.registered_at as "epecAt"
      from document d
      left join receipt r on r.workspace_id = ${workspaceId} and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu
      left join lateral (
        select e.protocol, e.registered_at from document_event e
         where d.status = ${status.cancelled} and e.workspace_id = ${workspaceId} and e.company_id = d.company_id and e.chave = d.chave and e.status = ${status.cancelled}
         order by e.registered_at desc limit 1) e on true
      left join lateral (
        select p.protocol, p.registered_at from document_event p
         where p.workspace_id = ${workspaceId} and p.company_id = d.company_id and p.chave = d.chave
           and p.tp_evento = any (${epecCodes}::int[]) and p.rank > 0
         order by p.registered_at desc limit 1) p on true
     where d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[])`.execute(db)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return listed.map((row) => ({ ...row, ...byId.get(row.id)! }))
}

async function findFile(db: Database, workspaceId: number, id: bigint) {
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const { rows } = await sql`
    select from document d where ${all([sql`d.workspace_id = ${workspaceId}`, sql`d.id = ${id}`, ...shown])}`.execute(
    db,
  )
  const [found] = rows.length > 0 ? await readFiles(db, workspaceId, [id], true) : []
  return found?.content ? { ...found, content: found.content } : undefined
}

/** File of an event, and its document. Refuses documents like `getFile`, and unknown events. */
export async function getEvent(ctx: Pick<Context, 'db' | 'ids'>, workspaceId: number, publicId: string, name: string) {
  return readWorkspace(ctx, workspaceId, async (ctx) => {
    const document = await getFile(ctx, workspaceId, publicId)
    const event = await findEvent(ctx.db, workspaceId, document, name)
    if (!event) throw new AppError('not-found', 'Evento não encontrado.')
    return { document, event }
  })
}

async function findEvent(
  db: Context['db'],
  workspaceId: number,
  of: { company_id: number; chave: string },
  name: string,
) {
  const [, tpEvento, sequence, orgao] = /^(\d{1,6})-(\d{1,4})-(\d{1,3})$/.exec(name) ?? []
  const { rows } = await sql<{ summary: boolean; undone: boolean; content: Buffer }>`
    select e.summary, e.undone, ${receivedContent(workspaceId, 'r')} as content ${eventsOf(workspaceId, of)}
       and e.tp_evento = ${Number(tpEvento ?? -1)} and e.sequence = ${Number(sequence ?? -1)}
       and e.orgao = ${Number(orgao ?? -1)}`.execute(db)
  return rows[0]
}

// Enough for people to read; the newest events are the valid ones.
const eventFilesMax = 60

/** Files of events with these codes, by id, newest first, 60 at most. `db` is inside the workspace. */
export async function readEventFiles(
  db: Context['db'],
  workspaceId: number,
  of: { company_id: number; chave: string },
  codes: readonly number[],
): Promise<[id: string, content: Buffer][]> {
  const { rows } = await sql<{ tp_evento: number; sequence: number; orgao: number; content: Buffer }>`
    select e.tp_evento, e.sequence, e.orgao, ${receivedContent(workspaceId, 'r')} as content ${eventsOf(workspaceId, of)}
       and e.tp_evento = any (${codes}::int[]) and not e.summary
     order by e.registered_at desc limit ${eventFilesMax}`.execute(db)
  return rows.map(({ content, ...event }) => [eventId(event), content])
}

const eventsOf = (workspaceId: number, { company_id, chave }: Pick<DocumentFile, 'company_id' | 'chave'>) => sql`
  from document_event e
  join receipt r on r.workspace_id = e.workspace_id and r.company_id = e.company_id and r.service = e.type and r.nsu = e.nsu
 where e.workspace_id = ${workspaceId} and e.company_id = ${company_id} and e.chave = ${chave}`

/** Id of an event within its document: no two events have the same three numbers. */
export function eventId(event: { tp_evento: number; sequence: number; orgao: number }): string {
  return `${event.tp_evento}-${event.sequence}-${event.orgao}`
}

export async function getXml(
  ctx: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  publicId: string,
): Promise<{ content: Buffer; fileName: string; chave: string }> {
  const found = await getFile(ctx, workspaceId, publicId)
  return { content: openReceived(found.content), fileName: xmlName(found), chave: found.chave }
}

export function xmlName({ chave, type, complete }: { chave: string; type: number; complete: boolean }): string {
  return familyOf(type).files.name(chave, complete)
}
