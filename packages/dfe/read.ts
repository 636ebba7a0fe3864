import { sizeBytesMax, XmlError } from '@vigia/xml/parse'
import { openDocument, type XmlElement } from './document.ts'
import { readCte } from './read-cte.ts'
import { readEvent, readEventSummary } from './read-event.ts'
import { readNfe, readNfeSummary } from './read-nfe.ts'

export {
  type CteDetails,
  type CteParty,
  type Fields,
  type NfeDetails,
  type NfeItem,
  type Reference,
  readDetails,
} from './details.ts'

/** Someone named in a document, with the code of the part it plays (codes of `roleNames`). */
export interface Party {
  role: number
  /** CNPJ of 14 positions or CPF of 11; a foreign party has none and is not listed. */
  taxId: string
  name?: string
}

/** What the product knows of an NF-e or CT-e (leiautes 1.10 to 4.00; NT 2014.002 for the resumo). */
export interface DocumentFacts {
  kind: 'document'
  type: 'nfe' | 'cte'
  root: string
  /** False for a `resNFe`, which carries neither destinatário nor items. */
  complete: boolean
  chave: string
  mod: string
  serie: number
  numero: number
  /** `dhEmi` or, in old layouts, `dEmi`, exactly as written; '' when the file has no date there. */
  issuedAt: string
  authorizedAt?: string
  protocol?: string
  issuerTaxId: string
  issuerName: string
  issuerIe?: string
  issuerUf?: string
  recipientTaxId?: string
  recipientName?: string
  /** Decimal text; '0' when the layout has no value. */
  amount: string
  parties: Party[]
  /** '' for a `resNFe`, which does not say it. */
  tpAmb: string
  tpNF?: string
  situation: 'authorized' | 'denied' | 'cancelled' | 'no-protocol'
  cStat?: string
  digest?: string
}

/** What the product knows of an event (MOC 7.0 evento genérico; MOC CT-e 4.00 §3.7; NT 2014.002 for the resumo). */
export interface EventFacts {
  kind: 'event'
  type: 'nfe' | 'cte'
  root: string
  /** True for a `resEvento`. */
  summary: boolean
  /** A `resEvento` is only given of registered events; `duplicate` is known from the authority's refusal to register it twice. */
  registration: 'registered' | 'duplicate' | 'none'
  chave: string
  tpEvento: number
  nSeqEvento: number
  cOrgao: string
  authorTaxId?: string
  dhEvento: string
  registeredAt?: string
  protocol?: string
  cStat?: string
  /** `descEvento` or, without one, `xEvento`, as written. */
  description: string
  /** `xJust`, `xCorrecao`, `xObs`, or the corrections of a CT-e as "grupo/campo: valor; …". */
  justification?: string
  /** What the event takes back, when it is one of those: the code and, where the file tells it, the protocol of the undone event. */
  undoes?: { tpEvento?: number; protocol?: string }
  /** Tax ids that the event admits as interested in the document (110150, `detEvento/autXML`). */
  named?: string[]
}

/** A file that is none of the known documents, and why, as a sentence for people. */
export interface UnknownFacts {
  kind: 'unknown'
  root?: string
  reason: string
}

/** Something odd in a file that was read nevertheless. */
export type Problem = { code: string; message: string }

/** What a received file says; it never throws, an unreadable file is `unknown` (NT 2014.002 §3.11, docZip; the root element decides, the schema only hints). */
export function readReceived(
  xml: Uint8Array,
  schema?: string,
): { facts: DocumentFacts | EventFacts | UnknownFacts; problems: Problem[] } {
  let root: XmlElement
  try {
    root = openDocument(xml, unread)
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    const reason =
      xml.length > sizeBytesMax
        ? 'O arquivo tem mais de 20 MB.'
        : `O conteúdo não é um XML bem formado (posição ${error.offset}).`
    return { facts: { kind: 'unknown', reason }, problems: [] }
  }
  const problems: Problem[] = []
  const facts = readRoot(root, problems)
  const expected = schema && rootsBySchema.get(schema.replace(/_v.*$/, ''))
  if (expected && !expected.includes(root.name)) {
    const message = `A SEFAZ anunciou ${schema}, mas o documento é ${root.name}.`
    problems.push({ code: 'schema-differs', message })
  }
  return { facts, problems }
}

// Groups of which no fact is taken: half of an NF-e is its items, and a third its signature.
const unread: ReadonlySet<string> = new Set([
  'det',
  'Signature',
  'cobr',
  'pag',
  'infAdic',
  'infRespTec',
  'enderDest',
  'imp',
  'infCTeNorm',
  'compl',
  'enderReme',
  'enderExped',
  'enderReceb',
  'enderToma',
])

const rootsBySchema = new Map([
  ['resNFe', ['resNFe']],
  ['procNFe', ['nfeProc']],
  ['resEvento', ['resEvento']],
  ['procEventoNFe', ['procEventoNFe']],
  ['procCTe', ['cteProc']],
  ['procCTeOS', ['cteOSProc']],
  // The package PL_CTe_400 named the root otherwise until NT 2026.002.
  ['procCTeSimp', ['cteSimpProc', 'cteProcSimp']],
  ['procGTVe', ['GTVeProc']],
  ['procEventoCTe', ['procEventoCTe']],
])

function readRoot(root: XmlElement, problems: Problem[]): DocumentFacts | EventFacts | UnknownFacts {
  switch (root.name) {
    case 'nfeProc':
    case 'NFe':
      return readNfe(root, problems)
    case 'resNFe':
      return readNfeSummary(root, problems)
    case 'cteProc':
    case 'CTe':
    case 'cteOSProc':
    case 'CTeOS':
    case 'cteSimpProc':
    case 'cteProcSimp':
    case 'CTeSimp':
    case 'GTVeProc':
    case 'GTVe':
      return readCte(root, problems)
    case 'procEventoNFe':
    case 'evento':
      return readEvent('nfe', root, problems)
    case 'procEventoCTe':
    case 'eventoCTe':
      return readEvent('cte', root, problems)
    case 'resEvento':
      return readEventSummary(root, problems)
    default:
      return { kind: 'unknown', root: root.name, reason: unknownReason(root.name) }
  }
}

const otherDocuments = new Map([
  ['mdfeProc', 'um MDF-e'],
  ['MDFe', 'um MDF-e'],
  ['procEventoMDFe', 'um evento de MDF-e'],
  ['procInutNFe', 'uma inutilização de numeração de NF-e'],
  ['ProcInutNFe', 'uma inutilização de numeração de NF-e'],
  ['procInutCTe', 'uma inutilização de numeração de CT-e'],
  ['procCancNFe', 'um cancelamento de NF-e do leiaute antigo'],
  ['procCancCTe', 'um cancelamento de CT-e do leiaute antigo'],
  ['retDistDFeInt', 'uma resposta da distribuição, e não um documento'],
  ['enviNFe', 'um lote de envio de NF-e, e não um documento'],
  ['envEvento', 'um lote de envio de eventos, e não um documento'],
  ['CFe', 'um CF-e SAT'],
  ['nfcomProc', 'uma NFCom'],
  ['bpeProc', 'um BP-e'],
  ['nf3eProc', 'uma NF3e'],
  ['dceProc', 'uma DC-e'],
  ['CompNfse', 'uma NFS-e'],
  ['NFSe', 'uma NFS-e'],
])

function unknownReason(root: string): string {
  const other = otherDocuments.get(root)
  return other ? `O arquivo é ${other}.` : `O arquivo começa por <${root}>, que não é NF-e, CT-e nem evento deles.`
}
