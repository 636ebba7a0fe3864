import { child, value, type XmlElement } from '@vigia/dfe/document'
import { cep, joined, phone } from '../formats.ts'
import { bold } from '../pdf/fonts.ts'
import { type Ansi, winAnsi } from '../pdf/winansi.ts'
import { type Block, padding } from './block.ts'
import { leading, wrapName } from './text.ts'

/** `xLgr, nro - xCpl` of an address group. */
export function street(address: XmlElement | undefined): string | undefined {
  return joined(' - ', joined(', ', value(address, 'xLgr'), value(address, 'nro')), value(address, 'xCpl'))
}

/** Name and address of the emitente, centred, with `further` lines below; `gap`: space between. */
export function issuerBox(
  emit: XmlElement | undefined,
  width: number,
  { nameSize, gap, further = [] }: { nameSize: number; gap: number; further?: readonly (string | undefined)[] },
): Block {
  const address = child(emit, 'enderEmit')
  const postal = cep(value(address, 'CEP'))
  const telephone = phone(value(address, 'fone'))
  const room = width - 4 * padding
  const linesOf = (text: string | undefined, size: number): { text: Ansi; size: number }[] =>
    text ? wrapName(winAnsi(text), bold, size, room).map((line) => ({ text: line, size })) : []
  const name = linesOf(value(emit, 'xNome'), nameSize)
  const below = [
    street(address),
    joined(' - ', value(address, 'xBairro'), postal && `CEP ${postal}`),
    joined(' - ', value(address, 'xMun'), value(address, 'UF')),
    telephone && `FONE ${telephone}`,
    ...further,
  ]
  const lines = [...name, ...below.flatMap((text) => linesOf(text, 8))]
  return {
    height: lines.reduce((sum, line) => sum + leading(line.size) + gap, 0) + 12,
    draw(canvas, x, y) {
      let at = y + 4
      canvas.tagged('P', () => {
        lines.forEach(({ text, size }, i) => {
          if (i === name.length) at += 4
          at += leading(size) + gap
          canvas.aligned(x + 2 * padding, room, at - size * 0.28, text, bold, size, 'center')
        })
      })
    },
  }
}
