import { spawn } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runSuite, type SuiteResult } from './suite.ts'

// The whole suite again and again, each time with another seed, every case of the property tests, and every size and theme of the screens;
// every fourth time beside four processes that keep the cores busy. `npm run soak -- --times 4 apps/server/capture` repeats a part of it.
// `npm run soak -- --citus` runs the server's tests once on a coordinator with two worker nodes.

const busyProcesses = 4
const { values, positionals: filters } = parseArgs({
  options: { times: { type: 'string', default: '20' }, citus: { type: 'boolean', default: false } },
  allowPositionals: true,
})
if (values.citus) process.exit(await runOnCitus())
const times = Number(values.times)
if (!Number.isInteger(times) || times < 1) throw new Error(`--times takes a whole number, not ${values.times}`)

const logs = path.join(fileURLToPath(new URL('..', import.meta.url)), 'test-results/soak')
await mkdir(logs, { recursive: true })
console.log(`${times} runs; what each prints is in ${logs}\n`)
console.log(row('run', 'seed', 'busy', 'time', 'passed', 'failed'))
const red: { seed: string; failures: string[] }[] = []
for (let number = 1; number <= times; number++) {
  const seed = String(Math.floor(Math.random() * 2 ** 31))
  const busy = number % 4 === 0
  const began = performance.now()
  const { passed, failures } = await repeat(seed, busy, path.join(logs, `${number}-${seed}.log`))
  const seconds = Math.round((performance.now() - began) / 1000)
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
  console.log(row(number, seed, busy ? 'yes' : 'no', time, passed, failures.length))
  for (const failure of failures) console.log(`      ${failure}`)
  if (failures.length > 0) red.push({ seed, failures })
}
console.log(`\n${times - red.length} of ${times} runs passed`)
for (const { seed, failures } of red) {
  console.log(`Repeat with: SEED=${seed} RUNS=full npm test`)
  for (const failure of failures) console.log(`  ${failure}`)
}
process.exitCode = red.length > 0 ? 1 : 0

async function runOnCitus(): Promise<number> {
  const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
  const args = [vitest, 'run', ...(filters.length > 0 ? filters : ['apps/server'])]
  const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, CITUS: '1' } })
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)))
}

async function repeat(seed: string, busy: boolean, file: string): Promise<SuiteResult> {
  await using stack = new AsyncDisposableStack()
  const log = stack.adopt(createWriteStream(file), (stream) => void stream.end())
  for (let i = 0; busy && i < busyProcesses; i++) stack.adopt(keepBusy(), (child) => void child.kill())
  return await runSuite({ filters, seed, thorough: true, print: (text) => void log.write(text) })
}

// It looks for its parent now and then, and ends when that is gone.
function keepBusy() {
  const program = `for (let n = 0; ; n++) if (n % 1e7 === 0 && process.ppid !== ${process.pid}) process.exit()`
  return spawn(process.execPath, ['--eval', program], { stdio: 'ignore' })
}

function row(...cells: (string | number)[]): string {
  const widths = [3, 10, 4, 6, 6, 6]
  return cells.map((cell, index) => String(cell).padStart(widths[index]!)).join('  ')
}
