import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start as startSimulator } from '@vigia/simulator/start'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'

const cnpj = '12ABC34501DE35'
let product: Product
let mine: Client
let companyId: string

beforeAll(async () => {
  product = await startProduct({
    // An hour that outlasts this file.
    hourMs: 600_000,
    simulator: { seed: 5, companies: [{ cnpj, nome: 'EMPRESA ALFA LTDA', uf: 'SP' }] },
  })
  mine = await newClient(product)
  companyId = await mine.register(cnpj, 'EMPRESA ALFA LTDA')
  await mine.captured({ timeoutMs: 50_000 })
})
afterAll(() => product?.[Symbol.asyncDispose]())

type Fields = Record<string, string | File>

function formOf(fields: Fields): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

test('the detail answers every field of the specification', async () => {
  const { body } = await mine.call('GET', `/v1/api/Empresas/obter-empresa?id=${companyId}`)
  expect(body.data).toEqual({
    razaoSocial: 'EMPRESA ALFA LTDA',
    cnpj,
    email: '',
    sincronizacaoAutomatica: true,
    empresaUf: { codUf: 35, uf: 'SP' },
    dataValidadeCertificadoDigital: expect.stringMatching(/^\d\d\/\d\d\/\d{4}$/),
    configuracaoNFe: {
      emitenteNFe: true,
      destinatarioNFe: true,
      transportadorNFe: true,
      terceiroNFe: true,
      manifestarCienciaAutomaticamente: false,
      ultimoNsu: expect.stringMatching(/^0*[1-9]\d*$/),
      mensagemSincronizacao: expect.stringMatching(/^Em dia\./),
    },
    configuracaoCTe: {
      emitenteCTe: true,
      remetenteCTe: true,
      destinatarioCTe: true,
      expedidorCTe: true,
      recebedorCTe: true,
      tomadorCTe: true,
      terceiroCTe: true,
      ultimoNsu: expect.stringMatching(/^0*[1-9]\d*$/),
      mensagemSincronizacao: expect.stringMatching(/^Em dia\./),
    },
    // Ours.
    ativa: true,
    captura: [
      expect.objectContaining({ servico: 'nfe', estado: 'aguardando' }),
      expect.objectContaining({ servico: 'cte', estado: 'aguardando' }),
    ],
    certificado: {
      titular: 'EMPRESA ALFA LTDA',
      cnpj,
      emissor: expect.stringMatching(/\S/),
      // An hourly review looks at it, perhaps meanwhile.
      validoDe: expect.stringMatching(/Z$/),
      validoAte: expect.stringMatching(/Z$/),
      deOutraEmpresa: false,
      enviadoPor: 'Ana Souza',
      enviadoEm: expect.stringMatching(/Z$/),
      usos: expect.arrayContaining([
        {
          quando: expect.stringMatching(/Z$/),
          servico: 'Consulta de CT-e na SEFAZ',
          finalidade: 'Consultar documentos',
        },
      ]),
    },
    cienciaAutomatica: null,
    temLogo: false,
  })
})

test('a key that manages companies does not have them answer by themselves, unless it may answer', async () => {
  const choice = { nome: 'Cadastro', permissoes: ['empresas:ler', 'empresas:gerir'] }
  const { body } = await mine.call<{ chave: string }>('POST', '/v1/api/Chaves', choice)
  const change = (fields: Fields) =>
    fetch(new URL('/v1/api/Empresas', product.url), {
      method: 'PUT',
      headers: { authorization: `Bearer ${body.data.chave}` },
      body: formOf({ IdEmpresa: companyId, RazaoSocial: 'EMPRESA ALFA LTDA', ...fields }),
    })
  expect((await change({})).status).toBe(200)
  const refused = await change({ 'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': 'true' })
  expect(refused.status).toBe(403)
  expect(await refused.text()).toContain('não tem a permissão documentos:responder')
})

test('a demonstration that is open to anybody takes only certificates of its own authority', async () => {
  const simulator = { ...product.config.simulator!, open: true }
  // Same authority as the product's.
  const { sefaz } = product.config
  await using open = await startProduct({ roles: ['api'], config: { simulator, sefaz } })
  const directory = await mkdtemp(join(tmpdir(), 'vigia-other-authority-'))
  try {
    await using foreign = await startSimulator({ port: 0, directory })
    const client = await newClient({ url: open.url, simulator: foreign })
    await expect(client.register('11222333000181')).rejects.toThrow(
      /Esta é uma demonstração aberta a qualquer pessoa: ela só aceita os certificados de teste.* Nada foi guardado/,
    )
    const allowed = await newClient({ url: open.url, simulator: product.simulator })
    expect(await allowed.register('11222333000181')).toMatch(/\w/)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
