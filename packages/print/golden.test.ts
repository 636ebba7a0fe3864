import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { layoutFaults } from './support/faults.ts'
import { goldenFolder, goldenForms } from './support/golden.ts'
import { readGraphics, readObjects } from './support/graphics.ts'

const results = fileURLToPath(new URL('../../test-results/', import.meta.url))

test.each(Object.entries(goldenForms))('%s is printed as it is kept', async (name, print) => {
  const pdf = print()
  expect(layoutFaults(readGraphics(pdf))).toEqual([])
  const kept = await readFile(new URL(`${name}.pdf`, goldenFolder)).catch(() => undefined)
  if (kept && same(pdf, kept)) return
  await mkdir(results, { recursive: true })
  const file = path.join(results, `${name}.pdf`)
  await writeFile(file, pdf)
  expect.fail(
    `${name} is printed differently from ${fileURLToPath(goldenFolder)}${name}.pdf: look at ${file}, and if it is right run node packages/print/support/write-golden.ts`,
  )
})

test('every kept form is one of these', async () => {
  expect((await readdir(goldenFolder)).sort()).toEqual(
    Object.keys(goldenForms)
      .map((name) => `${name}.pdf`)
      .sort(),
  )
})

// Compares bytes; if another zlib build packs them differently, compares unpacked objects.
function same(pdf: Uint8Array, kept: Uint8Array): boolean {
  return Buffer.compare(pdf, kept) === 0 || unpacked(pdf) === unpacked(kept)
}

function unpacked(pdf: Uint8Array): string {
  return [...readObjects(pdf)]
    .filter(([, { head }]) => !head.includes('/Type/XRef'))
    .map(([number, { head, data }]) => `${number} ${head.replace(/\/Length \d+/, '')}\n${data.toString('latin1')}`)
    .join('\n')
}
