import type { Readable } from 'node:stream'
import { exportMax } from '@vigia/contract/documents'
import { formatBrasiliaMoment, formatCount, formatInteger, writeBrasiliaTime } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../../audit/audit.ts'
import { findLogoOf, readHiding, shownConditions } from '../../companies/companies.ts'
import type { Caller, Session } from '../../http/http.ts'
import { announce } from '../../notifications/notifications.ts'
import type { Context } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { createPlaces } from '../../platform/places.ts'
import { serviceOf } from '../../platform/service.ts'
import { linkLifeMs, type Ready } from '../announcements.ts'
import { all } from '../filter.ts'
import { type Criteria, countDocuments } from '../list.ts'
import { noteRead } from '../reads.ts'
import { zip } from './archive.ts'
import { exportFiles } from './files.ts'
import { type ExportChoice, readInBatches } from './rows.ts'
import { contentsText, criteriaText, type ExportContents, families } from './texts.ts'

/** What a person wants exported: documents by their public ids, or all that criteria find. */
interface ExportRequest extends ExportContents {
  documents: string[] | Criteria
}

// As the row keeps it: numbers of documents as text.
interface Kept extends ExportContents {
  criteria?: Criteria
  ids?: string[]
  filter: string
  fileName: string
  requestedBy: string
  /** Nothing is kept of where a shared account is used from. */
  shared: boolean
}

/** An export that may be fetched for a while by the client that has its ticket. */
interface Prepared {
  /** Opaque, and only this installation can make one. */
  ticket: string
  fileName: string
  total: number
  validUntil: Date
}

/** Checks and counts an export and writes down who wanted it. Refuses ids as everywhere, and more than one export can hold. */
export async function prepareExport(
  ctx: Pick<Context, 'db' | 'ids' | 'vault'>,
  session: Session,
  { documents, ...contents }: ExportRequest,
): Promise<Prepared> {
  const { workspaceId } = session
  const now = new Date()
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    const { total, filter, kinds, ...choice } = Array.isArray(documents)
      ? await ofIds(ctx, workspaceId, documents)
      : await ofCriteria(ctx, workspaceId, documents)
    requireRoom(total, contents.pdf)
    const fileName = `${kinds} ${writeBrasiliaTime(now).slice(0, 16).replace('T', ' às ').replace(':', 'h')}.zip`
    const kept: Kept = {
      ...choice,
      ...contents,
      filter,
      fileName,
      requestedBy: session.accountName,
      shared: session.shared,
    }
    const { db } = ctx
    await sql`delete from document_export where workspace_id = ${workspaceId} and requested_at < now() - interval '1 day'`.execute(
      db,
    )
    const { id } = await db
      .insertInto('document_export')
      .values({ workspace_id: workspaceId, request: JSON.stringify(kept) })
      .returning('id')
      .executeTakeFirstOrThrow()
    const what = `Exportou ${formatCount(total, 'documento', 'documentos')} (${contentsText(contents)}): ${filter}.`
    await recordAudit({ db }, session, 'exportacao', what)
    const payload: Ready = { documents: total, by: session.accountName }
    await announce({ db }, workspaceId, { what: 'exportacao-pronta', payload })
    const validUntil = new Date(now.getTime() + linkLifeMs)
    return { ticket: seal(ctx, { workspaceId, id, validUntil }), fileName, total, validUntil }
  })
}

async function ofCriteria(ctx: Pick<Context, 'db'>, workspaceId: number, criteria: Criteria) {
  const company =
    criteria.companyId === undefined
      ? undefined
      : await ctx.db
          .selectFrom('company')
          .select(['name', 'cnpj'])
          .where('workspace_id', '=', workspaceId)
          .where('id', '=', criteria.companyId)
          .executeTakeFirstOrThrow()
  return {
    criteria,
    total: await countDocuments(ctx, workspaceId, criteria),
    filter: criteriaText(criteria, company),
    kinds: families[serviceOf(criteria.type)] as string,
  }
}

async function ofIds({ db, ids }: Pick<Context, 'db' | 'ids'>, workspaceId: number, documents: string[]) {
  const decoded = [...new Set(documents)].map((id) => ids.decode(workspaceId, id))
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const known = decoded.filter((id) => id !== null)
  const { rows } = await sql<{ id: bigint; type: number }>`
    select d.id, d.type from document d
     where ${all([sql`d.workspace_id = ${workspaceId}`, sql`d.id = any (${known}::bigint[])`, ...shown])}
     order by d.issued_at desc, d.id desc`.execute(db)
  if (rows.length < decoded.length) throw new AppError('not-found', 'Documento não encontrado.')
  const kinds = new Set(rows.map(({ type }) => families[serviceOf(type)]))
  return {
    ids: rows.map(({ id }) => String(id)),
    total: rows.length,
    filter: formatCount(rows.length, 'documento escolhido', 'documentos escolhidos'),
    kinds: [...kinds].sort().reverse().join(' e '),
  }
}

function requireRoom(total: number, pdf: boolean): void {
  if (total === 0) throw new AppError('conflict', 'Nenhum documento corresponde a este filtro: não há o que exportar.')
  const [documents, withPdf] = [exportMax.documents, exportMax.withPdf].map(formatInteger)
  const are = `são ${formatInteger(total)}. Nada foi exportado`
  if (total > exportMax.documents)
    throw new AppError(
      'conflict',
      `Uma exportação alcança até ${documents} documentos, e ${are}: escolha um período menor.`,
    )
  if (pdf && total > exportMax.withPdf)
    throw new AppError(
      'conflict',
      `Com PDF, uma exportação alcança até ${withPdf} documentos, e ${are}: escolha um período menor ou exporte sem PDF.`,
    )
}

interface Ticket {
  workspaceId: number
  id: bigint
  validUntil: Date
}

const purpose = 'ticket of an export'

// One query for each issuer: an export has thousands of documents and few issuers with a logo.
function logosOf(ctx: Pick<Context, 'db'>, workspaceId: number): (taxId: string) => Promise<Uint8Array | undefined> {
  const known = new Map<string, Promise<Uint8Array | undefined>>()
  return (taxId) => {
    const found = known.get(taxId) ?? findLogoOf(ctx, workspaceId, taxId)
    known.set(taxId, found)
    // The next document of the issuer asks again.
    found.catch(() => known.delete(taxId))
    return found
  }
}

function seal({ vault }: Pick<Context, 'vault'>, { workspaceId, id, validUntil }: Ticket): string {
  return vault.encrypt(`${workspaceId}/${id}/${validUntil.getTime()}`, purpose).toString('base64url')
}

function open({ vault }: Pick<Context, 'vault'>, ticket: string): Ticket | null {
  if (!/^[\w-]{40,200}$/.test(ticket)) return null
  let plain: string
  try {
    plain = vault.decrypt(Buffer.from(ticket, 'base64url'), purpose)
  } catch {
    return null
  }
  const [workspaceId = '', id = '', validUntil = ''] = plain.split('/')
  return { workspaceId: Number(workspaceId), id: BigInt(id), validUntil: new Date(Number(validUntil)) }
}

// One that is stuck costs a batch of rows.
const downloading = createPlaces({
  all: 32,
  each: 2,
  waiting: 5,
  full: 'Já há downloads demais desta conta em andamento. Seus documentos estão seguros: espere um deles terminar e abra o link de novo.',
})
const downloadMsMax = 3_600_000
// A browser that breaks off after the last byte has left here tries again.
const fetchesMax = 3
const fetchedNow = new Set<string>()

const notThere = () =>
  new AppError(
    'not-found',
    'Exportação não encontrada, ou já baixada: cada link serve para poucos downloads. Seus documentos estão seguros: exporte de novo.',
  )

/**
 * The ZIP of a prepared export, made while it is read, of what its workspace shows by then. Refuses tickets that are not ours, those whose
 * time is over, those that somebody is fetching, and those that were fetched three times: a link that leaks is worth nothing afterwards.
 */
export async function openExport(
  ctx: Pick<Context, 'db' | 'vault' | 'log' | 'config' | 'printer'>,
  ticket: string,
  { address }: Pick<Caller, 'address'>,
): Promise<{ content: Readable; fileName: string }> {
  const opened = open(ctx, ticket)
  if (!opened) throw notThere()
  if (opened.validUntil <= new Date())
    throw new AppError(
      'gone',
      'O link desta exportação valia por dez minutos, que já passaram. Seus documentos estão seguros: exporte de novo.',
    )
  const key = `${opened.workspaceId}/${opened.id}`
  if (fetchedNow.has(key))
    throw new AppError('conflict', 'Esta exportação está sendo baixada agora. Seus documentos estão seguros.')
  await using stack = new AsyncDisposableStack()
  fetchedNow.add(key)
  stack.defer(() => void fetchedNow.delete(key))
  stack.use(await downloading.take(opened.workspaceId))
  const kept = await findKept(ctx, opened)
  if (!kept) throw notThere()
  await noteRead(
    ctx,
    // The link asks for no session: it is known who got it.
    { workspaceId: opened.workspaceId, accountName: kept.requestedBy, address: kept.shared ? undefined : address },
    `Baixou a exportação “${kept.fileName}”.`,
  )
  const content = zip((abandoned) => filesOf(ctx, opened, kept, abandoned))
  const limit = setTimeout(() => content.destroy(new Error('a download took too long')), downloadMsMax)
  const held = stack.move()
  const close = async () => {
    clearTimeout(limit)
    try {
      if (content.readableEnded) await noteFetched(ctx, opened)
    } catch (err) {
      ctx.log.error({ err, workspaceId: opened.workspaceId }, 'a download was not counted')
    }
    await held.disposeAsync()
  }
  content.once('close', () => void close())
  return { content, fileName: kept.fileName }
}

function filesOf(
  ctx: Pick<Context, 'db' | 'log' | 'config' | 'printer'>,
  { workspaceId }: Ticket,
  { criteria, ids = [], filter, fileName: _, requestedBy, shared: __, ...contents }: Kept,
  abandoned: AbortSignal,
) {
  const choice: ExportChoice = criteria ? { criteria } : { ids: ids.map(BigInt) }
  const at = new Date()
  const task = {
    rows: readInBatches(ctx, workspaceId, choice, { withContent: contents.xml || contents.pdf, abandoned }),
    contents,
    role: criteria?.role,
    logoOf: logosOf(ctx, workspaceId),
    productName: ctx.config.productName,
    filter,
    made: `${formatBrasiliaMoment(at)} (horário de Brasília), por ${requestedBy}`,
    at,
  }
  return exportFiles(task, ctx)
}

async function noteFetched(ctx: Pick<Context, 'db'>, { workspaceId, id }: Ticket): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      with fetched as (
        update document_export set request = jsonb_set(request, '{fetched}', to_jsonb(coalesce((request ->> 'fetched')::int, 0) + 1))
         where workspace_id = ${workspaceId} and id = ${id} and coalesce((request ->> 'fetched')::int, 0) + 1 < ${fetchesMax} returning id)
      delete from document_export where workspace_id = ${workspaceId} and id = ${id} and not exists (select 1 from fetched)`.execute(
      db,
    ),
  )
}

async function findKept(ctx: Pick<Context, 'db'>, { workspaceId, id }: Ticket): Promise<Kept | undefined> {
  const row = await readWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('document_export')
      .select('request')
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .executeTakeFirst(),
  )
  // Written by this file, in this shape.
  return row?.request as Kept | undefined
}
