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
  const options = {
    port: simulator.port,
    directory: path.join(dataDir, 'simulator'),
    'hour-ms': sefaz.hourMs,
    'tp-amb': sefaz.tpAmb,
    'live-every-ms': liveEveryMs,
    ...(simulator.archive && { archive: simulator.archive }),
  }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  for (const { cnpj, nome, uf } of companies) args.push('--company', `${cnpj}:${nome}:${uf}`)
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
  let stopping = false
  return {
    port,
    died: new Promise((resolve) => {
      void closed.then(() => {
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
