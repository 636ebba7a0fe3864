import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { lead, month, respond, runUntil, runUntilShown, success } from './page.ts'
import { type Account, expectNoSidewaysScroll, focusedText, moving, phone, shown, textOf, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
let account: Account | undefined

async function enter(options = {}): Promise<Page> {
  account ??= await site.createAccount('Ana')
  const page = await site.resume(account, '/empresas', options)
  await shown(page.getByRole('heading', { name: 'Empresas', level: 1 }))
  return page
}

const widthOf = (page: Page) => async () => (await page.getByLabel('Navegação', { exact: true }).boundingBox())?.width
const collapsed = 48
const wide = 256

test('the side navigation: its places, 16rem, icons at 3rem, a cookie for seven days, Ctrl and Meta with b', async () => {
  const page = await enter()
  const links = page.getByRole('navigation', { name: 'Principal' }).getByRole('link')
  expect(await links.allTextContents()).toEqual([
    'Dashboard',
    'Notas Fiscais',
    'CTe',
    'Alertas',
    'Relatórios',
    'Auditoria de fretes',
    'IBS e CBS',
    'Empresas',
    'Prazos',
    'Vencimentos',
    'Ajuda',
  ])
  expect(await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')))).toEqual([
    '/dashboard',
    '/notas-fiscais',
    '/cte',
    '/alertas',
    '/relatorios',
    '/fretes',
    '/reforma',
    '/empresas',
    '/prazos',
    '/vencimentos',
    '/help',
  ])
  expect(await links.nth(7).getAttribute('aria-current')).toBe('page')
  await expect.poll(widthOf(page)).toBe(wide)

  await page.getByRole('button', { name: 'Alternar navegação' }).click()
  await expect.poll(widthOf(page)).toBe(collapsed)
  // Icons alone keep their names.
  await shown(page.getByRole('navigation').getByRole('link', { name: 'Notas Fiscais' }))
  // The page is done with a cookie before the browser's store has it.
  const remembered = async () => (await page.context().cookies()).find(({ name }) => name === 'vigia_sidebar')
  await expect.poll(async () => (await remembered())?.value).toBe('closed')
  const cookie = await remembered()
  expect(Math.abs((cookie?.expires ?? 0) - Date.now() / 1000 - 7 * 24 * 3600)).toBeLessThan(120)
  await page.reload()
  await expect.poll(widthOf(page)).toBe(collapsed)

  await page.keyboard.press('Control+b')
  await expect.poll(widthOf(page)).toBe(wide)
  await page.keyboard.press('Meta+b')
  await expect.poll(widthOf(page)).toBe(collapsed)
  await page.keyboard.press('Control+Shift+b')
  await page.keyboard.press('b')
  expect(await widthOf(page)()).toBe(collapsed)
})

test('under 768 pixels it slides out, 18rem wide, and gives the focus back', async () => {
  const page = await enter({ viewport: { width: 767, height: 800 }, ...moving })
  expect(await page.getByLabel('Navegação', { exact: true }).isVisible()).toBe(false)
  const toggle = page.getByRole('button', { name: 'Alternar navegação' })
  await toggle.click()
  const sheet = page.getByRole('dialog', { name: 'Navegação' })
  await shown(sheet)
  await expect.poll(async () => (await sheet.boundingBox())?.x).toBe(0)
  expect((await sheet.boundingBox())?.width).toBe(288)
  await page.keyboard.press('Escape')
  await sheet.waitFor({ state: 'detached' })
  await expect.poll(() => toggle.evaluate((button) => button === document.activeElement)).toBe(true)
  await page.keyboard.press('Control+b')
  await shown(sheet)
  await sheet.getByRole('link', { name: 'Ajuda' }).click()
  await page.waitForURL('**/help')
  await sheet.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 768, height: 800 })
  await expect.poll(() => page.getByLabel('Navegação', { exact: true }).isVisible()).toBe(true)
})

test("the header: 'Sistema' with the name of the product, 'Usuário' and 'Sair'; the version below the navigation", async () => {
  const page = await enter()
  const header = page.getByRole('banner')
  expect(await textOf(header.getByText(/^Sistema/))).toBe('Sistema Vigia Fiscal')
  await shown(header.getByRole('button', { name: 'Sair' }))
  await shown(page.getByText('Vigia Fiscal v1.0'))
  await header.getByRole('button', { name: 'Usuário' }).click()
  const menu = page.getByRole('menu')
  await shown(menu.getByText(account!.email))
  const items = menu.getByRole('menuitem')
  expect(await items.evaluateAll((all) => all.map((item) => item.getAttribute('href')))).toEqual([
    '/conta',
    '/conta#plano',
    '/conta#senha',
    '/conta#sessoes',
    '/equipe',
    '/respostas',
    '/integracoes',
    '/auditoria',
    '/sistema',
  ])
  await expect.poll(() => textOf(items.nth(1))).toMatch(/^PlanoTeste até \d\d\/\d\d\/\d{4}$/)
  expect(await menu.getByRole('menuitemradio').allTextContents()).toEqual(['Claro', 'Escuro', 'Igual ao sistema'])

  await items.filter({ hasText: 'Senha' }).click()
  await page.waitForURL('**/conta#senha')
  await expect.poll(() => focusedText(page)).toBe('Senha')
  const heading = page.getByRole('heading', { name: 'Senha' })
  await expect.poll(async () => (await heading.boundingBox())?.y).toBeLessThan(400)
})

test('by keyboard alone: over the navigation to the content, and through the menu', async () => {
  const page = await enter(moving)
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await page.keyboard.press('Tab')
  expect(await focusedText(page)).toBe('Ir para o conteúdo')
  await page.keyboard.press('Enter')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('conteudo')

  await page.getByRole('button', { name: 'Usuário' }).focus()
  await page.keyboard.press('Enter')
  await shown(page.getByRole('menu'))
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })
  await expect.poll(() => focusedText(page)).toBe('Usuário')
  await page.keyboard.press('Enter')
  await expect.poll(() => focusedText(page)).toBe('Minha conta')
  await page.keyboard.press('End')
  await expect.poll(() => focusedText(page)).toBe('Igual ao sistema')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => focusedText(page)).toBe('Escuro')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => document.documentElement.classList.contains('dark'))).toBe(true)
})

test('a new screen has its title, its top and the focus; going back brings the place back, a reload too', async () => {
  const page = await enter({ viewport: { width: 1280, height: 600 } })
  await page.getByRole('navigation').getByRole('link', { name: 'Ajuda' }).click()
  await shown(page.getByRole('heading', { name: 'Ajuda' }))
  await expect.poll(() => page.title()).toBe('Ajuda · Vigia Fiscal')
  expect(await page.evaluate(() => document.activeElement?.id)).toBe('conteudo')
  const place = () => page.evaluate(() => Math.round(window.scrollY))
  await page.evaluate(() => window.scrollTo(0, 900))
  await expect.poll(place).toBe(900)

  await page.getByRole('navigation').getByRole('link', { name: 'CTe' }).click()
  await shown(page.getByRole('heading', { name: 'Conhecimento de Transporte Eletrônico' }))
  await expect.poll(place).toBe(0)
  await page.goBack()
  await shown(page.getByRole('heading', { name: 'Ajuda' }))
  await expect.poll(place).toBe(900)
  await page.reload()
  await expect.poll(place).toBe(900)
  await page.goForward()
  await shown(page.getByRole('heading', { name: 'Conhecimento de Transporte Eletrônico' }))
  await expect.poll(place).toBe(0)
})

test("'Verificando autenticação...' until the layout is here", async () => {
  const page = await enter()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(/\/assets\/workspace-/, async (route) => {
    await held
    await route.continue()
  })
  await page.reload()
  await shown(page.getByRole('status').filter({ hasText: 'Verificando autenticação...' }))
  release()
  await shown(page.getByRole('heading', { name: 'Empresas', level: 1 }))
})

test('one line says since when the server does not answer, and goes away with the next answer', async () => {
  const page = await enter(phone)
  await page.clock.install()
  await page.reload()
  await shown(page.getByRole('heading', { name: 'Empresas', level: 1 }))
  await page.route('**/v1/api/**', (route) => route.abort('connectionrefused'))
  await page.getByRole('button', { name: 'Alternar navegação' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Notas Fiscais' }).click()
  const line = page.getByText(/^Sem conexão com o servidor desde \d\d:\d\d; o que está na tela pode estar velho\.$/)
  await runUntilShown(page, line, 500)
  await expect.poll(() => line.locator('xpath=ancestor::*[@role="status"]').count()).toBe(1)
  // Nor is anything known of the capture.
  const watch = page.getByRole('link', { name: 'Situação da captura' })
  await expect.poll(() => watch.getAttribute('title')).toBe('Sem contato. Não sabemos como está a captura.')
  await expectNoSidewaysScroll(page)
  await page.unroute('**/v1/api/**')
  await runUntil(page, async () => (await line.count()) === 0, 500)
})

test('the names of the navigation lead to one place on every screen', async () => {
  const page = await site.member()
  const changes = {
    qtdDocumentosPorEmpresa: month.qtdDocumentosPorEmpresa.map((row) => ({ ...row, idEmpresa: 'um' })),
    ultimosDocumentosProcessados: month.ultimosDocumentosProcessados.map((entry) => ({ ...entry, idDfe: 'um' })),
    pendencias: {
      ...{ resumos: 2, aguardandoResposta: 1, canceladasNfe: 3, canceladosCte: 4 },
      ...{ alertas: 198, alertasCriticos: 5, parcelasVencidas: 3_381, fretesAConferir: 268, aguardamSegunda: 6 },
    },
  }
  await respond(page, '/v1/api/Dashboard', { json: success({ ...month, ...changes }) })
  // Two companies without a certificate: every light tells of trouble.
  const captura = [{ servico: 'nfe', estado: 'parada', mensagem: '', proximaConsulta: null }]
  const row = { razaoSocial: 'X', cnpj: '', ativa: true, captura, validadeCertificadoA1: '2020-01-01T00:00:00Z' }
  await respond(page, '/v1/api/Empresas/obter-empresas', {
    json: success([
      { ...row, id: 'um' },
      { ...row, id: 'dois' },
    ]),
  })
  await site.go(page, '/dashboard')
  await shown(page.getByText('empresas com problema na captura'))
  await shown(page.getByRole('link', { name: /^4, / }))
  for (const screen of ['/notas-fiscais', '/cte', '/empresas', '/help', '/dashboard']) {
    await lead(page, screen)
    await shown(page.getByText('2 empresas sem captura', { exact: true }))
    for (const name of ['Dashboard', 'Notas Fiscais', 'CTe', 'Alertas', 'Empresas', 'Prazos', 'Ajuda'])
      expect(await page.getByRole('link', { name }).count(), `${name} on ${screen}`).toBe(1)
  }
  // Each number beside them leads to what it counts, and answers that wait for approval have a line of their own.
  const numbers = page.getByRole('navigation', { name: 'Principal' }).getByRole('link', { name: /, ver quais$/ })
  const told = await numbers.evaluateAll((all) => all.map((link) => `${link.textContent} ${link.getAttribute('href')}`))
  expect(told).toEqual([
    '198 /alertas',
    expect.stringMatching(/^268 \/fretes\?de=\d{4}-\d\d&ate=\d{4}-\d\d$/),
    '3.381 /vencimentos?mostrar=vencidas',
    '6 /aprovacoes',
  ])
})

async function open(path: string, options = {}) {
  account ??= await site.createAccount('Ana')
  return site.resume(account, path, options)
}

test('a search box, three ways to a person, five questions, two guides and the words of the tax office', async () => {
  const page = await open('/help')
  await shown(page.getByRole('heading', { level: 1, name: 'Ajuda' }))
  await shown(page.getByRole('searchbox', { name: 'Buscar na ajuda' }))

  const ways = page.getByRole('region', { name: 'Falar com uma pessoa' })
  expect(await ways.getByRole('heading', { level: 3 }).allTextContents()).toEqual(['E-mail', 'WhatsApp', 'Formulário'])
  const { contactEmail } = site.product.config
  expect(await ways.getByRole('link', { name: contactEmail! }).getAttribute('href')).toBe(`mailto:${contactEmail}`)
  expect(await textOf(ways)).toContain('sem prazo garantido')
  expect(await textOf(ways.getByRole('listitem').filter({ hasText: 'WhatsApp' }))).toContain('por ordem de chegada')
  await ways.getByRole('button', { name: 'Fale com a Gente' }).click()
  const form = page.getByRole('dialog', { name: 'Fale com a Gente' })
  await expect.poll(() => form.getByLabel('Email').inputValue()).toBe(account!.email)
  await page.keyboard.press('Escape')
  await form.waitFor({ state: 'detached' })

  const questions = page.getByRole('region', { name: 'Perguntas frequentes' })
  expect(await questions.locator('summary').allTextContents()).toEqual([
    'Como funciona a captura automática?',
    'Por quanto tempo os documentos ficam guardados?',
    'Como adiciono uma empresa?',
    'O que fica guardado serve para uma auditoria?',
    'Posso exportar muitos documentos de uma vez?',
  ])
  const storage = questions.getByText('Sem limite de quantidade e sem data para apagar.')
  expect(await storage.isVisible()).toBe(false)
  await questions.getByText('Por quanto tempo').click()
  await shown(storage)
  await questions.getByText('Posso exportar').click()
  await shown(questions.getByText(/Você recebe um ZIP com os XML, os PDF e uma planilha/))

  for (const guide of ['Primeiros passos', 'No dia a dia'])
    await expect.poll(() => page.getByRole('region', { name: guide }).getByRole('listitem').count()).toBeGreaterThan(3)
  const meant = page.getByRole('region', { name: 'O que esta mensagem quer dizer?' })
  for (const code of [137, 138, 656, 593, 573, 589, 217, 640])
    await shown(meant.locator('summary').filter({ hasText: `código ${code}` }))
  await shown(page.getByText('Quem paga o frete de um CT-e.'))
  // Missing features are not claimed.
  expect(await textOf(page.getByRole('main'))).not.toMatch(/usuários por empresa|tempo real/i)
  await page.getByRole('region', { name: 'Primeiros passos' }).getByRole('link', { name: 'Proteger a conta' }).click()
  await page.waitForURL('**/conta#senha')
})

test('the search finds, marks, counts and keeps what it looks for in the address', async () => {
  const page = await open('/help?busca=656')
  const results = page.getByRole('region', { name: 'Resultados da busca' })
  await shown(results.getByRole('heading', { name: /^Captura bloqueada por uma hora/ }))
  expect(await page.getByRole('searchbox').inputValue()).toBe('656')
  expect(await results.locator('mark').first().textContent()).toBe('656')
  expect(await page.getByRole('region', { name: 'Perguntas frequentes' }).count()).toBe(0)

  await page.getByRole('searchbox').fill('CERTIFICADOS VENCIDOS')
  const first = results.getByRole('heading').first()
  await expect.poll(() => textOf(first)).toMatch(/^Certificado vencido/)
  const said = page.getByRole('status').filter({ hasText: /^\d resultados para “CERTIFICADOS VENCIDOS”$/ })
  await said.waitFor({ state: 'attached' })
  expect(page.url()).toMatch(/\?busca=CERTIFICADOS\+VENCIDOS$/)

  await page.getByRole('searchbox').fill('girafa')
  await shown(page.getByText('Nenhum resultado para “girafa”'))
  await shown(results.getByRole('button', { name: 'Fale com a Gente' }))
  await results.getByRole('button', { name: 'Limpar busca' }).click()
  await shown(page.getByRole('region', { name: 'Perguntas frequentes' }))
  expect(page.url()).toBe(`${site.product.url}/help`)

  await page.getByRole('searchbox').fill('vencem')
  await results.getByRole('link', { name: 'Ver os certificados que vencem' }).click()
  await page.waitForURL('**/empresas?so=certificado')
  await page.goBack()
  await shown(results)
  expect(await page.getByRole('searchbox').inputValue()).toBe('vencem')
})

test('an address names an article, on a phone too', async () => {
  const page = await open('/help#so-resumo', phone)
  const body = page.getByText(/^Para muitas notas a SEFAZ entrega primeiro um resumo/)
  await shown(body)
  await expect.poll(async () => (await body.boundingBox())?.y).toBeLessThan(300)
  expect(await focusedText(page)).toBe('Só o resumo da nota chegou')
  await expectNoSidewaysScroll(page)
})
