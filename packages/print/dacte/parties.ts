import { child, value, type XmlElement } from '@vigia/dfe/document'
import { cep, joined, phone, taxId } from '../formats.ts'
import { dataCode } from '../layout/barcode.ts'
import type { Block } from '../layout/block.ts'
import { padding, stack } from '../layout/block.ts'
import { street } from '../layout/issuer.ts'
import { type PrintSheet, sheetRow } from '../layout/sheet.ts'
import { leading, wrapName } from '../layout/text.ts'
import { roman } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import type { PrintedCte } from './cte.ts'

const nominal = 8.5
const smallest = 7
const firstLabel = 49
const secondLabel = 54

interface PartyFacts {
  name: string | undefined
  street: string | undefined
  district: string | undefined
  city: string | undefined
  uf: string | undefined
  postal: string | undefined
  id: string | undefined
  ie: string | undefined
  country: string | undefined
  telephone: string | undefined
}

function facts(party: XmlElement | undefined, address: XmlElement | undefined): PartyFacts {
  return {
    name: value(party, 'xNome'),
    street: street(address),
    district: value(address, 'xBairro'),
    city: value(address, 'xMun'),
    uf: value(address, 'UF'),
    postal: cep(value(address, 'CEP')),
    id: taxId(value(party, 'CNPJ'), value(party, 'CPF')),
    ie: value(party, 'IE'),
    country: value(address, 'xPais'),
    telephone: phone(value(party, 'fone') ?? value(address, 'fone')),
  }
}

const addresses: Record<string, string> = {
  rem: 'enderReme',
  dest: 'enderDest',
  exped: 'enderExped',
  receb: 'enderReceb',
}

function partyFacts({ infCte }: PrintedCte, group: string): PartyFacts {
  const party = child(infCte, group)
  return facts(party, child(party, addresses[group] ?? ''))
}

/** Remetente and destinatário, expedidor and recebedor, side by side; a pair the file lacks is left out (MOC CT-e 4.00, Anexo II, 2.7). */
export function participants(cte: PrintedCte, secondPair: boolean): Block {
  const { sheet } = cte
  const has = (group: string) => child(cte.infCte, group) !== undefined
  const party = (title: string, group: string) => (size: number) => {
    return partyBox(partyRows(title, partyFacts(cte, group), sheet), size, sheet)
  }
  const place = (title: string, group: string) => (size: number) => {
    return partyBox(placeRows(title, facts(undefined, child(cte.infCte, group))), size, sheet)
  }
  const pairs: [SizedBox, SizedBox][] = []
  if (has('rem') || has('dest')) pairs.push([party('REMETENTE', 'rem'), party('DESTINATÁRIO', 'dest')])
  if (secondPair && (has('exped') || has('receb')))
    pairs.push([party('EXPEDIDOR', 'exped'), party('RECEBEDOR', 'receb')])
  if (has('origem') || has('destino')) pairs.push([place('ORIGEM', 'origem'), place('DESTINO', 'destino')])
  return inOneSize(pairs, sheet)
}

/** Expedidor and recebedor as sentences, for a sheet without room for their boxes. */
export function secondPairText(cte: PrintedCte): string[] {
  const sentence = (title: string, group: string) => {
    const { name, street, district, city, uf, postal, id, ie, country, telephone } = partyFacts(cte, group)
    const text = joined(
      ' - ',
      name,
      id,
      ie && `IE ${ie}`,
      street,
      district,
      joined('/', city, uf),
      postal,
      country,
      telephone,
    )
    return text === undefined ? [] : [`${title}: ${text}`]
  }
  return [...sentence('EXPEDIDOR', 'exped'), ...sentence('RECEBEDOR', 'receb')]
}

type SizedBox = (size: number) => Block

// One size for all: the largest that needs no more height than the smallest.
function inOneSize(pairs: readonly [SizedBox, SizedBox][], sheet: PrintSheet): Block {
  const set = (size: number) => stack(...pairs.map(([left, right]) => sideBySide(left(size), right(size), sheet)))
  let chosen = set(nominal)
  const least = set(smallest).height
  for (let size = nominal; chosen.height > least && size > smallest; ) {
    size -= 0.25
    chosen = set(size)
  }
  return chosen
}

function sideBySide(left: Block, right: Block, sheet: PrintSheet): Block {
  const height = Math.max(left.height, right.height)
  const half = sheet.width / 2
  return {
    height,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      canvas.line(x + half, y, x + half, y + height)
      left.draw(canvas, x, y)
      right.draw(canvas, x + half, y)
    },
  }
}

// A label and its value: start of the label and end of the value as shares of the box, and the
// width kept for the label in points.
interface PartyField {
  label: string
  text: string | undefined
  from: number
  labelWidth: number
  to: number
}

const halves = { portrait: 0.56, landscape: 0.64 }

function whole(label: string, text: string | undefined): PartyField[] {
  return [{ label, text, from: 0, labelWidth: firstLabel, to: 1 }]
}

function two(first: [string, string | undefined], second: [string, string | undefined], at: number): PartyField[] {
  return [
    { label: first[0], text: first[1], from: 0, labelWidth: firstLabel, to: at },
    { label: second[0], text: second[1], from: at, labelWidth: secondLabel, to: 1 },
  ]
}

function partyRows(title: string, party: PartyFacts, { landscape }: PrintSheet): PartyField[][] {
  const city = joined(' - ', party.city, party.uf)
  const at = landscape ? halves.landscape : halves.portrait
  if (!landscape)
    return [
      whole(title, party.name),
      whole('ENDEREÇO', party.street),
      two(['BAIRRO', party.district], ['CEP', party.postal], at),
      two(['MUNICÍPIO', city], ['PAÍS', party.country], at),
      two(['CNPJ/CPF', party.id], ['INSC. ESTADUAL', party.ie], at),
      whole('FONE', party.telephone),
    ]
  return [
    two([title, party.name], ['CNPJ/CPF', party.id], at),
    two(['ENDEREÇO', party.street], ['INSC. ESTADUAL', party.ie], at),
    [
      { label: 'BAIRRO', text: party.district, from: 0, labelWidth: firstLabel, to: 0.42 },
      { label: 'PAÍS', text: party.country, from: 0.42, labelWidth: 20, to: at },
      { label: 'CEP', text: party.postal, from: at, labelWidth: secondLabel, to: 1 },
    ],
    two(['MUNICÍPIO', city], ['FONE', party.telephone], at),
  ]
}

// The places of a GTV-e have no name and no inscription.
function placeRows(title: string, place: PartyFacts): PartyField[][] {
  return [
    whole(title, place.street),
    two(['BAIRRO', place.district], ['CEP', place.postal], halves.portrait),
    two(['MUNICÍPIO', joined(' - ', place.city, place.uf)], ['FONE', place.telephone], halves.portrait),
  ]
}

// Labels in one column, values in another; a value that does not fit wraps.
function partyBox(fields: readonly PartyField[][], size: number, sheet: PrintSheet): Block {
  const width = sheet.width / 2
  const rows = fields.map((row) =>
    row.map(({ label, text, from, labelWidth, to }) => {
      const x = from === 0 ? padding : from * width
      const valueX = x + labelWidth
      const lines = wrapName(winAnsi(text ?? ''), roman, size, to * width - valueX - padding)
      return { label: winAnsi(label), x, valueX, lines }
    }),
  )
  const step = leading(nominal) + 0.2
  // Line spacing of wrapped values.
  const closer = leading(smallest)
  const heights = rows.map((row) => step + closer * (Math.max(...row.map((one) => one.lines.length)) - 1))
  return {
    height: heights.reduce((sum, one) => sum + one, 0) + 4,
    draw(canvas, x, y) {
      let top = y + 1.6
      rows.forEach((row, i) => {
        for (const one of row) {
          canvas.tagged('P', () => {
            canvas.text(x + one.x, top + 7.4, one.label, roman, 6)
            one.lines.forEach((line, n) => {
              canvas.text(x + one.valueX, top + 7.6 + n * closer, line, roman, size)
            })
          })
        }
        top += heights[i]!
      })
    },
  }
}

const tomaGroups = ['rem', 'exped', 'receb', 'dest']

/** TOMADOR DO SERVIÇO, always filled when the file says who it is (MOC CT-e 4.00, Anexo II, correlation table). */
export function tomador(cte: PrintedCte): Block {
  const { sheet } = cte
  const party = tomadorFacts(cte)
  return stack(
    sheetRow(sheet, [
      { label: 'TOMADOR DO SERVIÇO', value: party.name, width: 42 },
      { label: 'MUNICÍPIO', value: party.city, width: 24 },
      { label: 'UF', value: party.uf, width: 5, align: 'center' },
      { label: 'CEP', value: party.postal, width: 11, align: 'center' },
      { label: 'PAÍS', value: party.country, width: 18 },
    ]),
    sheetRow(sheet, [
      { label: 'ENDEREÇO', value: joined(' - ', party.street, party.district), width: 48 },
      { label: 'CNPJ/CPF', value: party.id, width: 19 },
      { label: 'INSCRIÇÃO ESTADUAL', value: party.ie, width: 16 },
      { label: 'FONE', value: party.telephone, width: 17 },
    ]),
  )
}

/** The 36 digits of the second bar code of an FS-DA, as on the DANFE: the CT-e has no rule. */
export function dataCodeOfCte(cte: PrintedCte): string {
  const { ide, infCte } = cte
  const { uf, id } = tomadorFacts(cte)
  const icms = child(infCte, 'imp/ICMS')?.children[0]
  return dataCode({
    uf,
    tpEmis: value(ide, 'tpEmis'),
    id: id?.replace(/[^0-9A-Z]/g, ''),
    amount: value(infCte, 'vPrest/vTPrest') ?? value(infCte, 'total/vTPrest'),
    ownIcms: value(icms, 'vICMS') ?? value(icms, 'vICMSOutraUF'),
    substitution: value(icms, 'vICMSSTRet'),
    issued: value(ide, 'dhEmi'),
  })
}

function tomadorFacts(cte: PrintedCte): PartyFacts {
  const { ide, infCte, layout } = cte
  const own = child(infCte, 'toma') ?? child(ide, 'toma4') ?? child(ide, 'tomaTerceiro')
  if (own && child(own, 'xNome')) return facts(own, child(own, 'enderToma'))
  const code = tomadorCode(cte)
  // In the GTV-e 1 names the destinatário, not the expedidor.
  const group = layout === 'gtve' ? ['rem', 'dest'][Number(code)] : tomaGroups[Number(code)]
  return partyFacts(cte, group ?? '')
}

/** The code of the tomador, wherever the layout keeps it. */
export function tomadorCode({ ide, infCte }: PrintedCte): string | undefined {
  return (
    value(ide, 'toma3/toma') ??
    value(ide, 'toma03/toma') ??
    value(ide, 'toma4/toma') ??
    value(ide, 'toma/toma') ??
    value(ide, 'tomaTerceiro/toma') ??
    value(infCte, 'toma/toma')
  )
}
