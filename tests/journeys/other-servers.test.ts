import type { Page, Request } from 'playwright-core'
import { expect, test } from 'vitest'
import { failure, fixTime, follow, hrefOf, lead, month, onPath, pathOf, respond, success, toasted } from './page.ts'
import { shown, useSite } from './site.ts'

// The server here knows the calls of section 7 with the fields of section 3, and nothing of ours. A complaint in a console fails a test.
const site = useSite({ roles: ['api'] })
const { visitor, member, go } = site

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
    ativa: false,
    ultimaSincronizacaoNFe: null,
    ultimaSincronizacaoCTe: null,
    validadeCertificadoA1: null,
  },
]

const company = {
  razaoSocial: 'ALFA LTDA',
  cnpj: '11222333000181',
  email: 'fiscal@alfa.example',
  sincronizacaoAutomatica: true,
  empresaUf: { codUf: 41, uf: 'PR' },
  dataValidadeCertificadoDigital: '06/05/2027',
  configuracaoNFe: {
    emitenteNFe: true,
    destinatarioNFe: true,
    transportadorNFe: false,
    terceiroNFe: true,
    manifestarCienciaAutomaticamente: false,
    ultimoNsu: '000000000000042',
    mensagemSincronizacao: 'Mensagem das notas',
  },
  configuracaoCTe: {
    emitenteCTe: true,
    remetenteCTe: true,
    destinatarioCTe: true,
    expedidorCTe: false,
    recebedorCTe: false,
    tomadorCTe: true,
    terceiroCTe: true,
    ultimoNsu: '000000000000043',
    mensagemSincronizacao: 'Mensagem dos conhecimentos',
  },
}
const documents = [
  {
    idDfe: 'nota-1',
    numero: 101,
    emitente: 'EMITENTE UM',
    chave: `3526031122233300018155001${'0'.repeat(19)}`,
    valor: 1234.5,
    dataEmissao: '2026-03-05T10:00:00',
    tipoParticipacao: 1,
    status: { codigoEvento: 210210, descricaoEvento: 'Ciência da Operação' },
    notaCompleta: true,
  },
  {
    idDfe: 'nota-2',
    numero: 102,
    emitente: 'EMITENTE DOIS',
    chave: `3526031122233300018155002${'0'.repeat(19)}`,
    valor: 10,
    dataEmissao: '2026-03-06T10:00:00',
    tipoParticipacao: 42,
    status: { codigoEvento: 110111, descricaoEvento: 'Cancelada' },
    notaCompleta: false,
  },
]

// One empty page, with the places of its objects, so that nobody has to guess.
const pdf = (() => {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Kids[3 0 R]/Count 1>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<<>>>>',
  ]
  let text = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const place = text.length
    text += `${index + 1} 0 obj${object}endobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 4\n0000000000 65535 f \n${places.join('')}trailer<</Size 4/Root 1 0 R>>\n`
  return `${text}${table}startxref\n${text.length}\n%%EOF`
})()

interface Answers {
  companies?: unknown
  company?: unknown
  documents?: unknown
  dashboard?: unknown
  /** What every call beyond section 7 is answered. */
  beyond?: Parameters<typeof respond>[2]
}

const unknownCall = { status: 404, json: failure('Não existe', [], 404) }

/** A page whose server is the specification. */
async function specified(answers: Answers = {}): Promise<Page> {
  const page = await member()
  await fixTime(page, new Date('2026-03-10T12:00:00-03:00'))
  await respond(page, /^\/v1\/api\//, answers.beyond ?? unknownCall)
  for (const [path, data] of [
    ['/v1/api/Dashboard', answers.dashboard ?? month],
    ['/v1/api/DocumentosFiscais', answers.documents ?? { items: documents, totalDePaginas: 1 }],
    ['/v1/api/Empresas/obter-empresas', answers.companies ?? companies],
    ['/v1/api/Empresas/obter-empresa', 'company' in answers ? answers.company : company],
  ] as const)
    await respond(page, path, { json: success(data) })
  return page
}

/** Returns what waits until everything that a screen asks for has come, also what is ours. */
function followRequests(page: Page): () => Promise<void> {
  const pending = new Set<Request>()
  page.on('request', (request) => pending.add(request))
  const end = (request: Request) => void pending.delete(request)
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  // What came may make the page ask for more.
  const idle = () => page.evaluate(() => new Promise<void>((resolve) => requestIdleCallback(() => resolve())))
  return () => expect.poll(() => idle().then(() => pending.size)).toBe(0)
}

const beyonds = {
  'a server that knows none of ours': unknownCall,
  'a server that answers them with an empty object': { json: success({}) },
}
const screens = [
  '/dashboard',
  '/notas-fiscais',
  '/cte',
  '/empresas',
  '/empresas/nova',
  '/empresas/editar/um',
  '/help',
  '/conta',
]

test.each(Object.entries(beyonds))('%s leaves every screen standing', async (_, beyond) => {
  const page = await specified({ beyond })
  // Of no screen, so that the first is led to as well.
  await go(page, '/nada')
  const settled = followRequests(page)
  for (const path of screens) {
    await lead(page, path)
    await settled()
    expect(await page.getByText(/algo deu errado/i).count(), path).toBe(0)
    expect(pathOf(page)).toBe(path)
  }
})

test('the dashboard shows what is told, and nothing green of what is not', async () => {
  const page = await specified()
  // A health check that answers no envelope is an answer.
  await respond(page, '/health', { body: 'Healthy' })
  await go(page, '/dashboard')
  const main = page.getByRole('main')
  for (const [label, number] of [
    ['Notas Fiscais (Mês)', '1.234'],
    ['CTe (Mês)', '56'],
    ['Total Documentos (Mês)', '1.290'],
    ['Empresas Cadastradas', '2'],
  ] as const) {
    const card = main.getByRole('listitem').filter({ has: page.getByText(label, { exact: true }) })
    await shown(card.getByText(number, { exact: true }))
  }
  const table = page.getByRole('table', { name: 'Documentos por Empresa', exact: true })
  await shown(table.getByRole('row').nth(1))
  const cells = await table.getByRole('row').nth(1).getByRole('cell').allInnerTexts()
  expect(cells.map((text) => text.trim())).toEqual(['PADARIA AURORA LTDA', '1.200', '50', '1.250', 'Ativa'])
  expect(await table.getByRole('link').count()).toBe(0)
  const recent = page.getByRole('region', { name: 'Atividade Recente' }).getByRole('listitem')
  await expect.poll(() => recent.count()).toBe(3)
  expect(await recent.first().textContent()).toMatch(/09:07.*GRÁFICA UM.*NFe/)
  expect(await recent.getByRole('link').count()).toBe(0)
  const status = page.getByRole('region', { name: 'Status do Sistema' }).getByRole('listitem')
  const lines = (await status.allTextContents()).map((text) => text.replace(/\s+/g, ' '))
  expect(lines[0]).toMatch(/Captura Automática\s*Online/)
  expect(lines[1]).toMatch(/Armazenamento\s*Saudável.*0% de uso/)
  expect(lines[2]).toMatch(/Sincronização\s*Ativa/)
  expect(await page.locator('[data-lamp=steady], [data-lamp=waiting]').count()).toBe(0)
  expect(await page.getByText('Nada precisa de você agora.').count()).toBe(0)
  expect(await page.getByText('Documentos por Dia').count()).toBe(0)
})

test('a month of which nothing is told but that it is empty welcomes, and leads to the first company', async () => {
  const empty = { qtdEmpresasCadastradas: 0, qtdDocumentosPorEmpresa: null, ultimosDocumentosProcessados: null }
  const page = await specified({ dashboard: { ...month, ...empty }, companies: [] })
  await go(page, '/dashboard')
  await shown(page.getByRole('dialog', { name: /^Bem-vindo ao/ }))
  await page.getByRole('button', { name: 'Cadastrar Primeira Empresa', exact: true }).click()
  await onPath(page, '/empresas/nova')
})

test('a list shows its rows, filters, and answers them', async () => {
  const page = await specified()
  const lists = await respond(page, '/v1/api/DocumentosFiscais', {
    json: success({ items: documents, totalDePaginas: 3 }),
  })
  const sent = await respond(page, /\/manifestar-(nfe|cte)$/, { json: success(null, 'Tudo certo.') })
  await go(page, '/notas-fiscais')
  await shown(page.getByRole('row').filter({ hasText: 'EMITENTE UM' }))
  const headers = (await page.getByRole('columnheader').allTextContents()).map((text) => text.trim()).slice(1)
  expect(headers).toEqual(['Número', 'Emitente', 'Valor', 'Data Emissão', 'Participação', 'Status', 'Ações'])
  const texts = async (name: string) =>
    (await page.getByRole('row').filter({ hasText: name }).getByRole('cell').allTextContents()).map((text) =>
      text.replace(/\u00a0/g, ' ').trim(),
    )
  const [first, second] = [await texts('EMITENTE UM'), await texts('EMITENTE DOIS')]
  expect([first[1], first[3], first[5], first[6]]).toEqual([
    '101',
    'R$ 1.234,50',
    'Destinatário',
    'Ciência da Operação',
  ])
  expect(first[2]).toContain('EMITENTE UM')
  expect(first[2]).toContain(documents[0]!.chave)
  expect(first[4]).toMatch(/^05\/03\/2026/)
  expect(second[5]).toBe('Desconhecido')
  await shown(page.getByText('Página 1 de 3', { exact: true }))
  expect(await page.getByLabel('Mais', { exact: true }).count()).toBe(0)
  const view = (name: string) =>
    page.getByRole('row').filter({ hasText: name }).getByRole('cell').last().getByRole('button').first()
  expect([await view('EMITENTE UM').isEnabled(), await view('EMITENTE DOIS').isEnabled()]).toEqual([true, false])

  await page.getByLabel('Empresa', { exact: true }).selectOption({ label: 'BETA LTDA' })
  await page.getByLabel('Status', { exact: true }).selectOption({ label: 'Cancelada' })
  await expect
    .poll(() => Object.fromEntries(new URL(lists.at(-1)!.url()).searchParams))
    .toMatchObject({ IdEmpresa: 'dois', Status: '3', DataDe: '2026-03-01T00:00:00', DataAte: '2026-03-31T23:59:59' })

  await page.getByRole('columnheader').getByRole('checkbox').check()
  await page.getByRole('button', { name: 'Manifestar', exact: true }).first().click()
  const option = 'Confirmação'
  await page.getByRole('menuitem', { name: option, exact: true }).click()
  const dialog = page.getByRole('dialog', { name: `Manifestar - ${option}`, exact: true })
  await shown(dialog.getByText('Documentos selecionados: 2', { exact: true }))
  await dialog.getByRole('textbox').first().fill('Como combinado com o emitente.')
  await dialog.getByRole('button', { name: 'Enviar', exact: true }).click()
  await toasted(page, 'Tudo certo.')
  await dialog.waitFor({ state: 'hidden' })
  expect(sent).toHaveLength(1)
  expect(sent[0]!.postDataJSON()).toEqual({
    justificativa: 'Como combinado com o emitente.',
    idsDFe: ['nota-1', 'nota-2'],
    tipoManifestacao: 2,
  })
})

test('rows and pages with nulls are shown as far as they go, and a printed form opens in the viewer', async () => {
  const [row] = documents
  const bare = { ...row, idDfe: 'nula', emitente: null, chave: null, valor: null, dataEmissao: null, status: null }
  const page = await specified({ documents: { items: [bare, row], totalDePaginas: null } })
  const prints = await respond(page, '/v1/api/DocumentosFiscais/danfe/nota-1', {
    contentType: 'application/pdf',
    body: pdf,
  })
  await go(page, '/notas-fiscais')
  const complete = page.getByRole('row').filter({ hasText: 'EMITENTE UM' })
  await shown(complete)
  expect(await page.getByRole('row').count()).toBe(3)
  await complete.getByRole('cell').last().getByRole('button').first().click()
  const dialog = page.getByRole('dialog')
  await shown(dialog.locator('canvas'))
  expect(prints[0]!.headers().accept).toBe('application/pdf')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await page.setViewportSize({ width: 390, height: 844 })
  await shown(page.getByRole('listitem').filter({ hasText: 'EMITENTE UM' }))
})

test('the companies are shown, counted and searched', async () => {
  const page = await specified()
  const calls = await respond(page, '/v1/api/Empresas/obter-empresas', { json: success(companies) })
  await go(page, '/empresas')
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await shown(row('ALFA'))
  const texts = async (name: string) =>
    (await row(name).getByRole('cell').allTextContents()).slice(-7).map((text) => text.trim())
  const [alfa, beta] = [await texts('ALFA'), await texts('BETA')]
  expect(alfa.slice(0, 6)).toEqual([
    'ALFA LTDA',
    '11.222.333/0001-81',
    'há 2 horas',
    'Nunca',
    expect.stringMatching(/^06\/05\/2027/),
    'Ativa',
  ])
  expect(beta[4]).toMatch(/^Não informado/)
  expect(beta[5]).toBe('Inativa')
  expect(await page.locator('[data-lamp=steady], [data-lamp=waiting], [data-lamp=stopped]').count()).toBe(0)
  const text = ((await page.getByRole('main').textContent()) ?? '').replace(/\s+/g, ' ')
  expect(text).toMatch(/2\s*1 ativa.*50% do total.*Sincronização\s*100%\s*Monitoramento ativo/)
  expect(await hrefOf(row('ALFA').getByRole('link', { name: /Editar/ }))).toBe('/empresas/editar/um')
  await respond(page, '/v1/api/Empresas/sincronizar', { body: '' })
  await row('ALFA')
    .getByRole('button', { name: /Sincronizar/ })
    .click()
  await toasted(page, 'Sincronizando ALFA LTDA')
  await page.getByPlaceholder('Buscar por nome, CNPJ...').fill('alfa')
  await expect.poll(() => new URL(calls.at(-1)!.url()).searchParams.get('busca')).toBe('alfa')
  await page.setViewportSize({ width: 390, height: 844 })
  await shown(page.getByRole('listitem').filter({ hasText: 'ALFA LTDA' }))
})

test('a company is shown and saved; what nobody told is neither shown nor sent', async () => {
  const page = await specified()
  const puts = await respond(page, '/v1/api/Empresas', { json: success(null) })
  await go(page, '/empresas/editar/um')
  const name = page.getByLabel(/^Razão Social/)
  await shown(name)
  expect(await page.getByLabel('UF').locator('option:checked').textContent()).toMatch(/^PR/)
  for (const text of ['000000000000042', 'Mensagem das notas', '000000000000043', 'Mensagem dos conhecimentos'])
    await shown(page.getByText(text, { exact: true }))
  await shown(page.getByText('06/05/2027', { exact: true }))
  for (const text of ['Nada é capturado para esta empresa.', 'Logotipo', 'Remover certificado'])
    expect(await page.getByText(text, { exact: true }).count(), text).toBe(0)
  await name.fill('ALFA COMÉRCIO LTDA')
  await page.getByRole('button', { name: /^Salvar/ }).click()
  await toasted(page, 'Empresa atualizada com sucesso!')
  const form = puts[0]!.postData() ?? ''
  for (const [field, value] of [
    ['RazaoSocial', 'ALFA COMÉRCIO LTDA'],
    ['Uf', '41'],
    ['SincronizacaoAutomatica', 'true'],
    ['ConfiguracoesNfe.Transportador', 'false'],
    ['ConfiguracoesCte.Tomador', 'true'],
  ])
    expect(form).toContain(`name="${field}"\r\n\r\n${value}\r\n`)
})

test('an ended certificate is told by its date alone, on both screens; no data is no company', async () => {
  const page = await specified({
    company: { ...company, dataValidadeCertificadoDigital: '01/02/2020' },
    companies: [{ ...companies[0], validadeCertificadoA1: '2020-02-01T12:00:00-03:00' }],
  })
  await go(page, '/empresas/editar/um')
  await shown(page.getByText('Certificado Digital Vencido!', { exact: true }))
  await shown(page.getByText('Vencido', { exact: true }))
  await follow(page, '/empresas')
  await shown(page.getByRole('row').filter({ hasText: 'ALFA' }).getByText('01/02/2020', { exact: true }))
  expect(await page.getByText('Monitoramento ativo').count()).toBe(0)
  await respond(page, '/v1/api/Empresas/obter-empresa', { json: success(null) })
  await follow(page, '/empresas/editar/dois')
  await shown(page.getByText('Empresa não encontrada', { exact: true }))
})

test('a company is made of two fields, and without its id leads to the list', async () => {
  const page = await specified()
  const posts = await respond(page, '/v1/api/Empresas', { json: success({}) })
  await go(page, '/empresas/nova')
  const chosen = { name: 'empresa.pfx', mimeType: 'application/x-pkcs12', buffer: Buffer.from('x') }
  await page.locator('input[type=file]').setInputFiles(chosen)
  await page.getByLabel(/^Senha/).fill(' segredo ')
  await page.getByRole('button', { name: 'Salvar Empresa', exact: true }).click()
  await toasted(page, 'Empresa cadastrada com sucesso!')
  await onPath(page, '/empresas')
  const form = posts[0]!.postData() ?? ''
  const names = [...form.matchAll(/ name="([^"]+)"/g)].map(([, name]) => name)
  expect(names).toEqual(['Certificado', 'Senha'])
  expect(form).toContain('filename="empresa.pfx"')
  expect(form).toContain('name="Senha"\r\n\r\n segredo \r\n')
})

test('a login without a token is none; with token and workspace alone it is one', async () => {
  const page = await visitor()
  let data: unknown = {}
  await respond(page, /^\/v1\/api\//, unknownCall)
  await respond(page, '/v1/api/Auth', () => ({ json: success(data) }))
  await respond(page, '/v1/api/Dashboard', { json: success(month) })
  const enter = async () => {
    await page.getByLabel('Email').fill('ivo@empresa.example')
    await page.getByLabel('Senha', { exact: true }).fill('segredo-123')
    await page.getByRole('button', { name: 'Entrar', exact: true }).click()
  }
  await go(page, '/login')
  await enter()
  await toasted(page, 'Credenciais inválidas.')
  data = { token: 'um-token', wsId: 'um-espaco' }
  await enter()
  await onPath(page, '/dashboard')
  await shown(page.getByText('PADARIA AURORA LTDA'))
})
