import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'

/** A run of text as PDF.js reads it, in points from the top left corner of the page. */
export interface Word {
  text: string
  x: number
  baseline: number
  width: number
  size: number
}

/** The texts of each page in the order they are drawn. */
export async function readWords(pdf: Uint8Array): Promise<{ title: string; language: string; pages: Word[][] }> {
  const task = getDocument({ data: new Uint8Array(pdf), useSystemFonts: false, verbosity: 0 })
  const document = await task.promise
  const { info } = await document.getMetadata()
  const pages: Word[][] = []
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    const { height } = page.getViewport({ scale: 1 })
    const words: Word[] = []
    for (const item of (await page.getTextContent({ disableNormalization: true })).items) {
      if (!('str' in item) || item.str.trim() === '') continue
      const [, , c = 0, d = 0, x = 0, y = 0] = item.transform as number[]
      words.push({ text: item.str, x, baseline: height - y, width: item.width, size: Math.hypot(c, d) })
    }
    pages.push(words)
  }
  const facts = info as { Title?: string; Language?: string }
  await task.destroy()
  return { title: facts.Title ?? '', language: facts.Language ?? '', pages }
}

/** All text of a document without white space, for finding what may be broken over lines. */
export function squeezed(pages: readonly Word[][]): string {
  return pages
    .flat()
    .map((word) => word.text)
    .join('')
    .replace(/\s+/g, '')
}
