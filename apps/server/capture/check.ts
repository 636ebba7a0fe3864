import { X509Certificate } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { cnpjBase, formatCnpj } from '@vigia/dfe/cnpj'
import { ufBySigla } from '@vigia/dfe/uf'
import { CertificateError, readCertificate } from '@vigia/sefaz/certificate'
import { sql } from 'kysely'
import { readAuthorities } from '../platform/authorities.ts'
import { inCapture } from '../platform/database.ts'
import { type Service, serviceCodes, services } from '../platform/service.ts'
import { noteCheck, noteCheckBlocked, type Refusal } from './check-record.ts'
import { describeAnswer, describeCertificate, describeFailure, type Finding, notAsked } from './check-words.ts'
import type { CaptureContext } from './conversation.ts'
import { findHolder, type Holder } from './holder.ts'
import { claimOne, fromNow, holdLine, type Line, releaseLine } from './lease.ts'
import { type Outcome, quotaWait } from './ledger.ts'
import { findMissing, findRest } from './missing.ts'
import { announce, announceAs, connectAs, send, urlOf } from './query.ts'
import { recover } from './recovery.ts'
import { settleSingle } from './refill.ts'

/** What came of a check, in lines for who runs the installation. */
export interface Report {
  ok: boolean
  lines: string[]
}

/** Tries one harmless query at each service with the certificate of a registered company, and explains what came of it. */
export async function checkCompany(ctx: CaptureContext, cnpj: string): Promise<Report> {
  const known = await findLines(ctx, cnpj)
  if (known.size === 0) {
    return failure(
      `Nenhuma empresa com o CNPJ ${formatCnpj(cnpj)} está cadastrada aqui.`,
      'Cadastre-a pelo site, ou confira o certificado antes de cadastrá-lo: npm run sefaz -- check --pfx ARQUIVO --senha SENHA.',
    )
  }
  return checkServices(ctx, { cnpj, known, given: null })
}

/** The same with a certificate file, whether or not its company is registered; `cnpj`: a filial that it would speak for. */
export async function checkFile(
  ctx: CaptureContext,
  file: Uint8Array,
  password: string,
  wanted?: string,
): Promise<Report> {
  try {
    const certificate = await readCertificate(file, password)
    const cnpj = wanted ?? certificate.cnpj
    if (cnpjBase(cnpj) !== cnpjBase(certificate.cnpj)) {
      return failure(
        `O certificado é de ${formatCnpj(certificate.cnpj)} e não serve para ${formatCnpj(cnpj)}: os oito primeiros caracteres do CNPJ não são os mesmos.`,
        'Nada foi enviado. Use o certificado da empresa, ou o da matriz dela.',
      )
    }
    const uf = ufBySigla(certificate.uf ?? '')?.code ?? 35
    return await checkServices(ctx, { cnpj, known: await findLines(ctx, cnpj), given: { uf, certificate } })
  } catch (error) {
    if (error instanceof CertificateError) return failure('O certificado não pode ser usado.', error.message)
    throw error
  }
}

interface Subject {
  cnpj: string
  /** The conversations that exist for the CNPJ. */
  known: Map<Service, number>
  /** The certificate to ask with; null: that of the company. */
  given: Pick<Holder, 'uf' | 'certificate'> | null
}

async function checkServices(ctx: CaptureContext, subject: Subject): Promise<Report> {
  const lines = [`Acesso à SEFAZ de ${formatCnpj(subject.cnpj)}, ambiente ${ctx.config.sefaz.ambiente}.`]
  let ca: string[]
  try {
    ca = await readAuthorities(ctx.config)
  } catch (error) {
    const path = error instanceof Error && 'path' in error ? String(error.path) : ctx.config.sefaz.caFiles.join(', ')
    return failure(
      `O arquivo ${path} não pôde ser lido, e sem ele a identidade do servidor não é confirmada.`,
      'Nada foi enviado. Confira SEFAZ_CA_FILE; no ambiente simulado, o arquivo é feito quando o simulador inicia.',
    )
  }
  const findings: Finding[] = []
  for (const service of services) findings.push(await checkService(ctx, subject, service, ca))
  const shown = findings.find((finding) => finding.certificate)?.certificate
  if (shown) lines.push('', ...describeCertificate(shown))
  for (const [index, finding] of findings.entries()) {
    const { host } = new URL(urlOf(ctx, serviceCodes[services[index]!]))
    lines.push(
      '',
      `${services[index] === 'nfe' ? 'NF-e' : 'CT-e'} (${host})`,
      ...finding.lines.map((line) => `  ${line}`),
    )
  }
  return { ok: findings.every((finding) => finding.ok), lines }
}

function failure(...lines: string[]): Report {
  return { ok: false, lines }
}

async function findLines(ctx: CaptureContext, cnpj: string): Promise<Map<Service, number>> {
  const rows = await inCapture(ctx, ({ db }) =>
    db.selectFrom('capture_line').select(['id', 'service']).where('cnpj', '=', cnpj).execute(),
  )
  return new Map(rows.map(({ id, service }) => [service === serviceCodes.nfe ? 'nfe' : 'cte', id]))
}

async function checkService(ctx: CaptureContext, subject: Subject, service: Service, ca: string[]): Promise<Finding> {
  const id = subject.known.get(service)
  if (id === undefined) {
    if (!subject.given) return { ok: false, lines: ['Não há captura deste serviço para este CNPJ.'] }
    return checkUnknown(ctx, subject.cnpj, service, subject.given, ca)
  }
  const line = await claimPatiently(ctx, id)
  if (!line) {
    return notAsked('Não perguntamos agora.', [
      'A captura está no meio de uma consulta deste CNPJ, ou uma consulta dela ficou sem resposta.',
      'Tente de novo em alguns minutos.',
    ])
  }
  try {
    return await checkLine(ctx, line, subject, ca)
  } finally {
    if (!line.asking) await releaseLine(ctx, line, null)
  }
}

const patienceMs = 30_000

// Two queries of one CNPJ never travel at once: the capture may be in the middle of one.
async function claimPatiently(ctx: CaptureContext, id: number): Promise<Line | null> {
  for (const since = performance.now(); ; await setTimeout(500)) {
    const line = await claimOne(ctx, id)
    // Of a conversation that is paused nobody else would settle it.
    if (line && line.askedMsAgo !== null) await recover(ctx, line)
    else if (line || performance.now() - since > patienceMs) return line
  }
}

async function checkLine(ctx: CaptureContext, line: Line, subject: Subject, ca: string[]): Promise<Finding> {
  const refusal = await inCapture(ctx, (ctx) => refuseToAsk(ctx, line))
  if (refusal) return refusal
  const registered = subject.given ? null : await findHolder(ctx, line, 'conferir o acesso (consNSU)')
  const holder = subject.given ?? registered
  if (!holder) return inCapture(ctx, (ctx) => explainNoHolder(ctx, line))
  // A query may as well bring something that is missing; else it asks for what is already here.
  const missing = await inCapture(ctx, (ctx) => findMissing(ctx, line))
  const position = missing ?? (line.lastNsu || 1n)
  if (!registered) await inCapture(ctx, (ctx) => announce(ctx, line, { NSU: position }))
  // The plan of its workspace has ended meanwhile; that of another one may last.
  else if (!(await announceAs(ctx, line, registered, { NSU: position }, { inOutage: true })))
    return checkLine(ctx, line, subject, ca)
  const connection = connectAs(ctx, holder, ca)
  let outcome: Outcome
  try {
    outcome = await send(ctx, line, holder, connection, { NSU: position })
  } finally {
    connection.close()
  }
  await inCapture(ctx, async (ctx) => {
    const waitMs = await settleSingle(ctx, line, { position, isMissing: missing !== null }, outcome)
    const restMs = missing === null ? await findRest(ctx, line) : 0
    await holdLine(ctx, line, { gap_at: restMs === null ? null : fromNow(Math.max(restMs, waitMs)) })
  })
  line.asking = false
  return { ...describe(ctx, line, outcome, line.lastNsu > 0n), certificate: certificateOf(holder) }
}

// `ctx.db` is a transaction of the capture.
async function explainNoHolder({ db }: Pick<CaptureContext, 'db'>, line: Line): Promise<Finding> {
  const { paused } = await db
    .selectFrom('capture_line')
    .select('paused')
    .where('id', '=', line.id)
    .executeTakeFirstOrThrow()
  return paused
    ? notAsked('Não há certificado digital que possa ser usado para este CNPJ.', [
        'O período de teste ou o plano de quem o cadastrou terminou, e o certificado dele não é usado. Nada foi enviado.',
        'Ative um plano: npm run admin -- plano ativar.',
      ])
    : notAsked('Não há certificado digital válido para este CNPJ.', [
        'O que havia venceu, ou foi recusado pela SEFAZ há menos de um dia. Nada foi enviado.',
        'Envie um certificado novo na página da empresa.',
      ])
}

// `ctx.db` is a transaction of the capture.
async function refuseToAsk(ctx: Pick<CaptureContext, 'db' | 'config'>, line: Line): Promise<Finding | null> {
  const { state, allowed_at, message, allowed } = await ctx.db
    .selectFrom('capture_line')
    .select(['state', 'allowed_at', 'message', sql<boolean>`allowed_at <= now()`.as('allowed')])
    .where('id', '=', line.id)
    .executeTakeFirstOrThrow()
  // A query during a block starts its hour again, and a block may be what was in an answer that was lost.
  if (state !== 'waiting' && !allowed) {
    return notAsked(
      'Não perguntamos agora: uma consulta poderia causar ou aumentar um bloqueio.',
      [`Situação: ${message}`, 'Tente de novo depois de {at}.'],
      allowed_at,
    )
  }
  const waitMs = await quotaWait(ctx, line)
  if (waitMs === 0) return null
  return notAsked(
    'Não perguntamos agora: as consultas avulsas desta hora já foram usadas.',
    [
      'A SEFAZ permite vinte por hora a cada CNPJ, e elas estão sendo gastas com documentos que faltam.',
      'Tente de novo depois de {at}.',
    ],
    new Date(Date.now() + waitMs),
  )
}

async function checkUnknown(
  ctx: CaptureContext,
  cnpj: string,
  service: Service,
  given: Pick<Holder, 'uf' | 'certificate'>,
  ca: string[],
): Promise<Finding> {
  const refusal = await noteCheck(ctx, service, cnpj)
  if (refusal) return notAskedAgain(refusal)
  const line = { service: serviceCodes[service], cnpj }
  const connection = connectAs(ctx, given, ca)
  try {
    const outcome = await send(ctx, line, given, connection, { NSU: 1n })
    if (outcome.answer?.cStat === 656) await noteCheckBlocked(ctx, service, cnpj)
    return { ...describe(ctx, line, outcome, false), certificate: certificateOf(given) }
  } finally {
    connection.close()
  }
}

function notAskedAgain({ at, blocked }: Refusal): Finding {
  return blocked
    ? notAsked(
        'Não perguntamos agora: uma consulta aumentaria o bloqueio deste CNPJ.',
        ['A SEFAZ respondeu a uma conferência anterior que o bloqueou por uma hora.', 'Tente de novo depois de {at}.'],
        at,
      )
    : notAsked(
        'Não perguntamos agora: as consultas avulsas desta hora já foram usadas.',
        ['A SEFAZ permite vinte por hora a cada CNPJ.', 'Tente de novo depois de {at}.'],
        at,
      )
}

function describe(
  ctx: CaptureContext,
  line: Pick<Line, 'service'>,
  { answer, error }: Outcome,
  hasReceived: boolean,
): Finding {
  const { hostname } = new URL(urlOf(ctx, line.service))
  if (answer) return describeAnswer(answer, hasReceived)
  if (error === 'interrupted') throw new Error('a query of this process cannot have been interrupted')
  return describeFailure(error, hostname, ctx.config.sefaz)
}

function certificateOf(holder: Pick<Holder, 'certificate'>): X509Certificate {
  return new X509Certificate(holder.certificate.certificate)
}
