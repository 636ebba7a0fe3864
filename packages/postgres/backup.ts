import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import pg from 'pg'

/** The login of copies: it reads the files of the whole server through the replication protocol, and enters no database. */
export const backupRole = 'vigia_backup'

/** Its password, which comes from that of the owner: nothing more has to be kept. */
export function backupPassword(ownerPassword: string): string {
  return createHmac('sha256', ownerPassword).update(backupRole).digest('base64url')
}

/** A connection for copies to the server of `url`, the address of its owner. */
export function replicationClient(url: string): pg.Client {
  const address = new URL(url)
  address.password = backupPassword(decodeURIComponent(address.password))
  address.username = backupRole
  // Not in the types of the library.
  const config: pg.ClientConfig & { replication: string } = { connectionString: address.href, replication: 'true' }
  const client = new pg.Client(config)
  client.on('error', () => {})
  return client
}

export interface BaseBackup {
  /** The cluster as the tar archive that the server makes; with what its write-ahead log needs to be whole. */
  tar: Readable
  /** Settles when the server said that it was whole. */
  ended: Promise<{ startLsn: string; endLsn: string; timeline: number }>
}

/** Copies the running server of `url`. A page whose checksum is wrong fails the copy. */
export async function takeBaseBackup(url: string): Promise<BaseBackup> {
  const client = replicationClient(url)
  await client.connect()
  const query = new CopyOut("BASE_BACKUP (LABEL 'vigia', CHECKPOINT 'fast', WAL true, MANIFEST 'no')")
  client.query(query)
  const ended = query.rows.then((rows) => {
    const [start, , end] = rows
    if (!start || !end) throw new Error('the server did not say where its copy begins and ends')
    return { startLsn: start[0]!, timeline: Number(start[1]), endLsn: end[0]! }
  })
  void ended.catch(() => {}).then(() => client.end().catch(() => {}))
  return { tar: query.content, ended }
}

/**
 * Identifies the cluster behind `url`: copies of it, and what a copy became, have the same number, but each restore begins a timeline. `history` is where the timelines before it
 * were left, as the server writes it; null for the first.
 */
export async function identifySystem(
  url: string,
): Promise<{ systemIdentifier: string; timeline: number; history: string | null }> {
  const client = replicationClient(url)
  await client.connect()
  try {
    const { rows } = await client.query<{ systemid: string; timeline: string }>('IDENTIFY_SYSTEM')
    const { systemid: systemIdentifier } = rows[0]!
    const timeline = Number(rows[0]!.timeline)
    if (timeline === 1) return { systemIdentifier, timeline, history: null }
    const { rows: histories } = await client.query<{ content: Buffer | string }>(`TIMELINE_HISTORY ${timeline}`)
    return { systemIdentifier, timeline, history: histories[0]!.content.toString() }
  } finally {
    await client.end()
  }
}

interface Message {
  fields: (string | null)[]
  chunk: Buffer
}

/**
 * A command of the replication protocol that returns rows and a stream of bytes: src/backend/backup/basebackup_copy.c. As the library wants
 * what it sends to be.
 */
class CopyOut implements pg.Submittable {
  readonly content: Readable
  /** The first row of each of its results. */
  readonly rows: Promise<string[][]>
  private readonly found: string[][] = []
  private readonly command: string
  private socket: Socket | undefined
  private settle: { resolve: (rows: string[][]) => void; reject: (error: Error) => void }

  constructor(command: string) {
    this.command = command
    const { promise, ...settle } = Promise.withResolvers<string[][]>()
    this.rows = promise
    this.settle = settle
    this.content = new Readable({
      highWaterMark: 1 << 20,
      read: () => this.socket?.resume(),
      // Whoever does not want the rest does not wait for it.
      destroy: (error, done) => {
        this.socket?.destroy()
        done(error)
      },
      autoDestroy: false,
    })
    this.content.on('error', () => {})
    promise.catch(() => {})
  }

  submit(connection: pg.Connection): void {
    this.socket = connection.stream as Socket
    connection.query(this.command)
  }

  handleRowDescription(): void {
    this.found.push([])
  }

  handleDataRow({ fields }: Message): void {
    const row = this.found.at(-1)
    if (row?.length === 0) row.push(...fields.map((field) => field ?? ''))
  }

  // Its first byte tells what it is: content, the beginning of an archive, a manifest or progress.
  handleCopyData({ chunk }: Message): void {
    if (chunk[0] !== 0x64) return
    // The buffer of the connection is used again.
    if (!this.content.push(Buffer.from(chunk.subarray(1)))) this.socket?.pause()
  }

  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}

  handleReadyForQuery(): void {
    this.content.push(null)
    this.settle.resolve(this.found)
  }

  handleError(error: Error): void {
    this.settle.reject(error)
    this.content.destroy(error)
  }
}
