import { createHash } from 'node:crypto'
import { openReceived } from '@vigia/server/start'
import type pg from 'pg'

export type Service = 'nfe' | 'cte'

/** A receipt; `sha256` is of the XML inside it, or null when the stream cannot be opened. */
export interface Receipt {
  cnpj: string
  /** Counted from 0, in order of registration. */
  workspace: number
  service: Service
  nsu: bigint
  sha256: string | null
  unread: boolean
  problem: string | null
}

/** A call as the product noted it. */
export interface LedgerCall {
  /** When it was written down. */
  at: number
  durationMs: number
  cnpj: string
  service: Service
  query: 'distNSU' | 'consNSU' | 'consChNFe'
  cStat: number | null
  error: string | null
  /** The pause that it caused, and how far the clock of the database was set then. */
  pauseMs?: number | null
  clockMs?: number
}

/** How far a conversation is. */
interface LineState {
  cnpj: string
  service: Service
  lastNsu: bigint
  state: string
  message: string
  gaps: number
  lost: number
  behind: number
}

/** An event that the product sends, and what it noted of each sending. */
export interface OutgoingEventRow {
  id: string
  workspace: string
  cnpj: string
  service: Service
  chave: string
  tpEvento: number
  sequence: number
  state: 'waiting' | 'sending' | 'registered' | 'rejected' | 'unconfirmed'
  automatic: boolean
  cStat: number | null
  xMotivo: string | null
  protocol: string | null
  message: string
  calls: { at: number; cStat: number | null; error: string | null }[]
}

const service = (column: string) => `case ${column} when 0 then 'nfe' else 'cte' end`

export async function readReceipts(db: pg.Pool): Promise<Receipt[]> {
  const { rows } = await db.query<Omit<Receipt, 'sha256' | 'nsu'> & { nsu: string; content: Buffer }>(`
    select c.cnpj, w.number as workspace, ${service('r.service')} as service, r.nsu,
           case when k.id is null then r.content else r.content || k.der end as content, r.unread, r.problem
      from receipt r left join issuer_certificate k on k.workspace_id = r.workspace_id and k.id = r.issuer_certificate_id
      join company c on c.workspace_id = r.workspace_id and c.id = r.company_id
      join (select id, (row_number() over (order by id))::int - 1 as number from workspace) w on w.id = r.workspace_id
     order by 1, 2, 3, r.nsu`)
  return rows.map(({ content, nsu, ...row }) => ({ ...row, nsu: BigInt(nsu), sha256: hash(content) }))
}

function hash(content: Buffer): string | null {
  try {
    return createHash('sha256').update(openReceived(content)).digest('hex')
  } catch {
    return null
  }
}

export async function readLedger(db: pg.Pool): Promise<LedgerCall[]> {
  const { rows } = await db.query<Omit<LedgerCall, 'at'> & { at: Date }>(`
    select k.true_at as at, k.duration_ms as "durationMs", l.cnpj, ${service('l.service')} as service, k.query, k.c_stat as "cStat", k.error,
           (extract(epoch from k.next_at - k.at) * 1000)::int as "pauseMs", (extract(epoch from k.at - k.true_at) * 1000)::float8 as "clockMs"
      from capture_call k join capture_line l on l.id = k.line_id order by k.true_at, k.id`)
  return rows.map((row) => ({ ...row, at: row.at.getTime() }))
}

export async function readLines(db: pg.Pool): Promise<LineState[]> {
  const { rows } = await db.query<Omit<LineState, 'lastNsu'> & { lastNsu: string }>(`
    select l.cnpj, ${service('l.service')} as service, l.last_nsu as "lastNsu", l.state, l.message,
           (select count(*)::int from capture_gap g where g.line_id = l.id and not g.lost) as gaps,
           (select count(*)::int from capture_gap g where g.line_id = l.id and g.lost and not g.passed) as lost,
           (select count(*)::int from capture_subscription s where s.line_id = l.id and s.delivered_nsu <> l.last_nsu) as behind
      from capture_line l order by 1, 2`)
  return rows.map((row) => ({ ...row, lastNsu: BigInt(row.lastNsu) }))
}

/** Workspaces of which not everything was judged yet: an automatic Ciência waits for that. */
export async function readUnjudged(db: pg.Pool): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>(`
    select p.workspace_id as id from change_position p left join alert_position a on a.workspace_id = p.workspace_id
     where a.version is distinct from p.version or a.walked_type is not null or a.reviewed_id is not null
        or exists (select from alert_due n where n.workspace_id = p.workspace_id and n.again_at = '-infinity')`)
  return rows.map(({ id }) => id)
}

/** Chaves of documents that an open alert leaves to a person. */
export async function readDoubted(db: pg.Pool): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ chave: string }>(
    `select chave from alert where score >= 60 and state <> 'conhecida'`,
  )
  return new Set(rows.map(({ chave }) => chave))
}

export async function readOutgoing(db: pg.Pool): Promise<OutgoingEventRow[]> {
  const { rows } = await db.query<OutgoingEventRow>(`
    select e.workspace_id || '/' || e.id as id, w.public_id as workspace, e.cnpj, ${service('e.type')} as service, e.chave,
           e.tp_evento as "tpEvento", e.sequence, e.state, e.requested_by is null as automatic, e.c_stat as "cStat",
           e.x_motivo as "xMotivo", e.protocol, e.message,
           coalesce((select json_agg(json_build_object('at', extract(epoch from k.true_at) * 1000, 'cStat', k.c_stat, 'error', k.error) order by k.true_at, k.id)
                       from outgoing_event_call k where k.workspace_id = e.workspace_id and k.event_id = e.id), '[]') as calls
      from outgoing_event e join workspace w on w.id = e.workspace_id order by e.workspace_id, e.id`)
  return rows
}
