import { glob, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { expectNoSidewaysScroll, focusedText, phone, shown, tabTo, textOf, useSite } from './site.ts'

const site = useSite({ roles: ['api'] })
const scriptBytesMax = 91_000

const texts = {
  hero: [
    /NF-e e CT-e do seu CNPJ, capturadas e guardadas sozinhas/,
    'Captura automática 24/7',
    'Manifestação de NFe',
    'Armazenamento ilimitado e vitalício',
    'Pronto para auditoria',
    'Exemplo, com dados inventados',
    'Atividade Recente',
  ],
  benefits: [
    'Captura automática',
    'Armazenamento ilimitado na nuvem',
    'Interface simples',
    'Menos erros humanos',
    'Pronto para auditoria e compliance',
    'Proteção contra fraudes fiscais',
  ],
  questions: [/certificado é protegido/, /depois dos 7 dias/, /O que não vem/],
  closing: ['Sem cartão de crédito', 'Configuração em 5 minutos', 'Suporte em português'],
}
const inAll = [
  'Captura automática',
  'Armazenamento vitalício',
  'Detecção e alerta de NFes suspeitas',
  'Interface web completa',
]
const inFixed = ['Manifestação de NFe', 'Suporte por e-mail', 'Relatórios avançados', 'Teste grátis por 7 dias']
const plans = [
  {
    name: 'Básico',
    words: ['R$ 9,97 por mês', '1 empresa', '5 mil NFes e CTes guardados por mês', ...inAll, ...inFixed],
  },
  {
    name: 'Profissional',
    words: ['Mais Popular', 'R$ 49,87 por mês', 'Até 10 empresas', 'Armazenamento ilimitado', ...inAll, ...inFixed],
  },
  {
    name: 'Corporativo',
    words: [
      'Sob consulta',
      'Empresas ilimitadas',
      'Armazenamento ilimitado',
      'Suporte dedicado 24/7',
      'Relatórios personalizados',
      ...inAll,
    ],
  },
]

const visible = (page: Page, text: string | RegExp) => page.getByText(text).filter({ visible: true })
const section = (page: Page, name: string) => page.getByRole('region', { name })
const href = (page: Page, name: string) =>
  page.getByRole('link', { name }).filter({ visible: true }).first().getAttribute('href')

async function expectComplete(page: Page) {
  const { config } = site.product
  expect(await page.title()).toContain(config.productName)
  for (const text of [...texts.hero, ...texts.benefits, ...texts.questions, ...texts.closing]) {
    await shown(visible(page, text))
  }
  for (const [label, figure] of [
    ['Uptime', '99.9%'],
    ['Notas armazenadas', '1M+'],
    ['Empresas', '30+'],
    ['Suporte', '24/7'],
  ] as const) {
    await shown(page.locator('#beneficios dl > div').filter({ hasText: label }).filter({ hasText: figure }))
  }
  await shown(visible(page, /^Números de exemplo/))

  for (const { name, words } of plans) {
    const card = section(page, 'Planos')
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name }) })
    for (const word of words) await shown(card.getByText(word, { exact: false }))
  }
  const corporate = section(page, 'Planos')
    .getByRole('listitem')
    .filter({ has: page.getByRole('heading', { name: 'Corporativo' }) })
  expect(await corporate.getByText(/R\$|Teste grátis por 7 dias/).count()).toBe(0)
  // Said in one place, and nowhere else.
  for (const words of [/R\$\s9,97/, /R\$\s49,87/, /^Mais Popular$/, /Sem cartão de crédito/i])
    expect(await page.getByText(words).count(), String(words)).toBe(1)
  await expect.poll(() => page.getByRole('figure').first().getByRole('definition').count()).toBe(4)
  await expect.poll(() => page.locator('#beneficios').getByRole('listitem').count()).toBe(6)
  const testimonials = page.locator('#depoimentos figure')
  await expect.poll(() => testimonials.count()).toBe(6)
  for (const testimonial of await testimonials.all()) {
    expect(await textOf(testimonial)).toContain('Nota 5 de 5 estrelas')
  }
  await shown(testimonials.getByText('MD', { exact: true }))
  await shown(visible(page, /^Depoimentos de exemplo/))

  const footer = page.getByRole('contentinfo')
  await shown(footer.getByText('São Paulo'))
  await shown(footer.getByText(`${config.productName} v1.0`))
  expect(await footer.getByRole('link', { name: config.contactEmail! }).getAttribute('href')).toBe(
    `mailto:${config.contactEmail}`,
  )
  const links = await footer.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
  for (const target of ['#beneficios', '#planos', '#depoimentos', '/termos', '/privacidade', '/cookies']) {
    expect(links).toContain(target)
  }
}

async function expectLinks(page: Page) {
  expect(await href(page, 'Experimente Grátis por 7 dias')).toBe('/register?tp=1')
  expect(await href(page, 'Fazer Login')).toBe('/login')
  expect(await href(page, 'Teste Grátis 7 dias')).toBe('/register')
  expect(await href(page, 'Começar no Básico')).toBe('/register?tp=1')
  expect(await href(page, 'Começar no Profissional')).toBe('/register?tp=2')
  expect(await href(page, 'Começar teste grátis')).toBe('/register?tp=1')
  for (const [name, target] of [
    ['Benefícios', 'beneficios'],
    ['Planos', 'planos'],
    ['Clientes', 'depoimentos'],
  ] as const) {
    await page.getByRole('banner').getByRole('link', { name }).click()
    expect(new URL(page.url()).hash).toBe(`#${target}`)
    await expect
      .poll(() => page.locator(`#${target}`).evaluate((element) => element.getBoundingClientRect().top))
      .toBeLessThan(60)
  }
  expect(await page.getByRole('banner').getByRole('link').first().getAttribute('href')).toBe('/')
}

describe.each([
  ['with script', {}],
  ['without script', { javaScriptEnabled: false }],
] satisfies [string, BrowserContextOptions][])('%s', (_, scripting) => {
  test('every word is there and every link leads where it says', async () => {
    const page = await site.visit('/', scripting)
    await expectComplete(page)
    await expectLinks(page)
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await page.locator('html').evaluate((html) => html.scrollHeight)).toBeLessThanOrEqual(6_000)
    for (const picture of await page.getByRole('img', { name: /^Tela do produto: / }).all())
      expect((await fetch(new URL((await picture.getAttribute('src'))!, site.product.url))).status).toBe(200)
    for (const width of [320, 768, 1920]) {
      await page.setViewportSize({ width, height: 800 })
      expect(await page.locator('html').evaluate((html) => html.scrollWidth - html.clientWidth), `${width}`).toBe(0)
    }
  })

  test('on a phone the menu opens and closes, and its links lead to the same places', async () => {
    const page = await site.visit('/', { ...phone, ...scripting })
    await expect.poll(() => page.getByRole('link', { name: 'Planos' }).filter({ visible: true }).count()).toBe(1)
    const menu = page.getByRole('navigation', { name: 'Menu' })
    await page.getByRole('button', { name: 'Abrir menu' }).tap()
    await shown(menu)
    const links = await menu.getByRole('link').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    expect(links).toEqual(['#beneficios', '#planos', '#depoimentos', '/login', '/register?tp=1'])
    await page.getByRole('button', { name: /(Abrir|Fechar) menu/ }).tap()
    await menu.waitFor({ state: 'hidden' })
    if (!('javaScriptEnabled' in scripting)) {
      // It says its state, and closes by Escape.
      await page.getByRole('button', { name: 'Abrir menu', expanded: false }).tap()
      await shown(page.getByRole('button', { name: 'Fechar menu', expanded: true }))
      await page.keyboard.press('Escape')
      await menu.waitFor({ state: 'hidden' })
    }
    await page.getByRole('button', { name: 'Abrir menu' }).tap()
    await menu.getByRole('link', { name: 'Planos' }).tap()
    await expect
      .poll(() => page.locator('#planos').evaluate((element) => Math.abs(element.getBoundingClientRect().top)))
      .toBeLessThan(60)
  })
})

test('without script the demo is one click away, and "Fale com a Gente" says where to write to', async () => {
  const page = await site.visit('/', { javaScriptEnabled: false })
  const { email, password } = site.product.config.demo!
  await page.getByRole('button', { name: 'Ver Demonstração' }).click()
  const dialog = page.getByRole('dialog', { name: 'Obrigado pelo interesse' })
  await shown(dialog.getByText(email))
  await shown(dialog.getByText(password))
  await dialog.getByRole('button', { name: 'Fechar' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Ver Demonstração' }).click()
  await dialog.getByRole('link', { name: 'Acessar Demo' }).click()
  await page.waitForURL('**/login')
  await site.go(page, '/')
  for (const name of ['Fale com a Gente', 'Falar com Especialista']) {
    await page.getByRole('button', { name }).click()
    const dialog = page.getByRole('dialog', { name: 'Escreva para nós' })
    expect(await dialog.getByRole('link').getAttribute('href')).toBe(`mailto:${site.product.config.contactEmail}`)
    await dialog.getByRole('button', { name: 'Fechar' }).click()
    await dialog.waitFor({ state: 'hidden' })
  }
})

test('a keyboard is enough to look into the demo and to enter it', async () => {
  const { email, password } = site.product.config.demo!
  const body = JSON.stringify({ nome: 'Demonstração', email, senha: password, tipoPlano: 2 })
  await fetch(`${site.product.url}/v1/api/Usuarios`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  })
  const page = await site.visit('/')
  await tabTo(page, /^Ver Demonstração$/)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Obrigado pelo interesse' })
  await shown(dialog)
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  expect(await focusedText(page)).toBe('Ver Demonstração')
  await page.keyboard.press('Space')
  await shown(dialog)
  await tabTo(page, /^Copiar o e-mail$/)
  await page.keyboard.press('Enter')
  await shown(dialog.getByText('Copiado'))
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(email)
  await tabTo(page, /^Copiar a senha$/)
  await page.keyboard.press('Enter')
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(password)
  await tabTo(page, /^Acessar Demo$/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/login')

  await shown(page.getByRole('heading', { name: 'Entrar' }))
  await tabTo(page, /^Usar a conta de demonstração$/)
  await page.keyboard.press('Enter')
  expect(await page.getByLabel('Email').inputValue()).toBe(email)
  expect(await page.getByLabel('Senha', { exact: true }).inputValue()).toBe(password)
  await expect.poll(() => focusedText(page)).toBe('Entrar')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard')
})

test('what an installation does not have is not offered', async () => {
  const page = await site.visit('/')
  const lack = (names: string[]) =>
    page.evaluate((all) => {
      for (const name of all) document.documentElement.dataset[name] = ''
    }, names)
  await lack(['demo', 'contact'])
  await page.getByRole('button', { name: 'Ver Demonstração' }).click()
  const dialog = page.getByRole('dialog', { name: 'Obrigado pelo interesse' })
  await shown(dialog.getByText(/não tem uma conta de demonstração/))
  // Nothing moves for people who prefer reduced motion.
  const longest = await page.evaluate(() =>
    Math.max(0, ...document.getAnimations().map(({ effect }) => Number(effect?.getTiming().duration ?? 0))),
  )
  expect(longest).toBeLessThanOrEqual(1)
  expect(await dialog.getByRole('link', { name: 'Acessar Demo' }).count()).toBe(0)
  expect(await page.getByRole('contentinfo').getByRole('link', { name: '@' }).count()).toBe(0)
  await dialog.getByRole('button', { name: 'Pedir uma demonstração' }).click()
  await shown(page.getByRole('dialog', { name: 'Fale com a Gente' }))
})

test('little is loaded, and the rest when somebody turns to it', async () => {
  const page = await site.visit('/')
  await page.waitForLoadState('networkidle')
  const loaded = () =>
    page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname))
  const scripts = (await loaded()).filter((path) => path.endsWith('.js'))
  const sizes = scripts.map(async (path) => gzipSync(await (await fetch(site.product.url + path)).bytes()).length)
  expect((await Promise.all(sizes)).reduce((sum, size) => sum + size)).toBeLessThanOrEqual(scriptBytesMax)
  expect(scripts.filter((path) => /(data|zod|query|login-page)-/.test(path))).toEqual([])
  await page.getByRole('link', { name: 'Fazer Login' }).first().hover()
  await expect.poll(async () => (await loaded()).filter((path) => /login-page-/.test(path)).length).toBe(1)
})

test('the page is written for this installation, and nothing is left open', async () => {
  const html = await (await fetch(site.product.url)).text()
  expect(html.match(/%[A-Z][A-Z0-9_]*%/g)).toBeNull()
  const { publicUrl, productName } = site.product.config
  expect(html).toContain(`<meta property="og:image" content="${publicUrl}/og.jpg"`)
  for (const path of ['/og.jpg', '/favicon.svg', '/apple-touch-icon.png']) {
    expect((await fetch(site.product.url + path)).status, path).toBe(200)
  }
  const manifest = await fetch(`${site.product.url}/site.webmanifest`)
  expect(manifest.headers.get('content-type')).toContain('application/manifest+json')
  const { icons, ...told } = await manifest.json()
  expect(told).toMatchObject({ name: productName, start_url: '/dashboard', display: 'standalone' })
  for (const { src, sizes } of icons) {
    const response = await fetch(site.product.url + src)
    expect(response.status, src).toBe(200)
    if (sizes === 'any') continue
    // A PNG tells its width and height first.
    const head = new DataView(await response.arrayBuffer(), 16, 8)
    expect(`${head.getUint32(0)}x${head.getUint32(4)}`, src).toBe(sizes)
  }
  // The file behind the page has no address of its own.
  expect((await fetch(`${site.product.url}/landing.html`)).status).toBe(404)
})

const web = fileURLToPath(new URL('../../apps/web', import.meta.url))

const pages = [
  ['/termos', 'Termos de uso', [/7 dias grátis, sem cartão/, /R\$ 9,97 por mês: 1 empresa/, /taxa de cancelamento/]],
  [
    '/privacidade',
    'Privacidade',
    [
      /AES-256-GCM/,
      /operador e fazemos/,
      /até 15 dias/,
      /onde você os corrige/,
      /“Exportar todos os dados” junta num arquivo/,
      /só\s+para demonstração/,
      /serve a todas as que cadastraram esse CNPJ/,
      /Sem telemetria/,
      /ANPD/,
    ],
  ],
  ['/cookies', 'Cookies', [/Dura 7 dias/, /Não há cookies de propaganda/]],
] as const

describe.each(pages)('%s', (path, title, facts) => {
  test('is read without script, and loads none but the one of the theme', async () => {
    const page = await site.visit(path, { javaScriptEnabled: false })
    const { productName, contactEmail } = site.product.config
    expect(await page.title()).toBe(`${title} · ${productName}`)
    await shown(page.getByRole('heading', { level: 1, name: title }))
    await shown(page.getByText(`${productName} v1.0`, { exact: false }))
    for (const fact of facts) await shown(page.getByText(fact))
    expect(await page.locator('main').getByRole('link', { name: contactEmail! }).first().getAttribute('href')).toBe(
      `mailto:${contactEmail}`,
    )
    expect(await page.locator('script').evaluateAll((all) => all.map((script) => script.getAttribute('src')))).toEqual([
      '/theme.js',
    ])
    // Optional parts that this installation lacks are not mentioned.
    expect(
      await page
        .getByText(/pesquisa de opinião/)
        .filter({ visible: true })
        .count(),
    ).toBe(0)
    const contents = page.getByRole('navigation', { name: 'Nesta página' }).getByRole('link')
    for (const link of await contents.all()) {
      const target = await link.getAttribute('href')
      expect(await page.locator(target!).getByRole('heading').first().textContent()).toBe(await textOf(link))
    }
    await page.getByRole('link', { name: productName }).click()
    await page.waitForURL(`${site.product.url}/`)
  })

  test('prints its text alone, dark on white in the dark theme too', async () => {
    const page = await site.visit(path)
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
    await page.reload()
    expect(await page.getByRole('navigation').filter({ visible: true }).count()).toBe(0)
    const lightness = await page
      .getByRole('heading', { level: 1 })
      .evaluate((heading) => getComputedStyle(heading).color)
    expect(Number(/oklch\(([\d.]+)/.exec(lightness)?.[1])).toBeLessThan(0.4)
  })
})

test('the theme that somebody chose holds here too', async () => {
  const page = await site.visit('/login')
  await page.evaluate(() => localStorage.setItem('vigia.theme', 'dark'))
  await page.goto(`${site.product.url}/termos`)
  expect(await page.locator('html').getAttribute('class')).toBe('dark')
})

test('whatever the application keeps in the browser is named under Cookies', async () => {
  const page = await site.visit('/cookies')
  const words = await textOf(page.locator('main'))
  const names = new Set<string>()
  for await (const file of glob('**/*.{ts,tsx,js}', { cwd: web, exclude: ['dist', 'node_modules'] })) {
    const source = await readFile(`${web}/${file}`, 'utf8')
    for (const [, name] of source.matchAll(/['"`](vigia[._][\w-]+)/g)) if (name) names.add(name)
  }
  expect([...names]).toContain('vigia.session')
  for (const name of names) expect(words).toContain(name)
})

test('what is no page is not found, and leads to the start', async () => {
  const page = await site.visitor()
  for (const path of ['/empresas/editar', '/landing']) {
    await site.go(page, path)
    await shown(page.getByRole('heading', { name: 'Oops! Page not found' }))
    await expect.poll(() => page.title()).toBe(`Página não encontrada · ${site.product.config.productName}`)
  }
  await page.getByRole('link', { name: 'Voltar para página inicial' }).click()
  await page.waitForURL(`${site.product.url}/`)
  await shown(page.getByRole('button', { name: 'Ver Demonstração' }))
})

test('who has logged in is told the same inside the application, and goes back to where he was', async () => {
  const page = await site.resume(await site.createAccount('Ana'), '/dashboard', phone)
  await shown(page.locator('h1'))
  await page.goto(`${site.product.url}/notas`)
  await shown(page.getByRole('heading', { name: 'Oops! Page not found' }))
  await shown(page.getByRole('banner').getByRole('button', { name: 'Sair' }))
  await expectNoSidewaysScroll(page)
  await page.goBack()
  await page.waitForURL('**/dashboard')
})

test('without script the application says what it needs', async () => {
  const page = await site.visit('/login', { javaScriptEnabled: false })
  const { productName } = site.product.config
  expect(await page.locator('noscript').innerText()).toContain(`${productName} precisa de JavaScript para funcionar`)
  expect(await page.locator('noscript').isVisible()).toBe(true)
})
