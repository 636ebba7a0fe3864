import { type MessageKind, messageKinds } from '@vigia/contract/workspace'

/** A message of the hub about the workspace (section 3). */
export interface HubMessage {
  header: string
  body: string
  kind: string
}

/** `gone` is called when the toast has disappeared; the returned function removes it. */
type ShowToast = (kind: MessageKind, title: string, description: string, gone: () => void) => () => void

// As many as the toaster shows; it hides older ones, whose time goes on.
const visibleMax = 4
// A tab that nobody looked at for a day need not show every success.
const goodNewsMax = 8
// Nobody closes a hundred errors one by one; what is wrong is still shown in Empresas.
const errorsMax = 20

/**
 * Shows messages as toasts, so that each can be read: one that would hide a toast whose time is running waits until that has disappeared.
 * The latest errors stay until they are closed, and delay no other toast. The same message is shown at most as often as toasts fit at once;
 * of successes that wait, only the latest are shown.
 */
export function createMessageToasts(show: ShowToast) {
  const standing: (HubMessage & { withdraw?: () => void })[] = []
  const waiting: (HubMessage & { kind: MessageKind })[] = []
  let closed = false

  const hasRoom = () => {
    const oldest = standing.findIndex(({ kind }) => kind !== 'error')
    return oldest < 0 || standing.length - oldest < visibleMax
  }
  const makeRoom = () => {
    const errors = standing.filter(({ kind }) => kind === 'error')
    if (errors.length <= errorsMax) return
    const [oldest] = errors
    standing.splice(standing.indexOf(oldest!), 1)
    oldest?.withdraw?.()
  }
  const showNext = () => {
    while (!closed && hasRoom()) {
      const next = waiting.shift()
      if (!next) return
      const message: (typeof standing)[number] = { ...next }
      standing.push(message)
      const gone = () => {
        const place = standing.indexOf(message)
        if (place < 0) return
        standing.splice(place, 1)
        showNext()
      }
      message.withdraw = show(next.kind, next.header, next.body, gone)
      makeRoom()
    }
  }
  return {
    add(message: HubMessage) {
      const equal = [...standing, ...waiting].filter((other) => isSame(other, message))
      if (!hasToast(message) || equal.length >= visibleMax) return
      waiting.push(message)
      const goodNews = waiting.filter(({ kind }) => kind === 'sucesso')
      if (goodNews.length > goodNewsMax) waiting.splice(waiting.indexOf(goodNews[0]!), 1)
      showNext()
    },
    close() {
      closed = true
    },
  }
}

function hasToast<M extends HubMessage>(message: M): message is M & { kind: MessageKind } {
  return messageKinds.some((kind) => kind === message.kind)
}

function isSame(one: HubMessage, other: HubMessage): boolean {
  return one.kind === other.kind && one.header === other.header && one.body === other.body
}

// Messages come in bursts: the end of a capture, the results of a batch.
const burstMs = 250
const pauseMs = 2_000

/** Calls `refresh` once for a burst of requests, and never while the previous call is running. */
export function inBursts(refresh: () => Promise<void>, signal: AbortSignal): () => void {
  let due = false
  let busy = false
  const work = async () => {
    busy = true
    for (let waitMs = burstMs; due && !signal.aborted; waitMs = pauseMs) {
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      due = false
      if (!signal.aborted) await refresh()
    }
    busy = false
  }
  return () => {
    due = true
    if (!busy) void work()
  }
}
