import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { PasskeyAnswer, PasskeyRegistration } from '@vigia/contract/accounts'
import { sql } from 'kysely'
import type { Context } from '../platform/context.ts'
import { inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Caller, Session } from '../platform/http/session.ts'
import { countTry, type Limit, mayTry, networkOf, requireUnderLimit } from '../platform/http/throttle.ts'
import { recordAudit } from './audit/audit.ts'
import { findPasskeys } from './passkeys.ts'
import { lockAccount } from './passwords.ts'
import { tellOfFactor } from './second-factor.ts'
import { type KnownAccount, networkLimit, openSession } from './sessions.ts'
import { tokenHash } from './tokens.ts'

// Keys that a telephone, a computer or a stick keeps for one account, and uses only after its person has unlocked it (WebAuthn level 3). One opens
// a session alone: who has it and could unlock it has shown both.

type WithOrigin = Pick<Context, 'config'>

/** Passkeys per account. */
export const passkeysMax = 20
// Time for the person to find the device.
const patienceMs = 5 * 60_000

// Ed25519, ES256 and RS256: what authenticators make (COSE).
const supportedAlgorithmIDs = [-8, -7, -257]

// Loaded on first use: an installation without passkeys does not wait for it.
const webauthn = () => import('@simplewebauthn/server')

const isOfferedAt = (url: URL) =>
  (url.protocol === 'https:' || url.hostname === 'localhost') && isIP(url.hostname.replace(/[[\]]/g, '')) === 0

/** Whether browsers allow passkeys at the address of the product: they want a name, and HTTPS but on this machine. */
export function hasPasskeys({ config }: WithOrigin): boolean {
  return isOfferedAt(new URL(config.publicUrl))
}

function requireOffered({ config }: WithOrigin): URL {
  const url = new URL(config.publicUrl)
  if (!isOfferedAt(url))
    throw new AppError(
      'conflict',
      'Passkeys funcionam só quando o sistema é aberto por um nome, com https. Nada foi alterado: use a senha.',
    )
  return url
}

/** Purpose of a challenge: a login with any passkey, or a new passkey of one account. */
type Purpose = 'entrar' | `cadastrar ${number}/${number}`

const registrationOf = ({ workspaceId, accountId }: Session): Purpose => `cadastrar ${workspaceId}/${accountId}`

const randomLength = 16
const sealLength = 16

// Contains its own time and purpose under a seal, so unused challenges need no storage.
function makeChallenge({ vault }: Pick<Context, 'vault'>, purpose: Purpose): string {
  const time = Buffer.alloc(8)
  time.writeBigInt64BE(BigInt(Date.now()))
  const plain = Buffer.concat([time, randomBytes(randomLength)])
  return Buffer.concat([plain, sealOf({ vault }, purpose, plain)]).toString('base64url')
}

const sealOf = ({ vault }: Pick<Context, 'vault'>, purpose: Purpose, plain: Buffer) =>
  vault.derive(`passkey ${purpose} ${plain.toString('base64url')}`).subarray(0, sealLength)

const once: Limit = { name: 'desafio', times: 1, withinMs: 2 * patienceMs }

/** Whether a challenge is one of ours, of the last minutes, and used for the first time. */
async function takeChallenge(
  ctx: Pick<Context, 'db' | 'vault'>,
  purpose: Purpose,
  challenge: string,
): Promise<boolean> {
  const bytes = Buffer.from(challenge, 'base64url')
  const plain = bytes.subarray(0, 8 + randomLength)
  if (bytes.length !== 8 + randomLength + sealLength) return false
  if (!sealOf(ctx, purpose, plain).equals(bytes.subarray(plain.length))) return false
  const age = Date.now() - Number(plain.readBigInt64BE())
  return Math.abs(age) < patienceMs && (await mayTry(ctx, once, bytes.toString('base64url')))
}

const tooLate =
  'O pedido de passkey expirou ou já foi usado. Nada foi alterado; tente de novo e confirme no aparelho em até cinco minutos.'
const unknown = 'Esta passkey não abre nenhuma conta daqui: talvez ela tenha sido removida. Entre com e-mail e senha.'

/** Browser options for a login with any passkey of this product. */
export async function challengeForPasskey(ctx: Pick<Context, 'config' | 'vault'>) {
  const { hostname } = requireOffered(ctx)
  const { generateAuthenticationOptions } = await webauthn()
  const options = await generateAuthenticationOptions({
    rpID: hostname,
    challenge: Buffer.from(makeChallenge(ctx, 'entrar'), 'base64url'),
    timeout: patienceMs,
    userVerification: 'required',
  })
  return { ...options, rpId: hostname }
}

/** Browser options for creating a passkey of the session's account. */
export async function challengeForRegistration(ctx: Pick<Context, 'db' | 'config' | 'vault'>, session: Session) {
  const { hostname } = requireOffered(ctx)
  const { email, known } = await readWorkspace(ctx, session.workspaceId, async ({ db }) => {
    const { rows } = await sql<{ email: string }>`
      select email from account where workspace_id = ${session.workspaceId} and id = ${session.accountId}`.execute(db)
    return { email: rows[0]!.email, known: await findPasskeys({ db }, session) }
  })
  requireRoom(known.length)
  const { generateRegistrationOptions } = await webauthn()
  const { rp, user, pubKeyCredParams, ...options } = await generateRegistrationOptions({
    rpName: ctx.config.productName,
    rpID: hostname,
    userName: email,
    userDisplayName: session.accountName,
    // The same for all passkeys of the account: a device keeps one of them. It tells nothing of the account.
    userID: new Uint8Array(ctx.vault.derive(`passkey user ${session.workspaceId}/${session.accountId}`)),
    challenge: Buffer.from(makeChallenge(ctx, registrationOf(session)), 'base64url'),
    timeout: patienceMs,
    attestationType: 'none',
    supportedAlgorithmIDs,
    excludeCredentials: known.map(({ credentialId, transports }) => ({ id: credentialId, transports })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return { ...options, rp: { ...rp }, user: { ...user }, pubKeyCredParams: pubKeyCredParams.map((one) => ({ ...one })) }
}

function requireRoom(count: number): void {
  if (count >= passkeysMax)
    throw new AppError('conflict', `Esta conta já tem ${passkeysMax} passkeys. Nada foi alterado: remova uma antes.`)
}

const notTaken =
  'Não conseguimos conferir a passkey que o aparelho criou. Nada foi alterado; tente de novo e, se acontecer outra vez, use outro aparelho ou navegador.'

// Refuses attestations: checking them would fetch any address that their certificates name.
async function refuseAttestation({ response: { attestationObject } }: PasskeyRegistration): Promise<void> {
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers')
  try {
    const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')))
    if (decoded.get('fmt') === 'none') return
  } catch (cause) {
    throw new AppError('invalid-input', notTaken, { cause })
  }
  throw new AppError('invalid-input', notTaken)
}

/** Takes a passkey that the browser made for the account of the session. */
export async function addPasskey(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  session: Session,
  name: string,
  response: PasskeyRegistration,
): Promise<void> {
  const { hostname, origin } = requireOffered(ctx)
  await refuseAttestation(response)
  const { verifyRegistrationResponse } = await webauthn()
  let late = false
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: async (challenge) => {
      late = !(await takeChallenge(ctx, registrationOf(session), challenge))
      return !late
    },
    expectedOrigin: origin,
    expectedRPID: hostname,
    requireUserVerification: true,
    supportedAlgorithmIDs,
  }).catch((cause: unknown) => {
    throw new AppError('invalid-input', late ? tooLate : notTaken, { cause })
  })
  if (!verified.verified) throw new AppError('invalid-input', notTaken)
  const { credential } = verified.registrationInfo
  await inWorkspace(ctx, session.workspaceId, async ({ db }) => {
    // Locked: of two that come at once one is counted before the other.
    await lockAccount({ db }, session)
    requireRoom((await findPasskeys({ db }, session)).length)
    const transports = (credential.transports ?? []).slice(0, 10)
    const { numAffectedRows } = await sql`
      insert into passkey (workspace_id, account_id, digest, credential_id, public_key, counter, transports, name)
      values (${session.workspaceId}, ${session.accountId}, ${tokenHash(credential.id)}, ${credential.id},
        ${Buffer.from(credential.publicKey)}, ${credential.counter}, ${transports}, ${name})
      on conflict do nothing`.execute(db)
    // A call whose response was lost comes again.
    if (numAffectedRows === 0n) return
    const { rows } = await sql`
      insert into token_directory (token_hash, workspace_id, kept_until)
      values (${tokenHash(credential.id)}, ${session.workspaceId}, 'infinity') on conflict do nothing
      returning 1`.execute(db)
    // An authenticator that gives its key the name of another one.
    if (rows.length === 0) throw new AppError('invalid-input', notTaken)
    await recordAudit({ db }, session, 'senha', `Cadastrou a passkey “${name}”.`)
    await tellOfFactor({ db, config: ctx.config }, session, 'passkey-cadastrada', session.address)
  })
}

/** The account whose passkey signed; throws when none did. What is signed is taken once. */
async function checkPasskey(ctx: Pick<Context, 'db' | 'config' | 'vault'>, response: PasskeyAnswer) {
  const { hostname, origin } = requireOffered(ctx)
  const digest = tokenHash(response.id)
  const { rows } = await sql<
    KnownAccount & { email: string; credentialId: string; publicKey: Buffer; counter: bigint }
  >`
    select workspace_id as "workspaceId", account_id as "accountId", email, last_workspace_id as "lastWorkspaceId",
           password_hash as "passwordHash", shared, credential_id as "credentialId", public_key as "publicKey", counter
      from account_for_passkey(${digest})`.execute(ctx.db)
  const [known] = rows
  if (!known) throw new AppError('unauthenticated', unknown)
  const { credentialId, publicKey, counter, ...account } = known
  const { verifyAuthenticationResponse } = await webauthn()
  let late = false
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: async (challenge) => {
      late = !(await takeChallenge(ctx, 'entrar', challenge))
      return !late
    },
    expectedOrigin: origin,
    expectedRPID: hostname,
    requireUserVerification: true,
    credential: { id: credentialId, publicKey: new Uint8Array(publicKey), counter: Number(counter) },
  }).catch((cause: unknown) => {
    throw new AppError('unauthenticated', late ? tooLate : unknown, { cause })
  })
  if (!verified) throw new AppError('unauthenticated', unknown)
  const { numAffectedRows } = await inWorkspace(ctx, account.workspaceId, ({ db }) =>
    sql`update passkey set counter = ${authenticationInfo.newCounter}, used_at = now()
         where workspace_id = ${account.workspaceId} and digest = ${digest}`.execute(db),
  )
  // It was removed in this moment.
  if (numAffectedRows === 0n) throw new AppError('unauthenticated', unknown)
  return account
}

/** Opens a session with a passkey alone; throws when it opens none. */
export async function logInWithPasskey(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  response: PasskeyAnswer,
  caller: Caller,
): Promise<{ token: string; workspacePublicId: string; email: string }> {
  const network = networkOf(caller.address)
  await requireUnderLimit(ctx, networkLimit, network)
  try {
    const account = await checkPasskey(ctx, response)
    const opened = await openSession(ctx, account, caller, { sentence: 'Entrou com uma passkey.', withFactor: true })
    // The password was replaced in this moment.
    if (!opened) throw new AppError('unauthenticated', tooLate)
    return { ...opened, email: account.email }
  } catch (error) {
    if (error instanceof AppError && error.code === 'unauthenticated') await countTry(ctx, networkLimit, network)
    throw error
  }
}

const proofLimit: Limit = { name: 'passkey', times: 30, withinMs: 15 * 60_000 }

/** Refuses a proof by a passkey that is not of the account of the session. */
export async function requirePasskey(
  ctx: Pick<Context, 'db' | 'config' | 'vault'>,
  session: Session,
  response: PasskeyAnswer,
): Promise<void> {
  await countTry(ctx, proofLimit, `${session.workspaceId}/${session.accountId}`)
  const { workspaceId, accountId } = await checkPasskey(ctx, response).catch((error: unknown) => {
    // The session is not over.
    if (error instanceof AppError && error.code === 'unauthenticated')
      throw new AppError('invalid-input', error.message, { cause: error })
    throw error
  })
  if (workspaceId !== session.workspaceId || accountId !== session.accountId)
    throw new AppError('invalid-input', 'Esta passkey é de outra conta. Nada foi alterado.')
}
