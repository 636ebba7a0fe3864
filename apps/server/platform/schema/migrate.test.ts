import pg from 'pg'
import { expect, test } from 'vitest'
import { createDatabase } from '../../../../tests/support/database.ts'
import { InstallationError } from '../installation.ts'
import { beginDictionaries } from '../received/dictionaries.ts'
import { migrate, requireVersion } from './migrate.ts'

test.each(['18.0', '18.1 (Debian 18.1-1)', '19beta1'])('PostgreSQL %s is new enough', (version) => {
  requireVersion(version)
})

test.each([
  ['17.6 (Debian 17.6-1)', 'PostgreSQL 17.6,'],
  ['9.6.24', 'PostgreSQL 9.6.24,'],
])('PostgreSQL %s is refused with a sentence that names it', (version, named) => {
  expect(() => requireVersion(version)).toThrow(InstallationError)
  expect(() => requireVersion(version)).toThrow(named)
})

test('a start refuses documents that were packed with a dictionary that it does not have', async () => {
  await using database = await createDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  for (const [change, undo] of [
    [
      'update dictionary set content = content || content',
      'update dictionary set content = substring(content from 1 for 16384)',
    ],
    [
      "insert into dictionary (id, content, usable_at) values (200, 'x', now())",
      'delete from dictionary where id = 200',
    ],
  ] as const) {
    await client.query(change)
    await expect(migrate(database.url)).rejects.toThrow(InstallationError)
    await client.query(undo)
    expect(await migrate(database.url)).toEqual({ applied: [] })
  }
  // Of the next version, which has not packed anything yet.
  await client.query("insert into dictionary (id, content, usable_at) values (200, 'x', 'infinity')")
  expect(await migrate(database.url)).toEqual({ applied: [] })
  await client.end()
})

test('where documents are, the hour before they are packed begins with the first worker, not with the migration', async () => {
  await using database = await createDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const usable = async () =>
    (await client.query('select extract(epoch from usable_at - now())::float8 as seconds from dictionary where id = 1'))
      .rows[0].seconds as number
  const putAnew = async () => {
    await client.query('delete from dictionary')
    await migrate(database.url)
  }
  await putAnew()
  expect(await usable()).toBeLessThanOrEqual(0)
  await client.query(
    `insert into receipt (workspace_id, company_id, service, codec, nsu, schema, unread, content) values (1, 1, 0, 0, 1, 'x', false, '')`,
  )
  await putAnew()
  expect(await usable()).toBe(Number.POSITIVE_INFINITY)
  await beginDictionaries(database.url)
  const left = await usable()
  expect(left).toBeGreaterThan(3_000)
  expect(left).toBeLessThanOrEqual(3_600)
  await client.query(
    "update dictionary set usable_at = (usable_at at time zone 'UTC' - interval '1 minute') at time zone 'UTC'",
  )
  await beginDictionaries(database.url)
  expect(await usable()).toBeLessThanOrEqual(3_540)
  await client.end()
})
