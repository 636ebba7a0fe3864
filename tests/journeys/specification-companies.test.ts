import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { shown } from './site.ts'
import {
  answer,
  failure,
  hrefOf,
  onPath,
  press,
  type Reply,
  runUntil,
  runUntilShown,
  stopClock,
  success,
  toastColours,
  toasted,
  useSpecification,
} from './specification.ts'

const { site, account, member, go } = useSpecification('Gilda', { roles: ['api'] })

const listPath = '/v1/api/Empresas/obter-empresas'
const detailPath = '/v1/api/Empresas/obter-empresa'
let id: string
let realRow: object
let realDetail: { certificado: object }

beforeAll(async () => {
  const client = await newClient(site.product, account)
  id = await client.register('12ABC34501DE35', 'PADARIA ESTRELA LTDA')
  realRow = (await client.call<object[]>('GET', listPath)).body.data[0]!
  realDetail = (await client.call<typeof realDetail>('GET', `${detailPath}?id=${id}`)).body.data
})

const companies = [
  {
    id: 'um',
    razaoSocial: 'ALFA LTDA',
    cnpj: '11222333000181',
    ativa: true,
    ultimaSincronizacaoNFe: '2026-03-10T10:00:00-03:00',
    ultimaSincronizacaoCTe: null,
    validadeCertificadoA1: '2027-05-06T12:00:00-03:00',
  },
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
const rows = () => companies.map((company) => ({ ...realRow, ...company }))

const found: Parameters<typeof answer>[2] = (request) => {
  const busca = new URL(request.url()).searchParams.get('busca')?.toUpperCase() ?? ''
  return { json: success(rows().filter(({ razaoSocial }) => razaoSocial.includes(busca))) }
}

async function openList(reply = found) {
  const page = await member()
  await page.clock.setFixedTime(new Date('2026-03-10T12:00:00-03:00'))
  const calls = await answer(page, listPath, reply)
  await go(page, '/empresas')
  return { page, calls }
}

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test('the summary counts companies', async () => {
  // The last card tells of troubles, which the specification does not know; these companies have none.
  const healthy = rows().map((company) => ({ ...company, validadeCertificadoA1: '2027-05-06T12:00:00-03:00' }))
  const { page } = await openList({ json: success(healthy) })
  await shown(rowOf(page, 'ALFA'))
  const text = ((await page.getByRole('main').textContent()) ?? '').replace(/\s+/g, ' ')
  expect(text).toMatch(/3\s*2 ativas/)
  expect(text).toMatch(/2\s*6[67]% do total/)
  expect(text).toMatch(/Sincronização\s*100%|100%\s*Sincronização/)
  await shown(page.getByText('Monitoramento ativo', { exact: true }))
})

test('the table shows each company', async () => {
  const { page } = await openList()
  await shown(rowOf(page, 'ALFA'))
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
  for (const name of headers) await shown(page.getByRole('columnheader', { name, exact: true }))
  expect(await page.getByRole('row').count()).toBe(4)
  const texts = async (name: string) =>
    (await rowOf(page, name).getByRole('cell').allTextContents()).map((text) => text.trim())
  const [alfa, beta, gama] = [await texts('ALFA'), await texts('BETA'), await texts('GAMA')]
  expect([alfa[1], beta[1]]).toEqual(['11.222.333/0001-81', '12.ABC.345/01DE-35'])
  expect(alfa[2]).toMatch(/^há .*2 horas/)
  expect(alfa[3]).toMatch(/^Nunca/)
  expect(beta[2]).toMatch(/^Data inválida/)
  expect(beta[3]).toMatch(/^há .*3 dias/)
  expect(alfa[4]).toMatch(/^06\/05\/2027/)
  expect(beta[4]).toMatch(/^Não informado/)
  expect([alfa[5], gama[5]]).toEqual(['Ativa', 'Inativa'])
  const actions = rowOf(page, 'ALFA').getByRole('cell').last()
  expect(await hrefOf(actions.getByRole('link'))).toBe('/empresas/editar/um')
  await expect.poll(() => actions.getByRole('button').count()).toBeGreaterThan(0)
  expect(await hrefOf(press(page, 'Nova Empresa'))).toBe('/empresas/nova')
})

test('the search waits 300 ms after the last letter', async () => {
  const page = await member()
  const calls = await answer(page, listPath, found)
  await stopClock(page)
  await go(page, '/empresas')
  await runUntilShown(page, rowOf(page, 'ALFA'))
  const field = page.getByPlaceholder('Buscar por nome, CNPJ...', { exact: true })
  await field.pressSequentially('bet')
  await page.clock.runFor(250)
  await field.pressSequentially('a')
  await page.clock.runFor(290)
  await shown(rowOf(page, 'ALFA'))
  await page.clock.runFor(20)
  await runUntil(page, async () => !(await rowOf(page, 'ALFA').isVisible()))
  await runUntilShown(page, rowOf(page, 'BETA'))
  const searched = calls.map((call) => new URL(call.url()).searchParams.get('busca')).filter((busca) => busca !== null)
  expect(searched).toEqual(['beta'])
  await field.fill('zzz')
  await runUntilShown(page, page.getByText('Nenhuma empresa encontrada', { exact: true }))
})

test('nothing there, and what cannot be loaded are said', async () => {
  const { page: empty } = await openList({ json: success([]) })
  await shown(empty.getByText('Nenhuma empresa encontrada', { exact: true }))
  const { page: broken } = await openList({ status: 400, json: failure('Muito tarde') })
  await shown(broken.getByText('Erro ao carregar empresas', { exact: true }))
  await toasted(broken, 'Erro ao carregar dados: Muito tarde')
})

const syncPath = '/v1/api/Empresas/sincronizar'
const sync = (page: Page) =>
  rowOf(page, 'ALFA')
    .getByRole('button', { name: /Sincronizar/ })
    .click()

test('a synchronization is announced, and without data it began too', async () => {
  const { page } = await openList()
  let reply: Reply = { json: success(null) }
  const calls = await answer(page, syncPath, () => reply)
  await sync(page)
  await toasted(page, 'Iniciando sincronização...')
  await toasted(page, 'Sincronizando ALFA LTDA')
  expect(await toastColours(page, 'Iniciando sincronização...')).toContain('blue')
  await expect.poll(() => calls.length).toBe(1)
  expect([calls[0]!.method(), new URL(calls[0]!.url()).search]).toEqual(['POST', '?idEmpresa=um'])
  reply = { body: '' }
  await expect
    .poll(async () => {
      if (calls.length === 1) await sync(page)
      return calls.length
    })
    .toBe(2)
  await (await calls[1]!.response())!.finished()
  // What is done later has seen both answers.
  await page.getByPlaceholder('Buscar por nome, CNPJ...').fill('alfa')
  await rowOf(page, 'BETA').waitFor({ state: 'hidden' })
  expect(await page.getByText('Erro ao sincronizar empresa').count()).toBe(0)
})

test('a synchronization that fails tells its message, or what to do', async () => {
  const { page } = await openList()
  let reply: Reply = 'as it is'
  await answer(page, syncPath, () => reply)
  for (const [wrong, message] of [
    [{ status: 400, json: failure('A SEFAZ pede uma hora') }, 'A SEFAZ pede uma hora'],
    [{ json: failure('A SEFAZ pede duas horas') }, 'A SEFAZ pede duas horas'],
    [{ json: { success: false } }, 'Tente novamente mais tarde'],
  ] as const) {
    reply = wrong
    await sync(page)
    await toasted(page, 'Erro ao sincronizar empresa')
    await toasted(page, message)
  }
})

const wrongFile = 'Por favor, selecione um arquivo .pfx ou .p12'
const file = (name: string, content: Uint8Array | string = 'x') => ({
  name,
  mimeType: 'application/x-pkcs12',
  buffer: Buffer.from(content as string),
})
const choose = (page: Page, name: string, content?: Uint8Array) =>
  page.locator('input[type=file]').setInputFiles(file(name, content))

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
    await choose(page, name)
    await runUntilShown(page, page.getByText(wrongFile, { exact: true }))
  }
  const password = page.getByLabel(/^Senha/)
  const save = page.getByRole('button', { name: 'Salvar Empresa', exact: true })
  for (const name of ['empresa.PFX', 'empresa.P12', 'empresa.p12', 'empresa.pfx']) {
    await choose(page, name)
    const processing = page.getByText('Processando certificado digital...', { exact: true })
    await shown(processing)
    expect(await page.getByText(wrongFile).count()).toBe(0)
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
  await answer(page, '/v1/api/Empresas', { json: success({ idEmpresa: 'nova' }) })
  await go(page, '/empresas/nova')
  await choose(page, 'empresa.pfx')
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

test('a real certificate makes a real company', async () => {
  const page = await member()
  const holder = { cnpj: '11222333000181', nome: 'MERCADO BOM PRECO LTDA', senha: 'segredo', sharedKey: true }
  await go(page, '/empresas/nova')
  await choose(page, 'mercado.p12', await site.product.simulator.issueCertificate(holder))
  await page.getByLabel(/^Senha/).fill('segredo')
  await page.getByRole('button', { name: 'Salvar Empresa', exact: true }).click()
  await toasted(page, 'Empresa cadastrada com sucesso!')
  await page.waitForURL(/\/empresas\/editar\/./)
  await expect.poll(() => page.getByLabel('CNPJ').inputValue()).toBe('11.222.333/0001-81')
  expect(await page.getByLabel(/^Raz[ãa]o Social/i).inputValue()).toBe('MERCADO BOM PRECO LTDA')
  expect(await page.getByLabel('UF').locator('option:checked').textContent()).toMatch(/^SP/)
})

const detail = {
  razaoSocial: 'ALFA LTDA',
  cnpj: '11222333000181',
  email: 'fiscal@alfa.example',
  sincronizacaoAutomatica: true,
  empresaUf: { codUf: 41, uf: 'PR' },
  dataValidadeCertificadoDigital: '06/05/2027',
  configuracaoNFe: {
    emitenteNFe: true,
    destinatarioNFe: false,
    transportadorNFe: true,
    terceiroNFe: false,
    manifestarCienciaAutomaticamente: true,
    ultimoNsu: '000000000000042',
    mensagemSincronizacao: 'Mensagem das notas',
  },
  configuracaoCTe: {
    emitenteCTe: true,
    remetenteCTe: false,
    destinatarioCTe: true,
    expedidorCTe: false,
    recebedorCTe: true,
    tomadorCTe: false,
    terceiroCTe: true,
    ultimoNsu: '000000000000043',
    mensagemSincronizacao: 'Mensagem dos conhecimentos',
  },
}

async function openCompany(changes: object = {}, reply?: Reply) {
  const page = await member()
  const forms = await recordForms(page)
  const puts = await answer(page, '/v1/api/Empresas', { json: success(null) })
  const asked = await answer(page, detailPath, reply ?? { json: success({ ...realDetail, ...detail, ...changes }) })
  await go(page, '/empresas/editar/um')
  return {
    page,
    forms,
    puts,
    asked,
    name: page.getByLabel(/^Raz[ãa]o Social/i),
    save: page.getByRole('button', { name: /^Salvar/ }),
  }
}

test('the form shows the company; the CNPJ and what the authority said cannot be changed', async () => {
  const { page, name, asked } = await openCompany()
  await shown(name)
  expect(new URL(asked[0]!.url()).search).toBe('?id=um')
  expect(await name.inputValue()).toBe('ALFA LTDA')
  const cnpj = page.getByLabel('CNPJ')
  expect(await cnpj.inputValue()).toBe('11.222.333/0001-81')
  expect(await cnpj.isEditable()).toBe(false)
  expect(await page.getByLabel('Email').inputValue()).toBe('fiscal@alfa.example')
  const uf = page.getByLabel('UF')
  await expect.poll(() => uf.getByRole('option').count()).toBe(27)
  expect(await uf.locator('option:checked').textContent()).toMatch(/^PR/)
  for (const text of ['000000000000042', 'Mensagem das notas', '000000000000043', 'Mensagem dos conhecimentos']) {
    await shown(page.getByText(text, { exact: true }))
    expect(await page.locator(`input[value="${text}"]:not([readonly]):not([disabled])`).count()).toBe(0)
  }
  expect(await hrefOf(press(page, 'Voltar'))).toBe('/empresas')
  expect(await hrefOf(press(page, 'Cancelar'))).toBe('/empresas')
  expect(await page.getByText('Certificado Digital Vencido!').count()).toBe(0)
})

test('saving sends every field, and no certificate that was not chosen', async () => {
  const { page, name, forms, puts, save } = await openCompany()
  await name.fill('ALFA COMÉRCIO LTDA')
  await page.getByLabel('UF').selectOption({ index: 0 })
  await save.click()
  await toasted(page, 'Empresa atualizada com sucesso!')
  expect(puts[0]!.method()).toBe('PUT')
  expect(Object.fromEntries((await forms())[0]!)).toEqual({
    IdEmpresa: 'um',
    RazaoSocial: 'ALFA COMÉRCIO LTDA',
    Email: 'fiscal@alfa.example',
    Uf: '12',
    SincronizacaoAutomatica: 'true',
    'ConfiguracoesNfe.Emitente': 'true',
    'ConfiguracoesNfe.Destinatario': 'false',
    'ConfiguracoesNfe.Transportador': 'true',
    'ConfiguracoesNfe.Terceiro': 'false',
    'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': 'true',
    'ConfiguracoesCte.Emitente': 'true',
    'ConfiguracoesCte.Remetente': 'false',
    'ConfiguracoesCte.Destinatario': 'true',
    'ConfiguracoesCte.Expedidor': 'false',
    'ConfiguracoesCte.Recebedor': 'true',
    'ConfiguracoesCte.Tomador': 'false',
    'ConfiguracoesCte.Terceiro': 'true',
  })
})

test('a new certificate goes with its password', async () => {
  const { page, name, forms, save } = await openCompany()
  await shown(name)
  await choose(page, 'novo.P12')
  await page.getByLabel(/^Senha/).fill('nova senha')
  await save.click()
  await toasted(page, 'Empresa atualizada com sucesso!')
  expect(Object.fromEntries((await forms())[0]!)).toMatchObject({
    IdEmpresa: 'um',
    'CertificadoDigital.Certificado': 'file novo.P12',
    'CertificadoDigital.Senha': 'nova senha',
  })
})

test('the form says its rules, and sends nothing that breaks them', async () => {
  const { page, name, puts, save } = await openCompany()
  await name.fill('')
  await save.click()
  await shown(page.getByText('Razão social é obrigatória', { exact: true }))
  await name.fill('ALFA')
  await page.getByLabel('Email').fill('fiscal@')
  await save.click()
  await shown(page.getByText('Email inválido', { exact: true }))
  expect(puts).toHaveLength(0)
  await page.getByLabel('Email').fill('')
  await save.click()
  await toasted(page, 'Empresa atualizada com sucesso!')
})

test('another file than a certificate is refused with an alert of the browser', async () => {
  const { page, name } = await openCompany()
  await shown(name)
  const alert = new Promise<string[]>((resolve) => {
    page.once('dialog', async (dialog) => {
      await dialog.accept()
      resolve([dialog.type(), dialog.message()])
    })
  })
  await choose(page, 'certificado.cer')
  const refused = page.getByText(wrongFile, { exact: true })
  expect(await Promise.race([alert, shown(refused).then(() => ['text on the page'])])).toEqual(['alert', wrongFile])
})

test('an expired certificate is said', async () => {
  const { page } = await openCompany({
    dataValidadeCertificadoDigital: '01/02/2020',
    certificado: { ...realDetail.certificado, validoAte: '2020-02-01T12:00:00.000Z' },
  })
  await shown(page.getByText('Certificado Digital Vencido!', { exact: true }))
  await shown(page.getByText('Vencido', { exact: true }))
  const banner = page.getByRole('alert').or(page.getByRole('main')).filter({ hasText: 'Certificado Digital Vencido!' })
  expect(await banner.last().textContent()).toMatch(/renov.*sincroniz/is)
})

test('a company that is not there, or cannot be loaded, is said', async () => {
  const page = await member()
  await go(page, '/empresas/editar/00000000-0000-4000-8000-000000000000')
  await shown(page.getByText(/^Empresa não encontrada\.?$/))
  const { page: broken } = await openCompany({}, { status: 400, json: failure('Muito tarde') })
  await shown(broken.getByText('Erro ao carregar os dados da empresa. Tente novamente.', { exact: true }))
})

test('a failure to save is told; an answer with nothing in it is none', async () => {
  const { page, name, save } = await openCompany()
  let reply: Reply = { json: failure('Não deu', ['CNPJ de outra empresa']) }
  await answer(page, '/v1/api/Empresas', () => reply)
  await name.fill('ALFA COMÉRCIO LTDA')
  await save.click()
  await toasted(page, 'Erro na operação: CNPJ de outra empresa')
  reply = { body: '' }
  await save.click()
  await toasted(page, 'Empresa atualizada com sucesso!')
})
