import { parseReceived, type XmlElement, XmlError } from '@vigia/xml/parse'
import { escapeAttribute, tag } from '@vigia/xml/write'
import type { Connection, HttpResponse } from './connection.ts'
import { SefazError } from './error.ts'

/** One call: the action and the child of the Body are given by the WSDL, the response is looked for by its local name. */
interface SoapCall {
  url: string
  action: string
  message: string
  responseElement: string
}

export interface SoapResponse {
  /** The element that was looked for. */
  element: XmlElement
  cStat: number
  xMotivo: string
  /** The text in which the offsets of the elements count, and the root of that text. */
  source: string
  root: XmlElement
  bytes: number
  durationMs: number
}

/** Posts a SOAP 1.2 envelope without header and returns the element that was looked for; anything else throws SefazError. */
export async function callSoap(
  connection: Connection,
  { url, action, message, responseElement }: SoapCall,
): Promise<SoapResponse> {
  const startedAt = performance.now()
  const response = await connection.post(url, {
    body: tag(
      'soap12:Envelope',
      { 'xmlns:soap12': 'http://www.w3.org/2003/05/soap-envelope' },
      tag('soap12:Body', null, message),
    ),
    headers: { 'content-type': `application/soap+xml; charset=utf-8; action="${action}"` },
  })
  const durationMs = Math.round(performance.now() - startedAt)
  return { ...readResponse(response, responseElement), bytes: response.body.length, durationMs }
}

function readResponse(response: HttpResponse, name: string): Omit<SoapResponse, 'bytes' | 'durationMs'> {
  const { status, body } = response
  // IIS answers a refused certificate with a page of its own.
  if (status === 403) throw new SefazError('forbidden', { status, body })
  const outer = tryParse(body)
  const fault = outer && find(outer.root, 'Fault')
  if (fault) throw faultError(fault, response)
  if (status < 200 || status > 299) throw new SefazError('http', { status, body, detail: `HTTP ${status}` })
  const found = outer && findResponse(outer, name)
  const outcome = found && readOutcome(found.element)
  if (!found || !outcome) throw new SefazError('not-xml', { status, body })
  return { ...found, ...outcome }
}

/** The cStat and xMotivo of an element; events have them in `infEvento`. */
export function readOutcome(element: XmlElement): Pick<SoapResponse, 'cStat' | 'xMotivo'> | undefined {
  const holder = childOf(element, 'infEvento') ?? element
  const cStat = textOf(holder, 'cStat')
  if (cStat === undefined || !/^[0-9]{3,4}$/.test(cStat)) return undefined
  return { cStat: Number(cStat), xMotivo: textOf(holder, 'xMotivo') ?? '' }
}

function faultError(fault: XmlElement, { status, body }: HttpResponse): SefazError {
  const detail = (find(fault, 'Text') ?? find(fault, 'faultstring'))?.text.trim()
  return new SefazError('fault', { status, body, detail })
}

type Parsed = Pick<SoapResponse, 'source' | 'root'>

// The response is an element, but some servers put it as escaped text or CDATA into the result element.
function findResponse(outer: Parsed, name: string): (Parsed & { element: XmlElement }) | undefined {
  const element = find(outer.root, name)
  if (element) return { ...outer, element }
  const holder = findWhere(outer.root, ({ text }) => text.includes(name))
  const inner = holder && tryParse(holder.text.trim())
  const innerElement = inner && find(inner.root, name)
  return innerElement && { ...inner, element: innerElement }
}

function tryParse(body: string | Uint8Array): Parsed | undefined {
  try {
    return parseReceived(body)
  } catch (error) {
    if (error instanceof XmlError) return undefined
    throw error
  }
}

function find(element: XmlElement, name: string): XmlElement | undefined {
  return findWhere(element, (candidate) => candidate.name === name)
}

function findWhere(element: XmlElement, matches: (element: XmlElement) => boolean): XmlElement | undefined {
  if (matches(element)) return element
  for (const child of element.children) {
    const found = findWhere(child, matches)
    if (found) return found
  }
  return undefined
}

export function childOf(element: XmlElement, name: string): XmlElement | undefined {
  return element.children.find((child) => child.name === name)
}

export function textOf(element: XmlElement, name: string): string | undefined {
  return childOf(element, name)?.text.trim() || undefined
}

/** The element exactly as it came; only the prefixes that it uses and its ancestors declare are written into its start tag. */
export function sourceOf({ source, root }: Parsed, element: XmlElement): string {
  const text = source.slice(element.start, element.end)
  const declared = new Map<string, string>()
  for (let at: XmlElement | undefined = root; at !== undefined && at !== element; at = childAround(at, element)) {
    for (const [name, value] of Object.entries(at.attributes)) if (name.startsWith('xmlns:')) declared.set(name, value)
  }
  const missing = [...declared].filter(
    ([name]) => element.attributes[name] === undefined && usesPrefix(element, name.slice('xmlns:'.length)),
  )
  if (missing.length === 0) return text
  const [startOfTag = ''] = /^<[^\s/>]+/.exec(text) ?? []
  const declarations = missing.map(([name, uri]) => ` ${name}="${escapeAttribute(uri)}"`).join('')
  return startOfTag + declarations + text.slice(startOfTag.length)
}

function childAround(parent: XmlElement, inside: XmlElement): XmlElement | undefined {
  return parent.children.find(({ start, end }) => start <= inside.start && inside.end <= end)
}

function usesPrefix(element: XmlElement, prefix: string): boolean {
  return (
    element.prefix === prefix ||
    Object.keys(element.attributes).some((name) => name.startsWith(`${prefix}:`)) ||
    element.children.some((child) => usesPrefix(child, prefix))
  )
}
