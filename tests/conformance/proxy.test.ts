import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'

// The product behind the nginx of deploy/nginx.conf, as it is shipped but for names, ports and TLS. Where there is no nginx nothing can be shown.

const nginx = process.env.NGINX ?? 'nginx'
const isThere = spawnSync(nginx, ['-v']).status === 0
if (!isThere) console.log('there is no nginx on this machine: deploy/nginx.conf is not tried')

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

function localised(shipped: string, folder: string, front: number, back: string): string {
  const [, ...servers] = shipped.split(/^server \{$/m)
  const site = servers
    .at(-1)!
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${front};`)
    .replace(/^ {2}ssl_.*\n/gm, '')
    .replace('server_name vigia.exemplo.com.br;', 'server_name localhost;')
    .replace('/var/log/nginx/vigia.log', `${folder}/access.log`)
  const head = shipped.slice(0, shipped.indexOf('server {\n  listen')).replace('127.0.0.1:3000', new URL(back).host)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  return `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; events {}\nhttp { ${temporary.join(' ')}\n${head}\nserver {${site}\n}`
}

describe.runIf(isThere)('behind nginx', () => {
  let folder: string
  let product: Product
  let proxy: ChildProcess
  let url: string
  let client: Client

  const readLog = () => readFile(join(folder, 'access.log'), 'utf8')

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vigia-proxy-'))
    const front = await freePort()
    url = `http://localhost:${front}`
    product = await startProduct({ roles: ['api'], config: { publicUrl: url, trustedProxies: ['127.0.0.1', '::1'] } })
    const shipped = await readFile(new URL('../../deploy/nginx.conf', import.meta.url), 'utf8')
    await writeFile(join(folder, 'nginx.conf'), localised(shipped, folder, front, product.url))
    proxy = spawn(nginx, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'error.log')], {
      stdio: 'ignore',
    })
    await vi.waitFor(() => fetch(`${url}/health`), { timeout: 20_000 })
    client = await newClient({ url, simulator: product.simulator })
  })
  afterAll(async () => {
    proxy?.kill()
    await product?.[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  })

  test('a certificate is uploaded, the company is there, and the metrics are not', async () => {
    const id = await client.register('44555666000181')
    expect(id).toMatch(/\w/)
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
  })

  test('a page hears by the socket of the hub, and its token is in no log', async () => {
    const account = { email: 'hub@exemplo.com.br', senha: 'segredo1' }
    const other = await newClient({ url, simulator: product.simulator }, { nome: 'Ana Souza', ...account })
    const { body } = await other.call<{ token: string }>('POST', '/v1/api/Auth', account)
    const { token } = body.data
    const connection = new HubConnectionBuilder()
      .withUrl(`${url}/notification-hub`, {
        transport: HttpTransportType.WebSockets,
        skipNegotiation: true,
        accessTokenFactory: () => token,
      })
      .configureLogging(LogLevel.None)
      .build()
    await connection.start()
    expect(connection.state).toBe('Connected')
    await connection.stop()
    // It is written when the connection has ended.
    await vi.waitFor(async () => expect(await readLog()).toContain('"GET /notification-hub" 101'), { timeout: 20_000 })
    expect(await readLog()).not.toContain(token)
  })

  test('who calls is whom the proxy sees, whatever the caller says', async () => {
    const account = { email: 'endereco@exemplo.com.br', senha: 'segredo1' }
    const other = await newClient({ url, simulator: product.simulator }, { nome: 'Ana Souza', ...account })
    await fetch(`${url}/v1/api/Auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.7', forwarded: 'for=198.51.100.7' },
      body: JSON.stringify(account),
    })
    const { body } = await other.call<{ items: { endereco: string }[] }>('GET', '/v1/api/Auditoria')
    expect(new Set(body.data.items.map(({ endereco }) => endereco))).toEqual(new Set(['127.0.0.1']))
  })
})
