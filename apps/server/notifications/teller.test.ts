import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { Writer } from '../companies/topics.ts'
import { useContext } from '../platform/database.testing.ts'
import { inWorkspace } from '../platform/database.ts'
import { startQueue } from '../platform/jobs/jobs.ts'
import { announce } from '../platform/outbox.ts'
import { newWorkspace } from '../platform/testing.ts'
import { forgetAnnouncements } from './notifications.ts'
import { announcementJob, tellTogether } from './teller.ts'

const patience = { timeout: 25_000, interval: 25 }
const { ctx } = await useContext()

const writers: Record<string, Writer> = {
  news: {
    topic: 'captura',
    write: (items) => {
      const sum = items.reduce((total, { payload }) => total + (payload as { n: number }).n, 0)
      const companies = new Set(items.map(({ company }) => company))
      const link = `/empresas/editar/${items[0]!.companyPublicId}`
      return { kind: 'sucesso', header: 'Novidades', body: `${sum} de ${companies.size}: ${items[0]!.company}`, link }
    },
  },
  last: { topic: 'aviso', write: () => ({ kind: 'alert', header: 'Fim', body: 'Fim' }) },
  nothing: { topic: 'aviso', write: () => null },
  broken: {
    topic: 'aviso',
    write: () => {
      throw new Error('a bug of ours')
    },
  },
}

const newCompanies = (workspaceId: number, count: number) =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ id: number }>`
      insert into company (workspace_id, cnpj, name, search, uf)
      select ${workspaceId}::int, lpad(i::text, 14, '0'), 'EMPRESA ' || i, 'empresa', 35 from generate_series(1, ${count}) i
      returning id`.execute(db)
    return rows.map(({ id }) => id)
  })
const happen = (workspaceId: number, what: string, companyId?: number, n = 1, waitMs = 0) =>
  inWorkspace(ctx, workspaceId, (ctx) => announce(ctx, workspaceId, { what, companyId, payload: { n }, waitMs }))
const told = (workspaceId: number) =>
  inWorkspace(ctx, workspaceId, ({ db }) =>
    db
      .selectFrom('announcement')
      .select(['topic', 'kind', 'header', 'body'])
      .where('workspace_id', '=', workspaceId)
      .orderBy('id')
      .execute(),
  )
const untold = (workspaceId: number) =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ n: number }>`select count(*)::int as n from happening`.execute(db)
    return rows[0]!.n
  })

const startTeller = () => startQueue(ctx, { jobs: [announcementJob(writers)] })

test('a thousand companies at once are one announcement, and what comes within the pause waits', async () => {
  const office = await newWorkspace(ctx.db)
  const companies = await newCompanies(office, 1000)
  await inWorkspace(ctx, office, async (ctx) => {
    for (const companyId of companies)
      await announce(ctx, office, { what: 'news', companyId, payload: { n: 2 }, waitMs: 0 })
  })
  {
    await using _ = await startTeller()
    await using __ = await startTeller()
    await vi.waitFor(async () => expect(await told(office)).toHaveLength(1), patience)
    for (const companyId of companies.slice(0, 20)) await happen(office, 'news', companyId)
    await happen(office, 'last')
    await vi.waitFor(async () => expect((await told(office)).at(-1)?.header).toBe('Fim'), patience)
  }
  expect(await told(office)).toEqual([
    { topic: 'captura', kind: 'sucesso', header: 'Novidades', body: '2000 de 1000: EMPRESA 1' },
    { topic: 'aviso', kind: 'alert', header: 'Fim', body: 'Fim' },
  ])
  expect(await untold(office)).toBe(20)
  await inWorkspace(ctx, office, ({ db }) =>
    sql`update announcement set at = now() - interval '61 seconds' where workspace_id = ${office}`.execute(db),
  )
  await inWorkspace(ctx, office, ({ db }) => sql`update job set run_at = now()`.execute(db))
  {
    await using _ = await startTeller()
    await vi.waitFor(async () => expect(await told(office)).toHaveLength(3), patience)
  }
  expect((await told(office)).at(-1)?.body).toBe('20 de 20: EMPRESA 1')
})

test('a company that shares its name with another is announced with its CNPJ', async () => {
  const office = await newWorkspace(ctx.db)
  const [first] = await newCompanies(office, 2)
  await inWorkspace(ctx, office, ({ db }) =>
    sql`update company set name = 'VALE VERDE' where workspace_id = ${office}`.execute(db),
  )
  await happen(office, 'news', first)
  await tellTogether(ctx, { workspaceId: office, what: 'news' }, writers.news!)
  expect(await told(office)).toMatchObject([{ body: '1 de 1: VALE VERDE (00.000.000/0000-01)' }])
})

test('a company whose run goes on waits, the others do not wait for it', async () => {
  const office = await newWorkspace(ctx.db)
  const [going, done] = (await newCompanies(office, 2)) as [number, number]
  await happen(office, 'news', going, 5)
  await happen(office, 'news', going, 5, 600_000)
  await happen(office, 'news', done, 1)
  await tellTogether(ctx, { workspaceId: office, what: 'news' }, writers.news!)
  expect(await told(office)).toMatchObject([{ body: '1 de 1: EMPRESA 2' }])
  await happen(office, 'news', going, 3)
  await inWorkspace(ctx, office, ({ db }) =>
    sql`update announcement set at = now() - interval '61 seconds' where workspace_id = ${office}`.execute(db),
  )
  await tellTogether(ctx, { workspaceId: office, what: 'news' }, writers.news!)
  expect((await told(office)).at(-1)?.body).toBe('13 de 1: EMPRESA 1')
})

test('nobody is told of what was undone, nor of what has no words', async () => {
  const office = await newWorkspace(ctx.db)
  const undone = inWorkspace(ctx, office, async (ctx) => {
    await announce(ctx, office, { what: 'last', waitMs: 0 })
    throw new Error('not after all')
  })
  await expect(undone).rejects.toThrow('not after all')
  await happen(office, 'nothing')
  await happen(office, 'broken')
  {
    await using _ = await startTeller()
    await vi.waitFor(async () => expect(await untold(office)).toBe(0), patience)
  }
  expect(await told(office)).toEqual([])
})

test('what is written at the same time becomes visible in the order of its numbers', async () => {
  const office = await newWorkspace(ctx.db)
  const seen: number[] = []
  let going = true
  const watch = async () => {
    while (going) seen.push(...(await told(office)).map(({ body }) => Number(body)).slice(seen.length))
  }
  const watching = watch()
  const write = async (n: number) => {
    const what = `kind-${n}`
    await happen(office, what)
    const writer: Writer = { topic: 'aviso', write: () => ({ kind: 'alert', header: 'x', body: String(n) }) }
    await tellTogether(ctx, { workspaceId: office, what }, writer)
  }
  await Promise.all(Array.from({ length: 30 }, (_, n) => write(n)))
  going = false
  await watching
  // A reader up to a number has missed none below it: nothing was inserted before one already seen.
  expect(seen).toEqual((await told(office)).map(({ body }) => Number(body)).slice(0, seen.length))
})

test('a month later nothing is kept, and no workspace sees what another is told', async () => {
  const [mine, theirs] = [await newWorkspace(ctx.db), await newWorkspace(ctx.db)]
  for (const office of [mine, theirs]) {
    await happen(office, 'last')
    await tellTogether(ctx, { workspaceId: office, what: 'last' }, writers.last!)
  }
  const all = await inWorkspace(ctx, mine, ({ db }) => db.selectFrom('announcement').select('workspace_id').execute())
  expect(all).toEqual([{ workspace_id: mine }])
  await inWorkspace(ctx, mine, ({ db }) => sql`update announcement set at = now() - interval '31 days'`.execute(db))
  await forgetAnnouncements(ctx)
  expect(await told(mine)).toEqual([])
  expect(await told(theirs)).toHaveLength(1)
})
