import { clsx } from 'clsx'
import { LoaderCircle } from 'lucide-react'
import { type ReactNode, useEffect, useLayoutEffect, useSyncExternalStore } from 'react'

interface PageProps {
  title: string
  /** Name of the product, for the title of the window. */
  site: string
  subtitle: ReactNode
  /** What is loading. It stands in the line of the title, so that nothing moves when it disappears. */
  waiting?: string | undefined
  action?: ReactNode
  /** The title stands in the header of the application, and the content begins at its top. */
  compact?: boolean
  children: ReactNode
}

// The title of the compact page that is shown. A portal would need code that nothing else needs so early.
let titleInHeader: string | null = null
let tellHeader = () => {}

function putInHeader(title: string | null) {
  titleInHeader = title
  tellHeader()
}

function listen(listener: () => void) {
  tellHeader = listener
  return () => {
    tellHeader = () => {}
  }
}

/** Where the header of the application shows the title of a compact page. */
export function TitlePlace() {
  const title = useSyncExternalStore(listen, () => titleInHeader)
  return (
    <div className="flex min-w-0 flex-1 items-center">
      {title !== null && <h1 className="truncate border-line border-l pl-3 text-base">{title}</h1>}
    </div>
  )
}

/** Title, one sentence, the primary action on the right; then the content. */
export function Page({ title, site, subtitle, waiting, action, compact = false, children }: PageProps) {
  useTitle(`${title} · ${site}`)
  useLayoutEffect(() => {
    if (!compact) return
    putInHeader(title)
    return () => putInHeader(null)
  }, [compact, title])
  return (
    <div className={clsx('container-page pb-12', !compact && 'pt-6')}>
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
