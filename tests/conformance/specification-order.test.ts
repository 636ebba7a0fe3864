import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import {
  type CompanyDetail,
  type CompanyRow,
  certificateForm,
  companyForm,
  type DashboardData,
  type DocumentPage,
  openClient,
  type SpecificationClient,
} from '../support/specification.ts'

const cnpj = '12ABC34501DE35'
const person = {
  nome: 'Ana Souza',
  email: 'ana@escritorio.example',
  senha: 'notas-2026',
  celular: '11987654321',
  tipoPlano: 2,
}
let product: Product
let client: SpecificationClient
let idEmpresa = ''

// One visit after the other, in the order of a person who meets the product.
beforeAll(async () => {
  product = await startProduct({ hourMs: 600_000, simulator: { companies: [] } })
  client = openClient(product.url)
})
afterAll(() => product?.[Symbol.asyncDispose]())

it('says that it is healthy', async () => {
  const answer = await client.get('/health')
  expect(answer.status).toBe(200)
})

it('signs somebody up', async () => {
  const answer = await client.post('/v1/api/Usuarios', person)
  expect(answer.message).toBe('Conta criada com sucesso! Faça login para continuar.')
  expect(answer.errors).toEqual([])
})

it('lets that person in with a token and a workspace id', async () => {
  const answer = await client.post<{ token: string; wsId: string }>('/v1/api/Auth', {
    email: person.email,
    senha: person.senha,
  })
  expect(answer.message).toBe('Login realizado com sucesso!')
  expect(answer.errors).toEqual([])
  expect(answer.data).toEqual({ token: expect.stringMatching(/\S{20}/), wsId: expect.stringMatching(/\S/) })
  client.token = answer.data.token
})

it('is empty before the first company', async () => {
  const dashboard = await client.get<DashboardData>('/v1/api/Dashboard')
  expect(dashboard.data).toMatchObject({
    qtdNfe: 0,
    qtdCte: 0,
    totalNfeCte: 0,
    qtdEmpresasCadastradas: 0,
    qtdDocumentosPorEmpresa: [],
    ultimosDocumentosProcessados: [],
  })
  expect((await client.get('/v1/api/Empresas/obter-empresas')).data).toEqual([])
  for (const TipoDFe of [0, 2]) {
    const page = await client.get<DocumentPage>('/v1/api/DocumentosFiscais', { TipoDFe, PaginaAtual: 1 })
    expect(page.data.items).toEqual([])
    expect(page.data.totalDePaginas).toBeLessThanOrEqual(1)
  }
})

it('registers a company by its certificate', async () => {
  const file = await product.simulator.issueCertificate({
    cnpj,
    nome: 'Pão & Açaí Comércio Ltda',
    senha: 'çertificado 1',
  })
  const answer = await client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', {
    form: certificateForm({ file, name: 'Certificado da Padaria.PFX', password: 'çertificado 1' }),
  })
  expect(answer).toMatchObject({ success: true, message: 'Empresa cadastrada com sucesso!' })
  idEmpresa = answer.data.idEmpresa
  expect(String(idEmpresa)).toMatch(/\S/)
})

it('lists the company with what its certificate says', async () => {
  const { data } = await client.get<CompanyRow[]>('/v1/api/Empresas/obter-empresas')
  expect(data).toHaveLength(1)
  expect(data[0]).toMatchObject({ id: idEmpresa, razaoSocial: 'Pão & Açaí Comércio Ltda', cnpj, ativa: true })
  expect(Date.parse(data[0]?.validadeCertificadoA1 ?? '')).toBeGreaterThan(Date.now())
  for (const name of ['ultimaSincronizacaoNFe', 'ultimaSincronizacaoCTe']) expect(data[0]).toHaveProperty(name)
})

it.each([
  ['the name', 'Pão & Açaí Comércio Ltda'],
  ['a part of the name', 'Açaí'],
  ['the name without accents', 'pao & acai comercio'],
  ['the name in capitals', 'AÇAÍ COMÉRCIO'],
  ['the CNPJ', cnpj],
  ['the CNPJ with its mask', '12.ABC.345/01DE-35'],
  ['the CNPJ in small letters', cnpj.toLowerCase()],
  ['the beginning of the CNPJ with its mask', '12.ABC.345'],
  ['the beginning of the CNPJ', '12ABC345'],
  ['blanks around the name', '  Açaí '],
  ['nothing', ''],
  ['blanks', '   '],
])('finds the company by %s', async (_, busca) => {
  const { data } = await client.get<CompanyRow[]>('/v1/api/Empresas/obter-empresas', { busca })
  expect(data.map((row) => row.id)).toEqual([idEmpresa])
})

it.each(['Sorveteria', '99ABC345', '%', '_', '*', "'", '\\', '()'])('finds nothing by %s', async (busca) => {
  const { data } = await client.get('/v1/api/Empresas/obter-empresas', { busca })
  expect(data).toEqual([])
})

it('shows the detail of the company', async () => {
  const { data } = await client.get<CompanyDetail>('/v1/api/Empresas/obter-empresa', { id: idEmpresa })
  expect(data).toMatchObject({ razaoSocial: 'Pão & Açaí Comércio Ltda', cnpj, sincronizacaoAutomatica: true })
  expect(data.email).toBe('')
  expect(data.empresaUf).toEqual({ codUf: 35, uf: 'SP' })
  expect(data.dataValidadeCertificadoDigital).toMatch(/^\d{2}\/\d{2}\/\d{4}$/)
  expect(Object.keys(data.configuracaoNFe).sort()).toEqual([
    'destinatarioNFe',
    'emitenteNFe',
    'manifestarCienciaAutomaticamente',
    'mensagemSincronizacao',
    'terceiroNFe',
    'transportadorNFe',
    'ultimoNsu',
  ])
  expect(Object.keys(data.configuracaoCTe).sort()).toEqual([
    'destinatarioCTe',
    'emitenteCTe',
    'expedidorCTe',
    'mensagemSincronizacao',
    'recebedorCTe',
    'remetenteCTe',
    'terceiroCTe',
    'tomadorCTe',
    'ultimoNsu',
  ])
})

const switches = {
  SincronizacaoAutomatica: (detail: CompanyDetail) => detail.sincronizacaoAutomatica,
  'ConfiguracoesNfe.Emitente': (detail: CompanyDetail) => detail.configuracaoNFe.emitenteNFe,
  'ConfiguracoesNfe.Destinatario': (detail: CompanyDetail) => detail.configuracaoNFe.destinatarioNFe,
  'ConfiguracoesNfe.Transportador': (detail: CompanyDetail) => detail.configuracaoNFe.transportadorNFe,
  'ConfiguracoesNfe.Terceiro': (detail: CompanyDetail) => detail.configuracaoNFe.terceiroNFe,
  'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': (detail: CompanyDetail) =>
    detail.configuracaoNFe.manifestarCienciaAutomaticamente,
  'ConfiguracoesCte.Emitente': (detail: CompanyDetail) => detail.configuracaoCTe.emitenteCTe,
  'ConfiguracoesCte.Remetente': (detail: CompanyDetail) => detail.configuracaoCTe.remetenteCTe,
  'ConfiguracoesCte.Destinatario': (detail: CompanyDetail) => detail.configuracaoCTe.destinatarioCTe,
  'ConfiguracoesCte.Expedidor': (detail: CompanyDetail) => detail.configuracaoCTe.expedidorCTe,
  'ConfiguracoesCte.Recebedor': (detail: CompanyDetail) => detail.configuracaoCTe.recebedorCTe,
  'ConfiguracoesCte.Tomador': (detail: CompanyDetail) => detail.configuracaoCTe.tomadorCTe,
  'ConfiguracoesCte.Terceiro': (detail: CompanyDetail) => detail.configuracaoCTe.terceiroCTe,
}
const all = Object.keys(switches) as (keyof typeof switches)[]

it.each([0, 1, 2, 3])('keeps the switches apart from one another: bit %i of their positions', async (bit) => {
  const wanted = Object.fromEntries(all.map((name, index) => [name, (((index + 1) >> bit) & 1) === 1]))
  const form = companyForm(
    idEmpresa,
    Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, String(value)])),
  )
  expect(await client.call('PUT', '/v1/api/Empresas', { form })).toMatchObject({
    success: true,
    message: 'Empresa atualizada com sucesso!',
  })
  const { data } = await client.get<CompanyDetail>('/v1/api/Empresas/obter-empresa', { id: idEmpresa })
  expect(Object.fromEntries(all.map((name) => [name, switches[name](data)]))).toEqual(wanted)
})

it('keeps name, e-mail and UF, and leaves alone what is read-only', async () => {
  const form = companyForm(idEmpresa, {
    RazaoSocial: 'Padaria São João Ltda',
    Email: 'contas@padaria.example',
    Uf: '29',
    Cnpj: '11222333000181',
    UltimoNsu: '999999999999999',
  })
  expect(await client.call('PUT', '/v1/api/Empresas', { form })).toMatchObject({ success: true })
  const { data } = await client.get<CompanyDetail>('/v1/api/Empresas/obter-empresa', { id: idEmpresa })
  expect(data).toMatchObject({ razaoSocial: 'Padaria São João Ltda', cnpj, email: 'contas@padaria.example' })
  expect(data.empresaUf).toEqual({ codUf: 29, uf: 'BA' })
  expect(data.configuracaoNFe.ultimoNsu).not.toBe('999999999999999')
})

it('synchronizes at once or says when it will', async () => {
  await vi.waitFor(
    async () => {
      const { data } = await client.get<CompanyRow[]>('/v1/api/Empresas/obter-empresas')
      expect(data[0]?.ultimaSincronizacaoNFe).not.toBeNull()
      expect(data[0]?.ultimaSincronizacaoCTe).not.toBeNull()
    },
    { timeout: 60_000, interval: 500 },
  )
  const answer = await client.call('POST', '/v1/api/Empresas/sincronizar', { query: { idEmpresa } })
  expect(answer).toMatchObject({ success: true, status: 200 })
})

it('has one company on the dashboard', async () => {
  const { data } = await client.get<DashboardData>('/v1/api/Dashboard')
  expect(data.qtdEmpresasCadastradas).toBe(1)
  expect(data.qtdDocumentosPorEmpresa).toMatchObject([
    { razaoSocial: 'Padaria São João Ltda', qtdNfe: 0, qtdCte: 0, totalNfeCte: 0, ativa: true },
  ])
})
