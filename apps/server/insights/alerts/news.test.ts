import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { TopicItem } from '../../companies/topics.ts'
import { company, deliverTo, resNFe } from '../../documents/testing.ts'
import type { Context } from '../../platform/context.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { carryOutDue } from '../../platform/jobs/testing.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { alertAnnouncements, noteRisen } from './news.ts'
import { nightJob } from './night.ts'
import { alertJob } from './queue.ts'

const { ctx } = await useContext()

async function newOffice() {
  const workspaceId = await newWorkspace(ctx.db)
  const { id: companyId } = await insertCompany(ctx.db, workspaceId, { cnpj: company, name: 'SOL' })
  const inside = <T>(work: (db: Context['db']) => Promise<T>) => inWorkspace(ctx, workspaceId, ({ db }) => work(db))
  return {
    workspaceId,
    companyId,
    inside,
    deliver: async (...files: string[]) => {
      await deliverTo(ctx, { workspaceId, companyId }, 'nfe', files)
      await carryOutDue(ctx, [alertJob, nightJob])
    },
    news: () =>
      inside(async (db) => {
        const { rows } = await sql<{ number: number; band: number }>`
          select d.number::int, n.band from alert_news n join document d on d.workspace_id = n.workspace_id and d.id = n.document_id
           where n.workspace_id = ${workspaceId} order by n.id`.execute(db)
        return rows.map(({ number, band }) => [number, band])
      }),
  }
}

const daysAgo = (days: number) =>
  `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}T09:15:00-03:00`

const twins = (first: number, days = 3) =>
  [first, first + 1].map((number, day) => resNFe({ number, amount: `${first}000.00`, issuedAt: daysAgo(days - day) }))

test('an alert of what arrives is news once; what was here before, arrives late, or goes and comes again, is none', async () => {
  const { deliver, news, inside, workspaceId } = await newOffice()
  await deliver(...twins(1))
  expect(await news()).toEqual([])
  await deliver(...twins(5))
  expect(await news()).toEqual([[6, 1]])
  await deliver(...twins(7, 20))
  expect(await news()).toEqual([[6, 1]])
  const { rows: letters } = await inside((db) => sql`select kind from job where kind = 'letters'`.execute(db))
  expect(letters).toHaveLength(1)
  await deliver(...twins(5))
  await inside((db) => sql`delete from alert where workspace_id = ${workspaceId}`.execute(db))
  await inside((db) => sql`update document set judged_at = null where workspace_id = ${workspaceId}`.execute(db))
  await deliver(resNFe({ number: 90, amount: '10.00' }))
  expect((await news()).filter(([number]) => number === 6)).toEqual([[6, 1]])
})

test('open pages are told of grave alerts, of each band once, together and without numbers', async () => {
  const { workspaceId, companyId, deliver, inside } = await newOffice()
  await deliver(...twins(1), ...twins(5))
  const rise = (number: number, band: number, again = false) =>
    inside(async (db) => {
      const { rows } = await sql<{ id: bigint }>`
        update alert a set band = ${band} from document d
         where a.workspace_id = ${workspaceId} and d.workspace_id = a.workspace_id and d.id = a.document_id and d.number = ${number} returning d.id`.execute(
        db,
      )
      await noteRisen({ db }, workspaceId, [{ document_id: rows[0]!.id, company_id: companyId, band, again }])
    })
  const told = () =>
    inside(async (db) => {
      const { rows } = await sql<TopicItem>`
        delete from happening where workspace_id = ${workspaceId} returning company_id as "companyId", 'SOL' as company, 'sol' as "companyPublicId", payload`.execute(
        db,
      )
      return rows.length === 0 ? null : alertAnnouncements.alerta!.write(rows)
    })
  await rise(2, 1)
  expect(await told()).toBeNull()
  await rise(2, 3)
  expect(await told()).toEqual({
    kind: 'alert',
    header: 'Alerta crítico',
    body: expect.stringMatching(
      /^NF-e 2 de PAPELARIA SÃO JOÃO LTDA, para SOL: Provável duplicidade\. Confira antes de pagar; nada foi enviado/,
    ),
    link: '/alertas?empresa=sol&faixa=critico',
  })
  await rise(2, 3)
  await rise(2, 2)
  expect(await told()).toBeNull()
  await rise(2, 3, true)
  await rise(6, 2)
  expect(await told()).toMatchObject({
    header: 'Alertas críticos',
    body: expect.stringMatching(/^Documentos de SOL têm alertas novos: 1 crítico e 1 alto\./),
    link: '/alertas?empresa=sol',
  })
})
