import { glob, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Account, focusedText, phone, shown, textOf, useSite } from './site.ts'

// Script that a first visit loads: docs/decisions/0022-measuring-the-web-application.md.
const listScriptBytesMax = 150_000
const site = useSite({ roles: ['api'] }, { newPages: true })
let account: Promise<Account> | undefined
const someone = () => (account ??= site.createAccount('Ana'))

test('the list of documents loads no more script than it needs', async () => {
  for (const options of [{}, phone]) {
    const page = await site.resume(await someone(), '/notas-fiscais', options)
    await shown(page.getByRole('heading', { name: 'Notas Fiscais', level: 1 }))
    expect(await scriptBytes(page)).toBeLessThanOrEqual(listScriptBytesMax)
  }
})

test('what opens over a screen is fetched when the screen has what it shows', async () => {
  const page = await site.resume(await someone(), '/help')
  await page.waitForLoadState('networkidle')
  await page.clock.install()
  const answers = await hold(page, '**/v1/api/DocumentosFiscais?*')
  const fetched: string[] = []
  page.on('request', (request) => fetched.push(request.url()))
  const isHere = () => ['floating', 'user-menu', 'sheet'].every((name) => fetched.some((url) => url.includes(name)))
  await page.goto(new URL('/notas-fiscais', page.url()).href)
  await shown(page.getByText('Carregando documentos...'))
  await page.clock.runFor(3_000)
  expect(isHere()).toBe(false)
  answers.release()
  await expect.poll(isHere).toBe(true)
})

test('what is opened before its code is here opens with it, and keeps the focus', async () => {
  const page = await site.resume(await someone(), '/help')
  const user = page.getByRole('button', { name: 'Usuário' })
  const menu = page.getByRole('menu')

  const asked = await openList(page)
  await user.focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => asked.waiting).toBe(true)
  expect(await focusedText(page)).toBe('Usuário')
  expect(await user.getAttribute('aria-haspopup')).toBe('menu')
  expect(await user.getAttribute('aria-expanded')).toBe('false')
  asked.release()
  await shown(menu)
  await expect.poll(() => focusedText(page)).toBe('Minha conta')
  expect(await user.getAttribute('aria-expanded')).toBe('true')
  await page.keyboard.press('Escape')
  await menu.waitFor({ state: 'detached' })
  await expect.poll(() => focusedText(page)).toBe('Usuário')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focusedText(page)).toBe('Minha conta')

  const again = await openList(page)
  await page.getByRole('button', { name: 'Manifestar' }).click()
  await page.getByLabel('Data de emissão').click()
  await expect.poll(() => again.waiting).toBe(true)
  again.release()
  await shown(page.getByRole('dialog', { name: 'Período' }))
  // The menu was left before it could open.
  expect(await menu.count()).toBe(0)
  await page.keyboard.press('Escape')
  await expect.poll(() => focusedText(page)).toMatch(/^01\//)
  await page.getByRole('button', { name: 'Manifestar' }).click()
  await shown(menu)
})

test('so does what covers a phone', async () => {
  const page = await site.resume(await someone(), '/help', phone)
  for (const [name, title] of [
    ['Alternar navegação', 'Navegação'],
    ['Data de emissão', 'Período'],
  ] as const) {
    const code = await openList(page)
    const trigger = page.getByLabel(name)
    await trigger.tap()
    await expect.poll(() => code.waiting).toBe(true)
    code.release()
    const dialog = page.getByRole('dialog', { name: title })
    await shown(dialog)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => trigger.evaluate((element) => element === document.activeElement)).toBe(true)
  }
})

test('icons alone get their tooltips without losing the focus', async () => {
  const page = await site.resume(await someone(), '/help', { viewport: { width: 800, height: 800 } })
  const tooltip = page.getByRole('tooltip')
  const code = await hold(page, '**/assets/balloon-*.js')
  await page.reload()
  await page.getByRole('link', { name: 'CTe', exact: true }).focus()
  await expect.poll(() => code.waiting).toBe(true)
  code.release()
  const next = page.getByRole('link', { name: 'Alertas', exact: true })
  await expect.poll(() => next.getAttribute('data-state')).toBe('closed')
  expect(await focusedText(page)).toBe('CTe')
  await page.keyboard.press('Tab')
  await expect.poll(() => textOf(tooltip)).toBe('Alertas')
  await page.keyboard.press('Shift+Tab')
  await expect.poll(() => textOf(tooltip)).toBe('CTe')
})

// Circular imports run in an arbitrary order: declarations of one file may be missing in the other.
test('no file of the built site needs itself', async () => {
  const folder = fileURLToPath(new URL('../../apps/web/dist/assets/', import.meta.url))
  const needs = new Map<string, string[]>()
  for await (const file of glob(`${folder}*.js`)) {
    const text = await readFile(file, 'utf8')
    const imports = text.matchAll(/(?:^|[;}])(?:import|export)\b[^;'"()]*["']\.\/([^"']+)["']/g)
    needs.set(
      basename(file),
      Array.from(imports, ([, name]) => name!),
    )
  }
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const name of needs.get(from) ?? []) if (!seen.has(name)) reach(name, seen.add(name))
    return seen
  }
  expect([...needs.values()].flat().length).toBeGreaterThan(needs.size)
  expect([...needs.keys()].filter((file) => reach(file).has(file))).toEqual([])
})

// The list, without the code of what opens over it.
async function openList(page: Page) {
  const code = await hold(page, '**/assets/floating-*.js')
  await page.goto(new URL('/notas-fiscais', page.url()).href)
  await shown(page.getByRole('heading', { name: 'Notas Fiscais', level: 1 }))
  return code
}

// Lets nothing of it through until it is released.
async function hold(page: Page, url: string) {
  const { promise: letGo, resolve } = Promise.withResolvers<void>()
  const held = { waiting: false, release: resolve }
  await page.unroute(url)
  await page.route(url, async (route) => {
    held.waiting = true
    await letGo
    await route.continue()
  })
  return held
}

async function scriptBytes(page: Page): Promise<number> {
  // Until the documents are here: what comes later is not waited for. Where they are late, other timers than theirs have begun.
  const handle = await page.waitForFunction(() => {
    const all = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
    const list = all.find(({ name }) => name.includes('/v1/api/DocumentosFiscais?'))
    if (!list) return null
    return all
      .filter(
        ({ name, startTime }) =>
          /\.m?js$/.test(name) && startTime <= Math.min(list.responseEnd, list.startTime + 1_500),
      )
      .map(({ encodedBodySize }) => encodedBodySize)
  })
  const scripts = (await handle.jsonValue())!
  expect(scripts.length).toBeGreaterThan(2)
  return scripts.reduce((sum, bytes) => sum + bytes, 0)
}
