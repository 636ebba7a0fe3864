import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { start } from '@vigia/simulator/start'
import { weeksAgo } from '../tests/support/authority.ts'
import { generatedDocuments, sampleDocuments } from './corpus.ts'
import { type Line, writeNumbers } from './numbers.ts'

// `npm run bench` runs all, `npm run bench -- read` one. Each prints lines of JSON; docs/numbers.md keeps the numbers that matter.
const programs: Record<string, string[]> = {
  read: ['../apps/server/documents/read.bench.ts'],
  ingest: ['../apps/server/documents/ingest.bench.ts'],
  capture: ['./capture.ts'],
  print: ['../packages/print/print.bench.ts'],
  alerts: ['../packages/checks/alerts/alerts.bench.ts'],
  night: ['../apps/server/insights/alerts/night.bench.ts'],
  list: ['../apps/server/documents/list/list.bench.ts', '../apps/server/insights/reports/reports.bench.ts'],
  hub: ['./hub.ts'],
  web: ['./web.ts'],
  door: ['./door.ts'],
}

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !programs[name])
if (unknown.length > 0) {
  console.error(`There is no program ${unknown.join(', ')}; there are ${Object.keys(programs).join(', ')}.`)
  process.exit(2)
}

const companies = [
  { cnpj: '44555666000181', nome: 'EMPRESA DESTINATARIA LTDA', uf: 'SC' },
  { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFANUMERICA LTDA', uf: 'SP' },
]
const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
const load = loadavg()[0]!.toFixed(1)
const measured = `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores, load ${load} before`
const numbers = new Map<string, Line[]>()
let failed = false
try {
  const corpora: Record<string, string> = {}
  {
    const options = { port: 0, directory: join(directory, 'simulator'), seed: 1, since: weeksAgo(), companies }
    await using simulator = await start(options)
    const generated = (await Promise.all(companies.map((company) => generatedDocuments(simulator, company)))).flat()
    for (const [name, documents] of Object.entries({ generated, samples: await sampleDocuments() })) {
      if (!documents) continue
      corpora[name] = join(directory, `${name}.json`)
      await writeFile(corpora[name], JSON.stringify(documents))
    }
  }
  for (const name of wanted.length > 0 ? wanted : Object.keys(programs)) {
    const lines: Line[] = []
    let code = 0
    for (const file of programs[name]!) code ||= await run(file, corpora, lines)
    if (code === 0) numbers.set(name, lines)
    else failed = true
  }
  writeNumbers(numbers, measured)
} finally {
  await rm(directory, { recursive: true, force: true })
}
process.exit(failed ? 1 : 0)

async function run(file: string, corpora: Record<string, string>, lines: Line[]): Promise<number> {
  const program = fileURLToPath(new URL(file, import.meta.url))
  const child = spawn(process.execPath, ['--expose-gc', program, JSON.stringify(corpora)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
  for await (const line of createInterface({ input: child.stdout })) {
    console.log(line)
    if (line.startsWith('{')) lines.push(...(JSON.parse(line) as { lines: Line[] }).lines)
  }
  return closed
}
