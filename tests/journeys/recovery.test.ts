import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { letterTo, linkIn } from './letters.ts'
import { failure, press, respond, runUntilShown } from './page.ts'
import { type Account, focusedText, login, query, shown, tabTo, useSite } from './site.ts'

const site = useSite()
const { visitor, go } = site

const sent = 'Iremos enviar um email de recuperação de senha!'
const newPassword = 'outro-segredo-9'

test('who forgot the password chooses a new one by the link of the letter, with the keyboard alone', async () => {
  const account = await site.createAccount('Ana')
  const page = await site.visit('/login')
  await page.getByLabel('Email').fill(account.email)
  await tabTo(page, /^Esqueceu sua senha\?$/)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Recuperar Senha' })
  await shown(dialog)
  // The field is empty each time, whatever the login form has, and it is where the focus is.
  await expect.poll(() => page.evaluate(() => (document.activeElement as HTMLInputElement).name)).toBe('email')
  expect(await dialog.getByLabel('Email').inputValue()).toBe('')
  await page.keyboard.type(account.email)
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

test('the recovery dialog has its texts and rules, and forgets when closed', async () => {
  const page = await site.visit('/login')
  await press(page, 'Esqueceu sua senha?').click()
  const dialog = page.getByRole('dialog', { name: 'Recuperar Senha', exact: true })
  await shown(dialog)
  await dialog.getByRole('button', { name: 'Enviar Email', exact: true }).click()
  await shown(dialog.getByText('Email é obrigatório', { exact: true }))
  const field = dialog.getByLabel('Email')
  await field.fill('caio')
  await dialog.getByText('Email é obrigatório').waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Enviar Email' }).click()
  await shown(dialog.getByText('Email deve ter um formato válido', { exact: true }))
  await dialog.getByRole('button', { name: 'Cancelar', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  await press(page, 'Esqueceu sua senha?').click()
  await shown(dialog)
  expect(await field.inputValue()).toBe('')
  expect(await dialog.getByText('Email deve ter um formato válido').count()).toBe(0)
})

test('a recovery that fails is said and the dialog stays', async () => {
  const page = await visitor()
  await respond(page, '/v1/api/RecuperarSenha', { status: 400, json: failure('Não.') })
  await go(page, '/login')
  const dialog = page.getByRole('dialog')
  await press(page, 'Esqueceu sua senha?').click()
  await dialog.getByLabel('Email').fill('caio@empresa.example')
  await dialog.getByRole('button', { name: 'Enviar Email' }).click()
  await shown(page.getByText('Erro ao enviar email de recuperação. Tente novamente.', { exact: true }))
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  await dialog.waitFor({ state: 'hidden' })
})

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
  await page.getByRole('button', { name: 'Voltar ao Login' }).click()
  await page.waitForURL('**/login')
}

test('a link that expired, a foreign one and half a one each say what they are', async () => {
  const account = await site.createAccount('Carla')
  const link = await askForLink(account)
  const page = await site.visit(link)
  await shown(page.getByLabel('Nova senha', { exact: true }))
  await query(site.product, `update mail_link set expires_at = now() - interval '1 minute' where used_at is null`)
  // The link expires while the person thinks; the typed text stays.
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

test('a link that could not be checked may be good, and is checked again', async () => {
  const account = await site.createAccount('Fabio')
  const link = await askForLink(account)
  const page = await visitor()
  await page.route('**/v1/api/RecuperarSenha/*', (route) => route.abort('connectionrefused'))
  await page.clock.install()
  await go(page, link)
  await runUntilShown(page, page.getByText(/^Falha após 4 tentativas\. Último erro: /), 500)
  await expect.poll(() => focusedText(page)).toBe('Token Inválido')
  await page.unroute('**/v1/api/RecuperarSenha/*')
  await page.getByRole('button', { name: 'Tentar novamente' }).click()
  await shown(page.getByLabel('Nova senha', { exact: true }))
})
