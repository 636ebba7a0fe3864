import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, execute } from '../../../tests/support/database.ts'
import { arrive, resNFe } from '../documents/testing.ts'
import { acknowledgePending } from '../events/ciencia.ts'
import { findHold, hold, holdAfterSilence, noteHold, release } from '../events/hold.ts'
import { prepareBatch } from '../events/prepare.ts'
import { claimBatch, findHoldups } from '../events/queue.ts'
import { contextOf, daysAgo, newOffice, type Office, store } from '../events/testing.ts'
import { deliverAgain, feedWebhooks, webhookJobs } from '../notifications/webhooks/deliveries.ts'
import { holdByHand, listHeld, listHeldOf, releaseAlone, releaseHeld, whyNotRelease } from '../operations/held.ts'
import type { Context } from '../platform/context.ts'
import { inCapture, inWorkspace, readWorkspace } from '../platform/database.ts'
import { prepareInstallation } from '../platform/installation.ts'
import { claimJob } from '../platform/jobs/jobs.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { mailJob } from '../platform/mail/worker.ts'
import { listNotices } from '../platform/trouble.ts'

let database: Awaited<ReturnType<typeof createDatabase>>
let ctx: Context
let office: Office
const why = 'O sistema voltou de uma cópia de segurança.'

async function open(ambiente: string) {
  database = await createDatabase()
  await prepareInstallation(database.url, ambiente)
  ctx = contextOf(database.url)
  office = await newOffice(ctx)
  await execute(database.url, "update company set acknowledges_since = '2026-11-01T12:00:00Z'")
  await store(ctx, office, 'nfe', [arrive(1, resNFe({ number: 1, issuedAt: daysAgo(1) }))])
  await acknowledgePending(ctx, office.workspaceId, office.companyId)
}
async function close() {
  await ctx.db.destroy()
  await database[Symbol.asyncDispose]()
}
const events = () =>
  inCapture(ctx, ({ db }) => db.selectFrom('outgoing_event').select(['id', 'state', 'message']).execute())

describe('what is held', () => {
  beforeAll(() => open('simulado'))
  afterAll(close)

  const mail = () => queueMail(ctx, { kind: 'x', recipient: 'ana@exemplo.com.br' })
  const claimDelivery = () => claimJob(ctx, [webhookJobs.find(({ name }) => name === 'webhook')!], [])
  const feed = () => feedWebhooks(ctx, office.workspaceId)

  test('no event leaves, and people read the reason', async () => {
    await mail()
    await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      sql`
        insert into webhook (workspace_id, url, kinds, secret, version)
        values (${office.workspaceId}, 'https://exemplo.com.br', '{documento-novo}', 'x', 0)`.execute(db),
    )
    await hold(ctx, why)
    expect(await claimBatch(ctx)).toBeNull()
    const [event] = await events()
    const holdups = await findHoldups(ctx, office.workspaceId, [event!.id])
    expect(holdups.get(event!.id)!.message).toMatch(
      /^O sistema voltou de uma cópia de segurança\. Nenhuma manifestação/,
    )
    expect(await listNotices(ctx)).toMatchObject([
      { key: 'liberacao', text: expect.stringMatching(/^O sistema voltou de uma cópia de segurança\. A captura/) },
    ])
  })

  test('webhooks and mails of before wait, also those made of changes of before; later ones leave', async () => {
    await feed()
    expect(await claimDelivery()).toBeNull()
    expect(await claimJob(ctx, [mailJob({})], [])).toBeNull()
    await mail()
    await store(ctx, office, 'nfe', [arrive(2, resNFe({ number: 2, issuedAt: daysAgo(1) }))])
    await feed()
    expect(await claimJob(ctx, [mailJob({})], [])).not.toBeNull()
    const later = await claimDelivery()
    expect(later).not.toBeNull()
    const { rows } = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      sql<{ publicId: string }>`
        select public_id as "publicId" from webhook_delivery where id <> ${later!.key}::bigint`.execute(db),
    )
    await execute(database.url, `delete from job where kind = 'webhook'`)
    await deliverAgain(ctx, office.session, rows[0]!.publicId)
    expect(await claimDelivery()).toBeNull()
    expect(await listHeld(ctx)).toMatchObject({
      why,
      companies: [{ cnpj: '44555666000181', acknowledgesSince: new Date('2026-11-01T12:00:00Z'), automatic: 1 }],
      mails: 1,
      deliveries: 1,
    })
  })

  test('held again by hand, what was written since waits too, and versions of changes go on from now', async () => {
    await holdByHand(ctx)
    expect(await listHeld(ctx)).toMatchObject({ why, mails: 2, deliveries: 2 })
    const { rows } = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      sql<{ lifted: boolean }>`
        select version > extract(epoch from now() - interval '1 hour') * 1000 as lifted from change_position`.execute(
        db,
      ),
    )
    expect(rows).toEqual([{ lifted: true }])
  })

  test('a release without the automatic Ciência withdraws what waits, says so in the audit, and drops notices', async () => {
    await inWorkspace(ctx, office.workspaceId, ({ db }) =>
      db
        .insertInto('answer_rule')
        .values(
          (['ciencia', 'perguntar'] as const).map((answer, position) => ({
            answer,
            position,
            workspace_id: office.workspaceId,
            name: answer,
            active: true,
            after_days: null,
            conditions: '{}',
            saved_by: office.session.accountId,
          })),
        )
        .execute(),
    )
    await releaseHeld(ctx, { withoutAutomatic: true, withoutNotices: true })
    expect(await listHeld(ctx)).toBeNull()
    expect(await listNotices(ctx)).toEqual([])
    const { audit, active } = await inWorkspace(ctx, office.workspaceId, async ({ db }) => ({
      active: await db.selectFrom('answer_rule').select('answer').where('active', '=', true).execute(),
      audit: await db.selectFrom('audit').select('description').execute(),
    }))
    expect(audit.map(({ description }) => description)).toEqual([
      expect.stringMatching(/^Desligou a Ciência automática de /),
      expect.stringMatching(/^Desligou regras de resposta \(“ciencia”\), /),
    ])
    expect(active).toEqual([{ answer: 'perguntar' }])
    expect(await claimJob(ctx, [mailJob({})], [])).toBeNull()
    expect(await claimDelivery()).toBeNull()
    expect(await prepareBatch(ctx, (await claimBatch(ctx))!)).toBeNull()
    expect(await events()).toMatchObject([
      { state: 'rejected', message: 'As regras de resposta mudaram antes do envio: nada foi enviado.' },
    ])
  })
})

describe('the first start in production', () => {
  beforeAll(() => open('producao'))
  afterAll(close)

  test('an event waits until an administrator releases it', async () => {
    await noteHold(ctx)
    expect(await claimBatch(ctx)).toBeNull()
    expect(await listNotices(ctx)).toMatchObject([{ text: expect.stringMatching(/^Esta instalação começou no amb/) }])
    const shown = await readWorkspace(ctx, office.workspaceId, (ctx) => listHeldOf(ctx, office.session))
    expect(shown).toMatchObject({ total: 1, events: [{ numero: 1, tpEvento: 210210 }] })
    await expect(releaseAlone(ctx, { ...office.session, role: 'fiscal' })).rejects.toMatchObject({ code: 'conflict' })
    await releaseAlone(ctx, office.session)
    expect(await listNotices(ctx)).toEqual([])
    const audit = await readWorkspace(ctx, office.workspaceId, ({ db }) =>
      db.selectFrom('audit').select('description').orderBy('id', 'desc').executeTakeFirst(),
    )
    expect(audit?.description).toBe('Liberou o envio de manifestações, que estava retido.')
  })

  test('only the first start holds events', async () => {
    await prepareInstallation(database.url, 'producao')
    expect(await findHold(ctx)).toBeNull()
  })

  test('a start after two hours of silence holds an event that waits, and none that waits for an approval', async () => {
    const startAfter = async (hours: number) => {
      await execute(database.url, `update installation set marked_at = now() - interval '${hours} hours'`)
      await holdAfterSilence(ctx)
      return (await findHold(ctx)) !== null
    }
    expect(await startAfter(1)).toBe(false)
    await execute(database.url, "update outgoing_event set state = 'asked'")
    expect(await startAfter(3)).toBe(false)
    await execute(database.url, "update outgoing_event set state = 'waiting'")
    expect(await startAfter(3)).toBe(true)
    await release(ctx)
  })

  test('an event that was held leaves as one that may have left, also one that was about to leave', async () => {
    await execute(database.url, "update outgoing_event set state = 'waiting'")
    expect(await claimBatch(ctx)).not.toBeNull()
    await holdByHand(ctx)
    expect(
      await inCapture(ctx, ({ db }) => db.selectFrom('outgoing_event').select(['state', 'lease_by']).execute()),
    ).toEqual([{ state: 'sending', lease_by: null }])
    expect(await claimBatch(ctx)).toBeNull()
    await release(ctx)
    expect((await claimBatch(ctx))!.events).toMatchObject([{ isUnknown: true, signedXml: null }])
  })

  test('no workspace releases the events of another: the operator does', async () => {
    await hold(ctx, why)
    await newOffice(ctx)
    expect(await whyNotRelease(ctx, office.session)).toMatch(/^Esta instalação tem mais de um workspace/)
    await expect(releaseAlone(ctx, office.session)).rejects.toMatchObject({ code: 'conflict' })
    await releaseHeld(ctx, { withoutAutomatic: false })
    expect(await findHold(ctx)).toBeNull()
  })
})
