import pg from 'pg'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { letterTo, linkIn } from './letters.ts'
import {
  type Account,
  expectAccessible,
  expectNoSidewaysScroll,
  focusedText,
  login,
  phone,
  shown,
  tabTo,
  useSite,
} from './site.ts'

const site = useSite()

const sent = 'Iremos enviar um email de recuperação de senha!'
const newPassword = 'outro-segredo-9'

async function askForLink({ email }: Pick<Account, 'email'>): Promise<string> {
  const response = await fetch(`${site.product.url}/v1/api/RecuperarSenha`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email }),
  })
  expect(response.ok, await response.text()).toBe(true)
  return linkIn(await letterTo(site.product, email, /senha nova/), /^\/atualizar-senha\/[\w-]{20,}$/)
}

async function choose(page: Page, senha: string, again = senha) {
  await page.getByLabel('Nova senha', { exact: true }).fill(senha)
  await page.getByLabel('Confirmar nova senha').fill(again)
  await page.getByRole('button', { name: 'Atualizar Senha' }).click()
}

async function expectInvalid(page: Page, message: RegExp) {
  await shown(page.getByRole('heading', { name: 'Token Inválido' }))
  await shown(page.getByText(message))
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Voltar ao Login' }).click()
  await page.waitForURL('**/login')
}

test('who forgot the password chooses a new one by the link of the letter, with the keyboard alone', async () => {
  const account = await site.createAccount('Ana')
  const page = await site.visit('/login')
  await page.getByLabel('Email').fill(account.email)
  await tabTo(page, /^Esqueceu sua senha\?$/)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Recuperar Senha' })
  await shown(dialog)
  // What was typed is not asked again, and it is where the focus is.
  await expect.poll(() => page.evaluate(() => (document.activeElement as HTMLInputElement).value)).toBe(account.email)
  await expectAccessible(page)
  await page.keyboard.press('Enter')
  await shown(page.getByText(sent))
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => focusedText(page)).toBe('Esqueceu sua senha?')
  await shown(page.getByText(`Se houver uma conta com ${account.email}`))

  const letter = await letterTo(site.product, account.email, /senha nova/)
  const requests: string[] = []
  page.on('request', (request) => requests.push(`${request.url()} ${request.headers().referer ?? ''}`))
  await page.goto(site.product.url + linkIn(letter, /^\/atualizar-senha\//))
  await shown(page.getByLabel('Nova senha', { exact: true }))
  await expectAccessible(page)
  await page.keyboard.type(newPassword)
  await tabTo(page, /^Confirmar nova senha$/)
  await page.keyboard.type(newPassword)
  await page.keyboard.press('Enter')
  await shown(page.getByText('Senha atualizada com sucesso! Faça o login com sua nova senha.'))
  await page.waitForURL('**/login')
  expect(requests.filter((request) => !request.startsWith(`${site.product.url}/`))).toEqual([])

  await login(page, account)
  await shown(page.getByText('Credenciais inválidas.'))
  await login(page, { email: account.email, senha: newPassword })
  await page.waitForURL('**/dashboard')
})

test('a link works once, and the session that was open is over', async () => {
  const account = await site.createAccount('Bruno')
  const page = await site.enter(account)
  const link = await askForLink(account)
  await page.goto(site.product.url + link)
  await choose(page, newPassword)
  await page.waitForURL('**/login')
  expect(await page.evaluate(() => localStorage.getItem('vigia.session'))).toBeNull()
  await page.goto(site.product.url + link)
  await expectInvalid(page, /Este link já foi usado/)
})

test('a link that expired, a foreign one and half a one each say what they are', async () => {
  const account = await site.createAccount('Carla')
  const link = await askForLink(account)
  const page = await site.visit(link)
  await shown(page.getByLabel('Nova senha', { exact: true }))
  const database = new pg.Client({ connectionString: site.product.databaseUrl })
  await database.connect()
  await database.query(`update password_recovery set expires_at = now() - interval '1 minute' where used_at is null`)
  await database.end()
  // It ended while somebody was thinking; what was typed stays.
  await choose(page, newPassword)
  await shown(page.getByRole('alert').filter({ hasText: 'Erro ao atualizar senha. Tente novamente.' }))
  await shown(page.getByText(/Este link expirou/))
  expect(await page.getByLabel('Nova senha', { exact: true }).inputValue()).toBe(newPassword)
  await page.reload()
  await expectInvalid(page, /Este link expirou/)

  await page.goto(`${site.product.url}/atualizar-senha/${'a'.repeat(43)}`)
  await expectInvalid(page, /Não reconhecemos este link/)
  await page.goto(`${site.product.url}/atualizar-senha`)
  await expectInvalid(page, /O link está incompleto/)
  await page.goBack()
  await page.getByRole('link', { name: 'Pedir outro link' }).click()
  await shown(page.getByRole('dialog', { name: 'Recuperar Senha' }))
})

test('what is wrong with a new password is said under the fields', async () => {
  const account = await site.createAccount('Daniel')
  const page = await site.visit(await askForLink(account), phone)
  await page.getByRole('button', { name: 'Atualizar Senha' }).click()
  await shown(page.getByText('Nova senha é obrigatória'))
  await choose(page, '12345')
  await shown(page.getByText('A senha deve ter pelo menos 6 caracteres'))
  await choose(page, '123456', '1234567')
  await shown(page.getByText('As senhas não coincidem'))
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
  // Mending the first field is enough when the second one was right.
  await page.getByLabel('Nova senha', { exact: true }).fill('1234567')
  await page.getByText('As senhas não coincidem').waitFor({ state: 'detached' })
  const field = page.getByLabel('Nova senha', { exact: true })
  expect(await field.getAttribute('autocomplete')).toBe('new-password')
  expect(await field.getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: 'Mostrar o texto digitado' }).first().click()
  expect(await field.getAttribute('type')).toBe('text')
})

test('the dialog forgets its field and its error when it closes, and an edit takes the error away', async () => {
  const page = await site.visit('/login')
  const open = page.getByRole('button', { name: 'Esqueceu sua senha?' })
  const dialog = page.getByRole('dialog', { name: 'Recuperar Senha' })
  const field = dialog.getByLabel('Email')
  await open.click()
  await dialog.getByRole('button', { name: 'Enviar Email' }).click()
  await shown(dialog.getByText('Email é obrigatório'))
  await field.fill('ana')
  await dialog.getByText('Email é obrigatório').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Enviar Email' }).click()
  await shown(dialog.getByText('Email deve ter um formato válido'))
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  await dialog.waitFor({ state: 'detached' })
  await open.click()
  await shown(field)
  expect(await field.inputValue()).toBe('')
  expect(await dialog.getByText('Email deve ter um formato válido').count()).toBe(0)

  await page.route('**/v1/api/RecuperarSenha', (route) => route.abort('connectionrefused'))
  await field.fill('ana@empresa.example')
  await dialog.getByRole('button', { name: 'Enviar Email' }).click()
  await shown(dialog.getByRole('button', { name: 'Enviando...' }))
  await shown(dialog.getByText('Erro ao enviar email de recuperação. Tente novamente.'), 30_000)
  expect(await field.inputValue()).toBe('ana@empresa.example')
  await expectAccessible(page)
})

test('nobody learns whether there is an account', async () => {
  const page = await site.visit('/login')
  await page.getByRole('button', { name: 'Esqueceu sua senha?' }).click()
  await page.getByRole('dialog').getByLabel('Email').fill('ninguem@empresa.example')
  await page.getByRole('button', { name: 'Enviar Email' }).click()
  await shown(page.getByText(sent))

  const account = await site.createAccount('Eva')
  await page.goto(`${site.product.url}/register`)
  await page.getByLabel('Nome').fill('Outra Eva')
  await page.getByLabel('Email').fill(account.email)
  await page.getByLabel('Senha', { exact: false }).first().fill('de-outra-pessoa')
  await page.getByRole('button', { name: 'Cadastrar' }).click()
  await shown(page.getByText('Conta criada com sucesso! Faça login para continuar.'))
  await page.waitForURL('**/login')
  // Its owner hears of it, and nothing has changed.
  const letter = await letterTo(site.product, account.email, /já tem uma conta/)
  await page.goto(site.product.url + linkIn(letter, /^\/login$/))
  await login(page, { email: account.email, senha: 'de-outra-pessoa' })
  await shown(page.getByText('Credenciais inválidas.'))
  await login(page, account)
  await page.waitForURL('**/dashboard')
})

test('a link that could not be checked may be good, and is checked again', async () => {
  const account = await site.createAccount('Fabio')
  const link = await askForLink(account)
  const page = await site.visit('/login')
  await page.route('**/v1/api/RecuperarSenha/*', (route) => route.abort('connectionrefused'))
  await page.goto(site.product.url + link)
  await shown(page.getByText(/^Falha após 4 tentativas\. Último erro: /), 30_000)
  await expect.poll(() => focusedText(page)).toBe('Token Inválido')
  await page.unroute('**/v1/api/RecuperarSenha/*')
  await page.getByRole('button', { name: 'Tentar novamente' }).click()
  await shown(page.getByLabel('Nova senha', { exact: true }))
})
