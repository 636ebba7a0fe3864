/** Character edits between two names that S17 still considers similar. */
const editsMax = 2

/** A name as it is compared: capitals without accents, letters and digits, without the words of its legal form at the end; '' of a name too short to tell. */
export function normalName(name: string): string {
  const plain = name
    .slice(0, 120)
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .toUpperCase()
    .replace(/[./]/g, '')
    .replace(/[^0-9A-Z]/g, ' ')
  const words = plain
    .split(' ')
    .flatMap((word) => (word === '' ? [] : /^\d+$/.test(word) ? word : withoutDisguise(word)))
  while (words.length > 1 && legalForms.has(words.at(-1)!)) words.pop()
  const text = words.join(' ')
  return text.length < 6 ? '' : text
}

// Digits that look like letters, among letters.
function withoutDisguise(word: string): string {
  return word.replace(/0/g, 'O').replace(/1/g, 'I').replace(/5/g, 'S')
}

const legalForms = new Set(['LTDA', 'ME', 'EPP', 'EIRELI', 'SA', 'S', 'A', 'MEI', 'CIA', 'LIMITADA', 'SLU'])

/**
 * Whether two normalised names are easily confused: Jaro-Winkler ≥ 0.93 and at most two edits, none
 * in a number ("POSTO 12", "POSTO 13") or first letter ("MARATINGA", "GUARATINGA").
 */
export function areAlike(one: string, other: string): boolean {
  if (Math.abs(one.length - other.length) > editsMax || digitsIn(one) !== digitsIn(other)) return false
  if (!haveSameInitials(one.split(' '), other.split(' '))) return false
  return jaroWinkler(one, other) >= 0.93 && isWithinEdits(one, other)
}

function haveSameInitials(one: string[], other: string[]): boolean {
  return one.length !== other.length
    ? one[0]![0] === other[0]![0]
    : one.every((word, index) => word[0] === other[index]![0])
}

function digitsIn(name: string): string {
  return name
    .split(' ')
    .filter((word) => /^\d+$/.test(word))
    .join(' ')
}

/** Similarity of two texts by Jaro and Winkler, 0 to 1 (prefix weight 0.1, of at most four characters). */
export function jaroWinkler(one: string, other: string): number {
  if (one === other) return 1
  const reach = Math.max(0, (Math.max(one.length, other.length) >> 1) - 1)
  const taken: boolean[] = []
  const matched: number[] = []
  let ofOne = ''
  for (let i = 0; i < one.length; i++) {
    for (let j = Math.max(0, i - reach); j <= Math.min(other.length - 1, i + reach); j++) {
      if (taken[j] || one[i] !== other[j]) continue
      taken[j] = true
      matched.push(j)
      ofOne += one[i]!
      break
    }
  }
  if (matched.length === 0) return 0
  const inOrder = matched.toSorted((a, b) => a - b)
  let moved = 0
  for (const [index, j] of inOrder.entries()) if (other[j] !== ofOne[index]) moved++
  const jaro =
    (matched.length / one.length + matched.length / other.length + (matched.length - moved / 2) / matched.length) / 3
  let prefix = 0
  while (prefix < 4 && prefix < one.length && one[prefix] === other[prefix]) prefix++
  return jaro + prefix * 0.1 * (1 - jaro)
}

function isWithinEdits(one: string, other: string): boolean {
  let before = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 1; i <= one.length; i++) {
    const row = [i]
    for (let j = 1; j <= other.length; j++) {
      const replaced = before[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1)
      row.push(Math.min(replaced, before[j]! + 1, row[j - 1]! + 1))
    }
    before = row
  }
  return before[other.length]! <= editsMax
}
