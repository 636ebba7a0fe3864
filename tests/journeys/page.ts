import { type Announcement, operate, tellWorkspace } from '@vigia/server/start'
import type { Locator, Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import { type Site, shown } from './site.ts'

/** Faked result of a call: an envelope, a plain body, nothing at all, or the real response. */
export type FakeResponse =
  | { status?: number; json?: unknown; body?: string | Buffer; contentType?: string }
  | 'no connection'
  | 'no answer'
  | 'as it is'

export function success(data: unknown, message = 'Operação realizada com sucesso') {
  return { success: true, message, data, errors: [] }
}

export function failure(message: string, errors: string[] = [], statusCode = 400) {
  return { success: false, message, data: null, errors, statusCode }
}

/** A row of the companies, as far as the specification names it. */
export const alfa = {
  id: 'um',
  razaoSocial: 'ALFA LTDA',
  cnpj: '11222333000181',
  ativa: true,
  ultimaSincronizacaoNFe: '2026-03-10T10:00:00-03:00',
  ultimaSincronizacaoCTe: null,
  validadeCertificadoA1: '2027-05-06T12:00:00-03:00',
}

/** The data of the dashboard, as far as the specification names it. */
export const month = {
  qtdNfe: 1234,
  qtdCte: 56,
  totalNfeCte: 1290,
  qtdEmpresasCadastradas: 2,
  qtdDocumentosPorEmpresa: [
    { razaoSocial: 'PADARIA AURORA LTDA', qtdNfe: 1200, qtdCte: 50, totalNfeCte: 1250, ativa: true },
    { razaoSocial: 'MERCADO BOA VISTA LTDA', qtdNfe: 34, qtdCte: 6, totalNfeCte: 40, ativa: false },
  ],
  ultimosDocumentosProcessados: [
    { tipoDfe: 0, nomeEmitente: 'GRÁFICA UM', chaveDfe: '1'.repeat(44), dataCadastro: '2026-03-10T12:07:00Z' },
    { tipoDfe: 2, nomeEmitente: 'TRANSPORTES DOIS', chaveDfe: '2'.repeat(44), dataCadastro: '2026-03-10T23:59:00Z' },
    { tipoDfe: 9, nomeEmitente: 'TRANSPORTES TRÊS', chaveDfe: '3'.repeat(44), dataCadastro: '2026-03-10T03:00:00Z' },
  ],
}

/** Fakes the response to calls of `path`, and returns the calls made. */
export async function respond(
  page: Page,
  path: string | RegExp,
  reply: FakeResponse | ((request: Request) => FakeResponse | Promise<FakeResponse>),
): Promise<Request[]> {
  const requests: Request[] = []
  const matches = ({ pathname }: URL) => (typeof path === 'string' ? pathname === path : path.test(pathname))
  await page.route(matches, async (route) => {
    requests.push(route.request())
    const said = typeof reply === 'function' ? await reply(route.request()) : reply
    if (said === 'no connection') await route.abort('connectionfailed')
    else if (said === 'as it is') await route.continue()
    else if (said !== 'no answer') await route.fulfill(said)
  })
  return requests
}

/** A response that comes when the test says so. */
export function later(reply: FakeResponse): { reply: () => Promise<FakeResponse>; come(): void } {
  const { promise, resolve } = Promise.withResolvers<FakeResponse>()
  return { reply: () => promise, come: () => resolve(reply) }
}

export async function workspaceOf(page: Page): Promise<string> {
  return page.evaluate(() => JSON.parse(localStorage.getItem('vigia.session') ?? '').wsId)
}

/** Sends announcements to the workspace of a page, as the operator of the installation can. */
export async function tell(site: Site, page: Page, ...messages: Partial<Announcement>[]): Promise<void> {
  const workspace = await workspaceOf(page)
  await operate(site.product.config, async (ctx) => {
    for (const message of messages) {
      const announcement: Announcement = { topic: 'aviso', kind: 'alert', header: 'Aviso', body: '', ...message }
      expect(await tellWorkspace(ctx, workspace, announcement, 1)).toBe(true)
    }
  })
}

export function toast(page: Page, text: string | RegExp): Locator {
  return page.getByRole('region', { name: /^Avisos/ }).getByText(text, { exact: true })
}

export async function toasted(page: Page, text: string | RegExp): Promise<void> {
  await shown(toast(page, text))
}

export async function toastColours(page: Page, text: string): Promise<Colour[]> {
  return coloursOf(page.getByRole('listitem').filter({ hasText: text }))
}

/** Button or link, because some links look like buttons. */
export function press(within: Page | Locator, name: string | RegExp): Locator {
  const options = { name, exact: true }
  return within.getByRole('button', options).or(within.getByRole('link', options))
}

export async function hrefOf(link: Locator): Promise<string | null> {
  return link.first().getAttribute('href')
}

export function pathOf(page: Page): string {
  return new URL(page.url()).pathname
}

/** Leads to another screen as a link of the application does: the page is not loaded again. */
export async function follow(page: Page, path: string): Promise<void> {
  await page.evaluate((path) => {
    history.pushState(null, '', path)
    dispatchEvent(new PopStateEvent('popstate'))
  }, path)
}

/** The same to a screen with another title, and waits for it: half of what it costs to load the page. */
export async function lead(page: Page, path: string): Promise<void> {
  const title = () => page.locator('h1').first().textContent()
  const before = await title()
  await follow(page, path)
  await expect.poll(title).not.toBe(before)
}

export async function onPath(page: Page, path: string): Promise<void> {
  await page.waitForURL((url) => url.pathname === path)
}

type Colour = 'red' | 'green' | 'blue' | 'yellow' | 'grey'

/** The colours that an element and what is in it are drawn with. */
export async function coloursOf(element: Locator): Promise<Colour[]> {
  const found = await element.first().evaluate((root) => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!
    const colours = new Set<string>()
    for (const node of [root, ...root.querySelectorAll('*')]) {
      const style = getComputedStyle(node)
      const hasBorder = Number.parseFloat(style.borderLeftWidth) > 0 || Number.parseFloat(style.borderTopWidth) > 0
      const used = [
        style.color,
        style.backgroundColor,
        ...(hasBorder ? [style.borderLeftColor, style.borderTopColor] : []),
      ]
      for (const colour of used) {
        context.clearRect(0, 0, 1, 1)
        context.fillStyle = colour
        context.fillRect(0, 0, 1, 1)
        colours.add([...context.getImageData(0, 0, 1, 1).data].join())
      }
    }
    return [...colours].map((colour) => colour.split(',').map(Number))
  })
  return [...new Set(found.map(nameColour))]
}

function nameColour([red = 0, green = 0, blue = 0, alpha = 0]: number[]): Colour {
  const high = Math.max(red, green, blue)
  const spread = high - Math.min(red, green, blue)
  if (alpha < 20 || spread < 24) return 'grey'
  let hue = 0
  if (high === red) hue = (60 * (green - blue)) / spread
  else if (high === green) hue = 120 + (60 * (blue - red)) / spread
  else hue = 240 + (60 * (red - green)) / spread
  if (hue < 0) hue += 360
  if (hue < 22 || hue > 335) return 'red'
  if (hue < 72) return 'yellow'
  if (hue < 175) return 'green'
  return hue < 265 ? 'blue' : 'grey'
}

/** Fixes the time for later loads; timers go on. Unlike Playwright's clock it keeps pages reusable. */
export async function fixTime(page: Page, time: Date): Promise<void> {
  await page.addInitScript((time) => {
    globalThis.Date = new Proxy(Date, {
      construct: (real, args, target) => Reflect.construct(real, args.length > 0 ? args : [time], target),
      get: (real, name) => (name === 'now' ? () => time : Reflect.get(real, name)),
    })
  }, time.getTime())
}

/** The clock of the page stands still from here on: only `untilShown` and `page.clock` move it. */
export async function stopClock(page: Page, time = new Date('2026-03-10T12:00:00-03:00')): Promise<void> {
  await page.clock.install({ time })
  await page.clock.pauseAt(new Date(time.getTime() + 1000))
}

/** Lets the clock of the page run until `done`. */
export async function runUntil(page: Page, done: () => boolean | Promise<boolean>, stepMs = 50): Promise<void> {
  await expect
    .poll(
      async () => {
        if (await done()) return true
        await page.clock.runFor(stepMs)
        return done()
      },
      { interval: 1, timeout: 30_000 },
    )
    .toBe(true)
}

export async function runUntilShown(page: Page, locator: Locator, stepMs = 50): Promise<void> {
  await runUntil(page, () => locator.first().isVisible(), stepMs)
}
