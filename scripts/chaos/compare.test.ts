import { describe, expect, test } from 'vitest'
import { type Announcement, late } from './announcements.ts'
import type { AuthorityCall, AuthorityEvent, AuthorityRow } from './authority.ts'
import { isOfTrouble } from './compare.ts'
import { callsWhileBlocked, matchCalls, misread, misuse, overlaps, queriesTooMany, unwritten } from './conversations.ts'
import { compareList, compareReceipts, compareStatuses } from './documents.ts'
import { forgotten, registeredTwice, sentAgain, unacknowledged, unwanted, wronglyTold } from './events.ts'
import { whileRowsMove } from './faults.ts'
import { outOfOrder, type ToldChange, toldForNothing, untold } from './followers.ts'
import type { RegisteredCompany } from './installation.ts'
import type { SentRequest } from './people.ts'
import type { LedgerCall, OutgoingEventRow, Receipt } from './records.ts'

// A comparison that finds nothing proves something only if it finds what is wrong.

const cnpj = '12ABC34501DE35'
const hourMs = 1000
const time = (ms: number) => new Date(1_800_000_000_000 + ms).toISOString()
const at = (ms: number) => 1_800_000_000_000 + ms

let id = 0
const call = (ms: number, more: Partial<AuthorityCall> = {}): AuthorityCall => ({
  id: ++id,
  at: time(ms),
  service: 'nfe',
  of: 'distribution',
  taxId: cnpj,
  query: { ultNSU: 0 },
  cStat: 138,
  counted: true,
  lost: false,
  ...more,
})
const row = (ms: number, cStat: number | null = 138, more: Partial<LedgerCall> = {}): LedgerCall => ({
  at: at(ms),
  durationMs: 5,
  cnpj,
  service: 'nfe',
  query: 'distNSU',
  cStat,
  error: cStat === null ? 'timeout: no answer' : null,
  ...more,
})
const conversation = (calls: AuthorityCall[], ledger: LedgerCall[]) => matchCalls(calls, ledger).get(`nfe ${cnpj}`)!

describe('conversations', () => {
  test('a call is told apart from one that nobody wrote down', () => {
    const [written, silent, failed] = [call(0), call(200), call(400)]
    const matched = matchCalls([failed, written, silent], [row(5), row(450, null)])
    expect(unwritten(matched)).toEqual([silent, failed])
  })
  test('a response that came whole and was noted as something else is found', () => {
    const noted = (cStat: number | null, error: string | null, more: Partial<AuthorityCall> = {}) =>
      misread(conversation([call(0, more)], [row(5, cStat, { error })]))
    expect(noted(138, null)).toEqual([])
    expect(noted(137, null)).toHaveLength(1)
    expect(noted(null, 'not-xml: <a>')).toHaveLength(1)
    expect(noted(null, 'not-xml: <a>', { fault: 'truncated' })).toEqual([])
    expect(noted(null, 'timeout: no answer in 400 ms')).toEqual([])
    expect(noted(null, 'interrupted: a process ended')).toEqual([])
  })
  describe('a 656', () => {
    const blocked = (ms: number, more: Partial<AuthorityCall> = {}) => call(ms, { cStat: 656, ...more })
    test('is misuse when the product had been answered within the hour', () => {
      expect(misuse(conversation([call(0), blocked(900)], [row(5), row(905, 656)]), hourMs)).toHaveLength(1)
      expect(misuse(conversation([blocked(0)], [row(5, 656)]), hourMs)).toHaveLength(1)
    })
    test('is excused when the authority says so', () => {
      expect(misuse(conversation([call(0), blocked(900, { excused: true })], [row(5, null)]), hourMs)).toEqual([])
    })
    test('is excused when the call before came after the product had given up on it, and the product kept its hour', () => {
      const calls = [call(600), blocked(1450)]
      expect(misuse(conversation(calls, [row(400, null), row(1455, 656)]), hourMs)).toEqual([])
      expect(misuse(conversation(calls, [row(500, null), row(1455, 656)]), hourMs)).toHaveLength(1)
      expect(misuse(conversation(calls, [row(610), row(1455, 656)]), hourMs)).toHaveLength(1)
    })
    test('is excused when the call before was of a worker that was killed long before the call came', () => {
      const killed = row(1000, null, { durationMs: 900, error: 'interrupted: a process ended' })
      const calls = [call(600), blocked(1150)]
      expect(misuse(conversation(calls, [killed, row(1155, 656)]), hourMs)).toEqual([])
      expect(misuse(conversation(calls, [{ ...killed, durationMs: 800 }, row(1155, 656)]), hourMs)).toHaveLength(1)
    })
  })
  test('a call during a known block is found, one during an unknown block is not', () => {
    const calls = [call(0, { cStat: 656 }), call(500)]
    expect(callsWhileBlocked(conversation(calls, [row(5, 656)]), hourMs)).toHaveLength(1)
    expect(callsWhileBlocked(conversation(calls, [row(5, null)]), hourMs)).toEqual([])
    expect(callsWhileBlocked(conversation([calls[0]!, call(1001)], [row(5, 656)]), hourMs)).toEqual([])
  })
  test('the twenty-first query of an hour is found', () => {
    const queries = Array.from({ length: 21 }, (_, index) => call(index * 40, { query: { nsu: index + 1 } }))
    expect(queriesTooMany(conversation(queries, []), hourMs, 20)).toHaveLength(1)
    expect(queriesTooMany(conversation(queries.slice(1), []), hourMs, 20)).toEqual([])
  })
  test('a call while another waits for its answer is found', () => {
    expect(overlaps(conversation([call(0), call(50)], [row(20), row(60)]), 400)).toEqual([])
    expect(overlaps(conversation([call(0, { fault: 'delay' }), call(50)], [row(60)]), 400)).toHaveLength(1)
  })
})

describe('what leaves after its lease', () => {
  const announced = (ms: number, more: Partial<Announcement> = {}): Announcement => ({
    service: 'nfe',
    cnpj,
    chave: null,
    tpEvento: null,
    at: at(ms),
    ...more,
  })
  test('is found among the queries, also when somebody else has announced one meanwhile', () => {
    expect(late([announced(0)], [call(500)], [], 400)).toEqual([])
    expect(late([announced(0)], [call(1200)], [], 400)).toHaveLength(1)
    expect(late([announced(0), announced(1100)], [call(1150), call(1200)], [], 400)).toHaveLength(1)
    expect(late([], [call(0)], [], 400)).toHaveLength(1)
  })
  test('is found among the events', () => {
    const sent = event({ sendings: [{ at: time(500), cStat: 135, lost: false }] })
    const own = { chave: chave(1), tpEvento: 210210 }
    expect(late([announced(0, own)], [], [sent], 400)).toEqual([])
    expect(late([announced(0, own)], [], [sent], 150)).toHaveLength(1)
    expect(late([announced(0)], [], [sent], 400)).toHaveLength(1)
  })
})

const chave = (number: number) => String(number).padStart(44, '3')
const document = (nsu: number, more: Partial<AuthorityRow> = {}): AuthorityRow => ({
  service: 'nfe',
  nsu: String(nsu).padStart(15, '0'),
  schema: 'procNFe_v4.00.xsd',
  kind: 'document',
  chave: chave(nsu),
  at: time(nsu),
  sha256: `hash ${nsu}`,
  ...more,
})
const receipt = (nsu: number, more: Partial<Receipt> = {}): Receipt => ({
  cnpj,
  workspace: 0,
  service: 'nfe',
  nsu: BigInt(nsu),
  sha256: `hash ${nsu}`,
  unread: false,
  problem: null,
  ...more,
})
const shown = (number: number, codigoEvento = 100) => ({
  idDfe: '',
  idEmpresa: '',
  numero: number,
  emitente: '',
  chave: chave(number),
  valor: 1,
  dataEmissao: '',
  tipoParticipacao: 1,
  notaCompleta: true,
  status: { codigoEvento, descricaoEvento: '' },
})

describe('documents', () => {
  test('missing, changed, unread and surplus receipts are found', () => {
    const truth = [document(1), document(2), document(3)]
    expect(
      compareReceipts(
        truth,
        [1, 2, 3].map((nsu) => receipt(nsu)),
      ),
    ).toEqual([])
    expect(compareReceipts(truth, [receipt(1), receipt(2)])).toHaveLength(1)
    expect(compareReceipts(truth, [receipt(1), receipt(2), receipt(3, { sha256: 'other' })])).toHaveLength(1)
    expect(compareReceipts(truth, [receipt(1), receipt(2), receipt(3, { unread: true })])).toHaveLength(1)
    expect(compareReceipts(truth, [receipt(1), receipt(2), receipt(3), receipt(4)])).toHaveLength(1)
  })
  test('a whole copy beside a damaged one makes it good', () => {
    const damaged = receipt(1, { sha256: null, unread: true })
    expect(compareReceipts([document(1)], [damaged])).toHaveLength(1)
    expect(compareReceipts([document(1)], [damaged, receipt(-9, { sha256: 'hash 1' })])).toEqual([])
  })
  test('missing, doubled, incomplete and surplus rows of the list are found', () => {
    const truth = [document(1), document(2)]
    expect(compareList(truth, [shown(1), shown(2)])).toEqual([])
    expect(compareList(truth, [shown(1)])).toHaveLength(1)
    expect(compareList(truth, [shown(1), shown(1), shown(2)])).toHaveLength(1)
    expect(compareList(truth, [shown(1), { ...shown(2), notaCompleta: false }])).toHaveLength(1)
    expect(compareList(truth, [shown(1), shown(2), shown(3)])).toHaveLength(1)
  })
  test('a status that the events do not give is found', () => {
    const cancelled = document(1, { kind: 'event', tpEvento: 110111 })
    expect(compareStatuses('nfe', [document(1), cancelled], [], [shown(1, 110111)])).toEqual([])
    expect(compareStatuses('nfe', [document(1), cancelled], [], [shown(1, 100)])).toHaveLength(1)
    const own = [event({ tpEvento: 210200, at: time(0) }), event({ tpEvento: 210240, at: time(5000) })]
    expect(compareStatuses('nfe', [document(1)], own, [shown(1, 210240)])).toEqual([])
    expect(compareStatuses('nfe', [document(1)], own, [shown(1, 210200)])).toHaveLength(1)
  })
})

function event(more: Partial<AuthorityEvent> = {}): AuthorityEvent {
  const sendings = [{ at: time(0), cStat: 135, lost: false }]
  return {
    service: 'nfe',
    chave: chave(1),
    tpEvento: 210210,
    nSeqEvento: 1,
    author: cnpj,
    cStat: 135,
    nProt: '891',
    at: time(0),
    sendings,
    ...more,
  }
}
const outgoing = (more: Partial<OutgoingEventRow> = {}): OutgoingEventRow => ({
  id: '1/1',
  workspace: 'w',
  cnpj,
  service: 'nfe',
  chave: chave(1),
  tpEvento: 210210,
  sequence: 1,
  state: 'registered',
  automatic: false,
  cStat: 135,
  xMotivo: null,
  protocol: '891',
  message: '',
  calls: [{ at: at(10), cStat: 135, error: null }],
  ...more,
})
// Nobody is called in these comparisons.
const company = { cnpj, acknowledges: true } as RegisteredCompany
const request: SentRequest = {
  company,
  service: 'nfe',
  chave: chave(1),
  tpEvento: 210210,
  accepted: true,
  message: '',
}

test('changes that come out of order, twice, not at all or for nothing are found', () => {
  const told = (versao: number, number: number): ToldChange => ({
    versao,
    tipo: 'documento-novo',
    idEmpresa: 'e',
    chave: chave(number),
  })
  const here = [1, 2].map((number) => `e ${chave(number)}`)
  const reader = (...read: ToldChange[]) => ({ workspace: 0, read })
  const good = reader(told(1, 1), told(3, 2))
  for (const problems of [outOfOrder(good), untold(good, here), toldForNothing(good, here)])
    expect(problems).toEqual([])
  expect(outOfOrder(reader(told(2, 1), told(2, 2)))).toHaveLength(1)
  expect(untold(reader(told(1, 1)), here)).toHaveLength(1)
  expect(toldForNothing(reader(told(1, 1), told(2, 1)), here)).toHaveLength(1)
  expect(toldForNothing(reader(told(1, 3)), here)).toHaveLength(1)
})

describe('events', () => {
  test('what the product says and the authority does not is found', () => {
    expect(wronglyTold([outgoing()], [event()])).toEqual([])
    expect(wronglyTold([outgoing()], [])).toHaveLength(1)
    expect(wronglyTold([outgoing({ state: 'rejected' })], [event()])).toHaveLength(1)
    expect(wronglyTold([outgoing({ state: 'sending' })], [event()])).toHaveLength(1)
    expect(wronglyTold([outgoing({ protocol: '892' })], [event()])).toHaveLength(1)
    const closed = { at: at(10), cStat: 109, error: null }
    expect(wronglyTold([outgoing({ state: 'rejected', calls: [closed] })], [])).toEqual([])
    expect(wronglyTold([outgoing({ state: 'rejected', calls: [{ ...closed, cStat: 596 }] })], [])).toHaveLength(1)
    const refused = event({ nProt: undefined, cStat: 596 })
    expect(wronglyTold([outgoing()], [refused])).toHaveLength(1)
    expect(wronglyTold([outgoing({ state: 'rejected', cStat: 596 })], [refused])).toEqual([])
  })
  test('two registrations are found', () => {
    const sendings = [135, 135].map((cStat) => ({ at: time(0), cStat, lost: false }))
    expect(registeredTwice([event()])).toEqual([])
    expect(registeredTwice([event({ sendings })])).toHaveLength(1)
  })
  test('an event that nobody wanted is found, and one that was wanted and forgotten', () => {
    expect(unwanted([outgoing()], [event()], [request], [company])).toEqual([])
    expect(unwanted([outgoing()], [event()], [], [company])).toHaveLength(1)
    expect(unwanted([outgoing({ automatic: true })], [event()], [], [company])).toEqual([])
    expect(unwanted([outgoing({ automatic: true })], [event()], [], [])).toHaveLength(1)
    expect(unwanted([], [event()], [request], [company])).toHaveLength(1)
    expect(forgotten([outgoing()], [request])).toEqual([])
    expect(forgotten([], [request, request])).toHaveLength(1)
  })
  test('a sending after the answer was written is found, one before is not', () => {
    const again = (ms: number) => event({ sendings: [...event().sendings, { at: time(ms), cStat: 573, lost: false }] })
    expect(sentAgain([outgoing()], [again(5)])).toEqual([])
    expect(sentAgain([outgoing()], [again(20)])).toHaveLength(1)
  })
  test('a summary without Ciência is found', () => {
    const truth = [document(1, { kind: 'summary' })]
    expect(unacknowledged(company, truth, [], at(0))).toHaveLength(1)
    expect(unacknowledged(company, truth, [], at(10))).toEqual([])
    expect(unacknowledged(company, truth, [outgoing()], at(0))).toEqual([])
  })
})

test('a lock that is not given in time, or a deadlock, is an error, unless rows are moved', () => {
  const line = 'worker: {"level":50,"err":{"message":"canceling statement due to lock timeout","code":"55P03"}}'
  expect(isOfTrouble(line)).toBe(false)
  expect(isOfTrouble(whileRowsMove + line)).toBe(true)
  const crossed = 'canceling the transaction since it was involved in a distributed deadlock'
  expect([`${whileRowsMove}${crossed}`, crossed].map(isOfTrouble)).toEqual([true, false])
  expect(isOfTrouble(`${whileRowsMove}worker: {"level":50,"err":{"message":"duplicate key"}}`)).toBe(false)
})
