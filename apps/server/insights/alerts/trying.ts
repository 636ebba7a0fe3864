import type { Verdict } from '@vigia/checks/alerts/judge'
import { rules } from '@vigia/checks/alerts/rules'
import { type AlertTest, alertBands, alertMax } from '@vigia/contract/alerts'
import { sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { batchOrEach, inWorkspace, jsonTime, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'
import { type Again, holdJob, type Job, type JobKind, queueJob } from '../../platform/jobs/jobs.ts'
import { LeaseLost } from '../../platform/jobs/loop.ts'
import { type Tried, tryRule } from './judging.ts'
import { issuedText } from './list.ts'
import { findDocuments, hasNext, judgedTypes, readCompanies, readFacts } from './reading.ts'
import { bands } from './verdicts.ts'

// Documents that a rule would have marked lately. Verdicts of switched-off rules are not stored, so
// documents are judged again, without and with the rule, in bounded parts:
// docs/decisions/0047-trying-rules.md.

const asked: Limit = { name: 'alert-test', times: 40, withinMs: 3_600_000 }
const portionMax = 50
const failuresMax = 3

const since = sql`(now() at time zone 'America/Sao_Paulo' - ${alertMax.testedDays} * interval '1 day')`
const goesOn = sql`(not failed and taken < cardinality(document_ids))`

/** Counters of a test, under the names of its answer. */
type Counts = Pick<
  AlertTest,
  'marcados' | 'emAprendizado' | 'confirmados' | 'conhecidos' | 'alertasNovos' | 'mudamDeFaixa'
>

const nothing: Counts = {
  marcados: 0,
  emAprendizado: 0,
  confirmados: 0,
  conhecidos: 0,
  alertasNovos: 0,
  mudamDeFaixa: 0,
}

interface Marked {
  id: string
  score: number
  before: number | null
  after: number
  sentence: string
}

/** Begins a test of a rule, unless one of it goes on. Refuses unknown rules, and too many tests. `ctx.db` is a transaction inside the workspace. */
export async function askTest({ db }: WithDatabase, workspaceId: number, rule: string): Promise<void> {
  if (!rules.some(({ id }) => id === rule)) throw new AppError('not-found', 'Esta regra não existe. Nada foi testado.')
  const { rows: running } = await sql`
    select from alert_test where workspace_id = ${workspaceId} and rule = ${rule} and ${goesOn}`.execute(db)
  if (running.length > 0) return
  await countTry({ db }, asked, String(workspaceId))
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const found: bigint[][] = []
  for (const type of judgedTypes) {
    const { rows } = await sql<{ id: bigint }>`
      select d.id from document d
       where ${sql.join([sql`d.workspace_id = ${workspaceId}`, sql`d.type = ${type}`, sql`d.issued_at >= ${since}`, ...shown], sql` and `)}
       order by d.issued_at desc, d.id desc limit ${alertMax.testedPerType + 1}`.execute(db)
    found.push(rows.map(({ id }) => id))
  }
  const ids = found.flatMap((some) => some.slice(0, alertMax.testedPerType))
  const isCapped = found.some(({ length }) => length > alertMax.testedPerType)
  await sql`
    insert into alert_test (workspace_id, rule, document_ids, capped, unread, counts, strongest)
    select ${workspaceId}, ${rule}, ${ids}::bigint[], ${isCapped}, ${hasNext(workspaceId)}, ${JSON.stringify(nothing)}, '[]'
    on conflict (workspace_id, rule) do update set
      asked_at = excluded.asked_at, document_ids = excluded.document_ids, taken = 0, capped = excluded.capped, unread = excluded.unread,
      judged = 0, counts = excluded.counts, strongest = '[]', failed = false`.execute(db)
  await queueJob({ db }, { kind: testJob.name, workspaceId, key: rule })
}

/** The last test of a rule; null: there was none. `ctx.db` is inside the workspace. */
export async function readTest(
  { db, ids }: Pick<Context, 'db' | 'ids'>,
  workspaceId: number,
  rule: string,
): Promise<AlertTest | null> {
  const { rows } = await sql<Omit<AlertTest, keyof Counts | 'maisFortes'> & { counts: Counts; strongest: Marked[] }>`
    select ${jsonTime(sql`asked_at`)} as "pedidoEm", case when failed then 'falhou' when ${goesOn} then 'testando' else 'pronto' end as situacao,
           judged as avaliados, cardinality(document_ids) as total, capped as limitado, unread as incompleto, counts, strongest
      from alert_test where workspace_id = ${workspaceId} and rule = ${rule}`.execute(db)
  if (!rows[0]) return null
  const { counts, strongest, ...test } = rows[0]
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const { rows: documents } = await sql<Omit<Strongest, 'idDFe' | 'score' | 'sem' | 'com' | 'frase'> & { id: string }>`
    select d.id::text, d.chave, d.type as "tipoDFe", d.number::float8 as numero, s.name as emitente, c.public_id as "idEmpresa", c.name as empresa,
           d.amount::float8 as valor, ${issuedText} as emissao, a.state as estado
      from document d
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
      left join alert a on a.workspace_id = d.workspace_id and a.document_id = d.id
     where ${sql.join([sql`d.workspace_id = ${workspaceId}`, sql`d.id = any (${strongest.map(({ id }) => id)}::bigint[])`, ...shown], sql` and `)}`.execute(
    db,
  )
  const named = new Map(documents.map(({ id, ...one }) => [id, one]))
  return {
    ...test,
    // The order of the answer, because jsonb keeps its own.
    ...nothing,
    ...counts,
    maisFortes: strongest.flatMap(({ id, score, before, after, sentence }) => {
      const one = named.get(id)
      if (!one) return []
      const { estado, ...document } = one
      return {
        idDFe: ids.encode(workspaceId, BigInt(id)),
        ...document,
        score: score / 100,
        sem: before === null ? null : alertBands[before]!,
        com: alertBands[after]!,
        frase: sentence,
        estado,
      }
    }),
  }
}

type Strongest = AlertTest['maisFortes'][number]

/** Judges the documents of tests, a bounded part of one after the other. A test that fails some times in a row ends. */
export const testJob: JobKind = {
  name: 'alert-test',
  concurrency: 2,
  waits: [60_000],
  run: async (ctx, job, signal) => {
    try {
      return await goOnTesting(ctx, job)
    } catch (err) {
      if (signal.aborted || err instanceof LeaseLost || job.failures + 1 < failuresMax) throw err
      const { workspaceId, key: rule } = job
      ctx.log.error({ err, workspaceId, rule }, 'a test of a rule was given up')
      await inWorkspace(ctx, workspaceId!, async ({ db }) => {
        await sql`
          update alert_test set failed = true where workspace_id = ${workspaceId} and rule = ${rule}`.execute(db)
        await holdJob({ db }, job)
      })
      return null
    }
  },
}

interface Place {
  /** Documents of the next portion. */
  ids: bigint[]
  isLast: boolean
  counts: Counts
  strongest: Marked[]
}

// Judges the next documents of a test.
async function goOnTesting(ctx: Context, job: Job): Promise<Again | null> {
  const { key: rule } = job
  const workspaceId = job.workspaceId!
  const next = await readWorkspace(ctx, workspaceId, async ({ db, config }) => {
    const { rows } = await sql<Place>`
      select document_ids[taken + 1 : taken + ${portionMax}] as ids, taken + ${portionMax} >= cardinality(document_ids) as "isLast", counts, strongest
        from alert_test where workspace_id = ${workspaceId} and rule = ${rule} and ${goesOn}`.execute(db)
    const [place] = rows
    if (!place) return null
    const companies = await readCompanies({ db, config }, workspaceId)
    const found = await findDocuments({ db }, workspaceId, place.ids, companies)
    const { rows: decided } = await sql<{ id: bigint; state: string }>`
      select document_id as id, state from alert
       where workspace_id = ${workspaceId} and document_id = any (${place.ids}::bigint[]) and state in ('conhecida', 'confirmada')`.execute(
      db,
    )
    return { place, found, states: new Map(decided.map(({ id, state }) => [id, state])) }
  })
  if (next === null) return null
  const { place, found, states } = next
  const { read } = await readFacts(found)
  const tried: Tried[] = []
  await readWorkspace(ctx, workspaceId, ({ db, log }) =>
    batchOrEach(
      db,
      read,
      async (some) => void tried.push(...(await tryRule({ db }, workspaceId, Date.now(), rule, some))),
      ({ documentId }, err) =>
        log.error({ err, workspaceId, documentId, rule }, 'a rule cannot be tried on a document'),
    ),
  )
  const counts = { ...place.counts }
  const marked = [...place.strongest]
  for (const { documentId, without, withRule } of tried) {
    const fired = withRule.fired.find(({ id }) => id === rule)
    const state = states.get(documentId)
    if (withRule.allowed.includes(rule) || (fired && state === 'conhecida')) counts.conhecidos++
    if (fired === undefined) continue
    counts.marcados++
    if (state === 'confirmada') counts.confirmados++
    if (fired.learning) counts.emAprendizado++
    const before = bandOf(without)
    if (before === null) counts.alertasNovos++
    else if (without.band !== withRule.band) counts.mudamDeFaixa++
    const score = Math.round(withRule.score * 100)
    marked.push({ id: String(documentId), score, before, after: bandOf(withRule)!, sentence: fired.sentence })
  }
  const strongest = marked.toSorted((a, b) => b.score - a.score).slice(0, alertMax.strongestShown)
  await inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
    await sql`
      update alert_test
         set taken = taken + ${place.ids.length}, judged = judged + ${tried.length}, counts = ${JSON.stringify(counts)}, strongest = ${JSON.stringify(strongest)}
       where workspace_id = ${workspaceId} and rule = ${rule}`.execute(db)
    await holdJob({ db }, job)
  })
  return place.isLast ? null : { waitMs: 0 }
}

function bandOf({ fired, band }: Verdict): number | null {
  return fired.length === 0 ? null : bands.indexOf(band)
}
