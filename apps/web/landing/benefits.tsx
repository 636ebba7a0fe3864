import type { SiteSettings } from '@vigia/contract/site'
import { shownIfExample } from '../lib/site.ts'

const benefits: [title: string, text: string][] = [
  [
    'Captura automática',
    'O vigia consulta a SEFAZ a cada hora, de dia e de noite, com o certificado A1 da sua empresa. Ninguém precisa lembrar.',
  ],
  [
    'Armazenamento ilimitado na nuvem',
    'O XML de cada documento fica guardado byte a byte, como a SEFAZ entregou, sem prazo para ser apagado.',
  ],
  [
    'Interface simples',
    'Ache a nota pelo número, pela chave, pelo fornecedor ou pelo valor, e abra o DANFE ou o DACTE na mesma tela.',
  ],
  [
    'Menos erros humanos',
    'Nada é digitado: emitente, valor e situação vêm do documento assinado. O que falta aparece como falta.',
  ],
  [
    'Pronto para auditoria e compliance',
    'O que chegou, quando, quem respondeu e o que respondeu: cada ato fica num registro que não se altera.',
  ],
  [
    'Proteção contra fraudes fiscais',
    'Toda nota emitida contra o seu CNPJ aparece, também a que ninguém pediu. Você registra o Desconhecimento no mesmo lugar.',
  ],
]

export function Benefits({ figures }: { figures: SiteSettings['numeros'] }) {
  return (
    <section
      id="beneficios"
      aria-labelledby="beneficios-titulo"
      className="container-page scroll-mt-4 py-24 max-sm:py-12"
    >
      <div className="grid grid-cols-1 gap-x-16 gap-y-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,2.2fr)]">
        <header className="max-w-120">
          <h2 id="beneficios-titulo" className="text-2xl tracking-[-0.01em]">
            O que o Vigia faz por você
          </h2>
          <p className="mt-3 text-pretty text-muted">
            Para quem paga as notas, para quem escritura e para quem recebe a mercadoria: de um CNPJ a centenas.
          </p>
        </header>
        <ul className="ledger row-on-phone gap-x-12 sm:grid sm:grid-cols-2">
          {benefits.map(([title, text]) => (
            <li key={title} className="border-line border-b py-6 max-sm:py-3 max-sm:text-base">
              <h3>{title}</h3>
              <p className="mt-1.5 text-pretty text-muted">{text}</p>
            </li>
          ))}
        </ul>
      </div>
      <LandingNumbers figures={figures} />
    </section>
  )
}

function LandingNumbers({ figures }: { figures: SiteSettings['numeros'] }) {
  const strip = [
    ['Uptime', figures.uptime],
    ['Notas armazenadas', figures.notas],
    ['Empresas', figures.empresas],
    ['Suporte', figures.suporte],
  ] as const
  return (
    <div className="mt-16 max-sm:mt-6">
      <dl className="ledger grid grid-cols-2 border-line border-b lg:grid-cols-4">
        {strip.map(([label, figure]) => (
          <div key={label} className="flex flex-col-reverse justify-end py-5 max-sm:py-2">
            <dt className="text-muted">{label}</dt>
            <dd className="break-words text-3xl tabular-nums tracking-[-0.02em]">{figure}</dd>
          </div>
        ))}
      </dl>
      <p className={`mt-2 text-base text-muted ${shownIfExample.figures}`}>
        Números de exemplo: esta instalação ainda não publicou os seus.
      </p>
    </div>
  )
}
