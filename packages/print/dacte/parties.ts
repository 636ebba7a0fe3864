import { child, value, type XmlElement } from '@vigia/dfe/document'
import { cep, joined, phone, taxId } from '../formats.ts'
import { dataCode } from '../layout/barcode.ts'
import type { Block } from '../layout/block.ts'
import { padding, stack } from '../layout/block.ts'
import { fieldRow } from '../layout/fields.ts'
import type { PrintSheet } from '../layout/sheet.ts'
import { leading, wrapName } from '../layout/text.ts'
import { roman } from '../pdf/fonts.ts'
import { type Ansi, winAnsi } from '../pdf/winansi.ts'
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
    street: joined(' - ', joined(', ', value(address, 'xLgr'), value(address, 'nro')), value(address, 'xCpl')),
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
  const pair = (left: [string, string], right: [string, string]) =>
    has(left[1]) || has(right[1])
      ? partyPair([left[0], partyFacts(cte, left[1])], [right[0], partyFacts(cte, right[1])], sheet)
      : undefined
  const places = child(cte.infCte, 'origem') ?? child(cte.infCte, 'destino')
  return stack(
    pair(['REMETENTE', 'rem'], ['DESTINATÁRIO', 'dest']),
    secondPair ? pair(['EXPEDIDOR', 'exped'], ['RECEBEDOR', 'receb']) : undefined,
    places &&
      partyPair(
        ['ORIGEM', facts(undefined, child(cte.infCte, 'origem'))],
        ['DESTINO', facts(undefined, child(cte.infCte, 'destino'))],
        sheet,
      ),
  )
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

// Both in one size: the largest at which they take no more height than at the smallest.
function partyPair(left: [string, PartyFacts], right: [string, PartyFacts], sheet: PrintSheet): Block {
  const boxes = (size: number) => [partyBox(...left, size, sheet), partyBox(...right, size, sheet)] as const
  const height = (pair: readonly [Block, Block]) => Math.max(pair[0].height, pair[1].height)
  let pair = boxes(nominal)
  const least = height(boxes(smallest))
  for (let size = nominal; height(pair) > least && size > smallest; ) {
    size -= 0.25
    pair = boxes(size)
  }
  return sideBySide(...pair, sheet)
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

interface PartyCell {
  label: Ansi
  x: number
  valueX: number
  lines: Ansi[]
}

// Labels in one column, values in another; a value that does not fit wraps.
function partyBox(title: string, party: PartyFacts, size: number, sheet: PrintSheet): Block {
  const width = sheet.width / 2
  const split = width * (sheet.landscape ? 0.64 : 0.5)
  const cell = (label: string, text: string | undefined, x: number, labelWidth: number, right: number): PartyCell => {
    const valueX = x + labelWidth
    const room = right - valueX - padding
    return { label: winAnsi(label), x, valueX, lines: wrapName(winAnsi(text ?? ''), roman, size, room) }
  }
  const whole = (label: string, text: string | undefined) => [cell(label, text, padding, firstLabel, width)]
  const two = (first: [string, string | undefined], second: [string, string | undefined]) => [
    cell(first[0], first[1], padding, firstLabel, split),
    cell(second[0], second[1], split, secondLabel, width),
  ]
  const city = joined(' - ', party.city, party.uf)
  const rows = sheet.landscape
    ? [
        two([title, party.name], ['CNPJ/CPF', party.id]),
        two(['ENDEREÇO', party.street], ['INSC. ESTADUAL', party.ie]),
        [
          cell('BAIRRO', party.district, padding, firstLabel, width * 0.42),
          cell('PAÍS', party.country, width * 0.42, 20, split),
          cell('CEP', party.postal, split, secondLabel, width),
        ],
        two(['MUNICÍPIO', city], ['FONE', party.telephone]),
      ]
    : [
        whole(title, party.name),
        whole('ENDEREÇO', party.street),
        two(['BAIRRO', party.district], ['CEP', party.postal]),
        two(['MUNICÍPIO', city], ['PAÍS', party.country]),
        two(['CNPJ/CPF', party.id], ['INSC. ESTADUAL', party.ie]),
        whole('FONE', party.telephone),
      ]
  const step = leading(nominal) + 0.2
  // Further lines of a value that wrapped stand closer.
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
    fieldRow(
      [
        { label: 'TOMADOR DO SERVIÇO', value: party.name, width: 42 },
        { label: 'MUNICÍPIO', value: party.city, width: 24 },
        { label: 'UF', value: party.uf, width: 5, align: 'center' },
        { label: 'CEP', value: party.postal, width: 11, align: 'center' },
        { label: 'PAÍS', value: party.country, width: 18 },
      ],
      sheet.width,
      sheet.row,
    ),
    fieldRow(
      [
        { label: 'ENDEREÇO', value: joined(' - ', party.street, party.district), width: 48 },
        { label: 'CNPJ/CPF', value: party.id, width: 19 },
        { label: 'INSCRIÇÃO ESTADUAL', value: party.ie, width: 16 },
        { label: 'FONE', value: party.telephone, width: 17 },
      ],
      sheet.width,
      sheet.row,
    ),
  )
}

/** The 36 digits of the second bar code of an FS-DA, by analogy with the DANFE: no text of the CT-e fixes them. */
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
