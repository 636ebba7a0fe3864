import type { Page, Request } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { type ListRow, newClient } from '../support/client.ts'
import { captured } from './captured.ts'
import {
  coloursOf,
  type FakeResponse,
  failure,
  later,
  respond,
  runUntil,
  runUntilShown,
  stopClock,
  success,
  toasted,
} from './page.ts'
import { bakery, shown, useSite } from './site.ts'

// What a list shows and sends, whatever its rows are.
const site = useSite()
const { account, member, go } = site

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
  idEmpresa = await client.register(bakery.cnpj, bakery.nome)
  await captured(site, account, client)
  for (const kind of ['nfe', 'cte'] as const) {
    const rows = await client.list(`TipoDFe=${kinds[kind].tipo}`)
    real[kind] = rows.filter(({ notaCompleta, status }) => notaCompleta && status.codigoEvento === 100)
    expect(real[kind].length).toBeGreaterThan(2)
  }
})

function paramsOf(request: Request | undefined) {
  return Object.fromEntries(new URL(request?.url() ?? 'http://nobody').searchParams)
}

function pageOf(items: Partial<ListRow>[], totalDePaginas = 1): FakeResponse {
  return { json: success({ items: items.map((row) => ({ ...real.nfe[0], prazo: null, ...row })), totalDePaginas }) }
}

const threeRows = ['um', 'dois', 'tres'].map((idDfe, index) => ({
  idDfe,
  numero: 101 + index,
  emitente: `EMITENTE ${index}`,
}))

/** The list of a member, every search having this answer. */
async function open(kind: Kind, reply: Parameters<typeof respond>[2] = pageOf(threeRows), time?: string) {
  const page = await member()
  if (time) await page.clock.setFixedTime(new Date(time))
  const calls = await respond(page, list, reply)
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
  await page.getByLabel('Empresa', { exact: true }).selectOption({ label: bakery.nome })
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

/** A list of two documents that the company received and may answer. */
async function received(kind: Kind, reply: Parameters<typeof respond>[2]) {
  const notes = real.nfe.filter(({ tipoParticipacao }) => tipoParticipacao === 1).slice(0, 2)
  const ids = notes.map(({ idDfe }) => idDfe)
  const rows = ids.map((idDfe, index) => ({ ...real[kind][index], idDfe }))
  const page = await member()
  await respond(page, list, { json: success({ items: rows, totalDePaginas: 1 }) })
  const sent = await respond(page, `/v1/api/DocumentosFiscais/${kinds[kind].sent}`, reply)
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

const answers: Record<Kind, [option: string, tipoManifestacao: number, reply: FakeResponse, message: string][]> = {
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

test('a preview that fails says so', async () => {
  const page = await member()
  await respond(page, list, pageOf(threeRows))
  let reply: FakeResponse = 'as it is'
  await respond(page, `${list}/danfe/um`, () => reply)
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
