import { declarations } from './canonicalize.ts'
import type { XmlElement } from './parse.ts'

// The only algorithms the tax authority accepts (MOC CT-e 4.00 §3.2.4; xmldsig-core-schema_v1.01.xsd).
export const c14n = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
export const rsaSha1 = 'http://www.w3.org/2000/09/xmldsig#rsa-sha1'
export const sha1 = 'http://www.w3.org/2000/09/xmldsig#sha1'
export const enveloped = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature'

/** The elements from the root to each element that passes the test, in document order. */
export function pathsTo(root: XmlElement, test: (element: XmlElement) => boolean): XmlElement[][] {
  const found: XmlElement[][] = []
  const path: XmlElement[] = []
  const walk = (element: XmlElement) => {
    path.push(element)
    if (test(element)) found.push([...path])
    for (const child of element.children) walk(child)
    path.pop()
  }
  walk(root)
  return found
}

/** Every declaration in scope inside the last element of the path. */
export function scopeInPlace(path: readonly XmlElement[]): Record<string, string> {
  const scope: Record<string, string> = Object.create(null)
  for (const element of path) {
    for (const [prefix, uri] of declarations(element) ?? []) scope[prefix] = uri
  }
  return scope
}

/**
 * Namespaces in scope when the last element of the path is checked alone, as the authority does:
 * its own declarations, and those that the given names need.
 */
export function scopeAlone(path: readonly XmlElement[], names: readonly XmlElement[]): Record<string, string> {
  const inPlace = scopeInPlace(path)
  const scope = scopeInPlace(path.slice(-1))
  for (const { prefix } of names) {
    const uri = inPlace[prefix]
    if (scope[prefix] === undefined && uri !== undefined) scope[prefix] = uri
  }
  return scope
}
