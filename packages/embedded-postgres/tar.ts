import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const blockBytes = 512

/**
 * Writes the files and folders of a tar archive, as PostgreSQL makes it, below `directory`, which is new. Nothing leads out of it: other names,
 * links and kinds of entries are refused.
 */
export async function unpackTar(
  source: AsyncIterable<Buffer>,
  directory: string,
): Promise<{ files: number; bytes: number }> {
  const reader = new Blocks(source)
  const total = { files: 0, bytes: 0 }
  for (;;) {
    const header = await reader.read(blockBytes)
    // An archive ends with two empty blocks; what PostgreSQL sends may end with none.
    if (header === null || header.every((byte) => byte === 0)) break
    const { name, type, size, mode } = readHeader(header)
    const path = join(directory, name)
    if (type === 'folder') await mkdir(path, { recursive: true, mode: 0o700 })
    else {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await using file = await open(path, 'wx', mode & 0o600)
      for await (const chunk of reader.take(size)) await file.writeFile(chunk)
      await reader.skip((blockBytes - (size % blockBytes)) % blockBytes)
      total.files++
      total.bytes += size
    }
  }
  await reader.drain()
  return total
}

function readHeader(header: Buffer): { name: string; type: 'file' | 'folder'; size: number; mode: number } {
  const text = (from: number, length: number) => {
    const field = header.subarray(from, from + length)
    const end = field.indexOf(0)
    return field.subarray(0, end < 0 ? length : end).toString('utf8')
  }
  const octal = (from: number, length: number) => Number.parseInt(text(from, length).trim() || '0', 8)
  const sum = header.reduce((sum, byte, at) => sum + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  if (octal(148, 8) !== sum) throw new Error('not a header of a tar archive')
  const name = [text(345, 155), text(0, 100)].filter(Boolean).join('/').replace(/\/$/, '')
  const kind = text(156, 1)
  const type = kind === '5' ? 'folder' : kind === '0' || kind === '' ? 'file' : null
  const size = octal(124, 12)
  const parts = name.replace(/^\.\//, '').split('/')
  const isInside = parts.every((part) => part !== '' && part !== '..' && part !== '.' && !part.includes('\\'))
  if (!type || !(name === '.' || isInside) || !Number.isSafeInteger(size) || size < 0)
    throw new Error(`a tar archive of a server has no such entry: ${JSON.stringify(name)} (${kind})`)
  return { name, type, size: type === 'file' ? size : 0, mode: octal(100, 8) }
}

/** Pieces of the wanted length from chunks of any length. */
class Blocks {
  private readonly chunks: AsyncIterator<Buffer>
  private rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.chunks = source[Symbol.asyncIterator]()
  }

  private async more(): Promise<boolean> {
    const { done, value } = await this.chunks.next()
    if (done) return false
    this.rest = this.rest.length === 0 ? value : Buffer.concat([this.rest, value])
    return true
  }

  /** Null: it ended here. */
  async read(length: number): Promise<Buffer | null> {
    while (this.rest.length < length)
      if (!(await this.more())) {
        if (this.rest.length === 0) return null
        throw new Error('a tar archive ends in the middle')
      }
    const piece = this.rest.subarray(0, length)
    this.rest = this.rest.subarray(length)
    return piece
  }

  async *take(length: number): AsyncGenerator<Buffer> {
    for (let left = length; left > 0; ) {
      if (this.rest.length === 0 && !(await this.more())) throw new Error('a tar archive ends in the middle')
      const piece = this.rest.subarray(0, left)
      this.rest = this.rest.subarray(piece.length)
      left -= piece.length
      if (piece.length > 0) yield piece
    }
  }

  async skip(length: number): Promise<void> {
    if (length > 0) await this.read(length)
  }

  /** Reads to the end, because the caller verifies the whole source. */
  async drain(): Promise<void> {
    this.rest = Buffer.alloc(0)
    while (await this.more()) this.rest = Buffer.alloc(0)
  }
}
