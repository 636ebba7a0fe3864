import { openDocument } from '@vigia/dfe/document'
import { parsedFont, winAnsiNames } from './font-program.ts'
import { type Dictionary, Name, type PdfFile, Reader, Reference, readPdf, type Value } from './pdf-file.ts'

const archive = (clause: string, text: string) => `ISO 19005-2, ${clause}: ${text}`
const access = (clause: string, text: string) => `ISO 14289-1, ${clause}: ${text}`

/**
 * What of PDF/A-2a (ISO 19005-2, level A) and PDF/UA-1 (ISO 14289-1) a file does not keep, each with its clause; empty for a file that keeps all
 * that is checked. Written from the standards for files that have no annotations, forms, actions or embedded files: those are faults here.
 */
export function conformanceFaults(pdf: Uint8Array): string[] {
  const file = readPdf(pdf)
  const pages = pagesOf(file)
  return [
    ...fileFaults(file),
    ...catalogFaults(file),
    ...colourFaults(file),
    ...metadataFaults(file),
    ...pages.flatMap((page) => pageFaults(file, page)),
    ...contentFaults(file, pages),
    ...structureFaults(file),
  ]
}

function got(file: PdfFile, value: Value | undefined): Value | undefined {
  return value instanceof Reference ? file.values.get(value.number) : value
}

function dictionary(file: PdfFile, value: Value | undefined): Dictionary {
  const found = got(file, value)
  return found instanceof Map ? found : new Map()
}

function list(file: PdfFile, value: Value | undefined): Value[] {
  const found = got(file, value)
  return Array.isArray(found) ? found : value === undefined ? [] : [value]
}

function name(value: Value | undefined): string | undefined {
  return value instanceof Name ? value.name : undefined
}

function catalogOf(file: PdfFile): Dictionary {
  return dictionary(file, file.trailer.get('Root'))
}

function fileFaults(file: PdfFile): string[] {
  const faults: string[] = []
  if (!/^%PDF-1\.[0-7]\n%[\x80-\xff]{4}/.test(file.text))
    faults.push(archive('6.1.2', 'the header has no line of bytes above 127'))
  const id = file.trailer.get('ID')
  if (!Array.isArray(id) || id.length !== 2 || id.some((one) => typeof one !== 'string' || one.length < 16))
    faults.push(archive('6.1.3', 'the trailer has no ID of two strings'))
  if (file.trailer.has('Encrypt')) faults.push(archive('6.1.3', 'the file is encrypted'))
  if (!/%%EOF(\r\n|\n|\r)?$/.test(file.text)) faults.push(archive('6.1.3', 'something follows the end of the file'))
  for (const [number, { dictionary: entries, isSpaced }] of file.streams) {
    if (!isSpaced)
      faults.push(archive('6.1.7.1 and 6.1.9', `the keywords of object ${number} do not stand on lines of their own`))
    for (const filter of list(file, entries.get('Filter')))
      if (name(filter) !== 'FlateDecode')
        faults.push(archive('6.1.7.2', `object ${number} has the filter ${name(filter)}`))
    for (const key of ['F', 'FFilter', 'FDecodeParms'])
      if (entries.has(key)) faults.push(archive('6.1.7.1', `object ${number} has the key ${key}`))
    if (name(entries.get('Subtype')) === 'Image') faults.push(...imageFaults(number, entries))
  }
  for (const [number, value] of file.values)
    faults.push(...valueFaults(value).map((fault) => archive('6.1.13', `object ${number} has ${fault}`)))
  return faults
}

function imageFaults(number: number, entries: Dictionary): string[] {
  const faults = ['Alternates', 'OPI']
    .filter((key) => entries.has(key))
    .map((key) => archive('6.2.8', `image ${number} has ${key}`))
  if (entries.get('Interpolate') === true) faults.push(archive('6.2.8', `image ${number} is interpolated`))
  if (entries.has('SMask')) faults.push(archive('6.2.10', `image ${number} is transparent`))
  return faults
}

function valueFaults(value: Value): string[] {
  if (typeof value === 'string') return value.length > 32_767 ? ['a string of more than 32767 bytes'] : []
  if (typeof value === 'number') return Math.abs(value) > 2_147_483_647 ? ['a number out of range'] : []
  if (value instanceof Name) return value.name.length > 127 ? ['a name of more than 127 bytes'] : []
  if (Array.isArray(value)) return value.flatMap(valueFaults)
  return value instanceof Map ? [...value.values()].flatMap(valueFaults) : []
}

function catalogFaults(file: PdfFile): string[] {
  const faults: string[] = []
  const catalog = catalogOf(file)
  const mark = dictionary(file, catalog.get('MarkInfo'))
  if (mark.get('Marked') !== true) faults.push(archive('6.7.2.2', 'the catalog does not say that the file is marked'))
  if (mark.get('Suspects') === true) faults.push(access('7.1', 'the marks are suspect'))
  const lang = catalog.get('Lang')
  if (typeof lang !== 'string' || !/^[a-z]{2,3}(-[A-Za-z0-9]+)*$/.test(lang))
    faults.push(
      archive('6.7.4', 'the catalog has no language'),
      access('7.2', 'the language of the document cannot be determined'),
    )
  if (dictionary(file, catalog.get('ViewerPreferences')).get('DisplayDocTitle') !== true)
    faults.push(access('7.1', 'the title is not what a viewer shows'))
  const forbidden: [string, string][] = [
    ['AA', '6.5.2'],
    ['OpenAction', '6.5.1'],
    ['AcroForm', '6.4.1'],
    ['NeedsRendering', '6.4.2'],
    ['Requirements', '6.11'],
    ['OCProperties', '6.9'],
  ]
  for (const [key, clause] of forbidden)
    if (catalog.has(key)) faults.push(archive(clause, `the catalog has the key ${key}`))
  return faults
}

// The tags that a profile has to have, by the colours it is for (ISO 15076-1, 8.4.3 and 8.4.4).
const everyProfile = ['desc', 'cprt', 'wtpt']
const profileTags: Record<string, readonly string[]> = {
  GRAY: [...everyProfile, 'kTRC'],
  'RGB ': [...everyProfile, 'chad', 'rXYZ', 'gXYZ', 'bXYZ', 'rTRC', 'gTRC', 'bTRC'],
}

function colourFaults(file: PdfFile): string[] {
  const intents = list(file, catalogOf(file).get('OutputIntents')).map((one) => dictionary(file, one))
  const intent = intents.find((one) => name(one.get('S')) === 'GTS_PDFA1')
  if (!intent) return [archive('6.2.4.3', 'colours of devices without an output intent')]
  if (typeof intent.get('OutputConditionIdentifier') !== 'string' || typeof intent.get('Info') !== 'string')
    return [archive('6.2.3', 'the output intent does not say what it is')]
  const profile = intent.get('DestOutputProfile')
  const stream = profile instanceof Reference ? file.streams.get(profile.number) : undefined
  const data = stream?.data ?? Buffer.alloc(0)
  const space = data.toString('latin1', 16, 20)
  const expected = profileTags[space]
  if (
    !expected ||
    data.readUInt32BE(0) !== data.length ||
    data[8] !== 4 ||
    !/^(prtr|mntr)$/.test(data.toString('latin1', 12, 16))
  )
    return [archive('6.2.3', 'the output intent has no profile of a monitor or a printer in these colours')]
  const faults: string[] = []
  const tags = new Map<string, Buffer>()
  for (let i = 0, at = 132; i < data.readUInt32BE(128); i++, at += 12) {
    const [from, length] = [data.readUInt32BE(at + 4), data.readUInt32BE(at + 8)]
    tags.set(data.toString('latin1', at, at + 4), from % 4 === 0 ? data.subarray(from, from + length) : Buffer.alloc(0))
  }
  for (const tag of expected)
    if (!/^(mluc|XYZ |sf32|para)/.test(tags.get(tag)?.toString('latin1') ?? ''))
      faults.push(archive('6.2.3', `the profile has no ${tag}`))
  const usesRgb = [...file.streams.values()].some(
    ({ dictionary }) => name(dictionary.get('ColorSpace')) === 'DeviceRGB',
  )
  if (usesRgb && space !== 'RGB ') faults.push(archive('6.2.4.3', 'DeviceRGB beside a profile of other colours'))
  if (stream!.dictionary.get('N') !== (space === 'RGB ' ? 3 : 1))
    faults.push(archive('6.2.3', 'the profile has another number of colours than it says'))
  return faults
}

function contentOf(file: PdfFile, page: Dictionary): string {
  const parts = list(file, page.get('Contents')).map((part) => {
    return part instanceof Reference ? (file.streams.get(part.number)?.data.toString('latin1') ?? '') : ''
  })
  return parts.join('\n')
}

function metadataFaults(file: PdfFile): string[] {
  const reference = catalogOf(file).get('Metadata')
  const stream = reference instanceof Reference ? file.streams.get(reference.number) : undefined
  if (!stream) return [archive('6.6.2.1', 'the catalog has no metadata'), access('7.1', 'the catalog has no metadata')]
  const faults: string[] = []
  const packet = stream.data.toString('utf8')
  const said = (key: string) => new RegExp(`<${key}>([^<]*)</${key}>`).exec(packet)?.[1]
  if (/<\?xpacket begin=[^?]*(bytes|encoding)=/.test(packet))
    faults.push(archive('6.6.2.1', 'the packet says its bytes or its encoding'))
  const xml = /<x:xmpmeta[\s\S]*<\/x:xmpmeta>/.exec(packet)?.[0]
  try {
    openDocument(Buffer.from(xml ?? ''))
  } catch {
    faults.push(archive('6.6.2.1', 'the metadata is no well-formed XML'))
  }
  if (said('pdfaid:part') !== '2') faults.push(archive('6.6.4', 'the metadata does not say part 2'))
  if (said('pdfaid:conformance') !== 'A') faults.push(archive('6.6.4', 'the metadata does not say level A'))
  if (said('pdfuaid:part') !== '1') faults.push(access('5', 'the metadata does not say part 1'))
  const known = new Set([
    'http://purl.org/dc/elements/1.1/',
    'http://ns.adobe.com/pdf/1.3/',
    'http://ns.adobe.com/xap/1.0/',
  ])
  for (const [, prefix, uri = ''] of packet.matchAll(/xmlns:(\w+)="([^"]*)"/g)) {
    const isOwn = /^(rdf|x|pdfaid|pdfaExtension|pdfaSchema|pdfaProperty)$/.test(prefix!)
    const isDescribed = packet.includes(`<pdfaSchema:namespaceURI>${uri}</pdfaSchema:namespaceURI>`)
    if (!isOwn && !known.has(uri) && !isDescribed)
      faults.push(archive('6.6.2.3', `the properties of ${prefix} are not described`))
  }
  const title = /<dc:title><rdf:Alt><rdf:li xml:lang="x-default">([^<]+)</.exec(packet)?.[1]
  if (!title) faults.push(access('7.1', 'the metadata has no title'))
  const information = dictionary(file, file.trailer.get('Info'))
  const plain = (title ?? '').replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
  if (textOf(information.get('Title')) !== plain)
    faults.push(archive('6.6.3', 'the title differs between Info and metadata'))
  if (information.get('Producer') !== said('pdf:Producer') || information.get('Creator') !== said('xmp:CreatorTool'))
    faults.push(archive('6.6.3', 'the producer differs between Info and metadata'))
  return faults
}

function textOf(value: Value | undefined): string {
  if (typeof value !== 'string') return ''
  return value.startsWith('\xfe\xff') ? Buffer.from(value.slice(2), 'latin1').swap16().toString('utf16le') : value
}

interface Page {
  number: number
  entries: Dictionary
  box: Value[]
}

function pagesOf(file: PdfFile, value = catalogOf(file).get('Pages'), inherited: Value[] = []): Page[] {
  const entries = dictionary(file, value)
  const box = entries.has('MediaBox') ? list(file, entries.get('MediaBox')) : inherited
  if (name(entries.get('Type')) === 'Page') return [{ number: (value as Reference).number, entries, box }]
  return list(file, entries.get('Kids')).flatMap((kid) => pagesOf(file, kid, box))
}

function pageFaults(file: PdfFile, { number, entries, box }: Page): string[] {
  const faults: string[] = []
  if (!entries.has('Resources')) faults.push(archive('6.2.2', `page ${number} has no resources of its own`))
  const [left = 0, bottom = 0, right = 0, top = 0] = box as number[]
  if (![right - left, top - bottom].every((side) => side >= 3 && side <= 14_400))
    faults.push(archive('6.1.13', `page ${number} has no size`))
  if (entries.has('AA')) faults.push(archive('6.5.2', `page ${number} has actions`))
  if (entries.has('PresSteps')) faults.push(archive('6.10', `page ${number} has steps`))
  if (entries.has('Group')) faults.push(archive('6.2.10', `page ${number} has a transparency group`))
  if (list(file, entries.get('Annots')).length > 0) {
    faults.push(archive('6.3.1', `page ${number} has annotations, which nobody here checks`))
    if (name(entries.get('Tabs')) !== 'S') faults.push(access('7.18.3', `page ${number} has no order of tabs`))
  }
  if (dictionary(file, entries.get('Resources')).has('ExtGState'))
    faults.push(archive('6.2.10', `page ${number} may be transparent`))
  return faults
}

const painting = /^(S|s|f|F|f\*|B|B\*|b|b\*|Tj|TJ|'|"|Do|sh|BI|EI)$/
const defined = new Set(
  'q Q cm w J j M d ri i gs m l c v y h re S s f F f* B B* b b* n W W* BT ET Tc Tw Tz TL Tf Tr Ts Td TD Tm T* Tj TJ BMC BDC EMC MP DP Do G g RG rg K k CS cs SC SCN sc scn'.split(
    ' ',
  ),
)

/** Every operator that paints is marked once, and every mark has its way back in the parent tree. */
function contentFaults(file: PdfFile, pages: readonly Page[]): string[] {
  const faults: string[] = []
  const shown = new Map<Dictionary, Set<number>>()
  const tree = dictionary(file, catalogOf(file).get('StructTreeRoot'))
  const nums = list(file, dictionary(file, tree.get('ParentTree')).get('Nums'))
  const parents = new Map(nums.flatMap((key, i) => (i % 2 === 0 ? [[key, list(file, nums[i + 1])] as const] : [])))
  const marks = elementMarks(file)
  for (const { number, entries } of pages) {
    const resources = dictionary(file, entries.get('Resources'))
    const fonts = dictionary(file, resources.get('Font'))
    const open: (number | 'artifact' | 'other')[] = []
    const used = new Set<number>()
    let depth = 0
    let font: Dictionary | undefined
    for (const { operator, operands } of new Reader(contentOf(file, entries)).operations()) {
      if (!defined.has(operator)) faults.push(archive('6.2.2', `page ${number} has the operator ${operator}`))
      if (operator === 'q') depth++
      if (operator === 'Q') depth--
      if (depth > 28) faults.push(archive('6.1.13', `page ${number} nests ${depth} states`))
      if (operator === 'BMC' || operator === 'BDC') {
        const id = operands[1] instanceof Map ? operands[1].get('MCID') : undefined
        const kind = typeof id === 'number' ? id : name(operands[0]) === 'Artifact' ? 'artifact' : 'other'
        if (kind === 'artifact' && open.some((one) => typeof one === 'number'))
          faults.push(access('7.1', `page ${number} has an artifact in tagged content`))
        if (typeof kind === 'number' && open.length > 0)
          faults.push(access('7.1', `page ${number} has tagged content in an artifact`))
        if (typeof kind === 'number') {
          if (used.has(kind)) faults.push(access('7.1', `page ${number} has the mark ${kind} twice`))
          used.add(kind)
        }
        open.push(kind)
      }
      if (operator === 'EMC' && open.pop() === undefined)
        faults.push(access('7.1', `page ${number} ends a mark that has not begun`))
      if (painting.test(operator) && !open.some((one) => one !== 'other'))
        faults.push(access('7.1', `page ${number} has ${operator} that is neither tagged nor an artifact`))
      if (operator === 'Tf') font = dictionary(file, fonts.get(name(operands[0]) ?? ''))
      if (operator === 'Tj' && font) {
        const bytes = shown.get(font) ?? new Set()
        shown.set(font, bytes)
        for (const byte of Buffer.from(operands[0] as string, 'latin1')) bytes.add(byte)
      }
    }
    if (depth !== 0 || open.length > 0) faults.push(access('7.1', `page ${number} leaves marks or states open`))
    const own = parents.get(entries.get('StructParents') as number) ?? []
    for (const id of used) {
      const parent = own[id]
      const element = parent instanceof Reference ? parent.number : undefined
      if (element === undefined || !marks.get(`${number} ${id}`)?.includes(element))
        faults.push(access('7.1', `the parent tree does not lead from mark ${id} of page ${number} to its element`))
      else if (marks.get(`${number} ${id}`)!.length > 1)
        faults.push(access('7.1', `mark ${id} of page ${number} belongs to two elements`))
    }
    for (const key of marks.keys()) {
      const [page, id] = key.split(' ').map(Number)
      if (page === number && !used.has(id!))
        faults.push(access('7.1', `an element has the mark ${id}, which page ${number} lacks`))
    }
  }
  return [...faults, ...[...shown].flatMap(([font, bytes]) => fontFaults(file, font, bytes))]
}

// An element need not say its type (ISO 32000-1, table 323).
function isElement(entries: Dictionary): boolean {
  const type = entries.get('Type')
  return name(entries.get('S')) !== undefined && entries.has('P') && (type === undefined || name(type) === 'StructElem')
}

function elementMarks(file: PdfFile): Map<string, number[]> {
  const marks = new Map<string, number[]>()
  for (const [number, value] of file.values) {
    if (!(value instanceof Map) || !isElement(value)) continue
    for (const kid of list(file, value.get('K'))) {
      const reference = kid instanceof Map && name(kid.get('Type')) === 'MCR' ? kid : undefined
      const id = reference ? reference.get('MCID') : kid
      const page = reference?.get('Pg') ?? value.get('Pg')
      if (typeof id !== 'number' || !(page instanceof Reference)) continue
      const key = `${page.number} ${id}`
      marks.set(key, [...(marks.get(key) ?? []), number])
    }
  }
  return marks
}

function fontFaults(file: PdfFile, font: Dictionary, bytes: ReadonlySet<number>): string[] {
  const base = name(font.get('BaseFont')) ?? '?'
  const descriptor = dictionary(file, font.get('FontDescriptor'))
  const program = descriptor.get('FontFile3')
  const stream = program instanceof Reference ? file.streams.get(program.number) : undefined
  if (!stream) return [archive('6.2.11.4.1', `${base} is not embedded`), access('7.21.4.1', `${base} is not embedded`)]
  const faults: string[] = []
  if (!/^[A-Z]{6}\+/.test(base) || name(descriptor.get('FontName')) !== base)
    faults.push(archive('6.2.11.4.2', `${base} is not named as a subset`))
  if (descriptor.has('CharSet')) faults.push(archive('6.2.11.4.2', `${base} has a CharSet, which nobody here checks`))
  const encoding = got(file, font.get('Encoding'))
  const unicode = font.get('ToUnicode')
  const isWinAnsi = name(encoding) === 'WinAnsiEncoding'
  const map = unicode instanceof Reference ? (file.streams.get(unicode.number)?.data.toString('latin1') ?? '') : ''
  const differences = new Map<number, string>()
  let code = 0
  for (const one of encoding instanceof Map ? list(file, encoding.get('Differences')) : []) {
    if (one instanceof Name) differences.set(code++, one.name)
    else code = one as number
  }
  const glyphs = parsedFont(stream.data)
  const widths = list(file, font.get('Widths')) as number[]
  const first = font.get('FirstChar') as number
  for (const byte of bytes) {
    const glyph = isWinAnsi ? winAnsiNames[byte] : differences.get(byte)
    const drawn = glyph === undefined ? undefined : glyphs.get(glyph)
    if (!drawn)
      faults.push(
        archive('6.2.11.8', `${base} has no glyph for ${byte}`),
        access('7.21.8', `${base} has no glyph for ${byte}`),
      )
    else if (!(Math.abs(drawn.width - (widths[byte - first] ?? 0)) <= 1))
      faults.push(
        archive('6.2.11.5', `${base} says another width for ${glyph}`),
        access('7.21.5', `${base} says another width for ${glyph}`),
      )
    if (isWinAnsi) continue
    const meant = new RegExp(`<${byte.toString(16).padStart(2, '0')}><([0-9a-f]{4,})>`).exec(map)?.[1]
    if (!meant || /^(0000|feff|fffe)$/.test(meant))
      faults.push(
        archive('6.2.11.7.2', `${base} does not say what ${byte} means`),
        access('7.21.7', `${base} does not say what ${byte} means`),
      )
    else if (/^(e[0-9a-f]|f[0-8])/.test(meant)) faults.push(archive('6.2.11.7.3', `${base} has a private character`))
  }
  return faults
}

const standardTypes = new Set(['Document', 'Sect', 'H1', 'H2', 'H3', 'P', 'Figure', 'Table', 'TR', 'TH', 'TD'])

interface Element {
  number: number
  type: string
  entries: Dictionary
  kids: Element[]
}

function structureFaults(file: PdfFile): string[] {
  const faults: string[] = []
  const root = catalogOf(file).get('StructTreeRoot')
  if (!(root instanceof Reference))
    return [archive('6.7.3.3', 'the catalog has no structure'), access('7.1', 'the catalog has no structure')]
  const read = (value: Value, parent: number): Element[] => {
    if (!(value instanceof Reference)) return []
    const entries = dictionary(file, value)
    const type = name(entries.get('S')) ?? ''
    if (!isElement(entries)) faults.push(archive('6.7.3.3', `object ${value.number} is no structure element`))
    if ((entries.get('P') as Reference | undefined)?.number !== parent)
      faults.push(archive('6.7.3.3', `element ${value.number} has another parent than it says`))
    if (!standardTypes.has(type))
      faults.push(
        archive('6.7.3.4', `element ${value.number} has the type ${type}`),
        access('7.1', `element ${value.number} has the type ${type}, which is mapped to none`),
      )
    return [
      {
        number: value.number,
        type,
        entries,
        kids: list(file, entries.get('K')).flatMap((kid) => read(kid, value.number)),
      },
    ]
  }
  const top = list(file, dictionary(file, root).get('K')).flatMap((kid) => read(kid, root.number))
  let level = 0
  const visit = (element: Element, parent: string): void => {
    const { number, type, entries, kids } = element
    const types = kids.map((kid) => kid.type)
    if (type === 'Figure' && !textOf(entries.get('Alt')))
      faults.push(
        access('7.3', `figure ${number} has no words for it`),
        archive('6.7.5', `figure ${number} has no words for it`),
      )
    if (type === 'Figure' && list(file, attribute(file, entries, 'BBox')).length !== 4)
      faults.push(access('7.3', `figure ${number} does not say where it is`))
    const heading = /^H([1-6])$/.exec(type)
    if (heading) {
      const own = Number(heading[1])
      if (own > level + 1)
        faults.push(access('7.4.2', `heading ${number} of level ${own} follows one of level ${level}`))
      level = own
    }
    if (type === 'Table') faults.push(...tableFaults(file, element))
    if (type === 'TR' && parent !== 'Table') faults.push(access('7.2', `row ${number} stands in no table`))
    if ((type === 'TH' || type === 'TD') && parent !== 'TR')
      faults.push(access('7.2', `cell ${number} stands in no row`))
    if (type === 'TR' && types.some((one) => one !== 'TH' && one !== 'TD'))
      faults.push(access('7.2', `row ${number} has what is no cell`))
    if (type === 'P' && entries.get('K') === undefined) faults.push(access('7.1', `paragraph ${number} is empty`))
    for (const kid of kids) visit(kid, type)
  }
  for (const one of top) visit(one, '')
  return faults
}

function attribute(file: PdfFile, entries: Dictionary, key: string): Value | undefined {
  return list(file, entries.get('A'))
    .map((one) => dictionary(file, one).get(key))
    .find((one) => one !== undefined)
}

function tableFaults(file: PdfFile, { number, kids }: Element): string[] {
  const faults: string[] = []
  if (kids.some(({ type }) => type !== 'TR')) faults.push(access('7.2', `table ${number} has what is no row`))
  const columns = kids.map((row) =>
    row.kids.reduce((sum, cell) => sum + Number(attribute(file, cell.entries, 'ColSpan') ?? 1), 0),
  )
  if (new Set(columns).size > 1)
    faults.push(access('7.5', `table ${number} has rows of ${[...new Set(columns)].join(' and ')} columns`))
  const headings = kids.flatMap((row) => row.kids.filter(({ type }) => type === 'TH'))
  if (headings.length === 0) faults.push(access('7.5', `table ${number} has no headings`))
  for (const heading of headings) {
    if (!/^(Column|Row|Both)$/.test(name(attribute(file, heading.entries, 'Scope')) ?? ''))
      faults.push(access('7.5', `heading ${heading.number} does not say of what`))
  }
  return faults
}
