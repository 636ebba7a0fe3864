import { randomBytes } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startPostgres } from '@vigia/postgres/postgres'
import { readOrCreateSecret, readSecret } from '@vigia/postgres/secret-file'
import pg from 'pg'
import type { Context } from '../platform/context.ts'
import { InstallationError } from '../platform/installation.ts'
import { migrate } from '../platform/migrate.ts'
import { createVault, type Vault } from '../platform/vault.ts'
import { keyPurpose } from './companies.ts'

type RotationConfig = Pick<Context['config'], 'dataDir' | 'databaseUrl' | 'masterKey' | 'newMasterKey'>

/**
 * Seals every certificate with a new master key: that of the configuration, or one that is made and takes the place of
 * `DATA_DIR/master.key`. Whatever interrupts it, running it again finishes the work: the new key is on the disk before a row is sealed with
 * it, all rows change in one transaction, and the old key goes last. Returns how many certificates were sealed again.
 */
export async function rotateMasterKey(
  config: RotationConfig,
  step: (text: string) => void = () => {},
): Promise<number> {
  await using stack = new AsyncDisposableStack()
  const keys = config.masterKey ? givenKeys(config, config.masterKey) : await fileKeys(config)
  step('Conferindo o banco de dados…')
  const url = await openStorage(config, stack, step)
  const next = await keys.next(step)
  const count = await reseal(url, createVault(keys.present), createVault(next), step)
  await keys.finish(step)
  return count
}

interface Keys {
  present: Buffer
  next(step: (text: string) => void): Promise<Buffer>
  /** Nothing needs the old key any more. */
  finish(step: (text: string) => void): Promise<void>
}

function givenKeys({ newMasterKey }: RotationConfig, masterKey: Buffer): Keys {
  if (!newMasterKey)
    throw new InstallationError(
      'Falta a chave nova. Nada foi alterado: informe-a em NEW_MASTER_KEY (faça uma com: openssl rand -base64 32) e rode de novo.',
    )
  if (newMasterKey.equals(masterKey))
    throw new InstallationError(
      'NEW_MASTER_KEY é igual a MASTER_KEY. Nada foi alterado: faça uma chave nova com openssl rand -base64 32 e rode de novo.',
    )
  return { present: masterKey, next: async () => newMasterKey, finish: async () => {} }
}

async function fileKeys({ dataDir, newMasterKey }: RotationConfig): Promise<Keys> {
  const path = join(dataDir, 'master.key')
  const nextPath = `${path}.next`
  if (newMasterKey)
    throw new InstallationError(
      `NEW_MASTER_KEY só serve junto com MASTER_KEY. Nada foi alterado: aqui a chave está em ${path} e a nova é feita sozinha; tire NEW_MASTER_KEY e rode de novo.`,
    )
  // Without the old one, an interrupted rotation may still be finished: if it had sealed everything.
  const present = (await readSecret(path)) ?? (await readSecret(nextPath))
  if (present === null)
    throw new InstallationError(
      `Não há chave mestra em ${path}: ela é feita na primeira vez que o programa inicia. Nada foi alterado; confira DATA_DIR.`,
    )
  return {
    present: keyOf(present, path),
    async next(step) {
      step('Guardando a chave nova…')
      const { secret } = await readOrCreateSecret(nextPath, () => randomBytes(32).toString('base64'))
      await syncFolder(dataDir)
      return keyOf(secret, nextPath)
    },
    async finish(step) {
      step('Pondo a chave nova no lugar da antiga…')
      await rename(nextPath, path)
      await syncFolder(dataDir)
    },
  }
}

function keyOf(text: string, path: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length === 32) return key
  throw new InstallationError(
    `${path} não é uma chave. Nada foi alterado: restaure a cópia de segurança desse arquivo e rode de novo.`,
  )
}

// A file is on the disk only when its folder is too.
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync()
}

async function openStorage(
  { dataDir, databaseUrl }: RotationConfig,
  stack: AsyncDisposableStack,
  step: (text: string) => void,
): Promise<string> {
  // An embedded one belongs to one program at a time, and says so.
  const url = databaseUrl ?? stack.use(await startPostgres({ directory: join(dataDir, 'postgres'), log: step })).url
  await requireAlone(url)
  await migrate(url)
  return url
}

// A connection that was just closed is seen for a moment more.
const patienceMs = 2_000

async function requireAlone(url: string): Promise<void> {
  await withClient(url, async (client) => {
    for (const since = performance.now(); ; await setTimeout(100)) {
      const { rows } = await client.query<{ n: number }>(
        // Those of the server itself have no user.
        `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null`,
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

const atOnce = 200

async function reseal(url: string, from: Vault, to: Vault, step: (text: string) => void): Promise<number> {
  return withClient(url, async (client) => {
    await client.query('begin')
    // A process that starts meanwhile waits here, then finds that its key is the old one and refuses to start; one that was overlooked
    // cannot seal with the old key.
    await client.query('lock table certificate in access exclusive mode')
    await requireKnown(client, from, to)
    step('Selando os certificados com a chave nova…')
    let count = 0
    for (let rows = await readSome(client, from); rows.length > 0; rows = await readSome(client, from, rows.at(-1))) {
      await writeSome(client, rows, from, to)
      count += rows.length
    }
    step('Confirmando…')
    await client.query('commit')
    return count
  })
}

async function requireKnown(client: pg.Client, from: Vault, to: Vault): Promise<void> {
  const { rows } = await client.query<{ n: number }>(
    'select count(*)::int as n from certificate where replaced_at is null and key_id not in ($1, $2)',
    [from.keyId, to.keyId],
  )
  if (rows[0]!.n > 0)
    throw new InstallationError(
      'Há certificados selados com uma chave que não é a de agora nem a nova. Nenhum certificado foi alterado: restaure a chave com que o programa funcionava e rode de novo.',
    )
}

interface CertificateRow {
  workspace_id: number
  id: number
  company_id: number
  key_encrypted: Buffer
}

async function readSome(client: pg.Client, { keyId }: Vault, after?: CertificateRow): Promise<CertificateRow[]> {
  const { rows } = await client.query<CertificateRow>(
    `select workspace_id, id, company_id, key_encrypted from certificate
      where key_id = $1 and (workspace_id, id) > ($2, $3) order by workspace_id, id limit ${atOnce}`,
    [keyId, after?.workspace_id ?? 0, after?.id ?? 0],
  )
  return rows
}

async function writeSome(client: pg.Client, rows: CertificateRow[], from: Vault, to: Vault): Promise<void> {
  const sealed = rows.map(({ workspace_id, company_id, key_encrypted }) => {
    const purpose = keyPurpose(workspace_id, company_id)
    return to.encrypt(from.decrypt(key_encrypted, purpose), purpose)
  })
  await client.query(
    `update certificate c set key_encrypted = u.sealed, key_id = $4
       from unnest($1::int[], $2::int[], $3::bytea[]) u (workspace_id, id, sealed)
      where c.workspace_id = u.workspace_id and c.id = u.id`,
    [rows.map((row) => row.workspace_id), rows.map((row) => row.id), sealed, to.keyId],
  )
}

// What was not committed ends with its connection.
async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
