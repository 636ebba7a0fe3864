import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { letterTo } from './letters.ts'
import { runUntilShown } from './page.ts'
import { expectNoSidewaysScroll, focusedText, moving, phone, query, shown, tabTo, useSite } from './site.ts'

const site = useSite()

const dialogOf = (page: Page) => page.getByRole('dialog', { name: 'Fale com a Gente' })

async function write(page: Page, email: string, message: string) {
  const dialog = dialogOf(page)
  await dialog.getByLabel('Nome').fill('Bia Torres')
  await dialog.getByLabel('Email').fill(email)
  await dialog.getByLabel('Mensagem').fill(message)
}

test('a visitor writes with the keyboard alone, and the message arrives', async () => {
  const page = await site.visitor(moving)
  await page.clock.install()
  await site.go(page, '/')
  await shown(page.getByRole('button', { name: 'Fale com a Gente' }))
  await tabTo(page, /^Fale com a Gente$/)
  await page.keyboard.press('Enter')
  const dialog = dialogOf(page)
  await shown(dialog)
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('nome')
  await tabTo(page, /^Enviar mensagem$/)
  await page.keyboard.press('Enter')
  await shown(dialog.getByText('Nome é obrigatório'))
  await shown(dialog.getByText('Email é obrigatório'))
  await shown(dialog.getByText('Mensagem é obrigatória'))
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('nome')
  // The form looks for its first error again when it is drawn: before anything is typed, also where this clock is late.
  await page.clock.runFor(1)
  await page.keyboard.type('Bia Torres')
  await tabTo(page, /^Email/)
  await page.keyboard.type('bia@transportes.example')
  await tabTo(page, /^Celular$/)
  await page.keyboard.type('11987654321')
  await tabTo(page, /^Empresa$/)
  await page.keyboard.type('Transportes Serra Azul')
  await tabTo(page, /^Mensagem/)
  await page.keyboard.type('Temos 40 CNPJs.')
  const answer = page.waitForResponse('**/v1/api/Contato')
  await tabTo(page, /^Enviar mensagem$/)
  await page.keyboard.press('Enter')
  const response = await answer
  expect(response.request().postDataJSON()).toEqual({
    nome: 'Bia Torres',
    email: 'bia@transportes.example',
    celular: '11987654321',
    empresa: 'Transportes Serra Azul',
    mensagem: 'Temos 40 CNPJs.',
  })
  const { message } = await response.json()
  await shown(dialog.getByText(message))
  await expect.poll(() => focusedText(page)).toBe(message)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => focusedText(page)).toBe('Fale com a Gente')
  expect(page.url()).toBe(`${site.product.url}/`)

  const { contactEmail } = site.product.config
  const letter = await letterTo(site.product, contactEmail!, /^Fale com a Gente: mensagem/)
  expect(letter.text).toContain('Temos 40 CNPJs.')
  // The next message begins anew, as soon as the dialog has faded out.
  await page.clock.runFor(200)
  await page.getByRole('button', { name: 'Falar com Especialista' }).click()
  await shown(dialog.getByLabel('Mensagem'))
  expect(await dialog.getByLabel('Mensagem').inputValue()).toBe('')
})

test('what was typed survives a failure, a closed dialog and a way back', async () => {
  const page = await site.visitor(phone)
  await page.clock.install()
  await site.go(page, '/')
  await page.getByRole('button', { name: 'Falar com Especialista' }).click()
  const dialog = dialogOf(page)
  await write(page, 'caio@loja.example', 'Quanto custa para 12 empresas?')
  await expectNoSidewaysScroll(page)
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Fale com a Gente' }).click()
  await shown(dialog)
  expect(await dialog.getByLabel('Mensagem').inputValue()).toBe('Quanto custa para 12 empresas?')

  await page.route('**/v1/api/Contato', (route) => route.abort('connectionrefused'))
  await dialog.getByRole('button', { name: 'Enviar mensagem' }).click()
  await shown(dialog.getByRole('button', { name: 'Enviando...' }))
  // Closed now, it would seem that the message was sent.
  await dialog.getByRole('button', { name: 'Fechar' }).click()
  await dialog.waitFor({ state: 'detached' })
  await runUntilShown(page, dialog.getByText('A mensagem não foi enviada. O que você escreveu continua aqui.'), 500)
  expect(await dialog.getByLabel('Mensagem').inputValue()).toBe('Quanto custa para 12 empresas?')
  await page.unroute('**/v1/api/Contato')
  await dialog.getByRole('button', { name: 'Enviar mensagem' }).click()
  await shown(dialog.getByText(/^Recebemos sua mensagem/))
})

test('people do not meet the field that is for programs, and who fills it in gets the same answer', async () => {
  const page = await site.visit('/#contato')
  const dialog = dialogOf(page)
  await shown(dialog)
  const trap = page.locator('input[name=confirmacao]')
  expect(await page.getByLabel('Confirmação').getByRole('textbox').count()).toBe(0)
  await expect.poll(() => dialog.getByRole('textbox').count()).toBe(5)
  expect(await trap.evaluate((input) => getComputedStyle(input.parentElement!.parentElement!).width)).toBe('1px')
  await trap.evaluate((input: HTMLInputElement) => input.focus())
  expect(await trap.evaluate((input) => input === document.activeElement)).toBe(false)
  expect(await trap.getAttribute('autocomplete')).toBe('off')

  await write(page, 'programa@longe.example', 'Compre agora')
  await trap.evaluate((input: HTMLInputElement) => {
    input.value = 'https://longe.example'
  })
  await dialog.getByRole('button', { name: 'Enviar mensagem' }).click()
  await shown(dialog.getByText(/^Recebemos sua mensagem/))
  const rows = await query(site.product, 'select email, suspect from contact_message where suspect')
  expect(rows).toEqual([{ email: 'programa@longe.example', suspect: true }])
  // The dialog was opened by the address: there is no earlier page to go back to.
  await dialog.getByRole('button', { name: 'Fechar' }).first().click()
  await dialog.waitFor({ state: 'detached' })
  expect(page.url()).toBe(`${site.product.url}/`)
})

test('inside the application the form opens over the screen, and going back closes it and nothing else', async () => {
  const account = await site.createAccount('Flavia')
  const page = await site.resume(account, '/empresas')
  await shown(page.getByRole('heading', { level: 1, name: 'Empresas' }))
  await page.evaluate(() => {
    location.hash = 'contato'
  })
  const dialog = dialogOf(page)
  await shown(dialog)
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/empresas')
  await page.goForward()
  await shown(dialog)
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/empresas')
})
