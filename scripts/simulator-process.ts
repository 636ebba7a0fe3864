import { spawn } from 'node:child_process'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Config } from '@vigia/server/start'
import { StartError } from './lifetime.ts'
import { portInUse } from './ports.ts'

export interface SimulatedCompany {
  cnpj: string
  nome: string
  uf: string
}

export interface SimulatorProcess {
  port: number
  /** Resolves when it ends without having been stopped. */
  died: Promise<void>
  issueCertificate(company: SimulatedCompany, senha: string): Promise<Blob>
  [Symbol.asyncDispose](): Promise<void>
}

const patienceMs = 60_000
// Often enough that a person who watches the list sees it grow.
const liveEveryMs = 20_000

/** Starts the tax-authority simulator as a process of its own, as far from the server as the real one. */
export async function startSimulator(
  root: string,
  { dataDir, sefaz, simulator }: Config,
  companies: readonly SimulatedCompany[],
): Promise<SimulatorProcess> {
  if (!simulator) throw new Error('this configuration has no simulator')
  const options = [
    '--port',
    String(simulator.port),
    '--directory',
    path.join(dataDir, 'simulator'),
    '--exit-with-parent',
  ]
  options.push(
    '--hour-ms',
    String(sefaz.hourMs),
    '--tp-amb',
    String(sefaz.tpAmb),
    '--live-every-ms',
    String(liveEveryMs),
  )
  for (const { cnpj, nome, uf } of companies) options.push('--company', `${cnpj}:${nome}:${uf}`)
  if (simulator.archive) options.push('--archive', simulator.archive)
  if (simulator.archiveAnswered) options.push('--archive-answered')

  const child = spawn(process.execPath, ['apps/simulator/main.ts', 'serve', ...options], {
    cwd: root,
    // In its own process group, so that Ctrl+C does not stop it before the server.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.on('error', () => {})
  const complaints: string[] = []
  createInterface(child.stderr).on('line', (line) => {
    complaints.push(line)
    if (complaints.length > 20) complaints.shift()
  })
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => complaints.push(error.message))
    child.once('close', () => resolve())
  })
  const stop = async () => {
    child.kill('SIGTERM')
    child.stdin.end()
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await ended
    clearTimeout(timer)
  }

  const ready = readyPort(child.stdout)
  const port = await Promise.race([ready, ended, timeout(patienceMs)])
  if (typeof port !== 'number') {
    await stop()
    const text = complaints.join('\n')
    if (/EADDRINUSE|já está em uso/.test(text)) throw portInUse(simulator.port, 'SIMULATOR_PORT')
    throw new StartError(`A SEFAZ simulada não iniciou: ${reason(complaints)}. Os dados não foram alterados.`)
  }
  let stopping = false
  return {
    port,
    died: new Promise((resolve) => {
      void ended.then(() => {
        if (!stopping) resolve()
      })
    }),
    async issueCertificate(company, senha) {
      const response = await fetch(`http://127.0.0.1:${port}/_control/certificates`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...company, senha }),
      })
      if (!response.ok) throw new Error(`the simulator made no certificate: ${await response.text()}`)
      return response.blob()
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

// It prints its port on one line of JSON; other lines are for people.
function readyPort(stdout: NodeJS.ReadableStream): Promise<number> {
  return new Promise((resolve) => {
    createInterface(stdout).on('line', (line) => {
      const port = portIn(line)
      if (port !== null) resolve(port)
    })
  })
}

function portIn(line: string): number | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && 'port' in value && typeof value.port === 'number'
      ? value.port
      : null
  } catch {
    return null
  }
}

function timeout(ms: number): Promise<null> {
  return new Promise((resolve) => setTimeout(resolve, ms, null).unref())
}
