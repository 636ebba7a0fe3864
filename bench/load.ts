import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { quantile } from './measure.ts'

export interface LoadRequest {
  kind: string
  path: string
  headers?: Record<string, string>
  /** Sent by POST. In a text, `{n}` is another number each time. */
  body?: string | Uint8Array
  /** What is done with the file that the response names: read to its end, or left after the first bytes. */
  link?: 'whole' | 'cut'
}

/** What one connection requests, in this order and then from the start again. */
export interface LoadClient {
  /** Absent: a stranger. */
  token?: string
  requests: LoadRequest[]
  /** Between a response and the next request. */
  pauseMs?: number
}

interface Load {
  url: string
  seconds: number
  clients: LoadClient[]
  /** What has no response at the end is given up, and counts as an error. */
  impatient?: boolean
}

/** What became of the requests of a kind. */
interface RequestStats {
  perSecond: number
  requests: number
  errors: number
  p50Ms: number
  p95Ms: number
  p99Ms: number
}

/** Lets every client send its requests, in a thread beside the server's, and counts by kind. */
export async function runLoad(load: Load): Promise<Record<string, RequestStats>> {
  const times = await timeLoad(load)
  return Object.fromEntries(Object.entries(times).map(([kind, times]) => [kind, statsOf(times, load.seconds)]))
}

/** The times of the requests of a kind, refused ones included. */
export interface LoadTimes {
  ms: number[]
  /** Responses other than 200, and connections that broke. */
  errors: number
}

/** Like `runLoad`, with the time of each request. */
export async function timeLoad(load: Load): Promise<Record<string, LoadTimes>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: load })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

let counted = 0

if (!isMainThread) parentPort!.postMessage(await carryOut(workerData as Load))

async function carryOut({ url, seconds, clients, impatient = false }: Load): Promise<Record<string, LoadTimes>> {
  const kinds: Record<string, LoadTimes> = {}
  const until = performance.now() + seconds * 1000
  await Promise.all(
    clients.map(async ({ token, requests, pauseMs = 0 }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      const end = new AbortController()
      if (impatient) void setTimeout(seconds * 1000).then(() => end.abort())
      for (let turn = 0; performance.now() < until; turn++) {
        const one = requests[turn % requests.length]!
        kinds[one.kind] ??= { ms: [], errors: 0 }
        const times = kinds[one.kind]!
        const began = performance.now()
        const good = await isGood({ url, token, agent, until, end: end.signal }, one)
        times.ms.push(performance.now() - began)
        if (!good) times.errors++
        if (pauseMs > 0) await setTimeout(pauseMs)
      }
      agent.destroy()
    }),
  )
  return kinds
}

function statsOf({ ms, errors }: LoadTimes, seconds: number): RequestStats {
  const at = (q: number) => Number(quantile(ms, q).toFixed(2))
  return {
    perSecond: Math.round(ms.length / seconds),
    requests: ms.length,
    errors,
    p50Ms: at(0.5),
    p95Ms: at(0.95),
    p99Ms: at(0.99),
  }
}

interface Sending {
  url: string
  token: string | undefined
  agent: Agent
  /** When a file is left at the latest. */
  until: number
  end: AbortSignal
}

async function isGood(sending: Sending, { path, headers, body, link }: LoadRequest): Promise<boolean> {
  const content = typeof body === 'string' ? body.replaceAll('{n}', String(counted++)) : body
  const { status, text } = await exchange(sending, { path, headers, content, kept: link !== undefined })
  if (status !== 200 || !link) return status === 200
  const { endereco } = (JSON.parse(text) as { data: { endereco: string } }).data
  return (await exchange(sending, { path: endereco, cut: link === 'cut', whole: link === 'whole' })).status === 200
}

interface Exchange {
  path: string
  headers?: Record<string, string>
  content?: string | Uint8Array
  /** The text of the response is wanted. */
  kept?: boolean
  cut?: boolean
  whole?: boolean
}

function exchange(
  { url, token, agent, until, end }: Sending,
  wanted: Exchange,
): Promise<{ status: number; text: string }> {
  const { path, headers, content, kept = false, cut = false, whole = false } = wanted
  return new Promise((resolve) => {
    const broken = () => resolve({ status: 0, text: '' })
    const options = {
      agent,
      signal: end,
      method: content === undefined ? 'GET' : 'POST',
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    }
    const sent = request(new URL(path, url), options, (response) => {
      const status = response.statusCode ?? 0
      let text = ''
      response.on('data', (chunk: Buffer) => {
        if (kept) text += chunk.toString()
        if (!cut && !(whole && performance.now() > until)) return
        resolve({ status, text })
        response.destroy()
      })
      response.once('end', () => resolve({ status, text }))
      response.once('error', broken)
    })
    sent.once('error', broken)
    sent.end(content)
  })
}
