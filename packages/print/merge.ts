import { deflateSync, inflateSync } from 'node:zlib'

/** A form of this package on its way into a merged file. */
export interface MergedForm {
  /** What its bookmark says. */
  title: string
  pdf: Uint8Array
}

// Numbers of the objects of the merged file that all forms share; those of a form follow, in the order in which it has them.
const catalog = 1
const pageTree = 2
const information = 3
const structure = 4
const bookmarks = 5
const fixed = 5

/**
 * One PDF 1.7 file of many forms of this package (ISO 32000-1), each with its pages, its structure and a bookmark, in their order. Its parts
 * are yielded as the forms come, so that memory does not grow with the file. Throws on bytes that this package has not written.
 */
export async function* mergeForms(title: string, forms: AsyncIterable<MergedForm>): AsyncGenerator<Uint8Array> {
  const file = new MergedFile()
  yield file.head()
  for await (const form of forms) yield file.add(form)
  yield file.tail(title)
}

/** A form that is in the file: where its bookmark leads, and how many pages it has. */
interface Placed {
  title: string
  /** Of the root of its pages, its first page, its element of the structure and its bookmark. */
  pages: number
  firstPage: number
  element: number
  bookmark: number
}

/** Where an object is: its offset, or the object stream it is in and its place there. */
type Place = { offset: number } | { container: number; at: number }

class MergedFile {
  #length = 0
  #count = fixed
  #pageCount = 0
  #places = new Map<number, Place>()
  #forms: Placed[] = []
  #parents: string[] = []

  head(): Buffer {
    return this.#put([Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')])
  }

  add({ title, pdf }: MergedForm): Buffer {
    const { streams, objects } = readForm(pdf)
    const before = this.#count
    this.#count += Math.max(...streams.keys(), ...objects.keys())
    const renumbered = (body: string) =>
      body.replace(/(?<!\d)(\d{1,9}) 0 R/g, (_, number) =>
        Number(number) === structure ? `${structure} 0 R` : `${Number(number) + before} 0 R`,
      )
    const tree = objects.get(pageTree) ?? ''
    this.#forms.push({
      title,
      pages: pageTree + before,
      firstPage: Number(/\/Kids\[(\d+)/.exec(tree)?.[1]) + before,
      element: elementOf + before,
      // The catalog of the form is not needed any more.
      bookmark: catalog + before,
    })
    const nums = /\/Nums\[(.*)\]>>/s.exec(objects.get(structure) ?? '')?.[1] ?? ''
    for (const entry of nums.split(']').slice(0, -1)) {
      const [page, elements = ''] = entry.split('[')
      this.#parents.push(`${Number(page) + this.#pageCount}[${renumbered(elements)}]`)
    }
    const kept = new Map<number, string>()
    for (const [number, body] of objects) {
      if (number === catalog || number === information || number === structure) continue
      const own = renumbered(body).replace(
        /\/StructParents (\d+)/,
        (_, page) => `/StructParents ${Number(page) + this.#pageCount}`,
      )
      kept.set(number + before, number === pageTree ? own.replace('<<', `<</Parent ${pageTree} 0 R`) : own)
    }
    this.#pageCount += Number(/\/Count (\d+)/.exec(tree)?.[1])
    const parts: Buffer[] = []
    for (const [number, body] of streams) parts.push(this.#object(number + before, body, parts))
    return this.#put([...parts, this.#objectStream(kept, parts)])
  }

  tail(title: string): Buffer {
    const kids = this.#forms.map(({ pages }) => `${pages} 0 R`).join(' ')
    const objects = new Map<number, string>([
      [
        catalog,
        `<</Type/Catalog/Pages ${pageTree} 0 R/Lang(pt-BR)/ViewerPreferences<</DisplayDocTitle true>>/MarkInfo<</Marked true>>/StructTreeRoot ${structure} 0 R/Outlines ${bookmarks} 0 R/PageMode/UseOutlines>>`,
      ],
      [pageTree, `<</Type/Pages/Count ${this.#pageCount}/Kids[${kids}]>>`],
      [information, `<</Title${text(title)}/Creator(Vigia Fiscal)/Producer(Vigia Fiscal)>>`],
      [
        structure,
        `<</Type/StructTreeRoot/K[${this.#forms.map(({ element }) => `${element} 0 R`).join(' ')}]/ParentTree<</Nums[${this.#parents.join('')}]>>>>`,
      ],
    ])
    const last = this.#forms.length - 1
    const ends = last < 0 ? '' : `/First ${this.#forms[0]!.bookmark} 0 R/Last ${this.#forms[last]!.bookmark} 0 R`
    objects.set(bookmarks, `<</Type/Outlines/Count ${this.#forms.length}${ends}>>`)
    for (const [i, { title, bookmark, firstPage }] of this.#forms.entries()) {
      const previous = i === 0 ? '' : `/Prev ${this.#forms[i - 1]!.bookmark} 0 R`
      const next = i === last ? '' : `/Next ${this.#forms[i + 1]!.bookmark} 0 R`
      objects.set(
        bookmark,
        `<</Title${text(title)}/Parent ${bookmarks} 0 R${previous}${next}/Dest[${firstPage} 0 R/Fit]>>`,
      )
    }
    const parts: Buffer[] = []
    parts.push(this.#objectStream(objects, parts))
    const table = ++this.#count
    const at = this.#length + size(parts)
    this.#places.set(table, { offset: at })
    parts.push(named(table, this.#crossReferences()), Buffer.from(`startxref\n${at}\n%%EOF\n`, 'latin1'))
    return this.#put(parts)
  }

  #object(number: number, body: Buffer, before: readonly Buffer[]): Buffer {
    this.#places.set(number, { offset: this.#length + size(before) })
    return named(number, body)
  }

  #objectStream(objects: ReadonlyMap<number, string>, before: readonly Buffer[]): Buffer {
    const container = ++this.#count
    let numbers = ''
    let bodies = ''
    let at = 0
    for (const [number, body] of objects) {
      this.#places.set(number, { container, at: at++ })
      numbers += `${number} ${bodies.length} `
      bodies += `${body} `
    }
    const entries = `/Type/ObjStm/N ${objects.size}/First ${numbers.length}`
    return this.#object(container, packed(Buffer.from(numbers + bodies, 'latin1'), entries), before)
  }

  // ISO 32000-1, 7.5.8, with four bytes for offsets and two for places.
  #crossReferences(): Buffer {
    const rows = Buffer.alloc((this.#count + 1) * 7)
    for (const [number, place] of this.#places) {
      const row = number * 7
      rows.writeUInt8('offset' in place ? 1 : 2, row)
      rows.writeUInt32BE('offset' in place ? place.offset : place.container, row + 1)
      rows.writeUInt16BE('offset' in place ? 0 : place.at, row + 5)
    }
    const entries = `/Type/XRef/Size ${this.#count + 1}/W[1 4 2]/Root ${catalog} 0 R/Info ${information} 0 R`
    return packed(rows, entries)
  }

  #put(parts: readonly Buffer[]): Buffer {
    this.#length += size(parts)
    return Buffer.concat(parts)
  }
}

// The element of a whole form, among the objects of its own file.
const elementOf = 5

interface FormObjects {
  /** Dictionary and data as they stand in the file; none names another object. */
  streams: Map<number, Buffer>
  objects: Map<number, string>
}

// A file of `PdfWriter`: streams one after the other, among them one with all other objects, and the table at the end.
function readForm(pdf: Uint8Array): FormObjects {
  const file = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength)
  const streams = new Map<number, Buffer>()
  let objects: Map<number, string> | undefined
  for (let at = file.indexOf('\n', 10) + 1; ; ) {
    const headEnd = file.indexOf(beginning, at)
    const head = headEnd < 0 ? null : /^(\d+) 0 obj(<<.*>>)$/s.exec(file.toString('latin1', at, headEnd))
    const length = Number(/\/Length (\d+)/.exec(head?.[2] ?? '')?.[1])
    if (!head || !Number.isInteger(length)) throw new Error('this is no form of this package')
    const end = headEnd + beginning.length + length + ending.length
    if (head[2]!.includes('/Type/XRef')) break
    const bodyAt = at + head[1]!.length + ' 0 obj'.length
    if (head[2]!.includes('/Type/ObjStm')) {
      const data = file.subarray(headEnd + beginning.length, headEnd + beginning.length + length)
      objects = contained(head[2]!, head[2]!.includes('/FlateDecode') ? inflateSync(data) : data)
    } else streams.set(Number(head[1]), file.subarray(bodyAt, end))
    at = end
  }
  if (!objects) throw new Error('this is no form of this package')
  return { streams, objects }
}

const beginning = 'stream\n'
const ending = '\nendstream\nendobj\n'

function contained(head: string, data: Buffer): Map<number, string> {
  const content = data.toString('latin1')
  const first = Number(/\/First (\d+)/.exec(head)?.[1])
  const numbers = content.slice(0, first).trim().split(' ').map(Number)
  const places = Array.from({ length: numbers.length / 2 }, (_, i) => ({
    number: numbers[2 * i]!,
    at: first + numbers[2 * i + 1]!,
  }))
  return new Map(
    places.map(({ number, at }, i) => [number, content.slice(at, places[i + 1]?.at ?? content.length).trim()]),
  )
}

function size(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

function named(number: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${number} 0 obj`, 'latin1'), body])
}

function packed(content: Buffer, entries: string): Buffer {
  const data = deflateSync(content)
  const head = `<<${entries}/Length ${data.length}/Filter/FlateDecode>>${beginning}`
  return Buffer.concat([Buffer.from(head, 'latin1'), data, Buffer.from(ending, 'latin1')])
}

// UTF-16, with the mark that says so (ISO 32000-1, 7.9.2.2): a name may have any character.
function text(value: string): string {
  return `<${Buffer.from(`\uFEFF${value.toWellFormed()}`, 'utf16le').swap16().toString('hex')}>`
}
