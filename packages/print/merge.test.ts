import { getDocument, VerbosityLevel } from 'pdfjs-dist/legacy/build/pdf.mjs'
import { expect, test, vi } from 'vitest'
import { dacte } from './dacte.ts'
import { danfe } from './danfe.ts'
import { type MergedForm, mergeForms } from './merge.ts'
import { writeCte } from './support/cte.ts'
import { writeNfe } from './support/nfe.ts'

const forms: MergedForm[] = [
  { title: 'NF-e 1 · Papelaria São João (matriz)', pdf: danfe(writeNfe({ items: 1, tpAmb: '2' })) },
  { title: 'NF-e 2 · 中文', pdf: danfe(writeNfe({ items: 120, infCpl: 'Resistência ≥ 10 kΩ' })) },
  { title: 'CT-e 3', pdf: dacte(writeCte({ documents: 200 })) },
]

test('a merged file has the pages, texts and structure of its forms, and a bookmark for each', async () => {
  const said = (['log', 'warn', 'error'] as const).map((method) => vi.spyOn(console, method))
  const merged = await open(await merge(forms))
  const alone = await Promise.all(forms.map(({ pdf }) => open(pdf)))
  expect(merged.numPages).toBe(alone.reduce((sum, { numPages }) => sum + numPages, 0))
  let number = 0
  const beginnings: number[] = []
  for (const form of alone) {
    beginnings.push(number)
    for (let page = 1; page <= form.numPages; page++) {
      const [mine, own] = [await merged.getPage(++number), await form.getPage(page)]
      expect(mine.view).toEqual(own.view)
      expect(await textsOf(mine)).toEqual(await textsOf(own))
      expect(rolesOf(await mine.getStructTree())).toEqual(rolesOf(await own.getStructTree()))
      await mine.getOperatorList()
    }
  }
  const outline = await merged.getOutline()
  expect(outline.map(({ title }) => title)).toEqual(forms.map(({ title }) => title))
  for (const [i, { dest }] of outline.entries())
    expect(await merged.getPageIndex((dest as { num: number; gen: number }[])[0]!)).toBe(beginnings[i])
  expect((await merged.getMetadata()).info).toMatchObject({
    Title: 'Notas de março',
    Language: 'pt-BR',
    Producer: 'Vigia Fiscal',
  })
  for (const spy of said) expect(spy.mock.calls).toEqual([])
})

test('foreign bytes are refused', async () => {
  const foreign = Buffer.from('%PDF-1.4\n1 0 obj\n<</Type/Catalog>>\nendobj\n')
  await expect(merge([{ title: 'x', pdf: foreign }])).rejects.toThrow('no form of this package')
})

async function merge(forms: MergedForm[]): Promise<Uint8Array> {
  async function* each() {
    yield* forms
  }
  const parts: Uint8Array[] = []
  for await (const part of mergeForms('Notas de março', each())) parts.push(part)
  return Buffer.concat(parts)
}

async function open(bytes: Uint8Array) {
  return getDocument({
    data: new Uint8Array(bytes),
    useSystemFonts: false,
    stopAtErrors: true,
    verbosity: VerbosityLevel.WARNINGS,
  }).promise
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof open>>['getPage']>>

async function textsOf(page: Page): Promise<string[]> {
  const { items } = await page.getTextContent()
  return items.flatMap((item) => ('str' in item ? [item.str] : []))
}

function rolesOf(tree: object): unknown {
  if (!('children' in tree)) return 'content'
  const { role, children } = tree as unknown as { role: string; children: object[] }
  return [role, children.map(rolesOf)]
}
