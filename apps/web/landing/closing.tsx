import { clsx } from 'clsx'
import { Check } from 'lucide-react'
import { shownWithPlans } from '../lib/site.ts'
import { buttonClass } from '../ui/button.tsx'
import { NightScene } from '../ui/night-scene.tsx'
import { ContactButton } from './contact-button.tsx'
import { TrialWords } from './trial-words.tsx'

const notes = ['Sem cartão de crédito', 'Configuração em 5 minutos', 'Suporte em português']

export function Closing({ preloadContact }: { preloadContact: () => void }) {
  return (
    <section aria-labelledby="comecar" className="night relative overflow-hidden text-ink">
      <NightScene
        className="[--horizon:calc(100%-90px)] [--house:300px] max-md:[--horizon:100%]"
        houseClassName="right-[6%] max-md:hidden xl:right-[14%]"
      />
      <div className="container-page relative py-24 max-sm:py-12 md:pb-36">
        <h2 id="comecar" className="text-3xl tracking-[-0.02em] max-sm:text-2xl">
          Comece hoje, ou pergunte antes
        </h2>
        <p className="mt-3 max-w-130 text-pretty text-muted">
          Com o certificado A1 em mãos, a primeira captura começa assim que a empresa é cadastrada, e a página pode ser
          fechada.
        </p>
        <div className="mt-7 flex flex-wrap gap-3">
          <a href="/register?tp=1" className={buttonClass({ size: 'lg', className: 'max-sm:w-full' })}>
            <TrialWords>Começar teste grátis</TrialWords>
          </a>
          <ContactButton preloadContact={preloadContact} size="lg" className="bg-transparent! max-sm:w-full">
            Falar com Especialista
          </ContactButton>
        </div>
        <ul className="mt-6 flex flex-wrap gap-x-6 gap-y-1 text-muted">
          {notes.map((note) => (
            <li
              key={note}
              className={clsx('flex items-center gap-2', note === 'Sem cartão de crédito' && shownWithPlans)}
            >
              <Check aria-hidden className="size-4 text-brand" />
              {note}
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}
