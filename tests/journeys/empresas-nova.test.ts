import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { onPath, respond, runUntil, runUntilShown, stopClock, success, toasted } from './page.ts'
import {
  type Account,
  bakery,
  chooseCertificate,
  chooseCertificates,
  expectNoSidewaysScroll,
  market,
  phone,
  registerCompany,
  shown,
  tabTo,
  textOf,
  useSite,
} from './site.ts'

const site = useSite()
const { member, go } = site
const password = (page: Page) => page.getByLabel('Senha do certificado')
const save = (page: Page) => page.getByRole('button', { name: 'Salvar Empresa' })

async function open(account: Account, options = {}): Promise<Page> {
  const page = await site.resume(account, '/empresas/nova', options)
  await shown(page.getByRole('heading', { name: 'Nova Empresa' }))
  return page
}

const issue = (holder: { cnpj?: string; cpf?: string; nome: string; expires?: number }, senha = 'certa') =>
  site.product.simulator.issueCertificate({ ...holder, senha, sharedKey: true })

async function refusal(page: Page, name: string, file: Uint8Array, senha: string): Promise<string> {
  await chooseCertificate(page, name, file)
  await password(page).fill(senha)
  await save(page).click()
  return problem(page)
}

/** What stands under the password. */
async function problem(page: Page): Promise<string> {
  const field = password(page)
  await expect.poll(() => field.getAttribute('aria-invalid'), { timeout: 10_000 }).toBe('true')
  const id = (await field.getAttribute('aria-describedby'))?.split(' ').find((part) => part.endsWith('-error'))
  return textOf(page.locator(`[id="${id}"]`))
}

test('file, a moment, password, button; each problem of a certificate has its own sentence', async () => {
  const page = await open(await site.createAccount('Ana'))
  expect(await password(page).count()).toBe(0)
  expect(await save(page).count()).toBe(0)

  await chooseCertificate(page, 'empresa.pdf', new Uint8Array([1]))
  await shown(page.getByText('Por favor, selecione um arquivo .pfx ou .p12'))
  expect(await password(page).count()).toBe(0)

  await chooseCertificate(page, 'EMPRESA.PFX', new TextEncoder().encode('isto não é um certificado'))
  await shown(password(page))
  await password(page).press('Enter')
  await shown(page.getByText('Por favor, selecione um certificado e digite a senha.'))

  const sentences = [
    await refusal(page, 'EMPRESA.PFX', new TextEncoder().encode('nada'), 'qualquer'),
    await refusal(page, 'empresa.p12', await issue(bakery), 'errada'),
    await refusal(page, 'vencido.pfx', await issue({ ...bakery, expires: Date.now() - 86_400_000 }), 'certa'),
    await refusal(page, 'pessoa.pfx', await issue({ cpf: '52998224725', nome: 'MARIA DA SILVA' }), 'certa'),
  ]
  expect(sentences).toEqual([
    expect.stringMatching(/^Não conseguimos ler o arquivo/),
    expect.stringMatching(/^A senha informada não abre este certificado\./),
    expect.stringMatching(/^Este certificado venceu em /),
    expect.stringMatching(/^Este é o certificado de uma pessoa \(e-CPF\)/),
  ])
  await shown(page.getByText(`Erro na operação: ${sentences[3]}`))

  await chooseCertificate(page, 'empresa.pfx', await issue(bakery))
  await password(page).fill('certa')
  await page.getByLabel('CNPJ da filial').fill('11222333000182')
  await save(page).click()
  await shown(page.getByText('CNPJ inválido. Confira os 14 caracteres.'))
  await page.getByLabel('CNPJ da filial').fill('')
  await save(page).click()
  await shown(page.getByText('Empresa cadastrada com sucesso!'))
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByText(bakery.nome))

  await page.goto(`${site.product.url}/empresas/nova`)
  expect(await refusal(page, 'de novo.pfx', await issue(bakery), 'certa')).toMatch(
    /^A empresa 12\.ABC\.345\/01DE-35 já está cadastrada\. Nada foi alterado\./,
  )
})

test('several certificates at once become several companies, and what fails may be tried again', async () => {
  const page = await open(await site.createAccount('Bruno'))
  await chooseCertificates(page, [
    { name: 'padaria.pfx', content: await issue(bakery) },
    { name: 'mercado.pfx', content: await issue(market, 'outra') },
    { name: 'contrato.pdf', content: new Uint8Array([1]) },
  ])
  await shown(page.getByRole('heading', { name: '3 certificados' }))
  const button = page.getByRole('button', { name: 'Salvar Empresas' })
  expect(await button.isDisabled()).toBe(true)
  await page.getByLabel('Senha para todos').fill('certa')
  await button.click()
  await shown(page.getByText('1 empresa cadastrada de 3.'), 20_000)
  await shown(page.getByText('Por favor, selecione um arquivo .pfx ou .p12'))
  await shown(page.getByText(/^A senha informada não abre este certificado\./))
  await page.getByLabel('Senha de mercado.pfx').fill('outra')
  await page.getByRole('button', { name: 'Tentar de novo' }).click()
  await shown(page.getByText('2 empresas cadastradas de 3.'), 20_000)
  await page.getByRole('link', { name: 'Empresas', exact: true }).click()
  await shown(page.getByRole('row', { name: /MERCADO BOM PRECO LTDA/ }))
})

const garage = { cnpj: '44555666000181', nome: 'OFICINA DO BAIRRO LTDA' }
const companiesOf = async (account: Account) => {
  const client = await newClient(site.product, account)
  const { body } = await client.call<{ razaoSocial: string }[]>('GET', '/v1/api/Empresas/obter-empresas')
  return body.data.map(({ razaoSocial }) => razaoSocial).toSorted()
}

async function chooseThree(page: Page) {
  await chooseCertificates(page, [
    { name: 'padaria.pfx', content: await issue(bakery, 'senha um') },
    { name: 'mercado.p12', content: await issue(market, 'senha dois') },
    { name: 'oficina.pfx', content: await issue(garage, 'senha três') },
  ])
  await shown(page.getByRole('heading', { name: '3 certificados' }))
}

test('three certificates with a password each, one of them mistyped: only that one is asked for again', async () => {
  const account = await site.createAccount('Gil')
  const page = await open(account)
  await chooseThree(page)
  const button = page.getByRole('button', { name: 'Salvar Empresas' })
  const of = (name: string) => page.getByLabel(`Senha de ${name}`)
  await of('padaria.pfx').fill('senha um')
  await of('mercado.p12').fill('senha duas')
  expect(await button.isDisabled()).toBe(true)
  await of('oficina.pfx').fill('senha três')
  await button.click()
  await shown(page.getByText('2 empresas cadastradas de 3.'), 20_000)
  expect(await companiesOf(account)).toEqual([garage.nome, bakery.nome])
  const lines = page.locator('ol > li')
  await expect.poll(() => lines.nth(0).textContent()).toBe('padaria.pfxCadastrada.Abrir a empresa')
  await expect
    .poll(() => lines.nth(1).textContent())
    .toMatch(/^mercado\.p12A senha informada não abre este certificado\./)
  await expect.poll(() => lines.nth(2).textContent()).toBe('oficina.pfxCadastrada.Abrir a empresa')
  expect(await of('mercado.p12').inputValue()).toBe('senha duas')
  await of('mercado.p12').fill('senha dois')
  await page.keyboard.press('Enter')
  await shown(page.getByText('3 empresas cadastradas de 3.'), 20_000)
  const onward = page.getByRole('link', { name: 'Ver a lista' })
  await expect.poll(() => onward.evaluate((link) => link === document.activeElement)).toBe(true)
  expect(await companiesOf(account)).toEqual([market.nome, garage.nome, bakery.nome])
})

test('who leaves while several are registered is told which were and which were not', async () => {
  const account = await site.createAccount('Helena')
  const page = await open(account)
  await chooseThree(page)
  for (const [name, senha] of [
    ['padaria.pfx', 'senha um'],
    ['mercado.p12', 'senha dois'],
    ['oficina.pfx', 'senha três'],
  ] as const)
    await page.getByLabel(`Senha de ${name}`).fill(senha)
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  let sent = 0
  await page.route('**/v1/api/Empresas', async (route) => {
    if (++sent === 2) await held
    await route.continue()
  })
  await page.getByRole('button', { name: 'Salvar Empresas' }).click()
  await shown(page.getByRole('button', { name: 'Salvando 2 de 3...' }), 20_000)
  await page.getByRole('link', { name: 'Ajuda', exact: true }).click()
  await page.waitForURL('**/help')
  release()
  await shown(page.getByText('Nem todos os certificados foram cadastrados'), 20_000)
  await shown(page.getByText(/^Cadastrados: padaria\.pfx, mercado\.p12\. Não cadastrados: oficina\.pfx\./))
  expect(sent).toBe(2)
  expect(await companiesOf(account)).toEqual([market.nome, bakery.nome])
})

test('a newcomer tries everything with the certificate of a made-up company', async () => {
  const page = await open(await site.createAccount('Carla'), { colorScheme: 'dark' })
  const offer = page.getByRole('region', { name: 'Só quer experimentar?' })
  await shown(offer)
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    offer.getByRole('button', { name: 'Baixar certificado de teste' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/\.pfx$/)
  await offer.getByRole('button', { name: 'Usar agora' }).click()
  await shown(password(page))
  expect(await password(page).inputValue()).toBe(await textOf(offer.locator('code')))
  await save(page).click()
  await shown(page.getByText('Empresa cadastrada com sucesso!'))
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByRole('heading', { name: /^Primeira captura/ }))
})

test('by keyboard alone: register a company and find its first document', async () => {
  const page = await open(await site.createAccount('Daniel'))
  const file = await issue(bakery)
  // Before the key: what is not awaited yet opens a dialog that nobody sees.
  const chooser = page.waitForEvent('filechooser')
  await tabTo(page, /^Certificado digital/)
  await page.keyboard.press('Enter')
  await (await chooser).setFiles({ name: 'empresa.pfx', mimeType: 'application/x-pkcs12', buffer: Buffer.from(file) })
  // The password takes the focus by itself.
  await expect
    .poll(() => page.evaluate(() => document.activeElement?.getAttribute('type')), { timeout: 10_000 })
    .toBe('password')
  await page.keyboard.type('certa')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByRole('link', { name: 'Ver notas fiscais' }), 60_000)
  await tabTo(page, /^Ver notas fiscais$/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/notas-fiscais?empresa=*')
  await shown(page.getByRole('button', { name: /^Visualizar/ }), 60_000)
})

test('on a phone nothing sticks out', async () => {
  for (const theme of [{}, { colorScheme: 'dark' }] as const) {
    const options = { ...phone, ...theme, viewport: { width: 320, height: 700 } }
    const page = await open(await site.createAccount(theme.colorScheme ? 'Elisa' : 'Elias'), options)
    await expectNoSidewaysScroll(page)
    await chooseCertificates(page, [
      {
        name: 'um nome de arquivo bem comprido que alguém recebeu por mensagem (1) final.pfx',
        content: new Uint8Array([1]),
      },
      { name: 'b.pfx', content: new Uint8Array([1]) },
    ])
    await shown(page.getByRole('heading', { name: '2 certificados' }))
    await expectNoSidewaysScroll(page)
  }
})

test('the company of a filial may be registered with the certificate of its matriz', async () => {
  const page = await open(await site.createAccount('Fábio'))
  await registerCompany(page, site.product, market)
  await page.goto(`${site.product.url}/empresas/nova`)
  await chooseCertificate(page, 'matriz.pfx', await issue(market))
  await password(page).fill('certa')
  await page.getByLabel('CNPJ da filial').fill('11.222.333/0002-62')
  await save(page).click()
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByText('11.222.333/0002-62'))
})

/** What the page sends as forms. */
async function recordForms(page: Page) {
  await page.addInitScript(() => {
    const forms: [string, string][][] = []
    Object.assign(globalThis, { forms })
    const fetch = globalThis.fetch
    globalThis.fetch = (input, init) => {
      if (init?.body instanceof FormData) {
        const text = (value: FormDataEntryValue) => (typeof value === 'string' ? value : `file ${value.name}`)
        forms.push([...init.body.entries()].map(([name, value]) => [name, text(value)]))
      }
      return fetch(input, init)
    }
  })
  return () => page.evaluate(() => (globalThis as unknown as { forms: [string, string][][] }).forms)
}

test('a new company: only a certificate file, one and a half seconds, then its password', async () => {
  const page = await member()
  await stopClock(page)
  await go(page, '/empresas/nova')
  await runUntil(page, async () => (await page.locator('input[type=file]').count()) > 0)
  for (const name of ['certificado.cer', 'certificado.pfx.txt']) {
    await chooseCertificate(page, name, new Uint8Array([1]))
    await runUntilShown(page, page.getByText('Por favor, selecione um arquivo .pfx ou .p12', { exact: true }))
  }
  const password = page.getByLabel(/^Senha/)
  const save = page.getByRole('button', { name: 'Salvar Empresa', exact: true })
  for (const name of ['empresa.PFX', 'empresa.P12', 'empresa.p12', 'empresa.pfx']) {
    await chooseCertificate(page, name, new Uint8Array([1]))
    const processing = page.getByText('Processando certificado digital...', { exact: true })
    await shown(processing)
    expect(await page.getByText('Por favor, selecione um arquivo .pfx ou .p12').count()).toBe(0)
    await page.clock.runFor(1400)
    expect(await processing.isVisible()).toBe(true)
    expect(await password.isVisible()).toBe(false)
    await page.clock.runFor(150)
    await runUntilShown(page, password, 10)
    expect(await processing.count()).toBe(0)
  }
  expect(await save.count()).toBe(0)
  await password.press('Enter')
  await runUntilShown(page, page.getByText('Por favor, selecione um certificado e digite a senha.', { exact: true }))
  await password.fill('segredo')
  await runUntilShown(page, save)
})

test('a new company is made of certificate and password, and opens for editing', async () => {
  const page = await member()
  const forms = await recordForms(page)
  await respond(page, '/v1/api/Empresas', { json: success({ idEmpresa: 'nova' }) })
  await go(page, '/empresas/nova')
  await chooseCertificate(page, 'empresa.pfx', new Uint8Array([1]))
  await page.getByLabel(/^Senha/).fill(' segredo ')
  await page.getByRole('button', { name: 'Salvar Empresa', exact: true }).click()
  await toasted(page, 'Empresa cadastrada com sucesso!')
  await onPath(page, '/empresas/editar/nova')
  expect(await forms()).toEqual([
    [
      ['Certificado', 'file empresa.pfx'],
      ['Senha', ' segredo '],
    ],
  ])
})
