import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { bakery, chooseCertificate, shown, tabTo, textOf, useSite } from './site.ts'

// What the page of a company shows of its capture.
const site = useSite()
// Of no other journey: what is there is asked once an hour, for all that share the product.
const unknown = { cnpj: '27272727000184', nome: 'RELOJOARIA DO BAIRRO LTDA' }

test('by keyboard alone: register a company, follow its first capture until it is whole, and find its first document', async () => {
  const page = await site.resume(await site.createAccount('Ana'), '/empresas/nova')
  await shown(page.getByRole('heading', { name: 'Nova Empresa' }))
  const file = await site.product.simulator.issueCertificate({ ...bakery, senha: 'certa', sharedKey: true })
  // Before the key: what is not awaited yet opens a dialog that nobody sees.
  const chooser = page.waitForEvent('filechooser')
  await tabTo(page, /^Certificado digital/)
  await page.keyboard.press('Enter')
  await (await chooser).setFiles({ name: 'empresa.pfx', mimeType: 'application/x-pkcs12', buffer: Buffer.from(file) })
  // The password takes the focus by itself.
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('password')
  await page.keyboard.type('certa')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByRole('heading', { name: /^Primeira captura/ }))
  await shown(page.getByText(/A primeira captura pode trazer até cerca de três meses de documentos, ou nada/))
  await shown(page.getByText(/A Ciência automática está desligada: nenhuma resposta é enviada em seu nome\./))
  await expect
    .poll(() => page.getByRole('progressbar', { name: 'Captura de NF-e' }).getAttribute('aria-valuenow'), {
      timeout: 60_000,
    })
    .toBe('100')
  await shown(page.getByText(/^Próxima consulta às \d\d:\d\d · posição [\d.]+ de [\d.]+$/))
  await shown(page.getByText(/^\d+ notas fiscais chegaram até agora$/))
  await page.getByRole('link', { name: 'Configurar a Ciência' }).click()
  await shown(page.getByRole('heading', { name: 'Editar Empresa' }))
  const choice = page.getByRole('switch', { name: 'Manifestar Ciência Automaticamente' })
  expect(await choice.getAttribute('aria-checked')).toBe('false')
  await expect.poll(() => choice.evaluate((element) => element === document.activeElement)).toBe(true)
  const seen = () =>
    choice.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect()
      return element.contains(document.elementFromPoint(left + width / 2, top + height / 2))
    })
  await expect.poll(seen).toBe(true)

  await page.getByRole('button', { name: /^Avisos/ }).click()
  await page.getByRole('dialog', { name: 'Avisos' }).getByRole('link', { name: 'Empresa cadastrada' }).click()
  await page.getByRole('dialog', { name: 'Avisos' }).waitFor({ state: 'detached' })
  await page.waitForURL(/\/empresas\/editar\/[^#]*$/)
  // It is the screen that was here already.
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('conteudo')

  await completude(page)
  await page.locator('#conteudo').focus()
  await tabTo(page, /^Ver notas fiscais$/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/notas-fiscais?empresa=*')
  await shown(page.getByRole('button', { name: /^Visualizar/ }), 30_000)
})

async function completude(page: Page) {
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/completude')) asked++
  })
  expect(asked).toBe(0)
  await page.getByRole('heading', { name: 'Completude' }).click()
  const table = page.getByRole('table', { name: 'NF-e' })
  await shown(table)
  await shown(table.getByText('Completo'))
  await shown(table.getByText(/^NSU 1 a [\d.]+$/))
  await Promise.all([
    shown(page.getByRole('button', { name: 'Copiado' })),
    page.getByRole('button', { name: 'Copiar como planilha' }).click(),
  ])
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toMatch(/^Completude de PADARIA ESTRELA DO NORTE LTDA\nServiço\tMês\tPrimeiro NSU/)
  expect(copied).toMatch(/\nNF-e\t\d{4}-\d\d\t1\t\d+\t/)
}

test('a CNPJ that the authority has nothing for is told so; its certificate: who sent it, how long it lasts, another, none', async () => {
  const account = await site.createAccount('Fábio')
  const id = await (await newClient(site.product, account)).register(unknown.cnpj, unknown.nome)
  const page = await site.resume(account, `/empresas/editar/${id}`)
  await shown(page.getByText(/^A SEFAZ ainda não tem NF-e para este CNPJ\./), 60_000)
  const card = page.getByRole('region', { name: 'Certificado Digital' })
  const save = page.getByRole('button', { name: 'Salvar Alterações' })
  await shown(card.getByText(unknown.nome))
  await shown(card.getByText(/^Vence em 36[45] dias$/))
  await shown(card.getByText(/^Fábio, em \d\d\/\d\d\/\d{4} às \d\d:\d\d$/))
  await shown(card.getByText(/^Usado há .+ Ver/), 30_000)
  expect(await textOf(card)).toMatch(/A senha não é mostrada de novo e o arquivo nunca é oferecido para download\./)

  const alerts: string[] = []
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message())
    void dialog.accept()
  })
  await chooseCertificate(page, 'contrato.pdf', new Uint8Array([1]))
  await shown(card.getByText('Por favor, selecione um arquivo .pfx ou .p12'))
  expect(alerts).toEqual(['Por favor, selecione um arquivo .pfx ou .p12'])

  const renewed = Date.now() + 20 * 86_400_000
  const file = await site.product.simulator.issueCertificate({
    ...unknown,
    senha: 'certa',
    expires: renewed,
    sharedKey: true,
  })
  await chooseCertificate(page, 'renovado.P12', file)
  // A file may have an empty password: the server tries it.
  await save.click()
  await shown(card.getByText(/^A senha informada não abre este certificado\./))
  await shown(page.getByText(/^Erro na operação: A senha informada não abre este certificado\./))
  await card.getByLabel('Senha do certificado').fill('certa')
  await save.click()
  await shown(page.getByText('Empresa atualizada com sucesso!'))
  await shown(card.getByText(/^Vence em (19|20) dias$/))
  await card.getByLabel('Senha do certificado').waitFor({ state: 'detached' })

  await card.getByRole('button', { name: 'Remover certificado' }).click()
  const question = page.getByRole('alertdialog', { name: `Remover o certificado de ${unknown.nome}?` })
  await shown(question.getByText(/^Param a captura de NF-e e CT-e e o envio de manifestações/))
  await question.getByRole('button', { name: 'Remover certificado' }).click()
  await shown(page.getByText('Certificado removido'))
  await shown(card.getByText(/^Não informado\./))
})
