import { ufByCode } from '@vigia/dfe/uf'
import type { XmlElement } from '@vigia/xml/parse'
import { escapeText, tag } from '@vigia/xml/write'
import { dateTimeWithOffset, localDateTime } from './clock.ts'
import type { DistributionOutcome, DistributionQuery } from './distribution.ts'
import type { Service } from './inspect.ts'
import { namespaceOf, type SoapService } from './soap.ts'

/** One of the two distribution services. */
export interface DistributionService extends SoapService {
  service: Service
  messageNamespace: string
  versao: string
  verAplic: string
}

export const distributionServices: readonly DistributionService[] = [
  {
    service: 'nfe',
    path: '/NFeDistribuicaoDFe/NFeDistribuicaoDFe.asmx',
    name: 'NFeDistribuicaoDFe',
    namespace: 'http://www.portalfiscal.inf.br/nfe/wsdl/NFeDistribuicaoDFe',
    operation: 'nfeDistDFeInteresse',
    dataElement: 'nfeDadosMsg',
    versions: ['1.1', '1.2'],
    messageNamespace: 'http://www.portalfiscal.inf.br/nfe',
    versao: '1.01',
    verAplic: '1.7.6-SIMULADOR',
  },
  {
    service: 'cte',
    path: '/CTeDistribuicaoDFe/CTeDistribuicaoDFe.asmx',
    name: 'CTeDistribuicaoDFe',
    namespace: 'http://www.portalfiscal.inf.br/cte/wsdl/CTeDistribuicaoDFe',
    operation: 'cteDistDFeInteresse',
    otherActions: ['CTeDistribuicaoDFe'],
    dataElement: 'cteDadosMsg',
    versions: ['1.1', '1.2'],
    messageNamespace: 'http://www.portalfiscal.inf.br/cte',
    versao: '1.00',
    verAplic: '1.0.0-SIMULADOR',
  },
]

// NT 2014.002, rule B01.
const messageBytesMax = 10 * 1024

interface DistributionMessage {
  taxId: string
  query: DistributionQuery
}

/** Checks rules B and D of NT 2014.002 and rule H01; returns the message, or the rejection code. */
export function readDistributionMessage(
  service: DistributionService,
  data: XmlElement,
  ancestors: XmlElement[],
  facts: { sourceBytes: number; utf8: boolean; tpAmb: 1 | 2 },
): DistributionMessage | number {
  if (facts.sourceBytes > messageBytesMax) return 214
  const root = data.children[0]
  if (root === undefined || data.children.length > 1 || data.text.trim() !== '') return 215
  const message = readSchema(service, root, ancestors)
  if (message === null) return 215
  if (hasPrefix(root)) return 404
  if (!facts.utf8) return 402
  if (message.versao !== service.versao) return Number(message.versao) > Number(service.versao) ? 238 : 239
  if (message.tpAmb !== String(facts.tpAmb)) return 252
  return message
}

// distDFeInt: tpAmb, cUFAutor, CNPJ or CPF, one of the three queries. The published schemas of the distribution know
// no letters in CNPJ and chave; NT 2026.004 does.
function readSchema(
  service: DistributionService,
  root: XmlElement,
  ancestors: XmlElement[],
): (DistributionMessage & { versao: string; tpAmb: string }) | null {
  if (root.name !== 'distDFeInt' || !allIn(service.messageNamespace, root, ancestors)) return null
  const versao = root.attributes.versao
  if (versao === undefined || !/^[0-9]+\.[0-9]{2}$/.test(versao) || !hasOnlyNamespaces(root, ['versao'])) return null
  const rest = [...root.children]
  if (root.text.trim() !== '') return null
  const leaf = (name: string, pattern: RegExp): string | null => {
    const next = rest[0]
    if (next?.name !== name || !isLeaf(next) || !pattern.test(next.text)) return null
    rest.shift()
    return next.text
  }
  const tpAmb = leaf('tpAmb', /^[12]$/)
  if (tpAmb === null) return null
  const cUFAutor = leaf('cUFAutor', /^[0-9]{2}$/)
  if (cUFAutor === null ? service.service === 'cte' : ufByCode(cUFAutor) === undefined) return null
  const taxId = leaf('CNPJ', /^[0-9A-Z]{12}[0-9]{2}$/) ?? leaf('CPF', /^[0-9]{11}$/)
  const group = rest[0]
  if (taxId === null || rest.length !== 1 || group === undefined) return null
  const query = readQuery(service.service, group)
  return query === null ? null : { versao, tpAmb, taxId, query }
}

function readQuery(service: Service, group: XmlElement): DistributionQuery | null {
  const only = group.children[0]
  if (only === undefined || group.children.length > 1 || group.text.trim() !== '' || !hasOnlyNamespaces(group, []))
    return null
  if (!isLeaf(only)) return null
  const nsu = /^[0-9]{15}$/.test(only.text) ? Number(only.text) : null
  if (group.name === 'distNSU' && only.name === 'ultNSU') return nsu === null ? null : { ultNSU: nsu }
  if (group.name === 'consNSU' && only.name === 'NSU') return nsu === null ? null : { nsu }
  if (service === 'nfe' && group.name === 'consChNFe' && only.name === 'chNFe') {
    return /^[0-9]{6}[0-9A-Z]{12}[0-9]{26}$/.test(only.text) ? { chNFe: only.text } : null
  }
  return null
}

function allIn(namespace: string, element: XmlElement, ancestors: XmlElement[]): boolean {
  if (namespaceOf(element, ancestors) !== namespace) return false
  return element.children.every((one) => allIn(namespace, one, [...ancestors, element]))
}

function hasPrefix(element: XmlElement): boolean {
  return element.prefix !== '' || element.children.some(hasPrefix)
}

function isLeaf(element: XmlElement): boolean {
  return element.children.length === 0 && hasOnlyNamespaces(element, [])
}

function hasOnlyNamespaces(element: XmlElement, allowed: string[]): boolean {
  return Object.keys(element.attributes).every((name) => /^(?:xmlns(?::|$)|xsi:)/.test(name) || allowed.includes(name))
}

/** The text of a retDistDFeInt. The CT-e service writes `dhResp` without offset. */
export function writeRetDistDFeInt(
  service: DistributionService,
  tpAmb: 1 | 2,
  at: number,
  outcome: DistributionOutcome,
): string {
  const documents = outcome.documents.map(({ nsu, schema, gzip }) =>
    tag('docZip', { NSU: nsu === null ? undefined : nsuText(nsu), schema }, gzip.toString('base64')),
  )
  return tag(
    'retDistDFeInt',
    {
      'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
      'xmlns:xsd': 'http://www.w3.org/2001/XMLSchema',
      versao: service.versao,
      xmlns: service.messageNamespace,
    },
    tag('tpAmb', null, String(tpAmb)),
    tag('verAplic', null, service.verAplic),
    tag('cStat', null, String(outcome.cStat)),
    tag('xMotivo', null, escapeText(outcome.xMotivo)),
    tag('dhResp', null, service.service === 'nfe' ? dateTimeWithOffset(at) : localDateTime(at)),
    tag('ultNSU', null, nsuText(outcome.ultNSU)),
    tag('maxNSU', null, nsuText(outcome.maxNSU)),
    documents.length > 0 && tag('loteDistDFeInt', null, ...documents),
  )
}

export function nsuText(nsu: number): string {
  return String(nsu).padStart(15, '0')
}
