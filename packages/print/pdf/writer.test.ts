import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { afterEach, expect, test, vi } from 'vitest'
import { dacte } from '../dacte.ts'
import { danfe } from '../danfe.ts'
import { writeCte } from '../support/cte.ts'
import { writeNfe } from '../support/nfe.ts'
import { samples } from '../support/samples.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

const forms: [string, Uint8Array][] = [
  ['one sheet', danfe(writeNfe({ items: 1, tpAmb: '2' }))],
  ['several sheets', danfe(writeNfe({ items: 120, infCpl: 'Resistência ≥ 10 kΩ' }))],
  ['DACTE', dacte(writeCte({ documents: 200 }))],
]

test.each(forms)('%s: PDF.js reads pages, fonts and structure without a warning', async (_, bytes) => {
  const said = (['log', 'warn', 'error'] as const).map((method) => vi.spyOn(console, method))
  const task = getDocument({
    data: new Uint8Array(bytes),
    useSystemFonts: false,
    stopAtErrors: true,
    verbosity: VerbosityLevel.WARNINGS,
  })
  const document = await task.promise
  const info = (await document.getMetadata()).info as Record<string, unknown>
  expect(info).toMatchObject({ Language: 'pt-BR', Producer: 'Vigia Fiscal' })
  expect(info).not.toHaveProperty('CreationDate')
  expect(await document.getMarkInfo()).toContainEqual(['Marked', true])
  for (let number = 1; number <= document.numPages; number++) {
    const page = await document.getPage(number)
    await page.getOperatorList()
    const { items } = await page.getTextContent({ includeMarkedContent: true })
    const marked = items.flatMap((item) => ('id' in item && item.id ? [item.id] : []))
    const tree = await page.getStructTree()
    expect(tree.children.map((whole) => 'role' in whole && whole.role)).toEqual(['Document'])
    expect(contentOf(tree).toSorted()).toEqual(marked.toSorted())
  }
  await task.destroy()
  for (const spy of said) expect(spy.mock.calls).toEqual([])
})

test('another process writes the same bytes', () => {
  const documents = [writeNfe({ items: 30, infCpl: 'Ω' }), ...samples('nfe', /^procNFe/).map(({ bytes }) => bytes)]
  const script = `
    import { createHash } from 'node:crypto'
    import { text } from 'node:stream/consumers'
    import { danfe } from ${JSON.stringify(new URL('../danfe.ts', import.meta.url).href)}
    const documents = JSON.parse(await text(process.stdin))
    const hash = createHash('sha256')
    for (const one of documents.toReversed()) hash.update(danfe(new Uint8Array(Buffer.from(one, 'base64'))))
    process.stdout.write(hash.digest('hex'))`
  const input = JSON.stringify(documents.map((bytes) => Buffer.from(bytes).toString('base64')))
  const other = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { input, encoding: 'utf8' })
  const hash = createHash('sha256')
  for (const bytes of documents.toReversed()) hash.update(danfe(bytes))
  expect(other).toBe(hash.digest('hex'))
})

test('a note of one item and of ten stay small with both faces in them', () => {
  expect(danfe(writeNfe({ items: 1 })).length).toBeLessThan(12_400)
  expect(danfe(writeNfe({ items: 10 })).length).toBeLessThan(13_600)
})

function contentOf(node: object): string[] {
  if ('id' in node) return [String(node.id)]
  return 'children' in node ? (node.children as object[]).flatMap(contentOf) : []
}
