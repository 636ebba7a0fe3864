import { PostgresError } from '@vigia/embedded-postgres/postgres'
import { ConfigError } from '@vigia/server/config'
import { InstallationError } from '@vigia/server/platform/installation'

/** The product cannot start; `message` is for the person: what happened and what to do. */
export class StartError extends Error {
  override name = 'StartError'
}

// Errors whose message says everything; any other is a bug and is printed with its stack.
const plainErrors = [StartError, ConfigError, InstallationError, PostgresError]

/** Runs a program until a signal stops it, and maps its end to an exit code. */
export async function live(program: (until: Promise<void>) => Promise<void>): Promise<void> {
  // When the terminal is closed, nothing can be printed any more, but everything must still stop in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  try {
    await program(told())
    process.exitCode = 0
  } catch (error) {
    process.exitCode = 1
    console.error(isPlain(error) ? `\n${error.message}` : error)
  }
  // Everything that matters has been disposed of: whatever still keeps the process open is not waited for.
  process.exit()
}

/** Whether the message of an error says everything to the person. */
export function isPlain(error: unknown): error is Error {
  return plainErrors.some((plain) => error instanceof plain)
}

/** Resolves when a person or the system asks this program to end. */
function told(): Promise<void> {
  return new Promise((resolve) => {
    let since = 0
    const stop = () => {
      if (since === 0) {
        since = Date.now()
        console.log('\nEncerrando…')
        resolve()
      }
      // npm sends us the Ctrl+C a second time, at once: only a later one is of a person who does not want to wait.
      else if (Date.now() - since > 500) process.exit(0)
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
    whenOrphaned(stop)
  })
}

// npm starts us through a shell that may die of a signal without passing it on.
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
