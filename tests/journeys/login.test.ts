import { expect, test } from 'vitest'
import { expectAccessible, expectNoSidewaysScroll, login, phone, shown, tabTo, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })

test('the form says what it wants, and every rule under its field', async () => {
  const page = await site.visit('/login', phone)
  await expect.poll(() => page.title()).toBe(`Entrar · ${site.product.config.productName}`)
  await shown(page.getByRole('heading', { name: 'Entrar' }))
  await shown(page.getByText('Faça login em sua conta'))
  await page.getByRole('button', { name: 'Entrar' }).click()
  await shown(page.getByText('Email é obrigatório'))
  await shown(page.getByText('Senha é obrigatória'))
  expect(await page.getByLabel('Email').getAttribute('aria-invalid')).toBe('true')
  await page.getByLabel('Email').fill('   ')
  await shown(page.getByText('Email é obrigatório'))
  for (const email of ['carla', 'carla@padaria', 'carla @padaria.example']) {
    await page.getByLabel('Email').fill(email)
    await shown(page.getByText('Email deve ter um formato válido'))
  }
  for (const senha of ['12345', 'x'.repeat(101)]) {
    await page.getByLabel('Senha', { exact: true }).fill(senha)
    await shown(page.getByText('Senha deve ter entre 6 e 100 caracteres'))
  }
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  await page.getByLabel('Email').fill('carla@padaria.example')
  await page.getByLabel('Senha', { exact: true }).fill('x'.repeat(100))
  await expect.poll(() => page.locator('[aria-invalid=true]').count()).toBe(0)
})

test('the e-mail is sent trimmed and the password as it was typed', async () => {
  const page = await site.visit('/login')
  const request = page.waitForRequest('**/v1/api/Auth')
  await login(page, { email: '  carla@padaria.example ', senha: ' com espaços ' })
  expect((await request).postDataJSON()).toEqual({ email: 'carla@padaria.example', senha: ' com espaços ' })
  await shown(page.getByText('Credenciais inválidas.'))
})

test('a wrong password is said and the form stays', async () => {
  const account = await site.createAccount('Carla')
  const page = await site.visit('/login')
  const answered = Promise.withResolvers<void>()
  await page.route('**/v1/api/Auth', async (route) => {
    await answered.promise
    await route.continue()
  })
  await login(page, { email: account.email, senha: 'outra-senha' })
  const sending = page.getByRole('button', { name: 'Entrando...' })
  await shown(sending)
  expect(await sending.isDisabled()).toBe(true)
  answered.resolve()
  await shown(page.getByText('Credenciais inválidas.'))
  expect(await page.getByLabel('Email').inputValue()).toBe(account.email)
  expect(new URL(page.url()).pathname).toBe('/login')
  await expectAccessible(page)
  await login(page, account)
  await shown(page.getByText('Login realizado com sucesso!'))
  await page.waitForURL('**/dashboard')
  // What was wrong before is over.
  await page.getByText('Credenciais inválidas.').waitFor({ state: 'detached' })
})

test('after too many tries the form says how long to wait', async () => {
  const account = await site.createAccount('Eva')
  const body = JSON.stringify({ email: account.email, senha: 'outra-senha' })
  const guess = () =>
    fetch(`${site.product.url}/v1/api/Auth`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  for (let guesses = 0; guesses < 10; guesses++) expect((await guess()).status).toBe(401)
  const page = await site.visit('/login')
  await login(page, account)
  await shown(page.getByRole('button', { name: 'Entrando...' }))
  // The specification asks a 429 again, three times.
  await shown(
    page.getByRole('alert').filter({ hasText: /^Muitas tentativas em pouco tempo.*espere \d+ minutos/ }),
    30_000,
  )
  await shown(page.getByText('Credenciais inválidas.'))
  expect(await page.getByLabel('Email').inputValue()).toBe(account.email)
  await expectAccessible(page)
})

test('the password can be shown and hidden', async () => {
  const page = await site.visit('/login')
  const field = page.getByLabel('Senha', { exact: true })
  await field.fill('segredo')
  expect(await field.getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: 'Mostrar o texto digitado' }).click()
  expect(await field.getAttribute('type')).toBe('text')
  await page.getByRole('button', { name: 'Ocultar o texto digitado' }).click()
  expect(await field.getAttribute('type')).toBe('password')
})

test('managers of passwords know what is what', async () => {
  const page = await site.visit('/login')
  await shown(page.getByLabel('Email'))
  const hints = await page
    .locator('form input')
    .evaluateAll((all) => all.map((input) => `${input.getAttribute('type')} ${input.getAttribute('autocomplete')}`))
  expect(hints).toEqual(['email username', 'password current-password'])
})

test('the links lead to the sign-up and back', async () => {
  const page = await site.visit('/login')
  await page.getByRole('link', { name: 'Criar conta grátis' }).click()
  await page.waitForURL('**/register')
  await page.goBack()
  await page.getByRole('link', { name: 'Voltar para página inicial' }).click()
  await page.waitForURL(`${site.product.url}/`)
})

test('who is in already is told so', async () => {
  const account = await site.createAccount('Fabio')
  const page = await site.enter(account)
  await page.goto(`${site.product.url}/login`)
  await shown(page.getByText(`Você já entrou como ${account.email}.`))
  await page.getByRole('link', { name: 'Ir para o sistema' }).click()
  await page.waitForURL('**/dashboard')
})

test('a keyboard is enough to log in, move around and log out', async () => {
  const account = await site.createAccount('Daniel')
  const page = await site.visit('/login')
  await page.getByLabel('Email').waitFor()
  await tabTo(page, /^Email/)
  await page.keyboard.type(account.email)
  await tabTo(page, /^Senha/)
  await page.keyboard.type(account.senha)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard')

  await shown(page.getByRole('dialog'))
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await tabTo(page, /^Notas Fiscais$/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/notas-fiscais')
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('conteudo')

  const navigation = page.getByRole('complementary')
  const width = async () => (await navigation.boundingBox())?.width
  expect(await width()).toBe(256)
  await page.keyboard.press('Control+b')
  await expect.poll(width).toBe(48)
  await page.reload()
  await expect.poll(width).toBe(48)

  await tabTo(page, /^Sair$/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/login')
})
