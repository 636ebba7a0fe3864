import { createHash, createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'

/** What happens to a request instead of its answer: a status, or the connection ends after so many bytes of it. */
export type Fault = { status: number } | { cutAfter: number } | null

export interface BucketServer {
  endpoint: string
  objects: Map<string, { content: Buffer; at: Date }>
  /** Parts of uploads that were neither completed nor given up. */
  openUploads(): number
  requests: string[]
  /** Asked for each request. */
  fault: (request: { method: string; key: string; query: URLSearchParams }) => Fault
  /** Whether it knows `If-None-Match`; otherwise it refuses it, as some do. */
  knowsConditions: boolean
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A server for objects, as the API reference of Amazon S3 describes it, as far as copies use it. It believes no request whose signature (version 4), whose digest or whose checksum
 * is not the right one.
 */
export async function startBucketServer({
  bucket,
  region,
  keyId,
  secret,
  pageLength = 1_000,
}: {
  bucket: string
  region: string
  keyId: string
  secret: string
  pageLength?: number
}): Promise<BucketServer> {
  const objects: BucketServer['objects'] = new Map()
  const uploads = new Map<string, { key: string; parts: Map<number, Buffer> }>()
  const state = { fault: (() => null) as BucketServer['fault'], knowsConditions: true, requests: [] as string[] }

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url!, 'http://server')
    const body = await buffer(request)
    const problem = findForgery(request, url, body, { region, keyId, secret })
    if (problem) return refuse(response, 403, 'SignatureDoesNotMatch', problem)
    const [, name, ...rest] = decodeURIComponent(url.pathname).split('/')
    if (name !== bucket) return refuse(response, 404, 'NoSuchBucket')
    const [key, query, method] = [rest.join('/'), url.searchParams, request.method!]
    state.requests.push(`${method} ${key}${url.search}`)
    const fault = state.fault({ method, key, query })
    if (fault && 'status' in fault) return refuse(response, fault.status, 'InternalError')
    const isConditional = request.headers['if-none-match'] !== undefined
    if (isConditional && !state.knowsConditions) return refuse(response, 501, 'NotImplemented')
    const exists = isConditional && objects.has(key)
    const etagOf = (content: Buffer) => `"${createHash('md5').update(content).digest('hex')}"`
    const uploadId = query.get('uploadId')
    const upload = uploadId === null ? undefined : uploads.get(uploadId)
    if (uploadId !== null && upload?.key !== key) return refuse(response, 404, 'NoSuchUpload')

    if (method === 'GET' && key === '') return send(response, 200, listPage(query))
    if (method === 'PUT' && upload) {
      upload.parts.set(Number(query.get('partNumber')), body)
      return send(response, 200, '', { etag: etagOf(body) })
    }
    if (method === 'PUT') {
      if (exists) return refuse(response, 412, 'PreconditionFailed')
      objects.set(key, { content: body, at: new Date() })
      return send(response, 200, '', { etag: etagOf(body) })
    }
    if (method === 'POST' && query.has('uploads')) {
      const id = randomUUID()
      uploads.set(id, { key, parts: new Map() })
      return send(response, 200, xml('InitiateMultipartUploadResult', `<Key>${key}</Key><UploadId>${id}</UploadId>`))
    }
    if (method === 'POST' && upload) {
      const wanted = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) =>
        Number(number),
      )
      const tags = [...body.toString().matchAll(/<ETag>([^<]+)<\/ETag>/g)].map(([, tag]) =>
        tag!.replaceAll('&quot;', '"'),
      )
      const parts = wanted.map((number) => upload.parts.get(number))
      if (parts.some((part, n) => !part || etagOf(part) !== tags[n])) return refuse(response, 400, 'InvalidPart')
      if (parts.slice(0, -1).some((part) => part!.length < 5 << 20)) return refuse(response, 400, 'EntityTooSmall')
      if (exists) return refuse(response, 412, 'PreconditionFailed')
      const content = Buffer.concat(parts as Buffer[])
      objects.set(key, { content, at: new Date() })
      uploads.delete(uploadId!)
      return send(
        response,
        200,
        xml('CompleteMultipartUploadResult', `<Key>${key}</Key><ETag>${etagOf(content)}</ETag>`),
      )
    }
    if (method === 'DELETE') {
      if (uploadId !== null) uploads.delete(uploadId)
      else objects.delete(key)
      return send(response, 204, '')
    }
    const found = objects.get(key)
    if (!found) return refuse(response, 404, 'NoSuchKey')
    const headers = { etag: etagOf(found.content), 'last-modified': found.at.toUTCString() }
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const content = found.content.subarray(from)
    response.writeHead(from > 0 ? 206 : 200, { ...headers, 'content-length': content.length })
    if (method === 'HEAD') return response.end()
    if (!fault) return response.end(content)
    response.write(content.subarray(0, fault.cutAfter), () => response.destroy())
  }

  const listPage = (query: URLSearchParams) => {
    const [prefix, token] = [query.get('prefix') ?? '', query.get('continuation-token') ?? '']
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > token).sort()
    const page = keys.slice(0, pageLength)
    const next = keys.length > page.length ? `<NextContinuationToken>${page.at(-1)}</NextContinuationToken>` : ''
    const rows = page.map((key) => {
      const { content, at } = objects.get(key)!
      return `<Contents><Key>${key}</Key><Size>${content.length}</Size><LastModified>${at.toISOString()}</LastModified></Contents>`
    })
    return xml('ListBucketResult', `<IsTruncated>${next !== ''}</IsTruncated>${next}${rows.join('')}`)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => refuse(response, 500, 'InternalError', String(error)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(state, {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    openUploads: () => uploads.size,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}

const xml = (root: string, content: string) => `<?xml version="1.0" encoding="UTF-8"?><${root}>${content}</${root}>`

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/xml', ...headers }).end(body)
}

function refuse(response: ServerResponse, status: number, code: string, message = code): void {
  send(response, status, xml('Error', `<Code>${code}</Code><Message>${message}</Message>`))
}

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()

// What is not as it was signed; null: all is. "Signature Calculations for the Authorization Header" of the API reference.
function findForgery(
  request: IncomingMessage,
  url: URL,
  body: Buffer,
  { region, keyId, secret }: { region: string; keyId: string; secret: string },
): string | null {
  const { authorization = '' } = request.headers
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=(\w{64})$/.exec(
      authorization,
    )
  const [, givenId, day = '', givenRegion, signedHeaders = '', signature] = found ?? []
  if (givenId !== keyId || givenRegion !== region) return 'not this key, or not this region'
  const header = (name: string) =>
    String(request.headers[name] ?? '')
      .trim()
      .replace(/ +/g, ' ')
  const [date, digest] = [header('x-amz-date'), header('x-amz-content-sha256')]
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  if (!date.startsWith(day) || !(Math.abs(Date.now() - at) < 900_000)) return 'not of now'
  const signed = signedHeaders.split(';')
  const named = Object.keys(request.headers).filter((name) => name === 'host' || name.startsWith('x-amz-'))
  const unsigned = named.filter((name) => !signed.includes(name))
  if (unsigned.length > 0) return `not signed: ${unsigned.join()}`
  const encode = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const path = decodeURIComponent(url.pathname).split('/').map(encode).join('/')
  const lines = signed.map((name) => `${name}:${header(name)}\n`).join('')
  const canonical = [request.method, path, query, lines, signedHeaders, digest].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const key = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${secret}`)
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  if (hmac(key, text).toString('hex') !== signature) return 'the signature is another'
  if (digest !== sha256(body)) return 'the content is not the one that was signed'
  const checksum = request.headers['x-amz-checksum-crc32']
  const ours = Buffer.alloc(4)
  ours.writeUInt32BE(crc32(body))
  if (checksum !== undefined && checksum !== ours.toString('base64')) return 'the checksum is another'
  return null
}
