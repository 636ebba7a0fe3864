import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { asOperator, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { claimInTurn, fromNow } from '../platform/jobs/claim.ts'
import { isDue } from '../platform/jobs/due.ts'
import { LeaseLost, repeat, startJobs, together } from '../platform/jobs/loop.ts'
import { type Decision, type HeldFile, openFile, settleFile, tidyBatches } from './batches.ts'
import { openWithOneOf } from './certificates.ts'
import { type CapturesOfCertificates, isProved, registerOrRenew } from './registration.ts'

const atOnce = 8
const idleMs = 500
// To open a file takes fifteen seconds at most, after it has waited for those of the same workspace.
const leaseMs = 150_000
// The last one is a bit more than five minutes after the first.
const attemptsMax = 8
const tidyEveryMs = 60_000

/** Decides the files of batches of certificates, those of eight workspaces at a time and one of each, until disposed. */
export function startCertificateWorker(ctx: Context, captures: CapturesOfCertificates): AsyncDisposable {
  const jobs = startJobs<HeldFile>(
    {
      name: 'certificate',
      mayFind: () => isDue(ctx, waitingFiles),
      claim: (running) => claimFile(ctx, running),
      run: (file, signal) => decide(ctx, captures, file, signal),
      postpone: (file) => letGo(ctx, file),
      describe: ({ workspaceId, id }) => ({ workspaceId, certificateFile: String(id) }),
      concurrency: atOnce,
      workMs: 4 * leaseMs,
      idleMs,
    },
    ctx.log,
  )
  const tidying = repeat(tidyEveryMs, () => tidyBatches(ctx), ctx.log)
  return together([jobs, tidying])
}

/** Without these `claimFile` finds nothing. */
export const waitingFiles = sql`select from certificate_file where state = 'waiting'`

export async function claimFile(
  ctx: Pick<Context, 'db' | 'signer'>,
  running: readonly HeldFile[],
): Promise<HeldFile | null> {
  // No key can be sealed.
  if (ctx.signer.isDown) return null
  const busy = running.map(({ workspaceId }) => workspaceId)
  const lane = {
    due: sql`state = 'waiting' and workspace_id <> all (${busy}::int[])`,
    order: sql`id`,
    set: sql`attempt = attempt + 1`,
  }
  return asOperator(ctx, async ({ db }) => {
    const claimed = await claimInTurn<HeldFile, typeof lane>(db, {
      kind: 'certificate',
      table: sql`certificate_file`,
      key: ['workspace_id', 'id'],
      lanes: [lane],
      leaseMs,
      returning: sql`workspace_id as "workspaceId", id, batch_id as "batchId", name, content, attempt`,
    })
    return claimed?.rows[0] ?? null
  })
}

const notDone =
  'Não conseguimos guardar este certificado, por um problema do sistema. Nada foi alterado e o arquivo não ficou aqui: envie-o de novo e, se acontecer outra vez, avise quem cuida do sistema.'
const unsealable =
  'A chave mestra do servidor foi trocada antes de este arquivo ser lido. Nada foi alterado e o arquivo não ficou aqui: envie-o de novo.'

async function decide(
  ctx: Context,
  captures: CapturesOfCertificates,
  file: HeldFile,
  signal: AbortSignal,
): Promise<void> {
  const settle = (decision: Decision) => inWorkspace(ctx, file.workspaceId, (ctx) => settleOnce(ctx, file, decision))
  // The process ended each time that this one was taken.
  if (file.attempt > attemptsMax) return settle({ state: 'failed', message: notDone })
  const opened = await openFile(ctx, file)
  if (!opened) return settle({ state: 'failed', message: unsealable })
  let openedMs = 0
  try {
    const { bytes, passwords, uploader } = opened
    const onEnd = (ms: number) => {
      openedMs = ms
    }
    const certificate = await openWithOneOf(bytes, passwords, { signal, onEnd })
    const proved = await isProved(ctx, certificate)
    const take = () =>
      inWorkspace(ctx, file.workspaceId, async (ctx) => {
        const decision = await registerOrRenew(ctx, captures, uploader, { certificate, proved })
        await settleOnce(ctx, file, decision)
      })
    await take().catch((error: unknown) => {
      // Another file registered the same company meanwhile.
      if (error instanceof AppError && error.code === 'conflict') return take()
      throw error
    })
  } catch (error) {
    // The process is about to end.
    if (error === signal.reason) return letGo(ctx, file)
    if (!(error instanceof AppError) || error.code === 'unavailable' || error.code === 'too-many') throw error
    await settle({ state: 'failed', message: error.message, failedMs: openedMs })
  }
}

async function settleOnce(ctx: Pick<Context, 'db'>, file: HeldFile, decision: Decision): Promise<void> {
  if (!(await settleFile(ctx, file, decision)))
    throw new LeaseLost('a certificate file was taken over by another process, or nobody wants it any more')
}

async function letGo(ctx: Context, file: HeldFile): Promise<void> {
  const { workspaceId, id, attempt } = file
  if (attempt >= attemptsMax)
    return inWorkspace(ctx, workspaceId, (ctx) => settleOnce(ctx, file, { state: 'failed', message: notDone }))
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .updateTable('certificate_file')
      .set({ lease_until: fromNow(Math.min(2_000 * 2 ** attempt, 60_000)) })
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', id)
      .where('attempt', '=', attempt)
      .execute(),
  )
}
