import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { letterTo, linkIn } from './letters.ts'
import { type FakeResponse, failure, later, onPath, pathOf, respond, runUntilShown, success, toasted } from './page.ts'
import { type Account, focusedText, query, shown, useSite } from './site.ts'

const site = useSite()
const { visitor, go } = site

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
  await page.getByRole('button', { name: 'Voltar ao Login' }).click()
  await page.waitForURL('**/login')
}

test('a link works once, and the session that was open is over', async () => {
  const account = await site.createAccount('Bruno')
  const page = await site.resume(account, '/health')
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
  await query(site.product, `update mail_link set expires_at = now() - interval '1 minute' where used_at is null`)
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

const link = '/v1/api/RecuperarSenha/um-link'
const replace = '/v1/api/RecuperarSenha/atualizar-senha'

test('the password update checks the link first, then shows its form and its rules', async () => {
  const slow = later({ json: success(null) })
  const page = await visitor()
  await respond(page, link, slow.reply)
  await go(page, '/atualizar-senha/um-link')
  const first = page.getByLabel(/^Nova senha/i)
  await shown(page.getByRole('status').or(page.getByText(/Validando|Verificando|Conferindo/i)))
  expect(await page.locator('input[type=password]').count()).toBe(0)
  slow.come()
  await shown(first)
  const submit = page.locator('form').getByRole('button').last()
  await submit.click()
  await shown(page.getByText('Nova senha é obrigatória', { exact: true }))
  await first.fill('12345')
  await submit.click()
  await shown(page.getByText('A senha deve ter pelo menos 6 caracteres', { exact: true }))
  await first.fill('segredo-456')
  await page.getByLabel(/^Confirm/i).fill('segredo-457')
  await submit.click()
  await shown(page.getByText('As senhas não coincidem', { exact: true }))
})

async function replacePassword(page: Page) {
  await page.getByLabel(/^Nova senha/i).fill('segredo-456')
  await page.getByLabel(/^Confirm/i).fill('segredo-456')
  await page.locator('form').getByRole('button').last().click()
}

test('the password update tells a failure, then sends the link and both passwords and goes to the login', async () => {
  const page = await visitor()
  let reply: FakeResponse = 'as it is'
  // A check that brings nothing at all finds a valid link.
  await respond(page, link, { body: '' })
  const calls = await respond(page, replace, () => reply)
  await go(page, '/atualizar-senha/um-link')
  reply = { status: 400, json: failure('Link usado') }
  await replacePassword(page)
  await shown(page.getByText('Erro ao atualizar senha. Tente novamente.', { exact: true }))
  expect(pathOf(page)).toBe('/atualizar-senha/um-link')
  reply = { body: '' }
  await replacePassword(page)
  await toasted(page, 'Senha atualizada com sucesso! Faça o login com sua nova senha.')
  await onPath(page, '/login')
  expect(calls.at(-1)!.postDataJSON()).toEqual({
    urlAcesso: 'um-link',
    senha: 'segredo-456',
    senhaNovamente: 'segredo-456',
  })
})
