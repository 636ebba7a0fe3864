// QR Code, ISO/IEC 18004: byte mode, error correction level M, the smallest of the forty versions that holds the text.

// Level M, by version from 1: correction codewords of a block, and number of blocks.
const correctionLengths = [
  10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28,
  28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
]
const blockCounts = [
  1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35,
  37, 38, 40, 43, 45, 47, 49,
]

/** The dark modules of a text by rows, without the quiet zone; null when it is longer than the largest code holds. */
export function qrCode(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text)
  const version = smallestVersion(bytes.length)
  if (version === 0) return null
  const size = version * 4 + 17
  const modules = new Uint8Array(size * size)
  const reserved = new Uint8Array(size * size)
  drawFunctionPatterns(modules, reserved, size, version)
  drawCodewords(modules, reserved, size, withCorrection(dataCodewords(bytes, version), version))
  const masked = bestMask(modules, reserved, size)
  return Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => masked[y * size + x] === 1))
}

function codewordCount(version: number): number {
  let modules = (16 * version + 128) * version + 64
  if (version >= 2) {
    const alignments = Math.floor(version / 7) + 2
    modules -= (25 * alignments - 10) * alignments - 55
    if (version >= 7) modules -= 36
  }
  return modules >> 3
}

function dataCount(version: number): number {
  return codewordCount(version) - correctionLengths[version - 1]! * blockCounts[version - 1]!
}

function lengthBits(version: number): number {
  return version < 10 ? 8 : 16
}

function smallestVersion(length: number): number {
  for (let version = 1; version <= 40; version++) {
    if (4 + lengthBits(version) + 8 * length <= 8 * dataCount(version)) return version
  }
  return 0
}

function dataCodewords(bytes: Uint8Array, version: number): Uint8Array {
  const words = new Uint8Array(dataCount(version))
  let bit = 0
  const put = (value: number, count: number) => {
    for (let i = count - 1; i >= 0; i--, bit++) words[bit >> 3]! |= ((value >> i) & 1) << (7 - (bit & 7))
  }
  put(0b0100, 4)
  put(bytes.length, lengthBits(version))
  for (const byte of bytes) put(byte, 8)
  const used = Math.min(words.length, Math.ceil((bit + 4) / 8))
  for (let i = used; i < words.length; i++) words[i] = (i - used) % 2 === 0 ? 0xec : 0x11
  return words
}

// Arithmetic in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1.
const exponents = new Uint8Array(510)
const logarithms = new Uint8Array(256)
for (let i = 0, value = 1; i < 255; i++) {
  exponents[i] = exponents[i + 255] = value
  logarithms[value] = i
  value = value < 128 ? value << 1 : (value << 1) ^ 0x11d
}

function generator(degree: number): Uint8Array {
  const result = new Uint8Array(degree)
  result[degree - 1] = 1
  for (let root = 0; root < degree; root++) {
    for (let i = 0; i < degree; i++) {
      const product = result[i] === 0 ? 0 : exponents[logarithms[result[i]!]! + root]!
      result[i] = product ^ (i + 1 < degree ? result[i + 1]! : 0)
    }
  }
  return result
}

function remainder(data: Uint8Array, divisor: Uint8Array): Uint8Array {
  const degree = divisor.length
  const result = new Uint8Array(degree)
  for (const byte of data) {
    const factor = byte ^ result[0]!
    result.copyWithin(0, 1)
    result[degree - 1] = 0
    if (factor === 0) continue
    const log = logarithms[factor]!
    for (let i = 0; i < degree; i++) {
      if (divisor[i] !== 0) result[i]! ^= exponents[logarithms[divisor[i]!]! + log]!
    }
  }
  return result
}

// Blocks with their correction, interleaved; the first blocks are one codeword shorter when they do not divide evenly.
function withCorrection(data: Uint8Array, version: number): Uint8Array {
  const blocks = blockCounts[version - 1]!
  const correction = correctionLengths[version - 1]!
  const shortBlocks = blocks - (data.length % blocks)
  const shortLength = Math.floor(data.length / blocks)
  const divisor = generator(correction)
  const out = new Uint8Array(codewordCount(version))
  let from = 0
  for (let block = 0; block < blocks; block++) {
    const length = shortLength + (block < shortBlocks ? 0 : 1)
    const part = data.subarray(from, from + length)
    from += length
    for (let i = 0; i < length; i++) {
      out[i < shortLength ? i * blocks + block : shortLength * blocks + block - shortBlocks] = part[i]!
    }
    remainder(part, divisor).forEach((byte, i) => {
      out[data.length + i * blocks + block] = byte
    })
  }
  return out
}

function drawFunctionPatterns(modules: Uint8Array, reserved: Uint8Array, size: number, version: number): void {
  const set = (x: number, y: number, dark: boolean) => {
    modules[y * size + x] = dark ? 1 : 0
    reserved[y * size + x] = 1
  }
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0)
    set(i, 6, i % 2 === 0)
  }
  const centres = alignmentCentres(version, size)
  for (const x of centres) {
    for (const y of centres) {
      const atFinder = (x === 6 && (y === 6 || y === size - 7)) || (x === size - 7 && y === 6)
      if (!atFinder) square(x, y, 2, (distance) => distance !== 1)
    }
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const) {
    square(x, y, 4, (distance) => distance !== 2 && distance !== 4)
  }
  // The places of the format information are kept free until the mask is known; the module above the lower one is always dark.
  for (let i = 0; i < 9; i++) {
    if (i !== 6) {
      set(8, i, false)
      set(i, 8, false)
    }
  }
  for (let i = 0; i < 8; i++) {
    set(size - 1 - i, 8, false)
    set(8, size - 1 - i, i === 7)
  }
  if (version >= 7) drawVersion()

  function square(cx: number, cy: number, radius: number, dark: (distance: number) => boolean): void {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) {
        const [x, y] = [cx + dx, cy + dy]
        if (x >= 0 && x < size && y >= 0 && y < size) set(x, y, dark(Math.max(Math.abs(dx), Math.abs(dy))))
      }
    }
  }

  function drawVersion(): void {
    let rest = version
    for (let i = 0; i < 12; i++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25)
    const bits = (version << 12) | rest
    for (let i = 0; i < 18; i++) {
      const dark = ((bits >> i) & 1) === 1
      const [a, b] = [size - 11 + (i % 3), Math.floor(i / 3)]
      set(a, b, dark)
      set(b, a, dark)
    }
  }
}

function alignmentCentres(version: number, size: number): number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.floor((version * 8 + count * 3 + 5) / (count * 4 - 4)) * 2
  const centres = [6]
  for (let i = count - 2; i >= 0; i--) centres.push(size - 7 - i * step)
  return centres
}

// Two columns at a time from the right, upwards and downwards in turn, past the vertical timing pattern.
function drawCodewords(modules: Uint8Array, reserved: Uint8Array, size: number, words: Uint8Array): void {
  let bit = 0
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5
    const upwards = ((right + 1) & 2) === 0
    for (let i = 0; i < size; i++) {
      const y = upwards ? size - 1 - i : i
      for (let at = y * size + right; at >= y * size + right - 1; at--) {
        if (reserved[at] === 1 || bit >= words.length * 8) continue
        modules[at] = (words[bit >> 3]! >> (7 - (bit & 7))) & 1
        bit++
      }
    }
  }
}

const masks: ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
]

function bestMask(modules: Uint8Array, reserved: Uint8Array, size: number): Uint8Array {
  let best = modules
  let least = Number.POSITIVE_INFINITY
  masks.forEach((inverts, mask) => {
    const trial = modules.slice()
    for (let y = 0, at = 0; y < size; y++) {
      for (let x = 0; x < size; x++, at++) if (reserved[at] === 0 && inverts(x, y)) trial[at]! ^= 1
    }
    drawFormat(trial, size, mask)
    const points = penalty(trial, size)
    if (points < least) {
      least = points
      best = trial
    }
  })
  return best
}

// Level M is 00 in the format information, so its data are the number of the mask.
function drawFormat(modules: Uint8Array, size: number, mask: number): void {
  let rest = mask
  for (let i = 0; i < 10; i++) rest = (rest << 1) ^ ((rest >> 9) * 0x537)
  const bits = ((mask << 10) | rest) ^ 0x5412
  const bit = (i: number) => (bits >> i) & 1
  const put = (x: number, y: number, i: number) => {
    modules[y * size + x] = bit(i)
  }
  for (let i = 0; i <= 5; i++) put(8, i, i)
  put(8, 7, 6)
  put(8, 8, 7)
  put(7, 8, 8)
  for (let i = 9; i < 15; i++) put(14 - i, 8, i)
  for (let i = 0; i < 8; i++) put(size - 1 - i, 8, i)
  for (let i = 8; i < 15; i++) put(8, size - 15 + i, i)
}

function penalty(modules: Uint8Array, size: number): number {
  let points = 0
  let dark = 0
  for (let i = 0; i < size; i++) {
    points += linePenalty(modules, i * size, 1, size) + linePenalty(modules, i, size, size)
  }
  for (let y = 0, at = 0; y < size; y++) {
    for (let x = 0; x < size; x++, at++) {
      dark += modules[at]!
      if (x === 0 || y === 0) continue
      const four = modules[at]! + modules[at - 1]! + modules[at - size]! + modules[at - size - 1]!
      if (four === 0 || four === 4) points += 3
    }
  }
  return points + 10 * Math.floor(Math.abs((dark * 100) / (size * size) - 50) / 5)
}

// Runs of five or more of one colour, and patterns that look like a finder beside four light modules.
function linePenalty(modules: Uint8Array, from: number, step: number, size: number): number {
  let points = 0
  let run = 0
  let colour = -1
  let window = 0
  for (let i = 0, at = from; i < size; i++, at += step) {
    const module = modules[at]!
    if (module === colour) {
      run++
      if (run === 5) points += 3
      else if (run > 5) points++
    } else {
      colour = module
      run = 1
    }
    window = ((window << 1) | module) & 0x7ff
    if (i >= 10 && (window === 0b10111010000 || window === 0b00001011101)) points += 40
  }
  return points
}
