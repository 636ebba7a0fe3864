import { type Dictionary, type PdfFile, Reference, type Value } from '../pdf-file.ts'
import { access, archive } from './clauses.ts'
import { catalogOf, dictionary, list, name, textOf } from './entries.ts'

// An element need not say its type (ISO 32000-1, table 323).
export function isElement(entries: Dictionary): boolean {
  const type = entries.get('Type')
  return name(entries.get('S')) !== undefined && entries.has('P') && (type === undefined || name(type) === 'StructElem')
}

const standardTypes = new Set(['Document', 'Sect', 'H1', 'H2', 'H3', 'P', 'Figure', 'Table', 'TR', 'TH', 'TD'])

interface Element {
  number: number
  type: string
  entries: Dictionary
  kids: Element[]
}

/** The tree of elements: their types, and what may stand in what. */
export function structureFaults(file: PdfFile): string[] {
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
