import { expect, test } from 'vitest'
import { expectAccessible, login, shown, tabTo, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const takenBefore = 'Se já havia uma conta com este email, a senha dela continua a mesma: enviamos um email explicando.'

test('a visitor signs up, is told what is wrong, and logs in', async () => {
  const page = await site.visit('/')
  await page.getByRole('link', { name: 'Experimente Grátis por 7 dias' }).click()
  await page.waitForURL('**/register?tp=1')

  await page.getByRole('button', { name: 'Cadastrar' }).click()
  await shown(page.getByText('Nome é obrigatório'))
  await shown(page.getByText('Email é obrigatório'))
  await shown(page.getByText('Senha é obrigatória'))
  await page.getByLabel('Nome').fill('An')
  await page.getByLabel('Email').fill('ana')
  await page.getByLabel('Senha', { exact: false }).first().fill('12345')
  await page.getByLabel('Celular').fill('11 9999')
  await shown(page.getByText('Nome deve ter pelo menos 3 caracteres'))
  await shown(page.getByText('Email inválido'))
  await shown(page.getByText('Senha deve ter pelo menos 6 caracteres'))
  await shown(page.getByText('Número de celular deve ter entre 10 e 11 dígitos'))
  expect(await page.getByLabel('Celular').inputValue()).toBe('(11) 9999')

  await page.getByLabel('Nome').fill('Ana Lima')
  await page.getByLabel('Email').fill(' ana@padaria.example ')
  await page.getByLabel('Senha', { exact: false }).first().fill('segredo-123')
  await page.getByLabel('Celular').fill('')
  await page.getByLabel('Celular').pressSequentially('11987654321')
  expect(await page.getByLabel('Celular').inputValue()).toBe('(11) 98765-4321')
  const request = page.waitForRequest('**/v1/api/Usuarios')
  await page.getByRole('button', { name: 'Cadastrar' }).click()
  expect((await request).postDataJSON()).toEqual({
    nome: 'Ana Lima',
    email: 'ana@padaria.example',
    senha: 'segredo-123',
    celular: '11987654321',
    tipoPlano: 1,
  })
  await shown(page.getByText('Conta criada com sucesso! Faça login para continuar.'))
  await page.waitForURL('**/login')
  await shown(page.getByText(takenBefore))
  await expectAccessible(page)

  await page.getByLabel('Senha', { exact: true }).fill('segredo-123')
  await page.getByRole('button', { name: 'Entrar' }).click()
  await shown(page.getByText('Login realizado com sucesso!'))
  await page.waitForURL('**/dashboard')
  await shown(page.getByRole('dialog', { name: 'Bem-vindo ao Vigia Fiscal' }))
})

test('the plan of the address is the plan of the account', async () => {
  const page = await site.visit('/register?tp=2')
  await shown(page.getByText(/Plano Profissional/))
  await page.getByLabel('Nome').fill('Bruno')
  await page.getByLabel('Email').fill('bruno@padaria.example')
  await page.getByLabel('Senha', { exact: false }).first().fill('segredo-123')
  const request = page.waitForRequest('**/v1/api/Usuarios')
  await page.getByRole('button', { name: 'Cadastrar' }).click()
  expect((await request).postDataJSON()).toEqual({
    nome: 'Bruno',
    email: 'bruno@padaria.example',
    senha: 'segredo-123',
    tipoPlano: 2,
  })
})

test('a wrong password is said and the form stays', async () => {
  const account = await site.createAccount('Carla')
  const page = await site.visit('/login')
  await page.getByRole('button', { name: 'Entrar' }).click()
  await shown(page.getByText('Email é obrigatório'))
  expect(await page.getByText(takenBefore).count()).toBe(0)
  await shown(page.getByText('Senha é obrigatória'))
  await page.getByLabel('Email').fill('carla')
  await page.getByLabel('Senha', { exact: true }).fill('12345')
  await shown(page.getByText('Email deve ter um formato válido'))
  await shown(page.getByText('Senha deve ter entre 6 e 100 caracteres'))
  await login(page, { email: account.email, senha: 'outra-senha' })
  await shown(page.getByText('Credenciais inválidas.'))
  expect(await page.getByLabel('Email').inputValue()).toBe(account.email)
  expect(new URL(page.url()).pathname).toBe('/login')
  await expectAccessible(page)
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
