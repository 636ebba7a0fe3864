import { parseReceived, type ReceivedXml, sizeBytesMax, type XmlElement, XmlError } from '@vigia/xml/parse'
import type { DocumentFacts, EventFacts, Problem, UnknownFacts } from './facts.ts'
import { families } from './families/all.ts'
import { familyOfRoot, parseKey } from './families/lookup.ts'
import { faultProblems, unknown } from './reading.ts'

export type { CteContents, ItemContents, NfeContents, ReformContents } from './contents.ts'
export { contentsOf } from './contents.ts'
export { detailsOf, readDetails } from './details.ts'
export type { CteDetails, CteParty, DocumentFacts, EventFacts, Fields, NfeDetails, NfeItem } from './facts.ts'

/** What one parse of a received file gives: `tree` is for `detailsOf` and `proofOf`, null if the file is not well formed. */
export interface ReadFile {
  facts: DocumentFacts | EventFacts | UnknownFacts
  problems: Problem[]
  tree: ReceivedXml | null
}

/**
 * Reads the facts of a received file. It never throws: an unreadable file is `unknown` (NT 2014.002
 * §3.11, docZip; the root element decides, the schema is only a hint).
 */
export function readReceived(xml: Uint8Array, schema?: string): ReadFile {
  let tree: ReceivedXml
  try {
    tree = parseReceived(xml)
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    const reason =
      xml.length > sizeBytesMax
        ? 'O arquivo tem mais de 20 MB.'
        : `O conteúdo não é um XML bem formado (posição ${error.offset}).`
    return { facts: { kind: 'unknown', reason }, problems: [], tree: null }
  }
  const { root, faults } = tree
  const problems = faultProblems(faults)
  const facts = familyOfRoot(root)?.read(root, problems) ?? unknown(root, unknownReason(root))
  const expected = schema && rootsBySchema.get(schema.split('_v', 1)[0]!)
  if (expected && !expected.includes(root.name)) {
    const message = `A SEFAZ anunciou ${schema}, mas o documento é ${root.name}.`
    problems.push({ code: 'schema-differs', message })
  }
  return { facts, problems, tree }
}

const rootsBySchema = new Map([
  ['resNFe', ['resNFe']],
  ['procNFe', ['nfeProc']],
  ['resEvento', ['resEvento']],
  ['procEventoNFe', ['procEventoNFe']],
  ['procCTe', ['cteProc']],
  ['procCTeOS', ['cteOSProc']],
  // The package PL_CTe_400 used another root name until NT 2026.002.
  ['procCTeSimp', ['cteSimpProc', 'cteProcSimp']],
  ['procGTVe', ['GTVeProc']],
  ['procEventoCTe', ['procEventoCTe']],
])

const ownMarks = families.flatMap(({ signed }) =>
  signed ? [`\\bId=["']${signed.prefix}`, `<(?:\\w+:)?${signed.chave}>`] : [],
)
const ownKey = new RegExp(`(?:${ownMarks.join('|')})([0-9A-Z]{20,60})`, 'g')

/** The first chave with the right check digit in the Id or the chave element of a file that cannot be read; null if there is none. */
export function findOwnKey(xml: string): string | null {
  for (const [, chave] of xml.matchAll(ownKey)) if (parseKey(chave!)?.valid) return chave!
  return null
}

const nfseNamespace = 'http://www.sped.fazenda.gov.br/nfse'

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

function unknownReason({ name, attributes }: XmlElement): string {
  const other =
    name === 'evento' && attributes.xmlns === nfseNamespace ? 'um evento de NFS-e' : otherDocuments.get(name)
  if (other) return `O arquivo é ${other}.`
  if (families.some(({ roots }) => Object.hasOwn(roots, name)))
    return `O arquivo começa por <${name}>, mas o seu namespace é de outro tipo de documento.`
  return `O arquivo começa por <${name}>, que não é NF-e, CT-e nem evento deles.`
}
