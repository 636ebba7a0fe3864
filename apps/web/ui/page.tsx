import { LoaderCircle } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'

interface PageProps {
  title: string
  /** Name of the product, for the title of the window. */
  site: string
  subtitle: ReactNode
  /** What is loading. It stands in the line of the title, so that nothing moves when it disappears. */
  waiting?: string | undefined
  action?: ReactNode
  children: ReactNode
}

/** Title, one sentence, the primary action on the right; then the content. */
export function Page({ title, site, subtitle, waiting, action, children }: PageProps) {
  useTitle(`${title} · ${site}`)
  return (
    <div className="container-page pt-6 pb-12">
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
      {children}
    </div>
  )
}

export function useTitle(title: string) {
  useEffect(() => {
    document.title = title
  }, [title])
}
