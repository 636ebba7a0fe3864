import { formatChave } from '@vigia/dfe/chave'
import { child, value } from '@vigia/dfe/document'
import { cep, dateTime, documentNumber, joined, phone, series, taxId } from '../formats.ts'
import { barcode } from '../layout/barcode.ts'
import type { Block } from '../layout/block.ts'
import { padding, sheet } from '../layout/block.ts'
import { fieldRow, fittingSize } from '../layout/fields.ts'
import { qrBlock } from '../layout/qrcode.ts'
import { leading, wrap } from '../layout/text.ts'
import type { Canvas } from '../pdf/canvas.ts'
import { bold, roman } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { type Cte, inContingency, lacksProtocol, protocolText } from './cte.ts'
import { codeAndWord, word, words } from './words.ts'

const issuerWidth = 182
const qrSide = 104
const titleHeight = 36
const rowHeight = 24
const barsHeight = 51
const keyHeight = 20
const consultHeight = 27

const titles: Record<Cte['layout'], [string, string]> = {
  cte: ['DACTE', 'DOCUMENTO AUXILIAR DO CONHECIMENTO DE TRANSPORTE ELETRÔNICO'],
  simplificado: ['DACTE', 'DOCUMENTO AUXILIAR DO CONHECIMENTO DE TRANSPORTE ELETRÔNICO SIMPLIFICADO'],
  os: ['DACTE OS', 'DOCUMENTO AUXILIAR DO CONHECIMENTO DE TRANSPORTE ELETRÔNICO PARA OUTROS SERVIÇOS'],
  gtve: ['DAGTV-E', 'DOCUMENTO AUXILIAR DA GUIA DE TRANSPORTE DE VALORES ELETRÔNICA'],
}

/** The header that every sheet repeats, and where the number of the sheet goes (MOC CT-e 4.00, Anexo II, 2.12 and 2.21.2). */
export interface Header extends Block {
  sheetNumber(canvas: Canvas, y: number, text: string): void
}

/** Emitente, identification, bar code, key, protocol and the QR code of the file. */
export function header(cte: Cte): Header {
  const issuer = issuerBox(cte)
  const qr = qrBlock(cte.qrCode, qrSide - 4)
  const rest = sheet.width - issuerWidth
  const middle = rest - (qr ? qrSide : 0)
  const upper = titleHeight + rowHeight + barsHeight
  const identification = identificationRow(cte, middle)
  const bars = barcode(cte.chave, middle, 43)
  const key = winAnsi(formatChave(cte.chave))
  const keySize = fittingSize([{ value: key, font: bold, room: rest - 2 * padding }], 11, 7)
  const height = Math.max(issuer.height, upper + keyHeight + consultHeight)
  const lower = height - keyHeight - consultHeight
  return {
    height,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      issuer.draw(canvas, x, y + (height - issuer.height) / 2)
      const left = x + issuerWidth
      canvas.line(left, y, left, y + height)
      titleBox(canvas, left, y, middle, cte)
      identification.draw(canvas, left, y + titleHeight)
      bars?.draw(canvas, left, y + titleHeight + rowHeight + (lower - titleHeight - rowHeight - 43) / 2)
      if (qr) {
        canvas.line(left + middle, y, left + middle, y + lower)
        qr.draw(canvas, left + middle + 2, y + (lower - qr.height) / 2)
      }
      canvas.line(left, y + lower, x + sheet.width, y + lower)
      canvas.text(left + padding, y + lower + 6.4, winAnsi('CHAVE DE ACESSO'), roman, 6)
      canvas.aligned(left, rest, y + lower + 16.3, key, bold, keySize, 'center')
      canvas.line(left, y + lower + keyHeight, x + sheet.width, y + lower + keyHeight)
      consultAndProtocol(canvas, left, y + lower + keyHeight, rest, cte)
    },
    sheetNumber(canvas, y, text) {
      const [from, width] = sheetBox(middle)
      const baseline = y + titleHeight + rowHeight - 5.4
      canvas.aligned(sheet.left + issuerWidth + from, width, baseline, winAnsi(text), bold, 9, 'center')
    },
  }
}

function issuerBox({ infCte }: Cte): Block {
  const emit = child(infCte, 'emit')
  const address = child(emit, 'enderEmit')
  const postal = cep(value(address, 'CEP'))
  const telephone = phone(value(address, 'fone'))
  const room = issuerWidth - 4 * padding
  const lines: { text: Ansi; size: number }[] = []
  const add = (text: string | undefined, size: number) => {
    if (text) lines.push(...wrap(winAnsi(text), bold, size, room).map((line) => ({ text: line, size })))
  }
  add(value(emit, 'xNome'), 11)
  const nameLines = lines.length
  add(joined(' - ', joined(', ', value(address, 'xLgr'), value(address, 'nro')), value(address, 'xCpl')), 8)
  add(joined(' - ', value(address, 'xBairro'), postal && `CEP ${postal}`), 8)
  add(joined(' - ', value(address, 'xMun'), value(address, 'UF')), 8)
  add(telephone && `FONE ${telephone}`, 8)
  const id = taxId(value(emit, 'CNPJ'), value(emit, 'CPF'))
  add(id && `CNPJ/CPF ${id}`, 8)
  add(joined('', 'INSCRIÇÃO ESTADUAL ', value(emit, 'IE')), 8)
  const substitute = value(emit, 'IEST')
  add(substitute && `INSC. EST. DO SUBST. TRIBUTÁRIO ${substitute}`, 8)
  const height = lines.reduce((sum, line) => sum + leading(line.size) + 0.4, 0) + 12
  return {
    height,
    draw(canvas, x, y) {
      let at = y + 4
      lines.forEach(({ text, size }, i) => {
        if (i === nameLines) at += 4
        at += leading(size) + 0.4
        canvas.aligned(x + 2 * padding, room, at - size * 0.28, text, bold, size, 'center')
      })
    },
  }
}

function titleBox(canvas: Canvas, x: number, y: number, width: number, { ide, layout }: Cte): void {
  const modalWidth = 84
  const nameWidth = width - modalWidth
  const [name, meaning] = titles[layout]
  canvas.aligned(x, nameWidth, y + 13.5, winAnsi(name), bold, 13, 'center')
  wrap(winAnsi(meaning), roman, 7.5, nameWidth - 2 * padding).forEach((line, n) => {
    canvas.aligned(x, nameWidth, y + 22.5 + n * leading(7.5), line, roman, 7.5, 'center')
  })
  canvas.line(x + nameWidth, y, x + nameWidth, y + titleHeight)
  canvas.text(x + nameWidth + padding, y + 6.8, winAnsi('MODAL'), roman, 6)
  const modal = winAnsi((word(words.modal, value(ide, 'modal')) ?? '').toUpperCase())
  const size = fittingSize([{ value: modal, font: bold, room: modalWidth - 2 * padding }], 12, 7)
  canvas.aligned(x + nameWidth, modalWidth, y + 23, modal, bold, size, 'center')
}

// Shares of the boxes of the identification row; the fourth is the number of the sheet.
const shares = [31, 26, 51, 26, 83, 64]

function identificationRow({ infCte, ide }: Cte, width: number): Block {
  const values: [string, string | undefined][] = [
    ['MODELO', value(ide, 'mod')],
    ['SÉRIE', series(value(ide, 'serie'))],
    ['NÚMERO', documentNumber(value(ide, 'nCT'))],
    ['FL', undefined],
    ['DATA E HORA DE EMISSÃO', dateTime(value(ide, 'dhEmi'))],
    ['SUFRAMA DO DEST.', value(infCte, 'dest/ISUF') ?? value(infCte, 'toma/ISUF')],
  ]
  return fieldRow(
    values.map(([label, text], i) => ({ label, value: text, width: shares[i]!, align: 'center', bold: i !== 5 })),
    width,
    { height: rowHeight, size: 9 },
  )
}

function sheetBox(width: number): [number, number] {
  const unit = width / shares.reduce((sum, share) => sum + share, 0)
  return [unit * (shares[0]! + shares[1]! + shares[2]!), unit * shares[3]!]
}

const consult =
  'Consulta de autenticidade no portal nacional do CT-e, www.cte.fazenda.gov.br/portal, ou no site da Sefaz Autorizadora'

function consultAndProtocol(canvas: Canvas, x: number, y: number, width: number, cte: Cte): void {
  const consultWidth = width * 0.46
  wrap(winAnsi(consult), roman, 7, consultWidth - 2 * padding).forEach((line, n) => {
    canvas.aligned(x, consultWidth, y + 7.4 + n * leading(7), line, roman, 7, 'center')
  })
  const left = x + consultWidth
  canvas.line(left, y, left, y + consultHeight)
  const room = width - consultWidth
  canvas.text(left + padding, y + 6.8, winAnsi(protocolLabel(cte)), roman, 6)
  const lines = protocolLines(cte)
  const size = lines.length > 1 ? 7.5 : 9
  lines.forEach((line, n) => {
    const font = lines.length > 1 && n === 0 ? bold : roman
    const text = winAnsi(line)
    const fitting = fittingSize([{ value: text, font, room: room - 2 * padding }], size, 6)
    canvas.aligned(left, room, y + (lines.length > 1 ? 14.6 : 18.5) + n * 8.6, text, font, fitting, 'center')
  })
}

function protocolLabel(cte: Cte): string {
  if (cte.denied) return 'PROTOCOLO DE DENEGAÇÃO DE USO'
  const epec = lacksProtocol(cte) && value(cte.ide, 'tpEmis') === '4'
  return epec ? 'PROTOCOLO DE AUTORIZAÇÃO DO EPEC' : 'PROTOCOLO DE AUTORIZAÇÃO DE USO'
}

// The phrase of the test environment takes the place of the protocol (MOC CT-e 4.00, Anexo II, 2.20); the number stays below it.
function protocolLines(cte: Cte): string[] {
  const number = protocolText(cte)
  const lines: string[] = []
  if (cte.homologation) lines.push('EMITIDO EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL')
  else if (lacksProtocol(cte) && !inContingency(cte)) lines.push('SEM PROTOCOLO DE AUTORIZAÇÃO DE USO')
  return number ? [...lines, number] : lines
}

/** Words of the type of the CT-e, for the service row. */
export function typeOfCte({ ide }: Cte): string | undefined {
  return codeAndWord(words.tpCTe, value(ide, 'tpCTe'))
}
