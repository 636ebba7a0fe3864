import { expect, test } from 'vitest'
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
