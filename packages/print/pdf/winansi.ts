import { regular } from './glyphs.ts'

/**
 * Text in WinAnsiEncoding: one character per byte, the character code is the byte (ISO 32000-1, annex D.2). A code above 255 is
 * the code point of a character outside WinAnsi that our faces have.
 */
export type Ansi = string & { readonly ansi: unique symbol }

// The characters of the bytes 0x80 to 0x9f, a space where the encoding has none.
const high = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'

const byCharacter = new Map<string, string>()
for (let i = 0; i < high.length; i++)
  if (high[i] !== ' ') byCharacter.set(high.charAt(i), String.fromCharCode(0x80 + i))

/** Code point of a WinAnsi byte; 0xa0 and 0xad map to the characters whose glyphs they share. */
export function unicodeOf(byte: number): number {
  if (byte === 0xa0) return 0x20
  if (byte === 0xad) return 0x2d
  return byte >= 0x80 && byte <= 0x9f ? high.charCodeAt(byte - 0x80) : byte
}

// Characters without decomposition that our faces lack; others are written by code point.
const spelled: Record<string, string> = {
  '⇒': '=>',
  '⋅': '\xb7',
  '∅': '\xd8',
  '⌀': '\xd8',
  '✓': '√',
  '✔': '√',
}

// Marks that take no room: zero-width characters, byte order mark, variation selectors, combining marks left alone.
const invisible = /^[\p{Cf}\p{Mn}]$/u

// Marks drawn through a character: without them ≮ reads <.
const strikes = /[\u0334-\u0338\u20d2-\u20f0]/

/**
 * The text in WinAnsi and what else our faces have. A character they lack is spelled, then decomposed, then written by its code
 * point; control characters become spaces, and a soft hyphen, whose byte would be drawn as a hyphen, is left out.
 */
export function winAnsi(text: string): Ansi {
  if (isPlain(text)) return text as Ansi
  let out = ''
  for (const character of text.normalize('NFC')) out += encoded(character)
  return out as Ansi
}

// Most texts, and a loop is the quickest for their few characters.
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0xff || (code > 0x7e && code < 0xa0) || code === 0xad) return false
  }
  return true
}

function encoded(character: string): string {
  const code = character.codePointAt(0)!
  if (code === 0xad) return ''
  if ((code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff)) return character
  if (code < 0x20 || code === 0x7f) return ' '
  if (code < 0xa0) return high[code - 0x80] === ' ' ? ' ' : character
  const direct = byCharacter.get(character) ?? (regular.has(code) ? character : spelled[character])
  if (direct !== undefined) return direct
  const decomposed = character.normalize('NFKD')
  const isStruck = strikes.test(decomposed)
  if (invisible.test(character) && !isStruck) return ''
  if (/^\p{Z}$/u.test(character)) return ' '
  const parts = isStruck ? '' : decomposed.replace(/\p{Mn}/gu, '')
  if (parts !== character && parts !== '') return [...parts].map(encoded).join('')
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
}
