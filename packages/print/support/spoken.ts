import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'

/** A part of a document as a screen reader has it: its role and its words. */
export interface SpokenPart {
  role: string
  text: string
}

interface Node {
  role?: string
  alt?: string
  id?: string
  children?: Node[]
}

/** The parts of a file that have words of their own, in the order of its structure, as PDF.js reads it: page by page where a part is on several. */
export async function readParts(pdf: Uint8Array): Promise<SpokenPart[]> {
  const task = getDocument({ data: new Uint8Array(pdf), useSystemFonts: false, verbosity: 0 })
  const document = await task.promise
  const pages: SpokenPart[][] = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const words = new Map<string, string>()
    let open: (string | undefined)[] = []
    for (const item of (await page.getTextContent({ includeMarkedContent: true, disableNormalization: true })).items) {
      if ('str' in item) {
        const id = open.findLast((one) => one !== undefined)
        if (id) words.set(id, (words.get(id) ?? '') + item.str)
      } else if (item.type === 'endMarkedContent') open = open.slice(0, -1)
      else open.push(item.id ?? undefined)
    }
    const parts: SpokenPart[] = []
    const visit = (node: Node): void => {
      const own = (node.children ?? []).flatMap(({ id }) => (id ? [words.get(id) ?? ''] : []))
      if (node.alt || own.length > 0 || node.role === 'TD')
        parts.push({ role: node.role ?? '', text: node.alt ?? own.join('') })
      for (const kid of node.children ?? []) visit(kid)
    }
    visit((await page.getStructTree()) as Node)
    pages.push(parts)
  }
  await task.destroy()
  return pages.flat()
}
