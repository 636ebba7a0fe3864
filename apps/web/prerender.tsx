import { exampleSite, fillPage, placesFor, type SiteSettings } from '@vigia/contract/site'
import type { ReactNode } from 'react'
import { renderToStaticMarkup, renderToString } from 'react-dom/server'
import { LandingPage } from './landing/landing-page.tsx'
import { CookiesPage } from './legal/cookies-page.tsx'
import { PrivacyPage } from './legal/privacy-page.tsx'
import { TermsPage } from './legal/terms-page.tsx'

const site = placesFor({
  ...exampleSite,
  productName: '',
  contactEmail: '',
  demo: { email: '', senha: '' },
  pesquisa: { endereco: '', ambiente: '' },
  privacidade: { responsavel: '', encarregado: '', incidentes: '' },
})

/** The content of the finished pages, by file. */
export const prerendered: Readonly<Record<string, (() => string) | undefined>> = {
  '/landing.html': () => renderToString(<LandingPage site={site} preloadContact={() => {}} />),
  '/termos.html': () => finished(<TermsPage site={site} />),
  '/privacidade.html': () => finished(<PrivacyPage site={site} />),
  '/cookies.html': () => finished(<CookiesPage site={site} />),
}

// No script hydrates these pages.
function finished(page: ReactNode): string {
  return renderToStaticMarkup(page)
}

const unconfigured: SiteSettings = {
  productName: 'Vigia Fiscal',
  publicUrl: 'http://localhost:5173',
  ambiente: 'simulado',
  contactEmail: null,
  whatsapp: null,
  cadastroAberto: true,
  planos: true,
  demo: null,
  ...exampleSite,
  exemplos: { numeros: true, depoimentos: true },
  senhaDoCertificadoDeTeste: null,
  demonstracaoAberta: false,
  pesquisa: null,
  privacidade: { responsavel: null, encarregado: null, incidentes: null },
}

/** Fills the placeholders in development, because no server does it there. */
export function fillForDevelopment(html: string): string {
  return fillPage(html, unconfigured)
}
