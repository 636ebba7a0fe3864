import { formatBrasiliaMoment, formatCount } from '@vigia/contract/text'
import { mergeForms } from '@vigia/print/merge'
import { type RawBuilder, sql } from 'kysely'
import { listUnreadable, type Unreadable } from '../../capture/unreadable.ts'
import { findLogoOf } from '../../companies/logo.ts'
import type { Ready } from '../../documents/announcements.ts'
import { zip } from '../../documents/export/archive.ts'
import { exportFiles, printedForms } from '../../documents/export/files.ts'
import { isWithinRoom, type Kept } from '../../documents/export/keeping.ts'
import { type ExportRow, readInBatches } from '../../documents/export/rows.ts'
import { missingText, newTally, notMade, type Tally } from '../../documents/export/texts.ts'
import { noteExported } from '../../documents/workflow/remarks.ts'
import type { Context, Database } from '../../platform/context.ts'
import { asOperator, inWorkspace, limitTo, readWorkspace } from '../../platform/database.ts'
import { claimRows, fromNow } from '../../platform/jobs/claim.ts'
import { isDue } from '../../platform/jobs/due.ts'
import { LeaseLost, startJobs, together } from '../../platform/jobs/loop.ts'
import { announce } from '../../platform/outbox.ts'
import { pause } from '../../platform/pause.ts'
import { serviceOf } from '../../platform/service.ts'
import { leavingFiles } from './leaving-files.ts'

// Somebody waits in front of the printer, and an archive of everything may take hours: none of the three waits for another. Layouts wait for
// threads that all share, so more at once would not be quicker.
const queues = {
  zip: { name: 'export', atOnce: 2 },
  pdf: { name: 'print', atOnce: 2 },
  leaving: { name: 'leaving', atOnce: 1 },
}
type Queue = keyof typeof queues
const queueOf = (alias: string) =>
  sql`case when ${sql.ref(`${alias}.request`)} -> 'leaving' is null then ${sql.ref(`${alias}.form`)} else 'leaving' end`
const idleMs = 500
const leaseMs = 60_000
const attemptsMax = 4
const retryMs = 2_000
const partBytes = 1024 * 1024
// A part is stored at least so often, so that people see it go on.
const partMs = 2_000
// As many as a page of the list has.
const fewMax = 50
// Space that documents still to come may need goes before files that can be made anew.
const freeBytesMin = 1024 ** 3

interface HeldExport {
  workspaceId: number
  id: bigint
  attempt: number
  total: number
  /** Identifies the lease of this holder. */
  lease: string
  request: Kept
  /** What who asked for it may see; null: everything. */
  companies: number[] | null
}

/** Makes the exports that people want, of each workspace one of each queue at a time, until disposed. */
export function startExportWorker(ctx: Context, limited: Database): AsyncDisposable {
  return together(
    (['zip', 'pdf', 'leaving'] as const).map((queue) =>
      startJobs<HeldExport>(
        {
          name: queues[queue].name,
          mayFind: () => isDue(ctx, waitingExports),
          claim: () => claimExport(ctx, queue),
          run: (job, signal) => makeExport(ctx, limited, job, signal),
          postpone: (job) => letGo(ctx, job),
          describe: ({ workspaceId, id }) => ({ workspaceId, export: String(id) }),
          concurrency: queues[queue].atOnce,
          idleMs,
          // An archive of everything may take hours.
          workMs: 48 * 3_600_000,
        },
        ctx.log,
      ),
    ),
  )
}

/** Without these `claimExport` finds nothing. */
export const waitingExports = sql`select from document_export where state = 'waiting'`

export async function claimExport(ctx: Pick<Context, 'db'>, queue: Queue): Promise<HeldExport | null> {
  const lane = {
    due: sql`state = 'waiting' and ${queueOf('document_export')} = ${queue} and not exists (
      select from document_export o
       where o.workspace_id = document_export.workspace_id and o.lease_until > now() and ${queueOf('o')} = ${queue})`,
    // Who was served longest ago: a workspace that asks for ten waits with each for those that had none.
    order: sql`(
      select max(o.lease_until) from document_export o
       where o.workspace_id = document_export.workspace_id and o.lease_until > now() - interval '1 hour') nulls first, requested_at, id`,
    set: sql`attempt = attempt + 1, done = 0, parts = 0, bytes = 0`,
  }
  return asOperator(ctx, async ({ db }) => {
    const claimed = await claimRows<HeldExport, typeof lane>(db, {
      table: sql`document_export`,
      key: ['workspace_id', 'id'],
      lanes: [lane],
      leaseMs,
      returning: sql`workspace_id as "workspaceId", id, attempt, total, (lease_until at time zone 'UTC') as lease, request, company_ids as companies`,
    })
    return claimed?.rows[0] ?? null
  })
}

async function makeExport(ctx: Context, limited: Database, job: HeldExport, signal: AbortSignal): Promise<void> {
  const tally = newTally()
  const file = await startFile(ctx, job, tally)
  const shown = job.companies ? { ...ctx, db: limitTo(limited, job.companies, ctx.db) } : ctx
  try {
    const taken: bigint[] = []
    await storeAll(file, (ended) => contentOf(shown, job, tally, taken, ended), signal)
    await noteTaken(shown, job, taken)
    const printed = job.request.contents !== null || tally.pdf > 0
    await file.finish({ state: printed ? 'ready' : 'failed', problem: missingText(tally) })
  } catch (error) {
    if (error === tooLarge)
      return file.finish({ state: 'failed', problem: job.request.leaving ? leavingTooLargeText : tooLargeText })
    if (error !== noSpace && !isDiskFull(error)) throw error
    if (error !== noSpace) ctx.storage.noteFailure(error)
    ctx.log.error({ workspaceId: job.workspaceId, export: String(job.id) }, 'too little space is free for an export')
    await file.finish({ state: 'failed', problem: noSpaceText })
  }
}

// Whoever takes documents out of the product relies on them. A file that is made is not thrown away because that could not be written down.
async function noteTaken(
  ctx: Pick<Context, 'db' | 'log'>,
  { workspaceId, id }: HeldExport,
  taken: readonly bigint[],
): Promise<void> {
  try {
    for (let from = 0; from < taken.length; from += 1_000)
      await inWorkspace(ctx, workspaceId, (ctx) => noteExported(ctx, workspaceId, taken.slice(from, from + 1_000)))
  } catch (err) {
    ctx.log.error({ err, workspaceId, export: String(id) }, 'what an export took out was not written down')
  }
}

// When this process ends, another one begins anew.
async function storeAll(
  file: FileInTheMaking,
  make: (ended: AbortSignal) => AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  // Nothing more is read for a file that cannot be stored, or that another process has taken over.
  const stop = new AbortController()
  const bytes = make(AbortSignal.any([signal, stop.signal]))[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = bytes.next()
      // A spreadsheet has no bytes until its last row, which may be minutes.
      while (!(await isSettled(next, partMs))) await file.keep()
      const { value, done } = await next
      if (done) return
      await file.add(value, signal)
    }
  } finally {
    stop.abort()
    await bytes.return?.().catch(() => {})
  }
}

// Whether it is over within `ms`, well or not.
async function isSettled(work: Promise<unknown>, ms: number): Promise<boolean> {
  const waiting = new AbortController()
  const settled = work.then(
    () => true,
    () => true,
  )
  const late = pause(ms, waiting.signal).then(() => false)
  return Promise.race([settled, late]).finally(() => waiting.abort())
}

function contentOf(
  ctx: Context,
  { workspaceId, total, request: { criteria, ids = [], contents, filter, fileName, requestedBy, leaving } }: HeldExport,
  tally: Tally,
  taken: bigint[],
  ended: AbortSignal,
): AsyncIterable<Uint8Array> {
  const choice = criteria ? { criteria } : { ids: ids.map(BigInt) }
  const at = new Date()
  const withContent = contents === null || contents.xml || contents.pdf
  const logoOf = logosOf(ctx, workspaceId)
  const few = total <= fewMax
  const rowsUntil = (abandoned: AbortSignal) => readInBatches(ctx, workspaceId, choice, { withContent, abandoned })
  if (contents === null) {
    const title = fileName.replace(/\.pdf$/, '')
    return mergeForms(title, printedForms({ rows: rowsUntil(ended), few, logoOf, tally }, ctx))
  }
  const made = `${formatBrasiliaMoment(at)} (horário de Brasília), por ${requestedBy}`
  const { productName } = ctx.config
  if (leaving) {
    const task = { workspaceId, volume: leaving, logoOf, productName, made, at, tally }
    return zip((abandoned) => leavingFiles({ ...task, abandoned: AbortSignal.any([abandoned, ended]) }, ctx))
  }
  const noted = async function* (batches: AsyncIterable<ExportRow[]>) {
    for await (const rows of batches) {
      taken.push(...rows.map(({ id }) => id))
      yield rows
    }
  }
  const unread = async () => {
    if (!criteria) return []
    const choice = { service: serviceOf(criteria.type), companyId: criteria.companyId, since: criteria.from }
    return unreadableLines(await readWorkspace(ctx, workspaceId, (ctx) => listUnreadable(ctx, workspaceId, choice)))
  }
  const task = {
    workspaceId,
    unread,
    contents,
    few,
    role: criteria?.role,
    logoOf,
    productName,
    filter,
    made,
    at,
    tally,
  }
  return zip((abandoned) => exportFiles({ ...task, rows: noted(rowsUntil(AbortSignal.any([abandoned, ended]))) }, ctx))
}

function unreadableLines({ total, files }: { total: number; files: readonly Unreadable[] }): string[] {
  const lines = files.map(({ company, nsu, schema, receivedAt }) => {
    const which = `NSU ${nsu} de ${company} (${schema}), recebido em ${formatBrasiliaMoment(receivedAt)}`
    return `${which}: não pôde ser lido, e não sabemos de que documento é. O arquivo está na completude da empresa.`
  })
  const more = total - files.length
  return more > 0 ? [...lines, `E mais ${formatCount(more, 'arquivo', 'arquivos')} que não pudemos ler.`] : lines
}

interface FileInTheMaking {
  /** Renews the lease, and tells how far it is. */
  keep(): Promise<void>
  add(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  finish(end: { state: 'ready' | 'failed'; problem: string | null }): Promise<void>
}

// Stores a file part by part, each in a transaction of its own that shows that nobody has taken the job over.
async function startFile(ctx: Context, job: HeldExport, tally: Tally): Promise<FileInTheMaking> {
  const { workspaceId, id, attempt, total, request } = job
  let { lease } = job
  let parts = 0
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let storedAt = performance.now()
  const change = async ({ db }: Pick<Context, 'db'>, set: RawBuilder<unknown>) => {
    const { rows } = await sql<{ lease: string }>`
      update document_export set ${set}, done = ${tally.documents}
       where workspace_id = ${workspaceId} and id = ${id} and attempt = ${attempt} and lease_until = ${lease}::timestamptz
       returning (lease_until at time zone 'UTC') as lease`.execute(db)
    if (!rows[0]) throw new LeaseLost('an export was taken over by another process, or nobody wants it any more')
    return rows[0].lease
  }
  const store = async () => {
    await requireSpace(ctx)
    const content = Buffer.concat(waiting)
    lease = await inWorkspace(ctx, workspaceId, async (ctx) => {
      const row = { workspace_id: workspaceId, export_id: id, n: parts, content }
      const next = await change(
        ctx,
        sql`lease_until = ${fromNow(leaseMs)}, parts = ${parts + 1}, bytes = bytes + ${content.length}`,
      )
      if (!(await isWithinRoom(ctx, workspaceId, { leaving: request.leaving !== undefined }))) throw tooLarge
      await ctx.db.insertInto('export_part').values(row).execute()
      return next
    })
    parts++
    waiting = []
    waitingBytes = 0
    storedAt = performance.now()
  }
  await inWorkspace(ctx, workspaceId, (ctx) => dropParts(ctx, job))
  return {
    async keep() {
      lease = await inWorkspace(ctx, workspaceId, (ctx) => change(ctx, sql`lease_until = ${fromNow(leaseMs)}`))
    },
    async add(bytes, signal) {
      signal.throwIfAborted()
      waiting.push(bytes)
      waitingBytes += bytes.length
      if (waitingBytes >= partBytes || performance.now() - storedAt > partMs) await store()
    },
    async finish({ state, problem }) {
      if (state === 'ready' && waitingBytes > 0) await store()
      await inWorkspace(ctx, workspaceId, async (ctx) => {
        const dropped = state === 'failed' ? sql`, parts = 0, bytes = 0` : sql``
        // When a lease ended tells when the workspace was served.
        await change(ctx, sql`lease_until = now(), state = ${state}, problem = ${problem}${dropped}`)
        if (state === 'failed') await dropParts(ctx, job)
        const payload: Ready = {
          documents: total,
          by: request.requestedBy,
          printed: request.contents === null,
          leaving: request.leaving !== undefined,
          ...(job.companies && { companyIds: job.companies }),
        }
        if (state === 'ready') await announce(ctx, workspaceId, { what: 'exportacao-pronta', payload })
      })
    },
  }
}

async function dropParts({ db }: Pick<Context, 'db'>, { workspaceId, id }: HeldExport): Promise<void> {
  await db.deleteFrom('export_part').where('workspace_id', '=', workspaceId).where('export_id', '=', id).execute()
}

const tooLarge = new Error('an export is larger than what its workspace may keep')
const tooLargeText =
  'Este arquivo passa do espaço de 1 GB que a conta tem para exportações e impressões. Seus documentos estão seguros: escolha um período menor e peça de novo.'

const leavingTooLargeText =
  'Este arquivo passa do espaço de 20 GB que a conta tem para levar tudo de uma vez. Seus documentos estão seguros: peça sem PDF, ou exporte por período nas listas.'

const noSpace = new Error('too little space is free')
const noSpaceText =
  'No servidor não há espaço para montar este arquivo agora. Seus documentos estão seguros; peça de novo mais tarde. Quem administra o sistema precisa liberar espaço.'

// SQLSTATE: disk_full.
const isDiskFull = (error: unknown) => (error as { code?: unknown } | null)?.code === '53100'

// Of an external database nobody here knows how much is free, only that it has failed.
async function requireSpace({ storage, config }: Pick<Context, 'storage' | 'config'>): Promise<void> {
  const stores = await storage.prove()
  const freeBytes = config.databaseUrl ? null : storage.freeBytes
  if (!stores || (freeBytes ?? freeBytesMin) < freeBytesMin) throw noSpace
}

// Another try, by whichever process comes first, after a while that others of the workspace wait too.
async function letGo(ctx: Context, job: HeldExport): Promise<void> {
  const { workspaceId, id, attempt } = job
  const failed = attempt >= attemptsMax
  await inWorkspace(ctx, workspaceId, async (ctx) => {
    const { numUpdatedRows } = await ctx.db
      .updateTable('document_export')
      .set({
        lease_until: fromNow(failed ? 0 : retryMs),
        parts: 0,
        bytes: 0n,
        ...(failed && { state: 'failed' as const, problem: notMade }),
      })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where('attempt', '=', attempt)
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await dropParts(ctx, job)
  })
}

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
