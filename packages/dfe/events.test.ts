import { describe, expect, test } from 'vitest'
import { eventKind, eventKinds } from './events.ts'

describe('eventKinds', () => {
  test('has one row for each code and document', () => {
    const keys = eventKinds.map(({ of, tpEvento }) => `${of} ${tpEvento}`)
    expect(new Set(keys).size).toBe(keys.length)
    for (const kind of eventKinds) {
      expect(kind.tpEvento).toBeGreaterThan(99_999)
      expect(kind.description.length).toBeGreaterThan(3)
      for (const type of kind.of) expect(eventKind(type, kind.tpEvento)).toBe(kind)
    }
  })

  test.each([
    ['cancels', [110111, 110112], [110111]],
    ['corrected', [110110], [110110]],
    ['acknowledged', [210210], []],
    ['confirmed', [210200], []],
    ['unknown-operation', [210220], []],
    ['not-performed', [210240], []],
    [
      'undoes',
      [110001, 110131, 110193, 110751, 111502, 111503, 400201, 610131],
      [110181, 110191, 110301, 240131, 240181, 610111],
    ],
  ])('%s', (effect, nfe, cte) => {
    const codes = (type: 'nfe' | 'cte') =>
      eventKinds.filter((kind) => kind.of.includes(type) && kind.effect === effect).map(({ tpEvento }) => tpEvento)
    expect(codes('nfe')).toEqual(nfe)
    expect(codes('cte')).toEqual(cte)
  })

  test('passages and what is propagated from CT-e and MDF-e are the trail, whichever way', () => {
    for (const { tpEvento, effect } of eventKinds) {
      expect(effect === 'trail', String(tpEvento)).toBe(/^(6105|6106|3106|5106)/.test(String(tpEvento)))
    }
  })

  test('what is undone exists for the same document', () => {
    for (const kind of eventKinds) {
      if (kind.undoes !== undefined) expect(eventKind(kind.of[0]!, kind.undoes)).toBeDefined()
      else if (kind.effect === 'undoes') expect(kind.tpEvento).toBe(110001)
    }
  })

  test('a code of the other document or of next year is undefined', () => {
    expect(eventKind('cte', 210210)).toBe(undefined)
    expect(eventKind('nfe', 610110)).toBe(undefined)
    expect(eventKind('nfe', 999999)).toBe(undefined)
  })
})
