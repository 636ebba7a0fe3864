import { expect, test } from 'vitest'
import { newClient } from '../../support/client.ts'
import { captured, rowsOf } from '../captured.ts'
import { bakery, shown, textOf, useSite } from '../site.ts'

const site = useSite()

test('a note is checked and written about, in the panel and in the list, and found by it', async () => {
  // An account of its own: the marks stay.
  const account = await site.createAccount('Ana')
  const client = await newClient(site.product, account)
  await client.register(bakery.cnpj, bakery.nome)
  await captured(site, account, client)
  const note = (await client.list('TipoDFe=0')).find(({ notaCompleta }) => notaCompleta)!
  const page = await site.resume(account, `/notas-fiscais?periodo=todos&documento=${note.idDfe}`)
  const panel = page.getByRole('dialog')
  await shown(panel.getByText('Ninguém a marcou como conferida.'))
  await panel.getByRole('button', { name: 'Marcar como conferida' }).click()
  await shown(panel.getByText(/^Conferida por Ana, em /))
  await panel.getByRole('tab', { name: 'Anotações' }).click()
  await panel.getByLabel('Nova observação').fill('Frete combinado por telefone.')
  await panel.getByRole('button', { name: 'Guardar observação' }).click()
  await shown(panel.getByRole('list', { name: 'Observações' }).getByText('Frete combinado por telefone.'))
  expect(await panel.getByLabel('Nova observação').inputValue()).toBe('')
  await shown(panel.getByRole('tab', { name: 'Anotações (1)' }))
  await page.keyboard.press('Escape')

  await page.getByLabel('Mais').selectOption({ label: 'Conferidas' })
  await expect.poll(() => rowsOf(page).count()).toBe(1)
  expect(await textOf(rowsOf(page).first())).toMatch(/Conferida por Ana.*1 observação/)
  await shown(page.getByRole('button', { name: 'Remover filtro No workspace: conferidas' }))

  // Several at once, which then are no longer among those that are left.
  await page.getByLabel('Mais').selectOption({ label: 'Por conferir' })
  await expect.poll(() => rowsOf(page).count()).toBeGreaterThan(1)
  await page.getByRole('checkbox', { name: 'Selecionar todos os documentos da página' }).check()
  const left = await rowsOf(page).count()
  await page.getByRole('button', { name: 'Conferir', exact: true }).click()
  await shown(page.getByText(`${left} documentos marcados como conferidos.`))
  expect(await client.list('TipoDFe=0&Marca=conferidas')).toHaveLength(left + 1)
})
