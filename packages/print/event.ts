import { chaveParts, formatChave, looksLikeChave } from '@vigia/dfe/chave'
import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { eventKind, familyById, familyOfRoot } from '@vigia/dfe/families/lookup'
import { drawTable, type FlowPosition, saidTable, textSize } from './event/said.ts'
import { bodyName } from './event/words.ts'
import { date, dateTime, documentNumber, entryOf, joined, series, taxId } from './formats.ts'
import { assemble } from './layout/assemble.ts'
import { barcode } from './layout/barcode.ts'
import { type Block, padding, stack, title } from './layout/block.ts'
import { addSheet, continuedText } from './layout/continued.ts'
import { fittingSize } from './layout/fields.ts'
import { sheetFor, sheetRow } from './layout/sheet.ts'
import { type Table, table } from './layout/table.ts'
import { leading, paragraphs, wrap, wrapName } from './layout/text.ts'
import { Canvas } from './pdf/canvas.ts'
import { bold, roman } from './pdf/fonts.ts'
import { winAnsi } from './pdf/winansi.ts'
import { plain } from './plain.ts'
import { assertRoom, issuerOfChave, openPrintable, PrintError } from './printable.ts'

export { PrintError }

const sheet = sheetFor(undefined, { portrait: {}, landscape: {} })
// The layouts allow 60 characters, and the longest published name has 85.
const descriptionMax = 200
// The condition of use is long and the same in every letter.
const conditionSize = 8

/** An event as its sheet needs it. */
interface PrintedEvent {
  family: 'nfe' | 'cte'
  /** "NF-e", "CT-e OS". */
  model: string
  chave: string
  infEvento: XmlElement
  /** The response of the authority. */
  response: XmlElement | undefined
  tpEvento: string
  name: string
  /** Its own description; one that no box holds is a text like others. */
  words: string | undefined
  longWords: string | undefined
  sequence: string
  /** detEvento, or its only group for a CT-e. */
  detail: XmlElement | undefined
  registered: boolean
  /** infNFe or infCte of the document, or its resNFe, when it is known. */
  document: XmlElement | undefined
}

/**
 * A registered event (Carta de Correção, cancelamento or any other of an NF-e or a CT-e) as a PDF in A4 portrait. There is no official form:
 * everything that procEventoNFe or procEventoCTe says is on it (MOC NF-e 7.0, MOC CT-e 4.00: eventos). `document` (or its
 * resNFe) adds the names of its parties, `undone` the stamp of an event that another one took back. An event of any other family is an espelho. Throws `PrintError`.
 */
export function printEvent(procEvento: Uint8Array, document?: Uint8Array, { undone = false } = {}): Uint8Array {
  const root = openPrintable(procEvento)
  const family = familyOfRoot(root)
  if (family && !Object.hasOwn(partyNames, family.id)) return plain(procEvento, undone ? { cancelled: {} } : {})
  const event = readPrintedEvent(root, document && openPrintable(document))
  const head = header(event)
  const canvases = [new Canvas()]
  const bodyTop = sheet.top + head.height
  const fixed = stack(registration(event), parties(event))
  // Further sheets have room then too: they repeat the head alone.
  assertRoom(sheet.bottom - bodyTop - fixed.height, 0)
  fixed.draw(canvases[0]!, sheet.left, bodyTop)
  let where: FlowPosition = { canvas: canvases[0], top: bodyTop + fixed.height }
  const nextCanvas = () => addSheet(canvases)
  const corrected = corrections(event)
  if (corrected) where = drawTable('CORREÇÕES', corrected, sheet, { ...where, nextTop: bodyTop, nextCanvas })
  const write = ({ heading, text, size }: Text) => {
    where = continuedText(heading, paragraphs(text), size, sheet, { ...where, nextTop: bodyTop, nextCanvas })
  }
  for (const text of texts(event)) write(text)
  const said = sayings(event)
  if (said) where = drawTable('DADOS DO EVENTO', said, sheet, { ...where, nextTop: bodyTop, nextCanvas })
  for (const text of conditions(event)) write(text)
  canvases.forEach((canvas, i) => {
    canvas.silently(() => head.sheetNumber(canvas, `FOLHA ${i + 1}/${canvases.length}`))
  })
  const { numero } = chaveParts(event.chave)
  const worthless = !event.registered || value(event.infEvento, 'tpAmb') === '2'
  return assemble({
    sheet,
    title: joined(' · ', `${event.name} ${event.sequence}`, `${event.model} ${numero}`, issuerName(event))!,
    header: (canvas) => head.draw(canvas, sheet.left, sheet.top),
    headerHeight: head.height,
    firstShift: 0,
    stamp: [...(undone ? ['CANCELADO'] : []), ...(worthless ? ['SEM VALOR FISCAL'] : [])],
    sheets: canvases,
  })
}

const models: Record<string, string> = { 55: 'NF-e', 57: 'CT-e', 64: 'GTV-e', 65: 'NFC-e', 67: 'CT-e OS' }

function readPrintedEvent(root: XmlElement, document: XmlElement | undefined): PrintedEvent {
  const family = root.name === 'procEventoCTe' ? 'cte' : 'nfe'
  const [eventPath, responsePath, chaveName] =
    family === 'cte' ? ['eventoCTe', 'retEventoCTe', 'chCTe'] : ['evento', 'retEvento', 'chNFe']
  const infEvento = child(root, `${eventPath}/infEvento`)
  const chave = value(infEvento, chaveName) ?? ''
  if (!/^procEvento(NFe|CTe)$/.test(root.name) || !infEvento || !looksLikeChave(chave))
    throw new PrintError('O arquivo não contém um evento completo.')
  // A CT-e 2.00 authoriser put the registration beside the event.
  const response = child(root, `${responsePath}/infEvento`) ?? child(root, 'infEvento')
  const tpEvento = value(infEvento, 'tpEvento') ?? ''
  const detEvento = child(infEvento, 'detEvento')
  const detail = value(detEvento, 'descEvento') || family === 'nfe' ? detEvento : (detEvento?.children[0] ?? detEvento)
  const kind = eventKind(family, Number(tpEvento))
  const said = value(detail, 'descEvento') ?? value(response, 'xEvento')
  const own = said && said.length > descriptionMax ? undefined : said
  return {
    family,
    model: models[chaveParts(chave).mod] ?? 'Documento',
    chave,
    infEvento,
    response,
    tpEvento,
    name: (kind?.ownWords ? own : kind?.description) ?? own ?? `Evento ${tpEvento}`.trim(),
    words: own,
    longWords: own === undefined ? said : undefined,
    sequence: value(infEvento, 'nSeqEvento') ?? '1',
    detail,
    registered: familyById(family).registration(value(response, 'cStat')) !== 'none',
    document: bodyOf(document),
  }
}

// nfeProc/NFe/infNFe, cteProc/CTe/infCte (or CTeOS, CTeSimp, GTVe), or the bare document.
function bodyOf(root: XmlElement | undefined): XmlElement | undefined {
  if (root?.name === 'resNFe') return root
  const is = ({ name }: XmlElement) => name === 'infNFe' || name === 'infCte'
  return root?.children.find(is) ?? root?.children.flatMap((inner) => inner.children).find(is)
}

interface EventHeader extends Block {
  sheetNumber(canvas: Canvas, text: string): void
}

const codeWidth = 290

function header({ family, name, model, chave }: PrintedEvent): EventHeader {
  const titleWidth = sheet.width - codeWidth
  const room = titleWidth - 4 * padding
  const heading = winAnsi(name.toUpperCase())
  const headingSize = fittingSize([{ value: heading, font: bold, room }], 14, 11)
  const lines = wrapName(heading, bold, headingSize, room)
  const { serie, numero } = chaveParts(chave)
  const about = winAnsi(`${model} Nº ${documentNumber(String(numero)) ?? ''} - SÉRIE ${series(String(serie)) ?? ''}`)
  const key = winAnsi(formatChave(chave))
  const bars = barcode(chave, 'da chave de acesso', codeWidth, 34)
  const consult = wrap(winAnsi(consultText[family]), roman, 8, codeWidth - 4 * padding)
  const linesHeight = lines.length * leading(headingSize)
  const height = Math.max(92, linesHeight + 52)
  return {
    height,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      canvas.line(x + titleWidth, y, x + titleWidth, y + height)
      canvas.tagged('H1', () => {
        lines.forEach((line, n) => {
          const baseline = y + 8 + headingSize + n * leading(headingSize)
          canvas.aligned(x + 2 * padding, room, baseline, line, bold, headingSize, 'center')
        })
      })
      canvas.aligned(x, titleWidth, y + linesHeight + 24, about, bold, 10, 'center')
      const code = x + titleWidth
      bars?.draw(canvas, code, y + 4.5)
      canvas.line(code, y + 43, x + sheet.width, y + 43)
      canvas.tagged('P', () => {
        canvas.text(code + padding, y + 49.4, winAnsi('CHAVE DE ACESSO'), roman, 6)
        canvas.aligned(code, codeWidth, y + 59, key, bold, 10, 'center')
      })
      canvas.line(code, y + 63, x + sheet.width, y + 63)
      consult.forEach((line, n) => {
        canvas.aligned(code, codeWidth, y + 74 + n * leading(8), line, roman, 8, 'center')
      })
    },
    sheetNumber(canvas, text) {
      canvas.aligned(sheet.left, titleWidth, sheet.top + height - 9, winAnsi(text), bold, 10, 'center')
    },
  }
}

const consultText = {
  nfe: 'Consulta de autenticidade no portal nacional da NF-e www.nfe.fazenda.gov.br/portal ou no site da Sefaz Autorizadora',
  cte: 'Consulta de autenticidade no portal nacional do CT-e www.cte.fazenda.gov.br/portal ou no site da Sefaz Autorizadora',
}

const environments: Record<string, string> = { 1: '1 - Produção', 2: '2 - Homologação' }

function registration(event: PrintedEvent): Block {
  const { infEvento, response, tpEvento, sequence, registered } = event
  const author = taxId(value(infEvento, 'CNPJ'), value(infEvento, 'CPF'))
  const body = value(infEvento, 'cOrgao')
  const environment = value(infEvento, 'tpAmb')
  const status = joined(' - ', value(response, 'cStat'), value(response, 'xMotivo'))
  return stack(
    title('EVENTO'),
    sheetRow(sheet, [
      { label: 'TIPO E DESCRIÇÃO DO EVENTO', value: joined(' - ', tpEvento, event.words ?? event.name), width: 110 },
      { label: 'Nº SEQUENCIAL', value: sequence, width: 24, align: 'center' },
      { label: 'DATA E HORA DO EVENTO', value: dateTime(value(infEvento, 'dhEvento')), width: 42, align: 'center' },
      { label: 'AMBIENTE', value: entryOf(environments, environment) ?? environment, width: 32, align: 'center' },
    ]),
    sheetRow(sheet, [
      { label: 'AUTOR DO EVENTO', value: joined(' - ', author, partyName(event, infEvento)), width: 134 },
      { label: 'ÓRGÃO', value: joined(' - ', body, bodyName(Number(body))), width: 74 },
    ]),
    title('REGISTRO NA SEFAZ'),
    sheetRow(sheet, [
      {
        label: 'SITUAÇÃO',
        value: status ?? (registered ? undefined : 'O arquivo não traz o registro do evento'),
        width: 110,
      },
      { label: 'PROTOCOLO', value: value(response, 'nProt'), width: 54, align: 'center' },
      { label: 'DATA E HORA DO REGISTRO', value: dateTime(value(response, 'dhRegEvento')), width: 44, align: 'center' },
    ]),
  )
}

const partyNames = {
  nfe: [
    ['emit', 'EMITENTE'],
    ['dest', 'DESTINATÁRIO / REMETENTE'],
  ],
  cte: [
    ['emit', 'EMITENTE'],
    ['toma', 'TOMADOR DO SERVIÇO'],
    ['rem', 'REMETENTE'],
    ['dest', 'DESTINATÁRIO'],
  ],
} as const

function parties({ family, model, chave, document }: PrintedEvent): Block {
  const { serie, numero, aamm } = chaveParts(chave)
  const ide = child(document, 'ide')
  const summary = document?.name === 'resNFe' ? document : undefined
  const issued = date(value(ide, 'dhEmi') ?? value(ide, 'dEmi') ?? value(summary, 'dhEmi'))
  const rows = partyNames[family].flatMap(([group, label]) => {
    // A summary is about its emitente.
    const party = group === 'emit' ? (summary ?? child(document, group)) : child(document, group)
    const id = taxId(value(party, 'CNPJ'), value(party, 'CPF')) ?? value(party, 'idEstrangeiro')
    if (!party && group !== 'emit') return []
    return [
      sheetRow(sheet, [
        { label, value: value(party, 'xNome'), width: 134 },
        {
          label: 'CNPJ / CPF',
          value: group === 'emit' ? (id ?? issuerOfChave(chave)) : id,
          width: 40,
          align: 'center',
        },
        { label: 'INSCRIÇÃO ESTADUAL', value: value(party, 'IE'), width: 34, align: 'center' },
      ]),
    ]
  })
  return stack(
    title('DOCUMENTO'),
    sheetRow(sheet, [
      { label: 'MODELO', value: `${chaveParts(chave).mod} - ${model}`, width: 60 },
      { label: 'NÚMERO', value: documentNumber(String(numero)), width: 50, align: 'center' },
      { label: 'SÉRIE', value: series(String(serie)), width: 30, align: 'center' },
      {
        label: 'EMISSÃO',
        value: issued ?? `${aamm.slice(2)}/20${aamm.slice(0, 2)}`,
        width: 68,
        align: 'center',
      },
    ]),
    ...rows,
  )
}

function issuerName({ document }: PrintedEvent): string | undefined {
  return value(document?.name === 'resNFe' ? document : child(document, 'emit'), 'xNome')
}

function partyName({ document }: PrintedEvent, infEvento: XmlElement): string | undefined {
  const id = value(infEvento, 'CNPJ') ?? value(infEvento, 'CPF')
  const party = [document, ...(document?.children ?? [])].find(
    (group) => value(group, 'xNome') && id === (value(group, 'CNPJ') ?? value(group, 'CPF')),
  )
  return value(party, 'xNome')
}

/** Corrections of a CT-e name fields; those of an NF-e are free text. */
function corrections({ detail }: PrintedEvent): Table | undefined {
  const rows = children(detail, 'infCorrecao')
  if (rows.length === 0) return undefined
  const column = (heading: string, widest: number, name: string) => ({
    title: [heading],
    align: 'left' as const,
    widest,
    cells: (row: XmlElement) => [value(row, name) ?? ''],
  })
  const changed = { title: ['VALOR ALTERADO'], align: 'left' as const }
  return table(
    rows,
    [
      [
        column('GRUPO ALTERADO', 110, 'grupoAlterado'),
        column('CAMPO ALTERADO', 110, 'campoAlterado'),
        column('ITEM', 30, 'nroItemAlterado'),
        { ...changed, cells: (row) => paragraphs(value(row, 'valorAlterado') ?? '') },
      ],
    ],
    { width: sheet.width, sizes: [10, 9, 8], freeMin: () => 250, freeEnough: 350 },
  )
}

interface Text {
  heading: string
  text: string
  size: number
}

const headings: Record<string, string> = {
  xCorrecao: 'CORREÇÃO',
  xJust: 'JUSTIFICATIVA',
  xJustMotivo: 'JUSTIFICATIVA',
  xObs: 'OBSERVAÇÃO',
}

/** The texts of the event under their names. */
function texts({ detail, longWords }: PrintedEvent): Text[] {
  const own = (detail?.children ?? []).flatMap((element) => {
    const heading = entryOf(headings, element.name)
    const text = element.text.trim()
    return heading && text ? [{ heading, text, size: textSize }] : []
  })
  return longWords ? [{ heading: 'DESCRIÇÃO DO EVENTO', text: longWords, size: textSize }, ...own] : own
}

function conditions({ detail }: PrintedEvent): Text[] {
  const text = value(detail, 'xCondUso')
  return text ? [{ heading: 'CONDIÇÃO DE USO', text, size: conditionSize }] : []
}

const elsewhere = new Set(['descEvento', 'infCorrecao', 'xCondUso'])

/** All else that the event says, by the names of its fields and groups. */
function sayings({ detail }: PrintedEvent): Table | undefined {
  return saidTable(detail, sheet.width, 'Evento', ({ name }) => elsewhere.has(name) || Object.hasOwn(headings, name))
}
