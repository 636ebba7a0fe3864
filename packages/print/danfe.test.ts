import { formatChave } from '@vigia/dfe/chave'
import { child, openDocument, value } from '@vigia/dfe/document'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs, thorough } from '../../tests/support/seed.ts'
import { danfe, PrintError } from './danfe.ts'
import { documentNumber } from './formats.ts'
import { danfeFaults } from './support/danfe-fields.ts'
import { layoutFaults } from './support/faults.ts'
import { readGraphics } from './support/graphics.ts'
import { itemOfEveryGroup, writeNfe } from './support/nfe.ts'
import { samples } from './support/samples.ts'
import { dotsPerInchFor, labelPrinter, scan } from './support/scan.ts'
import { readSheets } from './support/sheet.ts'
import { inBothOrientations, inOneOrientation, orientations, withTexts, withTpImp } from './support/variants.ts'
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
  ['NT 2026.010 with every tax', writeNfe({ newTaxes: true, items: 12, duplicatas: 3 })],
  ['letters in the CNPJ', writeNfe({ cnpj: '12ABC34501DE35' })],
  ['FS-DA', writeNfe({ tpEmis: '5', cStat: null })],
  ['EPEC', writeNfe({ tpEmis: '4', cStat: null })],
  ['without protocol', writeNfe({ cStat: null })],
  ['denied', writeNfe({ cStat: '302' })],
  ['test environment', writeNfe({ tpAmb: '2' })],
]
const archived = samples('nfe', /^procNFe/).map(({ name, bytes }): [string, Uint8Array] => [name, bytes])

const drawn = [...inBothOrientations(written), ...(thorough ? inBothOrientations : inOneOrientation)(archived)]

describe.each(drawn)('%s, %s', (_, orientation, bytes) => {
  const pdf = danfe(bytes)
  const pages = readGraphics(pdf)
  const root = openDocument(bytes)
  const infNFe = child(root, 'NFe/infNFe')!

  test('nothing overlaps, crosses a rule or leaves the sheet', () => {
    expect(layoutFaults(pages)).toEqual([])
    for (const page of pages) {
      expect(page.width > page.height ? 'landscape' : 'portrait').toBe(orientation)
      // One right edge for everything that is drawn.
      expect(Math.max(...page.rules.flatMap((rule) => [rule.x1, rule.x2]))).toBeCloseTo(page.width - 14, 0)
    }
  })

  test('every printed field equals its source', async () => {
    const read = await readWords(pdf)
    expect(danfeFaults(infNFe, child(root, 'protNFe/infProt'), readSheets(read.pages, pages))).toEqual([])
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
      const codes = await scan(page, dotsPerInchFor(chave))
      expect(codes).toContainEqual({ format: 'Code128', text: chave })
    }
    expect(await scan(pages[0]!, labelPrinter)).toContainEqual({ format: 'Code128', text: chave })
  })
})

async function textOf(pdf: Uint8Array): Promise<string> {
  return squeezed((await readWords(pdf)).pages)
}

describe('situations', () => {
  test('the offset of the time is never applied', async () => {
    const text = await textOf(danfe(writeNfe({ emission: '2026-08-12T23:15:30+05:00' })))
    expect(text).toContain('12/08/2026')
    expect(text).toContain('23:15:30')
  })

  test('the protocol of another document authorises nothing', async () => {
    const xml = new TextDecoder().decode(writeNfe())
    const text = await textOf(danfe(new TextEncoder().encode(xml.replace(/<chNFe>\d/, '<chNFe>9'))))
    expect(text).toContain('SEMVALORFISCAL-SEMPROTOCOLODEAUTORIZAÇÃODEUSO')
    expect(text).not.toMatch(/13526000000000[12]/)
  })

  test('cancelled: stamp, event and the protocol of the authorisation', async () => {
    const pdf = danfe(writeNfe(), { cancelled: { protocol: '135260000000009', at: '2026-08-13T08:00:00-03:00' } })
    const text = await textOf(pdf)
    expect(text).toContain('NF-ECANCELADA-PROTOCOLODECANCELAMENTO135260000000009-13/08/202608:00:00')
    expect(text).toContain('135260000000001-12/08/202610:16:00')
    expect(text).not.toContain('SEMVALORFISCAL')
  })

  test('a protocol that says cancelled is that of the authorisation, and the answer to the cancelamento has its own', async () => {
    const bare = await textOf(danfe(writeNfe({ cStat: '101' })))
    expect(bare).toContain('NF-ECANCELADA')
    expect(bare).not.toContain('PROTOCOLODECANCELAMENTO')
    const answer = (chave: string) =>
      `<retCancNFe><infCanc><cStat>101</cStat><chNFe>${chave}</chNFe><dhRecbto>2012-03-04T05:06:07</dhRecbto><nProt>135120000000008</nProt></infCanc></retCancNFe></nfeProc>`
    const note = new TextDecoder().decode(writeNfe())
    const chave = /<chNFe>(\d{44})/.exec(note)![1]!
    const withAnswer = (of: string) => textOf(danfe(Buffer.from(note.replace('</nfeProc>', answer(of)))))
    expect(await withAnswer(chave)).toContain('PROTOCOLODECANCELAMENTO135120000000008-04/03/201205:06:07')
    expect(await withAnswer(chave.replace(/^../, '43'))).not.toContain('CANCELADA')
  })

  test.each([
    ['CST', 'O/CST', 'O/CSOSN'],
    ['CSOSN', 'O/CSOSN', 'O/CST'],
    ['both', 'O/CST/CSOSN', 'O/CSOSN'],
  ])('the heading names the code of the items: %s', async (code, heading, not) => {
    const icms = { CST: '<CST>00</CST>', CSOSN: '<CSOSN>102</CSOSN>' }
    const item = (n: number) => {
      const kind = code === 'both' ? (n % 2 ? 'CST' : 'CSOSN') : (code as 'CST')
      return `<det nItem="${n}"><prod><cProd>1</cProd><xProd>Item</xProd></prod><imposto><ICMS><g><orig>0</orig>${icms[kind]}</g></ICMS></imposto></det>`
    }
    for (const emission of ['2026-08-12T10:15:30-03:00', '2026-12-12T10:15:30-03:00'])
      for (const tpImp of ['1', '2']) {
        const words = (await readWords(danfe(writeNfe({ items: 4, item, emission, tpImp })))).pages[0]!.map(
          ({ text }) => text,
        )
        const text = words.join('')
        expect(text).toContain(heading)
        expect(text.split(heading).join('')).not.toContain(not)
      }
  })

  test('a note that does not verify says so, on the stamp and in words', async () => {
    const text = await textOf(danfe(writeNfe(), { doubt: 'A assinatura digital não confere.' }))
    expect(text).toContain('ATENÇÃO-Aassinaturadigitalnãoconfere.')
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

  test.each(orientations)(
    'FS-DA before the authorisation has a second bar code on every sheet, %s',
    async (orientation) => {
      const note = writeNfe({ tpEmis: '5', cStat: null, items: 120, tpImp: orientation === 'landscape' ? '2' : '1' })
      for (const page of readGraphics(danfe(note))) {
        const codes = await scan(page, 150)
        // UF, FS-DA, destinatário, R$ 100,00, own ICMS and ICMS ST, day 12.
        expect(codes).toContainEqual({ format: 'Code128', text: '355991648520001810000000001000011122' })
        expect(codes.map((code) => code.text.length).toSorted()).toEqual([36, 44])
      }
    },
  )

  test('the number and the moment of the EPEC event are printed instead of the protocol', async () => {
    const epec = { protocol: '891260000000077', at: '2026-08-12T10:20:00-03:00' }
    const text = await textOf(danfe(writeNfe({ tpEmis: '4', cStat: null }), { epec }))
    expect(text).toContain('PROTOCOLODEAUTORIZAÇÃODOEPEC891260000000077-12/08/202610:20:00')
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

  test('the effective rate is printed instead of a reduced one, separately for each tax', async () => {
    const item = () =>
      '<det nItem="1"><prod><cProd>1</cProd><xProd>Item</xProd><NCM>73181500</NCM><CFOP>5102</CFOP><uCom>UN</uCom><qCom>1</qCom><vUnCom>1</vUnCom><vProd>1.00</vProd></prod><imposto><IBSCBS><CST>200</CST><cClassTrib>200030</cClassTrib><gIBSCBS><vBC>1.00</vBC><gIBSUF><pIBSUF>0.1700</pIBSUF><gRed><pRedAliq>60.0000</pRedAliq><pAliqEfet>0.0680</pAliqEfet></gRed><vIBSUF>0.01</vIBSUF></gIBSUF><gIBSMun><pIBSMun>0.0300</pIBSMun><vIBSMun>0.02</vIBSMun></gIBSMun><vIBS>0.03</vIBS><gCBS><pCBS>0.9000</pCBS><vCBS>0.04</vCBS></gCBS></gIBSCBS></IBSCBS></imposto></det>'
    const text = await textOf(danfe(writeNfe({ items: 1, item })))
    expect(text).toContain('[cClassTrib200030]')
    expect(text).toContain('0,068')
    expect(text).not.toContain('0,17')
    expect(text).toContain('0,03')
  })

  test('a semicolon in the text of the issuer is a new line, a soft hyphen is nothing', async () => {
    const infCpl = 'Pedido 4711; Vende\u00addor: Ana;;Entrega: manhã &amp; tarde;'
    const words = (await readWords(danfe(writeNfe({ items: 1, infCpl })))).pages.flat()
    const first = words.findIndex(({ text }) => text === 'Pedido 4711')
    const lines = words.slice(first, first + 3)
    expect(lines.map(({ text }) => text)).toEqual(['Pedido 4711', 'Vendedor: Ana', 'Entrega: manhã & tarde'])
    expect(new Set(lines.map(({ baseline }) => baseline)).size).toBe(3)
  })

  test('a QR code only with the text of the file', async () => {
    const [sample] = samples('invalidos', /nfe-sem-protocolo/)
    if (!sample) return
    const url = value(openDocument(sample.bytes), 'infNFeSupl/qrCode')
    const codes = await scan(readGraphics(danfe(sample.bytes))[0]!, 150)
    expect(codes).toContainEqual({ format: 'QRCode', text: url })
  })

  test('characters outside WinAnsi are found, those outside the font are spelled', async () => {
    const text = await textOf(danfe(writeNfe({ infCpl: 'resistência 10 Ω ≤ 5 中' })))
    expect(text).toContain('resistência10Ω≤5[U+4E2D]')
  })
})

test('the receipt keeps to two lines and leaves the street out rather than take a third', () => {
  const note = withTexts(writeNfe(), { xNome: 45, xLgr: 40, xBairro: 20 }, 'COMERCIAL DE TINTAS E ', [1])
  const texts = readGraphics(danfe(note))[0]!.runs.map((run) => run.text)
  const from = texts.findIndex((text) => text.startsWith('RECEBEMOS DE'))
  const sentence = texts.slice(from, texts.indexOf('DATA DE RECEBIMENTO'))
  expect(sentence).toHaveLength(2)
  expect(sentence.join(' ')).toMatch(/DESTINATÁRIO: COMERCIAL DE TINTAS .* São Paulo - SP$/)
})

test('the consulta stands in the middle of its box, however high the emitente makes it', () => {
  const [{ runs, rules }] = readGraphics(danfe(writeNfe({ long: true }))) as [ReturnType<typeof readGraphics>[number]]
  const lines = runs.filter(({ text }) => /^Consulta de|^www\.nfe/.test(text)).map(({ baseline }) => baseline)
  const { x, baseline } = runs.find(({ text }) => text === 'CHAVE DE ACESSO')!
  const across = rules.filter((rule) => rule.y1 === rule.y2 && rule.x1 <= x && rule.x2 > x).map((rule) => rule.y1)
  const [above, below] = [...new Set(across)].filter((y) => y > baseline).sort((a, b) => a - b) as [number, number]
  const middle = (Math.min(...lines) - 8 + Math.max(...lines)) / 2
  expect(Math.abs(middle - (above + below) / 2)).toBeLessThan(4)
})

test('the receipt of a note without recipient names none', async () => {
  const note = new TextDecoder().decode(writeNfe()).replace(/<dest>.*<\/dest>/, '')
  const texts = readGraphics(danfe(Buffer.from(note)))[0]!.runs.map((run) => run.text)
  expect(texts.filter((text) => text.includes('DESTINATÁRIO:'))).toEqual([])
})

test('the labels of the totals stand on one line, and one more total of the ICMS in its row', () => {
  const baselines = (total: string, labels: string[]) => {
    const xml = new TextDecoder().decode(writeNfe({ newTaxes: true })).replace('<vFCP>0.00</vFCP>', total)
    const { runs } = readGraphics(danfe(Buffer.from(xml)))[0]!
    return new Set(labels.map((label) => runs.find(({ text }) => text === label)?.baseline))
  }
  const first = ['VALOR TOTAL DOS PRODUTOS', 'OUTRAS DESPESAS ACESSÓRIAS', 'VALOR TOTAL COM IBS/CBS/IS']
  expect([...baselines('', first)]).toEqual([expect.any(Number)])
  const icms = ['VALOR DO IPI', 'VALOR DO DIFAL NA UF DE DESTINO']
  expect([...baselines('<vICMSUFDest>4.09</vICMSUFDest>', icms)]).toEqual([expect.any(Number)])
})

test('items of many details share one sheet in tight columns', () => {
  const pages = readGraphics(danfe(writeNfe({ items: 10, item: itemOfEveryGroup })))
  expect(pages).toHaveLength(1)
  expect(layoutFaults(pages)).toEqual([])
})

test('a sheet that holds no item has no table, but the texts', () => {
  const item = (n: number) =>
    `<det nItem="${n}"><prod><cProd>1</cProd><xProd>Item</xProd></prod><infAdProd>${lorem(5000)}</infAdProd></det>`
  const note = writeNfe({ items: 2, item, infCpl: lorem(5000), tpImp: '2' })
  const [first, second] = readGraphics(danfe(note)).map((page) => page.runs.map((run) => run.text))
  expect(first).not.toContain('DADOS DOS PRODUTOS / SERVIÇOS')
  expect(second).toContain('DADOS DOS PRODUTOS / SERVIÇOS')
})

describe('landscape', () => {
  test.each(['0', '1', '3', '6', '9', ''])('tpImp %s prints in portrait', (tpImp) => {
    for (const { width, height } of readGraphics(danfe(withTpImp(writeNfe(), tpImp))))
      expect(width).toBeLessThan(height)
  })

  test('the receipt is a strip at the left of the first sheet, and the others keep its margin', () => {
    const pages = readGraphics(danfe(withTpImp(writeNfe({ items: 120 }), '2')))
    const edges = pages.map((page) => Math.min(...page.runs.filter((run) => !run.upwards).map((run) => run.x)))
    const strips = pages.map((page) => page.runs.filter((run) => run.upwards))
    expect(pages.length).toBeGreaterThan(2)
    expect(new Set(edges.map(Math.round)).size).toBe(1)
    expect(strips[0]!.map((run) => run.text)).toContain('IDENTIFICAÇÃO E ASSINATURA DO RECEBEDOR')
    expect(Math.max(...strips[0]!.map((run) => run.x))).toBeLessThan(edges[0]!)
    expect(strips.slice(1).flat()).toEqual([])
    // The cut line is the only dashed vertical rule, however many items divide the table.
    const upright = pages[0]!.rules.filter((rule) => rule.dashed && Math.abs(rule.x1 - rule.x2) < 1)
    expect(upright.map((rule) => Math.round(Math.abs(rule.y1 - rule.y2)))).toEqual([567])
  })

  test('columns that portrait stacks are beside each other in landscape, with IBS and CBS too', async () => {
    const stacked = writeNfe({ items: 3, emission: '2026-12-05T10:15:30-03:00' })
    const headings = async (bytes: Uint8Array) => (await readWords(danfe(bytes))).pages[0]!.map((word) => word.text)
    const place = async (bytes: Uint8Array) => {
      const [page] = (await readWords(danfe(bytes))).pages
      return (
        page!.find((word) => word.text === 'CFOP')!.baseline - page!.find((word) => word.text === 'O/CST')!.baseline
      )
    }
    expect(await headings(withTpImp(stacked, '2'))).toContain('VALOR DOS TRIBUTOS')
    expect(await place(withTpImp(stacked, '2'))).toBeCloseTo(0)
    expect(await place(stacked)).toBeGreaterThan(4)
  })
})

const limits = {
  ...{ xNome: 60, xLgr: 60, nro: 60, xCpl: 60, xBairro: 60, xMun: 60, natOp: 60, IE: 14, xEnder: 60 },
  ...{ cProd: 60, xProd: 120, infAdProd: 500, esp: 60, marca: 60, nVol: 60, nFat: 60, nDup: 60 },
  ...{ infAdFisco: 2000, infCpl: 5000 },
}

test.each(orientations)('texts of any length cause no layout fault in %s', (orientation) => {
  const words = fc.constantFrom('MERCADORIA ', 'tecido de algodão, cor ', 'WWWWWWWWWW', '1/2"-')
  const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 7, maxLength: 37 })
  const emission = fc.constantFrom('2026-08-12T10:15:30-03:00', '2026-12-12T10:15:30-03:00')
  fc.assert(
    fc.property(words, shares, emission, fc.nat(40), (text, lengths, emitted, duplicatas) => {
      const note = writeNfe({ long: true, items: 3, duplicatas, infCpl: 'X', emission: emitted })
      const varied = withTexts(note, limits, text, lengths)
      const pdf = danfe(withTpImp(varied, orientation === 'landscape' ? '2' : '1'))
      expect(layoutFaults(readGraphics(pdf))).toEqual([])
    }),
    { numRuns: runs(30) },
  )
})

// Found by texts of any kind in any place (mutated.test.ts): these stand on one line, beside what does not give way.
describe.each(orientations)('a text that its line cannot take is reduced or refused, in %s', (orientation) => {
  const note = withTpImp(writeNfe({ duplicatas: 3 }), orientation === 'landscape' ? '2' : '1')
  test.each([
    ['serie', 'WWWW', true],
    ['serie', 'W'.repeat(60), false],
    ['nNF', 'WWWW', true],
    ['nNF', '[U+1F69A] 中文 אم '.repeat(9), false],
    ['tpNF', '12', true],
    ['tpNF', 'WWWWWW', false],
    ['finNFe', 'constructor', true],
    ['tpEmis', 'constructor', true],
    ['modFrete', 'constructor', true],
    ['modFrete', '__proto__', true],
    ['nDup', 'WWWWWWWW', true],
    ['nDup', 'W'.repeat(60), true],
  ])('%s: %s', (name, value, fits) => {
    const filled = new TextDecoder().decode(note).replace(new RegExp(`(?<=<${name}>)[^<]+`), value)
    const printed = () => danfe(new TextEncoder().encode(filled))
    if (fits) expect(layoutFaults(readGraphics(printed()))).toEqual([])
    else expect(printed).toThrow('textos maiores do que o leiaute permite')
  })
})

describe.each(orientations)('what the layout does not foresee, in %s', (orientation) => {
  const tpImp = orientation === 'landscape' ? '2' : '1'
  const changed = (bytes: Uint8Array, before: string | RegExp, after: string) =>
    Buffer.from(new TextDecoder().decode(bytes).replace(before, after))

  test('messages of the authority make their box higher, whatever stands beside it', async () => {
    const messages = Array.from({ length: 10 }, (_, n) => `<xMsg>Mensagem ${n} ${lorem(170)}</xMsg>`)
    const note = writeNfe({ tpImp, items: 60, infCpl: lorem(5000) })
    const pdf = danfe(changed(note, '</infProt>', `${messages.join('')}</infProt>`))
    expect(layoutFaults(readGraphics(pdf))).toEqual([])
    const text = await textOf(pdf)
    for (const n of messages.keys()) expect(text).toContain(`Mensagem${n}`)
  })

  test('a text of more line breaks than a thousand sheets hold is refused', () => {
    const lines = (count: number) => () => danfe(writeNfe({ tpImp, infCpl: 'a\n'.repeat(count) }))
    expect(lines(30_000)).not.toThrow()
    expect(lines(200_000)).toThrow('O documento ocuparia mais de 1000 folhas.')
  })

  test('a chave too wide for its box is refused', () => {
    const note = writeNfe({ tpImp })
    expect(() => danfe(changed(note, /(?<=Id="NFe)\d+/, 'W'.repeat(44)))).toThrow(PrintError)
    expect(layoutFaults(readGraphics(danfe(writeNfe({ tpImp, cnpj: 'WWWWWWWWWWWW35' }))))).toEqual([])
  })

  test('amounts that are no numbers leave room for the heading of the description', () => {
    const note = changed(writeNfe({ tpImp, newTaxes: true }), /(?<=<[vpq][A-Z]\w*>)[\d.]+(?=<)/g, '\u0661\u0662\u0663')
    expect(layoutFaults(readGraphics(danfe(note)))).toEqual([])
  })
})

describe('what is not an NF-e', () => {
  const nfce = '<nfeProc><NFe><infNFe><ide><mod>65</mod></ide></infNFe></NFe></nfeProc>'
  test.each([
    ['not XML', 'hello', 'O arquivo não é um XML bem formado.'],
    ['another document', '<resNFe/>', 'O arquivo não contém uma NF-e.'],
    ['model 65', nfce, 'O DANFE é da NF-e modelo 55; o documento é do modelo 65.'],
  ])('%s', (_, xml, sentence) => {
    expect(() => danfe(new TextEncoder().encode(xml))).toThrow(new PrintError(sentence))
  })

  test('of the samples only what is cut off or of another kind is refused', () => {
    const refused = [...samples('nfe'), ...samples('invalidos', /^nfe|^xml/)].flatMap(({ name, bytes }) => {
      try {
        danfe(bytes)
        return []
      } catch (error) {
        expect(error).toBeInstanceOf(PrintError)
        return [name]
      }
    })
    expect(refused.filter((name) => !/^nfce-65|^xml-truncado/.test(name))).toEqual([])
  })

  test('an NF-e with almost nothing prints its form', () => {
    const xml = '<NFe><infNFe Id="NFe35"><ide><mod>55</mod></ide></infNFe></NFe>'
    expect(readGraphics(danfe(new TextEncoder().encode(xml)))).toHaveLength(1)
  })
})
