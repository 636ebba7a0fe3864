import { type MessageKind, messageKinds } from '@vigia/contract/workspace'

/** What the server tells of the workspace, in the words of section 3. */
export interface Message {
  header: string
  body: string
  kind: string
}

/** `gone` is to be called when the toast is no longer there; what is given back takes it away. */
type ShowToast = (kind: MessageKind, title: string, description: string, gone: () => void) => () => void

// As many as the toaster shows; it hides older ones, whose time runs on.
const visibleMax = 4
// A tab that nobody looked at for a day need not tell of each good thing.
const goodNewsMax = 8
// Nor does anybody close a hundred of them one by one; what is wrong still stands in Empresas.
const errorsMax = 20

/**
 * Shows messages as toasts, so that each can be read: one that would push out another whose time runs waits until that is gone. Errors stay
 * until they are closed, the latest of them, come out again from behind others, and make nobody wait. What is said again and again is told as often as there is
 * room at once; of good news that wait, the latest are told.
 */
export function createMessages(show: ShowToast) {
  const standing: (Message & { withdraw?: () => void })[] = []
  const waiting: (Message & { kind: MessageKind })[] = []
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
    add(message: Message) {
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

function hasToast<M extends Message>(message: M): message is M & { kind: MessageKind } {
  return messageKinds.some((kind) => kind === message.kind)
}

function isSame(one: Message, other: Message): boolean {
  return one.kind === other.kind && one.header === other.header && one.body === other.body
}

// Messages come in bursts: a capture that ends, a batch that was answered.
const burstMs = 250
const pauseMs = 2_000

/** `refresh`, as often as asked for, carried out once for a burst and never while it is still under way. */
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
