import { baseOf } from '@vigia/checks/alerts/facts'
import { auditFreight, type FreightFinding, noteWaitMs } from '@vigia/checks/freight/audit'
import type { Note, Trip, TripInside } from '@vigia/checks/freight/trip'
import { cnpjBase } from '@vigia/dfe/cnpj'
import { cte, cteRole } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'
import type { Context, Database } from '../../platform/context.ts'
import { batchOrEach } from '../../platform/database.ts'
import { standingOnly } from '../list/filter.ts'
import { recordsOf } from '../store.ts'
import { replaced } from './facts.ts'

// Bills of freight among their neighbours: docs/decisions/0053-freight-audit.md.

/** How many earlier trips of a lane, and as many of its cities, a bill is compared with. */
const laneMax = 50
// Earlier trips with one of the same notes.
const sameNotesMax = 50
/** Newest CT-e that cite a note: a note may be cited by thousands. */
const citingMax = 200
const atOnce = 100

/** A bill as others are compared with it. */
interface Neighbour {
  chave: string
  issuedAt: string
  trip: TripInside
}

interface Bill extends Neighbour {
  id: bigint
  companyId: number
  cnpj: string
  local: string
  value: string
  /** Milliseconds. */
  at: number
  /** When it came here, milliseconds. */
  arrived: number
  standing: boolean
  pays: boolean
  receives: boolean
  here: (Omit<Note, 'tpNF' | 'modFrete' | 'recipient'> & Record<'tpNF' | 'modFrete' | 'recipient', string | null>)[]
  same: Neighbour[]
  laned: Neighbour[]
}

/** Audits the bills of freight among these documents, and those that a change of one of them may touch. One that fails alone is told. */
export async function auditBills(
  { db, log }: Pick<Context, 'db' | 'log'>,
  workspaceId: number,
  changed: readonly bigint[],
): Promise<void> {
  const ids = await findTouched(db, workspaceId, changed)
  for (let start = 0; start < ids.length; start += atOnce)
    await batchOrEach(
      db,
      ids.slice(start, start + atOnce),
      async (some) => {
        const bills = await readBills(db, workspaceId, some)
        await writeFindings(
          db,
          workspaceId,
          some,
          bills.flatMap((bill) => findingsOf(bill)),
        )
      },
      (id, err) => log.error({ err, workspaceId, document: id }, 'a bill of freight cannot be judged'),
    )
}

const laneOf = (workspaceId: number, column: 'lane' | 'way', than: '<' | '>') => sql`
  (select o.document_id, o.chave, o.facts from document_facts o
    where o.workspace_id = ${workspaceId} and o.company_id = f.company_id and o.${sql.ref(column)} = f.${sql.ref(column)} and o.counted
      and (o.at, o.chave) ${sql.raw(than)} (f.at, f.chave)
    order by o.at ${sql.raw(than === '<' ? 'desc' : 'asc')}, o.chave ${sql.raw(than === '<' ? 'desc' : 'asc')} limit ${laneMax})`

const citing = (workspaceId: number) => sql`
  (select c.document_id from document_cite c where c.workspace_id = ${workspaceId} and c.chave = n.chave
    order by c.document_id desc limit ${citingMax})`

// A note touches the bills that cite it, a bill itself, the next ones of its lane, and those with one of its notes.
async function findTouched(db: Database, workspaceId: number, changed: readonly bigint[]): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    with f as materialized (
      select d.id as document_id, d.type, d.chave, f.company_id, f.lane, f.way, f.at, f.facts from unnest(${changed}::bigint[]) q (id)
       cross join lateral (select * from document d where d.workspace_id = ${workspaceId} and d.id = q.id offset 0) d
        left join lateral (select * from document_facts f where f.workspace_id = ${workspaceId} and f.document_id = q.id offset 0) f on true)
    select f.document_id as id from f where f.type = ${cte.code}
    union
    select c.document_id from f cross join lateral (
      select f.chave where f.type = ${nfe.code}
      union all select jsonb_array_elements_text(f.facts -> 'trip' -> 'notes') where f.lane is not null) n (chave)
     cross join lateral ${citing(workspaceId)} c
    union
    select o.document_id from f cross join lateral (${laneOf(workspaceId, 'lane', '>')} union all ${laneOf(workspaceId, 'way', '>')}) o`.execute(
    db,
  )
  return rows.map(({ id }) => id).sort((a, b) => (a < b ? -1 : 1))
}

function findingsOf(bill: Bill): object[] {
  // Another establishment's bill is judged where that establishment pays.
  if (!bill.pays && (!bill.receives || baseOf(bill.trip.payer) === cnpjBase(bill.cnpj))) return []
  return auditFreight(
    { ...tripOf(bill), standing: bill.standing, recipient: bill.receives ? bill.cnpj : undefined },
    {
      companyBase: cnpjBase(bill.cnpj),
      // Switches only filter what is shown.
      capturesNotes: true,
      // `told_at` holds it back.
      asOf: Number.POSITIVE_INFINITY,
      notes: bill.here.map(({ tpNF, modFrete, recipient, ...note }) => ({
        ...note,
        tpNF: tpNF ?? undefined,
        modFrete: modFrete ?? undefined,
        recipient: recipient ?? undefined,
      })),
      sameNotes: bill.same.map(tripOf),
      lane: bill.laned.map(tripOf),
    },
  )
    .filter(({ code }) => bill.pays || code === 'fr-sem-nota')
    .map((finding) => findingRow(bill, finding))
}

const tripOf = ({ chave, issuedAt, trip }: Neighbour): Trip => ({ ...trip, chave, issuedAt, standing: true })

function findingRow(bill: Bill, { code, sentence, documents }: FreightFinding) {
  // Its note may come as long after it as the CT-e itself did: with a new company, or after a pause, years come at once.
  const waits = code === 'fr-sem-nota' && bill.trip.cites > 0
  return {
    document_id: bill.id,
    company_id: bill.companyId,
    issued_at: bill.local,
    told_at: waits ? new Date(Math.max(bill.at, bill.arrived) + noteWaitMs).toISOString() : '-infinity',
    value: bill.value,
    code,
    sentence,
    documents,
  }
}

const findingTypes = {
  ...{ document_id: 'bigint', company_id: 'int', issued_at: 'timestamp', told_at: 'timestamptz' },
  ...{ value: 'bigint', code: 'text', sentence: 'text', documents: 'text[]' },
}

async function writeFindings(
  db: Database,
  workspaceId: number,
  ids: readonly bigint[],
  found: readonly object[],
): Promise<void> {
  const rows = recordsOf<Record<string, unknown>>(found as Record<string, unknown>[], findingTypes)
  await sql`
    delete from freight_finding f where f.workspace_id = ${workspaceId} and f.document_id = any (${ids}::bigint[])
       and not exists (select from ${rows} where r.document_id = f.document_id and r.code = f.code)`.execute(db)
  if (found.length === 0) return
  await sql`
    insert into freight_finding as f (workspace_id, document_id, company_id, issued_at, told_at, value, code, sentence, documents)
    select ${workspaceId}, r.* from ${rows}
    on conflict (workspace_id, document_id, code) do update
       set company_id = excluded.company_id, issued_at = excluded.issued_at, told_at = excluded.told_at, value = excluded.value,
           sentence = excluded.sentence, documents = excluded.documents`.execute(db)
}

// One round trip for all; each part is asked of its own index.
async function readBills(db: Database, workspaceId: number, ids: readonly bigint[]): Promise<Bill[]> {
  const base = (taxId: ReturnType<typeof sql>) =>
    sql`case when length(${taxId}) = 14 then left(${taxId}, 8) else ${taxId} end`
  const same = (...path: string[]) => {
    const at = (alias: string) => sql`(${sql.ref(`${alias}.facts`)} #>> ${sql.lit(`{trip,${path.join()}}`)})`
    return sql`${base(at('o'))} is not distinct from ${base(at('f'))}`
  }
  const neighbours = (rows: ReturnType<typeof sql>) => sql`
    (select coalesce(json_agg(json_build_object('chave', o.chave, 'issuedAt', o.facts -> 'issuedAt', 'trip', o.facts -> 'trip') order by o.at desc, o.chave desc), '[]')
       from (${rows}) o)`
  const { rows } = await sql<Bill>`
    select f.document_id as id, f.company_id as "companyId", f.chave, f.facts ->> 'issuedAt' as "issuedAt", f.facts -> 'trip' as trip, c.cnpj,
           to_char(d.issued_at, 'YYYY-MM-DD"T"HH24:MI:SS') as local, f.cents::text as value, extract(epoch from f.at)::float8 * 1000 as at,
           ${standingOnly} and d.event_code <> ${replaced} as standing, f.side is not distinct from 2 as pays, d.roles & ${1 << cteRole.destinatario} <> 0 as receives,
      -- A document that is made anew has come when its bytes did.
      (select extract(epoch from coalesce(least(d.created_at, r.received_at), now()))::float8 * 1000 from (values (1)) v
         left join receipt r on r.workspace_id = ${workspaceId} and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu) as arrived,
      (select coalesce(json_agg(n order by n.chave), '[]') from (
         select distinct on (d.chave) d.chave, ${standingOnly} as standing, s.tax_id as issuer, d.amount::text as amount,
                x.facts ->> 'recipient' as recipient, x.facts ->> 'tpNF' as "tpNF", x.facts ->> 'modFrete' as "modFrete"
           from jsonb_array_elements_text(f.facts -> 'trip' -> 'notes') q (chave)
          cross join lateral (select * from document d where d.workspace_id = ${workspaceId} and d.chave = q.chave offset 0) d
          cross join lateral (select s.tax_id from supplier s where s.workspace_id = ${workspaceId} and s.id = d.supplier_id offset 0) s
           left join lateral (select * from document_facts x where x.workspace_id = ${workspaceId} and x.document_id = d.id offset 0) x on true
          order by d.chave, x.facts ->> 'modFrete' nulls last, d.id) n) as here,
      ${neighbours(sql`
         select o.* from (select distinct c.document_id from jsonb_array_elements_text(f.facts -> 'trip' -> 'notes') n (chave) cross join lateral ${citing(workspaceId)} c) c
          cross join lateral (select * from document_facts o where o.workspace_id = ${workspaceId} and o.document_id = c.document_id offset 0) o
          where f.lane is not null and f.counted and o.lane is not null and o.counted and (o.at, o.chave) < (f.at, f.chave) and o.way = f.way
            and ${same('carrier', 'taxId')} and ${same('payer')}
          order by o.at desc, o.chave desc limit ${sameNotesMax}`)} as same,
      ${neighbours(sql`
         select x.* from (select distinct o.document_id from (${laneOf(workspaceId, 'lane', '<')} union all ${laneOf(workspaceId, 'way', '<')}) o where f.counted) o
          cross join lateral (select * from document_facts x where x.workspace_id = ${workspaceId} and x.document_id = o.document_id offset 0) x`)} as laned
      from unnest(${ids}::bigint[]) q (id)
     cross join lateral (select * from document_facts f where f.workspace_id = ${workspaceId} and f.document_id = q.id and f.facts ? 'trip' offset 0) f
     cross join lateral (select * from document d where d.workspace_id = ${workspaceId} and d.id = q.id offset 0) d
      join company c on c.workspace_id = ${workspaceId} and c.id = f.company_id`.execute(db)
  return rows
}
