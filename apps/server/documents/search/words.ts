import { cleanChave } from '@vigia/dfe/chave'
import { parseCnpj, parseCpf } from '@vigia/dfe/cnpj'
import { findKey } from '@vigia/dfe/families/lookup'
import { bareTerm, searchable } from '../../platform/text.ts'
import type { Range } from '../list/filter.ts'
import type { AnyOf } from './document-words.ts'
import { termKinds, termQuestion } from './terms.ts'

/** Amounts as decimal text; `above` and `below` exclude their end. */
export interface Amounts {
  from?: string | undefined
  above?: string | undefined
  to?: string | undefined
  below?: string | undefined
}

export interface Word {
  /** In the name of the issuer or of the company. */
  name: string | null
  /** In their CNPJ or CPF. */
  taxId: string | null
  number: number | null
  /** Ten or more characters of a chave. */
  chave: string | null
  /** In the items, or in what else the document names. */
  inside: AnyOf | null
}

export interface Words {
  /** A whole chave, which says everything. */
  chave: string | null
  amounts: Amounts[]
  ranges: Range[]
  /** Days of any year. */
  days: { month: number; day: number }[]
  others: Word[]
}

/** Reads the words that a person typed, in any order. */
export function readWords(typed: string): Words {
  const text = typed.replace(kindAndNumber, '$1').replace(beforeCode, '$1:')
  const words: Words = { chave: null, amounts: [], ranges: [], days: [], others: [] }
  const chave = findKey(text)
  if (chave) return { ...words, chave }
  const whole = cleanChave(text)
  for (const word of isOneCode(text, whole) ? [whole] : split(text)) {
    const amounts = readAmounts(word)
    const date = amounts ? null : readDate(word)
    if (amounts) words.amounts.push(amounts)
    else if (!date) words.others.push(readWord(word))
    else if ('range' in date) words.ranges.push(date.range)
    else words.days.push(date)
  }
  // Alone, two characters are in the names of half of all products; beside others a single letter says nothing.
  if (words.others.length === 1)
    words.others = words.others.map((word) => ({ ...word, inside: isShort(word, 2) ? null : word.inside }))
  else words.others = words.others.filter((word) => word.number !== null || !isShort(word, 1))
  return words
}

// "NF-e 1.009.727 da ALFA", "nota fiscal nº 12": the number of a document is stored without its kind.
const kindAndNumber =
  /(?<!\S)(?:(?:nf-?e?|ct-?e|notas?(?:\s+fisca(?:l|is)(?:\s+eletr[oô]nicas?)?)?|conhecimentos?)[\s:.]+(?:n[º°o]?\.?\s*)?|n[º°]\s*)(\d[\d.]*)(?:\s+d[aeo](?=\s))?/gi
// "cfop 6102"; other kinds of terms are words of products too.
const beforeCode = /(?<!\S)(cfop|ncm)[\s:]+(?=\d)/gi

// People write a chave in groups of four, and a CNPJ with spaces instead of its signs.
function isOneCode(text: string, bare: string): boolean {
  if (!/^[0-9A-Za-z.\-/\s]+$/.test(text)) return false
  const inFours = /^\w{4}(\s+\w{4})+(\s+\w{1,4})?$/.test(text.trim())
  return (inFours && bare.length >= 15 && isPartOfChave(bare)) || isTaxId(bare)
}

const isTaxId = (bare: string) => parseCnpj(bare) !== null || parseCpf(bare) !== null

// Fewer digits are in many chaves by chance, and nine are a number.
function isPartOfChave(bare: string): boolean {
  return bare.length < 44 && (/^\d{10,}$/.test(bare) || (bare.length >= 25 && /^\d{6}[0-9A-Z]{0,12}\d*$/.test(bare)))
}

// An amount may stand apart from its sign.
function split(text: string): string[] {
  return text
    .replace(/R\$\s*(?=\d)/gi, 'R$')
    .replace(/([<>]=?|\.\.)\s+(?=(?:R\$)?\d)/g, '$1')
    .replace(/(\d)\s+(?=\.\.)/g, '$1')
    .split(/\s+/)
    .filter((word) => searchable(word) !== '')
}

// Without its cents a number alone is the number of a document.
function readAmounts(word: string): Amounts | null {
  const [, sign = '', first = '', last] =
    /^([<>]=?|R\$)?(?:R\$)?(\d[\d.,]*?)(?:\.\.(?:R\$)?(\d[\d.,]*))?$/.exec(word) ?? []
  const from = decimal(first)
  if (from === null) return null
  if (last !== undefined) {
    const to = decimal(last)
    return to === null || /[<>]/.test(sign) ? null : { from, to }
  }
  if (sign.startsWith('>')) return sign === '>' ? { above: from } : { from }
  if (sign.startsWith('<')) return sign === '<' ? { below: from } : { to: from }
  return sign !== '' || from.includes('.') ? { from, to: from } : null
}

/** An amount as people write it, as decimal text: 16.471,02, 16471,02 and 16471.02 are the same; null: it is none. */
function decimal(text: string): string | null {
  if (/^\d+\.\d{1,2}$/.test(text)) return text
  return /^(\d{1,3}(\.\d{3})+|\d+)(,\d{1,2})?$/.test(text) ? text.replaceAll('.', '').replace(',', '.') : null
}

// 15/10/2026 and 10/2026 are ranges, 15/10 is that day of any year.
function readDate(word: string): { range: Range } | { month: number; day: number } | null {
  const ofMonth = /^(\d{1,2})\/(\d{4})$/.exec(word)
  if (ofMonth) {
    const [month, year] = [Number(ofMonth[1]), Number(ofMonth[2])]
    return isDay(year, month, 1)
      ? { range: { from: midnight(year, month, 1), until: midnight(year, month + 1, 1) } }
      : null
  }
  const ofDay = /^(\d{1,2})\/(\d{1,2})(?:\/(\d{4}|\d{2}))?$/.exec(word)
  if (!ofDay) return null
  const [day, month, written] = [Number(ofDay[1]), Number(ofDay[2]), ofDay[3]]
  // There is a 29 February in some years.
  if (written === undefined) return isDay(2000, month, day) ? { month, day } : null
  const year = written.length === 2 ? 2000 + Number(written) : Number(written)
  return isDay(year, month, day)
    ? { range: { from: midnight(year, month, day), until: midnight(year, month, day + 1) } }
    : null
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day))
  return year >= 1900 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day && month >= 1
}

const midnight = (year: number, month: number, day: number) =>
  new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 19)

const isShort = ({ name }: Word, length: number) => name !== null && bareTerm(name).length <= length

const ofKind = new RegExp(`^(?:${termKinds.join('|')}):`, 'i')

function readWord(word: string): Word {
  if (ofKind.test(word)) return { name: null, taxId: null, number: null, chave: null, inside: termQuestion(word) }
  const bare = cleanChave(word)
  // Drop only characters that people write in numbers: "12.ABC.345/01DE-35" is a CNPJ, "100%" a name.
  const isCode = /^[0-9A-Za-z./-]+$/.test(word) && /\d/.test(bare)
  const isChave = isCode && !isTaxId(bare) && isPartOfChave(bare)
  const isPartOfTaxId = isCode && bare.length <= 14 && (bare.length >= 8 || (/[/-]/.test(word) && bare.length >= 6))
  return {
    // A name may have digits in it, but not fifteen and nothing else.
    name: isChave && bare.length >= 15 ? null : searchable(word),
    taxId: isPartOfTaxId ? bare : null,
    number: isCode && /^[\d.]+$/.test(word) && bare.length <= 13 ? Number(bare) : null,
    chave: isChave ? bare : null,
    // A GTIN has up to fourteen digits.
    inside: (isChave && bare.length > 14) || isTaxId(bare) ? null : termQuestion(word),
  }
}
