import { useEffect } from 'react'
import { readSilentSince, watchSilence } from '../lib/connection.ts'
import { notifyMessage } from '../lib/notify.ts'
import { refreshLive } from '../lib/query.ts'
import { useSession } from '../lib/session.ts'
import type { Session } from '../lib/stored-session.ts'
import type { HubLine } from './hub.ts'
import { createMessages, inBursts, type Message } from './messages.ts'

const logText = 'Erro ao conectar WebSocket:'
// The library is larger than most screens, and a slow line has their data to bring first; what happens meanwhile is told afterwards.
const screenFirstMs = 2_000

/** Shows what the server tells of the workspace, and reads the screen again after it, for as long as the layout is there (section 4). */
export function useRealTime() {
  const { session } = useSession()
  const { token, wsId } = session ?? {}
  useEffect(() => (token && wsId ? listen({ token, wsId }) : undefined), [token, wsId])
}

function listen(session: Pick<Session, 'token' | 'wsId'>): () => void {
  const leaving = new AbortController()
  const { signal } = leaving
  const messages = createMessages(notifyMessage)
  const refresh = inBursts(refreshLive, signal)
  let line: HubLine | undefined
  const told = (message: Message) => {
    messages.add(message)
    refresh()
  }

  const connect = async () => {
    try {
      const { createHubLine } = await import('./hub.ts')
      if (signal.aborted) return
      line ??= createHubLine(session, { told, interrupted: refresh })
      await line.start()
    } catch (error) {
      console.info(logText, error)
    }
  }
  // After the last delay nobody tries any more, until something says that it may work now.
  const connectIf = (reason: boolean) => {
    if (reason) void connect()
  }
  document.addEventListener('visibilitychange', () => connectIf(!document.hidden), { signal })
  window.addEventListener('online', () => connectIf(true), { signal })
  const unwatch = watchSilence(() => connectIf(readSilentSince() === null))
  const timer = setTimeout(() => void connect(), screenFirstMs)
  return () => {
    leaving.abort()
    unwatch()
    clearTimeout(timer)
    messages.close()
    line?.stop()
  }
}
