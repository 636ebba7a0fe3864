import { onlyWhile } from '@vigia/sefaz/connection'
import { SefazError, UnsentError } from '@vigia/sefaz/error'
import { noteCertificateAnswer } from '../companies/certificates.ts'
import type { Context } from '../platform/context.ts'
import { afterGrace, startJobs } from '../platform/jobs/loop.ts'
import type { Service } from '../platform/service.ts'
import { mayCall, noteAnswer, noteFailure, noteSilence } from '../sefaz/circuit.ts'
import { prepareBatch } from './prepare.ts'
import { decideResponse, decideSilence, isAboutCertificate, servicePauses } from './protocols/outcome.ts'
import { protocols } from './protocols.ts'
import { type Batch, claimBatch, postponeFailed, releaseEvents } from './queue.ts'
import { type Outcome, settle } from './settle.ts'

type SendingContext = Pick<Context, 'db' | 'config' | 'log' | 'signer'>

// Each batch is of one author at one service; a person is waiting for most of them.
const batchesMax = 4
const idleMs = 250
const graceMs = 10_000

/** Sends due events until disposed. `registered`: once for each batch with a registration. */
export async function startEventWorker(
  ctx: SendingContext & Pick<Context, 'storage'>,
  { registered }: { registered: (service: Service, cnpj: string) => void | Promise<void> },
): Promise<AsyncDisposable> {
  await ctx.signer.check()
  return startJobs(
    {
      name: 'manifestation',
      claim: async () => {
        if (ctx.signer.isDown || (ctx.storage.trouble && !(await ctx.storage.prove()))) return null
        return claimBatch(ctx)
      },
      run: async (batch, signal) => {
        // A response that cannot be stored would have to be asked for again.
        if (!(await ctx.storage.prove())) return postponeFailed(ctx, batch)
        if (await sendBatch(ctx, batch, signal)) await registered(batch.service, batch.cnpj)
      },
      // Without a database the lease runs out; then events that may have been sent are sent again as the same bytes.
      postpone: (batch) => postponeFailed(ctx, batch),
      describe: ({ cnpj, service }) => ({ cnpj, service }),
      concurrency: batchesMax,
      idleMs,
    },
    ctx.log,
  )
}

/** Takes a claimed batch through signing, sending and settling. Returns whether an event of it is registered. */
export async function sendBatch(ctx: SendingContext, batch: Batch, signal: AbortSignal): Promise<boolean> {
  const { workspaceId, url, service, cnpj } = batch
  const prepared = await prepareBatch(ctx, batch)
  if (!prepared) return false
  const { opened, ready } = prepared
  const events = ready.map(({ event }) => event)
  if (!(await mayCall(ctx, url))) {
    await releaseEvents(ctx, batch, events, ctx.config.sefaz.hourMs / 60)
    return false
  }
  // The database may have stalled until another process has the events.
  const connection = onlyWhile(await opened.connect(), batch.lasts)
  // If the response under way is lost, the same bytes are sent a second time, so wait a little for it.
  using _ = afterGrace(signal, graceMs, () => connection.close())
  let outcomes: Outcome[]
  try {
    const lote = { id: String(events[0]!.id), events: ready.map(({ signed }) => signed) }
    const answer = await protocols[service].send(connection, url, lote)
    const pauseHours = servicePauses[answer.whole.cStat]
    if (pauseHours === undefined) await noteAnswer(ctx, url)
    else await noteFailure(ctx, url, answer.whole.xMotivo, pauseHours * ctx.config.sefaz.hourMs)
    ctx.log.info({ cnpj, service, cStat: answer.whole.cStat, events: events.length }, 'events sent')
    outcomes = ready.map((one) => {
      const said = answer.of(one.signed)
      const consequence = said ? decideResponse(service, one.event, said) : decideSilence(one.event, null)
      return { ready: one, said, consequence }
    })
  } catch (error) {
    if (error instanceof UnsentError) {
      await releaseEvents(ctx, batch, events, 0)
      return false
    }
    if (!(error instanceof SefazError)) throw error
    const { kind, status, detail } = error
    ctx.log.warn({ kind, status, detail, cnpj, service }, 'the authority did not answer about events')
    await noteSilence(ctx, url, error)
    outcomes = ready.map((one) => ({ ready: one, consequence: decideSilence(one.event, error) }))
  } finally {
    connection.close()
  }
  // Notes the certificate in a transaction of its own, before `settle` locks the events.
  if (outcomes.some(refusesCertificate)) await noteCertificateAnswer(ctx, workspaceId, opened.id, 'refused')
  else if (outcomes.some(({ consequence }) => consequence.state === 'registered'))
    await noteCertificateAnswer(ctx, workspaceId, opened.id, 'accepted')
  return settle(ctx, batch, outcomes)
}

// A rejection because the signature is of another CNPJ does not mean that the certificate is bad.
const ofAnotherCnpj = 213
const refusesCertificate = ({ said }: Outcome) =>
  said !== undefined && said.cStat !== ofAnotherCnpj && isAboutCertificate(said.cStat)
