import { parsedFont, winAnsiNames } from '../font-program.ts'
import { type Dictionary, Name, type PdfFile, Reference } from '../pdf-file.ts'
import { access, archive } from './clauses.ts'
import { dictionary, got, list, name } from './entries.ts'

/** A font against its program, for the bytes that are shown in it. */
export function fontFaults(file: PdfFile, font: Dictionary, bytes: ReadonlySet<number>): string[] {
  const base = name(font.get('BaseFont')) ?? '?'
  const descriptor = dictionary(file, font.get('FontDescriptor'))
  const program = descriptor.get('FontFile3')
  const stream = program instanceof Reference ? file.streams.get(program.number) : undefined
  if (!stream) return [archive('6.2.11.4.1', `${base} is not embedded`), access('7.21.4.1', `${base} is not embedded`)]
  const faults: string[] = []
  if (!/^[A-Z]{6}\+/.test(base) || name(descriptor.get('FontName')) !== base)
    faults.push(archive('6.2.11.4.2', `${base} is not named as a subset`))
  if (descriptor.has('CharSet')) faults.push(archive('6.2.11.4.2', `${base} has a CharSet, which nobody here checks`))
  const encoding = got(file, font.get('Encoding'))
  const unicode = font.get('ToUnicode')
  const isWinAnsi = name(encoding) === 'WinAnsiEncoding'
  const map = unicode instanceof Reference ? (file.streams.get(unicode.number)?.data.toString('latin1') ?? '') : ''
  const differences = new Map<number, string>()
  let code = 0
  for (const one of encoding instanceof Map ? list(file, encoding.get('Differences')) : []) {
    if (one instanceof Name) differences.set(code++, one.name)
    else code = one as number
  }
  const glyphs = parsedFont(stream.data)
  const widths = list(file, font.get('Widths')) as number[]
  const first = font.get('FirstChar') as number
  for (const byte of bytes) {
    const glyph = isWinAnsi ? winAnsiNames[byte] : differences.get(byte)
    const drawn = glyph === undefined ? undefined : glyphs.get(glyph)
    if (!drawn)
      faults.push(
        archive('6.2.11.8', `${base} has no glyph for ${byte}`),
        access('7.21.8', `${base} has no glyph for ${byte}`),
      )
    else if (!(Math.abs(drawn.width - (widths[byte - first] ?? 0)) <= 1))
      faults.push(
        archive('6.2.11.5', `${base} says another width for ${glyph}`),
        access('7.21.5', `${base} says another width for ${glyph}`),
      )
    if (isWinAnsi) continue
    const meant = new RegExp(`<${byte.toString(16).padStart(2, '0')}><([0-9a-f]{4,})>`).exec(map)?.[1]
    if (!meant || /^(0000|feff|fffe)$/.test(meant))
      faults.push(
        archive('6.2.11.7.2', `${base} does not say what ${byte} means`),
        access('7.21.7', `${base} does not say what ${byte} means`),
      )
    else if (/^(e[0-9a-f]|f[0-8])/.test(meant)) faults.push(archive('6.2.11.7.3', `${base} has a private character`))
  }
  return faults
}
