import { getPlan } from '@vigia/contract/workspace'
import { clsx } from 'clsx'
import { Info, TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { useContact } from '../lib/contact.ts'
import { useScreenQuery } from '../lib/query.ts'
import { useNow } from '../ui/hooks/clock.ts'
import { planWarning } from './plan-warning.ts'

// About three lines on a phone; longer texts are shown in full on demand.
const shortLength = 130
const linkClass =
  'min-h-6 whitespace-nowrap rounded-control font-semibold text-brand underline underline-offset-3 pointer-coarse:min-h-8'

/** One line on every screen about an ending trial or plan, or one too small; else nothing. */
export function PlanNotice({ onIntent }: { onIntent: () => void }) {
  const now = useNow()
  const contact = useContact()
  const [whole, setWhole] = useState(false)
  const { data: plan } = useScreenQuery(getPlan, {}, { refreshMs: 5 * 60_000 })
  const tone = plan && planWarning(plan, now)
  if (!tone) return null
  const Icon = tone === 'warning' ? TriangleAlert : Info
  return (
    <section
      aria-label="Seu plano"
      className={clsx(
        'border-b',
        tone === 'warning' ? 'border-warning-line bg-warning-soft' : 'border-info-line bg-info-soft',
      )}
    >
      <div className="container-page flex items-start gap-x-2.5 py-2">
        <Icon
          aria-hidden
          className={clsx('mt-0.5 size-4 shrink-0', tone === 'warning' ? 'text-warning' : 'text-info')}
        />
        <div className="min-w-0 flex-1 gap-x-6 md:flex md:items-start">
          <p role="status" className={clsx('min-w-0 flex-1', !whole && 'max-md:line-clamp-3')}>
            {plan.mensagem}
          </p>
          <div className="flex gap-x-5">
            {plan.mensagem.length > shortLength && (
              <button
                type="button"
                aria-expanded={whole}
                onClick={() => setWhole(!whole)}
                className={clsx(linkClass, 'md:hidden')}
              >
                {whole ? 'Mostrar menos' : 'Ler tudo'}
              </button>
            )}
            <button
              type="button"
              aria-haspopup="dialog"
              onPointerEnter={onIntent}
              onFocus={onIntent}
              onClick={contact.show}
              className={clsx(linkClass, 'md:-my-0.5')}
            >
              Fale com a Gente
            </button>
          </div>
        </div>
      </div>
    </section>
  )
}
