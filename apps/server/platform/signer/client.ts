import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Connection, HttpResponse } from '@vigia/sefaz/connection'
import { SefazError, UnsentError } from '@vigia/sefaz/error'
import { HandleGone, type RelayHead, readError } from './messages.ts'
import type { Calls } from './server.ts'
import type { OpenedCertificate, Signer } from './signer.ts'

/** The signer does not respond; nothing was done. */
export class SignerDown extends Error {
  override name = 'SignerDown'
}

const callMs = 30_000
const tryAgainMs = 2_000

/** The signer that listens at a Unix socket. */
export function connectSigner(socketPath: string, { answerMs }: { answerMs: number }): Signer & Disposable {
  let isDown = false
  let timer: NodeJS.Timeout | undefined
  const noteDown = () => {
    isDown = true
    timer ??= setInterval(() => void call('check', {}).catch(() => {}), tryAgainMs).unref()
  }
  const noteUp = () => {
    isDown = false
    clearInterval(timer)
    timer = undefined
  }
  const call = async <Name extends keyof Calls>(
    name: Name,
    input: Parameters<Calls[Name]>[0],
  ): Promise<Awaited<ReturnType<Calls[Name]>>> => {
    const { status, bytes } = await exchange({ socketPath, path: `/${name}` }, JSON.stringify(input)).catch(
      (cause: unknown) => {
        noteDown()
        throw new SignerDown('the signer does not respond', { cause })
      },
    )
    noteUp()
    const value = JSON.parse(bytes.toString())
    if (status === 200) return value
    if (name === 'check') noteDown()
    throw readError(value)
  }
  const connectionOf = (handle: string): Connection => {
    const open = new Set<() => void>()
    return {
      post(url, { body, headers, timeoutMs = answerMs, mayLeave }) {
        const head: RelayHead = { handle, url, headers, timeoutMs }
        return relay({ socketPath, head, body, timeoutMs, mayLeave, open, noteDown })
      },
      close() {
        for (const end of open) end()
        void call('release', { handle }).catch(() => {})
      },
    }
  }
  return {
    get isDown() {
      return isDown
    },
    check: async () => void (await call('check', {})),
    tokensKey: async () => Buffer.from((await call('tokensKey', {})).key, 'base64'),
    async seal(workspaceId, companyId, privateKey) {
      const { sealed, keyId } = await call('seal', { workspaceId, companyId, privateKey })
      return { sealed: Buffer.from(sealed, 'base64'), keyId }
    },
    async open(workspaceId, certificateId, use) {
      const { opened } = await call('open', { workspaceId, certificateId, use })
      if (!opened) return null
      const { handle, id, pem, validTo } = opened
      const certificate: OpenedCertificate = {
        id,
        pem,
        validTo: new Date(validTo),
        async connect() {
          await call('connect', { handle })
          return connectionOf(handle)
        },
        sign: async (details) =>
          (await call('sign', { handle, details: { ...details, id: String(details.id) } })).signed,
      }
      return certificate
    },
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

function exchange(to: RequestOptions, body: string): Promise<{ status: number; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': Buffer.byteLength(body) }
    const request = httpRequest({ ...to, method: 'POST', agent: false, headers, signal: AbortSignal.timeout(callMs) })
    request.on('error', reject)
    request.on('response', (response) => {
      buffer(response).then((bytes) => resolve({ status: response.statusCode ?? 0, bytes }), reject)
    })
    request.end(body)
  })
}

interface Relay {
  socketPath: string
  head: RelayHead
  body: string | (() => Promise<string>)
  timeoutMs: number
  mayLeave?: () => boolean
  /** Functions that end the calls under way. */
  open: Set<() => void>
  noteDown: () => void
}

// The signer enforces the timeout of the response; this extra time is for a signer that hangs.
const patienceMs = 5_000

function relay({ socketPath, head, body, timeoutMs, mayLeave, open, noteDown }: Relay): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let left = false
    let settled = false
    const request = httpRequest({
      socketPath,
      path: '/relay',
      method: 'POST',
      agent: false,
      headers: { expect: '100-continue', 'x-relay': JSON.stringify(head) },
    })
    const fail = (error: Error) => {
      settle()
      request.destroy()
      reject(error)
    }
    // Whatever happens before the message has left the authority does not know of.
    const cut = (detail: string) => fail(left ? new SefazError('refused', { detail }) : new UnsentError())
    const end = () => cut('closed here')
    const timer = setTimeout(() => {
      noteDown()
      cut('the signer did not answer')
    }, timeoutMs + patienceMs)
    const settle = () => {
      settled = true
      clearTimeout(timer)
      open.delete(end)
    }
    open.add(end)
    const leave = (text: string) => {
      left = true
      request.end(text)
    }
    request.on('continue', () => {
      if (mayLeave?.() === false) fail(new UnsentError())
      else if (typeof body === 'string') leave(body)
      else body().then(leave, fail)
    })
    request.on('response', (response) => {
      readResponse(response).then(
        (result) => {
          settle()
          if (result instanceof HandleGone) reject(new UnsentError())
          else if (result instanceof Error) reject(result)
          else resolve(result)
        },
        (error: Error) => cut(`the signer ended: ${error.message}`),
      )
    })
    request.on('error', (error) => {
      // Ended here: that says nothing of the signer.
      if (settled) return
      noteDown()
      cut(`the signer ended: ${error.message}`)
    })
    request.flushHeaders()
  })
}

async function readResponse(response: IncomingMessage): Promise<HttpResponse | Error> {
  const bytes = await buffer(response)
  if (response.statusCode !== 200) return readError(JSON.parse(bytes.toString()))
  const size = bytes.readUInt32BE(0)
  const { status, headers } = JSON.parse(bytes.subarray(4, 4 + size).toString())
  return { status, headers, body: bytes.subarray(4 + size) }
}
