// A walk through DER as far as certificates need it: tags of one byte and definite lengths are all there is in them.

export interface DerNode {
  tag: number
  content: Uint8Array
  /** With its tag and its length. */
  whole: Uint8Array
}

// Where the content of the element at `at` begins; the end of `bytes` when there is none.
function contentStart(bytes: Uint8Array, at: number): number {
  const length = bytes[at + 1] ?? 0
  return Math.min(bytes.length, length < 0x80 ? at + 2 : at + 2 + (length & 0x7f))
}

// Where the element at `at` ends; NaN when it does not end within `bytes`.
function endOf(bytes: Uint8Array, at: number): number {
  if (at + 2 > bytes.length) return Number.NaN
  let length = bytes[at + 1]!
  let start = at + 2
  if (length >= 0x80) {
    const lengthBytes = length & 0x7f
    if (lengthBytes === 0 || lengthBytes > 4) return Number.NaN
    length = 0
    for (const end = start + lengthBytes; start < end; start++) length = length * 256 + (bytes[start] ?? 0)
  }
  return start + length > bytes.length ? Number.NaN : start + length
}

// Whoever asks for the elements of what nobody has signed yet must not get a million.
const nodesMax = 1_000

/** The elements one after the other, a thousand at most; what cannot be walked ends the list. */
export function children(content: Uint8Array | undefined): DerNode[] {
  const nodes: DerNode[] = []
  if (content === undefined) return nodes
  for (let at = 0; at < content.length && nodes.length < nodesMax; ) {
    const end = endOf(content, at)
    if (Number.isNaN(end)) return nodes
    const start = contentStart(content, at)
    nodes.push({ tag: content[at]!, content: content.subarray(start, end), whole: content.subarray(at, end) })
    at = end
  }
  return nodes
}

export function hex(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : ''
}

export function latin1(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('latin1') : ''
}

/** What an extension says: the only element in its value. */
export interface Extension {
  critical: boolean
  value: DerNode | undefined
}

/** Reads `Extensions` (RFC 5280 §4.1), by the bytes of their OID in hex. */
export function readExtensions(content: Uint8Array | undefined): Map<string, Extension> {
  return new Map(
    children(content).map((extension) => {
      const fields = children(extension.content)
      const critical = fields.length > 2 && fields[1]?.content[0] !== 0
      return [hex(fields[0]?.content), { critical, value: children(fields.at(-1)?.content)[0] }]
    }),
  )
}

/** The fields of the part of a certificate that is signed (`tbsCertificate`, RFC 5280 §4.1). */
export function certificateFields(der: Uint8Array): DerNode[] {
  return children(children(children(der)[0]?.content)[0]?.content)
}

/** The extensions of a certificate. */
export function certificateExtensions(der: Uint8Array): Map<string, Extension> {
  const wrapped = certificateFields(der).find(({ tag }) => tag === 0xa3)
  return readExtensions(children(wrapped?.content)[0]?.content)
}
