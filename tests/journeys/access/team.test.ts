import { expect, test } from 'vitest'
import { letterTo, linkIn } from '../letters.ts'
import { expectAccessible, expectNoSidewaysScroll, login, phone, query, shown, useSite } from '../site.ts'

const site = useSite()

test('an invitation lets a new person in, who sees no more than they may', async () => {
  const account = await site.createAccount('Olga')
  const page = await site.resume(account, '/equipe')
  await shown(page.getByRole('heading', { level: 1, name: 'Equipe' }))
  await page.getByRole('button', { name: 'Convidar' }).click()
  const dialog = page.getByRole('dialog', { name: 'Convidar para o workspace' })
  const guest = `leitora.${account.email}`
  await dialog.getByLabel('Email').fill(guest)
  await dialog.getByLabel('Papel').selectOption({ label: 'Leitura' })
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Enviar convite' }).click()
  const waiting = page.getByRole('list', { name: 'Convites' }).getByRole('listitem')
  await shown(waiting.filter({ hasText: guest }).getByText('Leitura · todas as empresas'))

  const link = linkIn(await letterTo(site.product, guest, /^Você foi convidado/), /^\/convite\//)
  const hers = await site.visit(link)
  await shown(hers.getByRole('heading', { name: 'Convite' }))
  await shown(hers.getByText(account.nome).first())
  await expectAccessible(hers)
  await hers.getByLabel('Nome').fill('Rita Leitora')
  await hers.getByLabel(/^Senha/).fill('segredo-da-rita')
  await hers.getByLabel(/^Repita a senha/).fill('segredo-da-rita')
  await hers.getByRole('button', { name: 'Aceitar e criar conta' }).click()
  await hers.waitForURL('**/login')
  await login(hers, { email: guest, senha: 'segredo-da-rita' })
  await hers.waitForURL('**/dashboard')
  await shown(hers.getByRole('heading', { level: 1, name: 'Dashboard' }))
  // Only who may register a company is welcomed with that.
  expect(await hers.getByRole('dialog').count()).toBe(0)
  await site.go(hers, '/empresas')
  await shown(hers.getByRole('heading', { level: 1, name: 'Empresas' }))
  await expect.poll(() => hers.getByRole('link', { name: 'Nova Empresa' }).count()).toBe(0)
  await site.go(hers, '/equipe')
  await shown(hers.getByText('A equipe é cuidada por quem administra o workspace.'))

  await page.reload()
  const people = page.getByRole('list', { name: 'Pessoas' }).getByRole('listitem')
  await shown(people.filter({ hasText: 'Rita Leitora' }))
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Tirar Rita Leitora do workspace' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Tirar' }).click()
  await people.filter({ hasText: 'Rita Leitora' }).waitFor({ state: 'detached' })
  await site.go(hers, '/empresas')
  await hers.waitForURL('**/login')
})

test('somebody with an account enters to accept, and goes from workspace to workspace', async () => {
  const [office, person] = [await site.createAccount('Paulo'), await site.createAccount('Sandra')]
  const page = await site.resume(office, '/equipe')
  await page.getByRole('button', { name: 'Convidar' }).click()
  const dialog = page.getByRole('dialog', { name: 'Convidar para o workspace' })
  await dialog.getByLabel('Email').fill(person.email)
  await dialog.getByRole('button', { name: 'Enviar convite' }).click()
  await shown(page.getByRole('list', { name: 'Convites' }))

  const hers = await site.visit(
    linkIn(await letterTo(site.product, person.email, /^Você foi convidado/), /^\/convite\//),
    phone,
  )
  await hers.getByRole('button', { name: 'Fazer login' }).click()
  await hers.waitForURL('**/login')
  await hers.getByLabel('Senha', { exact: true }).fill(person.senha)
  await hers.getByRole('button', { name: 'Entrar' }).click()
  await hers.getByRole('button', { name: 'Aceitar convite' }).click()
  await hers.waitForURL('**/dashboard')
  const switcher = hers.getByRole('button', { name: /^Workspace: / })
  await shown(switcher)
  expect(await switcher.getAttribute('aria-label')).toBe(`Workspace: ${office.nome}. Trocar`)
  await expectNoSidewaysScroll(hers)
  await switcher.click()
  await shown(hers.getByRole('menuitem').filter({ hasText: person.nome }))
  await expectAccessible(hers)
  await hers.getByRole('menuitem').filter({ hasText: person.nome }).click()
  // There she administers, and has no company yet.
  await hers.getByRole('button', { name: 'Fazer Depois' }).click()
  await expect.poll(() => switcher.getAttribute('aria-label')).toBe(`Workspace: ${person.nome}. Trocar`)

  await query(site.product, `update workspace set requires_factor = true where name = $1`, [person.nome])
  await site.go(hers, '/empresas')
  await hers.waitForURL('**/conta#duas-etapas')
  await shown(hers.getByRole('link', { name: 'Ligar agora' }))
  await query(site.product, `update workspace set requires_factor = false where name = $1`, [person.nome])
})
