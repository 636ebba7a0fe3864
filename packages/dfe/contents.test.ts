import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { XmlDocument } from 'libxml2-wasm'
import { describe, expect, test } from 'vitest'
import { findSamples } from '../../tests/support/samples.ts'
import { runs } from '../../tests/support/seed.ts'
import { decimalText } from './contents.ts'
import { type CteContents, contentsOf, type NfeContents, readDetails } from './read.ts'

function contents(xml: string | Uint8Array): NfeContents | CteContents {
  const details = readDetails(typeof xml === 'string' ? new TextEncoder().encode(xml) : xml)
  const found = details && contentsOf(details)
  if (!found) throw new Error('nothing inside')
  return found
}
function nfe(xml: string | Uint8Array): NfeContents {
  const found = contents(xml)
  if (found.type !== 'nfe') throw new Error('no NF-e')
  return found
}
function cte(xml: string | Uint8Array): CteContents {
  const found = contents(xml)
  if (found.type !== 'cte') throw new Error('no CT-e')
  return found
}
const note = (inside: string) => `<NFe><infNFe Id="NFe1">${inside}</infNFe></NFe>`

const folder = findSamples()
const samples = folder
  ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /^(nfe|cte)\/.*\.xml$/.test(file))
      .map((file) => ({ file, bytes: readFileSync(join(folder, file)) }))
  : []

// Looks up a path of local names with libxml2, independent of our reader.
function find(document: XmlDocument, path: string): string[] {
  const steps = path.replace(/([A-Za-z][A-Za-z0-9]*)/g, (name) => `*[local-name()='${name}']`)
  return document.find(`//${steps}`).flatMap((node) => ('content' in node ? node.content.trim() || [] : []))
}
// Ten decimals, exact.
const scaled = (texts: readonly (string | undefined)[]) =>
  texts.reduce((sum, text) => {
    const [whole = '', fraction = ''] = (text ?? '0').split('.')
    return sum + BigInt(whole + fraction.padEnd(10, '0'))
  }, 0n)

type Item = NfeContents['items'][number]
const amountsOfItem: [path: string, of: (item: Item) => string | undefined][] = [
  ...(['vProd', 'qCom', 'vUnCom', 'vDesc', 'vFrete', 'vOutro'] as const).map(
    (name): [string, (item: Item) => string | undefined] => [`det/prod/${name}`, ({ prod }) => prod[name]],
  ),
  ...(['vBC', 'pICMS', 'vICMS', 'vICMSST', 'vFCP'] as const).map(
    (name): [string, (item: Item) => string | undefined] => [`imposto/ICMS/*/${name}`, ({ ICMS }) => ICMS?.[name]],
  ),
  ['imposto/IPI/*/vIPI', ({ IPI }) => IPI?.vIPI],
  ['imposto/PIS/*/vPIS', ({ PIS }) => PIS?.vPIS],
  ['imposto/COFINS/*/vCOFINS', ({ COFINS }) => COFINS?.vCOFINS],
  ['imposto/IBSCBS/gIBSCBS/vBC', ({ IBSCBS }) => IBSCBS?.vBC],
  ['imposto/IBSCBS/gIBSCBS/gIBSUF/vIBSUF', ({ gIBSUF }) => gIBSUF?.vIBSUF],
  ['imposto/IBSCBS/gIBSCBS/gIBSMun/gRed/pAliqEfet', ({ gIBSMun }) => gIBSMun?.pAliqEfet],
  ['imposto/IBSCBS/gIBSCBS/gCBS/gDif/vDif', ({ gCBS }) => gCBS?.vDif],
  ['imposto/IBSCBS/gIBSCBSMono/vTotCBSMonoItem', ({ gIBSCBSMono }) => gIBSCBSMono?.vTotCBSMonoItem],
]

describe.runIf(samples.length > 0)('every sample, against XPath', () => {
  test.each(samples.filter(({ file }) => file.startsWith('nfe')))('$file', ({ bytes }) => {
    const { items, due, totals, reformTotals, damaged } = nfe(bytes)
    using document = XmlDocument.fromBuffer(bytes)
    const same = (values: readonly (string | undefined)[], path: string) =>
      expect(scaled(values), path).toBe(scaled(find(document, path)))
    for (const [path, of] of amountsOfItem) same(items.map(of), path)
    const dues = due.map(({ vDup }) => vDup)
    same(dues, 'cobr/dup/vDup')
    same([totals.vNF], 'total/ICMSTot/vNF')
    same([reformTotals?.vCBS], 'total/IBSCBSTot/gCBS/vCBS')
    expect(items.map(({ prod }) => prod.xProd)).toEqual(find(document, 'det/prod/xProd'))
    expect(items.map(({ prod }) => prod.NCM)).toEqual(find(document, 'det/prod/NCM'))
    const numbers = document.find("//*[local-name()='det']/@nItem").map((node) => ('value' in node ? node.value : ''))
    expect(items.map(({ nItem }) => String(nItem))).toEqual(numbers)
    expect(items.flatMap(({ lots }) => lots)).toEqual(find(document, 'rastro/nLote'))
    expect(damaged).toBe(false)
  })

  test.each(samples.filter(({ file }) => file.startsWith('cte')))('$file', ({ bytes }) => {
    const { measures, IBSCBS, vTPrest, payer } = cte(bytes)
    using document = XmlDocument.fromBuffer(bytes)
    expect(scaled(measures.map(({ qCarga }) => qCarga))).toBe(scaled(find(document, 'infQ/qCarga')))
    expect(scaled([vTPrest])).toBe(scaled(find(document, 'infCte/vPrest/vTPrest|//infCte/total/vTPrest')))
    expect(IBSCBS?.cClassTrib).toBe(find(document, 'imp/IBSCBS/cClassTrib')[0])
    expect(payer).toBeTruthy()
  })
})

test('an item has what search, comparison and the reform need', () => {
  const prod =
    '<cProd>P1</cProd><cEAN>SEM GTIN</cEAN><xProd>Parafuso</xProd><qCom>010.5000</qCom><vUnCom>0.3333333333</vUnCom><xPed>PED-9</xPed><rastro><nLote>L1</nLote></rastro>'
  const reform =
    '<IBSCBS><CST>510</CST><cClassTrib>510001</cClassTrib><gIBSCBS><vBC>100.00</vBC><gIBSUF><pIBSUF>0.10</pIBSUF><gDif><pDif>40.00</pDif><vDif>0.04</vDif></gDif><vIBSUF>0.06</vIBSUF></gIBSUF><gTribCompraGov><pAliqCBS>0.9</pAliqCBS></gTribCompraGov></gIBSCBS><gEstornoCred><vIBSEstCred>1.00</vIBSEstCred></gEstornoCred></IBSCBS>'
  const found = nfe(
    note(
      `<ide><finNFe>1</finNFe><gCompraGov><pRedutor>10.00</pRedutor></gCompraGov></ide><emit><enderEmit><UF>PR</UF></enderEmit><CRT>3</CRT></emit><det nItem="7"><prod>${prod}</prod><imposto><PIS><PISQtde><CST>03</CST><qBCProd>2.0000</qBCProd></PISQtde></PIS>${reform}</imposto></det><transp><veicTransp><placa>abc1d23</placa></veicTransp></transp><cobr><dup><nDup>001</nDup><dVenc>2026-12-01</dVenc><vDup>10.00</vDup></dup></cobr><compra><xPed>PED-1</xPed></compra>`,
    ),
  )
  expect(found).toEqual({
    type: 'nfe',
    head: { CRT: '3', finNFe: '1' },
    issuer: { CRT: '3', UF: 'PR' },
    recipient: {},
    gCompraGov: { pRedutor: '10' },
    items: [
      {
        nItem: 7,
        prod: {
          cProd: 'P1',
          xProd: 'Parafuso',
          qCom: '10.5',
          vUnCom: '0.3333333333',
          xPed: 'PED-9',
        },
        lots: ['L1'],
        PIS: { CST: '03', qBCProd: '2' },
        IBSCBS: { CST: '510', cClassTrib: '510001', vBC: '100' },
        gIBSUF: { pIBSUF: '0.1', pDif: '40', vDif: '0.04', vIBSUF: '0.06' },
        gTribCompraGov: { pAliqCBS: '0.9' },
        gEstornoCred: { vIBSEstCred: '1' },
      },
    ],
    totals: {},
    due: [{ nDup: '001', dVenc: '2026-12-01', vDup: '10' }],
    orders: ['PED-1', 'PED-9'],
    plates: ['ABC1D23'],
    damaged: false,
  })
})

test('what is no number is left out as damage, and nothing is longer than the layout', () => {
  const long = 'X'.repeat(100_000)
  const det = `<det nItem="x"><prod><xProd>${long}</xProd><vProd>${'9'.repeat(300_000)}</vProd><qCom>1e9</qCom><vFrete>-1.00</vFrete></prod></det>`
  const { items, damaged } = nfe(note(det.repeat(2) + '<det/>'.repeat(1_000)))
  expect(items).toHaveLength(990)
  expect(items[1]).toMatchObject({ nItem: 2, prod: { xProd: 'X'.repeat(120) } })
  expect(Object.keys(items[1]!.prod)).toEqual(['xProd'])
  expect(damaged).toBe(true)
  expect(nfe(note('<det/>'.repeat(991))).damaged).toBe(true)
})

test('a resumo has nothing inside', () => {
  expect(contentsOf(readDetails(new TextEncoder().encode('<resNFe><vNF>1.00</vNF></resNFe>'))!)).toBeNull()
})

test('a decimal keeps its value and loses its zeros', () => {
  const digits = (max: number) => fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: max })
  fc.assert(
    fc.property(digits(15), digits(10), (whole, fraction) => {
      const text = `${whole}.${fraction}`
      const shortest = decimalText(text)!
      expect(scaled([shortest])).toBe(scaled([text]))
      expect(shortest).toMatch(/^(0|[1-9]\d*)(\.\d*[1-9])?$/)
      expect(decimalText(shortest)).toBe(shortest)
    }),
    { numRuns: runs(300) },
  )
  for (const none of ['', '.', '1.', '.5', '-1', '+1', '1,5', ' 1', '1e3', '1'.repeat(16), `0.${'1'.repeat(11)}`])
    expect(decimalText(none)).toBeNull()
})
