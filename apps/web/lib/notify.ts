import type { MessageKind } from '@vigia/contract/workspace'
import { toast } from 'sonner'

/** An error stays until it is closed; the same `id` replaces the one before it. */
export function notifyError(title: string, options: { description?: string; id?: string } = {}) {
  toast.error(title, { ...options, id: options.id ?? title, duration: Number.POSITIVE_INFINITY })
}

export function notifySuccess(title: string, options: { description?: string } = {}) {
  toast.success(title, options)
}

/** The same words replace those that are still there. */
export function notifyWarning(title: string, options: { description?: string } = {}) {
  toast.warning(title, { ...options, id: title })
}

export function notifyInfo(title: string, options: { description?: string } = {}) {
  toast.info(title, options)
}

const showAs: Record<MessageKind, typeof toast.success> = {
  sucesso: toast.success,
  error: toast.error,
  alert: toast.warning,
}

const message = 'mensagem '
let messages = 0

/** Shows a message of the server as the toast of its kind (section 4); `gone` is called when it is no longer there. What is given back takes it away. */
export function notifyMessage(kind: MessageKind, title: string, description: string, gone: () => void) {
  const id = `${message}${++messages}`
  const duration = kind === 'error' ? Number.POSITIVE_INFINITY : undefined
  showAs[kind](title, { description, duration, id, onDismiss: gone, onAutoClose: gone })
  return () => void toast.dismiss(id)
}

/** What the page itself said before; messages of the server come only once and stay. */
export function dismissNotifications() {
  for (const { id } of toast.getToasts()) if (!String(id).startsWith(message)) toast.dismiss(id)
}
