import { formatBrasiliaShortMoment, formatCount, formatInteger, formatList } from '@vigia/contract/text'
import { formatCnpj } from '@vigia/dfe/cnpj'
import { familyOf } from '@vigia/dfe/families/lookup'
import { type RawBuilder, sql } from 'kysely'
import { warn } from '../accounts/warn.ts'
import { noneAccepted } from '../companies/certificates.ts'
import { named } from '../companies/topics.ts'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inCapture, readWorkspace } from '../platform/database.ts'
import { type Letter, type MailKind, whyReceived } from '../platform/mail/mail.ts'
import { type ServiceCode, serviceCodes } from '../platform/service.ts'
import { addressOf, pausedServices } from '../sefaz/circuit.ts'
import { noCertificate } from './decide.ts'
import { distributionUrl } from './sources/call.ts'
import { isTold } from './subscriptions.ts'

// Hours of the authority. A line that stops needs a person, but others may be about to stop for the same reason: people get one letter about
// all of them, and every line has its turn within an hour and a bit. After that, one that is still blocked was blocked again.
const hours = { stopped: 1.5, blocked: 2.5, failed: 6 }

/** When a line in trouble is stuck and people should know; null: no trouble. The columns are those of `capture_line`. */
export function stuckAt({ config }: Pick<Context, 'config'>): RawBuilder<Date | null> {
  const after = (state: keyof typeof hours) =>
    sql`trouble_since + ${hours[state] * config.sefaz.hourMs} * interval '1 ms'`
  return sql`case when paused then null
                  when state = 'stopped' then ${after('stopped')}
                  when state = 'blocked' and (automatic or wanted) then ${after('blocked')}
                  when state = 'failed' and (automatic or wanted) then ${after('failed')} end`
}

interface StuckCapture {
  companyId: number
  name: string
  cnpj: string
  service: ServiceCode
  state: 'stopped' | 'blocked' | 'failed'
  message: string
  since: Date
  /** It has lasted long enough for a letter. */
  due: boolean
  /** When there was something to tell of it. */
  tellableAt: Date
}

interface LostPositions {
  name: string
  cnpj: string
  service: ServiceCode
  lost: number
  /** It is not archived. */
  active: boolean
}

/** Writes one letter about all stuck captures and lost positions, at most one a day of each kind, and only with news. */
export async function warnOfCaptures(ctx: WithConfig, workspaceId: number): Promise<void> {
  const { stuck, lost, told } = await readWorkspace(ctx, workspaceId, async (ctx) => ({
    stuck: await listStuck(ctx, workspaceId),
    lost: sumOf(await listLost(ctx, workspaceId)),
    told: {
      stuck: await readTold(ctx, workspaceId, 'captura'),
      lost: await readTold(ctx, workspaceId, 'captura-perda'),
    },
  }))
  const fresh = stuck.filter(({ tellableAt }) => told.stuck.at === null || tellableAt > told.stuck.at)
  if (fresh.some(({ due }) => due) && !told.stuck.lately) {
    const newest = Math.max(...fresh.map(({ tellableAt }) => tellableAt.getTime()))
    await warn(ctx, workspaceId, { key: `captura/${newest}`, kind: 'captura' })
  }
  if (lost > told.lost.number && !told.lost.lately)
    await warn(ctx, workspaceId, { key: `captura-perda/${lost}`, kind: 'captura-perda' })
}

// The letters of a kind: when the last one was written, whether within a day, and the highest number in their keys.
async function readTold({ db }: WithDatabase, workspaceId: number, kind: string) {
  const { rows } = await sql<{ at: Date | null; lately: boolean; number: number }>`
    select max(at) as at, coalesce(bool_or(at > now() - interval '1 day'), false) as lately,
           coalesce(max(split_part(key, '/', 2)::float8), 0) as number
      from notice where workspace_id = ${workspaceId} and key like ${`${kind}/%`} and at <= now()`.execute(db)
  return rows[0]!
}

/** Captures that are stuck or stopped just now, without ended certificates and outages, which are told elsewhere. Inside the workspace. */
async function listStuck(ctx: WithConfig, workspaceId: number): Promise<StuckCapture[]> {
  const out = await pausedServices(ctx)
  const served = Object.values(serviceCodes).filter((code) => !out.includes(addressOf(distributionUrl(ctx, code))))
  // Only the capture sees whether others are proved.
  const { rows } = await inCapture(ctx, ({ db }) =>
    sql<Omit<StuckCapture, 'name' | 'cnpj'>>`
      select s.company_id as "companyId", l.service, l.state, l.trouble_since as since, l.stuck_at <= now() as due,
             case when l.state = 'stopped' then l.trouble_since else l.stuck_at end as "tellableAt",
             case when l.message = ${noneAccepted} then coalesce(s.refused, l.message) else l.message end as message
        from capture_subscription s join (select *, ${stuckAt(ctx)} as stuck_at from capture_line) l on l.id = s.line_id
       where s.workspace_id = ${workspaceId} and not s.paused and ${isTold}
         and l.message <> ${noCertificate} and l.service = any (${served}::smallint[])
         and (l.stuck_at <= now() or l.state = 'stopped' and l.stuck_at is not null)`.execute(db),
  )
  return withCompanies(ctx, workspaceId, rows)
}

// Includes archived companies: the sum is compared with the one told before, and must not shrink.
async function listLost({ db }: WithDatabase, workspaceId: number): Promise<LostPositions[]> {
  const { rows } = await sql<Omit<LostPositions, 'name' | 'cnpj' | 'active'> & { companyId: number }>`
    select s.company_id as "companyId", l.service, sum(g.to_nsu - g.from_nsu + 1)::float8 as lost
      from capture_subscription s join capture_line l on l.id = s.line_id join capture_gap g on g.line_id = l.id
     where s.workspace_id = ${workspaceId} and s.proved_at is not null and g.lost and not g.passed
     group by 1, 2`.execute(db)
  return withCompanies({ db }, workspaceId, rows)
}

const sumOf = (lost: readonly LostPositions[]) => lost.reduce((sum, one) => sum + one.lost, 0)

// In a statement of its own: the tables of the capture are not joined with those of a workspace.
async function withCompanies<Row extends { companyId: number }>(
  { db }: WithDatabase,
  workspaceId: number,
  rows: readonly Row[],
): Promise<(Row & { name: string; cnpj: string; active: boolean })[]> {
  if (rows.length === 0) return []
  const { rows: companies } = await sql<{ id: number; name: string; cnpj: string; active: boolean }>`
    select id, name, cnpj, active from company
     where workspace_id = ${workspaceId} and id = any (${rows.map(({ companyId }) => companyId)}::int[])`.execute(db)
  const byId = new Map(companies.map((company) => [company.id, company]))
  return rows.flatMap((row) => {
    const company = byId.get(row.companyId)
    return company ? [{ ...row, name: company.name, cnpj: company.cnpj, active: company.active }] : []
  })
}

const states = ['stopped', 'failed', 'blocked'] as const
const words = { stopped: 'parada', failed: 'com falha', blocked: 'bloqueada pela SEFAZ' } as const
// The page has the rest: a longer list would not be read.
const namedMax = 5

const writeStuck: MailKind = async (ctx, { workspaceId }) => {
  if (workspaceId === null) return null
  const stuck = await readWorkspace(ctx, workspaceId, (ctx) => listStuck(ctx, workspaceId))
  const worst = states.find((state) => stuck.some((one) => one.state === state))
  if (!worst) return null
  const companies = new Set(stuck.map(({ companyId }) => companyId)).size
  return {
    subject: `Captura ${words[worst]}: ${named(stuck.map(cnpjOf))}`,
    paragraphs: [
      companies <= namedMax ? stuck.map(describe).join('\n') : summarize(stuck),
      `Os documentos já guardados estão seguros e continuam disponíveis. A SEFAZ guarda os novos por cerca de 90 dias: se a captura voltar antes disso, nada se perde.`,
      worst === 'stopped'
        ? 'O que fazer: em Empresas, cada linha diz o motivo e o que o resolve. Se ele fala do certificado, envie um novo na página da empresa. O que parou em geral só volta quando alguém resolve o motivo; o que está com falha ou bloqueado é tentado de novo sozinho.'
        : 'O que fazer: em Empresas, cada linha diz o motivo. A captura é tentada de novo sozinha; se outro sistema usa o mesmo certificado para consultar a SEFAZ, desligue a consulta dele, ou os dois se bloqueiam.',
    ],
    ...toCompanies(ctx, 'Avisamos uma vez por dia, no máximo, e só quando há algo novo.'),
  }
}

// Names are what somebody typed or what a certificate says; a subject has only our words.
const cnpjOf = ({ cnpj }: { cnpj: string }) => `CNPJ ${formatCnpj(cnpj)}`

function describe({ name, cnpj, service, state, since, message }: StuckCapture): string {
  return `${name} (CNPJ ${formatCnpj(cnpj)}), ${familyOf(service).name}: ${words[state]} desde ${formatBrasiliaShortMoment(since)} (horário de Brasília). ${message}`
}

function summarize(stuck: readonly StuckCapture[]): string {
  const parts = states.flatMap((state) => {
    const companies = new Set(stuck.filter((one) => one.state === state).map(({ companyId }) => companyId)).size
    return companies > 0 ? [`${words[state]} em ${formatCount(companies, 'empresa', 'empresas')}`] : []
  })
  const names = [...new Set(stuck.map(({ name }) => name))].slice(0, namedMax)
  return `A captura está ${formatList(parts)}, entre elas ${formatList(names)}. O motivo mais comum: ${mostCommon(stuck.map(({ message }) => message))}`
}

function mostCommon(texts: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best))[0]
}

const writeLost: MailKind = async (ctx, { workspaceId }) => {
  if (workspaceId === null) return null
  const all = await readWorkspace(ctx, workspaceId, (ctx) => listLost(ctx, workspaceId))
  const lost = all.filter(({ active }) => active)
  const [first] = lost
  if (!first) return null
  const what = formatCount(sumOf(lost), 'posição que faltava não está', 'posições que faltavam não estão')
  const listed = lost
    .toSorted((a, b) => b.lost - a.lost)
    .slice(0, namedMax)
    .map(
      (one) => `${one.name} (CNPJ ${formatCnpj(one.cnpj)}), ${familyOf(one.service).name}: ${formatInteger(one.lost)}`,
    )
  const others = lost.length - listed.length
  return {
    subject: `${what} mais na SEFAZ: ${named(lost.map(cnpjOf))}`,
    paragraphs: [
      `${what} mais na SEFAZ. Ela já as tinha entregado a outro sistema, a este antes de ele voltar de uma cópia de segurança, ou numa resposta que se perdeu no caminho; quando a captura perguntou por elas, uma a uma, a SEFAZ já não as tinha. Cada posição pode ser um documento ou só um evento de um documento.`,
      [...listed, ...(others > 0 ? [`e mais ${formatInteger(others)}`] : [])].join('\n'),
      'Os documentos já guardados estão seguros, e a captura dos novos continua.',
      'O que fazer: em Empresas, a completude mostra quais posições são. Se um documento fizer falta, peça o arquivo XML a quem o emitiu.',
    ],
    ...toCompanies(ctx, 'Avisamos uma vez por dia, no máximo, e só quando há mais posições perdidas.'),
  }
}

function toCompanies({ config }: Pick<Context, 'config'>, when: string): Pick<Letter, 'button' | 'footnote'> {
  return {
    button: { label: 'Ver as empresas', url: `${config.publicUrl}/empresas` },
    footnote: `${whyReceived(config)} ${when}`,
  }
}

export const captureMails: Readonly<Record<string, MailKind>> = { captura: writeStuck, 'captura-perda': writeLost }
