import { expect, test } from 'vitest'
import { plain } from './plain.ts'
import { conformanceFaults } from './support/conformance.ts'
import { layoutFaults } from './support/faults.ts'
import { readGraphics } from './support/graphics.ts'
import { writeNfe } from './support/nfe.ts'
import { readWords, squeezed } from './support/words.ts'

test('every field of a document of a family that has no form stands on its espelho', async () => {
  const services = Array.from({ length: 90 }, (_, i) => `<item n="${i + 1}"><xServ>Serviço ${i + 1}</xServ></item>`)
  const xml = `<DPS xmlns="urn:exemplo"><infDPS Id="1"><prest><CNPJ>99387251000138</CNPJ></prest><dhEmi>2026-08-12T10:15:30-03:00</dhEmi><piscofins><vPis>1.65</vPis></piscofins>${services.join('')}</infDPS><Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignatureValue>AAAA</SignatureValue></Signature></DPS>`
  const pdf = plain(Buffer.from(xml), { cancelled: {} })
  const { pages } = await readWords(pdf)
  const text = squeezed(pages)
  for (const expected of ['ESPELHO·DPS', 'CNPJ99.387.251/0001-38', '12/08/2026', 'vPis1,65', 'Serviço90', 'FOLHA2/'])
    expect(text).toContain(expected)
  expect(text).not.toMatch(/Signature|AAAA/)
  expect(layoutFaults(readGraphics(pdf))).toEqual([])
  expect(conformanceFaults(pdf)).toEqual([])
})

test('the espelho of a known document has its number and its chave', async () => {
  const { pages, title } = await readWords(plain(writeNfe()))
  expect(title).toMatch(/^Espelho NF-e Nº \d+ · Emitente/)
  expect(squeezed(pages)).toContain('Nº123435260899387251000138550010000012341876543216')
})
