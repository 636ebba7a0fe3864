import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type pg from 'pg'
import { InstallationError } from '../installation.ts'

/**
 * What belongs to the installation, to capture lines or to the directories: tables that no workspace has for itself. Where the database is
 * distributed over several servers they stay on one of them.
 */
export const sharedTables: readonly string[] = [
  ...['migration', 'installation', 'installation_key', 'throttle', 'circuit', 'clock', 'clock_skew', 'trouble'],
  ...['storage_probe', 'restore', 'mail', 'contact_message', 'erasure'],
  ...['capture_line', 'capture_subscription', 'capture_call', 'capture_gap', 'capture_refusal'],
  ...['account_directory', 'workspace_directory', 'token_directory', 'membership'],
  'dictionary',
]
// Looked up beside the rows of workspaces: each server has all of it.
const everywhere = 'dictionary'

// Functions with the rights of the owner that change receipts: they have to run where the rows are, in the session of the caller. The coordinator would
// open one as the owner beside it, which may not touch what the caller has read.
const functionsOfReceipts = ['pack_receipts', 'restate_receipts']

/**
 * Whether the database of `client` is a coordinator of Citus that has servers for rows: what is distributed stays so also while none of them takes new shards. Refuses one that knows
 * servers and may use none: all rows would come to lie on the coordinator, and be moved by a later start.
 */
export async function hasServersForRows(client: pg.Client): Promise<boolean> {
  const { rows: found } = await client.query("select from pg_extension where extname = 'citus'")
  if (found.length === 0) return false
  const { rows } = await client.query<{ distributed: boolean; usable: boolean; known: boolean }>(
    `select exists (select from pg_dist_partition where partmethod = 'h') as distributed,
            exists (select from pg_dist_node where shouldhaveshards and isactive) as usable, exists (select from pg_dist_node where groupid <> 0) as known`,
  )
  const { distributed, usable, known } = rows[0]!
  if (known && !distributed && !usable)
    throw new InstallationError(
      'O coordenador em DATABASE_URL conhece servidores para as linhas (pg_dist_node), mas nenhum está em uso. Nada foi alterado: ative um com citus_activate_node, e com citus_set_node_property para que receba linhas (shouldhaveshards), ou retire todos com citus_remove_node para usar um servidor só.',
    )
  return distributed || usable
}

/**
 * Has functions that change rows of a workspace carried out on its server; they take its number as `p_ws`.
 */
export async function distributeFunctions(client: pg.Client): Promise<void> {
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
export async function distribute(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string; unlogged: boolean; forced: boolean }>(
    `select c.relname as name, c.relpersistence = 'u' as unlogged, c.relforcerowsecurity as forced from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and c.relname <> all ($1)
        and not exists (select from pg_dist_partition p where p.logicalrelid = c.oid)
      order by c.relname <> 'workspace', c.relname`,
    [sharedTables.filter((name) => name !== everywhere)],
  )
  if (tables.length === 0) return []
  const names = tables.map(({ name }) => name)
  // A key that leads from or to a table that is not yet distributed is made anew afterwards.
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(
    `select k.conrelid::regclass::text as table, quote_ident(k.conname) as name, pg_get_constraintdef(k.oid) as definition
       from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class f on f.oid = k.confrelid
      where k.contype = 'f' and c.relnamespace = 'public'::regnamespace and (c.relname = any ($1) or f.relname = any ($1))`,
    [names],
  )
  await client.query("set local citus.multi_shard_modify_mode = 'sequential'")
  // What is older than its column, or of a version that did not know it.
  if (names.includes('document_change'))
    await client.query(
      'update document_change c set company_id = d.company_id from document d where c.company_id is null and d.workspace_id = c.workspace_id and d.id = c.document_id',
    )
  // As one server has them: `migrate` makes them anew without the subquery that a distributed table may not have.
  for (const name of names) await client.query(`drop policy if exists companies on ${name}`)
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`)
  for (const { name, unlogged, forced } of tables) {
    // Rows are copied as the owner, by a statement that row-level security forbids who is held to it.
    if (forced) await client.query(`alter table ${name} no force row level security`)
    if (name === everywhere) {
      await client.query('select create_reference_table($1::regclass)', [name])
      continue
    }
    // An unlogged one keeps the rows of all tables from moving while others write.
    if (unlogged) await client.query(`alter table ${name} set logged`)
    const [column, others] = name === 'workspace' ? ['id', 'none'] : ['workspace_id', 'workspace']
    await client.query('select create_distributed_table($1::regclass, $2, colocate_with => $3)', [name, column, others])
  }
  for (const { table, name, definition } of keys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`)
  return names
}

/**
 * What rights depend on where the database is distributed: how they are given, by whom, on which servers. To give them again asks all servers, so a
 * process could not start while one of them is away. `names` are the migrations that were applied.
 */
export async function stampRights(client: pg.Client, names: readonly string[]): Promise<string> {
  const { rows } = await client.query<{ owner: string; nodes: string }>(
    `select current_user as owner, (select string_agg(concat_ws(':', nodename, nodeport, isactive), ' ' order by nodeid) from pg_dist_node) as nodes`,
  )
  const sources = ['migrate.ts', 'distribute.ts'].map((file) => readFile(new URL(file, import.meta.url), 'utf8'))
  return createHash('sha256')
    .update(JSON.stringify([...(await Promise.all(sources)), rows, names]))
    .digest('hex')
}
