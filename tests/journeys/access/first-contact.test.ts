import { expect, test } from 'vitest'
import { bakery, chooseCertificate, focusedText, shown, textOf, useSite } from '../site.ts'

// The product in homologação at the official addresses, as an office meets it; a lookup leads them to hosts that ask for the certificate after
// the request, as IIS does.
const site = useSite(
  { homologacao: {}, simulator: { hostMode: 'afterRequest', companies: [bakery] } },
  { alone: true, newPages: true },
)

test('from sign-up to the first listed and printed document', async () => {
  const page = await site.visit('/register')
  await page.getByLabel('Nome').fill('Ana')
  await page.getByLabel('Email').fill('ana@contadora.example')
  await page.getByRole('textbox', { name: /^Senha/ }).fill('segredo-123')
  await page.getByRole('button', { name: 'Cadastrar', exact: true }).click()
  await page.waitForURL('**/login')
  await expect.poll(() => focusedText(page)).toBe('Entrar')
  await page.getByRole('textbox', { name: /^Senha/ }).fill('segredo-123')
  await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  await page.waitForURL('**/dashboard')

  await site.go(page, '/empresas/nova')
  const file = await site.product.simulator.issueCertificate({ ...bakery, senha: 'certa', sharedKey: true })
  await chooseCertificate(page, 'empresa.pfx', file)
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('password')
  await page.keyboard.type('certa')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByText(/^\d+ notas? fisca(l|is) chega(ram|ou) até agora$/), 60_000)

  await page.getByRole('link', { name: 'Ver notas fiscais' }).click()
  await page.waitForURL('**/notas-fiscais?empresa=*')
  const view = page.getByRole('button', { name: /^Visualizar/, disabled: false }).first()
  await shown(view, 60_000)
  await view.click()
  const dialog = page.getByRole('dialog', { name: /^NF-e / })
  await expect.poll(() => textOf(dialog), { timeout: 30_000 }).toContain('DANFE')
  const address = /\/DocumentosFiscais\/impressao\//
  const printed = Promise.any([page.waitForRequest(address), page.waitForEvent('download')])
  await dialog.getByRole('button', { name: 'Imprimir' }).click()
  expect((await printed).url()).toMatch(address)
})
