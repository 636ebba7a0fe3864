import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { keepFilesInMemory } from '../tests/support/memory.ts'
import { createChance } from './chaos/chance.ts'
import { type Check, compareAll } from './chaos/compare.ts'
import { matchCalls, unwritten } from './chaos/conversations.ts'
import {
  fillDiskAgainAndAgain,
  killApisAgainAndAgain,
  killDatabaseNowAndThen,
  killNodesAgainAndAgain,
  makeTrouble,
  type Note,
  newPeace,
  stallAgainAndAgain,
  troubleConnections,
  troubles,
  troublesOfNodes,
  troublesOfProcesses,
  troubleWays,
} from './chaos/faults.ts'
import { comeAndGo, compareFollowers, newFollowers } from './chaos/followers.ts'
import { type Installation, install } from './chaos/installation.ts'
import { compareNodes, moveAgainAndAgain } from './chaos/moves.ts'
import { askForEvents } from './chaos/people.ts'
import { type ChaosPlan, readChaosPlan } from './chaos/plan.ts'
import { hasClocks, keepKilling, measurePace, sleep } from './chaos/processes.ts'
import { readLedger, readOutgoing } from './chaos/records.ts'
import { restoreAndCompare } from './chaos/restore.ts'
import { endLeasesOfJudging, waitUntilQuiet } from './chaos/settle.ts'
import { cancelNotes } from './chaos/suppliers.ts'

// The whole product against an authority with every fault, while its workers are killed again and again; then everything is compared
// with what the authority knows. `npm run chaos -- --short --seed 7`: the seed repeats all choices, but not at which instant each process acts.
// With `--processes` there are three APIs behind one address, killed like the workers, clocks that disagree by minutes, and connections to the
// database that are cut and slow. With `--cluster` the database is a coordinator of Citus with two servers for rows besides, which are killed, cut off
// and rebalanced.

const began = performance.now()
const say = (text: string) => console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`)

// When the terminal is closed, nothing can be printed any more, but everything must still stop in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
// Killed processes lose nothing of it; only the end of the machine would.
keepFilesInMemory()
// A role compiles the server whenever it begins, which is more work than what it does before it is killed. The first two are not killed.
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'vigia-compiled')
const pace = await measurePace()
const plan = readChaosPlan(process.argv.slice(2), pace)
console.log(`seed ${plan.seed}, all times ${pace} times as long as usual`)
const checks: Check[] = []
await using stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
try {
  const installation = stack.use(await install(plan))
  try {
    checks.push(...(await run(installation, plan)))
  } finally {
    if (!checks.length || checks.some(({ problems }) => problems.length > 0)) {
      const { complaints } = installation
      // Calls that failed by themselves: workers that find no database fill the rest.
      const calls = complaints.filter((line) => line.includes('request failed'))
      for (const line of [...calls.slice(-5), ...complaints.slice(-20)]) console.log(`    ${line}`)
    }
  }
} catch (error) {
  // Also what it was suppressed by.
  console.log(inspect(error, { depth: 5, showHidden: true }))
  checks.push({ name: 'it ran to its end', problems: [String(error)] })
}
await stack.disposeAsync()

const failed = checks.filter(({ problems }) => problems.length > 0)
for (const { name, problems } of failed) {
  console.log(`✗ ${name}`)
  for (const problem of problems.slice(0, 20)) console.log(`    ${problem}`)
  if (problems.length > 20) console.log(`    and ${problems.length - 20} more`)
}
if (failed.length > 0)
  console.log(
    `Repeat with: npm run chaos -- ${plan.short ? '--short ' : ''}${plan.cluster ? '--cluster ' : plan.processes ? '--processes ' : ''}--seed ${plan.seed}`,
  )
console.log(`${checks.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length > 0 ? 1 : 0

async function run(installation: Installation, plan: ChaosPlan): Promise<Check[]> {
  const { authority, database, companies, servers } = installation
  const { seed, hourMs, hours, workers, lifeMs, requestEveryMs: everyMs } = plan
  if (plan.processes && !hasClocks) say('libfaketime is not here: all processes have the same clock')
  say(`${companies.length} companies, an hour of ${hourMs / 1000} s; ${hours} hours of trouble begin`)
  const over = new AbortController()
  const calm = over.signal
  const people = askForEvents(installation, { chance: createChance(seed + 1), everyMs }, calm)
  // The last requests may get their response much later; a failure is thrown where `people` is awaited.
  people.catch(() => {})
  const followers = newFollowers(installation)
  const happened: Check = { name: 'there was trouble', problems: [] }
  const peace = newPeace()
  const seen = new Map<string, number>()
  const note: Note = (trouble) => void seen.set(trouble, (seen.get(trouble) ?? 0) + 1)
  const count = async () => {
    const calls = await authority.calls()
    seen.set('calls', calls.length)
    seen.set('faults', calls.filter(({ fault }) => fault !== undefined).length)
    return [...troubles, ...(plan.processes ? troublesOfProcesses : []), ...(plan.cluster ? troublesOfNodes : [])].map(
      (trouble) => ({
        trouble,
        times: seen.get(trouble) ?? 0,
      }),
    )
  }
  {
    using _ = { [Symbol.dispose]: () => over.abort() }
    await using _killed = keepKilling(
      { count: workers, lifeMs, chance: createChance(seed + 2) },
      installation.startWorker,
      () => note('workers killed'),
    )
    await using stalled = await installation.startWorkerBehindDoor()
    // A busy machine may need longer until all of it has happened.
    const end = async () => {
      await sleep(hours * hourMs, calm)
      const most = (plan.cluster ? 8 : 3) * hours
      for (let more = 0; more < most && (await count()).some(({ times }) => times === 0); more++)
        await sleep(hourMs, calm)
      over.abort()
    }
    await Promise.all([
      end(),
      stallAgainAndAgain(stalled.door, plan, createChance(seed + 4), note, calm),
      fillDiskAgainAndAgain(servers.all, plan, createChance(seed + 5), note, calm),
      killDatabaseNowAndThen(servers.kill, plan, createChance(seed + 6), note, calm),
      makeTrouble(authority, plan, createChance(seed), calm),
      ...(plan.processes
        ? [
            troubleConnections(installation.doors, plan, createChance(seed + 11), note, calm),
            killApisAgainAndAgain(plan, installation.restartApi, createChance(seed + 12), note, calm),
          ]
        : []),
      ...(plan.cluster
        ? [
            killNodesAgainAndAgain(servers.nodes, { ...plan, peace }, createChance(seed + 13), note, calm),
            troubleWays(servers.nodes, { ...plan, peace }, createChance(seed + 14), note, calm),
            moveAgainAndAgain(servers, { ...plan, peace }, createChance(seed + 15), note, calm),
          ]
        : []),
      comeAndGo(followers, { chance: createChance(seed + 9), everyMs }, calm),
      cancelNotes(installation, { chance: createChance(seed + 3), everyMs: 3 * everyMs }, calm),
    ])
    const counts = await count()
    say(counts.map(({ trouble, times }) => `${times} ${trouble}`).join(', '))
    // A run in which nothing happened proves nothing.
    for (const { trouble, times } of counts) if (times === 0) happened.problems.push(`no ${trouble}`)
  }
  say(`${await tellLost(installation)} responses were lost or never written down`)
  await installation.replaceAuthority('calm')
  await endLeasesOfJudging(installation)
  const worker = (await installation.startWorker())!
  if (plan.restores) await servers.beginCopy()
  const pending = await waitUntilQuiet(installation, { patienceMs: plan.patienceHours * hourMs, stillMs: 1.5 * hourMs })
  const requests = await people
  await worker.stop()
  const late = await tellLost(installation)
  if (late > 0) say(`${late} more while it settled`)
  const outcomes = Map.groupBy(await readOutgoing(database), ({ state, cStat }) => `${state} ${cStat ?? ''}`.trim())
  const sent = [...outcomes].map(([outcome, events]) => `${events.length} ${outcome}`).join(', ')
  say(`settled; ${requests.length} events were asked for; sent ${sent}`)
  const told = followers.reduce((sum, { read }) => sum + read.length, 0)
  say(`${told} changes were read meanwhile`)
  const checks = [
    happened,
    ...(await compareAll(installation, plan, requests, pending)),
    ...(await compareNodes(servers)),
    ...(await compareFollowers(installation, followers)),
  ]
  const failed = checks.filter(({ problems }) => problems.length > 0).map(({ name }) => name)
  say(
    `${checks.length - failed.length} comparisons passed, ${failed.length} failed${failed.length > 0 ? `: ${failed.join('; ')}` : ''}`,
  )
  if (!plan.restores) return checks
  say('the database is brought back from a copy')
  return [...checks, ...(await restoreAndCompare(installation, plan, requests, followers))]
}

// The authority cannot know that a worker was killed before it wrote a response down, or that the machine delivered one too late.
async function tellLost({ authority, database }: Installation): Promise<number> {
  const lost = unwritten(matchCalls(await authority.calls(), await readLedger(database)))
  const untold = lost.filter((call) => !call.lost)
  await authority.loseResponses(untold)
  return untold.length
}
