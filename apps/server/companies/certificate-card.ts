import { formatCnpj } from '@vigia/dfe/cnpj'
import { eventKind } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import type { WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import type { CertificateUse } from '../platform/signer/signer.ts'
import { usedCertificates } from './certificates.ts'

/** What people see of the certificate that is used for a company. */
export interface CertificateSummary {
  holder_name: string
  holder_cnpj: string
  issuer: string
  valid_from: Date
  valid_to: Date
  /** It was uploaded for another company with the same base. */
  of_another: boolean
  /** Null: the account is gone. */
  uploaded_by: string | null
  uploaded_at: Date
  /** The newest first. */
  uses: (CertificateUse & { at: Date })[]
}

const usesMax = 20

/** The certificate that is used for a company of the workspace, or null when there is none. */
export async function readCertificateCard(
  ctx: WithDatabase,
  workspaceId: number,
  companyId: number,
): Promise<CertificateSummary | null> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<CertificateSummary & { id: number }>`
      select k.id, k.holder_name, k.holder_cnpj, k.issuer, k.valid_from, k.valid_to, k.company_id <> c.id as of_another, ${nameOfAuthor(workspaceId, 'k.uploaded_by')} as uploaded_by, k.uploaded_at
        from company c
        join ${usedCertificates(workspaceId)} k on k.base = left(c.cnpj, 8)
       where c.workspace_id = ${workspaceId} and c.id = ${companyId}`.execute(db)
    const [found] = rows
    if (!found) return null
    const { id, ...card } = found
    const { rows: uses } = await sql<{ at: Date; service: string; purpose: string }>`
      select at, service, purpose from certificate_use
       where workspace_id = ${workspaceId} and certificate_id = ${id}
      order by at desc, id desc limit ${usesMax}`.execute(db)
    return { ...card, uses }
  })
}

const webServices: Readonly<Record<string, string>> = {
  NFeDistribuicaoDFe: 'Consulta de NF-e na SEFAZ',
  CTeDistribuicaoDFe: 'Consulta de CT-e na SEFAZ',
  NFeRecepcaoEvento4: 'Manifestação de NF-e na SEFAZ',
  CTeRecepcaoEventoV4: 'Evento de CT-e na SEFAZ',
}

/** A use as a text for people: the records name web services, operations, events and CNPJ as the authority writes them. */
export function describeUse({ service, purpose }: CertificateUse): { service: string; purpose: string } {
  const words = purpose
    .replace(/ \((?:dist|cons)NSU(?:, consChNFe)?\)$/, '')
    .replace(/do evento (\d{6}) do CT-e/, (written, code) => {
      const kind = eventKind('cte', Number(code))
      return kind ? `de ${kind.description} do CT-e` : written
    })
    .replace(/CNPJ ([0-9A-Z]{14})\b/, (_, cnpj: string) => `CNPJ ${formatCnpj(cnpj)}`)
    .replace(/ \((\d+)\)$/, (_, count: string) => (count === '1' ? ' (1 nota)' : ` (${count} notas)`))
  return { service: webServices[service] ?? service, purpose: words.charAt(0).toUpperCase() + words.slice(1) }
}
