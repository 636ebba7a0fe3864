import { clsx } from 'clsx'
import { Check } from 'lucide-react'
import { shownWithPlans } from '../lib/site.ts'
import { buttonClass } from '../ui/button.tsx'
import { NightScene } from '../ui/night-scene.tsx'
import { demoId } from './demo-dialog.tsx'
import { PopupButton } from './popup.tsx'
import { SampleDashboard } from './sample-dashboard.tsx'
import { TrialWords } from './trial-words.tsx'

const heroBenefits = [
  'Captura automática 24/7',
  'Manifestação de NFe',
  'Armazenamento ilimitado e vitalício',
  'Pronto para auditoria',
]

export function Hero() {
  return (
    <section aria-labelledby="titulo">
      <div className="night relative overflow-hidden bg-paper text-ink">
        <NightScene
          className="[--horizon:calc(100%-92px)] [--house:260px] lg:[--horizon:calc(100%-232px)] lg:[--house:480px]"
          houseClassName="right-[-6%] sm:right-[8%] lg:right-[-1%] xl:right-[5%] 2xl:right-[12%]"
        />
        <div className="container-page relative pt-28 pb-46 sm:pb-40 lg:pt-36 lg:pb-66">
          <h1
            id="titulo"
            className="max-w-200 text-balance text-3xl tracking-[-0.02em] max-sm:text-[34px] max-sm:leading-10"
          >
            Todas as NF-e e CT-e do seu CNPJ, capturadas e guardadas sozinhas
          </h1>
          <p className="mt-4 max-w-150 text-balance text-muted">
            Consultamos a SEFAZ a cada hora, dia e noite, e mostramos quando foi a última consulta.
          </p>
          <ul className="mt-6 grid justify-start gap-x-10 gap-y-2 sm:grid-cols-[auto_auto]">
            {heroBenefits.map((benefit) => (
              <li key={benefit} className="flex items-center gap-2.5">
                <Check aria-hidden className="size-4 shrink-0 text-brand" />
                {benefit}
              </li>
            ))}
          </ul>
          <div className="mt-8 flex flex-wrap gap-3">
            <a href="/register?tp=1" className={buttonClass({ size: 'lg', className: 'max-sm:w-full' })}>
              <TrialWords>Experimente Grátis por 7 dias</TrialWords>
            </a>
            <PopupButton
              opens={demoId}
              className={buttonClass({ variant: 'outline', size: 'lg', className: 'bg-transparent! max-sm:w-full' })}
            >
              Ver Demonstração
            </PopupButton>
          </div>
          <p className={clsx('mt-4 text-muted', shownWithPlans)}>
            Para começar, nada é cobrado.{' '}
            <a href="#planos" className="text-ink underline underline-offset-3">
              Depois, o preço é por mês, no plano que você escolher.
            </a>
          </p>
        </div>
      </div>
      <div className="container-page">
        <SampleDashboard />
      </div>
    </section>
  )
}
