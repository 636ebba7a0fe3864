import { sql } from 'kysely'
import type { Database, WithDatabase } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { inTime } from '../platform/http/metrics.ts'
import { findAccount } from './sessions.ts'

interface Look {
  asked: Promise<void>
  /** Infinity: the database has not responded yet. */
  doneAt: number
}

// Anybody may ask, as often as they like.
const freshMs = 1_000
const looks = new WeakMap<Database, Look>()

/** Throws unless a login would work: the database finds accounts and takes writes. It is asked once a second at most. */
export async function requireReady({ db }: WithDatabase, waitMs?: number): Promise<void> {
  const last = looks.get(db)
  const look = last && performance.now() - last.doneAt < freshMs ? last : lookAt(db)
  looks.set(db, look)
  await inTime(look.asked, waitMs).catch((cause: unknown) => {
    throw new AppError(
      'unavailable',
      'O sistema está iniciando, ou o banco de dados não responde: por enquanto ninguém consegue entrar. Os documentos guardados estão seguros; tente de novo em instantes.',
      { cause, retryAfterMs: 5_000 },
    )
  })
}

function lookAt(db: Database): Look {
  const look: Look = {
    doneAt: Number.POSITIVE_INFINITY,
    asked: tryLogin({ db }).finally(() => {
      look.doneAt = performance.now()
    }),
  }
  return look
}

async function tryLogin({ db }: WithDatabase): Promise<void> {
  // No account has an empty e-mail.
  await findAccount({ db }, '')
  const { rows } = await sql<{ readOnly: boolean }>`
    select current_setting('transaction_read_only')::boolean as "readOnly"`.execute(db)
  // A login writes a session.
  if (rows[0]?.readOnly) throw new Error('the database takes no writes')
}
