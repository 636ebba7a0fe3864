import { createAccount, operate } from '@vigia/server/start'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { shown, useSite } from '../site.ts'

const site = useSite({ roles: ['api'], config: { signUp: 'invitation', plans: false } })
const aboutPlans = /\bplanos?\b|gr[áa]tis|R\$ ?(9,97|49,87)|cart[ãa]o de cr[ée]dito|teste ou o/i

async function expectNoPlans(page: Page) {
  await shown(page.getByRole('heading', { level: 1 }))
  await page.waitForLoadState('networkidle')
  const text = await page.evaluate(() => document.body.innerText)
  expect(text).not.toMatch(aboutPlans)
  expect(await page.locator('meta[name=description]').getAttribute('content')).not.toMatch(aboutPlans)
}

test('an installation by invitation without plans speaks of neither a plan nor a sign-up that is open', async () => {
  for (const path of ['/', '/termos', '/privacidade', '/login']) await expectNoPlans(await site.visit(path))
  const register = await site.visit('/register')
  await shown(register.getByText('Aqui as contas são feitas por convite: peça um a quem administra o sistema'))
  expect(await register.getByRole('textbox').count()).toBe(0)
  await expectNoPlans(register)

  const { config } = site.product
  const email = 'ana@escritorio.example'
  const senha = await operate(config, (ctx) => createAccount(ctx, { name: 'Ana Souza', email }))
  const page = await site.enter({ nome: 'Ana Souza', email, senha: senha! })
  for (const path of ['/dashboard', '/conta', '/empresas', '/empresas/nova', '/help', '/auditoria']) {
    await site.go(page, path)
    await expectNoPlans(page)
  }
  await page.getByRole('button', { name: 'Usuário' }).click()
  await shown(page.getByText('Conectado como'))
  await expectNoPlans(page)
})
