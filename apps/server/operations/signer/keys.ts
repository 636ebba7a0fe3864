import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type pg from 'pg'
import type { Database } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { InstallationError, withOwner } from '../../platform/installation.ts'
import { createVault, type Vault } from '../../platform/vault.ts'
import type { KeyWrapper } from './wrapping.ts'

/** Binds the sealed key of a certificate to the company that it was uploaded for. */
export function keyPurpose(workspaceId: number, companyId: number): string {
  return `certificate key of company ${workspaceId}/${companyId}`
}

/** Binds the key of a workspace to it. */
export function workspacePurpose(workspaceId: number): string {
  return `key of workspace ${workspaceId}`
}

/** The key from which tokens and tickets come, and which seals second factors and secrets of webhooks. */
export const tokens = 'tokens'

/** The keys of the workspaces, unwrapped; `db` belongs to the signer. */
export interface Keys {
  /** Vault of a workspace; its key is made when missing. */
  ensure(workspaceId: number): Promise<Vault>
  unwrap(workspaceId: number, wrapped: Buffer): Promise<Vault>
}

export function createKeys(db: Database, wrapper: KeyWrapper): Keys {
  const unwrap = async (workspaceId: number, wrapped: Buffer) => {
    const key = await wrapper.unwrap(wrapped, workspacePurpose(workspaceId)).catch((cause: unknown) => {
      // The certificate is unchanged: people need not send it again.
      throw new InstallationError(
        'A chave de uma conta não abre com a chave mestra de agora. Nada foi alterado. Se a chave mestra foi trocada enquanto o programa estava aberto, reinicie-o.',
        { cause },
      )
    })
    return createVault(key)
  }
  const read = (workspaceId: number) =>
    inWorkspace({ db }, workspaceId, ({ db }) =>
      db.selectFrom('workspace_key').select('wrapped').where('workspace_id', '=', workspaceId).executeTakeFirst(),
    )
  return {
    unwrap,
    async ensure(workspaceId) {
      const existing = await read(workspaceId)
      if (existing) return unwrap(workspaceId, existing.wrapped)
      const { vault, wrapped } = await newKey(wrapper, workspacePurpose(workspaceId))
      await inWorkspace({ db }, workspaceId, ({ db }) =>
        sql`
          insert into workspace_key (workspace_id, key_id, wrapped, wrapper_id)
          values (${workspaceId}, ${vault.keyId}, ${wrapped}, ${wrapper.id}) on conflict do nothing`.execute(db),
      )
      // Another process may have been faster.
      const row = await read(workspaceId)
      if (!row) throw new Error(`the key of workspace ${workspaceId} was destroyed right now`)
      return unwrap(workspaceId, row.wrapped)
    },
  }
}

/** A key that was not there before, and how it is kept. */
export async function newKey(wrapper: KeyWrapper, purpose: string): Promise<{ vault: Vault; wrapped: Buffer }> {
  const key = randomBytes(32)
  return { vault: createVault(key), wrapped: await wrapper.wrap(key, purpose) }
}

/** Reads the key of the installation for a purpose; null before `prepareKeys` has made it. */
export async function findInstallationKey(db: Database, wrapper: KeyWrapper, purpose: string): Promise<Buffer | null> {
  const { rows } = await sql<{ wrapped: Buffer }>`
    select wrapped from installation_key where purpose = ${purpose}`.execute(db)
  return rows[0] ? wrapper.unwrap(rows[0].wrapped, purpose) : null
}

/** Refuses to start when the keys of the database at `url` (owner's login) are not of `wrapper`. */
export async function prepareKeys(url: string, wrapper: KeyWrapper): Promise<void> {
  await withOwner(url, async (client) => {
    if (await hasKeysOfAnother(client, wrapper))
      throw new InstallationError(
        'Os certificados digitais deste banco foram selados com outra chave mestra. Nada foi alterado. Se uma troca da chave foi interrompida, termine-a com npm run admin -- rotate-key; se não, restaure a chave antiga (MASTER_KEY ou o arquivo master.key de DATA_DIR) e inicie de novo.',
      )
    await ensureInstallationKey(client, wrapper)
  })
}

/** Whether the database at `url` has keys that some master key wraps. */
export async function isWrapped(url: string): Promise<boolean> {
  return withOwner(url, async (client) => {
    const { rows } = await client.query<{ any: boolean }>('select exists (select 1 from installation_key) as any')
    return rows[0]!.any
  })
}

async function hasKeysOfAnother(client: pg.Client, wrapper: KeyWrapper): Promise<boolean> {
  const { rows } = await client.query<{ otherwise: boolean }>(
    `select exists (select 1 from workspace_key where wrapper_id <> $1)
            or exists (select 1 from certificate c where replaced_at is null
                          and not exists (select 1 from workspace_key k where k.workspace_id = c.workspace_id and k.key_id = c.key_id)) as otherwise`,
    [wrapper.id],
  )
  const { rows: others } = await client.query<{ purpose: string }>(
    'select purpose from installation_key where wrapper_id <> $1',
    [wrapper.id],
  )
  return rows[0]!.otherwise || others.length > 0
}

async function ensureInstallationKey(client: pg.Client, wrapper: KeyWrapper): Promise<void> {
  const { rowCount } = await client.query('select from installation_key where purpose = $1', [tokens])
  if (rowCount === 1) return
  const { wrapped } = await newKey(wrapper, tokens)
  await client.query(
    'insert into installation_key (purpose, wrapped, wrapper_id) values ($1, $2, $3) on conflict do nothing',
    [tokens, wrapped, wrapper.id],
  )
}

/** Makes a new key for a workspace. */
export async function writeKey(client: pg.Client, workspaceId: number, wrapper: KeyWrapper): Promise<Vault> {
  const { vault, wrapped } = await newKey(wrapper, workspacePurpose(workspaceId))
  await client.query(
    `insert into workspace_key (workspace_id, key_id, wrapped, wrapper_id) values ($1, $2, $3, $4)
     on conflict (workspace_id) do update set key_id = excluded.key_id, wrapped = excluded.wrapped, wrapper_id = excluded.wrapper_id`,
    [workspaceId, vault.keyId, wrapped, wrapper.id],
  )
  return vault
}
