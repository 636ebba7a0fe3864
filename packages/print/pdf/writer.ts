import { hash } from 'node:crypto'
import { codeName, type Modules, type PageSize, pictureName } from './canvas.ts'
import { embed } from './embedded.ts'
import { fonts, Shown } from './fonts.ts'
import { greys, metadata, outputIntent, screenColours } from './identification.ts'
import { type NumberedObject, objectStream, plainStream, rowObjects, rowStream, streamObject } from './objects.ts'
import type { PngPicture } from './png.ts'
import { type Marked, type Part, structureObjects, textString } from './structure.ts'

// Numbers of the objects that others name before they are written.
const catalog = 1
const pageTree = 2
const information = 3
const structure = 4
const whole = 5
const resources = 6
const fixed = 6

/** Input for finishing a file. */
interface Finished {
  title: string
  /** In reading order. */
  parts: readonly Part[]
  /** The characters of all pages. */
  shown: readonly Shown[]
  picture?: PngPicture | undefined
  code?: Modules | undefined
}

/** An object stream, and the objects in it. */
interface Container {
  container: number
  objects: readonly NumberedObject[]
}

/**
 * A PDF 1.7 file in the making (ISO 32000-1), as PDF/A-2a (ISO 19005-2) and PDF/UA-1 (ISO 14289-1) ask. Everything but streams stands in one
 * compressed object stream. The same calls always give the same bytes: there is no date in it, and its identifier is a hash of it.
 */
export class PdfWriter {
  #objects = new Map<number, string>()
  #streams = new Map<number, Buffer>()
  #count = fixed
  #pages: { number: number; marks: number }[] = []
  readonly #size: PageSize

  constructor(size: PageSize) {
    this.#size = size
  }

  /** Keeps a content stream; pages share a stream by naming it twice. */
  stream(...content: readonly string[]): number {
    return this.#put(streamObject(Buffer.from(content.join(''), 'latin1'), ''))
  }

  /** Adds a page that shows these streams in order, with their tagged content. */
  page(streams: readonly number[], ...marked: readonly Marked[]): void {
    for (const one of marked) one.page = this.#pages.length
    const references = streams.map((stream) => `${stream} 0 R`).join(' ')
    const contents = streams.length === 1 ? `/Contents ${references}` : `/Contents[${references}]`
    const page = `<</Type/Page/Parent ${pageTree} 0 R/Resources ${resources} 0 R/StructParents ${this.#pages.length}${contents}>>`
    this.#pages.push({ number: this.#object(page), marks: Math.max(...marked.map(({ next }) => next)) })
  }

  /** The finished file. */
  bytes({ title, parts, shown, picture, code }: Finished): Uint8Array {
    const kids = this.#pages.map(({ number }) => `${number} 0 R`).join(' ')
    const writer = {
      object: (body: string) => this.#object(body),
      stream: (object: Buffer) => this.#put(object),
    }
    const faces = fonts.map((font) => embed(font, Shown.inAny(shown, font), writer)).join('')
    const images = [
      picture ? `/${pictureName} ${this.#picture(picture)} 0 R` : '',
      code ? `/${codeName} ${this.#code(code)} 0 R` : '',
    ].join('')
    const pictures = images && `/XObject<<${images}>>`
    const colours = picture ? screenColours : greys
    const intent = outputIntent(colours, this.#put(colours.profile))
    const identification = `/Metadata ${this.#put(metadata(title))} 0 R${intent}`
    this.#objects.set(
      catalog,
      `<</Type/Catalog/Pages ${pageTree} 0 R/Lang(pt-BR)/ViewerPreferences<</DisplayDocTitle true>>/MarkInfo<</Marked true>>/StructTreeRoot ${structure} 0 R${identification}>>`,
    )
    this.#objects.set(
      pageTree,
      `<</Type/Pages/Count ${this.#pages.length}/Kids[${kids}]/MediaBox[0 0 ${this.#size.width} ${this.#size.height}]>>`,
    )
    this.#objects.set(information, `<</Title${textString(title)}/Producer(Vigia Fiscal)>>`)
    this.#objects.set(resources, `<</Font<<${faces}>>${pictures}>>`)
    const { objects, rows, lists, listLength } = structureObjects(parts, {
      root: structure,
      whole,
      pages: this.#pages,
      pageHeight: this.#size.height,
      reserve: (count = 1) => {
        const first = this.#count + 1
        this.#count += count
        return first
      },
    })
    for (const { number, body } of objects) this.#objects.set(number, body)
    // Sorted by number, because the cross-reference table then compresses better.
    const others = [...this.#objects].map(([number, body]) => ({ number, body })).sort((a, b) => a.number - b.number)
    const contained: Container[] = [{ container: this.#put(objectStream(others)), objects: others }]
    if (lists.length > 0) contained.push({ container: this.#put(objectStream(lists, listLength)), objects: lists })
    for (const alike of rows) contained.push({ container: this.#put(rowObjects(alike)), objects: alike })
    return this.#assemble(contained)
  }

  #object(body: string): number {
    this.#objects.set(++this.#count, body)
    return this.#count
  }

  #put(stream: Buffer): number {
    this.#streams.set(++this.#count, stream)
    return this.#count
  }

  #picture({ width, height, data }: PngPicture): number {
    const kind = `/Type/XObject/Subtype/Image/Width ${width}/Height ${height}/ColorSpace/DeviceRGB/BitsPerComponent 8`
    const rows = `/Filter/FlateDecode/DecodeParms<</Predictor 15/Colors 3/Columns ${width}>>`
    return this.#put(plainStream(data, kind + rows))
  }

  // A mask paints where a bit is 0 (ISO 32000-1, 8.9.6.2).
  #code(dark: Modules): number {
    const side = dark.length
    const bits = Buffer.alloc(side * Math.ceil(side / 8), 0xff)
    dark.forEach((row, y) => {
      const from = y * Math.ceil(side / 8)
      row.forEach((set, x) => {
        if (set) bits[from + (x >> 3)]! &= ~(0x80 >> (x & 7))
      })
    })
    const kind = `/Type/XObject/Subtype/Image/Width ${side}/Height ${side}/ImageMask true/BitsPerComponent 1`
    return this.#put(streamObject(bits, kind))
  }

  #assemble(containers: readonly Container[]): Uint8Array {
    // The second line holds bytes above 127, because transports then treat the file as binary (ISO
    // 32000-1, 7.5.2).
    const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')]
    let length = parts[0]!.length
    const offsets = new Map<number, number>()
    const put = (number: number, body: Buffer) => {
      offsets.set(number, length)
      const head = Buffer.from(`${number} 0 obj\n`, 'latin1')
      parts.push(head, body)
      length += head.length + body.length
    }
    for (const [number, body] of this.#streams) put(number, body)
    const id = hash('sha256', Buffer.concat(parts), 'hex').slice(0, 32)
    const table = ++this.#count
    offsets.set(table, length)
    put(table, this.#crossReferences(containers, offsets, id))
    parts.push(Buffer.from(`startxref\n${offsets.get(table)}\n%%EOF\n`, 'latin1'))
    return new Uint8Array(Buffer.concat(parts))
  }

  // ISO 32000-1, 7.5.8: kind of each object, its offset or object stream, and its place there.
  #crossReferences(containers: readonly Container[], offsets: ReadonlyMap<number, number>, id: string): Buffer {
    const [wide, deep] = [4, 3]
    const width = 1 + wide + deep
    const rows = Buffer.alloc((this.#count + 1) * width)
    const put = (number: number, kind: number, where: number, place: number) => {
      rows.writeUInt8(kind, number * width)
      rows.writeUInt32BE(where, number * width + 1)
      rows.writeUIntBE(place, number * width + 1 + wide, deep)
    }
    for (const [number, offset] of offsets) put(number, 1, offset, 0)
    for (const { container, objects } of containers)
      for (const [place, { number }] of objects.entries()) put(number, 2, container, place)
    const entries = `/Type/XRef/Size ${this.#count + 1}/W[1 ${wide} ${deep}]/Root ${catalog} 0 R/Info ${information} 0 R/ID[<${id}><${id}>]`
    return rowStream(rows, width, entries)
  }
}
