import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { chooseCertificate, expectAccessible, registerCompany, shown, textOf, useSite } from './site.ts'

const bakery = { cnpj: '12ABC34501DE35', nome: 'PADARIA ESTRELA DO NORTE LTDA', uf: 'SP' }
const market = { cnpj: '11222333000181', nome: 'MERCADO BOM PRECO LTDA', uf: 'RJ' }
const site = useSite({ simulator: { companies: [bakery, market] } })

test('each problem of a certificate has its own sentence', async () => {
  const page = await site.enter(await site.createAccount('Ana'))
  await page.getByRole('link', { name: 'Cadastrar Primeira Empresa' }).first().click()
  await page.waitForURL('**/empresas/nova')
  expect(await page.getByLabel('Senha do certificado').count()).toBe(0)

  await chooseCertificate(page, 'empresa.pdf', new Uint8Array([1]))
  await shown(page.getByText('Por favor, selecione um arquivo .pfx ou .p12'))

  await chooseCertificate(page, 'EMPRESA.PFX', new TextEncoder().encode('isto não é um certificado'))
  await shown(page.getByText('Processando certificado digital...'))
  await shown(page.getByLabel('Senha do certificado'))
  expect(await page.getByRole('button', { name: 'Salvar Empresa' }).count()).toBe(0)
  await page.getByLabel('Senha do certificado').press('Enter')
  await shown(page.getByText('Por favor, selecione um certificado e digite a senha.'))
  await page.getByLabel('Senha do certificado').fill('qualquer')
  await page.getByRole('button', { name: 'Salvar Empresa' }).click()
  const unreadable = await problem(page)

  const pfx = await site.product.simulator.issueCertificate({ ...bakery, senha: 'certa' })
  await chooseCertificate(page, 'empresa.pfx', pfx)
  await page.getByLabel('Senha do certificado').fill('errada')
  await page.getByRole('button', { name: 'Salvar Empresa' }).click()
  const wrongPassword = await problem(page)
  expect(wrongPassword).toMatch(/senha/i)
  expect(wrongPassword).not.toBe(unreadable)
  await shown(page.getByText(`Erro na operação: ${wrongPassword}`))
  await expectAccessible(page)
})

test('documents arrive by themselves, are filtered, paged, opened and saved', async () => {
  const page = await site.enter(await site.createAccount('Bruno'))
  await registerCompany(page, site.product, bakery)
  await page.waitForURL('**/empresas')
  await shown(page.getByRole('cell', { name: '12.ABC.345/01DE-35' }))
  await registerCompany(page, site.product, market)

  await page.getByRole('link', { name: 'Notas Fiscais' }).click()
  await shown(page.getByRole('heading', { name: 'Todas as Notas Fiscais' }))
  await chooseLast90Days(page)
  // Nothing is pressed: the list grows while the capture goes on.
  const count = page.getByText(/^[\d.]+ notas fiscais/)
  await shown(count, 60_000)
  const rows = page.getByRole('row').filter({ has: page.getByRole('cell') })
  await expect.poll(() => countOf(count), { timeout: 60_000 }).toBeGreaterThan(50)
  await expect.poll(() => rows.count()).toBe(50)

  await shown(page.getByText(/^Página 1 de \d+$/))
  await page.getByRole('button', { name: '2', exact: true }).click()
  await shown(page.getByText(/^Página 2 de \d+$/))
  expect(page.url()).toContain('pagina=2')
  await page.reload()
  await shown(page.getByText(/^Página 2 de \d+$/))
  await page.getByRole('button', { name: 'Página anterior' }).click()
  await shown(page.getByText(/^Página 1 de \d+$/))

  await filters(page, rows, count)
  await refuseSummary(page)
  await openAndSave(page, rows)
  await refuseClipboard(page, rows)
})

test('the transport documents: list and DACTE, and the back button closes it alone', async () => {
  const page = await site.enter(await site.createAccount('Carla'))
  await registerCompany(page, site.product, bakery)
  await page.getByRole('link', { name: 'CTe' }).click()
  await shown(page.getByRole('heading', { name: 'Conhecimento de Transporte Eletrônico' }))
  await shown(page.getByRole('heading', { name: 'Todos os CTe' }))
  await chooseLast90Days(page)
  const view = page.getByRole('button', { name: /^Visualizar CT-e/, disabled: false })
  await shown(view, 60_000)
  await view.first().click()
  const dialog = page.getByRole('dialog')
  await shown(dialog.locator('canvas'), 20_000)
  await expect.poll(() => inkOf(dialog.locator('canvas').first()), { timeout: 20_000 }).toBeGreaterThan(0.01)
  await expect.poll(() => textOf(dialog)).toContain('DACTE')
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  expect(new URL(page.url()).pathname).toBe('/cte')
})

test('a company is asked again on request, and the screen says when', async () => {
  const page = await site.enter(await site.createAccount('Daniel'))
  await registerCompany(page, site.product, bakery)
  await page.waitForURL('**/empresas')
  await shown(page.getByText(/^Próxima consulta|^Capturando agora/), 30_000)
  await page.getByRole('button', { name: /^Sincronizar PADARIA/ }).click()
  await shown(page.getByText('Iniciando sincronização...'))
  await shown(page.getByText('Sincronizando PADARIA ESTRELA DO NORTE LTDA'))

  await page.getByLabel('Buscar por nome, CNPJ...').fill('nada com este nome')
  await shown(page.getByText('Nenhuma empresa encontrada'))
  await page.getByLabel('Buscar por nome, CNPJ...').fill('12.abc.345')
  await shown(page.getByRole('cell', { name: '12.ABC.345/01DE-35' }))

  await page.getByRole('link', { name: 'Dashboard' }).click()
  for (const title of ['Documentos por Empresa', 'Atividade Recente', 'Status do Sistema']) {
    await shown(page.getByRole('heading', { name: title }))
  }
  await shown(page.getByRole('row', { name: /^PADARIA ESTRELA DO NORTE LTDA/ }))
  const figure = page.getByRole('link', { name: /^Notas Fiscais \(Mês\)/ })
  await expect.poll(() => countOnServer(page), { timeout: 60_000 }).toBeGreaterThan(0)
  const agrees = async () =>
    (await textOf(figure)).replace(/^.* /, '') === String(await countOnServer(page, thisMonth()))
  await expect.poll(agrees, { timeout: 60_000 }).toBe(true)
})

// The usual period is this month, which may have begun today.
async function chooseLast90Days(page: Page) {
  await page.getByLabel('Data de emissão').click()
  await page.getByRole('button', { name: 'Últimos 90 dias', exact: true }).click()
  await shown(page.getByRole('button', { name: /^Remover filtro Emissão/ }))
}

/** How many notes the list itself counts. */
async function countOnServer(page: Page, dates = ''): Promise<number> {
  return page.evaluate(async (dates) => {
    const { token } = JSON.parse(localStorage.getItem('vigia.session') ?? '')
    const headers = { Authorization: `Bearer ${token}` }
    const response = await fetch(`/v1/api/DocumentosFiscais?TipoDFe=0${dates}`, { headers })
    return (await response.json()).data.totalDeItens
  }, dates)
}

function thisMonth(): string {
  const month = new Intl.DateTimeFormat('sv', { timeZone: 'America/Sao_Paulo' }).format(new Date()).slice(0, 7)
  return `&DataDe=${month}-01T00:00:00`
}

async function filters(page: Page, rows: Locator, count: Locator) {
  const all = await countOf(count)
  await page.getByLabel('Status').selectOption({ label: 'Cancelada' })
  await shown(page.getByRole('button', { name: 'Remover filtro Status: Cancelada' }))
  await expect.poll(() => page.url()).toContain('status=3')
  await expect.poll(async () => (await countOf(count)) < all).toBe(true)
  await page.getByRole('button', { name: 'Remover filtro Status: Cancelada' }).click()
  await expect.poll(() => countOf(count)).toBeGreaterThanOrEqual(all)

  await page.getByLabel('Empresa').selectOption({ label: market.nome })
  await expect.poll(async () => (await countOf(count)) < all).toBe(true)
  await page.getByLabel('Empresa').selectOption({ label: 'Todas' })

  const chave = (await textOf(rows.first().locator('.font-mono'))).replace(/\s/g, '')
  expect(chave).toMatch(/^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/)
  await page.getByLabel('Pesquisar').fill(chave)
  await page.getByRole('button', { name: 'Buscar' }).click()
  await expect.poll(() => rows.count()).toBeLessThanOrEqual(2)
  await shown(page.getByText(chave))
  await page.getByLabel('Pesquisar').fill('não existe emitente com este nome')
  await page.keyboard.press('Enter')
  await shown(page.getByText('Nenhuma nota fiscal com estes filtros'))
  await page.getByRole('button', { name: 'Limpar filtros' }).first().click()
  await expect.poll(() => page.url()).not.toContain('busca=')
  await chooseLast90Days(page)
  await expect.poll(() => rows.count()).toBe(50)

  await page.getByLabel('Data de emissão').click()
  await page.getByRole('button', { name: 'Mês passado' }).click()
  await shown(page.getByRole('button', { name: /^Remover filtro Emissão: 01\// }))
  await page.goBack()
  await expect.poll(() => rows.count()).toBe(50)
}

async function refuseSummary(page: Page) {
  const button = page.getByRole('button', { name: /^Visualizar/, disabled: true }).first()
  const reason = page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`)
  expect(await textOf(reason)).toMatch(/^Só o resumo chegou até agora/)
  await button.click({ force: true })
  await button.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-disabled'))).toBe('true')
  expect(await page.getByRole('dialog').count()).toBe(0)
}

async function refuseClipboard(page: Page, rows: Locator) {
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))
    document.execCommand = () => false
  })
  await rows.first().hover()
  await rows
    .first()
    .getByRole('button', { name: /^Copiar a chave/ })
    .click()
  await shown(page.getByText('Não foi possível copiar.'))
}

async function openAndSave(page: Page, rows: Locator) {
  const row = rows.filter({ has: page.getByRole('button', { name: /^Visualizar/, disabled: false }) }).first()
  const number = await textOf(row.getByRole('cell'))
  const chave = (await textOf(row.locator('.font-mono'))).replace(/\s/g, '')
  await row.hover()
  await row.getByRole('button', { name: /^Copiar a chave/ }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(chave)

  const view = row.getByRole('button', { name: `Visualizar NF-e ${number}` })
  await view.click()
  const dialog = page.getByRole('dialog', { name: new RegExp(`^NF-e ${number} - `) })
  await shown(dialog)
  await shown(dialog.locator('canvas'), 20_000)
  await expect.poll(() => inkOf(dialog.locator('canvas').first()), { timeout: 20_000 }).toBeGreaterThan(0.01)
  await expect.poll(() => textOf(dialog)).toContain('DANFE')
  await expectAccessible(page)

  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download' }).click()
  const file = await download
  expect(file.suggestedFilename()).toMatch(new RegExp(`^NF-e ${number} - .+\\.pdf$`))
  expect((await readFile(await file.path())).subarray(0, 5).toString()).toBe('%PDF-')

  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
    .toBe(`Visualizar NF-e ${number}`)
}

async function problem(page: Page): Promise<string> {
  const field = page.getByLabel('Senha do certificado')
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true')
  const id = (await field.getAttribute('aria-describedby'))?.split(' ').find((part) => part.endsWith('-error'))
  return textOf(page.locator(`[id="${id}"]`))
}

async function countOf(count: Locator): Promise<number> {
  return Number((await textOf(count)).split(' ')[0]?.replaceAll('.', ''))
}

/** The share of the picture that is not white. */
async function inkOf(canvas: Locator): Promise<number> {
  return canvas.evaluate((element: HTMLCanvasElement) => {
    const pixels = element.getContext('2d')?.getImageData(0, 0, element.width, element.height).data ?? []
    let dark = 0
    for (let index = 0; index < pixels.length; index += 4) if ((pixels[index] ?? 255) < 128) dark++
    return dark / (pixels.length / 4)
  })
}
