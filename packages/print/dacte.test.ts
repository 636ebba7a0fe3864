import { formatChave } from '@vigia/dfe/chave'
import { child, children, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { describe, expect, test } from 'vitest'
import { dacte, PrintError } from './dacte.ts'
import { dateTime, money } from './formats.ts'
import { nfeKey, writeCte } from './support/cte.ts'
import { layoutFaults } from './support/faults.ts'
import { readGraphics } from './support/graphics.ts'
import { samples } from './support/samples.ts'
import { scan } from './support/scan.ts'
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
  ['test environment', writeCte({ tpAmb: '2' })],
]
const archived = samples('cte').map(({ name, bytes }): [string, Uint8Array] => [name, bytes])

describe.each([...written, ...archived])('%s', (_, bytes) => {
  const pdf = dacte(bytes)
  const pages = readGraphics(pdf)
  const root = openDocument(bytes)
  const infCte = find(root, 'infCte')!

  test('nothing overlaps, crosses a rule or leaves the sheet', () => {
    expect(layoutFaults(pages)).toEqual([])
  })

  test('identical input gives identical bytes', () => {
    expect(dacte(bytes)).toEqual(pdf)
  })

  test('every printed field equals its source', async () => {
    const read = await readWords(pdf)
    const text = squeezed(read.pages)
    for (const expected of expectedTexts(infCte)) expect(text).toContain(squeeze(expected))
    expect(read.language).toBe('pt-BR')
  })

  test('every sheet repeats its number, the key, the bar code and the QR code of the file', async () => {
    const chave = infCte.attributes.Id!.slice(3)
    const qr = find(root, 'qrCodCTe')?.text.trim()
    for (const [i, page] of pages.entries()) {
      const runs = page.runs.map((run) => run.text)
      expect(runs).toContain(`${i + 1}/${pages.length}`)
      expect(runs).toContain(formatChave(chave))
      const codes = await scan(page, 300)
      expect(codes).toContainEqual({ format: 'Code128', text: chave })
      if (qr) expect(codes).toContainEqual({ format: 'QRCode', text: qr })
      else expect(codes).toHaveLength(1)
    }
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

function expectedTexts(infCte: XmlElement): string[] {
  const norm = child(infCte, 'infCTeNorm') ?? infCte
  const parties = ['emit', 'rem', 'dest', 'exped', 'receb', 'toma'].flatMap((group) => {
    const party = child(infCte, group)
    const address = party?.children.find((one) => one.name.startsWith('ender'))
    return [value(party, 'xNome'), value(address, 'xBairro'), value(address, 'xMun'), value(party, 'IE')]
  })
  const texts = [
    ...parties,
    value(infCte, 'ide/natOp'),
    dateTime(value(infCte, 'ide/dhEmi')),
    value(infCte, 'ide/xMunIni'),
    value(infCte, 'ide/toma4/xNome'),
    value(infCte, 'ide/toma4/enderToma/xMun'),
    money(value(infCte, 'vPrest/vTPrest')),
    money(value(infCte, 'total/vTPrest')),
    ...children(infCte, 'vPrest/Comp').flatMap((comp) => [value(comp, 'xNome'), money(value(comp, 'vComp'))]),
    value(norm, 'infCarga/proPred'),
    ...children(norm, 'infDoc/infNFe').map((one) => value(one, 'chave')),
    ...children(norm, 'infDoc/infNF').map((one) => value(one, 'nDoc')),
    ...children(infCte, 'det').flatMap((det) => children(det, 'infNFe').map((one) => value(one, 'chNFe'))),
    ...children(infCte, 'compl/ObsFisco').map((one) => value(one, 'xTexto')),
    value(norm, 'infModal/rodo/RNTRC'),
    value(norm, 'infCteSub/chCte'),
    child(infCte, 'infCteComp')?.children[0]?.text,
  ]
  return texts.filter((text) => text !== undefined)
}

const squeeze = (text: string) => text.normalize('NFC').replace(/\s+/g, '')

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

  test('a GTV-e prints a plain form', async () => {
    const xml = `<GTVeProc><GTVe><infCte Id="CTe35260899387251000138640010000012341876543210"><ide><CFOP>5359</CFOP><natOp>GTV</natOp><mod>64</mod><serie>1</serie><nCT>9</nCT><dhEmi>2026-08-12T09:30:00-03:00</dhEmi><tpAmb>1</tpAmb><tpCTe>4</tpCTe><modal>01</modal><tpServ>9</tpServ><dhSaidaOrig>2026-08-12T10:00:00-03:00</dhSaidaOrig><dhChegadaDest>2026-08-12T11:00:00-03:00</dhChegadaDest><toma><toma>1</toma></toma></ide><emit><CNPJ>99387251000138</CNPJ><xNome>Valores Ltda</xNome></emit><rem><CNPJ>99164852000181</CNPJ><xNome>Banco Remetente</xNome></rem><dest><CNPJ>99164852000181</CNPJ><xNome>Loja Destino</xNome></dest><origem><xLgr>Rua Origem</xLgr><nro>1</nro></origem><destino><xLgr>Rua Destino</xLgr><nro>2</nro></destino><detGTV><infEspecie><tpEspecie>1</tpEspecie><vEspecie>5000.00</vEspecie><tpNumerario>1</tpNumerario></infEspecie><qCarga>3.0000</qCarga><infVeiculo><placa>ABC1D23</placa><UF>SP</UF></infVeiculo></detGTV></infCte></GTVe><protCTe><infProt><nProt>1</nProt><cStat>100</cStat></infProt></protCTe></GTVeProc>`
    const pdf = dacte(new TextEncoder().encode(xml))
    const text = await textOf(pdf)
    for (const piece of ['DAGTV-E', 'BancoRemetente', 'LojaDestino', 'RuaOrigem', '5.000,00', 'ABC1D23SP']) {
      expect(text).toContain(piece)
    }
    expect(layoutFaults(readGraphics(pdf))).toEqual([])
  })
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
