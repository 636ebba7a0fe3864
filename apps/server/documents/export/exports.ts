import type { Readable } from 'node:stream'
import { exportMax } from '@vigia/contract/documents'
import { formatCount, formatInteger, writeBrasiliaTime } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../../audit/audit.ts'
import { readHiding, shownConditions } from '../../companies/companies.ts'
import type { Caller, Session } from '../../http/http.ts'
import type { Context } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { pause } from '../../platform/pause.ts'
import { createPlaces } from '../../platform/places.ts'
import { serviceOf } from '../../platform/service.ts'
import { all } from '../filter.ts'
import { type Criteria, countDocuments } from '../list.ts'
import { noteRead } from '../reads.ts'
import { streamOf } from './archive.ts'
import { keptMax, makeRoom } from './keeping.ts'
import { contentsText, criteriaText, type ExportContents, families } from './texts.ts'

/** What a person wants in one file: documents by their public ids, or all that criteria find. */
interface ExportRequest {
  documents: string[] | Criteria
  /** What a ZIP holds; null: the printed forms as one PDF. */
  contents: ExportContents | null
}

/** What the row keeps of a request; numbers of documents as text. */
export interface Kept {
  criteria?: Criteria
  ids?: string[]
  contents: ExportContents | null
  filter: string
  fileName: string
  requestedBy: string
  /** Nothing is kept of where a shared account is used from. */
  shared: boolean
  /** Downloads that began, by link, each link named by its end. */
  fetched?: Record<string, number>
}

/** A link to an export, for the client that has it and for a while. */
interface Link {
  /** Opaque, and only this installation can make one. */
  ticket: string
  form: Form
  validUntil: Date
}

/** An export that a worker will make. */
export interface PreparedExport extends Link {
  id: string
  fileName: string
  total: number
}

/** A ZIP, or the printed forms as one PDF. */
type Form = 'zip' | 'pdf'

// Of a workspace.
const waitingMax = 10

/** Checks and counts an export and writes down who wanted it; a worker makes it. Refuses ids as everywhere, and more than one export can hold. */
export async function prepareExport(
  ctx: Pick<Context, 'db' | 'ids' | 'vault'>,
  session: Session,
  { documents, contents }: ExportRequest,
): Promise<PreparedExport> {
  const { workspaceId } = session
  const now = new Date()
  return inWorkspace(ctx, workspaceId, async (ctx) => {
    const { total, filter, kinds, ...choice } = Array.isArray(documents)
      ? await ofIds(ctx, workspaceId, documents)
      : await ofCriteria(ctx, workspaceId, documents)
    requireRoom(total, contents)
    const form: Form = contents ? 'zip' : 'pdf'
    const made = writeBrasiliaTime(now).slice(0, 16).replace('T', ' às ').replace(':', 'h')
    const fileName = `${contents ? kinds : `${kinds} para imprimir`} ${made}.${form}`
    const { accountName: requestedBy, shared } = session
    const kept: Kept = { ...choice, contents, filter, fileName, requestedBy, shared }
    const { db } = ctx
    await requireTurn(db, workspaceId)
    const { id } = await db
      .insertInto('document_export')
      .values({ workspace_id: workspaceId, account_id: session.accountId, form, total, request: JSON.stringify(kept) })
      .returning('id')
      .executeTakeFirstOrThrow()
    const count = formatCount(total, 'documento', 'documentos')
    await recordAudit(
      { db },
      session,
      'exportacao',
      contents
        ? `Exportou ${count} (${contentsText(contents)}): ${filter}.`
        : `Pediu a impressão de ${count}: ${filter}.`,
    )
    return { ...linkTo(ctx, { workspaceId, id, form }), id: ctx.ids.encode(workspaceId, id), fileName, total }
  })
}

// Room for one more, and a place in the queue for it.
async function requireTurn(db: Context['db'], workspaceId: number): Promise<void> {
  await makeRoom({ db }, workspaceId, 1)
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from document_export where workspace_id = ${workspaceId} and state = 'waiting'`.execute(
    db,
  )
  if (rows[0]!.n >= waitingMax)
    throw new AppError(
      'too-many',
      'Já há dez exportações e impressões desta conta na fila. Seus documentos estão seguros: espere uma delas ficar pronta e peça de novo.',
      { retryAfterMs: 30_000 },
    )
}

/** An export or a print as its people see it. */
export interface ExportState {
  id: string
  fileName: string
  form: Form
  state: 'waiting' | 'running' | 'ready' | 'failed'
  done: number
  total: number
  bytes: number
  requestedBy: string
  requestedAt: Date
  /** Why it failed, or what is not in it. */
  problem: string | null
}

/** What people of the workspace wanted exported or printed within a day, newest first. */
export async function readExports(ctx: Pick<Context, 'db' | 'ids'>, workspaceId: number): Promise<ExportState[]> {
  const rows = await readWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('document_export')
      .select(['id', 'form', 'state', 'done', 'total', 'problem', 'requested_at as requestedAt'])
      .select(sql<number>`bytes::float8`.as('bytes'))
      .select(sql<boolean>`coalesce(lease_until > now(), false)`.as('running'))
      .select(sql<Pick<Kept, 'fileName' | 'requestedBy'>>`request - 'ids'`.as('request'))
      .where('workspace_id', '=', workspaceId)
      .where('requested_at', '>', sql<Date>`now() - interval '1 day'`)
      .orderBy('id', 'desc')
      .limit(keptMax)
      .execute(),
  )
  return rows.map(({ id, state, running, request: { fileName, requestedBy }, ...row }) => ({
    ...row,
    id: ctx.ids.encode(workspaceId, id),
    state: state === 'waiting' && running ? 'running' : state,
    fileName,
    requestedBy,
  }))
}

/** A new link to an export of the workspace, whoever of its people wanted it. */
export async function renewLink(
  ctx: Pick<Context, 'db' | 'ids' | 'vault'>,
  workspaceId: number,
  publicId: string,
): Promise<Link> {
  const id = ctx.ids.decode(workspaceId, publicId)
  const found = id !== null && (await findKept(ctx, { workspaceId, id }))
  if (!found) throw notThere()
  return linkTo(ctx, { workspaceId, id, form: found.form })
}

function linkTo(ctx: Pick<Context, 'vault'>, of: { workspaceId: number; id: bigint; form: Form }): Link {
  const validUntil = new Date(Date.now() + linkLifeMs)
  return { ticket: seal(ctx, { ...of, validUntil }), form: of.form, validUntil }
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

function requireRoom(total: number, contents: ExportContents | null): void {
  if (total === 0) throw new AppError('conflict', 'Nenhum documento corresponde a este filtro: não há o que exportar.')
  const [documents, withPdf] = [exportMax.documents, exportMax.withPdf].map(formatInteger)
  const are = `são ${formatInteger(total)}. Nada foi exportado`
  if (total > exportMax.documents)
    throw new AppError(
      'conflict',
      `Uma exportação alcança até ${documents} documentos, e ${are}: escolha um período menor.`,
    )
  if (contents === null && total > exportMax.printed)
    throw new AppError(
      'conflict',
      `Uma impressão alcança até ${formatInteger(exportMax.printed)} documentos, e são ${formatInteger(total)}. Nada foi impresso: escolha um período menor, ou exporte os PDF.`,
    )
  if (contents?.pdf && total > exportMax.withPdf)
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
const linkLifeMs = 10 * 60_000

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
// A browser that breaks off tries again.
const fetchesMax = 3
const fetchedNow = new Set<string>()
// Between two looks for the next part of an export that is being made.
const partPauseMs = 250
// Clients and proxies wait half a minute for the head of a response.
const beginningMsMax = 20_000
const never = new AbortController().signal

const notThere = () =>
  new AppError(
    'not-found',
    'Exportação não encontrada, ou já baixada: cada link serve para poucos downloads. Seus documentos estão seguros: exporte de novo.',
  )

/**
 * The file of an export, also while it is being made. Refuses tickets that are not ours, those whose time is over, those that somebody is
 * fetching, and those that were fetched three times, to the end or not: a link that leaks is worth nothing afterwards.
 */
export async function openExport(
  ctx: Pick<Context, 'db' | 'vault' | 'log'>,
  ticket: string,
  form: Form,
  { address }: Pick<Caller, 'address'>,
): Promise<{ content: Readable; fileName: string }> {
  const opened = open(ctx, ticket)
  if (!opened) throw notThere()
  if (opened.validUntil <= new Date())
    throw new AppError(
      'gone',
      'O link desta exportação valia por dez minutos, que já passaram. Seus documentos estão seguros: baixe pelo sino, ou exporte de novo.',
    )
  const { workspaceId, id } = opened
  const key = `${workspaceId}/${id}/${opened.validUntil.getTime()}`
  if (fetchedNow.has(key))
    throw new AppError('conflict', 'Esta exportação está sendo baixada agora. Seus documentos estão seguros.')
  await using stack = new AsyncDisposableStack()
  fetchedNow.add(key)
  stack.defer(() => void fetchedNow.delete(key))
  stack.use(await downloading.take(workspaceId))
  const found = await findKept(ctx, opened)
  if (found?.form !== form || fetchesOf(found.request, opened) >= fetchesMax) throw notThere()
  const { fileName, requestedBy, shared } = found.request
  await requireBeginning(ctx, opened)
  await noteRead(
    ctx,
    // The link asks for no session: it is known who got it.
    { workspaceId, accountName: requestedBy, address: shared ? undefined : address },
    form === 'zip' ? `Baixou a exportação “${fileName}”.` : `Abriu a impressão “${fileName}”.`,
  )
  const content = streamOf((abandoned) => fetched(ctx, opened, abandoned))
  const limit = setTimeout(() => content.destroy(new Error('a download took too long')), downloadMsMax)
  const held = stack.move()
  content.once('close', () => {
    clearTimeout(limit)
    void held.disposeAsync()
  })
  return { content, fileName }
}

// What fails before its first byte can be told in words.
async function requireBeginning(ctx: Pick<Context, 'db'>, ticket: Ticket): Promise<void> {
  const until = performance.now() + beginningMsMax
  for (;;) {
    const found = await findKept(ctx, ticket)
    if (!found) throw notThere()
    if (found.state === 'failed') throw new AppError('conflict', found.problem ?? notMade)
    if (found.state === 'ready' || found.parts > 0) return
    if (performance.now() > until)
      throw new AppError(
        'conflict',
        'Este arquivo ainda está na fila. Ele continua a ser feito: acompanhe no sino e baixe-o quando estiver pronto.',
      )
    await pause(partPauseMs, never)
  }
}

/** Why an export failed, when nobody knows more. */
export const notMade = 'Não conseguimos montar este arquivo. Seus documentos estão seguros: peça de novo.'

// Counted before the first byte leaves: whoever breaks off just before the end has the file too. Nobody takes bytes for a HEAD.
async function* fetched(ctx: Pick<Context, 'db'>, ticket: Ticket, abandoned: AbortSignal): AsyncGenerator<Buffer> {
  await noteFetch(ctx, ticket)
  yield* partsOf(ctx, ticket, abandoned)
}

// Each part in a transaction of its own: who downloads slowly keeps no connection.
async function* partsOf(
  ctx: Pick<Context, 'db'>,
  { workspaceId, id }: Ticket,
  abandoned: AbortSignal,
): AsyncGenerator<Buffer> {
  let attempt: number | undefined
  for (let n = 0; ; ) {
    const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
      sql<{ state: string; attempt: number; parts: number; content: Buffer | null }>`
        select e.state, e.attempt, e.parts, p.content
          from document_export e
          left join export_part p on p.workspace_id = e.workspace_id and p.export_id = e.id and p.n = ${n}
         where e.workspace_id = ${workspaceId} and e.id = ${id}`.execute(db),
    )
    const [row] = rows
    if (!row || row.state === 'failed') throw new Error('an export failed while it was fetched')
    // The beginning that has left is not of this file.
    if (n > 0 && row.attempt !== attempt) throw new Error('an export began anew while it was fetched')
    attempt = row.attempt
    if (row.content && n < row.parts) {
      yield row.content
      n++
    } else if (row.state === 'ready') {
      if (n === row.parts) return
      // A crash of the database emptied the table of parts.
      await makeAnew(ctx, workspaceId, id)
    } else await pause(partPauseMs, abandoned)
    abandoned.throwIfAborted()
  }
}

async function makeAnew(ctx: Pick<Context, 'db'>, workspaceId: number, id: bigint): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .updateTable('document_export')
      .set({ state: 'waiting', parts: 0, bytes: 0n, done: 0 })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where('state', '=', 'ready')
      .execute(),
  )
}

function fetchesOf({ fetched = {} }: Kept, { validUntil }: Ticket): number {
  return fetched[validUntil.getTime()] ?? 0
}

async function noteFetch(ctx: Pick<Context, 'db'>, { workspaceId, id, validUntil }: Ticket): Promise<void> {
  const link = String(validUntil.getTime())
  const before = sql`coalesce((request -> 'fetched' ->> ${link})::int, 0)`
  const { numAffectedRows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`
      update document_export
         set request = jsonb_set(request, '{fetched}', coalesce(request -> 'fetched', '{}') ||
               jsonb_build_object(${link}::text, ${before} + 1))
       where workspace_id = ${workspaceId} and id = ${id} and ${before} < ${fetchesMax}`.execute(db),
  )
  // Another process was quicker.
  if (!numAffectedRows) throw new Error('an export was fetched by others meanwhile, or dropped')
}

async function findKept(ctx: Pick<Context, 'db'>, { workspaceId, id }: Pick<Ticket, 'workspaceId' | 'id'>) {
  const row = await readWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('document_export')
      .select(['request', 'form', 'state', 'parts', 'problem'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where('requested_at', '>', sql<Date>`now() - interval '1 day'`)
      .executeTakeFirst(),
  )
  // Written by this file, in this shape.
  return row && { ...row, request: row.request as Kept }
}
