import { findSamples } from '../tests/support/samples.ts'
import { runChecks, runSuite } from './suite.ts'

// `npm test` runs everything, as continuous integration does; `npm run check` only the fast part: less than half a minute.
// Other arguments choose test files: `npm test -- packages/dfe`. `SEED=7 RUNS=full npm test` is what `npm run soak` repeats.

const args = process.argv.slice(2)
const print = (text: string) => void process.stdout.write(text)
const onlyChecks = args[0] === 'check'
if (!onlyChecks && findSamples()) print('Conformance runs on the sample documents beside this clone.\n')
const { SEED: seed = '2026', RUNS: runs } = process.env
const { passed, failures } = onlyChecks
  ? await runChecks(print)
  : await runSuite({ filters: args, seed, thorough: runs === 'full', print })
print(`${passed} passed, ${failures.length} failed\n`)
process.exitCode = failures.length > 0 ? 1 : 0
