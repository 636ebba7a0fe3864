import type { SiteSettings } from '@vigia/contract/site'

/** What the server says of this installation; it writes it into every page. Where it did not, and outside a page, nothing of it is known. */
export const site: Partial<SiteSettings> = read()

function read(): Partial<SiteSettings> {
  try {
    const told: unknown = JSON.parse(globalThis.document?.getElementById('site')?.textContent ?? '')
    return typeof told === 'object' && told !== null ? told : {}
  } catch {
    return {}
  }
}
