import { readFile } from 'node:fs/promises'
import type { DocumentDetail } from '@vigia/contract/documents'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Client, type ListRow, newClient } from '../support/client.ts'
import { captured, capturedAccount, drawn, focusedName, periodOf, rowsOf } from './captured.ts'
import { follow } from './page.ts'
import { type Account, bakery, expectNoSidewaysScroll, moving, phone, shown, textOf, useSite } from './site.ts'

const site = useSite()
let office: { account: Account; client: Client; notes: ListRow[]; freights: ListRow[] } | undefined

async function prepare() {
  if (office) return office
  const known = await capturedAccount(site)
  const [notes, freights] = [await known.client.list('TipoDFe=0'), await known.client.list('TipoDFe=2')]
  office = { ...known, notes, freights }
  return office
}

/** The panel of a document over the list of its day. */
const addressOf = (row: ListRow, list = '/notas-fiscais') =>
  `${list}?${periodOf([row], 1, 'newest')}&documento=${row.idDfe}`

async function open(row: ListRow, options = {}, list = '/notas-fiscais'): Promise<Page> {
  const page = await site.resume((await prepare()).account, addressOf(row, list), options)
  await shown(panel(page).getByText('Identificação'))
  return page
}

const panel = (page: Page) => page.getByRole('dialog')
const complete = (rows: ListRow[]) => rows.find((row) => row.notaCompleta && row.status.codigoEvento === 100)!
const summary = (rows: ListRow[]) =>
  rows.find(
    (row) =>
      !row.notaCompleta && row.tipoParticipacao === 1 && row.status.codigoEvento === 0 && likes(rows, row).length > 1,
  )!
/** The notes of the same issuer to the same company. */
const likes = (rows: ListRow[], row: ListRow) =>
  rows.filter(({ chave, idEmpresa }) => chave.slice(6, 20) === row.chave.slice(6, 20) && idEmpresa === row.idEmpresa)

test('a row opens its panel in the address; back, Escape and a reload do what people expect', async () => {
  const { account, notes } = await prepare()
  const page = await site.resume(account, `/notas-fiscais?${periodOf(notes, 12, 'newest')}`, moving)
  await shown(rowsOf(page))
  const [first, second] = notes
  await page.mouse.wheel(0, 300)
  await page.getByRole('link', { name: first!.emitente }).first().click()
  await shown(panel(page).getByRole('heading', { name: new RegExp(`^NF-e .+ da ${first!.emitente}`) }))
  expect(page.url()).toContain(`documento=${first!.idDfe}`)
  await page.goBack()
  await panel(page).waitFor({ state: 'detached' })
  expect(page.url()).not.toContain('documento=')
  await expect.poll(() => focusedName(page)).toBe(first!.emitente)

  // A click anywhere in the row opens it, and the arrows lead on without lengthening the way back.
  await rowsOf(page).first().getByRole('cell').nth(3).click()
  await shown(panel(page))
  expect(await panel(page).getByRole('button', { name: 'Documento anterior' }).getAttribute('aria-disabled')).toBe(
    'true',
  )
  await page.keyboard.press('ArrowRight')
  await expect.poll(() => page.url()).toContain(second!.idDfe)
  await panel(page).getByRole('button', { name: 'Documento anterior' }).click()
  await expect.poll(() => page.url()).toContain(first!.idDfe)
  await panel(page).getByRole('button', { name: 'Próximo documento' }).click()
  await shown(panel(page).getByText(second!.chave.slice(-4)))
  await page.reload()
  await shown(panel(page).getByText('Identificação'))
  await page.keyboard.press('Escape')
  await panel(page).waitFor({ state: 'detached' })
  expect(page.url()).not.toContain('documento=')
  await shown(rowsOf(page))
})

test('a complete note shows its facts, items, history and XML, and its DANFE beside them', async () => {
  const { notes } = await prepare()
  const row = complete(notes)
  const page = await open(row, { viewport: { width: 1440, height: 900 } })
  await drawn(panel(page).locator('canvas').first())
  await shown(panel(page).getByText('Chegou aqui em'))
  // The arrows of a menu are its own.
  await panel(page).getByRole('button', { name: 'Manifestar' }).click()
  await page.getByRole('menu').waitFor()
  await page.keyboard.press('ArrowRight')
  expect(page.url()).toContain(row.idDfe)
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  await panel(page).getByRole('button', { name: 'Copiar a chave' }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(row.chave)

  await panel(page).getByRole('tab', { name: 'Itens' }).click()
  await shown(
    panel(page)
      .getByRole('list', { name: 'Itens do documento' })
      .getByText(/NCM \d{4}\.\d\d\.\d\d/),
  )
  await page.keyboard.press('ArrowRight')
  await shown(panel(page).getByRole('list', { name: 'Histórico do documento' }).getByText('Autorização de uso'))
  // The arrow belonged to the tabs.
  expect(page.url()).toContain(row.idDfe)
  await panel(page).getByRole('tab', { name: 'XML' }).click()
  await shown(panel(page).getByText('<xNome>'))
  await panel(page).getByRole('button', { name: 'Copiar o XML' }).click()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toContain(`Id="NFe${row.chave}"`)
  const download = page.waitForEvent('download')
  await panel(page).getByRole('button', { name: 'Download XML' }).click()
  const file = await download
  expect(file.suggestedFilename()).toBe(`${row.chave}.xml`)
  expect(await readFile(await file.path(), 'utf8')).toBe(copied)
  const pdf = page.waitForEvent('download')
  await panel(page).getByRole('button', { name: 'Download PDF' }).click()
  expect((await pdf).suggestedFilename()).toMatch(new RegExp(`^NF-e ${row.numero} - .+\\.pdf$`))

  // After a visit to another window the PDF is still there, and the rest is read again.
  let printed = 0
  page.on('request', (request) => request.url().includes('/danfe/') && printed++)
  await page.clock.setSystemTime(new Date(Date.now() + 120_000))
  const xmlAgain = page.waitForRequest(/\/xml\//)
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await xmlAgain
  await shown(panel(page).locator('canvas').first())
  expect(printed).toBe(0)
})

test('a summary says what is missing, until when and how to get it; an issuer never heard of is a question; an answer is in the history', async () => {
  const { account, notes } = await prepare()
  const row = summary(notes)
  const page = await site.resume(account, '/health')
  await unheardIssuer(page, row)

  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.reload()
  await shown(panel(page).getByText('Só o resumo está aqui'))
  await shown(
    panel(page).getByText(/A SEFAZ libera o XML depois que a empresa registra a Ciência da Operação, até \d\d\/\d\d/),
  )
  await shown(panel(page).getByText(/^Ciência: /))
  expect(await panel(page).getByRole('button', { name: 'Download PDF' }).count()).toBe(0)
  const proposal = panel(page).getByRole('region', { name: 'O que fazer' })
  await shown(proposal.getByText(`Há ${likes(notes, row).length - 1} outra`))
  await shown(proposal.getByRole('button', { name: 'Dar Ciência para receber o XML' }))

  await answered(page)
})

async function unheardIssuer(page: Page, row: ListRow) {
  await page.route('**/DocumentosFiscais?*', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    if (route.request().url().includes('CampoPesquisa')) body.data.totalDeItens = 1
    await route.fulfill({ response, json: body })
  })
  await page.goto(site.product.url + addressOf(row))
  const proposal = panel(page).getByRole('region', { name: 'O que fazer' })
  await shown(proposal.getByRole('heading', { name: 'Você reconhece esta nota?' }))
  await proposal.getByRole('button', { name: 'Não reconheço' }).click()
  const dialog = page.getByRole('dialog', { name: 'Manifestar - Desconhecimento' })
  await shown(dialog.getByText('Documentos selecionados: 1'))
  await shown(dialog.getByText(`NF-e ${row.numero} de ${row.emitente}`))
  // The field does not complain of being empty while the button is pressed: that would move it from under the pointer.
  await dialog.getByRole('button', { name: 'Cancelar' }).hover()
  await page.mouse.down()
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA')
  await page.mouse.up()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => focusedName(page)).toBe('Não reconheço')
}

/** An answer given in the panel shows in its history, with who gave it. */
async function answered(page: Page) {
  await panel(page).getByRole('button', { name: 'Dar Ciência para receber o XML' }).click()
  const dialog = page.getByRole('dialog', { name: 'Manifestar - Ciência' })
  await dialog.getByLabel('Justificativa').fill('Compra conhecida')
  await dialog.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText('1 documento manifestado.'), 20_000)
  await panel(page).getByRole('tab', { name: 'Eventos' }).click()
  const history = panel(page).getByRole('list', { name: 'Histórico do documento' })
  await shown(history.getByRole('listitem').first().getByText('Ciência da Operação'))
  expect(await textOf(history.getByRole('listitem'))).toMatch(/Ana/)
  await panel(page).getByRole('button', { name: 'Manifestar' }).click()
  await shown(page.getByRole('menuitem', { name: /^Ciência/, disabled: true }).getByText('já está registrada'))
}

test('a registered event is printed from the history, and going back leads there', async () => {
  const { notes, freights, client } = await prepare()
  const { row, entry } = await printable([...notes, ...freights], client)
  const [short, list] = row.chave.slice(20, 22) === '55' ? ['NF-e', '/notas-fiscais'] : ['CT-e', '/cte']
  const page = await open(row, {}, list)
  await panel(page).getByRole('tab', { name: 'Eventos' }).click()
  await shown(panel(page).getByText('A assinatura digital e o registro do evento conferem.').first())
  const name = `${entry.descricao} ${entry.idEvento.split('-')[1]}`
  await panel(page)
    .getByRole('button', { name: `Imprimir ${name}`, exact: true })
    .click()
  const viewer = page.getByRole('dialog', { name: `${name} - ${short} ${row.numero}`, exact: true })
  await drawn(viewer.locator('canvas').first())
  await shown(viewer.getByText(entry.descricao.toUpperCase()).first())
  await page.goBack()
  await viewer.waitFor({ state: 'detached' })
  await shown(panel(page).getByRole('list', { name: 'Histórico do documento' }))
})

async function printable(rows: ListRow[], client: Client) {
  for (const row of rows) {
    const path = `/v1/api/DocumentosFiscais/detalhes/${row.idDfe}`
    const { body } = await client.call<Pick<DocumentDetail, 'historico'>>('GET', path)
    // Events of our own are verified by a review, up to an hour later.
    for (const { descricao, idEvento, conferencia } of body.data.historico)
      if (idEvento && conferencia?.confere) return { row, entry: { descricao, idEvento } }
  }
  throw new Error('no document has an event that can be printed')
}

test('related documents open their own panel over the same list', async () => {
  const { freights, client } = await prepare()
  const detail = async ({ idDfe }: ListRow) =>
    (
      await client.call<{ relacionados: { idDfe: string | null }[] }>(
        'GET',
        `/v1/api/DocumentosFiscais/detalhes/${idDfe}`,
      )
    ).body.data
  let carrying: ListRow | undefined
  for (const row of freights)
    if (!carrying && (await detail(row)).relacionados.some(({ idDfe }) => idDfe)) carrying = row
  const page = await open(carrying!, {}, '/cte')
  await panel(page).getByRole('link', { name: 'Abrir a NF-e' }).first().click()
  await shown(panel(page).getByRole('heading', { name: /^NF-e/ }))
  expect(new URL(page.url()).pathname).toBe('/cte')
  await page.goBack()
  await shown(panel(page).getByRole('heading', { name: /^CT-e/ }))
})

test('a document that is not here, or a failure, is said calmly', async () => {
  const { account, notes } = await prepare()
  const page = await site.resume(account, '/notas-fiscais?documento=nada')
  await shown(panel(page).getByText('Este documento não está aqui'))
  await panel(page).getByRole('button', { name: 'Fechar' }).click()
  await panel(page).waitFor({ state: 'detached' })
  await page.route('**/detalhes/*', (route) =>
    route.fulfill({ status: 400, json: { success: false, message: 'Agora não', data: null, errors: [] } }),
  )
  await follow(page, addressOf(notes[0]!))
  await shown(panel(page).getByText('Erro ao carregar dados: Agora não'))
  // A hidden page does not retry, which would remove the button.
  await page.evaluate(() => {
    Object.defineProperties(document, { hidden: { value: true }, visibilityState: { value: 'hidden' } })
    document.dispatchEvent(new Event('visibilitychange'))
  })
  await page.unroute('**/detalhes/*')
  await panel(page).getByRole('button', { name: 'Tentar novamente' }).click()
  await shown(panel(page).getByText('Identificação'))
})

test('a printed form is fetched once, by who presses for it, and again once the company has another logo', async () => {
  const { notes } = await prepare()
  const row = complete(notes)
  // Too narrow for the form to be beside the panel.
  const page = await site.resume((await prepare()).account, '/health', { viewport: { width: 1200, height: 800 } })
  let printed = 0
  page.on('request', (request) => request.url().includes('/danfe/') && printed++)
  await page.goto(site.product.url + addressOf(row))
  await shown(panel(page).getByText('Identificação'))
  await shown(panel(page).getByRole('button', { name: 'Download PDF' }))
  expect(printed).toBe(0)
  const save = async () => {
    const pdf = page.waitForEvent('download')
    await panel(page).getByRole('button', { name: 'Download PDF' }).click()
    await pdf
  }
  await save()
  await save()
  await panel(page).getByRole('button', { name: 'Ver DANFE' }).click()
  await drawn(
    page
      .getByRole('dialog', { name: /^NF-e \d+ - / })
      .locator('canvas')
      .first(),
  )
  expect(printed).toBe(1)
  await page.goBack()
  await page.getByRole('dialog', { name: /^NF-e \d+ - / }).waitFor({ state: 'detached' })
  await anotherLogo(page, row)
  await save()
  expect(printed).toBe(2)
})

async function anotherLogo(page: Page, row: ListRow) {
  await follow(page, `/empresas/editar/${row.idEmpresa}`)
  const point = await page.evaluate(() => document.createElement('canvas').toDataURL().split(',')[1]!)
  const asked = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Escolher imagem' }).click()
  await (await asked).setFiles({ name: 'loja.png', mimeType: 'image/png', buffer: Buffer.from(point, 'base64') })
  await shown(page.getByText(/^Logotipo guardado/))
  await page.goBack()
}

test('on a phone the panel fills the screen and the DANFE opens over it', async () => {
  const { notes } = await prepare()
  const page = await open(complete(notes), phone)
  expect((await panel(page).boundingBox())?.width).toBeCloseTo(390, 0)
  await expectNoSidewaysScroll(page)
  for (const tab of ['Itens', 'Eventos', 'XML']) {
    await panel(page).getByRole('tab', { name: tab }).tap()
    await expectNoSidewaysScroll(page)
  }
  await panel(page).getByRole('button', { name: 'Ver DANFE' }).tap()
  const viewer = page.getByRole('dialog', { name: /^NF-e \d+ - / })
  await drawn(viewer.locator('canvas').first())
  await page.goBack()
  await viewer.waitFor({ state: 'detached' })
  await shown(panel(page).getByRole('tab', { name: 'XML' }))
})

test('a note is checked and written about, in the panel and in the list, and found by it', async () => {
  // An account of its own: the marks stay.
  const account = await site.createAccount('Ana')
  const client = await newClient(site.product, account)
  await client.register(bakery.cnpj, bakery.nome)
  await captured(site, account, client)
  const note = (await client.list('TipoDFe=0')).find(({ notaCompleta }) => notaCompleta)!
  const page = await site.resume(account, `/notas-fiscais?periodo=todos&documento=${note.idDfe}`)
  const panel = page.getByRole('dialog')
  await shown(panel.getByText('Não conferida.'))
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
