import { type Dictionary, type Name, Reader, Reference, readPdf, type Value } from './pdf-file.ts'

/** A part of a document as a screen reader has it: its role and its words. */
export interface SpokenPart {
  role: string
  text: string
}

/** The parts of a file that have words of their own, in the order of its structure: the characters that are drawn, whatever stands where. */
export function readParts(pdf: Uint8Array): SpokenPart[] {
  const file = readPdf(pdf)
  const got = (value: Value | undefined) => (value instanceof Reference ? file.values.get(value.number) : value)
  const entriesOf = (value: Value | undefined): Dictionary => {
    const found = got(value)
    return found instanceof Map ? found : new Map()
  }
  const listOf = (value: Value | undefined): Value[] => {
    const found = got(value)
    return Array.isArray(found) ? found : value === undefined ? [] : [value]
  }
  const dataOf = (value: Value | undefined) =>
    value instanceof Reference ? (file.streams.get(value.number)?.data.toString('latin1') ?? '') : ''
  const words = new Map<number, Map<number, string>>()
  const wordsOf = (page: number): Map<number, string> => {
    const known = words.get(page)
    if (known) return known
    const own = new Map<number, string>()
    words.set(page, own)
    const entries = file.values.get(page) as Dictionary
    const fonts = entriesOf(entriesOf(entries.get('Resources')).get('Font'))
    const open: (number | undefined)[] = []
    let characters = (bytes: string) => bytes
    for (const { operator, operands } of new Reader(
      listOf(entries.get('Contents')).map(dataOf).join('\n'),
    ).operations()) {
      if (operator === 'Tf')
        characters = decoder(dataOf(entriesOf(fonts.get((operands[0] as Name).name)).get('ToUnicode')))
      if (operator === 'BMC' || operator === 'BDC') {
        const id = operands[1] instanceof Map ? operands[1].get('MCID') : undefined
        open.push(typeof id === 'number' ? id : undefined)
      }
      if (operator === 'EMC') open.pop()
      const id = open.at(-1)
      if (operator === 'Tj' && id !== undefined) own.set(id, (own.get(id) ?? '') + characters(operands[0] as string))
    }
    return own
  }
  const parts: SpokenPart[] = []
  const visit = (element: Value): void => {
    const entries = entriesOf(element)
    const role = (entries.get('S') as Name | undefined)?.name ?? ''
    const page = entries.get('Pg')
    const own = listOf(entries.get('K')).flatMap((kid) => {
      const marked = kid instanceof Map ? kid : undefined
      const [on, id] = marked ? [marked.get('Pg'), marked.get('MCID')] : [page, kid]
      return typeof id === 'number' && on instanceof Reference ? [wordsOf(on.number).get(id) ?? ''] : []
    })
    const alt = entries.get('Alt')
    if (typeof alt === 'string') parts.push({ role, text: alt })
    else if (own.length > 0 || role === 'TD') parts.push({ role, text: own.join('') })
    for (const kid of listOf(entries.get('K'))) if (kid instanceof Reference) visit(kid)
  }
  const catalog = entriesOf(file.trailer.get('Root'))
  for (const top of listOf(entriesOf(catalog.get('StructTreeRoot')).get('K'))) visit(top)
  return parts
}

// A font without a map of its own has the characters of WinAnsi.
function decoder(map: string): (bytes: string) => string {
  if (map === '') return (bytes) => new TextDecoder('windows-1252').decode(Buffer.from(bytes, 'latin1'))
  const characters = new Map(
    [...map.matchAll(/<([0-9a-f]{2})><([0-9a-f]{4})>/g)].map(([, byte, code]) => [
      Number.parseInt(byte!, 16),
      String.fromCharCode(Number.parseInt(code!, 16)),
    ]),
  )
  return (bytes) => [...bytes].map((byte) => characters.get(byte.charCodeAt(0)) ?? '').join('')
}
