import { type Glyph, type Glyphs, type Outline, unitsPerEm } from './glyphs.ts'
import { encodeNumber, move } from './type2.ts'

// The characters of the standard strings 1 to 228 (Adobe Technical Note 5176, appendix A), which need not be named in the font.
const standardStrings = ` !"#$%&’()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_‘abcdefghijklmnopqrstuvwxyz{|}~¡¢£⁄¥ƒ§¤'“«‹›ﬁﬂ–†‡·¶•‚„”»…‰¿\`´ˆ˜¯˘˙¨˚¸˝˛ˇ—ÆªŁØŒºæıłøœß¹¬µ™Ð½±Þ¼÷¦°þ¾²®−ð×³©ÁÂÄÀÅÃÇÉÊËÈÍÎÏÌÑÓÔÖÒÕŠÚÛÜÙÝŸŽáâäàåãçéêëèíîïìñóôöòõšúûüùýÿž`
const standardCount = 391
const standard = new Map([...standardStrings].map((character, i) => [character.codePointAt(0)!, i + 1]))
// Outside WinAnsi every glyph has the name that the font's own encoding gives it.
for (const character of '⁄ﬁﬂ˘˙˝˛ˇŁıł−') standard.delete(character.codePointAt(0)!)

const callsubr = 10
const returned = 11
const endchar = 14
const subrBias = 107
// Widths are written as differences from this one, in units of the grid.
const nominalWidth = unitsPerEm / 2

/** Glyph name of a character, where the encoding needs it. */
export function glyphName(code: number): string {
  return `uni${code.toString(16).toUpperCase().padStart(4, '0')}`
}

/** A Compact Font Format program (Adobe Technical Note 5176) with the glyphs of these characters and no others. */
export function compactFont(name: string, glyphs: Glyphs, codes: readonly number[], box: readonly number[]): Buffer {
  const named = codes
    .map((code) => ({ code, glyph: glyphs.get(code)!, sid: standard.get(code) }))
    .toSorted((a, b) => (a.sid ?? standardCount + a.code) - (b.sid ?? standardCount + b.code))
  const strings = named
    .filter(({ sid }) => sid === undefined)
    .map(({ code }) => (code === 0x20ac ? 'Euro' : glyphName(code)))
  let next = standardCount
  const ids = named.map(({ sid }) => sid ?? next++)
  const shared = sharedOutlines(named.map(({ glyph }) => glyph))
  const charStrings = index([
    Buffer.from([...encodeNumber(-nominalWidth), endchar]),
    ...named.map(({ glyph }) => charString(glyph, shared)),
  ])
  const subrs = shared.size > 0 ? index([...shared.keys()].map(({ bytes }) => Buffer.concat([bytes, end]))) : empty
  const charset = Buffer.from(charsetOf(ids))
  const head = Buffer.concat([Buffer.from([1, 0, 4, 2]), index([Buffer.from(name, 'latin1')])])
  const texts = Buffer.concat([index(strings.map((text) => Buffer.from(text, 'latin1'))), index([])])
  const privateDict = (length: number): Buffer =>
    Buffer.from([...encodeNumber(nominalWidth), 21, ...(shared.size > 0 ? [...offset(length), 19] : [])])
  const privateLength = privateDict(0).length
  const topDict = (from: number): Buffer => {
    const charStringsAt = from + charset.length
    const privateAt = charStringsAt + charStrings.length
    return index([
      Buffer.from([
        ...box.flatMap(encodeNumber),
        5,
        ...fontMatrix,
        12,
        7,
        ...offset(from),
        15,
        ...offset(charStringsAt),
        17,
        ...encodeNumber(privateLength),
        ...offset(privateAt),
        18,
      ]),
    ])
  }
  const from = head.length + topDict(0).length + texts.length
  return Buffer.concat([head, topDict(from), texts, charset, charStrings, privateDict(privateLength), subrs])
}

const empty = Buffer.alloc(0)
const end = Buffer.from([returned])

// Outlines that more than one glyph draws become subroutines.
function sharedOutlines(glyphs: readonly Glyph[]): Map<Outline, number> {
  const seen = new Set<Outline>()
  const shared = new Map<Outline, number>()
  for (const { parts } of glyphs) {
    for (const { outline } of parts) {
      if (seen.has(outline) && !shared.has(outline)) shared.set(outline, shared.size)
      seen.add(outline)
    }
  }
  return shared
}

function charString(glyph: Glyph, shared: ReadonlyMap<Outline, number>): Buffer {
  const bytes = encodeWidth((glyph.advance * unitsPerEm) / 1000 - nominalWidth)
  let [x, y] = [0, 0]
  for (const { outline, dx, dy } of glyph.parts) {
    bytes.push(...move(outline.start[0] + dx - x, outline.start[1] + dy - y))
    const subr = shared.get(outline)
    if (subr === undefined) bytes.push(...outline.bytes)
    else bytes.push(...encodeNumber(subr - subrBias), callsubr)
    x = outline.end[0] + dx
    y = outline.end[1] + dy
  }
  bytes.push(endchar)
  return Buffer.from(bytes)
}

// A width off the grid in 65536ths: a viewer may lay out by the program's widths (ISO 19005-2, 6.2.11.5).
function encodeWidth(width: number): number[] {
  const whole = Math.round(width)
  if (Math.abs(width - whole) * 1000 < unitsPerEm / 2) return encodeNumber(whole)
  const fixed = Math.round(width * 0x10000)
  return [255, (fixed >> 24) & 255, (fixed >> 16) & 255, (fixed >> 8) & 255, fixed & 255]
}

function index(items: readonly Buffer[]): Buffer {
  if (items.length === 0) return Buffer.from([0, 0])
  const length = items.reduce((sum, item) => sum + item.length, 1)
  const size = length > 0xffff ? 3 : length > 0xff ? 2 : 1
  const head = Buffer.alloc(3 + size * (items.length + 1))
  head.writeUInt16BE(items.length, 0)
  head[2] = size
  let end = 1
  head.writeUIntBE(end, 3, size)
  items.forEach((item, i) => {
    end += item.length
    head.writeUIntBE(end, 3 + size * (i + 1), size)
  })
  return Buffer.concat([head, ...items])
}

// Format 1: runs of consecutive names.
function charsetOf(ids: readonly number[]): number[] {
  const bytes = [1]
  for (let i = 0; i < ids.length; ) {
    let end = i
    while (ids[end + 1] === ids[end]! + 1 && end - i < 255) end++
    bytes.push(ids[i]! >> 8, ids[i]! & 255, end - i)
    i = end + 1
  }
  return bytes
}

// Always three bytes, because the length of a dictionary must not depend on the offsets in it.
function offset(value: number): number[] {
  return [28, (value >> 8) & 255, value & 255]
}

function real(value: number): number[] {
  const nibbles = [...value.toFixed(8).replace(/^0|0+$/g, '')].map((sign) => (sign === '.' ? 0xa : Number(sign)))
  nibbles.push(0xf)
  if (nibbles.length % 2 === 1) nibbles.push(0xf)
  const bytes = [30]
  for (let i = 0; i < nibbles.length; i += 2) bytes.push((nibbles[i]! << 4) | nibbles[i + 1]!)
  return bytes
}

const fontMatrix = [1 / unitsPerEm, 0, 0, 1 / unitsPerEm, 0, 0].flatMap((n) => (n === 0 ? encodeNumber(0) : real(n)))
