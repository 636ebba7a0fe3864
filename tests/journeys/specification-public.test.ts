import { expect, test } from 'vitest'
import { phone, shown } from './site.ts'
import { hrefOf, onPath, pathOf, press, useSpecification } from './specification.ts'

const { site, visitor, member, go } = useSpecification('Bianca', { roles: ['api'] })

async function landing(options?: Parameters<typeof visitor>[0]) {
  const page = await visitor(options)
  await go(page, '/')
  await shown(page.getByRole('heading', { level: 1 }))
  return page
}

test('the header has the logo, the anchors, the login and the trial', async () => {
  const page = await landing()
  const header = page.getByRole('banner')
  expect(await hrefOf(header.getByRole('link', { name: site.product.config.productName }))).toBe('/')
  for (const [name, href] of [
    ['Benefícios', '#beneficios'],
    ['Planos', '#planos'],
    ['Clientes', '#depoimentos'],
    ['Fazer Login', '/login'],
    ['Teste Grátis 7 dias', '/register'],
  ] as const) {
    expect(await hrefOf(header.getByRole('link', { name, exact: true })), name).toBe(href)
  }
  await header.getByRole('link', { name: 'Planos' }).click()
  await expect
    .poll(() => page.locator('#planos').evaluate((section) => section.getBoundingClientRect().top))
    .toBeLessThan(200)
})

test('on a small screen a hamburger opens and closes a menu with the same links', async () => {
  const page = await landing(phone)
  const header = page.getByRole('banner')
  const link = (name: string) => header.getByRole('link', { name, exact: true })
  expect(await link('Planos').isVisible()).toBe(false)
  const hamburger = header.getByRole('button')
  await hamburger.click()
  for (const [name, href] of [
    ['Benefícios', '#beneficios'],
    ['Planos', '#planos'],
    ['Clientes', '#depoimentos'],
    ['Fazer Login', '/login'],
    ['Teste Grátis 7 dias', '/register?tp=1'],
  ] as const) {
    await shown(link(name))
    expect(await hrefOf(link(name)), name).toBe(href)
  }
  await hamburger.click()
  await link('Planos').waitFor({ state: 'hidden' })
})

test('the hero says what the product does and leads to the trial', async () => {
  const page = await landing()
  const headline = (await page.getByRole('heading', { level: 1 }).textContent()) ?? ''
  for (const word of [/captura/i, /guarda|armazena/i, /NFes/, /CTes/, /tempo real/i]) expect(headline).toMatch(word)
  const hero = page.getByRole('region').filter({ has: page.getByRole('heading', { level: 1 }) })
  const benefits = await hero.getByRole('list').first().getByRole('listitem').allTextContents()
  expect(benefits).toHaveLength(4)
  expect(benefits[0]).toMatch(/captura automática.*24\/7/i)
  expect(benefits[1]).toMatch(/manifestação de NFe/i)
  expect(benefits[2]).toMatch(/armazenamento ilimitado.*vitalício/i)
  expect(benefits[3]).toMatch(/auditoria/i)
  expect(await hrefOf(press(hero, 'Experimente Grátis por 7 dias'))).toBe('/register?tp=1')
})

test('a sample dashboard with made-up figures and activity stands in the hero', async () => {
  const page = await landing()
  const sample = page.getByRole('figure').first()
  await shown(sample)
  await expect.poll(() => sample.getByRole('definition').count()).toBe(4)
  await shown(sample.getByText(/Atividade Recente/))
  await expect.poll(() => sample.getByRole('listitem').count()).toBeGreaterThan(2)
})

test('the demo dialog thanks, tells the shared login, closes and leads to the login', async () => {
  const { demo } = site.product.config
  expect(demo).toBeTruthy()
  const page = await landing()
  await page.getByRole('button', { name: 'Ver Demonstração' }).click()
  const dialog = page.getByRole('dialog')
  await shown(dialog.getByText(/Obrigad/))
  await shown(dialog.getByText(demo!.email, { exact: true }))
  await shown(dialog.getByText(demo!.password, { exact: true }))
  await dialog.getByRole('button', { name: 'Fechar', exact: true }).click()
  await dialog.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'Ver Demonstração' }).click()
  await dialog.getByRole('link', { name: 'Acessar Demo' }).click()
  await onPath(page, '/login')
})

test('six benefits and the figures', async () => {
  const page = await landing()
  const section = page.locator('#beneficios')
  const cards = section.getByRole('listitem')
  await expect.poll(() => cards.count()).toBe(6)
  const texts = await cards.allTextContents()
  for (const [index, words] of [
    [/captura automática/i],
    [/armazenamento ilimitado/i, /nuvem/i],
    [/interface simples/i],
    [/menos erros/i],
    [/auditoria/i, /compliance|conformidade/i],
    [/fraude/i, /CNPJ/, /contra/],
  ].entries()) {
    for (const word of words) expect(texts[index]).toMatch(word)
  }
  for (const figure of ['99.9%', '1M+', '30+', '24/7']) await shown(section.getByText(figure, { exact: true }))
})

test('three plans with their prices, limits and buttons', async () => {
  const page = await landing()
  const card = (name: string) =>
    page
      .locator('#planos')
      .getByRole('listitem')
      .filter({ has: page.getByRole('heading', { name, exact: true }) })
  // Where the specification says them, and nowhere else.
  for (const words of [/R\$\s9,97/, /R\$\s49,87/, /^Mais Popular$/, /Sem cartão de crédito/i])
    expect(await page.getByText(words).count(), String(words)).toBe(1)
  const basic = card('Básico')
  await shown(basic.getByText(/R\$\s9,97/))
  await shown(basic.getByText(/por mês|\/mês/))
  await shown(basic.getByText('1 empresa', { exact: true }))
  await shown(basic.getByText(/5 mil NFes e CTes.*por mês/))
  expect(await hrefOf(basic.getByRole('link'))).toBe('/register?tp=1')
  const professional = card('Profissional')
  await shown(professional.getByText('Mais Popular', { exact: true }))
  await shown(professional.getByText(/R\$\s49,87/))
  await shown(professional.getByText(/Até 10 empresas/))
  await shown(professional.getByText(/Armazenamento ilimitado/))
  expect(await hrefOf(professional.getByRole('link'))).toBe('/register?tp=2')
  const corporate = card('Corporativo')
  for (const text of [
    /Empresas ilimitadas/,
    /Armazenamento ilimitado/,
    /Suporte dedicado 24\/7/,
    /Relatórios personalizados/,
  ])
    await shown(corporate.getByText(text))
  expect(await corporate.getByText(/R\$/).count()).toBe(0)

  for (const plan of [basic, professional, corporate])
    for (const text of [/NFes suspeitas/, /vitalíci/i, /Captura automática/, /Interface web completa/])
      await shown(plan.getByText(text))
  for (const plan of [basic, professional])
    for (const text of [
      /Manifestação de NFe/,
      /Suporte por e-mail/,
      /Relatórios avançados/,
      /^Teste grátis por 7 dias$/,
    ])
      await shown(plan.getByText(text))
  expect(await corporate.getByText('Teste grátis por 7 dias').count()).toBe(0)
})

test('the corporate plan and the specialist open a contact form, which is not a route', async () => {
  const page = await landing()
  for (const name of ['Fale com a Gente', 'Falar com Especialista']) {
    await page.getByRole('button', { name, exact: true }).first().click()
    const dialog = page.getByRole('dialog')
    await shown(dialog.getByLabel('Email'))
    await shown(dialog.getByLabel('Mensagem'))
    expect(pathOf(page)).toBe('/')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
  }
})

test('six testimonials of five stars', async () => {
  const page = await landing()
  const cards = page.locator('#depoimentos').getByRole('listitem')
  await expect.poll(() => cards.count()).toBe(6)
  for (const card of await cards.all()) expect(await card.textContent()).toMatch(/5 de 5 estrelas/)
})

test('the closing call to action and the footer', async () => {
  const page = await landing()
  const contact = page.getByRole('button', { name: 'Falar com Especialista' })
  const closing = page.getByRole('region').filter({ has: contact })
  expect(await hrefOf(closing.getByRole('link'))).toBe('/register?tp=1')
  for (const note of ['Sem cartão de crédito', 'Configuração em 5 minutos', 'Suporte em português'])
    await shown(closing.getByText(note, { exact: true }))
  const footer = page.getByRole('contentinfo').last()
  expect(await hrefOf(footer.getByRole('link', { name: 'Benefícios' }))).toBe('#beneficios')
  expect(await hrefOf(footer.getByRole('link', { name: 'Planos' }))).toBe('#planos')
  expect(await hrefOf(footer.getByRole('link', { name: 'Clientes' }))).toBe('#depoimentos')
  await shown(footer.getByRole('link', { name: /@/ }))
  await shown(footer.getByText('São Paulo'))
  for (const name of [/Termos/, /Privacidade/, /Cookies/]) await shown(footer.getByRole('link', { name }))
})

test('any other path says that there is no such page and leads home', async () => {
  for (const page of [await visitor(), await member()]) {
    await go(page, '/nenhum/lugar')
    await shown(page.getByRole('heading', { name: 'Oops! Page not found', exact: true }))
    await page.getByRole('main').getByRole('link').click()
    await onPath(page, '/')
  }
})
