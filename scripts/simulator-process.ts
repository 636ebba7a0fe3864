import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import type { Config } from '@vigia/server/start'
import { awaitEnd, lastLines } from './children.ts'
import { StartError } from './lifetime.ts'
import { portInUse } from './ports.ts'

export interface SimulatedCompany {
  cnpj: string
  nome: string
  uf: string
  /** Last instant of its certificate in milliseconds; without it in a year. */
  expires?: number
}

export interface SimulatorProcess {
  port: number
  /** Resolves when it ends without having been stopped. */
  died: Promise<void>
  issueCertificate(company: SimulatedCompany, senha: string): Promise<Blob>
  /** A call of its control interface. */
  control<T = unknown>(method: 'GET' | 'POST', path: string): Promise<T>
  [Symbol.asyncDispose](): Promise<void>
}

const patienceMs = 60_000

/** Starts the tax-authority simulator as a process of its own, as far from the server as the real one. */
export async function startSimulator(
  root: string,
  { dataDir, sefaz, simulator }: Config,
  story = false,
): Promise<SimulatorProcess> {
  if (!simulator) throw new Error('this configuration has no simulator')
  const options = {
    port: simulator.port,
    directory: path.join(dataDir, 'simulator'),
    'hour-ms': sefaz.hourMs,
    'tp-amb': sefaz.tpAmb,
    ...(simulator.archive && { archive: simulator.archive }),
  }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  if (story) args.push('--story')
  if (simulator.archiveAnswered) args.push('--archive-answered')

  const child = spawn(process.execPath, ['apps/simulator/main.ts', 'serve', '--exit-with-parent', ...args], {
    cwd: root,
    // In its own process group, so that Ctrl+C does not stop it before the server.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  const complaints = lastLines(child.stderr)
  const closed = new Promise<null>((resolve) => {
    child.once('error', (error) => complaints.push(error.message))
    child.once('close', () => resolve(null))
  })
  const stop = async () => {
    child.kill('SIGTERM')
    child.stdin.end()
    await awaitEnd(child, 10_000)
  }

  // It prints its port on one line of JSON.
  const ready = once(createInterface(child.stdout), 'line')
  const line = await Promise.race([ready, closed, setTimeout(patienceMs, null, { ref: false })])
  if (!line) {
    await stop()
    const text = complaints.join('\n')
    if (/EADDRINUSE|já está em uso/.test(text)) throw portInUse(simulator.port, 'SIMULATOR_PORT')
    throw new StartError(`A SEFAZ simulada não iniciou: ${reason(complaints)}. Os dados não foram alterados.`)
  }
  const { port } = JSON.parse(line[0])
  const call = async (method: string, path: string, order?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}/_control/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: order && JSON.stringify(order),
    })
    if (!response.ok) throw new Error(`the simulator refused ${path}: ${await response.text()}`)
    return response
  }
  let stopping = false
  return {
    port,
    died: new Promise((resolve) => {
      void closed.then(() => {
        if (!stopping) resolve()
      })
    }),
    async issueCertificate({ expires, ...company }, senha) {
      const end = expires === undefined ? undefined : new Date(expires).toISOString()
      return (await call('POST', 'certificates', { ...company, expires: end, senha })).blob()
    },
    async control(method, path) {
      return (await call(method, path)).json()
    },
    async [Symbol.asyncDispose]() {
      stopping = true
      await stop()
    },
  }
}

function reason(complaints: readonly string[]): string {
  const line = complaints.find((text) => /^\w*Error\b/.test(text)) ?? complaints[0] ?? 'ela não respondeu'
  return line.replace(/^\w*Error: /, '').replace(/\.$/, '')
}
