import type { BrowserContextOptions, Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Client, ListRow } from '../support/client.ts'
import { capturedAccount, focusedName, periodOf, rowsOf } from './captured.ts'
import { follow } from './page.ts'
import { type Account, phone, shown, textOf, useSite } from './site.ts'

const json = { 'content-type': 'application/json' }
const site = useSite(undefined, { alone: true })
let office: { account: Account; client: Client } | undefined

type Filter = Record<string, string>
const isUnanswered = (row: ListRow) => row.status.codigoEvento === 0

/** Address of the list with the newest matches of `filter`, some of which have no answer yet. */
function addressOf(filter: Filter, found: ListRow[], unanswered = 4): string {
  const last = found.filter(isUnanswered)[unanswered - 1]
  const count = last ? found.indexOf(last) + 1 : found.length
  return `/notas-fiscais?${new URLSearchParams(filter)}&${periodOf(found, count, 'newest')}`
}

/** The list of what `filter` finds, and its rows as the API gives them. */
async function open(
  filter: Filter,
  { path, unanswered, ...options }: BrowserContextOptions & { path?: string; unanswered?: number } = {},
) {
  office ??= await capturedAccount(site)
  const { participacao = '', status = '' } = filter
  const found = await office.client.list(`TipoDFe=0&TipoParticipacao=${participacao}&Status=${status}`)
  const address = addressOf(filter, found, unanswered)
  const page = await site.resume(office.account, path ?? address, options)
  await shown(path ? page.getByRole('heading', { level: 1 }) : rowsOf(page))
  return { page, found, address }
}

const summaries = { participacao: '1', status: '1' }
const box = (page: Page, { numero }: ListRow) => page.getByLabel(new RegExp(`^Selecionar NF-e ${numero} de `))
const selectedText = (page: Page) => page.getByText(/^[\d.]+ selecionadas?$/)

async function answer(page: Page, label: string, rows: ListRow[]): Promise<Locator> {
  for (const row of rows) await box(page, row).click()
  await page.getByRole('button', { name: 'Manifestar' }).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
  const dialog = page.getByRole('dialog', { name: `Manifestar - ${label}` })
  await shown(dialog.getByText(/^(Vai para|Nenhuma nota fiscal pode)/))
  return dialog
}

async function sent(rows: ListRow[]): Promise<{ descricao: string; situacao: string }[][]> {
  const histories = rows.map(({ idDfe }) =>
    office!.client.call<{ eventos: { descricao: string; situacao: string }[] }>(
      'GET',
      `/v1/api/DocumentosFiscais/manifestacoes/${idDfe}`,
    ),
  )
  return (await Promise.all(histories)).map(({ body }) => body.data.eventos).filter((events) => events.length > 0)
}

test('the dialog says what an answer means, counts, takes no blank nor long justification, and sends once', async () => {
  const { page, found } = await open(summaries)
  const dialog = await answer(page, 'Ciência', found.slice(0, 2))
  await shown(dialog.getByText(/o XML completo é liberado\. Depois dela ainda é devida uma resposta final/))
  await shown(dialog.getByText('Documentos selecionados: 2'))
  await shown(dialog.getByText('Vai para 2 notas fiscais.'))
  const text = dialog.getByLabel('Justificativa')
  const send = dialog.getByRole('button', { name: 'Enviar' })
  expect(await focusedName(page)).toBe('')
  await expect.poll(() => text.inputValue()).toBe('Ciência da operação informada na nota.')
  await shown(dialog.getByText('38/200 caracteres'))
  await text.fill('Compra da filial')
  await dialog.getByRole('button', { name: 'Guardar como modelo' }).click()
  const kept = dialog.getByRole('button', { name: 'Compra da filial', exact: true })
  await shown(kept)
  await text.fill('   ')
  expect(await send.isDisabled()).toBe(true)
  await text.blur()
  await shown(dialog.getByText('A justificativa é obrigatória'))
  await text.fill('x'.repeat(201))
  await shown(dialog.getByText('201/200 caracteres'))
  await send.click()
  await shown(dialog.getByText('A justificativa deve ter no máximo 200 caracteres'))
  expect(await text.getAttribute('aria-invalid')).toBe('true')
  await kept.click()
  expect(await text.inputValue()).toBe('Compra da filial')
  await dialog.getByRole('button', { name: 'Apagar o modelo: Compra da filial' }).click()
  await kept.waitFor({ state: 'detached' })
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => focusedName(page)).toBe('Manifestar')
  // The discarded text is gone, and the selection remains.
  expect(await textOf(selectedText(page))).toBe('2 selecionadas')
  const again = await answer(page, 'Não Realizada', [])
  expect(await again.getByLabel('Justificativa').inputValue()).toBe('')
  await again.getByLabel('Justificativa').fill('curta demais')
  await shown(again.getByText('De 15 a 200 caracteres, em uma linha.'))
  await again.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText(/^Erro na operação: A justificativa .* precisa ter de 15 a 255 caracteres/))
  expect(await again.getByLabel('Justificativa').inputValue()).toBe('curta demais')
  await again.getByRole('button', { name: 'Cancelar' }).click()
  expect(await sent(found.slice(0, 2))).toEqual([])
  await again.waitFor({ state: 'detached' })
  await sentOnce(page, found.slice(0, 2))
})

/** A Ciência is sent once, however often it is pressed; it leaves the selection and shows in the list. */
async function sentOnce(page: Page, chosen: ListRow[]) {
  const dialog = await answer(page, 'Ciência', [])
  await dialog.getByLabel('Justificativa').fill('Compra conhecida')
  let calls = 0
  page.on('request', (request) => request.url().endsWith('/manifestar-nfe') && calls++)
  const held = Promise.withResolvers<void>()
  await page.route('**/manifestar-nfe', async (route) => {
    await held.promise
    await route.continue()
  })
  // Twice before anything is drawn.
  await dialog.locator('form').evaluate((form: HTMLFormElement) => {
    form.requestSubmit()
    form.requestSubmit()
  })
  await shown(dialog.getByRole('button', { name: 'Enviando...' }))
  expect(await dialog.getByRole('button', { name: 'Enviando...' }).isDisabled()).toBe(true)
  await dialog.getByLabel('Justificativa').press('Control+Enter')
  await page.keyboard.press('Escape')
  expect(await dialog.isVisible()).toBe(true)
  held.resolve()
  await shown(page.getByText('2 documentos manifestados.'), 20_000)
  await dialog.waitFor({ state: 'detached' })
  expect(await selectedText(page).count()).toBe(0)
  expect(calls).toBe(1)
  const events = await sent(chosen)
  expect(events).toHaveLength(2)
  for (const one of events) expect(one).toMatchObject([{ descricao: 'Ciência da Operação', situacao: 'registrada' }])
  await follow(page, '/notas-fiscais?participacao=1&status=8&periodo=todos')
  await shown(page.locator('[data-tone=blue]').filter({ hasText: 'Ciência' }))
}

test('going back closes the dialog and nothing else, keeps what was typed, and waits for what is on its way', async () => {
  const { page, found } = await open(summaries, phone)
  const chosen = found.filter(isUnanswered).slice(0, 2)
  const dialog = await answer(page, 'Ciência', chosen)
  await dialog.getByLabel('Justificativa').fill('Compra da matriz')
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  expect(await textOf(selectedText(page))).toBe('2 selecionadas')
  await shown(page.getByText('O que você escreveu continua guardado.'))
  await page.goForward()
  await shown(dialog.getByText('Vai para 2 notas fiscais.'))
  expect(await dialog.getByLabel('Justificativa').inputValue()).toBe('Compra da matriz')
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })
  await answer(page, 'Ciência', [])
  expect(await dialog.getByLabel('Justificativa').inputValue()).toBe('Compra da matriz')
  // A reload forgets it, and leaves no step on the way back that does nothing.
  const list = page.url()
  await page.reload()
  await shown(rowsOf(page))
  await expect.poll(() => page.evaluate(() => history.state?.usr?.doing)).toBeUndefined()
  expect(page.url()).toBe(list)

  const again = await answer(page, 'Ciência', chosen)
  await again.getByLabel('Justificativa').fill('Compra conhecida')
  const held = Promise.withResolvers<void>()
  await page.route('**/manifestar-nfe', async (route) => {
    await held.promise
    const [first, second] = chosen
    const told = { chave: '', mensagem: 'Assim.' }
    const documentos = [
      { ...told, idDfe: first!.idDfe, numero: first!.numero, situacao: 'registrada' },
      { ...told, idDfe: second!.idDfe, numero: second!.numero, situacao: 'recusada' },
    ]
    await route.fulfill({ json: { success: true, message: 'x', data: { documentos }, errors: [] } })
  })
  await again.getByRole('button', { name: 'Enviar' }).click()
  await shown(again.getByRole('button', { name: 'Enviando...' }))
  await page.goBack()
  await expect.poll(() => page.evaluate(() => history.state?.usr?.doing)).toBeTypeOf('number')
  expect(await again.isVisible()).toBe(true)
  held.resolve()
  await shown(again.getByText('1 recusada, 1 registrada.'))
  await shown(again.getByRole('button', { name: 'Selecionar de novo (1)' }))
  await page.goBack()
  await again.waitFor({ state: 'detached' })
  expect(page.url()).toBe(list)
  expect(await selectedText(page).count()).toBe(0)
})

test('the result of a sending whose screen was left is told elsewhere', async () => {
  const { page, found, address } = await open(summaries, { path: '/help' })
  const [chosen] = found.filter(isUnanswered)
  await follow(page, address)
  const dialog = await answer(page, 'Ciência', [chosen!])
  await dialog.getByLabel('Justificativa').fill('Compra conhecida')
  const held = Promise.withResolvers<void>()
  await page.route('**/manifestar-nfe', async (route) => {
    await held.promise
    const { idDfe, chave, numero } = chosen!
    const documentos = [{ idDfe, chave, numero, situacao: 'recusada', mensagem: 'Não.' }]
    await route.fulfill({ json: { success: true, message: 'x', data: { documentos }, errors: [] } })
  })
  await dialog.getByRole('button', { name: 'Enviar' }).click()
  await shown(dialog.getByRole('button', { name: 'Enviando...' }))
  await page.evaluate(() => history.go(-2))
  await dialog.waitFor({ state: 'detached' })
  held.resolve()
  await shown(page.getByText('Manifestar - Ciência: 1 recusada.'))
})

test('what cannot be answered is listed with its reason before anything leaves, and stays selected', async () => {
  const { page, found } = await open({}, { path: '/help' })
  const carried = found.find((row) => row.tipoParticipacao === 2)!
  const summary = found.find((row) => row.tipoParticipacao === 1 && !row.notaCompleta && row.status.codigoEvento === 0)!
  await follow(page, `/notas-fiscais?periodo=todos&busca=${carried.chave}`)
  await shown(box(page, carried))
  const alone = await answer(page, 'Desconhecimento', [carried])
  await shown(alone.getByText('Nenhuma nota fiscal pode receber esta resposta:'))
  await alone.getByLabel('Justificativa').fill('Não é nossa')
  await alone.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText(/^Erro na operação: Só o destinatário da nota pode manifestar/))
  expect(await alone.isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  await alone.waitFor({ state: 'detached' })

  await answerBoth(page, summary, carried)
})

async function answerBoth(page: Page, summary: ListRow, carried: ListRow) {
  await page.getByRole('button', { name: 'Limpar seleção' }).click()
  const body = { success: true, message: '', data: { items: [summary, carried], totalDePaginas: 1 }, errors: [] }
  await page.route('**/v1/api/DocumentosFiscais?*', (route) => route.fulfill({ json: body }))
  await follow(page, '/notas-fiscais?periodo=todos')
  await shown(box(page, summary))
  const dialog = await answer(page, 'Confirmação', [summary, carried])
  await shown(dialog.getByText('Vai para 1 nota fiscal.'))
  await shown(dialog.getByText('1 nota fiscal fica de fora:'))
  const left = dialog.getByRole('list', { name: 'Documentos que ficam de fora' })
  expect(await textOf(left)).toContain(`NF-e ${carried.numero} de ${carried.emitente}: Só o destinatário da nota`)
  await dialog.getByLabel('Justificativa').fill('Recebida')
  await dialog.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText(`Ficou de fora: NF-e ${carried.numero} de ${carried.emitente}.`), 20_000)
  await expect.poll(() => selectedText(page).count()).toBe(0)
  // No other toast hides it.
  const result = page.locator('[data-sonner-toast]').filter({ hasText: 'Ficou de fora' })
  expect(await result.getAttribute('data-expanded')).toBe('true')
  await page.getByRole('button', { name: 'Selecionar de novo' }).click()
  expect(await textOf(selectedText(page))).toBe('1 selecionada')
}

test('a failure of the whole says why, keeps the text, and can be tried again', async () => {
  const { page, found } = await open(summaries)
  const [chosen] = found.filter(isUnanswered)
  await page.route('**/previa-manifestacao', (route) =>
    route.fulfill({ status: 400, json: { success: false, message: 'Agora não', data: null, errors: [] } }),
  )
  await box(page, chosen!).click()
  await page.getByRole('button', { name: 'Manifestar' }).click()
  await page.getByRole('menuitem', { name: 'Ciência' }).click()
  const dialog = page.getByRole('dialog')
  await shown(dialog.getByText('Não conseguimos conferir os documentos'))
  await dialog.getByLabel('Justificativa').fill('Compra conhecida')
  // Nothing leaves that was not counted.
  expect(await dialog.getByRole('button', { name: 'Enviar' }).isDisabled()).toBe(true)
  await page.unroute('**/previa-manifestacao')
  await dialog.getByRole('button', { name: 'Conferir de novo' }).click()
  await shown(dialog.getByText('Vai para 1 nota fiscal.'))
  await page.route('**/manifestar-nfe', (route) =>
    route.fulfill({ status: 409, json: { success: false, message: 'x', data: null, errors: ['Um', 'Dois'] } }),
  )
  await dialog.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText('Erro na operação: Um, Dois'))
  expect(await dialog.getByLabel('Justificativa').inputValue()).toBe('Compra conhecida')
  await page.unroute('**/manifestar-nfe')
  await dialog.getByLabel('Justificativa').press('Control+Enter')
  await shown(page.getByText('1 documento manifestado.'), 20_000)
  await dialog.waitFor({ state: 'detached' })
})

// The clock of the authority does not go back: what follows counts on no deadline.
test('what the authority refuses can be repeated alone', async () => {
  const { page, found } = await open(summaries, { unanswered: Infinity })
  const unanswered = found.filter(isUnanswered)
  const days = (row: ListRow) => (Date.now() - new Date(row.dataEmissao).getTime()) / 86_400_000
  const [fresh] = unanswered
  const old = unanswered.find((row) => days(row) > days(fresh!) + 1 && days(row) < 9)!
  const dialog = await answer(page, 'Ciência', [fresh!, old])
  await shown(dialog.getByText('Vai para 2 notas fiscais.'))
  const origin = site.product.simulator.origin.replace('https:', 'http:')
  // The ten days for a Ciência are over for the older note.
  const advanceMs = (10.5 - days(old)) * 86_400_000
  await fetch(`${origin}/_control/clock`, { method: 'POST', headers: json, body: JSON.stringify({ advanceMs }) })
  await dialog.getByLabel('Justificativa').fill('Compra conhecida')
  await dialog.getByRole('button', { name: 'Enviar' }).click()
  await shown(dialog.getByText('1 recusada, 1 registrada.'), 30_000)
  await shown(dialog.getByText(/^A SEFAZ recusou: .+ \(código \d+\)\.$/))
  const results = dialog.getByRole('list', { name: 'Resultado de cada documento' }).getByRole('listitem')
  const texts = await results.allTextContents()
  expect(texts[0]).toContain(`RecusadaNF-e ${old.numero} de ${old.emitente}`)
  expect(texts[1]).toContain(`RegistradaNF-e ${fresh!.numero}`)
  await dialog.getByRole('button', { name: 'Repetir só as recusadas (1)' }).click()
  await shown(dialog.getByText('Documentos selecionados: 1'))
  await shown(dialog.getByText(`NF-e ${old.numero} de ${old.emitente}`))
  expect(await dialog.getByLabel('Justificativa').inputValue()).toBe('Compra conhecida')
})

// The last test: after it the server leaves the authority alone for a while.
test('while the authority is away an answer is on its way, and the list says so', async () => {
  const { page, found } = await open(summaries)
  const [chosen] = found.filter(isUnanswered)
  const faults = `${site.product.simulator.origin.replace('https:', 'http:')}/_control/faults`
  await fetch(faults, { method: 'POST', headers: json, body: JSON.stringify({ fault: '108', of: 'events' }) })
  const dialog = await answer(page, 'Desconhecimento', [chosen!])
  await dialog.getByLabel('Justificativa').fill('Fornecedor desconhecido')
  await dialog.getByRole('button', { name: 'Enviar' }).click()
  await shown(page.getByText('1 documento em envio: o resultado aparece na lista.'), 30_000)
  await dialog.waitFor({ state: 'detached' })
  await shown(
    rowsOf(page)
      .filter({ hasText: String(chosen!.numero) })
      .getByText('Em envio: Desconhecimento da Operação'),
  )
  await fetch(faults, { method: 'DELETE' })
})
