import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { focusedName } from './captured.ts'
import { follow } from './page.ts'
import { type Account, bakery, shown, tabTo, useSite } from './site.ts'

// Nothing is captured here: what the page shows of a capture is in empresas-nova.test.ts.
const site = useSite({ roles: ['api'] })

async function open(account: Account, id: string, options = {}): Promise<Page> {
  const page = await site.resume(account, `/empresas/editar/${id}`, options)
  await shown(page.getByRole('heading', { name: 'Informações Básicas' }))
  return page
}

async function withCompany(name: string) {
  const account = await site.createAccount(name)
  const client = await newClient(site.product, account)
  return { account, client, id: await client.register(bakery.cnpj, bakery.nome) }
}

const save = (page: Page) => page.getByRole('button', { name: 'Salvar Alterações' })
const region = (page: Page, name: string | RegExp) => page.getByRole('region', { name })

test('every field is checked by the words of the specification, saved, and told of when it is lost', async () => {
  const { account, id } = await withCompany('Carla')
  const page = await open(account, id)
  await legendsAboveSentences(page)
  expect(await page.getByLabel('CNPJ', { exact: true }).getAttribute('readonly')).not.toBeNull()
  expect(await page.getByLabel('CNPJ', { exact: true }).inputValue()).toBe('12.ABC.345/01DE-35')
  await expect.poll(() => page.getByLabel('UF').locator('option').count()).toBe(27)
  expect(await page.getByLabel('UF').inputValue()).toBe('35')
  for (const name of ['Certificado Digital', 'Configurações NFe', 'Configurações CTe']) await shown(region(page, name))
  await expect.poll(() => region(page, 'Configurações NFe').getByRole('switch').count()).toBe(5)
  await expect.poll(() => region(page, 'Configurações CTe').getByRole('switch').count()).toBe(7)
  await shown(region(page, 'Configurações NFe').getByText(/^\d{15}$/))

  await page.getByLabel('Razão Social').fill(' ')
  await page.getByLabel('Email').fill('fiscal@padaria')
  await save(page).click()
  await shown(page.getByText('Razão social é obrigatória'))
  await shown(page.getByText('Email inválido'))
  await expect.poll(() => page.getByLabel('Razão Social').getAttribute('aria-invalid')).toBe('true')

  await page.getByRole('link', { name: 'Ajuda' }).click()
  const question = page.getByRole('alertdialog', { name: 'Sair sem salvar?' })
  await shown(question)
  await page.keyboard.press('Enter')
  await question.waitFor({ state: 'detached' })
  expect(page.url()).toContain(`/empresas/editar/${id}`)

  await page.getByLabel('Razão Social').fill('Padaria Estrela')
  await page.getByLabel('Email').fill('fiscal@padaria.example')
  await page.getByLabel('UF').selectOption('33')
  await region(page, 'Configurações CTe').getByRole('switch', { name: 'Expedidor' }).click()
  await page.getByRole('switch', { name: 'Sincronização Automática' }).click()
  await save(page).click()
  await shown(page.getByText('Empresa atualizada com sucesso!'))
  await page.getByText('Há alterações que não foram salvas.').waitFor({ state: 'detached' })
  await page.reload()
  await shown(page.getByText('Padaria Estrela · 12.ABC.345/01DE-35'))
  expect(await page.getByLabel('Email').inputValue()).toBe('fiscal@padaria.example')
  expect(await page.getByLabel('UF').inputValue()).toBe('33')
  const off = region(page, 'Configurações CTe').getByRole('switch', { name: 'Expedidor' })
  expect(await off.getAttribute('aria-checked')).toBe('false')
  await shown(page.getByText(/A sincronização automática está desligada: nada é capturado sozinho\./))

  await page.getByLabel('Email').fill('')
  const toasts = page.getByRole('listitem')
  const lost = page.getByText('Alterações não salvas foram descartadas.')
  await page.getByRole('link', { name: 'Voltar' }).click()
  await page.waitForURL('**/empresas')
  await shown(lost)
  expect(await page.getByRole('alertdialog').count()).toBe(0)
  await toasts.filter({ has: lost }).getByRole('button', { name: 'Fechar aviso' }).click()
  await lost.waitFor({ state: 'detached' })
  await follow(page, `/empresas/editar/${id}`)
  await shown(page.getByLabel('Email'))
  expect(await page.getByLabel('Email').inputValue()).toBe('fiscal@padaria.example')
  await page.getByRole('link', { name: 'Cancelar' }).click()
  await page.waitForURL('**/empresas')
  await shown(page.getByRole('heading', { name: 'Empresas', level: 1 }))
  expect(await lost.count()).toBe(0)
})

test('what is on its way to the server when the page is left is told as saved, not as lost', async () => {
  const { account, id } = await withCompany('Joana')
  const page = await open(account, id)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/v1/api/Empresas', async (route) => {
    await held
    await route.continue()
  })
  await page.getByLabel('Razão Social').fill('Padaria da Joana')
  await save(page).click()
  await shown(page.getByRole('button', { name: 'Salvando...' }))
  await page.getByRole('link', { name: 'Cancelar' }).click()
  await page.waitForURL('**/empresas')
  release()
  await shown(page.getByText('Empresa atualizada com sucesso!'))
  expect(await page.getByText('Alterações não salvas foram descartadas.').count()).toBe(0)
})

test('the focus stays beside what was done when a company is archived and taken back', async () => {
  const { account, client, id } = await withCompany('Vera')
  const page = await open(account, id)
  await page.getByRole('button', { name: 'Arquivar' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Arquivar' }).click()
  await expect.poll(() => focusedName(page)).toBe(`Reativar ${bakery.nome}`)
  await page.keyboard.press('Enter')
  await expect.poll(() => focusedName(page)).toBe('Captura')
  for (const [address, after] of [
    ['/empresas', `Sincronizar ${bakery.nome}`],
    ['/empresas?so=inativas', 'Lista de empresas'],
  ] as const) {
    expect((await client.call('POST', `/v1/api/Empresas/arquivar?id=${id}`)).status).toBe(200)
    await site.go(page, address)
    await page.getByRole('button', { name: 'Reativar' }).press('Enter')
    await expect.poll(() => focusedName(page)).toBe(after)
  }
})

/** The line over the switches ends before the sentence under it begins, at every width. */
async function legendsAboveSentences(page: Page) {
  for (const width of [320, 390, 768, 1920, 1280]) {
    await page.setViewportSize({ width, height: 800 })
    const overlaps = await page.locator('fieldset').evaluateAll((groups) =>
      groups.map((group) => {
        const [line, sentence] = [group.querySelector('legend'), group.querySelector('p')]
        return (line?.getBoundingClientRect().bottom ?? 0) - (sentence?.getBoundingClientRect().top ?? 0)
      }),
    )
    expect(overlaps).toHaveLength(2)
    for (const overlap of overlaps) expect(overlap).toBeLessThan(1)
  }
}

test('what the automatic Ciência will do is said before it is saved, and who switched it on after', async () => {
  const { account, id } = await withCompany('Daniel')
  const page = await open(account, id)
  const choice = page.getByRole('switch', { name: 'Manifestar Ciência Automaticamente' })
  await choice.click()
  const warning = page.getByRole('alert').filter({ hasText: 'Ao salvar, a Ciência passa a ser enviada sozinha' })
  await shown(warning.getByText(/só com o resumo\.$/))
  await choice.click()
  await warning.waitFor({ state: 'detached' })
  await choice.click()
  await shown(warning)
  await save(page).click()
  await shown(page.getByText('Empresa atualizada com sucesso!'))
  await shown(page.getByText(/^Ligada por Daniel em \d\d\/\d\d\/\d{4} às \d\d:\d\d\.$/))
  // One press switches it off.
  await choice.click()
  await save(page).click()
  await page.getByText(/^Ligada por Daniel/).waitFor({ state: 'detached' })

  // By keyboard alone: another name, and save.
  await page.locator('#conteudo').focus()
  await tabTo(page, /^Razão Social/)
  await page.keyboard.press('Control+A')
  await page.keyboard.type('Padaria do Daniel')
  await page.keyboard.press('Enter')
  await shown(page.getByText(/^Padaria do Daniel · /))
})

test('what somebody else changed meanwhile is not undone by saving something else', async () => {
  const { account, client, id } = await withCompany('Elisa')
  const page = await open(account, id)
  await page.getByLabel('Razão Social').fill('Padaria da Elisa')
  const form = new FormData()
  const other = { IdEmpresa: id, RazaoSocial: bakery.nome, 'ConfiguracoesNfe.Terceiro': 'false' }
  for (const [name, value] of Object.entries(other)) form.set(name, value)
  expect((await client.call('PUT', '/v1/api/Empresas', form)).status).toBe(200)
  const third = region(page, 'Configurações NFe').getByRole('switch', { name: 'Terceiro' })
  const backToPage = () => document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))
  const shownThere = () => page.evaluate(backToPage).then(() => third.getAttribute('aria-checked'))
  await expect.poll(shownThere, { timeout: 20_000 }).toBe('false')
  expect(await page.getByLabel('Razão Social').inputValue()).toBe('Padaria da Elisa')
  await save(page).click()
  await shown(page.getByText('Empresa atualizada com sucesso!'))
  expect(await third.getAttribute('aria-checked')).toBe('false')
})

test('when the company cannot be read right before, nothing is sent and what was typed stays', async () => {
  const { account, id } = await withCompany('Marta')
  const page = await open(account, id)
  let sent = 0
  page.on('request', (request) => {
    if (request.method() === 'PUT') sent++
  })
  await page.getByLabel('Razão Social').fill('Padaria da Marta')
  await page.route('**/obter-empresa?*', (route) =>
    route.fulfill({ status: 403, json: { success: false, message: 'Sem acesso agora.', errors: [] } }),
  )
  await save(page).click()
  await shown(page.getByText('Erro na operação: Sem acesso agora.'))
  await shown(page.getByText('Nada foi alterado', { exact: true }))
  expect(await page.getByLabel('Razão Social').inputValue()).toBe('Padaria da Marta')
  await shown(page.getByText('Há alterações que não foram salvas.'))
  expect(sent).toBe(0)
  await page.unroute('**/obter-empresa?*')
  await save(page).click()
  await shown(page.getByText('Empresa atualizada com sucesso!'))
  expect(sent).toBe(1)
})

test('an open demonstration says before a file is chosen that it takes test certificates only', async () => {
  const { account, id } = await withCompany('Dora')
  const page = await site.resume(account, '/health')
  await page.route('**/empresas/**', async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace('"demonstracaoAberta":false', '"demonstracaoAberta":true')
    await route.fulfill({ response, body })
  })
  for (const path of [`/empresas/editar/${id}`, '/empresas/nova']) {
    await page.goto(new URL(path, page.url()).href)
    await shown(page.getByText('só aceita certificados de teste'))
  }
})

// A large photograph, as people have it: the page makes it as small as a form needs.
const photograph = (page: Page) =>
  page.evaluate(() => {
    const canvas = document.createElement('canvas')
    canvas.width = 2400
    canvas.height = 800
    const context = canvas.getContext('2d')!
    context.fillStyle = 'red'
    context.fillRect(0, 0, 2400, 400)
    return canvas.toDataURL('image/jpeg').split(',')[1]!
  })

async function choose(page: Page, name: string, mimeType: string, buffer: Buffer) {
  const asked = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: /^(Escolher|Trocar) imagem$/ }).click()
  await (await asked).setFiles({ name, mimeType, buffer })
}

test('a company gets a logo, another one, and none', async () => {
  const account = await site.createAccount('Lúcia')
  const client = await newClient(site.product, account)
  const id = await client.register('44555666000181', 'OFICINA DO BAIRRO LTDA')
  const page = await site.resume(account, `/empresas/editar/${id}`)
  const section = page.getByRole('region', { name: 'Logotipo' })
  await shown(section.getByText(/Sai ao lado do nome no DANFE e no DACTE que esta empresa emite/))

  await choose(page, 'loja.jpg', 'image/jpeg', Buffer.from(await photograph(page), 'base64'))
  await shown(page.getByText('Logotipo guardado. Ele sai no DANFE e no DACTE que a empresa emite.'))
  const picture = section.getByRole('img', { name: 'Logotipo de OFICINA DO BAIRRO LTDA' })
  await shown(picture)
  await expect
    .poll(() => picture.evaluate((image: HTMLImageElement) => [image.naturalWidth, image.naturalHeight].join('x')))
    .toBe('600x200')
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await picture.evaluate((image) => getComputedStyle(image.parentElement!).backgroundColor)).toBe(
    'rgb(255, 255, 255)',
  )

  await choose(page, 'nota.txt', 'text/plain', Buffer.from('não é uma imagem'))
  await shown(section.getByText(/^Este arquivo não é uma imagem que o navegador saiba abrir/))
  await shown(picture)

  await section.getByRole('button', { name: 'Remover logotipo' }).click()
  await shown(page.getByText('Logotipo removido. Os documentos saem sem ele.'))
  await shown(section.getByRole('button', { name: 'Escolher imagem' }))
  expect(await picture.count()).toBe(0)
  await expect.poll(() => focusedName(page)).toBe('Escolher imagem')
})
