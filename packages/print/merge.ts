import { createHash } from 'node:crypto'
import { metadata, outputIntent, screenColours, titleOf } from './pdf/identification.ts'
import { listed, type NumberedObject, objectStream, objectsIn, rowStream } from './pdf/objects.ts'
import { textString } from './pdf/structure.ts'

/** A form of this package on its way into a merged file. */
export interface MergedForm {
  /** Title of its bookmark. */
  title: string
  pdf: Uint8Array
}

// Object numbers shared by all forms; those of each form follow in its own order.
const catalog = 1
const pageTree = 2
const information = 3
const structure = 4
const bookmarks = 5
const profile = 6
const packet = 7
const fixed = 7
// Row of the cross-reference stream: kind, offset or container, place (ISO 32000-1, 7.5.8).
const rowLength = 8

/**
 * Merges forms of this package in order into one PDF 1.7 file (ISO 32000-1) with a bookmark each;
 * PDF/A-2a and PDF/UA-1 like its parts. Yields chunks as forms arrive, because the whole file does
 * not fit in memory. Throws on other bytes.
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
  /** Object numbers of its page root, first page, structure element and bookmark. */
  pages: number
  firstPage: number
  element: number
  bookmark: number
  rows: Rows
}

/** Rows of the cross-reference stream for consecutive numbers; a form of many items has thousands. */
interface Rows {
  first: number
  bytes: Buffer
}

class MergedFile {
  #parts: Buffer[] = []
  #length = 0
  #hash = createHash('sha256')
  #count = fixed
  #pageCount = 0
  #rows: Rows[] = [newRows(0, fixed + 1)]
  #forms: Placed[] = []
  #parents: string[] = []

  head(): Buffer {
    this.#put(Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1'))
    this.#putObject(this.#rows[0]!, profile, screenColours.profile)
    return this.#taken()
  }

  add({ title, pdf }: MergedForm): Buffer {
    const { streams, objects } = readForm(pdf)
    const before = this.#count
    const own = [...streams.keys(), ...objects.keys()].reduce((most, number) => Math.max(most, number), 0)
    const rows = newRows(before + 1, own + 1)
    this.#rows.push(rows)
    this.#count += own + 1
    const renumbered = (body: string) =>
      // Strings stay as they are, and numbers as wide as they are while there is room.
      body.replace(/\((?:[^\\()]|\\.)*\)|( ?)( {0,9}\d{1,9}) 0 R/g, (found, space, number) => {
        if (number === undefined) return found
        const other = Number(number) === structure ? structure : Number(number) + before
        return `${space}${String(other).padStart(number.length)} 0 R`
      })
    const tree = objects.get(pageTree) ?? ''
    const whole = objects.get(catalog) ?? ''
    this.#forms.push({
      title,
      pages: pageTree + before,
      firstPage: Number(/\/Kids\[(\d+)/.exec(tree)?.[1]) + before,
      element: elementOf + before,
      // Reuses the number of the catalog of the form, which is dropped.
      bookmark: catalog + before,
      rows,
    })
    const nums = /\/Nums\[(.*)\]>>/s.exec(objects.get(structure) ?? '')?.[1] ?? ''
    for (const entry of nums.split(']').slice(0, -1)) {
      const [page, elements = ''] = entry.split('[')
      const parents = elements.replace(/ {0,9}(\d{1,9}) 0 R/g, (_, number) => listed(Number(number) + before))
      this.#parents.push(`${Number(page) + this.#pageCount}[${parents}]`)
    }
    const kept: NumberedObject[] = []
    for (const [number, body] of objects) {
      if (number === catalog || number === information || number === structure) continue
      const own = renumbered(body).replace(
        /\/StructParents (\d+)/,
        (_, page) => `/StructParents ${Number(page) + this.#pageCount}`,
      )
      const object = number === pageTree ? own.replace('<<', `<</Parent ${pageTree} 0 R`) : own
      kept.push({ number: number + before, body: object })
    }
    this.#pageCount += Number(/\/Count (\d+)/.exec(tree)?.[1])
    // Objects written once for all forms.
    const shared = /\/(?:Metadata|DestOutputProfile) (\d+)/g
    for (const [, number] of whole.matchAll(shared)) streams.delete(Number(number))
    for (const [number, body] of streams) this.#putObject(rows, number + before, body)
    this.#putContained(this.#count, rows, kept, () => rows)
    return this.#taken()
  }

  tail(title: string): Buffer {
    const name = titleOf(title)
    const [fixedRows] = this.#rows
    this.#putObject(fixedRows!, packet, metadata(name))
    const kids = this.#forms.map(({ pages }) => `${pages} 0 R`).join(' ')
    const last = this.#forms.length - 1
    const ends = last < 0 ? '' : `/First ${this.#forms[0]!.bookmark} 0 R/Last ${this.#forms[last]!.bookmark} 0 R`
    const objects: NumberedObject[] = [
      {
        number: catalog,
        body: `<</Type/Catalog/Pages ${pageTree} 0 R/Lang(pt-BR)/ViewerPreferences<</DisplayDocTitle true>>/MarkInfo<</Marked true>>/StructTreeRoot ${structure} 0 R/Metadata ${packet} 0 R${outputIntent(screenColours, profile)}/Outlines ${bookmarks} 0 R/PageMode/UseOutlines>>`,
      },
      { number: pageTree, body: `<</Type/Pages/Count ${this.#pageCount}/Kids[${kids}]>>` },
      { number: information, body: `<</Title${textString(name)}/Producer(Vigia Fiscal)>>` },
      {
        number: structure,
        body: `<</Type/StructTreeRoot/K[${this.#forms.map(({ element }) => `${element} 0 R`).join(' ')}]/ParentTree<</Nums[${this.#parents.join('')}]>>>>`,
      },
      { number: bookmarks, body: `<</Type/Outlines/Count ${this.#forms.length}${ends}>>` },
    ]
    for (const [i, { title, bookmark, firstPage }] of this.#forms.entries()) {
      const previous = i === 0 ? '' : `/Prev ${this.#forms[i - 1]!.bookmark} 0 R`
      const next = i === last ? '' : `/Next ${this.#forms[i + 1]!.bookmark} 0 R`
      const entry = textString(titleOf(title))
      objects.push({
        number: bookmark,
        body: `<</Title${entry}/Parent ${bookmarks} 0 R${previous}${next}/Dest[${firstPage} 0 R/Fit]>>`,
      })
    }
    const end = newRows(this.#count + 1, 2)
    this.#rows.push(end)
    const [container, table] = [++this.#count, ++this.#count]
    this.#putContained(container, end, objects, (i) => this.#forms[i - bookmarks]?.rows ?? fixedRows!)
    const at = this.#length
    writeRow(end, table, 1, at, 0)
    const id = this.#hash.digest('hex').slice(0, 32)
    const entries = `/Type/XRef/Size ${this.#count + 1}/W[1 4 3]/Root ${catalog} 0 R/Info ${information} 0 R/ID[<${id}><${id}>]`
    const rows = Buffer.concat(this.#rows.map(({ bytes }) => bytes))
    return Buffer.concat([
      this.#taken(),
      named(table, rowStream(rows, rowLength, entries)),
      Buffer.from(`startxref\n${at}\n%%EOF\n`, 'latin1'),
    ])
  }

  #put(bytes: Buffer): void {
    this.#parts.push(bytes)
    this.#hash.update(bytes)
    this.#length += bytes.length
  }

  #putObject(rows: Rows, number: number, body: Buffer): void {
    writeRow(rows, number, 1, this.#length, 0)
    this.#put(named(number, body))
  }

  /** Puts objects into an object stream; `rowsOf` tells where the row of each is. */
  #putContained(container: number, own: Rows, objects: readonly NumberedObject[], rowsOf: (i: number) => Rows): void {
    for (const [place, { number }] of objects.entries()) writeRow(rowsOf(place), number, 2, container, place)
    this.#putObject(own, container, objectStream(objects))
  }

  /** Takes the data put since the last call. */
  #taken(): Buffer {
    return Buffer.concat(this.#parts.splice(0))
  }
}

function newRows(first: number, count: number): Rows {
  return { first, bytes: Buffer.alloc(count * rowLength) }
}

function writeRow({ first, bytes }: Rows, number: number, kind: number, where: number, place: number): void {
  const at = (number - first) * rowLength
  bytes.writeUInt8(kind, at)
  bytes.writeUInt32BE(where, at + 1)
  bytes.writeUIntBE(place, at + 5, 3)
}

// The element of a whole form, among the objects of its own file.
const elementOf = 5

interface FormObjects {
  /** Dictionary and data as in the file; none references another object. */
  streams: Map<number, Buffer>
  objects: Map<number, string>
}

// A file of `PdfWriter`: streams one after the other, among them those with all other objects, and the table at the end.
function readForm(pdf: Uint8Array): FormObjects {
  const file = Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength)
  const streams = new Map<number, Buffer>()
  const objects = new Map<number, string>()
  for (let at = file.indexOf('\n', 10) + 1; ; ) {
    const headEnd = file.indexOf(beginning, at)
    const head = headEnd < 0 ? null : /^(\d+) 0 obj\n(<<.*>>)$/s.exec(file.toString('latin1', at, headEnd))
    const length = Number(/\/Length (\d+)/.exec(head?.[2] ?? '')?.[1])
    if (!head || !Number.isInteger(length)) throw new Error('this is no form of this package')
    const end = headEnd + beginning.length + length + ending.length
    if (head[2]!.includes('/Type/XRef')) break
    const bodyAt = at + head[1]!.length + ' 0 obj\n'.length
    if (head[2]!.includes('/Type/ObjStm')) {
      const data = file.subarray(headEnd + beginning.length, headEnd + beginning.length + length)
      for (const [number, body] of objectsIn(data, head[2]!)) objects.set(number, body)
    } else streams.set(Number(head[1]), file.subarray(bodyAt, end))
    at = end
  }
  if (objects.size === 0) throw new Error('this is no form of this package')
  return { streams, objects }
}

const beginning = 'stream\n'
const ending = '\nendstream\nendobj\n'

function named(number: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${number} 0 obj\n`, 'latin1'), body])
}
