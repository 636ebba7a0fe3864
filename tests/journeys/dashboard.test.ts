import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import {
  expectAccessible,
  expectNoSidewaysScroll,
  focusedText,
  phone,
  query,
  shown,
  tabTo,
  textOf,
  useSite,
} from './site.ts'

const bakery = { cnpj: '12ABC34501DE35', nome: 'PADARIA ESTRELA DO NORTE LTDA', uf: 'SP' }
const unused = { cnpj: '11222333000181', nome: 'MERCADO BOM PRECO LTDA' }
// Documents of today arrive, also on the first of a month.
const site = useSite({ simulator: { companies: [bakery], liveEveryMs: 400 } })

interface Numbers {
  qtdNfe: number
  qtdCte: number
  totalNfeCte: number
  ultimosDocumentosProcessados: { nomeEmitente: string; chaveDfe: string; tipoDfe: number }[]
  pendencias: { resumos: number }
}

const numbersOf = async (client: Client) => (await client.call<Numbers>('GET', '/v1/api/Dashboard')).body.data
const figure = (page: Page, label: string) => page.getByRole('listitem').filter({ hasText: new RegExp(`^${label}`) })
const region = (page: Page, name: string) => page.getByRole('region', { name })
const written = (count: number) => count.toLocaleString('pt-BR')

test('an empty workspace is welcomed, lights no lamp, and loads no chart', async () => {
  const page = await site.enter(await site.createAccount('Ana'))
  const dialog = page.getByRole('dialog', { name: 'Bem-vindo ao Vigia Fiscal' })
  await shown(dialog)
  expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
    expect.stringMatching(/^Captura automática/),
    expect.stringMatching(/^Manifestação de NFe e CTe/),
    expect.stringMatching(/^Monitoramento em tempo real/),
    expect.stringMatching(/^Relatórios/),
  ])
  await expectAccessible(page)
  await shown(dialog.getByRole('button', { name: 'Cadastrar Primeira Empresa' }))
  await dialog.getByRole('button', { name: 'Fazer Depois' }).click()
  await dialog.waitFor({ state: 'detached' })

  await shown(page.getByRole('heading', { level: 1, name: 'Dashboard' }))
  await expect.poll(() => page.title()).toBe('Dashboard · Vigia Fiscal')
  await shown(page.getByText('Visão geral dos documentos fiscais emitidos no mês atual'))
  for (const label of [
    'Notas Fiscais \\(Mês\\)',
    'CTe \\(Mês\\)',
    'Total Documentos \\(Mês\\)',
    'Empresas Cadastradas',
  ])
    expect(await textOf(figure(page, label))).toMatch(/ 0$/)
  const status = region(page, 'Status do Sistema')
  await expect
    .poll(() => status.getByRole('listitem').allTextContents())
    .toEqual([
      'Captura AutomáticaOnlineComeça sozinha com a primeira empresa.',
      'ArmazenamentoSaudável0% de uso, sem limite de espaço',
      'SincronizaçãoAtivaNenhuma consulta por enquanto',
    ])
  expect(await status.locator('[data-lamp=unlit]').count()).toBe(1)
  expect(await page.locator('[data-lamp=stopped]').count()).toBe(0)
  await shown(region(page, 'Precisa de você').getByText('Nada precisa de você agora.'))
  await shown(region(page, 'Documentos por Dia').getByText(/^Nenhum documento emitido neste mês chegou até agora/))
  await shown(region(page, 'Documentos por Empresa').getByText('Nenhuma empresa cadastrada.'))
  await shown(region(page, 'Atividade Recente').getByText(/^Nada chegou hoje até agora/))
  await expectAccessible(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectAccessible(page)
  expect(await chartFiles(page)).toEqual([])
})

const chartFiles = (page: Page) =>
  page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.includes('stacked-bars')))

test('three questions: is it capturing, what needs a person, what came; every number opens its list', async () => {
  const account = await site.createAccount('Bruno')
  const client = await newClient(site.product, account)
  await client.register(bakery.cnpj, bakery.nome)
  await expect
    .poll(async () => (await numbersOf(client)).ultimosDocumentosProcessados.length, { timeout: 60_000 })
    .toBe(10)
  await expect.poll(async () => (await numbersOf(client)).qtdNfe, { timeout: 60_000 }).toBeGreaterThan(0)

  const page = await site.resume(account, '/dashboard')
  const status = region(page, 'Status do Sistema').getByRole('listitem')
  await expect.poll(() => textOf(status.nth(0))).toMatch(/^Captura AutomáticaOnline/)
  await expect.poll(() => textOf(status.nth(1))).toBe('ArmazenamentoSaudável0% de uso, sem limite de espaço')
  await expect.poll(() => textOf(status.nth(2))).toBe('SincronizaçãoAtiva2 consultas programadas')

  const agrees = async () => {
    const { qtdNfe, qtdCte, totalNfeCte } = await numbersOf(client)
    const texts = await Promise.all(
      ['Notas Fiscais \\(Mês\\)', 'CTe \\(Mês\\)', 'Total Documentos \\(Mês\\)'].map((label) =>
        textOf(figure(page, label)),
      ),
    )
    return texts.map((text) => text.replace(/^.* /, '')).join() === [qtdNfe, qtdCte, totalNfeCte].map(written).join()
  }
  await expect.poll(agrees, { timeout: 30_000 }).toBe(true)
  const row = region(page, 'Documentos por Empresa').getByRole('row', { name: new RegExp(`^${bakery.nome}`) })
  expect(await region(page, 'Documentos por Empresa').getByRole('columnheader').allTextContents()).toEqual([
    'Empresa',
    'Notas Fiscais',
    'CTe',
    'Total',
    'Status',
  ])
  await shown(row.getByText('Ativa'))
  expect(await row.getByRole('link').first().getAttribute('href')).toMatch(/^\/empresas\/editar\//)
  expect(await row.getByRole('link').nth(1).getAttribute('href')).toMatch(/^\/notas-fiscais\?empresa=/)

  const activity = region(page, 'Atividade Recente')
  await shown(activity.getByText('Últimos documentos processados hoje'))
  const latest = activity.getByRole('listitem')
  await expect.poll(() => latest.count()).toBe(10)
  expect(await textOf(latest)).toMatch(/^\d\d:\d\d.+(NFe|CTe)[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/)

  await opensItsList(page, client)
  await page.goBack()
  const entry = activity.getByRole('link').first()
  await shown(entry)
  const chave = /[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/.exec(await textOf(latest))?.[0]
  await entry.click()
  await page.waitForURL(/documento=/)
  await expect
    .poll(async () =>
      (await textOf(page.getByRole('dialog').or(page.getByRole('complementary')).last())).includes(chave!),
    )
    .toBe(true)
})

async function opensItsList(page: Page, client: Client) {
  const { pendencias } = await numbersOf(client)
  expect(pendencias.resumos).toBeGreaterThan(0)
  const needs = region(page, 'Precisa de você').getByRole('listitem').filter({ hasText: 'só com o resumo' })
  await shown(needs)
  await needs.click()
  await page.waitForURL(/\/notas-fiscais\?status=1&de=/)
  // Others may arrive meanwhile.
  const listed = page.getByText(/^[\d.]+ notas? fisca/)
  await expect
    .poll(async () => (await textOf(listed)).startsWith(`${written((await numbersOf(client)).pendencias.resumos)} `))
    .toBe(true)
}

test('the days as a picture and as a table; everything by keyboard', async () => {
  const page = await site.resume({ nome: '', email: 'bruno@empresa.example', senha: 'segredo-123' }, '/dashboard')
  const days = region(page, 'Documentos por Dia')
  const picture = days.getByRole('application')
  await shown(picture, 20_000)
  expect(await shiftOf(page)).toBeLessThan(0.02)
  await expectAccessible(page)
  await tabTo(page, /^Ver tabela$/)
  await page.keyboard.press('Tab')
  // The svg with the picture has the focus, and the arrows go from day to day.
  await page.keyboard.press('ArrowRight')
  await shown(days.getByText(/-feira, \d\d\/\d\d|(sábado|domingo), \d\d\/\d\d/))
  await page.emulateMedia({ colorScheme: 'dark' })
  await expectAccessible(page)

  await page.keyboard.press('Shift+Tab')
  expect(await focusedText(page)).toBe('Ver tabela')
  await page.keyboard.press('Enter')
  const table = days.getByRole('table', { name: 'Documentos por dia de emissão' })
  await shown(table)
  const lines = table.getByRole('row').filter({ has: page.getByRole('rowheader') })
  await expect
    .poll(() => lines.count())
    .toBe(Number(new Intl.DateTimeFormat('sv', { timeZone: 'America/Sao_Paulo' }).format(new Date()).slice(8)))
  await expectAccessible(page)
  const link = table.getByRole('link').first()
  const count = await textOf(link)
  await link.focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?de=(\d{4}-\d\d-\d\d)&ate=\1$/)
  await shown(page.getByText(new RegExp(`^${count} (nota|conhecimento)`)))
  await page.goBack()
  await figure(page, 'Total Documentos')
    .getByRole('link', { name: /^[\d.]+, ver por empresa$/ })
    .press('Enter')
  await expect.poll(() => focusedText(page)).toBe('Documentos por Empresa')
})

/** How much of what was to be seen moved by itself, as the browsers count it. */
async function shiftOf(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        new PerformanceObserver((list, observer) => {
          observer.disconnect()
          resolve(
            list
              .getEntries()
              .reduce((sum, entry) => sum + ((entry as { value?: number } & typeof entry).value ?? 0), 0),
          )
        }).observe({ type: 'layout-shift', buffered: true })
        requestAnimationFrame(() => setTimeout(() => resolve(0)))
      }),
  )
}

test('on a phone: one column, nothing sideways, and no chart before it is looked at', async () => {
  const page = await site.resume({ nome: '', email: 'bruno@empresa.example', senha: 'segredo-123' }, '/dashboard', {
    ...phone,
    viewport: { width: 390, height: 600 },
  })
  await shown(region(page, 'Precisa de você').getByRole('link'))
  // Nobody knows before how many things there are to do.
  expect(await shiftOf(page)).toBeLessThan(0.06)
  await expectNoSidewaysScroll(page)
  await page.setViewportSize({ width: 320, height: 480 })
  await expectNoSidewaysScroll(page)
  expect(await chartFiles(page)).toEqual([])
  // What was not looked at is printed as a table.
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await expect.poll(() => region(page, 'Documentos por Dia').getByRole('table').count()).toBe(1)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  expect(await region(page, 'Documentos por Dia').getByRole('table').count()).toBe(0)
  await region(page, 'Documentos por Dia').scrollIntoViewIfNeeded()
  await shown(region(page, 'Documentos por Dia').getByRole('application'), 20_000)
  await expectNoSidewaysScroll(page)
  await expectAccessible(page)
})

test('of days that are equally high, side by side, one has its number over it', async () => {
  const page = await site.visit('/login')
  await page.route('**/v1/api/Dashboard', async (route) => {
    const response = await route.fetch()
    const answer: { data: { documentosPorDia: { qtdNfe: number; qtdCte: number }[] } } = await response.json()
    for (const day of answer.data.documentosPorDia) Object.assign(day, { qtdNfe: 12_345, qtdCte: 0 })
    await route.fulfill({ json: answer })
  })
  await page.getByLabel('Email').fill('bruno@empresa.example')
  await page.getByLabel('Senha', { exact: true }).fill('segredo-123')
  await page.getByRole('button', { name: 'Entrar' }).click()
  const days = region(page, 'Documentos por Dia')
  await shown(days)
  await days.scrollIntoViewIfNeeded()
  await shown(days.getByText('12.345', { exact: true }), 20_000)
  await expect.poll(() => days.getByText('12.345', { exact: true }).count()).toBe(1)
})

test('loading, a failure with its toast, and the last numbers while it cannot be asked', async () => {
  const page = await site.visit('/login')
  let mode: 'held' | 'refused' | 'open' = 'held'
  const refusal = { success: false, message: 'Hoje não.', data: null, errors: ['Hoje não.'], statusCode: 409 }
  await page.route('**/v1/api/Dashboard', async (route) => {
    if (mode === 'refused') await route.fulfill({ status: 409, json: refusal })
    else if (mode === 'open') await route.continue()
  })
  const account = await site.createAccount('Caio')
  await (await newClient(site.product, account)).register(bakery.cnpj, bakery.nome)
  await page.getByLabel('Email').fill(account.email)
  await page.getByLabel('Senha', { exact: true }).fill(account.senha)
  await page.getByRole('button', { name: 'Entrar' }).click()
  const loading = page.getByRole('status').filter({ hasText: 'Carregando dashboard...' })
  await shown(loading)
  // A text for screen readers alone is one pixel wide, and shown to Playwright.
  expect((await loading.boundingBox())?.width).toBeGreaterThan(100)

  mode = 'refused'
  await page.reload()
  const failure = page.getByRole('alert').filter({ hasText: 'Erro ao carregar dados do dashboard' })
  await shown(failure)
  await shown(page.getByText('Erro ao carregar dados: Hoje não.'))
  // Whether somebody watches does not depend on the numbers.
  await shown(region(page, 'Status do Sistema').getByText('Captura Automática'))
  await expectAccessible(page)
  mode = 'open'
  await failure.getByRole('button', { name: 'Tentar novamente' }).click()
  await shown(figure(page, 'Empresas Cadastradas').filter({ hasText: / 1$/ }))
  mode = 'refused'
  await shown(page.getByText('Abaixo estão os últimos números que recebemos.'), 20_000)
  await shown(figure(page, 'Empresas Cadastradas').filter({ hasText: / 1$/ }))
})

test('what was heard of the captures before the server refused to tell is no green light', async () => {
  const account = await site.createAccount('Lia')
  await (await newClient(site.product, account)).register(unused.cnpj, unused.nome)
  const page = await site.enter(account)
  const status = region(page, 'Status do Sistema')
  await shown(status.getByText('Online'), 30_000)
  await shown(page.getByText('Nada precisa de você agora.'))
  const refusal = { success: false, message: 'Hoje não.', data: null, errors: [], statusCode: 409 }
  await page.route('**/obter-empresas', (route) => route.fulfill({ status: 409, json: refusal }))
  await shown(status.getByText('Sem resposta').first(), 20_000)
  await expect.poll(() => status.getByText('Sem resposta').count()).toBe(2)
  expect(await page.getByText('Nada precisa de você agora.').count()).toBe(0)
  await shown(page.getByText('Não sabemos agora: a lista de empresas não chegou.'))
  await shown(page.getByText('Sem contato', { exact: true }))
  await page.unroute('**/obter-empresas')
  await shown(status.getByText('Online'), 20_000)
})

test('three hundred companies stay readable, and a certificate that ends soon asks for somebody', async () => {
  const account = await site.createAccount('Dora')
  const client = await newClient(site.product, account)
  const id = await client.register(bakery.cnpj, bakery.nome)
  const cnpjs = Array.from({ length: 299 }, (_, index) => {
    const first12 = `${String(30_000_000 + index * 7)}0001`
    return first12 + cnpjCheckDigits(first12)
  })
  await query(
    site.product,
    `insert into company (workspace_id, cnpj, name, search, uf)
     select workspace_id, cnpj, 'CLIENTE ' || cnpj, 'cliente ' || cnpj, 35 from account, unnest($2::text[]) cnpj where email = $1`,
    [account.email, cnpjs],
  )
  await query(
    site.product,
    `update certificate set valid_to = now() + interval '12 days'
      where workspace_id = (select workspace_id from account where email = $1)`,
    [account.email],
  )
  const page = await site.resume(account, '/dashboard')
  const rows = region(page, 'Documentos por Empresa')
    .getByRole('row')
    .filter({ has: page.getByRole('cell') })
  await expect.poll(() => rows.count()).toBe(10)
  await region(page, 'Documentos por Empresa').getByRole('button', { name: 'Mostrar todas as 300 empresas' }).click()
  await expect.poll(() => rows.count()).toBe(300)
  await region(page, 'Documentos por Empresa').getByRole('button', { name: 'Mostrar só as 10 primeiras' }).click()
  await expect.poll(() => rows.count()).toBe(10)
  const needs = region(page, 'Precisa de você')
    .getByRole('listitem')
    .filter({ hasText: '1 certificado vence em até 30 dias' })
  await needs.click()
  await page.waitForURL(`**/empresas/editar/${id}`)
})
