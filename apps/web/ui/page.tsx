import { clsx } from 'clsx'
import { LoaderCircle } from 'lucide-react'
import { type ReactNode, useEffect, useLayoutEffect, useSyncExternalStore } from 'react'

interface PageProps {
  title: string
  /** Name of the product, for the title of the window. */
  site: string
  subtitle: ReactNode
  /** Loading message in the line of the title: nothing moves when it disappears. */
  waiting?: string | undefined
  action?: ReactNode
  /** Shows the title in the header of the application, with the content at the top. */
  compact?: boolean
  /** Content beside the title of a compact page. */
  beside?: ReactNode
  children: ReactNode
}

interface InHeader {
  title: string
  beside: ReactNode
}

// Title of the shown compact page. A portal would need code that nothing else needs so early.
let inHeader: InHeader | null = null
let tellHeader = () => {}

function putInHeader(shown: InHeader | null) {
  inHeader = shown
  tellHeader()
}

function listen(listener: () => void) {
  tellHeader = listener
  return () => {
    tellHeader = () => {}
  }
}

/** Slot for the title of a compact page in the header of the application. */
export function TitlePlace() {
  const shown = useSyncExternalStore(listen, () => inHeader)
  return (
    <div className="flex min-w-0 flex-1 items-center gap-3">
      {shown && (
        <>
          <h1 className="truncate border-line border-l pl-3 text-base">{shown.title}</h1>
          {shown.beside}
        </>
      )}
    </div>
  )
}

// Keeps links at the end above the toasts, which would take clicks.
const roomForToasts = 'not-print:has-[[data-pages]]:pb-40'

/** Title, one sentence, the primary action on the right; then the content. */
export function Page({ title, site, subtitle, waiting, action, compact = false, beside, children }: PageProps) {
  useTitle(`${title} · ${site}`)
  useLayoutEffect(() => {
    if (compact) putInHeader({ title, beside })
  }, [compact, title, beside])
  // A separate effect, because content in the header must keep the focus when it changes.
  useLayoutEffect(() => (compact ? () => putInHeader(null) : undefined), [compact])
  return (
    <div className={clsx('container-page pb-12', roomForToasts, !compact && 'pt-6')}>
      {!compact && (
        <header className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
          <div className="min-w-0">
            <div className="flex items-center gap-x-4">
              <h1 className="text-2xl tracking-[-0.01em]">{title}</h1>
              {waiting && (
                <p role="status" className="flex items-center gap-2 text-muted">
                  <LoaderCircle aria-hidden className="size-4 shrink-0 animate-spin" />
                  {waiting}
                </p>
              )}
            </div>
            <p className="mt-0.5 text-muted">{subtitle}</p>
          </div>
          {action}
        </header>
      )}
      {children}
    </div>
  )
}

export function useTitle(title: string) {
  useEffect(() => {
    document.title = title
  }, [title])
}
