import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

// A browser names five.
const encodingsMax = 20

/** What the caller takes, or null when it takes the bytes as they are (RFC 9110 §12.5.3). */
export function encodingOf(accepted = ''): 'br' | 'gzip' | null {
  const encodings = accepted.toLowerCase().split(',', encodingsMax).map(readEncoding)
  const isAccepted = (name: string) => encodings.some((one) => one.name === name && one.weight > 0)
  return isAccepted('br') ? 'br' : isAccepted('gzip') ? 'gzip' : null
}

function readEncoding(text: string): { name: string; weight: number } {
  const [name = '', ...parameters] = text.split(';', 3).map((one) => one.trim())
  const weights = parameters.map((one) => one.split('=', 2)).filter(([key = '']) => key.trim() === 'q')
  return { name, weight: Number(weights[0]?.[1] ?? 1) }
}

// What fits into one packet gains nothing.
const bytesMin = 1_400
// Each response is compressed for one client: these levels take about a millisecond for a page of documents.
const quick = { br: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }, gzip: { level: 5 } }

/** The response, compressed if its client accepts that; `Vary` tells caches so. */
export async function sendText(request: FastifyRequest, reply: FastifyReply, content: Buffer): Promise<FastifyReply> {
  const known = reply.getHeader('vary')
  void reply.header('vary', known === undefined ? 'Accept-Encoding' : `${String(known)}, Accept-Encoding`)
  const encoding = content.length < bytesMin ? null : encodingOf(request.headers['accept-encoding'])
  if (!encoding) return reply.send(content)
  const compressed =
    encoding === 'br' ? await promisify(brotliCompress)(content, quick.br) : await promisify(gzip)(content, quick.gzip)
  return reply.header('content-encoding', encoding).send(compressed)
}
