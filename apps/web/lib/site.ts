import type { SiteSettings } from '@vigia/contract/site'

/** Settings of the installation, written by the server into every page; else empty. */
export const site: Partial<SiteSettings> = readSettings()

function readSettings(): Partial<SiteSettings> {
  try {
    const told: unknown = JSON.parse(globalThis.document?.getElementById('site')?.textContent ?? '')
    return typeof told === 'object' && told !== null ? told : {}
  } catch {
    return {}
  }
}

export const { productName = 'Vigia Fiscal' } = site

/** Trial, plans and prices exist here. */
export const hasPlans = site.planos !== false

export const productVersion = 'v1.0'

/**
 * Classes for a finished page, which contains both variants of what an installation may or may not have: the values that the server fills
 * into its root element (`data-demo`, …) decide which one is shown.
 */
export const shownIfSet = {
  demo: "in-[[data-demo='']]:hidden",
  contact: "in-[[data-contact='']]:hidden",
  survey: "in-[[data-survey='']]:hidden",
  controller: "in-[[data-controller='']]:hidden",
  officer: "in-[[data-officer='']]:hidden",
  incidents: "in-[[data-incidents='']]:hidden",
}

/** The other variant of `shownIfSet`. */
export const shownIfUnset = {
  demo: "in-[[data-demo]:not([data-demo=''])]:hidden",
  contact: "in-[[data-contact]:not([data-contact=''])]:hidden",
  survey: "in-[[data-survey]:not([data-survey=''])]:hidden",
  controller: "in-[[data-controller]:not([data-controller=''])]:hidden",
  officer: "in-[[data-officer]:not([data-officer=''])]:hidden",
  incidents: "in-[[data-incidents]:not([data-incidents=''])]:hidden",
}

/** Shown where the installation has plans, and where it has none. */
export const shownWithPlans = "in-[[data-plans='false']]:hidden"
export const shownWithoutPlans = "in-[[data-plans]:not([data-plans='false'])]:hidden"

/** Shown while numbers and testimonials are examples. */
export const shownIfExample = {
  figures: "in-[[data-example-figures='false']]:hidden",
  testimonials: "in-[[data-example-testimonials='false']]:hidden",
}
