import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { insertAccount } from '../platform/testing.ts'
import { requestSync, resume } from './capture.ts'
import { findCertificate } from './certificate.ts'
import { type CaptureLine, claimLine, releaseLine } from './lease.ts'
import { followPlan, grantPlan, withdrawPlan } from './plan.ts'
import * as testing from './testing.ts'
import { addCertificate, newCompany, ours, retireLines, useInstallation } from './testing.ts'
import { noteQuestion } from './turn.ts'

const { ctx } = await useInstallation()
const asking = 'Consultar documentos'

beforeEach(() => retireLines(ctx))

const pause = (workspaceId: number) => testing.pause(ctx, workspaceId)
const goOn = (workspaceId: number) => testing.goOn(ctx, workspaceId)
const linesOf = () => testing.linesOf(ctx)
const change = (set: string) => testing.changeLines(ctx, set)

const rest = () => testing.changeAfterCode(137)

// The other conversation of the CNPJ is put to rest on the way.
async function claimNfe(): Promise<CaptureLine> {
  for (let line = await claimLine(ctx); line; line = await claimLine(ctx)) {
    if (line.service === 0) return line
    await releaseLine(ctx, line, rest())
  }
  throw new Error('no conversation is due')
}

describe('a CNPJ of one workspace only', () => {
  test('is not queried while the workspace is paused, and nothing else of the line changes', async () => {
    const { workspaceId } = await newCompany(ctx)
    await change("allowed_at = now() + interval '40 minutes', gap_at = now(), state = 'blocked', wanted = true")
    const before = await linesOf()
    await pause(workspaceId)
    expect(await linesOf()).toEqual(
      before.map((line) => ({ ...line, paused: true, nextIn: expect.closeTo(line.nextIn, 0) })),
    )
    await change("allowed_at = '-infinity', next_at = now() - interval '1 day'")
    await inCapture(ctx, ({ db }) =>
      sql`insert into capture_gap (line_id, from_nsu, to_nsu) select id, 1, 2 from capture_line where cnpj = ${ours}`.execute(
        db,
      ),
    )
    expect(await claimLine(ctx)).toBeNull()
  })

  test('is queried whatever the plan was, where the installation has none', async () => {
    const { workspaceId } = await newCompany(ctx)
    await pause(workspaceId)
    expect((await linesOf()).map((line) => line.paused)).toEqual([true, true])
    await followPlan({ ...ctx, config: { ...ctx.config, plans: false } }, workspaceId)
    expect((await linesOf()).map((line) => line.paused)).toEqual([false, false])
  })

  test('is queried again as early as the rules allow, never earlier', async () => {
    const { workspaceId } = await newCompany(ctx)
    await pause(workspaceId)
    await change("allowed_at = now() + interval '40 minutes', next_at = now() + interval '55 minutes'")
    await goOn(workspaceId)
    for (const line of await linesOf()) {
      expect(line).toMatchObject({ paused: false, next_at: line.allowed_at })
      expect(line.message).toBe('A captura foi retomada e continua assim que a SEFAZ permitir.')
    }
    expect(await claimLine(ctx)).toBeNull()
    await pause(workspaceId)
    await change(
      "allowed_at = '-infinity', state = 'blocked', message = 'bloqueada', next_at = now() - interval '9 days'",
    )
    await goOn(workspaceId)
    // A query that fell due during the pause is not overdue.
    for (const line of await linesOf())
      expect(line).toMatchObject({ message: 'bloqueada', nextIn: expect.closeTo(0, 1) })
    expect(await claimLine(ctx)).not.toBeNull()
  })

  test('goes on also where it had stopped, and keeps the request of a person', async () => {
    const { workspaceId, companyId } = await newCompany(ctx)
    await requestSync(ctx, workspaceId, companyId)
    await change("state = 'stopped', next_at = null, message = 'venceu'")
    await pause(workspaceId)
    expect((await linesOf()).map((line) => line.next_at)).toEqual([null, null])
    await goOn(workspaceId)
    for (const line of await linesOf())
      expect(line).toMatchObject({ state: 'waiting', wanted: true, nextIn: expect.closeTo(0, 1) })
  })

  test('refuses requests meanwhile, and says what happened, what is safe and what to do', async () => {
    const { workspaceId, companyId } = await newCompany(ctx)
    await pause(workspaceId)
    const before = await linesOf()
    await expect(requestSync(ctx, workspaceId, companyId)).rejects.toMatchObject({
      code: 'plan-limit',
      message: expect.stringMatching(
        /^O período de teste terminou em .*pausada.*estão seguros.*90 dias.*Para ativar um plano, .+\.$/,
      ),
    })
    expect((await linesOf()).map((line) => line.wanted)).toEqual(before.map((line) => line.wanted))
  })

  test('a new certificate wakes nothing', async () => {
    const { workspaceId } = await newCompany(ctx, { proved: false })
    await change("state = 'stopped', next_at = null, message = 'venceu'")
    await pause(workspaceId)
    await resume(ctx, workspaceId, ours, { proved: true })
    for (const line of await linesOf())
      expect(line).toMatchObject({ state: 'stopped', next_at: null, message: 'venceu' })
    await goOn(workspaceId)
    expect((await claimNfe()).turn).toBe('first')
  })
})

describe('a CNPJ that others capture too', () => {
  const two = async () => ({ paying: await newCompany(ctx), ended: await newCompany(ctx) })

  test('is captured automatically only if a receiving workspace wants it', async () => {
    const { paying, ended } = await two()
    await inWorkspace(ctx, paying.workspaceId, ({ db }) =>
      db.updateTable('company').set({ automatic: false }).execute(),
    )
    await pause(ended.workspaceId)
    expect((await linesOf()).map((line) => line.automatic)).toEqual([false, false])
    await goOn(ended.workspaceId)
    expect((await linesOf()).map((line) => line.automatic)).toEqual([true, true])
  })

  test('is not queried with the certificate of a paused workspace, not even when it was chosen a moment ago', async () => {
    const { paying, ended } = await two()
    const key = (one: typeof paying) => `key ${one.workspaceId}`
    await addCertificate(ctx, paying, { holder: ours, key: key(paying), validTo: '2098-01-01' })
    await addCertificate(ctx, ended, { holder: ours, key: key(ended), validTo: '2099-01-01' })
    await change("next_at = now() - interval '1 second'")
    const line = await claimNfe()
    const chosen = (await findCertificate(ctx, line, asking))!
    expect(chosen.certificate.pem).toBe(`certificate of ${key(ended)}`)
    await pause(ended.workspaceId)
    expect(await noteQuestion(ctx, { line, question: { after: line.lastNsu } }, chosen)).toBe(false)
    const next = (await findCertificate(ctx, line, asking))!
    expect(next.certificate.pem).toBe(`certificate of ${key(paying)}`)
    expect(await noteQuestion(ctx, { line, question: { after: line.lastNsu } }, next)).toBe(true)
  })
})

describe('what the operator does', () => {
  async function newAccount(): Promise<{ workspaceId: number; email: string }> {
    const { workspaceId } = await newCompany(ctx)
    return { workspaceId, ...(await insertAccount(ctx.db, workspaceId)) }
  }
  const corporate = { type: 3, until: null } as const
  const paused = async () => (await linesOf()).map((line) => line.paused)

  test('a plan lets capture go on at once, and its end pauses it at once', async () => {
    const { workspaceId, email } = await newAccount()
    await pause(workspaceId)
    expect(await paused()).toEqual([true, true])
    expect(await grantPlan(ctx, ` ${email.toUpperCase()} `, corporate)).toBe(true)
    expect(await paused()).toEqual([false, false])
    expect(await grantPlan(ctx, email, corporate)).toBe(false)
    expect(await withdrawPlan(ctx, email)).toBe(true)
    expect(await paused()).toEqual([true, true])
    expect(await withdrawPlan(ctx, email)).toBe(false)
    expect(await grantPlan(ctx, 'ninguem@exemplo.com.br', corporate)).toBeNull()
  })

  test('the end of a plan leaves the trial its days', async () => {
    const { email } = await newAccount()
    await grantPlan(ctx, email, corporate)
    await withdrawPlan(ctx, email)
    expect(await paused()).toEqual([false, false])
  })
})
