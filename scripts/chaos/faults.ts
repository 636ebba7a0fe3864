import pg from 'pg'
import type { Remote } from './authority.ts'
import type { Chance } from './chance.ts'
import type { Door } from './door.ts'
import type { ChaosPlan } from './plan.ts'
import { sleep } from './processes.ts'
import type { Node, Servers } from './servers.ts'

/** What may happen to the product in a run. */
export const troubles = [
  'calls',
  'faults',
  'workers killed',
  'stalls',
  'stalls right after an announcement',
  'connections cut',
  'full disks',
  'databases killed',
] as const

/** And with several APIs besides. */
export const troublesOfProcesses = ['APIs killed', 'connections slowed'] as const

/** And with several servers for rows. */
export const troublesOfNodes = ['nodes killed', 'ways to nodes cut', 'workspaces moved', 'rebalances'] as const

/** Notes that it happened once more. */
export type Note = (trouble: (typeof troubles | typeof troublesOfProcesses | typeof troublesOfNodes)[number]) => void

// After these the conversation goes on, so that there may be more of them.
const harmless = ['corruptedDocZip', 'unknownSchema', 'maxNsuZero']

// What the authority says against itself. Other bytes for a position are left out: what the truth is would be a matter of which came first.
const contradictions = ['ultNsuBeyondDocuments', 'higherUltNsuOn137', 'absurdUltNsu', 'noProgress']

/** Every fault for every call with a small probability, and now and then one that strikes them all for a while; until `signal`. */
export async function makeTrouble(
  authority: Remote,
  plan: ChaosPlan,
  chance: Chance,
  signal: AbortSignal,
): Promise<void> {
  const names = await authority.faultNames()
  const { probability, answerMs, hourMs } = plan
  for (const fault of names) {
    // A delayed response comes after the product has given up.
    const delayMs = answerMs * 1.3
    await authority.addFault({ fault, probability: harmless.includes(fault) ? 5 * probability : probability, delayMs })
  }
  for (const fault of contradictions) await authority.addFault({ fault, probability: 2 * probability })
  await authority.addFault({ fault: 'delay', probability, delayMs: answerMs / 2 })
  while (!signal.aborted) {
    await sleep(chance.between(hourMs / 2, hourMs * 2), signal)
    if (signal.aborted) break
    const durationMs = chance.between(hourMs / 30, hourMs / 4)
    await authority.addFault({ fault: chance.pick(names), probability: 0.7, durationMs, delayMs: answerMs * 1.3 })
  }
  await authority.clearFaults()
}

/**
 * Again and again a worker hears nothing from its database for longer than a lease, so that others take over what it was about; often its
 * connections are then cut. Until `signal`.
 */
export async function stallAgainAndAgain(
  door: Door,
  { answerMs }: Pick<ChaosPlan, 'answerMs'>,
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  const over = new Promise<'over'>((resolve) => signal.addEventListener('abort', () => resolve('over')))
  for (let number = 1; !signal.aborted; number++) {
    await sleep(chance.between(answerMs / 2, 2 * answerMs), signal)
    const ms = chance.between(3.5 * answerMs, 4.5 * answerMs)
    if (number === 1 || chance.next() < 0.7) {
      const isHeard = await Promise.race([door.stallAnnouncement(ms), over])
      if (isHeard === 'over') return
      // The database may have been killed meanwhile.
      if (isHeard) note('stalls right after an announcement')
    } else {
      door.stall(ms)
      await sleep(ms, signal)
    }
    note('stalls')
    // What was held back must have its time to leave.
    await sleep(ms, signal)
    if (number > 1 && chance.next() < 0.5) continue
    door.cut()
    note('connections cut')
  }
}

/** Again and again one of all the connections between processes and database is cut, says nothing for a while, or is slow; until `signal`. */
export async function troubleConnections(
  doors: ReadonlySet<Door>,
  { answerMs, hourMs }: Pick<ChaosPlan, 'answerMs' | 'hourMs'>,
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(chance.between(0, hourMs / 2), signal)
    if (signal.aborted || doors.size === 0) continue
    const door = chance.pick([...doors])
    const trouble = chance.pick(['cut', 'stall', 'slow', 'slow'] as const)
    if (trouble === 'cut') {
      door.cut()
      note('connections cut')
    } else if (trouble === 'stall') {
      door.stall(chance.between(answerMs / 4, 4 * answerMs))
      note('stalls')
    } else {
      door.slow(chance.between(2, 50), chance.between(hourMs / 4, hourMs))
      note('connections slowed')
    }
  }
}

/** Again and again the way to a server for rows is cut, silent or slow; until `signal`. */
export async function troubleWays(
  nodes: readonly Node[],
  { answerMs, hourMs, peace }: Pick<ChaosPlan, 'answerMs' | 'hourMs'> & { peace: Peace },
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(chance.between(0, 2 * hourMs), signal)
    if (signal.aborted) return
    const { door } = chance.pick(nodes)
    await peace(async () => {
      door.cut()
      note('ways to nodes cut')
      await sleep(chance.between(0, hourMs / 2), signal)
      const ms = chance.between(answerMs / 4, 4 * answerMs)
      if (chance.next() < 0.5) door.stall(ms)
      else door.slow(chance.between(2, 50), ms)
      await sleep(ms, signal)
    })
  }
}

/** Each API is killed again and again, and started anew; until `signal`. */
export async function killApisAgainAndAgain(
  { apis, apiLifeMs }: Pick<ChaosPlan, 'apis' | 'apiLifeMs'>,
  restart: (index: number) => Promise<void>,
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  const keep = async (index: number) => {
    while (!signal.aborted) {
      await sleep(chance.between(...apiLifeMs), signal)
      if (signal.aborted) return
      note('APIs killed')
      await restart(index)
    }
  }
  await Promise.all(Array.from({ length: apis }, (_, index) => keep(index)))
}

/** What is said of a database that was killed, or of a connection to it that was cut. */
export const databaseIsDown =
  /57P0|ECONNREFUSED|ECONNRESET|Connection terminated|connection error and is not queryable|database system is|"08006"|remote node|marked as essential|server closed the connection|valid entry for shard|could not commit transaction|SSL SYSCALL error|"3B001"|failed to COPY to shard/

// A server that cannot be started again three times within ten minutes is left to a person, and a start may fail.
const databaseKillsMax = 2

/** Now and then the database server is killed, which its program starts again; until `signal`. */
export async function killDatabaseNowAndThen(
  kill: () => Promise<void>,
  { hourMs, hours }: Pick<ChaosPlan, 'hourMs' | 'hours'>,
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  for (let times = 0; times < databaseKillsMax; times++) {
    await sleep(chance.between(0.1, 0.4) * hours * hourMs, signal)
    if (signal.aborted) return
    await kill()
    note('databases killed')
  }
}

/** Before what a process says while rows are moved to another server. */
export const whileRowsMove = 'while rows move: '

/** What the server says when the disk is full, in whatever the product says of it. */
export const diskFull = '53100'

const disk = `
  create schema disk;
  create table disk.state (is_full boolean not null);
  insert into disk.state values (false);
  create function disk.need_room() returns trigger language plpgsql security definer as $$ begin
    if (select is_full from disk.state) then raise sqlstate '${diskFull}'; end if;
    return new;
  end $$;
  grant usage on schema disk to public`

/** Gives each server of a migrated database a disk that `fillDiskAgainAndAgain` can fill. */
export async function giveDisks(servers: Pick<Servers, 'onEach' | 'addTriggers'>): Promise<void> {
  await servers.onEach(disk)
  const on = (table: string) =>
    `create trigger no_room before insert on ${table} for each row execute function disk.need_room()`
  await servers.addTriggers(`${on('receipt')}; ${on('storage_probe')}`)
}

/** Again and again the tables of what is received cannot grow for a while on one of the servers; until `signal`. */
export async function fillDiskAgainAndAgain(
  servers: readonly pg.Pool[],
  { hourMs }: Pick<ChaosPlan, 'hourMs'>,
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(chance.between(hourMs, 3 * hourMs), signal)
    if (signal.aborted) break
    const server = chance.pick(servers)
    await insist(server, 'update disk.state set is_full = true')
    note('full disks')
    await sleep(chance.between(hourMs / 4, hourMs), signal)
    await insist(server, 'update disk.state set is_full = false')
  }
}

/** Has one work done after the other. */
export type Peace = <T>(work: () => Promise<T>) => Promise<T>

export function newPeace(): Peace {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = last.then(work)
    last = next.catch(() => {})
    return next
  }
}

/** Now and then a server for rows is killed, and comes back after a while; until `signal`. */
export async function killNodesAgainAndAgain(
  nodes: readonly Node[],
  { hourMs, peace }: Pick<ChaosPlan, 'hourMs'> & { peace: Peace },
  chance: Chance,
  note: Note,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(chance.between(hourMs, 4 * hourMs), signal)
    if (signal.aborted) return
    const node = chance.pick(nodes)
    await peace(async () => {
      await node.kill()
      note('nodes killed')
      await sleep(chance.between(0, hourMs), signal)
      await node.start()
    })
  }
}

const downMsMax = 60_000

/** Carries out a statement, as soon as the database can be reached. */
export async function insist(database: pg.Pool, statement: string, values: unknown[] = []): Promise<void> {
  for (const since = performance.now(); ; ) {
    try {
      return void (await database.query(statement, values))
    } catch (error) {
      // Those of the server's state: it is killed, starts, or ends.
      const refused = error instanceof pg.DatabaseError && !error.code?.startsWith('57P')
      if (refused || performance.now() - since > downMsMax) throw error
      await sleep(50)
    }
  }
}
