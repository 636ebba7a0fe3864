import { SefazError } from '@vigia/sefaz/error'
import { describe, expect, test } from 'vitest'
import { decide, failed } from './rules.ts'

const rhythm = { hourMs: 3_600_000, pagePauseMs: 2_000, marginMs: 300_000 }
const answer = (cStat: number, ultNSU: string | null, maxNSU: string | null, nsus: number[] = []) => ({
  cStat,
  xMotivo: 'motivo',
  ultNSU,
  maxNSU,
  documents: nsus.map((nsu) => ({ nsu: String(nsu).padStart(15, '0'), schema: 'x', content: Buffer.alloc(0) })),
})
const nsu = (n: number) => String(n).padStart(15, '0')

describe('138', () => {
  test('goes on after the pause while there are more', () => {
    expect(decide(answer(138, nsu(50), nsu(120), [1, 50]), { lastNsu: 0n, failures: 0 }, rhythm)).toMatchObject({
      nextPage: true,
      lastNsu: 50n,
      maxNsu: 120n,
      nextInMs: 2_000,
    })
  })
  test('rests an hour and a margin at the end', () => {
    const decision = decide(answer(138, nsu(120), nsu(120), [120]), { lastNsu: 100n, failures: 0 }, rhythm)
    expect(decision).toMatchObject({ nextPage: false, lastNsu: 120n, state: 'waiting' })
    expect(decision.nextInMs).toBeGreaterThanOrEqual(rhythm.hourMs + rhythm.marginMs)
    expect(decision.nextInMs).toBeLessThanOrEqual(rhythm.hourMs + 2 * rhythm.marginMs)
    expect(decision.allowedInMs).toBeGreaterThan(rhythm.hourMs)
  })
  test('takes the highest NSU of the page when the answer names none', () => {
    expect(decide(answer(138, null, null, [7, 9]), { lastNsu: 5n, failures: 0 }, rhythm)).toMatchObject({
      nextPage: false,
      lastNsu: 9n,
    })
  })
  test('does not ask for ever when the cursor does not move', () => {
    expect(decide(answer(138, nsu(50), nsu(120), []), { lastNsu: 50n, failures: 0 }, rhythm).nextPage).toBe(false)
  })
  test('never moves back', () => {
    expect(decide(answer(138, nsu(3), nsu(120), []), { lastNsu: 50n, failures: 0 }, rhythm).lastNsu).toBe(50n)
  })
})

test('137 rests and keeps a cursor that is ahead of the zeros of a new CNPJ', () => {
  expect(decide(answer(137, nsu(0), nsu(0)), { lastNsu: 50n, failures: 0 }, rhythm)).toMatchObject({
    nextPage: false,
    lastNsu: 50n,
    state: 'waiting',
  })
})

describe('656', () => {
  test('adopts the cursor of the authority and records what is missing', () => {
    expect(decide(answer(656, nsu(80), nsu(0)), { lastNsu: 50n, failures: 0 }, rhythm)).toMatchObject({
      state: 'blocked',
      lastNsu: 80n,
      gap: { from: 51n, to: 80n },
    })
  })
  test('allows no query within the hour, not even by hand', () => {
    expect(decide(answer(656, nsu(50), nsu(0)), { lastNsu: 50n, failures: 0 }, rhythm).allowedInMs).toBeGreaterThan(
      rhythm.hourMs,
    )
  })
  test('names the likely cause and says what is missing', () => {
    const ahead = answer(656, nsu(80), nsu(0))
    expect(decide(ahead, { lastNsu: 50n, failures: 0 }, rhythm).message).toBe(
      'A SEFAZ bloqueou as consultas deste CNPJ por uma hora: outro sistema consultou com este certificado. Faltam os documentos das posições 51 a 80, que serão buscados um a um, até vinte por hora. A captura volta sozinha.',
    )
    expect(decide(ahead, { lastNsu: 50n, failures: 1 }, rhythm).message).toMatch(
      /uma consulta nossa cuja resposta se perdeu/,
    )
    expect(decide(answer(656, nsu(50), nsu(0)), { lastNsu: 50n, failures: 0 }, rhythm).message).toMatch(
      /Nenhum documento foi pulado/,
    )
  })
  test('does not move back', () => {
    const decision = decide(answer(656, nsu(10), nsu(0)), { lastNsu: 50n, failures: 0 }, rhythm)
    expect(decision.lastNsu).toBeUndefined()
    expect(decision.gap).toBeUndefined()
  })
})

test.each([589, 593, 252, 215, 280])('%i stops until a person acts and leaves the cursor', (cStat) => {
  const decision = decide(answer(cStat, nsu(0), nsu(0)), { lastNsu: 50n, failures: 0 }, rhythm)
  expect(decision).toMatchObject({ state: 'stopped', nextInMs: null })
  expect(decision.lastNsu).toBeUndefined()
})

test.each([108, 109, 999])('%i tries again later and leaves the cursor', (cStat) => {
  const decision = decide(answer(cStat, nsu(0), nsu(0)), { lastNsu: 50n, failures: 0 }, rhythm)
  expect(decision.state).toBe('failed')
  expect(decision.nextInMs).toBeGreaterThan(5 * 60_000)
  expect(decision.lastNsu).toBeUndefined()
})

const wait = (error: SefazError, failures: number) => failed(error, failures, rhythm).allowedInMs / 60_000

test('waits grow from a minute to an hour when nobody was reached', () => {
  const error = new SefazError('refused', { detail: 'ECONNREFUSED' })
  expect([0, 1, 2, 3, 4, 9].map((failures) => wait(error, failures))).toEqual([1, 5, 15, 30, 60, 60])
})

test('an answer that may have been counted is asked for three times in the first hour at most', () => {
  for (const kind of ['timeout', 'http', 'not-xml', 'fault', 'forbidden', 'refused'] as const) {
    const waits = [0, 1, 2, 3].map((failures) => wait(new SefazError(kind), failures))
    expect(waits[0]! + waits[1]! + waits[2]!, kind).toBeGreaterThan(60)
  }
})

test('what only a person can mend is tried once an hour', () => {
  expect(wait(new SefazError('tls-chain'), 0)).toBe(60)
  expect(wait(new SefazError('handshake'), 0)).toBe(60)
})

test('the person reads what happened and that the capture goes on', () => {
  expect(failed(new SefazError('timeout'), 0, rhythm).message).toBe(
    'A SEFAZ demorou demais para responder. Nada do que já foi recebido se perdeu. A captura tenta de novo sozinha.',
  )
})
