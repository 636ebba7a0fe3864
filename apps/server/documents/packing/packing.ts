import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { startJobs } from '../../jobs/jobs.ts'
import type { Context } from '../../platform/context.ts'
import { asOperator, inWorkspace } from '../../platform/database.ts'
import { tryLock } from '../../platform/locks.ts'
import { pause } from '../../platform/pause.ts'
import { openReceived, type Packed } from '../../platform/received/bytes.ts'
import { receivedContent } from '../../platform/received/column.ts'
import { mayPack } from '../../platform/received/dictionaries.ts'
import { keepCertificates } from './certificates.ts'
import { packInThread } from './packer.ts'

// What earlier versions stored as it arrived takes its small form, and what a capture stored so for once.

const batchSize = 40
const batchBytes = 2_000_000

interface Place {
  companyId: number
  service: number
}

/** How many receipts of a workspace were looked at, and how many bytes their small forms saved. */
export interface PackedSome {
  looked: number
  savedBytes: number
}

/**
 * Packs some receipts of a workspace, in one transaction, which reads all of them back before it commits. Nothing is looked at when there is nothing
 * to do, when another process does it, or when it is too early (`mayPack`).
 */
export async function packSome(ctx: Pick<Context, 'db' | 'log'>, workspaceId: number): Promise<PackedSome> {
  return inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    if (!(await mayPack({ db })) || !(await tryLock({ db }, 'packing', workspaceId)))
      return { looked: 0, savedBytes: 0 }
    const { rows } = await sql<Place & { nsu: bigint; content: Buffer }>`
      select company_id as "companyId", service, nsu, content
        from (select *, sum(octet_length(content)) over (order by company_id, service, nsu) - octet_length(content) as before
                from (select * from receipt where workspace_id = ${workspaceId} and codec = 0
                       order by company_id, service, nsu limit ${batchSize}) first) r
       where before < ${batchBytes} order by company_id, service, nsu`.execute(db)
    const packed = await packInThread(rows.map(({ content }) => content))
    // All at once: two transactions that add certificates in several steps would wait for each other.
    const certificates = await keepCertificates(
      { db },
      workspaceId,
      packed.map((one) => one?.certificate ?? null),
    )
    const small = rows.map((row, index) => ({
      ...row,
      packed: packed[index] ?? null,
      certificate: certificates[index]!,
    }))
    let savedBytes = 0
    for (const receipts of Map.groupBy(small, ({ companyId, service }) => `${companyId} ${service}`).values())
      savedBytes += await putTogether(ctx, db, workspaceId, receipts[0]!, receipts)
    return { looked: rows.length, savedBytes }
  })
}

interface SmallReceipt {
  nsu: bigint
  content: Buffer
  packed: Packed | null
  certificate: number | null
}

async function putTogether(
  { log }: Pick<Context, 'log'>,
  db: Context['db'],
  workspaceId: number,
  { companyId, service }: Place,
  receipts: readonly SmallReceipt[],
): Promise<number> {
  const nsus = receipts.map(({ nsu }) => nsu)
  const { rows } = await sql<{ n: number }>`
    select pack_receipts(${workspaceId}::int, ${companyId}::int, ${service}::smallint, ${nsus}::bigint[],
                         ${receipts.map(({ packed }) => packed?.content ?? null)}::bytea[], ${receipts.map(({ certificate }) => certificate)}::int[]) as n`.execute(
    db,
  )
  if (rows[0]!.n !== receipts.length)
    throw new Error(`${receipts.length - rows[0]!.n} receipts of company ${companyId} did not take their small form`)
  const { rows: back } = await sql<{ nsu: bigint; content: Buffer }>`
    select nsu, ${receivedContent(workspaceId, 'receipt')} as content from receipt
     where workspace_id = ${workspaceId} and company_id = ${companyId} and service = ${service} and nsu = any (${nsus}::bigint[])`.execute(
    db,
  )
  const contents = new Map(back.map(({ nsu, content }) => [nsu, content]))
  let savedBytes = 0
  for (const { nsu, content, packed: small } of receipts) {
    const now = contents.get(nsu)
    if (!now || !(small ? openReceived(now).equals(openReceived(content)) : now.equals(content)))
      throw new Error(`receipt ${nsu} of company ${companyId} did not come back as it arrived`)
    if (small) savedBytes += content.length - small.content.length
    else log.info({ workspaceId, companyId, service, nsu: String(nsu) }, 'a receipt stays as it arrived')
    await setImmediate()
  }
  return savedBytes
}

// Capture and people go first: twice as long as a turn takes.
const restShare = 2
const restMsMax = 2_000
const turnsOfWorkspace = 20
// When all is packed it looks again: processes of an earlier version may still write as they did.
const againMs = 3_600_000

/** Packs the receipts of all workspaces, a bounded part of one after the other, until disposed. */
export function startPackingWorker(ctx: Pick<Context, 'db' | 'log'>): AsyncDisposable {
  const waiting: number[] = []
  let listAt = 0
  return startJobs<number>(
    {
      name: 'packing',
      claim: async () => {
        if (waiting.length === 0 && performance.now() >= listAt) {
          waiting.push(...(await listWorkspaces(ctx)))
          listAt = performance.now() + againMs
        }
        return waiting.shift() ?? null
      },
      run: async (workspaceId, signal) => {
        for (let turn = 0; turn < turnsOfWorkspace; turn++) {
          const begun = performance.now()
          const { looked } = await packSome(ctx, workspaceId)
          await pause(Math.min(restMsMax, restShare * (performance.now() - begun)), signal)
          if (looked === 0 || signal.aborted) return
        }
        waiting.push(workspaceId)
      },
      describe: (workspaceId) => ({ workspaceId }),
      concurrency: 1,
      idleMs: 1_000,
    },
    ctx.log,
  )
}

/** Packs all receipts of the installation now, and tells after each workspace how many were looked at and what was saved. False: it is too early (`mayPack`). */
export async function packAll(
  ctx: Pick<Context, 'db' | 'log'>,
  done: (packed: PackedSome, place: number, of: number) => void,
): Promise<boolean> {
  if (!(await mayPack(ctx))) return false
  const workspaces = await listWorkspaces(ctx)
  for (const [index, workspaceId] of workspaces.entries()) {
    const all = { looked: 0, savedBytes: 0 }
    for (;;) {
      const { looked, savedBytes } = await packSome(ctx, workspaceId)
      if (looked === 0) break
      all.looked += looked
      all.savedBytes += savedBytes
    }
    done(all, index + 1, workspaces.length)
  }
  return true
}

async function listWorkspaces(ctx: Pick<Context, 'db'>): Promise<number[]> {
  const rows = await asOperator(ctx, ({ db }) => db.selectFrom('workspace').select('id').orderBy('id').execute())
  return rows.map(({ id }) => id)
}
