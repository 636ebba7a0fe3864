import { formatChave } from '@vigia/dfe/chave'
import { child, children, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { describe, expect, test } from 'vitest'
import { danfe, PrintError } from './danfe.ts'
import { date, documentNumber, money, quantity } from './formats.ts'
import { layoutFaults } from './support/faults.ts'
import { readGraphics } from './support/graphics.ts'
import { writeNfe } from './support/nfe.ts'
import { samples } from './support/samples.ts'
import { scan } from './support/scan.ts'
import { readWords, squeezed } from './support/words.ts'

const lorem = (length: number) =>
  'Mercadoria sujeita a substituição tributária; não gera direito a crédito de ICMS | pedido 4711. '
    .repeat(Math.ceil(length / 90))
    .slice(0, length)
    .trim()

const written: [string, Uint8Array][] = [
  ['one item', writeNfe({ items: 1 })],
  ['120 items', writeNfe({ items: 120 })],
  ['every text at its longest', writeNfe({ long: true, items: 5, duplicatas: 12, infCpl: lorem(5000) })],
  ['40 duplicatas', writeNfe({ duplicatas: 40, infCpl: lorem(500) })],
  ['120 duplicatas', writeNfe({ duplicatas: 120, items: 30, infCpl: lorem(1500) })],
  ['5000 characters', writeNfe({ items: 1, infCpl: lorem(5000) })],
  ['100 items and 5000 characters', writeNfe({ items: 100, infCpl: lorem(5000) })],
  ['NT 2026.010', writeNfe({ emission: '2026-12-05T10:15:30-03:00', items: 3 })],
  ['FS-DA', writeNfe({ tpEmis: '5', cStat: null })],
  ['EPEC', writeNfe({ tpEmis: '4', cStat: null })],
  ['without protocol', writeNfe({ cStat: null })],
  ['denied', writeNfe({ cStat: '302' })],
  ['test environment', writeNfe({ tpAmb: '2' })],
]
const archived = samples('nfe', /^procNFe/).map(({ name, bytes }): [string, Uint8Array] => [name, bytes])

describe.each([...written, ...archived])('%s', (_, bytes) => {
  const pdf = danfe(bytes)
  const pages = readGraphics(pdf)
  const root = openDocument(bytes)
  const infNFe = child(root, 'NFe/infNFe')!

  test('nothing overlaps, crosses a rule or leaves the sheet', () => {
    expect(layoutFaults(pages)).toEqual([])
  })

  test('identical input gives identical bytes', () => {
    expect(danfe(bytes)).toEqual(pdf)
  })

  test('every printed field equals its source', async () => {
    const read = await readWords(pdf)
    const text = squeezed(read.pages)
    for (const expected of expectedTexts(infNFe)) expect(text).toContain(squeeze(expected))
    for (const paragraph of runningTexts(infNFe)) expectInOrder(text, paragraph)
    expect(read.language).toBe('pt-BR')
    expect(read.title).toContain('DANFE')
  })

  test('every sheet repeats number, sheet, key and a bar code that a reader decodes', async () => {
    const chave = infNFe.attributes.Id!.slice(3)
    for (const [i, page] of pages.entries()) {
      const runs = page.runs.map((run) => run.text)
      expect(runs).toContain(`FOLHA ${i + 1}/${pages.length}`)
      expect(runs).toContain(formatChave(chave))
      expect(runs).toContain(`Nº ${documentNumber(value(infNFe, 'ide/nNF'))}`)
      if (i > 1 && i < pages.length - 1) continue
      const codes = await scan(page, 300)
      expect(codes).toContainEqual({ format: 'Code128', text: chave })
    }
  })
})

function expectedTexts(infNFe: XmlElement): string[] {
  const items = children(infNFe, 'det').flatMap((det) => {
    const prod = child(det, 'prod')
    return [
      value(prod, 'cProd'),
      value(prod, 'xProd'),
      value(prod, 'NCM'),
      value(prod, 'CFOP'),
      quantity(value(prod, 'qCom')),
      quantity(value(prod, 'vUnCom')),
      money(value(prod, 'vProd')),
    ]
  })
  const totals = child(infNFe, 'total/ICMSTot')?.children ?? []
  const boxes = new Set(['vBC', 'vICMS', 'vBCST', 'vST', 'vProd', 'vFrete', 'vSeg', 'vDesc', 'vIPI', 'vOutro', 'vNF'])
  const texts = [
    value(infNFe, 'emit/xNome'),
    value(infNFe, 'emit/enderEmit/xLgr'),
    value(infNFe, 'emit/IE'),
    value(infNFe, 'dest/xNome'),
    value(infNFe, 'dest/enderDest/xCpl'),
    value(infNFe, 'dest/enderDest/xMun'),
    value(infNFe, 'dest/IE'),
    value(infNFe, 'ide/natOp'),
    date(value(infNFe, 'ide/dhEmi') ?? value(infNFe, 'ide/dEmi')),
    value(infNFe, 'transp/transporta/xNome'),
    ...totals.filter((total) => boxes.has(total.name)).map((total) => money(total.text)),
    ...items,
  ]
  return texts.filter((text) => text !== undefined)
}

function runningTexts(infNFe: XmlElement): string[] {
  const texts = [
    value(infNFe, 'infAdic/infCpl'),
    value(infNFe, 'infAdic/infAdFisco'),
    ...children(infNFe, 'det').map((det) => value(det, 'infAdProd')),
    ...children(infNFe, 'cobr/dup').flatMap((dup) => [
      value(dup, 'nDup'),
      date(value(dup, 'dVenc')),
      money(value(dup, 'vDup')),
    ]),
    ...children(infNFe, 'infAdic/obsCont').map((obs) => value(obs, 'xTexto')),
    ...children(infNFe, 'transp/vol').flatMap((vol) => [value(vol, 'esp'), value(vol, 'marca'), value(vol, 'nVol')]),
  ]
  return texts.filter((text) => text !== undefined)
}

const squeeze = (text: string) => text.normalize('NFC').replace(/\s+/g, '')

// A text may be cut by the end of a sheet: its words are all there, one after the other.
function expectInOrder(text: string, paragraph: string): void {
  if (text.includes(squeeze(paragraph))) return
  let from = 0
  for (const word of paragraph.split(/\s+/)) {
    const at = text.indexOf(squeeze(word), from)
    expect(at, word).not.toBe(-1)
    from = at
  }
}

async function textOf(pdf: Uint8Array): Promise<string> {
  return squeezed((await readWords(pdf)).pages)
}

describe('situations', () => {
  test('the offset of the time is never applied', async () => {
    const text = await textOf(danfe(writeNfe({ emission: '2026-08-12T23:15:30+05:00' })))
    expect(text).toContain('12/08/2026')
    expect(text).toContain('23:15:30')
  })

  test('cancelled: stamp, event and the protocol of the authorisation', async () => {
    const pdf = danfe(writeNfe(), { cancelled: { protocol: '135260000000009', at: '2026-08-13T08:00:00-03:00' } })
    const text = await textOf(pdf)
    expect(text).toContain('NF-ECANCELADA-PROTOCOLODECANCELAMENTO135260000000009-13/08/202608:00:00')
    expect(text).toContain('135260000000001-12/08/202610:16:00')
    expect(text).not.toContain('SEMVALORFISCAL')
  })

  test('a retEvento of cancelamento left in the file counts', async () => {
    const [attached] = samples('invalidos', /retEvento-anexado/)
    if (!attached) return
    expect(await textOf(danfe(attached.bytes))).toContain('NF-ECANCELADA')
  })

  test('denied', async () => {
    const text = await textOf(danfe(writeNfe({ cStat: '302' })))
    expect(text).toContain('PROTOCOLODEDENEGAÇÃODEUSO')
    expect(text).toContain('NF-EDENEGADA-UsoDenegado')
  })

  test('FS-DA before the authorisation has a second bar code', async () => {
    const pdf = danfe(writeNfe({ tpEmis: '5', cStat: null }))
    const codes = await scan(readGraphics(pdf)[0]!, 300)
    expect(codes).toHaveLength(2)
    expect(codes.map((code) => code.text.length).toSorted()).toEqual([36, 44])
  })

  test('a chave with letters decodes and the CNPJ keeps them', async () => {
    const pdf = danfe(writeNfe({ cnpj: '12ABC34501DE35' }))
    const [code] = await scan(readGraphics(pdf)[0]!, 300)
    expect(code?.text).toContain('12ABC34501DE35')
    expect(await textOf(pdf)).toContain('12.ABC.345/01DE-35')
  })

  test('the form follows the date of emission, or the taxes in the file', async () => {
    expect(await textOf(danfe(writeNfe({ emission: '2026-11-30T23:59:59-03:00' })))).toContain('CÁLCULODOIMPOSTO')
    expect(await textOf(danfe(writeNfe({ emission: '2026-12-01T00:00:00-03:00' })))).toContain('TOTALDOICMS/IPI')
    const total = '<IBSCBSTot><vBCIBSCBS>100.00</vBCIBSCBS><gCBS><vCBS>0.90</vCBS></gCBS></IBSCBSTot>'
    const early = await textOf(danfe(writeNfe({ total })))
    expect(early).toContain('TOTALDOIBS/CBS/IS')
    expect(early).toContain('0,90')
  })

  test('the effective rate takes the place of a reduced one, each tax on its own', async () => {
    const item = () =>
      '<det nItem="1"><prod><cProd>1</cProd><xProd>Item</xProd><NCM>73181500</NCM><CFOP>5102</CFOP><uCom>UN</uCom><qCom>1</qCom><vUnCom>1</vUnCom><vProd>1.00</vProd></prod><imposto><IBSCBS><CST>200</CST><cClassTrib>200030</cClassTrib><gIBSCBS><vBC>1.00</vBC><gIBSUF><pIBSUF>0.1700</pIBSUF><gRed><pRedAliq>60.0000</pRedAliq><pAliqEfet>0.0680</pAliqEfet></gRed><vIBSUF>0.01</vIBSUF></gIBSUF><gIBSMun><pIBSMun>0.0300</pIBSMun><vIBSMun>0.02</vIBSMun></gIBSMun><vIBS>0.03</vIBS><gCBS><pCBS>0.9000</pCBS><vCBS>0.04</vCBS></gCBS></gIBSCBS></IBSCBS></imposto></det>'
    const text = await textOf(danfe(writeNfe({ items: 1, item })))
    expect(text).toContain('[cClassTrib200030]')
    expect(text).toContain('0,068')
    expect(text).not.toContain('0,17')
    expect(text).toContain('0,03')
  })

  test('a QR code only with the text of the file', async () => {
    const [sample] = samples('invalidos', /nfe-sem-protocolo/)
    if (!sample) return
    const url = value(openDocument(sample.bytes), 'infNFeSupl/qrCode')
    const codes = await scan(readGraphics(danfe(sample.bytes))[0]!, 300)
    expect(codes).toContainEqual({ format: 'QRCode', text: url })
  })

  test('characters outside the font are spelled', async () => {
    const text = await textOf(danfe(writeNfe({ infCpl: 'resistência 10 Ω ≤ 5 中' })))
    expect(text).toContain('resistência10Ohm<=5[U+4E2D]')
  })
})

describe('what is not an NF-e', () => {
  test.each([
    ['not XML', 'hello'],
    ['another document', '<resNFe/>'],
    ['model 65', '<nfeProc><NFe><infNFe><ide><mod>65</mod></ide></infNFe></NFe></nfeProc>'],
  ])('%s', (_, xml) => {
    expect(() => danfe(new TextEncoder().encode(xml))).toThrow(PrintError)
  })

  test('an NF-e with almost nothing prints its form', () => {
    const xml = '<NFe><infNFe Id="NFe35"><ide><mod>55</mod></ide></infNFe></NFe>'
    expect(readGraphics(danfe(new TextEncoder().encode(xml)))).toHaveLength(1)
  })
})
