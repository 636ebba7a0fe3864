import type { Context, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { holdJob, type Job, type JobKind } from '../platform/jobs/jobs.ts'
import { LeaseLost } from '../platform/jobs/loop.ts'
import { type Decision, openFile, readWaitingFile, settleFile, type WaitingFile } from './batches.ts'
import { openWithOneOf } from './certificates.ts'
import { type CapturesOfCertificates, isProved, registerOrRenew } from './registration.ts'

// The last failure is a bit more than five minutes after the first.
const waits = [4_000, 8_000, 16_000, 32_000, 60_000]
const attemptsMax = 8

/** Decides the files of batches of certificates, those of eight workspaces at a time and one of each. */
export function certificateJob(captures: CapturesOfCertificates): JobKind {
  return {
    name: 'certificate',
    concurrency: 8,
    placesOfEach: 1,
    waits,
    // Without the signer no key can be sealed.
    mayRun: ({ signer }) => !signer.isDown,
    run: async (ctx, job, signal) => {
      const file = await readWaitingFile(ctx, job)
      if (file) await decide(ctx, captures, file, job, signal)
      return null
    },
  }
}

const notDone =
  'Não conseguimos guardar este certificado, por um problema do sistema. Nada foi alterado e o arquivo não ficou aqui: envie-o de novo e, se acontecer outra vez, avise quem cuida do sistema.'
const unsealable =
  'A chave mestra do servidor foi trocada antes de este arquivo ser lido. Nada foi alterado e o arquivo não ficou aqui: envie-o de novo.'

async function decide(
  ctx: Context,
  captures: CapturesOfCertificates,
  file: WaitingFile,
  job: Job,
  signal: AbortSignal,
): Promise<void> {
  const settle = (decision: Decision) =>
    inWorkspace(ctx, file.workspaceId, (ctx) => settleOnce(ctx, file, job, decision))
  // The process ended each time that this one was taken.
  if (job.failures >= attemptsMax) return settle({ state: 'failed', message: notDone })
  const opened = await openFile(ctx, file)
  if (!opened) return settle({ state: 'failed', message: unsealable })
  try {
    const { bytes, passwords, uploader } = opened
    const certificate = await openWithOneOf(bytes, passwords, { signal })
    const proved = await isProved(ctx, certificate)
    const take = () =>
      inWorkspace(ctx, file.workspaceId, async (ctx) => {
        const decision = await registerOrRenew(ctx, captures, uploader, { certificate, proved })
        await settleOnce(ctx, file, job, decision)
      })
    await take().catch((error: unknown) => {
      // Another file registered the same company meanwhile.
      if (error instanceof AppError && error.code === 'conflict') return take()
      throw error
    })
  } catch (err) {
    if (err instanceof AppError && err.code !== 'unavailable' && err.code !== 'too-many')
      return settle({ state: 'failed', message: err.message })
    if (signal.aborted || err instanceof LeaseLost || job.failures + 1 < attemptsMax) throw err
    ctx.log.error({ err, workspaceId: file.workspaceId, certificateFile: job.key }, 'a certificate file was given up')
    await settle({ state: 'failed', message: notDone })
  }
}

async function settleOnce(ctx: WithDatabase, file: WaitingFile, job: Job, decision: Decision): Promise<void> {
  await holdJob(ctx, job)
  if (!(await settleFile(ctx, file, decision))) throw new LeaseLost('nobody wants a certificate file any more')
}
