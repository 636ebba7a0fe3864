import { catalogFaults, pageFaults } from './conformance/catalog.ts'
import { colourFaults } from './conformance/colours.ts'
import { contentFaults } from './conformance/content.ts'
import { pagesOf } from './conformance/entries.ts'
import { fileFaults } from './conformance/file.ts'
import { metadataFaults } from './conformance/metadata.ts'
import { structureFaults } from './conformance/structure.ts'
import { readPdf } from './pdf-file.ts'

/**
 * What of PDF/A-2a (ISO 19005-2, level A) and PDF/UA-1 (ISO 14289-1) a file does not keep, each with its clause; empty for a file that keeps all
 * that is checked. Written from the standards for files that have no annotations, forms, actions or embedded files: those are faults here.
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
