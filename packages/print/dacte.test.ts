import { formatChave } from '@vigia/dfe/chave'
import { child, openDocument, type XmlElement } from '@vigia/dfe/document'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs, thorough } from '../../tests/support/seed.ts'
import { dacte, PrintError } from './dacte.ts'
import { modals, nfeKey, writeCte, writeCteOs, writeGtve, writeSimplificado } from './support/cte.ts'
import { dacteFaults } from './support/dacte-fields.ts'
import { layoutFaults } from './support/faults.ts'
import { readGraphics } from './support/graphics.ts'
import { samples } from './support/samples.ts'
import { dotsPerInchFor, labelPrinter, scan } from './support/scan.ts'
import { readSheets } from './support/sheet.ts'
import { inBothOrientations, inOneOrientation, orientations, withTexts, withTpImp } from './support/variants.ts'
import { readWords, squeezed } from './support/words.ts'

const lorem = (length: number) =>
  'Entregar somente com agendamento prévio na doca três; '.repeat(60).slice(0, length).trim()
const dangerous =
  '<peri><nONU>1234</nONU><qTotEmb>1</qTotEmb><infTotAP><qTotProd>1.0000</qTotProd><uniAP>1</uniAP></infTotAP></peri>'

const written: [string, Uint8Array][] = [
  ['rodoviário', writeCte()],
  ['500 documents', writeCte({ documents: 500 })],
  ['long texts', writeCte({ documents: 40, xObs: lorem(2000), components: 14, measures: 12, street: lorem(255) })],
  ['90 components and 33 measures', writeCte({ documents: 40, components: 90, measures: 33 })],
  [
    'everything at once',
    writeCte({
      documents: 40,
      components: 40,
      measures: 30,
      xObs: lorem(2000),
      street: lorem(255),
      modal: '02',
      infModal: `<aereo><natCarga><xDime>1X1</xDime><cInfManu>01</cInfManu></natCarga><tarifa><CL>M</CL><vTar>1.00</vTar></tarifa>${dangerous.repeat(60)}</aereo>`,
    }),
  ],
  ...Object.values(modals).map((infModal, i): [string, Uint8Array] => [
    `modal ${i + 1}`,
    writeCte({ modal: `0${i + 1}`, infModal }),
  ]),
  ['complementar', writeCte({ complements: 10 })],
  ['CT-e OS', writeCteOs()],
  ['Simplificado', writeSimplificado(60)],
  ['GTV-e', writeGtve()],
  ['letters in the CNPJ', writeCte({ cnpj: '12ABC34501DE35' })],
  ['test environment', writeCte({ tpAmb: '2' })],
  ['EPEC', writeCte({ tpEmis: '4', pending: true })],
]
const archived = samples('cte').map(({ name, bytes }): [string, Uint8Array] => [name, bytes])

const drawn = [...inBothOrientations(written), ...(thorough ? inBothOrientations : inOneOrientation)(archived)]

describe.each(drawn)('%s, %s', (_, orientation, bytes) => {
  const pdf = dacte(bytes)
  const pages = readGraphics(pdf)
  const root = openDocument(bytes)
  const infCte = find(root, 'infCte')!

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
    const document = [root, ...root.children].find((one) => child(one, 'infCte'))!
    expect(dacteFaults(document, child(root, 'protCTe/infProt'), readSheets(read.pages, pages))).toEqual([])
    expect(read.language).toBe('pt-BR')
  })

  test('every sheet repeats its number, the key, the bar code and the QR code of the file', async () => {
    const chave = infCte.attributes.Id!.slice(3)
    const qr = find(root, 'qrCodCTe')?.text.trim()
    for (const [i, page] of pages.entries()) {
      const runs = page.runs.map((run) => run.text)
      expect(runs).toContain(`${i + 1}/${pages.length}`)
      expect(runs).toContain(formatChave(chave))
      const codes = await scan(page, dotsPerInchFor(chave))
      expect(codes).toContainEqual({ format: 'Code128', text: chave })
      if (qr) expect(codes).toContainEqual({ format: 'QRCode', text: qr })
      else expect(codes).toHaveLength(1)
    }
    const printed = await scan(pages[0]!, labelPrinter)
    expect(printed).toContainEqual({ format: 'Code128', text: chave })
    if (qr) expect(printed).toContainEqual({ format: 'QRCode', text: qr })
  })
})

function find(node: XmlElement, name: string): XmlElement | undefined {
  if (node.name === name) return node
  for (const one of node.children) {
    const found = find(one, name)
    if (found) return found
  }
  return undefined
}

async function textOf(pdf: Uint8Array): Promise<string> {
  return squeezed((await readWords(pdf)).pages)
}

describe('contents', () => {
  test('the offset of the time is never applied', async () => {
    expect(await textOf(dacte(writeCte()))).toContain('12/08/202609:30:00')
  })

  test('all of 500 documents, in order, with headings on every sheet', async () => {
    const pdf = dacte(writeCte({ documents: 500 }))
    const { pages } = await readWords(pdf)
    const text = squeezed(pages)
    const places = Array.from({ length: 500 }, (_, i) => text.indexOf(nfeKey(i + 1)))
    expect(places.every((place) => place !== -1)).toBe(true)
    expect(pages.length).toBeGreaterThan(3)
    for (const page of pages) expect(page.map((word) => word.text).join(' ')).toContain('CHAVE / DOCUMENTO')
  })

  test('the CNPJ of a document that begins with zeros', async () => {
    const xml = new TextDecoder().decode(writeCte()).replace('99164852000181550010', '00000000000191550010')
    const { pages } = await readWords(dacte(Buffer.from(xml)))
    expect(squeezed(pages)).toContain('00.000.000/0001-91')
  })

  test('containers, vehicles and their seals stand with their document', async () => {
    const units =
      '<infUnidTransp><tpUnidTransp>1</tpUnidTransp><idUnidTransp>AAA1B23</idUnidTransp><lacUnidTransp><nLacre>L1</nLacre></lacUnidTransp><infUnidCarga><tpUnidCarga>1</tpUnidCarga><idUnidCarga>MSCU1234567</idUnidCarga><lacUnidCarga><nLacre>L2</nLacre></lacUnidCarga><lacUnidCarga><nLacre>L3</nLacre></lacUnidCarga><qtdRat>1.25</qtdRat></infUnidCarga></infUnidTransp>'
    const xml = new TextDecoder().decode(writeCte({ documents: 1 })).replace('</infNFe>', `${units}</infNFe>`)
    const text = await textOf(dacte(Buffer.from(xml)))
    expect(text).toContain('RodoviáriotraçãoAAA1B23-LacresL1')
    expect(text).toContain('ContainerMSCU1234567-LacresL2,L3-Rateio1,25')
  })

  test('valuables go without documents: their form has no empty table', async () => {
    expect(await textOf(dacte(writeGtve()))).not.toContain('DOCUMENTOSORIGINÁRIOS')
    expect(await textOf(dacte(writeCteOs()))).toContain('DOCUMENTOSORIGINÁRIOS')
  })

  test('all of 2000 characters of xObs', async () => {
    const xObs = lorem(2000)
    const text = await textOf(dacte(writeCte({ documents: 60, xObs })))
    let from = 0
    for (const word of xObs.split(' ')) {
      from = text.indexOf(word, from)
      expect(from).not.toBe(-1)
    }
  })

  test('measures keep the names of the issuer and nothing is added', async () => {
    const text = await textOf(dacte(writeCte({ measures: 3 })))
    for (const cell of ['PESO1100,50kg', 'PESO2200,50kg', 'PESO3300,50kg']) expect(text).toContain(cell)
    expect(text).not.toContain('0,000')
  })

  test('the protocol of another document authorises nothing', async () => {
    const xml = new TextDecoder().decode(writeCte())
    const text = await textOf(dacte(new TextEncoder().encode(xml.replace(/<chCTe>\d/, '<chCTe>9'))))
    expect(text).toContain('SEMVALORFISCAL-SEMPROTOCOLODEAUTORIZAÇÃODEUSO')
    expect(text).not.toMatch(/13526000000000[12]/)
  })

  test('a CT-e that does not verify says so', async () => {
    const text = await textOf(dacte(writeCte(), { doubt: 'A assinatura digital não confere.' }))
    expect(text).toContain('ATENÇÃO-Aassinaturadigitalnãoconfere.')
  })

  test('cancelled', async () => {
    const pdf = dacte(writeCte(), { cancelled: { protocol: '135260000000008', at: '2026-08-13T08:00:00-03:00' } })
    const text = await textOf(pdf)
    expect(text).toContain('CT-ECANCELADO-PROTOCOLODECANCELAMENTO135260000000008-13/08/202608:00:00')
    expect(text).toContain('135260000000002-12/08/202609:31:00')
  })

  test.each([
    [
      '04',
      '<ferrov><tpTraf>1</tpTraf><trafMut><respFat>1</respFat><ferrEmi>2</ferrEmi><vFrete>100.00</vFrete><ferroEnv><CNPJ>99387251000138</CNPJ><xNome>Ferrovia Norte</xNome></ferroEnv></trafMut><fluxo>FLX9</fluxo></ferrov>',
      ['FERROVIÁRIO', 'Mútuo', 'Ferroviadedestino', 'FLX9', 'FerroviaNorte'],
    ],
    [
      '05',
      '<duto><vTar>1.234567</vTar><dIni>2026-08-01</dIni><dFim>2026-08-31</dFim><classDuto>3</classDuto></duto>',
      ['DUTOVIÁRIO', '1,234567', '01/08/2026', '31/08/2026', 'Oleoduto'],
    ],
    [
      '06',
      '<multimodal><COTM>123456</COTM><indNegociavel>1</indNegociavel><seg><infSeg><xSeg>Seguros</xSeg></infSeg><nApol>77</nApol><nAver>88</nAver></seg></multimodal>',
      ['MULTIMODAL', '123456', '[X]SIM', 'Seguros', '77', '88'],
    ],
  ])('the block of modal %s', async (modal, infModal, expected) => {
    const text = await textOf(dacte(writeCte({ modal, infModal })))
    for (const piece of expected) expect(text).toContain(piece)
  })

  test.each(orientations)('FS-DA before the authorisation has a second bar code in %s', async (orientation) => {
    const pdf = dacte(withTpImp(writeCte({ tpEmis: '5', pending: true }), orientation === 'landscape' ? '2' : '1'))
    const pages = readGraphics(pdf)
    expect(layoutFaults(pages)).toEqual([])
    const codes = await scan(pages[0]!, 150)
    const lengths = codes.filter(({ format }) => format === 'Code128').map(({ text }) => text.length)
    expect(lengths.toSorted()).toEqual([36, 44])
    expect(codes).toContainEqual({ format: 'Code128', text: '355991648520001810000000012345612126' })
  })

  test('the number and the moment of the EPEC event are printed instead of the protocol', async () => {
    const epec = { protocol: '135260000000077', at: '2026-08-12T09:45:00-03:00' }
    const text = await textOf(dacte(writeCte({ tpEmis: '4', pending: true }), { epec }))
    expect(text).toContain('PROTOCOLODEAUTORIZAÇÃODOEPEC')
    expect(text).toContain('135260000000077-12/08/202609:45:00')
  })

  test('a GTV-e prints a plain form', async () => {
    const pdf = dacte(writeGtve())
    const text = await textOf(pdf)
    for (const piece of [
      'DAGTV-E',
      'BancoRemetente',
      'LojaDestino',
      'RuaOrigem',
      '5.000,00',
      'ABC1D23SP',
      'CÉDULA-NACIONAL',
    ]) {
      expect(text).toContain(piece)
    }
    const labels = readGraphics(pdf)[0]!.runs.map((run) => run.text)
    expect(labels).toContain('CHEGADA AO DESTINO')
    expect(labels).not.toContain('INÍCIO DA PRESTAÇÃO')
    expect(layoutFaults(readGraphics(pdf))).toEqual([])
  })
})

test.each(orientations)('the number of the sheet stands on the baseline of its row in %s', async (orientation) => {
  const { pages } = await readWords(dacte(writeCte({ documents: 0, tpImp: orientation === 'landscape' ? '2' : '1' })))
  const [model, sheet] = ['57', '1/1'].map((text) => pages[0]!.find((word) => word.text === text)!)
  expect(sheet!.baseline).toBeCloseTo(model!.baseline, 0)
})

const chavesOf = (pdf: Uint8Array) =>
  readGraphics(pdf).map((page) => page.runs.filter(({ text }) => /(^|NF-e )\d{44}$/.test(text)).length)

test('rows of documents stand nearer to one another where that saves a sheet, and none is alone on the last one', () => {
  expect(chavesOf(dacte(writeCte({ documents: 29 })))).toEqual([29])
  for (const documents of [33, 35, 37, 161, 183, 193])
    expect(chavesOf(dacte(writeCte({ documents }))).at(-1)).toBeGreaterThan(2)
  for (const deliveries of [17, 52]) expect(chavesOf(dacte(writeSimplificado(deliveries))).at(-1)).toBeGreaterThan(1)
})

test('documents with many containers begin on the first sheet', () => {
  const unit =
    '<infUnidCarga><tpUnidCarga>1</tpUnidCarga><idUnidCarga>MSCU1234567</idUnidCarga><lacUnidCarga><nLacre>L2</nLacre></lacUnidCarga></infUnidCarga>'
  const xml = new TextDecoder()
    .decode(writeCte({ documents: 3 }))
    .replaceAll('</infNFe>', `${unit.repeat(30)}</infNFe>`)
  const pages = readGraphics(dacte(Buffer.from(xml)))
  expect(layoutFaults(pages)).toEqual([])
  const units = pages.map((page) => page.runs.filter(({ text }) => text.startsWith('Container MSCU')).length)
  expect(units[0]).toBeGreaterThan(20)
  expect(units.reduce((sum, one) => sum + one)).toBe(90)
})

test('the boxes of all parties are set in one size', () => {
  const name = 'Distribuidora de Mercadorias em Geral do Vale do Paraíba Ltda'
  const cte = new TextDecoder().decode(writeCte()).replace('Expedidora Ltda', name)
  const [page] = readGraphics(dacte(Buffer.from(cte)))
  const sizes = page!.runs.filter(({ text }) => text === 'Centro' || text === name).map(({ size }) => size)
  expect(sizes).toHaveLength(5)
  expect(new Set(sizes).size).toBe(1)
})

test('an aéreo with dangerous goods stands on one landscape sheet', () => {
  const air = writeCte({ modal: '02', infModal: modals.air, xObs: 'Entregar na doca três', tpImp: '2' })
  expect(readGraphics(dacte(air))).toHaveLength(1)
})

test.each(['0', '1', '3', ''])('tpImp %s prints in portrait', (tpImp) => {
  for (const { width, height } of readGraphics(dacte(withTpImp(writeCte(), tpImp)))) expect(width).toBeLessThan(height)
})

const limits = {
  ...{ xNome: 60, xLgr: 255, nro: 60, xCpl: 60, xBairro: 60, xMun: 60, xPais: 60, natOp: 60, IE: 14 },
  ...{ proPred: 60, xOutCat: 30, tpMed: 20, xObs: 2000, xTexto: 160, RNTRC: 8 },
}

test.each(orientations)('texts of any length cause no layout fault in %s', (orientation) => {
  const words = fc.constantFrom('MERCADORIA ', 'tecido de algodão, cor ', 'WWWWWWWWWW', '1/2"-')
  const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 7, maxLength: 37 })
  fc.assert(
    fc.property(words, shares, fc.nat(60), fc.nat(40), fc.nat(20), (text, lengths, documents, components, measures) => {
      const varied = withTexts(writeCte({ documents, components, measures, xObs: 'X' }), limits, text, lengths)
      const pdf = dacte(withTpImp(varied, orientation === 'landscape' ? '2' : '1'))
      expect(layoutFaults(readGraphics(pdf))).toEqual([])
    }),
    { numRuns: runs(30) },
  )
})

test.each(orientations)(
  'a form whose every text is as long and wide as it may be fills more sheets in %s',
  async (orientation) => {
    const cte = writeCte({ documents: 30, components: 12, measures: 9, xObs: 'X' })
    const pdf = dacte(withTpImp(withTexts(cte, limits, 'W', [1]), orientation === 'landscape' ? '2' : '1'))
    expect(layoutFaults(readGraphics(pdf))).toEqual([])
    const text = await textOf(pdf)
    for (let n = 1; n <= 30; n++) expect(text).toContain(nfeKey(n))
    for (const value of ['120,10', '900,5', '1.234,56', '148,15']) expect(text).toContain(value)
  },
)

test('a landscape form without room for its texts stands upright', () => {
  const bytes = withTpImp(withTexts(writeCte({ components: 11 }), limits, 'W', [0, 0, 1, 0, 0, 1, 0, 0, 0, 0]), '2')
  const [page] = readGraphics(dacte(bytes))
  expect(page!.width).toBeLessThan(page!.height)
})

// Found by texts of any kind in any place (mutated.test.ts): these stand beside or above what does not give way.
describe.each(orientations)('a text that its place cannot take is reduced or refused, in %s', (orientation) => {
  const cte = withTpImp(writeCte(), orientation === 'landscape' ? '2' : '1')
  test.each([
    ['serie', '12345', true],
    ['serie', '中文🚚 אם ffi ́', false],
    ['mod', '中文🚚 אם ffi ́', false],
    ['nCT', 'W'.repeat(60), false],
    ['vComp', '9999999999999.99', true],
    ['vComp', '9'.repeat(3_000), false],
    ['vTPrest', '[U+0460]￼𐙪𘪪 中文🚚 אם ffi', true],
    ['vTPrest', '9'.repeat(90), true],
    ['CST', 'constructor', true],
    ['nProt', '1'.repeat(20), true],
    ['nProt', 'W'.repeat(80), false],
  ])('%s: %s', (name, value, fits) => {
    const filled = new TextDecoder().decode(cte).replace(new RegExp(`(?<=<${name}>)[^<]+`), value)
    const printed = () => dacte(new TextEncoder().encode(filled))
    if (fits) expect(layoutFaults(readGraphics(printed()))).toEqual([])
    else expect(printed).toThrow('textos maiores do que o leiaute permite')
  })
})

test.each(['constructor', 'toString', '__proto__'])('a modal named %s is one that nobody knows', (name) => {
  const pages = readGraphics(dacte(writeCte({ infModal: `<${name}><RNTRC>12345678</RNTRC></${name}>` })))
  expect(layoutFaults(pages)).toEqual([])
  expect(pages[0]!.runs.map(({ text }) => text).join()).not.toContain('ESPECÍFICAS DO MODAL')
})

test.each(orientations)('a chave too wide for its box is refused, in %s', (orientation) => {
  const cte = withTpImp(writeCte(), orientation === 'landscape' ? '2' : '1')
  const wide = Buffer.from(cte)
    .toString()
    .replace(/(?<=Id="CTe)\d+/, 'W'.repeat(80))
  expect(() => dacte(Buffer.from(wide))).toThrow(PrintError)
})

describe('what is not a CT-e', () => {
  test.each([
    ['not XML', 'hello'],
    ['another document', '<nfeProc><NFe><infNFe/></NFe></nfeProc>'],
  ])('%s', (_, xml) => {
    expect(() => dacte(new TextEncoder().encode(xml))).toThrow(PrintError)
  })

  test.each(['CTe', 'CTeOS', 'CTeSimp', 'GTVe'])('a %s with almost nothing prints its form', (name) => {
    const xml = `<${name}><infCte Id="CTe35"><ide><nCT>1</nCT></ide></infCte></${name}>`
    expect(readGraphics(dacte(new TextEncoder().encode(xml)))).toHaveLength(1)
  })
})
