import { type Correction, processedEvent, signCteEvent } from '@vigia/sefaz/events'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newCertificate } from '../../../tests/support/certificates.ts'
import { runs } from '../../../tests/support/seed.ts'
import { joinCorrections, readCorrections } from './corrections.ts'
import { author, cteChave } from './testing.ts'

const certificate = newCertificate('carta')
const word = fc
  .string({ unit: fc.constantFrom(...'ABC 12<&>"çÃ'), minLength: 1, maxLength: 8 })
  .map((text) => `x${text}x`)
const correction: fc.Arbitrary<Correction> = fc
  .record({
    grupoAlterado: fc.constantFrom('ide', 'compl', 'rodo'),
    campoAlterado: fc.constantFrom('CFOP', 'xObs'),
    valorAlterado: word,
    nroItemAlterado: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  })
  .map(({ nroItemAlterado, ...rest }) => (nroItemAlterado === undefined ? rest : { ...rest, nroItemAlterado }))
const placeOf = (one: Correction) => `${one.grupoAlterado}/${one.campoAlterado}/${one.nroItemAlterado ?? ''}`
const letter = fc.uniqueArray(correction, { selector: placeOf, minLength: 1, maxLength: 6 })

test('a letter after others says the last word about every field that any of them named', () => {
  fc.assert(
    fc.property(fc.array(letter, { minLength: 1, maxLength: 5 }), (letters) => {
      const last = new Map(letters.flat().map((one) => [placeOf(one), one]))
      const joined = letters.reduce(joinCorrections, [])
      expect(joined.map(placeOf).sort()).toEqual([...last.keys()].sort())
      for (const one of joined) expect(one).toEqual(last.get(placeOf(one)))
    }),
  )
})

test('what a letter corrects is read back from its stored bytes', () => {
  fc.assert(
    fc.property(letter, (corrections) => {
      const head = { tpAmb: 2, cnpj: author, chave: cteChave(), nSeqEvento: 1, at: new Date() } as const
      const signing = { key: certificate.key, certificate: certificate.pem }
      const signed = signCteEvent({ ...head, tpEvento: 110110, corrections }, signing)
      const stored = processedEvent(signed, { xml: '<retEventoCTe versao="4.00"/>' })
      expect(readCorrections(Buffer.from(stored))).toEqual(corrections)
    }),
    { numRuns: runs(30) },
  )
})
