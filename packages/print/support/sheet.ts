import type { DrawnRule, PageGraphics } from './graphics.ts'
import type { Word } from './words.ts'

/** A form as an eye reads it, from the texts of PDF.js and the rules that are drawn; nothing of how it was made. */
export interface Reading {
  /** All text, without white space. */
  text: string
  /** Positions where a text may be cut, and where the rest of one may start. */
  ends: number[]
  starts: number[]
  /** The text of each box that rules enclose, label first, without white space. */
  boxes: Set<string>
  /** The text between two rules across the sheet, such as the row of an item, in reading order. */
  bands: string[]
}

/** Reads the sheets of a form. */
export function readSheets(words: readonly Word[][], graphics: readonly PageGraphics[]): Reading {
  const boxes = new Set<string>()
  const bands: string[] = []
  words.forEach((page, i) => {
    const rules = graphics[i]!.rules
    const upright = rules.filter(isUpright)
    const level = rules.filter((rule) => !isUpright(rule))
    for (const text of joinedBy(page, (word) => boxOf(word, upright, level)).values()) boxes.add(text)
    const width = graphics[i]!.width
    const across = [...new Set(level.filter((rule) => length(rule) > width * 0.8).map((rule) => Math.round(rule.y1)))]
    const edges = across.sort((a, b) => a - b)
    const bandOf = (word: Word) => edges.findIndex((edge) => edge > word.baseline)
    const texts = [...joinedBy(page, bandOf)].sort(([a], [b]) => Number(a) - Number(b))
    bands.push(...texts.map(([, text]) => text))
  })
  let text = ''
  const ends: number[] = []
  for (const page of words) {
    text += squeeze(page.map((word) => word.text).join(''))
    ends.push(text.length - (/(FOLHA)?\d+\/\d+$/.exec(text)?.[0].length ?? 0))
  }
  ends.push(...[...text.matchAll(/CONTINUANAPRÓXIMAFOLHA/g)].map(({ index }) => index))
  const starts = [...text.matchAll(/-CONTINUAÇÃO/g)].map(({ index, 0: found }) => index + found.length)
  return { text, ends, starts, boxes, bands }
}

/** True when a text is on the form, whole or in pieces that continue each other. */
export function holds(reading: Reading, expected: string): boolean {
  const { text, ends } = reading
  const wanted = squeeze(expected)
  if (text.includes(wanted)) return true
  return ends.some((end) => {
    for (let n = Math.min(end, wanted.length - 1); n > 0; n--) {
      if (text.startsWith(wanted.slice(0, n), end - n) && goesOn(reading, wanted.slice(n), end)) return true
    }
    return false
  })
}

function goesOn(reading: Reading, rest: string, after: number): boolean {
  const { text, ends, starts } = reading
  return starts.some((start) => {
    if (start <= after) return false
    if (text.startsWith(rest, start)) return true
    const end = ends.filter((one) => one > start).sort((a, b) => a - b)[0]
    const piece = end === undefined ? '' : text.slice(start, end)
    return piece !== '' && rest.startsWith(piece) && goesOn(reading, rest.slice(piece.length), start)
  })
}

/** Text without white space, as it can be found whatever lines it was broken into. */
export function squeeze(text: string): string {
  return text.normalize('NFC').replace(/\s+/g, '')
}

function joinedBy<Key>(words: readonly Word[], key: (word: Word) => Key): Map<Key, string> {
  const joined = new Map<Key, string>()
  for (const word of words) {
    const own = key(word)
    joined.set(own, (joined.get(own) ?? '') + squeeze(word.text))
  }
  return joined
}

// The nearest rules around the middle of a word.
function boxOf(word: Word, upright: readonly DrawnRule[], level: readonly DrawnRule[]): string {
  const x = word.x + word.width / 2
  const y = word.baseline - word.size * 0.3
  const [left, right] = around(
    upright,
    (rule) => rule.x1,
    x,
    (rule) => between(y, rule.y1, rule.y2),
  )
  const [top, bottom] = around(
    level,
    (rule) => rule.y1,
    y,
    (rule) => between(x, rule.x1, rule.x2),
  )
  return `${left} ${right} ${top} ${bottom}`
}

function around(
  rules: readonly DrawnRule[],
  place: (rule: DrawnRule) => number,
  at: number,
  reaches: (rule: DrawnRule) => boolean,
): [number, number] {
  let before = Number.NEGATIVE_INFINITY
  let after = Number.POSITIVE_INFINITY
  for (const rule of rules) {
    if (!reaches(rule)) continue
    const where = Math.round(place(rule) * 10) / 10
    if (where <= at) before = Math.max(before, where)
    else after = Math.min(after, where)
  }
  return [before, after]
}

function between(at: number, one: number, other: number): boolean {
  return at > Math.min(one, other) && at < Math.max(one, other)
}

function isUpright({ x1, x2 }: DrawnRule): boolean {
  return Math.abs(x1 - x2) < 0.05
}

function length({ x1, x2 }: DrawnRule): number {
  return Math.abs(x1 - x2)
}
