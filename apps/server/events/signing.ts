import { cartaCorrecao, cte, desacordo } from '@vigia/dfe/families/cte'
import { answerOf } from '@vigia/dfe/families/lookup'
import { status } from '@vigia/dfe/families/statuses'
import { readReceived } from '@vigia/dfe/read'
import { type Correction, EventError, type SignedEvent } from '@vigia/sefaz/events'
import { sql, type UpdateObject } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import { takeCertificate } from '../companies/certificates.ts'
import { isShown } from '../companies/switches.ts'
import { findXml } from '../documents/receive.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { fromNow } from '../platform/jobs/claim.ts'
import { LeaseLost } from '../platform/jobs/loop.ts'
import { holdSharedLock } from '../platform/locks.ts'
import { announce } from '../platform/outbox.ts'
import { type EventDetails, type OpenedCertificate, UnwantedEvent } from '../platform/signer/signer.ts'
import type { Tables } from '../platform/tables.ts'
import { type Asked, chavesNamed } from './announcements.ts'
import { decide, isJudgedOrLate, isSuspect, readAnswerRules } from './answer-rules.ts'
import { joinCorrections, readCorrections } from './corrections.ts'
import { isAboutCertificate, isSignedAnew, neverTold, overtaken } from './outcomes.ts'
import { protocols } from './protocols.ts'
import type { Batch, QueuedEvent } from './queue.ts'
import { recipient } from './rules.ts'
import { announceResults, noteSettled, writeAnswers } from './settled.ts'
import { outgoingText } from './texts.ts'
import {
  approvedMark,
  hasTwo,
  isLaterRequest,
  isRival,
  needsTwo,
  overtakenByRequest,
  waitsForSecond,
} from './two-people.ts'

/** An event whose signed bytes are stored and that is marked as being sent. */
export interface ReadyEvent {
  event: QueuedEvent
  signed: SignedEvent
}

type SigningContext = Pick<Context, 'db' | 'config' | 'log' | 'signer'>

/** Prepares a batch: signs the unsigned events and stores the bytes before they are sent. Settles those that cannot or need not leave. */
export async function prepareBatch(
  ctx: SigningContext,
  batch: Batch,
): Promise<{ opened: OpenedCertificate; ready: ReadyEvent[] } | null> {
  return inCapture(ctx, async (ctx) => {
    await enterWorkspace(ctx, batch.workspaceId)
    // Changes of rules or settings wait for this commit or are seen here, so no outdated rule signs.
    await holdSharedLock(ctx, 'answerRules', batch.workspaceId)
    const settled = [
      ...(await endUnknown(ctx, batch)),
      ...(await settleKnown(ctx, batch)),
      ...(await postponeUnjudged(ctx, batch)),
      ...(await settleUnwanted(ctx, batch)),
      ...(await holdBackAlone(ctx, batch)),
    ]
    const rivals = await readRivals(ctx, batch)
    const wanted = batch.events
      .filter((event) => !settled.includes(event.id))
      .map((event) => ({ ...event, rivalAt: rivals.get(event.id) ?? null }))
    if (settled.length > 0) await writeAnswers(ctx, batch.workspaceId, batch.events)
    if (wanted.length === 0) return null
    const opened = await takeCertificate(
      ctx,
      batch.workspaceId,
      batch.cnpj,
      protocols[batch.service].use(batch.cnpj, wanted),
    )
    if (!opened) {
      await postpone(ctx, batch, wanted, noCertificate)
      return null
    }
    const refused = wanted.filter((event) => refusedBefore(event, opened.pem))
    await postpone(ctx, batch, refused, sameCertificate)
    const ready: ReadyEvent[] = []
    const ended: QueuedEvent[] = []
    for (const event of wanted.filter((event) => !refused.includes(event))) {
      const signed = await sign(ctx, batch, event, opened)
      const change = 'refusal' in signed ? rejected(signed.refusal) : onItsWay(event, signed.xml)
      if (!(await changeHeld(ctx, batch, event, change))) continue
      if ('refusal' in signed) ended.push(event)
      else ready.push({ event, signed })
    }
    await writeAnswers(ctx, batch.workspaceId, ended)
    return ready.length > 0 ? { opened, ready } : null
  })
}

const noCertificate =
  'Não há um certificado digital válido para esta empresa: o evento continua na fila e sai quando um certificado válido for enviado.'
const sameCertificate =
  'A SEFAZ recusou várias vezes o certificado digital desta empresa: o evento continua na fila e sai quando outro certificado for enviado.'
const waitsForAlerts =
  'O documento mudou e os alertas ainda não o conferiram: a resposta automática espera por isso, no máximo até uma hora depois da chegada dele.'

// Protocols order two registrations of the same second (docs/decisions/0012).
const isLater = sql`(e.registered_at, coalesce(protocol_number(e.protocol), 0)) > (r.registered_at, coalesce(protocol_number(r.protocol), 0))`

async function readRivals({ db }: WithDatabase, batch: Batch): Promise<Map<bigint, Date>> {
  const { rows } = await sql<{ id: bigint; at: Date }>`
    select o.id, max(e.registered_at) as at from outgoing_event o join document_event e on ${isRival(batch.workspaceId)}
     where o.workspace_id = ${batch.workspaceId} and o.id = any (${batch.events.map(({ id }) => id)}::bigint[])
     group by o.id`.execute(db)
  return new Map(rows.map(({ id, at }) => [id, at]))
}

// The authority was asked about these for a day: a person decides whether to ask again.
async function endUnknown(ctx: SigningContext, batch: Batch): Promise<bigint[]> {
  const ended: QueuedEvent[] = []
  for (const event of batch.events.filter(({ isOverdue }) => isOverdue)) {
    const change = { ...rejected(neverTold), state: 'unconfirmed' as const }
    if (await changeHeld(ctx, batch, event, change)) ended.push(event)
  }
  const chaves = ended.slice(0, chavesNamed).map(({ chave }) => chave)
  await announceResults(ctx, batch, { registered: 0, refused: 0, unconfirmed: ended.length, chaves })
  return ended.map(({ id }) => id)
}

// An event that was held (events/hold.ts) may have left, and no bytes of it are here that could leave again.
const isFresh = ({ isUnknown, signedXml }: QueuedEvent) => !isUnknown || signedXml === null

// Another workspace of the same CNPJ may have sent the same event. A Carta de Correção has words of its own.
async function settleKnown({ db }: WithDatabase, batch: Batch): Promise<bigint[]> {
  const fresh = batch.events.filter((event) => isFresh(event) && event.tpEvento !== cartaCorrecao)
  const { rows } = await sql<{ id: bigint; documentId: bigint }>`
    update outgoing_event o
       set state = case when k.counts then 'registered' else 'rejected' end,
           message = case when k.counts then 'Já estava registrada: nada precisou ser enviado.' else ${overtaken} end,
           lease_by = null, lease_until = null, c_stat = null, x_motivo = null, answered_at = now(),
           protocol = case when k.counts then k.protocol end, registered_at = case when k.counts then k.registered_at end
      from (select o.id, r.protocol, r.registered_at,
                   not exists (select 1 from document_event e where ${isRival(batch.workspaceId)} and ${isLater}) as counts
              from outgoing_event o join document_event r
                on r.workspace_id = o.workspace_id and r.company_id = o.company_id and r.chave = o.chave and r.tp_evento = o.tp_evento
               and r.sequence = o.sequence and r.author = o.cnpj and r.rank > 0
             where o.workspace_id = ${batch.workspaceId} and o.id = any (${fresh.map(({ id }) => id)}::bigint[])) k
     where o.workspace_id = ${batch.workspaceId} and o.id = k.id and o.lease_by = ${batch.leaseBy}
    returning o.id, o.document_id as "documentId"`.execute(db)
  noteSettled({ db }, batch.workspaceId, rows)
  return rows.map((row) => row.id)
}

// Checked again after the wait: document, rule, switch or company may have changed.
async function settleUnwanted({ db }: WithDatabase, batch: Batch): Promise<bigint[]> {
  const fresh = batch.events.filter(isFresh)
  const rules = await readAnswerRules({ db }, batch.workspaceId)
  // An event says which rule wanted it.
  const isOtherRule = sql`(${rules.map(({ id }) => id)}::bigint[])[r.rule + 1] is distinct from o.rule_id`
  const decision = decide(batch.workspaceId, rules, sql`(c.acknowledges_since is not null)`)
  const { rows: unwanted } = await sql<{ id: bigint; message: string }>`
    select o.id, case d.status when ${status.cancelled}::int then 'O documento foi cancelado antes do envio: nada foi enviado.'
                                   when ${status.denied}::int then 'O uso do documento foi denegado: nada foi enviado.'
                                   else case when not c.active
                                             then 'A empresa foi arquivada antes do envio: nada foi enviado.'
                                             when ${isOtherRule} or not r.leaves and r.rule >= 0
                                             then 'As regras de resposta mudaram antes do envio: nada foi enviado.'
                                             when not r.leaves
                                             then 'A Ciência automática foi desligada antes do envio: nada foi enviado.'
                                             when ${isSuspect}
                                             then 'Um alerta deste documento espera por uma pessoa: nada foi enviado.'
                                             else 'As notas destinadas à empresa foram ocultadas antes do envio: nada foi enviado.' end end as message
      from outgoing_event o join document d on d.workspace_id = ${batch.workspaceId} and d.id = o.document_id
      join company c on c.workspace_id = ${batch.workspaceId} and c.id = d.company_id
      join supplier s on s.workspace_id = ${batch.workspaceId} and s.id = d.supplier_id
      cross join lateral (${decision}) r
     where o.workspace_id = ${batch.workspaceId} and o.id = any (${fresh.map(({ id }) => id)}::bigint[]) and o.lease_by = ${batch.leaseBy}
       and (d.status in (${status.cancelled}, ${status.denied}) or (o.requested_by is null and (not c.active or not r.leaves or ${isOtherRule} or ${isSuspect} or not ${isShown(batch.workspaceId, 'd', sql`${recipient}::int`)})))`.execute(
    db,
  )
  if (unwanted.length === 0) return []
  const { rows } = await sql<{ id: bigint; documentId: bigint }>`
    update outgoing_event o
       set state = 'rejected', lease_by = null, lease_until = null, c_stat = null, x_motivo = null, answered_at = null, message = u.message
      from unnest(${unwanted.map(({ id }) => id)}::bigint[], ${unwanted.map(({ message }) => message)}::text[]) u (id, message)
     where o.workspace_id = ${batch.workspaceId} and o.id = u.id and o.lease_by = ${batch.leaseBy}
    returning o.id, o.document_id as "documentId"`.execute(db)
  noteSettled({ db }, batch.workspaceId, rows)
  return rows.map((row) => row.id)
}

// The document changed after its automatic answer was queued.
async function postponeUnjudged(ctx: SigningContext, batch: Batch): Promise<bigint[]> {
  const fresh = batch.events.filter(isFresh)
  const { rows } = await sql<{ id: bigint }>`
    select o.id from outgoing_event o join document d on d.workspace_id = ${batch.workspaceId} and d.id = o.document_id
     where o.workspace_id = ${batch.workspaceId} and o.id = any (${fresh.map(({ id }) => id)}::bigint[]) and o.lease_by = ${batch.leaseBy}
       and o.requested_by is null and not ${isJudgedOrLate}`.execute(ctx.db)
  const unjudged = rows.map(({ id }) => id)
  await postpone(
    ctx,
    batch,
    fresh.filter(({ id }) => unjudged.includes(id)),
    waitsForAlerts,
  )
  return unjudged
}

// Checked again: the value, the setting or rights may have changed. It waits for whoever may approve now, unless overtaken.
async function holdBackAlone({ db }: WithDatabase, batch: Batch): Promise<bigint[]> {
  const fresh = batch.events.filter(isFresh)
  const { rows: asTwo } = await sql`
    select from outgoing_event o left join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
     where o.workspace_id = ${batch.workspaceId} and o.id = any (${fresh.map(({ id }) => id)}::bigint[])
       and ${needsTwo(batch.workspaceId)}`.execute(db)
  if (asTwo.length === 0) return []
  const { rows } = await sql<{ id: bigint; documentId: bigint; state: string; by: string }>`
    update outgoing_event o
       set state = h.state, lease_by = null, lease_until = null, c_stat = null, x_motivo = null, approved_by = null,
           why = split_part(o.why, ${approvedMark}, 1) || case when o.approved_by is null then '' else '.' end,
           message = case when h.state = 'asked' then ${waitsForSecond} when h.gone then 'O documento não está mais aqui: nada foi enviado.'
                          else ${overtakenByRequest} end
      from (select o.id, d.id is null as gone, case when d.id is null or exists (select from outgoing_event e where ${isLaterRequest(batch.workspaceId)}) then 'rejected' else 'asked' end as state
              from outgoing_event o left join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
             where o.workspace_id = ${batch.workspaceId} and o.id = any (${fresh.map(({ id }) => id)}::bigint[]) and ${needsTwo(batch.workspaceId)} and not ${hasTwo(batch.workspaceId)}) h
     where o.workspace_id = ${batch.workspaceId} and o.id = h.id and o.lease_by = ${batch.leaseBy}
    returning o.id, o.document_id as "documentId", o.state,
              ${nameOfAuthor(batch.workspaceId, 'o.requested_by')} as by`.execute(db)
  const ended = rows.filter(({ state }) => state === 'rejected')
  noteSettled({ db }, batch.workspaceId, ended)
  const again = rows.filter(({ state }) => state === 'asked')
  if (again.length > 0) {
    const payload: Asked = { count: again.length, by: again[0]!.by, again: true }
    await announce({ db }, batch.workspaceId, { what: 'resposta-aguarda', companyId: batch.companyId, payload })
  }
  return rows.map(({ id }) => id)
}

// Three refusals are enough; the authority blocks an author that repeats a rejected event.
const refusalsMax = 3

function refusedBefore({ cStat, failures, signedXml }: QueuedEvent, certificatePem: string): boolean {
  if (cStat === null || !isAboutCertificate(cStat) || failures < refusalsMax) return false
  const base64 = certificatePem.replace(/-----[^-]+-----|\s/g, '')
  return signedXml?.replace(/\s/g, '').includes(base64) === true
}

async function postpone(ctx: SigningContext, batch: Batch, events: QueuedEvent[], message: string): Promise<void> {
  const waitMs = ctx.config.sefaz.hourMs / 6
  for (const event of events) {
    const change = { message, next_at: fromNow(waitMs), lease_by: null, lease_until: null }
    await changeHeld(ctx, batch, event, { state: event.isUnknown ? 'sending' : 'waiting', ...change })
  }
}

type Change = UpdateObject<Tables, 'outgoing_event'>

const rejected = (message: string): Change => ({
  state: 'rejected',
  message,
  lease_by: null,
  lease_until: null,
  c_stat: null,
  x_motivo: null,
  answered_at: sql<Date>`now()`,
})

// An earlier response says nothing about this sending. While the outcome is unknown, the time of the first sending counts.
const onItsWay = ({ isUnknown }: QueuedEvent, xml: string): Change => ({
  state: 'sending',
  signed_xml: xml,
  sent_at: isUnknown ? sql<Date>`least(sent_at, now())` : sql<Date>`now()`,
  c_stat: null,
  x_motivo: null,
})

async function changeHeld(
  { db }: WithDatabase,
  { workspaceId, leaseBy }: Batch,
  { id, documentId }: QueuedEvent,
  change: Change,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('outgoing_event')
    .set(change)
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .where('lease_by', '=', leaseBy)
    .executeTakeFirst()
  if (numUpdatedRows === 1n && (change.state === 'rejected' || change.state === 'unconfirmed'))
    noteSettled({ db }, workspaceId, [{ id, documentId }])
  return numUpdatedRows === 1n
}

async function isHeld({ db }: WithDatabase, { workspaceId, leaseBy }: Batch, { id }: QueuedEvent): Promise<boolean> {
  const { rows } = await sql`
    select from outgoing_event where workspace_id = ${workspaceId} and id = ${id} and lease_by = ${leaseBy}`.execute(db)
  return rows.length > 0
}

async function sign(
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
    if (error instanceof UnwantedEvent && !(await isHeld(ctx, batch, event)))
      throw new LeaseLost('another process has these events', { cause: error })
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
