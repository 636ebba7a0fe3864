import { packedAround, plainStream, streamObject } from './objects.ts'

/** What the colours of a file mean (ISO 19005-2, 6.2.3). */
export interface Colours {
  /** The object with the ICC profile. */
  profile: Buffer
  /** How an output intent names it. */
  condition: string
}

/** Where the profile of a file is named, in its catalog. */
export function outputIntent({ condition }: Colours, profile: number): string {
  return `/OutputIntents[<</Type/OutputIntent/S/GTS_PDFA1${condition}/DestOutputProfile ${profile} 0 R>>]`
}

const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'
const pdfuaid = 'http://www.aiim.org/pdfua/ns/id/'
const extension = {
  pdfaExtension: 'http://www.aiim.org/pdfa/ns/extension/',
  pdfaSchema: 'http://www.aiim.org/pdfa/ns/schema#',
  pdfaProperty: 'http://www.aiim.org/pdfa/ns/property#',
}
const said = {
  dc: 'http://purl.org/dc/elements/1.1/',
  pdf: 'http://ns.adobe.com/pdf/1.3/',
  pdfaid: 'http://www.aiim.org/pdfa/ns/id/',
  pdfuaid,
}

function description(namespaces: Record<string, string>, content: string): string {
  const named = Object.entries(namespaces).map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`)
  return `<rdf:Description rdf:about=""${named.join('')}>${content}</rdf:Description>`
}

// The part of PDF/UA is no property that PDF/A knows: it has to be described (ISO 19005-2, 6.6.2.3). PDFBox reads it only before what uses it.
const described = description(
  extension,
  '<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource"><pdfaSchema:schema>pdfuaid</pdfaSchema:schema>' +
    `<pdfaSchema:namespaceURI>${pdfuaid}</pdfaSchema:namespaceURI><pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>` +
    '<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource"><pdfaProperty:name>part</pdfaProperty:name>' +
    '<pdfaProperty:valueType>Integer</pdfaProperty:valueType><pdfaProperty:category>internal</pdfaProperty:category>' +
    '<pdfaProperty:description>part</pdfaProperty:description></rdf:li></rdf:Seq></pdfaSchema:property>' +
    '</rdf:li></rdf:Bag></pdfaExtension:schemas>',
)

const own = description(
  said,
  '<pdfaid:part>2</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance><pdfuaid:part>1</pdfuaid:part>' +
    '<pdf:Producer>Vigia Fiscal</pdf:Producer><dc:title><rdf:Alt><rdf:li xml:lang="x-default">TITLE</rdf:li></rdf:Alt></dc:title>',
)
// What stands before the title and behind it, alike in all files.
const [before, behind] = (
  `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="${rdf}">` +
  `${described}${own}</rdf:RDF></x:xmpmeta><?xpacket end="r"?>`
)
  .split('TITLE')
  .map((text) => Buffer.from(text)) as [Buffer, Buffer]
// Packed once, the title between them as it is.
const packed = packedAround(before, behind)

/** The object with the XMP packet of a file (ISO 19005-2, 6.6; ISO 14289-1, 5): what it is and says it conforms to. */
export function metadata(title: string): Buffer {
  const name = title.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  return plainStream(packed(Buffer.from(name)), '/Type/Metadata/Subtype/XML/Filter/FlateDecode')
}

const titleMax = 200

/** The words of a title, without what XML has no place for, and of a bounded length. */
export function titleOf(words: string): string {
  return words
    .slice(0, titleMax)
    .toWellFormed()
    .replace(/[\p{Cc}\uFFFE\uFFFF]/gu, ' ')
    .trim()
}

const whitePoint = [0.9642, 1, 0.8249]
// The curve of sRGB (IEC 61966-2-1): a power with a straight line at its foot.
const curve = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]

type Tag = readonly [names: readonly string[], content: Buffer]

// ISO 15076-1, version 4.2: these tags, and what every profile has.
function profile(description: string, space: 'RGB ' | 'GRAY', own: readonly Tag[]): Buffer {
  const data: Tag[] = [
    [['desc'], localized(description)],
    [['cprt'], localized('Public domain')],
    [['wtpt'], xyz(whitePoint)],
    ...own,
  ]
  const count = data.reduce((sum, [names]) => sum + names.length, 0)
  const table: Buffer[] = [u32(count)]
  let at = 128 + 4 + 12 * count
  for (const [names, content] of data) {
    for (const name of names) table.push(Buffer.from(name, 'latin1'), u32(at), u32(content.length))
    at += content.length
  }
  const header = Buffer.alloc(128)
  header.writeUInt32BE(at, 0)
  header.writeUInt32BE(0x04200000, 8)
  header.write(`mntr${space}XYZ `, 12, 'latin1')
  // The date that the format asks for is that of the version of ICC it follows.
  for (const [i, part] of [2004, 10, 1, 0, 0, 0].entries()) header.writeUInt16BE(part, 24 + 2 * i)
  header.write('acsp', 36, 'latin1')
  for (const [i, value] of whitePoint.entries()) header.writeInt32BE(fixed(value), 68 + 4 * i)
  return Buffer.concat([header, ...table, ...data.map(([, content]) => content)])
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

// Signed, with sixteen bits after the point.
function fixed(value: number): number {
  return Math.round(value * 0x10000)
}

function typed(type: string, numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(8 + 4 * numbers.length)
  bytes.write(type, 0, 'latin1')
  for (const [i, number] of numbers.entries()) bytes.writeInt32BE(number, 8 + 4 * i)
  return bytes
}

function xyz(values: readonly number[]): Buffer {
  return typed('XYZ ', values.map(fixed))
}

function fixedArray(values: readonly number[]): Buffer {
  return typed('sf32', values.map(fixed))
}

// Function 3 of five values.
function parametric(values: readonly number[]): Buffer {
  return typed('para', [3 << 16, ...values.map(fixed)])
}

// One text in English, in whole groups of four bytes.
function localized(text: string): Buffer {
  const letters = Buffer.from(text, 'utf16le').swap16()
  const head = typed('mluc', [1, 12, 0, letters.length, 28])
  head.write('enUS', 16, 'latin1')
  return Buffer.concat([head, letters, Buffer.alloc(letters.length % 4)])
}

/** sRGB: its primaries, adapted from D65 to D50 by the Bradford transform, and its curve in full. Written here, so that no file of others is needed. */
export const screenColours: Colours = {
  profile: streamObject(
    profile('sRGB', 'RGB ', [
      [['chad'], fixedArray([1.04788, 0.02292, -0.05019, 0.02959, 0.99048, -0.01706, -0.00924, 0.01508, 0.75168])],
      [['rXYZ'], xyz([0.43603, 0.22249, 0.01392])],
      [['gXYZ'], xyz([0.38512, 0.7169, 0.09706])],
      [['bXYZ'], xyz([0.14305, 0.06061, 0.71393])],
      [['rTRC', 'gTRC', 'bTRC'], parametric(curve)],
    ]),
    '/N 3',
    true,
  ),
  condition: '/OutputConditionIdentifier(sRGB)/Info(sRGB IEC61966-2.1)',
}

/** The greys of sRGB without its white, for files that have no other colours: paper is white under any light. */
export const greys: Colours = {
  profile: streamObject(profile('sGray', 'GRAY', [[['kTRC'], parametric(curve)]]), '/N 1', true),
  condition: '/OutputConditionIdentifier(Custom)/Info(sGray)',
}
