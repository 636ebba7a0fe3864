/** A change to a document: what, where (as shares of it), and a text. */
export interface Mutation {
  kind: (typeof mutationKinds)[number] | 'cut'
  at: number
  to: number
  text: string
}

/** Kinds of change to an element: text, removal, repetition, order, name, attributes. */
export const mutationKinds = ['text', 'remove', 'repeat', 'move', 'rename', 'strip', 'attribute'] as const

/** Texts that no layout foresees. */
export const strangeTexts: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '9'.repeat(44),
  '9'.repeat(3_000),
  '0.00',
  'W'.repeat(5_000),
  'palavras e mais palavras '.repeat(400),
  'linha\n'.repeat(600),
  '1/2-3,4;'.repeat(300),
  '\u4e2d\u6587\u{1f69a} \u05d0\u0645 ffi \u0301',
  '&#9;&#13;&amp;&lt;',
  '2026-02-30T99:99:99',
  'NaN',
  'constructor',
  '__proto__',
  'toString',
]

/** The document after these changes, one after the other; it may be well formed or not. */
export function mutated(xml: string, mutations: readonly Mutation[]): string {
  return mutations.reduce(apply, xml)
}

const element = /<([A-Za-z]\w*)( [^<>]*)?>([^<]*)<\/\1>/g
const opening = /<([A-Za-z]\w*)(?: [^<>]*)?>/g
const attribute = /(?<= [A-Za-z]\w*=")[^"<>]*(?=")/g
const elementName = /^[A-Za-z_]\w*$/
// Maximum copies of a group, as many as a real document may plausibly hold.
const copiesMax = 40

function apply(xml: string, { kind, at, to, text }: Mutation): string {
  if (kind === 'cut') return xml.slice(0, Math.floor(xml.length * (0.5 + at / 2)))
  const found = chosen(xml, kind === 'attribute' ? attribute : kind === 'text' ? element : opening, at)
  if (!found) return xml
  const from = found.index
  if (kind === 'attribute')
    return xml.slice(0, from) + text.replaceAll('"', '&quot;') + xml.slice(from + found[0].length)
  const name = found[1]!
  if (kind === 'strip') return `${xml.slice(0, from)}<${name}>${xml.slice(from + found[0].length)}`
  const end = xml.indexOf(`</${name}>`, from)
  if (end === -1) return xml
  const whole = xml.slice(from, end + name.length + 3)
  const [before, after] = [xml.slice(0, from), xml.slice(from + whole.length)]
  switch (kind) {
    case 'text':
      return `${before}<${name}${found[2] ?? ''}>${text}</${name}>${after}`
    case 'rename': {
      const other = elementName.test(text) ? text : `x${name}`
      return `${before}<${other}>${whole.slice(found[0].length, -name.length - 3)}</${other}>${after}`
    }
    case 'repeat':
      return before + whole.repeat(2 + Math.floor(to * copiesMax)) + after
    case 'move': {
      const place = chosen(before + after, opening, to)?.index ?? 0
      return (before + after).slice(0, place) + whole + (before + after).slice(place)
    }
    default:
      return before + after
  }
}

function chosen(xml: string, pattern: RegExp, share: number): RegExpExecArray | undefined {
  const all = [...xml.matchAll(pattern)]
  return all[Math.min(all.length - 1, Math.floor(share * all.length))]
}
