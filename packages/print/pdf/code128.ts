// ISO/IEC 15417: widths of bars and spaces by symbol value, the stop pattern (106) with its last bar.
const patterns =
  '212222 222122 222221 121223 121322 131222 122213 122312 132212 221213 221312 231212 112232 122132 122231 113222 123122 ' +
  '123221 223211 221132 221231 213212 223112 312131 311222 321122 321221 312212 322112 322211 212123 212321 232121 111323 ' +
  '131123 131321 112313 132113 132311 211313 231113 231311 112133 112331 132131 113123 113321 133121 313121 211331 231131 ' +
  '213113 213311 213131 311123 311321 331121 312113 312311 332111 314111 221411 431111 111224 111422 121124 121421 141122 ' +
  '141221 112214 112412 122114 122411 142112 142211 241211 221114 413111 241112 134111 111242 121142 121241 114212 124112 ' +
  '124211 411212 421112 421211 212141 214121 412121 111143 111341 131141 114113 114311 411113 411311 113141 114131 311141 ' +
  '411131 211412 211214 211232 2331112'

const widths = patterns.split(' ')

const startA = 103
const startC = 105
const stop = 106
const toA = 101
const toC = 99

/**
 * The symbol values of a CODE-128 from the start to the check symbol and the stop: set C for pairs of digits, set A for letters
 * (MOC NF-e 7.0, Anexo II; NT Conjunta DF-e 2025.001, 6).
 */
export function code128Symbols(text: string): number[] {
  const startsInC = digitsAt(text, 0) >= 2
  const symbols = [startsInC ? startC : startA]
  let inC = startsInC
  for (let at = 0; at < text.length; ) {
    const digits = digitsAt(text, at)
    if (inC && digits < 2) {
      symbols.push(toA)
      inC = false
    } else if (!inC && worthSetC(text, at, digits)) {
      symbols.push(toC)
      inC = true
    }
    symbols.push(inC ? Number(text.slice(at, at + 2)) : symbolOfSetA(text, at))
    at += inC ? 2 : 1
  }
  let sum = symbols[0]!
  for (let i = 1; i < symbols.length; i++) sum += i * symbols[i]!
  symbols.push(sum % 103, stop)
  return symbols
}

/** Widths of bars and spaces in modules, beginning with a bar, without the quiet zones. */
export function code128Modules(symbols: readonly number[]): number[] {
  const modules: number[] = []
  for (const symbol of symbols) for (const width of widths[symbol]!) modules.push(Number(width))
  return modules
}

// A run of an odd number of digits keeps its first one in set A; two digits pay for the change only at the end of the text.
function worthSetC(text: string, at: number, digits: number): boolean {
  if (digits % 2 === 1) return false
  return digits >= 4 || (digits === 2 && at + 2 === text.length)
}

function digitsAt(text: string, from: number): number {
  let at = from
  while (at < text.length && text.charCodeAt(at) >= 48 && text.charCodeAt(at) <= 57) at++
  return at - from
}

function symbolOfSetA(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code < 32 || code > 95) throw new RangeError(`CODE-128 set A has no character ${code}`)
  return code - 32
}
