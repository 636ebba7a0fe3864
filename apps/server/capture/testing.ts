import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll } from 'vitest'
import { createDatabase } from '../../../tests/support/database.ts'
import { readConfig } from '../config.ts'
import { createPrinter } from '../documents/print/printer.ts'
import type { Context } from '../platform/context.ts'
import { inCapture, inWorkspace, openDatabase } from '../platform/database.ts'
import type { Session } from '../platform/http/session.ts'
import { createPublicIds } from '../platform/ids.ts'
import { createLogger } from '../platform/log.ts'
import { nsuText } from '../platform/service.ts'
import { testSigner } from '../platform/signer/testing.ts'
import { createStorage } from '../platform/storage.ts'
import { insertAccount, insertCompany, newWorkspace, testCaller, testSession } from '../platform/testing.ts'
import { createVault } from '../platform/vault.ts'
import * as captures from './capture.ts'
import { companyChangeRoutes } from './company-change-routes.ts'
import { companyRoutes } from './company-routes.ts'
import { completenessRoutes } from './completeness.ts'
import { decide } from './decide.ts'
import { type CaptureLine, columnsOf } from './lease.ts'
import { followPlan } from './plan.ts'
import type { LineState } from './situation.ts'
import type { Answer, Question, Told } from './source.ts'
import { readResponse } from './sources/soap.ts'
import { noteQuestion } from './turn.ts'

export const ours = '44555666000181'
/** Pauses of a real hour: nothing becomes due by waiting. */
export const rhythm = { hourMs: 3_600_000, pagePauseMs: 2_000, marginMs: 300_000 }

export type TestContext = Pick<Context, 'db' | 'config' | 'log' | 'vault' | 'signer' | 'storage'>

/** A database of its own, with a context as every process of an installation has one. */
export async function openInstallation() {
  const database = await createDatabase()
  const { sefaz, ...rest } = readConfig({}, process.cwd())
  const dataDir = join(tmpdir(), `vigia-capture-${crypto.randomUUID()}`)
  const config = { ...rest, dataDir, sefaz: { ...sefaz, ...rhythm, conversations: 8 } }
  const process_ = (): TestContext => {
    const [db, log] = [openDatabase(database.url), createLogger('silent')]
    const storage = createStorage({ db, config, log }, async () => Number.POSITIVE_INFINITY)
    const vault = createVault(Buffer.alloc(32, 7))
    // No authority is there to be trusted.
    const signer = testSigner(database.url, { config: { sefaz: { ...config.sefaz, caFiles: [] } } })
    return { db, config, log, vault, signer, storage }
  }
  const contexts: TestContext[] = []
  return {
    /** Address with the login of the database owner. */
    url: database.url,
    openProcess() {
      const ctx = process_()
      contexts.push(ctx)
      return ctx
    },
    async [Symbol.asyncDispose]() {
      for (const { db } of contexts) await db.destroy()
      await rm(dataDir, { recursive: true, force: true })
      await database[Symbol.asyncDispose]()
    },
  }
}

/** A process on an installation of its own, with what routes ask for, until the last test has ended; others beside it on request. */
export async function useInstallation() {
  const { url, openProcess, ...installation } = await openInstallation()
  afterAll(() => installation[Symbol.asyncDispose]())
  const ctx: Context = { ...openProcess(), ids: createPublicIds(Buffer.alloc(16, 1)), printer: createPrinter() }
  return { url, ctx, openProcess }
}

interface Response {
  ult?: bigint | number | null
  max?: bigint | number | null
  documents?: { nsu: string | null; schema: string; content: Buffer }[]
  dhResp?: string
}

/** An answer of the authority to a question, as the SOAP source reads it. */
export function told(
  question: Question,
  cStat: number,
  { ult = null, max = ult, documents = [], dhResp }: Response = {},
): Told {
  const text = (nsu: bigint | number | null) => (nsu === null ? null : nsuText(BigInt(nsu)))
  const said = { cStat, xMotivo: `motivo ${cStat}`, ...(dhResp && { dhResp }), documents, bytes: 10, durationMs: 5 }
  return readResponse({ ...said, ultNSU: text(ult), maxNSU: text(max) }, question)
}

/** A line that stands at 0, and was answered before. */
export const plainLine: LineState = {
  ...{ lastNsu: 0n, maxNsu: 0n, failures: 0, state: 'waiting', first: false, recent: false },
  ...{ nextInMs: 0, allowedInMs: 0 },
}

/** What is written of such a line after an answer to the question for its next page, besides the cursor. */
export function changeAfter(answer: Answer) {
  const situation = {
    ...{ line: plainLine, rhythm, lossBefore: false, mayBeCopy: false, certificate: null, others: [], isEnding: false },
    ...{ mayTryOther: false, mayAskMore: true, arrived: [], damaged: [], fetchedBefore: null },
  }
  const { lastNsu: _, maxNsu: __, succeeded: ___, ...line } = decide(situation, { after: 0n }, answer, Math.random).line
  return columnsOf(line)
}

/** The same after an answer with this code. */
export const changeAfterCode = (cStat: number, response?: Response) => changeAfter(told({ after: 0n }, cStat, response))

/** Commits that a question leaves now, whoever asks. */
export const send = (ctx: TestContext, line: CaptureLine, question: Question) =>
  noteQuestion(ctx, { line, question }, { workspaceId: 0, companyId: 0 }, true)

/** Takes the lines of earlier tests out of the way; the ledger cannot be emptied. */
export async function retireLines({ db }: Pick<Context, 'db'>): Promise<void> {
  await inCapture({ db }, async ({ db }) => {
    await db.deleteFrom('capture_subscription').execute()
    await db.deleteFrom('capture_gap').execute()
    await db.deleteFrom('capture_refusal').execute()
    await db.deleteFrom('circuit').execute()
    await sql`update capture_line set lease_until = null, next_at = null, gap_at = null, catch_up = false, cnpj = id::text`.execute(
      db,
    )
  })
}

/** How many transactions of the application wait for a lock. */
export async function countWaiting({ db }: Pick<Context, 'db'>): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    db,
  )
  return rows[0]!.n
}

/** A company in a workspace of its own, or in a given one, with its capture lines. */
export async function newCompany(
  { db }: Pick<Context, 'db'>,
  { proved = true, cnpj = ours, workspaceId = 0 } = {},
): Promise<{ workspaceId: number; companyId: number }> {
  const id = workspaceId || (await newWorkspace(db))
  const company = await insertCompany(db, id, { cnpj })
  await captures.subscribe({ db }, id, company, { proved })
  return { workspaceId: id, companyId: company.id }
}

/** Ends or renews the trial of a workspace, by the clock alone. */
export async function setTrial(ctx: TestContext, workspaceId: number, lasts: boolean): Promise<void> {
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`update workspace set trial_until = now() + ${lasts ? '1 day' : '-1 second'}::interval where id = ${workspaceId}`.execute(
      db,
    ),
  )
}

/** Ends the trial of a workspace, and with it its capture. */
export async function pause(ctx: TestContext, workspaceId: number): Promise<void> {
  await setTrial(ctx, workspaceId, false)
  await followPlan(ctx, workspaceId)
}

/** Renews the trial of a workspace, and with it its capture. */
export async function goOn(ctx: TestContext, workspaceId: number): Promise<void> {
  await setTrial(ctx, workspaceId, true)
  await followPlan(ctx, workspaceId)
}

/** The capture lines of a CNPJ; `nextIn`: minutes to the next query. */
export function linesOf(ctx: TestContext, cnpj = ours) {
  return inCapture(ctx, ({ db }) =>
    db
      .selectFrom('capture_line')
      .selectAll()
      .select(sql<number>`(extract(epoch from next_at - now()) / 60)::float8`.as('nextIn'))
      .where('cnpj', '=', cnpj)
      .orderBy('service')
      .execute(),
  )
}

/** A capture line, and in how many minutes it may be asked for again. */
export function rowOf(ctx: TestContext, line: Pick<CaptureLine, 'id'>) {
  return inCapture(ctx, ({ db }) =>
    db
      .selectFrom('capture_line')
      .selectAll()
      .select([
        sql<number>`(extract(epoch from next_at - now()) / 60)::float8`.as('nextIn'),
        sql<number>`(extract(epoch from allowed_at - now()) / 60)::float8`.as('allowedIn'),
        sql<number>`(extract(epoch from gap_at - now()) / 60)::float8`.as('gapIn'),
      ])
      .where('id', '=', line.id)
      .executeTakeFirstOrThrow(),
  )
}

/** Holds a line anew that the end of a turn released. */
export async function holdAgain(ctx: TestContext, { id, leaseBy }: CaptureLine): Promise<void> {
  await inCapture(ctx, ({ db }) =>
    sql`update capture_line set lease_by = ${leaseBy}, lease_until = now() + interval '1 hour' where id = ${id}`.execute(
      db,
    ),
  )
}

/** The positions of a line that are missing or lost. */
export async function gapsOf(ctx: TestContext, { id }: CaptureLine): Promise<string[]> {
  const rows = await inCapture(ctx, ({ db }) =>
    db.selectFrom('capture_gap').selectAll().where('line_id', '=', id).orderBy('from_nsu').execute(),
  )
  return rows.map((row) => `${row.passed ? 'passed ' : ''}${row.lost ? 'lost ' : ''}${row.from_nsu}-${row.to_nsu}`)
}

/** Changes the capture lines of a CNPJ. */
export async function changeLines(ctx: TestContext, set: string, cnpj = ours): Promise<void> {
  await inCapture(ctx, ({ db }) => sql`update capture_line set ${sql.raw(set)} where cnpj = ${cnpj}`.execute(db))
}

/** Keeps a certificate for a company, and answers its number; its key is the text `key`. */
export async function addCertificate(
  ctx: TestContext,
  { workspaceId, companyId }: { workspaceId: number; companyId: number },
  {
    holder,
    key,
    validTo,
    pem = `certificate of ${key}`,
  }: { holder: string; key: string; validTo: string; pem?: string },
): Promise<number> {
  const account = await insertAccount(ctx.db, workspaceId)
  const { sealed, keyId } = await ctx.signer.seal(workspaceId, companyId, key)
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { id } = await db
      .insertInto('certificate')
      .values({
        workspace_id: workspaceId,
        company_id: companyId,
        holder_cnpj: holder,
        holder_name: 'EMPRESA',
        issuer: 'AC',
        serial_number: '1',
        valid_from: '2020-01-01',
        valid_to: validTo,
        certificate_pem: pem,
        chain_pem: [],
        key_encrypted: sealed,
        key_id: keyId,
        uploaded_by: account.id,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  })
}

// The calls about companies and their captures, without the events above them.
const captureRoutes = [...companyRoutes(async () => new Map()), ...companyChangeRoutes(captures), ...completenessRoutes]

/** Makes one of these calls about a company, as a member of its workspace. */
export async function call<T>(
  ctx: Context,
  path: string,
  { workspaceId, companyId }: { workspaceId: number; companyId: number },
  { query = {}, session = {} }: { query?: object; session?: Partial<Session> } = {},
): Promise<T> {
  const { public_id: id } = await inWorkspace(ctx, workspaceId, ({ db }) =>
    db.selectFrom('company').select('public_id').where('id', '=', companyId).executeTakeFirstOrThrow(),
  )
  const { run } = captureRoutes.find(({ route }) => route.path.endsWith(path))!
  const input = { params: undefined, query: { id, idEmpresa: id, ...query }, body: undefined, form: undefined }
  return (await run(ctx, input, { ...testSession(workspaceId), ...session }, testCaller)) as T
}
