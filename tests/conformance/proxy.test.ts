import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr'
import { freePort } from '@vigia/embedded-postgres/port'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'
import { hasProxy, proxies, startProxy } from '../support/servers/proxy.ts'

// The product behind each proxy of deploy/. Where there is none on this machine nothing can be shown.

for (const kind of proxies) {
  const isThere = hasProxy(kind)
  if (!isThere) console.log(`there is no ${kind} on this machine: what deploy/ has for it is not tried`)
  describe.runIf(isThere)(`behind ${kind}`, () => {
    const stack = new AsyncDisposableStack()
    let proxy: Awaited<ReturnType<typeof startProxy>>
    let product: Product
    let url: string
    let securePort: number
    let client: Client

    beforeAll(async () => {
      const ports = { port: await freePort(), securePort: await freePort() }
      securePort = ports.securePort
      url = `http://localhost:${ports.port}`
      product = stack.use(
        await startProduct({ roles: ['api'], config: { publicUrl: url, trustedProxies: ['127.0.0.1', '::1'] } }),
      )
      proxy = stack.use(await startProxy(kind, ports, product.url))
      client = await newClient({ url, simulator: product.simulator })
    })
    afterAll(() => stack.disposeAsync())

    async function enter(email: string) {
      const account = { email, senha: 'segredo1' }
      const other = await newClient({ url, simulator: product.simulator }, { nome: 'Ana Souza', ...account })
      const { body } = await other.call<{ token: string }>('POST', '/v1/api/Auth', account)
      return { account, other, token: body.data.token }
    }

    test('a certificate is uploaded, the company is there, and the metrics are not', async () => {
      expect(await client.register('44555666000181')).toMatch(/\w/)
      for (const path of ['/metrics', '/%6detrics', '//metrics', '/metrics?a=1'])
        expect((await fetch(url + path)).status, path).toBe(404)
    })

    test('what has less than a megabyte is left to the product to refuse; what has more is refused', async () => {
      const send = (bytes: number) =>
        fetch(`${url}/v1/api/Auth`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email: 'x'.repeat(bytes) }),
        })
      const ours = await send(900_000)
      expect(await ours.json()).toMatchObject({ success: false, statusCode: 413 })
      // Refused by the proxy if it checks the length first, else by the product.
      const theirs = await send(1_400_000).then(
        ({ status }) => status,
        () => 'cut off',
      )
      expect([413, 502, 'cut off']).toContain(theirs)
    })

    test('a page hears by the socket of the hub and by an event stream, and their token is in no log', async () => {
      const { token } = await enter('hub@exemplo.com.br')
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

      const negotiated = await fetch(`${url}/notification-hub/negotiate?negotiateVersion=1`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
      })
      const { connectionToken } = (await negotiated.json()) as { connectionToken: string }
      const line = `${url}/notification-hub?id=${connectionToken}`
      const stream = await fetch(`${line}&access_token=${encodeURIComponent(token)}`, {
        headers: { accept: 'text/event-stream' },
      })
      await fetch(line, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: '{"protocol":"json","version":1}\x1e',
      })
      // The answer to the handshake, while the stream is open: nothing in between waits for more.
      let heard = ''
      for await (const part of stream.body!.pipeThrough(new TextDecoderStream())) {
        heard += part
        if (heard.includes('data: {}\x1e')) break
      }
      await connection.stop()
      // It is written when a connection has ended.
      await vi.waitFor(async () => expect(await proxy.readLog()).toMatch(/GET.*\/notification-hub"/), {
        timeout: 20_000,
      })
      for (const secret of [token, connectionToken]) expect(await proxy.readLog()).not.toContain(secret)
    })

    test('addresses that are secrets themselves are in no log', async () => {
      for (const path of ['/prazos/segredo-1.ics', '/avisos/segredo-2?x=segredo-3', '/entrar?codigo=segredo-4'])
        await fetch(url + path, { headers: { referer: `${url}/entrar?codigo=segredo-5` } })
      await vi.waitFor(async () => expect(await proxy.readLog()).toContain('/entrar'), { timeout: 20_000 })
      expect(await proxy.readLog()).not.toContain('segredo')
    })

    test('nor are they when the product does not respond', async () => {
      const ports = { port: await freePort(), securePort: await freePort() }
      await using alone = await startProxy(kind, ports, `http://127.0.0.1:${await freePort()}`)
      const paths = ['/prazos/segredo-1.ics', '/avisos/segredo-2?x=segredo-3', '/entrar?codigo=segredo-4']
      for (const path of paths) {
        const response = await fetch(`http://localhost:${ports.port}${path}`, { headers: { referer: '/segredo-5' } })
        expect(response.status).toBe(502)
      }
      await vi.waitFor(
        async () => {
          expect(await alone.readLog()).toMatch(/\/entrar.*502/)
          if (kind === 'caddy') expect(await alone.readErrors()).toMatch(/refused.*\/entrar|\/entrar.*refused/)
        },
        { timeout: 20_000 },
      )
      expect((await alone.readLog()) + (await alone.readErrors())).not.toContain('segredo')
    })

    test('who calls is whom the proxy sees, whatever the caller says', async () => {
      const { account, other } = await enter('endereco@exemplo.com.br')
      await fetch(`${url}/v1/api/Auth`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': '198.51.100.7',
          'x-forwarded-host': 'evil.example',
          'x-forwarded-proto': 'ftp',
          forwarded: 'for=198.51.100.7',
        },
        body: JSON.stringify(account),
      })
      const { body } = await other.call<{ items: { endereco: string }[] }>('GET', '/v1/api/Auditoria')
      expect(new Set(body.data.items.map(({ endereco }) => endereco))).toEqual(new Set(['127.0.0.1']))
    })

    test('by TLS, a response comes compressed once, as the product made it', async () => {
      const { other, token } = await enter('comprimida@exemplo.com.br')
      for (const cnpj of ['11222333000181', '44555666000181', '12ABC34501DE35']) await other.register(cnpj)
      const response = await getSecurely(
        await readFile(proxy.certificate),
        `https://localhost:${securePort}/v1/api/Empresas/obter-empresas`,
        {
          'accept-encoding': 'gzip',
          authorization: `Bearer ${token}`,
        },
      )
      expect([response.statusCode, response.headers['content-encoding']]).toEqual([200, 'gzip'])
      const body = JSON.parse(gunzipSync(await buffer(response)).toString())
      expect(body).toMatchObject({ success: true })
    })
  })
}

function getSecurely(ca: Buffer, url: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { ca, headers }, resolve).on('error', reject).end()
  })
}
