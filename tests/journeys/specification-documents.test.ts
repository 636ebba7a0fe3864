import type { Page, Request } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { type ListRow, newClient } from '../support/client.ts'
import { shown } from './site.ts'
import {
  answer,
  coloursOf,
  failure,
  later,
  type Reply,
  runUntil,
  runUntilShown,
  stopClock,
  success,
  toastColours,
  toasted,
  useSpecification,
} from './specification.ts'

const company = { cnpj: '12ABC34501DE35', nome: 'PADARIA ESTRELA LTDA', uf: 'SP' }
const { site, account, member, go } = useSpecification('Fabio', {
  simulator: { companies: [company], documentsEach: 60 },
})

const list = '/v1/api/DocumentosFiscais'
const kinds = {
  nfe: { path: '/notas-fiscais', tipo: '0', sent: 'manifestar-nfe', print: 'danfe' },
  cte: { path: '/cte', tipo: '2', sent: 'manifestar-cte', print: 'dacte' },
} as const
type Kind = keyof typeof kinds

let idEmpresa: string
/** Complete documents that the authority delivered to the recipient. */
const real = {} as Record<Kind, ListRow[]>

beforeAll(async () => {
  const client = await newClient(site.product, account)
  idEmpresa = await client.register(company.cnpj, company.nome)
  await client.captured({ timeoutMs: 60_000 })
  for (const kind of ['nfe', 'cte'] as const) {
    const rows = await client.list(`TipoDFe=${kinds[kind].tipo}`)
    real[kind] = rows.filter(({ notaCompleta, status }) => notaCompleta && status.codigoEvento === 100)
    expect(real[kind].length).toBeGreaterThan(2)
  }
})

function paramsOf(request: Request | undefined) {
  return Object.fromEntries(new URL(request?.url() ?? 'http://nobody').searchParams)
}

function pageOf(items: Partial<ListRow>[], totalDePaginas = 1): Reply {
  return { json: success({ items: items.map((row) => ({ ...real.nfe[0], prazo: null, ...row })), totalDePaginas }) }
}

const threeRows = ['um', 'dois', 'tres'].map((idDfe, index) => ({
  idDfe,
  numero: 101 + index,
  emitente: `EMITENTE ${index}`,
}))

/** The list of a member, every search having this answer. */
async function open(kind: Kind, reply: Parameters<typeof answer>[2] = pageOf(threeRows), time?: string) {
  const page = await member()
  if (time) await page.clock.setFixedTime(new Date(time))
  const calls = await answer(page, list, reply)
  await go(page, kinds[kind].path)
  await shown(page.getByRole('button', { name: 'Manifestar', exact: true }))
  await expect.poll(() => calls.length).toBeGreaterThan(0)
  return { page, calls }
}

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

const filters = {
  nfe: {
    Participação: { Emitente: '0', Destinatário: '1', Transportador: '2', Terceiro: '3' },
    Status: {
      Resumo: '1',
      Autorizada: '2',
      Cancelada: '3',
      Desconhecimento: '4',
      'Operação Não Realizada': '5',
      Confirmação: '6',
      Ciência: '8',
    },
  },
  cte: {
    Participação: {
      Emitente: '0',
      Destinatário: '1',
      Terceiro: '3',
      Remetente: '4',
      Expedidor: '5',
      Recebedor: '6',
      Tomador: '7',
    },
    Status: { Autorizada: '2', Cancelada: '3', 'Carta Correção': '7' },
  },
}
const parameters = { Participação: 'TipoParticipacao', Status: 'Status' } as const

test.each(['nfe', 'cte'] as const)('%s: the titles, the first search and what each filter sends', async (kind) => {
  const { page, calls } = await open(kind, undefined, '2028-02-29T23:30:00-03:00')
  if (kind === 'nfe') await shown(page.getByText('Todas as Notas Fiscais', { exact: true }))
  else {
    await shown(page.getByRole('heading', { name: 'Conhecimento de Transporte Eletrônico', exact: true }))
    await shown(page.getByText('Todos os CTe', { exact: true }))
  }
  await shown(row(page, 'EMITENTE 0'))
  expect(calls).toHaveLength(1)
  expect(paramsOf(calls[0])).toEqual({
    TipoDFe: kinds[kind].tipo,
    PaginaAtual: '1',
    DataDe: '2028-02-01T00:00:00',
    DataAte: '2028-02-29T23:59:59',
  })
  expect((await page.getByLabel(/Data de emissão/i).textContent()) ?? '').toMatch(/01\/02\/2028.*29\/02\/2028/)

  for (const label of ['Participação', 'Status'] as const) {
    const select = page.getByLabel(label, { exact: true })
    const options = (await select.getByRole('option').allTextContents()).slice(1)
    expect(options).toEqual(Object.keys(filters[kind][label]))
    for (const [option, value] of Object.entries(filters[kind][label])) {
      await select.selectOption({ label: option })
      await expect.poll(() => paramsOf(calls.at(-1))[parameters[label]], { message: option }).toBe(value)
    }
    await select.selectOption({ index: 0 })
    await page.getByRole('button', { name: 'Buscar', exact: true }).click()
    await expect.poll(() => Object.keys(paramsOf(calls.at(-1)))).not.toContain(parameters[label])
  }
})

test('company, search and dates are sent; a blank search is not', async () => {
  const { page, calls } = await open('nfe', undefined, '2026-03-10T12:00:00-03:00')
  const search = page.getByRole('searchbox')
  const submit = page.getByRole('button', { name: 'Buscar', exact: true })
  await search.fill('   ')
  await submit.click()
  await page.getByLabel('Empresa', { exact: true }).selectOption({ label: company.nome })
  await expect.poll(() => paramsOf(calls.at(-1)).IdEmpresa).toBe(idEmpresa)
  expect(Object.keys(paramsOf(calls.at(-1)))).not.toContain('CampoPesquisa')
  await search.fill('papelaria')
  await submit.click()
  await expect.poll(() => paramsOf(calls.at(-1)).CampoPesquisa).toBe('papelaria')
  await page.getByLabel(/Data de emissão/i).click()
  await page.getByLabel('De', { exact: true }).fill('05/01/2026')
  await page.getByLabel('Até', { exact: true }).fill('20/02/2026')
  await page.getByRole('button', { name: /Aplicar/ }).click()
  await expect
    .poll(() => paramsOf(calls.at(-1)))
    .toEqual({
      TipoDFe: '0',
      PaginaAtual: '1',
      CampoPesquisa: 'papelaria',
      IdEmpresa: idEmpresa,
      DataDe: '2026-01-05T00:00:00',
      DataAte: '2026-02-20T23:59:59',
    })
})

test('two filters changed at once are both in the next request', async () => {
  const { page, calls } = await open('nfe')
  await shown(row(page, 'EMITENTE 0'))
  await page.getByRole('main').evaluate((main) => {
    const [, participation, status] = main.querySelectorAll('select')
    for (const [select, value] of [
      [participation!, 'Destinatário'],
      [status!, 'Autorizada'],
    ] as const) {
      select.value = [...select.options].find(({ text }) => text === value)!.value
      select.dispatchEvent(new Event('change', { bubbles: true }))
    }
  })
  await expect.poll(() => paramsOf(calls.at(-1))).toMatchObject({ TipoParticipacao: '1', Status: '2' })
  expect(await page.getByLabel('Participação', { exact: true }).locator('option:checked').textContent()).toBe(
    'Destinatário',
  )
  expect(await page.getByLabel('Status', { exact: true }).locator('option:checked').textContent()).toBe('Autorizada')
})

test('while it loads the list and its button say so', async () => {
  const page = await member()
  let slow = later(pageOf(threeRows))
  await answer(page, list, () => slow.reply())
  await go(page, '/notas-fiscais')
  await shown(page.getByText('Carregando documentos...', { exact: true }))
  await shown(page.getByRole('button', { name: 'Buscando...', exact: true }))
  slow.come()
  await shown(row(page, 'EMITENTE 0'))
  const submit = page.getByRole('button', { name: 'Buscar', exact: true })
  await shown(submit)
  slow = later(pageOf(threeRows))
  await page.getByRole('searchbox').fill('papelaria')
  await submit.click()
  await shown(page.getByRole('button', { name: 'Buscando...', exact: true }))
  slow.come()
  await shown(submit)
})

test('a failure is told on the screen and as a toast', async () => {
  let message = 'Data inválida'
  const { page } = await open('nfe', () => ({ status: 400, json: failure(message) }))
  const told = async () => {
    await shown(page.getByRole('main').getByText(`Erro ao carregar dados: ${message}`, { exact: true }))
    await toasted(page, `Erro ao carregar dados: ${message}`)
  }
  await told()
  message = 'Participação inválida'
  await page.getByRole('link', { name: 'CTe', exact: true }).click()
  await told()
})

test('a row shows number, issuer, key, value, date, participation and status', async () => {
  const participations = [
    'Emitente',
    'Destinatário',
    'Transportador',
    'Terceiro',
    'Remetente',
    'Expedidor',
    'Recebedor',
    'Tomador',
    'Desconhecido',
  ]
  const rows = participations.map((_, index) => ({
    idDfe: `id${index}`,
    numero: 501 + index,
    emitente: `EMITENTE ${index}`,
    valor: 1234.5,
    dataEmissao: '2026-03-05T10:00:00',
    tipoParticipacao: index === 8 ? 42 : index,
    notaCompleta: index % 2 === 0,
    status: { codigoEvento: 210210, descricaoEvento: 'Ciência da Operação' },
  }))
  const { page } = await open('nfe', pageOf(rows))
  const headers = (await page.getByRole('columnheader').allTextContents()).map((text) => text.trim()).slice(1)
  expect(headers).toEqual(['Número', 'Emitente', 'Valor', 'Data Emissão', 'Participação', 'Status', 'Ações'])
  for (const [index, participation] of participations.entries()) {
    const cells = row(page, String(501 + index)).getByRole('cell')
    await shown(cells)
    const texts = (await cells.allTextContents()).map((text) => text.replace(/\u00a0/g, ' ').trim())
    expect(texts[1]).toBe(String(501 + index))
    expect(texts[2]).toContain(`EMITENTE ${index}`)
    expect(texts[2]!.replace(/\s/g, '')).toContain(real.nfe[0]!.chave)
    expect(texts[3]).toBe('R$ 1.234,50')
    expect(texts[4]).toMatch(/^05\/03\/2026/)
    expect(texts[5]).toBe(participation)
    expect(texts[6]).toContain('Ciência da Operação')
    const view = cells.last().getByRole('button').first()
    expect(await view.isEnabled()).toBe(index % 2 === 0)
  }
})

test('the status badge has the colour of its event', async () => {
  const wanted = {
    610614: 'green',
    610610: 'green',
    210200: 'green',
    610615: 'red',
    110111: 'red',
    210210: 'blue',
    100: 'yellow',
    210240: 'yellow',
  }
  const rows = Object.keys(wanted).map((code) => ({
    idDfe: code,
    emitente: `EMITENTE ${code}`,
    status: { codigoEvento: Number(code), descricaoEvento: `Evento ${code}` },
  }))
  const { page } = await open('nfe', pageOf(rows))
  for (const [code, colour] of Object.entries(wanted)) {
    const badge = page.getByRole('table').getByText(`Evento ${code}`, { exact: true })
    await shown(badge)
    expect(
      (await coloursOf(badge)).filter((name) => name !== 'grey'),
      code,
    ).toEqual([colour])
  }
})

test('pagination: a window of five around the current page, and where one is', async () => {
  let pages = 12
  const { page, calls } = await open('nfe', () => pageOf(threeRows, pages))
  const at = async (current: number, window: number[]) => {
    await shown(page.getByText(`Página ${current} de 12`, { exact: true }))
    const numbers = page.getByRole('button', { name: /^\d+$/ }).allTextContents()
    expect((await numbers).map(Number)).toEqual(window)
    await expect.poll(() => paramsOf(calls.at(-1)).PaginaAtual).toBe(String(current))
  }
  const [previous, next] = [/anterior/i, /próxima/i].map((name) => page.getByRole('button', { name }))
  await at(1, [1, 2, 3, 4, 5])
  expect(await previous!.isDisabled()).toBe(true)
  await page.getByRole('button', { name: '5', exact: true }).click()
  await at(5, [3, 4, 5, 6, 7])
  await next!.click()
  await at(6, [4, 5, 6, 7, 8])
  await previous!.click()
  await at(5, [3, 4, 5, 6, 7])
  for (const number of ['7', '9', '11', '12']) await page.getByRole('button', { name: number, exact: true }).click()
  await at(12, [8, 9, 10, 11, 12])
  expect(await next!.isDisabled()).toBe(true)

  pages = 1
  await page.getByRole('searchbox').fill('papelaria')
  await page.getByRole('button', { name: 'Buscar', exact: true }).click()
  await page.getByText(/Página \d+ de/).waitFor({ state: 'detached' })
  await shown(row(page, 'EMITENTE 0'))
})

async function manifest(page: Page, option: string) {
  await page.getByRole('button', { name: 'Manifestar', exact: true }).first().click()
  await page.getByRole('menuitem', { name: option, exact: true }).click()
}

const all = (page: Page) => page.getByRole('columnheader').getByRole('checkbox')
const boxes = (page: Page) => page.getByRole('cell').getByRole('checkbox')
const checked = async (page: Page) => Promise.all((await boxes(page).all()).map((box) => box.isChecked()))

test('select-all toggles the rows of the page; without a document the menu says so', async () => {
  const { page } = await open('nfe')
  await shown(row(page, 'EMITENTE 0'))
  await page.getByRole('button', { name: 'Manifestar', exact: true }).click()
  const items = page.getByRole('menuitem')
  await shown(items)
  expect(await items.allTextContents()).toEqual(['Ciência', 'Confirmação', 'Desconhecimento', 'Não Realizada'])
  await items.first().click()
  await toasted(page, 'Selecione pelo menos um documento para manifestar.')
  expect(await toastColours(page, 'Selecione pelo menos um documento')).not.toContain('green')
  expect(await page.getByRole('dialog').count()).toBe(0)

  await all(page).check()
  expect(await checked(page)).toEqual([true, true, true])
  await all(page).uncheck()
  expect(await checked(page)).toEqual([false, false, false])
  await boxes(page).nth(1).check()
  expect(await checked(page)).toEqual([false, true, false])

  await page.getByRole('link', { name: 'CTe', exact: true }).click()
  await shown(page.getByText('Todos os CTe', { exact: true }))
  await page.getByRole('button', { name: 'Manifestar', exact: true }).click()
  await shown(items)
  expect((await items.allTextContents()).slice(0, 2)).toEqual(['Cancelamento', 'Carta Correção'])
})

/** A list of two documents that the company received and may answer. */
async function received(kind: Kind, reply: Parameters<typeof answer>[2]) {
  const notes = real.nfe.filter(({ tipoParticipacao }) => tipoParticipacao === 1).slice(0, 2)
  const ids = notes.map(({ idDfe }) => idDfe)
  const rows = ids.map((idDfe, index) => ({ ...real[kind][index], idDfe }))
  const page = await member()
  await answer(page, list, { json: success({ items: rows, totalDePaginas: 1 }) })
  const sent = await answer(page, `/v1/api/DocumentosFiscais/${kinds[kind].sent}`, reply)
  // Carriers get no document that they issued, and the term of Ciência is short: what may be confirmed may be all else.
  await page.route('**/previa-manifestacao', async (route) => {
    const postData = { TipoDFe: 0, tipoManifestacao: 2, idsDFe: ids }
    await route.continue({ postData })
  })
  await go(page, kinds[kind].path)
  const select = async (option: string) => {
    await all(page).check()
    await manifest(page, option)
    const dialog = page.getByRole('dialog', { name: `Manifestar - ${option}`, exact: true })
    await shown(dialog)
    return { dialog, text: dialog.getByRole('textbox') }
  }
  return { page, sent, select, ids }
}

test('the dialog counts documents and characters, wants a justification of 200 at most, and tells a failure', async () => {
  const { page, sent, select } = await received('nfe', {
    json: failure('Não deu', ['Prazo vencido', 'Nota cancelada']),
  })
  const { dialog, text } = await select('Confirmação')
  await shown(dialog.getByText('Documentos selecionados: 2', { exact: true }))
  await shown(dialog.getByText('0/200 caracteres', { exact: true }))
  await shown(dialog.getByRole('button', { name: 'Cancelar', exact: true }))
  const send = dialog.getByRole('button', { name: 'Enviar', exact: true })
  expect(await send.isDisabled()).toBe(true)
  await text.fill('     ')
  await shown(dialog.getByText('5/200 caracteres', { exact: true }))
  expect(await send.isDisabled()).toBe(true)
  await text.blur()
  await shown(dialog.getByText('A justificativa é obrigatória', { exact: true }))
  await text.fill('x'.repeat(201))
  await shown(dialog.getByText('A justificativa deve ter no máximo 200 caracteres', { exact: true }))
  if (await send.isEnabled()) await send.click()
  expect(sent).toHaveLength(0)
  await text.fill('Compra conforme o pedido.')
  expect(await send.isEnabled()).toBe(true)
  await send.click()
  await toasted(page, /^Erro na operação: Prazo vencido\W+Nota cancelada$/)
  await shown(dialog)
  expect(await text.inputValue()).toBe('Compra conforme o pedido.')
  await dialog.getByRole('button', { name: 'Cancelar' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(sent).toHaveLength(1)
  expect(await checked(page)).toEqual([true, true])
})

const answers: Record<Kind, [option: string, tipoManifestacao: number, reply: Reply, message: string][]> = {
  nfe: [
    ['Ciência', 1, { json: success(null, 'Ciência registrada.') }, 'Ciência registrada.'],
    ['Confirmação', 2, { json: success({}, 'Confirmação registrada.') }, 'Confirmação registrada.'],
    ['Desconhecimento', 3, { body: '' }, 'Operação realizada com sucesso'],
    ['Não Realizada', 4, { json: success([], 'Recusa registrada.') }, 'Recusa registrada.'],
  ],
  cte: [
    ['Cancelamento', 1, { json: success(null, 'Cancelado.') }, 'Cancelado.'],
    ['Carta Correção', 2, { status: 204 }, 'Operação realizada com sucesso'],
  ],
}

test.each(['nfe', 'cte'] as const)(
  '%s: each answer is sent with its number, trimmed, and clears everything',
  async (kind) => {
    let slow = later('as it is')
    const { page, sent, ids, select } = await received(kind, () => slow.reply())
    for (const [option, tipoManifestacao, reply, message] of answers[kind]) {
      slow = later(reply)
      const { dialog, text } = await select(option)
      expect(await text.inputValue()).toBe('')
      await text.fill('  Motivo com mais de quinze letras.  ')
      await dialog.getByRole('button', { name: 'Enviar', exact: true }).click()
      const waiting = dialog.getByRole('button', { name: 'Enviando...', exact: true })
      await shown(waiting)
      expect(await waiting.isDisabled()).toBe(true)
      slow.come()
      await toasted(page, message)
      await dialog.waitFor({ state: 'hidden' })
      expect(sent.at(-1)!.postDataJSON()).toEqual({
        justificativa: 'Motivo com mais de quinze letras.',
        idsDFe: ids,
        tipoManifestacao,
      })
      expect(await checked(page)).toEqual([false, false])
    }
    expect(sent).toHaveLength(answers[kind].length)
  },
)

test.each(['nfe', 'cte'] as const)(
  '%s: the preview shows the printed document, and saves it by its title',
  async (kind) => {
    const page = await member()
    const rows = real[kind].slice(0, 1)
    await answer(page, list, { json: success({ items: rows, totalDePaginas: 1 }) })
    const slow = later('as it is')
    const prints = await answer(page, `${list}/${kinds[kind].print}/${rows[0]!.idDfe}`, slow.reply)
    await go(page, kinds[kind].path)
    await row(page, rows[0]!.emitente).getByRole('cell').last().getByRole('button').first().click()
    const dialog = page.getByRole('dialog')
    await shown(dialog.getByText('Carregando documento...', { exact: true }))
    slow.come()
    await dialog.getByText('Carregando documento...').waitFor({ state: 'hidden' })
    expect(prints).toHaveLength(1)
    expect(prints[0]!.headers().accept).toBe('application/pdf')
    expect(prints[0]!.headers().authorization).toMatch(/^Bearer ./)
    const title = (await dialog.getByRole('heading').first().textContent()) ?? ''
    const download = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Download', exact: true }).click()
    expect((await download).suggestedFilename()).toBe(`${title}.pdf`)
  },
)

test('a preview that fails says so', async () => {
  const page = await member()
  await answer(page, list, pageOf(threeRows))
  let reply: Reply = 'as it is'
  await answer(page, `${list}/danfe/um`, () => reply)
  await stopClock(page)
  await go(page, '/notas-fiscais')
  await runUntilShown(page, row(page, 'EMITENTE 0'))
  const dialog = page.getByRole('dialog')
  for (const [wrong, message] of [
    [{ status: 404, json: failure('Não existe', [], 404) }, 'Erro: Erro ao carregar PDF: 404'],
    [{ status: 500, body: '' }, 'Erro: Erro ao carregar PDF: 500'],
    ['no connection', 'Erro: Erro desconhecido'],
    [{ contentType: 'application/pdf', body: '%PDF-1.4 broken' }, 'Erro: Erro desconhecido'],
    [{ contentType: 'application/pdf', body: '' }, 'Erro: Erro desconhecido'],
  ] as const) {
    reply = wrong
    await row(page, 'EMITENTE 0').getByRole('cell').last().getByRole('button').first().click()
    await runUntilShown(page, dialog.getByText(message, { exact: true }), 200)
    await page.keyboard.press('Escape')
    await runUntil(page, async () => !(await dialog.isVisible()))
  }
})
