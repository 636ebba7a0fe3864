import type { SiteSettings } from '@vigia/contract/site'

/** What these pages say of the installation. */
export type LegalSite = Pick<SiteSettings, 'productName' | 'contactEmail' | 'pesquisa'>
