import { aligned, listed, type NumberedObject } from './objects.ts'

/** What a part of a document is for a screen reader (ISO 32000-1, 14.8.4). */
export type Role = 'Document' | 'Sect' | 'H1' | 'H2' | 'P' | 'Figure' | 'Table' | 'TR' | 'TH' | 'TD'

/** A part of a document: texts and pictures, or further parts, in reading order. */
export interface Part {
  role: Role
  kids: (Part | Mark)[]
  /** Of a figure: what it shows, and where, in points from the top left corner. */
  alt?: string
  area?: { x: number; y: number; width: number; height: number }
  /** Of the heading of columns: how many they are. */
  columns?: number | undefined
  /** To its element, once it has one. */
  reference?: string | undefined
}

/** What a sheet draws of a part in one go; without a part it says nothing that is to be read. */
export interface Mark {
  part: Part | undefined
  operators: string
  /** Where it is, once its page is known: number of the page from 0, number on the page, how much lower than drawn. */
  page: number
  id: number
  lowered: number
}

/** The objects around the tree. */
interface Surroundings {
  root: number
  whole: number
  pages: readonly { number: number; marks: readonly Mark[] }[]
  pageHeight: number
  /** Gives the number of the next object. */
  reserve(): number
}

/**
 * The objects of the structure of a document (ISO 32000-1, 14.7): an element for each part, with the marks it consists of by page and number,
 * and the way back from each mark to its part. Those of a role stand together, because they are alike.
 */
export function structureObjects(
  parts: readonly Part[],
  { root, whole, pages, pageHeight, reserve }: Surroundings,
): NumberedObject[] {
  const byRole = new Map<Role, NumberedObject[]>()
  const element = (part: Part, parent: string, number: number): void => {
    const reference = listed(number)
    part.reference = reference
    // Most marks are on one page, which the element names; the others name their own.
    let page = -1
    let content = ''
    for (const kid of part.kids) {
      if (!isMark(kid)) {
        const inner = reserve()
        element(kid, reference, inner)
        content += kid.reference
        continue
      }
      if (page === -1) page = kid.page
      content +=
        kid.page === page ? aligned(kid.id) : `<</Type/MCR/Pg ${pages[kid.page]!.number} 0 R/MCID ${aligned(kid.id)}>>`
    }
    const on = page === -1 ? '' : `/Pg ${listed(pages[page]!.number)}`
    const kids = content === '' ? '' : part.kids.length === 1 ? `/K ${content}` : `/K[${content}]`
    const body = `<</Type/StructElem/S/${part.role}/P ${parent}${on}${kids}${attributes(part, pageHeight)}>>`
    const same = byRole.get(part.role)
    if (same) same.push({ number, body })
    else byRole.set(part.role, [{ number, body }])
  }
  element({ role: 'Document', kids: [...parts] }, listed(root), whole)
  const tree = pages.map(({ marks }, page) => `${page}[${marks.map(({ part }) => part!.reference).join('')}]`)
  const body = `<</Type/StructTreeRoot/K ${whole} 0 R/ParentTree<</Nums[${tree.join('')}]>>>>`
  return [...[...byRole.values()].flat(), { number: root, body }]
}

function isMark(kid: Part | Mark): kid is Mark {
  return 'operators' in kid
}

function attributes({ role, kids, alt, area, columns = 1 }: Part, pageHeight: number): string {
  if (role === 'TH') return `/A<</O/Table/Scope/Column${columns > 1 ? `/ColSpan ${columns}` : ''}>>`
  if (alt === undefined || !area) return ''
  const [mark] = kids
  const top = pageHeight - area.y - (mark && isMark(mark) ? mark.lowered : 0)
  const box = [area.x, top - area.height, area.x + area.width, top].map((edge) => Math.round(edge * 100) / 100)
  return `/Alt${textString(alt)}/A<</O/Layout/BBox[${box.join(' ')}]>>`
}

/** A text for people outside of the pages: as it is in PDFDocEncoding, which has these at their code points, else in UTF-16 (ISO 32000-1, 7.9.2.2). */
export function textString(text: string): string {
  if (/^[\x20-\x7e\xa1-\xac\xae-\xff]*$/.test(text)) return `(${text.replace(/[\\()]/g, '\\$&')})`
  return `<${Buffer.from(`\uFEFF${text.toWellFormed()}`, 'utf16le').swap16().toString('hex')}>`
}
