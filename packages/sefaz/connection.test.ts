import { constants } from 'node:crypto'
import { createServer as createTcpServer, type Socket } from 'node:net'
import tls from 'node:tls'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Connection, connect, onlyWhile } from './connection.ts'
import { type SefazErrorKind, UnsentError } from './error.ts'
import {
  failure,
  issue,
  newKey,
  serve,
  serverHelloWithoutRenegotiationInfo,
  type TestCertificateFiles,
  type TestServer,
  weakDh,
} from './testing.ts'

const key = newKey()
const root = issue({ commonName: 'AC Raiz de Teste', authority: true, key: newKey() })
const intermediate = issue({ commonName: 'AC de Teste', authority: true, issuer: root, key: newKey() })
const company = issue({ commonName: 'EMPRESA LTDA:12ABC34501DE35', issuer: intermediate, key })
const server = issue({ commonName: 'localhost', hosts: ['localhost'], issuer: root, key: newKey() })

const identity = { server, clientAuthorities: [root] }
const opened: Connection[] = []
afterEach(() => {
  for (const connection of opened.splice(0)) connection.close()
})

function open(
  options: Parameters<typeof connect>[1] = {},
  chain: TestCertificateFiles[] = [intermediate],
  client = company,
): Connection {
  const pems = chain.map(({ certificate }) => certificate)
  const connection = connect({ ...client, chain: pems }, { ca: [root.certificate], ...options })
  opened.push(connection)
  return connection
}

function post(connection: Connection, to: string, body = '<a>ação</a>', timeoutMs?: number) {
  return connection.post(to, { body, headers: { 'content-type': 'text/xml' }, timeoutMs })
}

async function expectFailure(response: Promise<unknown>, kind: SefazErrorKind, detail: RegExp) {
  const error = await failure(response)
  expect(error.kind).toBe(kind)
  expect(error.detail).toMatch(detail)
  expect(error.message).toMatch(/SEFAZ.+\. .+\.$/)
}

async function using(started: Promise<TestServer>): Promise<TestServer> {
  const peer = await started
  onTestFinished(() => peer[Symbol.asyncDispose]())
  return peer
}

async function tcpServer(accept: (socket: Socket) => void): Promise<number> {
  const peer = createTcpServer(accept)
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void peer.close())
  const address = peer.address()
  if (address === null || typeof address === 'string') throw new Error('not listening')
  return address.port
}

describe('a connection', () => {
  test('shows the certificate, sends the length and takes a socket for each call', async () => {
    const seen: unknown[] = []
    const peer = await using(
      serve(identity, (request, body, response) => {
        const { headers, method, socket } = request
        if (socket instanceof tls.TLSSocket) seen.push([method, headers, body, socket.getPeerCertificate().subject.CN])
        response.setHeader('x-one', '1')
        response.end('résposta')
      }),
    )
    const connection = open()
    for (let i = 0; i < 3; i++) {
      const response = await post(connection, `${peer.origin}/x`)
      expect(response).toMatchObject({ status: 200, headers: { 'x-one': '1' }, body: Buffer.from('résposta') })
    }
    expect(peer.connections()).toBe(3)
    const headers = {
      'content-type': 'text/xml',
      'content-length': '13',
      host: new URL(peer.origin).host,
      connection: 'close',
    }
    expect(seen).toEqual(Array(3).fill(['POST', headers, '<a>ação</a>', 'EMPRESA LTDA:12ABC34501DE35']))
  })

  test('closed in the middle of a call ends the call and repeats nothing', async () => {
    let received = 0
    const connection = open()
    const peer = await using(
      serve(identity, (_request, _body, response) => {
        received++
        if (received === 1) response.end('ok')
        else connection.close()
      }),
    )
    await post(connection, peer.origin)
    const waiting = failure(post(connection, peer.origin))
    expect((await waiting).kind).toBe('refused')
    expect({ received, connections: peer.connections() }).toEqual({ received: 2, connections: 2 })
  })

  test('sends nothing when it may not any more, by the time that it is connected', async () => {
    let received = 0
    const peer = await using(serve(identity, (_request, _body, response) => response.end(String(++received))))
    let isWanted = true
    const connection = onlyWhile(open(), () => isWanted)
    await post(connection, peer.origin)
    isWanted = false
    await expect(post(connection, peer.origin)).rejects.toThrow(UnsentError)
    isWanted = true
    expect((await post(connection, peer.origin)).body.toString()).toBe('2')
  })

  test('has the server prove the name of the address, whatever the headers say', async () => {
    const peer = await using(serve(identity, (_request, _body, response) => response.end('ok')))
    const headers = { host: 'elsewhere.example' }
    expect((await open().post(peer.origin, { body: 'x', headers })).body.toString()).toBe('ok')
  })

  test('follows no redirect', async () => {
    const peer = await using(
      serve(identity, (request, _, response) => {
        if (request.url === '/x') response.writeHead(302, { location: '/y' }).end()
        else response.end('followed')
      }),
    )
    expect(await post(open(), `${peer.origin}/x`)).toMatchObject({ status: 302, body: Buffer.alloc(0) })
  })

  test('adds the given authorities to the default ones', async () => {
    const peer = await using(serve(identity, (_request, _body, response) => response.end('ok')))
    const stranger = issue({ commonName: 'Outra AC', authority: true, key })
    const before = tls.getCACertificates('default')
    onTestFinished(() => tls.setDefaultCACertificates(before))
    tls.setDefaultCACertificates([root.certificate])
    expect((await post(open({ ca: [stranger.certificate] }), peer.origin)).status).toBe(200)
    expect((await post(open({ ca: undefined }), peer.origin)).status).toBe(200)
  })
})

describe('TLS', () => {
  const ok: Parameters<typeof serve>[1] = (_request, _body, response) => response.end('ok')

  test('a server of an unknown authority is refused, even when the environment switches verification off', async () => {
    const peer = await using(serve(identity, ok))
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    onTestFinished(() => void vi.unstubAllEnvs())
    await expectFailure(post(open({ ca: [] }), peer.origin), 'tls-chain', /UNABLE_TO_|SELF_SIGNED/)
  })

  test('a self-signed server, an expired one and one of another name are refused', async () => {
    const selfSigned = issue({ commonName: 'localhost', hosts: ['localhost'], key })
    const expired = issue({
      commonName: 'localhost',
      hosts: ['localhost'],
      issuer: root,
      key,
      from: new Date('2020-01-01'),
      to: new Date('2021-01-01'),
    })
    const other = issue({ commonName: 'outro', hosts: ['outro.exemplo'], issuer: root, key })
    for (const [server, detail] of [
      [selfSigned, /SELF_SIGNED/],
      [expired, /CERT_HAS_EXPIRED/],
      [other, /ALTNAME/],
    ] as const) {
      const peer = await using(serve({ ...identity, server }, ok))
      await expectFailure(post(open(), peer.origin), 'tls-chain', detail)
    }
  })

  test('the whole chain is sent: the server knows only the root', async () => {
    const peer = await using(serve(identity, ok))
    expect((await post(open(), peer.origin)).status).toBe(200)
    await failure(post(open({}, []), peer.origin))
  })

  const alerting = (alert: number) =>
    tcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, alert])))
    })

  test.each([
    [42, 'bad certificate'],
    [43, 'unsupported certificate'],
    [44, 'certificate revoked'],
    [45, 'certificate expired'],
    [46, 'certificate unknown'],
    [48, 'unknown ca'],
    [49, 'access denied'],
    [51, 'decrypt error'],
    [116, 'certificate required'],
  ])('alert %i, %s, refuses the certificate', async (alert, name) => {
    const port = await alerting(alert)
    await expectFailure(post(open(), `https://localhost:${port}`), 'certificate', new RegExp(`alert ${name}`))
  })

  test.each([
    [40, 'handshake failure'],
    [70, 'protocol version'],
    [71, 'insufficient security'],
    [80, 'internal error'],
  ])('alert %i, %s, is a fault of the host', async (alert, name) => {
    const port = await alerting(alert)
    await expectFailure(post(open(), `https://localhost:${port}`), 'encryption', new RegExp(`alert ${name}`))
  })

  test('a host that OpenSSL refuses is told with its reason, and nothing was sent', async () => {
    const ciphers = (names: string) => ({ ciphers: `${names}@SECLEVEL=0` })
    for (const [tls, reason] of [
      [{ ...ciphers('DHE-RSA-AES128-GCM-SHA256'), dhparam: weakDh, maxVersion: 'TLSv1.2' }, /dh key too small/],
      [{ ...ciphers('DEFAULT'), minVersion: 'TLSv1', maxVersion: 'TLSv1' }, /protocol version|unsupported protocol/],
    ] as const) {
      const peer = await using(serve({ ...identity, tls }, ok))
      const error = await failure(post(open(), peer.origin))
      expect(error).toMatchObject({ kind: 'encryption', sent: false, detail: expect.stringMatching(reason) })
      expect(error.message).toMatch(/criptografia que se possa aceitar, e por segurança nada foi enviado\./)
    }
    const port = await tcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(serverHelloWithoutRenegotiationInfo()))
    })
    await expectFailure(post(open(), `https://localhost:${port}`), 'encryption', /legacy renegotiation disabled/)
  })

  test('a host that does not send its intermediate authority, and one that speaks no TLS, are told as such', async () => {
    const alone = issue({ commonName: 'localhost', hosts: ['localhost'], issuer: intermediate, key: newKey() })
    const peer = await using(serve({ ...identity, server: alone }, ok))
    const incomplete = await failure(post(open(), peer.origin))
    expect(incomplete).toMatchObject({ kind: 'tls-chain', detail: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    expect(incomplete.message).toMatch(/não mostrou o certificado da autoridade que emitiu o dele/)
    const port = await tcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    })
    const plain = await failure(post(open(), `https://localhost:${port}`))
    expect(plain).toMatchObject({ kind: 'encryption', sent: false })
    expect(plain.message).toMatch(/respondeu sem criptografia/)
  })

  test('the certificate is shown where the server asks for it after the request', async () => {
    const seen: unknown[] = []
    const tlsOptions = { requestCert: false, secureOptions: constants.SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION }
    const peer = await using(
      serve({ ...identity, tls: tlsOptions }, ({ socket }, body, response) => {
        if (!(socket instanceof tls.TLSSocket)) throw new Error('no TLS')
        seen.push(socket.getPeerX509Certificate()?.subject)
        socket.renegotiate({ requestCert: true, rejectUnauthorized: false }, () => {
          seen.push(/EMPRESA LTDA:12ABC34501DE35/.test(socket.getPeerX509Certificate()?.subject ?? ''))
          response.end(body)
        })
      }),
    )
    expect((await post(open(), peer.origin, 'x')).body.toString()).toBe('x')
    expect(seen).toEqual([undefined, true])
  })

  test('a server of TLS 1.3 only is a fault of the host', async () => {
    const peer = await using(serve({ ...identity, tls: { minVersion: 'TLSv1.3' } }, ok))
    await expectFailure(post(open(), peer.origin), 'encryption', /protocol version/)
  })

  test('a connection that is cut before the message leaves sent nothing', async () => {
    const port = await tcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.destroy())
    })
    expect(await failure(post(open(), `https://localhost:${port}`))).toMatchObject({ kind: 'refused', sent: false })
  })
})

describe('time', () => {
  test('no connection', async () => {
    const port = await tcpServer((socket) => void socket.on('error', () => {}))
    const response = post(open({ connectTimeoutMs: 150 }), `https://localhost:${port}`)
    await expectFailure(response, 'unreached', /no connection in 150 ms/)
  })

  test('no answer', async () => {
    const peer = await using(serve(identity, () => {}))
    await expectFailure(post(open({ timeoutMs: 200 }), peer.origin), 'timeout', /no answer in 200 ms/)
    await expectFailure(post(open(), peer.origin, '', 150), 'timeout', /no answer in 150 ms/)
  })

  test('a response that never ends', async () => {
    const peer = await using(serve(identity, (_request, _body, response) => void response.write('<a>')))
    await expectFailure(post(open({ timeoutMs: 200 }), peer.origin), 'timeout', /no answer/)
  })
})

describe('the network', () => {
  test('no server listens', async () => {
    await expectFailure(post(open(), 'https://localhost:1'), 'unreached', /ECONNREFUSED/)
  })

  test('unknown host', async () => {
    await expectFailure(post(open(), 'https://nao-existe.invalid'), 'unreached', /ENOTFOUND|EAI_AGAIN/)
  })

  test('a reset of a new socket is not repeated', async () => {
    let received = 0
    const peer = await using(
      serve(identity, (request) => {
        received++
        request.socket.destroy()
      }),
    )
    await expectFailure(post(open(), peer.origin), 'refused', /ECONNRESET/)
    expect(received).toBe(1)
  })

  test('a response cut in the middle is not repeated', async () => {
    let received = 0
    const peer = await using(
      serve(identity, (_request, _body, response) => {
        if (++received === 1) return response.end('ok')
        response.writeHead(200, { 'content-length': 1000 })
        response.write('<a>')
        setTimeout(() => response.destroy(), 20)
      }),
    )
    const connection = open()
    await post(connection, peer.origin)
    await expectFailure(post(connection, peer.origin), 'refused', /ECONNRESET/)
    expect(received).toBe(2)
  })

  test('what is not HTTP', async () => {
    const plain = tls.createServer({ key: server.key, cert: server.certificate }, (socket) => {
      socket.on('error', () => {})
      socket.end('hello\r\n\r\n')
    })
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void plain.close())
    const address = plain.address()
    const port = address !== null && typeof address === 'object' ? address.port : 0
    await expectFailure(post(open(), `https://localhost:${port}`), 'http', /HPE_/)
  })

  test('a response without end in size', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 'x')
    const peer = await using(
      serve(identity, (_request, _body, response) => {
        response.on('error', () => {})
        for (let i = 0; i < 17; i++) response.write(megabyte)
        response.end()
      }),
    )
    await expectFailure(post(open(), peer.origin), 'http', /too large/)
  })
})
