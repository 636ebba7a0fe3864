import { parseReceived, type XmlElement } from '@vigia/xml/parse'

/** An element of an opened document (XML 1.0). */
export type { XmlElement }

/**
 * Parses a received file leniently and returns its root element; throws `XmlError` when even that
 * fails (XML 1.0; MOC 7.0, padrões técnicos).
 */
export function openDocument(bytes: Uint8Array): XmlElement {
  return parseReceived(bytes).root
}

/** The first element at `path` ('ide/dhEmi'), by local name, prefixes do not matter (MOC 7.0, leiautes). */
export function child(node: XmlElement | undefined, path: string): XmlElement | undefined {
  if (node === undefined) return undefined
  const slash = path.indexOf('/')
  if (slash === -1) return named(node, path)
  let at = named(node, path.slice(0, slash))
  for (let from = slash + 1; at !== undefined && from !== 0; ) {
    const end = path.indexOf('/', from)
    at = named(at, end === -1 ? path.slice(from) : path.slice(from, end))
    from = end + 1
  }
  return at
}

/** Every element of the last step of `path`, in document order; the steps before it take the first match (MOC 7.0, leiautes). */
export function children(node: XmlElement | undefined, path: string): XmlElement[] {
  const slash = path.lastIndexOf('/')
  const parent = slash === -1 ? node : child(node, path.slice(0, slash))
  if (parent === undefined) return []
  const name = path.slice(slash + 1)
  return parent.children.filter((element) => element.name === name)
}

/** Trims a text and removes direction marks, which would reorder neighbouring text. */
export function shownText(text: string): string {
  return text.replace(/[\u202A-\u202E\u2066-\u2069]/g, '').trim()
}

/** The shown text at `path`; undefined when the element is absent or empty (`<CNPJ/>` says "none" in the leiautes). */
export function value(node: XmlElement | undefined, path: string): string | undefined {
  const found = child(node, path)
  return found === undefined ? undefined : shownText(found.text) || undefined
}

/**
 * Parses a date of a document (`AAAA-MM-DDThh:mm:ss`, local) and its offset in minutes, null
 * without one; a date alone is midnight. Null if it is no valid date (MOC 7.0, data e hora no
 * formato UTC; `dEmi` up to layout 2.00).
 */
export function localTime(text: string): { local: string; offset: number | null } | null {
  const match = timePattern.exec(text)
  if (match === null) return null
  const [, day = '', time = '00:00:00', zone] = match
  if (!isDay(day)) return null
  const local = `${day}T${time}`
  if (zone === undefined) return { local, offset: null }
  const minutes = zone === 'Z' ? 0 : Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4))
  return { local, offset: zone.startsWith('-') ? -minutes : minutes }
}

const timePattern =
  /^((?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.\d{1,9})?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?$/

function isDay(day: string): boolean {
  // Every month has 28 days; the calendar is asked about the others only.
  if (day.slice(8) <= '28') return true
  const date = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

function named(node: XmlElement, name: string): XmlElement | undefined {
  for (const element of node.children) {
    if (element.name === name) return element
  }
  return undefined
}
