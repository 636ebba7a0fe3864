import type { SiteSettings } from '@vigia/contract/site'

/** The settings of the installation that these pages show. */
export type LegalSite = Pick<SiteSettings, 'productName' | 'contactEmail' | 'pesquisa' | 'privacidade'>
