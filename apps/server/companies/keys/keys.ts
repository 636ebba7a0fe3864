import { randomBytes } from 'node:crypto'
import type { addKey as addRoute, listKeys as listRoute } from '@vigia/contract/keys'
import { scopes as allScopes, type RouteInput } from '@vigia/contract/route'
import { formatBrasiliaDay, formatCount, formatList } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit, recordCounted } from '../../accounts/audit/audit.ts'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { findRecipient } from '../../accounts/email-proof.ts'
import { listToken, tokenHash, unlistTokens } from '../../accounts/tokens.ts'
import type { WithConfig, WithDatabase } from '../../platform/context.ts'
import { countRows, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { DataOf } from '../../platform/http/http.ts'
import { type Keys, keyStart } from '../../platform/http/keys.ts'
import type { Session } from '../../platform/http/session.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { uuidOf } from '../../platform/text.ts'
import { findCompanyIds, publicIdsIn } from '../chosen-companies.ts'

/** Keys that a workspace has at once. */
export const keysMax = 20
// A removed key leaves a row.
const madeLimit: Limit = { name: 'chave de API', times: 60, withinMs: 24 * 3_600_000 }
// Visible start of a key: enough of its 64 random characters to tell keys apart.
const startLength = keyStart.length + 8

type ApiKey = DataOf<typeof listRoute>['chaves'][number]

export async function listKeys(ctx: WithDatabase, workspaceId: number): Promise<ApiKey[]> {
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<ApiKey>`
      select public_id as "idChave", name as nome, start as inicio, scopes as permissoes,
             ${publicIdsIn(workspaceId, 'api_key.company_ids')} as "idsEmpresas",
             created_at as "criadaEm", ${nameOfAuthor(workspaceId, 'api_key.created_by')} as "criadaPor", expires_at as "validaAte",
             coalesce(expires_at <= now(), false) as vencida, used_at as "usadaEm"
        from api_key where workspace_id = ${workspaceId} and token_hash is not null order by id`.execute(db)
    return rows
  })
}

/** Makes a key, which is shown once, and mails its maker; without days it works until removed. */
export async function addKey(
  { db, config }: WithConfig,
  session: Session,
  { nome: name, permissoes, validadeEmDias: days, idsEmpresas }: RouteInput<typeof addRoute>['body'],
): Promise<{ publicId: string; key: string }> {
  const { workspaceId, accountId } = session
  await countTry({ db }, madeLimit, String(workspaceId))
  const key = `${keyStart}${randomBytes(32).toString('hex')}`
  const start = key.slice(0, startLength)
  const granted = allScopes.filter((scope) => permissoes.includes(scope))
  return inWorkspace({ db }, workspaceId, async ({ db }) => {
    await lockKeys({ db }, workspaceId)
    const kept = sql`from api_key where workspace_id = ${workspaceId} and token_hash is not null`
    if ((await countRows(db, kept)) >= keysMax)
      throw new AppError(
        'conflict',
        `Já há ${keysMax} chaves de API. Esta não foi criada; apague uma que não usa mais e tente de novo.`,
      )
    await refuseTaken({ db }, workspaceId, name)
    const companyIds = await findCompanyIds({ db }, workspaceId, idsEmpresas)
    const expiresAt = !days ? null : sql<Date>`now() + ${days} * interval '1 day'`
    const { rows: added } = await sql<{ publicId: string; expiresAt: Date | null }>`
      insert into api_key (workspace_id, name, scopes, start, token_hash, created_by, expires_at, company_ids)
      values (${workspaceId}, ${name}, ${granted}, ${start}, ${tokenHash(key)}, ${accountId}, ${expiresAt}, ${companyIds})
      returning public_id as "publicId", expires_at as "expiresAt"`.execute(db)
    const row = added[0]!
    await listToken({ db }, workspaceId, key, expiresAt ?? sql<Date>`'infinity'`)
    const until = row.expiresAt ? `válida até ${formatBrasiliaDay(row.expiresAt)}` : 'sem validade'
    const of = companyIds ? `, de ${formatCount(companyIds.length, 'empresa', 'empresas')}` : ''
    const what = `Criou a chave de API “${name}” (${start}…), ${until}${of}, que pode: ${formatList(granted)}.`
    await recordAudit({ db }, session, 'chave', what)
    const recipient = await findRecipient({ db, config }, session)
    if (recipient) {
      const payload = { at: new Date().toISOString(), address: session.address, name, start, scopes: granted, until }
      await queueMail({ db }, { workspaceId, kind: 'chave-criada', recipient, payload })
    }
    return { publicId: row.publicId, key }
  })
}

export async function renameKey({ db }: WithDatabase, session: Session, publicId: string, name: string): Promise<void> {
  const { workspaceId } = session
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    await lockKeys({ db }, workspaceId)
    const before = await getKey({ db }, workspaceId, publicId)
    if (before.name === name) return
    await refuseTaken({ db }, workspaceId, name, before.id)
    await sql`update api_key set name = ${name} where workspace_id = ${workspaceId} and id = ${before.id}`.execute(db)
    const what = `Mudou o nome da chave de API “${before.name}” (${before.start}…) para “${name}”.`
    await recordAudit({ db }, session, 'chave', what)
  })
}

/** Removes a key: it does not work after the transaction. */
export async function removeKey({ db }: WithDatabase, session: Session, publicId: string): Promise<void> {
  const { workspaceId } = session
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    await lockKeys({ db }, workspaceId)
    const { id, name, start } = await getKey({ db }, workspaceId, publicId)
    await forget({ db }, workspaceId, id)
    await recordAudit({ db }, session, 'chave', `Apagou a chave de API “${name}” (${start}…).`)
  })
}

/** Removes all keys of a workspace. `ctx.db` is a transaction inside the workspace. */
export async function removeAllKeys({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await lockKeys({ db }, workspaceId)
  await forget({ db }, workspaceId, null)
}

async function forget({ db }: WithDatabase, workspaceId: number, id: number | null): Promise<void> {
  const { rows } = await sql<{ hash: Buffer }>`
    with ended as (select id, token_hash from api_key
                    where workspace_id = ${workspaceId} and token_hash is not null and (${id}::int is null or id = ${id}))
    update api_key k set token_hash = null from ended where k.workspace_id = ${workspaceId} and k.id = ended.id
    returning ended.token_hash as hash`.execute(db)
  await unlistTokens(
    { db },
    rows.map(({ hash }) => hash),
  )
}

// Changes of the keys of a workspace take turns.
async function lockKeys({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute()
}

// In the audit the name says which key it was.
async function refuseTaken({ db }: WithDatabase, workspaceId: number, name: string, but = 0): Promise<void> {
  const { rows } = await sql`
    select from api_key where workspace_id = ${workspaceId} and token_hash is not null
     and lower(name) = lower(${name}) and id <> ${but}`.execute(db)
  if (rows.length > 0)
    throw new AppError(
      'conflict',
      `Já há uma chave de API com o nome “${name}”. Nada foi alterado; escolha outro nome.`,
    )
}

async function getKey({ db }: WithDatabase, workspaceId: number, publicId: string) {
  const { rows } = await sql<{ id: number; name: string; start: string }>`
    select id, name, start from api_key
     where workspace_id = ${workspaceId} and public_id = ${uuidOf(publicId)}::uuid
       and token_hash is not null`.execute(db)
  if (!rows[0]) throw new AppError('not-found', 'Chave de API não encontrada.')
  return rows[0]
}

type FoundKey = Pick<
  Session,
  'workspaceId' | 'workspacePublicId' | 'accountId' | 'accountName' | 'publicId' | 'scopes' | 'companies'
> & { expiresAt: Date | null }

/** How the server lets keys in: see docs/decisions/0037-api-keys.md. */
export const keys: Keys = {
  find: async ({ db }, token, caller) => {
    const { rows } = await sql<FoundKey>`
      select workspace_id as "workspaceId", workspace_public_id as "workspacePublicId", key_id as "accountId", author as "accountName",
             key_public_id as "publicId", scopes, company_ids as companies, expires_at as "expiresAt"
        from key_for_token(${tokenHash(token)})`.execute(db)
    const [found] = rows
    if (!found) return null
    return {
      ...found,
      expiresAt: found.expiresAt ?? new Date(8.64e15),
      shared: false,
      // Scopes limit a program, not the role.
      role: 'administrador',
      home: { workspaceId: found.workspaceId, accountId: found.accountId },
      lacksFactor: false,
      isAccessOver: false,
      // Programs cannot prove themselves again: the key's author did so when making it.
      provedLately: true,
      token,
      address: caller.address,
    }
  },
  // What a key changes leaves entries of its own; each call leaves a count.
  note: async ({ db }, key, { method, path }, wasLetIn) => {
    const { workspaceId, accountId } = key
    await inWorkspace({ db }, workspaceId, async ({ db }) => {
      await sql`
        update api_key set used_at = now()
         where workspace_id = ${workspaceId} and id = ${accountId}
         and (used_at is null or used_at <= now() - interval '1 hour')`.execute(db)
      const refused = wasLetIn ? '' : ' sem ter a permissão (chamada recusada)'
      await recordCounted({ db }, key, 'chave', `Chamou ${method} ${path}${refused}.`)
    })
  },
}
