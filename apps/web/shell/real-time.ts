import { useEffect, useRef } from 'react'
import { readDisconnectedSince, watchConnection } from '../lib/connection.ts'
import { notifyMessage } from '../lib/notify.ts'
import { refreshLive } from '../lib/query.ts'
import { useSession, type WebSession } from '../lib/session.ts'
import { isCovered, watchCovered } from '../ui/overlay/covered.ts'
import type { HubConnection } from './hub.ts'
import { createMessageToasts, type HubMessage, inBursts } from './messages.ts'

const logText = 'Erro ao conectar WebSocket:'
// The library is large, so screen data comes first on a slow line; messages are sent later.
const screenFirstMs = 2_000

// Missed messages arrive right after connecting.
const catchUpMs = 1_000

/**
 * Shows messages of the server about the workspace and refreshes the screen after them, while the
 * layout is mounted (section 4). While all are being read (`reading`), shows no toasts.
 */
export function useRealTime(reading: boolean) {
  const { session } = useSession()
  const { token, wsId } = session ?? {}
  const isRead = useRef(reading)
  const messages = useRef<ReturnType<typeof createMessageToasts>>(undefined)
  useEffect(() => {
    if (!token || !wsId) return
    const line = listen({ token, wsId }, () => isRead.current)
    messages.current = line.messages
    return line.leave
  }, [token, wsId])
  useEffect(() => {
    isRead.current = reading
    if (reading) messages.current?.withdraw()
  }, [reading])
}

function listen(session: Pick<WebSession, 'token' | 'wsId'>, isRead: () => boolean) {
  const leaving = new AbortController()
  const { signal } = leaving
  let catchingUp = true
  let caughtUp: ReturnType<typeof setTimeout> | undefined
  const messages = createMessageToasts({
    show: notifyMessage,
    isAway: () => catchingUp || document.hidden || isCovered(),
  })
  const refresh = inBursts(refreshLive, signal)
  let line: HubConnection | undefined
  const onMessage = (message: HubMessage) => {
    if (!isRead()) messages.add(message)
    refresh()
  }
  const onConnecting = () => {
    clearTimeout(caughtUp)
    catchingUp = true
  }
  const onConnected = () => {
    caughtUp = setTimeout(() => {
      catchingUp = false
      messages.look()
    }, catchUpMs)
  }

  const connect = async () => {
    try {
      const { createHubConnection } = await import('./hub.ts')
      if (signal.aborted) return
      line ??= createHubConnection(session, { onConnecting, onConnected, onMessage, onInterruption: refresh })
      await line.start()
    } catch (error) {
      console.info(logText, error)
    }
  }
  // The library gives up after the last delay; these events suggest that it works again.
  const connectIf = (reason: boolean) => {
    if (reason) void connect()
  }
  document.addEventListener(
    'visibilitychange',
    () => {
      connectIf(!document.hidden)
      messages.look()
    },
    { signal },
  )
  window.addEventListener('online', () => connectIf(true), { signal })
  const unwatch = watchConnection(() => connectIf(readDisconnectedSince() === null))
  const uncover = watchCovered(messages.look)
  const timer = setTimeout(() => void connect(), screenFirstMs)
  const leave = () => {
    leaving.abort()
    unwatch()
    uncover()
    clearTimeout(timer)
    clearTimeout(caughtUp)
    // Another person may be the next to look at the page.
    messages.withdraw()
    line?.stop()
  }
  return { messages, leave }
}
