import { addRemark, markChecked, markDone, type Remark, remarkMax, removeRemark } from '@vigia/contract/remarks'
import { formatCount } from '@vigia/contract/text'
import { confirmacao, desconhecimento } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import { isAdministrator, type Session } from '../../platform/http/session.ts'
import { announce } from '../../platform/outbox.ts'
import { all, type Mark } from '../list/filter.ts'

// Remarks, marks of reliance and changes after them: docs/decisions/0042-remarks.md.

export const remarkRoutes = [
  handle(addRemark, async (ctx, { body, session }) => {
    const data = await inWorkspace(ctx, session.workspaceId, async ({ db }) => {
      const document = await getDocument({ db, ids: ctx.ids }, session, body.idDfe)
      const { rows } = await sql<{ remarks: number }>`
        insert into document_reliance as r (workspace_id, document_id, company_id, remarks)
        values (${session.workspaceId}, ${document.id}, ${document.company_id}, 1)
        on conflict (workspace_id, document_id) do update set remarks = r.remarks + 1
        returning remarks`.execute(db)
      if (rows[0]!.remarks > remarkMax.count)
        throw new AppError(
          'conflict',
          `Este documento já tem ${remarkMax.count} observações. Esta não foi guardada; apague uma e tente de novo.`,
        )
      await sql`
        insert into document_remark (workspace_id, company_id, document_id, text, written_by)
        values (${session.workspaceId}, ${document.company_id}, ${document.id}, ${body.texto},
                ${session.accountId})`.execute(db)
      await recordAudit({ db }, session, 'anotacao', `Escreveu uma observação no documento ${document.chave}.`)
      return listRemarks({ db, ids: ctx.ids }, session, document.id)
    })
    return { data, message: 'Observação guardada.' }
  }),

  handle(removeRemark, async (ctx, { body, session }) => {
    const data = await inWorkspace(ctx, session.workspaceId, async ({ db }) => {
      const document = await getDocument({ db, ids: ctx.ids }, session, body.idDfe)
      const id = ctx.ids.decode(session.workspaceId, body.idObservacao)
      const own = isAdministrator(session) ? sql`` : sql`and written_by = ${session.accountId}`
      const { numAffectedRows } = await sql`
        delete from document_remark where workspace_id = ${session.workspaceId}
           and document_id = ${document.id} and id = ${id ?? 0n} ${own}`.execute(db)
      if (numAffectedRows === 0n)
        throw new AppError('not-found', 'Esta observação não existe mais, ou é de outra pessoa. Nada foi alterado.')
      await sql`
        update document_reliance set remarks = remarks - 1
         where workspace_id = ${session.workspaceId} and document_id = ${document.id}`.execute(db)
      await recordAudit({ db }, session, 'anotacao', `Apagou uma observação do documento ${document.chave}.`)
      return listRemarks({ db, ids: ctx.ids }, session, document.id)
    })
    return { data, message: 'Observação apagada.' }
  }),

  handle(markChecked, (ctx, { body: { idsDFe, conferida }, session }) =>
    mark(ctx, session, idsDFe, 'checked', conferida),
  ),
  handle(markDone, (ctx, { body: { idsDFe, marca, marcada }, session }) =>
    mark(ctx, session, idsDFe, marca === 'lancada' ? 'booked' : 'delivered', marcada),
  ),
]

type Done = 'checked' | 'booked' | 'delivered'
const doneWords: Record<Done, readonly [one: string, many: string]> = {
  checked: ['conferido', 'conferidos'],
  booked: ['lançado', 'lançados'],
  delivered: ['entregue', 'entregues'],
}

async function mark(ctx: Pick<Context, 'db' | 'ids'>, session: Session, idsDFe: string[], done: Done, on: boolean) {
  const { workspaceId } = session
  const [one, many] = doneWords[done]
  const decoded = [...new Set(idsDFe)].map((id) => ctx.ids.decode(workspaceId, id))
  const changed = await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const documents = await findShown({ db }, workspaceId, decoded)
    if (documents.length < decoded.length)
      throw new AppError('not-found', 'Documento não encontrado. Nada foi alterado.')
    const n = await setMark({ db }, session, documents, done, on)
    const [only, ...others] = documents
    const word = n === 1 ? one : many
    const what = others.length === 0 ? `documento ${only!.chave}` : formatCount(n, 'documento', 'documentos')
    const [the, ofThe] = others.length === 0 ? ['o ', 'do '] : ['', 'de ']
    const entry = on ? `Marcou ${the}${what} como ${word}.` : `Tirou a marca de ${one} ${ofThe}${what}.`
    if (n > 0) await recordAudit({ db }, session, 'anotacao', entry)
    return n
  })
  return {
    data: { alteradas: changed },
    message: on
      ? formatCount(changed, `documento marcado como ${one}.`, `documentos marcados como ${many}.`)
      : formatCount(changed, `documento deixou de estar ${one}.`, `documentos deixaram de estar ${many}.`),
  }
}

interface Shown {
  id: bigint
  chave: string
  company_id: number
}

// Filters `ids` to shown documents of the workspace; `ctx.db` is a transaction inside it.
async function findShown({ db }: WithDatabase, workspaceId: number, ids: readonly (bigint | null)[]): Promise<Shown[]> {
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const known = ids.filter((id) => id !== null)
  const { rows } = await sql<Shown>`
    select d.id, d.chave, d.company_id from document d
     where ${all([sql`d.workspace_id = ${workspaceId}`, sql`d.id = any (${known}::bigint[])`, ...shown])}
     order by d.id`.execute(db)
  return rows
}

async function getDocument(
  ctx: Pick<Context, 'db' | 'ids'>,
  { workspaceId }: Session,
  publicId: string,
): Promise<Shown> {
  const [document] = await findShown(ctx, workspaceId, [ctx.ids.decode(workspaceId, publicId)])
  if (!document) throw new AppError('not-found', 'Documento não encontrado. Nada foi alterado.')
  return document
}

export async function listRemarks(
  { db, ids }: Pick<Context, 'db' | 'ids'>,
  session: Pick<Session, 'workspaceId' | 'accountId' | 'role' | 'scopes'>,
  documentId: bigint,
): Promise<Remark[]> {
  const { workspaceId, accountId } = session
  const { rows } = await sql<{ id: bigint; text: string; written_at: Date; written_by: number; author: string }>`
    select id, text, written_at, written_by, ${nameOfAuthor(workspaceId, 'document_remark.written_by')} as author
      from document_remark where workspace_id = ${workspaceId} and document_id = ${documentId} order by id`.execute(db)
  return rows.map((row) => ({
    idObservacao: ids.encode(workspaceId, row.id),
    texto: row.text,
    autor: row.author,
    quando: row.written_at.toISOString(),
    apagavel: isAdministrator(session) || row.written_by === accountId,
  }))
}

// Returns how many were not so before. Whoever checks a document that changed has seen the change. All who write these rows take them by id.
async function setMark(
  { db }: WithDatabase,
  { workspaceId, accountId }: Session,
  documents: readonly Shown[],
  done: Done,
  on: boolean,
): Promise<number> {
  const ids = documents.map(({ id }) => id)
  const [at, by] = [sql.ref(`${done}_at`), sql.ref(`${done}_by`)]
  const sawChange = done === 'checked' ? sql`or r.checked_at < r.altered_at` : sql``
  const { rows } = on
    ? await sql`
        insert into document_reliance as r (workspace_id, document_id, company_id, ${at}, ${by})
        select d.workspace_id, d.id, d.company_id, now(), ${accountId}::int from document d
         where d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[])
         order by d.id
        on conflict (workspace_id, document_id) do update set ${at} = excluded.${at}, ${by} = ${accountId}
         where r.${at} is null ${sawChange}
        returning 1`.execute(db)
    : await sql`
        with held as (
          select document_id from document_reliance
           where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[]) and ${at} is not null
           order by document_id for update)
        update document_reliance r set ${at} = null, ${by} = null from held
         where r.workspace_id = ${workspaceId} and r.document_id = held.document_id
        returning 1`.execute(db)
  return rows.length
}

/** Notes that documents left in an export; the first time counts. `ctx.db` is a transaction inside the workspace. */
export async function noteExported({ db }: WithDatabase, workspaceId: number, ids: readonly bigint[]): Promise<void> {
  await sql`
    insert into document_reliance as r (workspace_id, document_id, company_id, exported_at)
    select d.workspace_id, d.id, d.company_id, now() from document d
     where d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[])
     order by d.id
    on conflict (workspace_id, document_id) do update set exported_at = excluded.exported_at
     where r.exported_at is null`.execute(db)
}

// Cancelamento, Cancelamento por Substituição, Carta de Correção; of a CT-e also that it was replaced.
const altering = [110111, 110112, 110110, 240140]

interface NewEvent {
  chave: string
  tp_evento: number
  rank: number
}

/** Marks documents that new events change after somebody relied on them, and tells the people, in the transaction of `ctx`. */
export async function noteAltered(
  { db }: WithDatabase,
  { workspaceId, companyId }: { workspaceId: number; companyId: number },
  events: readonly NewEvent[],
): Promise<void> {
  const changing = events.filter(({ tp_evento, rank }) => rank > 0 && altering.includes(tp_evento))
  if (changing.length === 0) return
  const { rows: altered } = await sql<{ id: bigint; tpEvento: number }>`
    select distinct on (d.id) d.id, e.tp_evento as "tpEvento"
      from unnest(${changing.map(({ chave }) => chave)}::text[], ${changing.map((event) => event.tp_evento)}::int[]) e (chave, tp_evento)
      join document d on d.workspace_id = ${workspaceId} and d.company_id = ${companyId} and d.chave = e.chave
     where exists (select from document_reliance u
                    where u.workspace_id = ${workspaceId} and u.document_id = d.id and coalesce(u.checked_at, u.booked_at, u.delivered_at, u.exported_at) is not null)
        or exists (select from document_event c
                    where c.workspace_id = ${workspaceId} and c.company_id = d.company_id and c.chave = d.chave
                      and c.tp_evento = ${confirmacao} and c.rank > 0 and not c.undone)
     -- Events that end a document say more than those that correct it.
     order by d.id, array_position(${altering}::int[], e.tp_evento)`.execute(db)
  if (altered.length === 0) return
  await sql`
    insert into document_reliance as r (workspace_id, document_id, company_id, altered_at, altered_by)
    select ${workspaceId}, a.id, ${companyId}, clock_timestamp(), a.tp_evento
      from unnest(${altered.map(({ id }) => id)}::bigint[], ${altered.map(({ tpEvento }) => tpEvento)}::int[]) a (id, tp_evento)
    -- Later than a check that this transaction waited for.
    on conflict (workspace_id, document_id) do update
      set altered_at = greatest(excluded.altered_at, (r.checked_at at time zone 'UTC' + interval '1 microsecond') at time zone 'UTC'), altered_by = excluded.altered_by`.execute(
    db,
  )
  await tellAltered({ db }, workspaceId, companyId, altered)
}

export interface Altered {
  chave: string
  type: number
  number: number
  issuer: string
  tpEvento: number
  /** The company has confirmed it. */
  confirmed: boolean
  /** What people had done with it, in words; absent: of a version that did not tell that. */
  done?: string[]
}

async function tellAltered(
  { db }: WithDatabase,
  workspaceId: number,
  companyId: number,
  altered: readonly { id: bigint; tpEvento: number }[],
): Promise<void> {
  const hiding = await readHiding({ db }, workspaceId)
  const { rows } = await sql<Altered>`
    select d.chave, d.type, d.number::float8 as number, s.name as issuer, a.event as "tpEvento", exists (
             select from document_event c where c.workspace_id = d.workspace_id and c.company_id = d.company_id and c.chave = d.chave
                and c.tp_evento = ${confirmacao} and c.rank > 0 and not c.undone) as confirmed,
           array_remove(array[case when u.checked_at is not null then 'conferido' end, case when u.booked_at is not null then 'lançado' end,
             case when u.delivered_at is not null then 'entregue' end, case when u.exported_at is not null then 'exportado' end], null) as done
      from unnest(${altered.map(({ id }) => id)}::bigint[], ${altered.map(({ tpEvento }) => tpEvento)}::int[]) a (id, event)
      join document d on d.workspace_id = ${workspaceId} and d.id = a.id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      join document_reliance u on u.workspace_id = d.workspace_id and u.document_id = d.id
     where ${all(shownConditions(hiding, 'd'))}
     order by d.id`.execute(db)
  for (const payload of rows) await announce({ db }, workspaceId, { what: 'documento-mudou', companyId, payload })
}

/** Whether a change that nobody has seen since stands in a row `u` of `document_reliance`. */
export const isAltered = sql`u.altered_at is not null and (u.checked_at is null or u.checked_at < u.altered_at)`

/** Whether the status of `document d` says that no final answer stands. */
export const isOpenStatus = sql<boolean>`d.status = any (${[status.summary, status.authorized, status.acknowledged]}::int[])`

/** Whether a rule suggests an answer to `document d`, and nobody has answered since. */
export const isSuggested = sql<boolean>`(d.suggestion is not null and not d.answered and ${isOpenStatus})`

/** The documents with a mark, as a condition on `document d`. */
export function markCondition(workspaceId: number, mark: Mark): RawBuilder<unknown> {
  const suggests = (tpEvento: number) => sql`(${isSuggested} and (d.suggestion ->> 'tpEvento')::int = ${tpEvento})`
  const relied = (condition: RawBuilder<unknown>) =>
    sql`d.id in (select u.document_id from document_reliance u where u.workspace_id = ${workspaceId} and ${condition})`
  switch (mark) {
    case 'conferidas':
      return relied(sql`u.checked_at is not null`)
    case 'por-conferir':
      return sql`not ${relied(sql`u.checked_at is not null`)}`
    case 'lancadas':
      return relied(sql`u.booked_at is not null`)
    case 'por-lancar':
      return sql`not ${relied(sql`u.booked_at is not null`)}`
    case 'entregues':
      return relied(sql`u.delivered_at is not null`)
    case 'mudaram-depois':
      return relied(isAltered)
    case 'com-observacao':
      return relied(sql`u.remarks > 0`)
    case 'confirmacao-sugerida':
      return suggests(confirmacao)
    case 'desconhecimento-preparado':
      return suggests(desconhecimento)
    case 'aguardam-segunda-pessoa':
      return sql`d.asked is not null`
  }
}
