import { baseOf } from '@vigia/checks/alerts/facts'
import { auditFreight, type FreightFinding, noteWaitMs } from '@vigia/checks/freight/audit'
import type { Note, Trip, TripInside } from '@vigia/checks/freight/trip'
import { cnpjBase } from '@vigia/dfe/cnpj'
import { sql } from 'kysely'
import type { Context, Database } from '../../platform/context.ts'
import { standingOnly } from '../list/filter.ts'
import type { ReadDocument } from './store.ts'
import { cents } from './sums.ts'

// Bills of freight among their neighbours: docs/decisions/0053-freight-audit.md. Whoever writes here holds the row of the workspace in
// `content_position`. What a change may touch is marked, and judged in the same turn or the next ones.

/** How many earlier trips of a lane, and as many of its cities, a bill is compared with. */
const laneMax = 50
// Earlier trips with one of the same notes.
const sameNotesMax = 50
/** Newest CT-e that cite a note: a note may be cited by thousands. */
const citingMax = 200

interface Row {
  document_id: string
  company_id: number
  at: number
  value: string
  cargo: string | null
  kilos: number | null
  utc_offset: number
  tp_cte: number
  tp_serv: number
  cites: number
  standing: boolean
  pays: boolean
  receives: boolean
  chave: string
  carrier: string
  payer: string | null
  lane: string
  way: string
  from_name: string | null
  to_name: string | null
  notes: string[]
}

const types: Record<keyof Row, string> = {
  document_id: 'bigint',
  company_id: 'int',
  at: 'bigint',
  value: 'bigint',
  cargo: 'bigint',
  kilos: 'float8',
  utc_offset: 'smallint',
  tp_cte: 'smallint',
  tp_serv: 'smallint',
  cites: 'int',
  standing: 'boolean',
  pays: 'boolean',
  receives: 'boolean',
  chave: 'text',
  carrier: 'text',
  payer: 'text',
  lane: 'text',
  way: 'text',
  from_name: 'text',
  to_name: 'text',
  notes: 'text[]',
}
const names = Object.keys(types)
const columns = sql.join(names.map((name) => sql.ref(name)))
const declared = sql.join(names.map((name) => sql`${sql.ref(name)} ${sql.raw(types[name as keyof Row])}`))

export async function putFreight(db: Database, workspaceId: number, all: readonly ReadDocument[]): Promise<void> {
  const ids = all.map(({ documentId }) => documentId)
  const { rows: before } = await sql<Row>`
    select ${columns}, document_id::text, at::float8, value::text, cargo::text from freight
     where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])`.execute(db)
  const now = all.flatMap(rowOf)
  if (before.length === 0 && now.length === 0) return
  const kept = new Set(now.map(({ document_id }) => document_id))
  const gone = before.flatMap(({ document_id }) => (kept.has(document_id) ? [] : document_id))
  for (const table of ['freight', 'freight_finding'])
    await sql`
      delete from ${sql.table(table)}
       where workspace_id = ${workspaceId} and document_id = any (${gone}::bigint[])`.execute(db)
  await sql`
    insert into freight (workspace_id, due, ${columns})
    select ${workspaceId}, true, ${columns} from json_to_recordset(${JSON.stringify(now)}::json) r (${declared})
    on conflict (workspace_id, document_id) do update
       set due = true, ${sql.join(names.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`))}`.execute(db)
  const cited = (rows: readonly Row[]) =>
    rows.flatMap(({ document_id, notes }) => notes.map((note) => [note, document_id]))
  const [were, are] = [cited(before), cited(now)]
  const isNow = new Set(are.map(String))
  const left = were.filter((one) => !isNow.has(String(one)))
  await sql`
    delete from freight_citation c using unnest(${left.map(([note]) => note)}::text[], ${left.map(([, id]) => id)}::bigint[]) q (chave, id)
     where c.workspace_id = ${workspaceId} and c.chave = q.chave and c.document_id = q.id`.execute(db)
  await sql`
    insert into freight_citation (workspace_id, chave, document_id)
    select ${workspaceId}, q.* from unnest(${are.map(([note]) => note)}::text[], ${are.map(([, id]) => id)}::bigint[]) q
    on conflict do nothing`.execute(db)
  const says = new Map(before.map((row) => [row.document_id, textOf(row)]))
  const same = new Set(now.filter((row) => says.get(row.document_id) === textOf(row)).map((row) => row.document_id))
  await markLater(
    db,
    workspaceId,
    [...before, ...now].filter((row) => row.pays && !same.has(row.document_id)),
  )
}

const textOf = (row: Row) => JSON.stringify(names.map((name) => row[name as keyof Row]))

function rowOf({ documentId, document, answer }: ReadDocument): Row[] {
  const trip = answer.read?.trip
  if (!document?.bill || !trip) return []
  const { at, utcOffset, pays, receives, companyBase } = document.bill
  if (!pays && baseOf(trip.payer) === companyBase) return []
  return [
    {
      document_id: String(documentId),
      company_id: document.companyId,
      at,
      value: String(cents(trip.vTPrest)),
      cargo: trip.vCarga === undefined ? null : String(cents(trip.vCarga)),
      kilos: trip.kilos ?? null,
      utc_offset: utcOffset,
      tp_cte: codeOf(trip.tpCTe),
      tp_serv: codeOf(trip.tpServ),
      cites: trip.cites,
      standing: document.standing,
      pays,
      receives,
      chave: document.chave,
      carrier: trip.carrier.taxId,
      payer: trip.payer ?? null,
      lane: `${trip.from.uf}-${trip.to.uf}`,
      way: `${trip.from.cMun}-${trip.to.cMun}`,
      from_name: trip.from.name ?? null,
      to_name: trip.to.name ?? null,
      notes: trip.notes,
    },
  ]
}

const codeOf = (text: string) => (/^\d$/.test(text) ? Number(text) : 9)

const citing = (workspaceId: number) => sql`
  (select c.document_id from freight_citation c where c.workspace_id = ${workspaceId} and c.chave = n.chave
    order by c.document_id desc limit ${citingMax})`

// A trip is one of the last fifty of the next fifty of its lane, and may have been charged before any later one.
async function markLater(db: Database, workspaceId: number, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return
  const next = (column: 'lane' | 'way') => sql`
    (select f.document_id from freight f
      where f.workspace_id = ${workspaceId} and f.company_id = q.company_id and f.${sql.ref(column)} = q.${sql.ref(column)} and f.compared
        and (f.at, f.chave) > (q.at, q.chave) order by f.at, f.chave limit ${laneMax})`
  await sql`
    with touched as materialized (
      select x.document_id from json_to_recordset(${JSON.stringify(rows)}::json) q (${declared})
       cross join lateral (
         ${next('lane')} union all ${next('way')} union all
         (select f.document_id from unnest(q.notes) n (chave)
           cross join lateral ${citing(workspaceId)} c
           cross join lateral (select f.* from freight f where f.workspace_id = ${workspaceId} and f.document_id = c.document_id offset 0) f
           where (f.at, f.chave) > (q.at, q.chave))) x)
    update freight f set due = true where f.workspace_id = ${workspaceId} and not f.due
       and f.document_id in (select document_id from touched)`.execute(db)
}

export async function markCiting(db: Database, workspaceId: number, notes: readonly string[]): Promise<void> {
  if (notes.length === 0) return
  await sql`
    update freight f set due = true where f.workspace_id = ${workspaceId} and not f.due and f.document_id in (
      select c.document_id from unnest(${notes}::text[]) n (chave)
       cross join lateral ${citing(workspaceId)} c)`.execute(db)
}

// Columns of a neighbour for the comparison: a normal bill that stands.
type Neighbour = Omit<Row, 'cites' | 'standing' | 'pays' | 'receives' | 'document_id' | 'company_id'>

interface Due extends Row {
  /** When it came here, milliseconds. */
  arrived: number
  cnpj: string
  here: (Omit<Note, 'tpNF' | 'modFrete' | 'recipient'> & Record<'tpNF' | 'modFrete' | 'recipient', string | null>)[]
  same: Neighbour[]
  laned: Neighbour[]
}

export async function auditDue(
  { db, log }: Pick<Context, 'db' | 'log'>,
  workspaceId: number,
  most: number,
): Promise<number> {
  const due = await readDue(db, workspaceId, most)
  if (due.length === 0) return 0
  const found = due.flatMap((row) => {
    try {
      return auditFreight(tripFrom(row), {
        companyBase: cnpjBase(row.cnpj),
        // Switches only filter what is shown.
        capturesNotes: true,
        // `told_at` holds it back.
        asOf: Number.POSITIVE_INFINITY,
        notes: row.here.map(({ tpNF, modFrete, recipient, ...note }) => ({
          ...note,
          tpNF: tpNF ?? undefined,
          modFrete: modFrete ?? undefined,
          recipient: recipient ?? undefined,
        })),
        sameNotes: row.same.map(neighbourFrom),
        lane: row.laned.sort((a, b) => b.at - a.at || (a.chave < b.chave ? 1 : -1)).map(neighbourFrom),
      })
        .filter(({ code }) => row.pays || code === 'fr-sem-nota')
        .map((finding) => findingRow(row, finding))
    } catch (err) {
      log.error({ err, workspaceId, chave: row.chave }, 'a bill of freight cannot be judged')
      return []
    }
  })
  const ids = due.map(({ document_id }) => document_id)
  await sql`
    delete from freight_finding f where f.workspace_id = ${workspaceId} and f.document_id = any (${ids}::bigint[])
       and not exists (select from json_to_recordset(${JSON.stringify(found)}::json) q (document_id bigint, code text)
                        where q.document_id = f.document_id and q.code = f.code)`.execute(db)
  await sql`
    insert into freight_finding as f (workspace_id, document_id, company_id, issued_at, told_at, value, code, sentence, documents)
    select ${workspaceId}, q.* from json_to_recordset(${JSON.stringify(found)}::json)
           q (document_id bigint, company_id int, issued_at timestamp, told_at timestamptz, value bigint, code text, sentence text, documents text[])
    on conflict (workspace_id, document_id, code) do update
       set company_id = excluded.company_id, issued_at = excluded.issued_at, told_at = excluded.told_at, value = excluded.value,
           sentence = excluded.sentence, documents = excluded.documents`.execute(db)
  await sql`
    update freight set due = false
     where workspace_id = ${workspaceId} and document_id = any (${ids}::bigint[])`.execute(db)
  return due.length
}

const localText = ({ at, utc_offset }: Pick<Row, 'at' | 'utc_offset'>) =>
  new Date(at + utc_offset * 60_000).toISOString().slice(0, 19)

function findingRow(row: Due, { code, sentence, documents }: FreightFinding) {
  // Its note may come as long after it as the CT-e itself did: with a new company, or after a pause, years come at once.
  const waits = code === 'fr-sem-nota' && row.cites > 0
  return {
    document_id: row.document_id,
    company_id: row.company_id,
    issued_at: localText(row),
    told_at: waits ? new Date(Math.max(row.at, row.arrived) + noteWaitMs).toISOString() : '-infinity',
    value: row.value,
    code,
    sentence,
    documents,
  }
}

const reais = (cents: string) => (Number(cents) / 100).toFixed(2)

function tripFrom(row: Due): Trip {
  return {
    ...neighbourFrom(row),
    ...{ standing: row.standing, tpCTe: String(row.tp_cte), tpServ: String(row.tp_serv), cites: row.cites },
    recipient: row.receives ? row.cnpj : undefined,
  }
}

function neighbourFrom(row: Neighbour): Trip {
  const [[fromUf = '', toUf = ''], [fromCity = '', toCity = '']] = [row.lane.split('-'), row.way.split('-')]
  const inside: TripInside = {
    carrier: { taxId: row.carrier, name: '' },
    payer: row.payer ?? undefined,
    tpCTe: '0',
    tpServ: '0',
    from: { uf: fromUf, cMun: fromCity, name: row.from_name ?? undefined },
    to: { uf: toUf, cMun: toCity, name: row.to_name ?? undefined },
    vTPrest: reais(row.value),
    vCarga: row.cargo === null ? undefined : reais(row.cargo),
    kilos: row.kilos ?? undefined,
    cites: row.notes.length,
    notes: row.notes,
  }
  const pad = (minutes: number) => String(minutes).padStart(2, '0')
  const offset = Math.abs(row.utc_offset)
  const zone = `${row.utc_offset < 0 ? '-' : '+'}${pad(Math.floor(offset / 60))}:${pad(offset % 60)}`
  return { ...inside, chave: row.chave, issuedAt: `${localText(row)}${zone}`, standing: true }
}

// One round trip for all; each part is asked of its own index.
async function readDue(db: Database, workspaceId: number, most: number): Promise<Due[]> {
  const base = (taxId: string) =>
    sql`case when length(${sql.ref(taxId)}) = 14 then left(${sql.ref(taxId)}, 8) else ${sql.ref(taxId)} end`
  // Bills of the lane need only numbers, not the notes.
  const lane = (column: 'lane' | 'way') => sql`
    (select o.document_id, o.at, o.value, o.cargo, o.kilos, o.utc_offset, o.chave, o.carrier, o.lane, o.way from freight o
      where o.workspace_id = ${workspaceId} and o.company_id = f.company_id and o.${sql.ref(column)} = f.${sql.ref(column)} and o.compared
        and (o.at, o.chave) < (f.at, f.chave) order by o.at desc, o.chave desc limit ${laneMax})`
  const { rows } = await sql<Due>`
    select ${sql.join(names.map((name) => sql.ref(`f.${name}`)))}, f.document_id::text, f.at::float8, f.value::text, f.cargo::text, c.cnpj,
      -- A document that is made anew has come when its bytes did.
      (select extract(epoch from coalesce(least(d.created_at, r.received_at), now()))::float8 * 1000
         from (values (1)) v left join document d on d.workspace_id = ${workspaceId} and d.id = f.document_id
         left join receipt r on r.workspace_id = ${workspaceId} and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu) as arrived,
      (select coalesce(json_agg(n order by n.chave), '[]') from (
         select distinct on (d.chave) d.chave, ${standingOnly} as standing, s.tax_id as issuer, d.amount::text as amount,
                x.recipient, x.tp_nf::text as "tpNF", x.mod_frete::text as "modFrete"
           from unnest(f.notes) q (chave)
          cross join lateral (select * from document d where d.workspace_id = ${workspaceId} and d.chave = q.chave offset 0) d
          cross join lateral (select s.tax_id from supplier s where s.workspace_id = ${workspaceId} and s.id = d.supplier_id offset 0) s
           left join lateral (select * from content x where x.workspace_id = ${workspaceId} and x.document_id = d.id offset 0) x on true
          order by d.chave, x.mod_frete nulls last, d.id) n) as here,
      case when not f.compared then '[]' else (select coalesce(json_agg(o order by o.at, o.chave), '[]') from (
         select o.at, o.value::text, o.cargo::text, o.kilos, o.utc_offset, o.chave, o.carrier, o.payer, o.lane, o.way, o.notes
           from (select distinct c.document_id from unnest(f.notes) n (chave) cross join lateral ${citing(workspaceId)} c) c
          cross join lateral (select * from freight o where o.workspace_id = ${workspaceId} and o.document_id = c.document_id offset 0) o
          where o.compared and (o.at, o.chave) < (f.at, f.chave) and o.way = f.way
            and ${base('o.carrier')} = ${base('f.carrier')} and ${base('o.payer')} = ${base('f.payer')}
          order by o.at desc, o.chave desc limit ${sameNotesMax}) o) end as same,
      case when not f.compared then '[]' else (select coalesce(json_agg(o), '[]') from (
         select distinct on (o.document_id) o.at, o.value::text, o.cargo::text, o.kilos, o.utc_offset, o.chave, o.carrier, o.lane, o.way, '{}'::text[] as notes
           from (${lane('lane')} union all ${lane('way')}) o) o) end as laned
      from (select * from freight where workspace_id = ${workspaceId} and due order by document_id limit ${most}) f
      join company c on c.workspace_id = ${workspaceId} and c.id = f.company_id`.execute(db)
  return rows
}
