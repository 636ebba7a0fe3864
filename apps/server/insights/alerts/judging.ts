import { type AlertFacts, baseOf } from '@vigia/checks/alerts/facts'
import { judge, type Verdict } from '@vigia/checks/alerts/judge'
import { type AllowEntry, defaultSettings, type Settings } from '@vigia/checks/alerts/settings'
import { sql } from 'kysely'
import type { Database, WithDatabase } from '../../platform/context.ts'
import { holdLock } from '../../platform/locks.ts'
import { readHistories } from './history.ts'
import type { ReadDocument } from './reading.ts'

// Looks up what is known around documents, and judges them.

/** Keeps others from judging documents of the workspace, and from changing what they are judged by, until the transaction ends. */
export const holdAlerts = (ctx: WithDatabase, workspaceId: number): Promise<void> =>
  holdLock(ctx, 'alerts', workspaceId)

/** Documents with their verdicts by the settings of the workspace at this time, in milliseconds. */
export async function judgeAll(
  { db }: WithDatabase,
  workspaceId: number,
  asOf: number,
  read: readonly ReadDocument[],
): Promise<(ReadDocument & { verdict: Verdict })[]> {
  const { settings, histories } = await lookUp(db, workspaceId, asOf, read)
  return read.map((one, index) => ({ ...one, verdict: judge(one.facts, histories[index]!, settings) }))
}

// All that verdicts on these documents ask for besides them.
async function lookUp(db: Database, workspaceId: number, asOf: number, read: readonly ReadDocument[]) {
  const all = read.map(({ facts }) => facts)
  return {
    settings: await readSettings(db, workspaceId, asOf, all),
    histories: await readHistories(db, workspaceId, all),
  }
}

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
  const { settings, histories } = await lookUp(db, workspaceId, asOf, read)
  const others = settings.off.filter((id) => id !== rule)
  return read.map(({ documentId, facts }, index) => ({
    documentId,
    without: judge(facts, histories[index]!, { ...settings, off: [...others, rule] }),
    withRule: judge(facts, histories[index]!, { ...settings, off: others }),
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
