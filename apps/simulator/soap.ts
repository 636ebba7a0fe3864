import type { X509Certificate } from 'node:crypto'
import { decodeXml, parseXml, type XmlElement } from '@vigia/xml/parse'
import { escapeText } from '@vigia/xml/write'

export type SoapVersion = '1.1' | '1.2'

/** A web service of the authority, as its WSDL describes it. */
export interface SoapService {
  path: string
  name: string
  namespace: string
  operation: string
  dataElement: string
  /** Ends of actions that public clients send instead of the operation's own, and are served. */
  otherActions?: readonly string[]
  /** Response element of a service without wrapper, whose data is directly in the Body. */
  bareResult?: string
  versions: readonly SoapVersion[]
}

export interface SoapRequest {
  contentType: string
  soapAction: string | undefined
  body: Buffer
  certificate: X509Certificate
}

/** A request up to the data of its message. */
export interface SoapEnvelope {
  version: SoapVersion
  data: XmlElement
  /** From the outside in, the data element included. */
  ancestors: XmlElement[]
  /** The whole request as text, which the offsets of the elements point into. */
  source: string
  /** Size of the data, from its start tag to its end tag. */
  sourceBytes: number
  utf8: boolean
}

const envelopeNamespace: Record<SoapVersion, string> = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
}

const contentTypes: Record<SoapVersion, string> = {
  '1.1': 'text/xml; charset=utf-8',
  '1.2': 'application/soap+xml; charset=utf-8',
}

export interface HttpResponse {
  status: number
  contentType: string
  body: Buffer
}

/** The SOAP version a content type announces. */
export function versionOf(contentType: string | undefined): SoapVersion | null {
  const type = contentType?.split(';')[0]?.trim().toLowerCase()
  if (type === 'application/soap+xml') return '1.2'
  return type === 'text/xml' ? '1.1' : null
}

/** The action of a request: a parameter of the content type in SOAP 1.2, a header in 1.1; undefined when there is none. */
function actionOf(version: SoapVersion, contentType: string, soapAction: string | undefined): string | undefined {
  const written = version === '1.2' ? /;\s*action\s*=\s*("[^"]*"|[^;\s]*)/i.exec(contentType)?.[1] : soapAction
  const action = written?.replace(/^"|"$/g, '').trim()
  return action === '' ? undefined : action
}

/** The data of a request, or the code of a rejection, or the reason of a SOAP Fault; `announced` is the version of its content type. */
export function readSoapEnvelope(
  service: SoapService,
  announced: SoapVersion,
  request: SoapRequest,
): SoapEnvelope | string | number {
  const { body } = request
  const declared = /^<\?xml[^>]*?encoding\s*=\s*["']([^"']+)["']/.exec(body.subarray(0, 200).toString('latin1'))?.[1]
  let source: string
  let envelope: XmlElement
  try {
    source = decodeXml(body)
  } catch {
    return 402
  }
  try {
    envelope = parseXml(source)
  } catch {
    return 243
  }
  const action = actionOf(announced, request.contentType, request.soapAction)
  const actions = [service.operation, ...(service.otherActions ?? [])].map((end) => `${service.namespace}/${end}`)
  if (action !== undefined && !actions.includes(action)) {
    return announced === '1.2'
      ? `Unable to handle request. The action '${action}' was not recognized.`
      : `Server did not recognize the value of HTTP Header SOAPAction: ${action}.`
  }
  // ASP.NET follows the envelope, whatever the content type.
  const namespace = namespaceOf(envelope, [])
  const version = service.versions.find((one) => envelopeNamespace[one] === namespace)
  if (envelope.name !== 'Envelope' || version === undefined) {
    return `Possible SOAP version mismatch: Envelope namespace ${namespace} was unexpected. Expecting ${envelopeNamespace[announced]}.`
  }
  const found = dataOf(service, envelope)
  if (found === null) {
    return 'Server was unable to process request. ---> Object reference not set to an instance of an object.'
  }
  const sourceBytes = Buffer.byteLength(source.slice(found.data.start, found.data.end))
  return { ...found, version, source, sourceBytes, utf8: declared === undefined || /^utf-?8$/i.test(declared) }
}

// The operation's data element, or null when the body is not the one of this operation.
function dataOf(service: SoapService, envelope: XmlElement): { data: XmlElement; ancestors: XmlElement[] } | null {
  const body = envelope.children.find((one) => one.name === 'Body')
  const first = body?.children[0]
  if (body === undefined || first === undefined) return null
  const outer = [envelope, body]
  const isOwn = (element: XmlElement, name: string, ancestors: XmlElement[]) =>
    element.name === name && namespaceOf(element, ancestors) === service.namespace
  if (service.bareResult !== undefined) {
    return isOwn(first, service.dataElement, outer) ? { data: first, ancestors: [...outer, first] } : null
  }
  const data = first.children[0]
  if (data === undefined || !isOwn(first, service.operation, outer)) return null
  return isOwn(data, service.dataElement, [...outer, first]) ? { data, ancestors: [...outer, first, data] } : null
}

/** The namespace of an element, given the elements around it from the outside in. */
export function namespaceOf(element: XmlElement, ancestors: XmlElement[]): string {
  const name = element.prefix === '' ? 'xmlns' : `xmlns:${element.prefix}`
  for (const one of [element, ...ancestors.toReversed()]) {
    const declared = one.attributes[name]
    if (declared !== undefined) return declared
  }
  return ''
}

/** The response of an operation, `result` being the XML inside its result element. */
export function soapResponse(service: SoapService, version: SoapVersion, result: string): HttpResponse {
  const { operation, namespace, bareResult } = service
  const name = bareResult ?? `${operation}Result`
  const own = bareResult === undefined ? '' : ` xmlns="${namespace}"`
  const inner = result === '' ? `<${name}${own} />` : `<${name}${own}>${result}</${name}>`
  const body =
    bareResult === undefined ? `<${operation}Response xmlns="${namespace}">${inner}</${operation}Response>` : inner
  return envelopeResponse(200, version, body)
}

export function soapFault(version: SoapVersion, who: 'client' | 'server', reason: string): HttpResponse {
  const text = escapeText(reason)
  if (version === '1.1') {
    const code = who === 'client' ? 'soap:Client' : 'soap:Server'
    const fault = `<soap:Fault><faultcode>${code}</faultcode><faultstring>${text}</faultstring><detail /></soap:Fault>`
    return envelopeResponse(500, version, fault)
  }
  const code = who === 'client' ? 'soap:Sender' : 'soap:Receiver'
  return envelopeResponse(
    500,
    version,
    `<soap:Fault><soap:Code><soap:Value>${code}</soap:Value></soap:Code><soap:Reason><soap:Text xml:lang="en">${text}</soap:Text></soap:Reason><soap:Detail /></soap:Fault>`,
  )
}

function envelopeResponse(status: number, version: SoapVersion, body: string): HttpResponse {
  const xml = `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${envelopeNamespace[version]}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"><soap:Body>${body}</soap:Body></soap:Envelope>`
  return { status, contentType: contentTypes[version], body: Buffer.from(xml, 'utf8') }
}

/** A small WSDL: one operation, document/literal, bound to SOAP 1.1 and 1.2. */
export function wsdl(service: SoapService, origin: string): string {
  const { name, namespace, operation, dataElement, bareResult } = service
  const anything = '<s:complexType mixed="true"><s:sequence><s:any /></s:sequence></s:complexType>'
  const input = bareResult === undefined ? operation : dataElement
  const output = bareResult ?? `${operation}Response`
  const wrapper = (element: string, inner: string) =>
    bareResult === undefined
      ? `<s:element name="${element}"><s:complexType><s:sequence><s:element minOccurs="0" maxOccurs="1" name="${inner}">${anything}</s:element></s:sequence></s:complexType></s:element>`
      : `<s:element name="${element}">${anything}</s:element>`
  const message = (direction: string, element: string) =>
    `<wsdl:message name="${operation}Soap${direction}"><wsdl:part name="parameters" element="tns:${element}" /></wsdl:message>`
  const binding = (soap: string) =>
    `<wsdl:binding name="${name}${soap === 'soap' ? 'Soap' : 'Soap12'}" type="tns:${name}Soap"><${soap}:binding transport="http://schemas.xmlsoap.org/soap/http" /><wsdl:operation name="${operation}"><${soap}:operation soapAction="${namespace}/${operation}" style="document" /><wsdl:input><${soap}:body use="literal" /></wsdl:input><wsdl:output><${soap}:body use="literal" /></wsdl:output></wsdl:operation></wsdl:binding>`
  const port = (soap: string, suffix: string) =>
    `<wsdl:port name="${name}${suffix}" binding="tns:${name}${suffix}"><${soap}:address location="${escapeText(origin)}${service.path}" /></wsdl:port>`
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:s="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:soap12="http://schemas.xmlsoap.org/wsdl/soap12/" xmlns:tns="${namespace}" targetNamespace="${namespace}">`,
    `<wsdl:types><s:schema elementFormDefault="qualified" targetNamespace="${namespace}">`,
    wrapper(input, dataElement),
    wrapper(output, `${operation}Result`),
    '</s:schema></wsdl:types>',
    message('In', input),
    message('Out', output),
    `<wsdl:portType name="${name}Soap"><wsdl:operation name="${operation}"><wsdl:input message="tns:${operation}SoapIn" /><wsdl:output message="tns:${operation}SoapOut" /></wsdl:operation></wsdl:portType>`,
    binding('soap'),
    binding('soap12'),
    `<wsdl:service name="${name}">${port('soap', 'Soap')}${port('soap12', 'Soap12')}</wsdl:service></wsdl:definitions>`,
  ].join('')
}
