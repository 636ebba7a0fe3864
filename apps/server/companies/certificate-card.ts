import type { getCompany } from '@vigia/contract/companies'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { cte } from '@vigia/dfe/families/cte'
import { eventKind } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import type { WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { CertificateUse } from '../platform/signer/signer.ts'
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
    const { rows: uses } = await sql<CertificateUse & { quando: Date }>`
      select at as quando, service, purpose from certificate_use
       where workspace_id = ${workspaceId} and certificate_id = ${id}
      order by at desc, id desc limit ${usesMax}`.execute(db)
    return { ...card, usos: uses.map(({ quando, ...use }) => ({ quando, ...describeUse(use) })) }
  })
}

const webServices: Readonly<Record<string, string>> = {
  NFeDistribuicaoDFe: 'Consulta de NF-e na SEFAZ',
  CTeDistribuicaoDFe: 'Consulta de CT-e na SEFAZ',
  NFeRecepcaoEvento4: 'Manifestação de NF-e na SEFAZ',
  CTeRecepcaoEventoV4: 'Evento de CT-e na SEFAZ',
}

/** A use as a text for people: the records name web services, operations, events and CNPJ as the authority writes them. */
export function describeUse({ service, purpose }: CertificateUse): { servico: string; finalidade: string } {
  const words = purpose
    .replace(/ \((?:dist|cons)NSU(?:, consChNFe)?\)$/, '')
    .replace(/do evento (\d{6}) do CT-e/, (written, code) => {
      const kind = eventKind(cte.id, Number(code))
      return kind ? `de ${kind.description} do CT-e` : written
    })
    .replace(/CNPJ ([0-9A-Z]{14})\b/, (_, cnpj: string) => `CNPJ ${formatCnpj(cnpj)}`)
    .replace(/ \((\d+)\)$/, (_, count: string) => (count === '1' ? ' (1 nota)' : ` (${count} notas)`))
  return { servico: webServices[service] ?? service, finalidade: words.charAt(0).toUpperCase() + words.slice(1) }
}
