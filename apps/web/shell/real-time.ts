import { useEffect } from 'react'
import { readDisconnectedSince, watchConnection } from '../lib/connection.ts'
import { notifyMessage } from '../lib/notify.ts'
import { refreshLive } from '../lib/query.ts'
import { useSession, type WebSession } from '../lib/session.ts'
import type { HubConnection } from './hub.ts'
import { createMessageToasts, type HubMessage, inBursts } from './messages.ts'

const logText = 'Erro ao conectar WebSocket:'
// The library is larger than most screens, and on a slow line their data comes first; messages that arise meanwhile are sent afterwards.
const screenFirstMs = 2_000

/** Shows the messages of the server about the workspace, and reloads the screen after them, while the layout is mounted (section 4). */
export function useRealTime() {
  const { session } = useSession()
  const { token, wsId } = session ?? {}
  useEffect(() => (token && wsId ? listen({ token, wsId }) : undefined), [token, wsId])
}

function listen(session: Pick<WebSession, 'token' | 'wsId'>): () => void {
  const leaving = new AbortController()
  const { signal } = leaving
  const messages = createMessageToasts(notifyMessage)
  const refresh = inBursts(refreshLive, signal)
  let line: HubConnection | undefined
  const onMessage = (message: HubMessage) => {
    messages.add(message)
    refresh()
  }

  const connect = async () => {
    try {
      const { createHubConnection } = await import('./hub.ts')
      if (signal.aborted) return
      line ??= createHubConnection(session, { onMessage, onInterruption: refresh })
      await line.start()
    } catch (error) {
      console.info(logText, error)
    }
  }
  // After the last delay the library gives up; these events say that it may work now.
  const connectIf = (reason: boolean) => {
    if (reason) void connect()
  }
  document.addEventListener('visibilitychange', () => connectIf(!document.hidden), { signal })
  window.addEventListener('online', () => connectIf(true), { signal })
  const unwatch = watchConnection(() => connectIf(readDisconnectedSince() === null))
  const timer = setTimeout(() => void connect(), screenFirstMs)
  return () => {
    leaving.abort()
    unwatch()
    clearTimeout(timer)
    messages.close()
    line?.stop()
  }
}
