import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { rowsOf, settledAccount } from './captured.ts'
import { shown, useSite } from './site.ts'

// Pages that keep the application, as those of people do.
const site = useSite(undefined, { newPages: true })
const keeping = { serviceWorkers: 'allow' } as const

test('of documents the browser keeps nothing; without a connection the application opens, goes to other screens and says since when', async () => {
  const page = await site.resume(await site.createAccount('Ana'), '/notas-fiscais', keeping)
  await isKept(page)
  const kept = await page.evaluate(async () => {
    const caches = await globalThis.caches.keys()
    const requests = await Promise.all(caches.map(async (name) => (await globalThis.caches.open(name)).keys()))
    return requests.flat().map(({ url }) => new URL(url).pathname)
  })
  expect(kept).toContain('/dashboard')
  expect(kept.filter((path) => !/^\/(assets\/|dashboard$|theme\.js$|favicon\.svg$)/.test(path))).toEqual([])
  expect(await page.evaluate(() => localStorage.getItem('vigia.lists'))).toBeNull()

  await page.context().setOffline(true)
  await page.goto(`${site.product.url}/dashboard`)
  const notice = page.getByText(/^Sem conexão com o servidor desde \d\d:\d\d; o que está na tela pode estar velho\.$/)
  await shown(notice)
  await shown(page.getByRole('heading', { level: 1, name: 'Dashboard' }))
  // Its code was not needed before.
  await page.getByRole('link', { name: 'Ajuda', exact: true }).click()
  await shown(page.getByRole('heading', { level: 1, name: 'Ajuda' }))
  await page.context().setOffline(false)
  await page.goto(`${site.product.url}/dashboard`)
  await shown(page.getByRole('heading', { level: 1, name: 'Dashboard' }))
  await expect.poll(() => notice.count()).toBe(0)
})

test('without a connection a screen that was not loaded fails inside the frame, and comes by itself with the connection', async () => {
  const first = await site.resume(await site.createAccount('Eva'), '/health')
  // The console of another page may say that a script did not come.
  const page = await first.context().newPage()
  // The dashboard would load its welcome later.
  await page.goto(`${site.product.url}/notas-fiscais`)
  await shown(page.getByText('Nenhuma nota fiscal por enquanto'))
  await page.waitForLoadState('networkidle')
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Prazos', exact: true }).click()
  await shown(page.getByText(/^Sem internet só abrem as telas já carregadas\./))
  await shown(page.getByRole('navigation').getByRole('link', { name: 'Dashboard', exact: true }))
  await page.context().setOffline(false)
  await shown(page.getByRole('heading', { level: 1, name: 'Prazos' }), 20_000)

  // The person waits on another screen.
  await page.context().setOffline(true)
  await page.getByRole('link', { name: 'Vencimentos', exact: true }).click()
  await shown(page.getByText(/^Sem internet só abrem as telas já carregadas\./))
  await page.getByRole('link', { name: 'Prazos', exact: true }).click()
  await shown(page.getByRole('heading', { level: 1, name: 'Prazos' }))
  await page.context().setOffline(false)
  await page.getByRole('link', { name: 'Vencimentos', exact: true }).click()
  await shown(page.getByRole('heading', { level: 1, name: 'Vencimentos' }), 20_000)
})

test('the installed application shows the list of before until somebody signs out', async () => {
  const { account } = await settledAccount(site)
  const page = await site.resume(account, '/health', keeping)
  await page.addInitScript(() => {
    const { matchMedia } = window
    window.matchMedia = (query) => matchMedia.call(window, query === '(display-mode: standalone)' ? 'all' : query)
  })
  await page.goto(`${site.product.url}/notas-fiscais?periodo=todos`)
  await shown(rowsOf(page))
  const before = await rowsOf(page).count()
  await isKept(page)
  await page.context().setOffline(true)
  await page.reload()
  await shown(rowsOf(page))
  expect(await rowsOf(page).count()).toBe(before)
  await shown(page.getByText(/^Abaixo está o que recebemos às \d\d:\d\d\.$/))
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.waitForURL('**/login')
  expect(await page.evaluate(() => localStorage.getItem('vigia.lists'))).toBeNull()
})

test('the browser asks before what was typed and not sent is lost by a reload', async () => {
  const page = await site.resume(await site.createAccount('Davi'), '/auditoria#contato')
  const message = page.getByLabel('Mensagem')
  await message.click()
  await message.pressSequentially('A captura parou ontem.')
  page.once('dialog', (question) => void question.dismiss())
  const asked = page.waitForEvent('dialog')
  await page.evaluate(() => location.reload())
  expect((await asked).type()).toBe('beforeunload')
  expect(await message.inputValue()).toBe('A captura parou ontem.')
})

async function isKept(page: Page): Promise<void> {
  await page.evaluate(async () => {
    await navigator.serviceWorker.ready
    if (!navigator.serviceWorker.controller)
      await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve))
  })
}
