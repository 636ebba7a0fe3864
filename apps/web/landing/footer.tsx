import { productVersion, shownIfSet, shownWithPlans } from '../lib/site.ts'
import { Logo } from '../ui/logo.tsx'

const columns = [
  [
    'Produto',
    [
      ['#beneficios', 'Benefícios'],
      ['#planos', 'Planos'],
    ],
  ],
  ['Empresa', [['#depoimentos', 'Clientes']]],
  [
    'Legal',
    [
      ['/termos', 'Termos de uso'],
      ['/privacidade', 'Privacidade'],
      ['/cookies', 'Cookies'],
    ],
  ],
] as const

interface FooterProps {
  productName: string
  contactEmail: string
}

export function Footer({ productName, contactEmail }: FooterProps) {
  return (
    <footer className="night bg-paper text-base text-ink">
      <div className="container-page grid grid-cols-2 gap-x-12 gap-y-10 py-14 max-sm:gap-y-6 max-sm:py-8 lg:grid-cols-[2fr_1fr_1fr_1fr_1.4fr]">
        <div>
          <p className="flex items-center gap-2.5 font-semibold text-lg">
            <Logo className="size-8" />
            {productName}
          </p>
          <p className="mt-2 max-w-70 text-muted">NF-e e CT-e capturados na SEFAZ e guardados como foram assinados.</p>
        </div>
        {columns.map(([title, links]) => (
          <nav key={title} aria-label={title}>
            <h2 className="text-base">{title}</h2>
            <ul className="mt-1">
              {links.map(([href, label]) => (
                <li key={href} className={href === '#planos' ? shownWithPlans : undefined}>
                  <FooterLink href={href}>{label}</FooterLink>
                </li>
              ))}
            </ul>
          </nav>
        ))}
        <div>
          <h2 className="text-base">Contato</h2>
          <address className="mt-1 not-italic">
            <span className={shownIfSet.contact}>
              <FooterLink href={`mailto:${contactEmail}`}>{contactEmail}</FooterLink>
            </span>
            <span className="flex min-h-8 items-center text-muted">São Paulo</span>
          </address>
        </div>
      </div>
      <p className="container-page border-line border-t py-5 text-muted text-sm">
        {`${productName} ${productVersion}`}
      </p>
    </footer>
  )
}

function FooterLink({ href, children }: { href: string; children: string }) {
  return (
    <a href={href} className="inline-flex min-h-8 items-center break-all text-muted hover:text-ink hover:underline">
      {children}
    </a>
  )
}
