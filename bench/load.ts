import { Agent, get } from 'node:http'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { quantile } from './measure.ts'

/** What one connection requests, in this order and then from the start again. */
export interface LoadClient {
  token: string
  requests: { kind: string; path: string }[]
}

interface Load {
  url: string
  seconds: number
  clients: LoadClient[]
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

/** Lets every client send one request after the other on a connection of its own, in a thread beside the server's, and counts by kind. */
export async function runLoad(plan: Load): Promise<Record<string, RequestStats>> {
  const worker = new Worker(new URL(import.meta.url), { workerData: plan })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

interface LoadTimes {
  ms: number[]
  errors: number
}

if (!isMainThread) parentPort!.postMessage(await carryOut(workerData as Load))

async function carryOut({ url, seconds, clients }: Load): Promise<Record<string, RequestStats>> {
  const kinds = new Map<string, LoadTimes>()
  const until = performance.now() + seconds * 1000
  await Promise.all(
    clients.map(async ({ token, requests }) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      for (let turn = 0; performance.now() < until; turn++) {
        const { kind, path } = requests[turn % requests.length]!
        const times = kinds.get(kind) ?? { ms: [], errors: 0 }
        kinds.set(kind, times)
        const began = performance.now()
        const good = await isGood(new URL(path, url), token, agent)
        times.ms.push(performance.now() - began)
        if (!good) times.errors++
      }
      agent.destroy()
    }),
  )
  return Object.fromEntries([...kinds].map(([kind, times]) => [kind, statsOf(times, seconds)]))
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

function isGood(url: URL, token: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode === 200))
      response.once('error', () => resolve(false))
    })
    request.once('error', () => resolve(false))
  })
}
