import { randomBytes } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { syncFolder } from '@vigia/embedded-postgres/durable'
import { startPostgres } from '@vigia/embedded-postgres/postgres'
import { readOrCreateSecret, readSecret } from '@vigia/embedded-postgres/secret-file'
import type pg from 'pg'
import { secondFactorPurpose } from '../../accounts/second-factor.ts'
import { webhookPurpose } from '../../notifications/webhooks/webhooks.ts'
import type { Context } from '../../platform/context.ts'
import { embeddedCluster, InstallationError, withOwner } from '../../platform/installation.ts'
import { migrate } from '../../platform/schema/migrate.ts'
import { createVault, type Vault } from '../../platform/vault.ts'
import { keyPurpose, newKey, tokens, workspacePurpose, writeKey } from './keys.ts'
import { type KeyWrapper, keyOf, wrapWithKey } from './wrapping.ts'

type RotationConfig = Pick<Context['config'], 'dataDir' | 'databaseUrl' | 'masterKey' | 'newMasterKey'>

/**
 * Gives every workspace a new key, under which its certificates are sealed anew, wrapped with a new master key: that of the configuration,
 * or one that is made and takes the place of `DATA_DIR/master.key`. Whatever interrupts it, running it again finishes the work: the new key is on the disk before a row is sealed with
 * it, all rows change in one transaction, and the old key goes last. Returns how many certificates were sealed again.
 */
export async function rotateMasterKey(
  config: RotationConfig,
  step: (text: string) => void = () => {},
): Promise<number> {
  await using stack = new AsyncDisposableStack()
  const keys = config.masterKey ? givenKeys(config.masterKey, config.newMasterKey) : await fileKeys(config)
  step('Conferindo o banco de dados…')
  const url = await openStorage(config, stack, step)
  const next = await keys.next(step)
  const count = await reseal(url, keys.present, next, step)
  await keys.finish(step)
  return count
}

interface Keys {
  present: KeyWrapper
  next(step: (text: string) => void): Promise<KeyWrapper>
  /** Nothing needs the old key any more. */
  finish(step: (text: string) => void): Promise<void>
}

function givenKeys(masterKey: Buffer, newMasterKey: Buffer | undefined): Keys {
  if (!newMasterKey)
    throw new InstallationError(
      'Falta a chave nova. Nada foi alterado: informe-a em NEW_MASTER_KEY (faça uma com: openssl rand -base64 32) e rode de novo.',
    )
  if (newMasterKey.equals(masterKey))
    throw new InstallationError(
      'NEW_MASTER_KEY é igual a MASTER_KEY. Nada foi alterado: faça uma chave nova com openssl rand -base64 32 e rode de novo.',
    )
  const next = wrapWithKey(newMasterKey)
  return { present: wrapWithKey(masterKey), next: async () => next, finish: async () => {} }
}

const noKey = (path: string) =>
  new InstallationError(
    `Não há chave mestra em ${path}: ela é feita na primeira vez que o programa inicia. Nada foi alterado; confira DATA_DIR.`,
  )

async function fileKeys({ dataDir, newMasterKey }: RotationConfig): Promise<Keys> {
  const path = join(dataDir, 'master.key')
  const nextPath = `${path}.next`
  if (newMasterKey)
    throw new InstallationError(
      `NEW_MASTER_KEY só serve junto com MASTER_KEY. Nada foi alterado: aqui a chave está em ${path} e a nova é feita sozinha; tire NEW_MASTER_KEY e rode de novo.`,
    )
  // Without the old one, an interrupted rotation may still be finished: if it had sealed everything.
  const present = (await readSecret(path)) ?? (await readSecret(nextPath))
  if (present === null) throw noKey(path)
  return {
    present: wrapWithKey(keyOf(present, path)),
    async next(step) {
      step('Guardando a chave nova…')
      const secret = await readOrCreateSecret(nextPath, () => randomBytes(32).toString('base64'))
      await syncFolder(dataDir)
      return wrapWithKey(keyOf(secret, nextPath))
    },
    async finish(step) {
      step('Pondo a chave nova no lugar da antiga…')
      await rename(nextPath, path)
      await syncFolder(dataDir)
    },
  }
}

async function openStorage(
  { dataDir, databaseUrl }: RotationConfig,
  stack: AsyncDisposableStack,
  step: (text: string) => void,
): Promise<string> {
  // An embedded one belongs to one program at a time, and says so.
  const url = databaseUrl ?? stack.use(await startPostgres({ ...embeddedCluster({ dataDir }), log: step })).url
  await requireAlone(url)
  await migrate(url)
  return url
}

// A connection that was just closed is seen for a moment more.
const patienceMs = 2_000

async function requireAlone(url: string): Promise<void> {
  await withOwner(url, async (client) => {
    for (const since = performance.now(); ; await setTimeout(100)) {
      const { rows } = await client.query<{ n: number }>(
        // Server processes have no user; connections between Citus nodes have the extension's owner.
        `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null
            and coalesce(application_name, '') !~ '^[Cc]itus'
            and usesysid is distinct from (select extowner from pg_extension where extname = 'citus' and extowner <> (select oid from pg_roles where rolname = current_user))`,
      )
      const { n } = rows[0]!
      if (n === 0) return
      if (performance.now() - since > patienceMs)
        throw new InstallationError(
          `Há ${n === 1 ? 'outra conexão aberta' : `outras ${n} conexões abertas`} com este banco de dados. Nada foi alterado: pare o programa em todas as máquinas (npm start, api e worker) e rode de novo.`,
        )
    }
  })
}

async function reseal(url: string, from: KeyWrapper, to: KeyWrapper, step: (text: string) => void): Promise<number> {
  return withOwner(url, async (client) => {
    await client.query('begin')
    // A process that starts meanwhile waits here, then finds that its key is the old one and refuses to start; one that was overlooked
    // cannot seal with the old key.
    await client.query(
      'lock table certificate, workspace_key, installation_key, second_factor, webhook in access exclusive mode',
    )
    await requireKnown(client, from, to)
    step('Selando os certificados com a chave nova…')
    const count = await replaceKeys(client, from, to)
    step('Selando o resto…')
    await replaceTokensKey(client, from, to)
    step('Confirmando…')
    await client.query('commit')
    return count
  })
}

async function requireKnown(client: pg.Client, from: KeyWrapper, to: KeyWrapper): Promise<void> {
  const { rows } = await client.query<{ n: number }>(
    `select (select count(*) from workspace_key where wrapper_id not in ($1, $2))::int
          + (select count(*) from certificate c where replaced_at is null
                and not exists (select 1 from workspace_key k where k.workspace_id = c.workspace_id and k.key_id = c.key_id))::int as n`,
    [from.id, to.id],
  )
  if (rows[0]!.n > 0)
    throw new InstallationError(
      'Há certificados selados com uma chave que não é a de agora nem a nova. Nenhum certificado foi alterado: restaure a chave com que o programa funcionava e rode de novo.',
    )
}

// With the key of tokens what is sealed with it for good, which only people could make again; other things that it sealed are asked for again.
async function replaceTokensKey(client: pg.Client, from: KeyWrapper, to: KeyWrapper): Promise<void> {
  const { rows: keys } = await client.query<{ wrapped: Buffer }>(
    'delete from installation_key where purpose = $1 and wrapper_id = $2 returning wrapped',
    [tokens, from.id],
  )
  // None when this finishes what an earlier rotation had done.
  if (!keys[0]) return
  const before = createVault(await from.unwrap(keys[0].wrapped, tokens))
  const { vault, wrapped } = await newKey(to, tokens)
  await client.query('insert into installation_key (purpose, wrapped, wrapper_id) values ($1, $2, $3)', [
    tokens,
    wrapped,
    to.id,
  ])
  const { rows: factors } = await client.query<{ workspace: number; account: number; secret: Buffer }>(
    'select workspace_id as workspace, account_id as account, secret from second_factor',
  )
  for (const { workspace, account, secret } of factors)
    await client.query('update second_factor set secret = $3 where workspace_id = $1 and account_id = $2', [
      workspace,
      account,
      sealedAgain(secret, before, vault, secondFactorPurpose(workspace, account)),
    ])
  const { rows: webhooks } = await client.query<{ workspace: number; id: number; secret: Buffer; old: Buffer | null }>(
    'select workspace_id as workspace, id, secret, old_secret as old from webhook',
  )
  for (const { workspace, id, secret, old } of webhooks)
    await client.query('update webhook set secret = $3, old_secret = $4 where workspace_id = $1 and id = $2', [
      workspace,
      id,
      sealedAgain(secret, before, vault, webhookPurpose(workspace)),
      old && sealedAgain(old, before, vault, webhookPurpose(workspace)),
    ])
}

// Secrets that a lost key had sealed stay as they are: their owners make new ones.
function sealedAgain(sealed: Buffer, before: Vault, after: Vault, purpose: string): Buffer {
  try {
    return after.encrypt(before.decrypt(sealed, purpose), purpose)
  } catch {
    return sealed
  }
}

// New keys, not old ones wrapped anew: an old copy with its master key opens nothing sealed later.
async function replaceKeys(client: pg.Client, from: KeyWrapper, to: KeyWrapper): Promise<number> {
  const { rows } = await client.query<{ workspace: number; wrapped: Buffer }>(
    'select workspace_id as workspace, wrapped from workspace_key where wrapper_id = $1',
    [from.id],
  )
  let count = 0
  for (const { workspace, wrapped } of rows) {
    const before = createVault(await from.unwrap(wrapped, workspacePurpose(workspace)))
    count += await sealAnew(client, workspace, before, await writeKey(client, workspace, to))
  }
  return count
}

// Seals all certificates of a workspace with its new key; returns how many there were.
async function sealAnew(client: pg.Client, workspace: number, before: Vault, after: Vault): Promise<number> {
  const { rows } = await client.query<{ id: number; company: number; sealed: Buffer }>(
    'select id, company_id as company, key_encrypted as sealed from certificate where workspace_id = $1 and key_id = $2',
    [workspace, before.keyId],
  )
  for (const { id, company, sealed } of rows) {
    const purpose = keyPurpose(workspace, company)
    await client.query('update certificate set key_encrypted = $3, key_id = $4 where workspace_id = $1 and id = $2', [
      workspace,
      id,
      after.encrypt(before.decrypt(sealed, purpose), purpose),
      after.keyId,
    ])
  }
  return rows.length
}
