import { expect, test } from 'vitest'
import { execute } from '../../support/database.ts'
import { shown, textOf, useSite } from '../site.ts'

const site = useSite()

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
