import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

// Best encoding that the client accepts; null: send the bytes as they are (RFC 9110 §12.5.3).
function encodingOf(accepted = ''): 'br' | 'gzip' | null {
  const wanted = accepted.toLowerCase().replaceAll(' ', '').split(',')
  const names = wanted.filter((one) => !one.endsWith(';q=0')).map((one) => one.split(';', 1)[0])
  return names.includes('br') ? 'br' : names.includes('gzip') ? 'gzip' : null
}

// Smaller responses fit into one packet: compression gains nothing.
const bytesMin = 1_400
// Each response is compressed for one client: these levels take about a millisecond for a page of documents.
const quick = { br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, gzip: { level: 5 } }

/** The response, compressed if its client accepts that; `Vary` tells caches so. */
export async function sendText(request: FastifyRequest, reply: FastifyReply, content: Buffer): Promise<FastifyReply> {
  varyByEncoding(reply)
  const encoding = content.length < bytesMin ? null : encodingOf(request.headers['accept-encoding'])
  if (!encoding) return reply.send(content)
  const compressed =
    encoding === 'br' ? await promisify(brotliCompress)(content, quick.br) : await promisify(gzip)(content, quick.gzip)
  return reply.header('content-encoding', encoding).send(compressed)
}

function varyByEncoding(reply: FastifyReply): void {
  const known = reply.getHeader('vary')
  void reply.header('vary', known === undefined ? 'Accept-Encoding' : `${String(known)}, Accept-Encoding`)
}

/** The same bytes in each encoding that they have, each with its tag. */
export interface KeptBytes {
  identity: TaggedBytes
  br?: TaggedBytes | undefined
  gzip?: TaggedBytes | undefined
}

interface TaggedBytes {
  content: Buffer
  tag: string
}

/** Bytes that are sent again and again: nothing is made for a single client. */
export function keepBytes({ identity, br, gzip }: { identity: Buffer; br?: Buffer; gzip?: Buffer }): KeptBytes {
  const tagged = (content: Buffer) => ({ content, tag: tagOf(content) })
  return { identity: tagged(identity), br: br && tagged(br), gzip: gzip && tagged(gzip) }
}

/** `keepBytes` of a text, compressed here. */
export async function keepText(text: string | Buffer): Promise<KeptBytes> {
  const identity = Buffer.from(text)
  const small = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  const [br, gz] = await Promise.all([promisify(brotliCompress)(identity, small), promisify(gzip)(identity)])
  return keepBytes({ identity, br, gzip: gz })
}

/** Sends `kept` in the encoding that the client takes, or 304 when it has these bytes already. */
export function sendKept(request: FastifyRequest, reply: FastifyReply, kept: KeptBytes): FastifyReply {
  const encoding = encodingOf(request.headers['accept-encoding'])
  const encoded = encoding && kept[encoding]
  const { content, tag } = encoded || kept.identity
  varyByEncoding(reply)
  void reply.header('etag', tag)
  if (hasTag(request.headers['if-none-match'], tag)) return reply.status(304).send()
  if (encoded) void reply.header('content-encoding', encoding)
  return reply.send(content)
}

/** The entity tag of `content`. */
export function tagOf(content: Uint8Array): string {
  return `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
}

/** Whether If-None-Match names `tag`. Proxies that compress on the way make a tag weak (RFC 9110 §13.1.2). */
export function hasTag(given: string | undefined, tag: string): boolean {
  return given?.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag) ?? false
}
