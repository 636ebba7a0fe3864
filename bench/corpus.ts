import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Simulator } from '@vigia/simulator/start'
import { askForAll } from '../tests/support/authority.ts'
import { findSamples } from '../tests/support/samples.ts'

/** A docZip as it stands in a response. */
export interface CorpusDocZip {
  service: 'nfe' | 'cte'
  nsu: string
  schema: string
  base64: string
}

/** Documents that the simulator generates for a company. */
export async function generatedDocuments(
  simulator: Simulator,
  company: { cnpj: string; nome: string; uf: string },
): Promise<CorpusDocZip[]> {
  return (await askForAll(simulator, company)).map(({ service, nsu, schema, content }) => ({
    service,
    nsu: nsu!,
    schema,
    base64: content.toString('base64'),
  }))
}

/** The sample documents beside the repository as docZips, or null when they are not there. */
export async function sampleDocuments(): Promise<CorpusDocZip[] | null> {
  const root = findSamples()
  if (!root) return null
  const found: CorpusDocZip[] = []
  for (const [folder, service] of [
    ['nfe', 'nfe'],
    ['resumos', 'nfe'],
    ['cte', 'cte'],
  ] as const) {
    const directory = join(root, folder)
    for (const name of (await readdir(directory)).sort()) {
      found.push({
        service,
        nsu: String(found.length + 1),
        schema: name,
        base64: gzipSync(await readFile(join(directory, name))).toString('base64'),
      })
    }
  }
  return found
}
