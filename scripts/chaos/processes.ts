import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Chance } from './chance.ts'
import type { RoleOrder } from './role.ts'

/** A role of the product in a process of its own. */
export interface RoleProcess {
  url: string
  /** Resolves when it is gone, whatever ended it. */
  ended: Promise<void>
  kill(): Promise<void>
  stop(): Promise<void>
}

const program = fileURLToPath(new URL('role.ts', import.meta.url))
const patienceMs = 300_000
// On two cores that do nothing else.
const usualLoadMs = 1_000
const paceMax = 10

/**
 * How many times slower than usual this machine is now, in halves: how long two processes at once take to load the server. The times of a run are as
 * many times longer, or on a busy machine nothing would arrive in time and no worker live long enough to do anything.
 */
export async function measurePace(): Promise<number> {
  const began = performance.now()
  const load = () => new Promise((resolve) => fork(program).once('close', resolve))
  await Promise.all([load(), load()])
  const pace = Math.ceil((2 * (performance.now() - began)) / usualLoadMs) / 2
  return Math.min(paceMax, Math.max(1, pace))
}

const fakers = ['x86_64', 'aarch64'].map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketimeMT.so.1`)
const faker = fakers.find((path) => existsSync(path))

/** Whether processes here can have clocks of their own: where `libfaketime` is (Debian: `faketime`). */
export const hasClocks: boolean = faker !== undefined

// What nobody can set, the time since the machine started, stays as it is.
const clockOf = (aheadMs: number) =>
  faker && aheadMs !== 0
    ? {
        LD_PRELOAD: faker,
        FAKETIME: `${aheadMs < 0 ? '-' : '+'}${Math.abs(aheadMs) / 1000}`,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        DONT_FAKE_MONOTONIC: '1',
      }
    : {}

/**
 * Starts a role, whose clock is `aheadMs` ahead of the right one where that can be done; `complain` gets each line of an error that it writes. Null when
 * `signal` ended it before it was ready.
 */
export async function startRole(
  order: RoleOrder,
  complain: (line: string) => void,
  { signal, aheadMs = 0 }: { signal?: AbortSignal; aheadMs?: number } = {},
): Promise<RoleProcess | null> {
  const env = { ...process.env, ...clockOf(aheadMs) }
  const child = fork(program, [JSON.stringify(order)], { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  // What it says before it is ready is told by the failure to start.
  let started = false
  const said: string[] = []
  for (const stream of [child.stdout!, child.stderr!]) {
    createInterface(stream).on('line', (line) => {
      if (started) complain(`${order.role}: ${line}`)
      else said.push(line)
    })
  }
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const end = (how: NodeJS.Signals) => async () => {
    child.kill(how)
    await ended
  }
  const kill = end('SIGKILL')
  const ready = await readiness(child, ended, signal)
  started = ready !== null
  if (ready) return { url: ready.url, ended, kill, stop: end('SIGTERM') }
  await kill()
  if (signal?.aborted) return null
  throw new Error(`a process with the role ${order.role} did not start: ${said.join(' ')}`)
}

function readiness(
  child: ChildProcess,
  ended: Promise<void>,
  signal: AbortSignal | undefined,
): Promise<{ url: string } | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, patienceMs, null)
    const settle = (value: { url: string } | null) => {
      clearTimeout(timer)
      resolve(value)
    }
    child.once('message', (message) => settle(message as { url: string }))
    void ended.then(() => settle(null))
    signal?.addEventListener('abort', () => settle(null))
  })
}

/**
 * Keeps `count` workers alive, each for a while, until disposed. The next one is started before one is killed, so that something is always under
 * way.
 */
export function keepKilling(
  { count, lifeMs, chance }: { count: number; lifeMs: [number, number]; chance: Chance },
  start: (signal?: AbortSignal) => Promise<RoleProcess | null>,
  note: () => void,
): AsyncDisposable {
  const over = new AbortController()
  const replaceAgainAndAgain = async () => {
    let worker = await start(over.signal)
    try {
      while (worker) {
        await sleep(chance.between(...lifeMs), over.signal)
        const next: RoleProcess | null = over.signal.aborted ? null : await start(over.signal)
        await worker.kill()
        note()
        worker = next
      }
    } finally {
      await worker?.kill()
    }
  }
  const all = Array.from({ length: count }, replaceAgainAndAgain)
  // A failure to start is thrown when they are disposed of.
  for (const one of all) one.catch(() => {})
  return {
    async [Symbol.asyncDispose]() {
      over.abort()
      await Promise.allSettled(all)
      await Promise.all(all)
    },
  }
}

/** Waits, unless `signal` says that it is over. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
}
