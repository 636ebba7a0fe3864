import { chaveCheckDigit } from '@vigia/dfe/chave'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import fc from 'fast-check'
import { XmlDocument } from 'libxml2-wasm'
import { describe, expect, test } from 'vitest'
import { hasSchemas, schema, verifyWithXmlCrypto } from '../../tests/support/judges.ts'
import { runs } from '../../tests/support/seed.ts'
import { type CteEvent, type Manifestation, type SignedEvent, signCteEvent, signManifestation } from './events.ts'
import { issue, newKey } from './testing.ts'

// The judges are libxml2 and xml-crypto: nothing here is compared with our own reader or our own verifier.

const certificate = issue({ commonName: 'EMPRESA LTDA:44555666000181', key: newKey() })

const allowed = Array.from({ length: 0x100 }, (_, code) => String.fromCharCode(code)).filter(
  (one) => (one >= ' ' && one < '\u007f') || one > '\u00a0',
)
// Spaces at the ends are cut off, as the schemas demand.
const text = (min: number, max: number) =>
  fc
    .string({ unit: fc.constantFrom(...allowed), minLength: min, maxLength: max })
    .filter((one) => one.trim() === one && one.length >= min)
const symbols = [...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const cnpj = fc
  .array(fc.constantFrom(...symbols), { minLength: 12, maxLength: 12 })
  .map((first) => first.join('') + cnpjCheckDigits(first.join('')))
const chave = (mod: '55' | '57') =>
  fc
    .tuple(cnpj, fc.integer({ min: 1, max: 999_999_999 }), fc.integer({ min: 0, max: 99_999_999 }))
    .map(([issuer, numero, code]) => {
      const body = `412608${issuer}${mod}001${String(numero).padStart(9, '0')}1${String(code).padStart(8, '0')}`
      return body + chaveCheckDigit(body)
    })
const at = fc.date({ min: new Date('2024-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })

function contentOf(xml: string, name: string): string | undefined {
  using document = XmlDocument.fromString(xml)
  return document.get(`//*[local-name()='${name}']`)?.content
}

function holds({ xml }: SignedEvent): void {
  expect(verifyWithXmlCrypto(xml)).toBe(true)
  expect(verifyWithXmlCrypto(xml.replace('</tpAmb>', '</tpAmb> '))).toBe(false)
}

describe('an event with any text of the repertoire', () => {
  test('is a manifestação that verifies, obeys the schema and says what was written', () => {
    fc.assert(
      fc.property(
        chave('55'),
        cnpj,
        at,
        text(15, 255),
        fc.constantFrom(210220 as const, 210240 as const),
        (...drawn) => {
          const [chNFe, author, moment, xJust, tpEvento] = drawn
          const order: Manifestation = {
            tpAmb: 2,
            nSeqEvento: 1,
            cnpj: author,
            chave: chNFe,
            at: moment,
            tpEvento,
            xJust,
          }
          const event = signManifestation(order, certificate)
          holds(event)
          expect(contentOf(event.xml, 'xJust')).toBe(xJust)
          if (!hasSchemas) return
          const validate = schema('nfe/Eventos_PL_010_V1.30', 'envConfRecebto_v1.00.xsd', true)
          const lote = `<envEvento xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><idLote>1</idLote>${event.xml}</envEvento>`
          expect(validate(lote)).toEqual([])
        },
      ),
      { numRuns: runs(60) },
    )
  })

  const head = fc.tuple(chave('57'), cnpj, at).map(([chCTe, author, moment]) => {
    return { tpAmb: 1, nSeqEvento: 1, cnpj: author, chave: chCTe, at: moment } as const
  })
  const drafts: [element: string, fc.Arbitrary<[CteEvent, string]>][] = [
    ['xJust', fc.tuple(head, text(15, 255)).map(([own, xJust]) => cancelling(own, xJust))],
    ['xObs', fc.tuple(head, text(15, 255)).map(([own, xObs]) => [{ ...own, tpEvento: 610110, xObs }, xObs])],
    ['valorAlterado', fc.tuple(head, text(1, 500)).map(([own, value]) => correcting(own, value))],
  ]
  test.each(drafts)('is an event of a CT-e that verifies, obeys the schemas and says it in %s', (element, draft) => {
    fc.assert(
      fc.property(draft, ([order, written]) => {
        const event = signCteEvent(order, certificate)
        holds(event)
        expect(contentOf(event.xml, element)).toBe(written)
        if (!hasSchemas) return
        const folder = 'cte/PL_CTe_400_NT2026.002_RTC_1.00'
        expect(schema(folder, 'eventoCTe_v4.00.xsd')(event.xml)).toEqual([])
        const [, name = '', content = ''] =
          /<detEvento versaoEvento="4.00"><(\w+)>(.*)<\/detEvento>/.exec(event.xml) ?? []
        const group = `<${name} xmlns="http://www.portalfiscal.inf.br/cte">${content}`
        expect(schema(folder, `${name}_v4.00.xsd`)(group)).toEqual([])
      }),
      { numRuns: runs(40) },
    )
  })
})

type Head = Pick<CteEvent, 'tpAmb' | 'nSeqEvento' | 'cnpj' | 'chave' | 'at'>

function cancelling(own: Head, xJust: string): [CteEvent, string] {
  return [{ ...own, tpEvento: 110111, nProt: '141260000765432', xJust }, xJust]
}

function correcting(own: Head, valorAlterado: string): [CteEvent, string] {
  const corrections = [{ grupoAlterado: 'compl', campoAlterado: 'xObs', valorAlterado }]
  return [{ ...own, tpEvento: 110110, corrections }, valorAlterado]
}
