import pg from 'pg'
import { expect, test } from 'vitest'
import { createDatabase } from './database.ts'

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('each test database has the tables, its own rows, and is gone afterwards', async () => {
  let url: string
  {
    await using one = await createDatabase()
    await using other = await createDatabase()
    url = one.url
    await query(one.url, 'create table note (n int); insert into note values (1)')
    expect(await query(one.url, 'select count(*)::int as n from workspace')).toEqual([{ n: 0 }])
    expect(await query(other.url, "select to_regclass('note') as note")).toEqual([{ note: null }])
  }
  await expect(query(url, 'select 1')).rejects.toThrow(/does not exist/)
})
