import { type Connection, onlyWhile } from '@vigia/sefaz/connection'
import { SefazError, UnsentError } from '@vigia/sefaz/error'
import { noteCertificateAnswer } from '../companies/certificates.ts'
import type { Context } from '../platform/context.ts'
import { afterGrace } from '../platform/jobs/loop.ts'
import { mayCall, noteAnswer, noteFailure, noteSilence } from '../sefaz/circuit.ts'
import { decideAnswer, decideSilence, isAboutCertificate, servicePauses } from './outcomes.ts'
import type { Said } from './protocols/protocol.ts'
import { protocols } from './protocols.ts'
import { type Batch, releaseEvents } from './queue.ts'
import { type Settled, settle } from './settlement.ts'
import { prepareBatch, type ReadyEvent } from './signing.ts'

export type SendingContext = Pick<Context, 'db' | 'config' | 'log' | 'signer'>

const graceMs = 10_000

export async function sendBatch(ctx: SendingContext, batch: Batch, signal: AbortSignal): Promise<boolean> {
  const prepared = await prepareBatch(ctx, batch)
  if (!prepared) return false
  const { opened, ready } = prepared
  const release = (waitMs: number) =>
    releaseEvents(
      ctx,
      batch,
      ready.map(({ event }) => event),
      waitMs,
    )
  if (!(await mayCall(ctx, batch.url))) {
    await release(ctx.config.sefaz.hourMs / 60)
    return false
  }
  // The database may have stalled until another process has the events.
  const connection = onlyWhile(await opened.connect(), batch.lasts)
  // If the response under way is lost, the same bytes are sent a second time, so wait a little for it.
  using _ = afterGrace(signal, graceMs, () => connection.close())
  let settled: Settled[]
  try {
    settled = await converse(ctx, batch, connection, ready)
  } catch (error) {
    if (!(error instanceof UnsentError)) throw error
    await release(0)
    return false
  } finally {
    connection.close()
  }
  await noteCertificate(ctx, batch, opened.id, settled)
  return settle(ctx, batch, settled)
}

// A rejection because the signature is of another CNPJ does not mean that the certificate is bad.
const ofAnotherCnpj = 213

// Locks the certificate before the rows of the events, as all code does that locks both.
async function noteCertificate(ctx: SendingContext, { workspaceId }: Batch, certificateId: number, settled: Settled[]) {
  const codes = settled.flatMap(({ said }) => said?.cStat ?? [])
  if (codes.some((code) => isAboutCertificate(code) && code !== ofAnotherCnpj))
    await noteCertificateAnswer(ctx, workspaceId, certificateId, 'refused')
  else if (settled.some(({ consequence }) => consequence.state === 'registered'))
    await noteCertificateAnswer(ctx, workspaceId, certificateId, 'accepted')
}

async function converse(
  ctx: SendingContext,
  batch: Batch,
  connection: Connection,
  ready: ReadyEvent[],
): Promise<Settled[]> {
  const { url, service, cnpj } = batch
  try {
    const lote = { id: String(ready[0]!.event.id), events: ready.map(({ signed }) => signed) }
    const said = await protocols[service].send(connection, url, lote)
    await noteService(ctx, url, said.whole)
    ctx.log.info({ cnpj, service, cStat: said.whole.cStat, events: ready.length }, 'events sent')
    return ready.map((one) => answered(batch, one, said.of(one.signed)))
  } catch (error) {
    if (!(error instanceof SefazError)) throw error
    const { kind, status, detail } = error
    ctx.log.warn({ kind, status, detail, cnpj, service }, 'the authority did not answer about events')
    await noteSilence(ctx, url, error)
    return ready.map((one) => silent(one, error))
  }
}

async function noteService(ctx: SendingContext, url: string, { cStat, xMotivo }: Said): Promise<void> {
  const pause = servicePauses[cStat]
  if (pause === undefined) return noteAnswer(ctx, url)
  await noteFailure(ctx, url, xMotivo, pause * ctx.config.sefaz.hourMs)
}

function answered({ service }: Batch, ready: ReadyEvent, said: Said | undefined): Settled {
  if (!said) return silent(ready, null)
  return { ready, said, consequence: decideAnswer(service, ready.event, said) }
}

function silent(ready: ReadyEvent, error: SefazError | null): Settled {
  return { ready, consequence: decideSilence(ready.event, error) }
}
