import type { SiteSettings } from '@vigia/contract/site'
import { Star } from 'lucide-react'
import { shownIfExample } from '../lib/site.ts'

export function Testimonials({ testimonials }: { testimonials: SiteSettings['depoimentos'] }) {
  return (
    <section
      id="depoimentos"
      aria-labelledby="depoimentos-titulo"
      className="container-page scroll-mt-4 pb-24 max-sm:pb-12"
    >
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1">
        <h2 id="depoimentos-titulo" className="text-2xl tracking-[-0.01em]">
          O que muda no dia de quem usa
        </h2>
        <p className={`text-base text-muted ${shownIfExample.testimonials}`}>
          Depoimentos de exemplo, de pessoas inventadas.
        </p>
      </div>
      <ul className="ledger row-on-phone mt-8 gap-x-12 max-sm:mt-4 sm:grid md:grid-cols-2 xl:grid-cols-3">
        {testimonials.map(({ nome, papel, empresa, texto, nota, iniciais }) => (
          <li key={nome} className="border-line border-b">
            <figure className="flex h-full flex-col py-6">
              {/* An attribute sets the stars, because the page is built before its values are known. */}
              <p
                data-rating={String(nota)}
                className="flex gap-0.5 text-line-strong [&[data-rating='1']>:nth-child(-n+1)]:text-brand [&[data-rating='2']>:nth-child(-n+2)]:text-brand [&[data-rating='3']>:nth-child(-n+3)]:text-brand [&[data-rating='4']>:nth-child(-n+4)]:text-brand [&[data-rating='5']>:nth-child(-n+5)]:text-brand"
              >
                {[1, 2, 3, 4, 5].map((star) => (
                  <Star key={star} aria-hidden className="size-4 fill-current" />
                ))}
                <span className="sr-only">{`Nota ${nota} de 5 estrelas`}</span>
              </p>
              <blockquote className="mt-3 text-pretty break-words">{texto}</blockquote>
              <figcaption className="mt-auto flex items-center gap-3 pt-5">
                <span
                  aria-hidden
                  className="flex size-10 shrink-0 items-center justify-center rounded-full bg-brand-soft font-semibold text-base text-brand"
                >
                  {iniciais}
                </span>
                <span className="min-w-0 break-words text-base">
                  <span className="block font-semibold">{nome}</span>
                  <span className="text-muted">{papel}</span>
                  <span className="text-muted not-empty:before:content-[',_']">{empresa}</span>
                </span>
              </figcaption>
            </figure>
          </li>
        ))}
      </ul>
    </section>
  )
}
