import { child, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { type DocumentFacts, type EventFacts, readReceived } from '@vigia/dfe/read'

const services = ['nfe', 'cte'] as const
export type Service = (typeof services)[number]

// By the role codes of @vigia/dfe; the ator interessado of an event 110150 has none.
const roles = [
  'emitente',
  'destinatario',
  'transportador',
  'terceiro',
  'remetente',
  'expedidor',
  'recebedor',
  'tomador',
] as const

export type PartyRole = (typeof roles)[number] | 'ator-interessado'

export interface InvolvedParty {
  /** CNPJ of 14 positions or CPF of 11. */
  taxId: string
  role: PartyRole
}

/** Facts that the authority reads from a received file. */
export interface Inspected {
  service: Service
  kind: 'document' | 'summary' | 'event' | 'event-summary'
  /** Value of the attribute `schema` of its docZip. */
  schema: string
  chave: string
  /** Parties named in this file. */
  parties: InvolvedParty[]
  /** Date of authorisation or registration, as written. */
  registeredAt?: string
  /** Only of documents. */
  situation?: 'authorized' | 'cancelled' | 'denied'
  /** Only of events and their summaries. */
  tpEvento?: number
  nSeqEvento?: number
  cOrgao?: string
  author?: string
}

export interface Refused {
  refused: string
}

// Root elements that are distributed, with name and usual version of their schema. Files without
// protocol or registration are not.
const schemas: Record<string, [name: string, versao: string]> = {
  nfeProc: ['procNFe', '4.00'],
  cteProc: ['procCTe', '4.00'],
  cteOSProc: ['procCTeOS', '4.00'],
  cteSimpProc: ['procCTeSimp', '4.00'],
  cteProcSimp: ['procCTeSimp', '4.00'],
  GTVeProc: ['procGTVe', '4.00'],
  resNFe: ['resNFe', '1.01'],
  procEventoNFe: ['procEventoNFe', '1.00'],
  procEventoCTe: ['procEventoCTe', '4.00'],
  resEvento: ['resEvento', '1.01'],
}

/**
 * Reads a file as the authority would; refuses files that are no processed document.
 */
export function inspect(bytes: Uint8Array): Inspected | Refused {
  const { facts } = readReceived(bytes)
  if (facts.kind === 'unknown') return { refused: facts.reason }
  const root = openDocument(bytes)
  const schema = schemaOf(root)
  if (schema === undefined) return { refused: `a raiz ${root.name} não é de um documento processado` }
  const service = services.find((one) => one === facts.type)
  if (!service) return { refused: `o simulador não distribui documentos como ${root.name}` }
  return facts.kind === 'document'
    ? inspectDocument(service, facts, root, schema)
    : inspectEvent(service, facts, root, schema)
}

function inspectDocument(
  service: Service,
  facts: DocumentFacts,
  root: XmlElement,
  schema: string,
): Inspected | Refused {
  const { complete, chave, mod } = facts
  const situation = facts.situation === 'no-protocol' ? 'authorized' : facts.situation
  // The protocol's result is ignored: files of the archive are distributed as they are.
  const protocol = child(root, service === 'nfe' ? 'protNFe/infProt' : 'protCTe/infProt')
  if (complete && protocol === undefined) return { refused: 'documento sem protocolo de autorização' }
  if (service === 'nfe' && mod !== '55') return { refused: `o modelo ${mod} não é distribuído (só a NF-e, modelo 55)` }
  return {
    service,
    kind: complete ? 'document' : 'summary',
    schema,
    chave,
    parties: facts.parties
      .toSorted((a, b) => a.role - b.role)
      .map(({ taxId, role }) => ({ taxId, role: roles[role] ?? 'terceiro' })),
    registeredAt: facts.authorizedAt ?? (facts.issuedAt || undefined),
    situation: complete ? situation : undefined,
  }
}

function inspectEvent(service: Service, facts: EventFacts, root: XmlElement, schema: string): Inspected | Refused {
  const { summary, chave, tpEvento, nSeqEvento, named = [] } = facts
  const response = summary ? undefined : retEventoOf(root)
  if (!summary && response === undefined) return { refused: `${root.name} sem o registro do evento` }
  if (service === 'nfe' && chave.slice(20, 22) === '65')
    return { refused: 'evento de NFC-e (modelo 65) não é distribuído' }
  return {
    service,
    kind: summary ? 'event-summary' : 'event',
    schema,
    chave,
    parties: summary ? [] : [...recipientOf(facts, response), ...named.map(interested)],
    registeredAt: facts.registeredAt ?? (facts.dhEvento || undefined),
    tpEvento,
    nSeqEvento,
    cOrgao: facts.cOrgao || undefined,
    author: facts.authorTaxId,
  }
}

// Layout 2.00 of the CT-e has the response's infEvento without its retEventoCTe.
function retEventoOf(root: XmlElement): XmlElement | undefined {
  return child(root, 'retEvento/infEvento') ?? child(root, 'retEventoCTe/infEvento') ?? child(root, 'infEvento')
}

// The destinatário in an event: the author of a manifestação, or the one that the response names.
function recipientOf({ tpEvento, authorTaxId }: EventFacts, response: XmlElement | undefined): InvolvedParty[] {
  const namedTaxId = value(response, 'CNPJDest') ?? value(response, 'CPFDest')
  const taxId = isManifestation(tpEvento) ? authorTaxId : namedTaxId === authorTaxId ? undefined : namedTaxId
  return taxId === undefined ? [] : [{ taxId, role: 'destinatario' }]
}

function interested(taxId: string): InvolvedParty {
  return { taxId, role: 'ator-interessado' }
}

/** Whether the code is one of the four of the manifestação do destinatário (NT 2020.001). */
export function isManifestation(tpEvento: number): boolean {
  return [210200, 210210, 210220, 210240].includes(tpEvento)
}

// Old layouts write the version one or two elements below the root.
function schemaOf(root: XmlElement): string | undefined {
  const [name, usual] = schemas[root.name] ?? []
  if (name === undefined) return undefined
  const inner = root.children[0]
  const written = [root, inner, inner?.children[0]].map((element) => element?.attributes.versao).find(Boolean)
  return `${name}_v${written ?? usual}.xsd`
}
