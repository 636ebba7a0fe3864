import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { phone, shown } from './site.ts'
import {
  answer,
  failure,
  later,
  month,
  onPath,
  press,
  success,
  toastColours,
  toasted,
  useSpecification,
} from './specification.ts'

const { site, member, go } = useSpecification('Elisa', { roles: ['api'] })

async function dashboard(changes: Partial<typeof month> & Record<string, unknown> = {}): Promise<Page> {
  const page = await member()
  await answer(page, '/v1/api/Dashboard', { json: success({ ...month, ...changes }) })
  await go(page, '/dashboard')
  return page
}

test('the title, the subtitle and the four cards', async () => {
  const page = await dashboard()
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
})

test('the documents by company', async () => {
  const page = await dashboard()
  const table = page.getByRole('table', { name: 'Documentos por Empresa', exact: true })
  await shown(table)
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
})

test('the recent activity', async () => {
  const page = await dashboard()
  const section = page.getByRole('region', { name: 'Atividade Recente', exact: true })
  await shown(section.getByText('Últimos documentos processados hoje', { exact: true }))
  const entries = (await section.getByRole('listitem').allTextContents()).map((text) => text.replace(/\s/g, ''))
  expect(entries).toHaveLength(3)
  for (const [index, [badge, other, issuer, chave, time]] of [
    ['NFe', 'CTe', 'GRÁFICAUM', '1'.repeat(44), '09:07'],
    ['CTe', 'NFe', 'TRANSPORTESDOIS', '2'.repeat(44), '20:59'],
    ['CTe', 'NFe', 'TRANSPORTESTRÊS', '3'.repeat(44), '00:00'],
  ].entries()) {
    for (const text of [badge, issuer, chave, time]) expect(entries[index]).toContain(text)
    expect(entries[index]).not.toContain(other)
  }
})

test('the system status has its three indicators', async () => {
  const page = await dashboard()
  const section = page.getByRole('region', { name: 'Status do Sistema', exact: true })
  const fixed = ['Captura Automática', 'Online', 'Armazenamento', 'Saudável', '0% de uso', 'Sincronização', 'Ativa']
  for (const words of fixed) await shown(section.getByText(words, { exact: true }))
})

test('while it loads it says so to everybody', async () => {
  const page = await member()
  const slow = later({ json: success(month) })
  await answer(page, '/v1/api/Dashboard', slow.reply)
  await go(page, '/dashboard')
  const loading = page.getByText('Carregando dashboard...', { exact: true })
  await shown(loading)
  const box = await loading.first().boundingBox()
  expect(box!.width).toBeGreaterThan(50)
  expect(box!.height).toBeGreaterThan(8)
  slow.come()
  await shown(page.getByText('PADARIA AURORA LTDA'))
  expect(await loading.count()).toBe(0)
})

test('a failure is said on the screen and as a toast', async () => {
  const page = await member()
  await answer(page, '/v1/api/Dashboard', { json: failure('O mês não fechou') })
  await go(page, '/dashboard')
  await shown(page.getByText('Erro ao carregar dados do dashboard', { exact: true }))
  await toasted(page, 'Erro ao carregar dados: O mês não fechou')
})

test('the welcome opens by itself when there is no company, and can be put off', async () => {
  const page = await dashboard({ qtdEmpresasCadastradas: 0, qtdDocumentosPorEmpresa: [] })
  const dialog = page.getByRole('dialog', { name: `Bem-vindo ao ${site.product.config.productName}`, exact: true })
  await shown(dialog)
  for (const text of [
    /Captura automática/i,
    /Manifestação de NFe e CTe/i,
    /Monitoramento em tempo real/i,
    /Relatórios/i,
  ])
    await shown(dialog.getByText(text))
  await press(dialog, 'Fazer Depois').click()
  await dialog.waitFor({ state: 'hidden' })

  const again = await dashboard({ qtdEmpresasCadastradas: 0, qtdDocumentosPorEmpresa: [] })
  await again.getByRole('button', { name: 'Cadastrar Primeira Empresa', exact: true }).click()
  await onPath(again, '/empresas/nova')
})

test('the welcome stays away when there is a company', async () => {
  const page = await dashboard({ qtdEmpresasCadastradas: 1 })
  await shown(page.getByText('PADARIA AURORA LTDA'))
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('the names of the navigation lead to one place on every screen', async () => {
  const page = await dashboard({
    qtdDocumentosPorEmpresa: month.qtdDocumentosPorEmpresa.map((row) => ({ ...row, idEmpresa: 'um' })),
    ultimosDocumentosProcessados: month.ultimosDocumentosProcessados.map((entry) => ({ ...entry, idDfe: 'um' })),
    pendencias: { resumos: 2, aguardandoResposta: 1, canceladasNfe: 3, canceladosCte: 4 },
  })
  // Two companies without a certificate: every light tells of trouble.
  const row = { razaoSocial: 'X', cnpj: '', ativa: true, validadeCertificadoA1: '2020-01-01T00:00:00Z' }
  await answer(page, '/v1/api/Empresas/obter-empresas', {
    json: success([
      { ...row, id: 'um' },
      { ...row, id: 'dois' },
    ]),
  })
  await page.reload()
  await shown(page.getByText('empresas com problema na captura'))
  await shown(page.getByRole('link', { name: /^4, / }))
  for (const screen of ['/dashboard', '/notas-fiscais', '/cte', '/empresas', '/help']) {
    await go(page, screen)
    await shown(page.getByRole('heading', { level: 1 }))
    await shown(page.getByText('2 empresas sem captura', { exact: true }))
    for (const name of ['Dashboard', 'Notas Fiscais', 'CTe', 'Empresas', 'Ajuda'])
      expect(await page.getByRole('link', { name }).count(), `${name} on ${screen}`).toBe(1)
  }
})

test('the navigation and the header', async () => {
  const page = await dashboard()
  const navigation = page.getByRole('navigation', { name: 'Principal' })
  for (const [name, path] of [
    ['Notas Fiscais', '/notas-fiscais'],
    ['CTe', '/cte'],
    ['Empresas', '/empresas'],
    ['Ajuda', '/help'],
    ['Dashboard', '/dashboard'],
  ] as const) {
    await navigation.getByRole('link', { name, exact: true }).click()
    await onPath(page, path)
  }
  const header = page.getByRole('banner').first()
  await shown(header.getByText(new RegExp(`^Sistema\\s*${site.product.config.productName}$`)))
  await shown(header.getByRole('button', { name: 'Usuário', exact: true }))
  await shown(header.getByRole('button', { name: 'Sair', exact: true }))
  await shown(page.getByText(/\bv1\.0$/))
})

async function sidebarWidth(page: Page) {
  return (await page.getByRole('complementary').boundingBox())?.width
}

test('the navigation folds to icons with Ctrl or Meta and b, and a cookie remembers it for seven days', async () => {
  const page = await member()
  await go(page, '/help')
  await expect.poll(() => sidebarWidth(page)).toBe(256)
  const before = new Set((await page.context().cookies()).map(({ name, value }) => name + value))
  await page.keyboard.press('Control+b')
  await expect.poll(() => sidebarWidth(page)).toBe(48)
  for (const name of ['Dashboard', 'Notas Fiscais', 'CTe', 'Empresas', 'Ajuda'])
    await shown(page.getByRole('navigation').getByRole('link', { name, exact: true }))
  const cookies = (await page.context().cookies()).filter(({ name, value }) => !before.has(name + value))
  expect(cookies).toHaveLength(1)
  const days = (cookies[0]!.expires - Date.now() / 1000) / 86_400
  expect(days).toBeGreaterThan(6.99)
  expect(days).toBeLessThanOrEqual(7.001)
  await page.reload()
  await expect.poll(() => sidebarWidth(page)).toBe(48)
  await page.keyboard.press('Meta+b')
  await expect.poll(() => sidebarWidth(page)).toBe(256)
  await page.keyboard.press('b')
  expect(await sidebarWidth(page)).toBe(256)
})

test('under 768 pixels the navigation slides out over the screen', async () => {
  const page = await member({ ...phone, viewport: { width: 767, height: 800 } })
  await go(page, '/help')
  await shown(page.getByRole('heading', { name: 'Ajuda', exact: true }))
  const link = page.getByRole('link', { name: 'Notas Fiscais', exact: true })
  expect(await link.isVisible()).toBe(false)
  await page.keyboard.press('Control+b')
  const drawer = page.getByRole('dialog')
  await shown(drawer)
  await expect.poll(async () => (await drawer.boundingBox())?.width).toBe(288)
  await page.keyboard.press('Control+b')
  await drawer.waitFor({ state: 'hidden' })
  await page.getByRole('banner').getByRole('button').first().click()
  await shown(drawer)
  await link.click()
  await onPath(page, '/notas-fiscais')
  await page.setViewportSize({ width: 768, height: 800 })
  await shown(page.getByRole('complementary').getByRole('link', { name: 'Notas Fiscais', exact: true }))
})

test('the help has a search box, three contact cards, five questions and two guides', async () => {
  const page = await member()
  await go(page, '/help')
  const main = page.getByRole('main')
  await shown(main.getByRole('searchbox').or(main.getByRole('textbox')))
  const cards = page.getByRole('region', { name: /Falar com/ }).getByRole('listitem')
  await shown(cards)
  await expect.poll(() => cards.count()).toBe(3)
  for (const channel of ['E-mail', 'WhatsApp']) {
    const card = cards.filter({ has: page.getByRole('heading', { name: channel, exact: true }) })
    expect(await card.textContent(), channel).toMatch(/respond|prazo|resposta|horas|dia útil/i)
  }
  const questions = page.getByRole('region', { name: /Perguntas frequentes/i }).getByRole('heading', { level: 3 })
  const texts = await questions.allTextContents()
  expect(texts).toHaveLength(5)
  for (const [index, words] of [/captura/i, /guardado|armazen/i, /empresa/i, /auditoria/i, /exportar|lote/i].entries())
    expect(texts[index]).toMatch(words)
  for (const question of await questions.all()) await question.click()
  const text = (await main.textContent()) ?? ''
  const claims = [/ilimitad/i, /24\/7|24 horas|dia e (de )?noite/i, /ZIP/]
  expect(claims.filter((claim) => !claim.test(text))).toEqual([])
  for (const guide of [/Primeiros passos/i, /dia a dia/i])
    await expect.poll(() => page.getByRole('region', { name: guide }).getByRole('listitem').count()).toBeGreaterThan(1)
})

test('a toast of warning is yellow', async () => {
  const page = await member()
  await go(page, '/notas-fiscais')
  await page.getByRole('button', { name: 'Manifestar', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Ciência', exact: true }).click()
  const warning = 'Selecione pelo menos um documento para manifestar.'
  await toasted(page, warning)
  expect(await toastColours(page, warning)).toContain('yellow')
})
