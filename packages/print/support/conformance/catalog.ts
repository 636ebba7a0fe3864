import type { PdfFile } from '../pdf-file.ts'
import { access, archive } from './clauses.ts'
import { catalogOf, dictionary, list, name, type Page } from './entries.ts'

/** Faults in the catalog: missing entries and forbidden ones. */
export function catalogFaults(file: PdfFile): string[] {
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

/** Faults of a page outside its content. */
export function pageFaults(file: PdfFile, { number, entries, box }: Page): string[] {
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
