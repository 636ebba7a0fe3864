import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CteContents, contentsOf, type NfeContents, readDetails } from '@vigia/dfe/read'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findSamples } from '../../../tests/support/samples.ts'
import { runs } from '../../../tests/support/seed.ts'
import { findingsOf, type ReformFinding } from './findings.ts'
import { creditNotes, debitNotes, endedCodes, situations, testYears } from './tables.ts'

function read(xml: string | Uint8Array): NfeContents | CteContents {
  const details = readDetails(typeof xml === 'string' ? new TextEncoder().encode(xml) : xml)
  return contentsOf(details!)!
}
interface Note {
  day?: string
  CRT?: string
  finNFe?: string
  ide?: string
  total?: string
}
function note(
  items: readonly string[],
  { day = '2026-11-02', CRT = '3', finNFe = '1', ide = '', total = '' }: Note = {},
) {
  const dets = items.map((item, index) => `<det nItem="${index + 1}">${item}</det>`).join('')
  const xml = `<NFe><infNFe Id="NFe1"><ide><dhEmi>${day}T10:00:00-03:00</dhEmi><finNFe>${finNFe}</finNFe>${ide}</ide><emit><CRT>${CRT}</CRT></emit>${dets}<total>${total}</total></infNFe></NFe>`
  return read(xml) as NfeContents
}
interface Taxed {
  CST?: string
  cClassTrib?: string
  vBC?: string
  uf?: string
  mun?: string
  cbs?: string
  vIBS?: string
  more?: string
}
/** An item of R$ 1.000,00 with the taxes of 2026; each group can be overridden. */
function taxed(change: Taxed = {}): string {
  const { CST = '000', cClassTrib = '000001', vBC = '1000.00', vIBS = '1.00', more = '' } = change
  const uf = change.uf ?? '<pIBSUF>0.1000</pIBSUF><vIBSUF>1.00</vIBSUF>'
  const mun = change.mun ?? '<pIBSMun>0.0000</pIBSMun><vIBSMun>0.00</vIBSMun>'
  const cbs = change.cbs ?? '<pCBS>0.9000</pCBS><vCBS>9.00</vCBS>'
  return `<imposto><IBSCBS><CST>${CST}</CST><cClassTrib>${cClassTrib}</cClassTrib><gIBSCBS><vBC>${vBC}</vBC><gIBSUF>${uf}</gIBSUF><gIBSMun>${mun}</gIBSMun><vIBS>${vIBS}</vIBS><gCBS>${cbs}</gCBS>${more}</gIBSCBS></IBSCBS></imposto>`
}
const plain = '<imposto/>'
const said = (findings: readonly ReformFinding[]) => findings.map(({ code, sentence }) => `${code} ${sentence}`)
const ofNote = (items: readonly string[], options?: Note) => said(findingsOf(note(items, options)))

describe('what a document is told', () => {
  test('an ordinary note of 2026 is told nothing', () => {
    expect(ofNote([taxed(), taxed()])).toEqual([])
  })

  test('a note of the normal regime without the groups, and no other', () => {
    expect(ofNote([plain, plain])).toEqual([
      'rt-sem-grupo O emitente é do regime normal (CRT 3) e não informou IBS e CBS em nenhum dos 2 itens. A nota continua válida; peça ao emitente que os informe nas próximas.',
    ])
    expect(ofNote([plain, taxed(), plain])).toEqual([
      'rt-parcial Itens 1 e 3: sem IBS e CBS, que os outros itens da nota trazem; confirme com o emitente.',
    ])
    for (const CRT of ['1', '2', '4']) expect(ofNote([plain, taxed()], { CRT })).toEqual([])
    expect(ofNote([plain], { day: '2025-12-31' })).toEqual([])
    expect(ofNote([plain], { finNFe: '4' })).toEqual([])
  })

  test('a rate that is not of the year', () => {
    const cbs = '<pCBS>0.8000</pCBS><vCBS>8.00</vCBS>'
    expect(ofNote([taxed({ cbs })])).toEqual(['rt-aliquota Item 1: pCBS de 0,8 % em vez de 0,9 %, a alíquota de 2026.'])
    // A test of the year before, a public purchase, a rate of its own sector, nothing to be taxed.
    expect(ofNote([taxed({ cbs })], { day: '2025-12-31' })).toEqual([])
    expect(ofNote([taxed({ cbs })], { ide: '<gCompraGov><pRedutor>0.00</pRedutor></gCompraGov>' })).toEqual([])
    expect(ofNote([taxed({ cbs, CST: '011', cClassTrib: '011001' })])).toEqual([])
    const none =
      '<pIBSUF>0.00</pIBSUF><gRed><pRedAliq>100.00</pRedAliq><pAliqEfet>0.00</pAliqEfet></gRed><vIBSUF>0.00</vIBSUF>'
    expect(ofNote([taxed({ CST: '200', cClassTrib: '200003', uf: none, vIBS: '0.00' })])).toEqual([])
  })

  test('the rate of 2027 is known of the IBS only, and not for a note that gives back one of 2026', () => {
    const day = '2027-03-01'
    expect(ofNote([taxed()], { day })).toEqual([
      'rt-aliquota Item 1: pIBSUF de 0,1 % em vez de 0,05 %, a alíquota de 2027.',
      'rt-aliquota Item 1: pIBSMun de 0 % em vez de 0,05 %, a alíquota de 2027.',
    ])
    expect(ofNote([taxed()], { day, finNFe: '4' })).toEqual([])
  })

  test('a value that its own base and rate do not give', () => {
    const cbs = '<pCBS>0.9000</pCBS><vCBS>9.02</vCBS>'
    expect(ofNote([taxed({ cbs })])).toEqual([
      'rt-conta Item 1: vCBS de R$ 9,02; a conta dá R$ 9,00 (R$ 1.000,00 × 0,9 %).',
    ])
    expect(ofNote([taxed({ vIBS: '1.02' })])).toEqual([
      'rt-conta Item 1: vIBS de R$ 1,02; vIBSUF e vIBSMun somam R$ 1,00.',
    ])
    const reduced = (effective: string, vCBS: string) =>
      taxed({
        CST: '200',
        cClassTrib: '200038',
        cbs: `<pCBS>0.9000</pCBS><gRed><pRedAliq>60.0000</pRedAliq><pAliqEfet>${effective}</pAliqEfet></gRed><vCBS>${vCBS}</vCBS>`,
      })
    expect(ofNote([reduced('0.3600', '3.60')])).toEqual([])
    expect(ofNote([reduced('0.5400', '5.40')])).toEqual([
      'rt-conta Item 1: pAliqEfet de 0,54 % em gCBS; 0,9 % com a redução dá 0,36 %.',
    ])
    const deferred = (vCBS: string) =>
      taxed({
        CST: '510',
        cClassTrib: '510001',
        cbs: `<pCBS>0.9000</pCBS><gDif><pDif>40.0000</pDif><vDif>3.60</vDif></gDif><vCBS>${vCBS}</vCBS>`,
      })
    expect(ofNote([deferred('5.40')])).toEqual([])
    expect(ofNote([deferred('9.00')])).toEqual([
      'rt-conta Item 1: vCBS de R$ 9,00; a conta dá R$ 5,40 (R$ 1.000,00 × 0,9 %, menos diferimento e devolução).',
    ])
  })

  test('the effective rate of a public purchase has the redutor in it', () => {
    const cbs =
      '<pCBS>0.9000</pCBS><gRed><pRedAliq>60.0000</pRedAliq><pAliqEfet>0.3240</pAliqEfet></gRed><vCBS>3.24</vCBS>'
    const item = taxed({ CST: '200', cClassTrib: '200038', cbs })
    expect(ofNote([item], { ide: '<gCompraGov><pRedutor>10.0000</pRedutor></gCompraGov>' })).toEqual([])
    expect(ofNote([item])).toHaveLength(1)
  })

  test('totals that are not the sum of the items', () => {
    const total = (vCBS: string) =>
      `<IBSCBSTot><vBCIBSCBS>2000.00</vBCIBSCBS><gCBS><vCBS>${vCBS}</vCBS></gCBS></IBSCBSTot>`
    expect(ofNote([taxed(), taxed()], { total: total('18.02') })).toEqual([])
    expect(ofNote([taxed(), taxed()], { total: total('18.03') })).toEqual([
      'rt-conta O total vCBS é de R$ 18,03 e os itens somam R$ 18,00.',
    ])
  })

  test('codes against the dated table', () => {
    expect(ofNote([taxed({ CST: '100' })])).toEqual(['rt-codigo Item 1: o CST 100 está fora da tabela de 08/10/2026.'])
    expect(ofNote([taxed({ cClassTrib: '200001' })])).toEqual([
      'rt-codigo Item 1: o cClassTrib 200001 não é do CST 000, que são os seus três primeiros algarismos.',
    ])
    expect(ofNote([taxed({ CST: '220', cClassTrib: '220001' })])).toEqual([
      'rt-codigo Item 1: o cClassTrib 220001 valeu até 01/01/2026 (tabela de 08/10/2026).',
    ])
    const more = '<gTribRegular><CSTReg>000</CSTReg><cClassTribReg>410001</cClassTribReg></gTribRegular>'
    expect(ofNote([taxed({ more })])[0]).toContain('o cClassTrib 410001 da tributação regular não é do CST 000')
  })

  test('taxes in vNF in the test year, where nothing else explains the difference', () => {
    const total = (vNF: string) =>
      `<ICMSTot><vProd>1000.00</vProd><vFrete>20.00</vFrete><vNF>${vNF}</vNF></ICMSTot><IBSCBSTot><vBCIBSCBS>1000.00</vBCIBSCBS><gIBS><vIBS>1.00</vIBS></gIBS><gCBS><vCBS>9.00</vCBS></gCBS></IBSCBSTot>`
    expect(ofNote([taxed()], { total: total('1030.00') })).toEqual([
      'rt-vnf O vNF de R$ 1.030,00 inclui R$ 10,00 de IBS e CBS, que em 2026 ficam fora do total da nota.',
    ])
    for (const vNF of ['1020.00', '1031.00', '990.00']) expect(ofNote([taxed()], { total: total(vNF) })).toEqual([])
  })

  test('notas de crédito and de débito that contradict themselves', () => {
    const credit = '<tpNF>0</tpNF><tpNFCredito>01</tpNFCredito>'
    expect(ofNote([taxed()], { finNFe: '5', ide: credit })).toEqual([])
    expect(ofNote([taxed()], { finNFe: '6', ide: '<tpNF>0</tpNF><tpNFDebito>09</tpNFDebito>' })).toEqual([
      'rt-nota Nota de débito (finNFe 6) com tpNF 0, e o leiaute pede tpNF 1.',
      'rt-nota O tpNFDebito 09 está fora da tabela de 08/10/2026.',
    ])
    expect(ofNote([taxed()], { finNFe: '5' })).toEqual([
      'rt-nota Nota de crédito (finNFe 5) sem tpNFCredito, que diz o motivo.',
    ])
    const icms = '<imposto><ICMS><ICMS00><vICMS>1.00</vICMS></ICMS00></ICMS></imposto>'
    expect(ofNote([icms], { finNFe: '5', ide: credit })).toEqual([
      'rt-nota Nota de crédito de multa e juros (tpNFCredito 01) com ICMS, que ela não leva.',
    ])
    expect(ofNote([icms], { finNFe: '5', ide: credit.replace('01', '04') })).toEqual([])
  })

  test('a CT-e is judged by its one group', () => {
    const group = taxed({ CST: '100' }).replaceAll('imposto>', 'imp>')
    const xml = `<CTe><infCte><ide><dhEmi>2026-11-02T10:00:00-03:00</dhEmi></ide><emit><CRT>3</CRT></emit>${group}</infCte></CTe>`
    expect(said(findingsOf(read(xml)))).toEqual(['rt-codigo O CST 100 está fora da tabela de 08/10/2026.'])
  })
})

test('nobody reads 990 sentences', () => {
  const alike = findingsOf(note(Array.from({ length: 990 }, () => taxed({ CST: '100' }))))
  expect(said(alike)).toEqual([
    'rt-codigo Itens 1, 2, 3, 4, 5 e mais 985: o CST 100 está fora da tabela de 08/10/2026.',
  ])
  const each = findingsOf(note(Array.from({ length: 990 }, (_, n) => taxed({ vIBS: `${n + 2}.00` }))))
  expect(each).toHaveLength(11)
  expect(each.at(-1)!.sentence).toBe(
    'Itens 11, 12, 13, 14, 15 e mais 975: o mesmo tipo de diferença, com outros valores.',
  )
})

test('the table has 18 CST, and no code of it is of an unknown one', () => {
  expect(situations.size).toBe(18)
  for (const code of endedCodes.keys()) expect(situations.has(code.slice(0, 3))).toBe(true)
})

test('nothing of the test year is called owed or usable', () => {
  const texts = [...testYears.values(), ...[...creditNotes.values(), ...debitNotes.values()].map(({ text }) => text)]
  for (const text of texts) expect(text).not.toMatch(/a pagar|devid|a recuperar|aproveitável/)
})

// Cents and rates as whole numbers, rounded as an issuer does, without our decimals.
const cents = (value: bigint) => `${value / 100n}.${String(value % 100n).padStart(2, '0')}`
const ofBase = (base: bigint, rate: bigint) => (base * rate + 500_000n) / 1_000_000n

test('what is computed as the layout says is never told, and two cents more are', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          base: fc.bigInt({ min: 1n, max: 10n ** 13n }),
          reduction: fc.constantFrom(0n, 30n, 40n, 50n, 60n, 70n, 80n, 100n),
          off: fc.constantFrom(0n, 0n, 0n, 2n),
        }),
        { minLength: 1, maxLength: 12 },
      ),
      (lines) => {
        const part = (rate: string, value: string, p: bigint, base: bigint, reduction: bigint, off: bigint) => {
          const left = (p * (100n - reduction)) / 100n
          const gRed =
            reduction === 0n
              ? ''
              : `<gRed><pRedAliq>${reduction}.00</pRedAliq><pAliqEfet>0.${String(left).padStart(4, '0')}</pAliqEfet></gRed>`
          const amount = ofBase(base, left)
          const xml = `<${rate}>0.${String(p).padStart(4, '0')}</${rate}>${gRed}<${value}>${cents(amount + off)}</${value}>`
          return { xml, amount }
        }
        let [vBC, vIBS, vCBS] = [0n, 0n, 0n]
        const items = lines.map(({ base, reduction, off }) => {
          const state = part('pIBSUF', 'vIBSUF', 1_000n, base, reduction, 0n)
          const union = part('pCBS', 'vCBS', 9_000n, base, reduction, off)
          vBC += base
          vIBS += state.amount
          vCBS += union.amount + off
          const code = reduction === 0n ? {} : { CST: '200', cClassTrib: '200038' }
          return taxed({ ...code, vBC: cents(base), uf: state.xml, cbs: union.xml, vIBS: cents(state.amount) })
        })
        const total = `<IBSCBSTot><vBCIBSCBS>${cents(vBC)}</vBCIBSCBS><gIBS><gIBSUF><vIBSUF>${cents(vIBS)}</vIBSUF></gIBSUF><vIBS>${cents(vIBS)}</vIBS></gIBS><gCBS><vCBS>${cents(vCBS)}</vCBS></gCBS></IBSCBSTot>`
        const findings = findingsOf(note(items, { total }))
        expect(findings.every(({ code }) => code === 'rt-conta')).toBe(true)
        const wrong = lines.filter(({ off }) => off > 0n).length
        expect(findings.length > 0).toBe(wrong > 0)
      },
    ),
    { numRuns: runs(300) },
  )
})

test('no content makes judging throw', () => {
  const number = fc.constantFrom('0', '100', '999999999999999.9999999999', 'x', '-1', '')
  const group = fc
    .tuple(number, number, number, number, number)
    .map(
      ([vBC, p, red, efet, value]) =>
        `<imposto><IBSCBS><CST>${red}</CST><cClassTrib>${vBC}</cClassTrib><gIBSCBS><vBC>${vBC}</vBC><vIBS>${p}</vIBS><gIBSUF><pIBSUF>${p}</pIBSUF><gRed><pRedAliq>${red}</pRedAliq><pAliqEfet>${efet}</pAliqEfet></gRed><gDif><vDif>${value}</vDif></gDif><vIBSUF>${value}</vIBSUF></gIBSUF></gIBSCBS></IBSCBS></imposto>`,
    )
  fc.assert(
    fc.property(fc.array(group, { maxLength: 5 }), fc.constantFrom('1', '4', '5', '6', ''), (items, finNFe) => {
      const ide = '<gCompraGov><pRedutor>100</pRedutor></gCompraGov>'
      for (const { sentence } of findingsOf(note(items, { finNFe, ide }))) expect(sentence).toMatch(/^[A-Z].*\.$/)
    }),
    { numRuns: runs(300) },
  )
})

const folder = findSamples()

// Every finding here was read, and a tax person would raise each too.
describe.skipIf(folder === null)('the sample documents', () => {
  test.each([
    ['as they are', undefined, []],
    [
      'as if each that has the groups were of 2026',
      '2026-11-02',
      [
        'procCTe-4.00-ibscbs.xml rt-codigo O CST 100 está fora da tabela de 08/10/2026.',
        'procNFe-ibscbs-tributacao-integral-difal.xml rt-aliquota Item 1: pCBS de 0,8 % em vez de 0,9 %, a alíquota de 2026.',
      ],
    ],
  ])('%s', (_, day, expected) => {
    const found = ['cte', 'nfe'].flatMap((place) =>
      readdirSync(join(folder!, place))
        .sort()
        .flatMap((file) => {
          const contents = read(readFileSync(join(folder!, place, file)))
          const groups = contents.type === 'cte' ? [contents] : contents.items
          if (day && groups.some(({ IBSCBS }) => IBSCBS)) contents.head = { ...contents.head, dhEmi: day }
          return said(findingsOf(contents)).map((text) => `${file} ${text}`)
        }),
    )
    expect(found).toEqual(expected)
  })
})
