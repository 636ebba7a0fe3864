import { type AddressInfo, createServer } from 'node:net'
import { freePort } from '@vigia/postgres/port'
import { expect, onTestFinished, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { type ProductOptions, startProduct } from '../support/product.ts'

// From sign-up to the first document, or to its reason on the page of the company, at hosts that behave as the real ones were reported to.
const company = { cnpj: '44555666000181', nome: 'EMPRESA LTDA', uf: 'SP' }

interface CompanyRow {
  captura: { estado: string; mensagem: string }[]
}

async function registerAt(options: ProductOptions) {
  const product = await startProduct({ homologacao: {}, ...options })
  onTestFinished(() => product[Symbol.asyncDispose]())
  const client = await newClient(product)
  await client.register(company.cnpj, company.nome)
  return { product, client }
}

async function firstSentence(options: ProductOptions): Promise<string> {
  const { client } = await registerAt(options)
  const read = async () =>
    (await client.call<CompanyRow[]>('GET', '/v1/api/Empresas/obter-empresas')).body.data[0]!.captura[0]!
  await expect.poll(async () => (await read()).estado, { timeout: 30_000 }).toMatch(/falha|parada/)
  return (await read()).mensagem
}

test('documents arrive where the certificate is asked for after the request', async () => {
  const { client } = await registerAt({ simulator: { hostMode: 'afterRequest', companies: [company] } })
  await client.captured({ timeoutMs: 30_000 })
  expect((await client.list('TipoDFe=0')).length).toBeGreaterThan(0)
})

test.each([
  ['an unknown chain', { homologacao: { isRootKnown: false } }, /não conseguimos confirmar a identidade do servidor/],
  [
    'a chain without its intermediate',
    { simulator: { hostMode: 'leafOnly' } },
    /não mostrou o certificado da autoridade/,
  ],
  ['a weak DH key', { simulator: { hostMode: 'weakDh' } }, /para todas as empresas .* não oferece uma criptografia/],
  ['TLS 1.3 only', { simulator: { hostMode: 'tls13' } }, /para todas as empresas .* não oferece uma criptografia/],
  ['HTTP on the port', { simulator: { hostMode: 'plainHttp' } }, /um proxy no caminho, respondeu sem criptografia/],
  [
    'the 403 page of IIS',
    { simulator: { hostMode: 'iis403' } },
    /não viu ou não aceitou o certificado digital \(erro 403\)/,
  ],
] as [string, ProductOptions, RegExp][])(
  'the page of the company says at the first failure: %s',
  async (_, options, words) => {
    expect(await firstSentence(options)).toMatch(words)
  },
)

test('the page of the company says at the first failure that nobody listens', async () => {
  const port = await freePort()
  expect(await firstSentence({ homologacao: { port } })).toMatch(
    /não atende às conexões deste sistema, e nada foi enviado/,
  )
})

test('the page of the company says at the first failure that something on the way cuts the connection', async () => {
  const proxy = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const { port } = proxy.address() as AddressInfo
  expect(await firstSentence({ homologacao: { port } })).toMatch(/conexão com a SEFAZ foi interrompida/)
})
