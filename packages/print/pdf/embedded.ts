import { compactFont, glyphName } from './cff.ts'
import { characterAt, type Font, fonts, placeOf } from './fonts.ts'
import { unitsPerEm } from './glyphs.ts'
import { streamObject } from './objects.ts'
import { unicodeOf } from './winansi.ts'

/** Writer of the objects of a font. */
interface ObjectWriter {
  object(body: string): number
  /** Keeps a stream object. */
  stream(object: Buffer): number
}

// Bounding box of all glyphs, and heights of the faces, in thousandths of the size.
const box = [-200, -320, 1200, 1060]
const heights = '/ItalicAngle 0/Ascent 891/Descent -216/CapHeight 655'
const serif = 2
const symbolic = 4
const nonsymbolic = 32

/** Embeds the glyphs of a face that a document shows; returns its resource entries. */
export function embed(font: Font, shown: readonly number[], writer: ObjectWriter): string {
  const resources: string[] = []
  const bytes = shown.filter((code) => code <= 0xff)
  if (bytes.length > 0) {
    const { name, file, entries } = latinProgram(font, bytes)
    const described = descriptor(name, writer.stream(file), serif + nonsymbolic, font, writer)
    resources.push(`/${font.resource} ${writer.object(simpleFont(described, entries))} 0 R`)
  }
  const placed = shown.filter((code) => code > 0xff).map((code) => ({ code, ...placeOf(code) }))
  for (const [further, characters] of Map.groupBy(placed, (one) => one.further)) {
    const codes = characters.map(({ code }) => code)
    const places = characters.map(({ byte }) => byte)
    const name = subsetName(font, codes)
    const described = descriptor(
      name,
      writer.stream(fontFile(font, name, codes, false)),
      serif + symbolic,
      font,
      writer,
    )
    const differences = characters.map(({ code, byte }) => `${byte}/${glyphName(code)}`).join(' ')
    const toUnicode = writer.stream(streamObject(Buffer.from(unicodeMap(further, places), 'latin1'), ''))
    const encoding = `/Encoding<</Differences[${differences}]>>/ToUnicode ${toUnicode} 0 R`
    const number = writer.object(simpleFont(described, encoding + widths(font, places, codes)))
    resources.push(`/${font.resource}${further} ${number} 0 R`)
  }
  return resources.join('')
}

interface Program {
  name: string
  file: Buffer
  /** Encoding and widths of the font. */
  entries: string
}

// Forms of the same parties, and the copies of a form, show the same characters. A program takes some 4 kB.
const programsMax = 100
const programs = new Map(fonts.map((font) => [font, new Map<string, Program>()]))

function latinProgram(font: Font, bytes: readonly number[]): Program {
  const key = String.fromCharCode(...bytes)
  const kept = programs.get(font)!
  let program = kept.get(key)
  if (program) kept.delete(key)
  else {
    const codes = [...new Set(bytes.map(unicodeOf))]
    const name = subsetName(font, codes)
    program = {
      name,
      file: fontFile(font, name, codes, true),
      entries: `/Encoding/WinAnsiEncoding${widths(font, bytes, bytes)}`,
    }
    if (kept.size >= programsMax) kept.delete(kept.keys().next().value!)
  }
  kept.set(key, program)
  return program
}

function subsetName(font: Font, codes: readonly number[]): string {
  return `${subsetTag(codes)}+${font.name}`
}

function fontFile(font: Font, name: string, codes: readonly number[], isKept: boolean): Buffer {
  const grid = box.map((edge) => Math.round((edge * unitsPerEm) / 1000))
  return streamObject(compactFont(name, font.glyphs, codes, grid), '/Subtype/Type1C', isKept)
}

interface Descriptor {
  name: string
  number: number
}

function descriptor(name: string, file: number, flags: number, font: Font, writer: ObjectWriter): Descriptor {
  const facts = `/FontBBox[${box.join(' ')}]${heights}/StemV ${font.stem}/Flags ${flags}`
  const number = writer.object(`<</Type/FontDescriptor/FontName/${name}${facts}/FontFile3 ${file} 0 R>>`)
  return { name, number }
}

function simpleFont({ name, number }: Descriptor, entries: string): string {
  return `<</Type/Font/Subtype/Type1/BaseFont/${name}/FontDescriptor ${number} 0 R${entries}>>`
}

// Widths of the places between the first and the last; characters that are not shown have none.
function widths(font: Font, places: readonly number[], codes: readonly number[]): string {
  const [first, last] = [places[0]!, places.at(-1)!]
  const all = new Array<number>(last - first + 1).fill(0)
  places.forEach((place, i) => {
    all[place - first] = font.widths[codes[i]!]!
  })
  return `/FirstChar ${first}/LastChar ${last}/Widths[${all.join(' ')}]`
}

// Six letters that differ from one selection of glyphs to another (ISO 32000-1, 9.6.4).
function subsetTag(codes: readonly number[]): string {
  let hash = 0x811c9dc5
  for (const code of codes) hash = Math.imul(hash ^ code, 0x01000193) >>> 0
  let tag = ''
  for (let i = 0; i < 6; i++) {
    tag += String.fromCharCode(0x41 + (hash % 26))
    hash = Math.floor(hash / 26)
  }
  return tag
}

// One character after the other in sections of a hundred at most (ISO 32000-1, 9.10.3).
function unicodeMap(further: number, places: readonly number[]): string {
  const hexadecimal = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  const lines = places.map((byte) => {
    return `<${hexadecimal(byte, 2)}><${hexadecimal(characterAt(further, byte).charCodeAt(0), 4)}>\n`
  })
  let sections = ''
  for (let from = 0; from < lines.length; from += 100) {
    const some = lines.slice(from, from + 100)
    sections += `${some.length} beginbfchar\n${some.join('')}endbfchar\n`
  }
  return `/CIDInit/ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo<</Registry(Adobe)/Ordering(UCS)/Supplement 0>>def
/CMapName/Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<00><ff>
endcodespacerange
${sections}endcmap
CMapName currentdict/CMap defineresource pop
end
end`
}
