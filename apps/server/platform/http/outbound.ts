import { Resolver } from 'node:dns/promises'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'

/** Why an address that somebody else wrote was not fetched. */
type OutboundProblem =
  | 'no-address'
  | 'not-public'
  | 'unreachable'
  | 'too-slow'
  | 'refused' // another status than 200, redirects included
  | 'too-large'

/** Something that was not fetched; `message` is for the log. */
export class OutboundError extends Error {
  override name = 'OutboundError'
  readonly problem: OutboundProblem

  constructor(problem: OutboundProblem, detail: string, options?: { cause?: unknown }) {
    super(`${problem}: ${detail}`, options)
    this.problem = problem
  }
}

const bytesMax = 64 << 20
const patienceMs = 30_000

/**
 * Fetches from an address that somebody outside wrote: http and https, public IP addresses only, no redirects, 30 seconds and 64 MiB at most.
 * Throws OutboundError.
 */
export async function fetchOutside(address: string): Promise<Buffer> {
  return reach(address, { exempt: [], patienceMs }, get, readBody)
}

/** The response of an address that somebody outside wrote: its status, and the beginning of its body as text. */
export interface OutsideAnswer {
  status: number
  text: string
}

const answerBytesMax = 1_000
const answerPatienceMs = 10_000

/**
 * Sends `body` to an address that somebody outside wrote, under the rules of `fetchOutside`, for ten seconds at most, and reads a thousand bytes of
 * the response at most, whatever its status. Throws OutboundError when there is none. `exempt`: hosts with their ports that may be anywhere.
 */
export async function postOutside(
  address: string,
  body: string,
  { headers, exempt, stop }: { headers: Record<string, string>; exempt: readonly string[]; stop: AbortSignal },
): Promise<OutsideAnswer> {
  const bytes = Buffer.from(body)
  const post: Sending = { method: 'POST', headers: { ...headers, 'content-length': String(bytes.length) }, body: bytes }
  return reach(address, { exempt, stop, patienceMs: answerPatienceMs }, post, readBeginning)
}

interface Sending {
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: Buffer
}

const get: Sending = { method: 'GET', headers: {} }

async function reach<T>(
  address: string,
  { exempt, stop, patienceMs }: { exempt: readonly string[]; stop?: AbortSignal; patienceMs: number },
  sending: Sending,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<T> {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new OutboundError('no-address', 'http or https without a login')
  const isExempt = exempt.includes(url.host)
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  // No name is looked up for these.
  if (!isExempt && isIP(literal) && !isPublic(literal)) throw new OutboundError('not-public', url.hostname)
  const patience = AbortSignal.timeout(patienceMs)
  const signal = stop ? AbortSignal.any([patience, stop]) : patience
  try {
    const response = await request(url, sending, signal, isExempt ? undefined : resolvePublic)
    using _ = { [Symbol.dispose]: () => void response.destroy() }
    return await read(response)
  } catch (cause) {
    if (cause instanceof OutboundError) throw cause
    if (patience.aborted) throw new OutboundError('too-slow', url.host, { cause })
    throw new OutboundError('unreachable', url.host, { cause })
  }
}

// Without an agent there is no connection from before, to an address that was not looked at.
function request(
  url: URL,
  { method, headers, body }: Sending,
  signal: AbortSignal,
  lookup: LookupFunction | undefined,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http
    const all = { accept: '*/*', 'accept-encoding': 'identity', ...headers }
    request(url, { agent: false, lookup, signal, method, headers: all }, resolve)
      .on('error', reject)
      // After an unexpected 101 there is neither a response nor an error.
      .on('close', () => reject(new Error('closed without a response')))
      .end(body)
  })
}

async function readBeginning(response: IncomingMessage): Promise<OutsideAnswer> {
  const text = (await readBytes(response, answerBytesMax)).subarray(0, answerBytesMax).toString()
  // PostgreSQL takes no NUL.
  return { status: response.statusCode!, text: text.replaceAll('\0', '') }
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  if (response.statusCode !== 200) throw new OutboundError('refused', `status ${response.statusCode}`)
  const body = await readBytes(response, bytesMax)
  if (body.length > bytesMax) throw new OutboundError('too-large', `more than ${bytesMax} bytes`)
  return body
}

// Reads until there are more than `max` bytes.
async function readBytes(response: IncomingMessage, max: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    size += chunk.length
    if (size > max) break
  }
  return Buffer.concat(chunks)
}

const resolver = new Resolver({ timeout: 2_000, tries: 2 })

// The connection goes to one of the addresses that are handed back, and to no other. Asks the name servers itself: a lookup of the system holds one of the few
// threads of the process for as long as a name server likes.
const resolvePublic: LookupFunction = (host, { all }, callback) => {
  if (/(^|\.)localhost\.?$/i.test(host)) return callback(new OutboundError('not-public', host), [])
  void Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]).then(([four, six]) => {
    const found = [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ]
    const open = found.filter(({ address }) => isPublic(address))
    const [first] = open
    if (found.length === 0) callback(new OutboundError('unreachable', `${host} has no address`), [])
    else if (!first) callback(new OutboundError('not-public', host), [])
    else if (all) callback(null, open)
    else callback(null, first.address, first.family)
  })
}

/** Whether an IP address is one of the public internet (IANA special-purpose registries). */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, 'ipv4')
  return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')

const special = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  special.addSubnet(network, bits, 'ipv4')
// Teredo and 6to4 carry IPv4 addresses of any kind.
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special.addSubnet(network, bits, 'ipv6')
