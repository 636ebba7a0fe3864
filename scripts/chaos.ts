import { createChance } from './chaos/chance.ts'
import { type Check, compareAll } from './chaos/compare.ts'
import { matchCalls, unwritten } from './chaos/conversations.ts'
import { makeTrouble } from './chaos/faults.ts'
import { type Installation, install } from './chaos/installation.ts'
import { askForEvents } from './chaos/people.ts'
import { type Plan, readPlan } from './chaos/plan.ts'
import { keepKilling } from './chaos/processes.ts'
import { readLedger, readOutgoing } from './chaos/records.ts'
import { settle } from './chaos/settle.ts'
import { cancelNotes } from './chaos/suppliers.ts'

// The whole product against an authority with every fault, while its workers are killed again and again; then everything is compared
// with what the authority knows. `npm run chaos -- --short --seed 7`: the seed repeats all choices, not the instants of the processes.

const began = performance.now()
const say = (text: string) => console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`)

// A closed terminal takes the output away, not the duty to stop in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
const plan = readPlan(process.argv.slice(2))
console.log(`seed ${plan.seed}`)
const checks: Check[] = []
await using stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
try {
  const installation = stack.use(await install(plan))
  try {
    checks.push(...(await run(installation, plan)))
  } finally {
    if (!checks.length || checks.some(({ problems }) => problems.length > 0))
      for (const line of installation.complaints.slice(-20)) console.log(`    ${line}`)
  }
} catch (error) {
  console.log(error)
  checks.push({ name: 'it ran to its end', problems: [String(error)] })
}
await stack.disposeAsync()

const failed = checks.filter(({ problems }) => problems.length > 0)
for (const { name, problems } of failed) {
  console.log(`✗ ${name}`)
  for (const problem of problems.slice(0, 20)) console.log(`    ${problem}`)
  if (problems.length > 20) console.log(`    and ${problems.length - 20} more`)
}
if (failed.length > 0) console.log(`Repeat with: npm run chaos -- ${plan.short ? '--short ' : ''}--seed ${plan.seed}`)
console.log(`${checks.length - failed.length} passed, ${failed.length} failed`)
process.exitCode = failed.length > 0 ? 1 : 0

async function run(installation: Installation, plan: Plan): Promise<Check[]> {
  const { authority, database, companies } = installation
  const { seed, hourMs, hours, workers: count, lifeMs, wishEveryMs: everyMs } = plan
  say(`${companies.length} companies, an hour of ${hourMs / 1000} s; ${hours} hours of trouble begin`)
  const calm = AbortSignal.timeout(hours * hourMs)
  const people = askForEvents(installation, { chance: createChance(seed + 1), everyMs }, calm)
  // Whoever asks last may be answered much later; a failure is told then.
  people.catch(() => {})
  {
    await using doomed = keepKilling({ count, lifeMs, chance: createChance(seed + 2) }, installation.startWorker)
    await Promise.all([
      makeTrouble(authority, plan, createChance(seed), calm),
      cancelNotes(installation, { chance: createChance(seed + 3), everyMs: 3 * everyMs }, calm),
    ])
    const calls = await authority.calls()
    const faulty = calls.filter(({ fault }) => fault !== undefined).length
    say(`${calls.length} calls, ${faulty} with a fault; ${doomed.killed()} workers killed`)
  }
  // What a killed worker had been answered and did not write down, the authority cannot know.
  const lost = unwritten(matchCalls(await authority.calls(), await readLedger(database)))
  await authority.loseAnswers(lost)
  say(`${lost.length} answers were lost or never written down`)
  await installation.calmAuthority()
  const worker = (await installation.startWorker())!
  const pending = await settle(installation, { patienceMs: plan.patienceHours * hourMs, stillMs: 1.5 * hourMs })
  const wishes = await people
  await worker.stop()
  const outcomes = Map.groupBy(await readOutgoing(database), ({ state, cStat }) => `${state} ${cStat ?? ''}`.trim())
  const told = [...outcomes].map(([outcome, events]) => `${events.length} ${outcome}`).join(', ')
  say(`settled; ${wishes.length} events were asked for; sent ${told}`)
  return compareAll(installation, plan, wishes, pending)
}
