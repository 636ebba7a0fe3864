import { chaveCheckDigit } from '@vigia/dfe/chave'
import { ufBySigla } from '@vigia/dfe/uf'
import { code128Modules, code128Symbols } from '../pdf/code128.ts'
import type { Block } from './block.ts'

// MOC NF-e 7.0, Anexo II, 5: ten modules of white at each side and modules of 0.2 mm at least; MOC CT-e 4.00, Anexo II: of 0.3 mm at
// most, which are 0.85 points. Printers of labels have 203 dots to an inch and no grey: of numeric chaves with modules of 0.28 mm one in
// forty could not be read from them, with 0.3 mm all can.
const quietModules = 10
const moduleMax = 0.85

/**
 * A centred CODE-128 with quiet zones; undefined if it cannot encode the text. `of` names the text.
 */
export function barcode(text: string, of: string, width: number, height: number): Block | undefined {
  if (!/^[0-9A-Z]+$/.test(text)) return undefined
  const modules = code128Modules(code128Symbols(text))
  const total = modules.reduce((sum, module) => sum + module, 0)
  const module = Math.min(moduleMax, width / (total + 2 * quietModules))
  return {
    height,
    draw(canvas, x, y) {
      const left = x + (width - total * module) / 2
      canvas.figure(`Código de barras ${of} ${text}`, { x: left, y, width: total * module, height }, () => {
        canvas.bars(left, y, module, height, modules)
      })
    },
  }
}

/** Input of the second bar code of a contingency form, as the file has it. */
interface DataCode {
  uf: string | undefined
  tpEmis: string | undefined
  id: string | undefined
  amount: string | undefined
  ownIcms: string | undefined
  substitution: string | undefined
  issued: string | undefined
}

/** The 36 digits of the second bar code (MOC NF-e 7.0, Anexo II, dados adicionais do código de barras). */
export function dataCode(data: DataCode): string {
  const uf = ufBySigla(data.uf ?? '')?.code ?? 99
  const cents = (data.amount ?? '').replace(/^(\d+)(?:\.(\d*))?$/, (_, whole, fraction = '') => {
    return whole + fraction.slice(0, 2).padEnd(2, '0')
  })
  const isPositive = (text: string | undefined) => (text !== undefined && /[1-9]/.test(text) ? 1 : 2)
  const head = `${uf}${data.tpEmis ?? ''}${(data.id ?? '').padStart(14, '0')}${cents.padStart(14, '0')}`
  const day = (data.issued ?? '').slice(8, 10).padStart(2, '0')
  const body = `${head}${isPositive(data.ownIcms)}${isPositive(data.substitution)}${day}`
  // The weights run from the right, so zeros at the left change nothing.
  return `${body}${chaveCheckDigit(body.padStart(43, '0'))}`
}
