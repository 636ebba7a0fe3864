import { formatCnpj } from '@vigia/dfe/cnpj'
import { sql } from 'kysely'
import { keptByAuthority } from '../accounts/plans.ts'
import { warn } from '../accounts/warn.ts'
import type { Ending } from '../companies/announcements.ts'
import { usedCertificates } from '../companies/certificates.ts'
import { companyNameIn } from '../companies/topics.ts'
import type { WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace, readWorkspace } from '../platform/database.ts'
import { type MailKind, whyReceived } from '../platform/mail/mail.ts'
import { announce } from '../platform/outbox.ts'

// Days before the end of a certificate at which a warning leaves; 0: it has ended.
const steps = [0, 1, 7, 15, 30]
const dayMs = 86_400_000

/** A certificate in use, with the companies that use it: first the one for which it was uploaded. */
interface UsedCertificate {
  id: number
  daysLeft: number
  companies: { publicId: string; name: string; shown: string; cnpj: string }[]
  /** In São Paulo. */
  validTo: string
  /** Midnights until then. */
  nights: number
}

/** Warns of proved certificates that end soon or have ended, once for each step; companies that share one share the letter. */
export async function warnOfCertificates(ctx: WithConfig, workspaceId: number): Promise<void> {
  for (const { id, daysLeft, companies, nights } of await listUsedCertificates(ctx, workspaceId)) {
    const step = steps.find((days) => daysLeft <= days)
    if (step === undefined) continue
    const next = steps[steps.indexOf(step) - 1]
    await inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
      const told = await warn({ ...ctx, db }, workspaceId, {
        key: `certificado/${id}/${step}`,
        kind: 'certificado',
        payload: { certificate: id },
        // From then on the next one says it better.
        ...(next !== undefined && { usefulMs: Math.max(0, Math.round((daysLeft - next) * dayMs)) }),
      })
      const payload: Ending = {
        company: companies[0]!.shown,
        companyPublicId: companies[0]!.publicId,
        companies: companies.length,
        when: endsIn(nights),
        ended: daysLeft <= 0,
      }
      if (told) await announce({ db }, workspaceId, { what: 'certificado-vence', payload })
    })
  }
}

async function listUsedCertificates(ctx: WithDatabase, workspaceId: number): Promise<UsedCertificate[]> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    // Proved companies only, because a forged certificate has an invented name.
    const { rows: proved } = await sql<{ id: number }>`
      select distinct company_id as id from capture_subscription
       where workspace_id = ${workspaceId} and proved_at is not null`.execute(db)
    const { rows } = await sql<UsedCertificate>`
      select k.id, (extract(epoch from k.valid_to - now()) / 86400)::float8 as "daysLeft",
             json_agg(json_build_object('publicId', c.public_id, 'name', c.name, 'shown', ${companyNameIn(workspaceId)}, 'cnpj', c.cnpj)
                      order by c.id <> k.company_id, c.search, c.id) as companies,
             to_char(k.valid_to at time zone 'America/Sao_Paulo', 'DD/MM/YYYY HH24:MI') as "validTo",
             (k.valid_to at time zone 'America/Sao_Paulo')::date - (now() at time zone 'America/Sao_Paulo')::date as nights
        from company c
        join ${usedCertificates(workspaceId)} k on k.base = left(c.cnpj, 8)
       where c.workspace_id = ${workspaceId} and c.active and c.id = any (${proved.map(({ id }) => id)}::int[])
       group by k.id, k.valid_to
       order by k.valid_to, k.id`.execute(db)
    return rows
  })
}

const writeCertificate: MailKind = async (ctx, { workspaceId, payload }) => {
  const { certificate: id } = payload as { certificate: number }
  if (workspaceId === null) return null
  const certificate = (await listUsedCertificates(ctx, workspaceId)).find((used) => used.id === id)
  const company = certificate?.companies[0]
  // A better one takes its place by now.
  if (!certificate || !company) return null
  const { daysLeft, companies, validTo, nights } = certificate
  const ended = daysLeft <= 0
  const others = companies.length - 1
  const whose =
    others === 0
      ? `da empresa ${nameOf(company)}`
      : `de ${companies.length} empresas, entre elas ${nameOf(company)}, que têm a mesma raiz de CNPJ,`
  const more = others === 0 ? '' : ` e mais ${others === 1 ? '1 empresa' : `${others} empresas`}`
  const stopped = `não conseguimos buscar documentos novos na SEFAZ nem enviar manifestações em nome ${others === 0 ? 'dela' : 'delas'}`
  return {
    subject: `Certificado digital ${ended ? 'vencido' : endsIn(nights)}: CNPJ ${formatCnpj(company.cnpj)}${more}`,
    paragraphs: [
      ended
        ? `O certificado digital ${whose} venceu em ${validTo} (horário de Brasília). Desde então ${stopped}.`
        : `O certificado digital ${whose} ${endsIn(nights)}, em ${validTo} (horário de Brasília). Até lá nada muda. Depois, sem um certificado novo, não conseguimos buscar documentos na SEFAZ nem enviar manifestações em nome ${others === 0 ? 'dela' : 'delas'}.`,
      `Os documentos já guardados continuam seguros e disponíveis. ${keptByAuthority('um certificado novo')}`,
      'O que fazer: renove o certificado (e-CNPJ modelo A1, arquivo .pfx ou .p12) com a sua certificadora e envie o arquivo novo na página da empresa.',
    ],
    button: {
      label: 'Enviar o certificado novo',
      url: `${ctx.config.publicUrl}/empresas/editar/${company.publicId}`,
    },
    footnote: `${whyReceived(ctx.config)} Avisamos 30, 15, 7 e 1 dia antes de um certificado vencer e quando ele vence; com um certificado novo, os avisos param.`,
  }
}

function nameOf({ name, cnpj }: UsedCertificate['companies'][number]): string {
  return `${name} (CNPJ ${formatCnpj(cnpj)})`
}

function endsIn(nights: number): string {
  if (nights <= 0) return 'vence hoje'
  return nights === 1 ? 'vence amanhã' : `vence em ${nights} dias`
}

export const certificateMails: Readonly<Record<string, MailKind>> = { certificado: writeCertificate }
