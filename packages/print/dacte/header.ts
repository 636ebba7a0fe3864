import { formatChave } from '@vigia/dfe/chave'
import { child, value } from '@vigia/dfe/document'
import { dateTime, documentNumber, joined, series, taxId } from '../formats.ts'
import { barcode } from '../layout/barcode.ts'
import type { Block } from '../layout/block.ts'
import { padding } from '../layout/block.ts'
import { fieldRow } from '../layout/fields.ts'
import { issuerBox } from '../layout/issuer.ts'
import { lineSize } from '../layout/line-size.ts'
import { besideLogo } from '../layout/logo.ts'
import { qrBlock } from '../layout/qrcode.ts'
import { leading, wrap, wrapName } from '../layout/text.ts'
import type { Canvas } from '../pdf/canvas.ts'
import { bold, roman } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { assertRoom, responseText } from '../printable.ts'
import { codeAndText, codeText, codeTexts } from './code-texts.ts'
import { inContingency, lacksProtocol, needsDataCode, type PrintedCte, protocolText } from './cte.ts'
import { dataCodeOfCte } from './parties.ts'

const issuerWidth = 182
// In landscape, identification and bar code are side by side; the emitente gets the rest.
const identificationWidth = 281
const qrSides = { portrait: 104, landscape: 96 }
const titleHeights = { portrait: 36, landscape: 42 }
// The label of the moment of issue takes two lines.
const rowHeight = 26.5
const barsHeight = 48.5
const keyHeight = 20
const consultHeight = 27
// A bar code takes the place of the consulta in an FS-DA.
const dataCodeHeight = 44

const titles: Record<PrintedCte['layout'], [string, string]> = {
  cte: ['DACTE', 'DOCUMENTO AUXILIAR DO CONHECIMENTO DE TRANSPORTE ELETRÔNICO'],
  simplificado: ['DACTE', 'DOCUMENTO AUXILIAR DO CONHECIMENTO DE TRANSPORTE ELETRÔNICO SIMPLIFICADO'],
  os: ['DACTE OS', 'DOCUMENTO AUXILIAR DO CONHECIMENTO DE TRANSPORTE ELETRÔNICO PARA OUTROS SERVIÇOS'],
  gtve: ['DAGTV-E', 'DOCUMENTO AUXILIAR DA GUIA DE TRANSPORTE DE VALORES ELETRÔNICA'],
}

/**
 * Header of every sheet, with the place of its number (MOC CT-e 4.00, Anexo II, 2.12 and 2.21.2).
 */
interface DacteHeader extends Block {
  sheetNumber(canvas: Canvas, y: number, text: string): void
}

/** Emitente, identification, bar code, key, protocol and the QR code of the file. */
export function header(cte: PrintedCte): DacteHeader {
  const { sheet } = cte
  const drawing = sheet.landscape ? landscape(cte) : portrait(cte)
  return {
    ...drawing,
    sheetNumber(canvas, y, text) {
      const [from, width] = sheetBox(drawing.identificationWidth)
      const baseline = y + drawing.titleHeight + rowHeight - 5.4
      canvas.aligned(sheet.left + drawing.issuerWidth + from, width, baseline, winAnsi(text), bold, 9, 'center')
    },
  }
}

interface Drawing extends Block {
  titleHeight: number
  issuerWidth: number
  identificationWidth: number
}

// Key, consulta and protocol below the identification, the bar code and the QR code.
function portrait(cte: PrintedCte): Drawing {
  const { sheet } = cte
  const titleHeight = titleHeights.portrait
  const qrSide = qrSides.portrait
  const qr = qrBlock(cte.qrCode, qrSide - 4)
  const issuer = besideLogo(cte.logo, issuerWidth, (width) => ownIssuerBox(cte, width))
  const rest = sheet.width - issuerWidth
  const middle = rest - (qr ? qrSide : 0)
  const identification = identificationRow(cte, middle)
  const bars = barcode(cte.chave, 'da chave de acesso', middle, 43)
  const consultHeight = consultOf(cte)
  const height = Math.max(issuer.height, titleHeight + rowHeight + barsHeight + keyHeight + consultHeight)
  const lower = height - keyHeight - consultHeight
  return {
    height,
    titleHeight,
    issuerWidth,
    identificationWidth: middle,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      const left = x + issuerWidth
      canvas.line(left, y, left, y + height)
      titleBox(canvas, left, y, middle, titleHeight, cte)
      issuer.draw(canvas, x, y + (height - issuer.height) / 2)
      identification.draw(canvas, left, y + titleHeight)
      bars?.draw(canvas, left, y + titleHeight + rowHeight + (lower - titleHeight - rowHeight - 43) / 2)
      if (qr) {
        canvas.line(left + middle, y, left + middle, y + lower)
        qr.draw(canvas, left + middle + 2, y + (lower - qr.height) / 2)
      }
      canvas.line(left, y + lower, x + sheet.width, y + lower)
      keyBox(canvas, left, y + lower, rest, cte)
      canvas.line(left, y + lower + keyHeight, x + sheet.width, y + lower + keyHeight)
      const consultWidth = rest * (needsDataCode(cte) ? 0.55 : 0.46)
      consultBox(canvas, left, y + lower + keyHeight, consultWidth, cte)
      canvas.line(left + consultWidth, y + lower + keyHeight, left + consultWidth, y + height)
      protocolBox(canvas, left + consultWidth, y + lower + keyHeight, rest - consultWidth, cte)
    },
  }
}

// Four columns: emitente; title, identification and protocol; bar code, key and consulta; QR code.
function landscape(cte: PrintedCte): Drawing {
  const { sheet } = cte
  const titleHeight = titleHeights.landscape
  const qrSide = qrSides.landscape
  const qr = qrBlock(cte.qrCode, qrSide - 4)
  const codeWidth = /^[0-9]*$/.test(cte.chave) ? 253 : 276
  const qrWidth = qr ? qrSide : 0
  const issuerWidth = sheet.width - identificationWidth - codeWidth - qrWidth
  const issuer = besideLogo(cte.logo, issuerWidth, (width) => ownIssuerBox(cte, width))
  const identification = identificationRow(cte, identificationWidth)
  const bars = barcode(cte.chave, 'da chave de acesso', codeWidth, 43)
  const consultHeight = consultOf(cte)
  const height = Math.max(issuer.height, qrSide, 48 + keyHeight + consultHeight)
  return {
    height,
    titleHeight,
    issuerWidth,
    identificationWidth,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      const left = x + issuerWidth
      canvas.line(left, y, left, y + height)
      titleBox(canvas, left, y, identificationWidth, titleHeight, cte)
      issuer.draw(canvas, x, y + (height - issuer.height) / 2)
      identification.draw(canvas, left, y + titleHeight)
      protocolBox(canvas, left, y + titleHeight + rowHeight, identificationWidth, cte)
      const code = left + identificationWidth
      const key = y + height - keyHeight - consultHeight
      canvas.line(code, y, code, y + height)
      bars?.draw(canvas, code, y + (height - keyHeight - consultHeight - 43) / 2)
      canvas.line(code, key, code + codeWidth, key)
      keyBox(canvas, code, key, codeWidth, cte)
      canvas.line(code, key + keyHeight, code + codeWidth, key + keyHeight)
      consultBox(canvas, code, key + keyHeight, codeWidth, cte)
      if (qr) {
        canvas.line(code + codeWidth, y, code + codeWidth, y + height)
        qr.draw(canvas, code + codeWidth + 2, y + (height - qr.height) / 2)
      }
    },
  }
}

function keyBox(canvas: Canvas, x: number, y: number, width: number, { chave }: PrintedCte): void {
  const key = winAnsi(formatChave(chave))
  const size = lineSize(key, bold, 11, width - 2 * padding)
  canvas.tagged('P', () => {
    canvas.text(x + padding, y + 6.4, winAnsi('CHAVE DE ACESSO'), roman, 6)
    canvas.aligned(x, width, y + 16.3, key, bold, size, 'center')
  })
}

function ownIssuerBox({ infCte }: PrintedCte, width: number): Block {
  const emit = child(infCte, 'emit')
  const id = taxId(value(emit, 'CNPJ'), value(emit, 'CPF'))
  const substitute = value(emit, 'IEST')
  const further = [
    id && `CNPJ/CPF ${id}`,
    joined('', 'INSCRIÇÃO ESTADUAL ', value(emit, 'IE')),
    substitute && `INSC. EST. DO SUBST. TRIBUTÁRIO ${substitute}`,
  ]
  return issuerBox(emit, width, { nameSize: 11, gap: 0.4, further })
}

function titleBox(
  canvas: Canvas,
  x: number,
  y: number,
  width: number,
  height: number,
  { ide, layout }: PrintedCte,
): void {
  const modalWidth = 84
  const nameWidth = width - modalWidth
  const [name, meaning] = titles[layout]
  canvas.tagged('H1', () => canvas.aligned(x, nameWidth, y + 13.5, winAnsi(name), bold, 13, 'center'))
  wrap(winAnsi(meaning), roman, 7.5, nameWidth - 2 * padding).forEach((line, n) => {
    canvas.aligned(x, nameWidth, y + 22.5 + n * leading(7.5), line, roman, 7.5, 'center')
  })
  canvas.line(x + nameWidth, y, x + nameWidth, y + height)
  const modal = winAnsi((codeText(codeTexts.modal, value(ide, 'modal')) ?? '').toUpperCase())
  const size = lineSize(modal, bold, 12, modalWidth - 2 * padding)
  canvas.tagged('P', () => {
    canvas.text(x + nameWidth + padding, y + 6.8, winAnsi('MODAL'), roman, 6)
    canvas.aligned(x + nameWidth, modalWidth, y + 23, modal, bold, size, 'center')
  })
}

// Shares of the boxes of the identification row; the fourth is the number of the sheet.
const shares = [31, 23, 51, 30, 83, 63]

function identificationRow({ infCte, ide }: PrintedCte, width: number): Block {
  const values: [string, string | undefined][] = [
    ['MODELO', value(ide, 'mod')],
    ['SÉRIE', series(value(ide, 'serie'))],
    ['NÚMERO', documentNumber(value(ide, 'nCT'))],
    ['FL', undefined],
    ['DATA E HORA DE EMISSÃO', dateTime(value(ide, 'dhEmi'))],
    ['SUFRAMA DO DEST.', value(infCte, 'dest/ISUF') ?? value(infCte, 'toma/ISUF')],
  ]
  const row = fieldRow(
    values.map(([label, text], i) => ({ label, value: text, width: shares[i]!, align: 'center', bold: i !== 5 })),
    width,
    { height: rowHeight, size: 9, smallest: 6 },
  )
  // The blocks below cannot shrink for it.
  assertRoom(rowHeight, row.height)
  return row
}

function sheetBox(width: number): [number, number] {
  const unit = width / shares.reduce((sum, share) => sum + share, 0)
  return [unit * (shares[0]! + shares[1]! + shares[2]!), unit * shares[3]!]
}

const consult =
  'Consulta de autenticidade no portal nacional do CT-e, www.cte.fazenda.gov.br/portal, ou no site da Sefaz Autorizadora'

function consultOf(cte: PrintedCte): number {
  return needsDataCode(cte) ? dataCodeHeight : consultHeight
}

function consultBox(canvas: Canvas, x: number, y: number, width: number, cte: PrintedCte): void {
  if (needsDataCode(cte)) {
    canvas.text(x + padding, y + 6.4, winAnsi('DADOS DO CT-E'), roman, 6)
    barcode(dataCodeOfCte(cte), 'dos dados do CT-e', width, 28)?.draw(canvas, x, y + 11)
    return
  }
  const lines = wrapName(winAnsi(consult), roman, 7, width - 2 * padding)
  const first = y + (consultHeight - lines.length * leading(7)) / 2 + 6
  lines.forEach((line, n) => {
    canvas.aligned(x, width, first + n * leading(7), line, roman, 7, 'center')
  })
}

function protocolBox(canvas: Canvas, x: number, y: number, width: number, cte: PrintedCte): void {
  const lines = protocolLines(cte)
  const size = lines.length > 1 ? 7.5 : 9
  canvas.tagged('P', () => {
    canvas.text(x + padding, y + 6.8, winAnsi(protocolLabel(cte)), roman, 6)
    lines.forEach((line, n) => {
      const font = lines.length > 1 && n === 0 ? bold : roman
      const text = winAnsi(line)
      const fitting = lineSize(text, font, size, width - 2 * padding)
      canvas.aligned(x, width, y + (lines.length > 1 ? 14.6 : 18.5) + n * 8.6, text, font, fitting, 'center')
    })
  })
}

function protocolLabel(cte: PrintedCte): string {
  if (needsDataCode(cte)) return 'DADOS DO CT-E'
  if (cte.denied) return 'PROTOCOLO DE DENEGAÇÃO DE USO'
  const epec = lacksProtocol(cte) && value(cte.ide, 'tpEmis') === '4'
  return epec ? 'PROTOCOLO DE AUTORIZAÇÃO DO EPEC' : 'PROTOCOLO DE AUTORIZAÇÃO DE USO'
}

// The test environment's phrase replaces the protocol (MOC CT-e 4.00, Anexo II, 2.20); the number
// stays below.
function protocolLines(cte: PrintedCte): string[] {
  if (needsDataCode(cte)) return [formatChave(dataCodeOfCte(cte))]
  const number = protocolText(cte) ?? responseText(cte.epec?.protocol, cte.epec?.at)
  const lines: string[] = []
  if (cte.homologation) lines.push('EMITIDO EM AMBIENTE DE HOMOLOGAÇÃO - SEM VALOR FISCAL')
  else if (lacksProtocol(cte) && !inContingency(cte)) lines.push('SEM PROTOCOLO DE AUTORIZAÇÃO DE USO')
  return number ? [...lines, number] : lines
}

/** Words of the type of the CT-e, for the service row. */
export function typeOfCte({ ide }: PrintedCte): string | undefined {
  return codeAndText(codeTexts.tpCTe, value(ide, 'tpCTe'))
}
