import { nfe } from '@vigia/dfe/families/nfe'
import { SefazError } from '@vigia/sefaz/error'
import { type RawBuilder, sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { arrive, evento, nfeProc } from '../documents/testing.ts'
import type { Context } from '../platform/context.ts'
import { useContext } from '../platform/database.testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Session } from '../platform/http/session.ts'
import { prepareInstallation } from '../platform/installation.ts'
import { insertAccount, testSession } from '../platform/testing.ts'
import { reviewAsked, settleAsked } from './approve.ts'
import { hold, release } from './hold.ts'
import { prepareBatch } from './prepare.ts'
import { decideResponse, decideSilence } from './protocols/outcome.ts'
import type { Said } from './protocols/protocol.ts'
import { claimBatch, postponeFailed, releaseEvents } from './queue.ts'
import { requestAgain, requestEvents } from './request.ts'
import { refreshDocuments, settle } from './settle.ts'
import { author, daysAgo, dueDiffers, newOffice, type Office, store } from './testing.ts'
import { saveTwoFrom } from './two-people.ts'

// Every state of an event and whatever may happen to it. `held` is `sending` without bytes: the event may have left before a restore, and is
// signed anew. A happening that a state does not admit is refused, or does not reach the event, and changes nothing.

const { url, ctx } = await useContext({ PORT: '0' })
let office: Office
let second: Session

beforeAll(async () => {
  await prepareInstallation(url, 'simulado')
})

const states = ['asked', 'waiting', 'held', 'sending', 'registered', 'rejected', 'unconfirmed'] as const
type State = (typeof states)[number]
const settled: readonly State[] = ['registered', 'rejected', 'unconfirmed']
const [cienciaCode, confirmation, denial] = [210210, 210200, 210220]

const inside = <T>(work: (ctx: Context) => Promise<T>) => inWorkspace(ctx, office.workspaceId, work)
const change = (set: RawBuilder<unknown>) =>
  inCapture(ctx, ({ db }) => sql`update outgoing_event set ${set}`.execute(db))
interface Row {
  id: bigint
  documentId: bigint
  state: State
  told: number
}
// The first event of each document, in the order of `states`.
const readRows = () =>
  inside(async ({ db }) => {
    const { rows } = await sql<Row>`
      select distinct on (o.document_id) o.id, o.document_id as "documentId",
             case when o.state = 'sending' and o.signed_xml is null then 'held' else o.state end as state,
             (select count(*)::int from document_change c where c.workspace_id = o.workspace_id and c.event_id = o.id) as told
        from outgoing_event o where o.workspace_id = ${office.workspaceId} order by o.document_id, o.id`.execute(db)
    return rows
  })

/** A company with a note, and an event about it, in each state. */
async function begin(tpEvento: number): Promise<Row[]> {
  await inCapture(ctx, ({ db }) => db.deleteFrom('outgoing_event').execute())
  office = await newOffice(ctx)
  const { id } = await insertAccount(ctx.db, office.workspaceId, { name: 'Bruno Lima' })
  second = { ...testSession(office.workspaceId, id), accountName: 'Bruno Lima' }
  const notes = states.map((_, at) => arrive(at + 1, nfeProc({ number: at + 1, issuedAt: daysAgo(2) })))
  await store(ctx, office, 'nfe', notes)
  await inside(async ({ db }) => {
    const documents = await db.selectFrom('document').select(['id', 'chave']).orderBy('number').execute()
    const { workspaceId, companyId, session } = office
    const common = {
      workspace_id: workspaceId,
      company_id: companyId,
      type: 0,
      cnpj: author,
      tp_evento: tpEvento,
      sequence: 1,
    }
    const by = { justification: 'a pedido', why: 'Pedida por Ana Souza.', requested_by: session.accountId }
    for (const [at, { id, chave }] of documents.entries()) {
      // Only one of them is signed now.
      const next_at = new Date(Date.now() + (states[at] === 'sending' ? -1_000 : 3_600_000))
      await db
        .insertInto('outgoing_event')
        .values({ ...common, ...by, document_id: id, chave, next_at })
        .execute()
    }
  })
  await prepareBatch(ctx, (await claimBatch(ctx))!)
  const [asked, , held, sending, ...ended] = await readRows()
  await change(sql`next_at = now(), lease_by = null, lease_until = null`)
  await change(sql`state = 'asked' where id = ${asked!.id}`)
  await change(sql`state = 'sending' where id = ${held!.id}`)
  await change(sql`failures = 1, sent_at = now() - interval '1 minute' where id = ${sending!.id}`)
  for (const [at, state] of settled.entries())
    await change(sql`state = ${state}, signed_xml = '<evento/>' where id = ${ended[at]!.id}`)
  const rows = await readRows()
  await inside((ctx) => refreshDocuments(ctx, office.workspaceId, rows))
  expect(rows.map(({ state }) => state)).toEqual(states)
  return rows
}

/** Does it to each event alone; a refusal changes nothing. */
async function each(rows: readonly Row[], work: (row: Row) => Promise<unknown>): Promise<void> {
  for (const row of rows)
    await work(row).catch((error) => {
      if (!(error instanceof AppError)) throw error
    })
}
const idOf = (id: bigint) => ctx.ids.encode(office.workspaceId, id)
const request = (rows: readonly Row[], tpEvento: number) =>
  each(rows, ({ documentId }) => {
    const kind = nfe.answers.find((one) => one.tpEvento === tpEvento)!
    const selection = { service: 'nfe' as const, kind, documents: [idOf(documentId)] }
    return requestEvents(ctx, office.session, { ...selection, justification: 'dito com outras palavras' }, 0)
  })
const decide = (rows: readonly Row[], reason: string | null) =>
  each(rows, ({ id }) => settleAsked(ctx, second, { chosen: [idOf(id)], reason }))
const prepare = async () => {
  const batch = (await claimBatch(ctx))!
  return { batch, ready: (await prepareBatch(ctx, batch))?.ready ?? [] }
}
const changeDocuments = (set: RawBuilder<unknown>) =>
  inside(({ db }) => sql`update document set ${set} where workspace_id = ${office.workspaceId}`.execute(db))

async function answer(cStat: number, more: Partial<Said> = {}) {
  const { batch, ready } = await prepare()
  const said = { cStat, xMotivo: 'Motivo', protocol: '135260000799999', registeredAt: daysAgo(0), ...more }
  await settle(
    ctx,
    batch,
    ready.map((one) => ({ ready: one, said, consequence: decideResponse('nfe', one.event, said) })),
  )
}
async function silence(error: SefazError | null) {
  const { batch, ready } = await prepare()
  await settle(
    ctx,
    batch,
    ready.map((one) => ({ ready: one, consequence: decideSilence(one.event, error) })),
  )
}

// Each state, and what follows there from each happening; "-": nothing changes.
const people = `
                                          asked     waiting      held        sending      registered  rejected  unconfirmed
  the same answer is requested again      -         -            -           -            -           -         sending
  a rival answer is requested             rejected  -            -           -            -           -         -
  another person approves it              waiting   -            -           -            -           -         -
  another person refuses it               rejected  -            -           -            -           -         -
  its deadline passes                     rejected  -            -           -            -           -         -
  a person sends it again                 -         -            -           -            -           -         sending
  the sending is held                     -         held         -           -            -           -         -
`
const beforeSending = `
                                          asked     waiting      held        sending      registered  rejected  unconfirmed
  it is signed                            -         sending      sending     -            -           -         -
  there is no certificate                 -         -            -           -            -           -         -
  its document was cancelled              -         rejected     rejected    -            -           -         -
  it is registered by another program     -         registered   registered  -            -           -         -
  it needs two people now                 -         asked        asked       -            -           -         -
  the authority was silent for a day      -         sending      sending     unconfirmed  -           -         -
  no certificate for a day                -         -            -           unconfirmed  -           -         -
  our process fails                       -         -            -           -            -           -         -
  the lease does not last for a response  -         -            sending     -            -           -         -
`
const answers = `
                                          asked     waiting      held        sending      registered  rejected  unconfirmed
  135: registered                         -         registered   registered  registered   -           -         -
  596: refused                            -         rejected     rejected    rejected     -           -         -
  573: it has it already                  -         waiting      registered  registered   -           -         -
  573 for number 2                        -         unconfirmed  registered  registered   -           -         -
  573 of before the request               -         waiting      waiting     waiting      -           -         -
  108: out of service                     -         waiting      sending     sending      -           -         -
  656: its author is blocked              -         waiting      sending     sending      -           -         -
  999: an error of the authority          -         sending      sending     sending      -           -         -
  290: the certificate is refused         -         waiting      sending     sending      -           -         -
  578: our clock is wrong                 -         waiting      sending     sending      -           -         -
  225: its lote is refused                -         rejected     sending     sending      -           -         -
  135 for the lote alone                  -         sending      sending     sending      -           -         -
  nothing left                            -         waiting      sending     sending      -           -         -
  the response is lost                    -         sending      sending     sending      -           -         -
  the response does not name it           -         sending      sending     sending      -           -         -
`
const ofCiencia = `
                                          asked     waiting      held        sending      registered  rejected  unconfirmed
  a final answer is requested             -         rejected     rejected    -            -           -         -
  573: it has it already                  -         registered   registered  registered   -           -         -
  655: a final answer stands              -         registered   registered  registered   -           -         -
`

const happenings: Record<string, (rows: Row[]) => Promise<unknown>> = {
  'the same answer is requested again': (rows) => request(rows, confirmation),
  'a rival answer is requested': (rows) => request(rows, denial),
  'another person approves it': (rows) => decide(rows, null),
  'another person refuses it': (rows) => decide(rows, 'Não.'),
  'its deadline passes': review,
  'a person sends it again': sendAgain,
  'the sending is held': holdAll,
  'it is signed': prepare,
  'there is no certificate': withoutCertificate,
  'its document was cancelled': (rows) => changed(rows, sql`status = 3`),
  'it is registered by another program': registeredElsewhere,
  'it needs two people now': needTwo,
  'the authority was silent for a day': silentForADay,
  'no certificate for a day': noCertificateForADay,
  'our process fails': fail,
  'the lease does not last for a response': releaseReady,
  '135: registered': () => answer(135),
  '596: refused': () => answer(596),
  '573: it has it already': () => answer(573),
  '573 for number 2': secondTime,
  '573 of before the request': () => answer(573, { registeredAt: daysAgo(1) }),
  '108: out of service': () => answer(108),
  '656: its author is blocked': () => answer(656),
  '999: an error of the authority': () => answer(999),
  '290: the certificate is refused': () => answer(290),
  '578: our clock is wrong': () => answer(578),
  '225: its lote is refused': () => answer(225, { ofLoteWith: 3 }),
  '135 for the lote alone': () => answer(135, { ofLoteWith: 3 }),
  'nothing left': () => silence(new SefazError('unreached', { detail: 'ECONNREFUSED' })),
  'the response is lost': () => silence(new SefazError('timeout')),
  'the response does not name it': () => silence(null),
  'a final answer is requested': (rows) => request(rows, confirmation),
  '655: a final answer stands': () => answer(655),
}

describe.each([
  ['what people do', confirmation, people],
  ['what is found before it is sent', confirmation, beforeSending],
  ['what the authority answers', confirmation, answers],
  ['a Ciência', cienciaCode, ofCiencia],
])('%s', (_, tpEvento, table) => {
  const lines = table.split('\n').slice(2, -1)
  test.each(lines.map((line) => line.trim().split(/ {2,}/)))('%s', async (happening = '', ...follows) => {
    const before = await begin(tpEvento)
    await happenings[happening]!(before)
    const after = await readRows()
    const expected = follows.map((next, at) => (next === '-' ? states[at] : next))
    expect(after.map(({ state }) => state)).toEqual(expected)
    // Who follows the workspace hears of what was settled, once, and the documents say what is true now.
    const told = after.map(({ state }, at) => (state !== before[at]!.state && settled.includes(state) ? 1 : 0))
    expect(after.map((row) => row.told)).toEqual(told)
    expect(await dueDiffers(ctx, office.workspaceId)).toEqual([])
  })
})

async function review(rows: Row[]): Promise<void> {
  await changeDocuments(sql`authorized_at = now() - interval '91 days'`)
  await reviewAsked(ctx, office.workspaceId)
  await inside((ctx) => refreshDocuments(ctx, office.workspaceId, rows))
}

async function sendAgain(rows: Row[]): Promise<void> {
  await each(rows, ({ documentId }) =>
    requestAgain(ctx, office.session, { document: idOf(documentId), tpEvento: confirmation, sequence: 1 }, 0),
  )
}

async function holdAll(): Promise<void> {
  await hold(ctx, 'O sistema voltou de uma cópia de segurança.')
  expect(await claimBatch(ctx)).toBeNull()
  await release(ctx)
}

async function changed(rows: Row[], set: RawBuilder<unknown>): Promise<void> {
  await changeDocuments(set)
  await prepare()
  await inside((ctx) => refreshDocuments(ctx, office.workspaceId, rows))
}

async function withoutCertificate(): Promise<void> {
  await inside(({ db }) => sql`update certificate set replaced_at = now()`.execute(db))
  expect((await prepare()).ready).toEqual([])
}

async function noCertificateForADay(): Promise<void> {
  await change(
    sql`failures = 0, sent_at = now() - interval '25 hours' where signed_xml is not null and state = 'sending'`,
  )
  await withoutCertificate()
  await change(sql`next_at = now() where state in ('waiting', 'sending')`)
  await prepare()
}

async function registeredElsewhere(): Promise<void> {
  const arrivals = states.map((_, at) => {
    const xml = evento(confirmation, { number: at + 1, at: daysAgo(1) })
    return arrive(100 + at, xml.replace('<CNPJ>11222333000181</CNPJ>', `<CNPJ>${author}</CNPJ>`))
  })
  await store(ctx, office, 'nfe', arrivals)
  await prepare()
  const protocols = await inside(({ db }) => db.selectFrom('outgoing_event').select(['state', 'protocol']).execute())
  expect(protocols.filter(({ protocol }) => protocol === `8912600000${confirmation}`)).toHaveLength(2)
}

async function needTwo(): Promise<void> {
  await saveTwoFrom(ctx, office.session, 1)
  await prepare()
}

async function silentForADay(): Promise<void> {
  await change(sql`sent_at = now() - interval '25 hours' where state = 'sending'`)
  await prepare()
}

async function fail(): Promise<void> {
  await postponeFailed(ctx, (await claimBatch(ctx))!)
}

async function releaseReady(): Promise<void> {
  const { batch, ready } = await prepare()
  const events = ready.map(({ event }) => event)
  await releaseEvents(ctx, batch, events, 0)
}

async function secondTime(rows: Row[]): Promise<void> {
  await change(sql`sequence = 2`)
  await inside((ctx) => refreshDocuments(ctx, office.workspaceId, rows))
  await answer(573)
}
