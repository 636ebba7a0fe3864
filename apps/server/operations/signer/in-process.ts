import { type Connection, connect } from '@vigia/sefaz/connection'
import type { Endpoints } from '@vigia/sefaz/endpoints'
import { UnsentError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import { readAuthorities } from '../../companies/authorities.ts'
import type { Config } from '../../config.ts'
import type { Database } from '../../platform/context.ts'
import { inWorkspace, openDatabase, pools } from '../../platform/database.ts'
import { InstallationError } from '../../platform/installation.ts'
import { type Signer, UnreadableCertificate } from '../../platform/signer/signer.ts'
import type { Vault } from '../../platform/vault.ts'
import { createKeys, findInstallationKey, isWrapped, keyPurpose, prepareKeys, tokens } from './keys.ts'
import { signWanted } from './wanted.ts'
import { ensureMasterKey, hasMasterKey, type KeyWrapper, wrapWithKey } from './wrapping.ts'

const useCharactersMax = 200

interface SignerOptions {
  /** Address with the login of the database owner. */
  url: string
  config: Pick<Config, 'sefaz'>
  wrapper: KeyWrapper
}

interface SealedCertificate {
  company_id: number
  holder_cnpj: string
  certificate_pem: string
  chain_pem: string[]
  key_encrypted: Buffer
  valid_to: Date
  wrapped: Buffer | null
}

/** A signer in this process. */
export function createSigner({ url, config, wrapper }: SignerOptions): Signer & AsyncDisposable {
  const db = openDatabase(url, pools.signer)
  const keys = createKeys(db, wrapper)
  const { sefaz } = config
  const addresses = new Set(addressesOf(sefaz.endpoints))
  let authorities: Promise<string[]> | undefined
  const trusted = () => {
    authorities ??= readAuthorities(config).catch((error: unknown) => {
      // The file may be there the next time.
      authorities = undefined
      throw error
    })
    return authorities
  }
  return {
    isDown: false,
    async check() {
      await trusted()
      await findInstallationKey(db, wrapper, tokens)
    },
    async tokensKey() {
      const key = await findInstallationKey(db, wrapper, tokens)
      if (!key) throw new Error('the keys of this installation were not prepared')
      return key
    },
    async seal(workspaceId, companyId, privateKey) {
      const vault = await keys.ensure(workspaceId)
      return { sealed: vault.encrypt(privateKey, keyPurpose(workspaceId, companyId)), keyId: vault.keyId }
    },
    async open(workspaceId, certificateId, use) {
      const { rows } = await inWorkspace({ db }, workspaceId, ({ db }) =>
        sql<SealedCertificate>`
          select c.company_id, holder_cnpj, certificate_pem, chain_pem, key_encrypted, valid_to, wrapped
            from certificate c left join workspace_key k on k.workspace_id = c.workspace_id
           where c.workspace_id = ${workspaceId} and c.id = ${certificateId} and replaced_at is null`.execute(db),
      )
      const row = rows[0]
      if (!row) return null
      if (!row.wrapped) throw new UnreadableCertificate('the key of the workspace was destroyed')
      const vault = await keys.unwrap(workspaceId, row.wrapped)
      const key = openSealed(vault, row.key_encrypted, keyPurpose(workspaceId, row.company_id))
      // From the socket comes what its client likes.
      const [service, purpose] = [use.service, use.purpose].map((text) => String(text).slice(0, useCharactersMax))
      await inWorkspace({ db }, workspaceId, ({ db }) =>
        sql`
          insert into certificate_use (workspace_id, certificate_id, service, purpose)
          values (${workspaceId}, ${certificateId}, ${service}, ${purpose})`.execute(db),
      )
      const certificate = {
        key,
        certificate: row.certificate_pem,
        chain: row.chain_pem,
        holderCnpj: row.holder_cnpj,
      }
      return {
        id: certificateId,
        pem: row.certificate_pem,
        validTo: row.valid_to,
        async connect() {
          const shown = show(certificate, { ca: await trusted(), timeoutMs: sefaz.answerMs })
          return onlyTo(addresses, sefaz.answerMs, shown, () => isKept(db, workspaceId, certificateId))
        },
        async sign(details) {
          if (!(await isKept(db, workspaceId, certificateId)))
            throw new UnreadableCertificate('the certificate was replaced or removed, or its key destroyed')
          return signWanted(db, sefaz.tpAmb, workspaceId, details, certificate)
        },
      }
    },
    [Symbol.asyncDispose]: () => db.destroy(),
  }
}

/** A signer in this process over the keys of this installation, which it prepares first. `url` is the address of the owner of the database. */
export async function openSigner(
  config: Pick<Config, 'dataDir' | 'masterKey' | 'sefaz'>,
  url: string,
): Promise<Signer & AsyncDisposable> {
  await refuseNewKey(config, url)
  const masterKey = await ensureMasterKey(config)
  const wrapper = wrapWithKey(masterKey)
  await prepareKeys(url, wrapper)
  return createSigner({ url, config, wrapper })
}

// A database without its key, or a command that was not given it: another one would open nothing, and look like the right one.
async function refuseNewKey(config: Pick<Config, 'dataDir' | 'masterKey'>, url: string): Promise<void> {
  if ((await hasMasterKey(config)) || !(await isWrapped(url))) return
  throw new InstallationError(
    'Falta a chave mestra que abre os certificados digitais deste banco: MASTER_KEY ou o arquivo master.key de DATA_DIR. Nada foi alterado, e nenhuma outra foi feita: ponha no lugar a que o programa usa e repita.',
  )
}

// One that is open may be replaced or removed meanwhile, by who no longer wants it used.
async function isKept(db: Database, workspaceId: number, certificateId: number): Promise<boolean> {
  const { rows } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql`
      select from certificate c join workspace_key k on k.workspace_id = c.workspace_id
       where c.workspace_id = ${workspaceId} and c.id = ${certificateId} and replaced_at is null`.execute(db),
  )
  return rows.length > 0
}

function openSealed(vault: Vault, sealed: Uint8Array, purpose: string): string {
  try {
    return vault.decrypt(sealed, purpose)
  } catch (cause) {
    throw new UnreadableCertificate('the key of a certificate does not open', { cause })
  }
}

function show(...[certificate, options]: Parameters<typeof connect>): Connection {
  try {
    return connect(certificate, options)
  } catch (cause) {
    throw new UnreadableCertificate('a certificate cannot be shown', { cause })
  }
}

function onlyTo(
  addresses: ReadonlySet<string>,
  answerMs: number,
  connection: Connection,
  isKept: () => Promise<boolean>,
): Connection {
  return {
    close: connection.close,
    async post(url, message) {
      if (!addresses.has(url)) throw new Error(`no address of the authority: ${url}`)
      if (!(await isKept())) throw new UnsentError()
      return connection.post(url, { ...message, timeoutMs: Math.min(message.timeoutMs ?? answerMs, answerMs) })
    },
  }
}

function addressesOf({ distribution, manifestation, cteEvents }: Endpoints): string[] {
  return [...Object.values(distribution), manifestation, ...Object.values(cteEvents)]
}
