import type { MessageKind } from '@vigia/contract/workspace'
import type { toast } from 'sonner'

type Toast = typeof toast

// The code of the toasts is loaded after the screen: toasts that are shown before wait for it.
const { promise: toaster, resolve: showWith } = Promise.withResolvers<Toast>()
const { promise: firstWords, resolve: speak } = Promise.withResolvers<void>()

/** `firstWords` resolves with the first toast; `showWith` registers the toaster. */
export { firstWords, showWith }

function say(words: (toast: Toast) => void) {
  speak()
  void toaster.then(words)
}

interface Options {
  description?: string
  /** A toast with the same id is replaced. */
  id?: string
}

interface ToastAction {
  label: string
  onClick: () => void
}

const always = Number.POSITIVE_INFINITY

/** An error stays until closed or retracted, unless it is on screen; equal titles replace it. */
export function notifyError(title: string, { onScreen, ...options }: Options & { onScreen?: boolean } = {}) {
  const duration = onScreen ? undefined : always
  say((toast) => toast.error(title, { ...options, id: options.id ?? title, duration }))
}

/** Removes a toast that is obsolete or read elsewhere. */
export function retract(id: string) {
  void toaster.then((toast) => toast.dismiss(id))
}

/** A success with an action stays until it is closed. */
export function notifySuccess(title: string, options: Options & { action?: ToastAction } = {}) {
  say((toast) => toast.success(title, options.action ? { ...options, duration: always } : options))
}

/** A warning with the same title is replaced. */
export function notifyWarning(title: string, options: Options = {}) {
  say((toast) => toast.warning(title, { ...options, id: title }))
}

export function notifyInfo(title: string, options: Options = {}) {
  say((toast) => toast.info(title, { ...options, duration: undefined }))
}

/** A started action: the toast stays until one with the same id reports the result. */
export function notifyBeginning(title: string, options: Options & { id: string }) {
  say((toast) => toast.info(title, { ...options, duration: always }))
}

const showAs = { sucesso: 'success', error: 'error', alert: 'warning' } as const satisfies Record<MessageKind, string>

const message = 'mensagem '
let messages = 0

/**
 * Shows a message of the server as the toast of its kind (section 4); `gone` is called when it has disappeared. The returned function removes
 * it.
 */
export function notifyMessage(kind: MessageKind, title: string, description: string, gone: () => void) {
  const id = `${message}${++messages}`
  const duration = kind === 'error' ? always : undefined
  say((toast) => toast[showAs[kind]](title, { description, duration, id, onDismiss: gone, onAutoClose: gone }))
  return () => retract(id)
}

/** Removes the page's own toasts; messages of the server stay until they are read. */
export function dismissNotifications() {
  void toaster.then((toast) => {
    for (const { id } of toast.getToasts()) if (!String(id).startsWith(message)) toast.dismiss(id)
  })
}
