import { formatCount, formatList } from '@vigia/contract/text'
import { type MessageKind, messageKinds } from '@vigia/contract/workspace'

/** A message of the hub about the workspace (section 3). */
export interface HubMessage {
  header: string
  body: string
  kind: string
}

/** One that is shown: messages of other kinds show nothing (section 4). */
type Message = HubMessage & { kind: MessageKind }

interface MessageToasts {
  /** `gone` is called when the toast has disappeared; the returned function removes it. */
  show: (kind: MessageKind, title: string, description: string, gone: () => void) => () => void
  /** Whether a toast would be unseen or cover the person's work. */
  isAway: () => boolean
}

// As many of each as are seen at once: every message can be read behind the bell.
const errorsMax = 2
const othersMax = 2
const oneByOneMax = 3

/**
 * Shows messages as toasts: the latest errors until they are closed, the latest others for a while.
 * Messages while `isAway` are held until `look`: a few are shown one by one, more as one digest.
 */
export function createMessageToasts({ show, isAway }: MessageToasts) {
  const standing: (Message & { withdraw?: () => void })[] = []
  let gathered: Message[] = []

  const makeRoom = (isError: boolean) => {
    const alike = standing.filter(({ kind }) => (kind === 'error') === isError)
    if (alike.length <= (isError ? errorsMax : othersMax)) return
    const [oldest] = alike
    standing.splice(standing.indexOf(oldest!), 1)
    oldest?.withdraw?.()
  }
  const present = (message: Message) => {
    if (standing.some((other) => isSame(other, message))) return
    const toast: (typeof standing)[number] = { ...message }
    standing.push(toast)
    toast.withdraw = show(toast.kind, toast.header, toast.body, () => {
      const place = standing.indexOf(toast)
      if (place >= 0) standing.splice(place, 1)
    })
    makeRoom(toast.kind === 'error')
  }
  return {
    add(message: HubMessage) {
      if (!hasToast(message)) return
      if (isAway()) gathered.push(message)
      else present(message)
    },
    look() {
      if (isAway() || gathered.length === 0) return
      const messages = gathered
      gathered = []
      if (messages.length <= oneByOneMax) messages.forEach(present)
      else present(digestOf(messages))
    },
    /** Removes them: they are read elsewhere. */
    withdraw() {
      gathered = []
      for (const { withdraw } of standing.splice(0)) withdraw?.()
    },
  }
}

const namedMax = 3

function digestOf(messages: readonly Message[]): Message {
  const headers = [...new Set(messages.map(({ header }) => header))]
  const others = headers.length - namedMax
  const named = formatList([...headers.slice(0, namedMax), ...(others > 0 ? [`mais ${others}`] : [])])
  return {
    kind: severity.find((kind) => messages.some((message) => message.kind === kind)) ?? 'sucesso',
    header: formatCount(messages.length, 'aviso novo', 'avisos novos'),
    body: `${named}. Leia todos no sino, no alto da tela.`,
  }
}

const severity: readonly MessageKind[] = ['error', 'alert', 'sucesso']

function hasToast(message: HubMessage): message is Message {
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
