import { expect, test } from 'vitest'
import { execute } from '../../support/database.ts'
import { letterTo, linkIn } from '../letters.ts'
import { expectAccessible, expectNoSidewaysScroll, login, phone, query, shown, textOf, useSite } from '../site.ts'

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

test('a key is made, shown once and used by a program, and lets nobody in once it is removed', async () => {
  const account = await site.createAccount('Ana')
  const page = await site.resume(account, '/integracoes')
  await page.getByRole('button', { name: 'Nova chave' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Criar chave' }).click()
  await shown(dialog.getByText('Dê um nome à chave: o do sistema que vai usá-la'))
  await dialog.getByRole('textbox', { name: 'Nome' }).fill('ERP')
  await dialog.getByRole('checkbox', { name: /^Ler empresas/ }).check()
  await dialog.getByRole('button', { name: 'Criar chave' }).click()
  const key = await textOf(dialog.getByText(/^vigia_[0-9a-f]{64}$/))
  await dialog.getByRole('button', { name: 'Já guardei' }).click()
  const row = page.getByRole('row', { name: /^ERP/ })
  await shown(row.getByText('Ler documentos e Ler empresas'))
  expect(await page.content()).not.toContain(key)

  const ask = async (path: string) =>
    (await fetch(new URL(path, site.product.url), { headers: { authorization: `Bearer ${key}` } })).status
  expect(await ask('/v1/api/Empresas/obter-empresas')).toBe(200)
  expect(await ask('/v1/api/DocumentosFiscais/exportacoes')).toBe(403)
  await page.reload()
  await shown(row.getByText('na última hora'))

  await row.getByRole('button', { name: 'Apagar ERP' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Apagar' }).click()
  await shown(page.getByText('Nenhuma chave ainda'))
  expect(await ask('/v1/api/Empresas/obter-empresas')).toBe(401)
})

test('a webhook is added, and a test shows what became of it', async () => {
  const account = await site.createAccount('Bruno')
  const page = await site.resume(account, '/integracoes')
  await page.getByRole('button', { name: 'Novo webhook' }).click()
  const dialog = page.getByRole('dialog')
  // Nothing leaves to it.
  await dialog.getByRole('textbox', { name: 'Endereço' }).fill('https://127.0.0.1/aviso')
  await dialog.getByRole('checkbox', { name: 'Cancelamento' }).uncheck()
  await dialog.getByRole('button', { name: 'Criar webhook' }).click()
  await shown(dialog.getByText(/^whsec_/))
  await dialog.getByRole('button', { name: 'Já guardei' }).click()
  await page.getByRole('button', { name: 'Enviar teste' }).click()
  const delivery = dialog.getByRole('listitem').first()
  await shown(delivery.getByText('Falhou'))
  await shown(delivery.getByText(/^1 tentativa · /))
  await delivery.getByRole('button', { name: 'Reenviar' }).click()
  await shown(delivery.getByText(/^2 tentativas · /))
})

test('a webhook is for some of many companies, which are searched for', async () => {
  const account = await site.createAccount('Carla')
  await execute(
    site.product.databaseUrl,
    `insert into company (workspace_id, cnpj, name, search, uf)
     select a.workspace_id, lpad(i::text, 12, '0') || '00', 'FILIAL ' || i || ' LTDA', 'filial ' || i || ' ltda', 35
       from account a, generate_series(1, 60) i where a.email = '${account.email}'`,
  )
  const page = await site.resume(account, '/integracoes')
  await page.getByRole('button', { name: 'Novo webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Endereço' }).fill('https://127.0.0.1/aviso')
  await dialog.getByRole('combobox', { name: 'De quais empresas' }).selectOption('escolhidas')
  await shown(dialog.getByText('E mais 10: busque pelo nome.'))
  const search = dialog.getByRole('searchbox', { name: 'Buscar empresa por nome, CNPJ...' })
  await search.fill('filial 57')
  await dialog.getByRole('checkbox', { name: 'FILIAL 57 LTDA (00.000.000/0057-00)' }).check()
  await search.fill('00.000.000/0043-00')
  await dialog.getByRole('checkbox', { name: 'FILIAL 43 LTDA (00.000.000/0043-00)' }).check()
  await search.fill('girafa')
  await shown(dialog.getByText('Nenhuma empresa com isso no nome ou no CNPJ.'))
  await shown(dialog.getByText('2 empresas escolhidas'))
  await search.press('Enter')
  await dialog.getByRole('button', { name: 'Criar webhook' }).click()
  await dialog.getByRole('button', { name: 'Já guardei' }).click()
  await shown(page.getByRole('listitem').getByText(/ · 2 empresas/))
})
