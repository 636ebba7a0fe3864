import { createAccount, operate } from '@vigia/server/start'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { expectAccessible, query, shown, useSite } from '../site.ts'

const site = useSite({ roles: ['api'], config: { signUp: 'invitation', plans: false } })
const aboutPlans = /\bplanos?\b|gr[áa]tis|R\$ ?(9,97|49,87)|cart[ãa]o de cr[ée]dito|teste ou o/i

const ana = { nome: 'Ana Souza', email: 'ana@escritorio.example', senha: '' }
beforeAll(async () => {
  const password = await operate(site.product.config, (ctx) => createAccount(ctx, { name: ana.nome, email: ana.email }))
  ana.senha = password!
})

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

  const page = await site.enter(ana)
  for (const path of ['/dashboard', '/conta', '/empresas', '/empresas/nova', '/help', '/auditoria']) {
    await site.go(page, path)
    await expectNoPlans(page)
  }
  await page.getByRole('button', { name: 'Usuário' }).click()
  await shown(page.getByText('Conectado como'))
  await expectNoPlans(page)
})

test('its administrator releases what is held where they are shown', async () => {
  await query(
    site.product,
    "update installation set held_since = now(), held_why = 'Quem administra o sistema segurou o envio.'",
  )
  await query(site.product, "insert into trouble (key, sentence) values ('liberacao', '')")
  const page = await site.enter(ana)
  await site.go(page, '/dashboard')
  await page.getByRole('button', { name: 'Fazer Depois' }).click()
  await page.getByRole('link', { name: 'Conferir o que espera e liberar o envio' }).click()
  const title = page.getByRole('heading', { name: 'O envio à SEFAZ ainda não foi liberado' })
  await shown(title)
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Liberar o envio' }).click()
  await shown(page.getByText('Envio liberado: o que espera sai nos próximos segundos.'))
  await expect.poll(() => title.count()).toBe(0)
  expect(await query(site.product, 'select from installation where held_since is not null')).toEqual([])
})
