import type pg from 'pg'
import type { Chance } from './chance.ts'
import type { Check } from './compare.ts'
import type { Note, Peace } from './faults.ts'
import type { ChaosPlan } from './plan.ts'
import { sleep } from './processes.ts'
import { finishTransactions, type Servers } from './servers.ts'

/**
 * Again and again a workspace is moved to another server for rows, or all are rebalanced, while everything goes on; until `signal`. Most of them have
 * their turn in `peace`, which the servers for rows are left in meanwhile: a move takes longer than one of them usually lives.
 */
export async function moveAgainAndAgain(
  servers: Servers,
  { hourMs, peace }: Pick<ChaosPlan, 'hourMs'> & { peace: Peace },
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  let number = 0
  // In peace when trouble ended it.
  let isAgain = false
  while (!signal.aborted) {
    await sleep(chance.between(0, hourMs), signal)
    if (signal.aborted) return
    const trouble = (['workspaces moved', 'rebalances', 'workspaces moved'] as const)[number % 3]!
    const move = () =>
      attempt(servers, moveHoursMax * hourMs, (client, step) =>
        trouble === 'rebalances' ? rebalance(client, step) : moveOne(client, chance, step),
      )
    isAgain = !(await (number % 3 === 2 && !isAgain ? move() : peace(move)))
    if (isAgain) continue
    note(trouble)
    number++
  }
}

// One that waits for ever would keep all trouble away.
const moveHoursMax = 15

/** What is being done. */
interface Step {
  name: string
}

// A server that is killed ends a move, which leaves everything where it was.
async function attempt(
  servers: Servers,
  mostMs: number,
  work: (client: pg.ClientBase, step: Step) => Promise<void>,
): Promise<boolean> {
  const { database } = servers
  servers.movingUntil = Number.POSITIVE_INFINITY
  const step = { name: 'a move' }
  try {
    const client = await database.connect()
    // Who uses it hears of it.
    client.on('error', () => {})
    try {
      await client.query(`set statement_timeout = ${Math.round(mostMs)}`)
      await work(client, step)
    } finally {
      // With its setting.
      client.release(true)
    }
    return true
  } catch (error) {
    console.log(`    ${step.name} ended: ${String(error).slice(0, 200)}`)
    await clean(database).catch(() => {})
    return false
  } finally {
    servers.movingUntil = performance.now() + toldAfterMs
  }
}

// What a process says of what it met comes that much later at most.
const toldAfterMs = 2_000

// What an ended move left behind; Citus does so by itself after a while.
const clean = (database: pg.Pool) => database.query('call citus_cleanup_orphaned_resources()')

async function moveOne(database: pg.ClientBase, chance: Chance, step: Step): Promise<void> {
  const { rows: workspaces } = await database.query<{ id: number }>('select id from workspace order by id')
  if (workspaces.length === 0) return
  const { id } = chance.pick(workspaces)
  const shardOf = "get_shard_id_for_distribution_column('workspace', $1::int)"
  const { rows: alone } = await database.query(
    `select from pg_dist_shard where shardid = ${shardOf} and shardminvalue = shardmaxvalue`,
    [id],
  )
  if (alone.length === 0) {
    step.name = 'an isolation'
    // An online one may never end: docs/run/citus.md.
    await database.query(
      `select isolate_tenant_to_new_shard('workspace', $1::int, 'CASCADE', shard_transfer_mode => 'block_writes')`,
      [id],
    )
  }
  step.name = 'a move'
  const { rows: places } = await database.query<{ shard: string; from: number; to: number }>(
    `select p.shardid as shard, n.nodeport as "from", o.nodeport as "to"
       from pg_dist_placement p join pg_dist_node n using (groupid)
       join pg_dist_node o on o.shouldhaveshards and o.nodeid <> n.nodeid where p.shardid = ${shardOf}`,
    [id],
  )
  const { shard, from, to } = chance.pick(places)
  await database.query(`select citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'force_logical')`, [
    shard,
    from,
    to,
  ])
}

async function rebalance(database: pg.ClientBase, step: Step): Promise<void> {
  step.name = 'a rebalance'
  await database.query(
    `select rebalance_table_shards(threshold => 0::float4, rebalance_strategy => 'by_shard_count', shard_transfer_mode => 'force_logical')`,
  )
}

/** Compares what lies on the servers for rows with what belongs there. */
export async function compareNodes(servers: Servers): Promise<Check[]> {
  const { database, all, nodes } = servers
  if (nodes.length === 0) return []
  await finishTransactions(database)
  await clean(database)
  const prepared: string[] = []
  const orphans: string[] = []
  const { rows: placements } = await database.query<{ shard: string; port: number; group: number }>(
    `select p.shardid as shard, n.nodeport as port, p.groupid as group from pg_dist_placement p join pg_dist_node n using (groupid)`,
  )
  for (const [index, pool] of all.entries()) {
    const { rows: left } = await pool.query<{ gid: string }>('select gid from pg_prepared_xacts')
    prepared.push(...left.map(({ gid }) => `server ${index}: ${gid}`))
    const port = nodes[index - 1]?.port
    const known = new Set(
      placements.filter((one) => (index === 0 ? one.group === 0 : one.port === port)).map(({ shard }) => shard),
    )
    const { rows: shards } = await pool.query<{ name: string; shard: string }>(
      `select relname as name, substring(relname from '_(\\d{6,})$') as shard
         from pg_class where relkind = 'r' and relname ~ '_\\d{6,}$' and relnamespace = 'public'::regnamespace`,
    )
    if (index > 0 && shards.length === 0) orphans.push(`server ${index}: no shard is seen there`)
    orphans.push(...shards.filter(({ shard }) => !known.has(shard)).map(({ name }) => `server ${index}: ${name}`))
  }
  const { rows: counted } = await database.query<{ id: number; documents: string; counted: string }>(
    `select d.workspace_id as id, d.n as documents, coalesce(c.n, 0) as counted
       from (select workspace_id, count(*) as n from document group by 1) d
       left join (select workspace_id, sum(n) as n from count_year group by 1) c on c.workspace_id = d.workspace_id`,
  )
  return [
    { name: 'cluster: nothing is left prepared', problems: prepared },
    { name: 'cluster: no shard lies where it does not belong', problems: orphans },
    {
      name: 'cluster: counters are exact',
      problems: counted
        .filter(({ documents, counted }) => Number(documents) !== Number(counted))
        .map(({ id, documents, counted }) => `workspace ${id}: ${counted} of ${documents}`),
    },
  ]
}
