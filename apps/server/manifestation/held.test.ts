import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { copyDatabase, createDatabase, execute } from '../../../tests/support/database.ts'
import { arrive, chaveOf, company, evento, resNFe } from '../documents/testing.ts'
import { claimMail, settleMail } from '../mail/queue.ts'
import type { Context } from '../platform/context.ts'
import { inCapture, inWorkspace, readWorkspace } from '../platform/database.ts'
import { prepareInstallation } from '../platform/installation.ts'
import { advanceMark, findFirstHold, findRestore, noteFirstHold } from '../platform/restore.ts'
import { migrate } from '../platform/schema/migrate.ts'
import { listNotices } from '../platform/trouble.ts'
import { claimDelivery } from '../webhooks/deliveries.ts'
import {
  isTooSoon,
  listFirstEvents,
  listHeld,
  readBackEvents,
  releaseFirst,
  releaseHeld,
  whyNotRelease,
} from './held.ts'
import { findHoldups } from './holdups.ts'
import { writeJournal } from './journal.ts'
import { acknowledgePending } from './manifestation.ts'
import { claimBatch } from './queue.ts'
import { contextOf, daysAgo, newOffice, type Office, store } from './testing.ts'

// The procedure of docs/security.md: an installation goes on after its backup, then the backup takes the place of its database.

let live: Awaited<ReturnType<typeof createDatabase>>
let copy: typeof live
let ctx: Context
let office: Office
const dataDir = join(tmpdir(), `vigia-restore-${crypto.randomUUID()}`)

function openOn(url: string): Context {
  const opened = contextOf(url)
  return { ...opened, config: { ...opened.config, dataDir } }
}

const setSwitch = (since: Date | null) =>
  inWorkspace(ctx, office.workspaceId, ({ db }) =>
    db.updateTable('company').set({ acknowledges_since: since }).where('id', '=', office.companyId).execute(),
  )

// A mail and a delivery to a webhook that wait.
async function putNotices(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const idOf = async (text: string) => (await client.query<{ id: string }>(text, [office.workspaceId])).rows[0]?.id
  try {
    await client.query("insert into mail (kind, recipient) values ('x', 'ana@exemplo.com.br')")
    const webhook =
      (await idOf('select id from webhook where workspace_id = $1')) ??
      (await idOf(
        "insert into webhook (workspace_id, url, kinds, secret, version) values ($1, 'https://exemplo.com.br', '{}', 'x', 0) returning id",
      ))
    const version = await idOf('select count(*) as id from webhook_delivery where workspace_id = $1')
    await client.query(
      "insert into webhook_delivery (workspace_id, webhook_id, version, kind, body) values ($1, $2, $3, 'x', '{}')",
      [office.workspaceId, webhook, version],
    )
  } finally {
    await client.end()
  }
}

beforeAll(async () => {
  live = await createDatabase()
  await prepareInstallation(live.url, 'simulado')
  ctx = openOn(live.url)
  office = await newOffice(ctx)
  await setSwitch(new Date('2026-11-01T12:00:00Z'))
  await store(ctx, office, 'nfe', [arrive(1, resNFe({ number: 1, issuedAt: daysAgo(1) }))])
  await putNotices(live.url)
  // The clock was a day ahead when they were written.
  await execute(
    live.url,
    `update mail set created_at = now() + interval '1 day'; update webhook_delivery set created_at = now() + interval '1 day'`,
  )
  await advanceMark(ctx)
  await ctx.db.destroy()
  copy = await copyDatabase(live.url, `copy_${crypto.randomUUID().slice(0, 8)}`)
  // After the backup: the switch is turned off, and time passes.
  ctx = openOn(live.url)
  await setSwitch(null)
  const author = { ...office, cnpj: company, service: 'nfe' } as const
  await writeJournal(ctx, author, [evento(210240, { number: 2 })])
  await advanceMark(ctx)
  await ctx.db.destroy()
  ctx = openOn(copy.url)
})
afterAll(async () => {
  await ctx.db.destroy()
  await copy[Symbol.asyncDispose]()
  await live[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

test('a database that was brought back is recognised, and no event leaves before a person has released it', async () => {
  await migrate(copy.url)
  expect(await findRestore(ctx)).toBeNull()
  await advanceMark(ctx)
  expect(await findRestore(ctx)).toMatchObject({ copyOf: expect.any(Date) })
  // Once: the folder remembers the mark of the copy now.
  await advanceMark(ctx)
  await acknowledgePending(ctx, office.workspaceId, office.companyId)
  expect(await claimBatch(ctx)).toBeNull()
  const { rows } = await inCapture(ctx, ({ db }) => sql<{ id: bigint }>`select id from outgoing_event`.execute(db))
  expect(rows).toHaveLength(1)
  const holdups = await findHoldups(ctx, office.workspaceId, [rows[0]!.id])
  expect(holdups.get(rows[0]!.id)!.message).toMatch(
    /^O sistema voltou de uma cópia de segurança: nenhuma manifestação sai/,
  )
  expect(await listNotices(ctx)).toMatchObject([{ key: 'restauracao' }])
  const held = (await listHeld(ctx))!
  expect(held.companies).toMatchObject([
    { cnpj: '44555666000181', acknowledgesSince: new Date('2026-11-01T12:00:00Z'), automatic: 1, requested: 0 },
  ])
})

test('events that were registered after the copy are read back, once', async () => {
  const answers = () =>
    inWorkspace(ctx, office.workspaceId, ({ db }) =>
      db
        .selectFrom('document_event')
        .select(['chave', 'tp_evento as tpEvento'])
        .where('tp_evento', '=', 210240)
        .execute(),
    )
  expect(await answers()).toEqual([])
  const authors: string[] = []
  const registered = async (service: string, cnpj: string) => void authors.push(`${service} ${cnpj}`)
  expect((await listHeld(ctx))!.readBack.events).toBe(false)
  expect(await readBackEvents(ctx, { registered })).toBe(1)
  expect((await listHeld(ctx))!.readBack.events).toBe(true)
  expect(authors).toEqual([`nfe ${company}`])
  expect(await answers()).toEqual([{ chave: chaveOf({ number: 2 }), tpEvento: 210240 }])
  expect(await readBackEvents(ctx, { registered })).toBe(0)
})

test('it is known which companies were asked for to the end since, and without that a release is too soon', async () => {
  // The company of the office, and one of which nothing waits.
  const other = '11222333000181'
  await execute(
    copy.url,
    `insert into capture_line (service, cnpj, last_nsu, max_nsu, next_at) select s, c, 5, 5, now() from unnest('{0,2}'::int[]) s, unnest('{${company},${other}}'::text[]) c;
     insert into capture_subscription (line_id, workspace_id, company_id) select id, ${office.workspaceId}, ${office.companyId} from capture_line`,
  )
  const respond = (query: string, cStat: number) =>
    execute(
      copy.url,
      `insert into capture_call (line_id, query, c_stat, nsu_before, nsu_after, at) select id, '${query}', ${cStat}, 4, 5, now() - interval '1 hour' from capture_line`,
    )
  const lines = async (change: string) => {
    await execute(copy.url, `update capture_line set ${change}`)
    const held = (await listHeld(ctx))!
    return [held.readBack, isTooSoon(held)]
  }
  const readBack = { events: true, read: 0, unread: [], unasked: [] }
  const none = [{ ...readBack, unread: [other, company] }, true]
  // From the copy, written while the clock was ahead of the one by which the restore was found.
  await respond('distNSU', 138)
  await execute(
    copy.url,
    `update capture_call set at = now() + interval '1 day';
     update restore set last_call_id = (select max(id) from capture_call) where released_at is null`,
  )
  expect(await lines("last_success_at = now() + interval '1 day'")).toMatchObject(none)
  await respond('consNSU', 138)
  await respond('distNSU', 656)
  expect(await lines('max_nsu = 5')).toMatchObject(none)
  await respond('distNSU', 137)
  const all = [{ ...readBack, read: 2 }, false]
  expect(await lines('max_nsu = 5')).toMatchObject(all)
  const notYet = [{ ...readBack, read: 1, unread: [other] }, true]
  expect(await lines(`max_nsu = case when cnpj = '${other}' and service = 2 then 6 else 5 end`)).toMatchObject(notYet)
  expect(await lines('max_nsu = 5')).toMatchObject(all)
  const gaps = (change: string) => execute(copy.url, change)
  await gaps(
    `insert into capture_gap (line_id, from_nsu, to_nsu) select id, 5, 5 from capture_line where cnpj = '${other}'`,
  )
  expect(await lines('max_nsu = 5')).toMatchObject(notYet)
  for (const nothingToFetch of [
    'lost = true',
    'lost = false, passed = true',
    'passed = false, from_nsu = 3, to_nsu = 4',
  ]) {
    await gaps(`update capture_gap set ${nothingToFetch}`)
    expect(await lines('max_nsu = 5')).toMatchObject(all)
  }
  // It was found by what the authority says: some were asked for before that.
  const { copyOf } = (await findRestore(ctx))!
  await execute(copy.url, 'update restore set copy_of = null')
  expect(await lines('max_nsu = 5')).toMatchObject(notYet)
  await execute(copy.url, `update restore set copy_of = '${copyOf!.toISOString()}'`)
  await gaps('delete from capture_gap')
  // Who is not asked for and has nothing waiting keeps nobody up.
  const paused = (cnpj: string) => lines(`paused = cnpj = '${cnpj}'`)
  expect(await paused(other)).toMatchObject([{ ...readBack, read: 1, unasked: [other] }, false])
  expect(await paused(company)).toMatchObject([{ ...readBack, read: 1, unasked: [company] }, true])
  await execute(copy.url, 'delete from capture_subscription; delete from capture_call; delete from capture_line')
})

test('what was on its way to people and programs waits too, and does not leave when it may have left already', async () => {
  expect(await claimMail(ctx, { retry: true })).toBeNull()
  expect(await claimDelivery(ctx)).toBeNull()
  // It may be set back also after the restore was found.
  await execute(copy.url, "update restore set found_at = found_at + interval '1 hour'")
  await putNotices(copy.url)
  // What somebody asked for since leaves; deliveries tell what is captured again, and wait.
  const mail = (await claimMail(ctx, { retry: true }))!
  await settleMail(ctx, mail, { state: 'sent' })
  expect(await claimDelivery(ctx)).toBeNull()
  const held = { mails: 1, deliveries: { waiting: 2, fromCopy: 1 } }
  expect(await listHeld(ctx)).toMatchObject(held)
  // As processes of earlier releases found it.
  await execute(
    copy.url,
    `update restore set found_at = now() - interval '1 hour', last_mail_id = null, last_delivery_id = null;
     update mail set created_at = created_at - interval '2 days' where state = 'waiting';
     update webhook_delivery set created_at = now() - interval '2 days' where created_at > now()`,
  )
  expect(await listHeld(ctx)).toMatchObject(held)
  await execute(
    copy.url,
    `update restore set last_mail_id = (select min(id) from mail), last_delivery_id = (select min(id) from webhook_delivery)`,
  )
})

test('the release without the automatic Ciência turns the switches and the rules that send off first, and says so in the audit', async () => {
  const rules = ['ciencia', 'perguntar'].map((answer, position) => ({ answer: answer as 'ciencia', position }))
  await inWorkspace(ctx, office.workspaceId, ({ db }) =>
    db
      .insertInto('answer_rule')
      .values(
        rules.map((rule) => ({
          ...rule,
          workspace_id: office.workspaceId,
          name: rule.answer,
          active: true,
          after_days: null,
          conditions: '{}',
          saved_by: office.session.accountId,
        })),
      )
      .execute(),
  )
  await releaseHeld(ctx, { withoutAutomatic: true, withoutNotices: true })
  expect(await findRestore(ctx)).toBeNull()
  expect(await listHeld(ctx)).toBeNull()
  expect(await listNotices(ctx)).toEqual([])
  const { switches, audit, active } = await inWorkspace(ctx, office.workspaceId, async ({ db }) => ({
    active: await db.selectFrom('answer_rule').select('answer').where('active', '=', true).execute(),
    switches: await db.selectFrom('company').select('acknowledges_since').executeTakeFirstOrThrow(),
    audit: await db.selectFrom('audit').select('description').execute(),
  }))
  expect(switches.acknowledges_since).toBeNull()
  expect(audit.map(({ description }) => description)).toEqual([
    expect.stringMatching(/^Desligou a Ciência automática de .+, porque o banco de dados voltou de uma cópia/),
    expect.stringMatching(/^Desligou regras de resposta \(“ciencia”\), porque/),
  ])
  expect(active).toEqual([{ answer: 'perguntar' }])
  // Only the one from after the restore.
  expect(await claimMail(ctx, { retry: true })).toBeNull()
  expect(await claimDelivery(ctx)).not.toBeNull()
  expect(await claimDelivery(ctx)).toBeNull()
  // What waited is withdrawn by whoever makes it ready (signing.ts), because the switch is off.
  expect(await claimBatch(ctx)).not.toBeNull()
  await advanceMark(ctx)
  expect(await findRestore(ctx)).toBeNull()
})

test('a second restore while the first is not released begins anew: what was done between them waits and is read back too', async () => {
  const bringBack = async () => {
    await execute(copy.url, 'update installation set mark = 0')
    await advanceMark(ctx)
    return (await findRestore(ctx))!
  }
  const registered = async () => {}
  const first = await bringBack()
  await readBackEvents(ctx, { registered })
  await execute(
    copy.url,
    `insert into mail (kind, recipient) values ('x', 'bia@exemplo.com.br');
     update trouble set told_at = now() where key = 'restauracao'`,
  )
  const second = await bringBack()
  expect(second.foundAt.getTime()).toBeGreaterThan(first.foundAt.getTime())
  expect(second.copyOf).toEqual(first.copyOf)
  expect(await claimMail(ctx, { retry: true })).toBeNull()
  expect(await readBackEvents(ctx, { registered })).toBe(1)
  const told = await ctx.db.selectFrom('trouble').select('told_at').where('key', '=', 'restauracao').execute()
  expect(told).toEqual([{ told_at: null }])
})

describe('the first start in production', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>
  let ctx: Context
  let office: Office

  beforeAll(async () => {
    database = await createDatabase()
    await prepareInstallation(database.url, 'producao')
    ctx = contextOf(database.url)
    office = await newOffice(ctx)
    await execute(database.url, "update company set acknowledges_since = '2026-11-01T12:00:00Z'")
    await store(ctx, office, 'nfe', [arrive(1, resNFe({ number: 1, issuedAt: daysAgo(1) }))])
    await acknowledgePending(ctx, office.workspaceId, office.companyId)
  })
  afterAll(async () => {
    await ctx.db.destroy()
    await database[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    await execute(database.url, 'update installation set held_since = now()')
    await noteFirstHold(ctx)
  })

  test('only the first start in production holds events', async () => {
    await execute(database.url, 'update installation set held_since = null')
    await prepareInstallation(database.url, 'producao')
    expect(await findFirstHold(ctx)).toBeNull()
    await execute(database.url, 'delete from installation')
    await prepareInstallation(database.url, 'homologacao')
    expect(await findFirstHold(ctx)).toBeNull()
    await execute(database.url, 'delete from installation')
    await prepareInstallation(database.url, 'producao')
    expect(await findFirstHold(ctx)).toBeInstanceOf(Date)
  })

  test('an event waits until an administrator releases it, and screens say so', async () => {
    expect(await claimBatch(ctx)).toBeNull()
    const { rows } = await inCapture(ctx, ({ db }) => sql<{ id: bigint }>`select id from outgoing_event`.execute(db))
    const holdups = await findHoldups(ctx, office.workspaceId, [rows[0]!.id])
    expect(holdups.get(rows[0]!.id)!.message).toMatch(/^Esta instalação começou no ambiente de produção: nenhuma/)
    expect(await listNotices(ctx)).toMatchObject([{ key: 'liberacao' }])
    const shown = await readWorkspace(ctx, office.workspaceId, (ctx) => listFirstEvents(ctx, office.session))
    expect(shown).toMatchObject({ total: 1, events: [{ number: 1, tpEvento: 210210 }] })

    await expect(releaseFirst(ctx, { ...office.session, role: 'fiscal' })).rejects.toMatchObject({ code: 'conflict' })
    expect(await claimBatch(ctx)).toBeNull()
    await releaseFirst(ctx, office.session)
    expect(await listNotices(ctx)).toEqual([])
    const audit = await readWorkspace(ctx, office.workspaceId, ({ db }) =>
      db.selectFrom('audit').select('description').orderBy('id', 'desc').executeTakeFirst(),
    )
    expect(audit?.description).toBe('Liberou o envio de manifestações pela primeira vez nesta instalação.')
    expect(await claimBatch(ctx)).not.toBeNull()
  })

  test('no workspace releases the events of another: the operator does', async () => {
    await newOffice(ctx)
    expect(await whyNotRelease(ctx, office.session)).toMatch(/^Esta instalação tem mais de um workspace/)
    await expect(releaseFirst(ctx, office.session)).rejects.toMatchObject({ code: 'conflict' })
    expect(await listHeld(ctx)).toMatchObject({ isFirst: true, copyOf: null, companies: [{ automatic: 1 }] })
    await releaseHeld(ctx, { withoutAutomatic: false })
    expect(await listHeld(ctx)).toBeNull()
  })
})
