import { child, children, openDocument, value, type XmlElement } from '@vigia/dfe/document'

export type Service = 'nfe' | 'cte'

export type Role =
  | 'emitente'
  | 'destinatario'
  | 'transportador'
  | 'terceiro'
  | 'ator-interessado'
  | 'remetente'
  | 'expedidor'
  | 'recebedor'
  | 'tomador'

export interface Party {
  /** CNPJ of 14 positions or CPF of 11. */
  taxId: string
  role: Role
}

/** What the authority knows of one file it received. */
export interface Inspected {
  service: Service
  kind: 'document' | 'summary' | 'event' | 'event-summary'
  /** Value of the attribute `schema` of its docZip. */
  schema: string
  chave: string
  /** Who takes part, as far as this file says. */
  parties: Party[]
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

const documentRoots: Record<string, { service: Service; document: string; schema: string }> = {
  nfeProc: { service: 'nfe', document: 'NFe', schema: 'procNFe' },
  cteProc: { service: 'cte', document: 'CTe', schema: 'procCTe' },
  cteOSProc: { service: 'cte', document: 'CTeOS', schema: 'procCTeOS' },
  cteSimpProc: { service: 'cte', document: 'CTeSimp', schema: 'procCTeSimp' },
  // Name of the same root in the package before NT 2026.002.
  cteProcSimp: { service: 'cte', document: 'CTeSimp', schema: 'procCTeSimp' },
  GTVeProc: { service: 'cte', document: 'GTVe', schema: 'procGTVe' },
}

/** Reads a file as the authority would; what is not a processed document comes back with the reason why. */
export function inspect(bytes: Uint8Array): Inspected | Refused {
  let root: XmlElement
  try {
    root = openDocument(bytes)
  } catch (error) {
    return { refused: `XML mal formado (${error instanceof Error ? error.message : String(error)})` }
  }
  const layout = documentRoots[root.name]
  if (layout !== undefined) {
    return layout.service === 'nfe' ? inspectNfe(root) : inspectCte(root, layout.document, layout.schema)
  }
  if (root.name === 'procEventoNFe') return inspectEvent(root, 'nfe')
  if (root.name === 'procEventoCTe') return inspectEvent(root, 'cte')
  if (root.name === 'resNFe') return inspectSummary(root)
  if (root.name === 'resEvento') return inspectEventSummary(root)
  return { refused: `a raiz ${root.name} não é de um documento processado` }
}

function inspectNfe(root: XmlElement): Inspected | Refused {
  const info = child(root, 'NFe/infNFe')
  const protocol = child(root, 'protNFe/infProt')
  if (info === undefined) return { refused: 'nfeProc sem NFe' }
  if (protocol === undefined) return { refused: 'NF-e sem protocolo de autorização' }
  const chave = idKey(info) ?? value(protocol, 'chNFe')
  if (chave === undefined) return { refused: 'NF-e sem chave de acesso' }
  const mod = value(info, 'ide/mod') ?? chave.slice(20, 22)
  if (mod !== '55') return { refused: `o modelo ${mod} não é distribuído (só a NF-e, modelo 55)` }
  return {
    service: 'nfe',
    kind: 'document',
    schema: schemaOf('procNFe', root, info),
    chave,
    parties: [
      ...party(child(info, 'emit'), 'emitente'),
      ...party(child(info, 'dest'), 'destinatario'),
      ...party(child(info, 'transp/transporta'), 'transportador'),
      ...children(info, 'autXML').flatMap((one) => party(one, 'terceiro')),
    ],
    registeredAt: value(protocol, 'dhRecbto') ?? value(info, 'ide/dhEmi') ?? value(info, 'ide/dEmi'),
    situation: situationOf(value(protocol, 'cStat')),
  }
}

function inspectCte(root: XmlElement, document: string, schema: string): Inspected | Refused {
  const info = child(root, `${document}/infCte`)
  const protocol = child(root, 'protCTe/infProt')
  if (info === undefined) return { refused: `${root.name} sem ${document}` }
  if (protocol === undefined) return { refused: 'CT-e sem protocolo de autorização' }
  const chave = idKey(info) ?? value(protocol, 'chCTe')
  if (chave === undefined) return { refused: 'CT-e sem chave de acesso' }
  return {
    service: 'cte',
    kind: 'document',
    schema: schemaOf(schema, root, info),
    chave,
    parties: [
      ...party(child(info, 'emit'), 'emitente'),
      ...party(child(info, 'rem'), 'remetente'),
      ...party(child(info, 'exped'), 'expedidor'),
      ...party(child(info, 'receb'), 'recebedor'),
      ...party(child(info, 'dest'), 'destinatario'),
      ...party(tomador(info, document), 'tomador'),
      ...children(info, 'autXML').flatMap((one) => party(one, 'terceiro')),
    ],
    registeredAt: value(protocol, 'dhRecbto') ?? value(info, 'ide/dhEmi'),
    situation: situationOf(value(protocol, 'cStat')),
  }
}

// Model 57 points to a party (toma3, toma03 in the old layouts) or names its own (toma4); models 67 and Simplificado have
// their own group; GTV-e counts 0 remetente, 1 destinatário.
function tomador(info: XmlElement, document: string): XmlElement | undefined {
  const ide = child(info, 'ide')
  if (document === 'GTVe') {
    const code = value(ide, 'toma/toma')
    return code === undefined ? child(ide, 'tomaTerceiro') : child(info, code === '0' ? 'rem' : 'dest')
  }
  if (document !== 'CTe') return child(info, 'toma')
  const code = value(ide, 'toma3/toma') ?? value(ide, 'toma03/toma')
  if (code === undefined) return child(ide, 'toma4')
  const group = ['rem', 'exped', 'receb', 'dest'][Number(code)]
  return group === undefined ? undefined : child(info, group)
}

function inspectEvent(root: XmlElement, service: Service): Inspected | Refused {
  const request = child(root, service === 'nfe' ? 'evento/infEvento' : 'eventoCTe/infEvento')
  // Layout 2.00 of the CT-e has the answer's infEvento without its retEventoCTe.
  const answer =
    child(root, service === 'nfe' ? 'retEvento/infEvento' : 'retEventoCTe/infEvento') ?? child(root, 'infEvento')
  const chave = value(request, service === 'nfe' ? 'chNFe' : 'chCTe')
  const tpEvento = Number(value(request, 'tpEvento'))
  if (request === undefined || chave === undefined || !Number.isInteger(tpEvento)) {
    return { refused: `${root.name} sem infEvento completo` }
  }
  if (answer === undefined) return { refused: `${root.name} sem o registro do evento` }
  if (service === 'nfe' && chave.slice(20, 22) === '65')
    return { refused: 'evento de NFC-e (modelo 65) não é distribuído' }
  const author = taxIdOf(request)
  return {
    service,
    kind: 'event',
    schema: schemaOf(root.name, root, request, service === 'nfe' ? '1.00' : '4.00'),
    chave,
    parties: [
      ...recipientOfEvent(answer, tpEvento, author),
      ...children(request, 'detEvento/autXML').flatMap((one) => party(one, 'ator-interessado')),
    ],
    registeredAt: value(answer, 'dhRegEvento') ?? value(request, 'dhEvento'),
    tpEvento,
    nSeqEvento: Number(value(request, 'nSeqEvento') ?? 1),
    cOrgao: value(request, 'cOrgao'),
    author,
  }
}

// What an event tells of the destinatário: the author of a manifestação is one, and the answer may name it.
function recipientOfEvent(answer: XmlElement, tpEvento: number, author: string | undefined): Party[] {
  if (isManifestation(tpEvento)) return author === undefined ? [] : [{ taxId: author, role: 'destinatario' }]
  const named = value(answer, 'CNPJDest') ?? value(answer, 'CPFDest')
  return named === undefined || named === author ? [] : [{ taxId: named, role: 'destinatario' }]
}

function inspectSummary(root: XmlElement): Inspected | Refused {
  const chave = value(root, 'chNFe')
  if (chave === undefined) return { refused: 'resNFe sem chave de acesso' }
  return {
    service: 'nfe',
    kind: 'summary',
    schema: schemaOf('resNFe', root, root, '1.01'),
    chave,
    parties: party(root, 'emitente'),
    registeredAt: value(root, 'dhRecbto'),
  }
}

function inspectEventSummary(root: XmlElement): Inspected | Refused {
  const chave = value(root, 'chNFe')
  const tpEvento = Number(value(root, 'tpEvento'))
  if (chave === undefined || !Number.isInteger(tpEvento)) return { refused: 'resEvento incompleto' }
  return {
    service: 'nfe',
    kind: 'event-summary',
    schema: schemaOf('resEvento', root, root, '1.01'),
    chave,
    parties: [],
    registeredAt: value(root, 'dhRecbto') ?? value(root, 'dhEvento'),
    tpEvento,
    nSeqEvento: Number(value(root, 'nSeqEvento') ?? 1),
    cOrgao: value(root, 'cOrgao'),
    author: taxIdOf(root),
  }
}

/** Whether the code is one of the four of the manifestação do destinatário (NT 2020.001). */
export function isManifestation(tpEvento: number): boolean {
  return [210200, 210210, 210220, 210240].includes(tpEvento)
}

function situationOf(cStat: string | undefined): Inspected['situation'] {
  if (cStat !== undefined && ['110', '205', '301', '302', '303'].includes(cStat)) return 'denied'
  if (cStat !== undefined && ['101', '151', '155'].includes(cStat)) return 'cancelled'
  return 'authorized'
}

function schemaOf(name: string, root: XmlElement, inner: XmlElement, fallback = '4.00'): string {
  return `${name}_v${root.attributes.versao ?? inner.attributes.versao ?? fallback}.xsd`
}

function idKey(info: XmlElement): string | undefined {
  return /[0-9A-Z]{44}$/.exec(info.attributes.Id ?? '')?.[0]
}

function taxIdOf(group: XmlElement | undefined): string | undefined {
  const id = value(group, 'CNPJ') ?? value(group, 'CPF')
  return id === undefined || /^0+$/.test(id) ? undefined : id
}

function party(group: XmlElement | undefined, role: Role): Party[] {
  const taxId = taxIdOf(group)
  return taxId === undefined ? [] : [{ taxId, role }]
}
