import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { failure, onPath, respond } from './page.ts'
import { login, shown, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const { visitor, member, go } = site
const expired = 'Sessão expirada. Faça login novamente.'
const screens = ['/dashboard', '/notas-fiscais', '/cte', '/empresas', '/empresas/nova', '/empresas/editar/um', '/help']

test('leaving ends the session here and on the server', async () => {
  const account = await site.createAccount('Ana')
  const page = await site.enter(account)
  await page.getByRole('button', { name: 'Fazer Depois' }).click()
  await page.getByRole('link', { name: 'Empresas', exact: true }).click()
  await page.waitForURL('**/empresas')
  const stored = await page.evaluate(() => JSON.parse(localStorage.getItem('vigia.session') ?? ''))
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.waitForURL('**/login')
  expect(await page.evaluate(() => localStorage.getItem('vigia.session'))).toBeNull()
  await expect
    .poll(async () => {
      const headers = { Authorization: `Bearer ${stored.token}` }
      return (await fetch(`${site.product.url}/v1/api/Dashboard`, { headers })).status
    })
    .toBe(401)
  expect(await page.getByText(expired).count()).toBe(0)
  await login(page, account)
  await page.waitForURL('**/dashboard')
})

test('a refused token leads to the login, which says why and leads back to the same place', async () => {
  const account = await site.createAccount('Bruno')
  const page = await site.enter(account)
  await page.evaluate(() => {
    const session = JSON.parse(localStorage.getItem('vigia.session') ?? '')
    localStorage.setItem('vigia.session', JSON.stringify({ ...session, token: 'recusado' }))
  })
  await page.goto(`${site.product.url}/notas-fiscais?status=3&periodo=todos`)
  await page.waitForURL('**/login')
  await shown(page.getByText(expired))
  expect(await page.getByText(expired).count()).toBe(1)
  expect(await page.evaluate(() => localStorage.getItem('vigia.session'))).toBeNull()
  await login(page, account)
  await page.waitForURL('**/notas-fiscais?status=3&periodo=todos')
})

test('leaving in one window leaves in the others', async () => {
  const page = await site.enter(await site.createAccount('Carla'))
  const other = await page.context().newPage()
  await other.goto(`${site.product.url}/empresas`)
  await page.getByRole('button', { name: 'Fazer Depois' }).click()
  await page.getByRole('button', { name: 'Sair' }).click()
  await other.waitForURL('**/login')
})

async function storedText(page: Page) {
  return page.evaluate(() => JSON.stringify({ ...localStorage }))
}

test('without a token every screen of the workspace leads to the login', async () => {
  const page = await visitor()
  for (const path of screens) {
    await go(page, path)
    await onPath(page, '/login')
  }
})

test('while the authentication is checked a spinner says so', async () => {
  const page = await member()
  await page.addInitScript(() => {
    const seen = globalThis as typeof globalThis & { checking?: boolean }
    new MutationObserver(() => {
      if (document.body?.textContent.includes('Verificando autenticação...')) seen.checking = true
    }).observe(document, { childList: true, subtree: true, characterData: true })
  })
  await go(page, '/help')
  await shown(page.getByRole('heading', { level: 1 }))
  expect(await page.evaluate(() => (globalThis as typeof globalThis & { checking?: boolean }).checking)).toBe(true)
})

test('every call asks for JSON and carries the token', async () => {
  const page = await member()
  const calls = await respond(page, /^\/v1\/api\//, 'as it is')
  for (const path of ['/dashboard', '/notas-fiscais', '/empresas']) {
    const call = page.waitForRequest(/\/v1\/api\/(Dashboard|DocumentosFiscais|Empresas)/)
    await go(page, path)
    await call
    // The welcome dialog may stand over it, and then it is no heading to be found by its role.
    await shown(page.locator('h1'))
  }
  expect(calls.length).toBeGreaterThan(3)
  const { token } = JSON.parse(JSON.parse(await storedText(page))['vigia.session'])
  for (const call of calls) {
    expect(call.headers().accept, call.url()).toBe('application/json')
    expect(call.headers().authorization, call.url()).toBe(`Bearer ${token}`)
  }
})

test('a 401 of an action ends the session too', async () => {
  const page = await member()
  await respond(page, '/v1/api/Empresas', { status: 401, json: failure('Não autorizado', [], 401) })
  await go(page, '/empresas/nova')
  const file = { name: 'empresa.pfx', mimeType: 'application/x-pkcs12', buffer: Buffer.from('x') }
  await page.locator('input[type=file]').setInputFiles(file)
  await page.getByLabel('Senha do certificado').fill('segredo')
  await page.getByRole('button', { name: 'Salvar Empresa' }).click()
  await onPath(page, '/login')
  await shown(page.getByText(expired, { exact: true }))
})
