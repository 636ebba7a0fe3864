import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { follow, runUntil, runUntilShown, stopClock } from './page.ts'
import {
  type Account,
  bakery,
  chooseCertificate,
  chooseCertificates,
  expectNoSidewaysScroll,
  market,
  phone,
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

/** Error text under the password. */
async function problem(page: Page): Promise<string> {
  const field = password(page)
  await expect.poll(() => field.getAttribute('aria-invalid'), { timeout: 10_000 }).toBe('true')
  const id = (await field.getAttribute('aria-describedby'))?.split(' ').find((part) => part.endsWith('-error'))
  return textOf(page.locator(`[id="${id}"]`))
}

test('a certificate that is refused says why under its password; that of a matriz registers its filial too', async () => {
  const page = await site.resume(await site.createAccount('Ana'), '/health')
  await page.clock.install()
  await go(page, '/empresas/nova')
  await choose(page, await issue(market))
  await password(page).fill('errada')
  await save(page).click()
  const sentence = await problem(page)
  expect(sentence).toMatch(/^A senha informada não abre este certificado\./)
  await shown(page.getByText(`Erro na operação: ${sentence}`))

  await password(page).fill('certa')
  await page.getByLabel('CNPJ da empresa').fill('11222333000182')
  await save(page).click()
  await shown(page.getByText('CNPJ inválido. Confira os 14 caracteres.'))
  await page.getByLabel('CNPJ da empresa').fill('')
  await save(page).click()
  await shown(page.getByText('Empresa cadastrada com sucesso!'))
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByText(market.nome))

  await follow(page, '/empresas/nova')
  await choose(page, await issue(market))
  await password(page).fill('certa')
  await page.getByLabel('CNPJ da empresa').fill('11.222.333/0002-62')
  await save(page).click()
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByText('11.222.333/0002-62'))
})

/** Chooses a file, and lets the moment pass that the page takes to show that it looks at it. */
async function choose(page: Page, file: Uint8Array) {
  await Promise.all([
    shown(page.getByText('Processando certificado digital...', { exact: true })),
    chooseCertificate(page, 'empresa.pfx', file),
  ])
  await page.clock.fastForward(1_500)
  await shown(password(page))
}

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

test('several certificates become several companies; of those with a password each only the mistyped one is asked for again', async () => {
  const account = await site.createAccount('Gil')
  const page = await open(account)
  await chooseThree(page)
  const button = page.getByRole('button', { name: 'Salvar Certificados' })
  const of = (name: string) => page.getByLabel(`Senha de ${name}`)
  await of('padaria.pfx').fill('senha um')
  await of('mercado.p12').fill('senha duas')
  expect(await button.isDisabled()).toBe(true)
  await of('oficina.pfx').fill('senha três')
  await button.click()
  await shown(page.getByText('2 empresas cadastradas, 1 com problema.'))
  expect(await companiesOf(account)).toEqual([garage.nome, bakery.nome])
  const lines = page.locator('ol > li')
  await page.getByLabel('Só com problema (1)').check()
  await expect.poll(() => lines.count()).toBe(1)
  expect(await textOf(lines)).toMatch(/^mercado\.p12A senha informada não abre este certificado\./)
  await page.getByRole('button', { name: 'Tentar de novo o que tem problema' }).click()
  await shown(page.getByRole('heading', { name: '1 certificado', exact: true }))
  await of('mercado.p12').fill('senha dois')
  await page.keyboard.press('Enter')
  await shown(page.getByText('1 empresa cadastrada.'))
  expect(await companiesOf(account)).toEqual([market.nome, garage.nome, bakery.nome])
})

test('certificates that are dropped with a list of passwords go on when the page is left, and their result is found again', async () => {
  const account = await site.createAccount('Helena')
  const page = await site.resume(account, '/empresas')
  const files = [
    { name: 'padaria.pfx', content: Buffer.from(await issue(bakery, 'senha um')).toString('base64') },
    { name: 'outra.pfx', content: Buffer.from(await issue(market, 'senha perdida')).toString('base64') },
    {
      name: 'senhas.csv',
      content: Buffer.from(`CNPJ;Senha\n${bakery.cnpj};senha um\n${market.cnpj};senha dois\nsó um nome`).toString(
        'base64',
      ),
    },
  ]
  const dataTransfer = await page.evaluateHandle((files) => {
    const transfer = new DataTransfer()
    for (const { name, content } of files)
      transfer.items.add(new File([Uint8Array.from(atob(content), (sign) => sign.charCodeAt(0))], name))
    return transfer
  }, files)
  const list = page.getByRole('region', { name: 'Lista de empresas' })
  await shown(list)
  await list.dispatchEvent('drop', { dataTransfer })
  await shown(page.getByRole('heading', { name: '2 certificados' }))
  await shown(page.getByText('2 linhas com CNPJ e senha; a linha 4 não foi entendida.'))
  // Leaving during the upload does not bring the person back when it ends.
  const left = Promise.withResolvers<void>()
  await page.route('**/arquivos', async (route) => {
    await left.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Salvar Certificados' }).click()
  await shown(page.getByRole('button', { name: 'Enviando 0 de 2...' }))
  await page.getByRole('link', { name: 'Ajuda', exact: true }).click()
  await page.waitForURL('**/help')
  left.resolve()
  await shown(page.getByText('Certificados conferidos').first())
  expect(new URL(page.url()).search).toBe('')
  await go(page, '/empresas/nova')
  await page.getByRole('link', { name: /^2 arquivos, / }).click()
  await shown(page.getByText('1 empresa cadastrada, 1 com problema.'))
  await shown(page.getByText(/^Nenhuma das 2 senhas da lista abre este certificado\./))
  expect(await companiesOf(account)).toEqual([bakery.nome])
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
  const first = page.getByRole('heading', { name: /^Primeira captura/ })
  await shown(first)
  await page.reload()
  await shown(first)
  // Leaving the first capture ends its display.
  await page.getByRole('link', { name: 'Ver os documentos desta empresa' }).click()
  await shown(page.getByRole('heading', { name: 'Notas Fiscais', exact: true }))
  await page.goBack()
  await shown(page.getByRole('heading', { name: 'Editar Empresa' }))
})

test('on a phone nothing sticks out; one password serves all files, and what is no certificate is told before', async () => {
  const page = await open(await site.createAccount('Elisa'), { ...phone, viewport: { width: 320, height: 700 } })
  await expectNoSidewaysScroll(page)
  await chooseCertificates(page, [
    {
      name: 'um nome de arquivo bem comprido que alguém recebeu por mensagem (1) final.pfx',
      content: new Uint8Array([1]),
    },
    { name: 'contrato.pdf', content: new Uint8Array([1]) },
  ])
  await shown(page.getByRole('heading', { name: '1 certificado', exact: true }))
  await shown(page.getByText('Não é .pfx nem .p12: contrato.pdf'))
  await expectNoSidewaysScroll(page)
  await page.getByLabel('Senha para todos').fill('certa')
  await page.getByRole('button', { name: 'Salvar Certificados' }).click()
  await shown(page.getByText(/^Não conseguimos ler o arquivo/))
  await expectNoSidewaysScroll(page)
})

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
  for (const name of ['empresa.PFX', 'empresa.p12']) {
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

// Display of a company's capture. No other journey uses this CNPJ, because a company without new
// documents is queried once an hour for all that share the product.
const unknown = { cnpj: '27272727000184', nome: 'RELOJOARIA DO BAIRRO LTDA' }

test('by keyboard alone: register a company, follow its first capture until it is whole, and find its first document', async () => {
  const page = await site.resume(await site.createAccount('Ana'), '/empresas/nova')
  await shown(page.getByRole('heading', { name: 'Nova Empresa' }))
  const file = await site.product.simulator.issueCertificate({ ...bakery, senha: 'certa', sharedKey: true })
  // Before the key: what is not awaited yet opens a dialog that nobody sees.
  const chooser = page.waitForEvent('filechooser')
  await tabTo(page, /^Certificado digital/)
  await page.keyboard.press('Enter')
  await (await chooser).setFiles({ name: 'empresa.pfx', mimeType: 'application/x-pkcs12', buffer: Buffer.from(file) })
  // The password takes the focus by itself.
  await expect.poll(() => page.evaluate(() => document.activeElement?.getAttribute('type'))).toBe('password')
  await page.keyboard.type('certa')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/empresas/editar/*')
  await shown(page.getByRole('heading', { name: /^Primeira captura/ }))
  await shown(page.getByText(/A primeira captura pode trazer até cerca de três meses de documentos, ou nada/))
  await shown(page.getByText(/A Ciência automática está desligada: nenhuma resposta é enviada em seu nome\./))
  await expect
    .poll(() => page.getByRole('progressbar', { name: 'Captura de NF-e' }).getAttribute('aria-valuenow'), {
      timeout: 60_000,
    })
    .toBe('100')
  await shown(page.getByText(/^Próxima consulta às \d\d:\d\d · posição [\d.]+ de [\d.]+$/))
  await shown(page.getByText(/^\d+ notas fiscais chegaram até agora$/))
  await page.getByRole('link', { name: 'Configurar a Ciência' }).click()
  await shown(page.getByRole('heading', { name: 'Editar Empresa' }))
  const choice = page.getByRole('switch', { name: 'Manifestar Ciência Automaticamente' })
  expect(await choice.getAttribute('aria-checked')).toBe('false')
  await expect.poll(() => choice.evaluate((element) => element === document.activeElement)).toBe(true)
  const seen = () =>
    choice.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect()
      return element.contains(document.elementFromPoint(left + width / 2, top + height / 2))
    })
  await expect.poll(seen).toBe(true)

  await page.getByRole('button', { name: /^Avisos/ }).click()
  await page.getByRole('dialog', { name: 'Avisos' }).getByRole('link', { name: 'Empresa cadastrada' }).click()
  await page.getByRole('dialog', { name: 'Avisos' }).waitFor({ state: 'detached' })
  await page.waitForURL(/\/empresas\/editar\/[^#]*$/)
  // It is the screen that was here already.
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('conteudo')

  await completude(page)
  await page.locator('#conteudo').focus()
  await tabTo(page, /^Ver notas fiscais$/)
  await page.keyboard.press('Enter')
  await page.waitForURL('**/notas-fiscais?empresa=*')
  await shown(page.getByRole('button', { name: /^Visualizar/ }), 30_000)
})

async function completude(page: Page) {
  let asked = 0
  page.on('request', (request) => {
    if (request.url().includes('/completude')) asked++
  })
  expect(asked).toBe(0)
  await page.getByRole('heading', { name: 'Completude' }).click()
  const table = page.getByRole('table', { name: 'NF-e' })
  await shown(table)
  await shown(table.getByText('Completo'))
  await shown(table.getByText(/^NSU 1 a [\d.]+$/))
  await Promise.all([
    shown(page.getByRole('button', { name: 'Copiado' })),
    page.getByRole('button', { name: 'Copiar como planilha' }).click(),
  ])
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toMatch(/^Completude de PADARIA ESTRELA DO NORTE LTDA\nServiço\tMês\tPrimeiro NSU/)
  expect(copied).toMatch(/\nNF-e\t\d{4}-\d\d\t1\t\d+\t/)
}

test('a CNPJ that the authority has nothing for is told so; its certificate: who sent it, how long it lasts, another, none', async () => {
  const account = await site.createAccount('Fábio')
  const id = await (await newClient(site.product, account)).register(unknown.cnpj, unknown.nome)
  const page = await site.resume(account, `/empresas/editar/${id}`)
  await shown(page.getByText(/^A SEFAZ ainda não tem NF-e para este CNPJ\./), 60_000)
  const card = page.getByRole('region', { name: 'Certificado Digital' })
  const save = page.getByRole('button', { name: 'Salvar Alterações' })
  await shown(card.getByText(unknown.nome))
  await shown(card.getByText(/^Vence em 36[45] dias$/))
  await shown(card.getByText(/^Fábio, em \d\d\/\d\d\/\d{4} às \d\d:\d\d$/))
  await shown(card.getByText(/^Usado há .+ Ver/), 30_000)
  expect(await textOf(card)).toMatch(/A senha não é mostrada de novo e o arquivo nunca é oferecido para download\./)

  const alerts: string[] = []
  page.on('dialog', (dialog) => {
    alerts.push(dialog.message())
    void dialog.accept()
  })
  await chooseCertificate(page, 'contrato.pdf', new Uint8Array([1]))
  await shown(card.getByText('Por favor, selecione um arquivo .pfx ou .p12'))
  expect(alerts).toEqual(['Por favor, selecione um arquivo .pfx ou .p12'])

  const renewed = Date.now() + 20 * 86_400_000
  const file = await site.product.simulator.issueCertificate({
    ...unknown,
    senha: 'certa',
    expires: renewed,
    sharedKey: true,
  })
  await chooseCertificate(page, 'renovado.P12', file)
  // A file may have an empty password: the server tries it.
  await save.click()
  await shown(card.getByText(/^A senha informada não abre este certificado\./))
  await shown(page.getByText(/^Erro na operação: A senha informada não abre este certificado\./))
  await card.getByLabel('Senha do certificado').fill('certa')
  await save.click()
  await shown(page.getByText('Empresa atualizada com sucesso!'))
  await shown(card.getByText(/^Vence em (19|20) dias$/))
  await card.getByLabel('Senha do certificado').waitFor({ state: 'detached' })

  await card.getByRole('button', { name: 'Remover certificado' }).click()
  const question = page.getByRole('alertdialog', { name: `Remover o certificado de ${unknown.nome}?` })
  await shown(question.getByText(/^Param a captura de NF-e e CT-e e o envio de manifestações/))
  await question.getByRole('button', { name: 'Remover certificado' }).click()
  await shown(page.getByText('Certificado removido'))
  await shown(card.getByText(/^Não informado\./))
})
