import { isNote } from '@vigia/checks/alerts/values'
import {
  type downloadFreight,
  type FreightCode,
  type FreightFinding,
  freightMax,
  freightNames,
  type listFreight,
} from '@vigia/contract/freight'
import type { RouteData, RouteInput } from '@vigia/contract/route'
import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import { dueAt } from '../../documents/due.ts'
import type { Context, Database, WithDatabase } from '../../platform/context.ts'
import { companiesShown, jsonTime } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import type { Session } from '../../platform/http/session.ts'
import { likeLiteral, searchable } from '../../platform/text.ts'
import { absent, issuedText, readCompared } from '../alerts/list.ts'

// Findings of apps/server/documents/contents in bills of freight:
// docs/decisions/0053-freight-audit.md.

export type ListContext = Pick<Context, 'db' | 'ids'>

/** A filter with its company by the number; both months are included. */
export type Question = Omit<RouteInput<typeof downloadFreight>['query'], 'IdEmpresa'> & {
  companyId?: number | undefined
}

type Row = Omit<FreightFinding, 'idDFe' | 'nome' | 'documentos'> & { id: bigint; documents: string[]; place: bigint }

const wordsMax = 5

// A mark holds while the finding says the same.
const found = sql`
  from freight_finding f
  join document d on d.workspace_id = f.workspace_id and d.id = f.document_id
  join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
  left join freight_mark m on m.workspace_id = f.workspace_id and m.document_id = f.document_id and m.code = f.code and m.sentence = f.sentence`

async function conditionsOf({ db }: WithDatabase, workspaceId: number): Promise<RawBuilder<unknown>[]> {
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  return [sql`f.workspace_id = ${workspaceId}`, sql`f.told_at <= now()`, ...shown]
}

async function chosen(ctx: WithDatabase, workspaceId: number, question: Question): Promise<RawBuilder<unknown>[]> {
  const { MesDe, MesAte, companyId, CampoPesquisa: carrier = '', Estado } = question
  const bare = carrier.replace(/[^0-9a-z]/gi, '').toUpperCase()
  const words = searchable(carrier).split(' ').filter(Boolean).slice(0, wordsMax)
  const named = words.map((word) => sql`s.search like ${`%${likeLiteral(word)}%`}`)
  const either = [
    ...(named.length === 0 ? [] : [sql`(${every(named)})`]),
    ...(bare === '' ? [] : [sql`s.tax_id like ${`${bare}%`}`]),
  ]
  // A carrier text without anything to search by matches no bill.
  const byCarrier = either.length === 0 ? sql`false` : sql`(${sql.join(either, sql` or `)})`
  return [
    ...(await conditionsOf(ctx, workspaceId)),
    sql`f.issued_at >= ${`${MesDe}-01`}::date`,
    sql`f.issued_at < ${`${MesAte}-01`}::date + interval '1 month'`,
    ...(companyId === undefined ? [] : [sql`f.company_id = ${companyId}`]),
    ...(carrier.trim() === '' ? [] : [byCarrier]),
    Estado === 'certos' ? sql`m.code is not null` : sql`m.code is null`,
  ]
}

const every = (conditions: readonly RawBuilder<unknown>[]) => sql.join(conditions, sql` and `)
const ofCode = (code: FreightCode | undefined) => (code === undefined ? [] : [sql`f.code = ${code}`])

async function readRows(db: Database, workspaceId: number, rest: RawBuilder<unknown>): Promise<Row[]> {
  const { rows } = await sql<Row>`
    select f.document_id as id, d.chave, d.type as "tipoDFe", d.number::float8 as numero, s.name as emitente, s.tax_id as "cnpjEmitente", c.public_id as "idEmpresa",
           c.name as empresa, c.cnpj as "cnpjEmpresa", f.value / 100::float8 as valor, ${issuedText} as emissao, f.code as regra, f.sentence as frase, f.documents,
           case when m.code is not null then json_build_object('quem', ${nameOfAuthor(workspaceId, 'm.said_by')}, 'quando', ${jsonTime(sql`m.said_at`)}) end as certo,
           ${jsonTime(dueAt(new Date()))} as "desacordoAte", extract(epoch from f.issued_at)::bigint as place
      ${found} join company c on c.workspace_id = f.workspace_id and c.id = f.company_id
     where ${rest}`.execute(db)
  return rows
}

const byNewest = sql`order by f.issued_at desc, f.document_id desc, f.code`

export async function listFindings(
  ctx: ListContext,
  workspaceId: number,
  question: Question,
  after: string | undefined,
  take: number = freightMax.page,
): Promise<Pick<RouteData<typeof listFreight>, 'items' | 'proximo'>> {
  const conditions = [...(await chosen(ctx, workspaceId, question)), ...ofCode(question.Regra)]
  if (after !== undefined) {
    const { at, id, code } = placeOf(ctx, workspaceId, after)
    conditions.push(
      sql`(f.issued_at, f.document_id) <= (${at}, ${id}::bigint)`,
      sql`((f.issued_at, f.document_id) <> (${at}, ${id}::bigint) or f.code > ${code})`,
    )
  }
  const rows = await readRows(ctx.db, workspaceId, sql`${every(conditions)} ${byNewest} limit ${take + 1}`)
  const page = rows.slice(0, take)
  const last = page.at(-1)
  return {
    items: await toFindings(ctx, workspaceId, page),
    proximo: rows.length > take && last ? `${last.place}.${last.regra}.${ctx.ids.encode(workspaceId, last.id)}` : null,
  }
}

function placeOf({ ids }: Pick<Context, 'ids'>, workspaceId: number, text: string) {
  const [, seconds, code, publicId] = /^(-?\d{1,11})\.(fr-[a-z-]{1,10})\.(.+)$/.exec(text) ?? []
  const id = publicId === undefined ? null : ids.decode(workspaceId, publicId)
  if (id === null) throw new AppError('not-found', 'Esta página da lista não existe. Comece de novo pela primeira.')
  return { at: sql`to_timestamp(${seconds}::float8) at time zone 'UTC'`, code: code!, id }
}

export async function sumFindings(
  ctx: WithDatabase,
  workspaceId: number,
  question: Question,
): Promise<Pick<RouteData<typeof listFreight>, 'somas' | 'total'>> {
  const conditions = await chosen(ctx, workspaceId, question)
  const { rows } = await sql<{ code: FreightCode | null; n: number; value: string }>`
    with chosen as materialized (select f.document_id, f.code, f.value ${found} where ${every(conditions)})
    select code, count(*)::int as n, sum(value)::text as value from chosen group by code
    union all
    select null, count(*)::int, coalesce(sum(value), 0)::text
     from (select distinct document_id, value from chosen) x`.execute(ctx.db)
  const sumOf = (code: string | null) => {
    const { n = 0, value = '0' } = rows.find((row) => row.code === code) ?? {}
    return { totalDeItens: n, valorTotal: Number(value) / 100 }
  }
  const codes = Object.entries(freightNames) as [FreightCode, string][]
  return { somas: codes.map(([regra, nome]) => ({ regra, nome, ...sumOf(regra) })), total: sumOf(null) }
}

export async function findFindings(
  ctx: ListContext,
  workspaceId: number,
  id: bigint,
): Promise<FreightFinding[] | null> {
  const shown = shownConditions(await readHiding(ctx, workspaceId), 'd')
  const { rows: here } = await sql`
    select from document d
     where ${every([sql`d.workspace_id = ${workspaceId}`, sql`d.id = ${id}`, ...shown])}`.execute(ctx.db)
  if (here.length === 0) return null
  const conditions = [...(await conditionsOf(ctx, workspaceId)), sql`f.document_id = ${id}`]
  const rows = await readRows(ctx.db, workspaceId, sql`${every(conditions)} ${byNewest}`)
  return toFindings(ctx, workspaceId, rows)
}

async function toFindings(ctx: ListContext, workspaceId: number, rows: readonly Row[]): Promise<FreightFinding[]> {
  const shown = ({ documents }: Row) => documents.slice(0, freightMax.documents)
  const behind = await readCompared(ctx, workspaceId, [...new Set(rows.flatMap(shown))])
  return rows.map((row) => {
    const { id, regra, frase, documents: _, certo, desacordoAte, place: __, ...document } = row
    return {
      idDFe: ctx.ids.encode(workspaceId, id),
      ...document,
      regra,
      nome: freightNames[regra],
      frase: tellsTo(ctx, row, behind) ? frase : 'Compara com um documento de uma empresa que você não vê.',
      documentos: shown(row).map((chave) => behind.get(chave) ?? absent(chave)),
      certo,
      desacordoAte,
    }
  })
}

// Whether a person may read the sentence; `behind` are the documents of it that the person sees.
const tellsTo = (ctx: WithDatabase, row: Pick<Row, 'regra' | 'documents'>, behind: ReadonlyMap<string, unknown>) =>
  companiesShown(ctx) === null || compared(row).every((chave) => behind.has(chave))

// Documents that the sentence names beyond those that the CT-e itself cites.
function compared({ regra, documents }: Pick<Row, 'regra' | 'documents'>): string[] {
  if (regra === 'fr-sem-nota') return []
  return regra === 'fr-tomador' ? documents : documents.filter((chave) => !isNote(chave))
}

/** Says that a finding is right as the person read it (`sentence`), or takes it back; returns whether that changed something. `ctx.db` is a transaction inside the workspace. */
export async function markFinding(
  ctx: ListContext,
  session: Session,
  { id, code, sentence }: { id: bigint; code: FreightCode; sentence: string | undefined },
  isRight: boolean,
): Promise<boolean> {
  const { db } = ctx
  const { workspaceId, accountId } = session
  const conditions = [...(await conditionsOf({ db }, workspaceId)), sql`f.document_id = ${id}`, sql`f.code = ${code}`]
  const { rows } = await sql<{
    companyId: number
    regra: FreightCode
    sentence: string
    documents: string[]
    chave: string
    said: boolean
  }>`
    select f.company_id as "companyId", f.code as regra, f.sentence, f.documents, d.chave, m.code is not null as said ${found}
     where ${every(conditions)} for update of f`.execute(db)
  const [finding] = rows
  if (!finding) throw new AppError('not-found', 'Este achado não existe mais. Nada foi alterado; recarregue a lista.')
  if (!tellsTo(ctx, finding, await readCompared(ctx, workspaceId, finding.documents)))
    throw new AppError(
      'conflict',
      'Este achado compara com um documento de uma empresa que você não vê. Nada foi alterado; peça a quem vê as duas.',
    )
  if (isRight && finding.sentence !== sentence)
    throw new AppError('conflict', 'Este achado mudou desde que você o viu. Nada foi alterado; recarregue a lista.')
  if (finding.said === isRight) return false
  if (isRight)
    await sql`
      insert into freight_mark as m (workspace_id, document_id, company_id, said_by, code, sentence)
      values (${workspaceId}, ${id}, ${finding.companyId}, ${accountId}, ${code}, ${finding.sentence})
      on conflict (workspace_id, document_id, code) do update
         set said_by = excluded.said_by, said_at = excluded.said_at, sentence = excluded.sentence,
             company_id = excluded.company_id`.execute(db)
  else
    await sql`
      delete from freight_mark
       where workspace_id = ${workspaceId} and document_id = ${id} and code = ${code}`.execute(db)
  const what = `${freightNames[code]} do CT-e ${finding.chave}`
  await recordAudit(
    { db },
    session,
    'alerta',
    isRight ? `Aceitou a divergência de frete ${what}.` : `Reabriu a divergência de frete ${what}.`,
  )
  return true
}
