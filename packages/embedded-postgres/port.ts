import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const portsFrom = 15_000
const portsTo = 32_000

/**
 * Finds a free port of 127.0.0.1 below the ephemeral range, because an outgoing connection cannot
 * take it before PostgreSQL starts or during a restart.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(portsFrom, portsTo)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
