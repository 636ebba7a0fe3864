import { expect, test } from 'vitest'
import { letterTo, linkIn } from './letters.ts'
import { failure, later, press, respond, toasted } from './page.ts'
import { focusedText, login, shown, tabTo, useSite } from './site.ts'

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

test('the recovery sends the e-mail trimmed, tells the success, clears the field and closes', async () => {
  const page = await visitor()
  const slow = later({ status: 200, body: '' })
  const calls = await respond(page, '/v1/api/RecuperarSenha', slow.reply)
  await go(page, '/login')
  const dialog = page.getByRole('dialog')
  await press(page, 'Esqueceu sua senha?').click()
  await shown(dialog)
  expect(await dialog.getByLabel('Email').inputValue()).toBe('')
  await dialog.getByLabel('Email').fill(' caio@empresa.example ')
  await dialog.getByRole('button', { name: 'Enviar Email' }).click()
  const waiting = dialog.getByRole('button', { name: 'Enviando...', exact: true })
  await shown(waiting)
  expect(await waiting.isDisabled()).toBe(true)
  slow.come()
  await toasted(page, 'Iremos enviar um email de recuperação de senha!')
  await dialog.waitFor({ state: 'hidden' })
  expect(await page.getByText('Erro ao enviar email de recuperação. Tente novamente.').count()).toBe(0)
  expect(calls.at(-1)!.postDataJSON()).toEqual({ email: 'caio@empresa.example' })
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
