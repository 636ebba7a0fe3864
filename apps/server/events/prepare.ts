import { cartaCorrecao, cte, desacordo } from '@vigia/dfe/families/cte'
import { answerOf } from '@vigia/dfe/families/lookup'
import { status } from '@vigia/dfe/families/statuses'
import { readReceived } from '@vigia/dfe/read'
import { type Correction, EventError, type SignedEvent } from '@vigia/sefaz/events'
import { type SqlBool, sql } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import { takeCertificate } from '../companies/certificates.ts'
import { isShown } from '../companies/switches.ts'
import { findXml } from '../documents/receive.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { holdSharedLock } from '../platform/locks.ts'
import { announce } from '../platform/outbox.ts'
import type { EventDetails, OpenedCertificate } from '../platform/signer/signer.ts'
import type { Asked } from './announcements.ts'
import { joinCorrections, readCorrections } from './corrections.ts'
import { outgoingText } from './justifications.ts'
import { isAboutCertificate, isSignedAnew, neverTold, overtaken } from './protocols/outcome.ts'
import { protocols } from './protocols.ts'
import type { Batch, QueuedEvent, ReadyEvent } from './queue.ts'
import { decide, isJudgedOrLate, isSuspect, readAnswerRules, recipient } from './rules.ts'
import { announceResults, changeLeased, refreshDocuments, released, type WrittenEvent } from './settle.ts'
import {
  approvedMark,
  hasTwo,
  isLaterRequest,
  isRival,
  needsTwo,
  overtakenByRequest,
  waitsForSecond,
} from './two-people.ts'

type SigningContext = Pick<Context, 'db' | 'config' | 'log' | 'signer'>

/** Prepares a batch: ends what nobody wants any more, signs the unsigned events and stores the bytes before they are sent. */
export async function prepareBatch(
  ctx: SigningContext,
  batch: Batch,
): Promise<{ opened: OpenedCertificate; ready: ReadyEvent[] } | null> {
  return inCapture(ctx, async (ctx) => {
    await enterWorkspace(ctx, batch.workspaceId)
    // Changes of rules or settings wait for this commit or are seen here, so no outdated rule signs.
    await holdSharedLock(ctx, 'answerRules', batch.workspaceId)
    const wanted = await keepWanted(ctx, batch)
    if (wanted.length === 0) return null
    const use = protocols[batch.service].use(batch.cnpj, wanted)
    const opened = await takeCertificate(ctx, batch.workspaceId, batch.cnpj, use)
    const ready: ReadyEvent[] = []
    const ended: QueuedEvent[] = []
    for (const event of wanted) {
      if (!opened || refusedBefore(event, opened.pem)) {
        await postpone(ctx, batch, event, opened ? sameCertificate : noCertificate)
        continue
      }
      const signed = await signedBytes(ctx, batch, event, opened)
      if ('refusal' in signed) {
        const change = {
          ...answerless,
          state: 'rejected' as const,
          message: signed.refusal,
          answered_at: sql<Date>`now()`,
        }
        if (await changeLeased(ctx, batch, event, change)) ended.push(event)
      } else if (await changeLeased(ctx, batch, event, onItsWay(event, signed.xml))) ready.push({ event, signed })
    }
    await refreshDocuments(ctx, batch.workspaceId, ended)
    return opened && ready.length > 0 ? { opened, ready } : null
  })
}

const noCertificate =
  'Não há um certificado digital válido para esta empresa: o evento continua na fila e sai quando um certificado válido for enviado.'
const sameCertificate =
  'A SEFAZ recusou várias vezes o certificado digital desta empresa: o evento continua na fila e sai quando outro certificado for enviado.'

// No response of the authority stands beside what was settled here.
const answerless = { ...released, c_stat: null, x_motivo: null, answered_at: null }

// Checked again after the wait. Returns the events that are still to be sent, and writes what follows for the others.
async function keepWanted(ctx: SigningContext, batch: Batch): Promise<QueuedEvent[]> {
  const nowOf = new Map((await readNow(ctx, batch)).map((row) => [row.id, row]))
  const wanted: QueuedEvent[] = []
  const ended: WrittenEvent[] = []
  let askedBy: string[] = []
  for (const event of batch.events) {
    const now = nowOf.get(event.id)
    // Another process has it by now, or somebody ended it.
    if (!now) continue
    const verdict = decideBefore(event, now)
    if (verdict === null) wanted.push({ ...event, rivalAt: now.rivalAt })
    else if ('waits' in verdict) await postpone(ctx, batch, event, verdict.waits)
    else {
      const { state, message, isAnswer } = verdict
      await changeLeased(ctx, batch, event, {
        ...answerless,
        state,
        message,
        ...(isAnswer && { answered_at: sql<Date>`now()` }),
        ...(state === 'registered' && { protocol: now.protocol, registered_at: now.registeredAt }),
        ...(state === 'asked' && { approved_by: null, why: withoutApproval }),
      })
      if (state === 'asked') askedBy = [...askedBy, now.by]
      else ended.push({ event, state })
    }
  }
  await announceResults(
    ctx,
    batch,
    ended.filter(({ state }) => state === 'unconfirmed'),
  )
  if (askedBy.length > 0) {
    const payload: Asked = { count: askedBy.length, by: askedBy[0]!, again: true }
    await announce(ctx, batch.workspaceId, { what: 'resposta-aguarda', companyId: batch.companyId, payload })
  }
  if (wanted.length < batch.events.length) await refreshDocuments(ctx, batch.workspaceId, batch.events)
  return wanted
}

const withoutApproval = sql<string>`split_part(why, ${approvedMark}, 1) || case when approved_by is null then '' else '.' end`

/** State of a claimed event in the database, before it leaves. */
export interface EventNow {
  id: bigint
  /** Name of who requested it. */
  by: string
  /** Status of the document; null: it is gone. */
  status: number | null
  judged: boolean
  suspect: boolean
  shown: boolean
  active: boolean
  /** A rule decides, it is another one than when the event was queued, and whether a Ciência leaves without a person. */
  byRule: boolean
  isOtherRule: boolean
  leaves: boolean
  needsTwo: boolean
  hasTwo: boolean
  /** Another answer was requested after it. */
  overtaken: boolean
  /** The same event is registered, and whether it stands. */
  registeredAt: Date | null
  protocol: string | null
  stands: boolean | null
  rivalAt: Date | null
}

// Protocols order two registrations of the same second (docs/decisions/0012).
const isLater = sql`(e.registered_at, coalesce(protocol_number(e.protocol), 0)) > (r.registered_at, coalesce(protocol_number(r.protocol), 0))`

async function readNow({ db }: WithDatabase, { workspaceId, leaseBy, events }: Batch): Promise<EventNow[]> {
  const rules = await readAnswerRules({ db }, workspaceId)
  const { rows } = await sql<EventNow>`
    select o.id, ${nameOfAuthor(workspaceId, 'o.requested_by')} as by, d.status, ${isJudgedOrLate} as judged, ${isSuspect} as suspect,
           ${isShown(workspaceId, 'd', sql`${recipient}::int`)} as shown, c.active, r.rule >= 0 as "byRule", r.leaves,
           (${rules.map(({ id }) => id)}::bigint[])[r.rule + 1] is distinct from o.rule_id as "isOtherRule",
           ${needsTwo(workspaceId)} as "needsTwo", ${hasTwo(workspaceId)} as "hasTwo",
           exists (select from outgoing_event e where ${isLaterRequest(workspaceId)}) as overtaken,
           k.registered_at as "registeredAt", k.protocol, k.stands,
           (select max(e.registered_at) from document_event e where ${isRival(workspaceId)}) as "rivalAt"
      from outgoing_event o left join document d on d.workspace_id = ${workspaceId} and d.id = o.document_id
      left join company c on c.workspace_id = ${workspaceId} and c.id = o.company_id
      left join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
      left join lateral (${decide(workspaceId, rules, sql<SqlBool>`(c.acknowledges_since is not null)`)}) r on true
      left join lateral (
        select r.registered_at, r.protocol, not exists (select from document_event e where ${isRival(workspaceId)} and ${isLater}) as stands
          from document_event r
         where r.workspace_id = ${workspaceId} and r.company_id = o.company_id and r.chave = o.chave and r.tp_evento = o.tp_evento
           and r.sequence = o.sequence and r.author = o.cnpj and r.rank > 0 limit 1) k on true
     where o.workspace_id = ${workspaceId} and o.id = any (${events.map(({ id }) => id)}::bigint[]) and o.lease_by = ${leaseBy}
       for no key update of o`.execute(db)
  return rows
}

type BeforeSending =
  | { state: 'registered' | 'rejected' | 'unconfirmed' | 'asked'; message: string; isAnswer?: boolean }
  | { waits: string }

/** Decides what happens to a claimed event instead of its sending; null: it is sent. */
export function decideBefore(event: QueuedEvent, now: EventNow): BeforeSending | null {
  // The authority was asked about it for a day: a person decides whether to ask again.
  if (event.isOverdue) return { state: 'unconfirmed', message: neverTold, isAnswer: true }
  // Bytes that may have left leave again. After a hold (hold.ts) none are kept, so the event is judged again.
  if (event.isUnknown && event.signedXml !== null) return null
  // Another workspace of the same CNPJ may have sent the same event. A Carta de Correção has words of its own.
  if (now.stands !== null && event.tpEvento !== cartaCorrecao)
    return now.stands
      ? { state: 'registered', message: 'Já estava registrada: nada precisou ser enviado.', isAnswer: true }
      : { state: 'rejected', message: overtaken, isAnswer: true }
  if (now.status === null) return unwanted('O documento não está mais aqui')
  if (event.requestedBy === null && !now.judged)
    return {
      waits:
        'O documento mudou e os alertas ainda não o conferiram: a resposta automática espera por isso, no máximo até uma hora depois da chegada dele.',
    }
  if (now.status === status.cancelled) return unwanted('O documento foi cancelado antes do envio')
  if (now.status === status.denied) return unwanted('O uso do documento foi denegado')
  if (event.requestedBy === null) {
    if (!now.active) return unwanted('A empresa foi arquivada antes do envio')
    if (now.isOtherRule || (!now.leaves && now.byRule)) return unwanted('As regras de resposta mudaram antes do envio')
    if (!now.leaves) return unwanted('A Ciência automática foi desligada antes do envio')
    if (now.suspect) return unwanted('Há um alerta em aberto neste documento')
    if (!now.shown) return unwanted('As notas destinadas à empresa foram ocultadas antes do envio')
  }
  if (!now.needsTwo || now.hasTwo) return null
  // The value, the setting or rights may have changed: it waits for whoever may approve now.
  return now.overtaken
    ? { state: 'rejected', message: overtakenByRequest }
    : { state: 'asked', message: waitsForSecond }
}

function unwanted(why: string): BeforeSending {
  return { state: 'rejected', message: `${why}: nada foi enviado.` }
}

// Three refusals are enough; the authority blocks an author that repeats a rejected event.
const refusalsMax = 3

function refusedBefore({ cStat, failures, signedXml }: QueuedEvent, certificatePem: string): boolean {
  if (cStat === null || !isAboutCertificate(cStat) || failures < refusalsMax) return false
  const base64 = certificatePem.replace(/-----[^-]+-----|\s/g, '')
  return signedXml?.replace(/\s/g, '').includes(base64) === true
}

async function postpone(ctx: SigningContext, batch: Batch, event: QueuedEvent, message: string): Promise<void> {
  const next_at = fromNow(ctx.config.sefaz.hourMs / 6)
  // Each try of an event that may have left counts, so that it ends after a day.
  const change = event.isUnknown
    ? { state: 'sending' as const, failures: Math.min(event.failures + 1, 1000) }
    : { state: 'waiting' as const }
  await changeLeased(ctx, batch, event, { ...released, ...change, message, next_at })
}

// An earlier response says nothing about this sending. While the outcome is unknown, the time of the first sending counts.
const onItsWay = ({ isUnknown }: QueuedEvent, xml: string) => ({
  state: 'sending' as const,
  signed_xml: xml,
  sent_at: isUnknown ? sql<Date>`least(sent_at, now())` : sql<Date>`now()`,
  c_stat: null,
  x_motivo: null,
})

async function signedBytes(
  ctx: SigningContext,
  batch: Batch,
  event: QueuedEvent,
  opened: OpenedCertificate,
): Promise<SignedEvent | { refusal: string }> {
  const { chave, tpEvento, sequence: nSeqEvento, signedXml } = event
  const id = signedXml && / Id="([^"]+)"/.exec(signedXml)?.[1]
  if (signedXml && id && !isSignedAnew(batch.service, event)) return { id, xml: signedXml, tpEvento, chave, nSeqEvento }
  try {
    return await opened.sign(await detailsOf(ctx, batch, event))
  } catch (error) {
    if (error instanceof EventError || error instanceof AppError) return { refusal: error.message }
    if (!(error instanceof TypeError)) throw error
    // A broken row must not keep the others of its company from leaving.
    ctx.log.error({ err: error, chave, tpEvento }, 'an event could not be made')
    return { refusal: 'Não conseguimos montar este evento, por uma falha nossa. Nada foi enviado.' }
  }
}

async function detailsOf(ctx: SigningContext, batch: Batch, event: QueuedEvent): Promise<EventDetails> {
  const { id, tpEvento, chave } = event
  const answer = answerOf(batch.service, tpEvento)
  const text = answer && outgoingText(answer, event.justification ?? '')
  const details = { id, leaseBy: batch.leaseBy, text }
  switch (protocols[batch.service].cites[tpEvento]) {
    case 'authorization':
      return { ...details, protocol: await authorizationOf(ctx, batch, event) }
    case 'corrections':
      return {
        ...details,
        corrections: joinCorrections(await currentCorrections(ctx, batch, chave), askedCorrections(event)),
      }
    case 'disagreement':
      return { ...details, protocol: await disagreementOf(ctx, batch, chave) }
    default:
      return details
  }
}

// Written by this slice, from what corrections.ts made.
const askedCorrections = ({ corrections }: QueuedEvent) => (corrections ?? []) as Correction[]

async function authorizationOf({ db }: WithDatabase, batch: Batch, { documentId }: QueuedEvent): Promise<string> {
  const { rows } = await sql<{ nsu: bigint }>`
    select nsu from document where workspace_id = ${batch.workspaceId} and id = ${documentId}`.execute(db)
  const xml = rows[0] && (await findXml({ db }, batch, batch.service, rows[0].nsu))
  const facts = xml && readReceived(xml).facts
  const protocol = facts?.kind === 'document' ? facts.protocol : undefined
  if (!protocol || !/^\d{15}$/.test(protocol))
    throw new AppError(
      'conflict',
      'O CT-e está guardado sem o protocolo de autorização, que o cancelamento precisa citar.',
    )
  return protocol
}

// The last registered letter has all corrections so far, even if another system sent it.
async function currentCorrections({ db }: WithDatabase, batch: Batch, chave: string): Promise<Correction[]> {
  const { rows } = await sql<{ nsu: bigint }>`
    select nsu from document_event
     where workspace_id = ${batch.workspaceId} and company_id = ${batch.companyId} and chave = ${chave}
       and type = ${cte.code} and tp_evento = ${cartaCorrecao} and rank > 0
     order by sequence desc limit 1`.execute(db)
  const xml = rows[0] && (await findXml({ db }, batch, batch.service, rows[0].nsu))
  return xml ? readCorrections(xml) : []
}

async function disagreementOf({ db }: WithDatabase, batch: Batch, chave: string): Promise<string> {
  const { rows } = await sql<{ protocol: string | null }>`
    select protocol from document_event
     where workspace_id = ${batch.workspaceId} and company_id = ${batch.companyId} and chave = ${chave}
       and tp_evento = ${desacordo} and author = ${batch.cnpj} and rank > 0 and not undone
     order by sequence desc limit 1`.execute(db)
  const protocol = rows[0]?.protocol
  if (!protocol || !/^\d{15}$/.test(protocol))
    throw new AppError('conflict', 'Não há desacordo registrado que possa ser cancelado.')
  return protocol
}
