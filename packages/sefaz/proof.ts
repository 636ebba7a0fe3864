import { chaveParts, parseChave } from '@vigia/dfe/chave'
import { child, value, type XmlElement } from '@vigia/dfe/document'
import { decodeXml, parseXml } from '@vigia/xml/parse'
import { verifySignature, verifyWritten } from '@vigia/xml/verify'

/**
 * What the verification of a complete document found: `proved`, or the gravest thing that does not agree. `altered`: the digest, `signature`:
 * the value of the signature, `form`: not of the shape that the authority accepts, `unsigned`: no signature over the document.
 */
export type Proof = 'proved' | 'altered' | 'signature' | 'form' | 'unsigned' | 'protocol' | 'chave'

/**
 * Verifies a complete NF-e or CT-e: its XML signature, the digest in its protocol, and its chave. Whose certificate it is, and whether that was
 * valid, is not judged: the authority did so before it authorised. Null when it cannot be verified. Throws `XmlError` when it is not well formed.
 */
export function proofOf(xml: Uint8Array): Proof | null {
  const text = decodeXml(xml)
  return isProvedAsWritten(text) ? 'proved' : proofOfParsed(parseXml(text))
}

function proofOfParsed(root: XmlElement): Proof | null {
  const documents = [root, ...root.children].filter((one) => groupsOf(one).length > 0)
  const [document] = documents
  if (document === undefined) return null
  // Of two nobody knows which one is read.
  const [inf, another] = groupsOf(document)
  if (documents.length > 1 || another !== undefined) return 'form'
  const { valid, reason, id, digest } = verifySignature(root)
  if (reason === 'digest' && isMasked(inf!)) return null
  if (reason === 'digest') return 'altered'
  if (reason === 'no-signature') return child(document, 'Signature') === undefined ? 'unsigned' : 'form'
  if (!valid) return reason === 'signature' ? 'signature' : 'form'
  // The signature may be that of another element than the one that is read.
  if (id !== inf!.attributes.Id) return 'unsigned'

  const chave = chaveIn(id!)
  const infProt = child(root, 'protNFe/infProt') ?? child(root, 'protCTe/infProt')
  if (infProt !== undefined && !isOwnProtocol((name) => value(infProt, name), chave, digest!)) return 'protocol'
  const version = inf!.attributes.versao
  return isOwnChave(chave, inf!.name, version, (path) => value(inf, path)) ? 'proved' : 'chave'
}

const groupsOf = (element: XmlElement) => element.children.filter(({ name }) => name === 'infNFe' || name === 'infCte')

const chaveIn = (id: string) => id.replace(/^(NFe|CTe)/, '')

/** The text at a path of the signed group, or of the protocol. */
type FieldReader = (path: string) => string | undefined

function isOwnProtocol(field: FieldReader, chave: string, digest: string): boolean {
  const digVal = field('digVal')
  return (digVal === undefined || digVal === digest) && (field('chNFe') ?? field('chCTe')) === chave
}

// The way of nearly all documents, at a third of the cost: nothing but what is expected may stand around the signed group. Whatever is not found
// here is parsed.
function isProvedAsWritten(xml: string): boolean {
  const verified = verifyWritten(xml)
  if (verified === null) return false
  const { id, digest, start, end, inside, signature } = verified
  const [head, root, document] = before.exec(xml) ?? []
  if (head?.length !== start || inner[root!] !== document) return false
  const supplement = xml.slice(end, signature.start)
  if (supplement !== '' && !supplements.test(supplement)) return false
  after.lastIndex = signature.end
  const protocol = after.exec(xml)?.[1]
  const ide = inside.start + '<ide>'.length
  const emit = xml.indexOf('<emit>', ide) + '<emit>'.length
  if (protocol === undefined || !xml.startsWith('<ide>', inside.start) || emit > inside.end) return false

  const chave = chaveIn(id)
  const tag = xml.slice(start, inside.start)
  const group = tag.slice(1, tag.indexOf(' '))
  const groups: Record<string, string> = {
    ide: xml.slice(ide, xml.indexOf('</ide>', ide)),
    emit: xml.slice(emit, xml.indexOf('</emit>', emit)),
  }
  return (
    isOwnProtocol((name) => textIn(protocol, name), chave, digest) &&
    isOwnChave(chave, group, tag.split(' versao="')[1]?.split('"')[0], (path) => {
      const [name = '', field = ''] = path.split('/')
      return textIn(groups[name]!, field)
    })
  )
}

const inner: Record<string, string> = {
  nfeProc: 'NFe',
  cteProc: 'CTe',
  cteOSProc: 'CTeOS',
  cteSimpProc: 'CTeSimp',
  cteProcSimp: 'CTeSimp',
  GTVeProc: 'GTVe',
}
const before = /^(?:<\?xml [^<>]*\?>)?\s*<(\w+)(?: [^<>]*)?><(\w+)(?: [^<>]*)?>(?=<inf(?:NFe|Cte) )/
const supplements = /^<inf(?:NFe|CTe)Supl>(?:<\w+>[^<>]*<\/\w+>)*<\/inf(?:NFe|CTe)Supl>$/
const after =
  /<\/\w+><prot(?:NFe|CTe)(?: [^<>]*)?><infProt(?: [^<>]*)?>((?:<\w+>[^<>]*<\/\w+>)+)<\/infProt><\/prot(?:NFe|CTe)><\/\w+>\s*$/y

function textIn(xml: string, name: string): string | undefined {
  const tag = `<${name}>`
  const start = xml.indexOf(tag) + tag.length
  return start < tag.length ? undefined : xml.slice(start, xml.indexOf('<', start)).trim() || undefined
}

// In the copy of a CT-e for the readers in autXML the authority replaces the chaves of other documents by nines after the signature
// (MOC CT-e 4.00).
function isMasked(inf: XmlElement): boolean {
  return inf.name === 'infCte' && holdsText(inf, '9'.repeat(44))
}

function holdsText(element: XmlElement, text: string): boolean {
  return element.text === text || element.children.some((inner) => holdsText(inner, text))
}

// The chave against the fields that it repeats (MOC NF-e 7.0 and MOC CT-e 4.00: chave de acesso).
function isOwnChave(chave: string, group: string, version: string | undefined, field: FieldReader): boolean {
  if (parseChave(chave) === null) return false
  const parts = chaveParts(chave)
  const isNfe = group === 'infNFe'
  const issuedAt = field('ide/dhEmi') ?? field('ide/dEmi') ?? ''
  const issuer = field('emit/CNPJ') ?? field('emit/CPF')?.padStart(14, '0')
  // The chave of a nota avulsa (séries 890 to 919) has the CNPJ of the Fisco.
  const isAvulsa = isNfe && parts.serie >= 890 && parts.serie <= 919
  // Before layout 2.00 of the NF-e and 1.04 of the CT-e cNF had nine digits, and the chave no tpEmis.
  const isOld = Number(version) < (isNfe ? 2 : 1.04)
  return (
    field('ide/cUF') === parts.cUF &&
    issuedAt.slice(2, 4) + issuedAt.slice(5, 7) === parts.aamm &&
    (isAvulsa || issuer === parts.cnpj) &&
    field('ide/mod') === parts.mod &&
    Number(field('ide/serie')) === parts.serie &&
    Number(field(isNfe ? 'ide/nNF' : 'ide/nCT')) === parts.numero &&
    (isOld || (field('ide/tpEmis') === parts.tpEmis && field(isNfe ? 'ide/cNF' : 'ide/cCT') === parts.cNF))
  )
}
