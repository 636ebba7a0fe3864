import { Check } from 'lucide-react'
import { Link } from 'react-router'
import { buttonClass } from '../ui/button.tsx'
import { ContactButton } from './contact-button.tsx'

const notes = ['Sem cartão de crédito', 'Configuração em 5 minutos', 'Suporte em português']

export function Closing({ preload }: { preload: (path: string) => void }) {
  return (
    <section aria-labelledby="comecar" className="ledger pt-7 pb-20">
      <h2 id="comecar" className="text-2xl tracking-[-0.01em]">
        Comece hoje, ou pergunte antes
      </h2>
      <p className="mt-1 max-w-130 text-muted">
        Com o certificado A1 em mãos, a primeira captura começa assim que a empresa é cadastrada.
      </p>
      <div className="mt-6 flex flex-wrap gap-3">
        <Link to="/register?tp=1" className={buttonClass({ size: 'lg' })}>
          Começar teste grátis
        </Link>
        <ContactButton preload={preload} size="lg">
          Falar com Especialista
        </ContactButton>
      </div>
      <ul className="mt-5 flex flex-wrap gap-x-6 gap-y-1 text-base text-muted">
        {notes.map((note) => (
          <li key={note} className="flex items-center gap-1.5">
            <Check aria-hidden className="size-4 text-brand" />
            {note}
          </li>
        ))}
      </ul>
    </section>
  )
}
