import { formatBrasiliaMoment, formatCount } from '@vigia/contract/text'
import { mergeForms } from '@vigia/print/merge'
import { sql } from 'kysely'
import { listUnreadable, type Unreadable } from '../../capture/unreadable.ts'
import { findLogoOf } from '../../companies/logo.ts'
import type { Ready } from '../../documents/announcements.ts'
import { zip } from '../../documents/export/archive.ts'
import { exportFiles, printedForms } from '../../documents/export/files.ts'
import { exportKind, isWithinRoom, type Kept } from '../../documents/export/keeping.ts'
import { readInBatches } from '../../documents/export/rows.ts'
import { missingText, newTally, notMade, type Tally } from '../../documents/export/texts.ts'
import type { DocumentFile } from '../../documents/files.ts'
import { noteExported } from '../../documents/workflow/remarks.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { inWorkspace, limitTo, readWorkspace } from '../../platform/database.ts'
import { holdJob, type Job, type JobKind } from '../../platform/jobs/jobs.ts'
import { LeaseLost, repeat } from '../../platform/jobs/loop.ts'
import { announce } from '../../platform/outbox.ts'
import { serviceOf } from '../../platform/service.ts'
import { leavingFiles } from './leaving-files.ts'

// Somebody waits in front of the printer, and an archive of everything may take hours: none of the three waits for another. Layouts wait for
// threads that all share, so more at once would not be quicker.
const queues = { zip: 2, pdf: 2, leaving: 1 }
const attemptsMax = 4
const retryMs = 2_000
const partBytes = 1024 * 1024
// A part is stored at least so often, so that people see it go on.
const partMs = 2_000
// Space that documents still to come may need goes before files that can be made anew.
const freeBytesMin = 1024 ** 3

interface Order {
  workspaceId: number
  id: bigint
  total: number
  request: Kept
  /** Companies that the requester may see; null: all. */
  companies: number[] | null
}

/** Makes the exports that people want, of each workspace one of each queue at a time. */
export const exportJobs: readonly JobKind[] = (['zip', 'pdf', 'leaving'] as const).map((queue) => ({
  name: exportKind(queue),
  concurrency: queues[queue],
  placesOfEach: 1,
  waits: [retryMs],
  run: async (ctx, job, signal) => {
    const order = await begin(ctx, job)
    if (order) await makeExport(ctx, order, job, signal)
    return null
  },
}))

// Starts from the first byte, whatever another process made; null: not wanted any more.
async function begin(ctx: WithDatabase, job: Job): Promise<Order | null> {
  return inWorkspace(ctx, job.workspaceId!, async (ctx) => {
    await holdJob(ctx, job)
    const { rows } = await sql<Order>`
      update document_export set attempt = attempt + 1, done = 0, parts = 0, bytes = 0
       where workspace_id = ${job.workspaceId} and id = ${job.key}::bigint and state = 'waiting'
      returning workspace_id as "workspaceId", id, total, request, company_ids as companies`.execute(ctx.db)
    const [order] = rows
    if (order) await dropParts(ctx, order)
    return order ?? null
  })
}

async function makeExport(ctx: Context, order: Order, job: Job, signal: AbortSignal): Promise<void> {
  const { workspaceId, request, companies } = order
  const about = { workspaceId, export: job.key }
  const tally = newTally()
  const file = startFile(ctx, order, job, tally)
  const shown = companies ? { ...ctx, db: limitTo(ctx.limited!, companies, ctx.db) } : ctx
  try {
    const taken: bigint[] = []
    {
      // A spreadsheet has no bytes until its last row, which may be minutes.
      await using _ = repeat(partMs, file.report, ctx.log)
      // When this process ends, another one begins anew.
      for await (const bytes of contentOf(shown, order, tally, taken, signal)) await file.add(bytes, signal)
    }
    await noteTaken(shown, order, taken)
    const printed = request.contents !== null || tally.pdf > 0
    await file.finish({ state: printed ? 'ready' : 'failed', problem: missingText(tally) })
  } catch (error) {
    if (error === tooLarge)
      return file.finish({ state: 'failed', problem: request.leaving ? leavingTooLargeText : tooLargeText })
    if (error === noSpace || isDiskFull(error)) {
      if (error !== noSpace) ctx.storage.noteFailure(error)
      ctx.log.error(about, 'too little space is free for an export')
      return file.finish({ state: 'failed', problem: noSpaceText })
    }
    if (signal.aborted || error instanceof LeaseLost || job.failures + 1 < attemptsMax) throw error
    ctx.log.error({ err: error, ...about }, 'an export was given up')
    await file.finish({ state: 'failed', problem: notMade })
  }
}

// Marks documents as exported, because people rely on them outside. A finished file is kept even
// when the mark cannot be written.
async function noteTaken(
  ctx: Pick<Context, 'db' | 'log'>,
  { workspaceId, id }: Order,
  taken: readonly bigint[],
): Promise<void> {
  try {
    for (let from = 0; from < taken.length; from += 1_000)
      await inWorkspace(ctx, workspaceId, (ctx) => noteExported(ctx, workspaceId, taken.slice(from, from + 1_000)))
  } catch (err) {
    ctx.log.error({ err, workspaceId, export: String(id) }, 'what an export took out was not written down')
  }
}

function contentOf(
  ctx: Context,
  { workspaceId, request: { criteria, ids = [], contents, filter, fileName, requestedBy, leaving } }: Order,
  tally: Tally,
  taken: bigint[],
  ended: AbortSignal,
): AsyncIterable<Uint8Array> {
  const choice = criteria ? { criteria } : { ids: ids.map(BigInt) }
  const at = new Date()
  const withContent = contents === null || contents.xml || contents.pdf
  const logoOf = logosOf(ctx, workspaceId)
  const rowsUntil = (abandoned: AbortSignal) => readInBatches(ctx, workspaceId, choice, { withContent, abandoned })
  if (contents === null) {
    const title = fileName.replace(/\.pdf$/, '')
    return mergeForms(title, printedForms({ rows: rowsUntil(ended), logoOf, tally }, ctx))
  }
  const made = `${formatBrasiliaMoment(at)} (horário de Brasília), por ${requestedBy}`
  const { productName } = ctx.config
  if (leaving) {
    const task = { workspaceId, volume: leaving, logoOf, productName, made, at, tally }
    return zip((abandoned) => leavingFiles({ ...task, abandoned: AbortSignal.any([abandoned, ended]) }, ctx))
  }
  const noted = async function* (batches: AsyncIterable<DocumentFile[]>) {
    for await (const rows of batches) {
      taken.push(...rows.map(({ id }) => id))
      yield rows
    }
  }
  const unread = async () => {
    if (!criteria) return []
    const choice = { service: serviceOf(criteria.TipoDFe), companyId: criteria.companyId, since: criteria.DataDe }
    return unreadableLines(await readWorkspace(ctx, workspaceId, (ctx) => listUnreadable(ctx, workspaceId, choice)))
  }
  const task = {
    workspaceId,
    unread,
    contents,
    role: criteria?.TipoParticipacao,
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
  const lines = files.map(({ company, nsu, schema, chave, receivedAt }) => {
    const which = `NSU ${nsu} de ${company} (${schema}), recebido em ${formatBrasiliaMoment(receivedAt)}`
    const whose = chave ? `; a chave que está nele é ${chave}` : ', e não sabemos de que documento é'
    return `${which}: não pôde ser lido${whose}. O arquivo está na completude da empresa.`
  })
  const more = total - files.length
  return more > 0 ? [...lines, `E mais ${formatCount(more, 'arquivo', 'arquivos')} que não pudemos ler.`] : lines
}

interface FileInTheMaking {
  /** Reports progress. */
  report(): Promise<void>
  add(bytes: Uint8Array, signal: AbortSignal): Promise<void>
  finish(end: { state: 'ready' | 'failed'; problem: string | null }): Promise<void>
}

// Stores a file in parts, each in a transaction that checks that this process still holds the job.
function startFile(ctx: Context, order: Order, job: Job, tally: Tally): FileInTheMaking {
  const { workspaceId, id, total, request, companies } = order
  let parts = 0
  let waiting: Uint8Array[] = []
  let waitingBytes = 0
  let storedAt = performance.now()
  const change = async (ctx: WithDatabase, set = sql``) => {
    await holdJob(ctx, job)
    const { numAffectedRows } = await sql`
      update document_export set done = ${tally.documents} ${set}
       where workspace_id = ${workspaceId} and id = ${id} and state = 'waiting'`.execute(ctx.db)
    if (numAffectedRows === 0n) throw new LeaseLost('nobody wants an export any more')
  }
  const store = async () => {
    await requireSpace(ctx)
    const content = Buffer.concat(waiting)
    await inWorkspace(ctx, workspaceId, async (ctx) => {
      const row = { workspace_id: workspaceId, export_id: id, n: parts, content }
      await change(ctx, sql`, parts = ${parts + 1}, bytes = bytes + ${content.length}`)
      if (!(await isWithinRoom(ctx, workspaceId, { leaving: request.leaving !== undefined }))) throw tooLarge
      await ctx.db.insertInto('export_part').values(row).execute()
    })
    parts++
    waiting = []
    waitingBytes = 0
    storedAt = performance.now()
  }
  return {
    report: () =>
      inWorkspace(ctx, workspaceId, (ctx) => change(ctx)).catch((error: unknown) => {
        if (!(error instanceof LeaseLost)) throw error
      }),
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
        await change(ctx, sql`, state = ${state}, problem = ${problem}${dropped}`)
        if (state === 'failed') await dropParts(ctx, order)
        const payload: Ready = {
          documents: total,
          by: request.requestedBy,
          printed: request.contents === null,
          leaving: request.leaving !== undefined,
          ...(companies && { companyIds: companies }),
        }
        if (state === 'ready') await announce(ctx, workspaceId, { what: 'exportacao-pronta', payload })
      })
    },
  }
}

async function dropParts({ db }: WithDatabase, { workspaceId, id }: Order): Promise<void> {
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

// Free space of an external database is unknown; only its failures show.
async function requireSpace({ storage, config }: Pick<Context, 'storage' | 'config'>): Promise<void> {
  const stores = await storage.prove()
  const freeBytes = config.databaseUrl ? null : storage.freeBytes
  if (!stores || (freeBytes ?? freeBytesMin) < freeBytesMin) throw noSpace
}

// One query for each issuer: an export has thousands of documents and few issuers with a logo.
function logosOf(ctx: WithDatabase, workspaceId: number): (taxId: string) => Promise<Uint8Array | undefined> {
  const known = new Map<string, Promise<Uint8Array | undefined>>()
  return (taxId) => {
    const found = known.get(taxId) ?? findLogoOf(ctx, workspaceId, taxId)
    known.set(taxId, found)
    return found
  }
}
