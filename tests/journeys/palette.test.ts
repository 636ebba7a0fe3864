import { expect, test } from 'vitest'
import { periodOf, rowsOf, settledAccount } from './captured.ts'
import { type Account, focusedText, shown, useSite } from './site.ts'

const site = useSite()
let account: Account | undefined
let few = ''
const open = async (path?: string) => {
  if (!account) {
    const known = await settledAccount(site)
    few = `/notas-fiscais?${periodOf(await known.client.list('TipoDFe=0'), 5, 'newest')}`
    account = known.account
  }
  return site.resume(account, path ?? few)
}

test('Ctrl+K goes to screens and companies, by the keyboard alone', async () => {
  const page = await open()
  await shown(rowsOf(page).first())
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Busca rápida' })
  await shown(palette.getByRole('option', { name: 'Dashboard' }))
  await page.keyboard.type('auditoria')
  await shown(palette.getByRole('option', { name: 'Auditoria' }))
  await page.keyboard.press('Enter')
  await page.waitForURL('**/auditoria')

  await page.getByRole('button', { name: 'Busca rápida' }).click()
  await palette.getByRole('combobox').fill('padaria')
  await palette.getByRole('group', { name: 'Empresas' }).getByRole('option').click()
  await page.waitForURL(/notas-fiscais\?empresa=.*periodo=todos/)
})

test('j and k go through the rows, x selects, and "?" tells so and turns them off', async () => {
  const page = await open()
  await shown(rowsOf(page).nth(2))
  await page.keyboard.press('j')
  const first = await focusedText(page)
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  expect(await focusedText(page)).toBe(first)
  await page.keyboard.press('x')
  await shown(page.getByText('1 selecionada'))
  await page.keyboard.press('?')
  const help = page.getByRole('dialog', { name: 'Teclas' })
  await help.getByLabel('Usar as teclas de uma letra só').uncheck()
  await page.keyboard.press('Escape')
  await help.waitFor({ state: 'detached' })
  await page.keyboard.press('x')
  await shown(page.getByText('1 selecionada'))
})

test('what a list shows is kept under a name, stands in the navigation, and goes after a question', async () => {
  const page = await open('/notas-fiscais?periodo=todos&status=2&ordem=valor')
  await shown(rowsOf(page).first())
  await page.getByRole('button', { name: 'Visões' }).click()
  const dialog = page.getByRole('dialog', { name: 'Visões' })
  await dialog.getByLabel(/^Nome da visão/).fill('As maiores')
  await dialog.getByLabel(/^Na navegação, abrir Notas Fiscais assim/).check()
  await dialog.getByRole('button', { name: 'Guardar o que a lista mostra agora' }).click()
  await dialog.waitFor({ state: 'detached' })
  const navigation = page.getByRole('navigation', { name: 'Principal' })
  await page.goto(`${site.product.url}/dashboard`)
  await navigation.getByRole('link', { name: 'As maiores' }).click()
  await page.waitForURL(/notas-fiscais\?status=2&periodo=todos&ordem=valor&ocultas=/)
  await navigation.getByRole('link', { name: 'Dashboard' }).click()
  await navigation.getByRole('link', { name: 'Notas Fiscais' }).click()
  await page.waitForURL(/notas-fiscais\?status=2/)

  await page.getByRole('button', { name: 'Visões' }).click()
  await dialog.getByRole('button', { name: 'Apagar a visão As maiores' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Apagar', exact: true }).click()
  await shown(dialog.getByText('Nenhuma visão guardada ainda.'))
})
