import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { useDatabase } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { createLogger } from '../../platform/log.ts'
import { insertCompany, newWorkspace } from '../../platform/testing.ts'
import { deliverTo, evento } from '../testing.ts'
import { noteWith, readEverything } from './testing.ts'

const { db } = await useDatabase()
const ctx = { db, log: createLogger('silent') }
const [root, pages, pageSize] = ['44555666', 6, 8]
const branches = ['000181', '000262', '000343', '000424'].map((rest) => `${root}${rest}`)

test('four branches of one root that buy the same goods are captured at once, while their products are counted', async () => {
  const workspaceId = await newWorkspace(db)
  const companies: { cnpj: string; companyId: number }[] = []
  for (const cnpj of branches) companies.push({ cnpj, companyId: (await insertCompany(db, workspaceId, { cnpj })).id })
  const goods = Array.from({ length: pageSize }, (_, index) => ({ name: `PRODUTO ${index}`, code: `P-${index}` }))
  const capture = async ({ cnpj, companyId }: (typeof companies)[number], branch: number) => {
    for (let page = 0; page < pages; page++) {
      const files = goods.map((_, index) => {
        const about = { number: branch * 1_000 + page * pageSize + index + 1, recipient: cnpj }
        // Each branch meets goods and suppliers in another order, and a cancellation takes back what was counted.
        const items = goods.map((__, place) => goods[(place + index * (branch + 1)) % pageSize]!)
        return index === 3 ? [noteWith({ ...about, items }), evento(110111, about)] : noteWith({ ...about, items })
      })
      await deliverTo(ctx, { workspaceId, companyId, cnpj }, 'nfe', files.flat())
    }
  }
  const count = async () => {
    for (let turn = 0; turn < pages; turn++) await readEverything(ctx)
  }
  await Promise.all([...companies.map(capture), count()])
  await readEverything(ctx)
  const { rows } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`select (select sum(documents)::int from content_sum where workspace_id = ${workspaceId} and kind = 0) as documents,
               (select sum(documents)::int from product_sum where workspace_id = ${workspaceId}) as products`.execute(
      db,
    ),
  )
  const standing = branches.length * pages * (pageSize - 1)
  expect(rows).toEqual([{ documents: standing, products: standing * pageSize }])
})
