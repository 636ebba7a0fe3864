import { HubConnectionBuilder, HubConnectionState, LogLevel } from '@microsoft/signalr'
import { hubPath, hubWithoutEcho } from '@vigia/contract/workspace'
import type { WebSession } from '../lib/session.ts'
import type { HubMessage } from './messages.ts'

// Section 9.
const reconnectDelaysMs = [0, 2_000, 10_000, 30_000]
const serverTimeoutMs = 30_000
const keepAliveMs = 15_000

interface Listener {
  /** Connecting, also again: the first messages after it were missed. */
  onConnecting: () => void
  onConnected: () => void
  onMessage: (message: HubMessage) => void
  /** The connection was lost, restored or given up: the screen may be stale. */
  onInterruption: () => void
}

/** A connection to the hub, which sends what happens in the workspace of a session. */
export interface HubConnection {
  /** Connects, unless it is connected or still trying to come back; rejected when it cannot. */
  start(): Promise<void>
  stop(): void
}

export function createHubConnection(
  { token, wsId }: Pick<WebSession, 'token' | 'wsId'>,
  { onConnecting, onConnected, onMessage, onInterruption }: Listener,
): HubConnection {
  const hub = new HubConnectionBuilder()
    .withUrl(`${hubPath}?${hubWithoutEcho}=1`, { accessTokenFactory: () => token })
    .withAutomaticReconnect(reconnectDelaysMs)
    .withServerTimeout(serverTimeoutMs)
    .withKeepAliveInterval(keepAliveMs)
    .configureLogging(LogLevel.None)
    .build()
  let stopped = false
  let tried = false
  hub.on(wsId, (header: unknown, body: unknown, kind: unknown) => {
    if (!stopped) onMessage({ header: String(header ?? ''), body: String(body ?? ''), kind: String(kind) })
  })
  hub.onreconnecting(onConnecting)
  hub.onreconnected(() => {
    onConnected()
    onInterruption()
  })
  hub.onclose(() => {
    if (!stopped) onInterruption()
  })
  return {
    async start() {
      if (stopped || hub.state !== HubConnectionState.Disconnected) return
      const again = tried
      tried = true
      onConnecting()
      try {
        await hub.start()
        onConnected()
        if (again) onInterruption()
      } catch (error) {
        if (stopped) return
        // Other calls detect an expired session (section 8: here it is only logged). The library
        // has the status of a refusal only in its message.
        if (String(error).includes("Status code '401'")) onInterruption()
        throw error
      }
    },
    stop() {
      stopped = true
      hub.stop().catch(() => undefined)
    },
  }
}
