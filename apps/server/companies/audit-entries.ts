import { participationFilter } from '@vigia/contract/codes'
import { formatBrasiliaDay } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { ufByCode } from '@vigia/dfe/uf'
import type { Certificate } from '@vigia/sefaz/certificate'
import { sql } from 'kysely'
import { recordAudit } from '../accounts/audit/audit.ts'
import type { WithDatabase } from '../platform/context.ts'
import type { Session } from '../platform/http/session.ts'
import type { Service } from '../platform/service.ts'
import type { RemovedCertificate, Uploader } from './certificates.ts'
import { readShown } from './switches.ts'

/** Settings of a company that people change. */
interface Settings {
  name: string
  cnpj: string
  email: string | null
  uf: number
  automatic: boolean
  shown: Readonly<Record<Service, number>>
  acknowledges: boolean
  /** It is not archived. */
  active: boolean
}

/** Settings of a company, locked until the end of `ctx.db`, a transaction inside the workspace. */
export async function lockSettings({ db }: WithDatabase, workspaceId: number, companyId: number): Promise<Settings> {
  const { rows } = await sql<Omit<Settings, 'shown'>>`
    select name, cnpj, email, uf, automatic, acknowledges_since is not null as acknowledges, active
      from company where workspace_id = ${workspaceId} and id = ${companyId} for no key update`.execute(db)
  return { ...rows[0]!, shown: await readShown({ db }, workspaceId, companyId) }
}

const called = ({ name, cnpj }: { name: string; cnpj: string }) => `${name} (${formatCnpj(cnpj)})`
const holderOf = (certificate: Pick<Certificate, 'name' | 'cnpj' | 'validTo'>) =>
  `o certificado digital de ${called(certificate)}, válido até ${formatBrasiliaDay(certificate.validTo)}`

/** Writes down that a company was registered, and its certificate handed over. */
export async function recordCreation(
  ctx: WithDatabase,
  session: Uploader,
  company: Settings,
  certificate: Certificate,
): Promise<void> {
  await recordAudit(ctx, session, 'empresa', `Cadastrou a empresa ${called(company)} com ${holderOf(certificate)}.`)
  await recordAudit(ctx, session, 'certificado', `Enviou ${holderOf(certificate)}, para a empresa ${called(company)}.`)
}

/** Writes down what became different in a company, each thing where people look for it; nothing when nothing did. */
export async function recordChanges(
  ctx: WithDatabase,
  session: Uploader,
  { before, after, certificate }: { before: Settings; after: Settings; certificate?: Certificate },
): Promise<void> {
  if (certificate)
    await recordAudit(
      ctx,
      session,
      'certificado',
      `Trocou o certificado da empresa ${called(after)}: agora usa ${holderOf(certificate)}.`,
    )
  const changes = changesOf(before, after)
  if (changes.length > 0)
    await recordAudit(ctx, session, 'empresa', `Alterou a empresa ${called(before)}: ${changes.join('; ')}.`)
  if (before.acknowledges !== after.acknowledges)
    await recordAudit(
      ctx,
      session,
      'manifestacao',
      after.acknowledges
        ? `Ligou a ciência automática da empresa ${called(after)}: a partir de agora a Ciência da Operação é registrada sozinha.`
        : `Desligou a ciência automática da empresa ${called(after)}: a partir de agora a Ciência da Operação não é mais registrada sozinha.`,
    )
}

/** Writes down that the certificate of a company was taken away. */
export async function recordRemoval(
  ctx: WithDatabase,
  session: Session,
  company: Settings,
  certificate: RemovedCertificate,
): Promise<void> {
  const description = `Removeu ${holderOf(certificate)}, da empresa ${called(company)}; a chave privada foi apagada.`
  await recordAudit(ctx, session, 'certificado', description)
}

/** Writes down that a company was archived, or taken back into use. */
export async function recordArchiving(
  ctx: WithDatabase,
  session: Session,
  company: Settings,
  archived: boolean,
): Promise<void> {
  const description = archived
    ? `Arquivou a empresa ${called(company)}: a captura dela parou${company.acknowledges ? ', a ciência automática foi desligada' : ''}, e os documentos ficam.`
    : `Reativou a empresa ${called(company)}: a captura dela continua.`
  await recordAudit(ctx, session, 'empresa', description)
}

/** Writes down that somebody asked for a query. */
export async function recordSync(ctx: WithDatabase, session: Session, companyId: number): Promise<void> {
  const { rows } = await sql<{ name: string; cnpj: string }>`
    select name, cnpj from company where workspace_id = ${session.workspaceId} and id = ${companyId}`.execute(ctx.db)
  await recordAudit(ctx, session, 'sincronizacao', `Pediu a sincronização da empresa ${called(rows[0]!)}.`)
}

// As the screens name them.
function changesOf(before: Settings, after: Settings): string[] {
  const things: [what: string, textOf: (settings: Settings) => string][] = [
    ['razão social', ({ name }) => `“${name}”`],
    ['e-mail', ({ email }) => email ?? 'nenhum'],
    ['UF', ({ uf }) => ufByCode(uf)?.uf ?? String(uf)],
    ['sincronização automática', ({ automatic }) => onOff(automatic)],
  ]
  for (const { code, label } of participationFilter.nfe)
    things.push([`exibição de NF-e como ${label}`, ({ shown }) => onOff((shown.nfe & (1 << code)) !== 0)])
  for (const { code, label } of participationFilter.cte)
    things.push([`exibição de CT-e como ${label}`, ({ shown }) => onOff((shown.cte & (1 << code)) !== 0)])
  return things.flatMap(([what, textOf]) => {
    const [was, is] = [textOf(before), textOf(after)]
    return was === is ? [] : [`${what} de ${was} para ${is}`]
  })
}

const onOff = (on: boolean) => (on ? 'ligada' : 'desligada')
