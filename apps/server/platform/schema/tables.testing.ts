import type pg from 'pg'

// Columns with a narrower type than the database knows: `table.column`, then the type.
const narrower: Record<string, string> = {
  'account.role': 'MemberRole',
  'invitation.role': 'MemberRole',
  'monthly_report.subject': 'ReportSubject',
  'monthly_report.grouping': 'ReportGroup',
  'document_event.proof': 'Proof',
  'manifestation_text.type': 'ServiceCode',
  'saved_view.type': 'ServiceCode',
  'first_view.type': 'ServiceCode',
}
const types: Record<string, string> = {
  int2: 'number',
  int4: 'number',
  float8: 'number',
  int8: 'bigint',
  bool: 'boolean',
  bytea: 'Buffer',
  timestamptz: 'Date',
  jsonb: 'unknown',
  json: 'unknown',
}

interface Column {
  table: string
  name: string
  type: string
  nullable: boolean
  optional: boolean
  generated: boolean
  choices: string | null
}

/** The source of `platform/tables.ts`, made from a migrated database. */
export async function tablesSource(client: pg.Client): Promise<string> {
  const { rows } = await client.query<Column>(
    `select c.relname as table, a.attname as name, t.typname as type, not a.attnotnull as nullable,
            not a.attnotnull or a.atthasdef or a.attidentity <> '' as optional, a.attgenerated <> '' as generated,
            (select pg_get_constraintdef(k.oid) from pg_constraint k
              where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum]
                and pg_get_constraintdef(k.oid) ~ '^CHECK \\(\\(\\w+ = ANY \\(ARRAY\\[(''[^'']+''::text(, )?)+\\]\\)\\)\\)$') as choices
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       join pg_type t on t.oid = a.atttypid
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'migration'
      order by c.relname collate "C", a.attnum`,
  )
  const tables = Map.groupBy(rows, (row) => row.table)
  const body = [...tables].map(
    ([table, columns]) =>
      `  ${table}: {\n${columns.map((column) => `    ${column.name}: ${typeOf(column)}\n`).join('')}  }\n`,
  )
  return `// Generated from the schema: npx vitest run apps/server/platform/schema -u
import type { MemberRole } from '@vigia/contract/route'
import type { ReportGroup, ReportSubject } from '@vigia/contract/reports'
import type { Proof } from '@vigia/dfe/proof'
import type { ColumnType, GeneratedAlways } from 'kysely'
import type { ServiceCode } from './service.ts'

type Column<Read, Write = Read> = ColumnType<Read, Write, Write>
type Optional<Read, Write = Read> = ColumnType<Read, Write | undefined, Write>

/** The tables as the queries see them. */
export interface Tables {
${body.join('')}}
`
}

function typeOf(column: Column): string {
  const isArray = column.type.startsWith('_')
  const choices = column.choices?.match(/'[^']+'/g)?.join(' | ')
  const base = narrower[`${column.table}.${column.name}`] ?? choices ?? types[column.type.replace(/^_/, '')] ?? 'string'
  const orNull = column.nullable ? ' | null' : ''
  const read = (isArray ? `${base}[]` : base) + orNull
  if (column.generated) return `GeneratedAlways<${read}>`
  const write = { Date: 'Date | string', unknown: 'string', bigint: 'bigint | number' }[isArray ? '' : base]
  if (column.optional) return write ? `Optional<${read}, ${write}${orNull}>` : `Optional<${read}>`
  return write ? `Column<${read}, ${write}>` : read
}
