import { Link } from 'react-router'
import { productName, productVersion } from '../lib/product.ts'
import { buttonClass } from '../ui/button.tsx'
import { Logo } from '../ui/logo.tsx'
import { NightScene } from '../ui/night-scene.tsx'
import { useTitle } from '../ui/page.tsx'
import { Closing } from './closing.tsx'
import { Plans } from './plans.tsx'
import { SampleList } from './sample-list.tsx'

const benefits = [
  ['Captura automática', 'A SEFAZ é consultada a cada hora, de dia e de noite, com o certificado A1 da sua empresa.'],
  ['O XML como foi assinado', 'Cada documento é guardado byte a byte como a SEFAZ entregou, com data de chegada.'],
  [
    'DANFE e DACTE na tela',
    'A nota e o conhecimento impressos no leiaute oficial, para ver, conferir e baixar em PDF.',
  ],
  ['Nada escondido', 'Se a consulta parar, a tela diz por quê, desde quando e o que fazer. Sem luz verde de enfeite.'],
]

interface LandingPageProps {
  /** Fetches the code of what is about to be opened. */
  preload: (path: string) => void
}

/** What the product does, for how much, and the way in. */
export function LandingPage({ preload }: LandingPageProps) {
  useTitle(`${productName} · NF-e e CT-e capturados na SEFAZ`)
  return (
    <>
      <main>
        <div className="night relative overflow-hidden bg-paper text-ink">
          <NightScene
            className="[--horizon:calc(100%-150px)] [--house:440px] max-lg:[--horizon:100%]"
            houseClassName="right-[4%] max-lg:hidden xl:right-[10%]"
          />
          <header className="container-page relative flex h-16 items-center gap-2">
            <Link to="/" className="mr-auto flex min-w-0 items-center gap-2.5 font-semibold text-lg">
              <Logo className="size-8" />
              <span className="truncate">{productName}</span>
            </Link>
            <a href="#planos" className={buttonClass({ variant: 'ghost', className: 'max-sm:hidden!' })}>
              Planos
            </a>
            <Link to="/login" className={buttonClass({ variant: 'ghost' })}>
              Fazer Login
            </Link>
            <Link to="/register" className={buttonClass({ className: 'max-sm:hidden!' })}>
              Teste Grátis 7 dias
            </Link>
          </header>
          <div className="container-page relative pt-14 pb-24 lg:pt-24 lg:pb-44">
            <h1 className="max-w-155 text-3xl tracking-[-0.02em] max-sm:text-[34px] max-sm:leading-10">
              Toda <span className="whitespace-nowrap">NF-e</span> e todo{' '}
              <span className="whitespace-nowrap">CT-e</span> contra o seu CNPJ, capturados e guardados.
            </h1>
            <p className="mt-4 max-w-125 text-pretty text-lg text-muted">
              Um posto de vigia na porta da SEFAZ: busca os documentos fiscais da sua empresa, guarda o XML original e
              mostra o que chegou, de quem e quanto.
            </p>
            <div className="mt-8 flex flex-wrap gap-3">
              <Link to="/register?tp=1" className={buttonClass({ size: 'lg' })}>
                Experimente Grátis por 7 dias
              </Link>
              <Link
                to="/login"
                className={buttonClass({ variant: 'outline', size: 'lg', className: 'bg-transparent!' })}
              >
                Fazer Login
              </Link>
            </div>
            <p className="mt-4 text-muted">Sem cartão de crédito. Sem fidelidade. Configuração em 5 minutos.</p>
          </div>
        </div>
        <div className="container-page text-lg">
          <SampleList />
          <section aria-labelledby="beneficios" className="py-20">
            <h2 id="beneficios" className="max-w-130 text-2xl tracking-[-0.01em]">
              O que passa a acontecer sem você pedir
            </h2>
            <dl className="ledger mt-7 grid gap-x-12 sm:grid-cols-2">
              {benefits.map(([title, text]) => (
                <div key={title} className="border-line border-b py-5">
                  <dt className="font-semibold">{title}</dt>
                  <dd className="mt-1 text-muted">{text}</dd>
                </div>
              ))}
            </dl>
          </section>
          <Plans preload={preload} />
          <Closing preload={preload} />
        </div>
      </main>
      <footer className="border-line border-t">
        <div className="container-page flex flex-wrap items-center gap-x-6 gap-y-2 py-6 text-muted">
          <span className="mr-auto">
            {productName} {productVersion} · São Paulo
          </span>
          <a href="#planos" className="hover:text-ink">
            Planos
          </a>
          <Link to="/login" className="hover:text-ink">
            Fazer Login
          </Link>
          <Link to="/register" className="hover:text-ink">
            Criar conta
          </Link>
        </div>
      </footer>
    </>
  )
}
