import { SefazError } from '@vigia/sefaz/error'
import { describe, expect, test } from 'vitest'
import { noneAccepted } from '../companies/certificates.ts'
import { decide, decideWithoutCertificate, noCertificate } from './decide.ts'
import type { Decision, Situation } from './situation.ts'
import type { Answer, Question } from './source.ts'
import { interrupted, lostTo, ourFault } from './sources/lost.ts'
import { readResponse } from './sources/soap.ts'

// Decisions after each answer. Times are minutes, and chance is 0 unless a test says otherwise.

const minute = 60_000
const rhythm = { hourMs: 60 * minute, pagePauseMs: 2_000, marginMs: 5 * minute }
const soon = 2_000 / minute

type Change = Partial<Omit<Situation, 'line'>> & { line?: Partial<Situation['line']> }

const situation = ({ line, ...change }: Change = {}): Situation => ({
  line: {
    ...{ lastNsu: 50n, maxNsu: 50n, failures: 0, state: 'waiting', first: false, recent: true },
    ...{ nextInMs: 0, allowedInMs: 0 },
    ...line,
  },
  rhythm,
  lossBefore: false,
  mayBeCopy: false,
  certificate: { proved: true, doubted: false },
  others: [],
  mayTryOther: true,
  mayAskMore: true,
  isEnding: false,
  arrived: [],
  damaged: [],
  fetchedBefore: null,
  ...change,
})

const page = { after: 50n }
const nsu = (n: number) => String(n).padStart(15, '0')
const told = (question: Question, cStat: number, ult?: number, max?: number, nsus: number[] = []) =>
  readResponse(
    {
      ...{ cStat, xMotivo: 'motivo', bytes: 1, durationMs: 1 },
      ultNSU: ult === undefined ? null : nsu(ult),
      maxNSU: max === undefined ? null : nsu(max),
      documents: nsus.map((n) => ({ nsu: nsu(n), schema: 'x', content: Buffer.alloc(0) })),
    },
    question,
  )
const lost = (...[kind, options]: ConstructorParameters<typeof SefazError>) => lostTo(new SefazError(kind, options), 1)

/** The part of a decision that a table shows; a field that is absent is not written. */
function shown(decision: Decision) {
  const { line, certificate, service, gaps, closes, next } = decision
  const { nextInMs, allowedInMs, message: _, failures, succeeded, fulfilled, ...rest } = line
  const inMinutes = (ms: number | null) => (ms === null ? null : ms / minute)
  return {
    ...rest,
    ...(nextInMs !== undefined && { next: inMinutes(nextInMs) }),
    ...(allowedInMs !== undefined && { allowed: inMinutes(allowedInMs) }),
    ...(failures ? { failures } : {}),
    ...(succeeded && { succeeded }),
    ...(fulfilled && { fulfilled }),
    ...(certificate && { certificate: certificate.kind }),
    ...(service !== 'answered' && { service: typeof service === 'number' ? service / minute : service }),
    ...(gaps.length > 0 && { gaps: gaps.map(({ from, to, passed }) => `${passed ? 'passed ' : ''}${from}-${to}`) }),
    ...(closes && { closes }),
    ...(next !== 'done' && { goOn: next }),
  }
}

type Case = [what: string, change: Change, answer: Answer, expected: ReturnType<typeof shown> | object]
const decided = (change: Change, answer: Answer, question: Question = page, random = () => 0) =>
  decide(situation(change), question, answer, random)

const upToDate = { state: 'waiting', next: 65, allowed: 61, succeeded: true, fulfilled: true }
const blocked = { state: 'blocked', next: 65, allowed: 65 }
const stopped = { state: 'stopped', next: null, allowed: 65, fulfilled: true }
const first = { lastNsu: 0n, maxNsu: 0n, first: true }
const far = 900_000_000
const absurd = 999_999_999_999_999

describe('the page after the cursor', () => {
  // biome-ignore format: a case is a row
  test.each<Case>([
    // 138
    ['138 with more to come goes on after a pause', {}, told(page, 138, 100, 120, [51, 100]), { state: 'waiting', next: soon, allowed: soon, succeeded: true, lastNsu: 100n, maxNsu: 120n, goOn: 'nextPage' }],
    ['138 with more to come ends a turn that was long enough', { mayAskMore: false }, told(page, 138, 100, 120, [100]), { state: 'waiting', next: soon, allowed: soon, succeeded: true, lastNsu: 100n, maxNsu: 120n }],
    ['138 at the end rests an hour and a margin', {}, told(page, 138, 120, 120, [120]), { ...upToDate, lastNsu: 120n, maxNsu: 120n }],
    ['138 without a cursor goes to its last document', {}, told(page, 138, undefined, undefined, [57, 59]), { ...upToDate, lastNsu: 59n }],
    ['138 with a maximum below the page says nothing of a maximum', {}, told(page, 138, 100, 0, [100]), { ...upToDate, lastNsu: 100n }],
    ['138 that leads nowhere is no success', {}, told(page, 138, 50, 120, [49]), { state: 'failed', next: 65, allowed: 61, failures: 1 }],
    ['138 never leads back', {}, told(page, 138, 3, 120), { state: 'failed', next: 65, allowed: 61, failures: 1 }],
    ['138 beyond its last document passed over positions', {}, told(page, 138, 58, 58, [55]), { ...upToDate, lastNsu: 58n, maxNsu: 58n, gaps: ['passed 56-58'] }],
    ['138 with damaged documents makes gaps of them', { damaged: [52n, 53n] }, told(page, 138, 55, 55, [55]), { ...upToDate, lastNsu: 55n, maxNsu: 55n, gaps: ['52-52', '53-53'] }],
    ['138 with an impossible cursor stops behind its last document', {}, told(page, 138, absurd, absurd, [60, absurd]), { ...stopped, lastNsu: 60n }],
    // 137
    ['137 rests', {}, told(page, 137, 50, 50), { ...upToDate, lastNsu: 50n, maxNsu: 50n }],
    ['137 with the zeros of a new CNPJ keeps our cursor', {}, told(page, 137, 0, 0), { ...upToDate, lastNsu: 50n, maxNsu: 50n }],
    ['137 ahead of us passed over positions', {}, told(page, 137, 60, 60), { ...upToDate, lastNsu: 60n, maxNsu: 60n, gaps: ['passed 51-60'] }],
    ['137 with an impossible cursor stops', {}, told(page, 137, absurd, absurd), stopped],
    // 656
    ['656 adopts the cursor, and what lies between is missing', {}, told(page, 656, 80, 0), { ...blocked, lastNsu: 80n, gaps: ['51-80'] }],
    ['656 at our cursor skips nothing', { line: { failures: 2 } }, told(page, 656, 50, 0), blocked],
    ['656 without a cursor', {}, told(page, 656), blocked],
    ['656 behind us is excused', {}, told(page, 656, 10, 0), { ...blocked, failures: 1 }],
    ['656 behind us is excused twice', { line: { state: 'blocked', failures: 1 } }, told(page, 656, 10, 0), { ...blocked, failures: 2 }],
    ['656 behind us three times stops', { line: { state: 'blocked', failures: 2 } }, told(page, 656, 10, 0), { ...stopped, failures: 3 }],
    ['656 behind us stops again when asked once more', { line: { state: 'stopped', failures: 3 } }, told(page, 656, 10, 0), { ...stopped, failures: 4 }],
    ['656 behind us after lost answers is the first', { line: { state: 'failed', failures: 5 } }, told(page, 656, 10, 0), { ...blocked, failures: 1 }],
    ['656 a million ahead is adopted', {}, told(page, 656, 1_000_050, 0), { ...blocked, lastNsu: 1_000_050n, gaps: ['51-1000050'] }],
    ['656 further ahead stops', {}, told(page, 656, 1_000_051, 0), stopped],
    // From the first contact any position is possible.
    ['656 at the first contact', { line: first }, told(page, 656, far), { ...blocked, lastNsu: BigInt(far), gaps: [`1-${ far}`] }],
    ['137 at the first contact', { line: first }, told(page, 137, far, far), { ...upToDate, lastNsu: BigInt(far), maxNsu: BigInt(far), gaps: [`passed 1-${ far}`] }],
    ['138 at the first contact', { line: first }, told(page, 138, far, far, [far]), { ...upToDate, lastNsu: BigInt(far), maxNsu: BigInt(far) }],
    // The service
    ['108 closes the service for ten minutes', {}, told(page, 108), { state: 'failed', next: 10, allowed: 10, service: 10 }],
    ['109 closes the service for half an hour', {}, told(page, 109), { state: 'failed', next: 30, allowed: 30, service: 30 }],
    ['999 says nothing of other companies', {}, told(page, 999), { state: 'failed', next: 15, allowed: 15 }],
    // Refusals
    ['215 stops until a person acts', {}, told(page, 215), stopped],
    ['252 stops', {}, told(page, 252), stopped],
    ['489 stops', {}, told(page, 489), stopped],
    ['589 stops, and the cursor stays', {}, told(page, 589, 0, 0), stopped],
    ['777, which nobody knows, stops', {}, told(page, 777), stopped],
    // Certificates
    ['284 with the only certificate stops for a day', {}, told(page, 284), { ...stopped, next: 24 * 60, certificate: 'refused' }],
    ['281 with the only certificate may pass within the hour', {}, told(page, 281), { ...stopped, next: 65, certificate: 'refused' }],
    ['284 makes way for another certificate', { others: [-1] }, told(page, 284), { next: soon, allowed: soon, certificate: 'refused', goOn: 'nextCertificate' }],
    ['284 leaves another certificate to the next turn after five', { others: [0], mayTryOther: false }, told(page, 284), { next: soon, allowed: soon, certificate: 'refused' }],
    ['593 while all others rest waits for the first', { others: [90 * minute, 120 * minute] }, told(page, 593), { ...stopped, next: 90, certificate: 'refused' }],
    ['593 of a file changes no certificate', { certificate: null }, told(page, 593), { ...stopped }],
    ['137 proves a certificate', { certificate: { proved: false, doubted: false } }, told(page, 137, 50, 50), { ...upToDate, lastNsu: 50n, maxNsu: 50n, certificate: 'proved' }],
    ['137 clears a doubt', { certificate: { proved: true, doubted: true } }, told(page, 137, 50, 50), { ...upToDate, lastNsu: 50n, maxNsu: 50n, certificate: 'proved' }],
  ])('%s', (_, change, answer, expected) => {
    expect(shown(decided(change, answer))).toEqual(expected)
  })

  test.each([
    ...[137, 138, 589, 656].map((cStat) => [cStat, true] as const),
    ...[108, 109, 215, 280, 593, 777, 999].map((cStat) => [cStat, false] as const),
  ])('%i proves a certificate: %s', (cStat, proves) => {
    const { certificate } = decided({ certificate: { proved: false, doubted: false } }, told(page, cStat, 60, 60, [60]))
    expect(certificate?.kind === 'proved').toBe(proves)
  })
})

const hour = { state: 'failed', next: 65, allowed: 65, failures: 1 }
const timeout = lost('timeout', { detail: 'no answer in 60000 ms' })
const unproved = { certificate: { proved: false, doubted: false } }

describe('no answer', () => {
  // biome-ignore format: a case is a row
  test.each<Case>([
    // It may have been counted.
    ['timeout costs an hour', {}, timeout, { ...hour, service: 'failed' }],
    ['a connection that was cut may be of the certificate', {}, lost('refused', { detail: 'ECONNRESET' }), { ...hour, certificate: 'failed', service: 'failed' }],
    ['socket hang up', {}, lost('refused', { detail: 'socket hang up' }), { ...hour, certificate: 'failed', service: 'failed' }],
    ['an HTML page', {}, lost('not-xml', { status: 200 }), { ...hour, certificate: 'failed', service: 'failed' }],
    ['HTTP 503', {}, lost('http', { status: 503, detail: 'HTTP 503' }), { ...hour, service: 'failed' }],
    ['an answer that is too large', {}, lost('http', { status: 200, detail: 'answer too large' }), { ...hour, certificate: 'failed', service: 'failed' }],
    ['a fault of the server', {}, lost('fault', { status: 500, detail: 'Server was unable to process request' }), { ...hour, service: 'failed' }],
    ['timeout with a page or less waiting', { line: { maxNsu: 100n } }, timeout, { ...hour, service: 'failed' }],
    ['timeout with more than a page waiting: one query tells, soon', { line: { maxNsu: 101n } }, timeout, { ...hour, next: 10, allowed: 10, service: 'failed' }],
    ['timeout of that query too', { line: { maxNsu: 101n }, lossBefore: true }, timeout, { ...hour, service: 'failed' }],
    ['timeout where what waited may have expired since', { line: { maxNsu: 101n, recent: false } }, timeout, { ...hour, service: 'failed' }],
    // It was not counted.
    ['ECONNREFUSED', {}, lost('unreached', { detail: 'ECONNREFUSED' }), { ...hour, next: 1, allowed: 1, service: 'failed' }],
    ['ECONNREFUSED again and again', { line: { failures: 2 } }, lost('unreached', { detail: 'ECONNREFUSED' }), { ...hour, next: 15, allowed: 15, failures: 3, service: 'failed' }],
    ['ECONNREFUSED for long', { line: { failures: 9 } }, lost('unreached', { detail: 'ENOTFOUND' }), { ...hour, next: 60, allowed: 60, failures: 10, service: 'failed' }],
    ['ECONNRESET before sending', {}, lost('refused', { detail: 'ECONNRESET', sent: false }), { ...hour, next: 1, allowed: 1, certificate: 'failed', service: 'failed' }],
    ['a chain that cannot be verified is for a person to mend', {}, lost('tls-chain', { detail: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }), { ...hour, next: 60, allowed: 5, service: 'failed' }],
    ['weak encryption', {}, lost('encryption', { detail: 'dh key too small' }), { ...hour, next: 60, allowed: 5, service: 'failed' }],
    ['HTTP 404', {}, lost('http', { status: 404, detail: 'HTTP 404' }), { ...hour, next: 60, allowed: 5, certificate: 'failed', service: 'failed' }],
    ['an unknown SOAP action', {}, lost('fault', { detail: 'The SOAP action was not recognized' }), { ...hour, next: 60, allowed: 5, certificate: 'failed', service: 'failed' }],
    ['HTTP 403 refuses the certificate', {}, lost('forbidden', { status: 403 }), { ...hour, next: 30, allowed: 5, certificate: 'refused' }],
    ['HTTP 403 again', { line: { failures: 1 } }, lost('forbidden', { status: 403 }), { ...hour, next: 60, allowed: 5, failures: 2, certificate: 'refused' }],
    ['a TLS alert refuses the certificate', {}, lost('certificate', { detail: 'EPROTO' }), { ...hour, next: 60, allowed: 5, certificate: 'refused' }],
    ['HTTP 403 makes way for another certificate', { others: [0] }, lost('forbidden'), { next: soon, allowed: soon, certificate: 'refused', goOn: 'nextCertificate' }],
    // Certificates and services
    ['of an unproved certificate is no outage: its owner may provoke it', unproved, lost('refused', { detail: 'ECONNRESET' }), { ...hour, certificate: 'failed', service: null }],
    ['timeout of an unproved certificate is of the host', unproved, timeout, { ...hour, certificate: 'failed', service: 'failed' }],
    ['because this process ends says nothing of host and certificate', { isEnding: true }, lost('refused', { detail: 'socket hang up' }), { ...hour, service: null }],
    ['HTTP 403 while this process ends', { isEnding: true }, lost('forbidden'), { ...hour, next: 30, allowed: 5, service: null }],
    // A process ended
    ['of an ended process counts from its query', {}, interrupted(3 * minute), { ...hour, next: 62, allowed: 62, service: null }],
    ['of an ended process with more than a page waiting', { line: { maxNsu: 500n } }, interrupted(3 * minute), { ...hour, next: 7, allowed: 7, service: null }],
    ['of a process that ended long ago', {}, interrupted(300 * minute), { ...hour, next: undefined, allowed: 0, service: null }],
    // Our own fault
    ['because of a fault of ours', {}, ourFault, { ...hour, next: 1, allowed: 1, service: null }],
    ['because of many', { line: { failures: 2 } }, ourFault, { ...hour, next: 15, allowed: 15, failures: 3, service: null }],
    ['because of any number', { line: { failures: 1_000 } }, ourFault, { ...hour, next: 60, allowed: 60, failures: 1_000, service: null }],
    // Pauses only get longer.
    ['during a longer pause changes nothing', { line: { allowedInMs: 70 * minute, nextInMs: 70 * minute } }, timeout, { service: 'failed' }],
    ['during a longer pause may put the query off', { line: { allowedInMs: 70 * minute, nextInMs: 0 } }, timeout, { next: 65, service: 'failed' }],
    ['of a line that waits for a person wakes nothing', { line: { nextInMs: null } }, timeout, { state: 'failed', allowed: 65, failures: 1, service: 'failed' }],
  ])('%s', (_, change, answer, expected) => {
    expect(shown(decided(change, answer))).toEqual(expected)
  })

  test('of a refused certificate lets it rest as long as the pause, or a day', () => {
    const rest = (answer: Answer) => (decided({}, answer).certificate as { restMs: number }).restMs / minute
    expect([told(page, 284), told(page, 286), lost('forbidden')].map(rest)).toEqual([24 * 60, 65, 5])
  })

  test('is told only to the owner of an unproved certificate', () => {
    const cut = lost('refused', { detail: 'ECONNRESET' })
    expect(decided({}, cut).certificate).toEqual({ kind: 'failed', isTried: true, why: null })
    expect(decided(unproved, cut).certificate).toMatchObject({
      isTried: true,
      why: expect.stringMatching(/interrompida/),
    })
    expect(decided(unproved, timeout).certificate).toMatchObject({ isTried: false, why: expect.any(String) })
    expect(decided(unproved, lost('forbidden')).certificate).toMatchObject({ kind: 'refused', isSilent: true })
  })
})

describe('a query for one position or note', () => {
  const at: Question = { at: 40n }
  const note: Question = { note: '35' }
  const missing: Change = { fetchedBefore: 0 }
  const brought: Change = { ...missing, arrived: [40n] }
  const damaged: Change = { ...brought, damaged: [40n] }
  const block = { ...blocked, wait: 65 }
  // biome-ignore format: a case is a row
  test.each<[what: string, question: Question, change: Change, answer: Answer, expected: object]>([
    ['138 brings it', at, brought, told(at, 138), { closes: 'fetched', goOn: 'nextPage', wait: 0 }],
    ['138 brings another one', at, { ...missing, arrived: [41n] }, told(at, 138), { goOn: 'nextPage', wait: 0 }],
    ['138 brings it damaged', at, damaged, told(at, 138), { goOn: 'nextPage', wait: 0 }],
    ['138 brings it damaged for the tenth time', at, { ...damaged, fetchedBefore: 9 }, told(at, 138), { closes: 'damaged', goOn: 'nextPage', wait: 0 }],
    ['138 brings what was here already', at, { arrived: [40n] }, told(at, 138), { goOn: 'nextPage', wait: 0 }],
    ['138 for the last of a turn', at, { ...brought, mayAskMore: false }, told(at, 138), { closes: 'fetched', wait: 0 }],
    ['137: it has expired', at, missing, told(at, 137), { closes: 'expired', goOn: 'nextPage', wait: 0 }],
    ['589: it lies beyond the end, and others may be fetched', at, missing, told(at, 589), { wait: 10 }],
    ['593 holds all up for an hour', at, missing, told(at, 593), { wait: 60 }],
    ['108 holds all up for an hour', at, missing, told(at, 108), { wait: 60, service: 10 }],
    ['656 blocks the line; its ultNSU is not our cursor', at, missing, told(at, 656, 80, 0), block],
    ['656 of a line that stopped says only when it may go on', at, { line: { state: 'stopped', nextInMs: null } }, told(at, 656), { allowed: 65, wait: 65 }],
    ['timeout lets others be fetched, and is an outage', at, missing, timeout, { wait: 10, service: 'failed' }],
    ['HTTP 403 says that the host serves', at, missing, lost('forbidden'), { wait: 10 }],
    ['of an ended process counts as lost', at, missing, interrupted(0), { wait: 10, service: null }],
    ['138 brings the note', note, {}, told(note, 138), { goOn: 'nextPage', wait: 0 }],
    ['137: the note is not there yet', note, {}, told(note, 137), { goOn: 'nextPage', wait: 0 }],
    ['217: the note is not known there yet', note, {}, told(note, 217), { goOn: 'nextPage', wait: 0 }],
    ['632 to 654: the note never comes', note, {}, told(note, 653), { goOn: 'nextPage', wait: 0 }],
    ['656 blocks the line, for a note too', note, {}, told(note, 656), block],
  ])('%s', (_, question, change, answer, expected) => {
    const decision = decided(change, answer, question)
    expect({ ...shown(decision), wait: decision.waitMs / minute }).toEqual(expected)
  })
})

test('a line without a usable certificate stops, and looks again', () => {
  const without = (rests: number[], line = {}) => decideWithoutCertificate(situation({ line }).line, rests, rhythm)
  expect(without([])).toMatchObject({
    state: 'stopped',
    message: noCertificate,
    nextInMs: 60 * minute,
    fulfilled: true,
  })
  expect(without([90 * minute, 70 * minute])).toMatchObject({
    state: 'stopped',
    message: noneAccepted,
    nextInMs: 70 * minute,
  })
  // One was uploaded meanwhile.
  expect(without([90 * minute, -1])).toEqual({ nextInMs: 2_000, allowedInMs: 2_000 })
  // The pause of what was refused stands.
  expect(without([90 * minute], { allowedInMs: 5 * minute, nextInMs: 30 * minute })).toEqual({ nextInMs: 90 * minute })
})

describe('a person reads', () => {
  const message = (answer: Answer, change: Change = {}, question: Question = page) =>
    decided(change, answer, question).line.message
  const block = 'A SEFAZ bloqueou as consultas deste CNPJ por uma hora: '
  const skipped = ' Faltam os documentos das posições 51 a 80, que serão buscados um a um, até vinte por hora.'
  const maybeCounted =
    'Ela pode ter contado a consulta; para não causar um bloqueio, a captura espera uma hora e continua sozinha.'
  const late = 'A SEFAZ demorou demais para responder. Nada do que já foi recebido se perdeu.'
  // biome-ignore format: a case is a row
  test.each<[string | undefined, string]>([
    [message(told(page, 138, 100, 120, [100])), 'Recebendo: posição 100 de 120.'],
    [message(told(page, 138, 51, 51, [51])), 'Em dia. A última consulta trouxe 1 documento novo.'],
    [message(told(page, 138, 52, 52, [51, 52])), 'Em dia. A última consulta trouxe 2 documentos novos.'],
    [message(told(page, 137, 50, 50)), 'Em dia. Nenhum documento novo na última consulta.'],
    [message(told(page, 138, 50, 120, [49])), 'A SEFAZ respondeu que há documentos, mas não passou da posição 50. Os documentos já guardados estão seguros e a captura tenta de novo sozinha em uma hora; se continuar assim, quem administra o sistema precisa conferir.'],
    [message(told(page, 656, 80)), `${block}outro sistema consultou com este certificado.${skipped}`],
    [message(told(page, 656, 80), { lossBefore: true }), `${ block}ela contou uma consulta nossa cuja resposta se perdeu no caminho.${ skipped}`],
    [message(told(page, 656, 50), { mayBeCopy: true }), `${ block}o sistema voltou de uma cópia de segurança, ou outro sistema consultou com este certificado. Nenhum documento foi pulado.`],
    [message(told(page, 656, 10), { line: { state: 'blocked', failures: 2 } }), 'A SEFAZ bloqueia as consultas deste CNPJ e responde a cada uma que está na posição 10, antes da nossa (50). A captura parou para nada ser pulado, e os documentos já guardados estão seguros. Peça a sincronização para perguntar mais uma vez; se ela responder o mesmo, quem administra o sistema precisa conferir.'],
    [message(told(page, 656, absurd)), 'A SEFAZ informou a posição 999999999999999, impossível porque está mais de um milhão à frente da nossa (50). A captura parou para nada ser pulado, e os documentos já guardados estão seguros. Peça a sincronização para perguntar mais uma vez; se ela responder o mesmo, quem administra o sistema precisa conferir.'],
    [message(told(page, 108)), 'O serviço da SEFAZ está fora do ar. Tentamos de novo sozinhos. (motivo)'],
    [message(told(page, 589)), 'A posição da nossa consulta está à frente da que a SEFAZ conhece; a captura parou para nada ser pulado. Os documentos já guardados estão seguros. (589: motivo)'],
    [message(told(page, 777)), 'A SEFAZ recusou a consulta. Os documentos já guardados estão seguros. (777: motivo)'],
    [message(told(page, 284)), noneAccepted],
    [message(timeout), `${late} ${maybeCounted}`],
    [message(timeout, { line: { maxNsu: 500n } }), `${late} A captura tenta de novo sozinha.`],
    [message(interrupted(0)), `A captura foi interrompida entre uma consulta e a resposta da SEFAZ. Nada do que já foi recebido se perdeu. ${ maybeCounted}`],
    [message(ourFault), 'Algo falhou do nosso lado durante a consulta. Os documentos já guardados estão seguros e a captura tenta de novo sozinha.'],
  ])('%s', (read, expected) => {
    expect(read).toBe(expected)
  })
})

// Lehmer's generator: the same chances in every run.
function chances(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

test('ten thousand companies registered in one minute do not ask in one minute', () => {
  const random = chances(7)
  const askedAt = Array.from({ length: 10_000 }, () => random() * minute)
  const fullestMinute = () => {
    const perMinute = Map.groupBy(askedAt, (ms) => Math.floor(ms / minute))
    return Math.max(...[...perMinute.values()].map(({ length }) => length))
  }
  expect(fullestMinute()).toBe(10_000)
  let soonest = Number.POSITIVE_INFINITY
  for (let cycle = 1; cycle <= 24; cycle++) {
    const of = situation({ line: { first: cycle === 1 } })
    for (let index = 0; index < askedAt.length; index++) {
      const nextInMs = decide(of, page, told(page, 137), random).line.nextInMs!
      soonest = Math.min(soonest, nextInMs)
      askedAt[index]! += nextInMs
    }
    // Evenly over an hour there would be 167.
    if (cycle === 1) expect(fullestMinute()).toBeLessThan(210)
  }
  expect(fullestMinute()).toBeLessThan(210)
  expect(soonest).toBeGreaterThan(rhythm.hourMs)
})
