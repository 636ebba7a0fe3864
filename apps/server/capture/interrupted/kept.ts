import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DistributionResponse } from '@vigia/sefaz/distribution'
import type { Context } from '../../platform/context.ts'
import type { ServiceCode } from '../../platform/service.ts'

/** A response that could not be stored, with the query that it belongs to. */
export interface KeptResponse {
  lineId: number
  /** Of the line; a copy that took the place of the database may have another one with its number by now. Files of earlier versions name none. */
  cnpj?: string
  service?: ServiceCode
  /** When the query was announced, by the clock of the database and as it writes it: no other query of the line has the same. */
  askedAt: string
  query:
    | { kind: 'distNSU' }
    | { kind: 'consNSU'; position: bigint; isMissing: boolean }
    | { kind: 'consChNFe'; chave: string }
  response: DistributionResponse
}

/** A kept response in its file. */
interface KeptFile extends KeptResponse {
  path: string
}

// The authority does not repeat a page that it has counted. A full disk takes no new file, but it takes other bytes in the place of old ones:
// so there are files of zeros, which are renamed and written over.

const slots = 8
// A page of 50 documents with all their bytes in base64 stays below.
const slotBytes = 1024 * 1024
const folderOf = ({ config }: Pick<Context, 'config'>) => join(config.dataDir, 'unstored')
const isFree = (name: string) => name.startsWith('free-')
const isKept = (name: string) => name.startsWith('kept-')

/** Makes the files in which responses can be kept when the disk is full. */
export async function prepareKept(ctx: Pick<Context, 'config'>): Promise<void> {
  const folder = folderOf(ctx)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (let have = (await readdir(folder)).filter(isFree).length; have < slots; have++)
    await overwrite(join(folder, `free-${randomUUID()}`), Buffer.alloc(slotBytes), 'w')
}

async function overwrite(path: string, bytes: Buffer, flags: 'w' | 'r+'): Promise<void> {
  await using file = await open(path, flags, 0o600)
  await file.write(bytes, 0, bytes.length, 0)
  await file.sync()
}

/** Keeps a response; returns its file. */
export async function keepResponse(ctx: Pick<Context, 'config'>, kept: KeptResponse): Promise<string> {
  const folder = folderOf(ctx)
  const bytes = write(kept)
  const path = join(folder, `kept-${kept.lineId}-${randomUUID()}`)
  // Renaming gives a free file to one process only.
  for (const name of bytes.length <= slotBytes ? (await readdir(folder)).filter(isFree) : []) {
    try {
      await rename(join(folder, name), path)
    } catch {
      continue
    }
    await overwrite(path, bytes, 'r+')
    return path
  }
  await overwrite(path, bytes, 'w')
  return path
}

/** Takes away what is stored by now, unless another process has. */
export async function forgetKept(path: string): Promise<void> {
  try {
    const { size } = await stat(path)
    if (size === slotBytes) await rename(path, join(path, '..', `free-${randomUUID()}`))
    else await rm(path)
  } catch (error) {
    // Between two of these steps too.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** What is kept, of one line or of all; a file that cannot be read yet is left for the next time. */
export async function listKept(ctx: Pick<Context, 'config'>, lineId?: number): Promise<KeptFile[]> {
  const folder = folderOf(ctx)
  const names = (await readdir(folder).catch(() => [])).filter((name) =>
    lineId === undefined ? isKept(name) : name.startsWith(`kept-${lineId}-`),
  )
  const found: KeptFile[] = []
  for (const name of names) {
    const path = join(folder, name)
    const kept = read(await readFile(path).catch(() => Buffer.alloc(0)))
    if (kept) found.push({ ...kept, path })
  }
  return found
}

const digestOf = (body: Buffer) => createHash('sha256').update(body).digest('hex')

// A line with length and digest, then the response; what follows is of an earlier use.
function write({ query, response, ...rest }: KeptResponse): Buffer {
  const documents = response.documents.map((document) => ({
    ...document,
    content: document.content.toString('base64'),
  }))
  const position = query.kind === 'consNSU' ? { position: String(query.position) } : {}
  const body = Buffer.from(
    JSON.stringify({ ...rest, query: { ...query, ...position }, response: { ...response, documents } }),
  )
  return Buffer.concat([Buffer.from(`${body.length} ${digestOf(body)}\n`), body])
}

function read(bytes: Buffer): KeptResponse | null {
  const end = bytes.indexOf('\n')
  const [length = '', digest] = bytes.subarray(0, Math.max(end, 0)).toString('latin1').split(' ')
  const body = bytes.subarray(end + 1, end + 1 + Number(length))
  if (end < 0 || body.length !== Number(length) || digestOf(body) !== digest) return null
  // Written above, in this shape.
  const { query, response, ...rest } = JSON.parse(body.toString())
  return {
    ...rest,
    query: query.kind === 'consNSU' ? { ...query, position: BigInt(query.position) } : query,
    response: {
      ...response,
      documents: response.documents.map((document: { content: string }) => ({
        ...document,
        content: Buffer.from(document.content, 'base64'),
      })),
    },
  }
}
