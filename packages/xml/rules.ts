/** Input that is not a well-formed document, or more than we accept; `offset` is the place in the decoded text. */
export class XmlError extends Error {
  override name = 'XmlError'
  readonly offset: number
  constructor(what: string, offset: number, options?: ErrorOptions) {
    super(`Not well-formed XML at offset ${offset}: ${what}`, options)
    this.offset = offset
  }
}

/** A fault that `parseReceived` tolerates: bytes that are not UTF-8, or an undeclared entity. */
export type XmlFault = 'encoding' | 'entity'

/** Whether every character is one of the Char production (XML 1.0 §2.2). */
export function isXmlText(text: string): boolean {
  // Nearly no file has one of these; only a surrogate needs the slower look at whole code points.
  return !suspect.test(text) || !notChar.test(text)
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for.
const suspect = /[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/
const notChar = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u

const nameStart =
  ':A-Z_a-z\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}'
const ncName = `[${nameStart.slice(1)}][${nameStart.slice(1)}.0-9\\xb7\\u0300-\\u036f\\u203f\\u2040-]*`
const qualifiedName = new RegExp(`${ncName}(?::${ncName})?`, 'uy')

// 1 may begin a name, 2 may follow.
const nameKind = new Uint8Array(128)
for (const c of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_') nameKind[c.charCodeAt(0)] = 1
for (const c of '0123456789.-') nameKind[c.charCodeAt(0)] = 2

/** The offset after the qualified name that begins at `from`, or `from` when there is none (Namespaces in XML 1.0 §3). */
export function skipQualifiedName(source: string, from: number): number {
  if (nameKind[source.charCodeAt(from)] !== 1) return skipAnyName(source, from)
  let at = from + 1
  let code = source.charCodeAt(at)
  while (nameKind[code]! > 0) code = source.charCodeAt(++at)
  // A colon or a character outside ASCII: rare, left to the whole grammar.
  return code === 0x3a || code >= 0x80 ? skipAnyName(source, from) : at
}

function skipAnyName(source: string, from: number): number {
  qualifiedName.lastIndex = from
  const name = qualifiedName.exec(source)?.[0] ?? ''
  const end = from + name.length
  return source.charCodeAt(end) === 0x3a ? from : end
}

const predefined = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

/** The text with its references replaced: the five predefined entities and numeric ones, nothing else (XML 1.0 §4.1, §4.6). With `faults` a reference to another entity is noted there and stays. */
export function decodeReferences(text: string, offset: number, faults?: Set<XmlFault>): string {
  return text.replace(/&([^;&]*)(;?)/g, (whole, name: string, semicolon: string, at: number) => {
    const character = semicolon === '' ? undefined : name.startsWith('#') ? numeric(name) : predefined.get(name)
    if (character === undefined && faults !== undefined && semicolon !== '' && entityName.test(name)) {
      faults.add('entity')
      return whole
    }
    if (character === undefined) throw new XmlError(`an unknown reference ${whole.slice(0, 20)}`, offset + at)
    return character
  })
}

const entityName = /^[A-Za-z_][\w.-]{0,99}$/

function numeric(name: string): string | undefined {
  if (!/^#(?:[0-9]{1,9}|x[0-9A-Fa-f]{1,8})$/.test(name)) return undefined
  const code = name.charAt(1) === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
  if (code > 0x10ffff) return undefined
  const character = String.fromCodePoint(code)
  return isXmlText(character) ? character : undefined
}
