import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findSamples } from '../tests/support/samples.ts'

// `npm test` runs everything, as continuous integration does; `npm run check` only the part that takes seconds.
// Other arguments choose test files: `npm test -- packages/dfe`.

interface Count {
  passed: number
  failed: number
}

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name: string) => path.join(root, 'node_modules', '.bin', name)

const checks: [name: string, command: string[]][] = [
  ['format and lint', [bin('biome'), 'check', '--error-on-warnings']],
  ['promises', [bin('oxlint'), '--type-aware', '--deny-warnings']],
  ['types', [bin('tsc'), '--project', '.', '--noEmit']],
  ['import rules', [process.execPath, 'scripts/check-imports.ts']],
]

async function run(command: string[], { quiet }: { quiet: boolean }): Promise<{ ok: boolean; output: string }> {
  const [file = '', ...args] = command
  const child = spawn(file, args, {
    cwd: root,
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk))
  return new Promise((resolve) => {
    const end = (ok: boolean, reason = '') => resolve({ ok, output: Buffer.concat(chunks).toString() + reason })
    child.once('error', (error) => end(false, error.message))
    child.once('close', (code) => end(code === 0))
  })
}

async function runCheck(name: string, command: string[]): Promise<Count> {
  const since = performance.now()
  const { ok, output } = await run(command, { quiet: true })
  const seconds = ((performance.now() - since) / 1000).toFixed(1)
  console.log(`${ok ? '✓' : '✗'} ${name} (${seconds} s)`)
  if (!ok) console.log(`${output.trim()}\n`)
  return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 }
}

async function runTests(filters: string[]): Promise<Count> {
  const folder = await mkdtemp(path.join(tmpdir(), 'vigia-report-'))
  const report = path.join(folder, 'report.json')
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const { ok } = await run([bin('vitest'), 'run', ...reporters, ...filters], { quiet: false })
    const count = existsSync(report) ? countTests(JSON.parse(await readFile(report, 'utf8'))) : { passed: 0, failed: 0 }
    // A crash, an unhandled rejection or a failing global set-up belongs to no test, and still is a failure.
    if (!ok && count.failed === 0) count.failed = 1
    console.log(`${ok ? '✓' : '✗'} tests: ${count.passed} passed, ${count.failed} failed`)
    return count
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: { status: string }[] }[]
}

function countTests({ numPassedTests, numFailedTests, testResults }: Report): Count {
  // A file that cannot be loaded has no tests that could fail.
  const unloadable = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
  )
  return { passed: numPassedTests, failed: numFailedTests + unloadable.length }
}

const [mode, ...rest] = process.argv.slice(2)
const counts: Count[] = []
for (const [name, command] of checks) counts.push(await runCheck(name, command))
if (mode !== 'check') {
  if (findSamples()) console.log('Conformance runs on the sample documents beside this clone.')
  counts.push(await runTests(mode === undefined ? [] : [mode, ...rest]))
  // By itself: what it does takes both cores.
  if (mode === undefined) counts.push(await runCheck('chaos', [process.execPath, 'scripts/chaos.ts', '--short']))
}
const total = (key: keyof Count) => counts.reduce((sum, count) => sum + count[key], 0)
console.log(`${total('passed')} passed, ${total('failed')} failed`)
process.exitCode = total('failed') > 0 ? 1 : 0
