import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type Simulator, steadyTrade } from '@vigia/simulator/start'
import { askForAll } from '../tests/support/authority.ts'
import { findSamples } from '../tests/support/samples.ts'

/** A docZip as it stands in a response. */
export interface CorpusDocZip {
  service: 'nfe' | 'cte'
  nsu: string
  schema: string
  base64: string
}

/** What the simulator generated for a company. */
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

const traded: Record<string, Pick<CorpusDocZip, 'service' | 'schema'>> = {
  nfeProc: { service: 'nfe', schema: 'procNFe_v4.00.xsd' },
  cteProc: { service: 'cte', schema: 'procCTe_v4.00.xsd' },
  cteSimpProc: { service: 'cte', schema: 'procCTeSimp_v4.00.xsd' },
}

/** Notes and bills of freight of two years of steady trade, at least so many, the oldest first; without events. */
export async function tradedDocuments(
  directory: string,
  company: { cnpj: string; nome: string; uf: string },
  count: number,
): Promise<CorpusDocZip[]> {
  const until = Date.now()
  const files = await steadyTrade({ directory, company, from: until - 730 * 86_400_000, until, count: count * 1.2 })
  return files.flatMap((xml, n) => {
    const kind = traded[/<(\w+)/.exec(xml.replace(/<\?[^>]*\?>/, ''))?.[1] ?? '']
    return kind ? [{ ...kind, nsu: String(n + 1), base64: gzipSync(xml).toString('base64') }] : []
  })
}
