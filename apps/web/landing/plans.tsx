import { clsx } from 'clsx'
import { Check } from 'lucide-react'
import { type PlanOffer, plans } from '../lib/plans.ts'
import { Badge } from '../ui/badge.tsx'
import { buttonClass } from '../ui/button.tsx'
import { ContactButton } from './contact-button.tsx'

const inAll = [
  'Captura automática',
  'Armazenamento vitalício',
  'Detecção e alerta de NFes suspeitas',
  'Interface web completa',
]
const inFixed = ['Manifestação de NFe', 'Suporte por e-mail', 'Relatórios avançados']

interface Offer extends PlanOffer {
  description: string
  to?: string
  popular?: boolean
}

const offers: Offer[] = [
  {
    ...plans[1],
    description: 'Para a empresa de um CNPJ que quer parar de pedir XML aos fornecedores.',
    features: [...plans[1].features, ...inAll, ...inFixed],
    to: '/register?tp=1',
  },
  {
    ...plans[2],
    description: 'Para a matriz com filiais e para o escritório que está começando.',
    features: [...plans[2].features, ...inAll, ...inFixed],
    to: '/register?tp=2',
    popular: true,
  },
  {
    name: 'Corporativo',
    price: 'Sob consulta',
    description: 'Para grupos e escritórios com dezenas ou centenas de CNPJs.',
    features: [
      'Empresas ilimitadas',
      'Armazenamento ilimitado',
      ...inAll,
      'Suporte dedicado 24/7',
      'Relatórios personalizados',
    ],
  },
]

const smallPrint = [
  [
    'Armazenamento vitalício',
    'Nada é apagado por idade. O Básico que passa de 5 mil documentos no mês continua guardando, e você é avisado.',
  ],
  [
    'NFes suspeitas',
    'Toda NFe contra o seu CNPJ é comparada com o que já chegou. A que foge do costume vira um alerta com os motivos em palavras; os graves chegam também pelo sino e, como cada um escolher, por e-mail.',
  ],
  [
    'Relatórios avançados',
    'Compras e fretes por fornecedor, mês, CFOP, NCM, UF e produto, com impostos, comparações e preços, na tela, em planilha e por e-mail no dia 1º; e planilha, XML e PDF de tudo o que o filtro encontra.',
  ],
  ['Suporte dedicado 24/7', 'No Corporativo, horário e canais ficam escritos no contrato.'],
] as const

export function Plans({ preloadContact }: { preloadContact: () => void }) {
  return (
    <section id="planos" aria-labelledby="planos-titulo" className="scroll-mt-0 bg-sunken">
      <div className="container-page py-20 max-sm:py-12">
        <h2 id="planos-titulo" className="text-2xl tracking-[-0.01em]">
          Planos
        </h2>
        <p className="mt-1 text-muted">Sem fidelidade, sem taxa de cancelamento. O preço é este, por mês.</p>
        <ul className="mt-8 grid gap-10 lg:grid-cols-3 max-sm:mt-4 max-sm:gap-6">
          {offers.map((offer) => (
            <OfferColumn key={offer.name} offer={offer} preloadContact={preloadContact} />
          ))}
        </ul>
        <details className="mt-16 max-sm:mt-6">
          <summary className="cursor-pointer font-semibold text-lg">O que está incluído</summary>
          <dl className="mt-3 grid gap-x-10 border-line-strong/50 border-t text-base sm:grid-cols-2 xl:grid-cols-4">
            {smallPrint.map(([term, text]) => (
              <div key={term} className="pt-3">
                <dt className="font-semibold">{term}</dt>
                <dd className="mt-0.5 text-pretty text-muted">{text}</dd>
              </div>
            ))}
          </dl>
        </details>
      </div>
    </section>
  )
}

function OfferColumn({ offer, preloadContact }: { offer: Offer; preloadContact: () => void }) {
  const { name, price, description, features, to, popular } = offer
  return (
    <li
      className={clsx(
        'flex flex-col border-t-2 pt-5',
        popular ? '-mx-4 rounded-b border-brand bg-surface px-4 pb-6 shadow-float lg:-mx-5 lg:px-5' : 'border-ink pb-6',
      )}
    >
      <div className="flex items-center gap-2.5">
        <h3>{name}</h3>
        {popular && <Badge tone="blue">Mais Popular</Badge>}
      </div>
      <p className="mt-3">
        <span className="font-semibold text-3xl tabular-nums tracking-[-0.02em] max-xl:text-2xl">{price}</span>
        {to && <span className="text-muted"> por mês</span>}
      </p>
      <p className="mt-2 text-pretty text-muted lg:min-h-12">{description}</p>
      <div className="mt-5">
        {to ? (
          <a
            href={to}
            className={buttonClass({ variant: popular ? 'primary' : 'outline', size: 'lg', className: 'w-full' })}
          >
            Começar no {name}
          </a>
        ) : (
          <ContactButton preloadContact={preloadContact} size="lg" className="w-full">
            Fale com a Gente
          </ContactButton>
        )}
        <p className="mt-2 min-h-5 text-base text-muted">{to ? 'Teste grátis por 7 dias' : 'Respondemos por e-mail'}</p>
      </div>
      <ul className="mt-5 border-line border-t max-sm:mt-3 max-sm:pt-2">
        {features.map((feature) => (
          <li
            key={feature}
            className="flex items-start gap-2.5 border-line border-b py-2 max-sm:border-0 max-sm:py-0 max-sm:text-base"
          >
            <Check aria-hidden className="mt-1 size-4 shrink-0 text-brand" />
            <span>{feature}</span>
          </li>
        ))}
      </ul>
    </li>
  )
}
