import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifySignature } from '@vigia/xml/verify'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { findSamples } from '../../../tests/support/samples.ts'
import { startForTest } from '../client.testing.ts'
import {
  type EventBench,
  envEvento,
  envelope,
  headers,
  nfeEvent,
  nfePath,
  openBench,
  post,
  readEventResponse,
} from '../events.testing.ts'

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 })

interface EventRow {
  chave: string
  cStat: number
  nProt?: string
  times: number
  sendings: { cStat: number; lost: boolean }[]
}

let bench: EventBench
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.test.stop())
beforeEach(() => bench.test.control('DELETE', 'faults'))

const rowsOf = async (cnpj: string) =>
  ((await bench.test.control('GET', `events?cnpj=${cnpj}`)) as { events: EventRow[] }).events

async function ciencia(recipient: string) {
  const nfe = await bench.note({ recipient })
  const xml = nfeEvent({ chave: nfe.chave, author: recipient }, await bench.signer(recipient), bench.now())
  const raw = (signal?: AbortSignal) =>
    bench.client.post(nfePath, headers('nfe'), envelope('nfe', envEvento(xml)), signal)
  return { chave: nfe.chave, raw, send: async () => readEventResponse(await raw()) }
}

describe('GET events', () => {
  it('lists what was received, by author, with how often it was sent', async () => {
    const author = '12ABC34501DE35'
    const one = await ciencia(author)
    const registered = (await one.send()).results[0]
    await one.send()
    const other = await ciencia('44555666000181')
    await other.send()
    expect(await rowsOf(author)).toEqual([
      {
        service: 'nfe',
        authorizer: 'AN',
        chave: one.chave,
        tpEvento: 210210,
        nSeqEvento: 1,
        author,
        cStat: 135,
        nProt: registered?.nProt,
        at: expect.stringMatching(/Z$/),
        times: 2,
        sendings: [
          { at: expect.any(String), cStat: 135, lost: false },
          { at: expect.any(String), cStat: 573, lost: false },
        ],
      },
    ])
    expect(await bench.test.control('GET', 'events')).toMatchObject({ events: { length: 2 } })
    expect(await bench.test.control('GET', `calls?cnpj=${author}`)).toEqual({ calls: [] })
    expect(await bench.test.control('GET', `calls?cnpj=${author}&of=events`)).toMatchObject({
      calls: [{ service: 'nfe', of: 'events', authorizer: 'AN', cStat: 128, events: 1, status: 200 }, {}],
    })
  })

  it('survives a restart, as do the registration, its effects and the number of equal rejections', async () => {
    const first = await openBench()
    const nfe = await first.note()
    const author = nfe.recipient.cnpj
    const xml = nfeEvent({ chave: nfe.chave, author }, await first.signer(author), first.now())
    for (let times = 0; times < 21; times++) await post(first.client, 'nfe', nfePath, envEvento(xml))
    const events = await first.test.control('GET', 'events')
    const truth = await first.truth(author)
    expect(truth).toEqual(['summary', 'document'])
    await first.test.stop({ keep: true })

    const second = await startForTest({ directory: first.test.directory })
    expect(await second.control('GET', 'events')).toEqual(events)
    const client = await second.client(author)
    expect((await post(client, 'nfe', nfePath, envEvento(xml))).results[0]?.cStat).toBe('656')
    expect((await client.ask('nfe', { cnpj: author, ultNSU: 0 })).documents).toHaveLength(2)
    await second.stop()
  })
})

describe('faults', () => {
  const author = '12ABC34501DE35'
  const fault = (order: Record<string, unknown>) => bench.test.control('POST', 'faults', { times: 1, ...order })

  it.each(['108', '109', '999'])('%s comes in the response itself, and nothing is registered', async (name) => {
    const event = await ciencia(author)
    await fault({ fault: name, of: 'events', cnpj: author })
    expect(await event.send()).toMatchObject({ cStat: name, results: [] })
    expect((await event.send()).results[0]?.cStat).toBe('135')
  })

  it.each([
    ['http403', 403],
    ['http500', 500],
    ['http503', 503],
    ['soapFault', 500],
  ])('%s stops the call', async (name, status) => {
    const event = await ciencia(author)
    await fault({ fault: name, service: 'nfe' })
    expect((await event.raw()).status).toBe(status)
    expect((await event.send()).results[0]?.cStat).toBe('135')
  })

  it('reset stops it too', async () => {
    const event = await ciencia(author)
    await fault({ fault: 'reset' })
    await expect(event.raw()).rejects.toThrow('ECONNRESET')
    expect((await event.send()).results[0]?.cStat).toBe('135')
  })

  it.each(['resetAfter', 'truncated', 'empty', 'emptyResult'])(
    '%s loses the response to a registered event',
    async (name) => {
      const event = await ciencia(author)
      await fault({ fault: name })
      const answer = await event.send().catch(() => null)
      expect(answer?.results ?? []).toEqual([])
      expect((await event.send()).results[0]?.cStat).toBe('573')
      const row = (await rowsOf(author)).find((one) => one.chave === event.chave)
      expect(row).toMatchObject({
        cStat: 135,
        times: 2,
        sendings: [
          { cStat: 135, lost: true },
          { cStat: 573, lost: false },
        ],
      })
    },
  )

  it('a response can be told lost afterwards', async () => {
    const event = await ciencia(author)
    expect((await event.send()).results[0]?.cStat).toBe('135')
    const { calls } = (await bench.test.control('GET', `calls?of=events&cnpj=${author}&limit=1`)) as {
      calls: { id: number; lost: boolean }[]
    }
    expect(calls).toMatchObject([{ cStat: 128, events: 1, counted: true, lost: false }])
    await bench.test.control('POST', 'lost', { ids: calls.map(({ id }) => id) })
    const row = (await rowsOf(author)).find((one) => one.chave === event.chave)
    expect(row?.sendings).toMatchObject([{ cStat: 135, lost: true }])
  })

  it('delay holds the response back; who hangs up has lost it', async () => {
    const event = await ciencia(author)
    await fault({ fault: 'delay', delayMs: 3_000 })
    const controller = new AbortController()
    const call = event.raw(controller.signal)
    const row = async () => (await rowsOf(author)).find((one) => one.chave === event.chave)
    await expect.poll(async () => (await row())?.times).toBe(1)
    controller.abort()
    await expect(call).rejects.toThrow()
    await expect.poll(async () => (await row())?.sendings[0]?.lost).toBe(true)
  })

  it('strike by kind of service, probability and time; those of the distribution leave events alone', async () => {
    const event = await ciencia(author)
    await fault({ fault: 'http500', of: 'distribution' })
    await fault({ fault: '109', probability: 0 })
    await fault({ fault: 'http403', service: 'cte' })
    await fault({ fault: 'corruptedDocZip' })
    await fault({ fault: '999', durationMs: 1_000, times: 99 })
    expect((await event.send()).cStat).toBe('999')
    await bench.advance(2_000)
    expect((await event.send()).results[0]?.cStat).toBe('135')
    await expect(fault({ fault: '108', of: 'nothing' })).rejects.toThrow('of must be distribution or events')
  })
})

const examples = join(import.meta.dirname, '../../../../shared/reference/sefaz/exemplos.md')
const pem = (xml: string) =>
  [...xml.matchAll(/X509Certificate>([^<\s]+)</g)].map(
    ([, base64]) => `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
  )

describe.runIf(existsSync(examples))('the complete messages of the dossier', () => {
  it('are answered as printed there', async () => {
    const text = existsSync(examples) ? readFileSync(examples, 'utf8') : ''
    const sections = text.split(/^## /m)
    const first = (number: number) => /```xml\n(.*)\n```/.exec(sections[number] ?? '')?.[1] ?? ''
    const test = await startForTest({ trust: pem(text) })
    await test.control('POST', 'clock', { now: '2026-08-11T08:30:04-03:00' })
    for (const number of [1, 5]) await test.control('POST', 'documents', first(number))
    const client = await test.client('44555666000181')
    const send = async (service: 'nfe' | 'cte', path: string, body: string) =>
      readEventResponse(await client.post(path, headers(service), body)).results[0]
    expect(await send('nfe', nfePath, first(2))).toMatchObject({ cStat: '135', CNPJDest: '44555666000181' })
    expect(await send('nfe', nfePath, first(2))).toMatchObject({ cStat: '573' })
    await test.control('POST', 'clock', { now: '2026-08-12T09:00:03-03:00' })
    expect(await send('cte', '/PR/CTeRecepcaoEventoV4', first(6))).toMatchObject({ cStat: '135', cOrgao: '41' })
    expect(await send('cte', '/cte4/CTeRecepcaoEventoV4', envelope('cte', first(7)))).toMatchObject({ cStat: '135' })
    await test.stop()
  })
})

const samples = findSamples()

describe.runIf(samples !== null)('signed events of others', () => {
  it('are accepted at their time, and refused when their certificates are not trusted', async () => {
    const folder = join(samples ?? '', 'eventos')
    const files = readdirSync(folder).filter((name) => name.startsWith('procEventoNFe-2102'))
    const events = files
      .map((file) => /<evento[ >][\s\S]*?<\/evento>/.exec(readFileSync(join(folder, file), 'utf8'))?.[0] ?? '')
      .filter((xml) => verifySignature(xml).valid)
    expect(events.length).toBeGreaterThan(5)
    const test = await startForTest({ trust: pem(events.join('')) })
    const strict = await startForTest()
    for (const xml of events) {
      const now = /<dhEvento>([^<]*)/.exec(xml)?.[1]
      const tpAmb = /<tpAmb>([^<]*)/.exec(xml)?.[1]
      await test.control('POST', 'clock', { now })
      await strict.control('POST', 'clock', { now })
      const answer = await post(await test.client('44555666000181'), 'nfe', nfePath, envEvento(xml))
      expect(answer.results[0]?.cStat, xml).toBe(tpAmb === '2' ? '136' : '252')
      const refused = await post(await strict.client('44555666000181'), 'nfe', nfePath, envEvento(xml))
      expect(['293', '295']).toContain(refused.results[0]?.cStat)
    }
    await test.stop()
    await strict.stop()
  })
})
