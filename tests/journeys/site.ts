import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, onTestFailed } from 'vitest'
import { buildWeb } from '../../scripts/web-build.ts'
import { launchBrowser } from '../support/browser.ts'
import { type Product, type ProductOptions, startProduct } from '../support/product.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

/** Every address that needs a session. */
export const workspaceScreens = [
  '/dashboard',
  '/notas-fiscais',
  '/cte',
  '/empresas',
  '/empresas/nova',
  '/help',
  '/conta',
  '/auditoria',
]

export interface Account {
  nome: string
  email: string
  senha: string
}

export interface Site {
  readonly product: Product
  /** A page of a new visitor; whatever it complains about in its console fails the test. */
  visit(path: string, options?: BrowserContextOptions): Promise<Page>
  /** An account made through the API. */
  createAccount(name: string): Promise<Account>
  /** A page of somebody who has logged in through the screen. */
  enter(account: Account, options?: BrowserContextOptions): Promise<Page>
  /** A page of somebody who has logged in before. */
  resume(account: Account, path: string, options?: BrowserContextOptions): Promise<Page>
}

/** The product with the built web application and a browser, for the tests of one file. */
export function useSite(options: ProductOptions = {}): Site {
  let product: Product
  let browser: Browser
  const contexts: BrowserContext[] = []
  const complaints: string[] = []
  const stack = new AsyncDisposableStack()

  beforeAll(async () => {
    await buildWeb(root, () => {})
    browser = await launchBrowser()
    stack.defer(() => browser.close())
    product = stack.use(await startProduct(options))
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    expect(complaints.splice(0)).toEqual([])
  })
  afterAll(() => stack.disposeAsync())

  const site: Site = {
    get product() {
      return product
    },
    async visit(path, contextOptions = {}) {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        locale: 'pt-BR',
        timezoneId: 'America/Sao_Paulo',
        acceptDownloads: true,
        ...contextOptions,
      })
      contexts.push(context)
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      const page = await context.newPage()
      listen(page, complaints)
      onTestFailed(async ({ task }) => {
        const folder = join(root, 'test-results')
        await mkdir(folder, { recursive: true })
        const name = task.name.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80)
        await page.screenshot({ path: join(folder, `${name}.png`) }).catch(() => undefined)
      })
      await page.goto(product.url + path)
      return page
    },
    async createAccount(name) {
      const account = { nome: name, email: `${name.toLowerCase()}@empresa.example`, senha: 'segredo-123' }
      const response = await fetch(`${product.url}/v1/api/Usuarios`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ ...account, tipoPlano: 2 }),
      })
      expect(response.ok, await response.text()).toBe(true)
      return account
    },
    async enter(account, contextOptions) {
      const page = await site.visit('/login', contextOptions)
      await login(page, account)
      await page.waitForURL('**/dashboard')
      return page
    },
    async resume({ email, senha }, path, contextOptions) {
      const page = await site.visit('/login', contextOptions)
      const response = await fetch(`${product.url}/v1/api/Auth`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ email, senha }),
      })
      const { data } = await response.json()
      const stored = JSON.stringify({ ...data, email })
      await page.evaluate((stored) => localStorage.setItem('vigia.session', stored), stored)
      await page.goto(product.url + path)
      return page
    },
  }
  return site
}

/** Asks or changes the database behind the product, as no call of it can. */
export async function query<Row extends pg.QueryResultRow>(
  { databaseUrl }: Pick<Product, 'databaseUrl'>,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  try {
    return (await database.query<Row>(text, values)).rows
  } finally {
    await database.end()
  }
}

export async function login(page: Page, { email, senha }: Pick<Account, 'email' | 'senha'>): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Senha', { exact: true }).fill(senha)
  await page.getByRole('button', { name: 'Entrar' }).click()
}

/** Registers a company through the screen, with a certificate of the simulated authority. */
export async function registerCompany(
  page: Page,
  product: Product,
  holder: { cnpj: string; nome: string },
): Promise<void> {
  const senha = 'senha do arquivo'
  const pfx = await product.simulator.issueCertificate({ ...holder, senha, sharedKey: true })
  await page.goto(`${product.url}/empresas/nova`)
  await chooseCertificate(page, 'empresa.pfx', pfx)
  await page.getByLabel('Senha do certificado').fill(senha)
  await page.getByRole('button', { name: 'Salvar Empresa' }).click()
  await shown(page.getByText('Empresa cadastrada com sucesso!'))
  await page.waitForURL('**/empresas/editar/*')
}

export async function chooseCertificate(page: Page, name: string, content: Uint8Array): Promise<void> {
  await chooseCertificates(page, [{ name, content }])
}

export async function chooseCertificates(page: Page, files: { name: string; content: Uint8Array }[]): Promise<void> {
  const chosen = files.map(({ name, content }) => ({
    name,
    mimeType: 'application/x-pkcs12',
    buffer: Buffer.from(content),
  }))
  await page.locator('input[type=file]').setInputFiles(chosen)
}

export async function shown(locator: Locator, timeout = 10_000): Promise<void> {
  await locator.first().waitFor({ state: 'visible', timeout })
}

export async function textOf(locator: Locator): Promise<string> {
  return (await locator.first().textContent()) ?? ''
}

/** Presses Tab until the focus is on what is called so, as often as a patient person would. */
export async function tabTo(page: Page, accessibleName: RegExp): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab')
    const name = await page.evaluate(() => {
      const element = document.activeElement
      const control = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
      const label = control ? element.labels?.[0]?.textContent : undefined
      return element?.getAttribute('aria-label') ?? label ?? element?.textContent ?? ''
    })
    if (accessibleName.test(name)) return
  }
  throw new Error(`Tab never reaches ${accessibleName}`)
}

/** The words on what has the focus. */
export async function focusedText(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent ?? '')
}

/** Fails with the rules and the elements that axe-core finds against WCAG 2.2 AA. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(await axeSource)
  // A toast that comes meanwhile is seen through for a moment.
  const first = await violationsOf(page)
  expect(first.length > 0 ? await violationsOf(page) : first, page.url()).toEqual([])
}

async function violationsOf(page: Page): Promise<string[]> {
  // A lamp that is lit pulses for ever.
  await page.evaluate(() => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    return Promise.all(ending.map((animation) => animation.finished.catch(() => {})))
  })
  return page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
    // axe-core adds itself to the page.
    const { axe } = globalThis as typeof globalThis & { axe: typeof import('axe-core') }
    const { violations } = await axe.run(document, { runOnly: tags })
    return violations.map((violation) => {
      const nodes = violation.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`)
      return `${violation.id}: ${nodes.join(' | ')}`
    })
  })
}

/** Nothing sticks out to the right of the screen. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(excess, page.url()).toBe(0)
}

function listen(page: Page, complaints: string[]) {
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    // The browser itself writes a line for every answer that is not a success, expected or not.
    const expected = message.text().startsWith('Failed to load resource')
    if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(message.text())
  })
}
