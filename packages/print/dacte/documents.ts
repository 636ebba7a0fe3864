import { chaveParts, formatChave, looksLikeChave } from '@vigia/dfe/chave'
import { child, children, value, type XmlElement } from '@vigia/dfe/document'
import { date, joined, money, quantity, taxId } from '../formats.ts'
import { cellPadding, type Table, type TableColumn, type TableRow, table } from '../layout/table.ts'
import { emWidth, roman } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { issuerOfChave } from '../printable.ts'
import { codeText, codeTexts } from './code-texts.ts'
import { complemented, type PrintedCte } from './cte.ts'

/** The table that fills the sheets: documents in two columns, or deliveries of the Simplificado. */
export interface CteDocumentTable {
  title: string
  headingHeight: number
  rows: TableRow[]
  draw: Table['draw']
  /** The same table with rows nearer to one another, from 0 to 1. */
  closer(share: number): CteDocumentTable
}

interface Carried {
  type: string
  issuer: string
  /** The key, or what identifies a document without one, and further lines. */
  document: string[]
  number: string
}

const sizes = [7, 6.5, 6]
// A key of 44 digits in groups, in thousandths of the size.
const keyMax = 24_500

/** Everything the CT-e says it carries, follows, complements or replaces (MOC CT-e 4.00, Anexo II, 3). */
export function documentTable(cte: PrintedCte): CteDocumentTable {
  if (cte.layout === 'simplificado') return deliveries(cte)
  const carried = [...relatedCtes(cte), ...originals(cte), ...previous(cte)]
  const complements = complemented(cte).length > 0
  return twoColumns(
    complements ? 'DETALHAMENTO DO CT-E COMPLEMENTADO' : 'DOCUMENTOS ORIGINÁRIOS',
    carried,
    cte.sheet.width,
  )
}

const columns: TableColumn<Carried>[] = [
  { title: ['TIPO DOC.'], align: 'left', widest: 62, cells: (one) => [one.type] },
  { title: ['CNPJ/CPF EMITENTE'], align: 'left', widest: 66, cells: (one) => [one.issuer] },
  { title: ['CHAVE / DOCUMENTO'], align: 'left', cells: (one) => one.document },
  { title: ['SÉRIE/Nº DOC.'], align: 'right', widest: 62, cells: (one) => [one.number] },
]

function twoColumns(title: string, carried: readonly Carried[], width: number): CteDocumentTable {
  const half = width / 2
  // The longest key decides the size, because each key should fit on one line.
  const longest = carried.reduce((most, one) => Math.max(most, emWidth(winAnsi(one.document[0] ?? ''), roman)), 0)
  const keyWidth = (size: number) => (Math.min(longest, keyMax) * size) / 1000 + 2 * cellPadding
  const single = table(carried, [columns], { width: half, sizes, freeMin: keyWidth, freeEnough: half })
  return inPairs(title, single, half)
}

function inPairs(title: string, single: Table, half: number): CteDocumentTable {
  const rows: TableRow[] = []
  for (let i = 0; i < single.rows.length; i += 2) {
    const [left, right] = [single.rows[i]!, single.rows[i + 1]]
    rows.push({
      cells: [...left.cells, ...(right?.cells ?? [])],
      height: Math.max(left.height, right?.height ?? 0),
      white: left.white,
    })
  }
  const side = (row: TableRow, from: number): TableRow => ({
    cells: row.cells.slice(from, from + columns.length),
    height: row.height,
    white: row.white,
    ...(row.part ? { part: row.part } : {}),
  })
  return {
    title,
    headingHeight: single.headingHeight,
    rows,
    draw(canvas, x, y, title, shown, bottom) {
      const [left, right] = [0, columns.length].map((from) => shown.map((row) => side(row, from)))
      single.draw(canvas, x, y, title, left!, bottom)
      const beside = { height: title.height, draw() {} }
      const present = right!.filter(({ cells }) => cells.length > 0)
      single.draw(canvas, x + half, y, beside, present, bottom)
    },
    closer: (share) => inPairs(title, single.closer(share), half),
  }
}

function byKey(type: string, key: string | undefined, ...further: (string | undefined)[]): Carried {
  const text = key ?? ''
  const readable = looksLikeChave(text) && !/^9+$/.test(text)
  const parts = readable ? chaveParts(text) : undefined
  return {
    type,
    issuer: (readable && issuerOfChave(text)) || '',
    document: [text, ...further.filter((line) => line !== undefined)],
    number: parts ? `${parts.serie}/${parts.numero}` : '',
  }
}

function relatedCtes(cte: PrintedCte): Carried[] {
  const { infCte, norm } = cte
  const out = complemented(cte).map(
    (key): Carried => ({
      ...byKey('CT-e compl.', key),
      document: [formatChave(key)],
    }),
  )
  const replaced = child(norm, 'infCteSub')
  if (replaced) {
    const change = value(replaced, 'indAlteraToma') === '1' ? 'Alteração de tomador' : undefined
    out.push(byKey('CT-e substit.', value(replaced, 'chCte') ?? value(replaced, 'chCTe'), change))
  }
  const annulled = child(infCte, 'infCteAnu')
  if (annulled) {
    const day = date(value(annulled, 'dEmi'))
    out.push(byKey('CT-e anulado', value(annulled, 'chCte'), day && `Emissão do documento de anulação ${day}`))
  }
  for (const group of children(norm, 'infServVinc/infCTeMultimodal')) {
    out.push(byKey('CT-e multim.', value(group, 'chCTeMultimodal')))
  }
  const cancelled = value(norm, 'refCTeCanc')
  if (cancelled) out.push(byKey('CT-e cancel.', cancelled))
  return out
}

// infDoc since 2.00; in 1.04 the same groups are inside rem.
function originals({ infCte, norm, layout }: PrintedCte): Carried[] {
  const out: Carried[] = []
  const sender = child(infCte, 'rem')
  const senderId = taxId(value(sender, 'CNPJ'), value(sender, 'CPF')) ?? ''
  for (const holder of [child(norm, 'infDoc'), sender]) {
    for (const group of holder?.children ?? []) {
      const carried = original(group, senderId)
      if (carried) out.push(carried)
    }
  }
  return layout === 'os' ? [...out, ...referred(norm)] : out
}

function original(group: XmlElement, senderId: string): Carried | undefined {
  switch (group.name) {
    case 'infNFe':
      return byKey('NF-e', value(group, 'chave'), ...unitsOf(group))
    case 'infDCe':
      return byKey('DC-e', value(group, 'chave'), ...unitsOf(group))
    case 'infNF': {
      const model = value(group, 'mod')
      return {
        type: model === '04' ? 'NF produtor' : 'NF mod. 1/1A',
        issuer: senderId,
        document: [describe(group, 'dEmi', 'vNF'), ...unitsOf(group)],
        number: joined('/', value(group, 'serie'), value(group, 'nDoc')) ?? '',
      }
    }
    case 'infOutros': {
      const kind = value(group, 'tpDoc')
      return {
        type: codeText(codeTexts.tpDocOutros, kind) ?? '',
        issuer: senderId,
        document: [
          joined(' - ', value(group, 'descOutros'), describe(group, 'dEmi', 'vDocFisc')) ?? '',
          ...unitsOf(group),
        ],
        number: value(group, 'nDoc') ?? '',
      }
    }
    default:
      return undefined
  }
}

// Containers, vehicles and their seals, each with its contents.
function unitsOf(group: XmlElement): string[] {
  return [
    ...children(group, 'infUnidTransp').flatMap((unit) => [
      unitText(unit, codeTexts.tpUnidTransp, 'UnidTransp'),
      ...unitsOf(unit),
    ]),
    ...children(group, 'infUnidCarga').map((unit) => unitText(unit, codeTexts.tpUnidCarga, 'UnidCarga')),
  ]
}

function unitText(unit: XmlElement, kinds: Record<string, string>, suffix: string): string {
  const seals = joined(', ', ...children(unit, `lac${suffix}`).map((seal) => value(seal, 'nLacre')))
  const share = quantity(value(unit, 'qtdRat'))
  const name = joined(' ', codeText(kinds, value(unit, `tp${suffix}`)), value(unit, `id${suffix}`))
  return joined(' - ', name, seals && `Lacres ${seals}`, share && `Rateio ${share}`) ?? ''
}

function describe(group: XmlElement, day: string, amount: string): string {
  const issued = date(value(group, day))
  const worth = money(value(group, amount))
  return joined(' ', issued && `Emissão ${issued}`, worth && `Valor ${worth}`) ?? ''
}

function previous({ norm }: PrintedCte): Carried[] {
  const out: Carried[] = []
  for (const issuer of children(norm, 'docAnt/emiDocAnt')) {
    const id = taxId(value(issuer, 'CNPJ'), value(issuer, 'CPF')) ?? ''
    const name = value(issuer, 'xNome')
    for (const group of children(issuer, 'idDocAnt').flatMap((holder) => holder.children)) {
      if (group.name === 'idDocAntEle') {
        out.push(byKey('CT-e ant.', value(group, 'chCTe') ?? value(group, 'chave'), name))
      } else if (group.name === 'idDocAntPap') {
        out.push({
          type: codeText(codeTexts.tpDocPapel, value(group, 'tpDoc')) ?? '',
          issuer: id,
          document: [joined(' - ', name, describe(group, 'dEmi', '')) ?? ''],
          number: joined('/', value(group, 'serie'), value(group, 'subser'), value(group, 'nDoc')) ?? '',
        })
      }
    }
  }
  return out
}

// The documents of the CT-e OS: papers and bilhetes it refers to, and the GTV-e with their components.
function referred(norm: XmlElement | undefined): Carried[] {
  const papers = children(norm, 'infDocRef').map((group): Carried => {
    const ticket = value(group, 'chBPe')
    if (ticket) return byKey('BP-e', ticket)
    return {
      type: 'Documento',
      issuer: '',
      document: [describe(group, 'dEmi', 'vDoc')],
      number: joined('/', value(group, 'serie'), value(group, 'subserie'), value(group, 'nDoc')) ?? '',
    }
  })
  const guides = children(norm, 'infGTVe').map((group) =>
    byKey(
      'GTV-e',
      value(group, 'chCTe'),
      joined(
        ' - ',
        ...children(group, 'Comp').map((comp) =>
          joined(
            ' ',
            value(comp, 'xComp') ?? codeText(codeTexts.compGTV, value(comp, 'tpComp')),
            money(value(comp, 'vComp')),
          ),
        ),
      ),
    ),
  )
  return [...papers, ...guides]
}

interface Delivery {
  number: string
  from: string
  to: string
  lines: string[]
  amount: string
  receivable: string
}

const deliveryColumns: TableColumn<Delivery>[] = [
  { title: ['Nº'], align: 'center', widest: 24, cells: (one) => [one.number] },
  { title: ['INÍCIO DA PRESTAÇÃO'], align: 'left', widest: 110, cells: (one) => [one.from] },
  { title: ['TÉRMINO DA PRESTAÇÃO'], align: 'left', widest: 110, cells: (one) => [one.to] },
  { title: ['DOCUMENTOS E COMPONENTES'], align: 'left', cells: (one) => one.lines },
  { title: ['VALOR DA PRESTAÇÃO'], align: 'right', widest: 80, cells: (one) => [one.amount] },
  { title: ['VALOR A RECEBER'], align: 'right', widest: 80, cells: (one) => [one.receivable] },
]

// Each det with its documents, in an order of ours: no official layout of the Simplificado exists.
function deliveries(cte: PrintedCte): CteDocumentTable {
  const dets = children(cte.infCte, 'det')
  const rows = dets.map((det, i): Delivery => {
    const values = children(det, 'Comp').map((comp) => joined(' ', value(comp, 'xNome'), money(value(comp, 'vComp'))))
    return {
      number: det.attributes.nItem ?? String(i + 1),
      from: value(det, 'xMunIni') ?? '',
      to: value(det, 'xMunFim') ?? '',
      lines: [
        ...children(det, 'infNFe').flatMap((one) => [`NF-e ${value(one, 'chNFe') ?? ''}`, ...unitsOf(one)]),
        ...children(det, 'infDocAnt').flatMap(previousOfDelivery),
        joined(' - ', ...values) ?? '',
      ],
      amount: money(value(det, 'vPrest')) ?? '',
      receivable: money(value(det, 'vRec')) ?? '',
    }
  })
  const replaced = relatedCtes(cte).map((one) => `${one.type} ${one.document.join(' ')}`)
  if (replaced.length > 0) rows.push({ number: '', from: '', to: '', lines: replaced, amount: '', receivable: '' })
  const titled = (whole: Table): CteDocumentTable => ({
    title: 'ENTREGAS',
    headingHeight: whole.headingHeight,
    rows: whole.rows,
    draw: whole.draw,
    closer: (share) => titled(whole.closer(share)),
  })
  return titled(table(rows, [deliveryColumns], { width: cte.sheet.width, sizes, freeMin: () => 170, freeEnough: 220 }))
}

function previousOfDelivery(group: XmlElement): string[] {
  const partial = value(group, 'tpPrest') === '2' ? ' (parcial)' : ''
  return [
    `CT-e ant. ${value(group, 'chCTe') ?? ''}${partial}`,
    ...children(group, 'infNFeTranspParcial').map((one) => `NF-e ${value(one, 'chNFe') ?? ''}`),
  ]
}
