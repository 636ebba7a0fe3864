import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { noneAccepted } from '../companies/certificates.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { insertAccount } from '../platform/testing.ts'
import { noteFailure } from '../sefaz/circuit.ts'
import { findCertificate } from './certificate.ts'
import { checkCompany } from './check/check.ts'
import { noCertificate } from './decide.ts'
import { claimLine } from './lease.ts'
import { followPlan, grantPlan, withdrawPlan } from './plan.ts'
import { listCapturedCompanies } from './state.ts'
import {
  addCertificate,
  changeLines,
  goOn,
  linesOf,
  newCompany,
  ours,
  pause,
  retireLines,
  send,
  setTrial,
  type TestContext,
  useInstallation,
} from './testing.ts'
import { noteQuestion } from './turn.ts'

// State and message of captures whose plan changes at an awkward moment.
const { ctx } = await useInstallation()
const theirs = '11222333000181'
const corporate = { type: 3, until: null } as const

beforeEach(() => retireLines(ctx))

const pausedLines = async () => (await linesOf(ctx)).map((line) => line.paused)

describe('a review that began a moment before', () => {
  const reviewAfter = (workspaceId: number, action: () => Promise<unknown>) =>
    ctx.db.transaction().execute((db) =>
      inCapture({ db }, async (begun) => {
        await action()
        await followPlan({ ...ctx, ...begun }, workspaceId)
      }),
    )

  test.each([true, false])(
    'the activation of a plan does not pause its workspace (paused before: %s)',
    async (before) => {
      const { workspaceId } = await newCompany(ctx)
      const { email } = await insertAccount(ctx.db, workspaceId)
      await setTrial(ctx, workspaceId, false)
      if (before) await followPlan(ctx, workspaceId)
      await reviewAfter(workspaceId, () => grantPlan(ctx, email, corporate))
      expect(await pausedLines()).toEqual([false, false])
    },
  )

  test('the end of a plan resumes no workspace', async () => {
    const { workspaceId } = await newCompany(ctx)
    const { email } = await insertAccount(ctx.db, workspaceId)
    await setTrial(ctx, workspaceId, false)
    await grantPlan(ctx, email, corporate)
    await reviewAfter(workspaceId, () => withdrawPlan(ctx, email))
    expect(await pausedLines()).toEqual([true, true])
  })
})

test.each([true, false])(
  'a line that differs from the plan of its workspace follows it (paused: %s)',
  async (paused) => {
    const { workspaceId } = await newCompany(ctx)
    if (paused) await pause(ctx, workspaceId)
    await setTrial(ctx, workspaceId, true)
    await newCompany(ctx, { workspaceId, cnpj: theirs })
    const stray = { paused: !paused }
    await inCapture(ctx, ({ db }) =>
      sql`update capture_subscription set ${sql.raw(`paused = ${stray.paused}`)}
         where line_id in (select id from capture_line where cnpj = ${theirs})`.execute(db),
    )
    await changeLines(ctx, `paused = ${stray.paused}`, theirs)
    await setTrial(ctx, workspaceId, !paused)
    await followPlan(ctx, workspaceId)
    const rows = await inCapture(ctx, ({ db }) => db.selectFrom('capture_subscription').select('paused').execute())
    expect([...rows, ...(await linesOf(ctx, theirs))].map((row) => row.paused)).toEqual(Array(6).fill(paused))
  },
)

describe('a workspace that resumes after a long pause', () => {
  const late = async (workspaceId: number) =>
    (await listCapturedCompanies(ctx, workspaceId, undefined)).flatMap(({ lines }) =>
      lines.map((line) => line.late_since),
    )

  test.each([
    ['with a plan', (workspaceId: number) => goOn(ctx, workspaceId)],
    ['because another workspace joins', () => newCompany(ctx)],
  ])('stands behind those who waited, and is not late: %s', async (_, begin) => {
    await newCompany(ctx, { cnpj: theirs })
    const { workspaceId } = await newCompany(ctx)
    await pause(ctx, workspaceId)
    await changeLines(ctx, "next_at = now() - interval '30 days'")
    await changeLines(ctx, "next_at = now() - interval '5 minutes'", theirs)
    await begin(workspaceId)
    expect(await late(workspaceId)).toEqual([null, null])
    const order = await inCapture(ctx, ({ db }) =>
      db.selectFrom('capture_line').select('cnpj').where('next_at', 'is not', null).orderBy('next_at').execute(),
    )
    expect(order.map(({ cnpj }) => cnpj)).toEqual([theirs, theirs, ours, ours])
  })

  test('queries gaps in the same order, and waits as long as the authority wants', async () => {
    const { workspaceId } = await newCompany(ctx)
    await pause(ctx, workspaceId)
    const before = new Date(Date.now() - 60_000)
    await changeLines(ctx, "next_at = now() - interval '30 days', gap_at = now() - interval '30 days'")
    await changeLines(ctx, "allowed_at = now() + interval '40 minutes'")
    await newCompany(ctx)
    for (const line of await linesOf(ctx)) {
      expect(line.next_at).toEqual(line.allowed_at)
      expect(line.gap_at!.getTime()).toBeGreaterThan(before.getTime())
    }
  })

  test('reads what happens next according to the receiving workspaces', async () => {
    const [byHand, hourly] = [await newCompany(ctx), await newCompany(ctx)]
    await inWorkspace(ctx, byHand.workspaceId, ({ db }) =>
      db.updateTable('company').set({ automatic: false }).where('id', '=', byHand.companyId).execute(),
    )
    for (const { workspaceId } of [byHand, hourly]) await pause(ctx, workspaceId)
    await goOn(ctx, byHand.workspaceId)
    const message = 'A captura foi retomada e continua quando a sincronização for pedida ou ligada.'
    for (const line of await linesOf(ctx)) expect(line).toMatchObject({ automatic: false, message })
  })
})

describe('a CNPJ that stopped while another workspace receives', () => {
  const stopped = async (message: string) => {
    const [, ended] = [await newCompany(ctx), await newCompany(ctx)]
    await pause(ctx, ended.workspaceId)
    await changeLines(ctx, "state = 'stopped', next_at = null, allowed_at = now() + interval '1 hour'")
    await inCapture(ctx, ({ db }) => db.updateTable('capture_line').set({ message }).where('cnpj', '=', ours).execute())
    await goOn(ctx, ended.workspaceId)
    return linesOf(ctx)
  }

  test('for a reason that no certificate mends stays so when a workspace resumes', async () => {
    const message = 'A posição da nossa consulta está à frente da que a SEFAZ conhece. (589: x)'
    for (const line of await stopped(message)) expect(line).toMatchObject({ state: 'stopped', next_at: null, message })
  })

  test.each([noCertificate, noneAccepted])('for want of a certificate goes on: %s', async (message) => {
    for (const line of await stopped(message)) {
      expect(line).toMatchObject({ state: 'waiting', next_at: line.allowed_at })
      expect(line.message).toBe('A captura foi retomada e continua assim que a SEFAZ permitir.')
    }
  })
})

describe('the check of the access', () => {
  const check = async () => {
    const { sefaz } = ctx.config
    const checking: TestContext = { ...ctx, config: { ...ctx.config, sefaz: { ...sefaz, caFiles: [] } } }
    const { ok, lines } = await checkCompany(checking, ours)
    expect(ok).toBe(false)
    return lines.join('\n')
  }

  test('settles a query that was left without a response before the pause', async () => {
    const { workspaceId } = await newCompany(ctx)
    const line = (await claimLine(ctx))!
    await send(ctx, line, { after: 0n })
    await pause(ctx, workspaceId)
    await inCapture(ctx, ({ db }) =>
      sql`update capture_line set lease_until = now() - interval '1 day', asked_at = now() - interval '2 days'
           where id = ${line.id}`.execute(db),
    )
    expect(await claimLine(ctx)).toBeNull()
    const text = await check()
    expect(text).not.toMatch(/ficou sem resposta/)
    expect(text.match(/O período de teste ou o plano de quem o cadastrou terminou/g)).toHaveLength(2)
    expect((await linesOf(ctx)).map((row) => row.asked_at)).toEqual([null, null])
  })

  test('blames the plan only when no workspace receives any more', async () => {
    const [paying, ended] = [await newCompany(ctx), await newCompany(ctx)]
    await addCertificate(ctx, paying, { holder: ours, key: 'old', validTo: '2021-01-01' })
    await addCertificate(ctx, ended, { holder: ours, key: 'good', validTo: '2099-01-01' })
    await pause(ctx, ended.workspaceId)
    expect(await check()).toMatch(/Não há certificado digital válido para este CNPJ/)
    await pause(ctx, paying.workspaceId)
    expect(await check()).toMatch(/O período de teste ou o plano de quem o cadastrou terminou/)
  })

  test('queries also during an outage, never with the certificate of a paused workspace', async () => {
    const company = await newCompany(ctx)
    await addCertificate(ctx, company, { holder: ours, key: 'good', validTo: '2099-01-01' })
    const line = (await claimLine(ctx))!
    const holder = (await findCertificate(ctx, line, 'Conferir o acesso'))!
    const { nfe, cte } = ctx.config.sefaz.endpoints.distribution
    for (const url of [nfe, cte]) await noteFailure(ctx, url, 'timeout', 600_000)
    expect(await noteQuestion(ctx, { line, question: { at: 1n } }, holder)).toBe(false)
    expect(await noteQuestion(ctx, { line, question: { at: 1n } }, holder, true)).toBe(true)
    await pause(ctx, company.workspaceId)
    expect(await noteQuestion(ctx, { line, question: { at: 1n } }, holder, true)).toBe(false)
  })
})
