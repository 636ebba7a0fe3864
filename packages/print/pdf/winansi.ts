/** Text in WinAnsiEncoding: one character per byte, the character code is the byte (ISO 32000-1, annex D.2). */
export type Ansi = string & { readonly ansi: unique symbol }

// The characters of the bytes 0x80 to 0x9f, a space where the encoding has none.
const high = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ'

const plain = /^[\x20-\x7e\xa0-\xff]*$/

const byCharacter = new Map<string, string>()
for (let i = 0; i < high.length; i++)
  if (high[i] !== ' ') byCharacter.set(high.charAt(i), String.fromCharCode(0x80 + i))

// Signs without a decomposition that fiscal texts do use. The others are spelled by code point: nothing becomes a silent '?'.
const spelled: Record<string, string> = {
  '≤': '<=',
  '≥': '>=',
  '≠': '<>',
  '≈': '~',
  '→': '->',
  '←': '<-',
  '⇒': '=>',
  '−': '-',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '―': '\x97',
  '∙': '\xb7',
  '⋅': '\xb7',
  '●': '\x95',
  '■': '\x95',
  '▪': '\x95',
  '√': 'raiz',
  '∞': 'infinito',
  '∅': '\xd8',
  '⌀': '\xd8',
  '′': "'",
  '″': '"',
  '⁄': '/',
  '∕': '/',
  '✓': 'x',
  μ: '\xb5',
  Ω: 'Ohm',
  Δ: 'Delta',
  Σ: 'Sigma',
  α: 'alfa',
  β: 'beta',
  γ: 'gama',
  δ: 'delta',
  ε: '\xe9psilon',
  λ: 'lambda',
  π: 'pi',
  σ: 'sigma',
  φ: 'fi',
  Φ: '\xd8',
  ω: 'omega',
  θ: 'teta',
  ı: 'i',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: '\xd0',
}

// Marks that take no room: zero-width characters, byte order mark, variation selectors, combining marks left alone.
const invisible = /^[\p{Cf}\p{Mn}]$/u

/**
 * The text in WinAnsi, the encoding of the standard fonts. A character it lacks is decomposed, then spelled, then written by its
 * code point; control characters become spaces. The place where an embedded font takes over later.
 */
export function winAnsi(text: string): Ansi {
  if (plain.test(text)) return text as Ansi
  let out = ''
  for (const character of text.normalize('NFC')) out += encoded(character)
  return out as Ansi
}

function encoded(character: string): string {
  const code = character.codePointAt(0)!
  if ((code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0xff)) return character
  if (code < 0x20 || code === 0x7f) return ' '
  if (code < 0xa0) return high[code - 0x80] === ' ' ? ' ' : character
  const direct = byCharacter.get(character) ?? spelled[character]
  if (direct !== undefined) return direct
  if (invisible.test(character)) return ''
  if (/^\p{Z}$/u.test(character)) return ' '
  const parts = character.normalize('NFKD').replace(/\p{Mn}/gu, '')
  if (parts !== character && parts !== '') return [...parts].map(encoded).join('')
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
}
