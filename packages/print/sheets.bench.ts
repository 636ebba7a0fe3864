import { report } from '../../bench/measure.ts'
import { dacte } from './dacte.ts'
import { danfe } from './danfe.ts'
import { printEvent } from './event.ts'
import { type PageGraphics, readGraphics } from './support/graphics.ts'
import { samples } from './support/samples.ts'
import { sheetGoals } from './support/sheet-goals.ts'

// Sheets of paper for documents that are written here and for the samples.

for (const [document, goal, print] of sheetGoals) tell(document, print(), goal)
for (const { name, bytes } of samples('nfe', /^procNFe/))
  tellSample(name, danfe(bytes), name.includes('120-itens') ? 3 : undefined)
for (const { name, bytes } of samples('cte', /^proc/)) tellSample(name, dacte(bytes))
for (const { name, bytes } of samples('eventos', /^procEvento/)) tellSample(name, printEvent(bytes))

function tell(document: string, pdf: Uint8Array, goal?: number): void {
  const pages = readGraphics(pdf)
  report('sheets', { document, sheets: pages.length, goal, lastSheetFilled: filled(pages.at(-1)!) })
}

// Most samples take one sheet and are not told. Of the others it says how much of the last one is used.
function tellSample(name: string, pdf: Uint8Array, goal?: number): void {
  if (readGraphics(pdf).length > 1) tell(name, pdf, goal)
}

function filled({ height, runs }: PageGraphics): number {
  return Number((Math.max(...runs.map(({ baseline }) => baseline)) / height).toFixed(2))
}
