import { SefazError } from '@vigia/sefaz/error'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { mayHaveBeenCounted } from '../sefaz/ledger.ts'
import { brokenOff, decide, failed, interrupted } from './rules.ts'

beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

const rhythm = { hourMs: 3_600_000, pagePauseMs: 2_000, marginMs: 300_000 }
const answer = (cStat: number, ultNSU: string | null, maxNSU: string | null, nsus: number[] = []) => ({
  cStat,
  xMotivo: 'motivo',
  ultNSU,
  maxNSU,
  documents: nsus.map((nsu) => ({ nsu: String(nsu).padStart(15, '0'), schema: 'x', content: Buffer.alloc(0) })),
})
const at = (lastNsu: bigint) => ({ lastNsu, first: false, responseLost: false })
const nsu = (n: number) => String(n).padStart(15, '0')

describe('138', () => {
  test('goes on after the pause while there are more', () => {
    expect(decide(answer(138, nsu(50), nsu(120), [1, 50]), at(0n), rhythm)).toMatchObject({
      nextPage: true,
      lastNsu: 50n,
      maxNsu: 120n,
      nextInMs: 2_000,
    })
  })
  test('rests an hour and a margin at the end', () => {
    const decision = decide(answer(138, nsu(120), nsu(120), [120]), at(100n), rhythm)
    expect(decision).toMatchObject({ nextPage: false, lastNsu: 120n, state: 'waiting' })
    expect(decision.nextInMs).toBeGreaterThanOrEqual(rhythm.hourMs + rhythm.marginMs)
    expect(decision.nextInMs).toBeLessThanOrEqual(rhythm.hourMs + 2 * rhythm.marginMs)
    expect(decision.allowedInMs).toBeGreaterThan(rhythm.hourMs)
  })
  test('takes the highest NSU of the page when the answer names none', () => {
    expect(decide(answer(138, null, null, [7, 9]), at(5n), rhythm)).toMatchObject({
      nextPage: false,
      lastNsu: 9n,
    })
  })
  test('does not ask for ever when the cursor does not move', () => {
    const stuck = decide(answer(138, nsu(50), nsu(120), [49]), at(50n), rhythm)
    expect(stuck).toMatchObject({ nextPage: false, state: 'failed', failures: 1 })
    expect(stuck.succeeded).toBeUndefined()
    expect(stuck.message).toMatch(/não passou da posição 50\./)
  })
  test('never moves back', () => {
    expect(decide(answer(138, nsu(3), nsu(120), []), at(50n), rhythm).lastNsu).toBe(50n)
  })
})

test('from the first contact any position is possible', () => {
  const far = nsu(900_000_000)
  for (const response of [answer(656, far, null), answer(137, far, far), answer(138, far, far, [900_000_000])])
    expect(decide(response, { ...at(0n), first: true }, rhythm)).toMatchObject({ lastNsu: 900_000_000n })
  expect(decide(answer(656, far, null), at(50n), rhythm)).toMatchObject({ state: 'stopped' })
})

test('137 rests and keeps a cursor that is ahead of the zeros of a new CNPJ', () => {
  expect(decide(answer(137, nsu(0), nsu(0)), at(50n), rhythm)).toMatchObject({
    nextPage: false,
    lastNsu: 50n,
    state: 'waiting',
  })
})

describe('656', () => {
  test('adopts the cursor of the authority and records what is missing', () => {
    expect(decide(answer(656, nsu(80), nsu(0)), at(50n), rhythm)).toMatchObject({
      state: 'blocked',
      lastNsu: 80n,
      gap: { from: 51n, to: 80n },
    })
  })
  test('allows no query within the hour, not even by hand', () => {
    expect(decide(answer(656, nsu(50), nsu(0)), at(50n), rhythm).allowedInMs).toBeGreaterThan(rhythm.hourMs)
  })
  test('names the likely cause and says what is missing', () => {
    const ahead = answer(656, nsu(80), nsu(0))
    expect(decide(ahead, at(50n), rhythm).message).toBe(
      'A SEFAZ bloqueou as consultas deste CNPJ por uma hora: outro sistema consultou com este certificado. Faltam os documentos das posições 51 a 80, que serão buscados um a um, até vinte por hora.',
    )
    expect(decide(ahead, { ...at(50n), responseLost: true }, rhythm).message).toMatch(
      /uma consulta nossa cuja resposta se perdeu/,
    )
    expect(decide(answer(656, nsu(50), nsu(0)), at(50n), rhythm).message).toMatch(/Nenhum documento foi pulado/)
  })
  test('that names an older position three times in a row stops the line, also when asked once more', () => {
    const behind = (failures: number, state: 'blocked' | 'failed' | 'stopped') =>
      decide(answer(656, nsu(10), nsu(0)), { ...at(50n), failures, state }, rhythm)
    expect([0, 1].map((failures) => behind(failures, 'blocked'))).toMatchObject([
      { state: 'blocked', failures: 1 },
      { state: 'blocked', failures: 2 },
    ])
    for (const last of [behind(2, 'blocked'), behind(3, 'stopped')]) {
      expect(last).toMatchObject({ state: 'stopped', nextInMs: null })
      expect(last.message).toMatch(/está na posição 10, antes da nossa \(50\)\. A captura parou/)
    }
    // Responses that were lost are not blocks.
    expect(behind(5, 'failed')).toMatchObject({ state: 'blocked', failures: 1 })
    expect(decide(answer(656, nsu(50), nsu(0)), { ...at(50n), failures: 2 }, rhythm)).toMatchObject({ failures: 0 })
  })
  test('does not move back', () => {
    const decision = decide(answer(656, nsu(10), nsu(0)), at(50n), rhythm)
    expect(decision.lastNsu).toBeUndefined()
    expect(decision.gap).toBeUndefined()
  })
})

test.each([589, 593, 252, 215, 280])('%i stops until a person acts and leaves the cursor', (cStat) => {
  const decision = decide(answer(cStat, nsu(0), nsu(0)), at(50n), rhythm)
  expect(decision).toMatchObject({ state: 'stopped', nextInMs: null })
  expect(decision.lastNsu).toBeUndefined()
})

test.each([108, 109, 999])('%i tries again later and leaves the cursor', (cStat) => {
  const decision = decide(answer(cStat, nsu(0), nsu(0)), at(50n), rhythm)
  expect(decision.state).toBe('failed')
  expect(decision.nextInMs).toBeGreaterThan(5 * 60_000)
  expect(decision.lastNsu).toBeUndefined()
})

test('a maximum below the page itself says nothing', () => {
  expect(decide(answer(138, nsu(50), nsu(0), [50]), at(0n), rhythm)).toMatchObject({ nextPage: false, lastNsu: 50n })
  expect(decide(answer(138, nsu(50), nsu(0), [50]), at(0n), rhythm).maxNsu).toBeUndefined()
})

const margin = rhythm.marginMs / 60_000
const standing = { lastNsu: 50n, maxNsu: 50n, failures: 0, first: false, recent: true, responseLost: false }
const wait = (error: SefazError, change: Partial<typeof standing> = {}) =>
  failed(error, { ...standing, ...change }, rhythm)
const minutes = (error: SefazError, change: Partial<typeof standing> = {}) => {
  const { nextInMs, allowedInMs } = wait(error, change)
  return [nextInMs! / 60_000, allowedInMs / 60_000]
}

const counted = [
  new SefazError('timeout', { detail: 'no answer in 60000 ms' }),
  new SefazError('refused', { detail: 'ECONNRESET' }),
  new SefazError('refused', { detail: 'socket hang up' }),
  new SefazError('not-xml', { status: 200 }),
  new SefazError('http', { status: 503, detail: 'HTTP 503' }),
  new SefazError('http', { status: 200, detail: 'answer too large' }),
  new SefazError('fault', { status: 500, detail: 'Server was unable to process request' }),
]
const notCounted = [
  new SefazError('unreached', { detail: 'ECONNREFUSED' }),
  new SefazError('unreached', { detail: 'ENOTFOUND' }),
  new SefazError('unreached', { detail: 'EAI_AGAIN' }),
  new SefazError('unreached', { detail: 'no connection in 15000 ms' }),
  new SefazError('tls-chain', { detail: 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY' }),
  new SefazError('encryption', { detail: 'ERR_SSL_DH_KEY_TOO_SMALL dh key too small' }),
  new SefazError('refused', { detail: 'ECONNRESET', sent: false }),
  new SefazError('certificate', { detail: 'EPROTO tlsv1 alert unknown ca' }),
  new SefazError('forbidden', { status: 403 }),
  new SefazError('http', { status: 404, detail: 'HTTP 404' }),
  new SefazError('fault', { detail: 'The SOAP action was not recognized' }),
]
const named = (errors: SefazError[]) => errors.map((error) => [`${error.kind} ${error.detail ?? ''}`, error] as const)

describe.each(named(counted))('%s', (_, error) => {
  test('may have been counted: a whole hour and the margin pass before the next query, by hand too', () => {
    expect(mayHaveBeenCounted(error)).toBe(true)
    expect(minutes(error)).toEqual([60 + margin, 60 + margin])
    // Fifty or fewer wait: the page that was lost may have been the last one.
    expect(minutes(error, { maxNsu: 100n })).toEqual([60 + margin, 60 + margin])
  })
  test('where more than a page waits the lost one was not the last: one query tells, soon', () => {
    expect(minutes(error, { maxNsu: 101n })).toEqual([10, 10])
  })
  test('what that query was answered may have been a block: then the hour passes', () => {
    expect(minutes(error, { maxNsu: 101n, responseLost: true })).toEqual([60 + margin, 60 + margin])
  })
  test('what waited long ago may have expired since', () => {
    expect(minutes(error, { maxNsu: 101n, recent: false })).toEqual([60 + margin, 60 + margin])
  })
})

test.each(named(notCounted))('%s was not counted', (_, error) => {
  expect(mayHaveBeenCounted(error)).toBe(false)
})

test('waits grow from a minute to an hour when nobody was reached', () => {
  const error = new SefazError('unreached', { detail: 'ECONNREFUSED' })
  expect([0, 1, 2, 3, 4, 9].map((failures) => minutes(error, { failures })[1])).toEqual([1, 5, 15, 30, 60, 60])
})

test('what only a person can mend is tried by the hour, and a person who mended it may try soon', () => {
  expect(minutes(new SefazError('tls-chain'))).toEqual([60, 5])
  expect(minutes(new SefazError('certificate'))).toEqual([60, 5])
  expect([0, 1].map((failures) => minutes(new SefazError('forbidden'), { failures }))).toEqual([
    [30, 5],
    [60, 5],
  ])
})

test('only a refused certificate makes way for another', () => {
  const refused = [...counted, ...notCounted].filter((error) => wait(error).certificateRefused).map(({ kind }) => kind)
  expect(refused).toEqual(['certificate', 'forbidden'])
})

test('the person reads what happened and that the capture goes on', () => {
  expect(wait(new SefazError('timeout'), { maxNsu: 500n }).message).toBe(
    'A SEFAZ demorou demais para responder. Nada do que já foi recebido se perdeu. A captura tenta de novo sozinha.',
  )
  expect(wait(new SefazError('timeout')).message).toBe(
    'A SEFAZ demorou demais para responder. Nada do que já foi recebido se perdeu. Ela pode ter contado a consulta; para não causar um bloqueio, a captura espera uma hora e continua sozinha.',
  )
})

describe('a process that died between query and answer', () => {
  const after = (elapsedMinutes: number, change: Partial<typeof standing> = {}) =>
    interrupted({ ...standing, ...change }, elapsedMinutes * 60_000, rhythm)
  test('waits as after a lost answer, counted from the query', () => {
    expect(after(3).allowedInMs / 60_000).toBe(60 + margin - 3)
    expect(after(3, { maxNsu: 500n }).allowedInMs / 60_000).toBe(7)
    expect(after(300)).toMatchObject({ allowedInMs: 0, nextInMs: 0, state: 'failed' })
  })
  test('is told as what it is', () => {
    expect(after(0).message).toBe(
      'A captura foi interrompida entre uma consulta e a resposta da SEFAZ. Nada do que já foi recebido se perdeu. Ela pode ter contado a consulta; para não causar um bloqueio, a captura espera uma hora e continua sozinha.',
    )
  })
})

test('a fault of ours before anything left is tried again soon, then less often', () => {
  expect([0, 2].map((failures) => brokenOff(failures, rhythm).allowedInMs / 60_000)).toEqual([1, 15])
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
  vi.mocked(Math.random).mockImplementation(random)
  const nothing = answer(137, nsu(0), nsu(0))
  const askedAt = Array.from({ length: 10_000 }, () => random() * 60_000)
  const fullestMinute = () => {
    const perMinute = new Map<number, number>()
    for (const ms of askedAt) {
      const minute = Math.floor(ms / 60_000)
      perMinute.set(minute, (perMinute.get(minute) ?? 0) + 1)
    }
    return Math.max(...perMinute.values())
  }
  expect(fullestMinute()).toBe(10_000)
  let soonest = Number.POSITIVE_INFINITY
  for (let cycle = 1; cycle <= 24; cycle++) {
    for (let index = 0; index < askedAt.length; index++) {
      const { nextInMs } = decide(nothing, { ...at(0n), first: cycle === 1 }, rhythm)
      soonest = Math.min(soonest, nextInMs!)
      askedAt[index]! += nextInMs!
    }
    // Evenly over an hour there would be 167.
    if (cycle === 1) expect(fullestMinute()).toBeLessThan(210)
  }
  expect(fullestMinute()).toBeLessThan(210)
  expect(soonest).toBeGreaterThan(rhythm.hourMs)
})
