import { child, openDocument } from '@vigia/dfe/document'
import { expect, test } from 'vitest'
import { additionalDataCode } from './contingency.ts'
import type { PrintedNfe } from './note.ts'

function note(dest: string, totals: string, day: string): PrintedNfe {
  const xml = `<infNFe><ide><tpEmis>5</tpEmis><dhEmi>2026-08-${day}T10:00:00-03:00</dhEmi></ide><dest>${dest}</dest><total><ICMSTot>${totals}</ICMSTot></total></infNFe>`
  const infNFe = openDocument(new TextEncoder().encode(xml))
  return { infNFe, ide: child(infNFe, 'ide') } as PrintedNfe
}

test('the official vector of the second bar code', () => {
  const official = note(
    '<CNPJ>44555666000181</CNPJ><enderDest><UF>PR</UF></enderDest>',
    '<vICMS>100.00</vICMS><vST>0.00</vST><vNF>7700.25</vNF>',
    '05',
  )
  expect(additionalDataCode(official)).toBe('415445556660001810000000077002512053')
})

test('abroad, without id and without ICMS', () => {
  const abroad = note(
    '<idEstrangeiro>AB123</idEstrangeiro><enderDest><UF>EX</UF></enderDest>',
    '<vICMS>0.00</vICMS><vST>0.00</vST><vNF>1</vNF>',
    '31',
  )
  expect(additionalDataCode(abroad).slice(0, 35)).toBe(`995${'0'.repeat(14)}${'0'.repeat(11)}1002231`)
})
