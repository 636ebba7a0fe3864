import {
  HttpTransportType,
  type HubConnection,
  HubConnectionBuilder,
  HubConnectionState,
  type IHttpConnectionOptions,
  LogLevel,
} from '@microsoft/signalr'
import { describe, expect, it } from 'vitest'
import { defaultTimes, type Times } from './hub.ts'
import { startHub, stopClock, until } from './testing.ts'

const tenth = Object.fromEntries(Object.entries(defaultTimes).map(([name, ms]) => [name, ms / 10])) as unknown as Times

function client(url: string, options: IHttpConnectionOptions = {}): HubConnectionBuilder {
  return new HubConnectionBuilder()
    .withUrl(url, { accessTokenFactory: () => 'ana-1', ...options })
    .configureLogging(LogLevel.None)
}

function received(connection: HubConnection, target: string): unknown[][] {
  const calls: unknown[][] = []
  connection.on(target, (...args: unknown[]) => calls.push(args))
  return calls
}

const transports = [
  ['WebSockets', HttpTransportType.WebSockets],
  ['ServerSentEvents', HttpTransportType.ServerSentEvents],
  ['LongPolling', HttpTransportType.LongPolling],
] as const

describe.each(transports)('the official client by %s', (name, transport) => {
  it('starts, receives, is refused its calls, and stops', async () => {
    await using test = await startHub()
    const addresses: string[] = []
    for (const event of ['request', 'upgrade']) test.server.on(event, ({ url }: { url: string }) => addresses.push(url))
    const connection = client(test.url, { transport }).build()
    const calls = received(connection, 'WS-Ação')
    await connection.start()
    await until(() => test.hub.metrics().open[name] === 1)

    expect(test.hub.send('ana', 'ws-ação', ['Salvo', '3 links ✓', 'success'])).toBe(1)
    expect(test.hub.send('bia', 'ws-ação', ['no'])).toBe(0)
    await until(() => calls.length > 0)
    expect(calls).toEqual([['Salvo', '3 links ✓', 'success']])

    await expect(connection.invoke('Nope', 1)).rejects.toThrow("Unknown hub method 'Nope'")
    await connection.send('Nope')
    expect(connection.state).toBe(HubConnectionState.Connected)
    expect(addresses.join()).toContain('id=')
    expect(addresses.join()).not.toContain('ana-1')

    await connection.stop()
    await until(() => test.hub.metrics().open[name] === 0 && test.hub.metrics().ending === 0)
  })

  it('comes back after its connection was broken off, and after an end that allows it', async () => {
    await using test = await startHub()
    const connection = client(test.url, { transport }).withAutomaticReconnect([0, 10, 10, 10]).build()
    const calls = received(connection, 'news')
    let returns = 0
    connection.onreconnected(() => {
      returns += 1
    })
    await connection.start()
    await until(() => test.hub.metrics().open[name] === 1)
    test.breakOff()
    await until(() => returns === 1)
    test.hub.disconnect(({ name: user }) => user === 'ana', { allowReconnect: true })
    await until(() => returns === 2)
    await until(() => test.hub.send('ana', 'news', [1]) === 1)
    await until(() => calls.length === 1)
    await connection.stop()
  })

  it('stays away when its session is ended for good', async () => {
    await using test = await startHub()
    const connection = client(test.url, { transport }).withAutomaticReconnect([0, 0]).build()
    const closed = new Promise<Error | undefined>((resolve) => {
      connection.onclose(resolve)
    })
    await connection.start()
    await until(() => test.hub.metrics().open[name] === 1)
    expect(test.hub.disconnect(({ session }) => session === 'ana-1', { error: 'bye' })).toBe(1)
    expect(String(await closed)).toContain('bye')
    expect(test.hub.metrics()).toMatchObject({ opened: 1, waiting: 0 })
  })

  it('is sent away with allowReconnect when its token ends', async () => {
    using clock = stopClock()
    await using test = await startHub()
    const connection = client(test.url, { transport, accessTokenFactory: () => 'short' })
      .withAutomaticReconnect([0])
      .build()
    const token = test.sessions.get('ana-1')!
    test.sessions.set('short', { ...token, expiresAt: Date.now() + 10_000 })
    // Not before: each poll shows its token, and a better one moves the end.
    connection.onreconnecting(() => test.sessions.set('short', token))
    const returned = new Promise((resolve) => {
      connection.onreconnected(resolve)
    })
    await connection.start()
    await until(() => test.hub.metrics().open[name] === 1)
    await clock.pass(16)
    await returned
    await connection.stop()
  })

  it('is told 401 at the negotiation', async () => {
    await using test = await startHub()
    const connection = client(test.url, { transport, accessTokenFactory: () => 'wrong' }).build()
    await expect(connection.start()).rejects.toThrow("Status code '401'")
  })

  it('hears the end of the hub and finds it closed to newcomers', async () => {
    await using test = await startHub()
    let left = 0
    const connection = client(test.url, { transport }).withAutomaticReconnect([0]).build()
    connection.onreconnecting(() => {
      left += 1
    })
    await connection.start()
    await until(() => test.hub.metrics().open[name] === 1)
    await test.hub.close()
    await until(() => left === 1)
    await until(() => test.hub.metrics().refused[503] === 1)
    await until(() => connection.state === HubConnectionState.Disconnected)
  })
})

describe('the official client', () => {
  it('stays connected over its time-outs at a tenth of all times', async () => {
    await using test = await startHub({ times: tenth })
    const connections = transports.map(([, transport]) => {
      const connection = client(test.url, { transport }).build()
      connection.serverTimeoutInMilliseconds = 3_000
      connection.keepAliveIntervalInMilliseconds = 1_500
      return connection
    })
    const closed: unknown[] = []
    for (const connection of connections) connection.onclose((error) => closed.push(error))
    await Promise.all(connections.map((connection) => connection.start()))
    // Each client has pinged at its start and after two pings of ours.
    await until(() => test.hub.metrics().received >= 6)
    expect(closed).toEqual([])
    await Promise.all(connections.map((connection) => connection.stop()))
  })

  it('falls back through all transports where there are no WebSockets and no streams', async () => {
    await using test = await startHub()
    test.server.removeAllListeners('upgrade')
    test.server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'))
    const connection = client(test.url).build()
    await connection.start()
    await until(() => test.hub.metrics().open.ServerSentEvents === 1)
    await connection.stop()
  })

  it('starts without negotiation', async () => {
    await using test = await startHub()
    const connection = client(test.url, { transport: HttpTransportType.WebSockets, skipNegotiation: true }).build()
    await connection.start()
    expect(connection.connectionId).toBeNull()
    await until(() => test.hub.metrics().open.WebSockets === 1)
    await connection.stop()
  })

  it('goes without stateful reconnect when it asks for it', async () => {
    await using test = await startHub()
    const connection = client(test.url).withStatefulReconnect().build()
    const calls = received(connection, 'news')
    await connection.start()
    await until(() => test.hub.send('ana', 'news', [1]) === 1)
    await until(() => calls.length === 1)
    await connection.stop()
  })
})
