import type { Article } from './articles.ts'

export interface Found {
  article: Article
  kind: string
}

const stopWords = new Set(
  'a o as os e ou de da do das dos em na no nas nos um uma para por com que qual quais como quando onde meu minha meus minhas eu ser esta este isso'.split(
    ' ',
  ),
)
// Length of the stem that Portuguese words keep: bloqueio, bloqueada, bloquearam.
const stemLength = 5
const weights = { code: 12, title: 6, keywords: 3, body: 1 }

/** Lower-case text without accents, of equal length: positions in it are those of the text. */
export function plain(text: string): string {
  return [...text.normalize('NFC').toLowerCase()].map((letter) => letter.normalize('NFD')[0] ?? letter).join('')
}

/** Splits a search text into words. */
export function termsOf(text: string): string[] {
  const terms = plain(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
  const telling = terms.filter((term) => !stopWords.has(term))
  // The plural of a word finds it, too.
  return [...new Set(telling.map((term) => (/^\D{4,}s$/.test(term) ? term.slice(0, -1) : term)))]
}

/** Finds articles with all words, best match first; if none has all, those with some. */
export function searchArticles(groups: readonly (readonly [kind: string, Article[]])[], text: string): Found[] {
  const terms = termsOf(text)
  if (terms.length === 0) return []
  const rated = groups
    .flatMap(([kind, articles]) => articles.map((article) => ({ kind, article, ...rate(article, terms) })))
    .filter(({ met }) => met > 0)
    .sort((one, other) => other.score - one.score)
  const whole = rated.filter(({ met }) => met === terms.length)
  return whole.length > 0 ? whole : rated
}

function rate(article: Article, terms: readonly string[]): { met: number; score: number } {
  const fields = [
    [article.code ?? '', weights.code],
    [article.title, weights.title],
    [article.keywords ?? '', weights.keywords],
    [article.body.join(' '), weights.body],
  ] as const
  const scores = terms.map((term) =>
    fields.reduce((sum, [field, weight]) => sum + weight * closeness(plain(field), term), 0),
  )
  return { met: scores.filter((score) => score > 0).length, score: scores.reduce((sum, score) => sum + score, 0) }
}

function closeness(field: string, term: string): number {
  if (beginsIn(field, term)) return 1
  return /\d/.test(term) || term.length <= stemLength ? 0 : beginsIn(field, term.slice(0, stemLength)) ? 0.5 : 0
}

function beginsIn(field: string, term: string): boolean {
  return new RegExp(`(?<![\\p{L}\\p{N}])${term}`, 'u').test(field)
}

/** Splits the text into pieces and marks those that match a term. */
export function markTerms(text: string, terms: readonly string[]): { text: string; found: boolean }[] {
  const composed = text.normalize('NFC')
  if (terms.length === 0) return [{ text: composed, found: false }]
  const stems = terms.map((term) => (/\d/.test(term) ? term : term.slice(0, Math.max(stemLength, term.length - 2))))
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join('|')})[\\p{L}\\p{N}]*`, 'gu')
  const pieces: { text: string; found: boolean }[] = []
  let end = 0
  for (const match of plain(composed).matchAll(pattern)) {
    if (match.index > end) pieces.push({ text: composed.slice(end, match.index), found: false })
    end = match.index + match[0].length
    pieces.push({ text: composed.slice(match.index, end), found: true })
  }
  if (end < composed.length) pieces.push({ text: composed.slice(end), found: false })
  return pieces
}
