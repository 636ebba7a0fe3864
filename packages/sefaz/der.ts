// Minimal DER parser for certificates: only one-byte tags and definite lengths.

interface DerNode {
  tag: number
  content: Uint8Array
}

// Start and end of the content of the element at `at`; null when it does not end within `bytes`.
function contentAt(bytes: Uint8Array, at: number): { start: number; end: number } | null {
  if (at + 2 > bytes.length) return null
  let length = bytes[at + 1]!
  let start = at + 2
  if (length >= 0x80) {
    const lengthBytes = length & 0x7f
    if (lengthBytes === 0 || lengthBytes > 4) return null
    length = 0
    for (const end = start + lengthBytes; start < end; start++) length = length * 256 + (bytes[start] ?? 0)
  }
  return start + length > bytes.length ? null : { start, end: start + length }
}

// Limit for input whose signature is not verified yet, because it could hold a million elements.
const nodesMax = 1_000

/** The elements one after the other, a thousand at most; what cannot be walked ends the list. */
export function children(content: Uint8Array | undefined): DerNode[] {
  const nodes: DerNode[] = []
  if (content === undefined) return nodes
  for (let at = 0; at < content.length && nodes.length < nodesMax; ) {
    const found = contentAt(content, at)
    if (found === null) return nodes
    nodes.push({ tag: content[at]!, content: content.subarray(found.start, found.end) })
    at = found.end
  }
  return nodes
}

export function hex(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : ''
}

export function latin1(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('latin1') : ''
}

/** The only element in the value of an extension of a certificate, by the bytes of its OID in hex (RFC 5280 §4.1, tbsCertificate). */
export function extensionOf(der: Uint8Array, oid: string): DerNode | undefined {
  const fields = children(children(children(der)[0]?.content)[0]?.content)
  const [extensions] = children(fields.find(({ tag }) => tag === 0xa3)?.content)
  const found = children(extensions?.content).find(({ content }) => hex(children(content)[0]?.content) === oid)
  return children(children(found?.content).at(-1)?.content)[0]
}
