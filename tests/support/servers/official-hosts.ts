import dns from 'node:dns'
import type { LookupFunction } from 'node:net'
import type { Config } from '@vigia/server/start'

const here: LookupFunction = (_name, { all }, done) =>
  all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)

/** Leads every name that this process looks up to this machine, until disposed. */
export function leadNamesHere(): Disposable {
  const { lookup } = dns
  dns.lookup = here as typeof dns.lookup
  return {
    [Symbol.dispose]: () => {
      dns.lookup = lookup
    },
  }
}

/** The configuration with the same hosts at another port. */
export function atPort<T extends Pick<Config, 'sefaz'>>(config: T, port: number): T {
  const move = (urls: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(urls).map(([key, url]) => [key, Object.assign(new URL(url), { port: String(port) }).href]),
    )
  const { distribution, manifestation, cteEvents } = config.sefaz.endpoints
  const endpoints = {
    distribution: move(distribution),
    manifestation: move({ manifestation }).manifestation,
    cteEvents: move(cteEvents),
  } as Config['sefaz']['endpoints']
  return { ...config, sefaz: { ...config.sefaz, endpoints } }
}
