import { readFile } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { capturedAccount, countOf, drawn, focusedName, periodOf, rowsOf } from './captured.ts'
import { follow, tell, toastColours, toasted } from './page.ts'
import { type Account, bakery, expectNoSidewaysScroll, phone, shown, tabTo, textOf, useSite } from './site.ts'

const site = useSite()
const path = '/notas-fiscais?periodo=todos'
let known: { account: Account; few: string } | undefined

/** An account, and the address where its list has some notes that all can be printed. */
async function prepare() {
  if (known) return known
  const { account, client } = await capturedAccount(site)
  const printable = (await client.list('TipoDFe=0&Status=2')).filter(({ notaCompleta }) => notaCompleta)
  known = { account, few: `/notas-fiscais?${periodOf(printable, 6, 'oldest')}&status=2` }
  return known
}

async function openFew(options = {}): Promise<Page> {
  const { few } = await prepare()
  return open(options, few)
}

async function open(options = {}, address = path): Promise<Page> {
  const page = await site.resume((await prepare()).account, address, options)
  await shown(rowsOf(page))
  return page
}

const countText = (page: Page) => page.getByText(/^[\d.]+ notas? fisca(l|is) ·/)
const box = (page: Page, nth: number) => page.getByLabel(/^Selecionar NF-e/).nth(nth)
const pageBox = (page: Page) => page.getByLabel('Selecionar todos os documentos da página')
const selectedText = (page: Page) => page.getByText(/^[\d.]+ selecionadas?$/)
const viewButton = (of: Page | Locator, disabled = false) =>
  of.getByRole('button', { name: /^Visualizar NF-e/, disabled })

test('the list says how much it holds, and its pages are in the address', async () => {
  const page = await open()
  expect(await page.title()).toBe('Notas Fiscais · Vigia Fiscal')
  await shown(page.getByText(/^Página 1 de \d$/))
  const rows = rowsOf(page)
  await expect.poll(() => rows.count()).toBe(50)
  const cells = await rows.first().getByRole('cell').allTextContents()
  expect(cells[2]).toMatch(/\d{6}[0-9A-Z]{12}\d{26}$/)
  expect(cells[3]).toMatch(/^R\$\s[\d.]+,\d\d$/)
  expect(cells[4]).toMatch(/^\d\d\/\d\d\/\d{4} \d\d:\d\dchegou \d\d\/\d\d \d\d:\d\d$/)
  expect(cells[5]).toMatch(/^(Emitente|Destinatário|Transportador|Terceiro)(PADARIA|MERCADO)/)
  await shown(countText(page))
  const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
  expect(Math.max(...heights)).toBeLessThanOrEqual(49)

  // A toast that comes meanwhile does not take the click.
  const second = page.getByRole('button', { name: '2', exact: true })
  await second.hover()
  await page.mouse.down()
  await tell(site, page, { header: 'Durante um clique', body: 'O que aconteceu, e o que se pode fazer agora.' })
  await toasted(page, 'Durante um clique')
  const [button, told] = await Promise.all([
    second.boundingBox(),
    page.locator('[data-sonner-toast]', { hasText: 'Durante um clique' }).boundingBox(),
  ])
  expect(button!.y + button!.height).toBeLessThan(told!.y)
  await page.mouse.up()
  await shown(page.getByText(/^Página 2 de \d$/))
  expect(page.url()).toContain('pagina=2')
  await follow(page, `${path}&pagina=99`)
  await shown(page.getByText('Esta página não existe mais'))
  await page.getByRole('button', { name: 'Ir para a primeira página' }).click()
  await shown(page.getByText(/^Página 1 de \d$/))
  await twoChoices(page)
  await refusedByClipboard(page)
})

/** Two choices made before the first result is drawn both count. */
async function twoChoices(page: Page) {
  await page.evaluate(() => {
    for (const [label, value] of [
      ['Status', '3'],
      ['Participação', '1'],
    ]) {
      const { control } = [...document.querySelectorAll('label')].find(({ textContent }) => textContent === label)!
      Object.assign(control!, { value }).dispatchEvent(new Event('change', { bubbles: true }))
    }
  })
  await shown(page.getByRole('button', { name: 'Remover filtro Status: Cancelada' }))
  await shown(page.getByRole('button', { name: 'Remover filtro Participação: Destinatário' }))
  expect(page.url()).toMatch(/participacao=1&status=3/)
  await page.getByRole('button', { name: /^Remover filtro (Status|Participação)/ }).evaluateAll((buttons) => {
    for (const button of buttons) (button as HTMLElement).click()
  })
  await expect.poll(() => page.url()).not.toMatch(/participacao|status/)
}

async function refusedByClipboard(page: Page) {
  await page.evaluate(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error('not allowed'))
    document.execCommand = () => false
  })
  await rowsOf(page).first().hover()
  await page
    .getByRole('button', { name: /^Copiar a chave/ })
    .first()
    .click()
  await shown(page.getByText('Não foi possível copiar.'))
}

test('filters live in the address, can be removed one by one, and an empty result explains itself', async () => {
  const page = await open()
  const rows = rowsOf(page)
  const all = await countOf(countText(page))
  await page.getByLabel('Status').selectOption({ label: 'Cancelada' })
  await shown(page.getByRole('button', { name: 'Remover filtro Status: Cancelada' }))
  await expect.poll(() => page.url()).toContain('status=3')
  await expect.poll(async () => (await countOf(countText(page))) < all).toBe(true)
  for (const tone of await page
    .locator('tbody [data-tone]')
    .evaluateAll((all) => all.map((one) => one.getAttribute('data-tone'))))
    expect(tone).toBe('red')
  await page.getByRole('button', { name: 'Remover filtro Status: Cancelada' }).click()
  await expect.poll(() => countOf(countText(page))).toBe(all)

  const chave = (await textOf(rows.first().locator('.font-mono'))).replace(/\s/g, '')
  await page.locator('body').press('/')
  expect(await focusedName(page)).toBe('')
  await page.keyboard.type((chave.match(/.{4}/g) ?? []).join(' '))
  await page.keyboard.press('Enter')
  await expect.poll(() => rows.count()).toBeLessThanOrEqual(2)
  await shown(page.getByText(chave))

  await page.getByLabel('Pesquisar').fill('não existe emitente com este nome')
  await page.getByRole('button', { name: 'Buscar' }).click()
  await shown(page.getByText('Nenhuma nota fiscal com estes filtros'))
  await shown(page.getByText(/^A pesquisa acha palavras em qualquer ordem/))
  await page.getByRole('button', { name: 'Limpar filtros' }).first().click()
  await expect.poll(() => page.url()).not.toContain('busca=')

  // A note of another month is not said to be missing; a whole chave needs no period.
  await follow(page, `/notas-fiscais?de=2020-01-01&ate=2020-01-31&busca=${chave.slice(-15)}`)
  await shown(page.getByText('Nenhuma nota fiscal com estes filtros neste período'))
  await shown(page.getByText(/^\d notas? fisca(l|is) fora do período: \d em \S+ de \d{4}/))
  await page.getByRole('button', { name: 'Ver em qualquer data' }).click()
  await shown(rowsOf(page).getByText(chave))
  await follow(page, `/notas-fiscais?de=2020-01-01&ate=2020-01-31&busca=${chave}`)
  await shown(rowsOf(page).getByText(chave))
  expect(page.url()).toContain('busca=')
  await follow(page, path)
  await expect.poll(() => rows.count()).toBe(50)

  await page.getByLabel('Data de emissão').click()
  await page.getByRole('button', { name: 'Mês passado' }).click()
  await shown(page.getByRole('button', { name: /^Remover filtro Emissão: 01\// }))
  await page.getByLabel('Data de emissão').click()
  await page.getByRole('button', { name: 'Últimos 90 dias', exact: true }).click()
  await expect.poll(() => rows.count()).toBe(50)
  await page.goBack()
  await shown(page.getByRole('button', { name: /^Remover filtro Emissão: 01\// }))
  await page.goForward()
  await expect.poll(() => rows.count()).toBe(50)
})

test('suggestions are chosen by keys, headers order the list, and an amount narrows it', async () => {
  const page = await openFew()
  const rows = rowsOf(page)
  const amounts = async () =>
    (await rows.locator('td:nth-child(4)').allTextContents()).map((text) => Number(text.replace(/[^\d]/g, '')) / 100)
  const header = page.getByRole('columnheader', { name: 'Valor' })
  await header.getByRole('button').click()
  await expect.poll(() => header.getAttribute('aria-sort')).toBe('descending')
  const isDescending = (values: number[]) => values.every((value, index) => index === 0 || value <= values[index - 1]!)
  await expect.poll(async () => isDescending(await amounts())).toBe(true)
  const [largest = 0] = await amounts()
  await header.getByRole('button').click()
  await expect.poll(() => header.getAttribute('aria-sort')).toBe('ascending')
  expect(page.url()).toContain('ordem=valor&sentido=asc')

  await page.getByLabel('Valor de').fill(largest.toLocaleString('pt-BR'))
  await page.keyboard.press('Enter')
  await expect.poll(async () => Math.min(...(await amounts()))).toBe(largest)

  await follow(page, (await prepare()).few)
  await shown(page.getByRole('columnheader', { name: 'Valor', exact: true }).and(page.locator(':not([aria-sort])')))
  const issuer = await textOf(rows.first().getByRole('link').first())
  const search = page.getByRole('combobox', { name: 'Pesquisar' })
  await search.fill(issuer.slice(0, 6).toLowerCase())
  const option = page.getByRole('option', { name: issuer })
  await shown(option)
  const options = await page.getByRole('option').allTextContents()
  const place = options.findIndex((text) => text.startsWith(issuer))
  for (let step = 0; step <= place; step++) await search.press('ArrowDown')
  expect(await option.getAttribute('aria-selected')).toBe('true')
  expect(await search.getAttribute('aria-activedescendant')).toBe(await option.getAttribute('id'))
  await search.press('Enter')
  await shown(page.getByRole('button', { name: `Remover filtro Pesquisa: ${issuer}` }))
  await search.fill('')
  await search.press('ArrowDown')
  await shown(page.getByRole('option', { name: issuer }))
  await search.press('Escape')
  expect(await search.getAttribute('aria-expanded')).toBe('false')
})

test('while it loads the list says so, and a failure keeps what was there', async () => {
  const { account, few } = await prepare()
  const page = await site.resume(account, '/health')
  const held = Promise.withResolvers<void>()
  await page.route('**/v1/api/DocumentosFiscais?*', async (route) => {
    await held.promise
    await route.continue()
  })
  await page.goto(site.product.url + few)
  await shown(page.getByText('Carregando documentos...'))
  await shown(page.getByRole('button', { name: 'Buscando...' }))
  held.resolve()
  await shown(rowsOf(page))
  const count = await rowsOf(page).count()
  await shown(page.getByRole('button', { name: 'Buscar' }))
  await page.unroute('**/v1/api/DocumentosFiscais?*')

  await page.route('**/v1/api/DocumentosFiscais?*', (route) =>
    route.fulfill({ status: 400, json: { success: false, message: 'Filtro recusado', data: null, errors: [] } }),
  )
  await page.getByRole('button', { name: 'Buscar' }).click()
  await shown(page.getByText('Erro ao carregar dados: Filtro recusado'))
  await shown(page.getByText(/^Abaixo está o que recebemos às \d\d:\d\d\.$/))
  // A toast that was closed does not come back with every attempt.
  const toast = page.getByRole('listitem').filter({ hasText: 'Erro ao carregar dados: Filtro recusado' })
  await shown(toast)
  await expect.poll(() => toast.count()).toBe(1)
  // By key: a message of the capture may lie over it.
  await toast.getByRole('button', { name: 'Fechar aviso' }).press('Enter')
  await toast.waitFor({ state: 'detached' })
  const refused = page.waitForResponse(/DocumentosFiscais\?/)
  await page.getByRole('button', { name: 'Buscar' }).click()
  await refused
  await shown(page.getByRole('button', { name: 'Buscar' }))
  expect(await toast.count()).toBe(0)
  await expect.poll(() => rowsOf(page).count()).toBe(count)
  await page.unroute('**/v1/api/DocumentosFiscais?*')

  // The list before stays while another one travels, and cannot be ticked in its name.
  const other = Promise.withResolvers<void>()
  await page.route('**/v1/api/DocumentosFiscais?*', async (route) => {
    await other.promise
    await route.continue()
  })
  await page.getByLabel('Status').selectOption({ label: 'Todos' })
  await expect.poll(() => box(page, 0).isDisabled()).toBe(true)
  expect(await pageBox(page).isDisabled()).toBe(true)
  other.resolve()
  await expect.poll(() => pageBox(page).isDisabled()).toBe(false)
})

test('what comes while somebody points, selects or has scrolled waits above the list', async () => {
  const page = await openFew()
  let held = 0
  await page.route('**/v1/api/DocumentosFiscais?*', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    body.data.items.splice(0, held)
    body.data.totalDeItens -= held
    await route.fulfill({ response, json: body })
  })
  held = 3
  await page.reload()
  await shown(rowsOf(page))
  const first = () => rowsOf(page).first().innerText()
  const before = await first()
  const waiting = page.getByRole('button', { name: '3 notas novas — mostrar' })
  await rowsOf(page).nth(1).hover()
  held = 0
  await shown(waiting, 15_000)
  expect(await first()).toBe(before)
  await box(page, 1).check()
  await page.mouse.move(5, 5)
  await shown(waiting)
  await waiting.click()
  await waiting.waitFor({ state: 'detached' })
  expect(await first()).not.toBe(before)
  await shown(page.getByText('1 selecionada'))
})

test('documents are ticked one by one, in ranges, by page, with the keyboard, and over pages', async () => {
  const page = await open()
  await asksForSelection(page)
  await box(page, 1).click()
  expect(await textOf(selectedText(page))).toBe('1 selecionada')
  await box(page, 4).click({ modifiers: ['Shift'] })
  expect(await textOf(selectedText(page))).toBe('4 selecionadas')
  expect(await pageBox(page).evaluate((input: HTMLInputElement) => input.indeterminate)).toBe(true)

  // Its words may change meanwhile: an answer of another file is on its way.
  const firstShown = () => rowsOf(page).first().locator('[data-document]').getAttribute('data-document')
  const first = await firstShown()
  await page.getByRole('button', { name: '2', exact: true }).click()
  await expect.poll(firstShown).not.toBe(first)
  await expect.poll(() => box(page, 0).isEnabled()).toBe(true)
  await box(page, 0).focus()
  await page.keyboard.press('Space')
  expect(await textOf(selectedText(page))).toBe('5 selecionadas')
  // The head and the actions stay in sight.
  await page.mouse.wheel(0, 900)
  await expect
    .poll(async () => (await page.getByRole('button', { name: 'Manifestar' }).boundingBox())?.y)
    .toBeLessThan(110)
  await page.getByRole('button', { name: 'Página anterior' }).click()
  await expect.poll(firstShown).toBe(first)
  expect(await box(page, 1).isChecked()).toBe(true)

  await pageBox(page).click()
  expect(await textOf(selectedText(page))).toBe('51 selecionadas')
  const whole = page.getByRole('button', { name: /^Selecionar as [\d.]+ do filtro$/ })
  const total = Number(/[\d.]+/.exec(await textOf(whole))?.[0])
  await whole.click()
  await expect.poll(() => textOf(selectedText(page))).toBe(`${total} selecionadas`)
  expect(await whole.count()).toBe(0)

  await page.getByLabel('Status').selectOption({ label: 'Resumo' })
  await expect.poll(() => selectedText(page).count()).toBe(0)
})

/** Without a selection the menu asks for one. */
async function asksForSelection(page: Page) {
  await page.getByRole('button', { name: 'Manifestar' }).click()
  await shown(page.getByRole('menu').getByText('Selecione pelo menos um documento para manifestar.'))
  expect(await page.getByRole('menuitem').allTextContents()).toEqual([
    'Ciência',
    'Confirmação',
    'Desconhecimento',
    'Não Realizada',
  ])
  await page.getByRole('menuitem', { name: 'Ciência' }).click()
  await shown(page.getByRole('listitem').getByText('Selecione pelo menos um documento para manifestar.'))
  expect(await toastColours(page, 'Selecione pelo menos um documento')).toContain('yellow')
  expect(await page.getByRole('dialog').count()).toBe(0)
}

test('columns are chosen, remembered, and never shown empty', async () => {
  const page = await open()
  const headers = () => page.getByRole('columnheader').allTextContents()
  await page.getByRole('button', { name: 'Escolher colunas' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Valor' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Chegada' }).click()
  expect(await page.getByRole('menuitemcheckbox', { name: 'Emitente' }).getAttribute('aria-disabled')).toBe('true')
  await page.keyboard.press('Escape')
  await expect.poll(() => focusedName(page)).toBe('Escolher colunas')
  expect(await headers()).not.toContain('Valor')
  expect(await page.getByText(/^chegou/).count()).toBe(0)
  await page.reload()
  await shown(rowsOf(page))
  expect(await headers()).not.toContain('Valor')

  await page.setViewportSize({ width: 1920, height: 1000 })
  await expect.poll(headers).toEqual(expect.arrayContaining(['Empresa', 'Prazo']))
  await page.getByLabel('Empresa').selectOption({ label: bakery.nome })
  await expect.poll(headers).not.toContain('Empresa')
  await page.getByLabel('Status').selectOption({ label: 'Cancelada' })
  await expect.poll(headers).not.toContain('Prazo')
})

test('a note is looked at as it is printed, and saved; a summary says why it cannot be', async () => {
  const page = await open()
  const disabled = viewButton(page, true).first()
  const reason = page.locator(`[id="${await disabled.getAttribute('aria-describedby')}"]`)
  expect(await textOf(reason)).toMatch(/^Só o resumo chegou até agora/)
  await disabled.click({ force: true })
  await disabled.press('Enter')
  expect(await page.getByRole('dialog').count()).toBe(0)

  await follow(page, (await prepare()).few)
  await disabled.waitFor({ state: 'detached' })
  const row = rowsOf(page).first()
  const number = await textOf(row.getByRole('cell').nth(1))
  const chave = (await textOf(row.locator('.font-mono'))).replace(/\s/g, '')
  await row.hover()
  await row.getByRole('button', { name: `Copiar a chave da NF-e ${number}` }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(chave)

  await viewButton(row).click()
  const dialog = page.getByRole('dialog', { name: new RegExp(`^NF-e ${number} - `) })
  await drawn(dialog.locator('canvas').first())
  await expect.poll(() => textOf(dialog)).toContain('DANFE')
  await dialog.getByRole('button', { name: 'Aumentar' }).click()
  await shown(dialog.getByText('125%'))
  await dialog.getByRole('region', { name: 'Páginas do documento' }).press('-')
  await shown(dialog.getByText('100%'))
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download' }).click()
  const file = await download
  expect(file.suggestedFilename()).toMatch(new RegExp(`^NF-e ${number} - .+\\.pdf$`))
  expect((await readFile(await file.path())).subarray(0, 5).toString()).toBe('%PDF-')
  // In a frame, or saved where the browser shows no PDF.
  const address = /\/DocumentosFiscais\/impressao\//
  const printed = Promise.any([page.waitForRequest(address), page.waitForEvent('download')])
  await dialog.getByRole('button', { name: 'Imprimir' }).click()
  expect((await printed).url()).toMatch(address)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => focusedName(page)).toBe(`Visualizar NF-e ${number}`)
  await leftWhileLoading(page)
})

test('a printed form that does not come says the status, or that it is not known', async () => {
  const page = await openFew()
  await page.route('**/danfe/*', (route) => route.fulfill({ status: 404, body: '' }))
  await viewButton(page).first().click()
  await shown(page.getByText('Erro: Erro ao carregar PDF: 404'))
  await page.unroute('**/danfe/*')
  const held = Promise.withResolvers<void>()
  await page.route('**/danfe/*', async (route) => {
    await held.promise
    await route.fulfill({ status: 410, body: '' })
  })
  await page.getByRole('button', { name: 'Tentar novamente' }).click()
  await shown(page.getByText('Carregando documento...'))
  held.resolve()
  await shown(page.getByText('Erro: Erro ao carregar PDF: 410'))
  await page.getByRole('button', { name: 'Download' }).click()
  await shown(page.getByRole('listitem').getByText('Erro: Erro ao carregar PDF: 410'))
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.unroute('**/danfe/*')
  const broken = { contentType: 'application/pdf', body: '%PDF-1.4 broken' }
  await page.route('**/danfe/*', (route) => route.fulfill(broken))
  await viewButton(page).nth(1).click()
  await shown(page.getByRole('dialog').getByText('Erro: Erro desconhecido'))
})

/** Leaving while a printed form loads leaves nothing behind, and a pressed download arrives. */
async function leftWhileLoading(page: Page) {
  const held = Promise.withResolvers<void>()
  await page.route('**/danfe/*', async (route) => {
    await held.promise
    await route.continue().catch(() => undefined)
  })
  await viewButton(page).nth(1).click()
  const dialog = page.getByRole('dialog')
  await shown(dialog.getByText('Carregando documento...'))
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Download' }).click()
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  held.resolve()
  expect((await download).suggestedFilename()).toMatch(/^NF-e \d+ - .+\.pdf$/)
  await viewButton(page).nth(2).click()
  await dialog.getByRole('region', { name: 'Páginas do documento' }).waitFor()
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
}

test('what is selected goes straight to the print dialog of the browser', async () => {
  const page = await openFew()
  // This browser shows no PDF, so a page stands for it in the frame.
  const files: Buffer[] = []
  await page.route('**/DocumentosFiscais/impressao/*', async (route) => {
    const response = await route.fetch()
    files.push(await response.body())
    await route.fulfill({ contentType: 'text/html', body: '<title>PDF</title>' })
  })
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'pdfViewerEnabled', { value: true })
    window.print = () => void Reflect.set(top!, 'printed', location.pathname)
  })
  await page.reload()
  for (const nth of [0, 1]) await box(page, nth).click()
  await page.getByRole('button', { name: 'Imprimir' }).click()
  await expect.poll(() => files.map((file) => file.subarray(0, 5).toString())).toEqual(['%PDF-'])
  await expect.poll(() => page.evaluate(() => Reflect.get(window, 'printed'))).toMatch(/\/impressao\//)
})

test('with the keyboard or the mouse: the selection or the whole filter leaves as a ZIP', async () => {
  const page = await openFew()
  await byKeyboard(page)
  await page.getByRole('button', { name: 'Limpar seleção' }).click()
  await box(page, 0).click()
  await box(page, 2).click()
  await page.getByRole('button', { name: 'Exportar' }).click()
  const dialog = page.getByRole('dialog', { name: 'Exportar' })
  expect(await dialog.getByRole('radio', { name: '2 notas fiscais selecionadas' }).isChecked()).toBe(true)
  await shown(dialog.getByRole('radio', { name: /^[\d.]+ notas fiscais do filtro$/ }))
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  expect(await textOf(selectedText(page))).toBe('2 selecionadas')
  await page.getByRole('button', { name: 'Exportar' }).click()
  for (const part of [/^XML/, /^Planilha/]) await dialog.getByLabel(part).click()
  await shown(dialog.getByText('Escolha o que exportar.'))
  expect(await dialog.getByRole('button', { name: 'Exportar' }).isDisabled()).toBe(true)
  await dialog.getByLabel(/^XML/).click()
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Exportar' }).click()
  const file = await download
  expect((await readFile(await file.path())).subarray(0, 2).toString()).toBe('PK')
  await shown(page.getByText('A exportação começou.'))
  await dialog.waitFor({ state: 'detached' })
  expect(await textOf(selectedText(page))).toBe('2 selecionadas')
})

/** Everything is reached with the keyboard alone. */
async function byKeyboard(page: Page) {
  const count = await rowsOf(page).count()
  await page.locator('#conteudo').focus()
  await tabTo(page, /^Manifestar$/)
  await tabTo(page, /^Selecionar todos os documentos da página$/)
  await page.keyboard.press('Space')
  expect(await textOf(selectedText(page))).toBe(`${count} selecionadas`)
  const issuer = await textOf(rowsOf(page).getByRole('link'))
  await tabTo(page, new RegExp(`^${issuer.replace(/\W/g, '.')}`))
  const steps = [
    ['ArrowLeft', 0, /^Selecionar NF-e/],
    // One stop for each row, from whichever of its controls.
    ['Tab', 1, /^[A-Z]/],
    ['ArrowRight', 1, /^Copiar a chave/],
    ['ArrowRight', 1, /^Tudo do fornecedor/],
    ['ArrowRight', 1, /^Visualizar NF-e/],
    ['ArrowDown', 2, /^Visualizar NF-e/],
    ['Tab', 3, /^[A-Z]/],
    ['Shift+Tab', 2, /^[A-Z]/],
    ['ArrowUp', 1, /^[A-Z]/],
    ['ArrowUp', 0, /^[A-Z]/],
    ['ArrowLeft', 0, /^Selecionar NF-e/],
  ] as const
  for (const [key, row, name] of steps) {
    await page.keyboard.press(key)
    expect(await focusedName(page)).toMatch(name)
    expect(await rowsOf(page).evaluateAll((all) => all.findIndex((one) => one.matches(':focus-within')))).toBe(row)
  }
  await page.keyboard.press('Space')
  expect(await textOf(selectedText(page))).toBe(`${count - 1} selecionadas`)
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Enter')
  await shown(page.getByRole('dialog'))
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

test('on a small phone nothing sticks out and everything can be touched', async () => {
  const page = await openFew({ ...phone, viewport: { width: 320, height: 640 } })
  expect(await page.getByRole('table').count()).toBe(0)
  await page.getByLabel('Selecionar a página').tap()
  expect(await textOf(selectedText(page))).toBe(`${await rowsOf(page).count()} selecionadas`)
  await box(page, 0).tap()
  const target = await box(page, 0).evaluate((input) => input.closest('label')?.getBoundingClientRect().toJSON())
  expect(Math.min(target.width, target.height)).toBeGreaterThanOrEqual(44)
  await expectNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Manifestar' }).tap()
  await page.getByRole('menuitem', { name: 'Desconhecimento' }).tap()
  await shown(page.getByRole('dialog').getByText(/^(Vai para|Nenhuma)/))
  await expectNoSidewaysScroll(page)
  await page.getByRole('button', { name: 'Cancelar' }).tap()
  await viewButton(page).first().tap()
  await drawn(page.getByRole('dialog').locator('canvas').first())
  await expectNoSidewaysScroll(page)
})
