import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { syncFolder } from '@vigia/embedded-postgres/durable'
import { InstallationError } from '../../platform/installation.ts'

// A file of a copy: magic, salt, and pieces of 1 MiB under AES-256-GCM, each with its tag behind it. The key comes from that of the copies, the
// salt and the name of the file (HKDF, SHA-256), so that no file can take the place of another; the nonce is the number of the piece and whether
// it is the last, so that none can be left out, moved or cut off. Inside is gzip.
const magic = Buffer.from('VIGIA-COPIA-1\n')
const saltBytes = 32
const pieceBytes = 1 << 20
const tagBytes = 16

const keyOf = (key: Buffer, salt: Buffer, name: string) =>
  Buffer.from(hkdfSync('sha256', key, salt, `vigia backup ${name}`, 32))

function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(number), 0)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

/** Writes `source` compressed and encrypted as the file `path`, whole or not at all. `name` must be the same to read it. */
export async function seal(source: Readable, path: string, key: Buffer, name: string): Promise<void> {
  const partial = `${path}.part`
  try {
    await pipeline(
      source,
      createGzip({ level: 1 }),
      (chunks: AsyncIterable<Buffer>) => encrypt(chunks, key, name),
      createWriteStream(partial, { mode: 0o600, flush: true }),
    )
    await rename(partial, path)
    await syncFolder(dirname(path))
  } finally {
    await rm(partial, { force: true })
  }
}

/** Hands what was sealed to `read`. When it returns, all of it was what had been written. */
export async function unseal<T>(
  path: string,
  key: Buffer,
  name: string,
  read: (content: AsyncIterable<Buffer>) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let result: T | undefined
  await pipeline(
    createReadStream(path, { highWaterMark: 1 << 20 }),
    (chunks: AsyncIterable<Buffer>) => decrypt(chunks, key, name, path),
    createGunzip(),
    async (content: AsyncIterable<Buffer>) => {
      result = await read(content)
    },
    { signal },
  )
  return result as T
}

async function* encrypt(chunks: AsyncIterable<Buffer>, key: Buffer, name: string): AsyncGenerator<Buffer> {
  const salt = randomBytes(saltBytes)
  yield Buffer.concat([magic, salt])
  const own = keyOf(key, salt, name)
  for await (const { piece, number, isLast } of pieces(chunks, pieceBytes)) {
    const cipher = createCipheriv('aes-256-gcm', own, nonceOf(number, isLast))
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()])
  }
}

async function* decrypt(
  chunks: AsyncIterable<Buffer>,
  key: Buffer,
  name: string,
  path: string,
): AsyncGenerator<Buffer> {
  const source = chunks[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < magic.length + saltBytes) {
    const { done, value } = await source.next()
    if (done) throw unreadable(path)
    head = Buffer.concat([head, value])
  }
  if (!head.subarray(0, magic.length).equals(magic)) throw unreadable(path)
  const start = magic.length + saltBytes
  const own = keyOf(key, head.subarray(magic.length, start), name)
  const rest = async function* () {
    yield head.subarray(start)
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value
  }
  for await (const { piece, number, isLast } of pieces(rest(), pieceBytes + tagBytes)) {
    if (piece.length < tagBytes) throw unreadable(path)
    const end = piece.length - tagBytes
    const decipher = createDecipheriv('aes-256-gcm', own, nonceOf(number, isLast)).setAuthTag(piece.subarray(end))
    let plain: Buffer
    try {
      plain = Buffer.concat([decipher.update(piece.subarray(0, end)), decipher.final()])
    } catch (cause) {
      throw unreadable(path, cause)
    }
    yield plain
  }
}

const unreadable = (path: string, cause?: unknown) =>
  new InstallationError(
    `${path} não abre: a chave não é a de BACKUP_KEY, ou o arquivo foi danificado, trocado ou cortado. Nada foi alterado.`,
    { cause },
  )

/** Pieces of `length` bytes, and a last one of at most as many, which may be empty. */
async function* pieces(
  chunks: AsyncIterable<Buffer>,
  length: number,
): AsyncGenerator<{ piece: Buffer; number: number; isLast: boolean }> {
  let number = 0
  let waiting: Buffer[] = []
  let size = 0
  for await (const chunk of chunks) {
    waiting.push(chunk)
    size += chunk.length
    if (size <= length) continue
    let all = Buffer.concat(waiting)
    for (; all.length > length; all = all.subarray(length))
      yield { piece: all.subarray(0, length), number: number++, isLast: false }
    waiting = [all]
    size = all.length
  }
  yield { piece: Buffer.concat(waiting), number, isLast: true }
}
