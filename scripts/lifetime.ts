import { ConfigError, InstallationError, PostgresError } from '@vigia/server/start'

/** The product cannot start; `message` is for the person: what happened and what to do. */
export class StartError extends Error {
  override name = 'StartError'
}

// Errors whose message is already the whole answer; anything else is a bug and shows its stack.
const plainErrors = [StartError, ConfigError, InstallationError, PostgresError]

/** Runs a program that lives until it is told to stop, and turns how it ends into an exit code. */
export async function live(program: (until: Promise<void>) => Promise<void>): Promise<void> {
  // A closed terminal takes the output away, not the duty to stop in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    await program(told())
    process.exitCode = 0
  } catch (error) {
    process.exitCode = 1
    console.error(isPlain(error) ? `\n${error.message}` : error)
  }
  // Whatever still holds the process open is not worth waiting for: all that matters has been disposed of.
  process.exit()
}

function isPlain(error: unknown): error is Error {
  return plainErrors.some((plain) => error instanceof plain)
}

/** Fulfilled when the person or the system wants this program to end. */
function told(): Promise<void> {
  return new Promise((resolve) => {
    let since = 0
    const stop = () => {
      if (since === 0) {
        since = Date.now()
        console.log('\nEncerrando…')
        resolve()
      }
      // npm repeats to us the Ctrl+C that the terminal sent to both; a person is slower.
      else if (Date.now() - since > 500) process.exit(0)
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
    whenOrphaned(stop)
  })
}

// npm starts us through a shell that may die of a signal and keep it to itself.
function whenOrphaned(stop: () => void): void {
  if (!process.env.npm_lifecycle_event) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 500)
  timer.unref()
}
