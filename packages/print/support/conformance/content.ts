import { type Dictionary, type PdfFile, Reader, Reference } from '../pdf-file.ts'
import { access, archive } from './clauses.ts'
import { catalogOf, contentOf, dictionary, list, name, type Page } from './entries.ts'
import { fontFaults } from './fonts.ts'
import { isElement } from './structure.ts'

const painting = /^(S|s|f|F|f\*|B|B\*|b|b\*|Tj|TJ|'|"|Do|sh|BI|EI)$/
const defined = new Set(
  'q Q cm w J j M d ri i gs m l c v y h re S s f F f* B B* b b* n W W* BT ET Tc Tw Tz TL Tf Tr Ts Td TD Tm T* Tj TJ BMC BDC EMC MP DP Do G g RG rg K k CS cs SC SCN sc scn'.split(
    ' ',
  ),
)

/** Every operator that paints is marked once, and every mark has its way back in the parent tree. */
export function contentFaults(file: PdfFile, pages: readonly Page[]): string[] {
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
