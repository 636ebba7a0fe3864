import type { Fired } from '@vigia/checks/alerts/judge'
import { rules } from '@vigia/checks/alerts/rules'
import { type Alert, type AlertBand, type AlertState, alertBands, alertMax } from '@vigia/contract/workspace'
import { type RawBuilder, sql } from 'kysely'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { Context, Database } from '../../platform/context.ts'
import { companiesShown } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'

const pageSize = 50
const countMax = 10_000

export interface AlertFilter {
  band?: AlertBand
  state: 'abertos' | 'em-aprendizado' | AlertState
  rule?: string
  companyId?: number
  after?: string
}

export type ListContext = Pick<Context, 'db' | 'ids'>

interface AlertRow {
  id: bigint
  chave: string
  type: number
  number: number
  issuer: string
  taxId: string
  companyPublicId: string
  company: string
  amount: string
  issuedAt: string
  offset: number | null
  complete: boolean
  score: number
  at: bigint
  band: number
  state: AlertState
  fired: Fired[]
  stated: Fired[] | null
  statedRules: string[] | null
  learning: boolean
  judgedAt: Date
  by: string | null
  stateAt: Date | null
}

const isTold = sql`(a.rules <> '{}' or a.state in ('conhecida', 'confirmada'))`

/** In the words of the index of open alerts. */
export const isUnanswered = sql`a.state <> 'conhecida' and a.rules <> '{}'`

/** Whether none of its reasons counts yet, because the habits of the company are not known, and nobody took it up. */
export const isLearning = sql`(a.learning and a.score = 0 and a.state = 'nova')`

export const isOpen = sql`${isUnanswered} and not ${isLearning}`

function stateCondition(state: AlertFilter['state']): RawBuilder<unknown> {
  if (state === 'em-aprendizado') return sql`${isUnanswered} and ${isLearning}`
  return state === 'abertos' ? isOpen : sql`a.state = ${state} and ${isTold}`
}

/** A rule may raise the band above that of the score. */
export const gravestFirst = sql`a.band desc, a.score desc, a.at desc, a.document_id desc`

/** Its document, where something of it is asked: thousands are counted. An alert whose document is gone goes with it. */
export const besideDocument = (shown: readonly unknown[]) =>
  shown.length === 0 ? sql`` : sql`join document d on d.workspace_id = a.workspace_id and d.id = a.document_id`

export async function listAlerts(ctx: ListContext, workspaceId: number, filter: AlertFilter) {
  const { db } = ctx
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const conditions = [
    sql`a.workspace_id = ${workspaceId}`,
    stateCondition(filter.state),
    ...(filter.band === undefined ? [] : [sql`a.band = ${alertBands.indexOf(filter.band)}`]),
    ...(filter.rule === undefined ? [] : [sql`a.rules @> array[${filter.rule}::text]`]),
    ...(filter.companyId === undefined ? [] : [sql`a.company_id = ${filter.companyId}`]),
    ...shown,
  ]
  const found = sql`from alert a ${besideDocument(shown)} where ${sql.join(conditions, sql` and `)}`
  const { rows: counted } = await sql<{ n: number }>`
    select count(*)::int as n from (select ${found} limit ${countMax}) x`.execute(db)
  const after = filter.after === undefined ? null : placeOf(ctx, workspaceId, filter.after)
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
    proximo:
      rows.length > pageSize && last
        ? `${last.band}.${last.score}.${last.at}.${ctx.ids.encode(workspaceId, last.id)}`
        : null,
    totalDeItens: counted[0]!.n,
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
  const { rows: before } = await sql<{ judged_at: Date; score: number; band: number; rules: string[]; text: string }>`
    select judged_at, score, band, rules, text from alert_verdict
     where workspace_id = ${workspaceId} and document_id = ${id} order by id desc`.execute(ctx.db)
  const [alert] = await toAlerts(ctx, workspaceId, rows)
  return {
    ...alert!,
    anteriores: before.map(({ judged_at, score, band, rules, text }) => ({
      quando: judged_at.toISOString(),
      score: score / 100,
      faixa: alertBands[band]!,
      // Perhaps with numbers of documents that the person does not see.
      texto: companiesShown(ctx) === null ? text : '',
      regras: rules,
    })),
  }
}

export async function readRows(db: Database, workspaceId: number, chosen: RawBuilder<unknown>): Promise<AlertRow[]> {
  const { rows } = await sql<AlertRow>`
    select a.document_id as id, a.chave, d.type, d.number, s.name as issuer, s.tax_id as "taxId", c.public_id as "companyPublicId", c.name as company,
           d.amount, d.issued_at as "issuedAt", d.issued_offset as "offset", d.complete, a.score, a.at, a.band, a.state, a.fired, a.stated_fired as stated,
           a.stated_rules as "statedRules", a.learning, a.judged_at as "judgedAt", a.state_at as "stateAt",
           case when a.state_by is not null then ${nameOfAuthor(workspaceId, 'a.state_by')} end as by
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
  const firedOf = (row: AlertRow) => (row.fired.length > 0 ? row.fired : (row.stated ?? []))
  const compared = new Set(
    rows.flatMap((row) => firedOf(row).flatMap(({ compared }) => compared.slice(0, alertMax.comparedShown))),
  )
  const documents = await readCompared(ctx, workspaceId, [...compared])
  const isLimited = companiesShown(ctx) !== null
  return rows.map((row) => ({
    idDFe: ctx.ids.encode(workspaceId, row.id),
    chave: row.chave,
    tipoDFe: row.type,
    numero: row.number,
    emitente: row.issuer,
    cnpjEmitente: row.taxId,
    idEmpresa: row.companyPublicId,
    empresa: row.company,
    valor: Number(row.amount),
    emissao: issuedText(row.issuedAt, row.offset),
    score: row.score / 100,
    faixa: alertBands[row.band]!,
    estado: row.state,
    emAprendizado: row.learning,
    motivos: firedOf(row).map(({ id, version, weight, sentence, learning, compared, inputs }) => {
      // A sentence has numbers of the documents that it compares.
      const tells = !isLimited || compared.slice(0, alertMax.comparedShown).every((chave) => documents.has(chave))
      return {
        regra: id,
        nome: ruleName(id),
        versao: version,
        peso: weight,
        frase: tells ? sentence : 'Compara com um documento de uma empresa que você não vê.',
        emAprendizado: learning,
        comparados: compared.slice(0, alertMax.comparedShown).map((chave) => documents.get(chave) ?? absent(chave)),
        entradas: tells ? inputs : {},
      }
    }),
    decisao: row.stateAt && { quem: row.by, quando: row.stateAt.toISOString() },
    avaliadoEm: row.judgedAt.toISOString(),
    motivoNovo: row.statedRules !== null && row.fired.some(({ id }) => !row.statedRules!.includes(id)),
    seguraCiencia:
      row.type === 0 && !row.complete && row.state !== 'conhecida' && (row.score >= 60 || row.state === 'confirmada'),
  }))
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
  const { rows } = await sql<{
    id: bigint
    chave: string
    type: number
    number: number
    issuer: string
    amount: string
    issuedAt: string
    offset: number | null
  }>`
    select distinct on (d.chave) d.id, d.chave, d.type, d.number, s.name as issuer, d.amount, d.issued_at as "issuedAt", d.issued_offset as "offset"
      from document d join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
     where ${sql.join([sql`d.workspace_id = ${workspaceId}`, sql`d.chave = any (${chaves}::text[])`, ...shown], sql` and `)}
     order by d.chave, d.id`.execute(db)
  return new Map(
    rows.map((row) => [
      row.chave,
      {
        idDFe: ids.encode(workspaceId, row.id),
        tipoDFe: row.type,
        chave: row.chave,
        numero: row.number,
        emitente: row.issuer,
        valor: Number(row.amount),
        emissao: issuedText(row.issuedAt, row.offset),
      },
    ]),
  )
}

/** What is of a company that the person does not see, or not here, is a chave, and nothing else. */
export function absent(chave: string): Compared {
  return {
    idDFe: null,
    tipoDFe: chave.slice(20, 22) === '55' ? 0 : 2,
    chave,
    numero: Number(chave.slice(25, 34)),
    emitente: '',
    valor: null,
    emissao: null,
  }
}

export function issuedText(at: string, offset: number | null): string {
  const local = at.replace(' ', 'T')
  if (offset === null) return local
  const pad = (value: number) => String(value).padStart(2, '0')
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `${local}${offset < 0 ? '-' : '+'}${pad(hours)}:${pad(minutes)}`
}

const names = new Map(rules.map(({ id, name }) => [id, name]))

export function ruleName(id: string): string {
  return names.get(id) ?? (id === 'S49' ? 'Prazo com dúvida' : id)
}
