import { createHash, type KeyObject, sign, type X509Certificate } from 'node:crypto'
import { canonicalize, dsigNamespace } from './canonicalize.ts'
import { parseXml, type XmlElement } from './parse.ts'
import { c14n, enveloped, pathsTo, rsaSha1, scopeAlone, sha1 } from './signature.ts'
import { tag } from './write.ts'

/** A document that cannot be signed as asked. */
export class SignError extends Error {
  override name = 'SignError'
}

/**
 * The same text with a `Signature` as last child of the parent of the element whose `Id` is given; nothing else changes
 * (XML Signature, enveloped; MOC CT-e 4.00 §3.2.4 and MOC NF-e 7.0: C14N 1.0, RSA-SHA1, only X509Certificate in KeyInfo).
 */
export function signEnveloped(xml: string, id: string, key: KeyObject, certificate: X509Certificate): string {
  const [path, another] = pathsTo(parseXml(xml), (element) => element.attributes.Id === id)
  if (path === undefined) throw new SignError(`No element has the Id ${id}`)
  if (another !== undefined) throw new SignError(`More than one element has the Id ${id}`)
  const signed = path.at(-1)!
  const parent = path.at(-2)
  if (parent === undefined) throw new SignError('The signed element must have a parent to hold the Signature')
  if (parent.children.some(({ name }) => name === 'Signature')) throw new SignError('The document is signed already')

  const namespaces = scopeAlone(path.slice(0, -1), [parent, signed])
  const digest = createHash('sha1').update(canonicalize(signed, namespaces)).digest('base64')
  const signedInfo = signedInfoOf(id, digest)
  const value = sign('RSA-SHA1', Buffer.from(canonicalSignedInfo(signedInfo, namespaces)), key).toString('base64')
  const signature = tag(
    'Signature',
    { xmlns: dsigNamespace },
    signedInfo,
    tag('SignatureValue', null, value),
    tag('KeyInfo', null, tag('X509Data', null, tag('X509Certificate', null, certificate.raw.toString('base64')))),
  )
  const endTag = xml.lastIndexOf('</', parent.end - 1)
  return xml.slice(0, endTag) + signature + xml.slice(endTag)
}

function signedInfoOf(id: string, digest: string): string {
  return tag(
    'SignedInfo',
    null,
    tag('CanonicalizationMethod', { Algorithm: c14n }),
    tag('SignatureMethod', { Algorithm: rsaSha1 }),
    tag(
      'Reference',
      { URI: `#${id}` },
      tag('Transforms', null, tag('Transform', { Algorithm: enveloped }), tag('Transform', { Algorithm: c14n })),
      tag('DigestMethod', { Algorithm: sha1 }),
      tag('DigestValue', null, digest),
    ),
  )
}

function canonicalSignedInfo(signedInfo: string, namespaces: Record<string, string>): string {
  const element: XmlElement = parseXml(signedInfo)
  return canonicalize(element, { ...namespaces, '': dsigNamespace })
}
