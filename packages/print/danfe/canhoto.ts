import { value } from '@vigia/dfe/document'
import { date, documentNumber, joined, money, series } from '../formats.ts'
import type { Block } from '../layout/block.ts'
import { padding, sheet } from '../layout/block.ts'
import { fieldRow } from '../layout/fields.ts'
import { leading, wrap } from '../layout/text.ts'
import { bold, roman } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'
import type { Note } from './note.ts'
import { street } from './parties.ts'

const numberWidth = 112

/** The receipt at the top of the first sheet, with its cut line (MOC NF-e 7.0, Anexo II, 3.3.1 and 3.8). */
export function canhoto(note: Note): Block {
  const width = sheet.width - numberWidth
  const sentence = winAnsi(receiptSentence(note))
  const room = width - 2 * padding
  const sizes = [8, 7.5, 7, 6.5, 6]
  const size = sizes.find((size) => wrap(sentence, roman, size, room).length <= 2) ?? 6
  const lines = wrap(sentence, roman, size, room)
  const sentenceHeight = Math.max(23, lines.length * leading(size) + 5)
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
      canvas.box(x, y, sheet.width, height)
      canvas.line(x, y + sentenceHeight, x + width, y + sentenceHeight)
      canvas.line(x + width, y, x + width, y + height)
      lines.forEach((line, n) => {
        canvas.text(x + padding, y + 2 + size * 0.86 + n * leading(size), line, roman, size)
      })
      signature.draw(canvas, x, y + sentenceHeight)
      const middle = y + height / 2
      canvas.aligned(x + width, numberWidth, middle - 9, winAnsi('NF-e'), bold, 12, 'center')
      canvas.aligned(x + width, numberWidth, middle + 4, number, bold, 10, 'center')
      canvas.aligned(x + width, numberWidth, middle + 16, serie, bold, 10, 'center')
      canvas.line(x, y + height + 4.5, x + sheet.width, y + height + 4.5, 'cut')
    },
  }
}

function receiptSentence({ infNFe, ide }: Note): string {
  const recipient = joined(
    ' - ',
    value(infNFe, 'dest/xNome'),
    street(infNFe, 'dest/enderDest'),
    value(infNFe, 'dest/enderDest/xBairro'),
    value(infNFe, 'dest/enderDest/xMun'),
    value(infNFe, 'dest/enderDest/UF'),
  )
  const pieces = [
    `RECEBEMOS DE ${value(infNFe, 'emit/xNome') ?? ''} OS PRODUTOS E/OU SERVIÇOS CONSTANTES DA NOTA FISCAL ELETRÔNICA INDICADA ABAIXO.`,
    `EMISSÃO: ${date(value(ide, 'dhEmi') ?? value(ide, 'dEmi')) ?? ''}`,
    `VALOR TOTAL: R$ ${money(value(infNFe, 'total/ICMSTot/vNF')) ?? ''}`,
    `DESTINATÁRIO: ${recipient ?? ''}`,
  ]
  return pieces.join(' ')
}
