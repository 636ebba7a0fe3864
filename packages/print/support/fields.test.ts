import { child, openDocument, type XmlElement } from '@vigia/dfe/document'
import { describe, expect, test } from 'vitest'
import { dacte } from '../dacte.ts'
import { danfe } from '../danfe.ts'
import { modals, writeCte, writeCteOs, writeSimplificado } from './cte.ts'
import { dacteFaults } from './dacte-fields.ts'
import { danfeFaults } from './danfe-fields.ts'
import { readGraphics } from './graphics.ts'
import { writeNfe } from './nfe.ts'
import { type Reading, readSheets } from './sheet.ts'
import { readWords } from './words.ts'

// The judge of the forms is judged: a file that differs from what was printed in any one element must be told. What it does not
// tell is not on the form, and stands in a list with the reason.

const references =
  '<compra><xNEmp>EMPENHO7</xNEmp><xPed>PEDIDO8</xPed><xCont>CONTRATO9</xCont></compra><exporta><UFSaidaPais>PR</UFSaidaPais><xLocExporta>PARANAGUA</xLocExporta><xLocDespacho>CURITIBA</xLocDespacho></exporta>'

// Beside the form of the authority: its codes, its own digits, what the form says in words only.
const codes = /^(.*\/)?(cUF|cNF|cCT|cDV|cMun\w*|cPais|procEmi|verProc|tpImp|tpEmis|tpAmb|mod|idDest|ind\w+|finNFe|CRT)$/
const unprinted: Record<'NF-e' | 'CT-e', RegExp[]> = {
  'NF-e': [
    codes,
    // The country is printed for a party abroad.
    /xPais$/,
    // Of no column of the product table.
    /det\/prod\/(cEAN|cEANTrib|indTot)$/,
    /det\/imposto\/IPI\/(cEnq|IPITrib\/(CST|vBC))$/,
    /det\/imposto\/ICMS\/\w+\/(modBC|modBCST|pICMSST)$/,
    // A rate that is reduced gives its place to the effective one; the class of IS stands beside that of IBS and CBS.
    /gIBSMun\/(pIBSMun|gRed\/pRedAliq)$/,
    /IBSCBS\/(CST|gIBSCBS\/vIBS)$/,
    /IS\/(CSTIS|cClassTribIS)$/,
    // Totals of zero, and those of which the form shows the parts.
    /ICMSTot\/(vICMSDeson|vFCP|vFCPST|vFCPSTRet|vII|vIPIDevol|vPIS|vCOFINS)$/,
    /IBSCBSTot\/(vBCIBSCBS|.*vDif|.*vDevTrib|gIBS\/vIBS)$/,
    /infAdic\/?$/,
  ],
  'CT-e': [
    codes,
    // Printed when it is yes, and in the block of the aéreo.
    /ide\/retira$/,
    // Judged by its words: TOMADOR DO SERVIÇO.
    /toma\/toma$/,
    // Said by the name of the group.
    /imp\/ICMS\/\w+\/CST$/,
    /infDocRef\/(serie|vDoc)$/,
    /seg\/respSeg$/,
    /rodoOS\/(veic\/UF|infFretamento\/tpFretamento)$/,
    /infTotAP\/uniAP$/,
  ],
}

type Judge = (root: XmlElement, reading: Reading) => string[]
const judgeNfe: Judge = (root, reading) =>
  danfeFaults(child(root, 'NFe/infNFe')!, child(root, 'protNFe/infProt'), reading)
const judgeCte: Judge = (root, reading) => dacteFaults(root.children[0]!, child(root, 'protCTe/infProt'), reading)

describe.each<[string, 'NF-e' | 'CT-e', Uint8Array, (bytes: Uint8Array) => Uint8Array, Judge]>([
  [
    'NF-e',
    'NF-e',
    writeNfe({ items: 2, duplicatas: 3, infCpl: 'Frase do emitente', extra: references }),
    danfe,
    judgeNfe,
  ],
  ['NF-e with every text', 'NF-e', writeNfe({ long: true, items: 1, duplicatas: 3 }), danfe, judgeNfe],
  ['NF-e with IBS, CBS and IS', 'NF-e', writeNfe({ newTaxes: true, items: 2 }), danfe, judgeNfe],
  ['CT-e', 'CT-e', writeCte({ xObs: 'Frase do emitente' }), dacte, judgeCte],
  ['CT-e aéreo', 'CT-e', writeCte({ modal: '02', infModal: modals.air }), dacte, judgeCte],
  ['CT-e aquaviário', 'CT-e', writeCte({ modal: '03', infModal: modals.water }), dacte, judgeCte],
  ['CT-e ferroviário', 'CT-e', writeCte({ modal: '04', infModal: modals.rail }), dacte, judgeCte],
  ['CT-e dutoviário', 'CT-e', writeCte({ modal: '05', infModal: modals.pipeline }), dacte, judgeCte],
  ['CT-e multimodal', 'CT-e', writeCte({ modal: '06', infModal: modals.multimodal }), dacte, judgeCte],
  ['CT-e complementar', 'CT-e', writeCte({ complements: 2 }), dacte, judgeCte],
  ['CT-e OS', 'CT-e', writeCteOs(), dacte, judgeCte],
  ['CT-e Simplificado', 'CT-e', writeSimplificado(2), dacte, judgeCte],
])('%s', (_, kind, bytes, print, judge) => {
  test('each element that differs is named, except those of no field', async () => {
    const pdf = print(bytes)
    const reading = readSheets((await readWords(pdf)).pages, readGraphics(pdf))
    expect(judge(openDocument(bytes), reading)).toEqual([])
    const untold = leaves(openDocument(bytes)).filter(([path, at]) => {
      if (/infProt\/(?!nProt|dhRecbto)|infCTeSupl/.test(path) || unprinted[kind].some((one) => one.test(path)))
        return false
      const root = openDocument(bytes)
      const leaf = leaves(root)[at]![2]
      leaf.text = differing(leaf.text)
      return judge(root, reading).length === 0
    })
    expect(untold.map(([path]) => path)).toEqual([])
  })
})

function leaves(root: XmlElement): [path: string, at: number, leaf: XmlElement][] {
  const found: [string, number, XmlElement][] = []
  const walk = (element: XmlElement, path: string) => {
    for (const inner of element.children) walk(inner, `${path}/${inner.name}`)
    if (element.children.length === 0 && element.text.trim() !== '') found.push([path, found.length, element])
  }
  walk(root, root.name)
  return found
}

// Of the same shape: another digit in the place of each, another letter in the place of the last.
function differing(text: string): string {
  if (/\d/.test(text)) return text.replace(/\d/g, (digit) => String((Number(digit) + 3) % 10))
  return text.replace(/.$/, (last) => (last === 'X' ? 'Y' : 'X'))
}
