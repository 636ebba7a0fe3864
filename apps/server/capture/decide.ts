import { noneAccepted } from '../companies/certificates.ts'
import type {
  CertificateChange,
  Decision,
  Gap,
  GapClosing,
  LineChange,
  LineState,
  Rhythm,
  Situation,
  Verdict,
} from './situation.ts'
import type { Answer, Lost, Question, Told } from './source.ts'

// Everything that follows from an answer. It is pure: turn.ts reads the situation and writes the decision.

/** Decides what is written after `answer` to `question`, and how the turn goes on. */
export function decide(situation: Situation, question: Question, answer: Answer, random: () => number): Decision {
  if (!('after' in question)) return decideSingle(situation, question, answer, random)
  const verdict = answer.kind === 'lost' ? judgeLost(situation, answer, random) : judgePage(situation, answer, random)
  const certificate = judgeCertificate(situation, answer, verdict)
  const isRefused = certificate?.kind === 'refused'
  const line = lineChange(situation.line, answer, isRefused ? orOther(situation, certificate.restMs, verdict) : verdict)
  const mayGoOn = isRefused && situation.mayTryOther && situation.others.some((ms) => ms <= 0)
  const damaged = situation.damaged.map((nsu) => missing(nsu, nsu, situation.rhythm.pagePauseMs, null))
  return {
    line,
    more: verdict.more === true,
    certificate,
    service: judgeService(situation, answer),
    gaps: [...(verdict.gaps ?? []), ...damaged],
    closes: null,
    waitMs: verdict.allowedInMs,
    next: verdict.more && situation.mayAskMore ? 'nextPage' : mayGoOn ? 'nextCertificate' : 'done',
  }
}

// After a query for one position or note. Only a block says something about the line.
function decideSingle(situation: Situation, question: Question, answer: Answer, random: () => number): Decision {
  const { line, mayAskMore } = situation
  const block = answer.kind === 'pause' && answer.whom === 'line' ? blocked(situation, null, random) : null
  const waitMs = block?.allowedInMs ?? waitAfterSingle(situation, question, answer)
  // A line that stopped goes on when a person asks; the block only says when it may.
  const change =
    block && (line.state === 'stopped' ? { allowedInMs: block.allowedInMs } : lineChange(line, answer, block))
  return {
    line: change ?? {},
    more: false,
    certificate: null,
    service: judgeService(situation, answer),
    gaps: [],
    closes: 'at' in question ? closingOf(situation, question.at, answer) : null,
    waitMs,
    next: waitMs === 0 && mayAskMore ? 'nextPage' : 'done',
  }
}

// Without an answer, or for a position beyond the end, other positions may still be fetched.
function waitAfterSingle({ rhythm }: Situation, question: Question, answer: Answer): number {
  if (answer.kind === 'page' || answer.kind === 'end') return 0
  if (answer.kind === 'absent') return answer.forever || 'note' in question ? 0 : rhythm.hourMs / 6
  return answer.kind === 'lost' ? rhythm.hourMs / 6 : rhythm.hourMs
}

// A document that always comes damaged is damaged at the authority. With its pauses the tenth copy comes after five days.
const fetchesMax = 10

function closingOf(
  { fetchedBefore, arrived, damaged }: Situation,
  position: bigint,
  answer: Answer,
): GapClosing | null {
  if (fetchedBefore === null) return null
  if (answer.kind === 'absent') return answer.forever ? 'expired' : null
  if (answer.kind !== 'page') return null
  // A response may bring another document than the one that was asked for.
  if (arrived.includes(position) && damaged.length === 0) return 'fetched'
  return fetchedBefore + 1 >= fetchesMax ? 'damaged' : null
}

/** Verdict of the authority on the certificate that was shown; null: none, or nothing new. */
export function verdictOn(
  { certificate, isEnding }: Pick<Situation, 'certificate' | 'isEnding'>,
  answer: Answer,
): 'accepted' | 'refused' | null {
  if (!certificate) return null
  if (answer.kind === 'lost') return answer.fault === 'certificate' && !isEnding ? 'refused' : null
  if (answer.proves) return certificate.proved && !certificate.doubted ? null : 'accepted'
  return answer.kind === 'refused' && answer.what === 'certificate' ? 'refused' : null
}

function judgeCertificate(situation: Situation, answer: Answer, verdict: Verdict): CertificateChange | null {
  const { certificate, isEnding, rhythm } = situation
  const { message, nextInMs, allowedInMs } = verdict
  const said = verdictOn(situation, answer)
  if (said === 'accepted') return { kind: 'proved' }
  if (said === 'refused') {
    const restMs = nextInMs === null ? 24 * rhythm.hourMs : allowedInMs
    // The owner of an unproved one also reads why no answer came.
    return { kind: 'refused', restMs, why: message, isSilent: answer.kind === 'lost' && !certificate!.proved }
  }
  if (!certificate || answer.kind !== 'lost' || isEnding || answer.fault === 'ours') return null
  const isTried = answer.fault === 'unclear'
  return isTried || !certificate.proved ? { kind: 'failed', isTried, why: certificate.proved ? null : message } : null
}

function judgeService({ certificate, isEnding, rhythm }: Situation, answer: Answer): Decision['service'] {
  if (answer.kind === 'pause' && answer.whom === 'service' && answer.forAll) return answer.hours * rhythm.hourMs
  if (answer.kind !== 'lost') return 'answered'
  if (isEnding || answer.fault === 'ours') return null
  if (answer.fault === 'certificate') return 'answered'
  // A failure that only an unproved certificate met may be provoked by its owner: it is no outage for all.
  return answer.fault === 'unclear' && certificate?.proved === false ? null : 'failed'
}

/** A line without any valid certificate stops with this. */
export const noCertificate =
  'O certificado digital venceu. Os documentos já guardados estão seguros; envie um certificado novo para a captura continuar.'

/** Change of a line that no certificate can be used for now; `rests`: for how long each valid one still rests. */
export function decideWithoutCertificate(line: LineState, rests: readonly number[], rhythm: Rhythm): LineChange {
  const stopped = { state: 'stopped' as const, allowedInMs: 0, failures: 0 }
  // A certificate may become valid; checking that sends no query.
  if (rests.length === 0) return lengthened(line, { ...stopped, message: noCertificate, nextInMs: rhythm.hourMs })
  return lengthened(
    line,
    orOther({ others: rests, rhythm }, null, { ...stopped, message: noneAccepted, nextInMs: null }),
  )
}

function orOther(
  { others, rhythm }: Pick<Situation, 'others' | 'rhythm'>,
  ownRestMs: number | null,
  verdict: Verdict,
): Verdict {
  // One is free: try it soon, say nothing new.
  if (others.some((ms) => ms <= 0))
    return { ...verdict, keepsState: true, nextInMs: rhythm.pagePauseMs, allowedInMs: rhythm.pagePauseMs }
  // All rest: wait for the first.
  const rests = ownRestMs === null ? others : [...others, ownRestMs]
  return { ...verdict, message: noneAccepted, nextInMs: verdict.nextInMs ?? Math.min(...rests) }
}

function lineChange(line: LineState, answer: Answer, verdict: Verdict): LineChange {
  if (answer.kind === 'lost') return lengthened(line, verdict)
  const { nextInMs, allowedInMs, lastNsu, maxNsu, succeeded } = verdict
  return { ...toldOf(verdict), nextInMs, allowedInMs, lastNsu, maxNsu, succeeded }
}

// Without an answer pauses only get longer, and while an older pause is longer its state and message stay.
function lengthened(line: LineState, verdict: Verdict): LineChange {
  const { nextInMs, allowedInMs } = verdict
  const stands = line.allowedInMs > allowedInMs
  const isLater = nextInMs === null ? !stands : line.nextInMs !== null && nextInMs > line.nextInMs
  return { ...(!stands && { ...toldOf(verdict), allowedInMs }), ...(isLater && { nextInMs }) }
}

function toldOf({ keepsState, state, message, failures, succeeded, more }: Verdict): LineChange {
  return keepsState ? {} : { state, message, failures, fulfilled: (succeeded && !more) || state === 'stopped' }
}

// The client algorithm of NT 2014.002 for one answer: cursor, pauses, consumo indevido, and what a person reads of it.

/** Verdict on a line after an answer about the page after its cursor. */
function judgePage(situation: Situation, answer: Told, random: () => number): Verdict {
  const { line, rhythm } = situation
  const { lastNsu, first } = line
  const spreadMs = first ? rhythm.hourMs : rhythm.marginMs
  switch (answer.kind) {
    case 'page': {
      const { cursor, max, documents } = answer
      const top = highestNsu(documents, lastNsu)
      if (cursor !== null && isFar(cursor, top)) return { ...impossible(farAhead(cursor, top), rhythm), lastNsu: top }
      const advanced = highest(lastNsu, cursor ?? top)
      if (advanced === lastNsu) return withoutProgress(situation, random)
      const more = max !== null && advanced < max
      const news = documents.length === 1 ? '1 documento novo' : `${documents.length} documentos novos`
      const message = more ? `Recebendo: posição ${advanced} de ${max}.` : `Em dia. A última consulta trouxe ${news}.`
      return {
        ...rest(rhythm, message, spreadMs * random()),
        ...(more && { nextInMs: rhythm.pagePauseMs, allowedInMs: rhythm.pagePauseMs }),
        more,
        succeeded: true,
        lastNsu: advanced,
        // A maximum below the page itself is wrong and ignored.
        ...(max !== null && max >= advanced && { maxNsu: max }),
        gaps: passedOver(top, cursor, rhythm),
      }
    }
    case 'end': {
      const { cursor, max } = answer
      if (cursor !== null && isFar(cursor, lastNsu)) return impossible(farAhead(cursor, lastNsu), rhythm)
      const advanced = highest(lastNsu, cursor ?? 0n)
      return {
        ...rest(rhythm, 'Em dia. Nenhum documento novo na última consulta.', spreadMs * random()),
        succeeded: true,
        lastNsu: advanced,
        ...(max !== null && { maxNsu: highest(max, advanced) }),
        gaps: passedOver(lastNsu, cursor, rhythm),
      }
    }
    case 'pause':
      return answer.whom === 'line' ? blocked(situation, answer.cursor, random) : unavailable(answer, rhythm, random)
    default:
      return refused(answer, rhythm)
  }
}

function refused({ code, words, ...answer }: Told & { kind: 'refused' | 'absent' }, rhythm: Rhythm): Verdict {
  const passing = answer.kind === 'refused' && answer.passing
  return {
    state: 'stopped',
    message: `${answer.why} Os documentos já guardados estão seguros. (${code}: ${words})`,
    nextInMs: passing ? rhythm.hourMs + rhythm.marginMs : null,
    allowedInMs: rhythm.hourMs + rhythm.marginMs,
    failures: 0,
  }
}

// One cycle an hour. The first pause is spread over an hour, so that companies registered together do not query together.
function rest(rhythm: Rhythm, message: string, spreadMs: number): Verdict {
  return {
    state: 'waiting',
    message,
    nextInMs: rhythm.hourMs + rhythm.marginMs + spreadMs,
    allowedInMs: rhythm.hourMs + rhythm.marginMs / 5,
    failures: 0,
  }
}

// More documents than any CNPJ receives between two queries; a slip of the authority may name any number.
const jumpMax = 1_000_000n

// Whether a jump between two NSUs is too large to be true. From 0 any is possible: the first contact.
const isFar = (nsu: bigint, from: bigint) => from > 0n && nsu - from > jumpMax

// A cursor that cannot be true is not adopted, because nothing leads back from one beyond the end.
function impossible(what: string, rhythm: Rhythm): Verdict {
  return {
    state: 'stopped',
    message: `${what} A captura parou para nada ser pulado, e os documentos já guardados estão seguros. Peça a sincronização para perguntar mais uma vez; se ela responder o mesmo, quem administra o sistema precisa conferir.`,
    nextInMs: null,
    allowedInMs: rhythm.hourMs + rhythm.marginMs,
    failures: 0,
  }
}

const farAhead = (cursor: bigint, lastNsu: bigint) =>
  `A SEFAZ informou a posição ${cursor}, impossível porque está mais de um milhão à frente da nossa (${lastNsu}).`

/** A gap of positions that are known to be missing. */
function missing(from: bigint, to: bigint, waitMs: number, cause: string | null): Gap {
  return { from, to, passed: false, waitMs, cause }
}

// Positions that an answer claims beyond its last document.
function passedOver(top: bigint, cursor: bigint | null, { pagePauseMs }: Rhythm): Gap[] {
  if (cursor === null || cursor <= top) return []
  const cause = 'a SEFAZ avançou sem entregar o que havia nestas posições'
  return [{ from: top + 1n, to: cursor, passed: true, waitMs: pagePauseMs, cause }]
}

// Documents that lead nowhere: the next query would bring them again, and nothing after them.
function withoutProgress({ line: { lastNsu, failures }, rhythm }: Situation, random: () => number): Verdict {
  const message = `A SEFAZ respondeu que há documentos, mas não passou da posição ${lastNsu}. Os documentos já guardados estão seguros e a captura tenta de novo sozinha em uma hora; se continuar assim, quem administra o sistema precisa conferir.`
  return { ...rest(rhythm, message, rhythm.marginMs * random()), state: 'failed', failures: oneMore(failures) }
}

// A cursor behind ours is excused twice: another system may have asked with an older NSU.
const blocksBehindMax = 3

// Capped so that it fits the column; waits stop growing after five.
const oneMore = (failures: number) => Math.min(failures + 1, 1_000)

/** Verdict after a block. Its hour counts from now, and the authority's cursor is adopted, or every later query would be out of sequence. */
function blocked(situation: Situation, cursor: bigint | null, random: () => number): Verdict {
  const { line, rhythm } = situation
  const { lastNsu } = line
  if (cursor !== null && isFar(cursor, lastNsu)) return impossible(farAhead(cursor, lastNsu), rhythm)
  // While blocked or stopped, `failures` counts blocks behind our cursor; in state failed it counts other failures.
  const isBehind = cursor !== null && cursor < lastNsu
  const blocksBehind = isBehind ? oneMore(line.state === 'failed' ? 0 : line.failures) : 0
  if (blocksBehind >= blocksBehindMax) {
    const what = `A SEFAZ bloqueia as consultas deste CNPJ e responde a cada uma que está na posição ${cursor}, antes da nossa (${lastNsu}).`
    return { ...impossible(what, rhythm), failures: blocksBehind }
  }
  const allowedInMs = rhythm.hourMs + rhythm.marginMs
  const cause = blockCause(situation)
  const gap = cursor !== null && cursor > lastNsu ? missing(lastNsu + 1n, cursor, allowedInMs, cause) : null
  const skipped = gap
    ? ` Faltam os documentos das posições ${gap.from} a ${gap.to}, que serão buscados um a um, até vinte por hora.`
    : ' Nenhum documento foi pulado.'
  const message = `A SEFAZ bloqueou as consultas deste CNPJ por uma hora: ${cause}.${skipped}`
  return {
    ...rest(rhythm, message, rhythm.marginMs * random()),
    state: 'blocked',
    allowedInMs,
    failures: blocksBehind,
    ...(gap && { lastNsu: gap.to, gaps: [gap] }),
  }
}

/** Why the authority has counted one query more than we have, for the person. */
export function blockCause({ lossBefore, mayBeCopy }: Pick<Situation, 'lossBefore' | 'mayBeCopy'>): string {
  if (lossBefore) return 'ela contou uma consulta nossa cuja resposta se perdeu no caminho'
  return mayBeCopy
    ? 'o sistema voltou de uma cópia de segurança, ou outro sistema consultou com este certificado'
    : 'outro sistema consultou com este certificado'
}

function unavailable(
  { words, hours }: Told & { kind: 'pause'; hours: number },
  rhythm: Rhythm,
  random: () => number,
): Verdict {
  const waitMs = hours * rhythm.hourMs
  return {
    state: 'failed',
    message: `O serviço da SEFAZ está fora do ar. Tentamos de novo sozinhos. (${words})`,
    nextInMs: waitMs + rhythm.marginMs * random(),
    allowedInMs: waitMs,
    failures: 0,
  }
}

const pageSize = 50n

// Minutes. An unreachable server is retried soon, then less often; an error that a person has to mend, every hour.
const retryMinutes = { soon: [1, 5, 15, 30, 60], late: [30, 60], person: [60] }
const mendedMinutes = 5

/** Verdict on a line after no answer: the cursor stays, and the waits grow. */
function judgeLost(situation: Situation, answer: Lost, random: () => number): Verdict {
  const { line, rhythm } = situation
  const failures = oneMore(line.failures)
  if (answer.counted) {
    const waitMs = waitAfterLoss(situation)
    const message =
      waitMs >= rhythm.hourMs
        ? `${answer.why} Ela pode ter contado a consulta; para não causar um bloqueio, a captura espera uma hora e continua sozinha.`
        : `${answer.why} A captura tenta de novo sozinha.`
    // A query that an ended process left behind is as old as it is.
    const agoMs = answer.error ? 0 : answer.durationMs
    const nextInMs = Math.max(0, waitMs + rhythm.marginMs * random() - agoMs)
    return { state: 'failed', message, nextInMs, allowedInMs: Math.max(0, waitMs - agoMs), failures }
  }
  const list = retryMinutes[answer.mends]
  const minutes = list[Math.min(line.failures, list.length - 1)]!
  const minuteMs = rhythm.hourMs / 60
  return {
    state: 'failed',
    message: answer.fault === 'ours' ? answer.why : `${answer.why} A captura tenta de novo sozinha.`,
    nextInMs: minutes * minuteMs * (1 + random() / 5),
    allowedInMs: (answer.mends === 'soon' ? minutes : mendedMinutes) * minuteMs,
    failures,
  }
}

// The lost answer may have been the last page, an end or a block. If more than one page waited, an early query is safe.
function waitAfterLoss({ line: { lastNsu, maxNsu, recent }, lossBefore, rhythm }: Situation): number {
  const moreWaits = recent && maxNsu - lastNsu > pageSize
  return moreWaits && !lossBefore ? rhythm.hourMs / 6 : rhythm.hourMs + rhythm.marginMs
}

const highest = (a: bigint, b: bigint) => (a > b ? a : b)

// The last NSU of a page, without those that only a slip puts there.
function highestNsu(documents: Told['documents'], lastNsu: bigint): bigint {
  const ascending = documents.flatMap(({ nsu }) => nsu ?? []).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  let top = lastNsu
  for (const nsu of ascending) {
    if (isFar(nsu, top)) break
    top = highest(top, nsu)
  }
  return top
}
