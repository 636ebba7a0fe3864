import https from 'node:https'
import tls from 'node:tls'
import { SefazError, UnsentError } from './error.ts'

/** A response as it came, whatever its status. */
export interface HttpResponse {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

/** Posts messages with one client certificate (MOC CT-e 4.00 §3.2, padrões de comunicação). */
export interface Connection {
  post(url: string, message: Message): Promise<HttpResponse>
  close(): void
}

interface Message {
  /** A function is asked for it when the connection is there; when it fails, nothing leaves. */
  body: string | (() => Promise<string>)
  headers: Record<string, string>
  timeoutMs?: number
  /** Called on an open connection before the first byte is sent; false throws `UnsentError`. */
  mayLeave?: () => boolean
}

/** The same connection, whose messages leave only while `mayLeave` says so; otherwise they throw `UnsentError` (MOC CT-e 4.00 §3.2, padrões de comunicação). */
export function onlyWhile(connection: Connection, mayLeave: () => boolean): Connection {
  return { ...connection, post: (url, message) => connection.post(url, { ...message, mayLeave }) }
}

// The largest honest response is 50 documents; one compressed CT-e or NF-e stays far below 300 KB in base64.
const responseBytesMax = 16 * 1024 * 1024

/** Opens nothing yet: every call shows this certificate on a socket of its own, TLS 1.2, server always verified (MOC CT-e 4.00 §3.2, padrões de comunicação). */
export function connect(
  certificate: { key: string; certificate: string; chain: string[] },
  options: {
    ca?: string[]
    connectTimeoutMs?: number
    timeoutMs?: number
  } = {},
): Connection & { get(url: string): Promise<HttpResponse> } {
  const { connectTimeoutMs = 15_000, timeoutMs = 60_000 } = options
  const secureContext = tls.createSecureContext({
    key: certificate.key,
    // Servers without the intermediate authority refuse a leaf that comes alone.
    cert: [certificate.certificate, ...certificate.chain].join('\n'),
    minVersion: 'TLSv1.2',
    // IIS asks for the certificate after the request. In 1.2 that is a renegotiation; in 1.3 Node cannot answer it.
    maxVersion: 'TLSv1.2',
  })
  // The option `ca` would replace the default roots, which contain no ICP-Brasil, and only the union knows every host. To give it all of
  // them reads each again, 15 ms of the event loop for every connection; this is what Node does with each of the option.
  for (const authority of options.ca ?? []) secureContext.context.addCACert(authority)
  // A socket of its own for each call: an idle one may be closed by the server while a query travels, and a query must not be repeated
  // without knowing whether it was counted. The session of TLS is resumed.
  const agent = new https.Agent({ keepAlive: false, secureContext, rejectUnauthorized: true })
  return {
    post: (url, message) =>
      send(agent, { url, ...message, connectTimeoutMs, timeoutMs: message.timeoutMs ?? timeoutMs }),
    get: (url) => send(agent, { method: 'GET', url, body: '', headers: {}, connectTimeoutMs, timeoutMs }),
    close: () => agent.destroy(),
  }
}

interface PostRequest extends Message {
  method?: 'GET'
  url: string
  connectTimeoutMs: number
  timeoutMs: number
}

function send(agent: https.Agent, call: PostRequest): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    // Without it the server would have to prove the name in a header `host`. An address has no name that may be sent.
    const { hostname } = new URL(call.url)
    const { method = 'POST' } = call
    const servername = /^\[|^[\d.]+$/.test(hostname) ? '' : hostname
    const request = https.request(call.url, { agent, method, headers: call.headers, servername })
    let sent = false
    const leave = (text: string) => {
      const body = Buffer.from(text)
      sent = true
      // A known length keeps the body out of chunks, which some of the servers refuse.
      request.setHeader('content-length', body.length)
      request.end(body)
    }
    let connectTimer: NodeJS.Timeout | undefined
    const totalTimer = setTimeout(
      () => fail(new SefazError('timeout', { detail: `no answer in ${call.timeoutMs} ms`, sent })),
      call.timeoutMs,
    )
    const settle = () => {
      clearTimeout(connectTimer)
      clearTimeout(totalTimer)
    }
    const fail = (error: Error) => {
      settle()
      reject(error instanceof UnsentError ? error : explainConnectionError(error, sent))
      request.destroy()
    }

    request.on('socket', (socket) => {
      connectTimer = setTimeout(
        () => fail(new SefazError('unreached', { detail: `no connection in ${call.connectTimeoutMs} ms` })),
        call.connectTimeoutMs,
      )
      socket.once('secureConnect', () => {
        clearTimeout(connectTimer)
        if (call.mayLeave?.() === false) fail(new UnsentError())
        else if (typeof call.body === 'string') leave(call.body)
        else call.body().then(leave, fail)
      })
    })
    request.on('error', fail)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > responseBytesMax) {
          return fail(new SefazError('http', { status: response.statusCode, detail: 'answer too large' }))
        }
        chunks.push(chunk)
      })
      response.on('error', fail)
      response.on('end', () => {
        settle()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks, size) })
      })
    })
  })
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : ''
}

// The names OpenSSL gives to a refused server certificate (X509_V_ERR_*), as node:tls reports them.
const chainProblem =
  /^(UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|CERT_|CRL_|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME)/

// Alerts about the certificate that was shown (RFC 8446 §6.2): bad, unsupported, revoked, expired, unknown certificate, unknown CA, access denied,
// decrypt error, certificate required. Every other failure of TLS is the host's.
const certificateAlerts: ReadonlySet<number> = new Set([42, 43, 44, 45, 46, 48, 49, 51, 116])

const unreached =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT)$/

/** The failure that an error of node:net, node:tls or node:http is; `sent`: the first byte of the message had left. */
export function explainConnectionError(error: Error, sent: boolean): SefazError {
  if (error instanceof SefazError) return error
  const code = codeOf(error)
  // OpenSSL hides the alert in a long line: …:SSL routines:ssl3_read_bytes:tlsv1 alert unknown ca:…:SSL alert number 48
  const reason = /SSL routines:[^:]*:([^:]+)/.exec(error.message)?.[1]
  const options = { cause: error, sent, detail: [code, reason ?? (code ? '' : error.message)].join(' ').trim() }
  if (chainProblem.test(code)) return new SefazError('tls-chain', options)
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') {
    const alert = Number(/SSL alert number (\d+)/.exec(error.message)?.[1])
    if (certificateAlerts.has(alert)) return new SefazError('certificate', options)
    return new SefazError(sent ? 'refused' : 'encryption', options)
  }
  if (unreached.test(code) && !sent) return new SefazError('unreached', options)
  if (code.startsWith('HPE_')) return new SefazError('http', options)
  return new SefazError(code === 'ETIMEDOUT' ? 'timeout' : 'refused', options)
}
