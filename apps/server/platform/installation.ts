import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import pg from 'pg'
import type { Config } from '../config.ts'

/** First start in production: events need a release before they leave. */
export const firstStart = 'Esta instalação começou no ambiente de produção.'

/** The installation cannot serve this configuration; `message` is a sentence for the operator. */
export class InstallationError extends Error {
  override name = 'InstallationError'
}

/**
 * Binds a migrated database to its ambiente, once and for ever: NSUs of two ambientes are different sequences, and documents without
 * fiscal value must never stand beside real ones. In production no event leaves until a person releases the first ones. Returns the key of the
 * outside ids.
 */
export async function prepareInstallation(url: string, ambiente: string): Promise<Buffer> {
  return withOwner(url, async (client) => {
    await client.query(
      `insert into installation (ambiente, id_key, held_since, held_why)
       select $1, $2, case when $1 = 'producao' then now() end, case when $1 = 'producao' then $3 end
       on conflict do nothing`,
      [ambiente, randomBytes(16), firstStart],
    )
    const { rows } = await client.query<{ ambiente: string; id_key: Buffer }>(
      'select ambiente, id_key from installation',
    )
    const row = rows[0]!
    if (row.ambiente !== ambiente) {
      throw new InstallationError(
        `Este banco de dados guarda documentos do ambiente "${row.ambiente}" e SEFAZ_AMBIENTE é "${ambiente}". Nada foi alterado: use outra pasta em DATA_DIR (ou outro DATABASE_URL) para o ambiente "${ambiente}".`,
      )
    }
    return row.id_key
  })
}

/** Runs `work` as the owner of the database; uncommitted changes end with its connection. */
export async function withOwner<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

export function embeddedCluster({ dataDir }: Pick<Config, 'dataDir'>): { directory: string } {
  return { directory: join(dataDir, 'postgres') }
}
