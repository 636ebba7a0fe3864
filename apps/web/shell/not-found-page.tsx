import { productName } from '../lib/site.ts'
import { buttonClass } from '../ui/button.tsx'
import { Logo } from '../ui/logo.tsx'
import { useTitle } from '../ui/page.tsx'

/** Within the application for logged-in people, alone for visitors. */
export function NotFoundPage() {
  useTitle(`Página não encontrada · ${productName}`)
  return (
    <div className="flex min-h-[calc(100dvh-6rem)] flex-col items-center justify-center gap-3 px-6 text-center">
      <Logo className="mb-2 size-14" />
      <h1 lang="en" className="text-xl">
        Oops! Page not found
      </h1>
      <p className="max-w-sm text-muted">O endereço não existe ou mudou. Seus documentos continuam guardados.</p>
      <a href="/" className={buttonClass({ className: 'mt-3' })}>
        Voltar para página inicial
      </a>
    </div>
  )
}
