import { dacte } from '../dacte.ts'
import { danfe } from '../danfe.ts'
import { printEvent } from '../event.ts'
import { modals, writeCte, writeCteOs, writeGtve, writeSimplificado } from './cte.ts'
import { writeCorrections, writeEvent } from './event.ts'
import { itemOfEveryGroup, writeNfe } from './nfe.ts'
import { withTpImp } from './variants.ts'

const sentence = 'Mercadoria sujeita a substituição tributária, não gera direito a crédito de ICMS | pedido 4711. '
const text = (length: number) => sentence.repeat(length / sentence.length + 1).slice(0, length)
const items = (count: number, more: Parameters<typeof writeNfe>[0] = {}) => danfe(writeNfe({ items: count, ...more }))
const plainTaxes = (n: number) =>
  `<det nItem="${n}"><prod><cProd>P-${n}</cProd><xProd>Parafuso sextavado número ${n}</xProd><NCM>73181500</NCM><CFOP>5102</CFOP><uCom>PC</uCom><qCom>10.0000</qCom><vUnCom>10.00</vUnCom><vProd>100.00</vProd></prod><imposto><ICMS><ICMS00><orig>0</orig><CST>00</CST><vBC>100.00</vBC><pICMS>18.00</pICMS><vICMS>18.00</vICMS></ICMS00></ICMS><IBSCBS><CST>000</CST><cClassTrib>000001</cClassTrib><gIBSCBS><vBC>100.00</vBC><gIBSUF><pIBSUF>0.1000</pIBSUF><vIBSUF>0.10</vIBSUF></gIBSUF><gIBSMun><pIBSMun>0.0000</pIBSMun><vIBSMun>0.00</vIBSMun></gIBSMun><vIBS>0.10</vIBS><gCBS><pCBS>0.9000</pCBS><vCBS>0.90</vCBS></gCBS></gIBSCBS></IBSCBS></imposto></det>`
const landscape = (bytes: Uint8Array) => withTpImp(bytes, '2')

/** Documents that are written here, the most sheets each may take (what the shortest correct printer takes, or one), and its form. */
export const sheetGoals: [name: string, goal: number, print: () => Uint8Array][] = [
  ['danfe, 1 item', 1, () => items(1)],
  ['danfe, 20 items', 1, () => items(20)],
  ['danfe, 120 items', 3, () => items(120)],
  ['danfe, 120 items, landscape', 5, () => items(120, { tpImp: '2' })],
  ['danfe, 500 items', 10, () => items(500)],
  ['danfe, 10 items of every group', 1, () => items(10, { item: itemOfEveryGroup })],
  ['danfe, 10 items of IBS, CBS and IS', 1, () => items(10, { newTaxes: true })],
  ['danfe, 100 items of IBS, CBS and IS', 4, () => items(100, { newTaxes: true })],
  ['danfe, 100 items of IBS and CBS', 4, () => items(100, { item: (n) => plainTaxes(n), newTaxes: true })],
  ['danfe, 1 item and 5000 characters', 1, () => items(1, { infCpl: text(5_000) })],
  ['danfe, 40 duplicatas', 1, () => items(1, { duplicatas: 40 })],
  ['danfe, 120 duplicatas', 1, () => items(1, { duplicatas: 120 })],
  ['danfe, every text at its longest, 5 items', 3, () => items(5, { long: true, duplicatas: 12, infCpl: text(5_000) })],
  ['dacte, road', 1, () => dacte(writeCte())],
  ['dacte, 50 documents', 2, () => dacte(writeCte({ documents: 50 }))],
  ['dacte, 500 documents', 6, () => dacte(writeCte({ documents: 500 }))],
  ['dacte, 2000 characters', 1, () => dacte(writeCte({ xObs: text(2_000) }))],
  ['dacte, FS-DA', 1, () => dacte(writeCte({ tpEmis: '5', pending: true, xObs: text(300) }))],
  ['dacte, landscape, FS-DA', 1, () => dacte(landscape(writeCte({ tpEmis: '5', pending: true, xObs: text(300) })))],
  ...Object.entries(modals).flatMap(([name, infModal], i): typeof sheetGoals => {
    const cte = writeCte({ modal: `0${i + 1}`, infModal, xObs: text(300), components: 5, measures: 5 })
    return [
      [`dacte, ${name}`, 1, () => dacte(cte)],
      [`dacte, ${name}, landscape`, 1, () => dacte(landscape(cte))],
    ]
  }),
  ['dacte OS', 1, () => dacte(writeCteOs())],
  ['dacte OS, landscape', 1, () => dacte(landscape(writeCteOs()))],
  ['GTV-e', 1, () => dacte(writeGtve())],
  ['Simplificado, 20 deliveries', 2, () => dacte(writeSimplificado(20))],
  ['Carta de Correção', 1, () => printEvent(writeEvent())],
  ['Carta de Correção of a CT-e, 20 corrections', 1, () => printEvent(writeCorrections(20))],
]
