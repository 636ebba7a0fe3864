import { ArrowLeft } from 'lucide-react'
import { type ReactNode, useEffect, useRef } from 'react'
import { NavigationType, useNavigationType } from 'react-router'
import { productName } from '../lib/site.ts'
import { Logo } from '../ui/logo.tsx'
import { NightScene } from '../ui/night-scene.tsx'
import { useTitle } from '../ui/page.tsx'

interface FrameProps {
  title: string
  subtitle: string
  children: ReactNode
}

/** The form on paper, the watch-house beside it where there is room. */
export function Frame({ title, subtitle, children }: FrameProps) {
  useTitle(`${title} · ${productName}`)
  const heading = useHeadingFocus(title)
  return (
    <div className="grid min-h-dvh lg:grid-cols-[minmax(440px,1fr)_minmax(0,1.15fr)]">
      <div className="flex flex-col px-6 py-5 sm:px-10">
        <header>
          <a href="/" className="inline-flex min-h-8 items-center gap-2.5 font-semibold text-lg">
            <Logo className="size-8" />
            {productName}
          </a>
        </header>
        <main className="mx-auto flex w-full max-w-95 flex-1 flex-col justify-center py-10">
          <h1 ref={heading} tabIndex={-1} className="text-2xl tracking-[-0.01em] outline-none">
            {title}
          </h1>
          <p className="mt-1 mb-7 text-lg text-muted">{subtitle}</p>
          {children}
        </main>
        <footer>
          <a href="/" className="inline-flex min-h-6 items-center gap-1.5 text-muted hover:text-ink">
            <ArrowLeft aria-hidden className="size-4" />
            Voltar para página inicial
          </a>
        </footer>
      </div>
      <aside aria-label="Sobre o produto" className="night relative overflow-hidden max-lg:hidden">
        <NightScene className="[--horizon:62%] [--house:400px]" houseClassName="right-[6%]" />
        <div className="absolute top-[12%] left-[9%] max-w-100 text-ink">
          <p className="text-balance font-semibold text-2xl leading-9">
            Enquanto você cuida da empresa, alguém vigia as notas emitidas contra ela.
          </p>
          <p className="mt-3 max-w-85 text-lg text-muted">
            NF-e e CT-e buscados na SEFAZ a cada hora e guardados como foram assinados.
          </p>
        </div>
      </aside>
    </div>
  )
}

export function TermsSentence() {
  return (
    <p className="text-muted text-sm">
      Ao criar a conta você aceita os{' '}
      <a href="/termos" className="text-ink underline underline-offset-3">
        termos de uso
      </a>{' '}
      e a{' '}
      <a href="/privacidade" className="text-ink underline underline-offset-3">
        política de privacidade
      </a>
      .
    </p>
  )
}

// Focuses the heading of another screen for screen readers; a loaded page is read from its top.
function useHeadingFocus(title: string) {
  const heading = useRef<HTMLHeadingElement>(null)
  const kind = useNavigationType()
  const shown = useRef(kind === NavigationType.Pop ? title : null)
  useEffect(() => {
    if (shown.current === title) return
    shown.current = title
    heading.current?.focus()
  }, [title])
  return heading
}
