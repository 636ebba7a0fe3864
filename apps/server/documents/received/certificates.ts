import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'

/** The ids of these certificates in the workspace, in their order; new ones are added. `db` is a transaction inside the workspace. */
export async function keepCertificates(
  { db }: WithDatabase,
  workspaceId: number,
  certificates: readonly (Buffer | null)[],
): Promise<(number | null)[]> {
  const hashes = certificates.map((der) => der && createHash('sha256').update(der).digest('hex'))
  const wanted = new Map<string, Buffer>()
  for (const [index, hash] of hashes.entries()) if (hash) wanted.set(hash, certificates[index]!)
  if (wanted.size === 0) return hashes.map(() => null)
  const ids = new Map<string, number>()
  const find = async () => {
    const missing = [...wanted.keys()].filter((hash) => !ids.has(hash))
    const { rows } = await sql<{ id: number; hash: string }>`
      select id, encode(sha256, 'hex') as hash from issuer_certificate
       where workspace_id = ${workspaceId}
         and sha256 = any (${missing.map((hash) => Buffer.from(hash, 'hex'))}::bytea[])`.execute(db)
    for (const { id, hash } of rows) ids.set(hash, id)
  }
  await find()
  if (ids.size < wanted.size) {
    // All transactions add them in the same order, so that two never wait for each other; what another one adds at the same moment is found afterwards.
    const added = [...wanted].filter(([hash]) => !ids.has(hash)).sort(([a], [b]) => (a < b ? -1 : 1))
    await sql`
      insert into issuer_certificate (workspace_id, sha256, der)
      select ${workspaceId}, * from unnest(${added.map(([hash]) => Buffer.from(hash, 'hex'))}::bytea[], ${added.map(([, der]) => der)}::bytea[])
      on conflict do nothing`.execute(db)
    await find()
  }
  return hashes.map((hash) => {
    if (!hash) return null
    const id = ids.get(hash)
    if (id === undefined) throw new Error('a certificate of a signer was not stored')
    return id
  })
}
