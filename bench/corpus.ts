import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { readCertificate } from '@vigia/sefaz/certificate'
import { connect } from '@vigia/sefaz/connection'
import { queryDistribution } from '@vigia/sefaz/distribution'
import { simulatedEndpoints } from '@vigia/sefaz/endpoints'
import type { Simulator } from '@vigia/simulator/start'

/** A docZip as it stands in an answer. */
export interface DocZip {
  service: 'nfe' | 'cte'
  nsu: string
  schema: string
  base64: string
}

/** Everything that the simulator holds for a CNPJ, asked for as any client would. */
export async function askForAll(
  simulator: Simulator,
  company: { cnpj: string; nome: string; uf: string },
): Promise<DocZip[]> {
  const pfx = await simulator.issueCertificate({ ...company, senha: 'bench' })
  const connection = connect(await readCertificate(pfx, 'bench'), { ca: [simulator.ca] })
  const found: DocZip[] = []
  try {
    for (const service of ['nfe', 'cte'] as const) {
      for (let ultNSU = '0'.repeat(15); ; ) {
        const answer = await queryDistribution(connection, {
          service,
          url: simulatedEndpoints(simulator.origin).distribution[service],
          tpAmb: 2,
          cUFAutor: 35,
          cnpj: company.cnpj,
          query: { ultNSU },
        })
        found.push(
          ...answer.documents.map(({ nsu, schema, content }) => ({
            service,
            nsu: nsu!,
            schema,
            base64: content.toString('base64'),
          })),
        )
        if (answer.cStat !== 138 || answer.ultNSU === answer.maxNSU) break
        ultNSU = answer.ultNSU!
      }
    }
  } finally {
    connection.close()
  }
  return found
}

/** The sample documents beside the repository as docZips, or null when they are not there. */
export async function sampleDocuments(): Promise<DocZip[] | null> {
  const root = new URL('../../shared/data/samples/', import.meta.url)
  const found: DocZip[] = []
  for (const [folder, service] of [
    ['nfe', 'nfe'],
    ['resumos', 'nfe'],
    ['cte', 'cte'],
  ] as const) {
    const directory = new URL(`${folder}/`, root).pathname
    const names = await readdir(directory).catch(() => null)
    if (!names) return null
    for (const name of names.sort()) {
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
