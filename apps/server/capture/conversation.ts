import { type Connection, connect } from '@vigia/sefaz/connection'
import { type DistributionAnswer, queryDistribution } from '@vigia/sefaz/distribution'
import { SefazError } from '@vigia/sefaz/error'
import { type RawBuilder, sql, type UpdateObject } from 'kysely'
import { keyPurpose } from '../companies/companies.ts'
import { type Arrival, listReceipts, readArrival, receive } from '../documents/documents.ts'
import type { Context } from '../platform/context.ts'
import { enterWorkspace, inCapture } from '../platform/database.ts'
import type { Tables } from '../platform/tables.ts'
import { type Decision, decide, failed, type Rhythm } from './rules.ts'

export type CaptureContext = Pick<Context, 'db' | 'config' | 'log' | 'vault'>

/** A conversation that this process holds: nobody else may ask for it while the lease lasts. */
export interface Line {
  id: number
  service: 0 | 2
  cnpj: string
  lastNsu: bigint
  maxNsu: bigint
  failures: number
  leaseBy: string
  /** Its time has come; false when it was only woken to catch up. */
  due: boolean
}

const leaseMs = 150_000

/** Takes the conversation that has waited longest, or null when none is due. */
export async function claimLine({ db }: Pick<Context, 'db'>): Promise<Line | null> {
  const leaseBy = crypto.randomUUID()
  return inCapture({ db }, async ({ db }) => {
    const { rows } = await sql<Omit<Line, 'leaseBy'>>`
      update capture_line set lease_by = ${leaseBy}, lease_until = now() + ${leaseMs} * interval '1 ms'
       where id = (select id from capture_line
                    where (next_at <= now() or catch_up) and (lease_until is null or lease_until < now())
                    order by next_at nulls first limit 1 for update skip locked)
      returning id, service, cnpj, last_nsu as "lastNsu", max_nsu as "maxNsu", failures, coalesce(next_at <= now(), false) as due`.execute(
      db,
    )
    return rows[0] ? { ...rows[0], leaseBy } : null
  })
}

/** Carries out one turn of a claimed conversation: pages until there is no more or the authority says stop, then lets it go. */
export async function converse(ctx: CaptureContext, line: Line, ca: string[], signal: AbortSignal): Promise<void> {
  await catchUp(ctx, line)
  if (!line.due) return release(ctx, line, null)
  const rhythm: Rhythm = ctx.config.sefaz
  const holder = await findHolder(ctx, line)
  if (!holder) return release(ctx, line, noCertificate)
  const connection = connect(holder.certificate, { ca })
  try {
    for (;;) {
      const decision = await turnPage(ctx, line, connection, holder.uf, rhythm)
      if (decision.nextPage === false || signal.aborted) return release(ctx, line, decision)
      await pause(rhythm.pagePauseMs, signal)
    }
  } finally {
    connection.close()
  }
}

const noCertificate: Decision = {
  nextPage: false,
  state: 'stopped',
  message:
    'O certificado digital venceu. Os documentos já guardados estão seguros; envie um certificado novo para a captura continuar.',
  nextInMs: null,
  allowedInMs: 0,
  failures: 0,
}

async function turnPage(
  ctx: CaptureContext,
  line: Line,
  connection: Connection,
  uf: number,
  rhythm: Rhythm,
): Promise<Decision> {
  const { sefaz } = ctx.config
  const service = line.service === 0 ? 'nfe' : 'cte'
  let answer: DistributionAnswer
  try {
    answer = await queryDistribution(connection, {
      service,
      url: sefaz.endpoints.distribution[service],
      tpAmb: sefaz.tpAmb,
      cUFAutor: uf,
      cnpj: line.cnpj,
      query: { ultNSU: nsuText(line.lastNsu) },
    })
  } catch (error) {
    if (!(error instanceof SefazError)) throw error
    const decision = failed(error, line.failures, rhythm)
    ctx.log.warn({ err: error, cnpj: line.cnpj, service, kind: error.kind }, 'the authority did not answer')
    await note(ctx, line, { before: line.lastNsu, decision, error: `${error.kind}: ${error.message}` })
    line.failures = decision.failures
    return decision
  }
  const decision = decide(answer, line.lastNsu, rhythm)
  await store(ctx, line, answer, decision)
  ctx.log.info(
    {
      cnpj: line.cnpj,
      service,
      cStat: answer.cStat,
      documents: answer.documents.length,
      ultNSU: answer.ultNSU,
      maxNSU: answer.maxNSU,
      ms: Math.round(answer.durationMs),
    },
    'page',
  )
  return decision
}

// Bytes, projection, cursor and ledger in one transaction: after a crash either all of a page is here or none of it.
async function store(ctx: CaptureContext, line: Line, answer: DistributionAnswer, decision: Decision): Promise<void> {
  const before = line.lastNsu
  const after = decision.lastNsu ?? before
  const arrivals = readArrivals(answer, after)
  await inCapture(ctx, async (ctx) => {
    await holdLine(ctx, line, {
      last_nsu: after,
      max_nsu: decision.maxNsu ?? line.maxNsu,
      ...(decision.succeeded ? { last_success_at: sql<Date>`now()` } : {}),
    })
    if (decision.gap) {
      await ctx.db
        .insertInto('capture_gap')
        .values({ line_id: line.id, from_nsu: decision.gap.from, to_nsu: decision.gap.to })
        .onConflict((c) => c.doNothing())
        .execute()
    }
    for (const to of await subscribers(ctx, line)) {
      if (to.delivered_nsu !== before) continue
      await enterWorkspace(ctx, to.workspace_id)
      if (arrivals.length > 0)
        await receive(
          ctx,
          { workspaceId: to.workspace_id, companyId: to.company_id, cnpj: line.cnpj },
          serviceOf(line),
          arrivals,
        )
      await ctx.db
        .updateTable('capture_subscription')
        .set({ delivered_nsu: after })
        .where('line_id', '=', line.id)
        .where('workspace_id', '=', to.workspace_id)
        .where('company_id', '=', to.company_id)
        .execute()
    }
    await note(ctx, line, { before, after, answer, decision })
  })
  line.lastNsu = after
  line.maxNsu = decision.maxNsu ?? line.maxNsu
  line.failures = decision.failures
}

function readArrivals(answer: DistributionAnswer, after: bigint): Arrival[] {
  const seen = new Set<bigint>()
  return answer.documents.flatMap(({ nsu, schema, content }, index) => {
    // A docZip without NSU does not happen in this query; if it ever does, it still needs a place of its own.
    const number = nsu === null ? -(after * 100n + BigInt(index)) : BigInt(nsu)
    if (seen.has(number)) return []
    seen.add(number)
    return [readArrival(number, schema, content)]
  })
}

const copyAtOnce = 200

// A workspace that joins an ongoing conversation gets what another one already received: the authority does not repeat it.
async function catchUp(ctx: CaptureContext, line: Line): Promise<void> {
  for (let more = true; more; ) {
    more = await inCapture(ctx, async (ctx) => {
      const all = await subscribers(ctx, line)
      const behind = all.find((one) => one.delivered_nsu < line.lastNsu)
      const source = all.find((one) => one.delivered_nsu === line.lastNsu)
      if (!behind || !source) return false
      await enterWorkspace(ctx, source.workspace_id)
      const copies = await listReceipts(
        ctx,
        { workspaceId: source.workspace_id, companyId: source.company_id },
        serviceOf(line),
        behind.delivered_nsu,
        copyAtOnce,
      )
      await enterWorkspace(ctx, behind.workspace_id)
      const arrivals = copies.map((copy) => readArrival(copy.nsu, copy.schema, copy.content))
      if (arrivals.length > 0)
        await receive(
          ctx,
          { workspaceId: behind.workspace_id, companyId: behind.company_id, cnpj: line.cnpj },
          serviceOf(line),
          arrivals,
        )
      await ctx.db
        .updateTable('capture_subscription')
        .set({ delivered_nsu: copies.length < copyAtOnce ? line.lastNsu : copies[copies.length - 1]!.nsu })
        .where('line_id', '=', line.id)
        .where('workspace_id', '=', behind.workspace_id)
        .where('company_id', '=', behind.company_id)
        .execute()
      await holdLine(ctx, line, {})
      return true
    })
  }
}

async function subscribers({ db }: Pick<Context, 'db'>, line: Line) {
  return db
    .selectFrom('capture_subscription')
    .select(['workspace_id', 'company_id', 'delivered_nsu'])
    .where('line_id', '=', line.id)
    .orderBy('workspace_id')
    .orderBy('company_id')
    .execute()
}

// Of all who hold a certificate for this CNPJ, the one that is valid longest speaks.
async function findHolder(ctx: CaptureContext, line: Line) {
  return inCapture(ctx, async (ctx) => {
    const found = []
    for (const { workspace_id, company_id } of await subscribers(ctx, line)) {
      await enterWorkspace(ctx, workspace_id)
      const row = await ctx.db
        .selectFrom('certificate as k')
        .innerJoin('company as c', (join) =>
          join.onRef('c.workspace_id', '=', 'k.workspace_id').onRef('c.id', '=', 'k.company_id'),
        )
        .select(['k.valid_to', 'k.certificate_pem', 'k.chain_pem', 'k.key_encrypted', 'c.uf'])
        .where('k.workspace_id', '=', workspace_id)
        .where('k.company_id', '=', company_id)
        .where('k.replaced_at', 'is', null)
        .where('k.valid_to', '>', sql<Date>`now()`)
        .executeTakeFirst()
      if (row) found.push({ ...row, purpose: keyPurpose(workspace_id, company_id) })
    }
    const best = found.sort((a, b) => b.valid_to.getTime() - a.valid_to.getTime())[0]
    if (!best) return null
    return {
      uf: best.uf,
      certificate: {
        key: ctx.vault.decrypt(best.key_encrypted, best.purpose),
        certificate: best.certificate_pem,
        chain: best.chain_pem,
      },
    }
  })
}

async function note(
  { db }: Pick<Context, 'db'>,
  line: Line,
  call: { before: bigint; after?: bigint; answer?: DistributionAnswer; decision: Decision; error?: string },
): Promise<void> {
  await inCapture({ db }, ({ db }) =>
    db
      .insertInto('capture_call')
      .values({
        line_id: line.id,
        nsu_before: call.before,
        nsu_after: call.after ?? call.before,
        c_stat: call.answer?.cStat ?? null,
        x_motivo: call.answer?.xMotivo.slice(0, 500) ?? null,
        documents: call.answer?.documents.length ?? 0,
        bytes: call.answer?.bytes ?? 0,
        duration_ms: Math.round(call.answer?.durationMs ?? 0),
        error: call.error?.slice(0, 500) ?? null,
        next_at: call.decision.nextInMs === null ? null : after(call.decision.nextInMs),
      })
      .execute(),
  )
}

async function release(ctx: CaptureContext, line: Line, decision: Decision | null): Promise<void> {
  await inCapture(ctx, async (ctx) => {
    await holdLine(ctx, line, {
      lease_by: null,
      lease_until: null,
      // Somebody may have joined while the lease was held.
      catch_up: sql<boolean>`exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.delivered_nsu < capture_line.last_nsu)
                         and exists (select 1 from capture_subscription s where s.line_id = capture_line.id and s.delivered_nsu = capture_line.last_nsu)`,
      ...(decision && {
        state: decision.state,
        message: decision.message,
        failures: decision.failures,
        next_at: decision.nextInMs === null ? null : after(decision.nextInMs),
        allowed_at: after(decision.allowedInMs),
      }),
    })
  })
}

/** Another process took the conversation over, because this one was silent for too long: whatever it still holds must not be written. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

async function holdLine(
  { db }: Pick<Context, 'db'>,
  line: Line,
  change: UpdateObject<Tables, 'capture_line'>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('capture_line')
    .set({ lease_until: after(leaseMs), ...change })
    .where('id', '=', line.id)
    .where('lease_by', '=', line.leaseBy)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new LeaseLost(`the lease of line ${line.id} is gone`)
}

const serviceOf = (line: Line) => (line.service === 0 ? 'nfe' : 'cte')
const nsuText = (nsu: bigint) => String(nsu).padStart(15, '0')
const after = (ms: number): RawBuilder<Date> => sql<Date>`now() + ${Math.round(ms)} * interval '1 ms'`

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
