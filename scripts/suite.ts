import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The result of a part of the suite; `failures` are the names of what failed. */
export interface SuiteResult {
  passed: number
  failures: string[]
}

interface SuiteOptions {
  /** Only the test files whose paths contain one of these; none: everything, chaos too. */
  filters: string[]
  seed: string
  /** Runs what a commit may leave out: every case of the property tests, and the tests of the launcher. */
  thorough: boolean
  /** Gets what the programs print. */
  print: (text: string) => void
}

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = (name: string) => path.join(root, 'node_modules', '.bin', name)

// The compiler would use four threads, each of which loads all types: twice the work on two cores.
const compiler = ['--checkers', '1']
// Go programs collect garbage on cores that the other checks need.
const oneCore = { GOMAXPROCS: '1' }

const checks: [name: string, command: string[]][] = [
  ['format and lint', [bin('biome'), 'check', '--error-on-warnings']],
  ['promises', [bin('oxlint'), '--type-aware', '--deny-warnings']],
  ['types', [bin('tsc'), '--project', '.', '--noEmit', ...compiler]],
  ['import rules', [process.execPath, 'scripts/check-imports.ts']],
  ['lines of source', [process.execPath, 'scripts/check-lines.ts']],
]

/** The checks that need no test: side by side, each on one core. */
export async function runChecks(print: SuiteOptions['print']): Promise<SuiteResult> {
  return join(await Promise.all(checks.map(([name, command]) => runCheck(name, command, print, oneCore))))
}

/** Everything that continuous integration runs. */
export async function runSuite(options: SuiteOptions): Promise<SuiteResult> {
  const { filters, seed, print } = options
  const checked = await runChecks(print)
  if (filters.length > 0) return join([checked, await runTests(filters, options)])
  const withLauncher = options.thorough || (await mayHaveChangedLauncher())
  if (!withLauncher) print('The launcher has not changed: its own tests are left to npm run soak.\n')
  const chaos = [process.execPath, 'scripts/chaos.ts', '--seed', seed]
  // Chaos has ended long before the journeys begin.
  const beside = await Promise.all([
    runTests(withLauncher ? [] : ['--project=!launcher'], options),
    runCheck(`chaos with seed ${seed}`, chaos, print),
  ])
  return join([checked, ...beside])
}

function join(outcomes: readonly SuiteResult[]): SuiteResult {
  return {
    passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
    failures: outcomes.flatMap(({ failures }) => failures),
  }
}

async function runCheck(
  name: string,
  command: string[],
  print: SuiteOptions['print'],
  environment: Record<string, string> = {},
): Promise<SuiteResult> {
  const since = performance.now()
  const output: string[] = []
  const ok = await run(command, environment, (text) => output.push(text))
  const seconds = ((performance.now() - since) / 1000).toFixed(1)
  print(`${ok ? '✓' : '✗'} ${name} (${seconds} s)\n${ok ? '' : `${output.join('').trim()}\n\n`}`)
  return ok ? { passed: 1, failures: [] } : { passed: 0, failures: [name] }
}

async function runTests(args: string[], { seed, thorough, print }: SuiteOptions): Promise<SuiteResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'vigia-report-'))
  const report = path.join(folder, 'report.json')
  try {
    const command = [bin('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    // As tests/support/seed.ts reads them.
    const environment = { SEED: seed, RUNS: thorough ? 'full' : 'few' }
    const ok = await run([...command, ...args], environment, print)
    const outcome = existsSync(report) ? readReport(JSON.parse(await readFile(report, 'utf8'))) : join([])
    // A crash, an unhandled rejection or a failing global set-up belongs to no test, but is a failure.
    if (!ok && outcome.failures.length === 0) outcome.failures.push(`vitest ${args.join(' ')}`)
    print(`${ok ? '✓' : '✗'} tests: ${outcome.passed} passed, ${outcome.failures.length} failed\n`)
    return outcome
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

interface Report {
  numPassedTests: number
  testResults: { name: string; status: string; assertionResults: { status: string; fullName: string }[] }[]
}

function readReport({ numPassedTests, testResults }: Report): SuiteResult {
  const failures = testResults.flatMap(({ name, status, assertionResults }) => {
    const file = path.relative(root, name)
    const failed = assertionResults.filter((result) => result.status === 'failed')
    // A file that cannot be loaded has no test that could fail.
    if (status === 'failed' && failed.length === 0) return [file]
    return failed.map(({ fullName }) => `${file}: ${fullName}`)
  })
  return { passed: numPassedTests, failures }
}

const launcher =
  /^(package(-lock)?\.json|packages\/postgres\/|apps\/server\/(start|config)\.ts|apps\/simulator\/(main|start|command)\.ts|scripts\/(start|launch|lifetime|ports|demo|dev|children|signer-process|simulator-process|stopping|web-build|worker))/

/**
 * Whether the working tree or the last commit touches what the tests of the launcher start: they bring up whole installations and take
 * minutes. Where git cannot tell, they run.
 */
async function mayHaveChangedLauncher(): Promise<boolean> {
  const output: string[] = []
  for (const command of [
    ['git', 'diff', '--name-only', 'HEAD~1'],
    ['git', 'ls-files', '--others', '--exclude-standard'],
  ])
    if (!(await run(command, {}, (text) => output.push(text)))) return true
  return output
    .join('')
    .split('\n')
    .some((file) => launcher.test(file))
}

/** Runs a program of the repository; returns whether its exit code is 0. */
async function run(
  [file = '', ...args]: string[],
  environment: Record<string, string>,
  print: SuiteOptions['print'],
): Promise<boolean> {
  const child = spawn(file, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', print)
  return new Promise((resolve) => {
    child.once('error', (error) => {
      print(`${error.message}\n`)
      resolve(false)
    })
    child.once('close', (code) => resolve(code === 0))
  })
}
