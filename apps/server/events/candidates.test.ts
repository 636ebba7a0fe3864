import { answerOf, familyById } from '@vigia/dfe/families/lookup'
import { describe, expect, test } from 'vitest'
import { type EventSubject, permit } from './candidates.ts'

const authorizedAt = new Date('2026-11-10T09:15:00-03:00')
const now = new Date('2026-11-12T09:15:00-03:00')
const nfe: EventSubject = {
  type: 'nfe',
  model: '55',
  roles: 1 << 1,
  status: 2,
  complete: true,
  authorizedAt,
  deadlineLifted: false,
  own: [],
}
const cte: EventSubject = { ...nfe, type: 'cte', model: '57', roles: 1 << 7 }
const own = (...codes: number[]) =>
  codes.map((tpEvento) => ({ tpEvento, sequence: 1, pending: false, protocol: '1'.repeat(15) }))
const refusal = (tpEvento: number, subject: EventSubject, at = now) => {
  const permission = permit(tpEvento, subject, at)
  return 'refusal' in permission ? permission.refusal : null
}

describe('the deadline', () => {
  test('is counted from the authorisation', () => {
    expect(answerOf('nfe', 210210)?.until(nfe)?.toISOString()).toBe('2026-11-20T12:15:00.000Z')
    expect(answerOf('cte', 110110)?.until(cte)).toBeNull()
  })
  test('of a conclusive answer is 180 days for what was authorised before June 2026, 90 after', () => {
    const daysOf = (at: string) =>
      (answerOf('nfe', 210200)!
        .until({ ...nfe, authorizedAt: new Date(at) })!
        .getTime() -
        Date.parse(at)) /
      86_400_000
    expect([daysOf('2026-05-31T23:59:59-03:00'), daysOf('2026-06-01T00:00:00-03:00')]).toEqual([180, 90])
  })
  test('is told when it has passed, to the minute', () => {
    expect(refusal(210210, nfe, new Date('2026-11-20T09:15:00-03:00'))).toBeNull()
    expect(refusal(210210, nfe, new Date('2026-11-20T09:15:01-03:00'))).toBe(
      'O prazo deste evento terminou em 20/11/2026 às 09:15.',
    )
  })
  test('without a known authorisation is left to the authority', () => {
    expect(refusal(210210, { ...nfe, authorizedAt: null }, new Date('2030-01-01'))).toBeNull()
  })
})

describe('NF-e', () => {
  test.each([210210, 210200, 210220, 210240])('%i is open to the destinatário', (tpEvento) => {
    expect(permit(tpEvento, nfe, now)).toEqual({ sequence: 1 })
  })
  test.each([[1 << 0], [1 << 2], [1 << 3], [1 << 8]])('roles %i may not answer', (roles) => {
    expect(refusal(210200, { ...nfe, roles })).toMatch(/destinatário/)
  })
  test('ciência comes once, and not after an answer', () => {
    expect(refusal(210210, { ...nfe, own: own(210210) })).toBe('A Ciência desta nota já está registrada.')
    for (const answer of [210200, 210220, 210240])
      expect(refusal(210210, { ...nfe, own: own(answer) })).toMatch(/vale mais/)
  })
  test('an answer may be changed, and each may be given twice', () => {
    expect(permit(210220, { ...nfe, own: own(210210, 210200) }, now)).toEqual({ sequence: 1 })
    expect(permit(210200, { ...nfe, own: own(210200, 210220) }, now)).toEqual({ sequence: 2 })
    expect(refusal(210200, { ...nfe, own: own(210200, 210220, 210200, 210220) })).toMatch(/máximo/)
  })
  test('an answer that stands is not given again', () => {
    expect(refusal(210200, { ...nfe, own: own(210210, 210200) })).toBe('A Confirmação desta nota já está registrada.')
    expect(refusal(210220, { ...nfe, own: own(210200, 210220) })).toMatch(/^O Desconhecimento .* já está registrado/)
    const [waiting] = own(210240)
    expect(refusal(210240, { ...nfe, own: [{ ...waiting!, pending: true }] })).toMatch(/já está em envio/)
  })
  test('cancelled and denied notes are not answered', () => {
    expect(refusal(210200, { ...nfe, status: 3 })).toMatch(/cancelada/)
    expect(refusal(210210, { ...nfe, status: 9 })).toMatch(/denegado/)
  })
})

describe('CT-e', () => {
  const issued = { ...cte, roles: 1 << 0 }
  test('who issued it cancels and corrects, who pays disagrees, nobody else does anything', () => {
    expect(permit(110111, issued, now)).toEqual({ sequence: 1 })
    expect(permit(110110, issued, now)).toEqual({ sequence: 1 })
    expect(permit(610110, cte, now)).toEqual({ sequence: 1 })
    expect(refusal(110111, cte)).toMatch(/transportadora/)
    expect(refusal(610110, issued)).toMatch(/tomador/)
    expect(refusal(210200, cte)).toMatch(/não existe/)
  })
  test('a correction bars the cancellation', () => {
    expect(refusal(110111, { ...issued, own: own(110110) })).toMatch(/Carta de Correção/)
    expect(permit(110110, { ...issued, own: own(110110) }, now)).toEqual({ sequence: 2 })
  })
  test('a disagreement is withdrawn only while there is one', () => {
    expect(refusal(610111, cte)).toMatch(/Não há desacordo/)
    expect(permit(610111, { ...cte, own: own(610110) }, now)).toEqual({ sequence: 1 })
    expect(refusal(610111, { ...cte, own: own(610110, 610111) })).toMatch(/Não há desacordo/)
    expect(refusal(610110, { ...cte, own: own(610110) })).toBe('O desacordo deste CT-e já está registrado.')
    expect(permit(610110, { ...cte, own: own(610110, 610111) }, now)).toEqual({ sequence: 2 })
  })
  test('a disagreement without a known protocol is told as such', () => {
    const [known] = own(610110)
    expect(refusal(610111, { ...cte, own: [{ ...known!, protocol: null }] })).toMatch(/não temos o protocolo/)
    expect(refusal(610111, { ...cte, own: [{ ...known!, protocol: null, pending: true }] })).toBeNull()
  })
  test('the number after the greatest known one is taken, whatever is missing before it', () => {
    const second = { tpEvento: 110110, sequence: 2, pending: false, protocol: null }
    expect(permit(110110, { ...issued, own: [second] }, now)).toEqual({ sequence: 3 })
  })
  test('a GTV-e can only be cancelled, and of its deadline and of a lifted one the authority has the word', () => {
    const late = new Date('2026-11-30T09:15:00-03:00')
    expect(refusal(110110, { ...issued, model: '64' })).toMatch(/GTV-e/)
    expect(refusal(610110, { ...cte, model: '64' })).toMatch(/GTV-e/)
    expect(permit(110111, { ...issued, model: '64' }, late)).toEqual({ sequence: 1 })
    expect(permit(110111, { ...issued, deadlineLifted: true }, late)).toEqual({ sequence: 1 })
  })
  test('168 hours to cancel, 45 days to disagree', () => {
    expect(refusal(110111, issued, new Date('2026-11-17T09:15:01-03:00'))).toMatch(/prazo/)
    expect(refusal(610110, cte, new Date('2026-12-25T09:15:00-03:00'))).toBeNull()
    expect(refusal(610110, cte, new Date('2026-12-25T09:15:01-03:00'))).toMatch(/prazo/)
  })
})

describe('what is due', () => {
  const summary = { ...nfe, status: 1, complete: false }
  const ago = (days: number) => ({ authorizedAt: new Date(now.getTime() - days * 86_400_000) })
  const onItsWay = (code: number) => own(code).map((one) => ({ ...one, pending: true }))
  test.each<[string, EventSubject, number | null]>([
    ['a summary: the Ciência releases the XML', summary, 210210],
    ['a summary after ten days', { ...summary, ...ago(10.01) }, 210200],
    ['a summary with a Ciência on its way', { ...summary, own: onItsWay(210210) }, 210210],
    ['an acknowledged summary', { ...summary, own: own(210210) }, 210200],
    ['a summary with a final answer on its way', { ...summary, own: onItsWay(210220) }, 210200],
    ['a whole note', nfe, 210200],
    ['a whole note after ninety days', { ...nfe, ...ago(90.01) }, null],
    ['an answered note', { ...nfe, own: own(210220) }, null],
    ['a note of another recipient', { ...nfe, roles: 1 << 2 }, null],
    ['a cancelled note', { ...nfe, status: 3 }, null],
    ['a denied note', { ...nfe, status: 9 }, null],
    ['a CT-e that the company pays', cte, 610110],
    ['a CT-e after 45 days', { ...cte, ...ago(45.01) }, null],
    ['a CT-e that another pays', { ...cte, roles: 1 << 0 }, null],
    ['a CT-e with a desacordo on its way', { ...cte, own: onItsWay(610110) }, 610110],
    ['a CT-e with a desacordo', { ...cte, own: own(610110) }, null],
    ['a CT-e whose desacordo was withdrawn', { ...cte, own: own(610110, 610111) }, 610110],
    ['a cancelled CT-e', { ...cte, status: 3 }, null],
    ['a GTV-e', { ...cte, model: '64' }, null],
  ])('%s', (_, subject, tpEvento) => {
    const due = familyById(subject.type).open(subject, now)
    expect(due?.tpEvento ?? null).toBe(tpEvento)
    if (!due) return
    expect(due.until).toEqual(answerOf(subject.type, due.tpEvento)!.until(subject))
    const permission = permit(due.tpEvento, subject, now)
    if ('refusal' in permission) expect(permission.refusal).toMatch(/em envio/)
  })
})
