import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Database } from '../context.ts'
import { useDatabase, useOwner } from '../database.testing.ts'
import { asOperator } from '../database.ts'
import { claimInTurn, claimRows, type Lane } from './claim.ts'

const { url, db } = await useDatabase()
const owner = await useOwner(url)
await owner.query(
  'create table thing (id int primary key generated always as identity, kind text, failures int, lease_until timestamptz)',
)
await owner.query('grant all on thing to vigia_app')

describe('a claim', () => {
  beforeEach(() =>
    asOperator({ db }, async ({ db }) => {
      await sql`delete from thing`.execute(db)
      await sql`insert into thing (kind) values ('a'), ('b'), ('c')`.execute(db)
    }),
  )

  const lane = (kinds: string[]): Lane => ({ due: sql`kind = any (${kinds}::text[])`, order: sql`kind desc` })
  const claim = (lane: Lane, { rowsMax, within = db }: { rowsMax?: number; within?: Database } = {}) =>
    asOperator({ db: within }, async ({ db }) => {
      const options = { table: sql`thing`, leaseMs: 60_000, returning: sql`kind` }
      const claimed = await claimRows<{ kind: string }>(db, lane, options, rowsMax)
      return claimed.map(({ kind }) => kind).sort()
    })

  test('takes each row once, in the order of its lane, while the leases last', async () => {
    const all = lane(['a', 'b', 'c'])
    expect([await claim(all), await claim(all, { rowsMax: 5 })]).toEqual([['c'], ['a', 'b']])
    expect(await claim(all)).toEqual([])
    await asOperator({ db }, ({ db }) =>
      sql`update thing set lease_until = now() - interval '1 ms' where kind = 'b'`.execute(db),
    )
    expect(await claim(all)).toEqual(['b'])
  })

  test('does not wait for a row that somebody else is taking', async () => {
    const all = lane(['a', 'b', 'c'])
    await db.transaction().execute(async (other) => {
      expect(await claim(all, { within: other })).toEqual(['c'])
      expect(await claim(all)).toEqual(['b'])
    })
  })

  test('writes what its lane says', async () => {
    const options = { table: sql`thing`, leaseMs: 60_000, returning: sql`failures` }
    const failing = { ...lane(['a']), set: sql`failures = 7` }
    expect(await asOperator({ db }, ({ db }) => claimRows(db, failing, options))).toEqual([{ failures: 7 }])
  })

  test('serves workspaces in turn, whoever has more waiting', async () => {
    await asOperator({ db }, async ({ db }) => {
      await sql`delete from thing`.execute(db)
      // The number stands for a workspace: one wants five things, another two, and a third one.
      await sql`insert into thing (kind, failures) select 'a', unnest(array[1, 1, 1, 1, 1, 2, 2, 3])`.execute(db)
    })
    const next = () =>
      asOperator({ db }, async ({ db }) => {
        const claimed = await claimInTurn<{ of: number }>(db, {
          kind: 'test',
          table: sql`thing`,
          workspaces: (due) => sql`select distinct failures as id from thing where ${due}`,
          isOf: (id) => sql`failures = ${id}`,
          // A lane without rows is passed over.
          lanes: [lane(['x']), { due: sql`true`, order: sql`id` }],
          leaseMs: 60_000,
          returning: sql`failures as of`,
        })
        return claimed?.of ?? null
      })
    const served = []
    for (let of = await next(); of !== null; of = await next()) served.push(of)
    expect(served).toEqual([1, 2, 3, 1, 2, 1, 1, 1])
  })
})
