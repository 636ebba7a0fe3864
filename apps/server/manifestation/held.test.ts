import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject } from 'vitest'
import { createDatabase, dropDatabase, endConnections, execute, onOneServer } from '../../../tests/support/database.ts'
import { arrive, chaveOf, company, evento, resNFe } from '../documents/testing.ts'
import { claimMail, settleMail } from '../mail/queue.ts'
import type { Context } from '../platform/context.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { prepareInstallation } from '../platform/installation.ts'
import { advanceMark, findRestore } from '../platform/restore.ts'
import { migrate } from '../platform/schema/migrate.ts'
import { listNotices } from '../platform/trouble.ts'
import { claimDelivery } from '../webhooks/deliveries.ts'
import { listHeld, readBackEvents, releaseHeld } from './held.ts'
import { findHoldups } from './holdups.ts'
import { writeJournal } from './journal.ts'
import { acknowledgePending } from './manifestation.ts'
import { claimBatch } from './queue.ts'
import { contextOf, daysAgo, newOffice, type Office, store } from './testing.ts'

// The procedure of docs/security.md: an installation goes on after its backup, then the backup takes the place of its database.

let live: Awaited<ReturnType<typeof createDatabase>>
let admin: pg.Client
let ctx: Context
let office: Office
const dataDir = join(tmpdir(), `vigia-restore-${crypto.randomUUID()}`)
const copy = `copy_${crypto.randomUUID().slice(0, 8)}`
const copyUrl = () => new URL(`/${copy}`, live.url).href

function openOn(url: string): Context {
  const opened = contextOf(url)
  return { ...opened, config: { ...opened.config, dataDir } }
}

const setSwitch = (since: Date | null) =>
  inWorkspace(ctx, office.workspaceId, ({ db }) =>
    db.updateTable('company').set({ acknowledges_since: since }).where('id', '=', office.companyId).execute(),
  )

// A mail and a delivery to a webhook that wait.
const putNotices = (url: string) =>
  execute(
    url,
    `insert into mail (kind, recipient) values ('x', 'ana@exemplo.com.br');
     insert into webhook (workspace_id, url, kinds, secret, version)
     select ${office.workspaceId}, 'https://exemplo.com.br', '{}', 'x', 0 where not exists (select from webhook);
     insert into webhook_delivery (workspace_id, webhook_id, version, kind, body)
     select workspace_id, id, (select count(*) from webhook_delivery), 'x', '{}' from webhook`,
  )

// A cluster is copied server by server, and not as a template.
beforeAll(async () => {
  live = await createDatabase()
  admin = new pg.Client({ connectionString: inject('postgresUrl') })
  await admin.connect()
  await prepareInstallation(live.url, 'simulado')
  ctx = openOn(live.url)
  office = await newOffice(ctx)
  await setSwitch(new Date('2026-11-01T12:00:00Z'))
  await store(ctx, office, 'nfe', [arrive(1, resNFe({ number: 1, issuedAt: daysAgo(1) }))])
  await putNotices(live.url)
  await advanceMark(ctx)
  await ctx.db.destroy()
  const original = new URL(live.url).pathname.slice(1)
  // A database that somebody is connected to cannot be copied; the signer's connections end by themselves, but later.
  await endConnections(admin, original)
  await admin.query(`create database ${copy} template ${original}`)
  // After the backup: the switch is turned off, and time passes.
  ctx = openOn(live.url)
  await setSwitch(null)
  const author = { ...office, cnpj: company, service: 'nfe' } as const
  await writeJournal(ctx, author, [evento(210240, { number: 2 })])
  await advanceMark(ctx)
  await ctx.db.destroy()
  ctx = openOn(copyUrl())
})
afterAll(async () => {
  await ctx.db.destroy()
  await dropDatabase(inject('postgresUrl'), copy)
  await admin.end()
  await live[Symbol.asyncDispose]()
  await rm(dataDir, { recursive: true, force: true })
})

onOneServer(
  'a database that was brought back is recognised, and no event leaves before a person has released it',
  async () => {
    await migrate(copyUrl())
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
  },
)

onOneServer('events that were registered after the copy are read back, once', async () => {
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
  expect(await readBackEvents(ctx, { registered })).toBe(1)
  expect(authors).toEqual([`nfe ${company}`])
  expect(await answers()).toEqual([{ chave: chaveOf({ number: 2 }), tpEvento: 210240 }])
  expect(await readBackEvents(ctx, { registered })).toBe(0)
})

onOneServer(
  'what was on its way to people and programs waits too, and does not leave when it may have left already',
  async () => {
    expect(await claimMail(ctx, { retry: true })).toBeNull()
    expect(await claimDelivery(ctx)).toBeNull()
    await putNotices(copyUrl())
    // What somebody asked for since leaves; deliveries tell what is captured again, and wait.
    const mail = (await claimMail(ctx, { retry: true }))!
    await settleMail(ctx, mail, { state: 'sent' })
    expect(await claimDelivery(ctx)).toBeNull()
    expect(await listHeld(ctx)).toMatchObject({ mails: 1, deliveries: { waiting: 2, fromCopy: 1 } })
  },
)

onOneServer(
  'the release without the automatic Ciência turns the switches and the rules that send off first, and says so in the audit',
  async () => {
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
  },
)

onOneServer(
  'a second restore while the first is not released begins anew: what was done between them waits and is read back too',
  async () => {
    const bringBack = async () => {
      await execute(copyUrl(), 'update installation set mark = 0')
      await advanceMark(ctx)
      return (await findRestore(ctx))!
    }
    const registered = async () => {}
    const first = await bringBack()
    await readBackEvents(ctx, { registered })
    await execute(
      copyUrl(),
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
  },
)
