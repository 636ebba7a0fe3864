import type { Fired } from '@vigia/checks/alerts/judge'
import { rules } from '@vigia/checks/alerts/rules'
import {
  type Alert,
  type AlertBand,
  alertBands,
  alertMax,
  type getAlert,
  type listAlerts as listAlertsRoute,
} from '@vigia/contract/alerts'
import type { RouteData, RouteInput } from '@vigia/contract/route'
import { familyById, keyOf } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { getCompanyId } from '../../companies/companies.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import { judgeAgain, setDerived } from '../../documents/derived.ts'
import { lockDocuments, recordsOf, taxBase } from '../../documents/store.ts'
import type { Context, Database, WithDatabase } from '../../platform/context.ts'
import { companiesShown, countRows, jsonTime } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'

const pageSize = 50
const countMax = 10_000

type AlertFilter = RouteInput<typeof listAlertsRoute>['query']

export type ListContext = Pick<Context, 'db' | 'ids'>

type AlertRow = Omit<Alert, 'idDFe' | 'motivos' | 'motivoNovo' | 'seguraCiencia'> & {
  id: bigint
  motivos: Fired[]
  stated: Fired[] | null
  statedRules: string[] | null
  complete: boolean
  /** Sort key of the list before the id. */
  place: string
}

const isTold = sql`(a.rules <> '{}' or a.state in ('conhecida', 'confirmada'))`

/** In the words of the index of open alerts. */
export const isUnanswered = sql`a.state <> 'conhecida' and a.rules <> '{}'`

/** Whether none of its reasons counts yet, because the habits of the company are not known, and nobody took it up. */
export const isLearning = sql`(a.learning and a.score = 0 and a.state = 'nova')`

export const isOpen = sql`${isUnanswered} and not ${isLearning}`

// Score, in hundredths, from which an open alert leaves the answer to a person.
const withholdingScore = 60

/** That a document was judged, and when it is judged again; `version`: as it was read. */
export interface JudgedAt {
  version: string
  judged_at: string
  judge_at: string | null
}

/**
 * Writes what alerts say about documents on these and on those with the same chave, once per transaction that changes alerts.
 * `judged`: of those that are judged now; `again`: documents that are to be judged again. All are locked in one order.
 */
export async function showVerdicts(
  { db }: WithDatabase,
  workspaceId: number,
  ids: readonly bigint[],
  { judged, again = [] }: { judged?: ReadonlyMap<bigint, JudgedAt>; again?: readonly bigint[] } = {},
): Promise<void> {
  const { rows } = await sql<JudgedAt & { id: bigint; alert_band: number | null; suspect: boolean }>`
    select d.id, d.version, d.judged_at::text as judged_at, d.judge_at::text as judge_at, a.band as alert_band,
           exists (select from alert g where g.workspace_id = ${workspaceId} and g.chave = d.chave and g.state <> 'conhecida'
                                         and (g.score >= ${sql.lit(withholdingScore)} or g.state = 'confirmada')) as suspect
      from (select distinct o.chave from document o where o.workspace_id = ${workspaceId} and o.id = any (${ids}::bigint[])) q
     cross join lateral (select d.*, d.xmin::text as version from document d where d.workspace_id = ${workspaceId} and d.chave = q.chave offset 0) d
      left join alert a on a.workspace_id = ${workspaceId} and a.document_id = d.id and ${isOpen}`.execute(db)
  await lockDocuments({ db }, workspaceId, [...rows, ...again.map((id) => ({ id }))])
  const decided = rows.map((row) => ({ ...row, ...judged?.get(row.id) }))
  await setDerived({ db }, workspaceId, ['alert_band', 'suspect', 'judged_at', 'judge_at'], decided)
  await judgeAgain({ db }, workspaceId, again)
}

/** Writes on the issuers of documents whether an alert of theirs is confirmed, which only people say. */
export async function showIssuers(db: Database, workspaceId: number, ids: readonly bigint[]): Promise<void> {
  const { rows: issuers } = await sql<{ base: string; suspect: boolean }>`
    select q.base, exists (select from alert a where a.workspace_id = ${workspaceId} and a.issuer_base = q.base and a.state = 'confirmada') as suspect
      from (select distinct ${taxBase('s')} as base from document d join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
             where d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[])) q`.execute(db)
  if (issuers.length === 0) return
  await sql`
    update supplier s set suspect = r.suspect from ${recordsOf(issuers, { base: 'text', suspect: 'boolean' })}
     where s.workspace_id = ${workspaceId} and s.tax_id >= r.base and s.tax_id < r.base || 'a' and ${taxBase('s')} = r.base
       and s.suspect <> r.suspect`.execute(db)
}

/** Counts of each band. */
export function byBand(rows: readonly { band: number | null; n: number }[]): Record<AlertBand, number> {
  const count = (band: AlertBand) => rows.find((row) => row.band === alertBands.indexOf(band))?.n ?? 0
  return { informativo: count('informativo'), medio: count('medio'), alto: count('alto'), critico: count('critico') }
}

function stateCondition(state: AlertFilter['Estado']): RawBuilder<unknown> {
  if (state === 'em-aprendizado') return sql`${isUnanswered} and ${isLearning}`
  return state === 'abertos' ? isOpen : sql`a.state = ${state} and ${isTold}`
}

/** A rule may raise the band above that of the score. */
export const gravestFirst = sql`a.band desc, a.score desc, a.at desc, a.document_id desc`

/** Its document, where something of it is asked: thousands are counted. An alert whose document is gone goes with it. */
export const besideDocument = (shown: readonly unknown[]) =>
  shown.length === 0 ? sql`` : sql`join document d on d.workspace_id = a.workspace_id and d.id = a.document_id`

export async function listAlerts(
  ctx: ListContext,
  workspaceId: number,
  { Faixa, Estado, Regra, IdEmpresa, depoisDe }: AlertFilter,
) {
  const { db } = ctx
  const companyId = IdEmpresa ? await getCompanyId(ctx, workspaceId, IdEmpresa) : undefined
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const conditions = [
    sql`a.workspace_id = ${workspaceId}`,
    stateCondition(Estado),
    ...(Faixa === undefined ? [] : [sql`a.band = ${alertBands.indexOf(Faixa)}`]),
    ...(Regra === undefined ? [] : [sql`a.rules @> array[${Regra}::text]`]),
    ...(companyId === undefined ? [] : [sql`a.company_id = ${companyId}`]),
    ...shown,
  ]
  const found = sql`from alert a ${besideDocument(shown)} where ${sql.join(conditions, sql` and `)}`
  const total = await countRows(db, sql`from (select ${found} limit ${countMax}) x`)
  const after = depoisDe === undefined ? null : placeOf(ctx, workspaceId, depoisDe)
  const rows = await readRows(
    db,
    workspaceId,
    sql`select a.document_id ${found} ${after === null ? sql`` : sql`and (a.band, a.score, a.at, a.document_id) < (${after.band}, ${after.score}, ${after.at}, ${after.id})`}
      order by ${gravestFirst} limit ${pageSize + 1}`,
  )
  const page = rows.slice(0, pageSize)
  const last = page.at(-1)
  return {
    items: await toAlerts(ctx, workspaceId, page),
    proximo: rows.length > pageSize && last ? `${last.place}.${ctx.ids.encode(workspaceId, last.id)}` : null,
    totalDeItens: total,
  }
}

function placeOf({ ids }: Pick<Context, 'ids'>, workspaceId: number, text: string) {
  const [, band, score, at, publicId] = /^(\d)\.(\d{1,3})\.(-?\d{1,16})\.(.+)$/.exec(text) ?? []
  const id = publicId === undefined ? null : ids.decode(workspaceId, publicId)
  if (id === null) throw new AppError('not-found', 'Esta página da lista não existe. Comece de novo pela primeira.')
  return { band: Number(band), score: Number(score), at: BigInt(at!), id }
}

export async function findAlert(ctx: ListContext, workspaceId: number, id: bigint) {
  const shown = shownConditions(await readHiding({ db: ctx.db }, workspaceId), 'd')
  const rows = await readRows(
    ctx.db,
    workspaceId,
    sql`select a.document_id from alert a join document d on d.workspace_id = a.workspace_id and d.id = a.document_id
         where ${sql.join([sql`a.workspace_id = ${workspaceId}`, sql`a.document_id = ${id}`, isTold, ...shown], sql` and `)}`,
  )
  if (rows.length === 0) return null
  // The text may have numbers of documents that the person does not see.
  const { rows: anteriores } = await sql<RouteData<typeof getAlert>['anteriores'][number]>`
    select ${jsonTime(sql`judged_at`)} as quando, score / 100::float8 as score, (${alertBands}::text[])[band + 1] as faixa,
           case when ${companiesShown(ctx) === null} then text else '' end as texto, rules as regras from alert_verdict
     where workspace_id = ${workspaceId} and document_id = ${id} order by id desc`.execute(ctx.db)
  const [alert] = await toAlerts(ctx, workspaceId, rows)
  return { ...alert!, anteriores }
}

// As written in the document, offset included.
export const issuedText = sql<string>`replace(d.issued_at::text, ' ', 'T') ||
  coalesce(case when d.issued_offset < 0 then '-' else '+' end || to_char(make_interval(mins => abs(d.issued_offset)), 'HH24:MI'), '')`

export async function readRows(db: Database, workspaceId: number, chosen: RawBuilder<unknown>): Promise<AlertRow[]> {
  const { rows } = await sql<AlertRow>`
    select a.document_id as id, a.chave, d.type as "tipoDFe", d.number::float8 as numero, s.name as emitente, s.tax_id as "cnpjEmitente", c.public_id as "idEmpresa",
           c.name as empresa, d.amount::float8 as valor, ${issuedText} as emissao, a.score / 100::float8 as score,
           (${alertBands}::text[])[a.band + 1] as faixa, a.state as estado, a.learning as "emAprendizado", a.fired as motivos,
           case when a.state_at is not null then json_build_object(
             'quem', case when a.state_by is not null then ${nameOfAuthor(workspaceId, 'a.state_by')} end, 'quando', ${jsonTime(sql`a.state_at`)}) end as decisao,
           ${jsonTime(sql`a.judged_at`)} as "avaliadoEm", a.stated_fired as stated, a.stated_rules as "statedRules", d.complete,
           concat_ws('.', a.band, a.score, a.at) as place
      from alert a
      join document d on d.workspace_id = a.workspace_id and d.id = a.document_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
     where a.workspace_id = ${workspaceId} and a.document_id in (${chosen})
     order by ${gravestFirst}`.execute(db)
  return rows
}

/** Alerts as people see them; `ctx.db` decides what of a reason may be told. */
export async function toAlerts(ctx: ListContext, workspaceId: number, rows: readonly AlertRow[]): Promise<Alert[]> {
  const shownOf = (compared: readonly string[]) => compared.slice(0, alertMax.comparedShown)
  const firedOf = ({ motivos, stated }: AlertRow) => (motivos.length > 0 ? motivos : (stated ?? []))
  const compared = new Set(rows.flatMap((row) => firedOf(row).flatMap(({ compared }) => shownOf(compared))))
  const documents = await readCompared(ctx, workspaceId, [...compared])
  const isLimited = companiesShown(ctx) !== null
  return rows.map((row) => {
    const { id, stated: _, statedRules, complete, place: __, ...alert } = row
    return {
      idDFe: ctx.ids.encode(workspaceId, id),
      ...alert,
      motivos: firedOf(row).map(({ id, version, weight, sentence, learning, compared, inputs }) => {
        // A sentence has numbers of the documents that it compares.
        const tells = !isLimited || shownOf(compared).every((chave) => documents.has(chave))
        return {
          regra: id,
          nome: ruleName(id),
          versao: version,
          peso: weight,
          frase: tells ? sentence : 'Compara com um documento de uma empresa que você não vê.',
          emAprendizado: learning,
          comparados: shownOf(compared).map((chave) => documents.get(chave) ?? absent(chave)),
          entradas: tells ? inputs : {},
        }
      }),
      motivoNovo: statedRules !== null && row.motivos.some(({ id }) => !statedRules.includes(id)),
      seguraCiencia:
        alert.tipoDFe === nfe.code &&
        !complete &&
        alert.estado !== 'conhecida' &&
        (alert.score >= 0.6 || alert.estado === 'confirmada'),
    }
  })
}

export type Compared = Alert['motivos'][number]['comparados'][number]

/** Documents that are shown, by chave. */
export async function readCompared(
  { db, ids }: ListContext,
  workspaceId: number,
  chaves: readonly string[],
): Promise<Map<string, Compared>> {
  if (chaves.length === 0) return new Map()
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const { rows } = await sql<Omit<Compared, 'idDFe'> & { id: bigint }>`
    select distinct on (d.chave) d.id, d.type as "tipoDFe", d.chave, d.number::float8 as numero, s.name as emitente, d.amount::float8 as valor,
           ${issuedText} as emissao
      from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
     where ${sql.join([sql`d.workspace_id = ${workspaceId}`, sql`d.chave = any (${chaves}::text[])`, ...shown], sql` and `)}
     order by d.chave, d.id`.execute(db)
  return new Map(rows.map(({ id, ...one }) => [one.chave, { idDFe: ids.encode(workspaceId, id), ...one }]))
}

/** Chave alone, for a document that is not here or is of a company that the person does not see. */
export function absent(chave: string): Compared {
  const { family, number } = keyOf(chave)
  const tipoDFe = familyById(family).code
  return { idDFe: null, tipoDFe, chave, numero: number, emitente: '', valor: null, emissao: null }
}

const names = new Map(rules.map(({ id, name }) => [id, name]))

export function ruleName(id: string): string {
  return names.get(id) ?? (id === 'S49' ? 'Prazo com dúvida' : id)
}
