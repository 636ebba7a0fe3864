import type { MessageKind } from '@vigia/contract/workspace'
import type { toast } from 'sonner'

type Toast = typeof toast

// The code of the toasts is loaded after the screen: toasts that are shown before wait for it.
const { promise: toaster, resolve: showWith } = Promise.withResolvers<Toast>()
const { promise: firstWords, resolve: speak } = Promise.withResolvers<void>()

/** `firstWords` is kept as soon as something is said; `showWith` tells that there is somebody who shows toasts now. */
export { firstWords, showWith }

function say(words: (toast: Toast) => void) {
  speak()
  void toaster.then(words)
}

/** An error stays until it is closed; a toast with the same `id` is replaced. */
export function notifyError(title: string, options: { description?: string; id?: string } = {}) {
  say((toast) => toast.error(title, { ...options, id: options.id ?? title, duration: Number.POSITIVE_INFINITY }))
}

export function notifySuccess(title: string, options: { description?: string } = {}) {
  say((toast) => toast.success(title, options))
}

/** A warning with the same title is replaced. */
export function notifyWarning(title: string, options: { description?: string } = {}) {
  say((toast) => toast.warning(title, { ...options, id: title }))
}

export function notifyInfo(title: string, options: { description?: string } = {}) {
  say((toast) => toast.info(title, options))
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
  const duration = kind === 'error' ? Number.POSITIVE_INFINITY : undefined
  say((toast) => toast[showAs[kind]](title, { description, duration, id, onDismiss: gone, onAutoClose: gone }))
  return () => say((toast) => toast.dismiss(id))
}

/** Removes the page's own toasts; messages of the server are sent only once and stay. */
export function dismissNotifications() {
  void toaster.then((toast) => {
    for (const { id } of toast.getToasts()) if (!String(id).startsWith(message)) toast.dismiss(id)
  })
}
