import { presence, type ReformFinding } from '@vigia/checks/reform/findings'
import { situations, tableDay, testYears } from '@vigia/checks/reform/tables'
import type { ReformSheet } from '@vigia/contract/reform'
import { nfe, nfeRole } from '@vigia/dfe/families/nfe'
import { type RawBuilder, sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import { companyNameIn } from '../../companies/topics.ts'
import { sumKinds } from '../../documents/contents/sums.ts'
import { standingOnly } from '../../documents/list/filter.ts'
import { countWaiting } from '../../documents/unread.ts'
import type { Context, Database } from '../../platform/context.ts'
import { requestText } from './request-text.ts'

export interface SheetFilter {
  /** aaaa-MM */
  month: string
  companyId?: number
}

/** How many rows of each part: a screen shows few, a file shows all that somebody could read. */
export interface SheetSize {
  suppliers: number
  codes: number
  findings: number
  notes: number
}

const numbersShown = 20

/**
 * IBS, CBS and IS of a month, with misfits and unanswered documents of the companies that `ctx.db`
 * sees.
 */
export async function readSheet(
  ctx: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  filter: SheetFilter,
  size: SheetSize,
): Promise<ReformSheet> {
  const { db } = ctx
  const about = { workspaceId, ...filter, shown: shownConditions(await readHiding({ db }, workspaceId), 'd') }
  const { total, suppliers, known } = await readSuppliers(db, about, size.suppliers)
  const codes = await readCodes(db, about, size.codes)
  const counts = await readCounts(db, about)
  const missing = await readMissing(db, about, size.suppliers)
  const findings = await readFindings(ctx, about, size.findings)
  const credits = await readNotes(ctx, about, { purpose: 5, max: size.notes })
  const debits = await readNotes(ctx, about, { purpose: 6, max: size.notes })
  const waiting = await countWaiting({ db }, workspaceId)
  return {
    mes: filter.month,
    aviso: testYears.get(filter.month.slice(0, 4)) ?? null,
    tabela: tableDay,
    faltam: waiting,
    total,
    fornecedores: suppliers,
    fornecedoresAoTodo: known,
    cfops: codes(sumKinds.cfop),
    ncms: codes(sumKinds.ncm),
    classificacoes: await readClassifications(db, about, size.codes),
    com: counts(presence.all),
    parcial: counts(presence.some),
    dispensado: counts(presence.exempt),
    sem: counts(presence.none),
    semGrupos: missing.suppliers,
    semGruposAoTodo: missing.known,
    achados: findings.documents,
    achadosAoTodo: findings.counts,
    creditos: credits.notes,
    creditosAoTodo: credits.known,
    debitos: debits.notes,
    debitosAoTodo: debits.known,
  }
}

interface About extends SheetFilter {
  workspaceId: number
  /** Conditions on `document d`: the switches of its company do not hide it. */
  shown: RawBuilder<boolean>[]
}

const firstDay = ({ month }: SheetFilter) => sql`${`${month}-01`}::date`
const ofCompany = ({ companyId }: SheetFilter, alias: string) =>
  companyId === undefined ? sql`` : sql`and ${sql.ref(`${alias}.company_id`)} = ${companyId}`

// Received, and freight that the company pays: what suppliers say.
const ofSuppliers = sql.raw('(0, 2)')

type Part<K extends 'total' | 'fornecedores' | 'cfops' | 'classificacoes' | 'semGrupos' | 'creditos'> =
  ReformSheet[K][number]

const summed = sql`sum(c.documents)::int as documentos, sum(c.value)::float8 / 100 as valor, sum(c.ibs)::float8 / 100 as ibs,
  sum(c.cbs)::float8 / 100 as cbs, sum(c."is")::float8 / 100 as "is"`
const informed = sql`(sum(c.ibs) <> 0 or sum(c.cbs) <> 0 or sum(c."is") <> 0)`

// Side 0 holds the NF-e of suppliers, side 2 the CT-e that the company pays.
async function readSuppliers(db: Database, about: About, max: number) {
  const sums = sql`from content_sum c where c.workspace_id = ${about.workspaceId} and c.side in ${ofSuppliers} and c.kind = ${sumKinds.issuer}
    and c.month = ${firstDay(about)} ${ofCompany(about, 'c')}`
  const { rows: total } = await sql<Part<'total'>>`
    select c.side as "tipoDFe", ${summed} ${sums} group by c.side order by c.side`.execute(db)
  const { rows } = await sql<Part<'fornecedores'> & { known: number }>`
    select s.side as "tipoDFe", s.key as "cnpjCpf",
           coalesce((select n.name from supplier n where n.workspace_id = ${about.workspaceId} and n.tax_id = s.key order by n.id desc limit 1), '') as nome,
           s.documentos, s.valor, s.ibs, s.cbs, s."is", s.known
      from (select c.key, c.side, ${summed}, count(*) over ()::int as known ${sums} group by c.key, c.side having ${informed}
             order by sum(c.ibs) + sum(c.cbs) + sum(c."is") desc, c.key, c.side limit ${max}) s
     order by s.ibs + s.cbs + s."is" desc, s.key, s.side`.execute(db)
  return { total, known: rows[0]?.known ?? 0, suppliers: rows.map(({ known: _, ...row }) => row) }
}

async function readCodes(db: Database, about: About, max: number): Promise<(kind: number) => Part<'cfops'>[]> {
  const { rows } = await sql<Part<'cfops'> & { kind: number }>`
    select s.kind, s.key as codigo, s.documentos, s.valor, s.ibs, s.cbs, s."is" from (
      select c.kind, c.key, ${summed}, row_number() over (partition by c.kind order by sum(c.ibs) + sum(c.cbs) + sum(c."is") desc, c.key) as place
        from content_sum c
       where c.workspace_id = ${about.workspaceId} and c.side = 0 and c.kind in (${sumKinds.cfop}, ${sumKinds.ncm}) and c.month = ${firstDay(about)}
         and c.key <> '' ${ofCompany(about, 'c')}
       group by c.kind, c.key having ${informed}) s
     where s.place <= ${max} order by s.kind, s.place`.execute(db)
  return (wanted) => rows.flatMap(({ kind, ...row }) => (kind === wanted ? row : []))
}

// An exemption says nothing of IBS and CBS, and is told all the same.
async function readClassifications(db: Database, about: About, max: number): Promise<Part<'classificacoes'>[]> {
  const { rows } = await sql<Omit<Part<'classificacoes'>, 'nome'>>`
    select c.side as "tipoDFe", c.key as codigo, ${summed} from content_sum c
     where c.workspace_id = ${about.workspaceId} and c.side in ${ofSuppliers} and c.kind = ${sumKinds.classification} and c.month = ${firstDay(about)}
       and c.key <> '' ${ofCompany(about, 'c')}
     group by c.key, c.side order by sum(c.value) desc, c.key, c.side limit ${max}`.execute(db)
  return rows.map(({ tipoDFe, codigo, ...sums }) => {
    const nome = situations.get(codigo.slice(0, 3)) ?? 'Fora da tabela'
    return { tipoDFe, codigo, nome, ...sums }
  })
}

// Documents of suppliers in the month; an index has those that lack groups.
const inMonth = (about: About) => sql`
  from document_facts i join document d on d.workspace_id = i.workspace_id and d.id = i.document_id
 where i.workspace_id = ${about.workspaceId} and i.month = ${firstDay(about)} ${ofCompany(about, 'i')} and i.side in ${ofSuppliers}
   and i.counted and ${standingOnly} ${about.shown.length > 0 ? sql`and ${sql.join(about.shown, sql` and `)}` : sql``}`

type Count = ReformSheet['com'][number]
const counted = sql`d.type as "tipoDFe", count(*)::int as documentos, sum(d.amount)::float8 as valor`

async function readCounts(db: Database, about: About): Promise<(reform: number) => Count[]> {
  const { rows } = await sql<Count & { reform: number }>`
    select d.reform, ${counted} ${inMonth(about)} group by d.reform, d.type order by d.type`.execute(db)
  return (wanted) => rows.flatMap(({ reform, ...row }) => (reform === wanted ? row : []))
}

// It is always the first of the findings, and the others are `document.misfits`.
const missingGroups: ReformFinding['code'] = 'rt-sem-grupo'

async function readMissing(db: Database, about: About, max: number) {
  const { rows } = await sql<Omit<Part<'semGrupos'>, 'texto'> & { numbers: number[]; company: string; known: number }>`
    select s.tax_id as "cnpjCpf", max(s.name) as nome, ${counted},
           (array_agg(d.number::float8 order by d.issued_at, d.number))[1:${sql.lit(numbersShown)}] as numbers,
           case when count(distinct d.company_id) = 1 then (select ${companyNameIn(about.workspaceId)} from company c where c.workspace_id = ${about.workspaceId} and c.id = min(d.company_id)) else '' end as company,
           count(*) over ()::int as known
      from (select d.* ${inMonth(about)} and d.type = ${nfe.code} and i.found -> 0 ->> 'code' = ${missingGroups}) d
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
     group by s.tax_id, d.type order by sum(d.amount) desc, s.tax_id, d.type limit ${max}`.execute(db)
  return {
    known: rows[0]?.known ?? 0,
    suppliers: rows.map(({ known: _, company, numbers, ...row }) => ({
      ...row,
      texto: requestText({ ...row, numbers, company, month: about.month }),
    })),
  }
}

type DocumentRow = Omit<Part<'creditos'>, 'idDFe' | 'dias'> & { id: bigint }

const documentColumns = sql`d.id, d.type as "tipoDFe", d.number::float8 as numero, s.name as emitente, c.public_id as "idEmpresa", c.name as empresa,
  d.amount::float8 as valor, replace(d.issued_at::text, ' ', 'T') as "dataEmissao"`
const documentJoins = ({ workspaceId }: About) => sql`
  join supplier s on s.workspace_id = ${workspaceId} and s.id = d.supplier_id
  join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id`

async function readFindings(ctx: Pick<Context, 'db' | 'ids'>, about: About, max: number) {
  const { rows: counts } = await sql<Count>`
    select ${counted} ${inMonth(about)} and d.misfits group by d.type order by d.type`.execute(ctx.db)
  const { rows } = await sql<DocumentRow & { found: { code: ReformFinding['code']; sentence: string }[] }>`
    select ${documentColumns}, d.found from (select d.*, i.found ${inMonth(about)} and d.misfits
                                              order by d.issued_at desc, d.id desc limit ${max}) d ${documentJoins(about)}
     order by d.issued_at desc, d.id desc`.execute(ctx.db)
  const documents = rows.map(({ id, found, ...row }): ReformSheet['achados'][number] => ({
    idDFe: ctx.ids.encode(about.workspaceId, id),
    ...row,
    achados: found.map(({ code, sentence }) => ({ codigo: code, frase: sentence })),
  }))
  return { documents, counts }
}

// The answer to a nota de crédito (NT 2025.002).
const answerToCredit = 211128

async function readNotes(
  ctx: Pick<Context, 'db' | 'ids'>,
  about: About,
  { purpose, max }: { purpose: 5 | 6; max: number },
) {
  // The answer that is asked for does not end with the month; of those that are only told, the month is asked for.
  const open =
    purpose === 5
      ? sql`and not exists (select from document_event e where e.workspace_id = ${about.workspaceId} and e.company_id = d.company_id and e.chave = d.chave
                               and e.tp_evento = ${answerToCredit} and e.rank > 0 and not e.undone)`
      : sql`and d.issued_at >= ${firstDay(about)} and d.issued_at < ${firstDay(about)} + interval '1 month'`
  // Written out, so that the index of these notes is found whatever is planned.
  const found = sql`
    from document_facts f join document d on d.workspace_id = f.workspace_id and d.id = f.document_id
   where f.workspace_id = ${about.workspaceId} and f.purpose in (5, 6) and f.purpose = ${sql.lit(purpose)}
     and d.type = ${nfe.code} and d.roles & ${1 << nfeRole.destinatario} <> 0 and d.roles & ${1 << nfeRole.emitente} = 0 and ${standingOnly} ${open} ${ofCompany(about, 'd')}
     ${about.shown.length > 0 ? sql`and ${sql.join(about.shown, sql` and `)}` : sql``}`
  const { rows } = await sql<DocumentRow & { known: number; dias: number }>`
    select ${documentColumns}, d.known, greatest(0, extract(day from now() at time zone 'America/Sao_Paulo' - d.issued_at))::int as dias
      from (select d.*, count(*) over ()::int as known ${found} order by d.issued_at, d.id limit ${max}) d ${documentJoins(about)}
     order by d.issued_at, d.id`.execute(ctx.db)
  return {
    known: rows[0]?.known ?? 0,
    notes: rows.map(({ id, known: _, ...row }) => ({ idDFe: ctx.ids.encode(about.workspaceId, id), ...row })),
  }
}
