import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { shown, textOf, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const web = fileURLToPath(new URL('../../apps/web', import.meta.url))

const pages = [
  ['/termos', 'Termos de uso', [/7 dias grátis, sem cartão/, /R\$ 9,97 por mês: 1 empresa/, /taxa de cancelamento/]],
  [
    '/privacidade',
    'Privacidade',
    [
      /AES-256-GCM/,
      /operador e fazemos/,
      /até 15 dias/,
      /onde você os corrige/,
      /“Sair com tudo” junta num arquivo/,
      /só\s+para demonstração/,
      /serve a todas as que cadastraram esse CNPJ/,
      /Sem telemetria/,
      /ANPD/,
    ],
  ],
  ['/cookies', 'Cookies', [/Dura 7 dias/, /Não há cookies de propaganda/]],
] as const

describe.each(pages)('%s', (path, title, facts) => {
  test('is read without script, and loads none but the one of the theme', async () => {
    const page = await site.visit(path, { javaScriptEnabled: false })
    const { productName, contactEmail } = site.product.config
    expect(await page.title()).toBe(`${title} · ${productName}`)
    await shown(page.getByRole('heading', { level: 1, name: title }))
    await shown(page.getByText(`${productName} v1.0`, { exact: false }))
    for (const fact of facts) await shown(page.getByText(fact))
    expect(await page.locator('main').getByRole('link', { name: contactEmail! }).first().getAttribute('href')).toBe(
      `mailto:${contactEmail}`,
    )
    expect(await page.locator('script').evaluateAll((all) => all.map((script) => script.getAttribute('src')))).toEqual([
      '/theme.js',
    ])
    // What this installation does not have is not spoken of.
    expect(
      await page
        .getByText(/pesquisa de opinião/)
        .filter({ visible: true })
        .count(),
    ).toBe(0)
    const contents = page.getByRole('navigation', { name: 'Nesta página' }).getByRole('link')
    for (const link of await contents.all()) {
      const target = await link.getAttribute('href')
      expect(await page.locator(target!).getByRole('heading').first().textContent()).toBe(await textOf(link))
    }
    await page.getByRole('link', { name: productName }).click()
    await page.waitForURL(`${site.product.url}/`)
  })

  test('prints its text alone, dark on white in the dark theme too', async () => {
    const page = await site.visit(path)
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
    await page.reload()
    expect(await page.getByRole('navigation').filter({ visible: true }).count()).toBe(0)
    const lightness = await page
      .getByRole('heading', { level: 1 })
      .evaluate((heading) => getComputedStyle(heading).color)
    expect(Number(/oklch\(([\d.]+)/.exec(lightness)?.[1])).toBeLessThan(0.4)
  })
})

test('the theme that somebody chose holds here too', async () => {
  const page = await site.visit('/login')
  await page.evaluate(() => localStorage.setItem('vigia.theme', 'dark'))
  await page.goto(`${site.product.url}/termos`)
  expect(await page.locator('html').getAttribute('class')).toBe('dark')
})

test('whatever the application keeps in the browser is named under Cookies', async () => {
  const page = await site.visit('/cookies')
  const words = await textOf(page.locator('main'))
  const names = new Set<string>()
  for await (const file of glob('**/*.{ts,tsx,js}', { cwd: web, exclude: ['dist', 'node_modules'] })) {
    const source = await readFile(`${web}/${file}`, 'utf8')
    for (const [, name] of source.matchAll(/['"`](vigia[._][\w-]+)/g)) if (name) names.add(name)
  }
  expect([...names]).toContain('vigia.session')
  for (const name of names) expect(words).toContain(name)
})
