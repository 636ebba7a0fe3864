import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { type RawBuilder, sql } from 'kysely'
import type { Config } from '../config.ts'
import type { Context, WithDatabase } from './context.ts'
import { endTrouble, noteTrouble } from './trouble.ts'

/** What the data folder remembers of its database. */
interface Mark {
  /** A digest of the key of the installation: which database it is about. */
  installation: string
  mark: number
}

// So far that no other machine remembers a later one.
const leap = 1_000_000

interface InFolder {
  config: Pick<Config, 'dataDir'>
}

const pathOf = ({ config }: InFolder) => join(config.dataDir, 'mark.json')

/**
 * Advances the mark of the database and remembers it in the data folder. When the folder remembers a later one, the database was brought back
 * from a copy: that is noted, and no event leaves before a person has released it.
 */
export async function advanceMark(ctx: Pick<Context, 'db' | 'config' | 'log'>): Promise<void> {
  const { db } = ctx
  // The folder before the database: another process may advance both meanwhile, the database first.
  const remembered = await readMark(ctx)
  const { rows } = await sql<{ key: Buffer; mark: number; markedAt: Date }>`
    select id_key as key, mark::float8 as mark, marked_at as "markedAt" from installation`.execute(db)
  const { key, mark, markedAt } = rows[0]!
  const installation = createHash('sha256').update(key).digest('hex')
  const isOlder = remembered?.installation === installation && remembered.mark > mark
  if (isOlder) await noteRestore(ctx, markedAt)
  const { rows: advanced } = await sql<{ mark: number }>`
    select mark::float8 as mark from advance_mark(${isOlder ? remembered.mark + leap : 0}::bigint)`.execute(db)
  await writeMark(ctx, { installation, mark: advanced[0]!.mark })
}

async function readMark(ctx: InFolder): Promise<Mark | null> {
  try {
    return JSON.parse(await readFile(pathOf(ctx), 'utf8')) as Mark
  } catch (error) {
    // Not there, or cut off when the disk was full: the next one is written whole.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

async function writeMark(ctx: InFolder, mark: Mark): Promise<void> {
  const path = pathOf(ctx)
  await mkdir(ctx.config.dataDir, { recursive: true, mode: 0o700 })
  const before = `${path}.${randomUUID()}`
  {
    await using file = await open(before, 'w', 0o600)
    await file.writeFile(JSON.stringify(mark))
    await file.sync()
  }
  await rename(before, path)
}

/** Before the first start of a database that was restored on purpose: the folder remembers a later mark, also where it remembered nothing. */
export async function expectRestore(config: Pick<Config, 'dataDir'>, { installation, mark }: Mark): Promise<void> {
  const remembered = await readMark({ config })
  if (remembered?.installation === installation && remembered.mark > mark) return
  await writeMark({ config }, { installation, mark: mark + 1 })
}

// The last of these that were ever made, 0 when none was; null where it may not be asked.
const lastOf = (table: 'capture_call' | 'mail' | 'webhook_delivery') => {
  const sequence = sql`pg_get_serial_sequence(${sql.lit(table)}, 'id')`
  return sql`case when has_sequence_privilege(${sequence}, 'usage') then coalesce(pg_sequence_last_value(${sequence}), 0) end`
}
const [lastCall, lastMail, lastDelivery] = [lastOf('capture_call'), lastOf('mail'), lastOf('webhook_delivery')]
// A later restore is found later, whatever the clock says: by its time all versions go on (changes.ts).
const foundAt = sql`(select case when max(found_at) >= now() then max(found_at) + interval '1 hour' else now() end from restore)`
const foundNow = sql`found_at = ${foundAt}, last_call_id = ${lastCall}, last_mail_id = ${lastMail}, last_delivery_id = ${lastDelivery}`
const insertFound = sql`insert into restore (found_at, last_call_id, last_mail_id, last_delivery_id, copy_of) select ${foundAt}, ${lastCall}, ${lastMail}, ${lastDelivery}`

/**
 * Notes that the database was brought back from a copy of `copyOf`: one that is not released begins anew then, because what was done since it was found may be missing
 * again. Null: it is not known when, and may be the one that is noted.
 */
export async function noteRestore(ctx: Pick<Context, 'db' | 'log'>, copyOf: Date | null): Promise<void> {
  const { rows } = await sql<{ again: boolean }>`
    with again as (
      update restore set ${foundNow}, copy_of = case when copy_of is not null then least(copy_of, ${copyOf}::timestamptz) end
       where released_at is null and ${copyOf}::timestamptz is not null returning id),
    first as (
      ${insertFound}, ${copyOf}::timestamptz
       where not exists (select from restore where released_at is null) returning id)
    select true as again from again union all select false from first`.execute(ctx.db)
  if (rows.length === 0) return
  ctx.log.error({ copyOf }, 'the database was brought back from a copy: no event leaves before it is released')
  const when = copyOf
    ? `O banco de dados voltou de uma cópia de ${formatBrasiliaMoment(copyOf)} (horário de Brasília).`
    : 'A SEFAZ está à frente em quase todas as empresas: o banco de dados parece ter voltado de uma cópia de segurança.'
  await noteTrouble(
    ctx,
    'restauracao',
    `${when}${rows[0]!.again ? ' Antes dela já tinha voltado outra, que não foi liberada.' : ''} O que está na cópia está seguro, e o que foi capturado desde então está sendo buscado de novo na SEFAZ. O que as pessoas mudaram aqui desde então (cadastros, certificados, opções, senhas) se perdeu. O que fazer: confira com elas as opções das empresas e libere o envio de manifestações, de webhooks e dos e-mails que já esperavam na cópia, que até lá ficam parados: npm run admin -- restauracao.`,
    { anew: true },
  )
}

/** A restore that nobody has released yet; null: none. */
export async function findRestore({ db }: WithDatabase): Promise<{ foundAt: Date; copyOf: Date | null } | null> {
  const row = await db
    .selectFrom('restore')
    .select(['found_at as foundAt', 'copy_of as copyOf'])
    .where('released_at', 'is', null)
    .executeTakeFirst()
  return row ?? null
}

/** Since when the first events of the production environment wait for a release; null: they leave. */
export async function findFirstHold({ db }: WithDatabase): Promise<Date | null> {
  const row = await db.selectFrom('installation').select('held_since as since').executeTakeFirst()
  return row?.since ?? null
}

/** Tells the operator and the dashboard that the first events wait. */
export async function noteFirstHold(ctx: Pick<Context, 'db'>): Promise<void> {
  if ((await findFirstHold(ctx)) === null) return
  await noteTrouble(
    ctx,
    'liberacao',
    'Esta instalação começou no ambiente de produção. A captura funciona, e nenhuma manifestação sai até uma pessoa conferir o que espera. O que fazer: confira e libere o envio em “Aguardam segunda pessoa” (/aprovacoes), ou com npm run admin -- restauracao.',
  )
}

/** Lets the first events leave. */
export async function releaseFirstHold({ db }: WithDatabase): Promise<void> {
  await db.updateTable('installation').set({ held_since: null }).where('held_since', 'is not', null).execute()
  await endTrouble({ db }, 'liberacao')
}

/** Lets events leave again. */
export async function releaseRestore({ db }: WithDatabase): Promise<void> {
  await db.updateTable('restore').set({ released_at: sql<Date>`now()` }).where('released_at', 'is', null).execute()
  await endTrouble({ db }, 'restauracao')
}

/**
 * True of what is from the copy of a restore that is not released: it may have been done since the copy was made. The order of the rows tells; their times only where a process of
 * an earlier release found the restore.
 */
export const isFromCopy = (last: 'last_mail_id' | 'last_delivery_id') => {
  const held = sql`from restore where released_at is null`
  return sql<boolean>`((created_at <= (select max(found_at) ${held} and ${sql.ref(last)} is null)) is true
    or (id <= (select max(${sql.ref(last)}) ${held})) is true)`
}

/**
 * All restores `r` beside the last call `r.before` of a capture line when each was found: for statements. The order of the calls tells what came after; their times do not when the
 * clock was set. `offset 0` has that call be looked for once, and not for each that it is compared with.
 */
export const restoresOf = (line: RawBuilder<unknown>) => sql`(
  select released_at, coalesce(last_call_id, (select max(id) from capture_call where line_id = ${line} and at < found_at), 0) as before
    from restore offset 0) r`

/** True while a restore is not released: for conditions of statements. */
export const isHeld = sql<boolean>`exists (select 1 from restore where released_at is null)`

/** True while no event leaves. */
export const areEventsHeld = sql<boolean>`(${isHeld} or exists (select 1 from installation where held_since is not null))`
