import { Check } from 'lucide-react'
import { Link } from 'react-router'
import { type Plan, plans } from '../lib/plans.ts'
import { Badge } from '../ui/badge.tsx'
import { buttonClass } from '../ui/button.tsx'
import { ContactButton } from './contact-button.tsx'

const offers: (Plan & { to?: string; popular?: boolean })[] = [
  { ...plans[1], to: '/register?tp=1' },
  { ...plans[2], to: '/register?tp=2', popular: true },
  {
    name: 'Corporativo',
    price: 'Sob consulta',
    features: ['Empresas e armazenamento ilimitados', 'Suporte dedicado 24/7', 'Relatórios sob medida'],
  },
]

export function Plans({ preload }: { preload: (path: string) => void }) {
  return (
    <section aria-labelledby="planos" className="scroll-mt-6 pb-20">
      <h2 id="planos" className="text-2xl tracking-[-0.01em]">
        Planos
      </h2>
      <p className="mt-1 text-muted">Captura automática, guarda vitalícia e toda a interface em qualquer um deles.</p>
      <ul className="ledger mt-7 grid lg:grid-cols-3">
        {offers.map(({ name, price, to, popular, features }) => (
          <li
            key={name}
            className="flex flex-col border-line border-b py-6 lg:border-b lg:border-l lg:px-8 lg:first:border-l-0 lg:first:pl-0 lg:last:pr-0"
          >
            <h3 className="flex items-center gap-2.5 text-lg">
              {name}
              {popular && <Badge tone="blue">Mais Popular</Badge>}
            </h3>
            <p className="mt-2">
              <span className="font-semibold text-2xl tabular-nums">{price}</span>
              {to && <span className="text-muted"> por mês</span>}
            </p>
            <ul className="mt-4 mb-6 grid gap-2">
              {features.map((feature) => (
                <li key={feature} className="flex items-start gap-2">
                  <Check aria-hidden className="mt-1 size-4 shrink-0 text-brand" />
                  {feature}
                </li>
              ))}
            </ul>
            <div className="mt-auto">
              {to ? (
                <Link
                  to={to}
                  aria-label={`Assinar o plano ${name}: teste grátis por 7 dias`}
                  className={buttonClass({ variant: popular ? 'primary' : 'outline', className: 'w-full' })}
                >
                  Teste grátis por 7 dias
                </Link>
              ) : (
                <ContactButton preload={preload} className="w-full">
                  Fale com a Gente
                </ContactButton>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
