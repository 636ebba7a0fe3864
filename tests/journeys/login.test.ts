import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { coloursOf, hrefOf, later, onPath, press, respond, runUntilShown, toastColours, toasted } from './page.ts'
import { login, shown, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const { visitor, go } = site

test('after too many tries the form says how long to wait', async () => {
  const account = await site.createAccount('Eva')
  const body = JSON.stringify({ email: account.email, senha: 'outra-senha' })
  const guess = () =>
    fetch(`${site.product.url}/v1/api/Auth`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  for (let guesses = 0; guesses < 10; guesses++) expect((await guess()).status).toBe(401)
  const page = await visitor()
  await page.clock.install()
  await go(page, '/login')
  await login(page, account)
  await shown(page.getByRole('button', { name: 'Entrando...' }))
  // The specification asks a 429 again, three times.
  const refusal = page.getByRole('alert').filter({ hasText: /^Muitas tentativas em pouco tempo.*espere \d+ minutos/ })
  await runUntilShown(page, refusal, 500)
  await shown(page.getByText('Credenciais inválidas.'))
  expect(await page.getByLabel('Email').inputValue()).toBe(account.email)
})

test('who is in already is told so', async () => {
  const account = await site.createAccount('Fabio')
  const page = await site.resume(account, '/login')
  await shown(page.getByText(`Você já entrou como ${account.email}.`))
  await page.getByRole('link', { name: 'Ir para o sistema' }).click()
  await page.waitForURL('**/dashboard')
})

async function expectUnder(page: Page, field: string, message: string) {
  const error = page.getByText(message, { exact: true })
  await shown(error)
  const input = page.getByLabel(field, { exact: true })
  const box = await input.boundingBox()
  const below = await error.first().boundingBox()
  expect(below!.y).toBeGreaterThanOrEqual(box!.y + box!.height - 1)
  await expect.poll(() => coloursOf(input)).toContain('red')
}

test('the login has its texts, fields, links and rules', async () => {
  const page = await site.visit('/login')
  await expect.poll(() => page.title()).toBe(`Entrar · ${site.product.config.productName}`)
  await shown(page.getByRole('heading', { name: 'Entrar', exact: true }))
  await shown(page.getByText('Faça login em sua conta', { exact: true }))
  const password = page.getByLabel('Senha', { exact: true })
  await password.fill('segredo')
  expect(await password.getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: /mostrar/i }).click()
  expect(await password.getAttribute('type')).toBe('text')
  await page.getByRole('button', { name: /ocultar/i }).click()
  expect(await password.getAttribute('type')).toBe('password')
  await shown(press(page, 'Esqueceu sua senha?'))
  expect(await hrefOf(page.getByRole('link', { name: 'Criar conta grátis' }))).toBe('/register')
  await expect.poll(() => page.locator('a[href="/"]').count()).toBeGreaterThan(0)
  // Password managers recognise the fields.
  const hints = await page
    .locator('form input')
    .evaluateAll((all) => all.map((input) => `${input.getAttribute('type')} ${input.getAttribute('autocomplete')}`))
  expect(hints).toEqual(['email username', 'password current-password'])
  await password.fill('')
  await rulesUnderFields(page)
})

/** Each rule is said under its field, whose border turns red. */
async function rulesUnderFields(page: Page) {
  await page.getByLabel('Email').fill('   ')
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await expectUnder(page, 'Email', 'Email é obrigatório')
  await expectUnder(page, 'Senha', 'Senha é obrigatória')
  await login(page, { email: 'caio@empresa.example', senha: 'x'.repeat(101) })
  await expectUnder(page, 'Senha', 'Senha deve ter entre 6 e 100 caracteres')
  expect(await page.getByText('Email é obrigatório').count()).toBe(0)
}

test('the login sends the e-mail trimmed and the password as it is, waits, and goes to the dashboard', async () => {
  const slow = later('as it is')
  const { email } = await site.createAccount('Sofia')
  const page = await visitor()
  const calls = await respond(page, '/v1/api/Auth', slow.reply)
  await go(page, '/login')
  await login(page, { email: `  ${email}  `, senha: 'segredo-123' })
  const waiting = page.getByRole('button', { name: 'Entrando...', exact: true })
  await shown(waiting)
  expect(await waiting.isDisabled()).toBe(true)
  const dashboard = page.waitForRequest('**/v1/api/Dashboard')
  slow.come()
  await toasted(page, 'Login realizado com sucesso!')
  expect(await toastColours(page, 'Login realizado com sucesso!')).toContain('green')
  await onPath(page, '/dashboard')
  expect(calls).toHaveLength(1)
  expect(calls[0]!.method()).toBe('POST')
  expect(calls[0]!.postDataJSON()).toEqual({ email, senha: 'segredo-123' })
  const { data } = (await (await calls[0]!.response())!.json()) as { data: { token: string; wsId: string } }
  expect((await dashboard).headers().authorization).toBe(`Bearer ${data.token}`)
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }))
  expect(stored).toContain(data.token)
  expect(stored).toContain(data.wsId)
})

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
