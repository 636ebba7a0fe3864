import type pg from 'pg'
import type { Remote } from './authority.ts'
import type { Chance } from './chance.ts'
import type { Door } from './door.ts'
import type { ChaosPlan } from './plan.ts'
import { sleep } from './processes.ts'

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
 * Again and again a worker hears nothing from its database for longer than a lease, so that others take over what it was about; until
 * `signal`. Returns how often.
 */
export async function stallAgainAndAgain(
  door: Door,
  { answerMs }: Pick<ChaosPlan, 'answerMs'>,
  chance: Chance,
  signal: AbortSignal,
): Promise<number> {
  let stalls = 0
  while (!signal.aborted) {
    await sleep(chance.between(answerMs / 2, 2 * answerMs), signal)
    const ms = chance.between(3 * answerMs, 4 * answerMs)
    door.stall(ms)
    stalls++
    await sleep(ms, signal)
  }
  return stalls
}

/** What the server says when the disk is full, in whatever the product says of it. */
export const diskFull = '53100'

/** Again and again the tables of what is received cannot grow for a while; until `signal`. Returns how often. */
export async function fillDiskAgainAndAgain(
  database: pg.Pool,
  { hourMs }: Pick<ChaosPlan, 'hourMs'>,
  chance: Chance,
  signal: AbortSignal,
): Promise<number> {
  const tables = ['receipt', 'storage_probe']
  const each = (statement: (table: string) => string) => database.query(tables.map(statement).join(';'))
  await database.query(
    `create function no_room() returns trigger language plpgsql as $$ begin raise sqlstate '${diskFull}'; end $$`,
  )
  let times = 0
  while (!signal.aborted) {
    await sleep(chance.between(hourMs, 3 * hourMs), signal)
    if (signal.aborted) break
    await each((table) => `create trigger no_room before insert on ${table} for each row execute function no_room()`)
    times++
    await sleep(chance.between(hourMs / 4, hourMs), signal)
    await each((table) => `drop trigger no_room on ${table}`)
  }
  return times
}
