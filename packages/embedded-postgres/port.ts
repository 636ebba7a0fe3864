import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const portsFrom = 15_000
const portsTo = 32_000

/**
 * A port of 127.0.0.1 that nobody listens at, below those that systems give to outgoing connections: none of these takes it before it is used, nor
 * in the moment in which a server that died is started again.
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
