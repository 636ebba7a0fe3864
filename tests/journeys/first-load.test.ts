import { glob, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { phone, shown, useSite } from './site.ts'

// What a browser is sent that comes for the first time; the reason is in docs/decisions/0022-measuring-the-web-application.md.
const scriptBytesMax = { landing: 90_000, list: 180_000 }
const site = useSite()

test('the landing page loads little script', async () => {
  const page = await site.visit('/', phone)
  await shown(page.getByRole('heading', { level: 1 }))
  expect(await scriptBytes(page)).toBeLessThanOrEqual(scriptBytesMax.landing)
})

test('the list of documents loads no more script than it needs', async () => {
  const account = await site.createAccount('Ana')
  for (const options of [{}, phone]) {
    const page = await site.resume(account, '/notas-fiscais', options)
    await shown(page.getByRole('heading', { name: 'Notas Fiscais', level: 1 }))
    expect(await scriptBytes(page)).toBeLessThanOrEqual(scriptBytesMax.list)
  }
})

test('the dashboard asks for its numbers while its code travels, and once', async () => {
  const page = await site.resume(await site.createAccount('Bia'), '/help')
  await page.waitForLoadState('networkidle')
  const asked: string[] = []
  page.on('request', (request) => {
    const { pathname } = new URL(request.url())
    if (pathname.startsWith('/v1/api/')) asked.push(pathname)
  })
  const { promise: letGo, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/assets/main-*.js', async (route) => {
    await letGo
    await route.continue()
  })
  await page.goto(new URL('/dashboard', page.url()).href, { waitUntil: 'commit' })
  const questions = ['/v1/api/Dashboard', '/v1/api/Empresas/obter-empresas', '/v1/api/Plano']
  await expect.poll(() => asked.toSorted()).toEqual(questions)
  release()
  // It is there when the dashboard has its numbers: there is no company yet.
  await shown(page.getByRole('dialog'))
  expect(asked.toSorted()).toEqual(questions)
})

// Files that need each other run in an order that nobody chose: what one declares may not be there for the other.
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

async function scriptBytes(page: Page): Promise<number> {
  await page.waitForLoadState('networkidle')
  const scripts = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((entry) => entry instanceof PerformanceResourceTiming && /\.m?js$/.test(entry.name))
      .map((entry) => (entry as PerformanceResourceTiming).encodedBodySize),
  )
  expect(scripts.length).toBeGreaterThan(2)
  return scripts.reduce((sum, bytes) => sum + bytes, 0)
}
