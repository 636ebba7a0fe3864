import type { Canvas } from '../pdf/canvas.ts'
import { bold } from '../pdf/fonts.ts'
import { winAnsi } from '../pdf/winansi.ts'

/** A part of a form: measured when it is made, drawn once its place is known. */
export interface Block {
  height: number
  draw(canvas: Canvas, x: number, y: number): void
}

/** Distance between a text and the rule beside it. */
export const padding = 2.5

/** Blocks one below the other. */
export function stack(...blocks: readonly (Block | undefined)[]): Block {
  const present = blocks.filter((block) => block !== undefined)
  return {
    height: present.reduce((sum, block) => sum + block.height, 0),
    draw(canvas, x, y) {
      let at = y
      for (const block of present) {
        block.draw(canvas, x, at)
        at += block.height
      }
    },
  }
}

/** The title of a block: outside its box, nearer to it than to the block above. */
export function title(text: string): Block {
  const encoded = winAnsi(text)
  return {
    height: 10.5,
    draw: (canvas, x, y) => canvas.heading(x + 0.5, y + 8.4, encoded, bold, 6.5),
  }
}
