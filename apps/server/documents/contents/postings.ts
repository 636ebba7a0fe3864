import { sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import { decodeIds } from '../search/packed-postings.ts'
import { mergeParts, newSegment, type Part, type Segment } from './segments.ts'

// By which terms documents are found, as rows: docs/decisions/0055-postings.md. Whoever writes here holds the row of the workspace in `content_position`.

interface Changed {
  dropped: readonly bigint[]
  added: readonly { id: bigint; month: string; terms: readonly string[] }[]
}

export async function putPostings(db: Database, workspaceId: number, { dropped, added }: Changed): Promise<void> {
  if (dropped.length > 0) await drop(db, workspaceId, dropped)
  const named = added.filter(({ terms }) => terms.length > 0)
  if (named.length === 0) return
  const months = named.map(({ month }) => month).sort()
  await insert(db, workspaceId, newSegment(named), [months[0]!, months.at(-1)!])
  await mergeAlike(db, workspaceId)
}

async function insert(
  db: Database,
  workspaceId: number,
  { size, first, last, ids, values }: Segment,
  [firstMonth, lastMonth]: readonly [string, string],
): Promise<void> {
  await sql`
    with s as (
      insert into content_segment (workspace_id, size, first_month, last_month, first_id, last_id, buckets, ids)
      values (${workspaceId}, ${size}, ${firstMonth}, ${lastMonth}, ${first}, ${last}, ${values.length}, ${Buffer.from(ids)})
      returning id),
    written as (
    insert into content_posting (workspace_id, segment_id, bucket, value)
    select ${workspaceId}, s.id, u.place - 1, u.value from s, unnest(${values.map((value) => Buffer.from(value))}::bytea[]) with ordinality u (value, place)
     where length(u.value) > 0
    returning bucket)
    select count(*) from written`.execute(db)
}

async function remove(db: Database, workspaceId: number, ids: readonly number[]): Promise<void> {
  await sql`
    delete from content_posting where workspace_id = ${workspaceId} and segment_id = any (${ids}::int[])`.execute(db)
  await sql`delete from content_segment where workspace_id = ${workspaceId} and id = any (${ids}::int[])`.execute(db)
}

interface SegmentRow {
  id: number
  size: number
  first: bigint
  ids: Buffer
  dropped: Buffer | null
}

async function drop(db: Database, workspaceId: number, documentIds: readonly bigint[]): Promise<void> {
  const gone = new Set(documentIds.map(Number))
  const { rows } = await sql<SegmentRow>`
    select id, size, first_id as first, ids, dropped from content_segment s
     where workspace_id = ${workspaceId}
       and exists (select from unnest(${documentIds}::bigint[]) u (id) where u.id between first_id and last_id)`.execute(
    db,
  )
  for (const { id, size, first, ids, dropped } of rows) {
    const bits = dropped ?? Buffer.alloc(Math.ceil(size / 8))
    let found = false
    for (const [place, document] of decodeIds(Number(first), ids, size).entries())
      if (gone.has(document)) {
        bits[place >> 3]! |= 1 << (place & 7)
        found = true
      }
    if (found)
      await sql`
        update content_segment set dropped = ${bits} where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
  }
}

// Segments of one tier become one when they are so many, or have so many documents together; larger ones stay.
const tiers = [256, 4_096, 16_384]
const alikeMax = 16
const documentsMax = 32_768
// Documents with thousands of terms are merged fewer at once, or not at all.
const bytesMax = 8 * 1024 * 1024

async function mergeAlike(db: Database, workspaceId: number): Promise<void> {
  const { rows } = await sql<{ id: number; live: number }>`
    select * from (select id, size - coalesce(bit_count(dropped), 0)::int as live from content_segment where workspace_id = ${workspaceId}) s
     where live < ${tiers.at(-1)!} order by id`.execute(db)
  const byTier = Map.groupBy(rows, ({ live }) => tiers.find((until) => live < until)!)
  for (const [tier, alike] of byTier) {
    const isFull = alike.reduce((sum, { live }) => sum + live, 0) >= documentsMax
    const ids = alike.map(({ id }) => id)
    const about = `${workspaceId} ${tier}`
    if (alike.length < 2 || (alike.length < alikeMax && !isFull) || hopeless.get(about) === ids.join()) continue
    // One tier in a turn, which others wait for.
    if (await mergeSome(db, workspaceId, ids)) hopeless.delete(about)
    else hopeless.set(about, ids.join())
    return
  }
}

// Unmergeable segments of a workspace and tier: retried with new segments, and by the next process.
const hopeless = new Map<string, string>()

/** Makes one of those that fit together; false: no two of them do, or the thread failed. */
async function mergeSome(db: Database, workspaceId: number, ids: readonly number[]): Promise<boolean> {
  const { rows } = await sql<SegmentRow & { months: [string, string]; bytes: number }>`
    select s.id, s.size, s.first_id as first, s.ids, s.dropped, json_build_array(s.first_month, s.last_month) as months,
           (select sum(length(p.value)) from content_posting p where p.workspace_id = ${workspaceId} and p.segment_id = s.id)::float8 as bytes
      from content_segment s where s.workspace_id = ${workspaceId} and s.id = any (${ids}::int[])
      order by s.id`.execute(db)
  let sum = 0
  const taken = rows
    .toSorted((one, other) => one.bytes - other.bytes)
    .filter(({ bytes }) => {
      if (sum + bytes > bytesMax) return false
      sum += bytes
      return true
    })
  if (taken.length < 2) return false
  const { rows: postings } = await sql<{ id: number; value: Buffer }>`
    select segment_id as id, value from content_posting
     where workspace_id = ${workspaceId} and segment_id = any (${taken.map(({ id }) => id)}::int[])`.execute(db)
  const values = Map.groupBy(postings, ({ id }) => id)
  const parts = taken.map(
    ({ id, size, first, ids, dropped }): Part => ({
      size,
      first,
      ids,
      dropped,
      values: (values.get(id) ?? []).map(({ value }) => value),
    }),
  )
  const merged = mergeParts(parts)
  await remove(
    db,
    workspaceId,
    taken.map(({ id }) => id),
  )
  const months = taken.flatMap(({ months }) => months).sort()
  if (merged) await insert(db, workspaceId, merged, [months[0]!, months.at(-1)!])
  return true
}
