import { code128Modules, code128Symbols } from '../pdf/code128.ts'
import type { Block } from './block.ts'

// MOC NF-e 7.0, Anexo II, 5: ten modules of white at each side and modules of 0.2 mm at least. 0.78 points are 0.275 mm, what a
// numeric chave may take in a box of 80 mm.
const quietModules = 10
const moduleMax = 0.78

/** A CODE-128 centred in a width, its quiet zones inside it; nothing for a text that a bar code cannot hold. */
export function barcode(text: string, width: number, height: number): Block | undefined {
  if (!/^[0-9A-Z]+$/.test(text)) return undefined
  const modules = code128Modules(code128Symbols(text))
  const total = modules.reduce((sum, module) => sum + module, 0)
  const module = Math.min(moduleMax, width / (total + 2 * quietModules))
  return {
    height,
    draw: (canvas, x, y) => canvas.bars(x + (width - total * module) / 2, y, module, height, modules),
  }
}
