import fc from 'fast-check'
import { expect, test } from 'vitest'
import { thorough } from '../../tests/support/seed.ts'
import { dacte } from './dacte.ts'
import { danfe } from './danfe.ts'
import { printEvent } from './event.ts'
import { PrintError } from './printable.ts'
import { modals, writeCte, writeCteOs, writeSimplificado } from './support/cte.ts'
import { writeCorrections, writeEvent } from './support/event.ts'
import { layoutFaults } from './support/faults.ts'
import { readGraphics } from './support/graphics.ts'
import { mutated, mutationKinds, strangeTexts } from './support/mutate.ts'
import { writeNfe } from './support/nfe.ts'
import { samples } from './support/samples.ts'

type Print = (bytes: Uint8Array) => Uint8Array

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const written: [Print, Uint8Array][] = [
  [danfe, writeNfe({ duplicatas: 5, infCpl: 'Pedido 4711.' })],
  [danfe, writeNfe({ newTaxes: true, items: 3 })],
  [danfe, writeNfe({ long: true, tpImp: '2' })],
  [dacte, writeCte({ xObs: 'Frete.' })],
  [dacte, writeCte({ modal: '02', infModal: modals.air, tpImp: '2' })],
  [dacte, writeCteOs()],
  [dacte, writeSimplificado(3)],
  [printEvent, writeEvent()],
  [printEvent, writeCorrections(2)],
]
const archived: [Print, Uint8Array][] = [
  ...samples('nfe', /^procNFe/).map(({ bytes }): [Print, Uint8Array] => [danfe, bytes]),
  ...samples('cte', /^proc/).map(({ bytes }): [Print, Uint8Array] => [dacte, bytes]),
  ...samples('eventos', /^procEvento/).map(({ bytes }): [Print, Uint8Array] => [printEvent, bytes]),
]

const share = fc.noBias(fc.nat(9_999)).map((n) => n / 10_000)
const mutation = fc.record({
  // Cuts are rare, because a cut file is no longer XML.
  kind: fc.oneof(
    { weight: 1, arbitrary: fc.constant('cut' as const) },
    { weight: 40, arbitrary: fc.constantFrom(...mutationKinds) },
  ),
  at: share,
  to: share,
  text: fc.oneof(
    fc.constantFrom(...strangeTexts),
    fc.string({ unit: 'grapheme', maxLength: 20 }).map((one) => one.replace(/[<&]/g, '')),
  ),
})
const documents = fc.constantFrom(...[...written, ...archived].map(([print, bytes]) => [print, text(bytes)] as const))

// Budget of a document: a fixed part and a part per byte. CPU time of this process, because other
// tests share the cores.
const cpuMsMax = (bytes: number) => 1_500 + bytes / 100
const fileBytesMax = (bytes: number) => 150_000 + 4 * bytes

test('whatever the bytes are, they end as a form of bounded size or in a sentence for the person', () => {
  let refused = 0
  let printed = 0
  fc.assert(
    fc.property(documents, fc.array(mutation, { minLength: 1, maxLength: 4 }), ([print, xml], mutations) => {
      const bytes = Buffer.from(mutated(xml, mutations))
      const before = process.cpuUsage()
      let pdf: Uint8Array | undefined
      try {
        pdf = print(bytes)
        printed++
      } catch (error) {
        if (!(error instanceof PrintError)) throw error
        refused++
      }
      const { user, system } = process.cpuUsage(before)
      expect((user + system) / 1000).toBeLessThan(cpuMsMax(bytes.length))
      if (!pdf) return
      expect(pdf.length).toBeLessThan(fileBytesMax(bytes.length))
      expect(layoutFaults(readGraphics(pdf))).toEqual([])
    }),
    // `npm run soak` prints a hundred thousand in twenty runs.
    { numRuns: thorough ? 5_000 : 150 },
  )
  expect(printed).toBeGreaterThan(refused)
}, 900_000)
