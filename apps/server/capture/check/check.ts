import { X509Certificate } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { cnpjBase, formatCnpj } from '@vigia/dfe/cnpj'
import { families } from '@vigia/dfe/families/all'
import { ufBySigla } from '@vigia/dfe/uf'
import { CertificateError, readCertificate } from '@vigia/sefaz/certificate'
import { type Connection, connect } from '@vigia/sefaz/connection'
import { sql } from 'kysely'
import { readAuthorities } from '../../companies/authorities.ts'
import { inCapture } from '../../platform/database.ts'
import { type Service, serviceCodes, serviceOf } from '../../platform/service.ts'
import type { OpenedCertificate } from '../../platform/signer/signer.ts'
import { quotaWait } from '../../sefaz/ledger.ts'
import { findCertificate } from '../certificate.ts'
import { findPosition } from '../gaps/positions.ts'
import { type CaptureLine, claimOne, releaseLine } from '../lease.ts'
import type { Answer } from '../source.ts'
import { distributionUrl } from '../sources/call.ts'
import { sources } from '../sources.ts'
import { ask, type CaptureContext, settle, settleInterrupted } from '../turn.ts'
import { describeAnswer, describeCertificate, describeFailure, type Finding, notOf } from './check-texts.ts'

export interface CheckReport {
  ok: boolean
  lines: string[]
}

/** Sends one harmless query to each service with the certificate of a registered company, and explains the result. */
export async function checkCompany(ctx: CaptureContext, cnpj: string): Promise<CheckReport> {
  const known = await findLines(ctx, cnpj)
  if (known.size === 0) {
    return failure(
      `Nenhuma empresa com o CNPJ ${formatCnpj(cnpj)} está cadastrada aqui.`,
      'Cadastre-a pelo site, ou confira o certificado antes de cadastrá-lo: npm run sefaz -- check ARQUIVO --senha SENHA.',
    )
  }
  return checkServices(ctx, { cnpj, known, given: null })
}

/** The same with a certificate file, whether or not its company is registered; `wanted`: a filial that the certificate serves as well. */
export async function checkFile(
  ctx: CaptureContext,
  file: Uint8Array,
  password: string,
  wanted?: string,
): Promise<CheckReport> {
  try {
    const certificate = await readCertificate(file, password, { cnpj: wanted })
    const cnpj = wanted ?? certificate.cnpj
    if (cnpjBase(cnpj) !== cnpjBase(certificate.cnpj)) return notOf(certificate.cnpj, cnpj)
    const uf = ufBySigla(certificate.uf ?? '')?.code ?? 35
    const given = {
      pem: certificate.certificate,
      // This one is of who asks, and no business of the signer.
      connect: async () =>
        connect(certificate, { ca: await readAuthorities(ctx.config), timeoutMs: ctx.config.sefaz.answerMs }),
    }
    return await checkServices(ctx, { cnpj, known: await findLines(ctx, cnpj), given: { uf, certificate: given } })
  } catch (error) {
    if (error instanceof CertificateError) return failure('O certificado não pode ser usado.', error.message)
    throw error
  }
}

interface Given {
  uf: number
  certificate: Pick<OpenedCertificate, 'pem' | 'connect'>
}

interface CheckSubject {
  cnpj: string
  /** The capture lines that exist for the CNPJ. */
  known: Map<Service, number>
  /** The certificate to use, of a file; null: that of the company. */
  given: Given | null
}

async function checkServices(ctx: CaptureContext, subject: CheckSubject): Promise<CheckReport> {
  const lines = [`Acesso à SEFAZ de ${formatCnpj(subject.cnpj)}, ambiente ${ctx.config.sefaz.ambiente}.`]
  try {
    await readAuthorities(ctx.config)
  } catch (error) {
    const path = error instanceof Error && 'path' in error ? String(error.path) : ctx.config.sefaz.caFiles.join(', ')
    return failure(
      `O arquivo ${path} não pôde ser lido, e sem ele a identidade do servidor não é confirmada.`,
      'Nada foi enviado. Confira SEFAZ_CA_FILE; no ambiente simulado, o arquivo é feito quando o simulador inicia.',
    )
  }
  const findings: Finding[] = []
  for (const { id } of families) findings.push(await checkService(ctx, subject, id))
  const shown = findings.find((finding) => finding.certificate)?.certificate
  if (shown) lines.push('', ...describeCertificate(shown))
  for (const [index, finding] of findings.entries()) {
    const { code, name } = families[index]!
    const { host } = new URL(distributionUrl(ctx, code))
    lines.push('', `${name} (${host})`, ...finding.lines.map((line) => `  ${line}`))
  }
  return { ok: findings.every((finding) => finding.ok), lines }
}

function failure(...lines: string[]): CheckReport {
  return { ok: false, lines }
}

async function findLines(ctx: CaptureContext, cnpj: string): Promise<Map<Service, number>> {
  const rows = await inCapture(ctx, ({ db }) =>
    db.selectFrom('capture_line').select(['id', 'service']).where('cnpj', '=', cnpj).execute(),
  )
  return new Map(rows.map(({ id, service }) => [serviceOf(service), id]))
}

async function checkService(ctx: CaptureContext, subject: CheckSubject, service: Service): Promise<Finding> {
  const id = subject.known.get(service)
  if (id === undefined) {
    if (!subject.given) return failure('Não há captura deste serviço para este CNPJ.')
    return checkUnknown(ctx, subject.cnpj, service, subject.given)
  }
  const line = await claimPatiently(ctx, id)
  if (!line) {
    return failure(
      'Não perguntamos agora.',
      'A captura está no meio de uma consulta deste CNPJ, ou uma consulta dela ficou sem resposta.',
      'Tente de novo em alguns minutos.',
    )
  }
  return checkLine(ctx, line, subject)
}

const patienceMs = 30_000

// Two queries of one CNPJ never travel at once: the capture may be in the middle of one.
async function claimPatiently(ctx: CaptureContext, id: number): Promise<CaptureLine | null> {
  for (const since = performance.now(); ; await setTimeout(500)) {
    const line = await claimOne(ctx, id)
    // Workers do not claim a paused line, so none of them would settle its interrupted query.
    if (line?.asked) await settleInterrupted(ctx, line)
    else if (line || performance.now() - since > patienceMs) return line
  }
}

// Releases the line.
async function checkLine(ctx: CaptureContext, line: CaptureLine, subject: CheckSubject): Promise<Finding> {
  let connection: Connection | undefined
  let isReleased = false
  try {
    const refusal = await inCapture(ctx, (ctx) => refuseToAsk(ctx, line))
    if (refusal) return refusal
    const registered = subject.given ? null : await findCertificate(ctx, line, 'Conferir o acesso')
    const shown = subject.given ?? registered
    if (!shown) return await inCapture(ctx, (ctx) => explainNoCertificate(ctx, line))
    // The query asks for a missing position when there is one, else for one that is already here.
    const missing = await inCapture(ctx, (ctx) => findPosition(ctx, line))
    const turn = { line, question: { at: missing ?? (line.lastNsu || 1n) } }
    connection = await shown.certificate.connect()
    const answer = await ask(ctx, turn, registered ?? { uf: shown.uf }, connection, { inOutage: true })
    // The plan of this workspace has ended meanwhile; another workspace may still have one.
    if (!answer) {
      isReleased = true
      return await checkLine(ctx, line, subject)
    }
    await settle(ctx, turn, answer)
    isReleased = true
    return { ...describe(ctx, answer, line.lastNsu > 0n), certificate: certificateOf(shown) }
  } finally {
    connection?.close()
    if (!isReleased) await releaseLine(ctx, line)
  }
}

// `ctx.db` is a transaction of the capture.
async function explainNoCertificate({ db }: Pick<CaptureContext, 'db'>, line: CaptureLine): Promise<Finding> {
  const { rows } = await sql<{ paused: boolean }>`select paused from capture_line where id = ${line.id}`.execute(db)
  return rows[0]!.paused
    ? failure(
        'Não há certificado digital que possa ser usado para este CNPJ.',
        'O período de teste ou o plano de quem o cadastrou terminou, e o certificado dele não é usado. Nada foi enviado.',
        'Ative um plano: npm run admin -- plano ativar.',
      )
    : failure(
        'Não há certificado digital válido para este CNPJ.',
        'O que havia venceu ou foi recusado pela SEFAZ há menos de um dia. Nada foi enviado.',
        'Envie um certificado novo na página da empresa.',
      )
}

// `ctx.db` is a transaction of the capture.
async function refuseToAsk(ctx: Pick<CaptureContext, 'db' | 'config'>, line: CaptureLine): Promise<Finding | null> {
  const { rows } = await sql<{ state: string; allowed_at: Date; message: string; allowed: boolean }>`
    select state, allowed_at, message, allowed_at <= now() as allowed
      from capture_line where id = ${line.id}`.execute(ctx.db)
  const { state, allowed_at, message, allowed } = rows[0]!
  // A query during a block starts a new hour of it, and a lost response may have been a block.
  if (state !== 'waiting' && !allowed) {
    return failure(
      'Não perguntamos agora: uma consulta poderia causar ou aumentar um bloqueio.',
      `Situação: ${message}`,
      `Tente de novo depois de ${formatBrasiliaMoment(allowed_at)}.`,
    )
  }
  const waitMs = await quotaWait(ctx, line)
  if (waitMs === 0) return null
  return failure(
    'Não perguntamos agora: as consultas avulsas desta hora podem já ter sido usadas.',
    'A SEFAZ permite vinte por hora a cada CNPJ: foram gastas com documentos que faltam ou, depois de uma restauração ou de um acerto do relógio, não se sabe quantas foram.',
    `Tente de novo depois de ${formatBrasiliaMoment(new Date(Date.now() + waitMs))}.`,
  )
}

// Nothing is kept of it here: whoever asks for it again and again uses up the hour of the CNPJ.
async function checkUnknown(ctx: CaptureContext, cnpj: string, service: Service, given: Given): Promise<Finding> {
  const { tpAmb } = ctx.config.sefaz
  const subject = { url: distributionUrl(ctx, serviceCodes[service]), tpAmb, uf: given.uf, cnpj }
  const connection = await given.certificate.connect()
  try {
    const answer = await sources[service].ask(connection, subject, { at: 1n })
    return { ...describe(ctx, answer, false), certificate: certificateOf(given) }
  } finally {
    connection.close()
  }
}

function describe(ctx: CaptureContext, answer: Answer, hasReceived: boolean): Finding {
  if (answer.kind !== 'lost') return describeAnswer(answer, hasReceived)
  if (!answer.error) throw new Error('a query of this process cannot have been interrupted')
  return describeFailure(answer.error, ctx.config.sefaz)
}

function certificateOf(holder: Pick<Given, 'certificate'>): X509Certificate {
  return new X509Certificate(holder.certificate.pem)
}
