import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { endWithHolder, requireHolder } from '../../accounts/link-holder.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { FileResponse } from '../../platform/http/http.ts'
import type { Caller } from '../../platform/http/session.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'
import { createLimiter } from '../../platform/limiter.ts'
import { pause } from '../../platform/pause.ts'
import { noteRead } from '../reads.ts'
import { streamOf } from './archive.ts'
import { findKept, isLeaving, queueExport } from './keeping.ts'
import { notMade } from './texts.ts'
import { type Form, notThere, openTicket, type Ticket } from './tickets.ts'

// One that is stuck costs a batch of rows.
const takeDownload = createLimiter({
  each: 2,
  waiting: 5,
  full: 'Já há downloads demais desta conta em andamento. Seus documentos estão seguros: espere um deles terminar e abra o link de novo.',
})
const fetchedNow = new Map<string, () => void>()
// A line that breaks every minute is still got through.
const continuations: Limit = { name: 'export-continued', times: 200, withinMs: 3_600_000 }
const partPauseMs = 250
// Clients and proxies wait half a minute for the head of a response.
const beginningMsMax = 20_000
const never = new AbortController().signal

/** The file of an export, also while it is being made; ends with the session or key that asked for the link. Refuses other tickets. */
export async function openExport(
  ctx: Pick<Context, 'db' | 'vault' | 'log'>,
  ticket: string,
  form: Form,
  { address, continues, isHead }: Pick<Caller, 'address' | 'continues' | 'isHead'>,
): Promise<FileResponse & { fileName: string }> {
  const opened = openTicket(ctx, ticket)
  if (!opened) throw notThere()
  const { workspaceId, id } = opened
  const kept = await findKept(ctx, opened)
  // Only a client that has the beginning of the file knows its tag.
  const goesOn = typeof continues?.tag === 'string' && kept !== undefined && continues.tag === wholeOf(kept)?.tag
  if (!goesOn && opened.validUntil <= new Date())
    throw new AppError(
      'gone',
      'O link desta exportação valia por dez minutos, que já passaram. Seus documentos estão seguros: baixe pelo sino, ou exporte de novo.',
    )
  if (kept?.form !== form) throw notThere()
  const led = { companies: kept.companies, whole: kept.request.leaving !== undefined }
  await requireHolder(ctx, opened, led)
  const key = `${workspaceId}/${id}/${opened.validUntil.getTime()}`
  if (goesOn) {
    await countTry(ctx, continuations, key)
    // The previous fetch may not have noticed yet that its client left.
    fetchedNow.get(key)?.()
  }
  await using stack = new AsyncDisposableStack()
  let breakOff = () => {}
  const fetching = () => breakOff()
  const leave = () => {
    if (fetchedNow.get(key) === fetching) fetchedNow.delete(key)
  }
  fetchedNow.set(key, fetching)
  stack.defer(leave)
  stack.use(await takeDownload(workspaceId))
  const { fileName, requestedBy, shared } = kept.request
  const begun = await requireBeginning(ctx, opened)
  // The link asks for no session: it is known who got it.
  const reader = { workspaceId, accountName: requestedBy, address: shared ? undefined : address }
  if (!goesOn)
    await noteRead(
      ctx,
      reader,
      { isHead },
      form === 'zip' ? `Baixou a exportação “${fileName}”.` : `Abriu a impressão “${fileName}”.`,
    )
  const whole = wholeOf(begun)
  const from = whole && continues && (continues.tag ?? whole.tag) === whole.tag ? continues.from : 0
  const place = whole && (await placeIn(ctx, opened, from))
  const content = streamOf((abandoned) => partsOf(ctx, opened, abandoned, place ? { ...place, ...whole } : undefined))
  breakOff = () => content.destroy()
  stack.use(endWithHolder(ctx, opened, led, content))
  const held = stack.move()
  content.once('close', () => {
    // At once: a client that only looked begins right afterwards.
    leave()
    void held.disposeAsync()
  })
  return { content, fileName, ...(whole && place && { whole: { bytes: whole.bytes, tag: whole.tag, from } }) }
}

type Found = NonNullable<Awaited<ReturnType<typeof findKept>>>

// The file as a whole, by a tag for its bytes; null: it is not ready.
function wholeOf({ state, form, bytes, parts, attempt, request }: Found) {
  // A viewer in a browser would ask for a PDF in many small pieces, each of them a download.
  if (state !== 'ready' || form !== 'zip' || !request.secret) return null
  const digest = createHash('sha256').update(`${request.secret} ${attempt}`).digest('base64url')
  return { bytes, parts, attempt, tag: `"${digest.slice(0, 22)}"` }
}

// The part in which a byte stands, and how many stand before it there; null when parts are missing: a crash of the database emptied their table.
async function placeIn(ctx: WithDatabase, { workspaceId, id }: Ticket, from: number) {
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

// Failures before the first byte can be told in words.
async function requireBeginning(ctx: WithDatabase, ticket: Ticket): Promise<Found> {
  const until = performance.now() + beginningMsMax
  for (;;) {
    const found = await findKept(ctx, ticket)
    if (!found) throw notThere()
    if (found.state === 'failed') throw new AppError('conflict', found.problem ?? notMade)
    if (found.state === 'ready' || found.parts > 0) return found
    if (performance.now() > until)
      throw new AppError(
        'conflict',
        'Este arquivo ainda está na fila. Ele continua a ser feito: acompanhe no sino e baixe-o quando estiver pronto.',
      )
    await pause(partPauseMs, never)
  }
}

// Each part in a transaction of its own: who downloads slowly keeps no connection. `begin`: of the file that was promised, and no other.
async function* partsOf(
  ctx: WithDatabase,
  { workspaceId, id }: Ticket,
  abandoned: AbortSignal,
  begin?: { n: number; skip: number; attempt: number; parts: number },
): AsyncGenerator<Buffer> {
  let attempt = begin?.attempt
  let skip = begin?.skip ?? 0
  for (let n = begin?.n ?? 0; ; ) {
    const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
      // As bytes they would come in hexadecimal: three times as long to read.
      sql<{ state: string; attempt: number; parts: number; base64: string | null }>`
        select e.state, e.attempt, e.parts, encode(p.content, 'base64') as base64
          from document_export e
          left join export_part p on p.workspace_id = e.workspace_id and p.export_id = e.id and p.n = ${n}
         where e.workspace_id = ${workspaceId} and e.id = ${id}`.execute(db),
    )
    const [row] = rows
    if (!row || row.state === 'failed') throw new Error('an export failed while it was fetched')
    // The beginning that has left is not of this file.
    if ((begin || n > 0) && row.attempt !== attempt) throw new Error('an export began anew while it was fetched')
    attempt = row.attempt
    if (row.base64 !== null && n < row.parts) {
      const content = Buffer.from(row.base64, 'base64')
      if (skip < content.length) yield content.subarray(skip)
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

async function makeAnew(ctx: WithDatabase, workspaceId: number, id: bigint): Promise<void> {
  await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ form: Form; leaving: boolean }>`
      update document_export set state = 'waiting', parts = 0, bytes = 0, done = 0
       where workspace_id = ${workspaceId} and id = ${id} and state = 'ready'
      returning form, ${isLeaving} as leaving`.execute(db)
    for (const { form, leaving } of rows)
      await queueExport({ db }, { workspaceId, id, queue: leaving ? 'leaving' : form })
  })
}
