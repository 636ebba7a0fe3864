import { expect, test } from 'vitest'
import { failure, onPath, respond } from './page.ts'
import { login, shown, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const { visitor, member, go } = site
const expired = 'Sessão expirada. Faça login novamente.'
const screens = ['/dashboard', '/empresas/editar/um', '/help']

test('leaving ends the session here, in the other windows and on the server', async () => {
  const account = await site.createAccount('Ana')
  const page = await site.resume(account, '/empresas')
  await shown(page.getByRole('heading', { level: 1 }))
  const stored = await page.evaluate(() => JSON.parse(localStorage.getItem('vigia.session') ?? ''))
  const other = await page.context().newPage()
  await other.goto(`${site.product.url}/empresas`)
  await shown(other.getByRole('heading', { level: 1 }))
  await page.getByRole('button', { name: 'Sair' }).click()
  await page.waitForURL('**/login')
  await other.waitForURL('**/login')
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
  const page = await site.resume(account, '/health')
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

test('without a token a screen of the workspace leads to the login', async () => {
  const page = await visitor()
  for (const path of screens) {
    await go(page, path)
    await onPath(page, '/login')
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

test('a 401 of a call of ours, and of a screen for visitors, leads to the login with its sentence', async () => {
  const inside = await member()
  await respond(inside, '/v1/api/Usuarios/conta', { status: 401, json: failure('Não autorizado', [], 401) })
  await go(inside, '/help')
  await onPath(inside, '/login')
  await shown(inside.getByText(expired, { exact: true }))

  const page = await visitor()
  await respond(page, /\/RecuperarSenha\/um-link$/, { status: 401, json: failure('Não autorizado', [], 401) })
  await respond(page, '/v1/api/Usuarios', { status: 401, json: failure('Não autorizado', [], 401) })
  await go(page, '/atualizar-senha/um-link')
  await onPath(page, '/login')
  await shown(page.getByText(expired, { exact: true }))
  await page.getByRole('link', { name: 'Criar conta grátis' }).click()
  await page.getByLabel('Nome').fill('Ana Souza')
  await page.getByLabel('Email').fill('ana@exemplo.com.br')
  await page.getByRole('textbox', { name: /^Senha/ }).fill('segredo-grande')
  await page.getByRole('button', { name: 'Cadastrar' }).click()
  await onPath(page, '/login')
  await shown(page.getByText(expired, { exact: true }))

  await go(page, '/#contato')
  await respond(page, '/v1/api/Contato', { status: 401, json: failure('Não autorizado', [], 401) })
  await page.getByLabel('Nome').fill('Ana Souza')
  await page.getByLabel('Email').fill('ana@exemplo.com.br')
  await page.getByLabel('Mensagem').fill('Temos 40 CNPJs.')
  await page.getByRole('button', { name: 'Enviar mensagem' }).click()
  await onPath(page, '/login')
  await shown(page.getByText(expired, { exact: true }))
})
