import { alertBands, bandNames } from '@vigia/contract/alerts'
import {
  downloadInstallments,
  type Installment,
  installmentMax,
  listInstallments,
  markPaid,
  selectInstallments,
  sumInstallments,
} from '@vigia/contract/installments'
import type { RouteInput } from '@vigia/contract/route'
import { formatBrasiliaDay, formatCount, formatMoney } from '@vigia/contract/text'
import { type RawBuilder, sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { getCompanyId } from '../../companies/companies.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { countRows, inWorkspace, jsonTime, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { column, type SpreadsheetColumn, startSpreadsheet } from '../export/spreadsheet.ts'
import { all, isIssuer } from '../list/filter.ts'
import { noteRead } from '../reads.ts'
import { countWaiting } from '../unread.ts'

// Parcels of received notes, written by apps/server/documents/contents; people mark them as paid.

const pageSize = 50
const groupsMax = 200
const sheetPage = 1_000

export const installmentRoutes = [
  handle(listInstallments, async (ctx, { query, session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, async (ctx) => {
      const filter = await readFilter(ctx, workspaceId, query)
      const rows = await readRows(ctx, workspaceId, filter, {
        after: query.depoisDe === undefined ? null : placeOf(ctx, workspaceId, query.depoisDe),
        limit: pageSize + 1,
      })
      const page = rows.slice(0, pageSize)
      const last = page.at(-1)
      return {
        items: page.map((row) => toInstallment(ctx, workspaceId, row)),
        proximo: rows.length > pageSize && last ? `${last.at}.${idOf(ctx, workspaceId, last)}` : null,
      }
    }),
  })),

  handle(sumInstallments, async (ctx, { query, session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, async (ctx) => {
      const filter = await readFilter(ctx, workspaceId, query)
      const sums = await sumBy(ctx, workspaceId, filter, query.Por)
      const waiting = await countWaiting(ctx, workspaceId)
      return { ...sums, desde: filter.VencimentoDe, faltaLer: waiting }
    }),
  })),

  handle(selectInstallments, async (ctx, { query, session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, async (ctx) => {
      const filter = await readFilter(ctx, workspaceId, query)
      const rows = await readRows(ctx, workspaceId, filter, { after: null, limit: installmentMax.marked })
      const { total } = await sumBy(ctx, workspaceId, filter, null)
      return { idsParcelas: rows.map((row) => idOf(ctx, workspaceId, row)), totalDeItens: total.totalDeItens }
    }),
  })),

  handle(markPaid, async (ctx, { body, session }) => {
    const chosen = [...new Set(body.idsParcelas)].map((id) => parcelOf(ctx, session.workspaceId, id))
    const changed = await inWorkspace(ctx, session.workspaceId, (ctx) => setPaid(ctx, session, chosen, body.paga))
    return {
      data: { idsParcelas: changed },
      message: body.paga
        ? formatCount(changed.length, 'parcela marcada como paga.', 'parcelas marcadas como pagas.')
        : formatCount(
            changed.length,
            'parcela deixou de estar marcada como paga.',
            'parcelas deixaram de estar marcadas como pagas.',
          ),
    }
  }),

  handle(downloadInstallments, 'slow', async (ctx, { query, session, caller }) => {
    const { workspaceId } = session
    const { content, count } = await readWorkspace(ctx, workspaceId, async (ctx) =>
      writeSheet(ctx, workspaceId, await readFilter(ctx, workspaceId, query), new Date()),
    )
    await noteRead(
      ctx,
      session,
      caller,
      `Baixou a planilha de vencimentos, com ${formatCount(count, 'parcela', 'parcelas')}.`,
    )
    return { content, fileName: 'vencimentos.xlsx' }
  }),
]

type Ids = Pick<Context, 'ids'>
type ReadContext = Pick<Context, 'db' | 'ids'>

type Query = RouteInput<typeof downloadInstallments>['query']
type InstallmentFilter = Omit<Query, 'IdEmpresa'> & { companyId?: number | undefined }

async function readFilter(
  ctx: WithDatabase,
  workspaceId: number,
  { IdEmpresa, ...query }: Query,
): Promise<InstallmentFilter & { VencimentoDe: string }> {
  const companyId = IdEmpresa ? await getCompanyId(ctx, workspaceId, IdEmpresa) : undefined
  return { ...query, companyId, VencimentoDe: beginOf(query.VencimentoDe, query.VencimentoAte) }
}

// Limits the period, because unmarked parcels accumulate for ever.
function beginOf(from: string | undefined, to: string | undefined): string {
  const earliest = monthsBefore(to ?? currentDay(), installmentMax.months)
  if (from === undefined) return to === undefined ? dueSince() : earliest
  if (from < earliest)
    throw new AppError(
      'invalid-input',
      `Um período de vencimentos tem até ${installmentMax.months} meses. Escolha ${to === undefined ? 'também o último dia' : 'um menor'}.`,
    )
  return from
}

/** How many parcels are overdue of those that are told where nobody says from when; `ctx.db` is inside the workspace. */
export async function countOverdue(ctx: WithDatabase, workspaceId: number): Promise<number> {
  return countRows(ctx.db, await found(ctx, workspaceId, { Situacao: 'vencidas', VencimentoDe: dueSince() }))
}

/** The first due date of what is told where nobody says from when. */
export const dueSince = (): string => monthsBefore(currentDay(), installmentMax.monthsBack)

const currentDay = () => new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 10)

function monthsBefore(day: string, months: number): string {
  const date = new Date(`${day.slice(0, 7)}-01T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() - months)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return `${date.toISOString().slice(0, 8)}${String(Math.min(last, Number(day.slice(8)))).padStart(2, '0')}`
}

// A value, because a clock function is computed for each row, and a subquery keeps Citus from asking one server.
const today = () => sql`${currentDay()}::date`
// The due date of a parcel that has none.
const never = 'infinity'
const isOverdue = () => sql<boolean>`(i.paid_at is null and i.due_on < ${today()})`

const stateConditions: Record<InstallmentFilter['Situacao'], () => RawBuilder<unknown>> = {
  abertas: () => sql`i.paid_at is null`,
  vencidas: isOverdue,
  'a-vencer': () => sql`i.paid_at is null and i.due_on >= ${today()} and i.due_on <> ${never}`,
  pagas: () => sql`i.paid_at is not null`,
}

// The parcels of a filter, of documents that are shown, as `from` and `where` of a row `i`.
async function found(
  { db }: WithDatabase,
  workspaceId: number,
  { Situacao, companyId, Emitente, VencimentoDe, VencimentoAte, SemVencimento }: InstallmentFilter,
): Promise<RawBuilder<unknown>> {
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const conditions = [
    sql`i.workspace_id = ${workspaceId}`,
    sql`i.standing`,
    stateConditions[Situacao](),
    ...(companyId === undefined ? [] : [sql`i.company_id = ${companyId}`]),
    ...(Emitente === undefined ? [] : [isIssuer('i.issuer', Emitente)]),
    ...(VencimentoDe === undefined ? [] : [sql`i.due_on >= ${VencimentoDe}::date`]),
    ...(VencimentoAte === undefined ? [] : [sql`i.due_on <= ${VencimentoAte}::date`]),
    ...(SemVencimento ? [sql`i.due_on = ${never}`] : []),
    ...shown,
  ]
  // Without anything hidden the parcels alone say it.
  const document =
    shown.length > 0 ? sql`join document d on d.workspace_id = ${workspaceId} and d.id = i.document_id` : sql``
  return sql`from installment i ${document} where ${all(conditions)}`
}

type Row = Omit<Installment, 'idParcela' | 'idDFe'> & {
  document_id: bigint
  place: number
  /** As what it is sorted by. */
  at: string
  companyCnpj: string
}

interface Place {
  at: string
  parcel: Parcel
}

interface Parcel {
  documentId: bigint
  place: number
}

async function readRows(
  ctx: WithDatabase,
  workspaceId: number,
  filter: InstallmentFilter,
  { after, limit }: { after: Place | null; limit: number },
): Promise<Row[]> {
  const paid = filter.Situacao === 'pagas'
  // Latest marks come first: people who look for a mark have just made it.
  const [at, type] = paid ? [sql`i.paid_at`, sql`timestamptz`] : [sql`i.due_on`, sql`date`]
  const beyond = paid ? sql`<` : sql`>`
  const next =
    after === null
      ? sql``
      : sql`and (${at}, i.document_id, i.place) ${beyond} (${after.at}::${type}, ${after.parcel.documentId}, ${after.parcel.place})`
  const direction = paid ? sql`desc` : sql`asc`
  const { rows } = await sql<Row>`
    with page as materialized (
      select i.*, ${at} as at ${await found(ctx, workspaceId, filter)} ${next}
       order by ${at} ${direction}, i.document_id ${direction}, i.place ${direction} limit ${limit})
    select i.document_id, i.place, i.at::text as at, d.chave, d.number::float8 as numero, i.number as parcela, s.name as emitente, i.issuer as "cnpjCpfEmitente",
           c.public_id as "idEmpresa", c.name as empresa, c.cnpj as "companyCnpj", nullif(i.due_on, ${never})::text as vencimento, i.amount::float8 / 100 as valor,
           ${isOverdue()} as vencida, (${alertBands}::text[])[d.alert_band + 1] as alerta,
           case when i.paid_at is not null then json_build_object('quando', ${jsonTime(sql`i.paid_at`)},
             'quem', case when i.paid_by is not null then ${nameOfAuthor(workspaceId, 'i.paid_by')} end) end as "marcadaComoPaga"
      from page i
      join document d on d.workspace_id = ${workspaceId} and d.id = i.document_id
      join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
      join company c on c.workspace_id = ${workspaceId} and c.id = i.company_id
     order by i.at ${direction}, i.document_id ${direction}, i.place ${direction}`.execute(ctx.db)
  return rows
}

const idOf = ({ ids }: Ids, workspaceId: number, row: Pick<Row, 'document_id' | 'place'>) =>
  `${ids.encode(workspaceId, row.document_id)}.${row.place}`

function findParcel({ ids }: Ids, workspaceId: number, id: string): Parcel | null {
  const [, document, place] = /^(.{22})\.(\d{1,3})$/.exec(id) ?? []
  const documentId = document === undefined ? null : ids.decode(workspaceId, document)
  return documentId === null ? null : { documentId, place: Number(place) }
}

function parcelOf(ctx: Ids, workspaceId: number, id: string): Parcel {
  const parcel = findParcel(ctx, workspaceId, id)
  if (!parcel) throw notThere()
  return parcel
}

const notThere = () =>
  new AppError('not-found', 'Uma destas parcelas não existe mais, ou a nota dela foi cancelada. Nada foi alterado.')

function placeOf(ctx: Ids, workspaceId: number, text: string): Place {
  const [, at, id] =
    /^(infinity|\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d{1,6})?\+\d\d)?)\.(.{22}\.\d{1,3})$/.exec(text) ?? []
  const parcel = id === undefined ? null : findParcel(ctx, workspaceId, id)
  if (parcel === null || (at !== never && Number.isNaN(Date.parse(at!.slice(0, 10)))))
    throw new AppError('not-found', 'Esta página da lista não existe. Comece de novo pela primeira.')
  return { at: at!, parcel }
}

const reais = (cents: bigint | string) => Number(cents) / 100

function toInstallment(ctx: Ids, workspaceId: number, { companyCnpj: _, at: __, ...row }: Row): Installment {
  const { document_id, place, ...installment } = row
  return {
    idParcela: idOf(ctx, workspaceId, { document_id, place }),
    idDFe: ctx.ids.encode(workspaceId, document_id),
    ...installment,
  }
}

interface Sums {
  n: number
  amount: string
  overdue: number
  overdueAmount: string
}

const sums =
  () => sql`count(*)::int as n, coalesce(sum(i.amount), 0)::text as amount, (count(*) filter (where ${isOverdue()}))::int as overdue,
  coalesce(sum(i.amount) filter (where ${isOverdue()}), 0)::text as "overdueAmount"`

const toSum = (n: number, amount: string) => ({ totalDeItens: n, valorTotal: reais(amount) })

async function sumBy(
  { db }: WithDatabase,
  workspaceId: number,
  filter: InstallmentFilter,
  by: 'semana' | 'mes' | 'fornecedor' | null,
) {
  const these = await found({ db }, workspaceId, filter)
  const { rows: whole } = await sql<Sums>`select ${sums()} ${these}`.execute(db)
  const { n, amount, overdue, overdueAmount } = whole[0]!
  const groups = by === null ? [] : by === 'fornecedor' ? await ofSuppliers() : await ofPeriods(by)
  return {
    total: toSum(n, amount),
    vencidas: toSum(overdue, overdueAmount),
    grupos: groups.map(({ situacao, de, ate, semVencimento, emitente, nome, n, amount, overdue, overdueAmount }) => ({
      ...{ situacao, de, ate, semVencimento, emitente, nome },
      ...toSum(n, amount),
      vencidas: toSum(overdue, overdueAmount),
    })),
    totalDeGrupos: groups[0]?.groups ?? 0,
  }

  interface Group extends Sums {
    situacao: InstallmentFilter['Situacao']
    de: string | null
    ate: string | null
    semVencimento: boolean
    emitente: string | null
    nome: string | null
    groups: number
  }

  async function ofSuppliers(): Promise<Group[]> {
    const { rows } = await sql<Group>`
      with grouped as (
        select case when length(i.issuer) = 14 then left(i.issuer, 8) else i.issuer end as issuer, min(i.issuer) as one, ${sums()} ${these} group by 1),
      page as (select g.*, count(*) over ()::int as groups from grouped g order by g.amount::numeric desc, g.issuer limit ${groupsMax})
      select ${filter.Situacao} as situacao, null as de, null as ate, false as "semVencimento", p.issuer as emitente, p.n, p.amount, p.overdue, p."overdueAmount", p.groups,
             (select s.name from supplier s where s.workspace_id = ${workspaceId} and s.tax_id = p.one order by s.id desc limit 1) as nome
        from page p order by p.amount::numeric desc, p.issuer`.execute(db)
    return rows
  }

  // Overdue parcels come before all periods, whatever their own period.
  async function ofPeriods(by: 'semana' | 'mes'): Promise<Group[]> {
    const unit = by === 'mes' ? 'month' : 'week'
    const direction = filter.Situacao === 'pagas' ? sql`desc` : sql`asc`
    const { rows } = await sql<Group>`
      with grouped as (
        select ${isOverdue()} as late, case when ${isOverdue()} then null else date_trunc(${unit}, i.due_on)::date end as begins, ${sums()} ${these} group by 1, 2),
      page as (select g.*, count(*) over ()::int as groups from grouped g order by g.late desc, g.begins ${direction} limit ${groupsMax})
      select case when p.late then 'vencidas' when ${filter.Situacao} = 'abertas' and p.begins <> ${never} then 'a-vencer' else ${filter.Situacao} end as situacao,
             p.begins::text as de, (p.begins + ${`1 ${unit}`}::interval - interval '1 day')::date::text as ate,
             p.begins is not distinct from ${never} as "semVencimento", null as emitente, null as nome,
             p.n, p.amount, p.overdue, p."overdueAmount", p.groups
        from page p order by p.late desc, p.begins ${direction}`.execute(db)
    // The first and the last one may be longer than what was asked for.
    return rows.map((group) =>
      group.semVencimento
        ? { ...group, de: null, ate: null }
        : {
            ...group,
            de: group.de === null ? (filter.VencimentoDe ?? null) : later(group.de, filter.VencimentoDe),
            ate: group.ate === null ? (filter.VencimentoAte ?? null) : earlier(group.ate, filter.VencimentoAte),
          },
    )
  }
}

const later = (day: string, other: string | undefined) => (other !== undefined && other > day ? other : day)
const earlier = (day: string, other: string | undefined) => (other !== undefined && other < day ? other : day)

const namedInEntry = 100

// Returns those that changed. All who write these rows take them by document and place.
async function setPaid(
  ctx: ReadContext,
  { workspaceId, accountId, ...session }: Session,
  chosen: readonly Parcel[],
  on: boolean,
): Promise<string[]> {
  const { db } = ctx
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const parcels = sql`unnest(${chosen.map(({ documentId }) => documentId)}::bigint[], ${chosen.map(({ place }) => place)}::smallint[]) u (id, place)`
  const { rows: held } = await sql<{ document_id: bigint; place: number }>`
    select i.document_id, i.place from ${parcels}
      join installment i on i.workspace_id = ${workspaceId} and i.document_id = u.id and i.place = u.place and i.standing
      join document d on d.workspace_id = i.workspace_id and d.id = i.document_id
     where ${all([sql`true`, ...shown])}
     order by i.document_id, i.place for update of i`.execute(db)
  if (held.length < chosen.length) throw notThere()
  const { rows: changed } = await sql<{
    document_id: bigint
    place: number
    amount: bigint
    number: string
    chave: string
  }>`
    update installment i set paid_at = ${on ? sql`now()` : null}, paid_by = ${on ? accountId : null}
      from ${parcels} join document d on d.workspace_id = ${workspaceId} and d.id = u.id
     where i.workspace_id = ${workspaceId} and i.document_id = u.id and i.place = u.place and i.paid_at is ${on ? sql`null` : sql`not null`}
    returning i.document_id, i.place, i.amount, i.number, d.chave`.execute(db)
  const [first, ...others] = changed
  if (first) {
    const value = formatMoney(reais(changed.reduce((sum, { amount }) => sum + amount, 0n)))
    const one = others.length === 0
    const what = one
      ? `parcela ${first.number} da nota ${first.chave}, de ${value},`
      : `${formatCount(changed.length, 'parcela', 'parcelas')}, de ${value} ao todo,`
    const entry = on
      ? `Marcou ${one ? 'a ' : ''}${what} como ${one ? 'paga' : 'pagas'}`
      : `Tirou a marca de paga ${one ? 'da ' : 'de '}${what.slice(0, -1)}`
    // Names each parcel, so that a person can undo the marks by hand.
    for (let at = 0; at < changed.length; at += namedInEntry) {
      const named = changed.slice(at, at + namedInEntry).map(({ number, chave }) => `${number} da nota ${chave}`)
      const text = one ? `${entry}.` : `${at === 0 ? entry : `${entry}, continuação`}: ${named.join('; ')}.`
      await recordAudit({ db }, { ...session, workspaceId, accountId }, 'anotacao', text)
    }
  }
  return changed.map((row) => idOf(ctx, workspaceId, row))
}

const columns: readonly SpreadsheetColumn<Row>[] = [
  column('Vencimento', 12, ({ vencimento }) => vencimento ?? 'sem vencimento', 'day'),
  column('Valor', 14, ({ valor }) => valor.toFixed(2), 'money'),
  column('Parcela', 10, ({ parcela }) => parcela),
  column('Nota', 11, ({ numero }) => String(numero), 'whole'),
  column('Emitente', 40, ({ emitente }) => emitente),
  column('CNPJ/CPF do emitente', 20, ({ cnpjCpfEmitente }) => cnpjCpfEmitente),
  column('Empresa', 40, ({ empresa }) => empresa),
  column('CNPJ da empresa', 20, ({ companyCnpj }) => companyCnpj),
  column('Situação', 40, ({ marcadaComoPaga, vencida, vencimento }) => {
    if (marcadaComoPaga)
      return `Marcada como paga por ${marcadaComoPaga.quem ?? someone}, em ${formatBrasiliaDay(new Date(marcadaComoPaga.quando))}`
    if (vencida) return 'Vencida, em aberto'
    return vencimento === null ? 'Sem vencimento' : 'A vencer'
  }),
  column('Alerta', 12, ({ alerta }) => (alerta ? bandNames[alerta] : '')),
  column('Chave', 46, ({ chave }) => chave),
]
const someone = 'alguém que não tem mais conta'

async function writeSheet(ctx: WithDatabase, workspaceId: number, filter: InstallmentFilter, at: Date) {
  const { total } = await sumBy(ctx, workspaceId, filter, null)
  const count = total.totalDeItens
  if (count > installmentMax.sheet)
    throw new AppError(
      'conflict',
      `São ${formatCount(count, 'parcela', 'parcelas')}, e uma planilha leva até ${installmentMax.sheet.toLocaleString('pt-BR')}. Escolha um período menor ou uma empresa.`,
    )
  const lines = [
    'Vencimentos das notas recebidas',
    `${formatCount(count, 'parcela', 'parcelas')}, ${formatMoney(total.valorTotal)}; em ${formatBrasiliaDay(at)}.`,
    'Parcelas das notas recebidas. Marcar como paga é só um controle seu.',
  ]
  const sheet = startSpreadsheet(lines, columns, at)
  let after: Place | null = null
  for (;;) {
    const rows: Row[] = await readRows(ctx, workspaceId, filter, { after, limit: sheetPage })
    await sheet.add(rows)
    const last = rows.at(-1)
    if (rows.length < sheetPage || !last) return { content: await sheet.end(), count }
    after = { at: last.at, parcel: { documentId: last.document_id, place: last.place } }
  }
}

/** Unpaid parcels that fall due on each of so many days from today, of these companies (null: all). */
export async function readPayments(
  { db }: WithDatabase,
  workspaceId: number,
  { days, companies }: { days: number; companies: readonly number[] | null },
): Promise<{ day: string; count: number; value: number; suppliers: number }[]> {
  const these = await found({ db }, workspaceId, { Situacao: 'a-vencer' })
  const chosen = companies === null ? sql`` : sql`and i.company_id = any (${companies}::int[])`
  const { rows } = await sql<{ day: string; n: number; amount: string; suppliers: number }>`
    select i.due_on::text as day, count(*)::int as n, sum(i.amount)::text as amount, count(distinct i.issuer)::int as suppliers
      ${these} ${chosen} and i.due_on < ${today()} + ${days}::int group by 1 order by 1`.execute(db)
  return rows.map(({ day, n, amount, suppliers }) => ({ day, count: n, value: reais(amount), suppliers }))
}
