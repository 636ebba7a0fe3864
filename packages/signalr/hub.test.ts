import { get } from 'node:http'
import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { type Client, createHub } from './hub.ts'
import {
  ask,
  connectPolling,
  connectSocket,
  connectStream,
  handshake,
  identity,
  negotiate,
  openSocket,
  openStream,
  path,
  refusedUpgrade,
  startHub,
  type User,
  until,
} from './testing.ts'

const eventStream = { Accept: 'text/event-stream' }

describe('negotiation', () => {
  it('gives a public id and a secret token in version 1', async () => {
    await using test = await startHub()
    const { status, headers, body } = await ask(`${test.url}/negotiate?negotiateVersion=1&useStatefulReconnect=true`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain;charset=UTF-8' },
      body: 'x',
    })
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'content-type': expect.stringMatching(/^application\/json/),
      'cache-control': expect.stringContaining('no-store'),
    })
    expect(JSON.parse(body)).toEqual({
      negotiateVersion: 1,
      connectionId: expect.stringMatching(/^[\w-]{32}$/),
      connectionToken: expect.stringMatching(/^[\w-]{32}$/),
      accessToken: expect.stringMatching(/^[\w-]{32}$/),
      availableTransports: [
        { transport: 'WebSockets', transferFormats: ['Text'] },
        { transport: 'ServerSentEvents', transferFormats: ['Text'] },
        { transport: 'LongPolling', transferFormats: ['Text'] },
      ],
    })
    const { connectionId, connectionToken } = JSON.parse(body)
    expect(connectionId).not.toBe(connectionToken)
    expect((await ask(`${test.url}?id=${connectionId}`)).status).toBe(404)
    expect((await ask(`${test.url}?id=${connectionToken}`)).status).toBe(200)
  })

  it.each(['', '?negotiateVersion=0'])('gives one id in version 0: %s', async (query) => {
    await using test = await startHub()
    const { body } = await ask(`${test.url}/negotiate${query}`, { method: 'POST' })
    const answer = JSON.parse(body)
    expect(answer).toMatchObject({ negotiateVersion: 0, connectionId: expect.any(String) })
    expect(answer).not.toHaveProperty('connectionToken')
    expect(answer).not.toHaveProperty('accessToken')
    expect((await ask(`${test.url}?id=${answer.connectionId}`)).status).toBe(200)
  })

  it.each([
    ['negotiateVersion=99', 1],
    ['NEGOTIATEVERSION=1', 1],
    ['negotiateVersion=1&other=x', 1],
  ])('takes %s for version %s', async (query, version) => {
    await using test = await startHub()
    const { body } = await ask(`${test.url}/negotiate?${query}`, { method: 'POST' })
    expect(JSON.parse(body).negotiateVersion).toBe(version)
  })

  it.each(['x', '', '1.5', '-1'])('answers an error and keeps nothing for version "%s"', async (version) => {
    await using test = await startHub()
    const { status, body } = await ask(`${test.url}/negotiate?negotiateVersion=${version}`, { method: 'POST' })
    expect(status).toBe(200)
    expect(Object.keys(JSON.parse(body))).toEqual(['error'])
    expect(test.hub.metrics().waiting).toBe(0)
  })

  it('refuses other methods', async () => {
    await using test = await startHub()
    const { status, headers } = await ask(`${test.url}/negotiate`)
    expect([status, headers.allow]).toEqual([405, 'GET, POST, DELETE, OPTIONS'])
  })

  it('leaves other addresses to others', async () => {
    await using test = await startHub()
    expect(await ask(`${test.url}-other`)).toMatchObject({ status: 404, body: 'elsewhere' })
    expect(await ask(`${test.url}/other`)).toMatchObject({ status: 404, body: 'elsewhere' })
  })
})

describe('tokens', () => {
  it('are asked for on every request, before anything else', async () => {
    await using test = await startHub()
    test.sessions.set('over', identity('ana', 'over', Date.now()))
    const stream = await connectStream(test.url)
    const { id } = await connectPolling(test.url)
    for (const token of ['', 'wrong', 'with space', 'over']) {
      for (const [method, address, headers] of [
        ['POST', `${test.url}/negotiate?negotiateVersion=1`, {}],
        ['GET', `${test.url}/negotiate`, {}],
        ['GET', `${test.url}?id=${id}`, {}],
        ['GET', `${test.url}?id=${id}`, eventStream],
        ['GET', test.url, {}],
        ['GET', `${test.url}?id=unknown`, {}],
        ['POST', `${test.url}?id=${id}`, {}],
        ['POST', `${test.url}?id=${stream.id}`, {}],
        ['DELETE', `${test.url}?id=${id}`, {}],
        ['PUT', test.url, {}],
      ] as const) {
        const { status, headers: answered } = await ask(address, { method, token, headers })
        expect([method, address, status]).toEqual([method, address, 401])
        expect(answered['www-authenticate']).toBe('Bearer')
      }
      expect(await refusedUpgrade(test.url, `id=${id}`, token)).toBe(401)
      expect(await refusedUpgrade(test.url, '', token)).toBe(401)
    }
    expect(test.hub.metrics().open).toEqual({ WebSockets: 0, ServerSentEvents: 1, LongPolling: 1 })
  })

  it('are taken from the address by WebSockets and event streams only', async () => {
    await using test = await startHub()
    const socket = await openSocket(test.url, 'access_token=ana-1', '')
    socket.socket.close()
    const { connectionToken } = await negotiate(test.url)
    const query = `?id=${connectionToken}&access_token=ana-1`
    expect((await ask(`${test.url}/negotiate${query}`, { method: 'POST', token: '' })).status).toBe(401)
    expect((await ask(`${test.url}${query}`, { token: '' })).status).toBe(401)
    expect((await ask(`${test.url}${query}`, { method: 'POST', token: '' })).status).toBe(401)
    expect((await ask(`${test.url}${query}`, { method: 'DELETE', token: '' })).status).toBe(401)
    const stream = await openStream(test.url, 'ana-1', connectionToken)
    expect(stream.status).toBe(200)
  })

  it('need not be in any address: the ticket of the negotiation attaches its own connection, once', async () => {
    await using test = await startHub()
    const [one, other] = [await negotiate(test.url), await negotiate(test.url)]
    const query = `id=${one.connectionToken}&access_token=${one.accessToken}`
    const asTicket = { method: 'POST', token: one.accessToken }
    expect((await ask(`${test.url}?id=${other.connectionToken}`, asTicket)).status).toBe(401)
    expect(await refusedUpgrade(test.url, `access_token=${one.accessToken}`, '')).toBe(401)
    expect(await refusedUpgrade(test.url, query, '', 'https://other.example')).toBe(403)
    const socket = await openSocket(test.url, query, '')
    expect(await refusedUpgrade(test.url, query, '')).toBe(409)
    socket.socket.close()
    await socket.closed
    await until(() => test.hub.metrics().ending === 0)
    expect(await refusedUpgrade(test.url, query, '')).toBe(401)
    const stream = await openStream(test.url, other.accessToken, other.connectionToken)
    expect(stream.status).toBe(200)
    expect(test.hub.disconnect(({ session }) => session === 'ana-1')).toBe(1)
    expect((await openStream(test.url, other.accessToken, other.connectionToken)).status).not.toBe(200)
  })

  it('negotiate again by a ticket until its connection is open or its session ends', async () => {
    await using test = await startHub()
    const again = async (token: string) =>
      (await ask(`${test.url}/negotiate?negotiateVersion=1`, { method: 'POST', token })).status
    const first = await negotiate(test.url)
    const second = await negotiate(test.url, { token: first.accessToken })
    expect(second.accessToken).toBe(first.accessToken)
    const query = `id=${second.connectionToken}&access_token=${first.accessToken}`
    const { socket, frames } = await openSocket(test.url, query, '')
    expect(await again(first.accessToken)).toBe(200)
    socket.send(handshake)
    await until(() => frames.length > 0)
    expect(await again(first.accessToken)).toBe(401)
    const { accessToken } = await negotiate(test.url, { token: 'ana-2' })
    test.hub.disconnect(({ session }) => session === 'ana-2')
    expect(await again(accessToken)).toBe(401)
  })

  it('of a negotiation open one connection, however many were negotiated by them', async () => {
    await using test = await startHub()
    const first = await negotiate(test.url)
    const second = await negotiate(test.url, { token: first.accessToken })
    const { socket, frames } = await openSocket(
      test.url,
      `id=${second.connectionToken}&access_token=${first.accessToken}`,
      '',
    )
    socket.send(handshake)
    await until(() => frames.length > 0)
    expect(await refusedUpgrade(test.url, `id=${first.connectionToken}&access_token=${first.accessToken}`, '')).toBe(
      401,
    )
  })

  it('take their scheme in any case', async () => {
    await using test = await startHub()
    const headers = { Authorization: 'bEARER ana-1' }
    expect((await ask(`${test.url}/negotiate`, { method: 'POST', token: '', headers })).status).toBe(200)
  })

  it('of another user open no connection, those of the same user do', async () => {
    await using test = await startHub()
    const stream = await connectStream(test.url)
    const polling = await connectPolling(test.url)
    const socket = await connectSocket(test.url)
    const { connectionToken: waiting } = await negotiate(test.url)
    const asBia = { token: 'bia-1' }
    for (const id of [stream.id, polling.id, socket.id, waiting]) {
      const address = `${test.url}?id=${id}`
      expect((await ask(address, asBia)).status).toBe(403)
      expect((await ask(address, { ...asBia, headers: eventStream })).status).toBe(403)
      expect((await ask(address, { ...asBia, method: 'POST', body: handshake })).status).toBe(403)
      expect((await ask(address, { ...asBia, method: 'DELETE' })).status).toBe(403)
      expect(await refusedUpgrade(test.url, `id=${id}`, 'bia-1')).toBe(403)
    }
    expect(
      (await ask(`${test.url}?id=${stream.id}`, { token: 'ana-2', method: 'POST', body: '{"type":6}\x1e' })).status,
    ).toBe(200)
  })

  it('that cannot be looked up are told to come later', async () => {
    const authenticate = () => Promise.reject(new Error('database away'))
    await using test = await startHub({ authenticate })
    const { status, headers } = await ask(`${test.url}/negotiate`, { method: 'POST' })
    expect([status, headers['retry-after']]).toEqual([503, '5'])
    expect(await refusedUpgrade(test.url, '')).toBe(503)
    expect(test.logged.filter(({ level }) => level === 'error')).toHaveLength(2)
  })

  it('whose session ends while it is looked up are looked up again', async () => {
    const looks: (() => void)[] = []
    const known = new Map([['t', identity('ana', 't')]])
    const authenticate = async (token: string) => {
      const found = known.get(token) ?? null
      await new Promise<void>((resolve) => looks.push(resolve))
      return found
    }
    await using test = await startHub({ authenticate })
    const answer = ask(`${test.url}/negotiate`, { method: 'POST', token: 't' })
    await until(() => looks.length === 1)
    known.clear()
    test.hub.disconnect(({ session }) => session === 't')
    looks[0]!()
    await until(() => looks.length === 2)
    looks[1]!()
    expect((await answer).status).toBe(401)
  })

  it('and ids are in no line of the log', async () => {
    await using test = await startHub()
    const socket = await connectSocket(test.url)
    socket.say({})
    await socket.closed
    await ask(`${test.url}?id=${socket.id}&access_token=wrong`, { token: '', headers: eventStream })
    await until(() => test.hub.metrics().ending === 0)
    const log = JSON.stringify(test.logged)
    expect(log).toContain(socket.connectionId)
    expect(log).not.toContain(socket.id)
    expect(log).not.toMatch(/ana-1|wrong/)
  })

  it('is what an id of version 0 is, and it is in no line of the log', async () => {
    await using test = await startHub()
    const { body } = await ask(`${test.url}/negotiate`, { method: 'POST' })
    const { connectionId } = JSON.parse(body) as { connectionId: string }
    const socket = await openSocket(test.url, `id=${connectionId}`)
    socket.socket.send(handshake)
    await until(() => socket.frames.length > 0)
    socket.say({ type: 7 })
    await socket.closed
    await until(() => test.hub.metrics().ending === 0)
    expect(test.logged).not.toEqual([])
    expect(JSON.stringify(test.logged)).not.toContain(connectionId)
  })
})

describe('requests that do not fit', () => {
  it('are 400 without id and 404 with one that is unknown', async () => {
    await using test = await startHub()
    for (const [query, status] of [
      ['', 400],
      ['?id=', 400],
      ['?id=unknown', 404],
    ] as const) {
      expect((await ask(`${test.url}${query}`)).status).toBe(status)
      expect((await ask(`${test.url}${query}`, { headers: eventStream })).status).toBe(status)
      expect((await ask(`${test.url}${query}`, { method: 'POST' })).status).toBe(status)
      expect((await ask(`${test.url}${query}`, { method: 'DELETE' })).status).toBe(status)
    }
    expect(await refusedUpgrade(test.url, 'id=unknown')).toBe(404)
  })

  it('are refused by the transport that came first', async () => {
    await using test = await startHub()
    const stream = await connectStream(test.url)
    const polling = await connectPolling(test.url)
    const socket = await connectSocket(test.url)
    const statuses = async (id: string) => [
      await refusedUpgrade(test.url, `id=${id}`),
      (await ask(`${test.url}?id=${id}`, { headers: eventStream })).status,
      (await ask(`${test.url}?id=${id}`, { method: 'POST', body: '{"type":6}\x1e' })).status,
    ]
    expect(await statuses(socket.id)).toEqual([409, 400, 405])
    expect(await statuses(stream.id)).toEqual([400, 409, 200])
    expect(await statuses(polling.id)).toEqual([400, 400, 200])
    for (const { id } of [socket, stream]) {
      expect((await ask(`${test.url}?id=${id}`)).status).toBe(400)
      expect((await ask(`${test.url}?id=${id}`, { method: 'DELETE' })).status).toBe(400)
    }
    expect((await ask(`${test.url}?id=${polling.id}`, { method: 'PUT' })).status).toBe(405)
    expect(test.hub.metrics().open).toEqual({ WebSockets: 1, ServerSentEvents: 1, LongPolling: 1 })
  })

  it('are refused before anybody is attached', async () => {
    await using test = await startHub()
    const { connectionToken } = await negotiate(test.url)
    expect((await ask(`${test.url}?id=${connectionToken}`, { method: 'POST', body: handshake })).status).toBe(400)
    expect((await ask(`${test.url}?id=${connectionToken}`, { method: 'DELETE' })).status).toBe(400)
  })
})

describe('limits', () => {
  const statuses = async (url: string, tokens: string[]) => {
    const all: number[] = []
    for (const token of tokens) all.push((await ask(`${url}/negotiate`, { method: 'POST', token })).status)
    return all
  }

  it.each([
    ['connectionsPerUserMax', 2, [200, 200, 429, 200]],
    ['negotiationsPerMinuteMax', 2, [200, 200, 429, 200]],
    ['connectionsPerAddressMax', 3, [200, 200, 200, 429]],
    ['connectionsMax', 3, [200, 200, 200, 503]],
    ['waitingMax', 3, [200, 200, 200, 503]],
  ])('%s', async (name, value, expected) => {
    await using test = await startHub({ limits: { [name]: value } })
    expect(await statuses(test.url, ['ana-1', 'ana-2', 'ana-1', 'bia-1'])).toEqual(expected)
  })

  it('count a WebSocket without negotiation, and forget who has left', async () => {
    await using test = await startHub({ limits: { connectionsPerUserMax: 1 } })
    const { socket } = await openSocket(test.url, '')
    expect(await refusedUpgrade(test.url, '')).toBe(429)
    socket.terminate()
    await until(() => test.hub.metrics().waiting === 0)
    expect(await statuses(test.url, ['ana-1'])).toEqual([200])
  })
})

describe('pages of other origins', () => {
  const origins = ['https://app.example']
  const foreign = { Origin: 'https://app.example' }

  it('get every answer with the headers that let them read it', async () => {
    await using test = await startHub({ origins })
    const preflight = await ask(`${test.url}/negotiate`, { method: 'OPTIONS', token: '', headers: foreign })
    expect(preflight.status).toBe(204)
    expect(preflight.headers['access-control-allow-methods']).toBe('GET, POST, DELETE')
    for (const name of ['authorization', 'x-requested-with', 'x-signalr-user-agent', 'content-type'])
      expect(preflight.headers['access-control-allow-headers']).toContain(name)
    const stream = await connectStream(test.url)
    for (const { headers } of [
      preflight,
      await ask(`${test.url}/negotiate`, { method: 'POST', headers: foreign }),
      await ask(`${test.url}/negotiate`, { method: 'POST', token: '', headers: foreign }),
      await ask(`${test.url}?id=${stream.id}`, { method: 'POST', body: '{"type":6}\x1e', headers: foreign }),
      await ask(`${test.url}?id=none`, { headers: foreign }),
    ])
      expect(headers).toMatchObject({
        'access-control-allow-origin': 'https://app.example',
        'access-control-allow-credentials': 'true',
        vary: 'Origin',
      })
  })

  it('that are strangers get none', async () => {
    await using test = await startHub({ origins })
    for (const method of ['OPTIONS', 'POST']) {
      const { headers } = await ask(`${test.url}/negotiate`, { method, headers: { Origin: 'https://evil.example' } })
      expect(headers).not.toHaveProperty('access-control-allow-origin')
      expect(headers.vary).toBe('Origin')
    }
  })

  it('open WebSockets only when they are known, those of our own always', async () => {
    await using test = await startHub({ origins })
    expect(await refusedUpgrade(test.url, '', 'ana-1', 'https://evil.example')).toBe(403)
    expect(await refusedUpgrade(test.url, '', 'ana-1', 'null')).toBe(403)
    for (const origin of ['https://app.example', new URL(test.url).origin, undefined]) {
      const { socket } = await openSocket(test.url, '', 'ana-1', { origin })
      socket.terminate()
    }
  })
})

describe('messages', () => {
  // As signalrcore, the client of Python programs, writes them.
  it('reach a client that negotiates without a version and says version 0 at the handshake', async () => {
    await using test = await startHub()
    const { body } = await ask(`${test.url}/negotiate`, { method: 'POST', body: '' })
    const { connectionId } = JSON.parse(body) as { connectionId: string }
    const client = await openSocket(test.url, `id=${connectionId}`)
    client.socket.send('{"protocol": "json", "version": 0}\x1e')
    await until(() => client.frames.length > 0)
    expect(client.frames).toEqual(['{}\x1e'])
    client.socket.send('{"type": 6}\x1e')
    expect(test.hub.send('ana', 'news', [1])).toBe(1)
    await until(() => client.records().at(-1)?.target === 'news')
  })

  it('go to the connections of one user, or to those whom a filter takes, and to nobody before the handshake', async () => {
    await using test = await startHub()
    const ana = await connectSocket(test.url)
    const second = await connectStream(test.url, 'ana-2')
    const bia = await connectSocket(test.url, 'bia-1')
    const early = await openSocket(test.url, '')
    expect(test.hub.send('ana', 'a', [1])).toBe(2)
    expect(test.hub.send(({ session }) => session !== 'ana-2', 'b', [2])).toBe(2)
    expect(test.hub.send((_, connectionId) => connectionId === bia.connectionId, 'c', [])).toBe(1)
    expect(test.hub.send('nobody', 'd', [])).toBe(0)
    expect(test.hub.send(() => true, 'end', [])).toBe(3)
    for (const client of [ana, second, bia]) await until(() => client.records().at(-1)?.target === 'end')
    const targets = (client: { records(): { target?: unknown }[] }) => client.records().map(({ target }) => target)
    expect(targets(ana)).toEqual([undefined, 'a', 'b', 'end'])
    expect(targets(second)).toEqual([undefined, 'a', 'end'])
    expect(targets(bia)).toEqual([undefined, 'b', 'c', 'end'])
    expect(ana.frames.at(-1)).toBe('{"type":1,"target":"end","arguments":[]}\x1e')
    expect(early.frames).toEqual([])
  })

  it('are serialised once, however many they are for', async () => {
    await using test = await startHub()
    const clients = await Promise.all([connectSocket(test.url), connectSocket(test.url), connectStream(test.url)])
    let times = 0
    const argument = {
      toJSON: () => {
        times += 1
        return 'x'
      },
    }
    expect(test.hub.send(() => true, 'once', [argument])).toBe(3)
    expect(times).toBe(1)
    await Promise.all(clients.map((client) => until(() => client.records().length === 2)))
  })
})

describe('inside Fastify', () => {
  it('takes requests before their body is read', async () => {
    const hub = createHub<User>({
      path,
      authenticate: async (token) => identity(token, token),
      log: { debug: () => {}, info: () => {}, error: () => {} },
    })
    const app = Fastify()
    app.addHook('onRequest', async (request, reply) => {
      if (hub.handle(request.raw, reply.raw)) reply.hijack()
    })
    app.addHook('preClose', () => hub.close())
    app.server.on('upgrade', (request, socket, head) => {
      if (!hub.upgrade(request, socket, head)) socket.destroy()
    })
    app.get('/other', async () => 'other')
    const url = `${await app.listen({ port: 0 })}${path}`
    const clients = await Promise.all([connectSocket(url), connectStream(url)])
    const polling = await connectPolling(url)
    const poll = polling.poll()
    expect(hub.send('ana-1', 'news', [])).toBe(3)
    for (const client of clients) await until(() => client.records().at(-1)?.target === 'news')
    expect((await poll).body).toContain('news')
    expect((await ask(url.replace(path, '/other'))).body).toBe('other')
    let requests = 0
    app.server.on('request', () => {
      requests += 1
    })
    const last = polling.poll()
    await until(() => requests === 1)
    await app.close()
    expect((await last).body).toBe('{"type":7,"allowReconnect":true}\x1e')
    for (const client of clients) expect(client.records().at(-1)).toEqual({ type: 7, allowReconnect: true })
    await new Promise((resolve) => get(url).on('error', resolve))
  })
})

describe('who sends', () => {
  it('hears of each connection when it opens and when it ends', async () => {
    const heard: string[] = []
    await using test = await startHub({
      opened: ({ user, connectionId }) => heard.push(`opened ${user.session} ${connectionId}`),
      ended: ({ user, connectionId }) => heard.push(`ended ${user.session} ${connectionId}`),
    })
    const { connectionToken } = await negotiate(test.url)
    const early = await openSocket(test.url, `id=${connectionToken}`)
    early.socket.terminate()
    const socket = await connectSocket(test.url)
    await until(() => heard.length === 1)
    socket.socket.terminate()
    const polling = await connectPolling(test.url, 'bia-1')
    await until(() => heard.length === 3)
    test.hub.disconnect(() => true)
    expect(heard.sort()).toEqual([
      `ended ana-1 ${socket.connectionId}`,
      `ended bia-1 ${polling.connectionId}`,
      `opened ana-1 ${socket.connectionId}`,
      `opened bia-1 ${polling.connectionId}`,
    ])
  })

  it('knows what has arrived over a WebSocket, and what has not', async () => {
    const clients: Client<User>[] = []
    await using test = await startHub({ opened: (client) => clients.push(client) })
    const { socket } = await connectSocket(test.url)
    const [client] = clients as [Client<User>]
    test.hub.send('ana', 'target', ['a'])
    expect(await client.reached()).toBe(true)
    socket.pause()
    test.hub.send('ana', 'target', ['b'])
    const waiting = [client.reached(), client.reached()]
    socket.terminate()
    expect(await Promise.all(waiting)).toEqual([false, false])
    expect(await client.reached()).toBe(false)
  })

  it('knows by the next poll what has arrived by polling', async () => {
    const clients: Client<User>[] = []
    await using test = await startHub({ opened: (client) => clients.push(client) })
    const polling = await connectPolling(test.url)
    const outcome: boolean[] = []
    test.hub.send('ana', 'target', ['a'])
    void clients[0]!.reached().then((reached) => outcome.push(reached))
    expect((await polling.poll()).body).toContain('"a"')
    expect(outcome).toEqual([])
    const next = polling.poll()
    await until(() => outcome.length > 0)
    test.hub.send('ana', 'target', ['b'])
    const lost = clients[0]!.reached()
    await next
    await polling.remove()
    expect([outcome, await lost]).toEqual([[true], false])
  })

  it('knows what has left over an event stream', async () => {
    const clients: Client<User>[] = []
    await using test = await startHub({ opened: (client) => clients.push(client) })
    const stream = await connectStream(test.url)
    test.hub.send('ana', 'target', ['a'])
    expect(await clients[0]!.reached()).toBe(true)
    stream.leave()
    await stream.ended
    await until(() => test.hub.metrics().open.ServerSentEvents === 0)
    expect(await clients[0]!.reached()).toBe(false)
  })
})
