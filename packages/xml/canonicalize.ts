import type { XmlContent, XmlElement, XmlInstruction } from './parse.ts'
import { escapeAttribute, escapeText } from './write.ts'

/**
 * The element in inclusive Canonical XML 1.0 without comments. `namespaces`: those in scope from its ancestors, prefix ('' for the default) to URI;
 * they are written in its start tag (Canonical XML 1.0 §2, §2.4 document subsets).
 */
export function canonicalize(element: XmlElement, namespaces: Readonly<Record<string, string>> = {}): string {
  return write(element, new Map(Object.entries(namespaces)), true)
}

/** The namespace of XML Signature (XML Signature §1.2). */
export const dsigNamespace = 'http://www.w3.org/2000/09/xmldsig#'

type NamespaceScope = ReadonlyMap<string, string>

function write(element: XmlElement, inherited: NamespaceScope, apex: boolean): string {
  const own = declarations(element)
  const scope = own === null ? inherited : new Map([...inherited, ...own])
  const name = element.prefix === '' ? element.name : `${element.prefix}:${element.name}`
  let out = `<${name}${namespaceNodes(apex ? scope : own, apex ? null : inherited)}${attributeNodes(element, scope)}>`
  for (const node of contentOf(element)) {
    if (typeof node === 'string') out += escapeText(node)
    else if (isInstruction(node)) out += instruction(node)
    else out += write(node, scope, false)
  }
  return `${out}</${name}>`
}

function contentOf(element: XmlElement): readonly XmlContent[] {
  if (element.content !== undefined) return element.content
  return element.text === '' ? element.children : [element.text]
}

function isInstruction(node: XmlElement | XmlInstruction): node is XmlInstruction {
  return 'target' in node
}

function instruction({ target, data }: XmlInstruction): string {
  return `<?${target}${data === '' ? '' : ` ${data.replaceAll('\r', '&#xD;')}`}?>`
}

/** The namespaces an element declares, by prefix; null when it declares none (Namespaces in XML 1.0 §3). */
export function declarations(element: XmlElement): Map<string, string> | null {
  let found: Map<string, string> | null = null
  for (const name in element.attributes) {
    if (!name.startsWith('xmlns')) continue
    const prefix = name === 'xmlns' ? '' : name.charAt(5) === ':' ? name.slice(6) : null
    if (prefix === null || prefix === 'xml') continue
    found ??= new Map()
    found.set(prefix, element.attributes[name] ?? '')
  }
  return found
}

// A declaration is written when it differs from what the parent's start tag already put in scope; xmlns="" only undoes another.
function namespaceNodes(declared: NamespaceScope | null, inherited: NamespaceScope | null): string {
  if (declared === null) return ''
  let out = ''
  for (const prefix of [...declared.keys()].sort()) {
    const uri = declared.get(prefix) ?? ''
    if (uri === (inherited?.get(prefix) ?? '')) continue
    out += ` ${prefix === '' ? 'xmlns' : `xmlns:${prefix}`}="${escapeAttribute(uri)}"`
  }
  return out
}

function attributeNodes(element: XmlElement, scope: NamespaceScope): string {
  const list: { name: string; uri: string; local: string }[] = []
  for (const name in element.attributes) {
    if (name === 'xmlns' || name.startsWith('xmlns:')) continue
    const colon = name.indexOf(':')
    const uri = colon === -1 ? '' : attributeNamespace(name.slice(0, colon), scope)
    list.push({ name, uri, local: name.slice(colon + 1) })
  }
  if (list.length > 1) list.sort((a, b) => compare(a.uri, b.uri) || compare(a.local, b.local))
  let out = ''
  for (const { name } of list) out += ` ${name}="${escapeAttribute(element.attributes[name] ?? '')}"`
  return out
}

function attributeNamespace(prefix: string, scope: NamespaceScope): string {
  return prefix === 'xml' ? 'http://www.w3.org/XML/1998/namespace' : (scope.get(prefix) ?? '')
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
