import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { start as startServer } from '@vigia/server/start'
import pg from 'pg'
import type { Browser, BrowserContextOptions, Disposable, Locator, Page } from 'playwright-core'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { launchBrowser } from '../support/browser.ts'
import { type Product, type ProductOptions, startProduct } from '../support/product.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

/** For the journeys that open and close what slides or fades; the others need not wait for it. */
export const moving: BrowserContextOptions = { reducedMotion: 'no-preference' }

export const bakery = { cnpj: '12ABC34501DE35', nome: 'PADARIA ESTRELA DO NORTE LTDA', uf: 'SP' }
export const market = { cnpj: '11222333000181', nome: 'MERCADO BOM PRECO LTDA', uf: 'RJ' }

let accounts = 0

/** A person who has no account yet. */
function newAccount(name: string): Account {
  const email = `${name.toLowerCase().replaceAll(' ', '.')}${++accounts}@empresa.example`
  return { nome: name, email, senha: 'segredo-123' }
}

export interface Account {
  nome: string
  email: string
  senha: string
}

export interface Site {
  readonly product: Product
  /** A page of a new visitor; whatever it complains about in its console fails the test. */
  visit(path: string, options?: BrowserContextOptions): Promise<Page>
  /** An account made through the API, with an e-mail that no other account has. */
  createAccount(name: string): Promise<Account>
  /** A page of a person who logs in through the screen. */
  enter(account: Account, options?: BrowserContextOptions): Promise<Page>
  /** Page of a new visitor without a screen yet, so that responses can be faked before the first one. */
  visitor(options?: BrowserContextOptions): Promise<Page>
  /** The same of a person with a session; one account and one login serve the whole file. */
  member(options?: BrowserContextOptions): Promise<Page>
  readonly account: Account
  /** Ends the workers: from here on the file needs none, and they never cease to look for work. */
  rest(): Promise<void>
  go(page: Page, path: string): Promise<void>
  /** A page of a person who has a session already. */
  resume(account: Account, path: string, options?: BrowserContextOptions): Promise<Page>
}

// One browser for all the files that a worker runs, and one product for those that want the same of it.
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads there which other fixtures this one needs.
const worker = test.extend('shared', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const stack = new AsyncDisposableStack()
  onCleanup(() => stack.disposeAsync())
  const browser = await launchBrowser()
  stack.defer(() => browser.close())
  const pages = new Map<string, Page>()
  const products = new Map<string, Promise<Product>>()
  const start = async (options: ProductOptions) => stack.use(await startProduct({ ...options, roles: ['api'] }))
  const productFor = (options: ProductOptions): Promise<Product> => {
    const key = JSON.stringify(options)
    const product = products.get(key) ?? start(options)
    products.set(key, product)
    return product
  }
  return { browser, productFor, pages }
})

const desktop = { width: 1280, height: 800 }

interface Borrowed {
  page: Page
  kind: string
  /** Additions to the page that can be removed again. */
  added: { mock: { results: { value: unknown }[] } }[]
  lasting: { mock: { calls: unknown[] } }[]
}

const everyday: ProductOptions = { simulator: { companies: [bakery, market] } }

/**
 * The product with the built web application and a browser. Files with the same `options` share a
 * product and make their own accounts; one that changes it for all accounts (the clock) is `alone`.
 * Tests reuse loaded pages that did not change for good, unless `newPages` is set.
 */
export function useSite(options: ProductOptions = everyday, { alone = false, newPages = false } = {}): Site {
  let product: Product
  let browser: Browser
  let pages: Map<string, Page>
  const borrowed: Borrowed[] = []
  const complaints: string[] = []
  const account = newAccount('Caio Prado')
  let session: string | undefined
  let working: AsyncDisposable | undefined
  const nowhere = '/health'

  worker.beforeAll(async ({ shared }) => {
    ;({ browser, pages } = shared)
    product = alone ? await startProduct(options) : await shared.productFor(options)
    // Files of a shared product without roles start its worker only while they run.
    if (!alone && !options.roles) working = await startServer(product.config, { roles: ['worker'] })
    // The limits of an address would add up over the files.
    await query(product, 'delete from throttle')
  })
  afterEach(async ({ task }) => {
    const failed = task.result?.state === 'fail'
    if (failed) await keepWhatIsShown(borrowed, task.name)
    const told = complaints.splice(0)
    await Promise.all(borrowed.splice(0).map((one) => giveBack(one, !failed && !newPages)))
    expect(told).toEqual([])
  })

  const rest = async () => {
    const ending = working
    working = undefined
    await ending?.[Symbol.asyncDispose]()
  }
  afterAll(async () => {
    await rest()
    // It is not there when it could not be started.
    if (alone) await product?.[Symbol.asyncDispose]()
  })

  // A page that tests use one after another costs half of a new one. What can be changed while it is there makes no other kind of page.
  const borrow = async ({ viewport, colorScheme, reducedMotion, ...ofContext }: BrowserContextOptions) => {
    const kind = JSON.stringify(ofContext)
    const spare = newPages ? undefined : pages.get(kind)
    if (spare) pages.delete(kind)
    const page = spare ?? (await newPage(browser, ofContext))
    await page.setViewportSize(viewport ?? desktop)
    // Animations would have to be waited for, and are drawn without a graphics card.
    await page.emulateMedia({ colorScheme: colorScheme ?? 'light', reducedMotion: reducedMotion ?? 'reduce' })
    const added = [vi.spyOn(page, 'addInitScript').mockClear(), vi.spyOn(page, 'exposeFunction').mockClear()]
    // Changes that stay in a page for good.
    const lasting = [
      vi.spyOn(page, 'routeWebSocket'),
      ...(['install', 'setFixedTime', 'setSystemTime', 'pauseAt', 'runFor', 'fastForward', 'resume'] as const).map(
        (name) => vi.spyOn(page.clock, name),
      ),
    ]
    borrowed.push({ page, kind, added, lasting })
    listen(page, complaints)
    return page
  }
  const giveBack = async ({ page, kind, added, lasting }: Borrowed, mayStay: boolean) => {
    const isSpoiled = page.isClosed() || lasting.some(({ mock }) => mock.calls.length > 0)
    const additions = added.flatMap(({ mock }) => mock.results.map(({ value }) => value as Promise<Disposable>))
    const isReset = mayStay && !isSpoiled && (await resetPage(page, additions, product.url + nowhere))
    if (isReset && !pages.has(kind)) pages.set(kind, page)
    else await page.context().close()
  }
  const show = async (path: string, contextOptions: BrowserContextOptions, session?: string) => {
    const page = await borrow(contextOptions)
    if (page.url() !== product.url + nowhere) await page.goto(product.url + nowhere)
    await page.evaluate((session) => {
      localStorage.clear()
      sessionStorage.clear()
      if (session) localStorage.setItem('vigia.session', session)
    }, session)
    if (path !== nowhere) await page.goto(product.url + path)
    return page
  }

  const post = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(product.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const envelope = await response.json()
    expect(response.ok, envelope.message).toBe(true)
    return envelope.data
  }
  const signUp = (account: Account) => post('/v1/api/Usuarios', { ...account, tipoPlano: 2 })
  const openSession = async ({ email, senha }: Account) => {
    return JSON.stringify({ ...(await post('/v1/api/Auth', { email, senha })), email })
  }

  const site: Site = {
    get product() {
      return product
    },
    visit: (path, contextOptions = {}) => show(path, contextOptions),
    async createAccount(name) {
      const account = newAccount(name)
      await signUp(account)
      return account
    },
    visitor: (options) => site.visit(nowhere, options),
    account,
    rest,
    async member(options = {}) {
      if (!session) {
        await signUp(account)
        session = await openSession(account)
      }
      return show(nowhere, options, session)
    },
    async go(page, path) {
      await page.goto(product.url + path)
    },
    async enter(account, contextOptions) {
      const page = await site.visit('/login', contextOptions)
      await login(page, account)
      await page.waitForURL('**/dashboard')
      return page
    },
    async resume(account, path, contextOptions = {}) {
      return show(path, contextOptions, await openSession(account))
    },
  }
  return site
}

async function newPage(browser: Browser, contextOptions: BrowserContextOptions): Promise<Page> {
  const context = await browser.newContext({
    viewport: desktop,
    locale: 'pt-BR',
    timezoneId: 'America/Sao_Paulo',
    acceptDownloads: true,
    // A service worker would serve cached files to the next test, and bypass faked responses.
    serviceWorkers: 'block',
    ...contextOptions,
  })
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const page = await context.newPage()
  keepCache(page)
  return page
}

interface Interception {
  _updateProtocolRequestInterceptionForSession(
    of: { session: { send(method: string, params: object): Promise<unknown> } },
    initial?: boolean,
  ): Promise<void>
}

/**
 * Playwright switches the cache of the browser off while a page has routes, and each screen would fetch and compile the application again. What a
 * route matches is asked of it all the same.
 */
function keepCache(page: Page): void {
  // No option of Playwright says it.
  const { _connection: connection } = page as unknown as {
    _connection: { toImpl(page: Page): { delegate: { _networkManager: Interception } } }
  }
  const manager = connection.toImpl(page).delegate._networkManager
  const intercept = manager._updateProtocolRequestInterceptionForSession
  manager._updateProtocolRequestInterceptionForSession = async (of, initial) => {
    await intercept.call(manager, of, initial)
    await of.session.send('Network.setCacheDisabled', { cacheDisabled: false })
  }
}

/** Leaves a page at `address` as a new one is, except for its storage; false when it cannot, as after a crash. */
async function resetPage(page: Page, additions: Promise<Disposable>[], address: string): Promise<boolean> {
  try {
    for (const event of heard) page.removeAllListeners(event)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    for (const addition of additions) await (await addition).dispose()
    const context = page.context()
    await Promise.all(context.pages().map((other) => other !== page && other.close()))
    await page.goto(address)
    await context.clearCookies()
    await page.emulateMedia({ media: null })
    await page.mouse.move(0, 0)
    const devTools = await context.newCDPSession(page)
    await devTools.send('Page.resetNavigationHistory')
    await devTools.detach()
    return true
  } catch {
    return false
  }
}

const heard = [
  'console',
  'crash',
  'dialog',
  'pageerror',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
  'websocket',
]

/** Logs the contents of a failed test's pages, and saves pictures of them in `test-results`. */
async function keepWhatIsShown(borrowed: Borrowed[], testName: string): Promise<void> {
  const folder = join(root, 'test-results')
  await mkdir(folder, { recursive: true })
  const name = testName.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, 80)
  const pages = borrowed.flatMap(({ page }) => page.context().pages())
  const draw = (page: Page, index: number) =>
    page.screenshot({ path: join(folder, `${name}-${index + 1}.png`), timeout: 5_000 })
  const tell = async (page: Page) => {
    const text = await page.locator('body').innerText({ timeout: 5_000 })
    const told = text.length > 2_000 ? `${text.slice(0, 1_000)}\n…\n${text.slice(-1_000)}` : text
    console.error(`${page.url()}\n${told}`)
  }
  await Promise.allSettled([...pages.map(draw), ...pages.map(tell)])
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

/** Waits until the first match is visible; a busy machine may take long. */
export async function shown(locator: Locator, timeout = 20_000): Promise<void> {
  await locator.first().waitFor({ state: 'visible', timeout })
}

export async function textOf(locator: Locator): Promise<string> {
  return (await locator.first().textContent()) ?? ''
}

/** Presses Tab until the element with that name has the focus, as often as a patient person would. */
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

/** Lets every call of `url` be refused. */
export async function refuse(page: Page, url: string, message = 'Agora não.'): Promise<void> {
  const json = { success: false, message, data: null, errors: [], statusCode: 409 }
  await page.route(url, (route) => route.fulfill({ status: 409, json }))
}

/** Whether axe-core looks at everything in every theme and size; `npm run soak` does. */
export const everywhere = process.env.RUNS === 'full'

/**
 * Fails with the rules and the elements that axe-core finds against WCAG 2.2 AA; of all rules, or of those named. Of a screen with a dialog or a
 * menu over it that alone is looked at, unless it is everywhere: what lies below has been looked at before.
 */
export async function expectAccessible(
  page: Page,
  { only, view }: { only?: string[]; view?: string } = {},
): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await axeSource)
  // A toast that comes meanwhile is seen through for a moment.
  const first = await violationsOf(page, only)
  const found = first.length > 0 ? await violationsOf(page, only) : first
  expect(found, view ?? page.url()).toEqual([])
}

/** The same in the light and, as far as colours go, in the dark; then it is light again. */
export async function expectAccessibleInBothThemes(page: Page, view?: string) {
  await expectAccessible(page, { view })
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    // Pages without the script of the application read the theme when they are opened.
    await page.evaluate((isDark) => document.documentElement.classList.toggle('dark', isDark), colorScheme === 'dark')
    if (colorScheme === 'dark') await expectAccessible(page, { only: ['color-contrast', 'link-in-text-block'], view })
  }
}

async function violationsOf(page: Page, only: string[] | undefined): Promise<string[]> {
  // Judges the final state of animations; the pulse of a lit lamp never ends.
  await page.evaluate(async () => {
    const ending = () =>
      document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity)
    do {
      for (const animation of ending()) animation.finish()
      // Ending an animation may begin another.
      await new Promise(requestAnimationFrame)
      await new Promise(requestAnimationFrame)
    } while (ending().length > 0)
  })
  return page.evaluate(
    async ({ only, everywhere }) => {
      const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
      const runOnly = only ? ({ type: 'rule', values: only } as const) : ({ type: 'tag', values: tags } as const)
      // Hides rows that differ only in their words, because axe-core takes seconds for a long list.
      const shapeOf = (element: Element): string => {
        const attributes = [...element.attributes].map(({ name, value }) =>
          /^(class|style|role|hidden|type)$/.test(name) ? value : name,
        )
        return `${element.tagName} ${attributes.join()}(${[...element.children].map(shapeOf).join()})`
      }
      const shapes = new Set<string>()
      const repeated = [...document.querySelectorAll<HTMLElement>('tbody tr, li')].filter((row) => {
        const shape = shapeOf(row)
        return shapes.size === shapes.add(shape).size
      })
      for (const row of repeated) row.style.setProperty('display', 'none', 'important')
      // axe-core adds itself to the page.
      const { axe } = globalThis as typeof globalThis & { axe: typeof import('axe-core') }
      const over = everywhere
        ? undefined
        : [...document.querySelectorAll('[role=dialog], [role=alertdialog], [role=menu]')]
            .filter((one) => one.checkVisibility())
            .at(-1)
      const { violations } = await axe.run(over ?? document, {
        runOnly,
        resultTypes: ['violations'],
        // Only rules about sound and orientation need the files, which axe-core would fetch each time.
        preload: false,
      })
      for (const row of repeated) row.style.removeProperty('display')
      return violations.map((violation) => {
        const nodes = violation.nodes.map((node) => `${node.html.slice(0, 160)} ${node.failureSummary}`)
        return `${violation.id}: ${nodes.join(' | ')}`
      })
    },
    { only, everywhere },
  )
}

/** Nothing sticks out to the right of the screen. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
  expect(excess, page.url()).toBe(0)
}

function listen(page: Page, complaints: string[]) {
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('crash', () => complaints.push('the page crashed'))
  page.on('console', (message) => {
    // Browsers log each unsuccessful response, even expected ones, as of a session that ends while its page connects; Playwright logs what it blocks.
    const expected = /^(Failed to load resource|WebSocket connection to|Service Worker registration blocked)/.test(
      message.text(),
    )
    if (['error', 'warning'].includes(message.type()) && !expected) complaints.push(message.text())
  })
}
