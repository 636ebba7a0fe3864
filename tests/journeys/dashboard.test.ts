import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { later, month, respond, runUntilShown, success } from './page.ts'
import { bakery, expectNoSidewaysScroll, focusedText, phone, query, refuse, shown, tabTo, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const { member, go } = site

const card = (page: Page, label: string) => page.getByRole('listitem').filter({ hasText: new RegExp(`^${label}`) })
const region = (page: Page, name: string) => page.getByRole('region', { name })

/** One company whose captures are well. */
async function respondCompany(page: Page) {
  const captura = ['nfe', 'cte'].map((servico) => ({ servico, estado: 'aguardando', mensagem: 'Em dia.' }))
  const row = { id: 'um', razaoSocial: 'PADARIA AURORA LTDA', cnpj: '', ativa: true, captura }
  const companies = [{ ...row, validadeCertificadoA1: '2099-01-01T00:00:00Z' }]
  await respond(page, '/v1/api/Empresas/obter-empresas', { json: success(companies) })
}

/** A month with documents on three days and summaries that wait. */
async function openMonth(options = {}): Promise<Page> {
  const page = await member(options)
  await respondCompany(page)
  const documentosPorDia = [1, 2, 3].map((day) => ({ dia: `2026-03-0${day}`, qtdNfe: 10 * day, qtdCte: day }))
  const pendencias = { resumos: 2, aguardandoResposta: 1, canceladasNfe: 0, canceladosCte: 0 }
  await respond(page, '/v1/api/Dashboard', { json: success({ ...month, documentosPorDia, pendencias }) })
  await go(page, '/dashboard')
  return page
}

test('an empty workspace is welcomed, lights no lamp, and loads no chart', async () => {
  const page = await site.resume(await site.createAccount('Ana'), '/dashboard')
  const dialog = page.getByRole('dialog', { name: 'Bem-vindo ao Vigia Fiscal' })
  await shown(dialog)
  expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
    expect.stringMatching(/^Captura automática/),
    expect.stringMatching(/^Manifestação de NFe e CTe/),
    expect.stringMatching(/^Monitoramento em tempo real/),
    expect.stringMatching(/^Relatórios/),
  ])
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
    await shown(card(page, label).getByRole('link', { name: /^0, / }))
  const status = region(page, 'Status do Sistema')
  await expect
    .poll(() => status.getByRole('listitem').allTextContents())
    .toEqual([
      'Captura AutomáticaOnlineComeça sozinha com a primeira empresa.',
      'ArmazenamentoSaudável0% de uso, sem limite de espaço',
      'SincronizaçãoAtivaNenhuma consulta por enquanto',
    ])
  expect(await status.locator('[data-mark=unlit]').count()).toBe(2)
  expect(await page.locator('[data-lamp=stopped], [data-mark=stopped]').count()).toBe(0)
  await expect
    .poll(() => region(page, 'Primeiros passos').getByRole('listitem').locator('.font-semibold').allTextContents())
    .toEqual(expect.arrayContaining(['Cadastre a primeira empresa', 'Espere a primeira captura']))
  expect(await page.getByText('Nada precisa de você agora.').count()).toBe(0)
  await shown(region(page, 'Documentos por Dia').getByText(/^Nenhum documento emitido neste mês chegou até agora/))
  await shown(region(page, 'Documentos por Empresa').getByText('Nenhuma empresa cadastrada.'))
  await shown(region(page, 'Atividade Recente').getByText(/^Nada chegou hoje até agora/))
  expect(await chartFiles(page)).toEqual([])
})

const chartFiles = (page: Page) =>
  page.evaluate(() => performance.getEntriesByType('resource').filter(({ name }) => name.includes('stacked-bars')))

test('the days as a picture and as a table; everything by keyboard', async () => {
  const page = await openMonth()
  const days = region(page, 'Documentos por Dia')
  const picture = days.getByRole('application')
  await shown(picture, 20_000)
  expect(await shiftOf(page)).toBeLessThan(0.02)
  await tabTo(page, /^Ver tabela$/)
  await page.keyboard.press('Tab')
  // The svg with the picture has the focus, and the arrows go from day to day.
  await page.keyboard.press('ArrowRight')
  await shown(days.getByText(/-feira, \d\d\/\d\d|(sábado|domingo), \d\d\/\d\d/))

  await page.keyboard.press('Shift+Tab')
  expect(await focusedText(page)).toBe('Ver tabela')
  await page.keyboard.press('Enter')
  const table = days.getByRole('table', { name: 'Documentos por dia de emissão' })
  await shown(table)
  const lines = table.getByRole('row').filter({ has: page.getByRole('rowheader') })
  await expect.poll(() => lines.count()).toBe(3)
  await table.getByRole('link').first().focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\?de=(\d{4}-\d\d-\d\d)&ate=\1$/)
  await page.goBack()
  await card(page, 'Total Documentos')
    .getByRole('link', { name: /^[\d.]+, ver por empresa$/ })
    .press('Enter')
  await expect.poll(() => focusedText(page)).toBe('Documentos por Empresa')
})

/** Layout shift without input, as browsers measure it. */
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
  const page = await openMonth({ ...phone, viewport: { width: 390, height: 600 } })
  await shown(region(page, 'Precisa de você').getByRole('link'))
  // The number of things to do is unknown before, so a small shift is allowed.
  expect(await shiftOf(page)).toBeLessThan(0.06)
  await expectNoSidewaysScroll(page)
  await page.setViewportSize({ width: 320, height: 480 })
  await expectNoSidewaysScroll(page)
  expect(await chartFiles(page)).toEqual([])
  // Charts that were not scrolled into view print as tables.
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
  await expect.poll(() => region(page, 'Documentos por Dia').getByRole('table').count()).toBe(1)
  await page.evaluate(() => dispatchEvent(new Event('afterprint')))
  expect(await region(page, 'Documentos por Dia').getByRole('table').count()).toBe(0)
  await region(page, 'Documentos por Dia').scrollIntoViewIfNeeded()
  await shown(region(page, 'Documentos por Dia').getByRole('application'), 20_000)
  await expectNoSidewaysScroll(page)
})

test('what was heard of the captures before the server refused to tell is no green light', async () => {
  const page = await member()
  const pendencias = { resumos: 0, aguardandoResposta: 0, canceladasNfe: 0, canceladosCte: 0 }
  await respond(page, '/v1/api/Dashboard', { json: success({ ...month, pendencias }) })
  await respondCompany(page)
  await page.clock.install()
  await go(page, '/dashboard')
  const status = region(page, 'Status do Sistema')
  await shown(status.getByText('Online'))
  await shown(page.getByText('Nada precisa de você agora.'))
  await refuse(page, '**/obter-empresas')
  await runUntilShown(page, status.getByText('Sem resposta'), 500)
  await expect.poll(() => status.getByText('Sem resposta').count()).toBe(2)
  expect(await page.getByText('Nada precisa de você agora.').count()).toBe(0)
  await shown(page.getByText('Não sabemos agora: a lista de empresas não chegou.'))
  await shown(page.getByText('Sem contato', { exact: true }))
  await page.unroute('**/obter-empresas')
  await runUntilShown(page, status.getByText('Online'), 500)
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
  const rows = region(page, 'Documentos por Empresa').locator('tbody tr:not([aria-hidden])')
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

test('what ends first leads to the list by deadline, who fails is named, and what was cancelled can be put away', async () => {
  const page = await member()
  const pendencias = {
    resumos: 0,
    aguardandoResposta: 0,
    canceladasNfe: 2,
    canceladosCte: 0,
    vencemNfe: 3,
    vencemCte: 0,
  }
  let cancelled = 2
  await respond(page, '/v1/api/Dashboard', () => ({
    json: success({ ...month, pendencias: { ...pendencias, canceladasNfe: cancelled } }),
  }))
  const company = {
    id: 'um',
    razaoSocial: 'PADARIA AURORA S.A.',
    cnpj: '',
    ativa: true,
    captura: [{ servico: 'nfe', estado: 'parada' }],
  }
  await respond(page, '/v1/api/Empresas/obter-empresas', {
    json: success([{ ...company, validadeCertificadoA1: '2020-01-01T00:00:00Z' }]),
  })
  await go(page, '/dashboard')
  const needs = region(page, 'Precisa de você').getByRole('listitem')
  await shown(needs.filter({ hasText: 'problema na captura' }).getByText('PADARIA AURORA S.A.', { exact: true }))
  const due = needs.filter({ hasText: '3 notas com prazo de resposta até amanhã' })
  expect(await due.getByRole('link').getAttribute('href')).toMatch(/^\/notas-fiscais\?.*prazoAte=.*&ordem=prazo$/)
  const news = needs.filter({ hasText: 'canceladas neste mês' })
  await news.getByRole('button', { name: 'Já vi' }).click()
  await news.waitFor({ state: 'detached' })
  await page.reload()
  await shown(due)
  expect(await news.count()).toBe(0)
  cancelled = 3
  await page.reload()
  await shown(news)
})

test('while it loads it says so to everybody, and then shows cards, days, companies, activity and status', async () => {
  const page = await member()
  const dia = (day: number) => `2026-03-0${day}`
  const documentosPorDia = [1, 2, 3].map((day) => ({ dia: dia(day), qtdNfe: 12_345, qtdCte: 0 }))
  const slow = later({ json: success({ ...month, documentosPorDia }) })
  await respond(page, '/v1/api/Dashboard', slow.reply)
  await go(page, '/dashboard')
  const loading = page.getByText('Carregando dashboard...', { exact: true })
  await shown(loading)
  const box = await loading.first().boundingBox()
  expect(box!.width).toBeGreaterThan(50)
  expect(box!.height).toBeGreaterThan(8)
  slow.come()
  await shown(page.getByText('PADARIA AURORA LTDA'))
  expect(await loading.count()).toBe(0)
  expect(await page.getByRole('dialog').count()).toBe(0)

  await shown(page.getByRole('heading', { name: 'Dashboard', exact: true }))
  await shown(page.getByText('Visão geral dos documentos fiscais emitidos no mês atual', { exact: true }))
  for (const [label, number] of [
    ['Notas Fiscais (Mês)', '1.234'],
    ['CTe (Mês)', '56'],
    ['Total Documentos (Mês)', '1.290'],
    ['Empresas Cadastradas', '2'],
  ] as const) {
    const card = page
      .getByRole('main')
      .getByRole('listitem')
      .filter({ has: page.getByText(label, { exact: true }) })
    await shown(card.getByText(number, { exact: true }))
  }
  await companiesAndActivity(page)

  // Only one of adjacent days with equal heights has its number.
  const days = region(page, 'Documentos por Dia')
  await days.scrollIntoViewIfNeeded()
  await shown(days.getByText('12.345', { exact: true }), 20_000)
  await expect.poll(() => days.getByText('12.345', { exact: true }).count()).toBe(1)
})

async function companiesAndActivity(page: Page) {
  const table = page.getByRole('table', { name: 'Documentos por Empresa', exact: true })
  const cells = async (row: number) =>
    (await table.getByRole('row').nth(row).getByRole('cell').allInnerTexts()).map((text) => text.trim())
  await expect.poll(() => table.getByRole('columnheader').count()).toBe(5)
  for (const name of ['Empresa', 'Notas Fiscais', 'CTe', 'Total', 'Status'])
    await shown(table.getByRole('columnheader', { name, exact: true }))
  expect(await cells(1)).toEqual(['PADARIA AURORA LTDA', '1.200', '50', '1.250', 'Ativa'])
  expect(await cells(2)).toEqual(['MERCADO BOA VISTA LTDA', '34', '6', '40', 'Inativa'])
  expect(await table.getByRole('cell').first().textContent()).toBe('PADARIA AURORA LTDA')
  for (const words of ['Documentos por Empresa', 'Inativa'])
    expect(await page.getByText(words, { exact: true }).count(), words).toBe(1)

  const activity = page.getByRole('region', { name: 'Atividade Recente', exact: true })
  await shown(activity.getByText('Últimos documentos processados hoje', { exact: true }))
  const entries = (await activity.getByRole('listitem').allTextContents()).map((text) => text.replace(/\s/g, ''))
  expect(entries).toHaveLength(3)
  for (const [index, [badge, other, issuer, chave, time]] of [
    ['NFe', 'CTe', 'GRÁFICAUM', '1'.repeat(44), '09:07'],
    ['CTe', 'NFe', 'TRANSPORTESDOIS', '2'.repeat(44), '20:59'],
    ['CTe', 'NFe', 'TRANSPORTESTRÊS', '3'.repeat(44), '00:00'],
  ].entries()) {
    for (const text of [badge, issuer, chave, time]) expect(entries[index]).toContain(text)
    expect(entries[index]).not.toContain(other)
  }
  const status = page.getByRole('region', { name: 'Status do Sistema', exact: true })
  const fixed = ['Captura Automática', 'Online', 'Armazenamento', 'Saudável', '0% de uso', 'Sincronização', 'Ativa']
  for (const words of fixed) await shown(status.getByText(words, { exact: true }))
}
