import { HubConnectionBuilder, HubConnectionState, LogLevel } from '@microsoft/signalr'
import { hubPath } from '@vigia/contract/workspace'
import type { Session } from '../lib/stored-session.ts'
import type { Message } from './messages.ts'

// Section 9.
const reconnectDelaysMs = [0, 2_000, 10_000, 30_000]
const serverTimeoutMs = 30_000
const keepAliveMs = 15_000

interface Listener {
  told: (message: Message) => void
  /** The connection was lost, is back, or will not come back by itself: what is on the screen may be older than it looks. */
  interrupted: () => void
}

/** A connection to the hub that tells what happens in the workspace of a session. */
export interface HubLine {
  /** Connects, unless it is connected or still trying to come back; rejected when it cannot. */
  start(): Promise<void>
  stop(): void
}

export function createHubLine(
  { token, wsId }: Pick<Session, 'token' | 'wsId'>,
  { told, interrupted }: Listener,
): HubLine {
  const hub = new HubConnectionBuilder()
    .withUrl(hubPath, { accessTokenFactory: () => token })
    .withAutomaticReconnect(reconnectDelaysMs)
    .withServerTimeout(serverTimeoutMs)
    .withKeepAliveInterval(keepAliveMs)
    .configureLogging(LogLevel.None)
    .build()
  let stopped = false
  let tried = false
  hub.on(wsId, (header: unknown, body: unknown, kind: unknown) => {
    if (!stopped) told({ header: String(header ?? ''), body: String(body ?? ''), kind: String(kind) })
  })
  hub.onreconnected(interrupted)
  hub.onclose(() => {
    if (!stopped) interrupted()
  })
  return {
    async start() {
      if (stopped || hub.state !== HubConnectionState.Disconnected) return
      const again = tried
      tried = true
      try {
        await hub.start()
        if (again) interrupted()
      } catch (error) {
        if (stopped) return
        // Whether the session has ended is for the calls of the page to say (section 8: here a failure is only logged). The library tells the
        // status of a refusal in words alone.
        if (String(error).includes("Status code '401'")) interrupted()
        throw error
      }
    },
    stop() {
      stopped = true
      hub.stop().catch(() => undefined)
    },
  }
}
