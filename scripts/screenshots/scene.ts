import type { Locator, Page } from 'playwright-core'

export const sizes = [390, 768, 1280, 1920] as const
export const themes = ['light', 'dark'] as const

/** `demo` has the documents of its companies, `office` sixty companies in every state, `ended` a trial that is over. */
export type Who = 'visitor' | 'demo' | 'empty' | 'office' | 'ended'

/** Facts about the started product that addresses and forms of the scenes need. */
export interface SceneFacts {
  complete: string
  summary: string
  freight: string
  healthy: string
  blocked: string
  expired: string
  certificate: Buffer
}

/** One picture of the product, taken at every size and in every theme. */
export interface Scene {
  name: string
  /** Where the picture is kept, from the root; not named: in the folder of the run. */
  file?: string
  who: Who
  path: string | ((facts: SceneFacts) => string)
  /** Called before the page is opened: what its calls get as responses instead. */
  before?: (page: Page) => Promise<unknown>
  prepare?: (page: Page, facts: SceneFacts) => Promise<void>
  /** Subject of the picture. */
  shows: (page: Page) => Locator
  /** Only on screens narrower than this, or at least as wide as that. */
  below?: number
  from?: number
  /** It is about something that waits. */
  waits?: true
}

type Find = (page: Page) => Locator

export const heading = (name: string | RegExp): Find => {
  return (page) => page.getByRole('heading', { name }).filter({ visible: true })
}

export const byText = (words: string | RegExp): Find => {
  return (page) => page.getByText(words).filter({ visible: true })
}

export const dialog = (name: string | RegExp): Find => {
  return (page) => page.getByRole('dialog', { name })
}

export const refuse = (calls: string, message: string) => {
  const json = { success: false, message, data: null, errors: [message] }
  return (page: Page) => page.route(calls, (route) => route.fulfill({ status: 409, json }))
}

/** The responses to these calls never come. */
export const hold = (calls: string) => {
  return (page: Page) => page.route(calls, () => undefined)
}

export const press = (name: string | RegExp) => {
  return (page: Page) => page.getByRole('button', { name }).filter({ visible: true }).first().click()
}
