import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'

// Section 7 of the specification, real-time channel: three strings by the name of the workspace, and what they tell of.
const cnpj = '12ABC34501DE35'
const patience = { timeout: 60_000, interval: 50 }
let product: Product
let ana: Client
const account = { nome: 'Ana Souza', email: 'ana-aberta@exemplo.com.br', senha: 'segredo1' }
const frames: string[] = []
let socket: WebSocket
let wsId: string

beforeAll(async () => {
  product = await startProduct({
    hourMs: 600_000,
    simulator: { seed: 5, documentsEach: 80, companies: [{ cnpj, nome: 'EMPRESA ALFA LTDA', uf: 'SP' }] },
    config: { announcementPauseMs: 200 },
  })
  ana = await newClient(product, account)
  const login = await ana.call<{ token: string; wsId: string }>('POST', '/v1/api/Auth', account)
  const { token } = login.body.data
  wsId = login.body.data.wsId
  const negotiated = await fetch(new URL('/notification-hub/negotiate?negotiateVersion=1', product.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  const { connectionToken } = (await negotiated.json()) as { connectionToken: string }
  const address = new URL(`/notification-hub?id=${connectionToken}&access_token=${token}`, product.url)
  socket = new WebSocket(address.href.replace('http', 'ws'))
  socket.addEventListener('message', ({ data }) => frames.push(String(data)))
  await new Promise((resolve) => socket.addEventListener('open', resolve))
  socket.send('{"protocol":"json","version":1}\x1e')
})
afterAll(async () => {
  socket?.close()
  await product?.[Symbol.asyncDispose]()
})

const told = () =>
  frames
    .join('')
    .split('\x1e')
    .filter(Boolean)
    .map((record) => JSON.parse(record) as { type?: number; target?: string; arguments?: string[] })
    .filter(({ type }) => type === 1)

test('a company, its first capture, an export and a Ciência are told, each in three strings', async () => {
  const id = await ana.register(cnpj, 'EMPRESA ALFA LTDA')
  await vi.waitFor(() => expect(headers()).toContain('Empresa cadastrada'), patience)
  await ana.captured({ timeoutMs: 60_000 })
  await vi.waitFor(() => expect(headers()).toContain('Captura concluída'), patience)
  const rows = await ana.list(`TipoDFe=0&IdEmpresa=${id}&Status=1`)
  const idsDFe = rows.slice(0, 3).map(({ idDfe }) => idDfe)
  await ana.call('POST', '/v1/api/DocumentosFiscais/manifestar-nfe', {
    justificativa: 'recebemos',
    idsDFe,
    tipoManifestacao: 1,
  })
  await vi.waitFor(() => expect(headers().join()).toContain('Manifestação'), patience)
  await ana.call('POST', '/v1/api/DocumentosFiscais/exportar', { idsDFe, xml: true, pdf: false, planilha: false })
  await vi.waitFor(() => expect(headers()).toContain('Exportação pronta'), patience)
  for (const record of told()) {
    expect(record).toEqual({
      type: 1,
      target: wsId,
      arguments: [expect.any(String), expect.any(String), expect.any(String)],
    })
    expect(['sucesso', 'error', 'alert']).toContain(record.arguments![2])
  }
})

const headers = () => told().map(({ arguments: [header = ''] = [] }) => header)
