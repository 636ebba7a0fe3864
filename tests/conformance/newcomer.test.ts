import type { CompanyDetail } from '@vigia/contract/companies'
import type { Dashboard } from '@vigia/contract/workspace'
import { parseCnpj } from '@vigia/dfe/cnpj'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { truthOf } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'
import { logIn } from '../support/two-workspaces.ts'

// Somebody who wants to try everything and has no company: test certificate, registration, first capture.
const account = { nome: 'Nina Recém-Chegada', email: 'nina@exemplo.com.br', senha: 'segredo1' }
let product: Product
let client: Client
let file: File
let senha: string

beforeAll(async () => {
  product = await startProduct({ hourMs: 600_000 })
  client = await newClient(product, account)
  senha = product.config.simulator!.certificatePassword
})
afterAll(() => product?.[Symbol.asyncDispose]())

async function download(): Promise<File> {
  const response = await fetch(new URL('/v1/api/Empresas/certificado-de-teste', product.url), {
    headers: { authorization: `Bearer ${await logIn(product, account)}` },
  })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/x-pkcs12'])
  const [, name] = /^attachment; filename="[^"]+\.pfx"; filename\*=UTF-8''(\S+)$/.exec(
    response.headers.get('content-disposition') ?? '',
  )!
  return new File([await response.arrayBuffer()], decodeURIComponent(name!))
}

function formOf(fields: Record<string, string | File>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

const register = (certificate: File) =>
  client.call<{ idEmpresa: string }>('POST', '/v1/api/Empresas', formOf({ Certificado: certificate, Senha: senha }))
const detail = async (id: string) =>
  (await client.call<CompanyDetail>('GET', `/v1/api/Empresas/obter-empresa?id=${id}`)).body.data

let id: string
test('a test certificate registers a company of its own, whose documents all arrive', async () => {
  file = await download()
  const cnpj = parseCnpj(/ (\S{14})\.pfx$/.exec(file.name)?.[1] ?? '')!
  const { body } = await register(file)
  expect(body.message).toBe('Empresa cadastrada com sucesso!')
  id = body.data.idEmpresa
  await client.captured({ timeoutMs: 60_000 })
  const truth = await truthOf(product.simulator, cnpj)
  expect(truth.length).toBeGreaterThan(300)
  const company = await detail(id)
  expect(company).toMatchObject({
    cnpj,
    ativa: true,
    certificado: {
      cnpj,
      deOutraEmpresa: false,
      enviadoPor: account.nome,
      usos: expect.arrayContaining([
        expect.objectContaining({ servico: 'Consulta de NF-e na SEFAZ', finalidade: 'Consultar documentos' }),
      ]),
    },
    cienciaAutomatica: null,
    temLogo: false,
  })
  const last = truth.filter(({ service }) => service === 'nfe').at(-1)!.nsu
  expect(company.captura?.[0]).toMatchObject({ servico: 'nfe', ultimoNsu: last, maxNsu: last })
  const { body: dashboard } = await client.call<Dashboard>('GET', '/v1/api/Dashboard')
  expect(dashboard.data.qtdDocumentosPorEmpresa).toMatchObject([{ idEmpresa: id }])
  expect(dashboard.data.pendencias?.resumos).toBeGreaterThan(50)
  const newest = dashboard.data.ultimosDocumentosProcessados[0]!
  expect((await client.call('GET', `/v1/api/DocumentosFiscais/xml/${newest.idDfe}`)).status).toBe(200)
}, 90_000)
