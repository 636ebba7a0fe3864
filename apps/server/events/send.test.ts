import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { familyById } from '@vigia/dfe/families/lookup'
import { readReceived } from '@vigia/dfe/read'
import type { SefazError } from '@vigia/sefaz/error'
import { processedEvent, signCteEvent } from '@vigia/sefaz/events'
import fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { newCertificate } from '../../../tests/support/certificates.ts'
import { onOneServer } from '../../../tests/support/database.ts'
import { verifyWithXmlCrypto } from '../../../tests/support/judges.ts'
import { runs } from '../../../tests/support/seed.ts'
import { showOnly, toldOf } from '../companies/testing.ts'
import { arrive, chaveOf, resNFe } from '../documents/testing.ts'
import type { Context } from '../platform/context.ts'
import { useContext, useOwner } from '../platform/database.testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { authorityFile, testSigner } from '../platform/signer/testing.ts'
import { noteFailure } from '../sefaz/circuit.ts'
import { manifestationAnnouncements } from './announcements.ts'
import { acknowledgePending, certificateFollowers } from './ciencia.ts'
import { prepareBatch } from './prepare.ts'
import { decideResponse, decideSilence } from './protocols/outcome.ts'
import type { Said } from './protocols/protocol.ts'
import { type Batch, claimBatch, type ReadyEvent } from './queue.ts'
import { requestAgain, requestEvents } from './request.ts'
import { sendBatch, startEventWorker } from './send.ts'
import { type Outcome, refreshDocuments, settle } from './settle.ts'
import {
  author,
  type CteOptions,
  cteChave,
  cteProc,
  daysAgo,
  dueDiffers,
  giveCertificate,
  newOffice,
  type Office,
  store,
} from './testing.ts'

const { url: databaseUrl, ctx } = await useContext({ PORT: '0' })
const owner = await useOwner(databaseUrl)
let office: Office
const certificate = newCertificate(author)

// Whichever way an event is settled, who follows the workspace hears of it once. What a test settled by itself still has the words of the queue.
afterEach(async () => {
  const { rows } = await owner.query<{ id: string; state: string; told: number }>(
    `select id, state, (select count(*)::int from document_change c
                         where c.workspace_id = o.workspace_id and c.event_id = o.id) as told
       from outgoing_event o where message <> '' and message not like 'Na fila%'`,
  )
  for (const { state, told } of rows)
    expect(told, state).toBe(['registered', 'rejected', 'unconfirmed'].includes(state) ? 1 + sentAgain : 0)
  expect(await dueDiffers(ctx, office.workspaceId)).toEqual([])
})
// An event that ended without confirmation ends, and is told, once more.
let sentAgain = 0
beforeEach(async () => {
  sentAgain = 0
  // The application itself may not remove what it noted.
  await owner.query('truncate outgoing_event, capture_subscription, circuit')
  office = await newOffice(ctx, { certificate })
})

const summaries = (count: number, of = office) =>
  store(
    ctx,
    of,
    'nfe',
    Array.from({ length: count }, (_, index) => arrive(index + 1, resNFe({ number: index + 1, issuedAt: daysAgo(2) }))),
  )

async function ask(
  service: 'nfe' | 'cte',
  choice: number,
  { of = office, ...more } = {} as { of?: Office; justification?: string; corrections?: never[] },
) {
  const documents = await inWorkspace(ctx, of.workspaceId, ({ db }) =>
    db
      .selectFrom('document')
      .select('id')
      .where('type', '=', service === 'nfe' ? 0 : 2)
      .orderBy('number')
      .execute(),
  )
  const kind = familyById(service).answers.find((kind) => kind.choice === choice)!
  const ids = documents.map(({ id }) => ctx.ids.encode(of.workspaceId, id))
  const request = { service, kind, documents: ids, justification: 'a pedido do cliente', ...more }
  return requestEvents(ctx, of.session, request, 0)
}

/** Sends an event of the first document again. */
async function again(tpEvento: number, sequence: number) {
  const { document_id } = await only()
  const document = ctx.ids.encode(office.workspaceId, document_id)
  return requestAgain(ctx, office.session, { document, tpEvento, sequence }, 0)
}

const announced = () => toldOf(ctx, manifestationAnnouncements, office.workspaceId, 'manifestacao-resultado')

const rows = () => inCapture(ctx, ({ db }) => db.selectFrom('outgoing_event').selectAll().orderBy('id').execute())
const only = async () => (await rows())[0]!
const change = (set: RawBuilder<unknown>) =>
  inCapture(ctx, ({ db }) => sql`update outgoing_event set ${set}`.execute(db))
const makeDue = () => change(sql`next_at = now(), lease_until = now() - interval '1 second'`)

/** Writes what a test changed of a batch into its documents. */
const written = ({ events }: Batch) =>
  inWorkspace(ctx, office.workspaceId, (inside) => refreshDocuments(inside, office.workspaceId, events))

async function claim(): Promise<Batch> {
  const batch = await claimBatch(ctx)
  if (!batch) throw new Error('nothing is due')
  return batch
}

async function ready(): Promise<{ batch: Batch; ready: ReadyEvent[] }> {
  const batch = await claim()
  const prepared = await prepareBatch(ctx, batch)
  if (!prepared) throw new Error(`not ready: ${JSON.stringify((await rows()).map((row) => row.message))}`)
  return { batch, ready: prepared.ready }
}

const protocol = '135260000799999'
function saidOf({ signed }: ReadyEvent, cStat: number, at: string): Said {
  const [root, chave] = signed.xml.startsWith('<eventoCTe') ? ['retEventoCTe', 'chCTe'] : ['retEvento', 'chNFe']
  const registered = cStat === 135
  const xMotivo = registered ? 'Evento registrado' : `Rejeicao: Motivo [nProt:${protocol}][dhRegEvento:${at}]`
  const xml = `<${root} versao="1.00"><infEvento><tpAmb>2</tpAmb><verAplic>x</verAplic><cOrgao>91</cOrgao><cStat>${cStat}</cStat><xMotivo>${xMotivo}</xMotivo><${chave}>${signed.chave}</${chave}><tpEvento>${signed.tpEvento}</tpEvento><nSeqEvento>${signed.nSeqEvento}</nSeqEvento>${registered ? `<dhRegEvento>${at}</dhRegEvento><nProt>${protocol}</nProt>` : ''}</infEvento></${root}>`
  return { cStat, xMotivo, protocol, registeredAt: at, xml }
}

/** Sends what is due as if the authority answered `cStat` to all of it; null: it did not answer. */
async function turn(cStat: number | null, error: SefazError | null = null, registeredAt = daysAgo(0)) {
  const { batch, ready: events } = await ready()
  const settled = events.map((one): Outcome => {
    if (cStat === null) return { ready: one, consequence: decideSilence(one.event, error) }
    const said = saidOf(one, cStat, registeredAt)
    return { ready: one, said, consequence: decideResponse(batch.service, one.event, said) }
  })
  const registered = await settle(ctx, batch, settled)
  return { events, registered }
}

const documentsOf = (of = office) =>
  inWorkspace(ctx, of.workspaceId, ({ db }) =>
    db.selectFrom('document').select(['status', 'event_code']).orderBy('number').execute(),
  )

describe('a claim', () => {
  test('takes twenty of one company, and nothing of its author until they are settled', async () => {
    await summaries(25)
    await ask('nfe', 1)
    const claims = await Promise.all(Array.from({ length: 6 }, () => claimBatch(ctx)))
    const batches = claims.filter((batch) => batch !== null)
    expect(batches.map((batch) => batch.events.length)).toEqual([20])
    expect(await claimBatch(ctx)).toBeNull()
    await change(sql`lease_until = now() - interval '1 second'`)
    expect((await claim()).events).toHaveLength(20)
  })

  // One statement for three hundred workspaces, as a cluster takes none.
  onOneServer('goes straight to what it takes, however many workspaces have events', async () => {
    const others = 300
    await owner.query(
      `with w as (insert into workspace (name, plan) select 'x', 1 from generate_series(1, $1) returning id),
            c as (insert into company (workspace_id, cnpj, name, search, uf)
                  select id, lpad(id::text, 14, '0'), 'X', 'x', 35 from w returning workspace_id, id)
       insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, state, why)
       select workspace_id, id, 1, 0, lpad(id::text, 14, '0'), lpad(n::text, 44, '0'), 210210, 1, 'registered', 'x'
         from c, generate_series(1, 100) n`,
      [others],
    )
    await summaries(1)
    await ask('nfe', 1)
    await owner.query('analyze outgoing_event')
    const blocksRead = async ({ db }: Pick<Context, 'db'>) => {
      const { rows } = await sql<{ n: number }>`
        select sum(pg_stat_get_xact_blocks_fetched(name::regclass))::int as n
          from unnest('{outgoing_event,outgoing_event_pkey}'::text[]) name`.execute(db)
      return rows[0]!.n
    }
    await inCapture(ctx, async (ctx) => {
      const before = await blocksRead(ctx)
      expect(await claimBatch(ctx)).not.toBeNull()
      expect((await blocksRead(ctx)) - before).toBeLessThan(40)
    })
  })

  test('does not take what comes after an unsettled event about the same document', async () => {
    await summaries(1)
    await ask('nfe', 3)
    await ask('nfe', 2)
    const first = await claim()
    expect(first.events.map((event) => event.tpEvento)).toEqual([210220])
    await change(sql`next_at = now() + interval '1 hour', lease_until = null where tp_evento = 210220`)
    expect(await claimBatch(ctx)).toBeNull()
    await change(sql`state = 'rejected' where tp_evento = 210220`)
    await written(first)
    expect((await claim()).events.map((event) => event.tpEvento)).toEqual([210200])
  })

  test('does not let an answer wait for a Ciência of which nobody knows', async () => {
    await summaries(1)
    await ask('nfe', 1)
    await turn(null)
    await change(sql`next_at = now() + interval '1 hour'`)
    await ask('nfe', 2)
    expect((await claim()).events.map((event) => event.tpEvento)).toEqual([210200])
  })

  test('takes no event twice, although its lease is over before the next is looked for', async () => {
    await summaries(3)
    await ask('nfe', 2)
    const { sefaz } = ctx.config
    const hurried = { ...ctx, config: { ...ctx.config, sefaz: { ...sefaz, answerMs: 0.2 } } }
    const { events } = (await claimBatch(hurried))!
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })

  test('takes what a person waits for before what a switch wants', async () => {
    await summaries(25)
    await ask('nfe', 1)
    const ids = (await rows()).map((row) => row.id)
    await change(sql`requested_by = null where id <> ${ids.at(-1)}`)
    await change(sql`next_at = now() where id = ${ids.at(-1)}`)
    expect((await claim()).events.at(-1)?.id).toBe(ids.at(-1))
  })

  test('takes alone what was in a lote that was rejected as a whole and may be registered', async () => {
    await summaries(4)
    await ask('nfe', 1)
    await change(sql`state = 'sending', c_stat = 225 where id in (select id from outgoing_event order by id limit 2)`)
    const taken = []
    for (let batch = await claimBatch(ctx); batch; batch = await claimBatch(ctx)) {
      taken.push(batch.events.length)
      await change(sql`lease_until = null, state = 'registered' where lease_until is not null`)
      await written(batch)
    }
    expect(taken.sort()).toEqual([1, 1, 2])
  })

  test('takes the events of CT-e one by one, each to the authoriser of its UF', async () => {
    const [one, two]: CteOptions[] = [{ number: 1 }, { number: 2, uf: '41' }]
    await store(ctx, office, 'cte', [arrive(1, cteProc(one)), arrive(2, cteProc(two))])
    await ask('cte', 2)
    const paths = []
    for (let batch = await claimBatch(ctx); batch; batch = await claimBatch(ctx)) {
      expect(batch.events).toHaveLength(1)
      paths.push(new URL(batch.url).pathname)
      await change(sql`lease_until = null, state = 'registered' where id = ${batch.events[0]!.id}`)
      await written(batch)
    }
    expect(paths).toEqual(['/SP/CTeRecepcaoEventoV4', '/PR/CTeRecepcaoEventoV4'])
  })

  test('takes nothing for a host that is paused, and goes on afterwards', async () => {
    await summaries(1)
    await ask('nfe', 1)
    await noteFailure(ctx, ctx.config.sefaz.endpoints.manifestation, 'parado', 60_000)
    expect(await claimBatch(ctx)).toBeNull()
    await inCapture(ctx, ({ db }) =>
      db
        .updateTable('circuit')
        .set({ open_until: new Date(0) })
        .execute(),
    )
    expect((await claim()).events).toHaveLength(1)
  })
})

describe('what is signed', () => {
  test('is written down before it leaves, and leaves again as the same bytes when the process died', async () => {
    await summaries(2)
    await ask('nfe', 1)
    const first = await ready()
    expect((await rows()).map((row) => [row.state, row.sent_at !== null])).toEqual([
      ['sending', true],
      ['sending', true],
    ])
    expect(await claimBatch(ctx)).toBeNull()
    await change(sql`lease_until = now() - interval '1 second'`)
    const second = await ready()
    expect(second.ready.map(({ signed }) => signed)).toEqual(first.ready.map(({ signed }) => signed))
    expect(second.ready.every(({ event }) => event.isUnknown)).toBe(true)
    for (const { signed } of second.ready) expect(verifyWithXmlCrypto(signed.xml)).toBe(true)
    // The one who was silent may not write any more.
    const silent = first.ready.map((one): Outcome => ({ ready: one, consequence: { state: 'rejected', message: 'x' } }))
    expect(await settle(ctx, first.batch, silent)).toBe(false)
    expect((await rows()).map((row) => row.state)).toEqual(['sending', 'sending'])
  })

  test.each([
    [1, 'a pedido do cliente', null],
    [2, 'a pedido do cliente', null],
    [3, 'curta', null],
    [3, ' não conhecemos – a operação ', 'não conhecemos - a operação'],
    [4, 'mercadoria   devolvida\nintacta', 'mercadoria   devolvida intacta'],
  ])('choice %i carries the words %j as %j', async (choice, justification, xJust) => {
    await summaries(1)
    await ask('nfe', choice, { justification })
    const { ready: events } = await ready()
    expect(/<xJust>(.*)<\/xJust>/.exec(events[0]!.signed.xml)?.[1] ?? null).toBe(xJust)
  })

  test('needs a certificate: without one the event waits and says so, and leaves when there is one', async () => {
    const bare = await newOffice(ctx, { certificate: null })
    await summaries(1, bare)
    await ask('nfe', 1, { of: bare })
    expect(await prepareBatch(ctx, await claim())).toBeNull()
    const row = await only()
    expect(row).toMatchObject({
      state: 'waiting',
      lease_by: null,
      message: expect.stringMatching(/^Não há um certificado/),
    })
    expect(row.next_at.getTime()).toBeGreaterThan(Date.now())
    await giveCertificate(ctx, bare, author, newCertificate('nova'))
    await inWorkspace(ctx, bare.workspaceId, (ctx) =>
      certificateFollowers.resume(ctx, bare.workspaceId, author, { proved: true }),
    )
    expect((await ready()).ready).toHaveLength(1)
    const uses = await inWorkspace(ctx, bare.workspaceId, ({ db }) =>
      db.selectFrom('certificate_use').selectAll().execute(),
    )
    expect(uses).toMatchObject([{ service: 'NFeRecepcaoEvento4' }])
  })

  test('and waits leaves with the certificate of the day; what may have arrived leaves as it is', async () => {
    await summaries(1)
    await ask('nfe', 1)
    const { events: first } = await turn(108)
    await giveCertificate(ctx, office, author, newCertificate('nova'))
    await makeDue()
    const { events: second } = await turn(null)
    expect(second[0]!.signed.xml).not.toBe(first[0]!.signed.xml)
    await giveCertificate(ctx, office, author, newCertificate('mais nova'))
    await makeDue()
    expect((await turn(135)).events[0]!.signed.xml).toBe(second[0]!.signed.xml)
  })
})

test('of an answer that is registered and one that waits the latter will be the last, whatever the clocks say', async () => {
  await summaries(1)
  await ask('nfe', 2)
  await ask('nfe', 3)
  await turn(135, null, daysAgo(-0.01))
  const again = { justification: 'dito com outras palavras' }
  expect(await ask('nfe', 3, again)).toMatchObject([
    { mensagem: expect.stringMatching(/^Este evento já estava em envio/) },
  ])
  expect(await ask('nfe', 2, again)).toMatchObject([{ situacao: 'enviando' }])
  expect((await rows()).map((row) => [row.tp_evento, row.sequence])).toEqual([
    [210200, 1],
    [210220, 1],
    [210200, 2],
  ])
})

describe('an answer that somebody registered elsewhere', () => {
  test('leaves again with number 2, which stands, whatever was registered in between', async () => {
    await summaries(1)
    await ask('nfe', 3)
    await turn(135)
    await ask('nfe', 2)
    expect((await turn(573, null, daysAgo(1))).registered).toBe(false)
    expect((await rows())[1]).toMatchObject({ state: 'waiting', sequence: 2, signed_xml: null })
    expect(await documentsOf()).toEqual([{ status: 4, event_code: 210220 }])
    const { events } = await turn(135, null, daysAgo(-1))
    expect(events[0]!.signed.nSeqEvento).toBe(2)
    expect(await documentsOf()).toEqual([{ status: 6, event_code: 210200 }])
  })

  test('twice, as often as is admitted, is told as in doubt, counts as answered, and another answer may follow', async () => {
    await summaries(1)
    await ask('nfe', 2)
    await turn(573, null, daysAgo(1))
    await turn(573, null, daysAgo(0.5))
    const doubt = { state: 'unconfirmed', sequence: 2, c_stat: 573 }
    expect(await only()).toMatchObject({ ...doubt, message: expect.stringMatching(/^Outro sistema .* não diz qual/) })
    expect(await documentsOf()).toEqual([{ status: 1, event_code: 0 }])
    expect(await announced()).toMatchObject([{ kind: 'alert', header: 'Manifestação sem confirmação da SEFAZ' }])
    expect(await ask('nfe', 2, { justification: 'a mesma, de novo' })).toMatchObject([
      { situacao: 'recusada', mensagem: expect.stringMatching(/duas vezes/) },
    ])
    await expect(again(210200, 2)).rejects.toThrow(/enviar de novo não muda nada/)
    await ask('nfe', 3)
    expect((await turn(135)).registered).toBe(true)
    expect(await documentsOf()).toEqual([{ status: 4, event_code: 210220 }])
  })

  test('does not count either when it came by another workspace, which has changed its mind', async () => {
    const other = await newOffice(ctx)
    await subscribe(office, other)
    await summaries(1)
    await summaries(1, other)
    await ask('nfe', 2)
    await change(sql`next_at = now() + interval '1 hour'`)
    await ask('nfe', 2, { of: other })
    await turn(135, null, daysAgo(1))
    await ask('nfe', 3, { of: other })
    await turn(135)
    await makeDue()
    expect(await prepareBatch(ctx, await claim())).toBeNull()
    expect((await rows())[0]).toMatchObject({
      state: 'rejected',
      signed_xml: null,
      message: expect.stringMatching(/lugar/),
    })
  })
})

test('what cannot be sent for a reason of ours says so, and rests longer each time', async () => {
  await summaries(1)
  await ask('nfe', 1)
  const config = { ...ctx.config, sefaz: { ...ctx.config.sefaz, caFiles: [], hourMs: 3_600_000 } }
  const otherKey = { ...ctx, config, signer: testSigner(databaseUrl, { config, masterKey: Buffer.alloc(32, 8) }) }
  await using _ = await startEventWorker(otherKey, { registered: () => {} })
  for (const [index, minutes] of [10, 20, 40].entries()) {
    await vi.waitFor(async () => expect((await only()).failures).toBe(index + 1), { timeout: 20_000 })
    const row = await only()
    expect(row).toMatchObject({
      state: 'waiting',
      lease_by: null,
      message: expect.stringMatching(/por uma falha nossa/),
    })
    expect(Math.round((row.next_at.getTime() - Date.now()) / 60_000)).toBe(minutes)
    await makeDue()
  }
})

/** Lets the companies receive what is about their CNPJ, the last one unproved when `strangers`. */
async function subscribe(...offices: Office[]) {
  await inCapture(ctx, async ({ db }) => {
    for (const service of [0, 2]) {
      await sql`insert into capture_line (service, cnpj) values (${service}, ${author}) on conflict do nothing`.execute(
        db,
      )
      for (const { workspaceId, companyId } of offices) {
        await sql`insert into capture_subscription (line_id, workspace_id, company_id, proved_at)
                  select id, ${workspaceId}, ${companyId}, now() from capture_line where service = ${service} and cnpj = ${author}`.execute(
          db,
        )
      }
    }
  })
}

describe('what the authority did not tell for a day', () => {
  const untold = async () => {
    await summaries(1)
    await ask('nfe', 2)
    await turn(null)
    await change(sql`sent_at = now() - interval '24 hours'`)
    await makeDue()
    expect(await prepareBatch(ctx, await claim())).toBeNull()
  }

  test('is not sent any more, and says so, until a person sends it again and 573 settles it', async () => {
    await untold()
    const { signed_xml, message, state } = await only()
    expect({ state, message }).toEqual({ state: 'unconfirmed', message: expect.stringMatching(/^Não sabemos se foi/) })
    await makeDue()
    expect(await claimBatch(ctx)).toBeNull()
    expect(await announced()).toMatchObject([{ kind: 'alert', header: 'Manifestação sem confirmação da SEFAZ' }])
    await ask('nfe', 3)
    await expect(again(210200, 1)).rejects.toThrow(/tomaria o lugar/)
    await change(sql`state = 'rejected' where tp_evento = 210220`)
    expect(await again(210200, 1)).toMatchObject({ situacao: 'enviando' })
    const { events } = await turn(573)
    sentAgain = 1
    expect(events[0]!.signed.xml).toBe(signed_xml)
    expect(await only()).toMatchObject({ state: 'registered', message: expect.stringMatching(/tinha se perdido/) })
    expect(await documentsOf()).toEqual([{ status: 6, event_code: 210200 }])
  })

  test('is looked at once more when nobody asked meanwhile, because the program was off', async () => {
    await summaries(1)
    await ask('nfe', 2)
    await ready()
    await change(sql`sent_at = now() - interval '3 days'`)
    await makeDue()
    expect((await turn(573)).registered).toBe(true)
  })
})

describe('what has waited too long', () => {
  const ofCompany = (set: { acknowledges_since?: Date | null; archived_at?: Date | null }) =>
    inWorkspace(ctx, office.workspaceId, ({ db }) => db.updateTable('company').set(set).execute())
  const acknowledge = () => acknowledgePending(ctx, office.workspaceId, office.companyId)

  test.each([
    ['its switch is off', /desligada/, () => ofCompany({ acknowledges_since: null })],
    ['its company is archived', /arquivada/, () => ofCompany({ archived_at: new Date() })],
    ['its notes are hidden', /ocultadas/, () => showOnly(ctx.db, office.workspaceId, { nfe: 511 & ~2 })],
  ])('and nobody asked for is not sent when %s, nor wanted anew', async (_, message, happen) => {
    await summaries(1)
    await ofCompany({ acknowledges_since: new Date() })
    expect(await acknowledge()).toBe(1)
    await happen()
    expect(await prepareBatch(ctx, await claim())).toBeNull()
    expect(await only()).toMatchObject({ state: 'rejected', message: expect.stringMatching(message) })
    expect(await acknowledge()).toBe(0)
  })
})

describe('what is answered', () => {
  test('registration is kept for everybody who proved to hold a certificate of the CNPJ, and changes the lists', async () => {
    const [other, stranger] = [await newOffice(ctx), await newOffice(ctx)]
    await subscribe(office, other, stranger)
    await inCapture(ctx, ({ db }) =>
      db
        .updateTable('capture_subscription')
        .set({ proved_at: null })
        .where('workspace_id', '=', stranger.workspaceId)
        .execute(),
    )
    for (const one of [office, other, stranger]) await summaries(1, one)
    await ask('nfe', 1)
    const { events, registered } = await turn(135)
    expect(registered).toBe(true)
    expect(await only()).toMatchObject({ state: 'registered', c_stat: 135, protocol, lease_by: null })
    expect((await only()).registered_at).not.toBeNull()
    const acknowledged = [{ status: 8, event_code: 210210 }]
    expect([await documentsOf(), await documentsOf(other)]).toEqual([acknowledged, acknowledged])
    expect(await documentsOf(stranger)).toEqual([{ status: 1, event_code: 0 }])
    const kept = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      db.selectFrom('receipt').select(['nsu', 'unread']).where('nsu', '<', 0n).execute(),
    )
    expect(kept).toEqual([{ nsu: expect.anything(), unread: false }])
    expect(readReceived(Buffer.from(`${events[0]!.signed.xml}`)).facts).toMatchObject({ chave: chaveOf() })
  })

  test('misuse stops every event of the author, of all workspaces, also those that come during the hour', async () => {
    const [other, stranger] = [await newOffice(ctx), await newOffice(ctx, { cnpj: '11222333000181' })]
    await summaries(2)
    await summaries(1, other)
    await ask('nfe', 1, { of: other })
    await ask('nfe', 3)
    await turn(656)
    await ask('nfe', 2)
    await store(ctx, stranger, 'nfe', [arrive(1, resNFe({ issuedAt: daysAgo(2) }))], '11222333000181')
    await ask('nfe', 1, { of: stranger })
    expect((await claim()).cnpj).toBe('11222333000181')
    expect(await claimBatch(ctx)).toBeNull()
    expect((await rows()).filter((row) => row.message.includes('bloqueou')).length).toBe(3)
  })

  test('a refused certificate makes way for the next one, and is not tried for ever', async () => {
    await summaries(1)
    await ask('nfe', 1)
    const sent: string[] = []
    for (let time = 0; time < 3; time++) {
      sent.push((await turn(290)).events[0]!.signed.xml)
      expect(await only()).toMatchObject({ state: 'waiting', c_stat: 290 })
      await makeDue()
    }
    expect(await prepareBatch(ctx, await claim())).toBeNull()
    expect((await only()).message).toMatch(/outro certificado/)
    await giveCertificate(ctx, office, author, newCertificate('outro'))
    await makeDue()
    const { events } = await turn(135)
    expect(sent).not.toContain(events[0]!.signed.xml)
    expect(await only()).toMatchObject({ state: 'registered' })
  })
})

test('whatever is answered in whatever order, what may be registered leaves as the same bytes, and nothing once it is settled', async () => {
  const answers = fc.array(fc.constantFrom(null, 108, 109, 656, 999), { maxLength: 6 })
  const ends = fc.constantFrom(135, 573, 596)
  let number = 0
  await fc.assert(
    fc.asyncProperty(answers, ends, async (before, end) => {
      await owner.query('truncate outgoing_event')
      const [document] = [resNFe({ number: ++number, issuedAt: daysAgo(2) })]
      const one = await newOffice(ctx, { certificate })
      await store(ctx, one, 'nfe', [arrive(number, document)])
      await ask('nfe', 1, { of: one })
      let last = ''
      for (const cStat of [...before, end]) {
        const { events } = await turn(cStat)
        const [{ event, signed }] = events as [ReadyEvent]
        if (event.isUnknown) expect(signed.xml).toBe(last)
        last = signed.xml
        const { rows } = await owner.query(
          "select count(*)::int as n from outgoing_event where state in ('waiting', 'sending') and next_at <= now()",
        )
        expect(rows[0].n).toBe(0)
        await makeDue()
      }
      expect((await only()).state).toBe(end === 596 ? 'rejected' : 'registered')
      expect(await claimBatch(ctx)).toBeNull()
      expect(await documentsOf(one)).toMatchObject([{ status: end === 596 ? 1 : 8 }])
    }),
    { numRuns: runs(20) },
  )
})

describe('events of CT-e', () => {
  const letter = (grupoAlterado: string, campoAlterado: string, valorAlterado: string, nroItemAlterado?: number) =>
    ({ grupoAlterado, campoAlterado, valorAlterado, ...(nroItemAlterado ? { nroItemAlterado } : {}) }) as never
  const infCorrecao = (xml: string) =>
    [...xml.matchAll(/<infCorrecao>(.*?)<\/infCorrecao>/g)].map(([, inner = '']) =>
      inner
        .replace(/<[^>]+>/g, ' ')
        .trim()
        .replace(/\s+/g, ' '),
    )

  test('a cancellation names the protocol of the authorisation, and without one is not made', async () => {
    await store(ctx, office, 'cte', [arrive(1, cteProc())])
    await ask('cte', 1)
    const { events } = await turn(135)
    expect(events[0]!.signed.xml).toContain('<nProt>135260000765432</nProt><xJust>a pedido do cliente</xJust>')
    expect(await documentsOf()).toEqual([{ status: 3, event_code: 110111 }])
    const other = await newOffice(ctx)
    await store(ctx, other, 'cte', [arrive(1, cteProc({ number: 2, nProt: null }))])
    await ask('cte', 1, { of: other })
    expect(await prepareBatch(ctx, await claim())).toBeNull()
    expect((await rows())[1]).toMatchObject({
      state: 'rejected',
      message: expect.stringMatching(/sem o protocolo/),
      signed_xml: null,
    })
  })

  test('a letter repeats what the letters before it correct, unless it is corrected anew', async () => {
    await store(ctx, office, 'cte', [arrive(1, cteProc())])
    await ask('cte', 2, { corrections: [letter('compl', 'xObs', 'UM'), letter('ide', 'CFOP', '6353')] })
    await turn(135)
    await ask('cte', 2, { corrections: [letter('Comp', 'xNome', 'TAXA', 2)] })
    await turn(631)
    expect((await rows())[1]).toMatchObject({ state: 'rejected' })
    await ask('cte', 2, { corrections: [letter('compl', 'xObs', 'DOIS'), letter('Comp', 'xNome', 'TAXA', 2)] })
    const { events } = await turn(135)
    expect(events[0]!.signed.nSeqEvento).toBe(3)
    expect(infCorrecao(events[0]!.signed.xml)).toEqual(['compl xObs DOIS', 'ide CFOP 6353', 'Comp xNome TAXA 2'])
    expect(await documentsOf()).toEqual([{ status: 7, event_code: 110110 }])
  })

  test.each([
    ['of another system', false, { state: 'rejected', message: expect.stringMatching(/^Outro sistema/) }],
    ['of ours', true, { state: 'registered' }],
  ])(
    'a letter %s that arrived here while the response was lost is told apart by its content',
    async (_, isOurs, row) => {
      await store(ctx, office, 'cte', [arrive(1, cteProc())])
      await ask('cte', 2)
      const { events } = await turn(null)
      const said = saidOf(events[0]!, 135, daysAgo(0))
      const head = { tpAmb: 2, cnpj: author, chave: cteChave(), nSeqEvento: 1, at: new Date() } as const
      const signing = { key: certificate.key, certificate: certificate.pem }
      const theirs = signCteEvent({ ...head, tpEvento: 110110, corrections: [letter('ide', 'CFOP', '6353')] }, signing)
      const arrived = isOurs ? events[0]!.signed : theirs
      await store(ctx, office, 'cte', [arrive(2, processedEvent(arrived, { xml: said.xml! }))])
      await makeDue()
      await turn(631)
      expect(await only()).toMatchObject(row)
    },
  )

  test('a disagreement is withdrawn by its protocol', async () => {
    await store(ctx, office, 'cte', [arrive(1, cteProc({ issuer: '11222333000181', payer: author }))])
    await ask('cte', 610110, { justification: 'o frete cobrado diverge' })
    const { events } = await turn(135)
    expect(events[0]!.signed.xml).toContain('<xObs>o frete cobrado diverge</xObs>')
    await ask('cte', 610111)
    const { events: withdrawal } = await turn(135)
    expect(withdrawal[0]!.signed.xml).toContain(`<nProtEvPrestDes>${protocol}</nProtEvPrestDes>`)
    expect(await ask('cte', 610111, { justification: 'de novo' })).toMatchObject([{ situacao: 'recusada' }])
    expect(withdrawal[0]!.signed.chave).toBe(cteChave({ issuer: '11222333000181' }))
  })
})

describe('what the authority said', () => {
  const name = () =>
    inWorkspace(
      ctx,
      office.workspaceId,
      async ({ db }) => (await db.selectFrom('company').select('name').executeTakeFirstOrThrow()).name,
    )

  test('of a request in several lotes is told together', async () => {
    await summaries(25)
    await ask('nfe', 1)
    await turn(135)
    await makeDue()
    await turn(135)
    expect(await announced()).toEqual([
      {
        kind: 'sucesso',
        header: 'Manifestação registrada',
        body: `25 eventos foram registrados na SEFAZ em nome de ${await name()}.`,
      },
    ])
  })

  test('of a refusal is told and leads to the document, of several to their list', async () => {
    const happened = async () => {
      const { rows } = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
        sql<{
          payload: unknown
        }>`select payload from happening where what = 'manifestacao-resultado' order by id desc limit 1`.execute(db),
      )
      return { companyId: 1, company: 'E', companyPublicId: 'e', payload: rows[0]!.payload }
    }
    const linkOf = (...items: Awaited<ReturnType<typeof happened>>[]) =>
      manifestationAnnouncements['manifestacao-resultado']!.write(items)?.link
    await summaries(1)
    await ask('nfe', 1)
    const { events } = await turn(596)
    const one = await happened()
    expect(await announced()).toMatchObject([
      {
        kind: 'error',
        header: 'Manifestação recusada',
        body: expect.stringMatching(/^1 evento foi recusado .* o motivo está no painel/),
      },
    ])
    const { chave } = events[0]!.signed
    expect(linkOf(one)).toBe(`/notas-fiscais?empresa=e&periodo=todos&busca=${chave}`)
    const another = { ...one, payload: { registered: 3, refused: 1, chaves: ['3526101122233300018157001'] } }
    expect(linkOf(one, another)).toBe('/notas-fiscais?empresa=e&periodo=todos')
    expect(linkOf({ ...one, payload: { registered: 3, refused: 0 } })).toBeUndefined()
  })
})

test('a batch that another process has by now is left to it', async () => {
  await summaries(1)
  await ask('nfe', 1)
  const late = await claim()
  await change(sql`lease_by = ${randomUUID()}, lease_until = now() + interval '1 minute'`)
  expect(await sendBatch(ctx, late, new AbortController().signal)).toBe(false)
  expect(await only()).toMatchObject({ state: 'waiting', signed_xml: null, lease_by: expect.any(String) })
})

describe('a batch whose lease is over while the database stalls', () => {
  const identity = newCertificate('localhost')

  test('does not leave, and is claimed again by whoever has time for it', async () => {
    let received = 0
    const authority = createServer({ key: identity.key, cert: identity.pem }, (_, response) => {
      received++
      response.writeHead(403).end('<html/>')
    })
    authority.listen(0)
    await once(authority, 'listening')
    try {
      const url = `https://localhost:${(authority.address() as AddressInfo).port}/evento`
      await summaries(1)
      await ask('nfe', 1)
      const { sefaz } = ctx.config
      const endpoints = { ...sefaz.endpoints, manifestation: url }
      const config = { ...ctx.config, sefaz: { ...sefaz, endpoints, caFiles: [await authorityFile(identity.pem)] } }
      const sender = { ...ctx, config, signer: testSigner(databaseUrl, { config }) }
      const signal = new AbortController().signal
      const late = { ...(await claim()), url, lasts: () => false }
      expect(await sendBatch(sender, late, signal)).toBe(false)
      expect(received).toBe(0)
      expect(await only()).toMatchObject({ state: 'waiting', sent_at: null, lease_by: null })
      await sendBatch(sender, { ...(await claim()), url }, signal)
      expect(received).toBe(1)
    } finally {
      authority.closeAllConnections()
      authority.close()
    }
  })
})
