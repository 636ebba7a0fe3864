import pg from 'pg'
import { listPending } from './migrate.ts'

/** What a migration that has not run yet does to a table that is there. */
interface Touched {
  table: string
  bytes: number
  /** As the database estimates them. */
  rows: number
  /** `index`: writers wait while one is made; `beside`: nobody does; `rows`: they are written anew, or looked at; `shape`: all wait for a moment. */
  how: 'index' | 'beside' | 'rows' | 'shape'
}

export interface PlannedMigration {
  name: string
  touched: Touched[]
}

const ways: readonly [RegExp, Touched['how']][] = [
  [/\bcreate\s+(?:unique\s+)?index\s+concurrently\s+\w+\s+on\s+(\w+)/gi, 'beside'],
  [
    /\bcreate\s+(?:unique\s+)?index\s+(?!concurrently\b)(?:if\s+not\s+exists\s+)?(?:\w+\s+)?on\s+(?:only\s+)?(\w+)/gi,
    'index',
  ],
  [/\b(?:update|delete\s+from|insert\s+into)\s+(\w+)/gi, 'rows'],
  [/\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(\w+)/gi, 'shape'],
  [/\bdrop\s+table\s+(?:if\s+exists\s+)?(\w+)/gi, 'shape'],
]

/** Tells what `migrate` would do to the database at `url`, and changes nothing. What functions and blocks of code do inside is read as text, too. */
export async function planMigrations(url: string): Promise<PlannedMigration[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('begin transaction read only')
    const pending = await listPending(client)
    const { rows: tables } = await client.query<{ table: string; bytes: number; rows: number }>(
      `select relname as table, pg_total_relation_size(oid)::float8 as bytes, greatest(reltuples, 0)::float8 as rows
         from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
    )
    const sizes = new Map(tables.map((one) => [one.table, one]))
    return pending.map(({ name, text }) => ({ name, touched: readTouched(text, sizes) }))
  } finally {
    await client.query('rollback').catch(() => {})
    await client.end()
  }
}

function readTouched(text: string, sizes: ReadonlyMap<string, Omit<Touched, 'how'>>): Touched[] {
  const statements = text.replace(/--.*$/gm, '')
  const found = new Map<string, Touched>()
  for (const [pattern, how] of ways)
    for (const [, name] of statements.matchAll(pattern)) {
      const size = sizes.get(name!)
      if (size) found.set(`${size.table} ${how}`, { ...size, how })
    }
  return [...found.values()].sort((a, b) => b.bytes - a.bytes)
}
