import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, statfs } from 'node:fs/promises'
import { formatBrasiliaShortMoment } from '@vigia/contract/text'
import { type Kysely, sql } from 'kysely'
import type { Config } from '../config.ts'
import type { Logger } from './log.ts'
import type { Tables } from './tables.ts'

/** Why nothing can be stored, and since when. */
export interface StorageTrouble {
  reason: 'no-space' | 'read-only' | 'broken'
  since: Date
}

/** Whether this process can store documents: it must not request ones that it could not store. */
export interface Storage {
  /** Null: nothing speaks against it. */
  readonly trouble: StorageTrouble | null
  /** Free bytes of the data folder; null: unknown. */
  readonly freeBytes: number | null
  /** Shows by a row that storing works, unless that was shown a moment ago. */
  prove(): Promise<boolean>
  /** Updates `trouble` when the error of a failed statement is about storage. */
  noteFailure(error: unknown): void
}

// Larger than a page of documents with all that follows from it in the log of the database.
const freeBytesMin = 256 * 1024 * 1024
const freshMs = 5_000
const probeBytes = 32 * 1024

interface StorageContext {
  db: Kysely<Tables>
  config: Pick<Config, 'dataDir'>
  log: Logger
}

/** `findFreeBytes` tells how much is free on the disk of the data folder. */
export function createStorage(
  { db, config, log }: StorageContext,
  findFreeBytes: () => Promise<number> = () => freeBytesOf(config.dataDir),
): Storage {
  const who = randomUUID()
  let trouble: StorageTrouble | null = null
  let freeBytes: number | null = null
  let provedAt = Number.NEGATIVE_INFINITY
  let proving: Promise<boolean> | undefined
  const set = (reason: StorageTrouble['reason'] | null, error?: unknown) => {
    if (reason === (trouble?.reason ?? null)) return
    if (reason) log.error({ err: error, reason, freeBytes }, 'nothing can be stored: nothing is asked for')
    else log.warn('storing works again')
    trouble = reason && { reason, since: trouble?.since ?? new Date() }
  }
  const prove = async () => {
    freeBytes = await findFreeBytes().catch(() => null)
    if (freeBytes !== null && freeBytes < freeBytesMin) set('no-space')
    else
      try {
        await sql`insert into storage_probe (who, filler) values (${who}, ${randomBytes(probeBytes)})
          on conflict (who) do update set at = excluded.at, filler = excluded.filler`.execute(db)
        set(null)
      } catch (error) {
        const reason = reasonOf(error)
        // Callers report a database that does not respond.
        if (!reason) throw error
        set(reason, error)
      }
    provedAt = performance.now()
    return trouble === null
  }
  return {
    get trouble() {
      return trouble
    },
    get freeBytes() {
      return freeBytes
    },
    async prove() {
      if (performance.now() - provedAt < freshMs) return trouble === null
      proving ??= prove().finally(() => {
        proving = undefined
      })
      return proving
    },
    noteFailure(error) {
      const reason = reasonOf(error)
      if (!reason) return
      set(reason, error)
      provedAt = performance.now()
    },
  }
}

async function freeBytesOf(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

// SQLSTATE: disk_full, read_only_sql_transaction, io_error.
function reasonOf(error: unknown): StorageTrouble['reason'] | null {
  const code = (error as { code?: unknown } | null)?.code
  if (code === '53100' || code === 'ENOSPC' || code === 'EDQUOT') return 'no-space'
  if (code === '25006' || code === 'EROFS') return 'read-only'
  return code === '58030' || code === 'EIO' ? 'broken' : null
}

const reasons: Record<StorageTrouble['reason'], string> = {
  'no-space': 'não há espaço em disco',
  'read-only': 'o banco de dados não aceita gravações',
  broken: 'o disco do banco de dados falha ao gravar',
}

/** For the person: what stands still, what is safe and what follows. */
export function storageSentence(trouble: StorageTrouble): string {
  return `${happened(trouble)} Quem administra o sistema precisa ${trouble.reason === 'no-space' ? 'liberar espaço' : 'conferir o banco de dados'}.`
}

const happened = ({ reason, since }: StorageTrouble) =>
  `No servidor ${reasons[reason]} desde ${formatBrasiliaShortMoment(since)}. Nada é consultado na SEFAZ enquanto não puder ser guardado; os documentos já guardados estão seguros e a captura volta sozinha.`

const remedies: Record<StorageTrouble['reason'], string> = {
  'no-space':
    'libere espaço no disco da pasta DATA_DIR e no do banco de dados; com menos de 256 MiB livres nada é consultado nem enviado',
  'read-only':
    'veja por que o banco de dados está só para leitura (uma réplica no lugar do principal, ou default_transaction_read_only)',
  broken: 'veja no log do banco de dados e do sistema operacional por que o disco falha, e troque-o antes que piore',
}

/** The same for the operator, with where to look. */
export function storageTask(trouble: StorageTrouble): string {
  return `${happened(trouble)} Manifestações também esperam. O que fazer: ${remedies[trouble.reason]}. Nada precisa ser reiniciado.`
}
