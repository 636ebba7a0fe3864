import { lookup } from 'node:dns'
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
 * Throws OutboundError. `exempt`: the one host with its port that may be anywhere. `stop`: ends it early.
 */
export async function fetchOutside(
  address: string,
  { exempt, stop }: { exempt: string | null; stop: AbortSignal },
): Promise<Buffer> {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new OutboundError('no-address', 'http or https without a login')
  const isExempt = url.host === exempt
  const literal = url.hostname.replace(/^\[|\]$/g, '')
  // No name is looked up for these.
  if (!isExempt && isIP(literal) && !isPublic(literal)) throw new OutboundError('not-public', url.hostname)
  const patience = AbortSignal.timeout(patienceMs)
  try {
    return await readBody(await get(url, AbortSignal.any([patience, stop]), isExempt ? undefined : lookupPublic))
  } catch (cause) {
    if (cause instanceof OutboundError) throw cause
    if (patience.aborted) throw new OutboundError('too-slow', url.host, { cause })
    throw new OutboundError('unreachable', url.host, { cause })
  }
}

// Without an agent there is no connection from before, to an address that was not looked at.
function get(url: URL, signal: AbortSignal, lookup: LookupFunction | undefined): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http
    const headers = { accept: '*/*', 'accept-encoding': 'identity' }
    request(url, { agent: false, lookup, signal, headers }, resolve).on('error', reject).end()
  })
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  using _ = { [Symbol.dispose]: () => void response.destroy() }
  if (response.statusCode !== 200) throw new OutboundError('refused', `status ${response.statusCode}`)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += chunk.length
    if (size > bytesMax) throw new OutboundError('too-large', `more than ${bytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

// The connection goes to one of the addresses that are handed back, and to no other.
const lookupPublic: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    if (error) return callback(error, [])
    const open = found.filter(({ address }) => isPublic(address))
    const [first] = open
    if (!first) return callback(new OutboundError('not-public', host), [])
    if (options.all) callback(null, open)
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
