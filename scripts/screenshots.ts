import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import { launchBrowser } from '../tests/support/browser.ts'
import { companyScenes } from './screenshots/company-scenes.ts'
import { documentScenes } from './screenshots/document-scenes.ts'
import { type PhotographedProduct, startProduct } from './screenshots/product.ts'
import { publicScenes } from './screenshots/public-scenes.ts'
import { type Scene, sizes, themes } from './screenshots/scene.ts'
import { siteScenes } from './screenshots/site-scenes.ts'
import { workspaceScenes } from './screenshots/workspace-scenes.ts'

// Every screen and state of the product, for the eyes: `npm run screenshots -- --only notes --size 390 --theme dark`, where `--only` takes
// the beginning of a name. `--site` makes the pictures of the landing page and of the README, in their places. A scene that fails is reported at the end; the others are still made.

type Size = (typeof sizes)[number]
type Theme = (typeof themes)[number]

interface ScreenshotPlan {
  folder: string
  scenes: Scene[]
  sizes: Size[]
  themes: Theme[]
}

const heights: Record<Size, number> = { 390: 844, 768: 1024, 1280: 800, 1920: 1080 }
const patienceMs = 15_000
const everyScene = [...publicScenes, ...workspaceScenes, ...documentScenes, ...companyScenes]

const began = performance.now()
const say = (text: string) => console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`)

// When the terminal is closed, nothing can be printed any more, but everything must still stop in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
const plan = readScreenshotPlan(process.argv.slice(2))
await using stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))
await mkdir(plan.folder, { recursive: true })
say('the product starts')
const product = stack.use(await startProduct())
const browser = await launchBrowser()
stack.defer(() => browser.close())
say(`${plan.scenes.length} scenes begin`)
const failures: string[] = []
for (const size of plan.sizes) failures.push(...(await takeAll(browser, product, plan, size)))
say(`they are in ${plan.folder}`)
for (const failure of failures) console.log(`✗ ${failure}`)
process.exitCode = failures.length > 0 ? 1 : 0

function readScreenshotPlan(args: string[]): ScreenshotPlan {
  const text = { type: 'string' } as const
  const site = { type: 'boolean' } as const
  const { values } = parseArgs({ args, options: { out: text, only: text, size: text, theme: text, site } })
  const root = fileURLToPath(new URL('..', import.meta.url))
  if (values.site) return { folder: root, scenes: siteScenes, sizes: [1280], themes: ['light'] }
  return {
    folder: path.resolve(root, values.out ?? 'screenshots'),
    scenes: chosen('only', values.only, everyScene, ({ name }, only) => name.startsWith(only)),
    sizes: chosen('size', values.size, sizes, (size, only) => String(size) === only),
    themes: chosen('theme', values.theme, themes, (theme, only) => theme === only),
  }
}

function chosen<T>(
  option: string,
  only: string | undefined,
  all: readonly T[],
  matches: (one: T, only: string) => boolean,
): T[] {
  const found = all.filter((one) => only === undefined || matches(one, only))
  if (found.length > 0) return found
  console.error(`There is no --${option} ${only}.`)
  process.exit(2)
}

async function takeAll(
  browser: Browser,
  product: PhotographedProduct,
  plan: ScreenshotPlan,
  size: Size,
): Promise<string[]> {
  await using context = await browser.newContext({
    baseURL: product.url,
    viewport: { width: size, height: heights[size] },
    ...(size < 768 && { hasTouch: true, isMobile: true }),
    locale: 'pt-BR',
    timezoneId: 'America/Sao_Paulo',
    reducedMotion: 'reduce',
  })
  context.setDefaultTimeout(patienceMs)
  const failures: string[] = []
  for (const scene of plan.scenes) {
    const { below = Number.POSITIVE_INFINITY, from = 0 } = scene
    if (size >= below || size < from) continue
    try {
      await take(context, product, plan, size, scene)
    } catch (error) {
      failures.push(`${scene.name} at ${size}: ${String(error).split('\n', 3).join(' ')}`)
    }
  }
  say(`${size} pixels: ${failures.length} failed`)
  return failures
}

// One page for both themes: a screen is told of another theme while it is looked at, as by a system that changes at dusk.
async function take(
  context: BrowserContext,
  product: PhotographedProduct,
  plan: ScreenshotPlan,
  size: Size,
  scene: Scene,
): Promise<void> {
  const { who, path: address, before, prepare, shows, waits = false } = scene
  await context.clearCookies()
  await using page = await context.newPage()
  const calls = listen(page)
  const settled = async () => {
    await shows(page).first().waitFor()
    if (!waits) await ended(calls)
    await page.waitForFunction(isSettled, { waits })
  }
  await page.emulateMedia({ colorScheme: plan.themes[0] ?? null })
  await page.addInitScript((session) => {
    localStorage.clear()
    if (session) localStorage.setItem('vigia.session', session)
  }, JSON.stringify(product.sessions[who]))
  await before?.(page)
  await page.goto(typeof address === 'string' ? address : address(product.facts))
  await prepare?.(page, product.facts)
  // Nothing is pointed at.
  await page.mouse.move(0, 0)
  await settled()
  if (scene.file) return await writeWebp(page, path.join(plan.folder, scene.file))
  await growToPage(page, size)
  for (const theme of plan.themes) {
    await page.emulateMedia({ colorScheme: theme })
    await settled()
    await page.screenshot({
      path: path.join(plan.folder, `${scene.name}-${size}-${theme}.png`),
      animations: 'disabled',
    })
  }
}

// What is in sight, at a third of the size of a PNG.
async function writeWebp(page: Page, file: string): Promise<void> {
  // What just happened elsewhere is not part of the screen.
  await page.addStyleTag({ content: '[data-sonner-toaster] { display: none }' })
  const devtools = await page.context().newCDPSession(page)
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, Buffer.from(data, 'base64'))
}

/** The calls of a page that have no response yet. */
function listen(page: Page): Set<Request> {
  const calls = new Set<Request>()
  page.on('request', (request) => request.url().includes('/v1/api/') && calls.add(request))
  page.on('requestfinished', (request) => calls.delete(request))
  page.on('requestfailed', (request) => calls.delete(request))
  return calls
}

async function ended(calls: ReadonlySet<Request>): Promise<void> {
  for (const deadline = Date.now() + patienceMs; calls.size > 0; await setTimeout(20))
    if (Date.now() > deadline) throw new Error(`no answer: ${[...calls].map((call) => call.url()).join(', ')}`)
}

// On a screen as high as the page, what sticks to its edges covers nothing. What lies over a page covers what is in sight of it.
async function growToPage(page: Page, width: Size): Promise<void> {
  if ((await page.locator('[role=dialog], [role=alertdialog], dialog[open], [role=menu]').count()) > 0) return
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  if (height > heights[width]) await page.setViewportSize({ width, height })
}

/** Runs in the page: its letters, pictures and numbers are there, and nothing is half-way. */
function isSettled({ waits }: { waits: boolean }): boolean {
  const isMoving = (animation: Animation) =>
    animation.playState === 'running' && animation.effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY
  const isBlank = (canvas: HTMLCanvasElement) => {
    if (canvas.width === 0 || canvas.height === 0) return true
    const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] }
    return !data.some((value, index) => index % 4 === 0 && value < 128 && data[index + 3] === 255)
  }
  if (document.fonts.status !== 'loaded' || document.getAnimations().some(isMoving)) return false
  if ([...document.images].some((image) => image.loading !== 'lazy' && !image.complete)) return false
  if (!waits && document.querySelector('.animate-spin, .animate-pulse:not(circle)')) return false
  // Pages of a document out of sight are drawn when somebody gets there.
  const isInSight = (canvas: HTMLCanvasElement) => {
    const { top, bottom } = canvas.getBoundingClientRect()
    return bottom > 0 && top < innerHeight
  }
  return ![...document.querySelectorAll('canvas')].filter(isInSight).some(isBlank)
}
