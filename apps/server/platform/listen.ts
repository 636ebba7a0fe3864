import pg from 'pg'
import { appRole, connectionTo } from './database.ts'
import type { Logger } from './log.ts'
import { pause } from './pause.ts'

/** Callbacks for the notifications of other processes. */
interface Ear {
  channels: readonly string[]
  /** Called on each connect and reconnect: look up anything that was notified before. */
  listening(): void
  heard(channel: string, payload: string): void
}

const beatMs = 10_000
const againMs = 500

/** Listens to channels of the database at `url` on a connection of its own, until disposed; one that is lost is replaced. */
export function keepListening(url: string, ear: Ear, log: Logger): AsyncDisposable {
  const stop = new AbortController()
  const loop = async () => {
    while (!stop.signal.aborted) {
      await listenOnce(url, ear, stop.signal).catch((error: unknown) =>
        log.warn({ err: error }, 'what other processes tell is not heard; trying again'),
      )
      await pause(againMs, stop.signal)
    }
  }
  const done = loop()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await done
    },
  }
}

// Settles when the connection is lost or the end has come.
async function listenOnce(url: string, { channels, listening, heard }: Ear, signal: AbortSignal): Promise<void> {
  const client = new pg.Client({
    ...connectionTo(url, 0, appRole),
    keepAlive: true,
    // A database that takes connections and says nothing would be waited for without end.
    connectionTimeoutMillis: beatMs,
    query_timeout: beatMs,
  })
  const lost = new Promise<never>((_, reject) => {
    client.on('error', reject)
    client.on('end', () => reject(new Error('the connection has ended')))
  })
  lost.catch(() => {})
  client.on('notification', ({ channel, payload = '' }) => heard(channel, payload))
  try {
    await client.connect()
    for (const channel of channels) await client.query(`listen ${client.escapeIdentifier(channel)}`)
    listening()
    while (!signal.aborted) {
      await Promise.race([pause(beatMs, signal), lost])
      // A connection that is dead without knowing it would stay silent for ever.
      if (!signal.aborted) await client.query('select 1')
    }
  } finally {
    await client.end().catch(() => {})
  }
}
