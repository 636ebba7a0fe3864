import { noneAccepted } from '../companies/certificates.ts'
import type {
  CertificateChange,
  Decision,
  GapClosing,
  LineChange,
  LineState,
  Rhythm,
  Situation,
  Verdict,
} from './situation.ts'
import type { Answer, Question } from './source.ts'
import { blocked, judgeLost, judgePage, missing } from './verdicts.ts'

// Everything that follows from an answer. It is pure: turn.ts reads the situation and writes the decision.

/** Decides what is written after `answer` to `question`, and how the turn goes on. */
export function decide(situation: Situation, question: Question, answer: Answer, random: () => number): Decision {
  if (!('after' in question)) return decideSingle(situation, question, answer, random)
  const verdict = answer.kind === 'lost' ? judgeLost(situation, answer, random) : judgePage(situation, answer, random)
  const certificate = judgeCertificate(situation, answer, verdict)
  const isRefused = certificate?.kind === 'refused'
  const line = lineChange(situation.line, answer, isRefused ? orOther(situation, certificate.restMs, verdict) : verdict)
  const mayGoOn = isRefused && situation.mayTryOther && situation.others.some((ms) => ms <= 0)
  const damaged = situation.damaged.map((nsu) => missing(nsu, nsu, situation.rhythm.pagePauseMs))
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

// The next certificate is tried soon, and state and message stay; when all rest, the line waits for the first. None waits for ever, because a
// refused certificate may be accepted later.
function orOther(
  { others, rhythm }: Pick<Situation, 'others' | 'rhythm'>,
  ownRestMs: number | null,
  verdict: Verdict,
): Verdict {
  if (others.some((ms) => ms <= 0))
    return { ...verdict, keepsState: true, nextInMs: rhythm.pagePauseMs, allowedInMs: rhythm.pagePauseMs }
  const rests = ownRestMs === null ? others : [...others, ownRestMs]
  return { ...verdict, message: noneAccepted, nextInMs: verdict.nextInMs ?? Math.min(...rests) }
}

function lineChange(line: LineState, answer: Answer, verdict: Verdict): LineChange {
  if (answer.kind === 'lost') return lengthened(line, verdict)
  const { lastNsu, maxNsu, succeeded } = verdict
  return {
    ...toldOf(verdict),
    nextInMs: verdict.nextInMs,
    allowedInMs: verdict.allowedInMs,
    ...(lastNsu !== undefined && { lastNsu }),
    ...(maxNsu !== undefined && { maxNsu }),
    ...(succeeded && { succeeded }),
  }
}

// Without an answer pauses only get longer, and while an older pause is longer its state and message stay.
function lengthened(line: LineState, verdict: Verdict): LineChange {
  const { nextInMs, allowedInMs } = verdict
  const stands = line.allowedInMs > allowedInMs
  const isLater = nextInMs === null ? !stands : line.nextInMs !== null && nextInMs > line.nextInMs
  return { ...(!stands && { ...toldOf(verdict), allowedInMs }), ...(isLater && { nextInMs }) }
}

function toldOf({ keepsState, state, message, failures, succeeded, more }: Verdict): LineChange {
  if (keepsState) return {}
  const fulfilled = (succeeded && !more) || state === 'stopped'
  return { state, message, failures, ...(fulfilled && { fulfilled }) }
}
