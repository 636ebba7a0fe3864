import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { fillOffice } from './office.ts'
import { alfa, follow, hrefOf, press, respond, runUntil, runUntilShown, stopClock, success } from './page.ts'
import { type Account, bakery, expectNoSidewaysScroll, shown, tabTo, textOf, useSite } from './site.ts'

const long = /^COOPERATIVA AGROINDUSTRIAL/
// Nothing is captured: the states of the captures stay as they are laid.
const site = useSite({ roles: ['api'] })
const { member, go } = site
const listPath = '/v1/api/Empresas/obter-empresas'

async function open(account: Account, address = '/empresas', options = {}): Promise<Page> {
  const page = await site.resume(account, address, options)
  await shown(page.getByRole('heading', { name: 'Empresas', level: 1 }))
  return page
}

async function office(name: string, count: number): Promise<Account> {
  const account = await site.createAccount(name)
  await (await newClient(site.product, account)).register(bakery.cnpj, bakery.nome)
  await fillOffice(site.product.databaseUrl, account, count)
  return account
}

const names = (page: Page) => page.locator('tbody > tr:first-child > td:first-child a').allTextContents()
const row = (page: Page, name: string | RegExp) => page.getByRole('row').filter({ hasText: name })
const card = (page: Page, label: string) => page.locator('dl > div').filter({ hasText: label })

test('without a company it says what to do, and with a healthy one that it is watched', async () => {
  const account = await site.createAccount('Ana')
  const page = await open(account)
  await shown(page.getByText('Nenhuma empresa encontrada'))
  expect(await page.locator('[data-lamp=stopped]').count()).toBe(0)
  await expect.poll(() => textOf(card(page, 'Sincronização'))).toBe('Sincronização100%Monitoramento ativo')
  expect(await page.getByRole('link', { name: 'Nova Empresa' }).getAttribute('href')).toBe('/empresas/nova')
  await page.getByRole('link', { name: 'Cadastrar Primeira Empresa' }).click()
  await page.waitForURL('**/empresas/nova')

  await (await newClient(site.product, account)).register(bakery.cnpj, bakery.nome)
  await page.goto(`${site.product.url}/empresas`)
  await shown(row(page, bakery.nome))
  expect(await textOf(card(page, 'Total de Empresas'))).toBe('Total de Empresas11 ativa')
  expect(await textOf(card(page, 'Empresas Ativas'))).toBe('Empresas Ativas1100% do total')
  expect(await textOf(card(page, 'Sincronização'))).toBe('Sincronização100%Monitoramento ativo')
  const cells = await row(page, bakery.nome).getByRole('cell').allTextContents()
  expect(cells.slice(0, 4)).toEqual([
    `${bakery.nome}Nenhum documento no mês`,
    '12.ABC.345/01DE-35',
    expect.stringMatching(/^Nunca Primeira consulta às \d\d:\d\d, sem você fazer nada$/),
    expect.stringMatching(/^Nunca/),
  ])
  expect(cells[4]).toMatch(/^\d\d\/\d\d\/\d{4}$/)
  expect(cells[5]).toBe('Ativa')
})

test('an office works through its list: trouble first, filters and order in the address, in bulk', async () => {
  const account = await office('Bruno', 60)
  const page = await open(account)
  await shown(page.getByText('61 empresas', { exact: true }))
  await shown(page.locator('tbody').filter({ hasText: 'O certificado digital venceu.' }))
  await shown(page.locator('tbody').filter({ hasText: 'A SEFAZ bloqueou as consultas deste CNPJ' }))
  await expect.poll(() => page.getByRole('row').count()).toBe(62)
  expect(await textOf(card(page, 'Sincronização'))).toMatch(/\d\d%\d+ consultas com problema/)
  expect(await textOf(card(page, 'Empresas Ativas'))).toMatch(/^Empresas Ativas5\d9\d% do total$/)
  await shown(page.getByRole('cell', { name: 'Inativa', exact: true }))
  await shown(page.getByText(/^Vencido há \d dias?$/))
  await shown(row(page, 'Não informado').getByText('Envie em Editar'))
  const byHand = row(page, 'CLIENTE 0012 COMERCIO LTDA')
  await shown(byHand.getByText('Automática desligada: peça quando quiser'))
  await expect.poll(() => byHand.locator('[data-mark=unlit]').count()).toBe(2)

  // A company is one line; what is wrong with it stands below.
  const heights = await page.locator('tbody > tr:first-child').evaluateAll((all) => all.map((one) => one.clientHeight))
  expect(Math.max(...heights)).toBeLessThanOrEqual(37)

  await narrow(page)
  await search(page)
  await sync(page)
  await bulk(page)

  await page.goto(`${site.product.url}/empresas?so=problema&ordem=certificado`)
  await shown(page.getByRole('button', { name: 'Com problema', pressed: true }))
  await page.getByRole('link', { name: /^Editar COOPERATIVA/ }).click()
  await page.waitForURL('**/empresas/editar/*')
  await page.getByRole('link', { name: 'Voltar' }).click()
  await page.waitForURL('**/empresas?so=problema&ordem=certificado')

  await page.setViewportSize({ width: 320, height: 700 })
  await follow(page, '/empresas')
  await shown(page.getByRole('listitem').filter({ hasText: long }))
  await expectNoSidewaysScroll(page)
})

async function narrow(page: Page) {
  const chip = page.getByRole('button', { name: /^Com problema \d/ })
  const count = Number((await textOf(chip)).replace(/\D/g, ''))
  await chip.click()
  await expect.poll(() => page.url()).toContain('so=problema')
  await expect.poll(async () => (await names(page)).length).toBe(count)
  // Each of them shows why, by the shape of a mark and in words.
  const troubled = page.locator('tbody').filter({ has: page.locator('[data-mark=stopped], [data-mark=blocked]') })
  await expect.poll(() => troubled.count()).toBe(count)
  await expect.poll(() => troubled.getByRole('list').count()).toBe(count)
  await page.getByRole('button', { name: /^Inativas \d/ }).click()
  await expect.poll(() => page.url()).toContain('so=inativas')
  await shown(page.getByText('2 empresas', { exact: true }))
  await page.getByRole('button', { name: /^Certificado vence em 30 dias \d/ }).click()
  await expect.poll(() => page.getByText(/^Vence em \d+ dias?$/).count()).toBeGreaterThan(0)
  await page.reload()
  await shown(page.getByRole('button', { name: 'Certificado vence em 30 dias', pressed: true }))
  await page.getByRole('button', { name: 'Certificado vence em 30 dias', pressed: true }).click()
  await shown(page.getByText('61 empresas', { exact: true }))
}

async function search(page: Page) {
  const field = page.getByLabel('Buscar por nome, CNPJ...')
  await field.fill('paranaíba')
  await shown(page.getByText('1 empresa', { exact: true }))
  await shown(row(page, long))
  await field.fill('20.000.013')
  await shown(row(page, 'CLIENTE 0002'))
  await field.fill('nada com este nome')
  await shown(page.getByText('Nenhuma empresa encontrada'))
  expect(page.url()).toContain('busca=nada')
  await page.getByRole('button', { name: 'Limpar busca' }).click()
  await shown(page.getByText('61 empresas', { exact: true }))
  await field.fill('paranaíba')
  await shown(page.getByText('1 empresa', { exact: true }))
  await page.getByRole('navigation').getByRole('link', { name: 'Empresas', exact: true }).click()
  await shown(page.getByText('61 empresas', { exact: true }))
  expect(await field.inputValue()).toBe('')
}

async function sync(page: Page) {
  // On a busy machine it would be gone before anybody has looked.
  const { promise: seen, resolve: goOn } = Promise.withResolvers<void>()
  await page.route('**/Empresas/sincronizar?*', (route) => seen.then(() => route.continue()))
  await page.getByRole('button', { name: 'Sincronizar CLIENTE 0002 COMERCIO LTDA' }).click()
  await shown(page.getByText('Iniciando sincronização...'))
  // Within its hour it is asked later, and the server says so.
  const told = [/^Sincronizando CLIENTE 0002 COMERCIO LTDA/, /A SEFAZ permite uma consulta por hora\./]
  await Promise.all([...told.map((text) => shown(page.getByText(text))), goOn()])
  await page.unroute('**/Empresas/sincronizar?*')
  await page.getByText('Iniciando sincronização...').waitFor({ state: 'detached' })
}

async function bulk(page: Page) {
  await page.getByLabel('Buscar por nome, CNPJ...').fill('CLIENTE 000')
  await shown(page.getByText('8 empresas', { exact: true }))
  await page.getByRole('checkbox', { name: 'Selecionar 8 empresas' }).check()
  await page.getByRole('checkbox', { name: 'Selecionar CLIENTE 0009 COMERCIO LTDA' }).uncheck()
  await shown(page.getByText('7 selecionadas de 8 empresas'))
  await page.getByRole('button', { name: 'Sincronizar selecionadas' }).click()
  await shown(page.getByText('Sincronização pedida para 6 empresas'), 20_000)
  await shown(
    page.getByText(
      /esperam a SEFAZ permitir, a primeira (em \d\d\/\d\d )?às \d\d:\d\d; saem sozinhas\. 1 empresa arquivada ficou de fora\.$/,
    ),
  )
  await page.getByRole('button', { name: 'Fechar o resultado' }).click()
  await page.getByRole('button', { name: 'Limpar seleção' }).click()
  await shown(page.getByText('8 empresas', { exact: true }))
}

test('what goes wrong is said, with what to do', async () => {
  const account = await office('Carla', 3)
  const page = await open(account)
  await shown(page.getByText('4 empresas', { exact: true }))

  await page.route('**/Empresas/sincronizar?*', (route) =>
    route.fulfill({ status: 400, json: { success: false, message: 'A SEFAZ está em manutenção.', errors: [] } }),
  )
  await page.getByRole('checkbox', { name: 'Selecionar 4 empresas' }).check()
  await page.getByRole('button', { name: 'Sincronizar selecionadas' }).click()
  await shown(page.getByText('Sincronização pedida para 0 de 4 empresas'))
  await shown(page.getByRole('listitem').filter({ hasText: 'CLIENTE 0001 COMERCIO LTDA: A SEFAZ está em manutenção.' }))

  await page.route('**/obter-empresas', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    const outage = { estado: 'falha', mensagem: 'x', causaComum: 'A SEFAZ está fora do ar. Nada se perde.' }
    for (const company of body.data) {
      company.validadeCertificadoA1 = '2099-01-01T00:00:00.000Z'
      for (const capture of company.captura) Object.assign(capture, outage)
    }
    body.data[1].ultimaSincronizacaoNFe = 'ontem'
    body.data[0].captura[0] = { ...body.data[0].captura[0], estado: 'parada', mensagem: 'O certificado venceu.' }
    Object.assign(body.data[0].captura[0], { causaComum: null, providencia: 'certificado' })
    await route.fulfill({ response, json: body })
  })
  await page.reload()
  await shown(page.getByRole('alert').filter({ hasText: 'A SEFAZ está fora do ar.' }))
  expect(await page.getByRole('alert').count()).toBe(1)
  await shown(page.getByText('Peça a sincronização para acertar a data'))
  await shown(page.getByRole('button', { name: 'Com problema 1' }))
  expect(await page.locator('tbody [data-mark=stopped]').count()).toBe(1)
  await page.getByRole('link', { name: /^Enviar certificado: / }).click()
  await page.waitForURL('**/empresas/editar/*#certificado')
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Certificado Digital')
  await page.goBack()
  await page.unrouteAll({ behavior: 'wait' })

  await page.route('**/obter-empresas', (route) =>
    route.fulfill({ status: 403, json: { success: false, message: 'Sem acesso agora.', errors: [] } }),
  )
  await page.reload()
  await shown(page.getByText('Erro ao carregar empresas'))
  await shown(page.getByText('Erro ao carregar dados: Sem acesso agora.'))
  await page.unroute('**/obter-empresas')
  await page.getByRole('button', { name: 'Tentar novamente' }).click()
  await shown(page.getByText('4 empresas', { exact: true }))
  await page.getByText('Erro ao carregar dados: Sem acesso agora.').waitFor({ state: 'detached' })
  await byKeyboard(page)
})

/** By keyboard alone: search, select, open. */
async function byKeyboard(page: Page) {
  await page.locator('#conteudo').focus()
  await tabTo(page, /^Buscar por nome/)
  await page.keyboard.type('cliente 0002')
  await shown(page.getByText('1 empresa', { exact: true }))
  await tabTo(page, /^CLIENTE 0002/)
  await page.keyboard.press('x')
  await shown(page.getByText('1 selecionada de 1 empresa'))
  await page.keyboard.press('Enter')
  await page.waitForURL('**/empresas/editar/*')
}

test('a thousand companies stay a table that is read and scrolled at once', async () => {
  const page = await open(await office('Elisa', 1000))
  await shown(page.getByText('1.001 empresas', { exact: true }), 20_000)
  const table = page.getByRole('table', { name: 'Empresas' })
  await expect.poll(() => table.getAttribute('aria-rowcount')).toBe('1002')
  expect(await table.locator('tbody').count()).toBeLessThan(60)

  await page.getByLabel('Ordenar por').selectOption('Nome')
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight))
  await shown(row(page, bakery.nome))
  const last = row(page, bakery.nome)
  // In the order before it may stand near the end too.
  await expect.poll(() => last.getAttribute('aria-rowindex')).toBe(await table.getAttribute('aria-rowcount'))
  expect(await table.locator('tbody').count()).toBeLessThan(60)

  // Rows are measured as they come: the page is at its end when that is done.
  const atEnd = () =>
    page.evaluate(() => {
      scrollTo(0, document.documentElement.scrollHeight)
      return scrollY
    })
  let place = -1
  const isSettled = async () => {
    const before = place
    place = await atEnd()
    return place === before
  }
  await expect.poll(isSettled).toBe(true)
  await last.getByRole('link', { name: /^Editar/ }).click()
  await page.waitForURL('**/empresas/editar/*')
  await page.goBack()
  await shown(row(page, bakery.nome))
  await expect.poll(() => page.evaluate(() => scrollY)).toBe(place)
})

const companies = [
  alfa,
  {
    id: 'dois',
    razaoSocial: 'BETA LTDA',
    cnpj: '12ABC34501DE35',
    ativa: true,
    ultimaSincronizacaoNFe: 'ontem',
    ultimaSincronizacaoCTe: '2026-03-07T12:00:00-03:00',
    validadeCertificadoA1: null,
  },
  {
    id: 'tres',
    razaoSocial: 'GAMA LTDA',
    cnpj: '45543915000181',
    ativa: false,
    ultimaSincronizacaoNFe: null,
    ultimaSincronizacaoCTe: null,
    validadeCertificadoA1: null,
  },
]

const found: Parameters<typeof respond>[2] = (request) => {
  const busca = new URL(request.url()).searchParams.get('busca')?.toUpperCase() ?? ''
  return { json: success(companies.filter(({ razaoSocial }) => razaoSocial.includes(busca))) }
}

async function expectTable(page: Page) {
  const headers = [
    'Empresa',
    'CNPJ',
    'Última Sync NFe',
    'Última Sync CTe',
    'Validade do Certificado',
    'Status',
    'Ações',
  ]
  expect(await page.getByRole('columnheader').allTextContents()).toEqual(headers)
  expect(await page.getByRole('row').count()).toBe(4)
  const texts = async (name: string) =>
    (await row(page, name).getByRole('cell').allTextContents()).map((text) => text.trim())
  const [alfa, beta, gama] = [await texts('ALFA'), await texts('BETA'), await texts('GAMA')]
  expect([alfa[1], beta[1]]).toEqual(['11.222.333/0001-81', '12.ABC.345/01DE-35'])
  expect(alfa[2]).toMatch(/^há .*2 horas/)
  expect(alfa[3]).toMatch(/^Nunca/)
  expect(beta[2]).toMatch(/^Data inválida/)
  expect(beta[3]).toMatch(/^há .*3 dias/)
  expect(alfa[4]).toMatch(/^06\/05\/2027/)
  expect(beta[4]).toMatch(/^Não informado/)
  expect([alfa[5], gama[5]]).toEqual(['Ativa', 'Inativa'])
  const actions = row(page, 'ALFA').getByRole('cell').last()
  expect(await hrefOf(actions.getByRole('link'))).toBe('/empresas/editar/um')
  expect(await actions.getByRole('button').count()).toBeGreaterThan(0)
  expect(await hrefOf(press(page, 'Nova Empresa'))).toBe('/empresas/nova')
}

test('the table shows each company; the search waits 300 ms after the last letter', async () => {
  const page = await member()
  const calls = await respond(page, listPath, found)
  await stopClock(page)
  await go(page, '/empresas')
  await runUntilShown(page, row(page, 'ALFA'))
  await expectTable(page)
  const field = page.getByPlaceholder('Buscar por nome, CNPJ...', { exact: true })
  await field.pressSequentially('bet')
  await page.clock.runFor(250)
  await field.pressSequentially('a')
  await page.clock.runFor(290)
  await shown(row(page, 'ALFA'))
  await page.clock.runFor(20)
  await runUntil(page, async () => !(await row(page, 'ALFA').isVisible()))
  await runUntilShown(page, row(page, 'BETA'))
  const searched = calls.map((call) => new URL(call.url()).searchParams.get('busca')).filter((busca) => busca !== null)
  expect(searched).toEqual(['beta'])
  await field.fill('zzz')
  await runUntilShown(page, page.getByText('Nenhuma empresa encontrada', { exact: true }))
})

test('at 1280 pixels the last synchronization is read to its end', async () => {
  const page = await member()
  const now = '2026-03-10T12:00:00-03:00'
  const captura = (['nfe', 'cte'] as const).map((servico) => ({
    servico,
    estado: 'aguardando',
    mensagem: 'Em dia.',
    causaComum: null,
    providencia: null,
    proximaConsulta: '2026-03-10T13:00:00-03:00',
    ultimoNsu: '1',
    maxNsu: '1',
    ultimaResposta: now,
  }))
  const busy = { ...companies[0], captura, ultimaSincronizacaoNFe: now, ultimaSincronizacaoCTe: now }
  await respond(page, listPath, { json: success([busy]) })
  await stopClock(page)
  await page.setViewportSize({ width: 1280, height: 800 })
  await go(page, '/empresas')
  await runUntilShown(page, row(page, 'ALFA'))
  const cells = row(page, 'ALFA')
    .getByRole('cell')
    .getByText(/^há menos de 1 minuto/)
  const cut = await cells.evaluateAll((all) => all.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth))
  expect(cut).toEqual([0, 0])
})
