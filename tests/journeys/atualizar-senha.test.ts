import pg from 'pg'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { letterTo, linkIn } from './letters.ts'
import { type Account, expectAccessible, expectNoSidewaysScroll, focusedText, phone, shown, useSite } from './site.ts'

const site = useSite()

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
  await page.getByRole('button', { name: 'Voltar ao Login' }).click()
  await page.waitForURL('**/login')
}

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

test.each([[null], [{ email: 'ana@empresa.example' }], [{ validoAte: 'logo' }]])(
  'of the check only success and message count: with %j a password can be chosen',
  async (data) => {
    const page = await site.visit('/login')
    await page.route('**/v1/api/RecuperarSenha/*', (route) =>
      route.fulfill({ json: { success: true, message: '', data } }),
    )
    await page.goto(`${site.product.url}/atualizar-senha/um-token-de-outro`)
    await shown(page.getByLabel('Nova senha', { exact: true }))
    await shown(page.getByText(/^Este link vale uma vez só\. Com a senha nova/))
  },
)

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
