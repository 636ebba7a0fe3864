import {
  aligned,
  beforeRow,
  listed,
  type NumberedObject,
  type ObjectRows,
  references,
  roomFor,
  rowsOfReferences,
  separately,
} from './objects.ts'

/** What a part of a document is for a screen reader (ISO 32000-1, 14.8.4). */
export type Role = 'Document' | 'Sect' | 'H1' | 'H2' | 'P' | 'Figure' | 'Table' | 'TR' | 'TH' | 'TD'

/** A part of a document: texts and pictures, or further parts, in reading order. */
export interface Part {
  role: Role
  kids: (Part | Mark)[]
  /** Of a row of a table that has no kids: its cells. */
  cells: Cells | undefined
  /** Of a figure: what it shows, and where, in points from the top left corner. */
  alt: string | undefined
  area: { x: number; y: number; width: number; height: number } | undefined
  /** Of the heading of columns: how many they are. */
  columns: number
  /** Of its element, once it has one, and the part that it is in. */
  number: number
  parent: Part | undefined
}

/** Columns of a table at most: a number has bits for no more. */
export const columnsMax = 31

/** Cells of a row with one mark each, the empty ones without. */
export interface Cells {
  marked: Marked
  /** Number of the first mark. */
  first: number
  /** Bits of the columns that have a mark. */
  filled: number
  columns: number
}

/** What is to be read of a canvas: the number of its page from 0, how much lower than drawn it stands there, and the number of its next mark. */
export interface Marked {
  page: number
  lowered: number
  next: number
}

/** What a sheet draws of a part in one go. */
export interface Mark {
  marked: Marked
  id: number
}

export function newPart(role: Role): Part {
  return { role, kids: [], cells: undefined, alt: undefined, area: undefined, columns: 1, number: 0, parent: undefined }
}

/** The objects around the tree. */
interface Surroundings {
  root: number
  whole: number
  /** Numbers of the objects of the pages, and how many marks each has. */
  pages: readonly { number: number; marks: number }[]
  pageHeight: number
  /** Gives the number of the next object, or of the first of several. */
  reserve(count?: number): number
}

/** The objects of a structure: apart when they are many are the rows of tables and their cells, and what lists these, of which so many bytes are alike. */
interface Structure {
  objects: NumberedObject[]
  rows: ObjectRows[]
  lists: NumberedObject[]
  listLength: number
}

// Fewer rows and cells pack better among the other objects.
const apartFrom = 300

/**
 * The objects of the structure of a document (ISO 32000-1, 14.7): an element for each part, with the marks it consists of by page and number,
 * and the way back from each mark to its part. Elements of marks have numbers in the order of the marks: each differs from the one before by one.
 */
export function structureObjects(parts: readonly Part[], around: Surroundings): Structure {
  const document = newPart('Document')
  document.kids = [...parts]
  document.number = around.whole
  const marked: Part[] = []
  const holding: Part[] = []
  const rows: Part[] = []
  const collect = (part: Part) => {
    for (const kid of part.kids) {
      if (!isPart(kid)) continue
      kid.parent = part
      if (kid.cells) rows.push(kid)
      else {
        const [first] = kid.kids
        if (first && !isPart(first)) marked.push(kid)
        else holding.push(kid)
        collect(kid)
      }
    }
  }
  collect(document)
  const firstMark = ({ kids: [first] }: Part) => first as Mark
  marked.sort((a, b) => {
    const [one, other] = [firstMark(a), firstMark(b)]
    return one.marked.page - other.marked.page || one.id - other.id
  })
  const alone = [...marked, ...holding]
  for (const part of alone) part.number = around.reserve()
  const owners = around.pages.map(({ marks }) => new Int32Array(marks))
  const isFew = rows.reduce((sum, { cells }) => sum + cells!.columns, 0) < apartFrom
  const alike = rowElements(rows, owners, around, isFew)
  const objects = alone.map((part) => ({ number: part.number, body: element(part, owners, around) }))
  const whole = { number: document.number, body: element(document, owners, around) }
  let tree = `<</Type/StructTreeRoot/K ${around.whole} 0 R/ParentTree<</Nums[`
  for (const [page, numbers] of owners.entries()) {
    tree = `${isFew ? beforeRow(tree, `${page}[`) : `${tree}${page}[`}${references(numbers)}]`
  }
  const root = { number: around.root, body: `${tree}]>>>>` }
  if (isFew) {
    return { objects: [root, whole, ...objects, ...alike.flatMap(separately)], rows: [], lists: [], listLength: 0 }
  }
  const lists = objects.filter((_, i) => alone[i]!.role === 'Table')
  return {
    objects: [whole, ...objects.filter((one) => !lists.includes(one))],
    rows: alike,
    lists: [root, ...lists],
    listLength: listed(0).length * marksIn(rows[0]!),
  }
}

function marksIn({ cells }: Part): number {
  let count = 0
  for (let bits = cells!.filled; bits !== 0; bits &= bits - 1) count++
  return Math.max(1, count)
}

// Rows of as many cells are alike, and so are all cells.
function rowElements(
  rows: readonly Part[],
  owners: readonly Int32Array[],
  around: Surroundings,
  isFew: boolean,
): ObjectRows[] {
  if (rows.length === 0) return []
  const { pages, reserve } = around
  const groups = [...Map.groupBy(rows, ({ cells }) => cells!.columns)].map(([columns, same]) => {
    return { columns, same, first: reserve(same.length), numbers: new Int32Array(same.length * (columns + 1)) }
  })
  const count = rows.reduce((sum, { cells }) => sum + cells!.columns, 0)
  const first = reserve(count)
  const numbers = new Int32Array(3 * count)
  let cell = first
  let at = 0
  for (const group of groups) {
    let to = 0
    for (const [n, row] of group.same.entries()) {
      const { marked, filled, columns, first } = row.cells!
      const { number } = pages[marked.page]!
      const own = owners[marked.page]!
      let mark = first
      row.number = group.first + n
      group.numbers[to++] = row.parent!.number
      for (let column = 0; column < columns; column++) {
        const isFilled = (filled >> column) & 1
        numbers[at++] = row.number
        numbers[at++] = number
        numbers[at++] = isFilled ? mark : -1
        if (isFilled) own[mark++] = cell
        group.numbers[to++] = cell++
      }
    }
  }
  // A few have the widths of all other elements.
  const room = (most: number) => (isFew ? '#'.repeat(aligned(most).length) : roomFor(most))
  const reference = `${room(cell)} 0 R`
  const page = `${room(pages.at(-1)!.number)} 0 R`
  const mark = room(pages.reduce((most, { marks }) => Math.max(most, marks), 0))
  const shapeOf = (columns: number) => {
    const cells = Array<string>(columns).fill(reference)
    const before = `${begin('TR', isFew)}/P${reference}/K[`
    return `${isFew ? rowsOfReferences(before, cells) : before + cells.join('')}]>>`
  }
  return [
    ...groups.map(({ first, columns, numbers }) => ({ first, shape: shapeOf(columns), numbers })),
    { first, shape: `${begin('TD', isFew)}/P${reference}/Pg${page}/K${mark}>>`, numbers },
  ]
}

// The name of the type may be left away (ISO 32000-1, 14.7.2).
function begin(role: Role, isWide: boolean): string {
  return `<</S/${isWide ? role.padEnd(4) : role}`
}

export function isPart(kid: Part | Mark): kid is Part {
  return 'role' in kid
}

function element(part: Part, owners: readonly Int32Array[], { root, pages, pageHeight }: Surroundings): string {
  // Most marks are on one page, which the element names; the others name their own.
  let page = -1
  let content = ''
  for (const kid of part.kids) {
    if (isPart(kid)) continue
    const { marked, id } = kid
    owners[marked.page]![id] = part.number
    if (page === -1) page = marked.page
    content +=
      marked.page === page ? aligned(id) : `<</Type/MCR/Pg ${pages[marked.page]!.number} 0 R/MCID ${aligned(id)}>>`
  }
  if (content === '') content = references(part.kids.filter(isPart).map(({ number }) => number))
  const on = page === -1 ? '' : `/Pg${listed(pages[page]!.number)}`
  const kids = content === '' ? '' : part.kids.length === 1 ? `/K${content}` : `/K[${content}]`
  return `${begin(part.role, true)}/P${listed(part.parent?.number ?? root)}${on}${kids}${attributes(part, pageHeight)}>>`
}

function attributes({ role, kids, alt, area, columns }: Part, pageHeight: number): string {
  if (role === 'TH') return `/A<</O/Table/Scope/Column${columns > 1 ? `/ColSpan ${columns}` : ''}>>`
  if (alt === undefined || !area) return ''
  const [mark] = kids
  const top = pageHeight - area.y - (mark && !isPart(mark) ? mark.marked.lowered : 0)
  const box = [area.x, top - area.height, area.x + area.width, top].map((edge) => Math.round(edge * 100) / 100)
  return `/Alt${textString(alt)}/A<</O/Layout/BBox[${box.join(' ')}]>>`
}

/** A text for people outside of the pages: as it is in PDFDocEncoding, which has these at their code points, else in UTF-16 (ISO 32000-1, 7.9.2.2). */
export function textString(text: string): string {
  if (/^[\x20-\x7e\xa1-\xac\xae-\xff]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`
  return `<${Buffer.from(`\uFEFF${text.toWellFormed()}`, 'utf16le').swap16().toString('hex')}>`
}
