import { parseXml, type XmlElement } from '@vigia/xml/parse'
import type { Service } from '../inspect.ts'
import { namespaceOf } from '../soap.ts'

/** An event as it was sent, its layout being right. */
export interface SentEvent {
  /** Cut out of the message: a document of its own. */
  xml: string
  /** Attribute Id of infEvento. */
  id: string
  cOrgao: string
  tpAmb: string
  /** CNPJ of 14 positions or CPF of 11. */
  author: string
  chave: string
  dhEvento: string
  tpEvento: number
  nSeqEvento: number
  /** Only of NF-e. */
  verEvento: string
  detEvento: XmlElement
  signature: XmlElement
}

interface EventLayout {
  root: string
  namespace: string
  chave: string
  nSeqEvento: RegExp
  versionOfDetail: string
}

const layouts: Record<Service, EventLayout> = {
  nfe: {
    root: 'evento',
    namespace: 'http://www.portalfiscal.inf.br/nfe',
    chave: 'chNFe',
    nSeqEvento: /^[1-9][0-9]?$/,
    versionOfDetail: 'versao',
  },
  cte: {
    root: 'eventoCTe',
    namespace: 'http://www.portalfiscal.inf.br/cte',
    chave: 'chCTe',
    nSeqEvento: /^[0-9]{1,3}$/,
    versionOfDetail: 'versaoEvento',
  },
}

const dsigNamespace = 'http://www.w3.org/2000/09/xmldsig#'

const dateTime =
  /^20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d[+-](?:0\d|1[0-4]):00$/

/**
 * Parses the generic layout of an event (leiauteEvento 1.00, eventoCTeTiposBasico 4.00); null if
 * invalid.
 */
export function readSentEvent(
  service: Service,
  element: XmlElement,
  ancestors: XmlElement[],
  source: string,
): SentEvent | null {
  const layout = layouts[service]
  const [info, signature, ...more] = element.children
  if (element.name !== layout.root || namespaceOf(element, ancestors) !== layout.namespace) return null
  if (info?.name !== 'infEvento' || signature?.name !== 'Signature' || more.length > 0) return null
  if (namespaceOf(info, [...ancestors, element]) !== layout.namespace) return null
  if (namespaceOf(signature, [...ancestors, element]) !== dsigNamespace || hasText(element) || hasText(info))
    return null
  const id = info.attributes.Id
  const rest = [...info.children]
  const leaf = (name: string, pattern: RegExp): string | null => {
    const next = rest[0]
    if (next?.name !== name || next.children.length > 0 || !pattern.test(next.text)) return null
    rest.shift()
    return next.text
  }
  const cOrgao = leaf('cOrgao', /^[1-9][0-9]$/)
  const tpAmb = leaf('tpAmb', /^[12]$/)
  const author = leaf('CNPJ', /^[0-9A-Z]{12}[0-9]{2}$/) ?? leaf('CPF', /^[0-9]{11}$/)
  const chave = leaf(layout.chave, /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/)
  const dhEvento = leaf('dhEvento', dateTime)
  const tpEvento = leaf('tpEvento', /^[0-9]{6}$/)
  const nSeqEvento = leaf('nSeqEvento', layout.nSeqEvento)
  const verEvento = service === 'nfe' ? leaf('verEvento', /^.+$/) : ''
  const [detEvento, ...others] = rest
  if (id === undefined || cOrgao === null || tpAmb === null || author === null || chave === null) return null
  if (dhEvento === null || tpEvento === null || nSeqEvento === null || verEvento === null) return null
  if (detEvento?.name !== 'detEvento' || detEvento.attributes[layout.versionOfDetail] === undefined) return null
  if (others.length > 0 && service === 'nfe') return null
  const xml = cutOut(element, layout.namespace, source)
  // From here on only the event itself is verified, without declarations of its envelope.
  const [own, ownSignature] = parseXml(xml).children
  const detail = own?.children.find((one) => one.name === 'detEvento')
  if (detail === undefined || ownSignature === undefined) return null
  return {
    xml,
    id,
    cOrgao,
    tpAmb,
    author,
    chave,
    dhEvento,
    tpEvento: Number(tpEvento),
    nSeqEvento: Number(nSeqEvento),
    verEvento,
    detEvento: detail,
    signature: ownSignature,
  }
}

// An event may inherit its default namespace from the lote. Its prefix, if it had one, was refused before.
function cutOut(element: XmlElement, namespace: string, source: string): string {
  const text = source.slice(element.start, element.end)
  if (element.attributes.xmlns !== undefined || element.prefix !== '') return text
  return text.replace(element.name, `${element.name} xmlns="${namespace}"`)
}

/** Text between the elements, other than white space. */
export function hasText(element: XmlElement): boolean {
  return element.text.trim() !== ''
}

type FormProblem = 'namespace' | 'editing' | 'prefix'

/** First violation of a rule beyond the schema, in the order of the manual; else null. */
export function formProblem(root: XmlElement, namespace: string): FormProblem | null {
  const all = descendants(root)
  const declared = all.flatMap((one) =>
    Object.entries(one.attributes).filter(([name]) => name === 'xmlns' || name.startsWith('xmlns:')),
  )
  if (declared.some(([, uri]) => uri !== namespace && uri !== dsigNamespace)) return 'namespace'
  if (all.some((one) => one.children.length > 0 && one.text !== '' && !hasText(one))) return 'editing'
  return all.some((one) => one.prefix !== '') ? 'prefix' : null
}

function descendants(element: XmlElement): XmlElement[] {
  return [element, ...element.children.flatMap(descendants)]
}
