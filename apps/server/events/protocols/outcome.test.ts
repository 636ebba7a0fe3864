import { SefazError } from '@vigia/sefaz/error'
import { describe, expect, test } from 'vitest'
import type { QueuedEvent } from '../queue.ts'
import { decideResponse, decideSilence, isSignedAnew } from './outcome.ts'

const event: QueuedEvent = {
  id: 1n,
  documentId: 1n,
  chave: '',
  tpEvento: 210210,
  sequence: 1,
  isUnknown: false,
  isOverdue: false,
  justification: null,
  corrections: null,
  requestedBy: 1,
  requestedAt: new Date('2026-11-20T10:00:00-03:00'),
  failures: 0,
  signedXml: null,
  cStat: null,
  rivalAt: null,
}
const said = (cStat: number, more = {}) => ({ cStat, xMotivo: 'Rejeicao: O motivo.', xml: '<retEvento/>', ...more })
const decide = (cStat: number, more: Partial<QueuedEvent> = {}, answer = {}, service: 'nfe' | 'cte' = 'nfe') =>
  decideResponse(service, { ...event, ...more }, said(cStat, answer))

describe('an answer', () => {
  test('of registration is kept, with its time and protocol in words', () => {
    const answer = { protocol: '891260000054321', registeredAt: '2026-11-20T10:05:00-03:00' }
    expect(decide(135, {}, answer)).toEqual({
      state: 'registered',
      message: 'Registro feito na SEFAZ em 20/11/2026 às 10:05, protocolo 891260000054321.',
      keeps: true,
    })
    expect(decide(136)).toMatchObject({ state: 'registered', message: expect.stringMatching(/o registro vale/) })
  })

  test('of duplicity is a registration: ours whose answer was lost, or one made elsewhere', () => {
    expect(decide(573, { isUnknown: true })).toEqual({
      state: 'registered',
      message: 'Já estava registrada na SEFAZ: a resposta a um envio anterior tinha se perdido.',
      keeps: true,
    })
    expect(decide(573, {}, { protocol: '891260000054321' }).message).toBe(
      'Já estava registrada na SEFAZ, por outro sistema ou pelo portal (protocolo 891260000054321).',
    )
    const days = { registeredAt: '2026-11-18T10:00:00-03:00' }
    expect(decide(573, { isUnknown: true }, days).message).toBe(
      'Já estava registrada na SEFAZ, por outro sistema ou pelo portal.',
    )
    expect(decide(631, { tpEvento: 610110 }, {}, 'cte')).toMatchObject({ state: 'registered', keeps: true })
    expect(decide(631).state).toBe('rejected')
  })

  test('of duplicity of a final answer that is not ours is no registration: number 2, then doubt', () => {
    const answer = { tpEvento: 210200 }
    const before = { registeredAt: '2026-11-19T09:00:00-03:00' }
    expect(decide(573, answer)).toMatchObject({ state: 'waiting', sequence: 2, waitHours: 0 })
    const second = decide(573, { ...answer, sequence: 2 }, before)
    expect(second).toMatchObject({ state: 'unconfirmed', message: expect.stringMatching(/não diz qual resposta vale/) })
    expect(second.keeps).toBeUndefined()
    // Number 2 was the last, so a first sending of it that was lost is its registration.
    expect(decide(573, { ...answer, sequence: 2, isUnknown: true }).state).toBe('registered')
    const disagreement = { tpEvento: 610110, rivalAt: new Date('2026-11-20T09:00:00-03:00') }
    expect(decide(631, disagreement, before, 'cte').state).toBe('rejected')
  })

  test('that a ciência comes after an answer asks for nothing more, and keeps nothing', () => {
    expect(decide(655)).toMatchObject({ state: 'registered', message: expect.stringMatching(/vale mais/) })
    expect(decide(655).keeps).toBeUndefined()
  })

  test('that a Carta de Correção of others has the number is no registration of ours', () => {
    const letter = { tpEvento: 110110 }
    const [before, after] = [
      { registeredAt: '2026-11-20T09:50:00-03:00' },
      { registeredAt: '2026-11-20T10:01:00-03:00' },
    ]
    expect(decide(631, letter, after, 'cte')).toMatchObject({
      state: 'rejected',
      message: expect.stringMatching(/^Outro sistema/),
    })
    expect(decide(631, { ...letter, isUnknown: true }, before, 'cte').state).toBe('rejected')
    expect(decide(631, { ...letter, isUnknown: true }, after, 'cte').state).toBe('registered')
    expect(decide(631, { ...letter, isUnknown: true }, {}, 'cte').state).toBe('registered')
  })

  test.each([
    [108, 'waiting', 1 / 6],
    [109, 'waiting', 1 / 2],
    [656, 'waiting', 1],
    [678, 'waiting', 1],
    // It does not say what was done before the error.
    [999, 'sending', 1 / 4],
  ])('%i makes the event wait: %s', (cStat, state, waitHours) => {
    const consequence = decide(cStat)
    expect(consequence).toMatchObject({ state, waitHours })
    expect(consequence.blocksAuthor ?? false).toBe([656, 678].includes(cStat))
  })

  test('999 again and again is asked about less and less often', () => {
    const waits = [0, 1, 2, 6, 100].map((failures) => decide(999, { failures }).waitHours)
    expect(waits).toEqual([0.25, 0.5, 1, 16, 16])
  })

  test.each([213, 280, 283, 286, 290, 294, 296])('%i is about the certificate: it waits to be signed anew', (cStat) => {
    expect(decide(cStat)).toMatchObject({ state: 'waiting', waitHours: 1, countsAlone: true })
    expect(decide(cStat, {}, {}, 'cte')).toMatchObject({ state: 'waiting', countsAlone: true })
    expect(isSignedAnew('nfe', { isUnknown: true, cStat })).toBe(true)
  })

  test.each([
    ['nfe', 578, false],
    ['nfe', 577, true],
    ['nfe', 579, true],
    ['cte', 635, false],
    ['cte', 634, true],
    ['cte', 637, true],
  ] as const)('%s %i is about the clock: it waits, later each time, and not for ever', (service, cStat, anew) => {
    const after = (failures: number) => decide(cStat, { failures, cStat }, {}, service)
    expect(decide(cStat, { failures: 9, cStat: 108 }, {}, service)).toMatchObject({
      state: 'waiting',
      waitHours: 0.25,
      countsAlone: true,
      message: expect.stringMatching(/relógio/),
    })
    expect([1, 2, 3, 4].map((failures) => after(failures).waitHours)).toEqual([0.5, 1, 2, 4])
    expect(after(5)).toMatchObject({ state: 'rejected', message: expect.stringMatching(/relógio/) })
    // An event that is too early is in time later, unchanged; one that is too late never is.
    expect(isSignedAnew(service, { isUnknown: false, cStat })).toBe(anew)
    expect(decide(cStat, {}, {}, service === 'nfe' ? 'cte' : 'nfe').state).toBe('rejected')
  })

  test.each([596, 575, 594, 650, 297, 225, 999_9])('%i is a rejection with its words', (cStat) => {
    expect(decide(cStat)).toEqual({ state: 'rejected', message: `A SEFAZ recusou: O motivo (código ${cStat}).` })
  })
})

describe('silence', () => {
  test('is followed by the same event after growing waits', () => {
    const waits = [0, 1, 2, 3, 4, 50].map(
      (failures) => decideSilence({ ...event, failures }, new SefazError('timeout')).waitHours! * 60,
    )
    expect(waits.map(Math.round)).toEqual([1, 5, 15, 30, 60, 120])
  })

  test('for a day sends the event less often than the authority blocks for', () => {
    let [sendings, hours] = [1, 0]
    for (; hours < 24; sendings++) hours += decideSilence({ ...event, failures: sendings - 1 }, null).waitHours!
    expect(sendings).toBeLessThan(20)
  })

  test.each([
    ['unreached', 'ECONNREFUSED', 'waiting', /^O servidor da SEFAZ não atende .* nada foi enviado/],
    ['tls-chain', 'SELF_SIGNED_CERT_IN_CHAIN', 'waiting', /./],
    ['refused', 'ECONNRESET', 'sending', /se perdeu/],
    ['timeout', 'no answer in 60000 ms', 'sending', /se perdeu/],
    ['certificate', 'EPROTO', 'sending', /./],
    ['encryption', 'ERR_SSL_DH_KEY_TOO_SMALL', 'waiting', /./],
    ['http', 'HTTP 500', 'sending', /^O serviço da SEFAZ respondeu com erro/],
  ] as const)('%s %s leaves it %s', (kind, detail, state, message) => {
    const consequence = decideSilence(event, new SefazError(kind, { detail }))
    expect(consequence).toMatchObject({ state, message: expect.stringMatching(message) })
    expect(decideSilence(event, new SefazError(kind, { detail, sent: false })).state).toBe('waiting')
  })
})
