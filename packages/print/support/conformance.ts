import { catalogFaults, pageFaults } from './conformance/catalog.ts'
import { colourFaults } from './conformance/colours.ts'
import { contentFaults } from './conformance/content.ts'
import { pagesOf } from './conformance/entries.ts'
import { fileFaults } from './conformance/file.ts'
import { metadataFaults } from './conformance/metadata.ts'
import { structureFaults } from './conformance/structure.ts'
import { readPdf } from './pdf-file.ts'

/**
 * Checks a file against PDF/A-2a (ISO 19005-2, level A) and PDF/UA-1 (ISO 14289-1); returns each
 * fault with its clause. Annotations, forms, actions and embedded files count as faults.
 */
export function conformanceFaults(pdf: Uint8Array): string[] {
  const file = readPdf(pdf)
  const pages = pagesOf(file)
  return [
    ...fileFaults(file),
    ...catalogFaults(file),
    ...colourFaults(file),
    ...metadataFaults(file),
    ...pages.flatMap((page) => pageFaults(file, page)),
    ...contentFaults(file, pages),
    ...structureFaults(file),
  ]
}
