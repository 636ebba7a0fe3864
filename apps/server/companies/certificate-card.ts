import type { getCompany } from '@vigia/contract/companies'
import { sql } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import type { WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import type { DataOf } from '../platform/http/http.ts'
import { usedCertificates } from './certificates.ts'

type Card = NonNullable<DataOf<typeof getCompany>['certificado']>

const usesMax = 20

/** The certificate that is used for a company of the workspace, with its newest uses; null when there is none. */
export async function readCertificateCard(
  ctx: WithDatabase,
  workspaceId: number,
  companyId: number,
): Promise<Card | null> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<Omit<Card, 'usos'> & { id: number }>`
      select k.id, k.holder_name as titular, k.holder_cnpj as cnpj, k.issuer as emissor, k.valid_from as "validoDe", k.valid_to as "validoAte",
             k.company_id <> c.id as "deOutraEmpresa",
             coalesce(${nameOfAuthor(workspaceId, 'k.uploaded_by')}, 'Alguém que não tem mais conta') as "enviadoPor", k.uploaded_at as "enviadoEm"
        from company c
        join ${usedCertificates(workspaceId)} k on k.base = left(c.cnpj, 8)
       where c.workspace_id = ${workspaceId} and c.id = ${companyId}`.execute(db)
    const [found] = rows
    if (!found) return null
    const { id, ...card } = found
    const { rows: uses } = await sql<{ quando: Date; service: string; finalidade: string }>`
      select at as quando, service, purpose as finalidade from certificate_use
       where workspace_id = ${workspaceId} and certificate_id = ${id}
      order by at desc, id desc limit ${usesMax}`.execute(db)
    return { ...card, usos: uses.map(({ service, ...use }) => ({ ...use, servico: webServices[service] ?? service })) }
  })
}

const webServices: Readonly<Record<string, string>> = {
  NFeDistribuicaoDFe: 'Consulta de NF-e na SEFAZ',
  CTeDistribuicaoDFe: 'Consulta de CT-e na SEFAZ',
  NFeRecepcaoEvento4: 'Manifestação de NF-e na SEFAZ',
  CTeRecepcaoEventoV4: 'Evento de CT-e na SEFAZ',
}
