import { formatChave } from '@vigia/dfe/chave'
import { openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { describe, expect, test } from 'vitest'
import { fieldName, fieldValue, groupName } from './event/words.ts'
import { PrintError, printEvent } from './event.ts'
import { dateTime } from './formats.ts'
import { nfeKey } from './support/cte.ts'
import { condition, type PrintedEventOptions, writeCorrections, writeEvent } from './support/event.ts'
import { layoutFaults } from './support/faults.ts'
import { readGraphics } from './support/graphics.ts'
import { writeNfe } from './support/nfe.ts'
import { samples } from './support/samples.ts'
import { dotsPerInchFor, labelPrinter, scan } from './support/scan.ts'
import { readWords, squeezed } from './support/words.ts'

const long = 'Onde se lê «PARAFUSO SEXTAVADO», leia-se «PORCA»; '.repeat(400).trim()
const written: [string, Uint8Array][] = [
  ['a Carta de Correção', writeEvent()],
  ['a text far beyond its layout', writeEvent({ detail: `<xCorrecao>${long}</xCorrecao>` })],
  ['a cancelamento', writeEvent({ tpEvento: '110111', detail: '<nProt>1</nProt><xJust>Erro de digitação</xJust>' })],
  ['an event that nobody knows yet', writeEvent({ tpEvento: '999999', detail: '<g n="1"><a>2</a></g>' })],
  ['a Carta de Correção of a CT-e', writeCorrections(3)],
  ['99 corrections of 500 characters', writeCorrections(99, 500)],
  ['the test environment', writeEvent({ tpAmb: '2' })],
]
const archived = samples('eventos', /^procEvento/).map(({ name, bytes }): [string, Uint8Array] => [name, bytes])

describe.each([...written, ...archived])('%s', (_, bytes) => {
  const pdf = printEvent(bytes)
  const pages = readGraphics(pdf)
  const infEvento = find(openDocument(bytes), 'infEvento')!
  const key = (value(infEvento, 'chNFe') ?? value(infEvento, 'chCTe'))!

  test('nothing overlaps, crosses a rule or leaves the sheet', () => {
    expect(layoutFaults(pages)).toEqual([])
  })

  test('whatever the event says is on it', async () => {
    const { pages, language } = await readWords(pdf)
    const text = squeezed(pages)
    expect(language).toBe('pt-BR')
    for (const expected of [
      `${value(infEvento, 'tpEvento')} - ${value(find(infEvento, 'detEvento'), 'descEvento') ?? ''}`,
      dateTime(value(infEvento, 'dhEvento'))!,
      ...leaves(find(infEvento, 'detEvento')!),
    ])
      expectInOrder(text, expected)
  })

  test('every sheet has its number, the chave and the bar code', async () => {
    for (const [i, page] of pages.entries()) {
      const runs = page.runs.map((run) => run.text)
      expect(runs).toContain(`FOLHA ${i + 1}/${pages.length}`)
      expect(runs).toContain(formatChave(key))
      expect(await scan(page, dotsPerInchFor(key))).toContainEqual({ format: 'Code128', text: key })
    }
    expect(await scan(pages[0]!, labelPrinter)).toContainEqual({ format: 'Code128', text: key })
  })
})

test('every field and group of the archived events has a name in Portuguese', () => {
  const apart = new Set(['descEvento', 'xCondUso', 'infCorrecao', 'grupoAlterado', 'campoAlterado', 'valorAlterado'])
  const unnamed = archived.flatMap(([, bytes]) => {
    const detail = find(openDocument(bytes), 'detEvento')!
    const all = (element: XmlElement): XmlElement[] => element.children.flatMap((inner) => [inner, ...all(inner)])
    return all(detail)
      .filter(({ name }) => !apart.has(name) && !/^ev[A-Z]/.test(name))
      .map(({ name, children }) => (children.length > 0 ? [name, groupName(name)] : [name, fieldName(name, '')]))
      .flatMap(([name, words]) => (name === words && !/^(CNPJ|CPF|UF|NSU|RNTRC)$/.test(name!) ? [name] : []))
  })
  expect(unnamed).toEqual([])
})

test('a group is named where it begins, and numbered among others of its name', async () => {
  const detail =
    '<descEvento>ECONF</descEvento><detPag><tPag>03</tPag><vPag>22.22</vPag><tBand>06</tBand></detPag><detPag><dPag>2026-08-12</dPag></detPag><gNovo n="7"><valor>1</valor></gNovo>'
  const text = squeezed((await readWords(printEvent(writeEvent({ tpEvento: '110750', detail })))).pages)
  for (const expected of [
    'Pagamento 1',
    'Meio de pagamento03 - Cartão de crédito',
    'Bandeira do cartão06 - Elo',
    'Valor do pagamento22,22',
    'Pagamento 2',
    'Data do pagamento12/08/2026',
    'gNovo',
    'valor1',
  ])
    expect(text).toContain(squeeze(expected))
})

test('the GTV of an event has its own word for cash', async () => {
  const detail = '<descEvento>GTV</descEvento><infGTV><infEspecie><tpEspecie>1</tpEspecie></infEspecie></infGTV>'
  const text = squeezed((await readWords(printEvent(writeEvent({ detail })))).pages)
  expect(text).toContain('1-Numerário')
})

test('a field outside of any group does not look like one of the group before it', async () => {
  const detail = '<toma4><UF>PR</UF></toma4><modal>01</modal><tpCTe>0</tpCTe>'
  const text = squeezed((await readWords(printEvent(writeEvent({ tpEvento: '110113', detail })))).pages)
  expect(text).toContain(squeeze('Tomador do serviço UF PR Evento Modal 01 - Rodoviário Tipo do CT-e 0 - Normal'))
})

test('registration, protocol and parties of the document stand on it', async () => {
  const { pages, title } = await readWords(printEvent(writeEvent(), writeNfe()))
  const text = squeezed(pages)
  for (const expected of [
    'CARTA DE CORREÇÃO',
    '135 - Evento registrado e vinculado a NF-e',
    '135260000000777',
    '12/08/2026 10:15:31',
    '35 - SEFAZ SP',
    '1 - Produção',
    '99.387.251/0001-38 - Emitente Comércio Ltda',
    'Destinatária Comércio Ltda',
    '99.164.852/0001-81',
    condition,
  ])
    expectInOrder(text, expected)
  expect(title).toMatch(/^Carta de Correção 3 · NF-e \d+ · Emitente/)
})

test('without its document the sheet has what the chave tells', async () => {
  const text = squeezed((await readWords(printEvent(writeEvent()))).pages)
  expect(text).toContain('EMITENTE')
  expect(text).not.toContain('DESTINATÁRIO')
})

test('a CNPJ that begins with zeros is printed as one', async () => {
  const ofBank = nfeKey(1).replace('99164852000181', '00000000000191')
  const text = squeezed((await readWords(printEvent(writeEvent({ key: ofBank })))).pages)
  expect(text).toContain('00.000.000/0001-91')
})

test('the summary of a note names its emitente', async () => {
  const summary = `<resNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.01"><chNFe>${nfeKey(1)}</chNFe><CNPJ>99387251000138</CNPJ><xNome>Papelaria Sol</xNome><IE>123456</IE><dhEmi>2026-08-11T10:00:00-03:00</dhEmi></resNFe>`
  const text = squeezed((await readWords(printEvent(writeEvent(), Buffer.from(summary)))).pages)
  for (const expected of ['99.387.251/0001-38 - Papelaria Sol', '123456', '11/08/2026']) expectInOrder(text, expected)
})

test('the stamp is for events without value alone', () => {
  const size = (options: PrintedEventOptions) => printEvent(writeEvent(options)).length
  const stamped = size({ tpAmb: '2' }) - size({})
  expect(stamped).toBeGreaterThan(100)
  expect(size({ cStat: '999' }) - size({})).toBeGreaterThan(100)
  expect(printEvent(writeEvent(), undefined, { undone: true }).length - size({})).toBeGreaterThan(100)
})

test.each([
  ['no XML', 'nada'],
  ['a summary', '<resEvento xmlns="http://www.portalfiscal.inf.br/nfe"><chNFe>1</chNFe></resEvento>'],
  ['a document', '<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe"/>'],
])('%s is no event', (_, text) => {
  expect(() => printEvent(Buffer.from(text))).toThrow(PrintError)
})

test.each([201, 2_000, 200_000])('a description of %i characters is a text like others', async (length) => {
  const words = 'Descrição sem fim '
    .repeat(length / 18 + 1)
    .slice(0, length)
    .trim()
  const pdf = printEvent(writeEvent({ tpEvento: '999999', detail: `<descEvento>${words}</descEvento>` }))
  const { pages, title } = await readWords(pdf)
  expect(title).toMatch(/^Evento 999999 3 · NF-e/)
  expect(pages.length).toBeLessThan(3 + length / 3_000)
  expectInOrder(squeezed(pages), words)
})

test.each(['constructor', 'toString', '__proto__'])('a field and a group named %s keep their name', async (name) => {
  const detail = `<descEvento>Novo</descEvento><${name}>um</${name}><CTe><${name}>dois</${name}></CTe><${name}><n>3</n></${name}>`
  const text = squeezed((await readWords(printEvent(writeEvent({ tpEvento: '999999', detail })))).pages)
  expect(text).toContain(`Evento${name}um`)
  expect(text).toContain(`${name}dois`)
})

test.each(['abc', '1e5', '0x10'])('the type %s stands as it is', async (tpEvento) => {
  const { pages } = await readWords(printEvent(writeEvent({ tpEvento, detail: '<descEvento>Novo</descEvento>' })))
  expect(squeezed(pages)).toContain(`${tpEvento}-Novo`)
})

test('an event of more fields than a thousand sheets hold is refused', () => {
  const event = () => printEvent(writeEvent({ detail: '<a>1</a>'.repeat(70_000) }))
  expect(event).toThrow('O documento ocuparia mais de 1000 folhas.')
})

test('an event of nothing that could be a chave is refused', () => {
  expect(() => printEvent(writeEvent({ key: 'X'.repeat(44) }))).toThrow('não contém um evento completo')
})

test('an event whose status alone would fill the sheet is refused', () => {
  const event = writeEvent().toString().replace('Evento registrado e vinculado a NF-e', 'Motivo sem fim '.repeat(900))
  expect(() => printEvent(Buffer.from(event))).toThrow(PrintError)
})

test('the chave of an avulsa names the authority, which did not issue the note', async () => {
  const key = nfeKey(1)
  const avulsa = `${key.slice(0, 22)}890${key.slice(25)}`
  const printed = async (key: string) => squeezed((await readWords(printEvent(writeEvent({ key })))).pages)
  expect(await printed(key)).toContain('99.164.852/0001-81')
  expect(await printed(avulsa)).not.toContain('99.164.852/0001-81')
})

function find(node: XmlElement | undefined, name: string): XmlElement | undefined {
  if (node === undefined || node.name === name) return node
  for (const inner of node.children) {
    const found = find(inner, name)
    if (found) return found
  }
  return undefined
}

function leaves(element: XmlElement): string[] {
  if (element.children.length > 0) return element.children.flatMap(leaves)
  return element.text.trim() ? [fieldValue(element.name, element.text.trim())] : []
}

const squeeze = (text: string) => text.normalize('NFC').replace(/\s+/g, '')

// The end of a sheet may cut a text in two: all its words are still there, in order.
function expectInOrder(text: string, paragraph: string): void {
  if (text.includes(squeeze(paragraph))) return
  let from = 0
  for (const word of paragraph.split(/\s+/)) {
    const at = text.indexOf(squeeze(word), from)
    expect(at, word).not.toBe(-1)
    from = at
  }
}
