import { child, value } from '@vigia/dfe/document'
import { date, documentNumber, joined, money, series } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { padding } from '../layout/block.ts'
import { fieldRow } from '../layout/fields.ts'
import { street } from '../layout/issuer.ts'
import { lineSize } from '../layout/line-size.ts'
import { leading, wrap } from '../layout/text.ts'
import { bold, roman } from '../pdf/fonts.ts'
import { type Ansi, winAnsi } from '../pdf/winansi.ts'
import type { PrintedNfe } from './note.ts'

const numberWidth = 88
const sentencePadding = 3.5

/**
 * The receipt of the first sheet with its cut line, as long as the short side of the sheet: at the top in portrait, a strip to be
 * read upwards at the left in landscape (MOC NF-e 7.0, Anexo II, 3.3.1 and 3.8).
 */
export function canhoto(note: PrintedNfe): Block {
  const { sheet } = note
  const length = sheet.landscape ? sheet.bottom - sheet.top : sheet.width
  const width = length - numberWidth
  const { lines, size } = receiptText(note, width - 2 * padding)
  const sentenceHeight = Math.max(23, lines.length * leading(size) + 2 * sentencePadding)
  const above = (sentenceHeight - lines.length * leading(size)) / 2
  const signature = fieldRow(
    [
      { label: 'DATA DE RECEBIMENTO', width: 41 },
      { label: 'IDENTIFICAÇÃO E ASSINATURA DO RECEBEDOR', width: 121 },
    ],
    width,
    { height: 23 },
  )
  const height = sentenceHeight + signature.height
  const number = winAnsi(`Nº ${documentNumber(value(note.ide, 'nNF')) ?? ''}`)
  const serie = winAnsi(`SÉRIE ${series(value(note.ide, 'serie')) ?? ''}`)
  return {
    height: height + 9,
    draw(canvas, x, y) {
      canvas.box(x, y, length, height)
      canvas.line(x, y + sentenceHeight, x + width, y + sentenceHeight)
      canvas.line(x + width, y, x + width, y + height)
      lines.forEach((line, n) => {
        canvas.text(x + padding, y + above + size * 0.86 + n * leading(size), line, roman, size)
      })
      signature.draw(canvas, x, y + sentenceHeight)
      const middle = y + height / 2
      canvas.aligned(x + width, numberWidth, middle - 9, winAnsi('NF-e'), bold, 12, 'center')
      for (const [i, line] of [number, serie].entries()) {
        const fitting = lineSize(line, bold, 10, numberWidth - 2 * padding)
        canvas.aligned(x + width, numberWidth, middle + 4 + i * 12, line, bold, fitting, 'center')
      }
      canvas.line(x, y + height + 4.5, x + length, y + height + 4.5, 'cut')
    },
  }
}

// Two lines with as much of the recipient's address as fits (its own block has all of it); without
// an address, more lines if needed.
function receiptText(note: PrintedNfe, room: number): { lines: Ansi[]; size: number } {
  const { infNFe } = note
  const address = [street(child(infNFe, 'dest/enderDest')), value(infNFe, 'dest/enderDest/xBairro')]
  const sentences = [address, address.slice(0, 1), []].map((parts) => winAnsi(receiptSentence(note, parts)))
  for (const sentence of sentences) {
    for (const size of [8, 7.5, 7, 6.5, 6]) {
      const lines = wrap(sentence, roman, size, room)
      if (lines.length <= 2) return { lines, size }
    }
  }
  return { lines: wrap(sentences.at(-1)!, roman, 6.5, room), size: 6.5 }
}

function receiptSentence({ infNFe, ide }: PrintedNfe, address: readonly (string | undefined)[]): string {
  const recipient = joined(
    ' - ',
    value(infNFe, 'dest/xNome'),
    ...address,
    value(infNFe, 'dest/enderDest/xMun'),
    value(infNFe, 'dest/enderDest/UF'),
  )
  const pieces = [
    `RECEBEMOS DE ${value(infNFe, 'emit/xNome') ?? ''} OS PRODUTOS E/OU SERVIÇOS CONSTANTES DA NOTA FISCAL ELETRÔNICA INDICADA ABAIXO.`,
    `EMISSÃO: ${date(value(ide, 'dhEmi') ?? value(ide, 'dEmi')) ?? ''}`,
    `VALOR TOTAL: R$ ${money(value(infNFe, 'total/ICMSTot/vNF')) ?? ''}`,
    ...(recipient ? [`DESTINATÁRIO: ${recipient}`] : []),
  ]
  return pieces.join(' ')
}
