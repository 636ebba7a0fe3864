import { clsx } from 'clsx'
import type { ReactNode } from 'react'
import { productVersion } from '../lib/site.ts'
import { Logo } from '../ui/logo.tsx'

const pages = [
  ['/termos', 'Termos de uso'],
  ['/privacidade', 'Privacidade'],
  ['/cookies', 'Cookies'],
] as const

interface LegalFrameProps {
  productName: string
  title: string
  /** The page in two sentences. */
  summary: ReactNode
  sections: { id: string; title: string; body: ReactNode; className?: string }[]
}

/** A page to read and print: the only script on it sets the theme. */
export function LegalFrame({ productName, title, summary, sections }: LegalFrameProps) {
  return (
    <div className="text-lg">
      <header className="border-line border-b">
        <div className="container-page flex min-h-16 flex-wrap items-center gap-x-6 gap-y-1 py-2 text-base">
          <a href="/" className="mr-auto flex min-h-11 items-center gap-2.5 font-semibold text-lg">
            <Logo className="size-8" />
            {productName}
          </a>
          <nav aria-label="Documentos" className="flex flex-wrap gap-x-5 print:hidden">
            {pages.map(([href, label]) => (
              <a
                key={href}
                href={href}
                aria-current={label === title ? 'page' : undefined}
                className="inline-flex min-h-8 items-center text-muted underline-offset-4 hover:text-ink hover:underline aria-[current=page]:font-semibold aria-[current=page]:text-ink"
              >
                {label}
              </a>
            ))}
          </nav>
        </div>
      </header>
      <main className="container-page grid gap-x-16 gap-y-8 pt-12 pb-24 lg:grid-cols-[16rem_minmax(0,42rem)] print:block print:pt-4 print:pb-0">
        <div className="lg:col-start-2">
          <h1 className="text-3xl tracking-[-0.02em] max-sm:text-2xl">{title}</h1>
          <p className="mt-2 text-base text-muted">{`${productName} ${productVersion} · novembro de 2026`}</p>
          <div className="mt-6 text-pretty text-xl leading-7">{summary}</div>
        </div>
        <nav aria-label="Nesta página" className="text-base lg:col-start-1 lg:row-start-2 print:hidden">
          <ul className="border-line border-t lg:sticky lg:top-6">
            {sections.map(({ id, title, className }) => (
              <li key={id} className={clsx('border-line border-b', className)}>
                <a href={`#${id}`} className="flex min-h-9 items-center py-1 text-muted hover:text-ink">
                  {title}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="lg:col-start-2 lg:row-start-2">
          {sections.map(({ id, title, body, className }) => (
            <section
              key={id}
              id={id}
              aria-labelledby={`${id}-titulo`}
              className={clsx('ledger mb-12 scroll-mt-6 pt-4', className)}
            >
              <h2 id={`${id}-titulo`} className="break-after-avoid text-xl">
                {title}
              </h2>
              <div className="mt-3 grid gap-3 text-pretty">{body}</div>
            </section>
          ))}
        </div>
      </main>
      <footer className="border-line border-t print:hidden">
        <p className="container-page py-6 text-base">
          <a href="/" className="font-semibold text-brand underline underline-offset-3">
            Voltar para página inicial
          </a>
        </p>
      </footer>
    </div>
  )
}

/** Terms with explanations, one per line. */
export function Lines({ lines }: { lines: readonly (readonly [term: ReactNode, text: string])[] }) {
  return (
    <dl className="border-line border-t text-base">
      {lines.map(([term, text]) => (
        <div
          key={text}
          className="grid break-inside-avoid gap-x-6 border-line border-b py-2.5 sm:grid-cols-[13rem_1fr]"
        >
          <dt className="font-semibold">{term}</dt>
          <dd className="text-muted print:text-ink">{text}</dd>
        </div>
      ))}
    </dl>
  )
}
