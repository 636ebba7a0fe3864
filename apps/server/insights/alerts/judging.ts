import { type AlertFacts, baseOf, isPurchase } from '@vigia/checks/alerts/facts'
import { askOf, type History } from '@vigia/checks/alerts/history'
import { judge, type Verdict } from '@vigia/checks/alerts/judge'
import { type AllowEntry, defaultSettings, type Settings } from '@vigia/checks/alerts/settings'
import { cte } from '@vigia/dfe/families/cte'
import { nfe } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'
import type { Context, Database, WithDatabase } from '../../platform/context.ts'
import { guarded, isDataError } from '../../platform/database.ts'
import { holdLock } from '../../platform/locks.ts'
import { readHistories } from './history.ts'
import { type ReadDocument, readCaptured } from './reading.ts'

// Looks up what is known around documents, and judges them.

/** Keeps others from judging documents of the workspace, and from changing what they are judged by, until the transaction ends. */
export const holdAlerts = (ctx: WithDatabase, workspaceId: number): Promise<void> =>
  holdLock(ctx, 'alerts', workspaceId)

export type Within = Pick<Context, 'db' | 'log'>

/** Does `work` with all of these, or, when that fails, with each by itself; `refused` is called with each that fails alone. */
export async function together<T>(
  { db, log }: Within,
  all: readonly T[],
  work: (some: readonly T[]) => Promise<void>,
  refused: (one: T, error: unknown) => void,
): Promise<void> {
  if (all.length === 0) return
  try {
    return await guarded(db, () => work(all))
  } catch (error) {
    if (!isOfDocument(error)) throw error
    log.error({ err: error, documents: all.length }, 'alerts: some documents are done one by one')
  }
  for (const one of all)
    try {
      await guarded(db, () => work([one]))
    } catch (error) {
      if (!isOfDocument(error)) throw error
      refused(one, error)
    }
}

const isOfDocument = (error: unknown) => isDataError(error) || error instanceof TypeError || error instanceof RangeError

/** Documents with their verdicts by the settings of the workspace at this time, in milliseconds. `captures`: until when all was captured. */
export async function judgeAll(
  { db }: WithDatabase,
  workspaceId: number,
  asOf: number,
  read: readonly ReadDocument[],
  captures = readCaptured,
): Promise<(ReadDocument & { verdict: Verdict })[]> {
  const { settings, documents } = await lookUp(db, workspaceId, asOf, read, captures)
  return documents.map(({ history, ...one }) => ({ ...one, verdict: judge(one.facts, history, settings) }))
}

// Documents with all that a verdict on them asks for.
async function lookUp(
  db: Database,
  workspaceId: number,
  asOf: number,
  read: readonly ReadDocument[],
  captures = readCaptured,
) {
  const all = read.map(({ facts }) => facts)
  const settings = await readSettings(db, workspaceId, asOf, all)
  const histories = await readHistories(db, workspaceId, all)
  const documents = read.map((one, index) => ({ ...one, history: histories[index]! }))
  // Only where it matters: all captures are asked for it.
  if (!documents.some(misses)) return { settings, documents }
  const captured = await captures({ db }, workspaceId)
  const withCaptured = (facts: AlertFacts) => ({ ...facts, company: captured(facts.company) })
  return {
    settings,
    documents: documents.map((one) => (misses(one) ? { ...one, facts: withCaptured(one.facts) } : one)),
  }
}

// Whether something is not here that should have come with a document.
const misses = ({ facts, history }: { facts: AlertFacts; history: History }) =>
  (facts.type === nfe.id && askOf(facts).carried && !history.carried) ||
  (facts.type === cte.id && isPurchase(facts) && facts.references.length > 0 && history.cited.length === 0)

export interface Tried {
  documentId: bigint
  without: Verdict
  withRule: Verdict
}

/** Tests a rule, on or off, on these documents; stores nothing. `ctx.db` is inside the workspace. */
export async function tryRule(
  { db }: WithDatabase,
  workspaceId: number,
  asOf: number,
  rule: string,
  read: readonly ReadDocument[],
): Promise<Tried[]> {
  const { settings, documents } = await lookUp(db, workspaceId, asOf, read)
  const others = settings.off.filter((id) => id !== rule)
  return documents.map(({ documentId, facts, history }) => ({
    documentId,
    without: judge(facts, history, { ...settings, off: [...others, rule] }),
    withRule: judge(facts, history, { ...settings, off: others }),
  }))
}

export async function readStoredSettings(
  { db }: WithDatabase,
  workspaceId: number,
): Promise<Pick<Settings, 'off' | 'approvalLimit' | 'groups'>> {
  const { rows } = await sql<{ off: string[]; limit: number | null; groups: string[][] | null }>`
    select off, approval_limit::float8 as limit, groups from alert_setting
     where workspace_id = ${workspaceId}`.execute(db)
  const { off = [], limit, groups } = rows[0] ?? {}
  return { ...defaultSettings, off, approvalLimit: limit ?? defaultSettings.approvalLimit, groups: groups ?? [] }
}

async function readSettings(
  db: Database,
  workspaceId: number,
  asOf: number,
  documents: readonly AlertFacts[],
): Promise<Settings> {
  const stored = await readStoredSettings({ db }, workspaceId)
  const { rows: known } = await sql<Omit<AllowEntry, 'until' | 'ceiling'> & { until: Date; ceiling: number | null }>`
    select issuer_base as "issuerBase", company_base as "companyBase", rule, ceiling::float8 as ceiling, until from alert_known
     where workspace_id = ${workspaceId} and company_base = any (${[...new Set(documents.map(({ company }) => company.base))]}::text[])
       and issuer_base = any (${[...new Set(documents.map(({ issuer }) => baseOf(issuer.taxId)))]}::text[])`.execute(db)
  return {
    ...stored,
    asOf,
    known: known.map(({ until, ceiling, ...entry }) => ({
      ...entry,
      until: until.getTime(),
      ceiling: ceiling ?? undefined,
    })),
  }
}
