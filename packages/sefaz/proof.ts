import { chaveParts, parseChave } from '@vigia/dfe/chave'
import { child, openDocument, value, type XmlElement } from '@vigia/dfe/document'
import { verifySignature } from '@vigia/xml/verify'

/**
 * What the verification of a complete document found: `proved`, or the gravest thing that does not agree. `altered`: the digest, `signature`:
 * the value of the signature, `form`: not of the shape that the authority accepts, `unsigned`: no signature over the document.
 */
export type Proof = 'proved' | 'altered' | 'signature' | 'form' | 'unsigned' | 'protocol' | 'chave'

/**
 * Verifies a complete NF-e or CT-e: its XML signature, the digest in its protocol, and its chave. Whose certificate it is, and whether that was
 * valid, is not judged: the authority did so before it authorised. Null when it cannot be verified.
 */
export function proofOf(xml: Uint8Array): Proof | null {
  const root = openDocument(xml)
  const document = [root, ...root.children].find((one) => child(one, 'infNFe') ?? child(one, 'infCte'))
  const inf = child(document, 'infNFe') ?? child(document, 'infCte')
  if (inf === undefined) return null
  const { valid, reason, id, digest } = verifySignature(root)
  if (reason === 'digest' && isMasked(inf)) return null
  if (reason === 'digest') return 'altered'
  if (reason === 'no-signature') return child(document, 'Signature') === undefined ? 'unsigned' : 'form'
  if (!valid) return reason === 'signature' ? 'signature' : 'form'
  // The signature may be that of another element than the one that is read.
  if (id !== inf.attributes.Id) return 'unsigned'

  const chave = id!.replace(/^(NFe|CTe)/, '')
  const infProt = child(root, 'protNFe/infProt') ?? child(root, 'protCTe/infProt')
  if (infProt !== undefined) {
    const digVal = value(infProt, 'digVal')
    const ofChave = value(infProt, 'chNFe') ?? value(infProt, 'chCTe')
    if ((digVal !== undefined && digVal !== digest) || ofChave !== chave) return 'protocol'
  }
  return isOwnChave(chave, inf) ? 'proved' : 'chave'
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
function isOwnChave(chave: string, inf: XmlElement): boolean {
  if (parseChave(chave) === null) return false
  const parts = chaveParts(chave)
  const ide = child(inf, 'ide')
  const issuedAt = value(ide, 'dhEmi') ?? value(ide, 'dEmi') ?? ''
  const emit = child(inf, 'emit')
  const issuer = value(emit, 'CNPJ') ?? value(emit, 'CPF')?.padStart(14, '0')
  // The chave of a nota avulsa (séries 890 to 919) has the CNPJ of the Fisco.
  const isAvulsa = inf.name === 'infNFe' && parts.serie >= 890 && parts.serie <= 919
  return (
    value(ide, 'cUF') === parts.cUF &&
    issuedAt.slice(2, 4) + issuedAt.slice(5, 7) === parts.aamm &&
    (isAvulsa || issuer === parts.cnpj) &&
    value(ide, 'mod') === parts.mod &&
    Number(value(ide, 'serie')) === parts.serie &&
    Number(value(ide, 'nNF') ?? value(ide, 'nCT')) === parts.numero &&
    (isOld(inf) || (value(ide, 'tpEmis') === parts.tpEmis && (value(ide, 'cNF') ?? value(ide, 'cCT')) === parts.cNF))
  )
}

// Before layout 2.00 of the NF-e and 1.04 of the CT-e cNF had nine digits, and the chave no tpEmis.
function isOld(inf: XmlElement): boolean {
  const version = Number(inf.attributes.versao)
  return version < (inf.name === 'infNFe' ? 2 : 1.04)
}
