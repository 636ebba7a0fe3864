import { expect, test } from 'vitest'
import { expectNoSidewaysScroll, phone, shown, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })

test('what is no page is not found, and leads to the start', async () => {
  const page = await site.visitor()
  for (const path of ['/empresas/editar', '/landing']) {
    await site.go(page, path)
    await shown(page.getByRole('heading', { name: 'Oops! Page not found' }))
    await expect.poll(() => page.title()).toBe(`Página não encontrada · ${site.product.config.productName}`)
  }
  await page.getByRole('link', { name: 'Voltar para página inicial' }).click()
  await page.waitForURL(`${site.product.url}/`)
  await shown(page.getByRole('button', { name: 'Ver Demonstração' }))
})

test('who has logged in is told the same inside the application, and goes back to where he was', async () => {
  const page = await site.resume(await site.createAccount('Ana'), '/dashboard', phone)
  await shown(page.locator('h1'))
  await page.goto(`${site.product.url}/notas`)
  await shown(page.getByRole('heading', { name: 'Oops! Page not found' }))
  await shown(page.getByRole('banner').getByRole('button', { name: 'Sair' }))
  await expectNoSidewaysScroll(page)
  await page.goBack()
  await page.waitForURL('**/dashboard')
})

test('without script the application says what it needs', async () => {
  const page = await site.visit('/login', { javaScriptEnabled: false })
  const { productName } = site.product.config
  expect(await page.locator('noscript').innerText()).toContain(`${productName} precisa de JavaScript para funcionar`)
  expect(await page.locator('noscript').isVisible()).toBe(true)
})
