import { createHash, randomBytes } from 'node:crypto'
import { exportMax } from '@vigia/contract/documents'
import { formatCount, formatInteger, writeBrasiliaTime } from '@vigia/contract/text'
import { sql } from 'kysely'
import { requireRecentProof } from '../../accounts/accounts.ts'
import { recordAudit } from '../../audit/audit.ts'
import { readHiding, shownConditions } from '../../companies/companies.ts'
import type { Caller, FileResponse, Session } from '../../http/http.ts'
import { countTry, type Limit } from '../../http/throttle.ts'
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
import { isKept, isLeaving, keptMax, makeRoom } from './keeping.ts'
import type { Place, Volume } from './leaving-files.ts'
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
  /** Everything, or a part of it: `contents`, `filter` and the rest only name it. */
  leaving?: Volume
  /** Of this the name of its bytes is made, which only who began to fetch them knows. Absent: asked for before there was one. */
  secret?: string
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
    const kept: Kept = { ...choice, contents, filter, fileName, requestedBy, shared, secret: newSecret() }
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

const newSecret = () => randomBytes(16).toString('base64url')

const leavingAtMost: Limit = { name: 'leaving', times: 3, withinMs: 24 * 3_600_000 }

const ofAllVisitors =
  'Esta conta é compartilhada por todos os visitantes, e por isso ninguém leva tudo dela. Nada foi feito: exporte das listas os documentos que quiser.'

/**
 * Has an archive of everything made that the workspace keeps, in as many files as it takes; they replace the last one. Refuses a second one while one
 * is made, more than three a day, and PDFs of more documents than can be laid out in a reasonable time. Neither plan nor a deletion that
 * waits stands against it.
 */
export async function prepareLeaving(
  ctx: Pick<Context, 'db'>,
  session: Session,
  { pdf }: { pdf: boolean },
): Promise<{ files: number; receipts: number }> {
  requireRecentProof(session)
  const { workspaceId, accountId, accountName: requestedBy, shared } = session
  if (shared) throw new AppError('conflict', ofAllVisitors)
  const now = new Date()
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    // Two that ask at once take turns, and the second one finds the first.
    await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute()
    const { rows: waiting } = await sql`
      select from document_export where workspace_id = ${workspaceId} and ${isLeaving} and state = 'waiting' limit 1`.execute(
      db,
    )
    if (waiting.length > 0)
      throw new AppError(
        'conflict',
        'O arquivo com tudo já está sendo feito. Acompanhe no sino e baixe-o quando estiver pronto.',
      )
    const { receipts, documents, ends } = await measure({ db }, workspaceId)
    if (pdf && documents > exportMax.leavingPdf)
      throw new AppError(
        'conflict',
        `Com PDF, o arquivo com tudo alcança até ${formatInteger(exportMax.leavingPdf)} documentos, e são ${formatInteger(documents)}. Nada foi feito: leve tudo sem PDF, que o XML é o documento, e exporte das listas os PDF de que precisa.`,
      )
    await countTry({ db }, leavingAtMost, String(workspaceId))
    // Their bytes go piece by piece: there may be twenty gigabytes of them.
    await sql`
      update document_export set requested_at = '-infinity' where workspace_id = ${workspaceId} and ${isLeaving}`.execute(
      db,
    )
    const made = writeBrasiliaTime(now).slice(0, 16).replace('T', ' às ').replace(':', 'h')
    const of = ends.length + 1
    for (let number = 1; number <= of; number++) {
      const leaving = { pdf, number, of, after: ends[number - 2] ?? null, upto: ends[number - 1] ?? null }
      const kept: Kept = {
        leaving,
        contents: { xml: true, pdf, planilha: true },
        filter: 'tudo',
        fileName: `Tudo ${made}${of > 1 ? ` (${number} de ${of})` : ''}.zip`,
        requestedBy,
        shared,
        secret: newSecret(),
      }
      const total = number < of ? exportMax.documents : receipts - exportMax.documents * (of - 1)
      await db
        .insertInto('document_export')
        .values({ workspace_id: workspaceId, account_id: accountId, form: 'zip', total, request: JSON.stringify(kept) })
        .execute()
    }
    await recordAudit(
      { db },
      session,
      'exportacao',
      `Pediu o arquivo com tudo o que a conta guarda${pdf ? ', com PDF' : ''}: ${formatCount(receipts, 'arquivo recebido da SEFAZ', 'arquivos recebidos da SEFAZ')}, planilhas, auditoria e configurações.`,
    )
    return { files: of, receipts }
  })
}

// How much there is, and the last receipt of each file but the last one.
async function measure({ db }: Pick<Context, 'db'>, workspaceId: number) {
  const { rows: counts } = await sql<{ receipts: number; documents: number }>`
    select (select count(*)::int from receipt where workspace_id = ${workspaceId}) as receipts,
           (select coalesce(sum(n), 0)::int from count_year where workspace_id = ${workspaceId}) as documents`.execute(
    db,
  )
  const { rows } = await sql<{ companyId: number; service: number; nsu: string }>`
    select company_id as "companyId", service, nsu::text
      from (select company_id, service, nsu, row_number() over (order by company_id, service, nsu) as n
              from receipt where workspace_id = ${workspaceId}) r
     where n % ${exportMax.documents} = 0 and n < ${counts[0]!.receipts} order by n`.execute(db)
  return { ...counts[0]!, ends: rows.map(({ companyId, service, nsu }): Place => [companyId, service, nsu]) }
}

// Room for one more, and a place in the queue for it.
async function requireTurn(db: Context['db'], workspaceId: number): Promise<void> {
  await makeRoom({ db }, workspaceId, 1)
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from document_export
     where workspace_id = ${workspaceId} and state = 'waiting' and not ${isLeaving}`.execute(db)
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
  /** Everything, or a part of it. */
  leaving: boolean
}

// Files of everything stand beside them.
const listedMax = 2 * keptMax

/** What people of the workspace wanted exported or printed and is kept, newest first. */
export async function readExports(ctx: Pick<Context, 'db' | 'ids'>, workspaceId: number): Promise<ExportState[]> {
  const rows = await readWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('document_export')
      .select(['id', 'form', 'state', 'done', 'total', 'problem', 'requested_at as requestedAt'])
      .select(sql<number>`bytes::float8`.as('bytes'))
      .select(sql<boolean>`coalesce(lease_until > now(), false)`.as('running'))
      .select(sql<Pick<Kept, 'fileName' | 'requestedBy'>>`request - 'ids'`.as('request'))
      .select(isLeaving.as('leaving'))
      .where('workspace_id', '=', workspaceId)
      .where(isKept)
      .orderBy('id', 'desc')
      .limit(listedMax)
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

/** A new link to an export of the workspace, whoever of its people wanted it; to everything only for who proved lately to be one of them. */
export async function renewLink(
  ctx: Pick<Context, 'db' | 'ids' | 'vault'>,
  session: Session,
  publicId: string,
): Promise<Link> {
  const { workspaceId } = session
  const id = ctx.ids.decode(workspaceId, publicId)
  const found = id !== null && (await findKept(ctx, { workspaceId, id }))
  if (!found) throw notThere()
  // No key takes everything out.
  if (found.request.leaving && session.scopes) throw notThere()
  if (found.request.leaving) requireRecentProof(session)
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
// How each link that is being fetched is broken off.
const fetchedNow = new Map<string, () => void>()
// A line that breaks every minute is still got through.
const continuations: Limit = { name: 'export-continued', times: 200, withinMs: 3_600_000 }
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
 * fetching, and those that were fetched three times, to the end or not: a link that leaks is worth nothing afterwards. A client that was cut off
 * and tells the name of the bytes it has goes on as long as the file is kept.
 */
export async function openExport(
  ctx: Pick<Context, 'db' | 'vault' | 'log'>,
  ticket: string,
  form: Form,
  { address, continues }: Pick<Caller, 'address' | 'continues'>,
): Promise<FileResponse & { fileName: string }> {
  const opened = open(ctx, ticket)
  if (!opened) throw notThere()
  const { workspaceId, id } = opened
  const goesOn = continues !== undefined && (await hasBegun(ctx, opened, continues.tag))
  if (!goesOn && opened.validUntil <= new Date())
    throw new AppError(
      'gone',
      'O link desta exportação valia por dez minutos, que já passaram. Seus documentos estão seguros: baixe pelo sino, ou exporte de novo.',
    )
  const key = `${workspaceId}/${id}/${opened.validUntil.getTime()}`
  if (goesOn) {
    await countTry(ctx, continuations, key)
    // Nobody may have noticed yet that the client has left.
    fetchedNow.get(key)?.()
  } else if (fetchedNow.has(key))
    throw new AppError('conflict', 'Esta exportação está sendo baixada agora. Seus documentos estão seguros.')
  await using stack = new AsyncDisposableStack()
  let breakOff = () => {}
  const fetching = () => breakOff()
  fetchedNow.set(key, fetching)
  stack.defer(() => {
    if (fetchedNow.get(key) === fetching) fetchedNow.delete(key)
  })
  stack.use(await downloading.take(workspaceId))
  const found = await findKept(ctx, opened)
  if (found?.form !== form || (!goesOn && fetchesOf(found.request, opened) >= fetchesMax)) throw notThere()
  const { fileName, requestedBy, shared } = found.request
  await requireBeginning(ctx, opened)
  // The link asks for no session: it is known who got it.
  const reader = { workspaceId, accountName: requestedBy, address: shared ? undefined : address }
  if (!goesOn)
    await noteRead(
      ctx,
      reader,
      form === 'zip' ? `Baixou a exportação “${fileName}”.` : `Abriu a impressão “${fileName}”.`,
    )
  const whole = await findWhole(ctx, opened)
  const from = whole && continues && (continues.tag ?? whole.tag) === whole.tag ? continues.from : 0
  const place = whole && (await placeIn(ctx, opened, from))
  const content = streamOf((abandoned) => {
    const bytes = partsOf(ctx, opened, abandoned, place ? { ...place, ...whole } : undefined)
    return goesOn ? bytes : fetched(ctx, opened, bytes)
  })
  breakOff = () => content.destroy()
  const limit = setTimeout(() => content.destroy(new Error('a download took too long')), downloadMsMax)
  const held = stack.move()
  content.once('close', () => {
    clearTimeout(limit)
    void held.disposeAsync()
  })
  return { content, fileName, ...(whole && place && { whole: { bytes: whole.bytes, tag: whole.tag, from } }) }
}

// Whether a client has the beginning of these bytes: nobody else knows their name.
async function hasBegun(ctx: Pick<Context, 'db'>, ticket: Ticket, tag: string | null): Promise<boolean> {
  return tag !== null && (await findWhole(ctx, ticket))?.tag === tag
}

/** A file that is ready, with the name of its bytes: made anew, it has another one. */
interface Whole {
  bytes: number
  parts: number
  attempt: number
  tag: string
}

async function findWhole(ctx: Pick<Context, 'db'>, ticket: Ticket): Promise<Whole | null> {
  const found = await findKept(ctx, ticket)
  // A viewer in a browser would ask for a PDF in many small pieces, each of them a download.
  if (found?.state !== 'ready' || found.form !== 'zip' || !found.request.secret) return null
  const { bytes, parts, attempt, request } = found
  const digest = createHash('sha256').update(`${request.secret} ${attempt}`).digest('base64url')
  return { bytes, parts, attempt, tag: `"${digest.slice(0, 22)}"` }
}

// The part in which a byte stands, and how many stand before it there; null when parts are missing: a crash of the database emptied their table.
async function placeIn(
  ctx: Pick<Context, 'db'>,
  { workspaceId, id }: Ticket,
  from: number,
): Promise<{ n: number; skip: number } | null> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ n: number; skip: number; isWhole: boolean }>`
      with part as materialized (
        select n, length(content) as size, sum(length(content)) over (order by n) as upto
          from export_part where workspace_id = ${workspaceId} and export_id = ${id})
      select n, (${from}::bigint - upto + size)::float8 as skip,
             (select sum(size) from part) = (
               select bytes from document_export where workspace_id = ${workspaceId} and id = ${id}) as "isWhole"
        from part where upto > ${from}::bigint or n = (select max(n) from part) order by n limit 1`.execute(db),
  )
  const [row] = rows
  return row?.isWhole ? { n: row.n, skip: row.skip } : null
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
async function* fetched(
  ctx: Pick<Context, 'db'>,
  ticket: Ticket,
  bytes: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  await noteFetch(ctx, ticket)
  yield* bytes
}

// Each part in a transaction of its own: who downloads slowly keeps no connection. `begin`: of the file that was promised, and no other.
async function* partsOf(
  ctx: Pick<Context, 'db'>,
  { workspaceId, id }: Ticket,
  abandoned: AbortSignal,
  begin?: { n: number; skip: number; attempt: number; parts: number },
): AsyncGenerator<Buffer> {
  let attempt = begin?.attempt
  let skip = begin?.skip ?? 0
  for (let n = begin?.n ?? 0; ; ) {
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
    if ((begin || n > 0) && row.attempt !== attempt) throw new Error('an export began anew while it was fetched')
    attempt = row.attempt
    if (row.content && n < row.parts) {
      if (skip < row.content.length) yield row.content.subarray(skip)
      skip = 0
      n++
      // Nothing that happens to the file afterwards breaks off who has all of it.
      if (n === begin?.parts) return
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
      .select(['request', 'form', 'state', 'parts', 'problem', 'attempt'])
      .select(sql<number>`bytes::float8`.as('bytes'))
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where(isKept)
      .executeTakeFirst(),
  )
  // Written by this file, in this shape.
  return row && { ...row, request: row.request as Kept }
}
