import { readFileSync } from 'node:fs'
import { packedAround, plainStream, streamObject } from './objects.ts'

/** Meaning of the colours of a file (ISO 19005-2, 6.2.3). */
interface Colours {
  /** The object with the ICC profile. */
  profile: Buffer
  /** How an output intent names it. */
  condition: string
}

/** Catalog entry that names the colour profile of a file. */
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

// PDF/A does not know the PDF/UA part, so it must be described (ISO 19005-2, 6.6.2.3). PDFBox needs
// the description first.
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
// XML before and after the title, equal in all files.
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

// Reads a profile of ISO 15076-1, version 4.2.
const profileIn = (file: string, channels: number) =>
  streamObject(readFileSync(new URL(file, import.meta.url)), `/N ${channels}`, true)

/** sRGB: its primaries, adapted from D65 to D50 by the Bradford transform, and its curve in full (IEC 61966-2-1). */
export const screenColours: Colours = {
  profile: profileIn('srgb.icc', 3),
  condition: '/OutputConditionIdentifier(sRGB)/Info(sRGB IEC61966-2.1)',
}

/** The greys of sRGB without its white, for files that have no other colours: paper is white under any light. */
export const greys: Colours = {
  profile: profileIn('sgray.icc', 1),
  condition: '/OutputConditionIdentifier(Custom)/Info(sGray)',
}
