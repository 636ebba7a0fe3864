import { type Connection, connect } from '@vigia/sefaz/connection'
import type { Endpoints } from '@vigia/sefaz/endpoints'
import type { Correction, SignedEvent } from '@vigia/sefaz/events'
import type { Config } from '../config.ts'
import { readAuthorities } from '../platform/authorities.ts'
import { inWorkspace, openDatabase, pools } from '../platform/database.ts'
import { createVault, type Vault } from '../platform/vault.ts'
import { createKeys, findInstallationKey, keyPurpose, prepareKeys, tokens } from './keys.ts'
import { signWanted } from './wanted.ts'
import { ensureMasterKey, type KeyWrapper, wrapByCommand, wrapWithKey } from './wrapping.ts'

/** Holds the private keys: it seals them, shows them to the authority and signs with them, and hands none out. */
export interface Signer {
  /** It did not respond a moment ago: what needs a certificate waits. */
  readonly isDown: boolean
  /** Makes sure that it can be asked, that its keys can be opened, and that it knows whom to trust as the authority. */
  check(): Promise<void>
  /** The key of tokens and tickets, which opens nothing of a certificate. */
  tokensKey(): Promise<Buffer>
  /** Seals the private key (PEM) of a certificate of a company with the key of its workspace. */
  seal(workspaceId: number, companyId: number, privateKey: string): Promise<SealedKey>
  /** Opens the key of a certificate and notes the use; null when it was replaced or removed a moment ago. Throws `UnreadableCertificate`. */
  open(workspaceId: number, certificateId: number, use: CertificateUse): Promise<OpenedCertificate | null>
}

export interface SealedKey {
  sealed: Buffer
  /** Names the key of the workspace. */
  keyId: string
}

/** What a key is opened for; its owner can read this. */
export interface CertificateUse {
  service: string
  purpose: string
}

/** A certificate whose key is open, inside the signer. */
export interface OpenedCertificate {
  id: number
  pem: string
  validTo: Date
  /** Shows it to the addresses of the authority, and to no others. Throws `UnreadableCertificate`. */
  connect(): Promise<Connection>
  /** Signs an event that is written down as wanted. Throws `EventError`, and an error when it is not. */
  sign(details: EventDetails): Promise<SignedEvent>
}

/** Which outgoing event is to be signed, and what its row does not say. */
export interface EventDetails {
  id: bigint
  /** Who holds the row. */
  leaseBy: string
  /** The text of the row, as it leaves; undefined: without. */
  text?: string
  /** What the event cites: the protocol of the document, or of the event that it takes back. */
  protocol?: string
  /** Those of the row, after those of the letter before. */
  corrections?: readonly Correction[]
}

/** A certificate cannot be used as it is kept here: its key does not open, or is not its own. */
export class UnreadableCertificate extends Error {
  override name = 'UnreadableCertificate'
}

interface SignerOptions {
  /** Of the owner of the database. */
  url: string
  config: Pick<Config, 'sefaz'>
  wrapper: KeyWrapper
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
      const row = await inWorkspace({ db }, workspaceId, ({ db }) =>
        db
          .selectFrom('certificate as c')
          .leftJoin('workspace_key as k', 'k.workspace_id', 'c.workspace_id')
          .select([
            'c.company_id',
            'holder_cnpj',
            'certificate_pem',
            'chain_pem',
            'key_encrypted',
            'valid_to',
            'wrapped',
          ])
          .where('c.workspace_id', '=', workspaceId)
          .where('c.id', '=', certificateId)
          .where('replaced_at', 'is', null)
          .executeTakeFirst(),
      )
      if (!row) return null
      if (!row.wrapped) throw new UnreadableCertificate('the key of the workspace was destroyed')
      const vault = await keys.unwrap(workspaceId, row.wrapped)
      const key = openSealed(vault, row.key_encrypted, keyPurpose(workspaceId, row.company_id))
      const noted = { workspace_id: workspaceId, certificate_id: certificateId, ...use }
      await inWorkspace({ db }, workspaceId, ({ db }) => db.insertInto('certificate_use').values(noted).execute())
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
          return onlyTo(addresses, show(certificate, { ca: await trusted(), timeoutMs: sefaz.answerMs }))
        },
        sign: (details) => signWanted(db, sefaz.tpAmb, workspaceId, details, certificate),
      }
    },
    [Symbol.asyncDispose]: () => db.destroy(),
  }
}

/** A signer in this process over the keys of this installation, which it prepares first. `url` is the address of the owner of the database. */
export async function openSigner(
  config: Pick<Config, 'dataDir' | 'masterKey' | 'masterKeyCommand' | 'sefaz'>,
  url: string,
): Promise<Signer & AsyncDisposable> {
  const masterKey = config.masterKeyCommand ? null : await ensureMasterKey(config)
  const wrapper = masterKey ? wrapWithKey(masterKey) : wrapByCommand(config.masterKeyCommand!)
  await prepareKeys(url, wrapper, masterKey && createVault(masterKey))
  return createSigner({ url, config, wrapper })
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

function onlyTo(addresses: ReadonlySet<string>, connection: Connection): Connection {
  return {
    ...connection,
    async post(url, message) {
      if (!addresses.has(url)) throw new Error(`no address of the authority: ${url}`)
      return connection.post(url, message)
    },
  }
}

function addressesOf({ distribution, manifestation, cteEvents }: Endpoints): string[] {
  return [...Object.values(distribution), manifestation, ...Object.values(cteEvents)]
}
