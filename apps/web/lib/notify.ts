import { toast } from 'sonner'

/** An error stays until it is closed; the same `id` replaces the one before it. */
export function notifyError(title: string, options: { description?: string; id?: string } = {}) {
  toast.error(title, { ...options, id: options.id ?? title, duration: Number.POSITIVE_INFINITY })
}

export function notifySuccess(title: string, options: { description?: string } = {}) {
  toast.success(title, options)
}

export function notifyInfo(title: string, options: { description?: string } = {}) {
  toast.info(title, options)
}

export function dismissNotifications() {
  toast.dismiss()
}
