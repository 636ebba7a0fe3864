import type { Page, Request } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { type ListRow, newClient } from '../support/client.ts'
import { coloursOf, type FakeResponse, fixTime, later, respond, success, toasted } from './page.ts'
import { bakery, expectAccessible, expectNoSidewaysScroll, phone, shown, useSite } from './site.ts'

// Behaviour of any list, whatever its rows are; nothing is captured.
const site = useSite({ roles: ['api'] })
const { account, member, go } = site

const list = '/v1/api/DocumentosFiscais'
const kinds = {
  nfe: { path: '/notas-fiscais', tipo: '0', sent: 'manifestar-nfe' },
  cte: { path: '/cte', tipo: '2', sent: 'manifestar-cte' },
} as const
type Kind = keyof typeof kinds

let idEmpresa: string
const chave = `3526031122233300018155001${'0'.repeat(19)}`

beforeAll(async () => {
  const client = await newClient(site.product, account)
  idEmpresa = await client.register(bakery.cnpj, bakery.nome)
})

function paramsOf(request: Request | undefined) {
  return Object.fromEntries(new URL(request?.url() ?? 'http://nobody').searchParams)
}

const received = {
  chave,
  valor: 1234.5,
  dataEmissao: '2026-03-05T10:00:00',
  tipoParticipacao: 1,
  notaCompleta: true,
  status: { codigoEvento: 100, descricaoEvento: 'Autorizada' },
}

function pageOf(items: Partial<ListRow>[], totalDePaginas = 1): FakeResponse {
  return { json: success({ items: items.map((row) => ({ ...received, ...row })), totalDePaginas }) }
}

const threeRows = ['um', 'dois', 'tres'].map((idDfe, index) => ({
  idDfe,
  numero: 101 + index,
  emitente: `EMITENTE ${index}`,
}))

/** The list of a member, every search having this answer. */
async function open(kind: Kind, reply: Parameters<typeof respond>[2] = pageOf(threeRows), time?: string) {
  const page = await member()
  if (time) await fixTime(page, new Date(time))
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
  let reply = pageOf(threeRows)
  const { page, calls } = await open(kind, () => reply, '2028-02-29T23:30:00-03:00')
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
    const options = await select
      .locator('option')
      .evaluateAll((all) => all.map((one) => [one.textContent, (one as HTMLOptionElement).value]))
    expect(Object.fromEntries(options.slice(1))).toEqual(filters[kind][label])
    const [option, value] = Object.entries(filters[kind][label]).at(-1)!
    await select.selectOption({ label: option })
    await expect.poll(() => paramsOf(calls.at(-1))[parameters[label]], { message: option }).toBe(value)
    await select.selectOption({ index: 0 })
    await page.getByRole('button', { name: 'Buscar', exact: true }).click()
    await expect.poll(() => Object.keys(paramsOf(calls.at(-1)))).not.toContain(parameters[label])
  }
  if (kind === 'cte') return

  await searchAndPeriod(page, calls)
  const show = async (items: Partial<ListRow>[]) => {
    reply = pageOf(items)
    await page.getByRole('button', { name: 'Buscar', exact: true }).click()
    await shown(row(page, items[0]!.emitente!))
  }
  await rowsAndBadges(page, show)
})

/** Company, search and dates are sent; a blank search is not. */
async function searchAndPeriod(page: Page, calls: Request[]) {
  const search = page.getByRole('combobox', { name: 'Pesquisar' })
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
}

/** A row shows number, issuer, key, value, date, participation and status, whose badge has the colour of its event. */
async function rowsAndBadges(page: Page, show: (items: Partial<ListRow>[]) => Promise<void>) {
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
  const events = [
    [610614, 'green'],
    [610610, 'green'],
    [210200, 'green'],
    [610615, 'red'],
    [110111, 'red'],
    [210210, 'blue'],
    [100, 'yellow'],
    [210240, 'yellow'],
    [210210, 'blue'],
  ] as const
  await show(
    events.map(([codigoEvento], index) => ({
      idDfe: `id${index}`,
      numero: 501 + index,
      emitente: `FORNECEDOR ${index}`,
      tipoParticipacao: index === 8 ? 42 : index,
      notaCompleta: index % 2 === 0,
      status: { codigoEvento, descricaoEvento: `Evento ${index}` },
    })),
  )
  const headers = (await page.getByRole('columnheader').allTextContents()).map((text) => text.trim()).slice(1)
  expect(headers).toEqual(['Número', 'Emitente', 'Valor', 'Data Emissão', 'Participação', 'Status', 'Ações'])
  for (const [index, participation] of participations.entries()) {
    const cells = row(page, String(501 + index)).getByRole('cell')
    await shown(cells)
    const texts = (await cells.allTextContents()).map((text) => text.replace(/\u00a0/g, ' ').trim())
    expect(texts[1]).toBe(String(501 + index))
    expect(texts[2]).toContain(`FORNECEDOR ${index}`)
    expect(texts[2]!.replace(/\s/g, '')).toContain(chave)
    expect(texts[3]).toBe('R$ 1.234,50')
    expect(texts[4]).toMatch(/^05\/03\/2026/)
    expect(texts[5]).toBe(participation)
    expect(texts[6]).toContain(`Evento ${index}`)
    const view = cells.last().getByRole('button').first()
    expect(await view.isEnabled()).toBe(index % 2 === 0)
    const badge = cells.nth(6).getByText(`Evento ${index}`, { exact: true })
    const colours = (await coloursOf(badge)).filter((name) => name !== 'grey')
    expect(colours, String(events[index]![0])).toEqual([events[index]![1]])
    const border = await badge.locator('xpath=..').evaluate((pill) => getComputedStyle(pill).borderTopWidth)
    expect(border, String(events[index]![0])).toBe('1px')
  }
}

test('of words that too many documents have, the list says how many and since when it counts', async () => {
  const some = { items: threeRows.map((row) => ({ ...received, ...row })), totalDePaginas: 200 }
  const data = { ...some, totalDeItens: 10_000, valorTotal: 5_000_000, contadosDesde: '2026-03-12T10:00:00' }
  const { page } = await open('nfe', { json: success(data) })
  await shown(page.getByText('mais de 10.000 notas fiscais · R$ 5.000.000,00'))
  await shown(page.getByText('são dos emitidos desde 12/03/2026.'))
})

test('a later event is a second mark beside the state, which keeps its own', async () => {
  const items = [
    [2, 100, 'Autorizada'],
    [2, 110110, 'Carta de Correção'],
    [1, 210210, 'Ciência da Operação'],
    [2, 110111, 'Cancelamento'],
  ] as const
  const rows = items.map(([situacaoBase, codigoEvento, descricaoEvento], index) => ({
    idDfe: `id${index}`,
    numero: 701 + index,
    emitente: `FORNECEDOR ${index}`,
    situacaoBase,
    status: { codigoEvento, descricaoEvento },
  }))
  const { page } = await open('nfe', pageOf(rows))
  await shown(row(page, 'FORNECEDOR 3'))
  const marks = (index: number) => row(page, `FORNECEDOR ${index}`).getByRole('cell').nth(6).getByRole('img')
  const states = await Promise.all(
    items.map((_, index) => marks(index).evaluateAll((all) => all.map((one) => one.ariaLabel))),
  )
  expect(states).toEqual([[], ['Autorizada'], ['Resumo'], []])
  // The time is no part of the date, for who hears or copies it.
  expect(await row(page, 'FORNECEDOR 0').getByRole('cell').nth(4).textContent()).toBe('05/03/2026 10:00')
})

const many = Array.from({ length: 30 }, (_, index) => ({
  idDfe: `id${index}`,
  numero: 1000 + index,
  emitente: `FORNECEDOR ${index}`,
  prazo: index === 0 ? { para: 'ciencia' as const, ate: '2099-01-01T00:00:00Z' } : null,
}))

test('low rows: eighteen notes in a window of 1366 by 768, remembered; a real table down to 768', async () => {
  const page = await member({ viewport: { width: 1366, height: 768 } })
  const counted = { totalDePaginas: 3, totalDeItens: 1142, valorTotal: 12891661.26 }
  const calls = await respond(page, list, {
    json: success({ items: many.map((one) => ({ ...received, ...one })), ...counted }),
  })
  await go(page, '/notas-fiscais')
  await shown(row(page, 'FORNECEDOR 1 '))
  const inSight = () =>
    page
      .locator('tbody tr')
      .evaluateAll((rows) => rows.filter((one) => one.getBoundingClientRect().bottom <= innerHeight).length)
  expect(await inSight()).toBeLessThan(12)
  await page.getByRole('button', { name: 'Linhas compactas' }).click()
  await expect.poll(inSight).toBeGreaterThanOrEqual(18)
  await shown(page.getByRole('banner').getByRole('heading', { level: 1, name: 'Notas Fiscais' }))
  await page.reload()
  await shown(row(page, 'FORNECEDOR 1 '))
  await expect.poll(inSight).toBeGreaterThanOrEqual(18)
  // Filters in use cost no row of the list.
  await go(page, '/notas-fiscais?periodo=todos&status=3')
  await shown(page.getByRole('banner').getByRole('button', { name: 'Remover filtro Status: Cancelada' }))
  await expect.poll(inSight).toBeGreaterThanOrEqual(18)
  await page.getByRole('button', { name: 'Limpar filtros' }).click()
  const heights = await page
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((one) => one.getBoundingClientRect().height))
  expect(new Set(heights)).toEqual(new Set([36]))

  // The choices over the list go as what opens over a page does.
  const choices = page.getByRole('button', { name: /^Filtros/ })
  await choices.click()
  await page.getByLabel('Valor de').focus()
  await page.keyboard.press('Escape')
  await page.getByLabel('Valor de').waitFor({ state: 'detached' })
  expect(await choices.evaluate((button) => button === document.activeElement)).toBe(true)
  await choices.click()
  await page.getByRole('heading', { level: 1 }).click()
  await page.getByLabel('Valor de').waitFor({ state: 'detached' })

  // Under a dialog everything stays where it was, also when somebody has scrolled.
  await page.evaluate(() => scrollTo(0, 300))
  await page.keyboard.press('Control+k')
  await shown(page.getByRole('dialog', { name: 'Busca rápida' }))
  const tops = await page.evaluate(() =>
    ['header', 'aside'].map((sticky) => document.querySelector(sticky)?.getBoundingClientRect().top),
  )
  expect(tops).toEqual([0, 0])
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Busca rápida' }).waitFor({ state: 'detached' })

  // Paging changes no width, also when the next page has less to show.
  const widths = () =>
    page.getByRole('columnheader').evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().width)))
  const before = await widths()
  await page.unroute(() => true)
  await respond(
    page,
    list,
    pageOf(
      many.map((one) => ({ ...one, prazo: null, emitente: 'OUTRO' })),
      3,
    ),
  )
  await page.getByRole('button', { name: 'Próxima página' }).click()
  await shown(row(page, 'OUTRO'))
  expect(await widths()).toEqual(before)
  expect(calls.length).toBeGreaterThan(0)

  await page.setViewportSize({ width: 768, height: 1024 })
  const headers = async () =>
    (await page.getByRole('columnheader').allTextContents()).map((text) => text.trim()).slice(1)
  await expect.poll(headers).toEqual(['Número', 'Emitente', 'Valor', 'Data Emissão', 'Participação', 'Status', 'Ações'])
  await expect.poll(async () => (await page.getByLabel('Navegação', { exact: true }).boundingBox())?.width).toBe(48)
  await expectNoSidewaysScroll(page)
})

test('what stands in the status of a row never covers the eye beside it', async () => {
  const marked = {
    ...threeRows[0]!,
    situacaoBase: 2,
    status: { codigoEvento: 610614, descricaoEvento: 'MDF-e Autorizado com CT-e' },
    alerta: 'critico',
    conferidaPor: { nome: 'Ana', em: '2026-03-06T10:00:00' },
    lancadaPor: { nome: 'Ana', em: '2026-03-06T10:00:00' },
    observacoes: 3,
  } as const
  const { page } = await open('nfe', pageOf([marked]))
  for (const width of [320, 390, 1280]) {
    await page.setViewportSize({ width, height: 844 })
    const eye = page.getByRole('button', { name: 'Visualizar NF-e 101' })
    await expect.poll(async () => ((await eye.boundingBox())?.x ?? width) < width).toBe(true)
    const ends = await page
      .locator('[data-row]')
      .locator('[data-tone], [data-tone] svg, [title] > svg')
      .evaluateAll((all) => all.map((one) => (one.closest('button') ? 0 : one.getBoundingClientRect().right)))
    expect(Math.max(...ends), `${width}`).toBeLessThanOrEqual((await eye.boundingBox())!.x)
  }
})

test('among many companies one is found by typing a part of its name', async () => {
  const page = await member()
  const calls = await respond(page, list, pageOf(threeRows))
  const names = Array.from({ length: 204 }, (_, index) => `CLIENTE ${index} COMÉRCIO LTDA`)
  await respond(page, '/v1/api/Empresas/obter-empresas', {
    json: success(names.map((razaoSocial, index) => ({ id: `e${index}`, razaoSocial, cnpj: '', ativa: true }))),
  })
  await go(page, '/notas-fiscais')
  const box = page.getByRole('combobox', { name: 'Empresa' })
  await box.click()
  await page.keyboard.type('comercio 113')
  await expect
    .poll(() => page.getByRole('listbox', { name: 'Opções' }).getByRole('option').allTextContents())
    .toEqual(['CLIENTE 113 COMÉRCIO LTDA'])
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await expect.poll(() => paramsOf(calls.at(-1)).IdEmpresa).toBe('e113')
  expect(await box.inputValue()).toBe('CLIENTE 113 COMÉRCIO LTDA')
  await box.click()
  await page.getByRole('listbox', { name: 'Opções' }).getByRole('option', { name: 'Todas' }).click()
  await expect.poll(() => Object.keys(paramsOf(calls.at(-1)))).not.toContain('IdEmpresa')
})

test('the CNPJ that tells two companies of one name apart is cut neither in a row nor in a label', async () => {
  const page = await member({ viewport: { width: 1366, height: 768 } })
  const cnpjs = ['20.000.000/0001-07', '20.000.013/0001-78']
  const razaoSocial = 'UNIFORMES E EPI VALE VERDE LTDA'
  await respond(page, '/v1/api/Empresas/obter-empresas', {
    json: success(cnpjs.map((cnpj, index) => ({ id: `e${index}`, razaoSocial, cnpj, ativa: true }))),
  })
  const rows = threeRows.map((one, index) => ({ ...one, idEmpresa: `e${index % 2}`, empresa: razaoSocial }))
  await respond(page, list, pageOf(rows))
  await go(page, '/notas-fiscais')
  const inRow = row(page, 'EMITENTE 1').getByText(cnpjs[1]!)
  await shown(inRow)
  const cell = (await row(page, 'EMITENTE 1').getByRole('cell').filter({ hasText: cnpjs[1]! }).boundingBox())!
  const number = (await inRow.boundingBox())!
  expect(number.x + number.width).toBeLessThanOrEqual(cell.x + cell.width)
  await page.setViewportSize({ width: 390, height: 844 })
  await go(page, '/notas-fiscais?empresa=e1')
  const label = page.getByRole('list', { name: 'Filtros em uso' }).getByText(`Empresa: ${razaoSocial} (${cnpjs[1]})`)
  await shown(label)
  expect(await label.evaluate((one) => one.scrollWidth <= one.clientWidth)).toBe(true)
})

async function manifest(page: Page, option: string) {
  await page.getByRole('button', { name: 'Manifestar', exact: true }).first().click()
  await page.getByRole('menuitem', { name: option, exact: true }).click()
}

const all = (page: Page) => page.getByRole('columnheader').getByRole('checkbox')
const boxes = (page: Page) => page.getByRole('cell').getByRole('checkbox')
const checked = async (page: Page) => Promise.all((await boxes(page).all()).map((box) => box.isChecked()))

/** A list of two documents that may be answered. */
async function answerable(kind: Kind, reply: Parameters<typeof respond>[2]) {
  const ids = ['um', 'dois']
  const page = await member()
  await respond(page, list, pageOf(ids.map((idDfe) => ({ idDfe, numero: 101, emitente: 'EMITENTE' }))))
  const sent = await respond(page, `${list}/${kinds[kind].sent}`, reply)
  await respond(page, `${list}/previa-manifestacao`, { json: success({ permitidos: ids, impedidos: [] }) })
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

// Confirmação is sent in other-servers.test.ts; Cancelamento and what it needs in cte.test.ts.
const answers: Record<Kind, [option: string, tipoManifestacao: number, reply: FakeResponse, message: string][]> = {
  nfe: [
    ['Ciência', 1, { json: success(null, 'Ciência registrada.') }, 'Ciência registrada.'],
    ['Desconhecimento', 3, { body: '' }, 'Operação realizada com sucesso'],
    ['Não Realizada', 4, { json: success([], 'Recusa registrada.') }, 'Recusa registrada.'],
  ],
  cte: [['Carta Correção', 2, { status: 204 }, 'Operação realizada com sucesso']],
}

test.each(['nfe', 'cte'] as const)(
  '%s: each answer is sent with its number, trimmed, and clears everything',
  async (kind) => {
    let slow = later('as it is')
    const { page, sent, ids, select } = await answerable(kind, () => slow.reply())
    for (const [option, tipoManifestacao, reply, message] of answers[kind]) {
      slow = later(reply)
      const { dialog, text } = await select(option)
      expect(await text.inputValue()).not.toContain('quinze letras')
      // A text that is suggested meanwhile stands before what is typed.
      const typed = async () => {
        await text.fill('  Motivo com mais de quinze letras.  ')
        return text.inputValue()
      }
      await expect.poll(typed).toBe('  Motivo com mais de quinze letras.  ')
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
      await expect.poll(() => checked(page)).toEqual([false, false])
    }
    expect(sent).toHaveLength(answers[kind].length)
  },
)

const ofNfe = '35260311222333000181550010000001011123456784'
const ofCte = '35260311222333000181570010000001011123456781'
const byCamera = 'Ler código de barras com a câmera'

// No browser of the tests reads bar codes: this one sees what the page tells it.
async function withCamera(page: Page, refused = '') {
  await page.addInitScript((refused) => {
    class BarcodeDetector {
      static getSupportedFormats = async () => ['code_128']
      detect = async () => (globalThis as { seen?: { rawValue: string }[] }).seen ?? []
    }
    Object.assign(globalThis, { BarcodeDetector })
    navigator.mediaDevices.enumerateDevices = async () => [{ kind: 'videoinput' } as MediaDeviceInfo]
    navigator.mediaDevices.getUserMedia = async () => {
      if (refused) throw new DOMException('refused', refused)
      const canvas = document.createElement('canvas')
      canvas.getContext('2d')?.fillRect(0, 0, 9, 9)
      const stream = canvas.captureStream(10)
      Object.assign(globalThis, { stream })
      return stream
    }
  }, refused)
}

const see = (page: Page, ...texts: string[]) =>
  page.evaluate((texts) => Object.assign(globalThis, { seen: texts.map((rawValue) => ({ rawValue })) }) && null, texts)

test('the bar code in front of the camera opens its document, or leads to the list, and the camera goes off', async () => {
  const page = await member(phone)
  await withCamera(page)
  const found = { ...received, idDfe: 'conhecimento-1', numero: 7, emitente: 'TRANSPORTES', chave: ofCte, valor: 9 }
  const asked = await respond(page, '/v1/api/DocumentosFiscais', (request) => ({
    json: success({ items: request.url().includes(ofCte) ? [found] : [], totalDePaginas: 1 }),
  }))
  await go(page, '/notas-fiscais')
  await page.getByRole('button', { name: byCamera }).click()
  const dialog = page.getByRole('dialog', { name: 'Ler código de barras' })
  await shown(dialog.getByText('Procurando o código de barras…'))
  await expectAccessible(page)
  await see(page, '7'.repeat(36))
  await shown(dialog.getByText(/^Este código de barras não é o de uma chave de acesso/))
  await see(page, '7'.repeat(36), ofCte)
  await page.waitForURL(`**/cte?busca=${ofCte}&periodo=todos&documento=conhecimento-1`)
  await dialog.waitFor({ state: 'detached' })
  expect(asked.some((request) => request.url().includes(`CampoPesquisa=${ofCte}`))).toBe(true)
  const states = () =>
    page.evaluate(() =>
      (globalThis as { stream?: MediaStream }).stream?.getTracks().map(({ readyState }) => readyState),
    )
  expect(await states()).toEqual(['ended'])

  // Documents that are absent, or in several companies, are looked up in the list.
  await go(page, '/notas-fiscais')
  await page.getByRole('button', { name: byCamera }).click()
  await see(page, ofNfe)
  await page.waitForURL(`**/notas-fiscais?busca=${ofNfe}&periodo=todos`)
})

test('a camera that may not be used is explained', async () => {
  const page = await member(phone)
  await withCamera(page, 'NotAllowedError')
  await go(page, '/notas-fiscais')
  await page.getByRole('button', { name: byCamera }).click()
  await shown(page.getByText(/^O navegador não deixou abrir a câmera\. Permita/))
  await shown(page.getByRole('button', { name: 'Tentar de novo' }))
})

test('where no camera can be used there is no button', async () => {
  const page = await member()
  await go(page, '/notas-fiscais')
  await shown(page.getByRole('heading', { level: 1, name: 'Notas Fiscais' }))
  await shown(page.getByRole('button', { name: 'Buscar' }))
  expect(await page.getByRole('button', { name: byCamera }).count()).toBe(0)
})
