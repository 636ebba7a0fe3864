import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { EncodedMessage } from './records.ts'
import { defaultTimes } from './settings.ts'
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
  type PollClient,
  type SocketClient,
  startHub,
  stopClock,
  type TestHub,
  until,
} from './testing.ts'
import { LongPollingTransport } from './transports.ts'

const record = (value: object) => `${JSON.stringify(value)}\x1e`
/** A call, whose answer tells that it arrived and what it said. */
const call = (target: string, invocationId?: string) => ({ type: 1, target, arguments: [], invocationId })
const refusal = (target: string, invocationId: string) => ({
  type: 3,
  invocationId,
  error: `Unknown hub method '${target}'`,
})
const closeWith = (error: string) => ({ type: 7, error, allowReconnect: true })

/** A poll that the hub holds. */
async function held(test: TestHub, client: PollClient, signal?: AbortSignal) {
  let arrived = 0
  const count = () => {
    arrived += 1
  }
  test.server.on('request', count)
  const poll = client.poll(signal)
  await until(() => arrived > 0)
  test.server.off('request', count)
  return { poll }
}

/** Whatever was written before has arrived when this is settled. */
async function settled(test: TestHub, { records }: Pick<SocketClient, 'records'>) {
  const mark = Math.random()
  test.hub.send(() => true, 'mark', [mark])
  await until(() => records().some(({ arguments: args }) => (args as unknown[])?.[0] === mark))
}

const pings = ({ records }: Pick<SocketClient, 'records'>) => records().filter(({ type }) => type === 6).length

describe('a handshake', () => {
  it.each([
    [{ protocol: 'messagepack', version: 1 }, "The protocol 'messagepack' is not supported."],
    [{ protocol: 'json', version: 3 }, "Version 3 of the protocol 'json' is not supported."],
    [{ type: 6 }, 'The handshake request is not valid.'],
    [{ protocol: 'json', version: 1, more: 'x'.repeat(40_000) }, 'A record is larger than allowed.'],
  ])('that is wrong is answered with an error and an end', async (first, error) => {
    await using test = await startHub()
    const socket = await openSocket(test.url, '')
    socket.say(first)
    expect(await socket.closed).toBe(1000)
    expect(socket.records()).toEqual([{ error }])
    const stream = await openStream(test.url)
    await stream.post(record(first))
    await stream.ended
    expect(stream.records()).toEqual([{ error }])
  })

  it('that is wrong is told to a polling client by its poll', async () => {
    await using test = await startHub()
    const { connectionToken } = await negotiate(test.url)
    const address = `${test.url}?id=${connectionToken}`
    await ask(address)
    await ask(address, { method: 'POST', body: record({ type: 6 }) })
    expect((await ask(address)).body).toBe(record({ error: 'The handshake request is not valid.' }))
    await until(() => test.hub.metrics().ending === 0)
    expect((await ask(address)).status).toBe(404)
  })

  it('that does not come ends the connection, and so does not attaching', async () => {
    using clock = stopClock()
    await using test = await startHub()
    const socket = await openSocket(test.url, '')
    const stream = await openStream(test.url)
    const { connectionToken } = await negotiate(test.url)
    await clock.pass(14)
    expect(test.hub.metrics().waiting).toBe(3)
    await clock.pass(3)
    expect(await socket.closed).toBe(1000)
    await stream.ended
    expect(socket.records()).toEqual([{ error: 'Handshake was canceled.' }])
    expect(stream.records()).toEqual([{ error: 'Handshake was canceled.' }])
    expect((await ask(`${test.url}?id=${connectionToken}`)).status).toBe(404)
  })
})

describe('records', () => {
  it('may come with the handshake in one frame', async () => {
    await using test = await startHub()
    const socket = await openSocket(test.url, '')
    socket.socket.send(handshake + record(call('Note', '7')) + record({ type: 6 }))
    await until(() => socket.records().length === 2)
    expect(socket.records()).toEqual([{}, refusal('Note', '7')])
    expect(test.hub.metrics().received).toBe(2)
  })

  it('may be cut into messages, frames and bodies anywhere, characters included', async () => {
    await using test = await startHub()
    const { socket, records } = await connectSocket(test.url)
    expect(socket.extensions).toBe('')
    const [first, second] = [record(call('metade', '1')), Buffer.from(record(call('ação ✓ 𝛀', '2')))]
    socket.send(first.slice(0, 9))
    socket.send(first.slice(9))
    for (let at = 0; at < second.length; at += 1)
      socket.send(second.subarray(at, at + 1), { binary: false, fin: at === second.length - 1 })
    for (const byte of second) socket.send(Buffer.of(byte), { binary: true })
    const read = [refusal('metade', '1'), refusal('ação ✓ 𝛀', '2'), refusal('ação ✓ 𝛀', '2')]
    await until(() => records().length === 4)
    expect(records().slice(1)).toEqual(read)
    const stream = await connectStream(test.url)
    for (const piece of [first.slice(0, 9), first.slice(9), ...Array.from(second, (byte) => Buffer.of(byte))])
      expect(await stream.post(piece)).toMatchObject({ status: 200, body: '' })
    await until(() => stream.records().length === 3)
    expect(stream.records().slice(1)).toEqual(read.slice(0, 2))
  })

  it('that call without an id are not answered', async () => {
    await using test = await startHub()
    const socket = await connectSocket(test.url)
    socket.say(call('Nope'), call('Nope', '2'))
    await until(() => socket.records().length === 2)
    expect(socket.records()).toEqual([{}, refusal('Nope', '2')])
  })

  it('that break the protocol end their connection and no other', async () => {
    await using test = await startHub()
    const other = await connectSocket(test.url)
    for (const [wrong, error] of [
      ['{"type":6\x1e', 'A record is not valid JSON.'],
      ['[]\x1e', 'A record is not an object.'],
      [handshake, 'A record has no type.'],
      ['{"type":1,"arguments":[]}\x1e', 'An invocation has no target.'],
    ] as const) {
      const socket = await connectSocket(test.url)
      socket.socket.send(record({ type: 99 }) + wrong + record({ type: 6 }))
      expect(await socket.closed).toBe(1000)
      expect(socket.records()).toEqual([{}, closeWith(error)])
    }
    await settled(test, other)
  })

  it('in text that is no UTF-8 end it with 1007, in messages that are too large with 1009', async () => {
    await using test = await startHub({ limits: { bodyBytesMax: 50_000 } })
    const socket = await connectSocket(test.url)
    socket.socket.send(Buffer.of(0xff), { binary: false })
    expect(await socket.closed).toBe(1007)
    const large = await connectSocket(test.url)
    large.socket.send('x'.repeat(50_001))
    expect(await large.closed).toBe(1009)
    await until(() => test.hub.metrics().open.WebSockets === 0 && test.hub.metrics().ending === 0)
  })

  it('are limited one by one, not by the message that they share', async () => {
    await using test = await startHub()
    const socket = await connectSocket(test.url)
    socket.socket.send(record({ type: 6 }).repeat(4_000))
    await until(() => test.hub.metrics().received === 4_000)
    socket.socket.send('x'.repeat(20_000))
    socket.socket.send('x'.repeat(20_000))
    expect(await socket.closed).toBe(1000)
    expect(socket.records().at(-1)).toEqual(closeWith('A record is larger than allowed.'))

    const stream = await connectStream(test.url)
    expect((await stream.post(record({ type: 6 }).repeat(4_000))).status).toBe(200)
    await stream.post('x'.repeat(40_000))
    await stream.ended
    expect(stream.records().at(-1)).toEqual(closeWith('A record is larger than allowed.'))
    expect((await stream.post('x')).status).toBe(404)
  })

  it('that say goodbye are answered with one, and nobody is kept', async () => {
    await using test = await startHub()
    const socket = await connectSocket(test.url)
    socket.say({ type: 7 })
    expect(await socket.closed).toBe(1000)
    expect(socket.records().at(-1)).toEqual({ type: 7 })
    const stream = await connectStream(test.url)
    await stream.post(record({ type: 7 }))
    await stream.ended
    expect(stream.records().at(-1)).toEqual({ type: 7 })
    await until(() => test.hub.metrics().ending === 0)
  })
})

describe('a WebSocket', () => {
  it('whose client has sent a close frame is written to no more, and kept no longer than five seconds', async () => {
    using clock = stopClock()
    await using test = await startHub()
    const { port } = new URL(test.url)
    const upgrade = {
      Authorization: 'Bearer ana-1',
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': Buffer.alloc(16).toString('base64'),
    }
    const createConnection = () => connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true })
    const asked = request(test.url, { headers: upgrade, createConnection })
    asked.end()
    const socket = await new Promise<Socket>((resolve) =>
      asked.on('upgrade', (_, upgraded) => resolve(upgraded as Socket)),
    )
    socket.on('error', () => {})
    // Masked with zeros: a text frame and an empty close frame.
    socket.write(Buffer.concat([Buffer.of(0x81, 0x80 | handshake.length, 0, 0, 0, 0), Buffer.from(handshake)]))
    await until(() => test.hub.metrics().open.WebSockets === 1)
    let ended = false
    socket.on('end', () => {
      ended = true
    })
    socket.resume()
    socket.write(Buffer.of(0x88, 0x80, 0, 0, 0, 0))
    await until(() => ended)
    await clock.pass(2)
    expect(test.hub.metrics()).toMatchObject({ open: { WebSockets: 0 }, ending: 1 })
    await clock.pass(5)
    await until(() => test.hub.metrics().ending === 0)
  })

  it('that has not shaken hands is ended without a record, which it would take for the answer', async () => {
    await using test = await startHub()
    const socket = await openSocket(test.url, '')
    test.hub.disconnect(() => true)
    expect(await socket.closed).toBe(1000)
    expect(socket.frames).toEqual([])
  })
})

describe('time', () => {
  it('brings a ping every 15 seconds to sockets and streams, not before the handshake and not to polls', async () => {
    using clock = stopClock()
    await using test = await startHub()
    const socket = await connectSocket(test.url)
    const stream = await connectStream(test.url)
    const polling = await connectPolling(test.url)
    const early = await openSocket(test.url, '')
    const { poll } = await held(test, polling)
    for (const [seconds, expected] of [
      [14, 0],
      [2, 1],
      [13, 1],
      [2, 2],
      [15, 3],
    ] as const) {
      await clock.pass(seconds)
      await until(() => pings(socket) >= expected && pings(stream) >= expected)
      expect([pings(socket), pings(stream)]).toEqual([expected, expected])
    }
    expect(early.frames).toEqual([record({ error: 'Handshake was canceled.' })])
    await clock.pass(60)
    expect(await poll).toMatchObject({ status: 200, body: '' })
  })

  it('ends clients that have pinged once and say nothing more, and no others', async () => {
    using clock = stopClock()
    await using test = await startHub()
    const silent = await connectSocket(test.url)
    const stream = await connectStream(test.url)
    const never = await connectSocket(test.url)
    const lively = await connectSocket(test.url)
    for (const client of [silent, lively]) client.say({ type: 6 })
    await stream.post(record({ type: 6 }))
    await until(() => test.hub.metrics().received === 3)
    await clock.pass(29)
    // Bytes that are no record are no sign of life.
    silent.socket.send('{"type":')
    lively.say({ type: 99 })
    await until(() => test.hub.metrics().received === 4)
    await clock.pass(2)
    await silent.closed
    await stream.ended
    const last = closeWith('The client has said nothing for too long.')
    expect(silent.records().at(-1)).toEqual(last)
    expect(stream.records().at(-1)).toEqual(last)
    await settled(test, never)
    await settled(test, lively)
  })

  it('finds sockets whose other end answers no ping', async () => {
    using clock = stopClock()
    await using test = await startHub()
    const dead = await openSocket(test.url, '', 'ana-1', { autoPong: false })
    dead.socket.send(handshake)
    const alive = await connectSocket(test.url)
    await until(() => dead.frames.length === 1)
    let answered = 0
    alive.socket.on('ping', () => {
      answered += 1
    })
    for (let round = 1; round <= 3; round += 1) {
      await clock.pass(30)
      if (round < 3) await until(() => answered === round)
    }
    expect(await dead.closed).toBe(1006)
    await settled(test, alive)
  })

  it('ends a connection some seconds after its token, later when a later request shows a better one', async () => {
    using clock = stopClock()
    await using test = await startHub()
    test.sessions.set('short', identity('ana', 'short', Date.now() + 20_000))
    const socket = await connectSocket(test.url, 'short')
    const stream = await connectStream(test.url, 'short')
    await ask(`${test.url}?id=${stream.id}`, { method: 'POST', token: 'ana-1', body: record({ type: 6 }) })
    await clock.pass(24)
    await settled(test, socket)
    await clock.pass(2)
    expect(await socket.closed).toBe(1000)
    expect(socket.records().at(-1)).toEqual(closeWith('The token has ended.'))
    await settled(test, stream)
  })

  it('starts each minute of negotiations anew', async () => {
    using clock = stopClock()
    await using test = await startHub({ limits: { negotiationsPerMinuteMax: 1 } })
    const status = async () => (await ask(`${test.url}/negotiate`, { method: 'POST' })).status
    expect([await status(), await status()]).toEqual([200, 429])
    await clock.pass(61)
    expect(await status()).toBe(200)
  })
})

describe('an event stream', () => {
  it('begins at once, unbuffered and uncompressed', async () => {
    await using test = await startHub()
    const stream = await openStream(test.url)
    await until(() => stream.text() === ':\r\n')
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-store',
      'content-encoding': 'identity',
      'x-accel-buffering': 'no',
    })
    await stream.post(handshake)
    test.hub.send('ana', 'news', ['a\nb'])
    await until(() => stream.records().length === 2)
    expect(stream.text()).toBe(
      ':\r\ndata: {}\x1e\r\n\r\ndata: {"type":1,"target":"news","arguments":["a\\nb"]}\x1e\r\n\r\n',
    )
  })

  it('is free as soon as its client has gone', async () => {
    await using test = await startHub()
    const stream = await connectStream(test.url)
    stream.leave()
    await until(() => test.hub.metrics().open.ServerSentEvents === 0)
    expect(test.hub.metrics().ending).toBe(0)
    expect((await stream.post(record({ type: 6 }))).status).toBe(404)
  })

  it('tells a body that came too late that nobody took it', async () => {
    await using test = await startHub()
    const stream = await connectStream(test.url)
    const headers = { Authorization: 'Bearer ana-1' }
    const late = request(`${test.url}?id=${stream.id}`, { method: 'POST', headers })
    const answer = new Promise<number>((resolve) => {
      late.on('response', (response) => resolve(response.statusCode ?? 0))
    })
    const arrived = new Promise((resolve) => test.server.once('request', resolve))
    late.write('{"type"')
    await arrived
    // By the time that another one is answered, it is being read.
    await ask(`${test.url}?id=none`)
    test.hub.disconnect(() => true)
    late.end(':6}\x1e')
    expect(await answer).toBe(404)
  })

  it('takes bodies in the order in which they came, whatever their tokens take', async () => {
    const waits: (() => void)[] = []
    const authenticate = async (token: string) => {
      if (token === 'slow') await new Promise<void>((resolve) => waits.push(resolve))
      return identity('ana', token)
    }
    await using test = await startHub({ authenticate })
    const stream = await connectStream(test.url)
    let requests = 0
    test.server.on('request', () => {
      requests += 1
    })
    const post = (token: string, body: string) => ask(`${test.url}?id=${stream.id}`, { method: 'POST', token, body })
    const [first, second] = [record(call('first', '1')), record(call('second', '2'))]
    const slow = post('slow', first.slice(0, 10))
    await until(() => waits.length === 1)
    expect((await post('', 'x')).status).toBe(401)
    const fast = post('ana', first.slice(10) + second)
    await until(() => requests === 3)
    waits[0]!()
    expect([(await slow).status, (await fast).status]).toEqual([200, 200])
    await until(() => stream.records().length === 3)
    expect(stream.records().slice(1)).toEqual([refusal('first', '1'), refusal('second', '2')])
  })

  it('ends when a body is larger than allowed', async () => {
    await using test = await startHub({ limits: { bodyBytesMax: 10_000 } })
    const stream = await connectStream(test.url)
    expect((await stream.post('x'.repeat(200_000))).status).toBe(413)
    await stream.ended
    expect(stream.records().at(-1)).toEqual(closeWith('A request was larger than allowed.'))
  })
})

describe('long polling', () => {
  it('answers the first poll at once, the next with everything that has come up', async () => {
    await using test = await startHub()
    const { connectionToken } = await negotiate(test.url)
    const address = `${test.url}?id=${connectionToken}`
    const first = await ask(`${address}&_=1`)
    expect(first).toMatchObject({ status: 200, body: '' })
    expect(first.headers).toMatchObject({ 'cache-control': 'no-cache, no-store', pragma: 'no-cache' })
    await ask(address, { method: 'POST', body: handshake })
    test.hub.send('ana', 'a', [1])
    test.hub.send('ana', 'b', [])
    const { status, headers, body } = await ask(`${address}&_=2`)
    expect(status).toBe(200)
    expect(headers['content-type']).toMatch(/^text\/plain/)
    expect(body).toBe(
      `{}\x1e${record({ type: 1, target: 'a', arguments: [1] })}${record({ type: 1, target: 'b', arguments: [] })}`,
    )
  })

  it('ends a poll with 204 when the next one comes', async () => {
    await using test = await startHub()
    const client = await connectPolling(test.url)
    const first = await held(test, client)
    const second = await held(test, client)
    expect((await first.poll).status).toBe(204)
    test.hub.send('ana', 'news', [])
    expect((await second.poll).body).toContain('news')
  })

  it('answers an idle poll after 90 seconds and forgets who polls no more', async () => {
    using clock = stopClock()
    await using test = await startHub()
    const client = await connectPolling(test.url)
    const { poll } = await held(test, client)
    let answered = false
    void poll.then(() => {
      answered = true
    })
    await ask(`${test.url}?id=none`)
    await clock.pass(88)
    await ask(`${test.url}?id=none`)
    expect(answered).toBe(false)
    await clock.pass(3)
    expect(await poll).toMatchObject({ status: 200, body: '' })
    await clock.pass(13)
    expect(test.hub.metrics().open.LongPolling).toBe(1)
    await clock.pass(3)
    expect(test.hub.metrics()).toMatchObject({ open: { LongPolling: 0 }, ending: 0 })
    expect((await client.poll()).status).toBe(404)
  })

  it('keeps for the next poll what comes after one was broken off', async () => {
    await using test = await startHub()
    const client = await connectPolling(test.url)
    const stop = new AbortController()
    let closed = 0
    test.server.once('request', (_, response) => response.on('close', () => (closed += 1)))
    const { poll } = await held(test, client, stop.signal)
    stop.abort()
    await expect(poll).rejects.toThrow()
    await until(() => closed === 1)
    test.hub.send('ana', 'news', [])
    expect((await client.poll()).body).toContain('news')
  })

  it('is ended by DELETE', async () => {
    await using test = await startHub()
    const client = await connectPolling(test.url)
    const { poll } = await held(test, client)
    expect((await client.remove()).status).toBe(202)
    expect((await poll).status).toBe(204)
    for (const { status } of [await client.poll(), await client.post('x'), await client.remove()])
      expect(status).toBe(404)
    expect(test.hub.metrics().ending).toBe(0)
  })

  it('hears of its end by the next poll, and for 15 seconds', async () => {
    using clock = stopClock()
    await using test = await startHub()
    const client = await connectPolling(test.url)
    const absent = await connectPolling(test.url)
    test.hub.disconnect(() => true, { error: 'bye' })
    expect(test.hub.send(() => true, 'news', [])).toBe(0)
    expect((await client.post(record({ type: 6 }))).status).toBe(404)
    expect((await client.poll()).body).toBe(record({ type: 7, error: 'bye', allowReconnect: false }))
    await until(() => test.hub.metrics().ending === 1)
    expect((await client.poll()).status).toBe(404)
    await clock.pass(16)
    expect((await absent.poll()).status).toBe(404)
    expect(test.hub.metrics().ending).toBe(0)
  })

  it('ends a poll that comes while the last record is on its way', async () => {
    const responses: ServerResponse[] = []
    const server = createServer((_, response) => responses.push(response)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const answers = [0, 1, 2].map(() => ask(url))
    await until(() => responses.length === 3)
    const gone: true[] = []
    const ears = { receive: () => {}, left: () => {}, gone: () => void gone.push(true) }
    const transport = new LongPollingTransport(ears, defaultTimes, performance.now())
    for (const response of responses.slice(0, 2)) transport.poll(response, performance.now())
    transport.write(new EncodedMessage({ type: 7 }))
    transport.end()
    transport.poll(responses[2]!, performance.now())
    await Promise.all(answers)
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 200, 204])
    expect(gone).toEqual([true])
    server.close()
  })
})

describe('a client that takes nothing', () => {
  const limits = { backlogBytesMax: 1_000_000 }
  const large = 'x'.repeat(100_000)

  /** Sends until a client is cut off; the kernel buffers some megabytes first. */
  async function flood(test: TestHub): Promise<void> {
    await until(() => {
      test.hub.send(() => true, 'large', [large])
      return test.hub.metrics().cut === 1
    })
  }

  it('is cut at the limit by WebSockets, and nobody else is held up', async () => {
    await using test = await startHub({ limits })
    const slow = await connectSocket(test.url)
    const other = await connectSocket(test.url, 'bia-1')
    slow.socket.pause()
    await flood(test)
    expect(test.hub.metrics().open.WebSockets).toBe(1)
    await until(() => test.hub.metrics().ending === 0)
    slow.socket.resume()
    expect(await slow.closed).toBe(1006)
    await settled(test, other)
  })

  it('is cut at the limit by an event stream', async () => {
    await using test = await startHub({ limits })
    const slow = await connectStream(test.url)
    const other = await connectSocket(test.url, 'bia-1')
    slow.pause()
    await flood(test)
    await until(() => test.hub.metrics().ending === 0)
    await settled(test, other)
  })

  it('is told so by its next poll', async () => {
    await using test = await startHub({ limits })
    const client = await connectPolling(test.url)
    await flood(test)
    expect((await client.poll()).body).toBe(record(closeWith('The client takes too little.')))
    await until(() => test.hub.metrics().ending === 0)
  })

  it.each(['WebSockets', 'ServerSentEvents'] as const)('is cut after 10 seconds below the limit: %s', async (name) => {
    using clock = stopClock()
    await using test = await startHub({ limits: { backlogBytesMax: 1_000_000_000 } })
    if (name === 'WebSockets') (await connectSocket(test.url)).socket.pause()
    else (await connectStream(test.url)).pause()
    for (let times = 0; times < 200; times += 1) test.hub.send(() => true, 'large', [large])
    while (test.hub.metrics().cut === 0) await clock.pass(1)
    await until(() => test.hub.metrics().ending === 0)
  })
})
