import { expect, test } from 'vitest'
import { login, shown, useSite, workspaceScreens } from './site.ts'

const site = useSite({ roles: ['api'] })
const expired = 'Sessão expirada. Faça login novamente.'

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

test.each(workspaceScreens)('without a session %s leads to the login', async (screen) => {
  const page = await site.visit(screen)
  await page.waitForURL('**/login')
})

test('a server that is away is asked four times, then named; the list comes when it is back', async () => {
  const page = await site.enter(await site.createAccount('Daniel'))
  let attempts = 0
  await page.route('**/v1/api/DocumentosFiscais?*', (route) => {
    attempts++
    return route.abort('connectionrefused')
  })
  await page.goto(`${site.product.url}/notas-fiscais`)
  await shown(page.getByText('Carregando documentos...'))
  await shown(page.getByText(/^Erro ao carregar dados: Falha após 4 tentativas\. Último erro: /), 20_000)
  expect(attempts).toBe(4)
  await page.unroute('**/v1/api/DocumentosFiscais?*')
  await page.getByRole('button', { name: 'Tentar novamente' }).click()
  await shown(page.getByText(/^Nenhuma nota fiscal/))
})
