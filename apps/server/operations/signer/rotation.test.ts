import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { secondFactorPurpose } from '../../accounts/second-factor.ts'
import { readConfig } from '../../config.ts'
import { webhookPurpose } from '../../notifications/webhooks/webhooks.ts'
import { useDatabase } from '../../platform/database.testing.ts'
import { withOwner } from '../../platform/installation.ts'
import { createVault, type Vault } from '../../platform/vault.ts'
import { openSigner } from './in-process.ts'
import { keyPurpose, prepareKeys, tokens, workspacePurpose, writeKey } from './keys.ts'
import { rotateMasterKey } from './rotation.ts'
import { ensureMasterKey, wrapWithKey } from './wrapping.ts'

const { url } = await useDatabase()
let dataDir: string

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'vigia-rotation-'))
})
afterEach(() => rm(dataDir, { recursive: true }))

const config = (env: Record<string, string> = {}) =>
  readConfig({ DATA_DIR: dataDir, DATABASE_URL: url, ...env }, process.cwd())

async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
  return withOwner(url, async (client) => (await client.query<Row>(text, values)).rows)
}

// One workspace for each certificate; every third one is history.
async function certificates(count: number, masterKey: Buffer): Promise<void> {
  // Their workspaces stay: to empty every table of the schema takes longer than a rotation.
  for (const table of [
    'certificate',
    'company',
    'webhook',
    'second_factor',
    'account',
    'workspace_key',
    'installation_key',
  ])
    await query(`delete from ${table}`)
  const places = await query<{ workspace_id: number; company_id: number }>(
    `with w as (insert into workspace (name, plan) select 'x', 1 from generate_series(1, $1) returning id)
     insert into company (workspace_id, cnpj, name, search, uf) select id, '44555666000181', 'x', 'x', 35 from w
     returning workspace_id, id as company_id`,
    [count],
  )
  const workspaces = places.map(({ workspace_id }) => workspace_id)
  const wrapper = wrapWithKey(masterKey)
  const vaults = new Map<number, Vault>()
  await withOwner(url, async (client) => {
    for (const id of workspaces) vaults.set(id, await writeKey(client, id, wrapper))
  })
  const sealed = places.map(({ workspace_id, company_id }) =>
    vaults.get(workspace_id)!.encrypt(`key of ${company_id}`, keyPurpose(workspace_id, company_id)),
  )
  await query(
    `insert into certificate (workspace_id, company_id, holder_cnpj, holder_name, issuer, serial_number, valid_from, valid_to,
                              certificate_pem, chain_pem, key_encrypted, key_id, uploaded_by, replaced_at)
     select w, c, '44555666000181', 'x', 'x', '1', now(), now() + interval '1 year', 'x', '{}', s, k, 1, case when c % 3 = 0 then now() end
       from unnest($1::int[], $2::int[], $3::bytea[], $4::text[]) u (w, c, s, k)
     returning id`,
    [workspaces, places.map((row) => row.company_id), sealed, workspaces.map((id) => vaults.get(id)!.keyId)],
  )
}

// How many certificates are sealed with a key that a master key wraps, of how many.
async function opened(masterKey: Buffer): Promise<string> {
  const wrapper = wrapWithKey(masterKey)
  const rows = await query<{
    workspace_id: number
    company_id: number
    key_encrypted: Buffer
    key_id: string
    wrapped: Buffer | null
  }>(
    `select c.workspace_id, company_id, key_encrypted, c.key_id, wrapped from certificate c
       left join workspace_key k on k.workspace_id = c.workspace_id and k.wrapper_id = $1`,
    [wrapper.id],
  )
  let right = 0
  for (const { workspace_id, company_id, key_encrypted, key_id, wrapped } of rows) {
    const key = wrapped && (await wrapper.unwrap(wrapped, workspacePurpose(workspace_id)))
    const vault = key && createVault(key)
    const purpose = keyPurpose(workspace_id, company_id)
    if (vault?.keyId === key_id && vault.decrypt(key_encrypted, purpose) === `key of ${company_id}`) right++
  }
  return `${right} of ${rows.length}`
}

// As each signer does when it starts.
const start = (masterKey: Buffer) => prepareKeys(url, wrapWithKey(masterKey))

const inFile = async (name = 'master.key') => Buffer.from(await readFile(join(dataDir, name), 'utf8'), 'base64')

describe('with the key in the data directory', () => {
  let old: Buffer
  beforeEach(async () => {
    old = await ensureMasterKey({ dataDir, masterKey: undefined })
    await certificates(250, old)
  })

  test('every certificate, history too, is sealed with a new key that takes the place of the old one', async () => {
    expect(await rotateMasterKey(config())).toBe(250)
    expect(await readdir(dataDir)).toEqual(['master.key'])
    expect((await stat(join(dataDir, 'master.key'))).mode & 0o777).toBe(0o600)
    expect(await inFile()).not.toEqual(old)
    expect(await opened(await inFile())).toBe('250 of 250')
    expect(await opened(old)).toBe('0 of 250')
  })

  const vaultOf = async (masterKey: Buffer) => {
    const [row] = await query<{ wrapped: Buffer }>('select wrapped from installation_key where purpose = $1', [tokens])
    return createVault(await wrapWithKey(masterKey).unwrap(row!.wrapped, tokens))
  }

  test('second factors and secrets of webhooks are sealed with the new key of tokens; what a lost key had sealed stays', async () => {
    await start(old)
    const before = await vaultOf(old)
    const people = await query<{ workspace: number; account: number }>(
      `insert into account (workspace_id, email, name, password_hash) select id, id || '@exemplo.com.br', 'Ana', '-' from workspace
        order by id limit 2 returning workspace_id as workspace, id as account`,
    )
    const [one, lost] = people.map((person) => ({
      ...person,
      purpose: secondFactorPurpose(person.workspace, person.account),
    }))
    const stranger = Buffer.from('sealed with a key that was lost')
    for (const [person, secret] of [
      [one!, before.encrypt('secret', one!.purpose)],
      [lost!, stranger],
    ] as const)
      await query('insert into second_factor (workspace_id, account_id, secret) values ($1, $2, $3)', [
        person.workspace,
        person.account,
        secret,
      ])
    const purpose = webhookPurpose(one!.workspace)
    const webhook = before.encrypt('whsec_x', purpose)
    await query(`insert into webhook (workspace_id, url, kinds, secret, version) values ($1, 'x', '{}', $2, 0)`, [
      one!.workspace,
      webhook,
    ])
    await rotateMasterKey(config())
    const after = await vaultOf(await inFile())
    expect(after.keyId).not.toBe(before.keyId)
    const factors = await query<{ account: number; secret: Buffer }>(
      'select account_id as account, secret from second_factor order by account_id',
    )
    const secretOf = ({ account }: { account: number }) => factors.find((row) => row.account === account)!.secret
    expect(after.decrypt(secretOf(one!), one!.purpose)).toBe('secret')
    expect(secretOf(lost!)).toEqual(stranger)
    const [row] = await query<{ secret: Buffer; old_secret: null }>('select secret, old_secret from webhook')
    expect(after.decrypt(row!.secret, purpose)).toBe('whsec_x')
    expect(row!.old_secret).toBeNull()
    expect(() => after.decrypt(webhook, purpose)).toThrow()
    await start(await inFile())
    expect((await vaultOf(await inFile())).keyId).toBe(after.keyId)
  })

  test('a certificate that was removed has no key to seal, and stops nobody', async () => {
    await query(`update certificate set replaced_at = now(), key_encrypted = '', key_id = '' where company_id % 5 = 0`)
    const [row] = await query<{ n: number }>('select count(*)::int as n from certificate where key_id = $1', [''])
    expect(row!.n).toBe(50)
    expect(await rotateMasterKey(config())).toBe(200)
    expect(await opened(await inFile())).toBe('200 of 250')
    await start(await inFile())
  })

  // Each step is reported before it runs: throwing there stops like a crash.
  const crashes = [
    'Conferindo o banco',
    'Guardando a chave nova',
    'Selando os certificados',
    'Selando o resto',
    'Confirmando',
    'Pondo a chave nova',
  ]
  test.each(crashes)('a crash before "%s" loses nothing, and the next run finishes', async (point) => {
    const crash = (text: string) => {
      if (text.startsWith(point)) throw new Error('crash')
    }
    await expect(rotateMasterKey(config(), crash)).rejects.toThrow('crash')
    // The old key is still there, and so is the one that may be in use already.
    expect(await inFile()).toEqual(old)
    const committed = point === 'Pondo a chave nova'
    expect(await opened(committed ? await inFile('master.key.next') : old)).toBe('250 of 250')

    const started = start(old)
    await (committed ? expect(started).rejects.toThrow(/npm run admin -- rotate-key/) : started)

    expect(await rotateMasterKey(config())).toBe(committed ? 0 : 250)
    expect(await readdir(dataDir)).toEqual(['master.key'])
    expect(await opened(await inFile())).toBe('250 of 250')
  })

  test('the program that is killed while it seals leaves certificates that can all be opened', async () => {
    const root = fileURLToPath(new URL('../../../../', import.meta.url))
    const child = spawn(process.execPath, ['scripts/admin.ts', 'rotate-key'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, DATA_DIR: dataDir, DATABASE_URL: url, LOG_LEVEL: 'silent' },
    })
    const ended = once(child, 'close')
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.toString().includes('Selando')) child.kill('SIGKILL')
    })
    await ended
    const keys = await Promise.all((await readdir(dataDir)).map((name) => inFile(name)))
    expect(await Promise.all(keys.map(opened))).toContain('250 of 250')
    await rotateMasterKey(config())
    expect(await opened(await inFile())).toBe('250 of 250')
  })

  test('the old key is gone, but the new one has sealed everything: the work is finished', async () => {
    await rotateMasterKey(config())
    await rename(join(dataDir, 'master.key'), join(dataDir, 'master.key.next'))
    await rotateMasterKey(config())
    expect(await readdir(dataDir)).toEqual(['master.key'])
    expect(await opened(await inFile())).toBe('250 of 250')
  })

  test('an open connection is refused with a sentence, and nothing is changed', async () => {
    const other = new pg.Client({ connectionString: url })
    await other.connect()
    await expect(rotateMasterKey(config())).rejects.toThrow(
      /^Há outra conexão aberta .* Nada foi alterado: pare o programa/,
    )
    await other.end()
    expect(await readdir(dataDir)).toEqual(['master.key'])
    expect(await opened(old)).toBe('250 of 250')
  })

  test('a certificate of a third key is told, and nothing is changed', async () => {
    await query(
      "update certificate set key_id = 'another' where id = (select min(id) from certificate where replaced_at is null)",
    )
    await expect(rotateMasterKey(config())).rejects.toThrow(/não é a de agora nem a nova/)
    expect(await opened(old)).toBe('249 of 250')
    expect(await inFile()).toEqual(old)
  })

  test('a damaged key, or a new one that has no place, is told', async () => {
    const env = { NEW_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }
    await expect(rotateMasterKey(config(env))).rejects.toThrow(/^NEW_MASTER_KEY só serve junto com MASTER_KEY/)
    await writeFile(join(dataDir, 'master.key.next'), 'metade')
    await expect(rotateMasterKey(config())).rejects.toThrow(/master\.key\.next não é uma chave/)
    await writeFile(join(dataDir, 'master.key'), 'metade')
    await expect(rotateMasterKey(config())).rejects.toThrow(/master\.key não é uma chave/)
    await rm(join(dataDir, 'master.key'))
    await rm(join(dataDir, 'master.key.next'))
    await expect(rotateMasterKey(config())).rejects.toThrow(/^Não há chave mestra/)
    expect(await opened(old)).toBe('250 of 250')
  })
})

describe('with the key in the environment', () => {
  const [old, next] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const keys = { MASTER_KEY: old.toString('base64'), NEW_MASTER_KEY: next.toString('base64') }
  beforeEach(() => certificates(10, old))

  test('every certificate is sealed with the new one, once', async () => {
    expect(await rotateMasterKey(config(keys))).toBe(10)
    expect(await opened(next)).toBe('10 of 10')
    expect(await rotateMasterKey(config(keys))).toBe(0)
    expect(await readdir(dataDir)).toEqual([])
  })

  test('a command that was not given it is refused and makes no other, although nothing is sealed yet', async () => {
    await certificates(0, old)
    await start(old)
    await expect(openSigner(config(), url)).rejects.toThrow(/^Falta a chave mestra/)
    expect(await readdir(dataDir)).toEqual([])
  })

  test('without a new one, or with the same, nothing happens', async () => {
    await expect(rotateMasterKey(config({ MASTER_KEY: keys.MASTER_KEY }))).rejects.toThrow(/^Falta a chave nova/)
    const same = { MASTER_KEY: keys.MASTER_KEY, NEW_MASTER_KEY: keys.MASTER_KEY }
    await expect(rotateMasterKey(config(same))).rejects.toThrow(/^NEW_MASTER_KEY é igual/)
    expect(await opened(old)).toBe('10 of 10')
  })
})
