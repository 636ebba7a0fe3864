import type { XmlElement } from '@vigia/dfe/document'
import { holds, type Reading, squeeze } from './sheet.ts'

/** How a value of a file is written on a form. Written anew here: the printing code must not judge itself. */
export type Format = (text: string) => string

const grouped = (whole: string) =>
  [...whole].map((digit, i) => (i > 0 && (whole.length - i) % 3 === 0 ? `.${digit}` : digit)).join('')

function decimals(least: number, trim: boolean): Format {
  return (text) => {
    const [whole = '', fraction = ''] = text.split('.')
    let kept = fraction
    while (trim && kept.endsWith('0')) kept = kept.slice(0, -1)
    return `${grouped(String(BigInt(whole)))},${kept.padEnd(least, '0')}`
  }
}

const masked =
  (mask: string): Format =>
  (text) => {
    let at = 0
    return mask.replace(/#/g, () => text[at++] ?? '')
  }

export const asIs: Format = (text) => text
export const money = decimals(2, false)
export const quantity = decimals(2, true)
export const weight = decimals(3, true)
export const date: Format = (text) => `${text.slice(8, 10)}/${text.slice(5, 7)}/${text.slice(0, 4)}`
export const time: Format = (text) => (text.includes('T') ? text.slice(11, 19) : text)
export const moment: Format = (text) => `${date(text)} ${time(text)}`
export const cnpj = masked('##.###.###/####-##')
export const cpf = masked('###.###.###-##')
export const taxId: Format = (text) => (text.length === 14 ? cnpj(text) : text.length === 11 ? cpf(text) : text)
export const cep: Format = (text) => masked('#####-###')(`00000000${text}`.slice(-8))
export const groups: Format = (text) => text.match(/.{1,4}/g)?.join(' ') ?? ''
export const number: Format = (text) => masked('###.###.###')(`000000000${text}`.slice(-9))
export const series: Format = (text) => `00${text}`.slice(-Math.max(3, text.length))
export const phone: Format = (text) => {
  if (/^0[38]00/.test(text) && text.length === 11) return masked('#### ### ####')(text)
  if (text.length === 10) return masked('(##) ####-####')(text)
  if (text.length === 11) return masked('(##) #####-####')(text)
  if (text.length === 12 && text.startsWith('55')) return masked('+## (##) ####-####')(text)
  if (text.length === 13 && text.startsWith('55')) return masked('+## (##) #####-####')(text)
  return text
}

/** One field of a form: the element (every one at its path), how it is written, and the label of its box if it has one. */
export interface ExpectedField {
  path: string
  as?: Format
  label?: string
  /** The label with which a box of several values begins; without such a box they may stand anywhere. */
  inside?: string
  /** How it is written where its box has no room for it. */
  elsewhere?: string
}

/** A field made of several elements, once its text is known. */
export function composed(path: string, shown: string | undefined, inside?: string): ExpectedField[] {
  return shown ? [{ path, as: () => shown, ...(inside === undefined ? {} : { inside }) }] : []
}

/** `xLgr, nro - xCpl` of an address. */
export function street(address: XmlElement | undefined): string {
  const of = (name: string) => texts(address, name)
  const first = [...of('xLgr'), ...of('nro')].join(', ')
  return [first, ...of('xCpl')].filter((part) => part !== '').join(' - ')
}

/** The texts of every element at a path, whatever repeats on the way; `*` is any name and `a|b` one of two. */
export function texts(node: XmlElement | undefined, path: string): string[] {
  return elements(node, path)
    .map((element) => element.text.trim())
    .filter((text) => text !== '')
}

/** Every element at a path. */
export function elements(node: XmlElement | undefined, path: string): XmlElement[] {
  let found = node ? [node] : []
  for (const step of path.split('/')) {
    const names = step.split('|')
    found = found.flatMap((element) => element.children.filter(({ name }) => step === '*' || names.includes(name)))
  }
  return found
}

/** A sentence for each field of the file that the form does not show as it must. */
export function missingFields(node: XmlElement, fields: readonly ExpectedField[], reading: Reading): string[] {
  return fields.flatMap(({ path, as = asIs, label, inside, elsewhere }) =>
    texts(node, path).flatMap((text) => {
      const shown = as(text)
      if (inside !== undefined) {
        const box = [...reading.boxes].find((one) => one.startsWith(inside))
        return (box?.includes(squeeze(shown)) ?? holds(reading, shown))
          ? []
          : [`${path}: ${shown} is not in the box of ${inside}`]
      }
      if (label !== undefined) {
        return reading.boxes.has(squeeze(label + shown)) ? [] : [`${path}: no box says ${label} ${shown}`]
      }
      if (elsewhere !== undefined && holds(reading, elsewhere)) return []
      return holds(reading, shown) ? [] : [`${path}: ${shown} is not on the form`]
    }),
  )
}

/** A sentence for each box of a value that the file does not have and the form shows something in. */
export function inventedFields(node: XmlElement, fields: readonly ExpectedField[], reading: Reading): string[] {
  return fields.flatMap(({ path, label }) => {
    if (label === undefined || texts(node, path).length > 0) return []
    const same = fields.filter((field) => field.label === label)
    if (same.some((field) => texts(node, field.path).length > 0)) return []
    const known = squeeze(label)
    const longer = fields.map((field) => squeeze(field.label ?? '')).filter((one) => one.length > known.length)
    const filled = [...reading.boxes].filter(
      (box) =>
        box.startsWith(known) && box !== known && !longer.some((one) => one.startsWith(known) && box.startsWith(one)),
    )
    return filled.map((box) => `${path} is not in the file, and a box says ${box}`)
  })
}

/** A sentence for each box, made of several elements, that the form does not have. */
export function missingBoxes(boxes: readonly (readonly [label: string, shown: string])[], reading: Reading): string[] {
  return boxes
    .filter(([label, shown]) => !reading.boxes.has(squeeze(label + shown)))
    .map(([label, shown]) => `no box says ${label} ${shown}`)
}

/** Each item of a table whose values do not stand in one row; rows follow one another as the items do. */
export function missingRows(rows: readonly (readonly string[])[], reading: Reading): string[] {
  const missing: string[] = []
  let from = 0
  rows.forEach((values, i) => {
    const wanted = values.filter((text) => text !== '').map(squeeze)
    const at = reading.bands.findIndex((band, n) => n >= from && wanted.every((text) => band.includes(text)))
    if (at !== -1) {
      from = at
      return
    }
    const best = reading.bands
      .slice(from)
      .map((band) => wanted.filter((text) => !band.includes(text)))
      .reduce((one, other) => (other.length < one.length ? other : one))
    missing.push(`row ${i + 1}: no row says ${best.join(', ')} beside the rest`)
  })
  return missing
}
