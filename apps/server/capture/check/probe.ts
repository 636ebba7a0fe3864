import { X509Certificate } from 'node:crypto'
import https from 'node:https'
import tls, { type TLSSocket } from 'node:tls'
import { findChain } from '@vigia/sefaz/chain'
import { explainConnectionError } from '@vigia/sefaz/connection'
import { SefazError } from '@vigia/sefaz/error'

export interface HostReport {
  host: string
  protocol: string | null
  /** As the host sent it, its own certificate first. */
  chain: X509Certificate[]
  /** Null: its identity is confirmed. */
  error: SefazError | null
  /** How far the clock of the host is ahead of this machine's; null: it did not tell. */
  clockAheadMs: number | null
}

const timeoutMs = 15_000

/** Opens TLS to the host of `url` without certificate and query. Its clock is asked for only when its identity is confirmed. */
export async function examineHost(url: string, ca: string[]): Promise<HostReport> {
  const { hostname, host, port } = new URL(url)
  const secureContext = tls.createSecureContext({ minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' })
  for (const authority of ca) secureContext.context.addCACert(authority)
  const report: HostReport = { host, protocol: null, chain: [], error: null, clockAheadMs: null }
  const connection = {
    host: hostname,
    port: port === '' ? 443 : Number(port),
    servername: hostname,
    secureContext,
  }
  const shown = await new Promise<Error | null>((resolve) => {
    // Verified below: the chain is read also of a host that is refused.
    const socket = tls.connect({ ...connection, rejectUnauthorized: false, requestOCSP: true })
    const end = (error: Error | null) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(error)
    }
    const timer = setTimeout(() => end(Object.assign(new Error('no connection'), { code: 'ETIMEDOUT' })), timeoutMs)
    // Before a host that demands a certificate in the handshake ends it.
    socket.once('OCSPResponse', () => {
      report.chain = chainOf(socket)
    })
    socket.once('secureConnect', () => {
      report.chain = chainOf(socket)
      report.protocol = socket.getProtocol()
      end(
        socket.authorized ? null : Object.assign(new Error('unverified'), { code: String(socket.authorizationError) }),
      )
    })
    socket.once('error', (error) => end(error))
  })
  if (shown && demandsCertificate(shown) && report.chain.length > 0)
    report.error = judgeChain(report.chain, hostname, ca)
  else if (shown) report.error = explainConnectionError(shown, false)
  if (!shown) report.clockAheadMs = await readClock(connection)
  return report
}

function chainOf(socket: TLSSocket): X509Certificate[] {
  const chain: X509Certificate[] = []
  let at = socket.getPeerCertificate(true)
  while (at?.raw && !chain.some(({ raw }) => raw.equals(at.raw))) {
    chain.push(new X509Certificate(at.raw))
    at = at.issuerCertificate
  }
  return chain
}

// Handshake failure, no certificate, bad certificate, certificate required: a host may end the handshake so when no certificate is shown.
function demandsCertificate({ message }: Error): boolean {
  return /SSL alert number (40|41|42|116)\b/.test(message)
}

// Because node:tls judges a chain only when the handshake has succeeded.
function judgeChain([leaf, ...above]: X509Certificate[], hostname: string, ca: string[]): SefazError | null {
  const chain = above.map((one) => one.toString())
  const detail = !leaf?.checkHost(hostname)
    ? 'ERR_TLS_CERT_ALTNAME_INVALID'
    : findChain({ certificate: leaf.toString(), chain }, [...tls.rootCertificates, ...ca])
      ? null
      : leaf.validToDate.getTime() < Date.now()
        ? 'CERT_HAS_EXPIRED'
        : above.length === 0
          ? 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
          : 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'
  return detail === null ? null : new SefazError('tls-chain', { detail })
}

function readClock(options: https.RequestOptions): Promise<number | null> {
  return new Promise((resolve) => {
    const request = https.request({ ...options, method: 'HEAD', path: '/', agent: false }, ({ headers }) => {
      const at = Date.parse(headers.date ?? '')
      end(Number.isNaN(at) ? null : at - Date.now())
    })
    const timer = setTimeout(() => end(null), timeoutMs)
    const end = (found: number | null) => {
      clearTimeout(timer)
      request.destroy()
      resolve(found)
    }
    request.on('error', () => end(null))
    request.end()
  })
}
