import { createHmac } from 'node:crypto'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import pg from 'pg'

/** Role for backups: reads the whole server by the replication protocol, and enters no database. */
export const backupRole = 'vigia_backup'

/** Its password, derived from that of the owner: no further secret needs to be stored. */
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
  /** The cluster as tar archive of the server, including the write-ahead log that it needs. */
  tar: Readable
  /** Settles when the server has confirmed completeness. */
  ended: Promise<void>
}

/** Copies the running server of `url`. A page whose checksum is wrong fails the copy. */
export async function takeBaseBackup(url: string): Promise<BaseBackup> {
  const client = replicationClient(url)
  await client.connect()
  const query = new CopyOut("BASE_BACKUP (LABEL 'vigia', CHECKPOINT 'fast', WAL true, MANIFEST 'no')")
  client.query(query)
  const ended = query.ended
  void ended.catch(() => {}).then(() => client.end().catch(() => {}))
  return { tar: query.content, ended }
}

interface Message {
  chunk: Buffer
}

/**
 * A command of the replication protocol that returns a stream of bytes: src/backend/backup/basebackup_copy.c. As the library wants
 * what it sends to be.
 */
class CopyOut implements pg.Submittable {
  readonly content: Readable
  readonly ended: Promise<void>
  private readonly command: string
  private socket: Socket | undefined
  private settle: { resolve: () => void; reject: (error: Error) => void }

  constructor(command: string) {
    this.command = command
    const { promise, ...settle } = Promise.withResolvers<void>()
    this.ended = promise
    this.settle = settle
    this.content = new Readable({
      highWaterMark: 1 << 20,
      read: () => this.socket?.resume(),
      // Destroys the socket without reading the rest.
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

  handleRowDescription(): void {}
  handleDataRow(): void {}

  // The first byte is the kind: content, start of an archive, manifest or progress.
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
    this.settle.resolve()
  }

  handleError(error: Error): void {
    this.settle.reject(error)
    this.content.destroy(error)
  }
}
