import { sql } from 'kysely'
import { readHiding, shownConditions } from '../companies/switches.ts'
import type { Context } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { serviceOf } from '../platform/service.ts'
import { openReceived } from './received/bytes.ts'
import { receivedContent } from './received/column.ts'
import type { KnownProof } from './signatures/proof.ts'

/** The complete file of a document, else its summary. Refuses unknown ids, those of others and hidden documents in the same words. */
export async function getFile({ db, ids }: Pick<Context, 'db' | 'ids'>, workspaceId: number, publicId: string) {
  const id = ids.decode(workspaceId, publicId)
  const found =
    id === null ? undefined : await readWorkspace({ db }, workspaceId, ({ db }) => findFile(db, workspaceId, id))
  if (!found) throw new AppError('not-found', 'Documento não encontrado.')
  return found
}

/** The EPEC of an NF-e and of a CT-e: whoever printed before the authorisation had its protocol (MOC NF-e 7.0; MOC CT-e 4.00 §3.7.1). */
export const epecCodes = [110140, 110113]

async function findFile(db: Context['db'], workspaceId: number, id: bigint) {
  const hiding = await readHiding({ db }, workspaceId)
  return db
    .selectFrom('document as d')
    .innerJoin('supplier as s', (join) =>
      join.onRef('s.workspace_id', '=', 'd.workspace_id').onRef('s.id', '=', 'd.supplier_id'),
    )
    .innerJoin('receipt as r', (join) =>
      join
        .onRef('r.workspace_id', '=', 'd.workspace_id')
        .onRef('r.company_id', '=', 'd.company_id')
        .onRef('r.service', '=', 'd.type')
        .onRef('r.nsu', '=', 'd.nsu'),
    )
    .leftJoin('document_event as e', (join) =>
      join
        .onRef('e.workspace_id', '=', 'd.workspace_id')
        .onRef('e.company_id', '=', 'd.company_id')
        .onRef('e.chave', '=', 'd.chave')
        .on('e.status', '=', 3),
    )
    .leftJoin('document_event as c', (join) =>
      join
        .onRef('c.workspace_id', '=', 'd.workspace_id')
        .onRef('c.company_id', '=', 'd.company_id')
        .onRef('c.chave', '=', 'd.chave')
        .on('c.tp_evento', 'in', epecCodes)
        .on('c.rank', '>', 0),
    )
    .select([
      'd.id',
      'd.type',
      'd.company_id',
      'd.chave',
      'd.complete',
      'd.status',
      sql<KnownProof | null>`d.proof`.as('proof'),
      's.tax_id as issuerTaxId',
      receivedContent(workspaceId, 'r').as('content'),
      'r.received_at',
      'e.protocol as cancelProtocol',
      'e.registered_at as cancelledAt',
      'c.protocol as epecProtocol',
      'c.registered_at as epecAt',
    ])
    .where('d.workspace_id', '=', workspaceId)
    .where('d.id', '=', id)
    .where((where) => where.and(shownConditions(hiding, 'd')))
    .orderBy('e.registered_at', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** What arrived of an event of a document, and the document. Refuses documents like `getFile`, and events that it does not have. */
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
  return db
    .selectFrom('document_event as e')
    .innerJoin('receipt as r', (join) =>
      join
        .onRef('r.workspace_id', '=', 'e.workspace_id')
        .onRef('r.company_id', '=', 'e.company_id')
        .onRef('r.service', '=', 'e.type')
        .onRef('r.nsu', '=', 'e.nsu'),
    )
    .select(['e.summary', 'e.undone', receivedContent(workspaceId, 'r').as('content')])
    .where('e.workspace_id', '=', workspaceId)
    .where('e.company_id', '=', of.company_id)
    .where('e.chave', '=', of.chave)
    .where('e.tp_evento', '=', Number(tpEvento ?? -1))
    .where('e.sequence', '=', Number(sequence ?? -1))
    .where('e.orgao', '=', Number(orgao ?? -1))
    .executeTakeFirst()
}

// Of one document people read no more; the newest say what holds.
const eventFilesMax = 60

/** What arrived of the events of a document that have one of these codes, by their ids, newest first, 60 at most. `db` is inside the workspace. */
export async function readEventFiles(
  db: Context['db'],
  workspaceId: number,
  of: { company_id: number; chave: string },
  codes: readonly number[],
): Promise<[id: string, content: Buffer][]> {
  const rows = await db
    .selectFrom('document_event as e')
    .innerJoin('receipt as r', (join) =>
      join
        .onRef('r.workspace_id', '=', 'e.workspace_id')
        .onRef('r.company_id', '=', 'e.company_id')
        .onRef('r.service', '=', 'e.type')
        .onRef('r.nsu', '=', 'e.nsu'),
    )
    .select(['e.tp_evento', 'e.sequence', 'e.orgao', receivedContent(workspaceId, 'r').as('content')])
    .where('e.workspace_id', '=', workspaceId)
    .where('e.company_id', '=', of.company_id)
    .where('e.chave', '=', of.chave)
    .where('e.tp_evento', 'in', codes)
    .where('e.summary', '=', false)
    .orderBy('e.registered_at', 'desc')
    .limit(eventFilesMax)
    .execute()
  return rows.map(({ content, ...event }) => [eventId(event), content])
}

/** What an event of a document is called: no two of them have the same three numbers. */
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
  return `${chave}-${complete ? 'proc' : 'res'}${serviceOf(type) === 'nfe' ? 'NFe' : 'CTe'}.xml`
}
