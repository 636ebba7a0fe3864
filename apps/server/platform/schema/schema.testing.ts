import type pg from 'pg'

/** The structure of the public schema as text, in an order that does not tell how it came about: two schemas with the same text are the same. */
export async function describeSchema(client: pg.Client): Promise<string> {
  const sections: [string, string][] = [
    [
      'tables',
      `select format('%s (%s)', c.relname, string_agg(format('%s %s%s%s', a.attname, format_type(a.atttypid, a.atttypmod), case when a.attnotnull then ' not null' else '' end,
                coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')), ', ' order by a.attname)) as line
         from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by c.relname`,
    ],
    [
      'constraints',
      `select format('%s: %s', conrelid::regclass, pg_get_constraintdef(oid)) as line from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'`,
    ],
    ['indexes', `select indexdef as line from pg_indexes where schemaname = 'public'`],
    [
      'policies',
      `select format('%s %s %s: using (%s) with check (%s)', tablename, policyname, cmd, qual, with_check) as line from pg_policies where schemaname = 'public'`,
    ],
    [
      'row-level security',
      `select format('%s%s', relname, case when relforcerowsecurity then ' forced' end) as line from pg_class where relnamespace = 'public'::regnamespace and relrowsecurity`,
    ],
    ['triggers', `select pg_get_triggerdef(oid) as line from pg_trigger where not tgisinternal`],
    [
      'functions',
      `select format('%s(%s) returns %s%s %s', p.proname, pg_get_function_identity_arguments(p.oid), pg_get_function_result(p.oid),
              case when p.prosecdef then ' security definer' else '' end, concat(p.proconfig, ' ', p.prosrc)) as line
         from pg_proc p where pronamespace = 'public'::regnamespace`,
    ],
  ]
  let text = ''
  for (const [title, query] of sections) {
    const { rows } = await client.query<{ line: string }>(query)
    text += `\n-- ${title}\n${rows
      .map((row) => row.line)
      .sort()
      .join('\n')}\n`
  }
  return text
}
