import { formatChave } from '@vigia/dfe/chave'
import { child, value } from '@vigia/dfe/document'
import { documentNumber, entryOf, series, taxId } from '../formats.ts'
import { barcode } from '../layout/barcode.ts'
import type { Block } from '../layout/block.ts'
import { padding, stack } from '../layout/block.ts'
import { issuerBox } from '../layout/issuer.ts'
import { lineSize } from '../layout/line-size.ts'
import { besideLogo } from '../layout/logo.ts'
import { type PrintSheet, sheetRow } from '../layout/sheet.ts'
import { leading, wrap } from '../layout/text.ts'
import type { Canvas } from '../pdf/canvas.ts'
import { bold, type Font, roman } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { responseText } from '../printable.ts'
import { additionalDataCode } from './contingency.ts'
import type { PrintedNfe } from './note.ts'
import { protocolText } from './note.ts'

interface Widths {
  issuer: number
  danfe: number
  code: number
}

// Portrait fits modules of 0.3 mm for a numeric chave; one with letters has up to a third more
// modules, and needs this width to stay readable.
function widthsFor({ chave, sheet }: PrintedNfe): Widths {
  const code = sheet.landscape ? 276 : /^[0-9]*$/.test(chave) ? 253 : 276
  const danfe = sheet.landscape ? 152 : 100
  return { issuer: sheet.width - danfe - code, danfe, code }
}

/**
 * Header of every sheet, with the place of its number (MOC NF-e 7.0, Anexo II, 3.1, 3.5 and 3.8).
 */
interface DanfeHeader extends Block {
  sheetNumber(canvas: Canvas, y: number, text: string): void
}

/** Identification of the emitente, the DANFE box, the bar code and the rows below them. */
export function header(note: PrintedNfe): DanfeHeader {
  const { sheet } = note
  const widths = widthsFor(note)
  const drawing = danfeDrawings[sheet.landscape ? 'landscape' : 'portrait']
  const issuer = besideLogo(note.logo, widths.issuer, (width) =>
    issuerBox(child(note.infNFe, 'emit'), width, { nameSize: 12, gap: 0.6 }),
  )
  const code = codeBox(note, widths.code, Math.max(drawing.height, issuer.height))
  const { height } = code
  const boxes: Block = {
    height,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      canvas.line(x + widths.issuer, y, x + widths.issuer, y + height)
      canvas.line(x + widths.issuer + widths.danfe, y, x + widths.issuer + widths.danfe, y + height)
      danfeBox(canvas, x + widths.issuer, y, widths.danfe, drawing, note)
      issuer.draw(canvas, x, y + (height - issuer.height) / 2)
      code.draw(canvas, x + widths.issuer + widths.danfe, y)
    },
  }
  const whole = stack(boxes, ...rows(note, widths.code, sheet))
  return {
    ...whole,
    sheetNumber(canvas, y, text) {
      const left = sheet.left + widths.issuer + drawing.numbersLeft
      const [, , baseline] = drawing.numbers
      canvas.aligned(left, widths.danfe - drawing.numbersLeft, y + baseline, winAnsi(text), bold, 10, 'center')
    },
  }
}

// The DANFE box: number, series and sheet are below the type in portrait, beside it in landscape.
interface DanfeDrawing {
  height: number
  meaning: readonly string[]
  operation: number
  numbersLeft: number
  /** Baselines of number, series and sheet. */
  numbers: readonly [number, number, number]
}

const danfeDrawings: Record<'portrait' | 'landscape', DanfeDrawing> = {
  portrait: {
    height: 112,
    meaning: ['DOCUMENTO AUXILIAR', 'DA NOTA FISCAL', 'ELETRÔNICA'],
    operation: 50,
    numbersLeft: 0,
    numbers: [82, 94, 106],
  },
  landscape: {
    height: 88,
    meaning: ['DOCUMENTO AUXILIAR DA', 'NOTA FISCAL ELETRÔNICA'],
    operation: 51,
    numbersLeft: 77,
    numbers: [54, 66.5, 79],
  },
}

function danfeBox(
  canvas: Canvas,
  x: number,
  y: number,
  width: number,
  drawing: DanfeDrawing,
  { ide }: PrintedNfe,
): void {
  const { operation, numbersLeft, numbers } = drawing
  const centred = (baseline: number, text: string, font: Font, size: number) =>
    canvas.aligned(x, width, y + baseline, winAnsi(text), font, size, 'center')
  canvas.tagged('H1', () => centred(15, 'DANFE', bold, 14))
  drawing.meaning.forEach((line, n) => {
    centred(25 + n * leading(8), line, roman, 8)
  })
  const box = numbersLeft > 0 ? 58 : 70
  canvas.box(x + box, y + operation, 18, 18)
  const fitted = (left: number, room: number, baseline: number, text: string, size: number) => {
    const line = winAnsi(text)
    canvas.aligned(x + left, room, y + baseline, line, bold, lineSize(line, bold, size, room - 2), 'center')
  }
  canvas.tagged('P', () => {
    canvas.text(x + (numbersLeft > 0 ? 4 : 8), y + operation + 6, winAnsi('0 - ENTRADA'), roman, 8)
    canvas.text(x + (numbersLeft > 0 ? 4 : 8), y + operation + 16, winAnsi('1 - SAÍDA'), roman, 8)
    fitted(box, 18, operation + 13, value(ide, 'tpNF') ?? '', 12)
  })
  fitted(numbersLeft, width - numbersLeft, numbers[0], `Nº ${documentNumber(value(ide, 'nNF')) ?? ''}`, 10)
  fitted(numbersLeft, width - numbersLeft, numbers[1], `SÉRIE ${series(value(ide, 'serie')) ?? ''}`, 10)
}

function codeBox(note: PrintedNfe, codeWidth: number, least: number): Block {
  const key = winAnsi(formatChave(note.chave))
  const room = codeWidth - 2 * padding
  const size = lineSize(key, bold, 10, room)
  const second = note.contingency === '2' || note.contingency === '5' ? additionalDataCode(note) : undefined
  const consult = wrap(winAnsi(consultText(note)), roman, 8, room - 4)
  const keyTop = 43
  const textTop = keyTop + 20
  const bars = barcode(note.chave, 'da chave de acesso', codeWidth, 34)
  const secondBars = second && barcode(second, 'dos dados da NF-e', codeWidth, 28)
  const height = Math.max(least, textTop + (second ? 46 : consult.length * leading(8) + 7))
  return {
    height,
    draw(canvas, x, y) {
      bars?.draw(canvas, x, y + 4.5)
      canvas.line(x, y + keyTop, x + codeWidth, y + keyTop)
      canvas.tagged('P', () => {
        canvas.text(x + padding, y + keyTop + 6.4, winAnsi('CHAVE DE ACESSO'), roman, 6)
        canvas.aligned(x, codeWidth, y + keyTop + 16, key, bold, size, 'center')
      })
      canvas.line(x, y + textTop, x + codeWidth, y + textTop)
      if (secondBars) {
        canvas.text(x + padding, y + textTop + 6.4, winAnsi('DADOS DA NF-E'), roman, 6)
        secondBars.draw(canvas, x, y + textTop + 11)
      } else {
        const first = y + (textTop + height - consult.length * leading(8)) / 2 + 7
        consult.forEach((line, n) => {
          canvas.aligned(x, codeWidth, first + n * leading(8), line, roman, 8, 'center')
        })
      }
    },
  }
}

function consultText(note: PrintedNfe): string {
  if (note.contingency === '4') {
    return 'Consulta de autenticidade no portal da NF-e www.nfe.fazenda.gov.br/portal'
  }
  return 'Consulta de autenticidade no portal nacional da NF-e www.nfe.fazenda.gov.br/portal ou no site da Sefaz Autorizadora'
}

function rows(note: PrintedNfe, codeWidth: number, sheet: PrintSheet): Block[] {
  const { infNFe, ide } = note
  const emit = child(infNFe, 'emit')
  const lower = [
    sheetRow(sheet, [
      { label: 'NATUREZA DA OPERAÇÃO', value: value(ide, 'natOp'), width: sheet.width - codeWidth },
      { ...authorisation(note), width: codeWidth },
    ]),
    sheetRow(sheet, [
      { label: 'INSCRIÇÃO ESTADUAL', value: value(emit, 'IE'), width: 1 },
      { label: 'INSCRIÇÃO ESTADUAL DO SUBST. TRIBUT.', value: value(emit, 'IEST'), width: 1 },
      { label: 'CNPJ / CPF', value: taxId(value(emit, 'CNPJ'), value(emit, 'CPF')), width: 1 },
    ]),
  ]
  if (note.newTaxes) {
    lower.push(
      sheetRow(sheet, [
        { label: 'CÓDIGO DO REGIME TRIBUTÁRIO', value: taxRegime(value(emit, 'CRT')), width: 1 },
        { label: 'TIPO DE REGIME DE APURAÇÃO DO IBS E DA CBS', width: 1 },
      ]),
    )
  }
  return lower
}

function authorisation(note: PrintedNfe): { label: string; value?: string | undefined } {
  if (note.contingency === '2' || note.contingency === '5') {
    return { label: 'DADOS DA NF-E', value: formatChave(additionalDataCode(note)) }
  }
  if (note.contingency === '4') {
    return { label: 'PROTOCOLO DE AUTORIZAÇÃO DO EPEC', value: responseText(note.epec?.protocol, note.epec?.at) }
  }
  const label = note.denied ? 'PROTOCOLO DE DENEGAÇÃO DE USO' : 'PROTOCOLO DE AUTORIZAÇÃO DE USO'
  return { label, value: protocolText(note) }
}

const regimes: Record<string, string> = {
  1: '1 - Simples Nacional',
  2: '2 - Simples Nacional, excesso de sublimite de receita bruta',
  3: '3 - Regime Normal',
  4: '4 - Simples Nacional - Microempreendedor Individual (MEI)',
}

function taxRegime(code: string | undefined): string | undefined {
  return code === undefined ? undefined : (entryOf(regimes, code) ?? code)
}
