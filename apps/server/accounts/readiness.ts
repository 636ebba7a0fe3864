import { sql } from 'kysely'
import type { Database, WithDatabase } from '../platform/context.ts'
import { AppError } from '../platform/errors.ts'
import { inTime } from '../platform/http/metrics.ts'
import { findAccount } from './sessions.ts'

// Anybody may ask, as often as they like.
const freshMs = 1_000
const looks = new WeakMap<Database, Promise<void>>()

/** Throws unless a login would work: the database finds accounts and takes writes. It is asked once a second at most. */
export async function requireReady({ db }: WithDatabase, waitMs?: number): Promise<void> {
  const look = looks.get(db) ?? lookAt(db)
  await inTime(look, waitMs).catch((cause: unknown) => {
    throw new AppError(
      'unavailable',
      'O sistema está iniciando, ou o banco de dados não responde: por enquanto ninguém consegue entrar. Os documentos guardados estão seguros; tente de novo em instantes.',
      { cause, retryAfterMs: 5_000 },
    )
  })
}

function lookAt(db: Database): Promise<void> {
  const look = tryLogin({ db }).finally(() => void setTimeout(() => looks.delete(db), freshMs).unref())
  looks.set(db, look)
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
