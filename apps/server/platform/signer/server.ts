import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, lstat, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Connection } from '@vigia/sefaz/connection'
import { LRUCache } from 'lru-cache'
import { InstallationError } from '../installation.ts'
import { HandleGone, type RelayHead, writeError } from './messages.ts'
import type { CertificateUse, EventDetails, OpenedCertificate, Signer } from './signer.ts'

/** Age at which an opened certificate is closed, so that its purpose is recorded again; a capture turn with its pauses is shorter. */
const lifeMs = 60 * 60_000
const inputBytesMax = 256 * 1024
/** A lote of twenty events has 100 kB. */
const messageBytesMax = 4 * 1024 * 1024

interface Entry {
  opened: OpenedCertificate
  connection?: Connection
}

/** The calls of the socket, `POST /<name>` with JSON; the authority is asked by `relay`. */
export type Calls = ReturnType<typeof callsOf>

function callsOf(signer: Signer, entries: LRUCache<string, Entry>, entryOf: (handle: string) => Entry) {
  return {
    async check(_: object) {
      await signer.check()
      return {}
    },
    async tokensKey(_: object) {
      return { key: (await signer.tokensKey()).toString('base64') }
    },
    async seal(of: { workspaceId: number; companyId: number; privateKey: string }) {
      const { sealed, keyId } = await signer.seal(of.workspaceId, of.companyId, of.privateKey)
      return { sealed: sealed.toString('base64'), keyId }
    },
    async open({
      workspaceId,
      certificateId,
      use,
    }: {
      workspaceId: number
      certificateId: number
      use: CertificateUse
    }) {
      const opened = await signer.open(workspaceId, certificateId, use)
      if (!opened) return { opened: null }
      const handle = randomUUID()
      entries.set(handle, { opened })
      return { opened: { handle, id: opened.id, pem: opened.pem, validTo: opened.validTo.toISOString() } }
    },
    async connect({ handle }: { handle: string }) {
      const entry = entryOf(handle)
      entry.connection ??= await entry.opened.connect()
      return {}
    },
    async sign({ handle, details }: { handle: string; details: Omit<EventDetails, 'id'> & { id: string } }) {
      return { signed: await entryOf(handle).opened.sign({ ...details, id: BigInt(details.id) }) }
    },
    async release({ handle }: { handle: string }) {
      entries.delete(handle)
      return {}
    },
  }
}

/** Serves `signer` on a Unix socket with the permissions `mode`; whichever process opens it may call. */
export async function serveSigner(signer: Signer, path: string, mode: number): Promise<AsyncDisposable> {
  const entries = new LRUCache<string, Entry>({
    max: 1_000,
    ttl: lifeMs,
    dispose: ({ connection }) => connection?.close(),
  })
  const entryOf = (handle: string) => {
    const entry = entries.get(handle)
    if (entry) return entry
    throw new HandleGone('the certificate is not open any more')
  }
  const calls = callsOf(signer, entries, entryOf)
  const server = createServer((request, response) => void answer(calls, request, response))
  server.on('checkContinue', (request, response) => void relay(entryOf, request, response))
  await removeSocket(path)
  server.listen(path)
  await once(server, 'listening')
  await chmod(path, mode)
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      entries.clear()
      server.closeAllConnections()
      await closed
    },
  }
}

// A killed predecessor leaves its socket.
async function removeSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => null)
  if (!found) return
  if (found.isSocket()) return rm(path, { force: true })
  throw new InstallationError(
    `SIGNER_SOCKET (${path}) é um arquivo ou uma pasta, que não foi feito por este programa. Nada foi apagado: informe outro caminho, ou apague o que está lá.`,
  )
}

async function answer(calls: Calls, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const name = request.url?.slice(1) ?? ''
    if (request.method !== 'POST' || !Object.hasOwn(calls, name)) throw new Error(`no such call: ${name}`)
    const input = JSON.parse(await bodyOf(request, inputBytesMax))
    const output = await (calls[name as keyof Calls] as (input: unknown) => Promise<object>)(input)
    respond(response, 200, output)
  } catch (error) {
    respond(response, 500, writeError(error))
  }
}

/**
 * Passes a message on to the authority and its response back. The client is told to send the message when the connection to the authority is
 * there, so that it can still keep it; a client that goes away ends the connection.
 */
async function relay(
  entryOf: (handle: string) => Entry,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const { handle, url, headers, timeoutMs } = JSON.parse(String(request.headers['x-relay'])) as RelayHead
    const { connection } = entryOf(handle)
    if (!connection) throw new HandleGone('the certificate is not shown')
    response.on('close', () => {
      if (!response.writableFinished) connection.close()
    })
    const body = async () => {
      response.writeContinue()
      return bodyOf(request, messageBytesMax)
    }
    const {
      status,
      headers: answered,
      body: bytes,
    } = await connection.post(url, { headers: asked(headers), body, timeoutMs })
    // Headers of the authority may be longer than headers may be here.
    const head = Buffer.from(JSON.stringify({ status, headers: answered }))
    const size = Buffer.alloc(4)
    size.writeUInt32BE(head.length)
    response.writeHead(200, { 'content-length': size.length + head.length + bytes.length, connection: 'close' })
    response.write(size)
    response.write(head)
    response.end(bytes)
  } catch (error) {
    respond(response, 500, writeError(error))
  }
}

// Others are not the client's: the name in `host` would be the one that the authority has to prove.
function asked(headers: Record<string, string>): Record<string, string> {
  const ours = Object.entries(headers).filter(([name]) => /^(content-type|soapaction)$/i.test(name))
  return Object.fromEntries(ours)
}

async function bodyOf(request: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bytesMax) throw new Error('the message is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function respond(response: ServerResponse, status: number, value: object): void {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
  response.end(JSON.stringify(value))
}
