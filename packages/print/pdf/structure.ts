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
  columns?: number
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

/** The numbers of the objects around the tree. */
interface Surroundings {
  root: number
  whole: number
  pages: readonly { number: number; marks: readonly Mark[] }[]
  pageHeight: number
  /** Gives the number of the next object, and writes it. */
  reserve(): number
  write(number: number, body: string): void
}

/**
 * Writes the structure of a document (ISO 32000-1, 14.7): an element for each part, the marks it consists of by page and number, and the way
 * back from each mark to its part.
 */
export function writeStructure(
  parts: readonly Part[],
  { root, whole, pages, pageHeight, reserve, write }: Surroundings,
): void {
  const numbers = new Map<Part, number>()
  const element = (part: Part, parent: number, number: number): void => {
    numbers.set(part, number)
    // Most marks are on one page, which the element names; the others name their own.
    const own = part.kids.find(isMark)?.page
    const kids = part.kids.map((kid) => {
      if (isMark(kid))
        return kid.page === own ? kid.id : `<</Type/MCR/Pg ${pages[kid.page]!.number} 0 R/MCID ${kid.id}>>`
      const inner = reserve()
      element(kid, number, inner)
      return `${inner} 0 R`
    })
    const page = own === undefined ? '' : `/Pg ${pages[own]!.number} 0 R`
    const content = kids.length === 0 ? '' : kids.length === 1 ? `/K ${kids[0]}` : `/K[${kids.join(' ')}]`
    write(number, `<</Type/StructElem/S/${part.role}/P ${parent} 0 R${attributes(part, pageHeight)}${page}${content}>>`)
  }
  element({ role: 'Document', kids: [...parts] }, root, whole)
  const tree = pages.map(({ marks }, page) => {
    return `${page}[${marks.map(({ part }) => `${numbers.get(part!)} 0 R`).join(' ')}]`
  })
  write(root, `<</Type/StructTreeRoot/K ${whole} 0 R/ParentTree<</Nums[${tree.join('')}]>>>>`)
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
