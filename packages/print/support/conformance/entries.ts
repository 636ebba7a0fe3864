import { type Dictionary, Name, type PdfFile, Reference, type Value } from '../pdf-file.ts'

export function got(file: PdfFile, value: Value | undefined): Value | undefined {
  return value instanceof Reference ? file.values.get(value.number) : value
}

export function dictionary(file: PdfFile, value: Value | undefined): Dictionary {
  const found = got(file, value)
  return found instanceof Map ? found : new Map()
}

export function list(file: PdfFile, value: Value | undefined): Value[] {
  const found = got(file, value)
  return Array.isArray(found) ? found : value === undefined ? [] : [value]
}

export function name(value: Value | undefined): string | undefined {
  return value instanceof Name ? value.name : undefined
}

export function catalogOf(file: PdfFile): Dictionary {
  return dictionary(file, file.trailer.get('Root'))
}

export function contentOf(file: PdfFile, page: Dictionary): string {
  const parts = list(file, page.get('Contents')).map((part) => {
    return part instanceof Reference ? (file.streams.get(part.number)?.data.toString('latin1') ?? '') : ''
  })
  return parts.join('\n')
}

export function textOf(value: Value | undefined): string {
  if (typeof value !== 'string') return ''
  return value.startsWith('\xfe\xff') ? Buffer.from(value.slice(2), 'latin1').swap16().toString('utf16le') : value
}

export interface Page {
  number: number
  entries: Dictionary
  box: Value[]
}

export function pagesOf(file: PdfFile, value = catalogOf(file).get('Pages'), inherited: Value[] = []): Page[] {
  const entries = dictionary(file, value)
  const box = entries.has('MediaBox') ? list(file, entries.get('MediaBox')) : inherited
  if (name(entries.get('Type')) === 'Page') return [{ number: (value as Reference).number, entries, box }]
  return list(file, entries.get('Kids')).flatMap((kid) => pagesOf(file, kid, box))
}
