import { readCertificate } from '@vigia/sefaz/certificate'
import { connect } from '@vigia/sefaz/connection'
import { type DocZip, queryDistribution } from '@vigia/sefaz/distribution'
import { simulatedEndpoints } from '@vigia/sefaz/endpoints'
import { type Simulator, start } from '@vigia/simulator/start'

/** Start of generated documents, so that their number does not depend on the day of the month. */
export function weeksAgo(): number {
  return Date.now() - 25 * 86_400_000
}

/** A simulated authority without a product, on a free port. */
export function startAuthority(directory: string): Promise<Simulator> {
  return start({ port: 0, directory })
}

/** Documents that an authority generates for a company, as any client receives them. */
export async function generatedFor(
  directory: string,
  seed: number,
  company: { cnpj: string; nome: string; uf: string },
): Promise<(DocZip & { service: 'nfe' | 'cte' })[]> {
  await using simulator = await start({ port: 0, directory, seed, since: weeksAgo(), companies: [company] })
  return await askForAll(simulator, company)
}

/** A row of `GET truth`: what the authority holds for a CNPJ. */
export interface TruthRow {
  service: 'nfe' | 'cte'
  nsu: string
  kind: 'document' | 'summary' | 'event' | 'event-summary' | 'raw'
  chave?: string
  tpEvento?: number
  /** Digest of the file's bytes. */
  sha256: string
}

/** A call of the simulator's control interface. */
export async function control<T>(simulator: Pick<Simulator, 'origin'>, path: string): Promise<T> {
  return order(simulator, path, undefined, 'GET')
}

/** An order to the simulator's control interface: a fault, a document, another time. */
export async function order<T>(
  { origin }: Pick<Simulator, 'origin'>,
  path: string,
  body?: object,
  method = 'POST',
): Promise<T> {
  const url = `${origin.replace('https:', 'http:')}/_control/${path}`
  const response = await fetch(url, {
    method,
    // Another simulator may take the place of this one.
    headers: { connection: 'close', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as T
}

export async function truthOf(simulator: Pick<Simulator, 'origin'>, cnpj: string): Promise<TruthRow[]> {
  return (await control<{ documents: TruthRow[] }>(simulator, `truth?cnpj=${cnpj}`)).documents
}

/** The responses that the authority gave to a CNPJ. */
export async function callsOf(
  simulator: Pick<Simulator, 'origin'>,
  cnpj: string,
): Promise<{ service: string; cStat: number }[]> {
  return (await control<{ calls: { service: string; cStat: number }[] }>(simulator, `calls?cnpj=${cnpj}`)).calls
}

/** Everything that the simulator holds for a CNPJ, asked for as any client would. */
export async function askForAll(
  simulator: Simulator,
  company: { cnpj: string; nome: string; uf: string },
): Promise<(DocZip & { service: 'nfe' | 'cte' })[]> {
  const pfx = await simulator.issueCertificate({ ...company, senha: 'segredo', sharedKey: true })
  const connection = connect(await readCertificate(pfx, 'segredo'), { ca: [simulator.ca] })
  const found: (DocZip & { service: 'nfe' | 'cte' })[] = []
  try {
    for (const service of ['nfe', 'cte'] as const) {
      for (let ultNSU = '0'.repeat(15); ; ) {
        const answer = await queryDistribution(connection, {
          service,
          url: simulatedEndpoints(simulator.origin).distribution[service],
          tpAmb: 1,
          cUFAutor: 35,
          cnpj: company.cnpj,
          query: { ultNSU },
        })
        found.push(...answer.documents.map((document) => ({ service, ...document })))
        if (answer.cStat !== 138 || answer.ultNSU === answer.maxNSU) break
        ultNSU = answer.ultNSU!
      }
    }
  } finally {
    connection.close()
  }
  return found
}
