import type { ListRow } from '../../tests/support/client.ts'
import type { Chance } from './chance.ts'
import type { Installation, RegisteredCompany } from './installation.ts'
import { sleep } from './processes.ts'
import type { Service } from './records.ts'

/** An event that somebody asked for. */
export interface SentRequest {
  company: RegisteredCompany
  service: Service
  chave: string
  tpEvento: number
  /** The product said that it will be sent. */
  accepted: boolean
  message: string
}

interface ManifestationKind {
  service: Service
  tpEvento: number
  /** As the API numbers them. */
  tipoManifestacao: number
}

const justificativa = 'Mercadoria devolvida no recebimento, conforme conferência'
type Manifested = { documentos: { chave: string; situacao: string; mensagem: string }[] } | null

const kinds: readonly ManifestationKind[] = [
  { service: 'nfe', tpEvento: 210210, tipoManifestacao: 1 },
  { service: 'nfe', tpEvento: 210200, tipoManifestacao: 2 },
  { service: 'nfe', tpEvento: 210220, tipoManifestacao: 3 },
  { service: 'nfe', tpEvento: 210240, tipoManifestacao: 4 },
  { service: 'cte', tpEvento: 610110, tipoManifestacao: 610110 },
]

const people = 6

/**
 * People who ask for events, now and then for the same one twice at once, and for the next query; until `signal`. Returns everything that
 * was asked for, when all responses are there.
 */
export async function askForEvents(
  { companies }: Installation,
  { chance, everyMs }: { chance: Chance; everyMs: number },
  signal: AbortSignal,
): Promise<SentRequest[]> {
  const requests: SentRequest[] = []
  const person = async () => {
    while (!signal.aborted) {
      await sleep(chance.between(0, 2 * everyMs * people), signal)
      if (signal.aborted) return
      const company = chance.pick(companies)
      if (chance.next() < 0.2) await synchronize(company)
      const kind = chance.pick(kinds)
      const rows = await newest(company, kind.service)
      if (rows.length === 0) continue
      const chosen = [...new Set(Array.from({ length: chance.pick([1, 1, 2, 4]) }, () => chance.pick(rows)))]
      const times = chance.next() < 0.2 ? 2 : 1
      const asked = await Promise.all(Array.from({ length: times }, () => manifest(company, kind, chosen)))
      requests.push(...asked.flat())
    }
  }
  await Promise.all(Array.from({ length: people }, person))
  return requests
}

// What is said while the database is down, with the promise that a later call may do better.
const unavailable = 503
const isFailure = (status: number) => status >= 500 && status !== unavailable

async function synchronize({ client, id }: RegisteredCompany): Promise<void> {
  const { status, body } = await client.call('POST', `/v1/api/Empresas/sincronizar?idEmpresa=${id}`)
  if (isFailure(status)) throw new Error(`sincronizar: ${status} ${body.message}`)
}

async function newest({ client, id }: RegisteredCompany, service: Service): Promise<ListRow[]> {
  const type = service === 'nfe' ? 0 : 2
  const { status, body } = await client.call<{ items: ListRow[] }>(
    'GET',
    `/v1/api/DocumentosFiscais?TipoDFe=${type}&IdEmpresa=${id}`,
  )
  if (status === unavailable) return []
  if (!body.success) throw new Error(`list of ${id}: ${body.message}`)
  return body.data.items
}

async function manifest(
  company: RegisteredCompany,
  kind: ManifestationKind,
  rows: readonly ListRow[],
): Promise<SentRequest[]> {
  const { service, tpEvento, tipoManifestacao } = kind
  const { status, body } = await company.client.call<Manifested>(
    'POST',
    `/v1/api/DocumentosFiscais/manifestar-${service}`,
    {
      tipoManifestacao,
      justificativa,
      idsDFe: rows.map((row) => row.idDfe),
    },
  )
  if (isFailure(status)) throw new Error(`manifestar-${service}: ${status} ${body.message}`)
  return rows.map(({ chave }) => {
    const outcome = body.data?.documentos.find((one) => one.chave === chave)
    const accepted = outcome !== undefined && outcome.situacao !== 'recusada'
    return { company, service, chave, tpEvento, accepted, message: outcome?.mensagem ?? body.message }
  })
}
