import { formatChave } from '@vigia/dfe/chave'
import { child, value } from '@vigia/dfe/document'
import { cep, documentNumber, joined, phone, series, taxId } from '../formats.ts'
import { barcode } from '../layout/barcode.ts'
import type { Block } from '../layout/block.ts'
import { padding, sheet, stack } from '../layout/block.ts'
import { fieldRow, fittingSize } from '../layout/fields.ts'
import { leading, wrap } from '../layout/text.ts'
import type { Canvas } from '../pdf/canvas.ts'
import { bold, type Font, roman } from '../pdf/fonts.ts'
import type { Ansi } from '../pdf/winansi.ts'
import { winAnsi } from '../pdf/winansi.ts'
import { additionalDataCode } from './contingency.ts'
import type { Note } from './note.ts'
import { protocolText } from './note.ts'
import { street } from './parties.ts'

const danfeWidth = 100
// 80 mm for a numeric chave; a chave with letters has up to a third more modules and needs the room to stay readable.
const codeWidths = { numeric: 233, letters: 276 }

interface Widths {
  issuer: number
  code: number
}

function widthsFor(chave: string): Widths {
  const code = /^[0-9]*$/.test(chave) ? codeWidths.numeric : codeWidths.letters
  return { issuer: sheet.width - danfeWidth - code, code }
}

/** The header that every sheet repeats, and where the number of the sheet goes (MOC NF-e 7.0, Anexo II, 3.1, 3.5 and 3.8). */
export interface Header extends Block {
  sheetNumber(canvas: Canvas, y: number, text: string): void
}

/** Identification of the emitente, the DANFE box, the bar code and the rows below them. */
export function header(note: Note): Header {
  const widths = widthsFor(note.chave)
  const issuer = issuerBox(note, widths.issuer)
  const code = codeBox(note, widths.code)
  const height = Math.max(112, issuer.height, code.height)
  const boxes: Block = {
    height,
    draw(canvas, x, y) {
      canvas.box(x, y, sheet.width, height)
      canvas.line(x + widths.issuer, y, x + widths.issuer, y + height)
      canvas.line(x + widths.issuer + danfeWidth, y, x + widths.issuer + danfeWidth, y + height)
      issuer.draw(canvas, x, y + (height - issuer.height) / 2)
      danfeBox(canvas, x + widths.issuer, y, note)
      code.draw(canvas, x + widths.issuer + danfeWidth, y)
    },
  }
  const whole = stack(boxes, ...rows(note, widths.code))
  return {
    ...whole,
    sheetNumber(canvas, y, text) {
      canvas.aligned(sheet.left + widths.issuer, danfeWidth, y + 106, winAnsi(text), bold, 10, 'center')
    },
  }
}

function issuerBox({ infNFe }: Note, issuerWidth: number): Block {
  const emit = child(infNFe, 'emit')
  const address = child(emit, 'enderEmit')
  const postal = cep(value(address, 'CEP'))
  const telephone = phone(value(address, 'fone'))
  const lines: { text: Ansi; size: number }[] = []
  const room = issuerWidth - 4 * padding
  const add = (text: string | undefined, size: number) => {
    if (text) lines.push(...wrap(winAnsi(text), bold, size, room).map((line) => ({ text: line, size })))
  }
  add(value(emit, 'xNome'), 12)
  const nameLines = lines.length
  add(street(emit, 'enderEmit'), 8)
  add(joined(' - ', value(address, 'xBairro'), postal && `CEP ${postal}`), 8)
  add(joined(' - ', value(address, 'xMun'), value(address, 'UF')), 8)
  add(telephone && `FONE ${telephone}`, 8)
  const height = lines.reduce((sum, line) => sum + leading(line.size) + 0.6, 0) + 12
  return {
    height,
    draw(canvas, x, y) {
      let at = y + 4
      lines.forEach(({ text, size }, i) => {
        if (i === nameLines) at += 4
        at += leading(size) + 0.6
        canvas.aligned(x + 2 * padding, room, at - size * 0.28, text, bold, size, 'center')
      })
    },
  }
}

function danfeBox(canvas: Canvas, x: number, y: number, { ide }: Note): void {
  const centred = (baseline: number, text: string, font: Font, size: number) =>
    canvas.aligned(x, danfeWidth, y + baseline, winAnsi(text), font, size, 'center')
  centred(15, 'DANFE', bold, 14)
  centred(25, 'DOCUMENTO AUXILIAR', roman, 8)
  centred(33.8, 'DA NOTA FISCAL', roman, 8)
  centred(42.6, 'ELETRÔNICA', roman, 8)
  canvas.text(x + 8, y + 56, winAnsi('0 - ENTRADA'), roman, 8)
  canvas.text(x + 8, y + 66, winAnsi('1 - SAÍDA'), roman, 8)
  canvas.box(x + 70, y + 50, 18, 18)
  canvas.aligned(x + 70, 18, y + 63, winAnsi(value(ide, 'tpNF') ?? ''), bold, 12, 'center')
  centred(82, `Nº ${documentNumber(value(ide, 'nNF')) ?? ''}`, bold, 10)
  centred(94, `SÉRIE ${series(value(ide, 'serie')) ?? ''}`, bold, 10)
}

function codeBox(note: Note, codeWidth: number): Block {
  const key = winAnsi(formatChave(note.chave))
  const room = codeWidth - 2 * padding
  const size = fittingSize([{ value: key, font: bold, room }], 10, 7)
  const second = note.contingency === '2' || note.contingency === '5' ? additionalDataCode(note) : undefined
  const consult = wrap(winAnsi(consultText(note)), roman, 8, room - 4)
  const keyTop = 43
  const textTop = keyTop + 20
  const bars = barcode(note.chave, codeWidth, 34)
  const secondBars = second && barcode(second, codeWidth, 28)
  return {
    height: textTop + (second ? 46 : consult.length * leading(8) + 7),
    draw(canvas, x, y) {
      bars?.draw(canvas, x, y + 4.5)
      canvas.line(x, y + keyTop, x + codeWidth, y + keyTop)
      canvas.text(x + padding, y + keyTop + 6.4, winAnsi('CHAVE DE ACESSO'), roman, 6)
      canvas.aligned(x, codeWidth, y + keyTop + 16, key, bold, size, 'center')
      canvas.line(x, y + textTop, x + codeWidth, y + textTop)
      if (secondBars) {
        canvas.text(x + padding, y + textTop + 6.4, winAnsi('DADOS DA NF-E'), roman, 6)
        secondBars.draw(canvas, x, y + textTop + 11)
      } else {
        const first = y + textTop + 11 + Math.max(0, 3 - consult.length) * 5
        consult.forEach((line, n) => {
          canvas.aligned(x, codeWidth, first + n * leading(8), line, roman, 8, 'center')
        })
      }
    },
  }
}

function consultText(note: Note): string {
  if (note.contingency === '4') {
    return 'Consulta de autenticidade no portal da NF-e www.nfe.fazenda.gov.br/portal'
  }
  return 'Consulta de autenticidade no portal nacional da NF-e www.nfe.fazenda.gov.br/portal ou no site da Sefaz Autorizadora'
}

function rows(note: Note, codeWidth: number): Block[] {
  const { infNFe, ide } = note
  const emit = child(infNFe, 'emit')
  const lower = [
    fieldRow(
      [
        { label: 'NATUREZA DA OPERAÇÃO', value: value(ide, 'natOp'), width: sheet.width - codeWidth },
        { ...authorisation(note), width: codeWidth },
      ],
      sheet.width,
    ),
    fieldRow(
      [
        { label: 'INSCRIÇÃO ESTADUAL', value: value(emit, 'IE'), width: 1 },
        { label: 'INSCRIÇÃO ESTADUAL DO SUBST. TRIBUT.', value: value(emit, 'IEST'), width: 1 },
        { label: 'CNPJ / CPF', value: taxId(value(emit, 'CNPJ'), value(emit, 'CPF')), width: 1 },
      ],
      sheet.width,
    ),
  ]
  if (note.newTaxes) {
    lower.push(
      fieldRow(
        [
          { label: 'CÓDIGO DO REGIME TRIBUTÁRIO', value: taxRegime(value(emit, 'CRT')), width: 1 },
          { label: 'TIPO DE REGIME DE APURAÇÃO DO IBS E DA CBS', width: 1 },
        ],
        sheet.width,
      ),
    )
  }
  return lower
}

function authorisation(note: Note): { label: string; value?: string | undefined } {
  if (note.contingency === '2' || note.contingency === '5') {
    return { label: 'DADOS DA NF-E', value: formatChave(additionalDataCode(note)) }
  }
  if (note.contingency === '4') return { label: 'PROTOCOLO DE AUTORIZAÇÃO DO EPEC' }
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
  return code === undefined ? undefined : (regimes[code] ?? code)
}
