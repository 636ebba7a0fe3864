import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const exclude = ['**/node_modules/**', '**/dist/**']
// Before everything that makes temporary files.
const memory = 'tests/support/memory.ts'
// One real PostgreSQL for the whole project, see tests/support/database.ts.
const globalSetup = [memory, 'tests/support/postgres.ts', 'tests/support/keys.ts']

const startTest = 'scripts/start.test.ts'

export default defineConfig({
  test: {
    // One more than the cores, because a test that waits for another process leaves its core to the others.
    maxWorkers: availableParallelism() + 1,
    // The files of a worker share what they import: to load it again for each costs a sixth of the time.
    isolate: false,
    // A busy machine is slower than the seconds that are usual.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    setupFiles: [
      'tests/support/seed.ts',
      ...(process.env.CITUS_STATEMENTS ? ['tests/support/servers/statements.ts'] : []),
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'packages',
          include: ['packages/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: [...exclude, startTest],
          globalSetup: [memory],
        },
      },
      {
        extends: true,
        test: {
          // Together, because those of conformance wait a lot while the others work; and a worker loads the server once for both.
          name: 'apps',
          include: ['apps/**/*.test.{ts,tsx}', 'tests/{conformance,support}/**/*.test.ts'],
          exclude,
          globalSetup,
        },
      },
      {
        extends: true,
        test: {
          name: 'journeys',
          include: ['tests/journeys/**/*.test.ts'],
          exclude,
          globalSetup: [...globalSetup, 'tests/support/web.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // After everything else: browsers, servers and simulators fill two cores.
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          // The launcher's own tests start whole installations, one at a time.
          name: 'launcher',
          include: [startTest],
          globalSetup: [memory],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
