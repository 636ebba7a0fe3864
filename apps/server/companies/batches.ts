import { createHash } from 'node:crypto'
import type * as contract from '@vigia/contract/companies'
import { batchMax } from '@vigia/contract/companies'
import { type PasswordList, passwordsFor, readPasswordList } from '@vigia/contract/passwords'
import { formatCount, formatInteger } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../accounts/audit/audit.ts'
import { readPlan, type WorkspacePlan } from '../accounts/plans.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { asOperator, countRows, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { DataOf } from '../platform/http/http.ts'
import type { Session } from '../platform/http/session.ts'
import { type Job, queueJob } from '../platform/jobs/jobs.ts'
import { announce } from '../platform/outbox.ts'
import type { BatchEnded } from './announcements.ts'

// Certificate files that a person hands over at once. Until the worker has decided a file, its row holds it sealed.

type FileState = 'waiting' | 'replaced' | 'registered' | 'unchanged' | 'failed'

/** Limits per workspace. */
export const batchLimits = { open: 10, kept: 20, waitingBytes: 20_000_000 }
const keptDays = 30
const filesOfSmallPlans = 20

function filesMaxOf({ companiesMax }: WorkspacePlan): number {
  return Math.min(batchMax.files, Math.max(filesOfSmallPlans, companiesMax ?? batchMax.files))
}

const noPasswords =
  'Não encontramos nenhuma senha na lista. Nada foi enviado: escreva uma linha CNPJ;senha para cada certificado, ou uma só senha para todos.'

/** Begins a batch of so many files, which are added afterwards. `list`: the passwords, as the person wrote them; may be empty when each file has its own. */
export async function startBatch(
  ctx: Pick<Context, 'db' | 'config' | 'ids' | 'vault'>,
  session: Session,
  { list, total }: { list: string; total: number },
): Promise<string> {
  const { workspaceId } = session
  const { shared, named } = readPasswordList(list)
  const isEmpty = shared === null && named.length === 0
  if (isEmpty && list.trim() !== '') throw new AppError('invalid-input', noPasswords)
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const plan = await readPlan({ ...ctx, db }, workspaceId, { lock: true })
    const filesMax = filesMaxOf(plan)
    if (total > filesMax)
      throw new AppError(
        'invalid-input',
        `No plano ${plan.name} um lote tem até ${formatCount(filesMax, 'certificado', 'certificados')}, e este tem ${formatInteger(total)}. Nada foi enviado: divida-o em lotes menores, ou mude para um plano maior em “Minha conta”.`,
      )
    await requireRoom({ db }, workspaceId)
    const passwords = isEmpty ? null : ctx.vault.encrypt(JSON.stringify({ shared, named }), listPurpose(workspaceId))
    const { accountId, accountName, publicId, address = null } = session
    const { rows } = await sql<{ id: bigint }>`
      insert into certificate_batch (workspace_id, account_id, account_name, session_id, address, total, passwords)
      values (${workspaceId}, ${accountId}, ${accountName}, ${publicId}, ${address}, ${total}, ${passwords})
      returning id`.execute(db)
    const count = formatCount(total, 'arquivo', 'arquivos')
    await recordAudit({ db }, session, 'certificado', `Começou a enviar um lote de certificados, com ${count}.`)
    return ctx.ids.encode(workspaceId, rows[0]!.id)
  })
}

async function requireRoom({ db }: WithDatabase, workspaceId: number): Promise<void> {
  await sql`
    delete from certificate_batch where workspace_id = ${workspaceId} and ended_at is not null and id not in (
      select id from certificate_batch where workspace_id = ${workspaceId}
       order by id desc limit ${batchLimits.kept - 1})`.execute(db)
  const open = sql`from certificate_batch where workspace_id = ${workspaceId} and ended_at is null`
  if ((await countRows(db, open)) >= batchLimits.open)
    throw new AppError(
      'too-many',
      `Já há ${batchLimits.open} lotes de certificados desta conta em andamento. Nada foi enviado: espere um deles terminar e envie de novo.`,
      { retryAfterMs: 30_000 },
    )
}

// Both are sealed by the key of tokens, which a new master key replaces: then the files are asked for again.
const listPurpose = (workspaceId: number) => `passwords of a batch of workspace ${workspaceId}`
const filePurpose = (workspaceId: number) => `certificate file of workspace ${workspaceId}`

/** A file that is handed over. */
interface SentFile {
  name: string
  bytes: Uint8Array
  /** Its own; undefined: those of the list. */
  password?: string
}

/** Adds files to a batch; those that it has already are not taken twice. `last`: no others come. Returns how many it has. */
export async function addFiles(
  ctx: Pick<Context, 'db' | 'config' | 'ids' | 'vault'>,
  { workspaceId }: Session,
  publicId: string,
  { files, last }: { files: readonly SentFile[]; last: boolean },
): Promise<number> {
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const filesMax = filesMaxOf(await readPlan({ ...ctx, db }, workspaceId, { lock: true }))
    const batchId = ctx.ids.decode(workspaceId, publicId)
    const batch = await lockBatch({ db }, workspaceId, batchId)
    if (!batch || batchId === null) throw notThere()
    if (!batch.passwords && !batch.complete && files.some(({ password }) => !password))
      throw new AppError('invalid-input', noPasswords)
    // A call whose response was lost comes again.
    const fresh = await withoutKnown({ db }, workspaceId, batchId, files)
    if (batch.complete && fresh.length > 0) throw new AppError('conflict', closed)
    const n = (await countFiles({ db }, workspaceId, batchId)).n + fresh.length
    if (batch.complete) return n
    if (n > filesMax)
      throw new AppError(
        'conflict',
        `Este lote tem até ${formatInteger(filesMax)} arquivos. Os desta chamada não foram guardados: envie-os em outro lote.`,
      )
    const rows = fresh.map(({ name, bytes, password, digest }) => ({
      workspace_id: workspaceId,
      batch_id: batchId,
      name,
      digest,
      content: ctx.vault.encrypt(
        JSON.stringify({ file: Buffer.from(bytes).toString('base64'), password }),
        filePurpose(workspaceId),
      ),
    }))
    const bytes = rows.reduce((sum, { content }) => sum + content.length, 0)
    if ((await countWaitingBytes({ db }, workspaceId)) + bytes > batchLimits.waitingBytes)
      throw new AppError('too-many', workspaceFull, { retryAfterMs: 30_000 })
    if (rows.length > 0) {
      const stored = await db.insertInto('certificate_file').values(rows).returning('id').execute()
      for (const { id } of stored) await queueJob({ db }, { kind: 'certificate', workspaceId, key: String(id) })
    }
    await sql`
      update certificate_batch
         set received_at = now(), complete = ${last}, total = ${last ? n : Math.max(batch.total, n)}
       where workspace_id = ${workspaceId} and id = ${batchId}`.execute(db)
    await endWhenDone({ db }, workspaceId, batchId)
    return n
  })
}

async function withoutKnown(
  { db }: WithDatabase,
  workspaceId: number,
  batchId: bigint,
  files: readonly SentFile[],
): Promise<(SentFile & { digest: Buffer })[]> {
  const keyOf = (name: string, digest: Buffer) => `${digest.toString('hex')} ${name}`
  const sent = new Map<string, SentFile & { digest: Buffer }>()
  for (const file of files) {
    const digest = createHash('sha256').update(file.bytes).digest()
    sent.set(keyOf(file.name, digest), { ...file, digest })
  }
  const { rows: known } = await sql<{ name: string; digest: Buffer }>`
    select name, digest from certificate_file
     where workspace_id = ${workspaceId} and batch_id = ${batchId}
       and name = any (${files.map(({ name }) => name)}::text[])`.execute(db)
  for (const { name, digest } of known) sent.delete(keyOf(name, digest))
  return [...sent.values()]
}

const workspaceFull =
  'Os certificados desta conta que esperam para ser conferidos já somam 20 MB. Os desta chamada não foram guardados, e os que esperam estão seguros: envie o resto de novo em alguns minutos.'

// Sealed, as the table has them.
async function countWaitingBytes({ db }: WithDatabase, workspaceId: number): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select coalesce(sum(octet_length(content)), 0)::float8 as bytes from certificate_file
     where state = 'waiting' and workspace_id = ${workspaceId}`.execute(db)
  return rows[0]!.bytes
}

const closed = 'Este lote já foi encerrado. Os arquivos desta chamada não foram guardados: envie-os em outro lote.'
const notThere = () => new AppError('not-found', 'Lote de certificados não encontrado.')

async function lockBatch({ db }: WithDatabase, workspaceId: number, id: bigint | null) {
  const { rows } = await sql<{ total: number; complete: boolean; passwords: Buffer | null; by: string }>`
    select total, complete, passwords, account_name as by from certificate_batch
     where workspace_id = ${workspaceId} and id = ${id} for no key update`.execute(db)
  return rows[0]
}

async function countFiles({ db }: WithDatabase, workspaceId: number, batchId: bigint) {
  const { rows } = await sql<Record<FileState | 'n', number>>`
    select count(*)::int as n, ${countOf('waiting')} as waiting, ${countOf('replaced')} as replaced, ${countOf('registered')} as registered,
           ${countOf('unchanged')} as unchanged, ${countOf('failed')} as failed
      from certificate_file f where f.workspace_id = ${workspaceId} and f.batch_id = ${batchId}`.execute(db)
  return rows[0]!
}

const countOf = (state: FileState) => sql`count(*) filter (where f.state = ${sql.lit(state)})::int`

/** Ends a batch whose files were all decided, forgets its passwords and announces it. `ctx.db` is a transaction inside the workspace. */
async function endWhenDone({ db }: WithDatabase, workspaceId: number, batchId: bigint): Promise<void> {
  const batch = await lockBatch({ db }, workspaceId, batchId)
  if (!batch?.complete) return
  const counts = await countFiles({ db }, workspaceId, batchId)
  if (counts.waiting > 0) return
  const { numAffectedRows } = await sql`
    update certificate_batch set ended_at = now(), passwords = null
     where workspace_id = ${workspaceId} and id = ${batchId} and ended_at is null`.execute(db)
  if (numAffectedRows === 0n) return
  const { n, ...states } = counts
  const payload: BatchEnded = { ...states, missing: batch.total - n, by: batch.by }
  await announce({ db }, workspaceId, { what: 'lote-conferido', payload })
}

/** A file that is not decided yet. */
export interface WaitingFile {
  workspaceId: number
  id: bigint
  batchId: bigint
  name: string
  content: Buffer
}

/** The file of a job; null: it was decided, or is gone with its batch. */
export async function readWaitingFile(
  ctx: WithDatabase,
  { workspaceId, key }: Pick<Job, 'workspaceId' | 'key'>,
): Promise<WaitingFile | null> {
  return readWorkspace(ctx, workspaceId!, async ({ db }) => {
    const { rows } = await sql<WaitingFile>`
      select workspace_id as "workspaceId", id, batch_id as "batchId", name, content
        from certificate_file where workspace_id = ${workspaceId} and id = ${key}::bigint
        and state = 'waiting'`.execute(db)
    return rows[0] ?? null
  })
}

/** Unseals a waiting file, with candidate passwords and uploader. Null: unsealing is impossible now. */
export async function openFile(
  ctx: Pick<Context, 'db' | 'vault'>,
  { workspaceId, batchId, name, content }: WaitingFile,
) {
  const [batch, done] = await readWorkspace(ctx, workspaceId, async ({ db }) => {
    const batch = await db
      .selectFrom('certificate_batch')
      .select(['account_id', 'account_name', 'session_id', 'address', 'passwords'])
      .where('workspace_id', '=', workspaceId)
      .where('id', '=', batchId)
      .executeTakeFirst()
    const { rows } = await sql<{ cnpj: string }>`
      select c.cnpj from certificate_file f join company c on c.workspace_id = f.workspace_id and c.id = f.company_id
       where f.workspace_id = ${workspaceId} and f.batch_id = ${batchId}`.execute(db)
    return [batch, new Set(rows.map(({ cnpj }) => cnpj))]
  })
  const sealed = batch && unseal(ctx, workspaceId, { content, list: batch.passwords })
  if (!batch || !sealed) return null
  const { file, list } = sealed
  return {
    bytes: new Uint8Array(Buffer.from(file.file, 'base64')),
    passwords: file.password ? [file.password] : passwordsFor(list, name, done),
    uploader: {
      workspaceId,
      accountId: batch.account_id,
      accountName: batch.account_name,
      publicId: batch.session_id,
      ...(batch.address !== null && { address: batch.address }),
    },
  }
}

function unseal(
  { vault }: Pick<Context, 'vault'>,
  workspaceId: number,
  { content, list }: { content: Buffer; list: Buffer | null },
): { file: { file: string; password?: string }; list: Omit<PasswordList, 'unread'> } | null {
  try {
    return {
      file: JSON.parse(vault.decrypt(content, filePurpose(workspaceId))),
      list: list ? JSON.parse(vault.decrypt(list, listPurpose(workspaceId))) : { shared: null, named: [] },
    }
  } catch {
    // The master key was changed since.
    return null
  }
}

export interface Decision {
  state: Exclude<FileState, 'waiting'>
  message: string
  companyId?: number
}

/** Stores the decision about a file and erases its content. Returns whether the file still waited. `ctx.db` is in the workspace. */
export async function settleFile(
  { db }: WithDatabase,
  { workspaceId, id, batchId }: WaitingFile,
  { state, message, companyId }: Decision,
): Promise<boolean> {
  await lockBatch({ db }, workspaceId, batchId)
  const { numAffectedRows } = await sql`
    update certificate_file
       set state = ${state}, message = ${message}, company_id = ${companyId ?? null}, content = null
     where workspace_id = ${workspaceId} and id = ${id} and state = 'waiting'`.execute(db)
  if (numAffectedRows === 0n) return false
  await endWhenDone({ db }, workspaceId, batchId)
  return true
}

const waitsForMore = sql`interval '10 minutes'`
const tooLate =
  'Este arquivo esperou mais de um dia sem que o servidor pudesse lê-lo, e foi apagado daqui. Nada foi alterado; envie-o de novo e, se acontecer outra vez, avise quem cuida do sistema.'

/** Ends batches without further files, erases files undecided for a day, forgets month-old batches. */
export async function tidyBatches(ctx: WithDatabase): Promise<void> {
  const late = await asOperator(ctx, async ({ db }) => {
    await sql`delete from certificate_batch where ended_at < now() - ${keptDays} * interval '1 day'`.execute(db)
    const { rows } = await sql<{ workspaceId: number; id: bigint }>`
      select workspace_id as "workspaceId", id from certificate_batch
       where ended_at is null and received_at < now() - ${waitsForMore}`.execute(db)
    return rows
  })
  for (const { workspaceId, id } of late)
    await inWorkspace(ctx, workspaceId, async ({ db }) => {
      await sql`
        update certificate_batch set complete = true where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
      await sql`
        update certificate_file f set state = 'failed', message = ${tooLate}, content = null
          from certificate_batch b
         where f.workspace_id = ${workspaceId} and f.batch_id = ${id} and f.state = 'waiting'
           and b.workspace_id = f.workspace_id and b.id = f.batch_id
           and b.received_at < now() - interval '1 day'`.execute(db)
      await endWhenDone({ db }, workspaceId, id)
    })
}

type Batch = DataOf<typeof contract.listBatches>[number]

/** The batches of the last month, newest first; `only`: the one with that id. */
export async function listBatches(
  ctx: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  only: bigint | null = null,
): Promise<Batch[]> {
  const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<Omit<Batch, 'idLote'> & { idLote: bigint }>`
      select b.id as "idLote", b.account_name as "enviadoPor", b.started_at as "enviadoEm", b.total as "totalDeArquivos",
             count(f.id)::int as recebidos, ${countOf('replaced')} as trocados, ${countOf('registered')} as cadastrados,
             ${countOf('unchanged')} as "semMudanca", ${countOf('failed')} as "comProblema", b.ended_at is not null as encerrado
        from certificate_batch b left join certificate_file f on f.workspace_id = b.workspace_id and f.batch_id = b.id
       where b.workspace_id = ${workspaceId} and b.id = coalesce(${only}, b.id)
         and b.started_at > now() - ${keptDays} * interval '1 day'
       group by b.workspace_id, b.id order by b.id desc limit ${batchLimits.kept}`.execute(db),
  )
  return rows.map((row) => ({ ...row, idLote: ctx.ids.encode(workspaceId, row.idLote) }))
}

type Detail = DataOf<typeof contract.getBatch>

/** A batch and its files, in the order in which they came; refuses an id that is not of this workspace. */
export async function getBatch(
  ctx: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  publicId: string,
): Promise<Detail> {
  const id = ctx.ids.decode(workspaceId, publicId)
  if (id === null) throw notThere()
  return readWorkspace(ctx, workspaceId, async ({ db }) => {
    const [batch] = await listBatches({ ...ctx, db }, workspaceId, id)
    if (!batch) throw notThere()
    const { rows: arquivos } = await sql<Detail['arquivos'][number]>`
      select f.name as nome,
             case f.state when 'waiting' then 'na-fila' when 'replaced' then 'trocado' when 'registered' then 'cadastrado'
                          when 'unchanged' then 'sem-mudanca' else 'problema' end as situacao,
             f.message as mensagem, c.public_id as "idEmpresa", c.name as "razaoSocial", c.cnpj
        from certificate_file f left join company c on c.workspace_id = f.workspace_id and c.id = f.company_id
       where f.workspace_id = ${workspaceId} and f.batch_id = ${id} order by f.id`.execute(db)
    return { ...batch, arquivos }
  })
}
