import { decodeReferences, isXmlText, skipQualifiedName, XmlError, type XmlFault } from './rules.ts'

export { XmlError, type XmlFault }

/** An element of a parsed document (Extensible Markup Language 1.0, with Namespaces in XML 1.0 names). */
export interface XmlElement {
  /** Local name. */
  name: string
  /** Prefix of the qualified name; '' without one. */
  prefix: string
  /** By qualified name, namespace declarations included; the object has no prototype. */
  attributes: Record<string, string>
  children: XmlElement[]
  /** Own character data, decoded and concatenated. */
  text: string
  /** Offset of the first character of the element in the decoded source. */
  start: number
  /** Offset after the last character of the element in the decoded source. */
  end: number
  /** All content in document order; only when `text` and `children` do not show it. */
  content?: XmlContent[]
}

/** A processing instruction: canonical XML keeps it, everything else ignores it (Canonical XML 1.0 §2.3). */
export interface XmlInstruction {
  target: string
  data: string
}

/** A child of an element, in document order (XML 1.0 §3.1). */
export type XmlContent = string | XmlElement | XmlInstruction

// The deepest layout has about 15 levels and the longest files some 5 MB: the limits only stop hostile input.
const depthMax = 100

/** The largest document that is read, in bytes; XML 1.0 sets no limit, this one is ours. */
export const sizeBytesMax = 20_000_000

/** The text of an XML file: the byte order mark is taken off, the encoding is the declared one, UTF-8 by default (XML 1.0 §4.3.3). */
export function decodeXml(bytes: Uint8Array): string {
  const text = decodeAsDeclared(bytes)
  if (text === null) throw new XmlError('not valid UTF-8', 0)
  return text
}

// Null when the bytes ought to be UTF-8 and are not.
function decodeAsDeclared(bytes: Uint8Array): string | null {
  if (bytes.length > sizeBytesMax) throw new XmlError('larger than 20 MB', 0)
  let text = lenient.decode(bytes)
  if (text.includes('\ufffd')) {
    // A byte that is not UTF-8, or this very character.
    try {
      text = strict.decode(bytes)
    } catch {
      const start = String.fromCharCode(...bytes.subarray(0, 200))
      return declaredEncoding(start) === 'windows-1252' ? windows1252(bytes) : null
    }
  }
  if (text.charCodeAt(0) === 0xfeff) return text.slice(1)
  return text.startsWith('<?') && declaredEncoding(text) === 'windows-1252' ? windows1252(bytes) : text
}

/** The root element of a well-formed document; anything else throws `XmlError`, a DOCTYPE included (XML 1.0 §2.1). */
export function parseXml(source: string | Uint8Array): XmlElement {
  if (typeof source !== 'string') return new Scanner(decodeXml(source)).document()
  if (source.length > sizeBytesMax) throw new XmlError('larger than 20 MB', 0)
  return new Scanner(source).document()
}

/** A parsed document, the source text that its offsets refer to, and the faults found in it. */
export interface ReceivedXml {
  root: XmlElement
  source: string
  faults: ReadonlySet<XmlFault>
}

/**
 * Parses files of the tax authority leniently, because they are registered whatever their bytes
 * are: bytes that are not UTF-8 are read as windows-1252, and references to undeclared entities
 * stay as text. Never used for data that we sign. Throws `XmlError`.
 */
export function parseReceived(received: string | Uint8Array): ReceivedXml {
  if (received.length > sizeBytesMax) throw new XmlError('larger than 20 MB', 0)
  const faults = new Set<XmlFault>()
  let source = typeof received === 'string' ? received : decodeAsDeclared(received)
  if (source === null) {
    faults.add('encoding')
    source = decodeMixed(received as Uint8Array)
  }
  return { root: new Scanner(source, faults).document(), source, faults }
}

// The lenient one is more than twice as fast.
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function declaredEncoding(text: string): 'utf-8' | 'windows-1252' {
  const name = /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([^"']*)["']/.exec(text)?.[1]?.toLowerCase()
  if (name === undefined || name === 'utf-8' || name === 'utf8' || name === 'us-ascii') return 'utf-8'
  if (name === 'iso-8859-1' || name === 'latin1' || name === 'windows-1252' || name === 'cp1252') return 'windows-1252'
  throw new XmlError(`encoding ${name} is not supported`, 0)
}

// Characters 0x80 to 0x9F of windows-1252. Files declared as ISO-8859-1 are written on Windows,
// where these bytes are quotes and dashes; browsers read them so, too.
const high = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

function windows1252(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += 8192) {
    text += String.fromCharCode(...bytes.subarray(i, i + 8192))
  }
  return text.replace(/[\u0080-\u009f]/g, (c) => high.charAt(c.charCodeAt(0) - 0x80))
}

// Valid UTF-8 stays, because some files have both; every other byte is a character of windows-1252.
function decodeMixed(bytes: Uint8Array): string {
  const utf8 = new Uint8Array(bytes.length * 3)
  let length = 0
  for (let at = 0; at < bytes.length; ) {
    const size = sequenceLength(bytes, at)
    if (size > 0) for (const end = at + size; at < end; at++) utf8[length++] = bytes[at]!
    else for (const byte of windows1252Utf8[bytes[at++]! - 0x80]!) utf8[length++] = byte
  }
  return lenient.decode(utf8.subarray(0, length)).replace(/^\ufeff/, '')
}

const windows1252Utf8 = Array.from({ length: 128 }, (_, index) =>
  new TextEncoder().encode(high[index] ?? String.fromCharCode(0x80 + index)),
)

// The bytes of the character that begins there in UTF-8, 0 when none does (RFC 3629 §4).
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at]!
  if (lead < 0x80) return 1
  const size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
  for (let i = 1; i < size; i++) if ((bytes[at + i]! & 0xc0) !== 0x80) return 0
  const second = bytes[at + 1]!
  const isForbidden =
    (lead === 0xe0 && second < 0xa0) ||
    (lead === 0xed && second > 0x9f) ||
    (lead === 0xf0 && second < 0x90) ||
    (lead === 0xf4 && second > 0x8f)
  return isForbidden ? 0 : size
}

const noAttributes: Record<string, string> = Object.freeze(Object.create(null))
const noChildren: XmlElement[] = []
Object.freeze(noChildren)

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09

// Scans long runs with indexOf and short ones by character code; caches the positions of the next
// '&' and the next ']]>', because text without them then needs no second scan.
class Scanner {
  readonly source: string
  position = 0
  nextReference: number
  nextSectionEnd: number
  readonly hasReturn: boolean
  readonly faults: Set<XmlFault> | undefined

  /** With `faults` an unknown entity is noted there and stays as it is. */
  constructor(source: string, faults?: Set<XmlFault>) {
    this.source = source
    this.faults = faults
    this.nextReference = source.indexOf('&')
    this.nextSectionEnd = source.indexOf(']]>')
    this.hasReturn = source.includes('\r')
  }

  document(): XmlElement {
    const { source } = this
    if (!isXmlText(source)) this.fail('a character that XML does not allow')
    if (source.charCodeAt(0) === 0xfeff) this.position = 1
    this.declaration()
    let root: XmlElement | undefined
    for (;;) {
      this.skipSpace()
      if (this.position >= source.length) break
      if (source.charCodeAt(this.position) !== 0x3c) this.fail('text outside the root element')
      const next = source.charCodeAt(this.position + 1)
      if (next === 0x3f) this.instruction()
      else if (next === 0x21) this.comment()
      else if (next === 0x2f) this.fail('an end tag without start tag')
      else if (root === undefined) root = this.tree()
      else this.fail('a second root element')
    }
    if (root === undefined) return this.fail('no root element')
    return root
  }

  tree(): XmlElement {
    const { source } = this
    const open: XmlElement[] = []
    let parent: XmlElement | undefined
    for (;;) {
      const code = source.charCodeAt(this.position + 1)
      if (code === 0x2f) {
        this.closeTag(parent!)
        const closed = open.pop()!
        parent = open[open.length - 1]
        if (parent === undefined) return closed
      } else if (code === 0x21) {
        if (source.startsWith('<![CDATA[', this.position)) this.section(parent!)
        else this.comment()
      } else if (code === 0x3f) {
        appendInstruction(parent!, this.instruction())
      } else {
        if (open.length >= depthMax) this.fail('more than 100 levels')
        const element = this.element()
        if (parent !== undefined) appendChild(parent, element)
        if (element.end === 0) {
          open.push(element)
          parent = element
        } else if (parent === undefined) return element
      }
      const at = this.position
      const next = source.charCodeAt(at) === 0x3c ? at : source.indexOf('<', at)
      if (next === -1) this.fail('the end of the file inside an element')
      if (next > at) appendText(parent!, this.text(at, next))
      this.position = next
    }
  }

  // Parses a start tag, and the whole element if it has only text; otherwise `end` stays 0.
  element(): XmlElement {
    const { source } = this
    const start = this.position
    const nameEnd = skipQualifiedName(source, start + 1)
    if (nameEnd === start + 1) this.fail('an invalid element name')
    const name = source.slice(start + 1, nameEnd)
    const colon = name.indexOf(':')
    const element: XmlElement = {
      name: colon === -1 ? name : name.slice(colon + 1),
      prefix: colon === -1 ? '' : name.slice(0, colon),
      attributes: noAttributes,
      children: noChildren,
      text: '',
      start,
      end: 0,
      content: undefined,
    }
    let at = nameEnd
    if (source.charCodeAt(at) !== 0x3e) {
      at = this.attributes(element, at)
      if (source.charCodeAt(at) === 0x2f) {
        if (source.charCodeAt(at + 1) !== 0x3e) this.fail('a stray /', at)
        this.position = element.end = at + 2
        return element
      }
    }
    this.position = ++at
    const next = source.indexOf('<', at)
    if (next === -1) this.fail('the end of the file inside an element')
    if (source.charCodeAt(next + 1) === 0x2f) {
      if (next > at) element.text = this.text(at, next)
      this.position = next
      this.closeTag(element)
    }
    return element
  }

  // Returns the offset of the '>' or '/' that ends the list.
  attributes(element: Pick<XmlElement, 'attributes'>, from: number): number {
    const { source } = this
    let at = from
    for (;;) {
      const gap = at
      while (isSpace(source.charCodeAt(at))) at++
      const code = source.charCodeAt(at)
      if (code === 0x3e || code === 0x2f) return at
      if (at === gap) this.fail('an invalid tag', at)
      const nameEnd = skipQualifiedName(source, at)
      if (nameEnd === at) this.fail('an invalid attribute name', at)
      const name = source.slice(at, nameEnd)
      at = nameEnd
      while (isSpace(source.charCodeAt(at))) at++
      if (source.charCodeAt(at) !== 0x3d) this.fail('an attribute without value', at)
      at++
      while (isSpace(source.charCodeAt(at))) at++
      const quote = source.charCodeAt(at)
      if (quote !== 0x22 && quote !== 0x27) this.fail('an attribute value without quotes', at)
      if (element.attributes === noAttributes) element.attributes = Object.create(null)
      else if (name in element.attributes) this.fail('an attribute given twice', at)
      const end = this.valueEnd(at + 1, quote)
      element.attributes[name] = this.attributeValue(at + 1, end)
      at = end + 1
    }
  }

  valueEnd(from: number, quote: number): number {
    const { source } = this
    for (let at = from; at < source.length; at++) {
      const code = source.charCodeAt(at)
      if (code === quote) return at
      if (code === 0x3c) this.fail('a < in an attribute value', at)
    }
    return this.fail('an attribute value without end', from)
  }

  attributeValue(from: number, to: number): string {
    const raw = this.source.slice(from, to)
    const value = /[\t\n\r]/.test(raw) ? raw.replace(/\r\n|[\t\n\r]/g, ' ') : raw
    return this.nextReference !== -1 && value.includes('&') ? decodeReferences(value, from, this.faults) : value
  }

  text(from: number, to: number): string {
    const { source } = this
    if (this.nextSectionEnd !== -1) {
      if (this.nextSectionEnd < from) this.nextSectionEnd = source.indexOf(']]>', from)
      if (this.nextSectionEnd !== -1 && this.nextSectionEnd < to) this.fail(']]> in text', from)
    }
    const raw = this.hasReturn ? newlines(source.slice(from, to)) : source.slice(from, to)
    if (this.nextReference === -1) return raw
    if (this.nextReference < from) this.nextReference = source.indexOf('&', from)
    return this.nextReference !== -1 && this.nextReference < to ? decodeReferences(raw, from, this.faults) : raw
  }

  closeTag(element: XmlElement): void {
    this.endTag(element.start, element.start + 1 + nameLength(element))
    element.end = this.position
  }

  // The end tag repeats the characters of the start tag.
  endTag(start: number, nameEnd: number): void {
    const { source } = this
    let at = this.position + 2
    for (let i = start + 1; i < nameEnd; i++, at++) {
      if (source.charCodeAt(at) !== source.charCodeAt(i)) this.failEndTag(start, nameEnd)
    }
    while (isSpace(source.charCodeAt(at))) at++
    if (source.charCodeAt(at) !== 0x3e) this.failEndTag(start, nameEnd)
    this.position = at + 1
  }

  section(parent: XmlElement): void {
    const end = this.source.indexOf(']]>', this.position + 9)
    if (end === -1) this.fail('a CDATA section without end')
    const raw = this.source.slice(this.position + 9, end)
    if (raw !== '') appendText(parent, this.hasReturn ? newlines(raw) : raw)
    this.position = end + 3
  }

  comment(): void {
    const { source } = this
    if (!source.startsWith('<!--', this.position)) this.fail('a DOCTYPE or another declaration')
    const dashes = source.indexOf('--', this.position + 4)
    if (dashes === -1 || source.charCodeAt(dashes + 2) !== 0x3e) this.fail('a comment without proper end')
    this.position = dashes + 3
  }

  instruction(): XmlInstruction {
    const { source } = this
    const nameEnd = skipQualifiedName(source, this.position + 2)
    const target = source.slice(this.position + 2, nameEnd)
    const end = source.indexOf('?>', nameEnd)
    if (target === '' || target.includes(':') || /^xml$/i.test(target)) {
      this.fail('a processing instruction with an invalid target')
    }
    if (end === -1) this.fail('a processing instruction without end')
    if (end > nameEnd && !isSpace(source.charCodeAt(nameEnd))) this.fail('an invalid processing instruction')
    this.position = end + 2
    return { target, data: newlines(source.slice(nameEnd, end)).replace(/^[ \t\n]+/, '') }
  }

  declaration(): void {
    const { source } = this
    if (!source.startsWith('<?xml', this.position) || !isSpace(source.charCodeAt(this.position + 5))) return
    const end = source.indexOf('?>', this.position)
    const text = end === -1 ? '' : source.slice(this.position, end + 2)
    if (!declarationPattern.test(text)) this.fail('an invalid XML declaration')
    this.position = end + 2
  }

  skipSpace(): void {
    while (isSpace(this.source.charCodeAt(this.position))) this.position++
  }

  failEndTag(start: number, nameEnd: number): never {
    this.fail(`an end tag that does not match ${this.source.slice(start + 1, nameEnd)}`)
  }

  fail(what: string, offset = this.position): never {
    throw new XmlError(what, offset)
  }
}

const declarationPattern =
  /^<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*(?:"1\.0"|'1\.0')(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\r\n]*\?>$/

function newlines(raw: string): string {
  return raw.includes('\r') ? raw.replace(/\r\n?/g, '\n') : raw
}

function nameLength(element: XmlElement): number {
  return element.prefix === '' ? element.name.length : element.prefix.length + 1 + element.name.length
}

function appendChild(parent: XmlElement, child: XmlElement): void {
  if (parent.content !== undefined) parent.content.push(child)
  else if (parent.text !== '') parent.content = [parent.text, child]
  if (parent.children === noChildren) parent.children = [child]
  else parent.children.push(child)
}

function appendText(parent: XmlElement, text: string): void {
  if (parent.content === undefined && parent.children.length > 0) parent.content = [...parent.children]
  parent.content?.push(text)
  parent.text += text
}

function appendInstruction(parent: XmlElement, instruction: XmlInstruction): void {
  parent.content ??= parent.text === '' ? [...parent.children] : [parent.text]
  parent.content.push(instruction)
}
