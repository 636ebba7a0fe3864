import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { families } from './all.ts'
import type { FamilyId } from './id.ts'
import { eventKind, familyById } from './lookup.ts'

const kindsOf = (family: FamilyId) => [...familyById(family).events.values()]
const eventKinds = families.flatMap(({ events }) => [...events.values()])

describe('event kinds', () => {
  test.each([
    ['cancels', [110111, 110112], [110111]],
    ['corrected', [110110], [110110]],
    ['acknowledged', [210210], []],
    ['confirmed', [210200], []],
    ['unknown-operation', [210220], []],
    ['not-performed', [210240], []],
    ['replaced', [], [240140]],
    ['disputed', [], [610110]],
    ['unfit', [400200], []],
    [
      'undoes',
      [110001, 110131, 110193, 110301, 110751, 111502, 111503, 400201, 610131],
      [110181, 110191, 110301, 240131, 240181, 610111],
    ],
  ])('%s', (effect, nfe, cte) => {
    const codes = (family: FamilyId) =>
      kindsOf(family)
        .filter((kind) => kind.effect === effect)
        .map(({ tpEvento }) => tpEvento)
    expect(codes('nfe')).toEqual(nfe)
    expect(codes('cte')).toEqual(cte)
  })

  test('passages and what is propagated from CT-e and MDF-e are the trail, whichever way', () => {
    for (const { tpEvento, effect } of eventKinds) {
      expect(effect === 'trail', String(tpEvento)).toBe(/^(6105|6106|3106|5106)/.test(String(tpEvento)))
    }
  })

  test('what is undone exists for the same document', () => {
    for (const { events } of families)
      for (const { undoes } of events.values()) if (undoes !== undefined) expect(events.has(undoes)).toBe(true)
    for (const kind of eventKinds) {
      if (kind.undoes !== undefined) continue
      if (kind.effect === 'undoes') expect(kind.tpEvento).toBe(110001)
    }
  })

  test('a code of the other document or of next year is undefined', () => {
    expect(eventKind('cte', 210210)).toBe(undefined)
    expect(eventKind('nfe', 610110)).toBe(undefined)
    expect(eventKind('nfe', 999999)).toBe(undefined)
  })
})

describe('registration by cStat', () => {
  test.each([
    ['nfe', '135', 'registered'],
    ['nfe', '136', 'registered'],
    ['nfe', '155', 'registered'],
    ['cte', '134', 'registered'],
    ['nfe', '573', 'duplicate'],
    ['cte', '631', 'duplicate'],
    // Numbers of the other document.
    ['cte', '573', 'none'],
    ['nfe', '631', 'none'],
    ['nfe', '594', 'none'],
    ['cte', undefined, 'none'],
  ] as const)('%s %s is %s', (type, cStat, expected) => {
    expect(familyById(type).registration(cStat)).toBe(expected)
  })
})

// The list of codes that stands beside the repository: each line of its two tables, read here on its own.
const listed = new URL('../../../../shared/reference/sefaz/codigos.md', import.meta.url)

describe.runIf(existsSync(listed))('the published lists of events', () => {
  const text = existsSync(listed) ? readFileSync(listed, 'utf8') : ''
  const section = (number: number) => text.split(/^## /m).find((part) => part.startsWith(`${number}. `)) ?? ''
  const lines = (number: number) =>
    [...section(number).matchAll(/^\| *\**([0-9][^|]*?)\** *\|([^|]*)\|([^|]*)\|([^|]*)\|$/gm)].map(
      ([, codes = '', words = '', , effect = '']) => ({
        codes: expand(codes),
        words: words.trim(),
        effect: effect.trim(),
      }),
    )
  const lists = { nfe: lines(1), cte: lines(2) }

  // "110130 / 110131", "400100, 400101" and "411500-411503".
  function expand(text: string): number[] {
    return text.split(/[/,]/).flatMap((part) => {
      const [first = 0, last = first] = part.split('-').map(Number)
      return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    })
  }

  // The published list mentions NT 2026.006 only for CT-e.
  const later = { nfe: [110300, 110301], cte: [] }

  test('are read whole', () => {
    for (const [number, found] of [lists.nfe, lists.cte].entries()) {
      const rows = section(number + 1).match(/^\|/gm) ?? []
      // The first two are the head.
      expect(found).toHaveLength(rows.length - 2)
    }
    expect(lists.nfe.flatMap(({ codes }) => codes)).toContain(411502)
  })

  test.each(['nfe', 'cte'] as const)('of %s: every code is known, and no other', (type) => {
    const published = [...lists[type].flatMap(({ codes }) => codes), ...later[type]]
    const ours = kindsOf(type).map(({ tpEvento }) => tpEvento)
    expect(ours).toEqual(expect.arrayContaining(published))
    expect([...ours].sort()).toEqual([...published].sort())
  })

  test('what they say of the situation is what the codes do', () => {
    for (const type of ['nfe', 'cte'] as const) {
      for (const { codes, words, effect } of lists[type]) {
        for (const code of codes) {
          const kind = eventKind(type, code)!
          expect(kind.effect === 'cancels', `${code} ${effect}`).toBe(/cancelad[ao]/.test(effect))
          if (effect.includes('manifestação')) {
            expect(kind.effect).toMatch(/^(acknowledged|confirmed|unknown-operation|not-performed)$/)
          }
          if (effect.includes('substituído')) expect(kind.effect).toBe('replaced')
          if (effect.includes('alert')) expect(['unfit', 'undoes']).toContain(kind.effect)
          if (effect.includes('removes')) expect(kind.effect).toBe('undoes')
          if (words.includes('Carta de Correção')) expect(kind.effect).toBe('corrected')
        }
      }
    }
  })

  test('a pair of an event and its cancellation is a pair of ours', () => {
    for (const type of ['nfe', 'cte'] as const) {
      for (const { codes, words } of lists[type]) {
        const [event, undo] = codes
        if (codes.length === 2 && / \/ `?(Cancel|cancel|.*Cancelado|.*cancelado|its cancel)/.test(words)) {
          expect(eventKind(type, undo!)?.undoes, `${undo}`).toBe(event)
        }
      }
    }
  })
})
