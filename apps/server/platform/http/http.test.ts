import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { route } from '@vigia/contract/route'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readConfig } from '../../config.ts'
import type { Context } from '../context.ts'
import { AppError } from '../errors.ts'
import { createLogger } from '../log.ts'
import { testSession } from '../testing.ts'
import { handle, serveRoutes } from './http.ts'

const token = 'testtesttesttesttesttest'
const words = z.object({ nome: z.string().optional(), partes: z.array(z.string()).optional() })

const echo = route({
  method: 'POST',
  path: '/v1/api/Eco',
  access: 'public',
  summary: 'x',
  body: words,
  query: z.object({ a: z.string().optional() }),
  data: words,
})
const upload = route({
  method: 'PUT',
  path: '/v1/api/Arquivo/{id}',
  access: 'session',
  summary: 'x',
  params: z.object({ id: z.string() }),
  form: z.object({ Arquivo: z.file().optional(), Texto: z.string().optional() }),
  data: z.object({ bytes: z.number(), from: z.string() }),
})
const failing = route({
  method: 'GET',
  path: '/v1/api/Falha/{how}',
  access: 'public',
  summary: 'x',
  params: z.object({ how: z.string() }),
  data: z.null(),
})
const file = route({
  method: 'GET',
  path: '/v1/api/Copia/{how}',
  access: 'public',
  summary: 'x',
  params: z.object({ how: z.string() }),
  produces: 'application/zip',
})
const slow = route({
  method: 'GET',
  path: '/v1/api/Demora',
  access: 'session',
  summary: 'x',
  data: z.null(),
})
const slowSearch = route({
  method: 'GET',
  path: '/v1/api/Busca',
  access: 'session',
  summary: 'x',
  query: z.object({ CampoPesquisa: z.string().optional() }),
  data: z.null(),
})
const slowForAll = route({ method: 'GET', path: '/v1/api/Entrada', access: 'public', summary: 'x', data: z.null() })
const click = route({ method: 'POST', path: '/clique', access: 'public', summary: 'x', data: z.null() })
const list = route({
  method: 'GET',
  path: '/v1/api/Lista',
  access: 'session',
  summary: 'x',
  query: z.object({ n: z.coerce.number(), busca: z.string().optional() }),
  data: z.array(z.string()),
})
const pdf = route({ method: 'GET', path: '/v1/api/Pdf', access: 'public', summary: 'x', produces: 'application/pdf' })

// Counts of the streams of `file`: pieces pulled and streams closed.
const streams = { pulled: 0, closed: 0 }

async function* pieces(how: string): AsyncGenerator<Buffer> {
  try {
    for (let piece = 0; how === 'endless' || piece < 4; piece++) {
      streams.pulled++
      yield Buffer.alloc(how === 'endless' ? 100_000 : 10, 'x')
      if (how === 'slow') await setTimeout(100)
      if (how === 'broken' && piece === 1) throw new Error('a disk with a secret')
    }
  } finally {
    streams.closed++
  }
}

const held: (() => void)[] = []

async function holdOn() {
  await new Promise<void>((resolve) => held.push(resolve))
  return { data: null }
}

const handlers = [
  handle(slow, holdOn),
  handle(slowSearch, 'search', holdOn),
  handle(slowForAll, 'slow', holdOn),
  handle(click, async () => ({ data: null })),
  handle(echo, async (_, { body }) => ({ data: body })),
  handle(upload, async (_, { form, caller }) => ({
    data: { bytes: form.Arquivo?.size ?? form.Texto?.length ?? 0, from: caller.address },
  })),
  handle(failing, async (_, { params }) => {
    if (params.how === 'refusal') throw new AppError('too-many', 'Devagar.', { retryAfterMs: 1500 })
    if (params.how === 'cut') throw new Error('Connection terminated unexpectedly')
    if (params.how === 'long') throw Object.assign(new Error('canceling statement'), { code: '57014' })
    if (params.how === 'busy') throw Object.assign(new Error('canceling statement'), { code: '55P03' })
    throw new Error('a bug with a secret')
  }),
  handle(file, async (_, { params }) => ({
    content: Readable.from(pieces(params.how)),
    fileName: 'Notas de "São João" (2026).zip',
  })),
  handle(list, async (_, { query }) => ({ data: Array.from({ length: query.n }, () => 'São João') })),
  handle(pdf, async () => ({ content: new Uint8Array([37, 80, 68, 70]) })),
]

const servers: FastifyInstance[] = []

async function serve(env: Record<string, string> = {}): Promise<FastifyInstance> {
  // These handlers ask for nothing else.
  const ctx = { config: readConfig(env, process.cwd()), log: createLogger('silent') } as Context
  const app = await serveRoutes(ctx, handlers, async (_, given) =>
    given.startsWith(token) ? { ...testSession(given === token ? 1 : 2), shared: given.endsWith('visit') } : null,
  )
  servers.push(app)
  return app
}

let app: FastifyInstance
let port: number

beforeAll(async () => {
  app = await serve()
  app.server.requestTimeout = 200
  app.server.headersTimeout = 200
  await app.listen({ port: 0, host: '127.0.0.1' })
  port = (app.server.address() as AddressInfo).port
})
afterAll(() => Promise.all(servers.map((server) => server.close())))

const authorization = `Bearer ${token}`
const json = { 'content-type': 'application/json' }

describe('the parameters of the address', () => {
  const get = async (query: string) => {
    const { statusCode, ...answer } = await app.inject({ url: `/v1/api/Lista?${query}`, headers: { authorization } })
    return [statusCode, answer.json().message] as const
  }

  test('that the call does not have are refused, with those that it has', async () => {
    const accepted = 'Esta chamada aceita os parâmetros n, busca.'
    expect(await get('n=1&busca=a')).toEqual([200, 'Operação realizada com sucesso'])
    expect(await get('n=1&busca[]=a')).toEqual([400, `Parâmetro desconhecido: busca[]. ${accepted}`])
    expect(await get('n=1&Busca=a&N=')).toEqual([400, `Parâmetro desconhecido: Busca, N. ${accepted}`])
    expect(await get('n=1&__proto__=a&toString=b')).toEqual([
      400,
      `Parâmetro desconhecido: __proto__, toString. ${accepted}`,
    ])
    const many = Array.from({ length: 1_000 }, (_, index) => `x${index}=`).join('&')
    expect(await get(`n=1&${many}`)).toEqual([400, `Parâmetro desconhecido: x0, x1, x2. ${accepted}`])
  })

  test('are none where the call has none, whatever its method', async () => {
    for (const [method, url] of [
      ['GET', '/v1/api/Pdf?x=1'],
      ['HEAD', '/v1/api/Pdf?x='],
      ['GET', '/v1/api/Falha/x?how=refusal'],
    ] as const)
      expect((await app.inject({ method, url })).statusCode).toBe(400)
    expect((await app.inject({ url: '/v1/api/Pdf?x=1' })).json().message).toBe(
      'Parâmetro desconhecido: x. Esta chamada não aceita parâmetros no endereço.',
    )
  })
})

/** Sends `text` on a bare socket and returns the response. */
async function send(text: string): Promise<{ status: number; head: string; body: string }> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (part) => {
    answer += part
  })
  socket.on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, body }
}

function form(parts: [name: string, value: string, filename?: string][]): {
  payload: string
  headers: Record<string, string>
} {
  const payload = parts
    .map(([name, value, filename]) => {
      const file = filename === undefined ? '' : `; filename="${filename}"\r\nContent-Type: application/octet-stream`
      return `--x\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`
    })
    .join('')
  return {
    payload: `${payload}--x--\r\n`,
    headers: { authorization, 'content-type': 'multipart/form-data; boundary=x' },
  }
}

describe('every answer', () => {
  test.each([
    ['an answer', 'POST', '/v1/api/Eco', 200],
    ['bytes', 'GET', '/v1/api/Pdf', 200],
    ['a refusal', 'GET', '/v1/api/Falha/refusal', 429],
    ['a failure of ours', 'GET', '/v1/api/Falha/bug', 500],
    ['a missing session', 'PUT', '/v1/api/Arquivo/1', 401],
    ['an unknown address', 'GET', '/v1/api/Nada', 404],
    ['an address that cannot be read', 'GET', '/v1/api/%E0%A4%A', 400],
    ['another method', 'GET', '/v1/api/Eco', 405],
  ] as const)('%s has the headers', async (_, method, url, status) => {
    const { headers, statusCode } = await app.inject({ method, url })
    expect(statusCode).toBe(status)
    expect(headers).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    })
    expect(headers['permissions-policy']).toContain('camera=()')
    expect(headers['cache-control']).toContain('no-store')
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    for (const name of ['x-powered-by', 'server', 'strict-transport-security', 'access-control-allow-origin'])
      expect(headers).not.toHaveProperty(name)
  })

  test('the number of a request is ours, and the one of the message', async () => {
    const theirs = { 'x-request-id': 'theirs', 'request-id': 'theirs' }
    const { headers, body } = await app.inject({ method: 'GET', url: '/v1/api/Falha/bug', headers: theirs })
    expect(headers['x-request-id']).not.toBe('theirs')
    expect(JSON.parse(body).message).toContain(`Código: ${headers['x-request-id']}`)
    expect(body).not.toContain('secret')
  })

  test('HSTS is for a public address with https', async () => {
    const secure = await serve({ PUBLIC_URL: 'https://vigia.exemplo.com.br' })
    const { headers } = await secure.inject('/v1/api/Pdf')
    expect(headers['strict-transport-security']).toBe('max-age=31536000')
  })

  test('says when to come back', async () => {
    expect((await app.inject('/v1/api/Falha/refusal')).headers['retry-after']).toBe('2')
    for (const how of ['busy', 'cut']) {
      const response = await app.inject(`/v1/api/Falha/${how}`)
      expect(response.statusCode).toBe(503)
      expect(response.headers['retry-after']).toBe('5')
      expect(response.json().message).toMatch(/seguros; tente de novo/)
    }
    const tooLong = await app.inject('/v1/api/Falha/long')
    expect(tooLong).toMatchObject({ statusCode: 503, headers: { 'retry-after': '60' } })
    expect(tooLong.json().message).toMatch(/demorou demais e foi interrompida\..* escolha um período menor/)
  })
})

describe('pages of other origins', () => {
  const origin = 'https://erp.exemplo.com.br'

  test('those of the configuration may call, with a token and without cookies', async () => {
    const open = await serve({ CORS_ORIGINS: `${origin},https://outro.exemplo.com.br` })
    const asked = {
      origin,
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,content-type',
    }
    const preflight = await open.inject({ method: 'OPTIONS', url: '/v1/api/Arquivo/1', headers: asked })
    expect(preflight.statusCode).toBe(204)
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT',
      'access-control-allow-headers': 'Authorization, Content-Type, Accept',
      vary: 'Origin',
    })
    expect(preflight.headers).not.toHaveProperty('access-control-allow-credentials')
    for (const [method, url] of [
      ['POST', '/v1/api/Eco'],
      ['GET', '/v1/api/Falha/bug'],
      ['PUT', '/v1/api/Arquivo/1'],
      ['GET', '/v1/api/Nada'],
    ] as const) {
      const { headers } = await open.inject({ method, url, headers: { origin } })
      expect(headers['access-control-allow-origin'], url).toBe(origin)
    }
  })

  test('others may not', async () => {
    const open = await serve({ CORS_ORIGINS: origin })
    for (const stranger of ['https://erp.exemplo.com.br.mal.example', 'http://erp.exemplo.com.br', 'null']) {
      const { headers } = await open.inject({ method: 'POST', url: '/v1/api/Eco', headers: { origin: stranger } })
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      expect(headers.vary).toBe('Origin')
    }
  })

  test('without any there are no such headers, and no preflight', async () => {
    const { headers, statusCode } = await app.inject({ method: 'OPTIONS', url: '/v1/api/Eco', headers: { origin } })
    expect(statusCode).toBe(405)
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})

describe('methods', () => {
  test.each([
    ['DELETE', '/v1/api/Eco', 'POST'],
    ['PATCH', '/v1/api/Arquivo/1', 'PUT'],
    ['POST', '/v1/api/Pdf', 'HEAD, GET'],
    ['TRACE', '/v1/api/Eco', 'POST'],
  ] as const)('%s %s is told what there is', async (method, url, allow) => {
    const { status, head, body } = await send(
      `${method} ${url} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    )
    expect(status).toBe(405)
    expect(head.toLowerCase()).toContain(`allow: ${allow.toLowerCase()}\r\n`)
    expect(body).toContain('"statusCode":405')
  })

  test.each(['PROPFIND', 'PURGE', 'CONNECT', 'FOO'])('%s does no harm', async (method) => {
    const { status } = await send(`${method} /v1/api/Nada HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    // No response is fine, too: the tunnel is not opened.
    expect([400, 404, 0]).toContain(status || 0)
    expect((await app.inject('/v1/api/Pdf')).statusCode).toBe(200)
  })

  test('HEAD is a GET without its body', async () => {
    const { statusCode, headers, body } = await app.inject({ method: 'HEAD', url: '/v1/api/Pdf' })
    expect([statusCode, headers['content-type'], headers['content-length'], body]).toEqual([
      200,
      'application/pdf',
      '4',
      '',
    ])
  })
})

describe('what people read of theirs', () => {
  const read = (n: number, accepted?: string) =>
    app.inject({
      url: `/v1/api/Lista?n=${n}`,
      headers: { authorization, ...(accepted === undefined ? {} : { 'accept-encoding': accepted }) },
    })

  test.each([
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['deflate', undefined, Buffer.from],
    [undefined, undefined, Buffer.from],
  ])('comes smaller to who accepts %s', async (accepted, encoding, open) => {
    const { rawPayload, headers } = await read(500, accepted)
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(rawPayload.length),
      'cache-control': 'no-store',
      vary: 'Accept-Encoding',
    })
    expect(headers['content-encoding']).toBe(encoding)
    expect(JSON.parse(open(rawPayload).toString()).data).toEqual(Array(500).fill('São João'))
    if (encoding) expect(rawPayload.length).toBeLessThan(300)
  })

  test('comes as it is when it fits into a packet', async () => {
    const { headers } = await read(5, 'br')
    expect(headers).toMatchObject({ vary: 'Accept-Encoding' })
    expect(headers).not.toHaveProperty('content-encoding')
  })

  test('says to whom it may be given where others may call', async () => {
    const open = await serve({ CORS_ORIGINS: 'https://erp.exemplo.com.br' })
    const headers = { authorization, 'accept-encoding': 'br', origin: 'https://erp.exemplo.com.br' }
    expect((await open.inject({ url: '/v1/api/Lista?n=500', headers })).headers.vary).toBe('Origin, Accept-Encoding')
  })

  test('is all that is made smaller: the length of a compressed secret tells of it', async () => {
    const payload = JSON.stringify({ nome: 'x'.repeat(5_000) })
    const headers = { ...json, 'accept-encoding': 'br' }
    const answer = await app.inject({ method: 'POST', url: '/v1/api/Eco', payload, headers })
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.json().data.nome).toHaveLength(5_000)
  })
})

describe('files', () => {
  const fetchFile = (how: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}/v1/api/Copia/${how}`, init)

  test('have their name, in both ways to write it', async () => {
    const { headers } = await fetchFile('short')
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition':
        'attachment; filename="Notas de _S_o Jo_o_ (2026).zip"; filename*=UTF-8\'\'Notas%20de%20%22S%C3%A3o%20Jo%C3%A3o%22%20%282026%29.zip',
      'cache-control': 'private, no-store',
    })
    expect((await app.inject('/v1/api/Pdf')).headers).not.toHaveProperty('content-disposition')
  })

  test('may take longer than a request is waited for', async () => {
    expect(await (await fetchFile('slow')).text()).toBe('x'.repeat(40))
  })

  test('that break off are never taken for whole ones', async () => {
    const response = await fetchFile('broken')
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow()
  })

  test('are made as fast as they are taken, and no longer when the caller leaves', async () => {
    const before = { ...streams }
    const leaving = new AbortController()
    const { body } = await fetchFile('endless', { signal: leaving.signal })
    await body!.getReader().read()
    // Until the buffers on the way are full.
    for (let pulled = -1; pulled !== streams.pulled; await setTimeout(200)) pulled = streams.pulled
    expect(streams.pulled - before.pulled).toBeLessThan(200)
    expect(streams.closed).toBe(before.closed)
    leaving.abort()
    await expect.poll(() => streams.closed).toBe(before.closed + 1)
  })

  test('are not made for who asks for the headers only', async () => {
    const before = streams.pulled
    const { status, headers } = await fetchFile('endless', { method: 'HEAD' })
    expect([status, headers.get('content-type')]).toEqual([200, 'application/zip'])
    expect(streams.pulled).toBe(before)
  })
})

describe('bodies', () => {
  const post = (payload: string | Buffer, headers: object = json) =>
    app.inject({ method: 'POST', url: '/v1/api/Eco', payload, headers: { ...headers } })

  test.each([
    ['broken', '{"nome": "segredo', 'O corpo da requisição não é um JSON válido.'],
    ['no object', '[]', 'A requisição não é válida.'],
    ['of another type', '{"nome": 1}', 'O campo nome não é válido.'],
    ['with NUL', '{"nome": "a\\u0000"}', 'A requisição traz um caractere que não é aceito.'],
    ['deep', `${'['.repeat(7_000)}${']'.repeat(7_000)}`, 'O corpo da requisição tem níveis demais.'],
    ['deep in what nobody asked for', `{"x": ${'{"x":'.repeat(30)}1${'}'.repeat(31)}`, /níveis demais/],
    ['with a prototype', '{"__proto__": {"nome": "x"}}', 'O corpo tem um campo que não é aceito.'],
    ['with a prototype inside', '{"partes": [{"__proto__": 1}]}', 'O corpo tem um campo que não é aceito.'],
  ])('JSON that is %s is refused with words', async (_, payload, message) => {
    const answer = await post(payload)
    expect(answer.statusCode).toBe(400)
    expect(answer.json().message).toMatch(message)
    expect(answer.body).not.toContain('segredo')
  })

  test('constructor is a name like any other', async () => {
    expect((await post('{"constructor": {"prototype": {"nome": "x"}}}')).json().data).toEqual({})
    expect(({} as { nome?: string }).nome).toBeUndefined()
  })

  test('16 kB of JSON are too much for an open call, less is not', async () => {
    expect((await post(JSON.stringify({ nome: 'x'.repeat(15 * 1024) }))).statusCode).toBe(200)
    const answer = await post(JSON.stringify({ nome: 'x'.repeat(16 * 1024) }))
    expect(answer.statusCode).toBe(413)
    expect(answer.json().message).toBe('O corpo da requisição é grande demais.')
  })

  test.each([
    ['text/plain', '{}'],
    ['application/x-www-form-urlencoded', 'nome=x'],
    ['application/xml', '<nome/>'],
    ['not a type', '{}'],
    ['multipart/form-data; boundary=x', '--x--\r\n'],
  ])('%s is not JSON, and that is said', async (type, payload) => {
    const answer = await post(payload, { 'content-type': type })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().message).toMatch(/^Envie os dados como JSON/)
  })

  test('a call without an input takes the form of a mail program, up to a size', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const send = (payload: string) => app.inject({ method: 'POST', url: '/clique', headers, payload })
    expect((await send('List-Unsubscribe=One-Click')).statusCode).toBe(200)
    expect((await send('x'.repeat(20_000))).statusCode).toBe(413)
  })

  test('a parameter that comes twice is refused by its name', async () => {
    const answer = await app.inject({ method: 'POST', url: '/v1/api/Eco?a=1&a=2&__proto__=1', headers: json })
    expect(answer.statusCode).toBe(400)
    expect(answer.json().errors).toEqual([
      'Parâmetro desconhecido: __proto__. Esta chamada aceita os parâmetros a.',
      'O parâmetro a foi enviado mais de uma vez.',
    ])
  })

  test('nothing is read of a stranger', async () => {
    const { headers, payload } = form([['Texto', 'x']])
    const request = { ...headers, authorization: 'Bearer of-somebody-else-altogether' }
    for (const [type, body] of [
      ['multipart/form-data; boundary=x', payload],
      ['application/json', '{'],
      ['text/plain', 'x'],
    ] as const) {
      const url = '/v1/api/Arquivo/1'
      const options = { method: 'PUT', url, payload: body, headers: { ...request, 'content-type': type } } as const
      expect((await app.inject(options)).statusCode, type).toBe(401)
    }
  })
})

describe('forms', () => {
  const put = (parts: [string, string, string?][]) =>
    app.inject({ method: 'PUT', url: '/v1/api/Arquivo/1', ...form(parts) })

  test('are wanted where a form belongs, and JSON is refused with words', async () => {
    const answer = await app.inject({
      method: 'PUT',
      url: '/v1/api/Arquivo/1',
      headers: { authorization },
      payload: {},
    })
    expect([answer.statusCode, answer.json().message]).toEqual([
      400,
      expect.stringMatching(/^Envie os dados como form/),
    ])
  })

  test.each([
    ['has no boundary', 'multipart/form-data', 'x'],
    ['is cut off', 'multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="Senha"\r\n\r\na'],
  ])('a form that %s is refused', async (_, type, payload) => {
    const headers = { authorization, 'content-type': type }
    const answer = await app.inject({ method: 'PUT', url: '/v1/api/Arquivo/1', headers, payload })
    expect(answer.json()).toMatchObject({ success: false, statusCode: 400 })
  })

  test('a file of 128 kB is taken', async () => {
    const answer = await put([['Arquivo', 'x'.repeat(128 * 1024), 'a.pfx']])
    expect(answer.json().data).toEqual({ bytes: 128 * 1024, from: '127.0.0.1' })
  })

  test.each([
    ['a larger file', [['Arquivo', 'x'.repeat(128 * 1024 + 1), 'a.pfx']], 413],
    ['three files', ['a', 'b', 'c'].map((name) => [name, 'x', 'x.pfx']), 413],
    ['a long text', [['Texto', 'x'.repeat(9_000)]], 413],
    ['a long name', [['x'.repeat(200), 'x']], 413],
    ['many fields', Array.from({ length: 60 }, (_, n) => [`campo${n}`, 'x']), 413],
    ['a prototype', [['__proto__', 'x']], 400],
    ['a prototype as a file', [['constructor', 'x', 'a.pfx']], 400],
    [
      'a field twice',
      [
        ['Texto', 'x'],
        ['Texto', 'y'],
      ],
      400,
    ],
    ['a text where a file belongs', [['Arquivo', 'x']], 400],
    ['a file where a text belongs', [['Texto', 'x', 'a.txt']], 400],
  ] as [string, [string, string, string?][], number][])('%s is refused with words', async (_, parts, status) => {
    const answer = await put(parts)
    expect(answer.statusCode).toBe(status)
    expect(answer.json()).toMatchObject({ success: false, data: null, statusCode: status })
    expect(answer.json().message).toMatch(/^(O|Um) (arquivo|formulário|campo) /)
  })
})

describe('the host of a request', () => {
  test.each([
    ['localhost:3000', 200],
    ['LOCALHOST', 200],
    ['127.0.0.1', 200],
    ['[::1]:3000', 200],
    ['vigia.exemplo.com.br', 200],
    ['vigia.exemplo.com.br:443', 200],
    ['exemplo.com.br', 400],
    ['localhost.exemplo.com.br', 400],
    ['vigia.exemplo.com.br@outro', 400],
    ['localhost:a', 400],
  ])('%s', async (host, status) => {
    const open = await serve({ PUBLIC_URL: 'https://vigia.exemplo.com.br' })
    const response = await open.inject({ url: '/v1/api/Pdf', headers: { host, authorization } })
    expect(response.statusCode).toBe(status)
    if (status === 400) expect(response.json().message).toContain('atende em https://vigia.exemplo.com.br:')
  })
})

describe('connections', () => {
  // The server looks for them every five seconds: both wait for the same look.
  test('a body and a form that do not come are not waited for', async () => {
    const [body, form] = await Promise.all([
      send(
        'POST /v1/api/Eco HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
      ),
      send(
        `PUT /v1/api/Arquivo/1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 5000\r\n\r\n--x\r\nContent-Disposition: form-data; name="Texto"\r\n\r\nabc`,
      ),
    ])
    expect(body.status).toBe(408)
    expect(JSON.parse(body.body)).toMatchObject({ success: false, statusCode: 408 })
    expect(body.head.toLowerCase()).toContain('x-request-id: ')
    expect([408, 400]).toContain(form.status)
    expect((await app.inject('/v1/api/Pdf')).statusCode).toBe(200)
  })

  test.each([
    ['headers of 20 kB', `GET /v1/api/Pdf HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    ['an address of 20 kB', `GET /v1/api/Pdf?${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
    ['what is not HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n\r\n', 400],
    ['two hosts', 'GET /v1/api/Pdf HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx',
      400,
    ],
  ])('%s: %#', async (_, text, status) => {
    const answer = await send(text)
    expect(answer.status).toBe(status)
    expect(JSON.parse(answer.body)).toMatchObject({ success: false, statusCode: status })
  })

  test('after a body that was too large, the next request on the connection is responded to, even one that cannot be read', async () => {
    const body = 'x'.repeat(200_000)
    const large = `POST /v1/api/Eco HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    socket.write(large)
    expect(await once(socket, 'data')).toEqual([expect.stringContaining('HTTP/1.1 413 ')])
    socket.write(`GET /v1/api/Pdf HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(await once(socket, 'data')).toEqual([expect.stringContaining('HTTP/1.1 431 ')])
    socket.destroy()
  })

  test('HTTP/1.0 needs no host', async () => {
    expect((await send('GET /v1/api/Pdf HTTP/1.0\r\n\r\n')).status).toBe(200)
  })

  test('an address of 10 kB is nobody’s', async () => {
    expect((await app.inject(`/v1/api/Falha/${'x'.repeat(10_000)}/y`)).statusCode).toBe(404)
  })
})

describe('the calls of a workspace', () => {
  test('are carried out four at a time, those of another beside them, and beyond a hundred waiting are refused', async () => {
    const open = await serve()
    const ask = (who: string) => open.inject({ url: '/v1/api/Demora', headers: { authorization: `Bearer ${who}` } })
    const many = Array.from({ length: 105 }, () => ask(token))
    const other = ask(`${token}2`)
    await expect.poll(() => held.length).toBe(5)
    const refused = await Promise.race(many)
    expect(refused).toMatchObject({ statusCode: 429, headers: { 'retry-after': '2' } })
    expect(refused.json().message).toBe(
      'Há chamadas demais desta conta ao mesmo tempo. Nada foi perdido; tente de novo em instantes.',
    )
    const all = await endAll([...many, other], 5)
    expect(all.filter(({ statusCode }) => statusCode === 200)).toHaveLength(105)
  })

  test('keep their places while their work goes on, also when their clients leave', async () => {
    const open = await serve()
    await open.listen({ port: 0, host: '127.0.0.1' })
    const { port } = open.server.address() as AddressInfo
    const leaving = new AbortController()
    const ask = (path: string, who = token, signal?: AbortSignal) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${who}` }, signal })
    const calls = Array.from({ length: 4 }, () => ask('/v1/api/Demora', token, leaving.signal))
    await expect.poll(() => held.length).toBe(4)
    leaving.abort()
    await Promise.allSettled(calls)
    await expect.poll(() => promisify(open.server.getConnections).call(open.server)).toBe(0)
    let answered = false
    const next = ask('/v1/api/Lista?n=1').then(({ status }) => {
      answered = true
      return status
    })
    await once(open.server, 'request')
    await ask('/v1/api/Lista?n=1', `${token}2`)
    expect(answered).toBe(false)
    for (const goOn of held.splice(0)) goOn()
    expect(await next).toBe(200)
  })
})

/** Lets calls go on until all have ended; no more than `most` run at the same time. */
async function endAll<T>(calls: Promise<T>[], most = Number.POSITIVE_INFINITY): Promise<T[]> {
  let isOver = false
  const all = Promise.all(calls).finally(() => {
    isOver = true
  })
  while (!isOver) {
    expect(held.length).toBeLessThanOrEqual(most)
    for (const goOn of held.splice(0)) goOn()
    await new Promise(setImmediate)
  }
  return all
}

describe('slow calls', () => {
  test('of a workspace are carried out one at a time, with others beside', async () => {
    const open = await serve()
    const ask = (path: string, who = token) => open.inject({ url: path, headers: { authorization: `Bearer ${who}` } })
    const calls = [ask('/v1/api/Busca?CampoPesquisa=e')]
    await expect.poll(() => held.length).toBe(1)
    calls.push(ask('/v1/api/Busca'))
    await expect.poll(() => held.length).toBe(2)
    calls.push(ask('/v1/api/Busca?CampoPesquisa=a'), ask('/v1/api/Demora'))
    calls.push(ask('/v1/api/Busca?CampoPesquisa=a', `${token}2`))
    await expect.poll(() => held.length).toBe(4)
    await endAll(calls)
  })

  test('of those who are not logged in are counted by address; more than wait there are refused, and only there', async () => {
    const open = await serve()
    const ask = (remoteAddress: string) => open.inject({ url: '/v1/api/Entrada', remoteAddress })
    const many = Array.from({ length: 102 }, () => ask('203.0.113.7'))
    await expect.poll(() => held.length).toBe(1)
    const refused = await Promise.race(many)
    expect(refused).toMatchObject({ statusCode: 429, headers: { 'retry-after': '2' } })
    expect(refused.json().message).toBe(
      'Há chamadas demais deste endereço ao mesmo tempo. Nada foi perdido nem alterado; tente de novo em instantes.',
    )
    const other = ask('203.0.113.8')
    await expect.poll(() => held.length).toBe(2)
    const member = open.inject({ url: '/v1/api/Demora', headers: { authorization }, remoteAddress: '203.0.113.7' })
    await expect.poll(() => held.length).toBe(3)
    await endAll([...many, other, member])
  })

  test('of the visitors of a shared account are counted by network, and not with those of others', async () => {
    const open = await serve()
    const ask = (remoteAddress: string, who = `${token}visit`) =>
      open.inject({
        url: '/v1/api/Busca?CampoPesquisa=e',
        headers: { authorization: `Bearer ${who}` },
        remoteAddress,
      })
    const calls = [ask('203.0.113.7'), ask('203.0.113.7')]
    await expect.poll(() => held.length).toBe(1)
    calls.push(ask('203.0.113.8'), ask('2001:db8::1'), ask('2001:db8:0:ff::2'))
    await expect.poll(() => held.length).toBe(3)
    // A workspace of its own has one place however many networks ask.
    calls.push(ask('203.0.113.9', `${token}2`), ask('203.0.113.10', `${token}2`))
    await expect.poll(() => held.length).toBe(4)
    await new Promise(setImmediate)
    expect(held.length).toBe(4)
    await endAll(calls)
  })
})

describe('where a call comes from', () => {
  const claim = (server: FastifyInstance, headers: object) =>
    server.inject({
      method: 'PUT',
      url: '/v1/api/Arquivo/1',
      payload: '--x--\r\n',
      headers: { ...form([]).headers, ...headers },
    })

  test('nobody is believed but the proxies of the configuration', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    expect((await claim(app, headers)).json().data.from).toBe('127.0.0.1')
    const behind = await serve({ TRUSTED_PROXIES: '127.0.0.1' })
    expect((await claim(behind, headers)).json().data.from).toBe('203.0.113.7')
    const twice = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }
    expect((await claim(behind, twice)).json().data.from).toBe('203.0.113.7')
  })

  test('what a proxy passes on is an address or is nothing', async () => {
    const behind = await serve({ TRUSTED_PROXIES: '127.0.0.1' })
    for (const text of ['<script>', 'unknown', "'; drop table", ''])
      expect((await claim(behind, { 'x-forwarded-for': text })).json().data.from, text).toBe('127.0.0.1')
  })
})
