import type pg from 'pg'
import { limitedRole } from '../database.ts'

/**
 * Tables of the installation, of capture lines and of the directories, which belong to no single
 * workspace. On a Citus cluster they stay on one node.
 */
export const sharedTables: readonly string[] = [
  ...['migration', 'installation', 'installation_key', 'throttle', 'circuit', 'clock_skew', 'trouble'],
  ...['storage_probe', 'job', 'mail', 'contact_message', 'erasure'],
  ...['capture_line', 'capture_subscription', 'capture_call', 'capture_gap', 'capture_refusal'],
  ...['account_directory', 'workspace_directory', 'token_directory', 'membership'],
]
// Functions with the owner's rights that change receipts run on the worker node of the rows, in the
// caller's session: the coordinator would open a second session as the owner, which may not touch
// rows that the caller has read.
const functionsOfReceipts = ['restate_receipts']

/** Whether the database of `client` is a coordinator of Citus that has, or had, worker nodes for the rows of workspaces. */
export async function hasWorkerNodes(client: pg.Client): Promise<boolean> {
  const { rows: found } = await client.query("select from pg_extension where extname = 'citus'")
  if (found.length === 0) return false
  const { rows } = await client.query<{ distributed: boolean }>(
    `select exists (select from pg_dist_partition where partmethod = 'h')
         or exists (select from pg_dist_node where shouldhaveshards and isactive) as distributed`,
  )
  return rows[0]!.distributed
}

/**
 * Has functions that change rows of a workspace carried out on its server; they take its number as `p_ws`.
 */
async function distributeFunctions(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ signature: string }>(
    `select f.oid::regprocedure::text as signature from pg_proc f
      where f.pronamespace = 'public'::regnamespace and f.proname = any ($1)
        and not exists (select from pg_catalog.pg_dist_object o
                         where o.classid = 'pg_proc'::regclass and o.objid = f.oid and o.force_delegation)`,
    [functionsOfReceipts],
  )
  for (const { signature } of rows)
    await client.query(
      `select create_distributed_function($1::regprocedure, 'p_ws', colocate_with => 'workspace', force_delegation => true)`,
      [signature],
    )
}

/**
 * Distributes what belongs to a workspace by workspace, all of a workspace on one server, where the database is made for that; what is
 * distributed already stays. Each table is done by itself, with the rows that it has, when a later migration makes it.
 */
export async function distribute(client: pg.Client): Promise<void> {
  const { rows: tables } = await client.query<{ name: string; unlogged: boolean; forced: boolean }>(
    `select c.relname as name, c.relpersistence = 'u' as unlogged, c.relforcerowsecurity as forced from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all ($1)
        and not exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
      order by c.relname <> 'workspace', c.relname`,
    [sharedTables],
  )
  if (tables.length === 0) return distributeFunctions(client)
  const names = tables.map(({ name }) => name)
  // A key that leads from or to a table that is not yet distributed is made anew afterwards.
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(
    `select k.conrelid::regclass::text as table, quote_ident(k.conname) as name, pg_get_constraintdef(k.oid) as definition
       from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid
      where k.contype = 'f' and c.relnamespace = 'public'::regnamespace and (c.relname = any ($1) or f.relname = any ($1))`,
    [names],
  )
  await client.query("set local citus.multi_shard_modify_mode = 'sequential'")
  await foldCompanies(client, names)
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`)
  for (const { name, unlogged, forced } of tables) {
    // Rows are copied as the owner, by a statement that row-level security forbids who is held to it.
    if (forced) await client.query(`alter table ${name} no force row level security`)
    // An unlogged one keeps the rows of all tables from moving while others write.
    if (unlogged) await client.query(`alter table ${name} set logged`)
    const [column, others] = name === 'workspace' ? ['id', 'none'] : ['workspace_id', 'workspace']
    await client.query('select create_distributed_table($1::regclass, $2, colocate_with => $3)', [name, column, others])
  }
  for (const { table, name, definition } of keys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`)
  await grantColumns(client, names)
  await distributeFunctions(client)
}

/**
 * Narrows each permissive policy of these tables by the rule of `companies`: Citus makes a restrictive policy a permissive one on worker
 * nodes, and a policy of a distributed table may have no subquery.
 */
export async function foldCompanies(client: pg.Client, names: readonly string[]): Promise<void> {
  const { rows } = await client.query<{
    table: string
    name: string
    using: string | null
    check: string | null
    rule: string
    checked: string
  }>(
    `select p.tablename as table, quote_ident(p.policyname) as name, p.qual as using,
            case when p.cmd in ('ALL', 'UPDATE') then coalesce(p.with_check, p.qual) else p.with_check end as check,
            c.qual as rule, c.with_check as checked
       from pg_policies c join pg_policies p on p.schemaname = c.schemaname and p.tablename = c.tablename and p.roles = '{public}'
      where c.schemaname = 'public' and c.policyname = 'companies' and c.tablename = any ($1)`,
    [names],
  )
  const flat = (table: string, rule: string) =>
    table === 'document_change'
      ? `(current_user <> '${limitedRole}' or company_id = any (current_companies()))`
      : rule.replaceAll('( SELECT current_companies() AS current_companies)', 'current_companies()')
  for (const { table, name, using, check, rule, checked } of rows) {
    const parts = [
      ...(using === null ? [] : [`using ((${using}) and ${flat(table, rule)})`]),
      ...(check === null ? [] : [`with check ((${check}) and ${flat(table, checked)})`]),
    ]
    await client.query(`alter policy ${name} on ${table} ${parts.join(' ')}`)
  }
  for (const name of names) await client.query(`drop policy if exists companies on ${name}`)
}

// The rights to a whole table go to worker nodes with it, those to some of its columns do not.
async function grantColumns(client: pg.Client, names: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(
    `select format('grant %s (%s) on %s to %s', a.privilege_type, string_agg(quote_ident(attname), ', '), attrelid::regclass, a.grantee::regrole) as statement
       from pg_attribute, aclexplode(attacl) a
      where attrelid = any ($1::regclass[]) and a.grantee <> 0 group by attrelid, a.privilege_type, a.grantee`,
    [names],
  )
  for (const { statement } of rows) await client.query(statement)
}
