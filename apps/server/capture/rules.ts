import type { DistributionResponse } from '@vigia/sefaz/distribution'
import { isOfTheHost, isOfTheNetwork, type SefazError, type SefazErrorKind } from '@vigia/sefaz/error'
import { mayHaveBeenCounted } from '../sefaz/ledger.ts'
import { closedForHours } from './distribution.ts'

interface Rhythm {
  hourMs: number
  pagePauseMs: number
  marginMs: number
}

/** Facts about a conversation on which decisions depend. */
export interface ConversationState {
  lastNsu: bigint
  maxNsu: bigint
  failures: number
  /** No query of it ever got a response. */
  first: boolean
  /** `maxNsu` is of the last day: documents that waited then have not expired since. */
  recent: boolean
  /** Since the last response with the authority's cursor, one was lost that the authority may have counted. */
  responseLost: boolean
  /** The database may be a copy from before that response. */
  mayBeCopy?: boolean
  state?: Decision['state']
}

/** NSUs from one to another, both included. */
export interface NsuRange {
  from: bigint
  to: bigint
}

export interface Decision {
  nextPage: boolean
  state: 'waiting' | 'blocked' | 'failed' | 'stopped'
  message: string
  /** Time of the next automatic query; null: not before a person acts. */
  nextInMs: number | null
  /** Before this, not even a person's request may cause a query. */
  allowedInMs: number
  failures: number
  succeeded?: boolean
  lastNsu?: bigint
  maxNsu?: bigint
  /** NSUs that another program consumed and that are not here. */
  gap?: NsuRange
  /** NSUs that the authority passed over without bringing what may be there. */
  passed?: NsuRange
  /** The authority did not accept the certificate of the query. */
  certificateRefused?: boolean
  /** Only the pauses are written: another certificate is used next, and state and message of the line stay. */
  keepsState?: boolean
}

export const noCertificate: Decision = {
  nextPage: false,
  state: 'stopped',
  message:
    'O certificado digital venceu. Os documentos já guardados estão seguros; envie um certificado novo para a captura continuar.',
  nextInMs: null,
  allowedInMs: 0,
  failures: 0,
}

/** The client algorithm of NT 2014.002 (cursor, pauses, consumo indevido) for one response to `distNSU` with `lastNsu`. */
export function decide(
  response: Pick<DistributionResponse, 'cStat' | 'xMotivo' | 'ultNSU' | 'maxNSU' | 'documents'>,
  standing: Pick<ConversationState, 'lastNsu' | 'first' | 'responseLost' | 'mayBeCopy' | 'state'> &
    Partial<Pick<ConversationState, 'failures'>>,
  rhythm: Rhythm,
): Decision {
  const { lastNsu, first } = standing
  const ult = response.ultNSU === null ? null : BigInt(response.ultNSU)
  const max = response.maxNSU === null ? undefined : BigInt(response.maxNSU)
  switch (response.cStat) {
    case 138: {
      const top = highestNsu(response.documents, lastNsu)
      if (ult !== null && isFar(ult, top)) return { ...impossible(farAhead(ult, top), rhythm), lastNsu: top }
      const advanced = highest(lastNsu, ult ?? top)
      if (advanced === lastNsu) return withoutProgress(standing, rhythm)
      const more = max !== undefined && advanced < max
      const news =
        response.documents.length === 1 ? '1 documento novo' : `${response.documents.length} documentos novos`
      return {
        ...rest(
          rhythm,
          more ? `Recebendo: posição ${advanced} de ${max}.` : `Em dia. A última consulta trouxe ${news}.`,
          first ? rhythm.hourMs : rhythm.marginMs,
        ),
        nextPage: more,
        lastNsu: advanced,
        // A maximum below the page itself is wrong and ignored.
        maxNsu: max !== undefined && max >= advanced ? max : undefined,
        succeeded: true,
        ...(more && soon(rhythm)),
        ...passedOver(top, ult),
      }
    }
    case 137: {
      if (ult !== null && isFar(ult, lastNsu)) return impossible(farAhead(ult, lastNsu), rhythm)
      const advanced = highest(lastNsu, ult ?? 0n)
      return {
        ...rest(rhythm, 'Em dia. Nenhum documento novo na última consulta.', first ? rhythm.hourMs : rhythm.marginMs),
        lastNsu: advanced,
        maxNsu: max === undefined ? undefined : highest(max, advanced),
        succeeded: true,
        ...passedOver(lastNsu, ult),
      }
    }
    case 656:
      return blocked(ult, standing, rhythm)
    case 108:
    case 109:
      return unavailable(response.xMotivo, rhythm.hourMs * closedForHours[response.cStat]!, rhythm)
    case 999:
      return unavailable(response.xMotivo, rhythm.hourMs / 4, rhythm)
    default:
      return {
        nextPage: false,
        state: 'stopped',
        message: `${explainCode(response.cStat)} Os documentos já guardados estão seguros. (${response.cStat}: ${response.xMotivo})`,
        nextInMs: passingCodes.has(response.cStat) ? rhythm.hourMs + rhythm.marginMs : null,
        allowedInMs: rhythm.hourMs + rhythm.marginMs,
        failures: 0,
        certificateRefused: certificateCodes.has(response.cStat),
      }
  }
}

/** Wait, and block if there is one, after the response to a query for one position or note, or after none (null). */
export function decideSingle(
  response: Parameters<typeof decide>[0] | null,
  standing: Pick<ConversationState, 'lastNsu' | 'first' | 'failures'>,
  rhythm: Rhythm,
): { block: Decision | null; waitMs: number } {
  if (response && isOfTheNote(response)) return { block: null, waitMs: 0 }
  switch (response?.cStat) {
    case 137:
    case 138:
      return { block: null, waitMs: 0 }
    case 656: {
      // The ultNSU of a consNSU response is not the cursor of distNSU.
      const block = decide({ ...response, ultNSU: null }, { ...standing, responseLost: false }, rhythm)
      return { block, waitMs: block.allowedInMs }
    }
    // Without a response, or for a position beyond the end, other positions may still be fetched.
    case undefined:
    case 589:
      return { block: null, waitMs: rhythm.hourMs / 6 }
    default:
      return { block: null, waitMs: rhythm.hourMs }
  }
}

// Not known there yet; the others are for ever: after three months, not of this CNPJ, of the issuer, cancelled, denied.
const unknownNote = 217
/** Refusals of a query by chave after which it is not repeated (NT 2014.002). */
export const finalRefusals: readonly number[] = [632, 640, 641, 653, 654]

const isOfTheNote = ({ cStat }: Pick<DistributionResponse, 'cStat'>) =>
  cStat === unknownNote || finalRefusals.includes(cStat)

// 280 to 286: the certificate itself; 472, 473, 593: it is not of the CNPJ in the query.
const certificateCodes = new Set([280, 281, 282, 283, 284, 285, 286, 472, 473, 593])
// The same certificate may be accepted later, for example after a clock was set right.
const passingCodes = new Set([281, 286])

/** Whether a refusal is about the certificate or the CNPJ (489: unknown to the authority), which its owner must mend. */
export function isOfTheCustomer(cStat: number): boolean {
  return certificateCodes.has(cStat) || cStat === 489
}

/** Whether a response proves a certificate: these codes come after the authority compared it with the CNPJ (NT 2014.002, rule 593). */
export function isProof({ cStat }: Pick<DistributionResponse, 'cStat'>): boolean {
  return cStat === 137 || cStat === 138 || cStat === 589 || cStat === 656
}

const explanations: Record<number, string> = {
  215: 'A SEFAZ não entendeu a nossa consulta; quem administra o sistema precisa atualizá-lo.',
  252: 'O endereço consultado é de outro ambiente (produção ou homologação) da SEFAZ.',
  280: 'A SEFAZ não aceitou o certificado digital.',
  281: 'O certificado digital está fora da validade.',
  282: 'A SEFAZ não encontrou um CNPJ no certificado digital.',
  283: 'A SEFAZ não reconhece a autoridade que emitiu o certificado digital.',
  284: 'O certificado digital foi revogado.',
  285: 'O certificado digital não é da ICP-Brasil.',
  286: 'A SEFAZ não conseguiu conferir se o certificado digital foi revogado.',
  472: 'O certificado digital é de outra pessoa.',
  473: 'A SEFAZ não encontrou um CNPJ no certificado digital.',
  489: 'A SEFAZ não reconhece este CNPJ.',
  589: 'A posição da nossa consulta está à frente da que a SEFAZ conhece; a captura parou para nada ser pulado.',
  593: 'O certificado é de outra empresa: os oito primeiros caracteres do CNPJ não são os mesmos.',
}

export function explainCode(cStat: number): string {
  return explanations[cStat] ?? 'A SEFAZ recusou a consulta.'
}

// One cycle an hour. The first pause is spread over an hour, so that companies registered together do not query together.
function rest(rhythm: Rhythm, message: string, spreadMs: number): Decision {
  return {
    nextPage: false,
    state: 'waiting',
    message,
    nextInMs: rhythm.hourMs + rhythm.marginMs + spreadMs * Math.random(),
    allowedInMs: rhythm.hourMs + rhythm.marginMs / 5,
    failures: 0,
  }
}

// More documents than any CNPJ receives between two queries; a slip of the authority may name any number.
const jumpMax = 1_000_000n

/** Whether nothing but a slip of the authority leads from one NSU to the other. At the first contact a CNPJ may stand anywhere. */
const isFar = (nsu: bigint, from: bigint) => from > 0n && nsu - from > jumpMax

// A cursor that cannot be true is not adopted, because nothing leads back from one beyond the end.
function impossible(what: string, rhythm: Rhythm): Decision {
  return {
    nextPage: false,
    state: 'stopped',
    message: `${what} A captura parou para nada ser pulado, e os documentos já guardados estão seguros. Peça a sincronização para perguntar mais uma vez; se ela responder o mesmo, quem administra o sistema precisa conferir.`,
    nextInMs: null,
    allowedInMs: rhythm.hourMs + rhythm.marginMs,
    failures: 0,
  }
}

const farAhead = (ult: bigint, lastNsu: bigint) =>
  `A SEFAZ informou a posição ${ult}, impossível porque está mais de um milhão à frente da nossa (${lastNsu}).`

// Positions that a response claims beyond its last document.
function passedOver(top: bigint, ult: bigint | null): Pick<Decision, 'passed'> {
  return ult !== null && ult > top ? { passed: { from: top + 1n, to: ult } } : {}
}

// Documents that lead nowhere: the next query would bring them again, and nothing after them.
function withoutProgress({ lastNsu, failures = 0 }: Parameters<typeof decide>[1], rhythm: Rhythm): Decision {
  const message = `A SEFAZ respondeu que há documentos, mas não passou da posição ${lastNsu}. Os documentos já guardados estão seguros e a captura tenta de novo sozinha em uma hora; se continuar assim, quem administra o sistema precisa conferir.`
  return { ...rest(rhythm, message, rhythm.marginMs), state: 'failed', failures: oneMore(failures), lastNsu }
}

const soon = (rhythm: Rhythm) => ({ nextInMs: rhythm.pagePauseMs, allowedInMs: rhythm.pagePauseMs })

// A cursor behind ours is excused twice: another system may have asked with an older NSU.
const blocksBehindMax = 3

// Capped so that it fits the column; waits stop growing after five.
const oneMore = (failures: number) => Math.min(failures + 1, 1_000)

// The hour counts from this response. The authority's cursor is adopted, or every later query would be out of sequence too.
function blocked(ult: bigint | null, standing: Parameters<typeof decide>[1], rhythm: Rhythm): Decision {
  const { lastNsu, failures = 0, state } = standing
  if (ult !== null && isFar(ult, lastNsu)) return impossible(farAhead(ult, lastNsu), rhythm)
  // Failures of a line that is blocked or stopped are blocks behind our cursor.
  const blocksBehind = ult !== null && ult < lastNsu ? oneMore(state === 'failed' ? 0 : failures) : 0
  if (blocksBehind >= blocksBehindMax) {
    const what = `A SEFAZ bloqueia as consultas deste CNPJ e responde a cada uma que está na posição ${ult}, antes da nossa (${lastNsu}).`
    return { ...impossible(what, rhythm), failures: blocksBehind }
  }
  const gap = ult !== null && ult > lastNsu ? { from: lastNsu + 1n, to: ult } : undefined
  const missing = gap
    ? ` Faltam os documentos das posições ${gap.from} a ${gap.to}, que serão buscados um a um, até vinte por hora.`
    : ' Nenhum documento foi pulado.'
  return {
    ...rest(
      rhythm,
      `A SEFAZ bloqueou as consultas deste CNPJ por uma hora: ${blockCause(standing)}.${missing}`,
      rhythm.marginMs,
    ),
    state: 'blocked',
    allowedInMs: rhythm.hourMs + rhythm.marginMs,
    failures: blocksBehind,
    ...(gap && { lastNsu: gap.to, gap }),
  }
}

/** Why the authority has counted one query more than we have, for the person. */
export function blockCause({
  responseLost,
  mayBeCopy = false,
}: Pick<ConversationState, 'responseLost' | 'mayBeCopy'>): string {
  if (responseLost) return 'ela contou uma consulta nossa cuja resposta se perdeu no caminho'
  return mayBeCopy
    ? 'o sistema voltou de uma cópia de segurança, ou outro sistema consultou com este certificado'
    : 'outro sistema consultou com este certificado'
}

function unavailable(xMotivo: string, waitMs: number, rhythm: Rhythm): Decision {
  return {
    nextPage: false,
    state: 'failed',
    message: `O serviço da SEFAZ está fora do ar. Tentamos de novo sozinhos. (${xMotivo})`,
    nextInMs: waitMs + rhythm.marginMs * Math.random(),
    allowedInMs: waitMs,
    failures: 0,
  }
}

const neverOfTheCertificate: ReadonlySet<SefazErrorKind> = new Set(['unreached', 'tls-chain', 'encryption', 'timeout'])

/** Whether a failure may be about the certificate: servers also refuse one by cutting the connection, or with an HTML page. */
export function mayBeOfTheCertificate({ kind, status }: Pick<SefazError, 'kind' | 'status'>): boolean {
  return !neverOfTheCertificate.has(kind) && (!isOfTheHost({ kind }) || status === undefined || status < 500)
}

const pageSize = 50n

// The lost response may have been the last page, a 137 or a block. If more than one page waited, an early query is safe.
function afterLostResponse({ lastNsu, maxNsu, recent, responseLost }: ConversationState, rhythm: Rhythm): number {
  const moreWaits = recent && maxNsu - lastNsu > pageSize
  return moreWaits && !responseLost ? rhythm.hourMs / 6 : rhythm.hourMs + rhythm.marginMs
}

// Minutes. An unreachable server is retried soon, then less often; an error that a person has to mend, every hour.
const waits = { unreached: [1, 5, 15, 30, 60], forbidden: [30, 60], hopeless: [60] }
const mendedMinutes = 5

const passes = ({ kind, status = 0 }: SefazError) => isOfTheNetwork({ kind }) || status === 408 || status === 429

function afterNothingCounted(error: SefazError, failures: number): { minutes: number; allowedMinutes: number } {
  const [list, mendable] =
    error.kind === 'forbidden'
      ? [waits.forbidden, true]
      : passes(error)
        ? [waits.unreached, false]
        : [waits.hopeless, true]
  const minutes = list[Math.min(failures, list.length - 1)]!
  return { minutes, allowedMinutes: mendable ? mendedMinutes : minutes }
}

/** Decision after no response: the cursor stays, and the waits grow. */
export function failed(error: SefazError, standing: ConversationState, rhythm: Rhythm): Decision {
  if (mayHaveBeenCounted(error)) return lost(error.message, afterLostResponse(standing, rhythm), standing, rhythm)
  const { minutes, allowedMinutes } = afterNothingCounted(error, standing.failures)
  return {
    ...retry(`${error.message} A captura tenta de novo sozinha.`, minutes, allowedMinutes, standing.failures, rhythm),
    certificateRefused: !isOfTheHost(error),
  }
}

function retry(message: string, minutes: number, allowedMinutes: number, failures: number, rhythm: Rhythm): Decision {
  const minuteMs = rhythm.hourMs / 60
  return {
    nextPage: false,
    state: 'failed',
    message,
    nextInMs: minutes * minuteMs * (1 + Math.random() / 5),
    allowedInMs: allowedMinutes * minuteMs,
    failures: oneMore(failures),
  }
}

function lost(
  what: string,
  waitMs: number,
  { failures }: Pick<ConversationState, 'failures'>,
  rhythm: Rhythm,
): Decision {
  const waitsAnHour = waitMs >= rhythm.hourMs
  return {
    nextPage: false,
    state: 'failed',
    message: waitsAnHour
      ? `${what} Ela pode ter contado a consulta; para não causar um bloqueio, a captura espera uma hora e continua sozinha.`
      : `${what} A captura tenta de novo sozinha.`,
    nextInMs: waitMs + rhythm.marginMs * Math.random(),
    allowedInMs: waitMs,
    failures: oneMore(failures),
  }
}

/** Decision after a process died between a query, `elapsedMs` ago, and its response: it counts as lost. */
export function interrupted(standing: ConversationState, elapsedMs: number, rhythm: Rhythm): Decision {
  const what =
    'A captura foi interrompida entre uma consulta e a resposta da SEFAZ. Nada do que já foi recebido se perdeu.'
  const decision = lost(what, afterLostResponse(standing, rhythm), standing, rhythm)
  const remaining = (ms: number) => Math.max(0, ms - elapsedMs)
  return { ...decision, nextInMs: remaining(decision.nextInMs ?? 0), allowedInMs: remaining(decision.allowedInMs) }
}

/** Decision after a fault of ours kept the query back: the cursor stays, and people see a message. */
export function brokenOff(failures: number, rhythm: Rhythm): Decision {
  const minutes = waits.unreached[Math.min(failures, waits.unreached.length - 1)]!
  return retry(ourFault, minutes, minutes, failures, rhythm)
}

const ourFault =
  'Algo falhou do nosso lado durante a consulta. Os documentos já guardados estão seguros e a captura tenta de novo sozinha.'

const highest = (a: bigint, b: bigint) => (a > b ? a : b)

// The last NSU of a page, without those that only a slip puts there.
function highestNsu(documents: { nsu: string | null }[], lastNsu: bigint): bigint {
  const ascending = documents
    .flatMap(({ nsu }) => (nsu === null ? [] : BigInt(nsu)))
    .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  let top = lastNsu
  for (const nsu of ascending) {
    if (isFar(nsu, top)) break
    top = highest(top, nsu)
  }
  return top
}
