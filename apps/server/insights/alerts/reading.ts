import type { AlertCompany, AlertEvent, AlertFacts, Known } from '@vigia/checks/alerts/facts'
import { judgedFamilies } from '@vigia/checks/alerts/rules'
import { cnpjBase } from '@vigia/dfe/cnpj'
import { families } from '@vigia/dfe/families/all'
import type { Family } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { familyById, familyOf, finalStatuses } from '@vigia/dfe/families/lookup'
import { status } from '@vigia/dfe/families/statuses'
import { ufs } from '@vigia/dfe/uf'
import { sql } from 'kysely'
import { readCaptureStates } from '../../capture/state.ts'
import { readHiding, shownRoles } from '../../companies/switches.ts'
import { receivedContent } from '../../documents/received/column.ts'
import type { Context, Database, WithDatabase } from '../../platform/context.ts'
import { createThreads, runApart } from '../../platform/threads.ts'

// Facts of documents, from their bytes and from data of the workspace.

export interface ReadQuestion {
  chave: string
  content: Uint8Array
  events: AlertEvent[]
  known: Known
}

const threads = createThreads<ReadQuestion[], (AlertFacts | null)[]>({
  file: new URL('./reader-worker.ts', import.meta.url),
  threads: 1,
  waitingMax: 50,
  // With `apartMs`, less than the lease of a turn.
  timeoutMs: 30_000,
  memoryMb: 256,
  idleMs: 30_000,
})

/** Condition on `document d`, in the words of its index. */
export const isWaiting = sql`(d.judged_at is null or not isfinite(d.judged_at))`

export const hasNext = (workspaceId: number) =>
  sql`exists (select from document d where d.workspace_id = ${workspaceId} and d.judged_at is null)`

export interface FoundDocument {
  documentId: bigint
  companyId: number
  /** Null: another company of its base had it before, and it is judged there. */
  question: ReadQuestion | null
  /** The same document in companies of its base where it is not judged, itself maybe. */
  others: bigint[]
}

interface Row {
  documentId: bigint
  chave: string
  companyId: number
  cnpj: string
  type: number
  roles: number
  status: number
  proof: string | null
  authorizedAt: Date | null
  exportedAt: Date | null
  bookedAt: Date | null
  deliveredAt: Date | null
  /** Its ids in the companies of its base. */
  ids: string[]
  content: Buffer
  events: (Omit<AlertEvent, 'authorTaxId' | 'text'> & {
    authorTaxId: string | null
    text: string | null
    rank: number
  })[]
}

const ended = [...finalStatuses, status.unknownOperation, status.notPerformed, status.confirmed]
/** `TipoDFe` of the documents that are judged, in the order in which they are. */
export const judgedTypes = judgedFamilies.map((id) => familyById(id).code)

/** Documents of judged families with what is known of them, before they are read. `ctx.db` is inside the workspace. */
export async function findDocuments(
  { db }: WithDatabase,
  workspaceId: number,
  ids: readonly bigint[],
  companies: ReadonlyMap<string, AlertCompany>,
): Promise<FoundDocument[]> {
  const { rows } = await sql<Row>`
    select d.id as "documentId", d.chave, d.company_id as "companyId", c.cnpj, d.type, d.roles, d.status, d.proof, d.authorized_at as "authorizedAt",
           u.exported_at as "exportedAt", u.booked_at as "bookedAt", u.delivered_at as "deliveredAt", r.content,
           (select coalesce(json_agg(json_build_object('tpEvento', e.tp_evento, 'nSeqEvento', e.sequence, 'at', e.registered_at, 'authorTaxId', e.author, 'text', e.justification)
                                     order by e.tp_evento, e.sequence, e.author), '[]')
              from (select * from document_event e
                     where e.workspace_id = ${workspaceId} and e.company_id = d.company_id and e.chave = d.chave and e.rank > 0 limit ${eventsMax}) e) as events,
           array(select o.id::text from (select o.id, o.company_id from document o where o.workspace_id = ${workspaceId} and o.chave = d.chave offset 0) o
                   join company oc on oc.workspace_id = ${workspaceId} and oc.id = o.company_id
                  where left(oc.cnpj, 8) = left(c.cnpj, 8) order by o.id) as ids
      from unnest(${ids}::bigint[]) q (id)
     -- Each by its key: without statistics, as in a new workspace, a join would go through all receipts.
     cross join lateral (select * from document d where d.workspace_id = ${workspaceId} and d.id = q.id offset 0) d
     cross join lateral (select ${receivedContent(workspaceId, 'r')} as content from receipt r
                          where r.workspace_id = ${workspaceId} and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu offset 0) r
      join company c on c.workspace_id = ${workspaceId} and c.id = d.company_id
      left join document_reliance u on u.workspace_id = ${workspaceId} and u.document_id = d.id
     where d.type = any (${judgedTypes}::int[])`.execute(db)
  return rows.map(({ documentId, companyId, ids, ...row }): FoundDocument => {
    const [first, ...later] = ids.map(BigInt)
    if (first !== documentId) return { documentId, companyId, question: null, others: [documentId] }
    const known: Known = {
      company: companies.get(cnpjBase(row.cnpj))!,
      marks: marksOf(row),
      deadline: deadlineText(row),
      proof: row.proof ?? undefined,
    }
    const events = row.events.map(
      ({ authorTaxId, text, ...event }): AlertEvent => ({
        ...event,
        at: new Date(event.at).toISOString(),
        authorTaxId: authorTaxId ?? undefined,
        text: text ?? undefined,
      }),
    )
    const question = { chave: row.chave, content: new Uint8Array(row.content), events, known }
    return { documentId, companyId, question, others: later }
  })
}

function marksOf({
  exportedAt,
  bookedAt,
  deliveredAt,
}: Pick<Row, 'exportedAt' | 'bookedAt' | 'deliveredAt'>): Known['marks'] {
  const marks = { exported: exportedAt, booked: bookedAt, delivered: deliveredAt } as const
  const kinds = Object.keys(marks) as (keyof typeof marks)[]
  return kinds.flatMap((kind) => (marks[kind] ? { kind, at: marks[kind].toISOString() } : []))
}

// More events than a document has, unless somebody means harm.
const eventsMax = 200

function deadlineText({
  type,
  roles,
  status,
  authorizedAt,
}: Pick<Row, 'type' | 'roles' | 'status' | 'authorizedAt'>): string | undefined {
  const family = familyOf(type)
  const buys = family.roles.some(({ code, side }) => (side === 'received' || side === 'paid') && roles & (1 << code))
  if (!buys || ended.includes(status)) return undefined
  const subject = { model: null, authorizedAt, deadlineLifted: false }
  const ends = family.answers.flatMap((answer) => (answer.due && answer.until(subject)) ?? [])
  return ends.sort((a, b) => b.getTime() - a.getTime())[0]?.toISOString()
}

/** A document as it was read from its bytes. */
export interface ReadDocument {
  documentId: bigint
  companyId: number
  facts: AlertFacts
}

interface Unread {
  documentId: bigint
  chave: string
  /** There was no time for it. */
  untried: boolean
}

/** Reads documents in a thread. */
export async function readFacts(found: readonly FoundDocument[]): Promise<{ read: ReadDocument[]; unread: Unread[] }> {
  const asked = found.flatMap(({ question, ...one }) => (question ? { ...one, question } : []))
  const questions = asked.map(({ question }) => question)
  const answers = questions.length > 0 ? await runApart(threads, questions, apartMs) : []
  const read: ReadDocument[] = []
  const unread: Unread[] = []
  for (const [index, { documentId, companyId, question }] of asked.entries()) {
    const facts = answers[index]
    if (facts) read.push({ documentId, companyId, facts })
    else unread.push({ documentId, chave: question.chave, untried: facts === undefined })
  }
  return { read, unread }
}

// Together this long at most, so that a turn ends while it is held.
const apartMs = 40_000

const ofEach = <T>(of: (family: Family) => T) =>
  Object.fromEntries(families.map((family) => [family.id, of(family)])) as Record<FamilyId, T>

// How far back the authority hands documents out.
const reachMs = 90 * 86_400_000

/** Facts about the workspace's companies, by base, with the instant until which everything was captured; `ctx.db` is inside the workspace. */
export async function readCompanies(
  { db, config }: { db: Database; config: Pick<Context['config'], 'sefaz'> },
  workspaceId: number,
): Promise<Map<string, AlertCompany>> {
  const rows = await db
    .selectFrom('company')
    .select(['id', 'cnpj', 'name', 'uf', 'created_at'])
    .where('workspace_id', '=', workspaceId)
    .orderBy('id')
    .execute()
  const hiding = await readHiding({ db }, workspaceId)
  const lines = Map.groupBy(await readCaptureStates(db, workspaceId), ({ company_id }) => company_id)
  const until = (companyId: number, service: number) => {
    const line = lines.get(companyId)?.find((one) => one.service === service)
    const isWhole = line && line.last_nsu === line.max_nsu && line.missing + line.lost + line.unread === 0
    return isWhole ? (line.last_success_at?.toISOString() ?? null) : null
  }
  return new Map(
    [...Map.groupBy(rows, ({ cnpj }) => cnpjBase(cnpj))].map(([base, own]) => [
      base,
      {
        base,
        tpAmb: config.sefaz.tpAmb === 1 ? '1' : '2',
        establishments: own.map(({ id, cnpj, name, uf, created_at }) => ({
          taxId: cnpj,
          names: [name],
          ies: [],
          uf: ufs.find(({ code }) => code === uf)?.uf,
          since: new Date(created_at.getTime() - reachMs).toISOString(),
          until: ofEach(({ code }) => until(id, code)),
        })),
        captures: ofEach((family) => own.some(({ id }) => shownRoles(hiding, id, family.id) !== 0)),
      },
    ]),
  )
}
