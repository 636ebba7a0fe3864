import { createHash } from 'node:crypto'
import type { getAccount } from '@vigia/contract/accounts'
import { sql } from 'kysely'
import { Secret, TOTP } from 'otpauth'
import type { Context, WithConfig, WithDatabase } from '../platform/context.ts'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import { queueMail } from '../platform/mail/mail.ts'
import { recordAudit } from './audit/audit.ts'
import { findRecipient } from './email-proof.ts'
import { inEachPlace, reconnectPagesOf } from './places.ts'

// Codes by time (RFC 6238), as every authenticator program makes them, and codes that the person keeps for when the telephone is gone.

type Owner = Pick<Session, 'workspaceId' | 'accountId'>

const periodS = 30
// A telephone's clock may be off, and typing takes its time.
const stepsOff = 1
const secretBytes = 20
const recoveryCodes = 10
// Base32 of 80 bits, in groups of four.
const recoveryCodeLength = 16

/** The name that binds the sealed secret of a second factor to its account. */
export function secondFactorPurpose(workspaceId: number, accountId: number): string {
  return `second factor of account ${workspaceId}/${accountId}`
}

const purposeOf = ({ workspaceId, accountId }: Owner) => secondFactorPurpose(workspaceId, accountId)

type SecondFactorState = NonNullable<DataOf<typeof getAccount>['duasEtapas']>

/** The second factor of the account, or null. `ctx.db` is a transaction inside the workspace. */
export async function findSecondFactor({ db }: WithDatabase, owner: Owner): Promise<SecondFactorState | null> {
  const { workspaceId, accountId } = owner
  const { rows } = await sql<SecondFactorState>`
    select f.confirmed_at as desde,
           (select count(*)::int from recovery_code c
             where c.workspace_id = ${workspaceId} and c.account_id = ${accountId} and c.used_at is null) as "codigosRestantes"
      from second_factor f
     where f.workspace_id = ${workspaceId} and f.account_id = ${accountId} and f.confirmed_at is not null`.execute(db)
  return rows[0] ?? null
}

/** A code that is not right, or was taken before. */
export const wrongCode =
  'O código não confere, ou já foi usado. Espere o próximo do aplicativo autenticador, confira se o relógio do celular está certo e digite-o de novo.'

/**
 * Accepts a code of the account's second factor: of its app, or a recovery code. Returns whether it
 * is right; no code works twice. `ctx.db` is a transaction inside the workspace.
 */
export async function takeCode(
  { db, vault, config }: Pick<Context, 'db' | 'vault' | 'config'>,
  actor: Owner & Pick<Session, 'accountName' | 'address'>,
  code: string,
): Promise<boolean> {
  const digits = code.replace(/\s/g, '')
  if (/^\d{6}$/.test(digits)) return takeTimedCode({ db, vault, config }, actor, digits, { confirmed: true })
  const { workspaceId, accountId, address } = actor
  const { numAffectedRows } = await sql`
    update recovery_code set used_at = now()
     where workspace_id = ${workspaceId} and account_id = ${accountId} and code_hash = ${hashOf(code)}
       and used_at is null`.execute(db)
  if (numAffectedRows === 0n) return false
  await recordAudit({ db }, actor, 'senha', 'Usou um código de recuperação da verificação em duas etapas.')
  await tellOfFactor({ db, config }, actor, 'codigo-usado', address)
  return true
}

async function takeTimedCode(
  { db, vault, config }: Pick<Context, 'db' | 'vault' | 'config'>,
  owner: Owner,
  digits: string,
  { confirmed }: { confirmed: boolean },
): Promise<boolean> {
  const { workspaceId, accountId } = owner
  // Locked: another secret does not take its place meanwhile.
  const { rows } = await sql<{ secret: Buffer }>`
    select secret from second_factor
     where workspace_id = ${workspaceId} and account_id = ${accountId} and (confirmed_at is not null) = ${confirmed}
       for update`.execute(db)
  if (!rows[0]) return false
  const totp = generatorOf({ config }, unseal({ vault }, owner, rows[0].secret), '')
  const timestamp = Date.now()
  const off = totp.validate({ token: digits, timestamp, window: stepsOff })
  if (off === null) return false
  const step = Math.floor(timestamp / 1000 / periodS) + off
  // Two that come at once with the same code wait for each other here.
  const { numAffectedRows } = await sql`
    update second_factor set last_step = ${step}, confirmed_at = ${confirmed ? sql`confirmed_at` : sql`now()`}
     where workspace_id = ${workspaceId} and account_id = ${accountId} and last_step < ${step}`.execute(db)
  return numAffectedRows === 1n
}

function unseal({ vault }: Pick<Context, 'vault'>, owner: Owner, sealed: Buffer): Secret {
  try {
    return Secret.fromBase32(vault.decrypt(sealed, purposeOf(owner)))
  } catch (cause) {
    throw new AppError(
      'unavailable',
      'Por um problema do sistema, os códigos do aplicativo não podem ser conferidos agora. Nada foi alterado: use um código de recuperação, ou fale com quem cuida do sistema.',
      { cause },
    )
  }
}

function generatorOf({ config }: Pick<Context, 'config'>, secret: Secret, label: string): TOTP {
  return new TOTP({ issuer: config.productName, label, secret, period: periodS, digits: 6, algorithm: 'SHA1' })
}

const lookalikes: Record<string, string> = { '0': 'O', '1': 'I', '8': 'B' }

// Whatever the person makes of upper case, hyphens, and letters that look like digits: Base32 has no 0, 1 and 8.
function hashOf(code: string): Buffer {
  const plain = code
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replace(/[018]/g, (digit) => lookalikes[digit]!)
  return createHash('sha256').update(plain).digest()
}

/** Makes a secret for the person's program; nothing changes at the login before a code of it was shown. `uri` is what a program reads from a picture. */
export async function beginSecondFactor(
  { db, vault, config }: Pick<Context, 'db' | 'vault' | 'config'>,
  session: Session,
): Promise<{ secret: string; uri: string }> {
  const { workspaceId, accountId } = session
  const secret = new Secret({ size: secretBytes })
  const email = await inWorkspace({ db }, workspaceId, async ({ db }) => {
    if (await findSecondFactor({ db }, session))
      throw new AppError(
        'conflict',
        'A verificação em duas etapas já está ligada nesta conta. Nada foi alterado: para trocar de celular, desligue-a e ligue de novo.',
      )
    await sql`
      insert into second_factor as f (workspace_id, account_id, secret)
      values (${workspaceId}, ${accountId}, ${vault.encrypt(secret.base32, purposeOf(session))})
      on conflict (workspace_id, account_id) do update set secret = excluded.secret where f.confirmed_at is null`.execute(
      db,
    )
    const { rows } = await sql<{ email: string }>`
      select email from account where workspace_id = ${workspaceId} and id = ${accountId}`.execute(db)
    return rows[0]!.email
  })
  return { secret: secret.base32, uri: generatorOf({ config }, secret, email).toString() }
}

/** Switches the second factor on, by a code that the person's program made; returns the codes to be kept. */
export async function confirmSecondFactor(
  { db, vault, config }: Pick<Context, 'db' | 'vault' | 'config'>,
  session: Session,
  code: string,
): Promise<string[]> {
  return inWorkspace({ db }, session.workspaceId, async ({ db }) => {
    if (await findSecondFactor({ db }, session))
      throw new AppError(
        'conflict',
        'A verificação em duas etapas já está ligada nesta conta. Se você não viu os códigos de recuperação, gere outros.',
      )
    const digits = code.replace(/\s/g, '')
    if (!(await takeTimedCode({ db, vault, config }, session, digits, { confirmed: false })))
      throw new AppError('invalid-input', wrongCode)
    // Proofs of other sessions by password alone must not suffice to switch the factor off again.
    await inEachPlace({ db }, session, async ({ workspaceId, accountId }) => {
      await sql`
        update session set proved_at = ${new Date(0)}
         where workspace_id = ${workspaceId} and account_id = ${accountId}
         and public_id <> ${session.publicId}`.execute(db)
    })
    await recordAudit({ db }, session, 'senha', 'Ligou a verificação em duas etapas.')
    await tellOfFactor({ db, config }, session, 'ligada', session.address)
    return replaceRecoveryCodes({ db }, session)
  })
}

/** Replaces all recovery codes by new ones. */
export async function renewRecoveryCodes({ db, config }: WithConfig, session: Session): Promise<string[]> {
  return inWorkspace({ db }, session.workspaceId, async ({ db }) => {
    if (!(await findSecondFactor({ db }, session))) throw new AppError('conflict', isOff)
    await recordAudit({ db }, session, 'senha', 'Gerou outros códigos de recuperação; os anteriores deixaram de valer.')
    await tellOfFactor({ db, config }, session, 'codigos-trocados', session.address)
    return replaceRecoveryCodes({ db }, session)
  })
}

/** There is none to change. */
export const isOff = 'A verificação em duas etapas está desligada nesta conta. Nada foi alterado.'

async function replaceRecoveryCodes({ db }: WithDatabase, { workspaceId, accountId }: Owner): Promise<string[]> {
  const codes = Array.from({ length: recoveryCodes }, () =>
    new Secret({ size: secretBytes }).base32.slice(0, recoveryCodeLength),
  )
  await sql`delete from recovery_code where workspace_id = ${workspaceId} and account_id = ${accountId}`.execute(db)
  const rows = codes.map((code) => sql`(${workspaceId}, ${accountId}, ${hashOf(code)})`)
  await sql`insert into recovery_code (workspace_id, account_id, code_hash) values ${sql.join(rows)}`.execute(db)
  return codes.map((code) => code.match(/.{4}/g)!.join('-'))
}

/** Switches the second factor of an account off; returns whether it was on. `ctx.db` is a transaction inside the workspace. */
export async function dropSecondFactor(
  { db, config }: WithConfig,
  owner: Owner,
  actor: Parameters<typeof recordAudit>[1],
): Promise<boolean> {
  if (!(await removeSecondFactor({ db }, owner))) return false
  await reconnectPagesOf({ db }, owner)
  await recordAudit({ db }, actor, 'senha', 'Desligou a verificação em duas etapas.')
  await tellOfFactor({ db, config }, owner, 'desligada', actor.address)
  return true
}

/** Takes the second factor from an account without a word; returns whether it was on. `ctx.db` is a transaction inside the workspace. */
export async function removeSecondFactor({ db }: WithDatabase, { workspaceId, accountId }: Owner): Promise<boolean> {
  await sql`delete from recovery_code where workspace_id = ${workspaceId} and account_id = ${accountId}`.execute(db)
  const { rows } = await sql<{ wasOn: boolean }>`
    delete from second_factor where workspace_id = ${workspaceId} and account_id = ${accountId}
    returning confirmed_at is not null as "wasOn"`.execute(db)
  return rows[0]?.wasOn ?? false
}

type Occasion = 'ligada' | 'desligada' | 'codigo-usado' | 'codigos-trocados' | 'passkey-cadastrada' | 'passkey-removida'

/** Writes to the person of an account of a change in how it is entered. `ctx.db` is a transaction inside the workspace. */
export async function tellOfFactor(
  { db, config }: WithConfig,
  { workspaceId, accountId }: Owner,
  what: Occasion,
  address?: string,
): Promise<void> {
  const recipient = await findRecipient({ db, config }, { workspaceId, accountId })
  if (!recipient) return
  const payload = { at: new Date().toISOString(), address, what }
  await queueMail({ db }, { workspaceId, kind: 'duas-etapas', recipient, payload })
}
