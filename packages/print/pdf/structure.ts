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

/** Role of a part for a screen reader (ISO 32000-1, 14.8.4). */
export type Role = 'Document' | 'Sect' | 'H1' | 'H2' | 'P' | 'Figure' | 'Table' | 'TR' | 'TH' | 'TD'

/** A part of a document: texts and pictures, or further parts, in reading order. */
export interface Part {
  role: Role
  kids: (Part | Mark)[]
  /** Cells of a table row without kids. */
  cells: Cells | undefined
  /** For figures: alternative text, and area in points from the top left corner. */
  alt: string | undefined
  area: { x: number; y: number; width: number; height: number } | undefined
  /** For a heading: number of columns it spans. */
  columns: number
  /** Object number of its element, once it has one, and the part that contains it. */
  number: number
  parent: Part | undefined
}

/** Cells of a row with one mark each, the empty ones without. */
interface Cells {
  marked: Marked
  parts: readonly Part[]
}

/** Tagged content of a canvas: page from 0, its offset downwards, and number of the next mark. */
export interface Marked {
  page: number
  lowered: number
  next: number
}

/** A piece of a part that a sheet draws in one go. */
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
  /** Reserves one or more object numbers; returns the first. */
  reserve(count?: number): number
}

/**
 * Objects of a structure; apart from them objects that differ only in numbers, and lists of long
 * tables that share their first bytes.
 */
interface Structure {
  objects: NumberedObject[]
  rows: NumberedObject[][]
  lists: NumberedObject[]
  listLength: number
}

// Fewer cells have rows that pack better among the other objects.
const apartFrom = 300

/**
 * The objects of the structure of a document (ISO 32000-1, 14.7): an element for each part, with the marks it consists of by page and number,
 * and the way back from each mark to its part. Elements of one mark have numbers in the order of the marks: each differs from the one before by one.
 */
export function structureObjects(parts: readonly Part[], around: Surroundings): Structure {
  const { pages, reserve } = around
  const document = newPart('Document')
  document.kids = [...parts]
  document.number = around.whole
  const byMark = pages.map(({ marks }) => new Array<Part | undefined>(marks).fill(undefined))
  const holding: Part[] = []
  const rows: Part[] = []
  collect(document, byMark, holding, rows)
  const leaves = new Map<Role, Part[]>()
  const others: Part[] = []
  for (const marks of byMark) {
    for (const part of marks) {
      // A part with several marks was already numbered.
      if (part === undefined || part.number !== 0) continue
      if (isLeaf(part)) {
        const alike = leaves.get(part.role)
        if (alike) alike.push(part)
        else leaves.set(part.role, [part])
      } else {
        part.number = reserve()
        others.push(part)
      }
    }
  }
  for (const part of holding) {
    part.number = reserve()
    others.push(part)
  }
  for (const alike of leaves.values()) {
    let number = reserve(alike.length)
    for (const part of alike) part.number = number++
  }
  const owners = byMark.map((marks) => {
    const numbers = new Int32Array(marks.length)
    for (let id = 0; id < marks.length; id++) numbers[id] = marks[id]?.number ?? 0
    return numbers
  })
  const count = rows.reduce((sum, { cells }) => sum + cells!.parts.length, 0)
  const isFew = count < apartFrom
  const { groups, cells, last } = rowElements(rows, count, owners, around, isFew)
  const objects = others.map((part) => ({ number: part.number, body: element(part, around) }))
  const whole = { number: document.number, body: element(document, around) }
  let tree = `<</Type/StructTreeRoot/K ${around.whole} 0 R/ParentTree<</Nums[`
  for (const [page, numbers] of owners.entries()) {
    tree = `${isFew ? beforeRow(tree, `${page}[`) : `${tree}${page}[`}${references(numbers)}]`
  }
  const root = { number: around.root, body: `${tree}]>>>>` }
  const room = {
    number: roomFor(last),
    page: roomFor(pages.at(-1)!.number),
    mark: roomFor(pages.reduce((most, { marks }) => Math.max(most, marks), 0)),
  }
  const single = [...leaves].map(([role, alike]) => ({
    first: alike[0]!.number,
    shape: leafShape(role, room),
    numbers: leafNumbers(alike, pages),
  }))
  if (cells) single.push({ first: cells.first, shape: leafShape('TD', room), numbers: cells.numbers })
  if (isFew) {
    return {
      objects: [root, whole, ...objects, ...groups.flatMap(separately)],
      rows: [single.flatMap(separately)],
      lists: [],
      listLength: 0,
    }
  }
  const lists = objects.filter((_, i) => others[i]!.role === 'Table')
  return {
    objects: [whole, ...objects.filter((one) => !lists.includes(one))],
    rows: [...groups.map(separately), single.flatMap(separately)],
    lists: [root, ...lists],
    listLength: listed(0).length * marksIn(rows[0]!),
  }
}

// Sets parents and the part of each mark; collects parts without marks, and rows of tables.
function collect(part: Part, byMark: (Part | undefined)[][], holding: Part[], rows: Part[]): void {
  for (const kid of part.kids) {
    if (!isPart(kid)) {
      byMark[kid.marked.page]![kid.id] = part
      continue
    }
    kid.parent = part
    if (kid.cells) rows.push(kid)
    else {
      const [first] = kid.kids
      if (!first || isPart(first)) holding.push(kid)
      collect(kid, byMark, holding, rows)
    }
  }
}

// An element that has one mark and nothing else of its own.
function isLeaf({ role, kids, alt }: Part): boolean {
  return kids.length === 1 && role !== 'TH' && alt === undefined
}

function leafNumbers(alike: readonly Part[], pages: Surroundings['pages']): Int32Array {
  const numbers = new Int32Array(3 * alike.length)
  let at = 0
  for (const { parent, kids } of alike) {
    const { marked, id } = kids[0] as Mark
    numbers[at++] = parent!.number
    numbers[at++] = pages[marked.page]!.number
    numbers[at++] = id
  }
  return numbers
}

// The role of a leaf has two letters at most.
function leafShape(role: Role, { number, page, mark }: Record<'number' | 'page' | 'mark', string>): string {
  return `${begin(role, false).padEnd(7)}/P${number} 0 R/Pg${page} 0 R/K${mark}>>`
}

function marksIn({ cells }: Part): number {
  return Math.max(1, cells!.parts.filter(({ kids }) => kids.length > 0).length)
}

// Rows with equal numbers of cells differ only in numbers, as do all cells.
function rowElements(
  rows: readonly Part[],
  count: number,
  owners: readonly Int32Array[],
  around: Surroundings,
  isFew: boolean,
): { groups: ObjectRows[]; cells?: Pick<ObjectRows, 'first' | 'numbers'>; last: number } {
  const { pages, reserve } = around
  if (rows.length === 0) return { groups: [], last: reserve(0) - 1 }
  const groups = [...Map.groupBy(rows, ({ cells }) => cells!.parts.length)].map(([columns, same]) => {
    return { columns, same, first: reserve(same.length), numbers: new Int32Array(same.length * (columns + 1)) }
  })
  const first = reserve(count)
  const numbers = new Int32Array(3 * count)
  let cell = first
  let at = 0
  for (const group of groups) {
    let to = 0
    for (const [n, row] of group.same.entries()) {
      const { marked, parts } = row.cells!
      const { number } = pages[marked.page]!
      const own = owners[marked.page]!
      row.number = group.first + n
      group.numbers[to++] = row.parent!.number
      for (const { kids } of parts) {
        const mark = kids[0] as Mark | undefined
        numbers[at++] = row.number
        numbers[at++] = number
        numbers[at++] = mark?.id ?? -1
        if (mark) own[mark.id] = cell
        group.numbers[to++] = cell++
      }
    }
  }
  // A few have the widths of all other elements.
  const reference = `${isFew ? '#'.repeat(aligned(cell).length) : roomFor(cell)} 0 R`
  const shapeOf = (columns: number) => {
    const cells = Array<string>(columns).fill(reference)
    const before = `${begin('TR', isFew)}/P${reference}/K[`
    return `${isFew ? rowsOfReferences(before, cells) : before + cells.join('')}]>>`
  }
  return {
    groups: groups.map(({ first, columns, numbers }) => ({ first, shape: shapeOf(columns), numbers })),
    cells: { first, numbers },
    last: cell - 1,
  }
}

// The name of the type may be left away (ISO 32000-1, 14.7.2).
function begin(role: Role, isWide: boolean): string {
  return `<</S/${isWide ? role.padEnd(4) : role}`
}

export function isPart(kid: Part | Mark): kid is Part {
  return 'role' in kid
}

function element(part: Part, { root, pages, pageHeight }: Surroundings): string {
  // Most marks are on one page, which the element names; the others name their own.
  let page = -1
  let content = ''
  for (const kid of part.kids) {
    if (isPart(kid)) continue
    const { marked, id } = kid
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
