import { CircleAlert, CircleCheck, Info, TriangleAlert } from 'lucide-react'
import { useEffect } from 'react'
import { Toaster as Sonner, toast, useSonner } from 'sonner'
import { showWith } from '../../lib/notify.ts'
import { useMedia } from '../hooks/narrow.ts'
import { useCovered } from './covered.ts'

const base =
  'group flex w-full items-start gap-2.5 rounded border px-3.5 py-3 text-base shadow-float data-[front=false]:data-[expanded=false]:*:opacity-0'
// Keeps free the close button beside the title of a full-screen dialog.
const belowTitle = 64

/**
 * Toast colours of section 9: success green, error red, warning yellow, info blue. At most two are seen, one behind the other until a pointer or
 * the focus is on them, or one has an action; the buttons of a dialog and a panel stay free.
 */
export function Toaster() {
  const covered = useCovered()
  const wide = useMedia('(width >= 64rem)')
  const { toasts } = useSonner()
  // Toasts are shown from now on: before it was mounted, they would have been lost.
  useEffect(() => showWith(toast), [])
  return (
    <Sonner
      position={!covered ? 'bottom-right' : wide ? 'bottom-left' : 'top-center'}
      offset={{ top: belowTitle, bottom: 16, left: 16, right: 16 }}
      mobileOffset={{ top: belowTitle, bottom: 12, left: 12, right: 12 }}
      closeButton
      expand={toasts.some(({ action }) => Boolean(action))}
      visibleToasts={2}
      duration={5000}
      containerAriaLabel="Avisos"
      icons={{
        success: <CircleCheck className="size-4" />,
        error: <CircleAlert className="size-4" />,
        warning: <TriangleAlert className="size-4" />,
        info: <Info className="size-4" />,
      }}
      toastOptions={{
        unstyled: true,
        closeButtonAriaLabel: 'Fechar aviso',
        classNames: {
          toast: base,
          default: 'border-line bg-surface text-ink',
          success: 'border-success-line bg-success-soft text-success',
          error: 'border-error-line bg-error-soft text-error',
          warning: 'border-warning-line bg-warning-soft text-warning',
          info: 'border-info-line bg-info-soft text-info',
          icon: 'mt-0.5 shrink-0',
          content: 'order-2 min-w-0 flex-1',
          title: 'font-semibold break-words',
          description: 'break-words text-ink',
          actionButton: 'order-3 min-h-6 shrink-0 self-center font-semibold text-ink underline underline-offset-3',
          closeButton:
            'order-4 -mr-1 flex size-6 shrink-0 items-center justify-center rounded-control opacity-70 hover:opacity-100 focus-visible:opacity-100 [&_svg]:size-3.5',
        },
      }}
    />
  )
}
