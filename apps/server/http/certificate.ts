import { isIP } from 'node:net'
import { connect } from 'node:tls'
import { Gauge, Registry } from 'prom-client'

const freshMs = 3_600_000
const patienceMs = 3_000

/** How long the certificate lasts that people meet at `publicUrl`, which a proxy shows: looked at once an hour, where it can be reached from here. */
export function measureCertificate(publicUrl: string): Registry {
  const registry = new Registry()
  const { protocol, hostname, port } = new URL(publicUrl)
  if (protocol !== 'https:') return registry
  let lookedAt = Number.NEGATIVE_INFINITY
  let ends: Date | null = null
  new Gauge({
    name: 'vigia_server_certificate_seconds',
    help: 'How long the certificate of PUBLIC_URL is still valid (negative: it has ended); absent where this machine cannot reach that address.',
    registers: [registry],
    async collect() {
      if (performance.now() - lookedAt > freshMs) {
        lookedAt = performance.now()
        ends = await readEnd(hostname, port === '' ? 443 : Number(port))
      }
      this.reset()
      if (ends) this.set((ends.getTime() - Date.now()) / 1000)
      else this.remove()
    },
  })
  return registry
}

/** When the certificate ends that `host` shows, also one that nobody would trust; null: it shows none. Nothing is said to it. */
export function readEnd(host: string, port: number): Promise<Date | null> {
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port,
      ...(isIP(host) ? {} : { servername: host }),
      rejectUnauthorized: false,
      timeout: patienceMs,
    })
    const end = (found: Date | null) => {
      socket.destroy()
      resolve(found)
    }
    socket.once('secureConnect', () => {
      const { valid_to } = socket.getPeerCertificate()
      const ends = new Date(valid_to ?? Number.NaN)
      end(Number.isNaN(ends.getTime()) ? null : ends)
    })
    socket.once('timeout', () => end(null))
    socket.once('error', () => end(null))
  })
}
