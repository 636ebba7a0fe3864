import { parseXml, type XmlElement } from '@vigia/xml/parse'

/** An element of an opened document (XML 1.0). */
export type { XmlElement }

/** The root element of a received file; throws `XmlError` when it is not well formed (XML 1.0; MOC 7.0, padrões técnicos). */
export function openDocument(bytes: Uint8Array): XmlElement {
  return parseXml(bytes)
}

/** The first element at `path` ('ide/dhEmi'), by local name, prefixes do not matter (MOC 7.0, leiautes). */
export function child(node: XmlElement | undefined, path: string): XmlElement | undefined {
  if (node === undefined) return undefined
  const slash = path.indexOf('/')
  if (slash === -1) return named(node, path)
  let at: XmlElement | undefined = node
  for (const step of path.split('/')) {
    at = named(at, step)
    if (at === undefined) return undefined
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

/** The trimmed text at `path`; undefined when the element is absent or empty (`<CNPJ/>` says "none" in the leiautes). */
export function value(node: XmlElement | undefined, path: string): string | undefined {
  const text = child(node, path)?.text.trim()
  return text === '' ? undefined : text
}

function named(node: XmlElement, name: string): XmlElement | undefined {
  for (const element of node.children) {
    if (element.name === name) return element
  }
  return undefined
}
