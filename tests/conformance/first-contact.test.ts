import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vigia/postgres/port'
import { expect, onTestFinished, test } from 'vitest'
import { order, startAuthority } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { type ProductOptions, startProduct } from '../support/product.ts'

// From sign-up to the first document, or to its reason on the page of the company, at hosts that behave as the real ones were reported to.
const company = { cnpj: '44555666000181', nome: 'EMPRESA LTDA', uf: 'SP' }

interface CompanyRow {
  captura: { estado: string; mensagem: string }[]
}

async function startAt(options: ProductOptions) {
  const product = await startProduct({ homologacao: {}, ...options })
  onTestFinished(() => product[Symbol.asyncDispose]())
  return { product, client: await newClient(product) }
}

async function registerAt(options: ProductOptions) {
  const { product, client } = await startAt(options)
  await client.register(company.cnpj, company.nome)
  return { product, client }
}

async function firstSentence(options: ProductOptions): Promise<string> {
  const { client } = await registerAt(options)
  return failureOf(client)
}

async function failureOf(client: Client): Promise<string> {
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

test('the page of the company says at the first failure that a proxy on the way opens the TLS', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'vigia-proxy-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const proxy = await startAuthority(directory)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  expect(await firstSentence({ homologacao: { port: proxy.port } })).toMatch(
    /não conseguimos confirmar a identidade do servidor da SEFAZ e, por segurança, nada foi enviado/,
  )
})

test('the dashboard says that the clock is an hour off, and documents arrive', async () => {
  const { product, client } = await startAt({ simulator: { companies: [company] } })
  await order(product.simulator, 'clock', { advanceMs: 3_600_000 })
  await client.register(company.cnpj, company.nome)
  const notices = async () => (await client.call<{ avisos: string[] }>('GET', '/v1/api/Dashboard')).body.data.avisos
  await expect.poll(notices, { timeout: 30_000 }).toEqual([expect.stringMatching(/^O relógio do sistema está errado/)])
  expect((await client.list('TipoDFe=0')).length).toBeGreaterThan(0)
})

async function upload(client: Client, file: Uint8Array): Promise<string> {
  const form = new FormData()
  form.append('Certificado', new File([new Uint8Array(file)], 'empresa.pfx'))
  form.append('Senha', 'segredo')
  form.append('Cnpj', company.cnpj)
  const { status, body } = await client.call('POST', '/v1/api/Empresas', form)
  return `${status} ${body.message}`
}

test('the answer to the upload says why a file does not serve', async () => {
  const { product, client } = await startAt({ roles: ['api'] })
  const { simulator } = product
  const send = async (holder: { cnpj?: string; cpf?: string }) =>
    upload(client, await simulator.issueCertificate({ nome: 'EMPRESA', senha: 'segredo', sharedKey: true, ...holder }))
  expect(await send({ cnpj: '11222333000181' })).toMatch(/^400 Este certificado é de outro CNPJ .* Nada foi guardado/)
  expect(await send({ cpf: '52998224725' })).toMatch(/^400 Este é o certificado de uma pessoa \(e-CPF\)/)
  await order(simulator, 'clock', { advanceMs: 2 * 86_400_000 })
  expect(await send(company)).toMatch(/^400 Este certificado só começa a valer em .* Nada foi guardado/)
})

test.each([
  ['revoked', {}, undefined],
  ['without its intermediates, which the host refuses', { alone: true }, 'iis403'],
] as const)('the page of the company says at the first failure that a certificate is %s', async (_, kind, hostMode) => {
  const { product, client } = await startAt({ simulator: { hostMode } })
  const { simulator } = product
  const file = await simulator.issueCertificate({ ...company, ...kind, senha: 'segredo', sharedKey: true })
  if (hostMode === undefined) await order(simulator, 'revocations', { cnpj: company.cnpj })
  expect(await upload(client, file)).toMatch(/^200 /)
  expect(await failureOf(client)).toMatch(
    /não viu ou não aceitou o certificado .* não foi revogado e se o arquivo traz a cadeia completa/,
  )
})

test('a half-read authority file ends the start with its name', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'vigia-authority-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const { product } = await startAt({ roles: ['api'] })
  const file = join(folder, 'root.pem')
  await writeFile(file, product.simulator.ca.slice(0, 500))
  const { sefaz } = product.config
  await expect(startAt({ config: { sefaz: { ...sefaz, caFiles: [file] } } })).rejects.toThrow(
    /root\.pem está incompleto ou danificado.*Copie-o de novo/,
  )
})
