import { trialDays } from '@vigia/contract/codes'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { listContactMessages } from '../../accounts/contact/contact.ts'
import { hashPassword } from '../../accounts/passwords.ts'
import { activatePlan, endPlan, readPlan, requireCapture } from '../../accounts/plans.ts'
import { logIn } from '../../accounts/sessions.ts'
import { requireRoomForCompany } from '../../companies/companies.ts'
import { receive } from '../../documents/receive.ts'
import { arrive, nfeProc } from '../../documents/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { insertAccount, newWorkspace, testCaller, testSession } from '../../platform/testing.ts'
import { planMails } from './mails.ts'
import { sendRequest } from './routes.ts'
import { countArrivals, describePlan, findPlan, listPlans, thisMonth } from './usage.ts'
import { warnOfPlan } from './warnings.ts'

const { ctx } = await useContext({ CONTACT_EMAIL: 'gente@exemplo.com.br' })
let workspaceId: number

beforeEach(async () => {
  workspaceId = await newWorkspace(ctx.db, { plan: 1 })
})

const set = (change: string) =>
  inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`update workspace set ${sql.raw(change)} where id = ${workspaceId}`.execute(db),
  )
const read = () => inWorkspace(ctx, workspaceId, (ctx) => readPlan(ctx, workspaceId))
const auditEntries = () =>
  inWorkspace(
    ctx,
    workspaceId,
    async ({ db }) =>
      await db.selectFrom('audit').select(['actor', 'action', 'description', 'account_id']).orderBy('id').execute(),
  )
const addCompany = () =>
  inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { id } = await db
      .insertInto('company')
      .values({ workspace_id: workspaceId, cnpj: '44555666000181', name: 'EMPRESA', search: 'empresa', uf: 35 })
      .returning('id')
      .executeTakeFirstOrThrow()
    return id
  })
const trialEnded = "trial_until = '2026-11-12 17:30:00Z'"

test('an installation without plans has no end and no limit, and warns of none', async () => {
  await set(`${trialEnded}, paid_from = now() - interval '2 days', paid_until = now() - interval '1 day'`)
  await addCompany()
  const without = { ...ctx, config: { ...ctx.config, plans: false } }
  await inWorkspace(without, workspaceId, async (ctx) => {
    expect(await readPlan(ctx, workspaceId)).toMatchObject({ situation: 'active', endsAt: null, companiesMax: null })
    await requireRoomForCompany(ctx, workspaceId)
    await requireCapture(ctx, workspaceId)
  })
  await warnOfPlan(without, workspaceId)
  const mails = await inWorkspace(ctx, workspaceId, ({ db }) =>
    db.selectFrom('mail').select('kind').where('workspace_id', '=', workspaceId).execute(),
  )
  expect(mails).toEqual([])
})

describe('how a workspace stands', () => {
  test('begins with a trial of as many days as are promised', async () => {
    const plan = await read()
    expect(plan).toMatchObject({
      type: 1,
      name: 'Básico',
      situation: 'trial',
      paidUntil: null,
      pausedAt: null,
      endsWith: 'trial',
    })
    expect(plan.endsAt).toEqual(plan.trialUntil)
    expect(plan.leftMs! / 86_400_000).toBeCloseTo(trialDays, 2)
  })

  test.each([
    ["trial_until = now() - interval '1 ms'", 'ended', 'trial'],
    [`${trialEnded}, paid_from = now() - interval '1 day'`, 'active', 'plan'],
    [`${trialEnded}, paid_from = now() - interval '1 day', paid_until = now() + interval '1 day'`, 'active', 'plan'],
    [`${trialEnded}, paid_from = now() - interval '2 days', paid_until = now() - interval '1 day'`, 'ended', 'plan'],
    ["paid_from = now() - interval '2 days', paid_until = now() - interval '1 day'", 'trial', 'trial'],
    ["paid_from = now() - interval '2 days', paid_until = now() + interval '1 day'", 'active', 'trial'],
  ])('%s: %s', async (change, situation, endsWith) => {
    await set(change)
    expect(await read()).toMatchObject({ situation, endsWith })
  })
})

describe('what the operator does', () => {
  test('a plan is active to the end of its last day in São Paulo, and is written down', async () => {
    await set(trialEnded)
    expect(await activatePlan(ctx, workspaceId, { type: 2, until: '2099-12-31' })).toBe(true)
    const plan = await read()
    expect(plan).toMatchObject({ type: 2, situation: 'active', companiesMax: 10 })
    expect(plan.paidUntil?.toISOString()).toBe('2100-01-01T02:59:59.999Z')
    expect(await activatePlan(ctx, workspaceId, { type: 2, until: '2099-12-31' })).toBe(false)
    expect(await activatePlan(ctx, workspaceId, { type: 3, until: null })).toBe(true)
    expect(await endPlan(ctx, workspaceId)).toBe(true)
    expect(await endPlan(ctx, workspaceId)).toBe(false)
    expect(await read()).toMatchObject({ situation: 'ended', endsWith: 'plan' })
    const rows = await auditEntries()
    expect(rows.map((row) => row.description)).toEqual([
      'Ativou o plano Profissional até 31/12/2099. Antes: o período de teste terminou em 12/11/2026.',
      'Ativou o plano Corporativo, sem data de término. Antes: plano Profissional ativo até 31/12/2099.',
      'Encerrou o plano Corporativo. Antes: plano Corporativo ativo, sem data de término.',
    ])
    for (const row of rows)
      expect(row).toMatchObject({ actor: 'Quem administra o sistema', action: 'plano', account_id: null })
  })

  test('counts also for a transaction that began before it', async () => {
    await set(trialEnded)
    await inWorkspace(ctx, workspaceId, async (begun) => {
      await activatePlan(ctx, workspaceId, { type: 2, until: null })
      await requireRoomForCompany(begun, workspaceId)
    })
    await inWorkspace(ctx, workspaceId, async (begun) => {
      await endPlan(ctx, workspaceId)
      await expect(requireRoomForCompany(begun, workspaceId)).rejects.toMatchObject({ code: 'plan-limit' })
    })
  })

  test('a plan that ends leaves the trial its days', async () => {
    await activatePlan(ctx, workspaceId, { type: 2, until: null })
    await endPlan(ctx, workspaceId)
    expect(await read()).toMatchObject({ situation: 'trial' })
    expect((await auditEntries()).at(-1)?.description).toMatch(
      /^Encerrou o plano Profissional: o período de teste continua até /,
    )
  })

  test('all are listed, with their e-mails', async () => {
    const email = `${crypto.randomUUID()}@exemplo.com.br`
    await insertAccount(ctx.db, workspaceId, { email, enteredAt: null })
    const listed = await listPlans(ctx)
    expect(listed.length).toBeGreaterThan(1)
    expect(listed.filter((one) => one.emails.includes(email))).toMatchObject([
      { name: 'Teste', companies: 0, plan: { type: 1, situation: 'trial' } },
    ])
    const found = await findPlan(ctx, ` ${email.toUpperCase()} `)
    expect(found).toMatchObject({ name: 'Teste', emails: [email], companies: 0, plan: { situation: 'trial' } })
    expect(await findPlan(ctx, 'ninguem@exemplo.com.br')).toBeNull()
  })
})

describe('what people are told', () => {
  const message = async () => (await describePlan(ctx, workspaceId)).mensagem

  test('while the trial lasts', async () => {
    await set("trial_until = '2999-11-12 17:30:00Z'")
    expect(await message()).toBe(
      'Teste grátis do plano Básico até 12/11/2999 às 14:30. Depois, sem um plano ativo, a captura pausa e o que já foi guardado continua disponível. Para ativar um plano, peça-o em "Minha conta" ou escreva para gente@exemplo.com.br.',
    )
  })

  test('while a plan lasts', async () => {
    await activatePlan(ctx, workspaceId, { type: 3, until: null })
    expect(await message()).toBe('O plano Corporativo está ativo.')
    await activatePlan(ctx, workspaceId, { type: 2, until: '2099-12-31' })
    expect(await message()).toBe('O plano Profissional está ativo até 31/12/2099 às 23:59.')
  })

  test('when it has ended: what happened, what is safe, what to do, and how long the authority waits', async () => {
    await set(trialEnded)
    const soon =
      /^O período de teste terminou em 12\/11\/2026, e a captura será pausada em até uma hora\. Até lá .* não a pedido\. .*estão seguros.*90 dias/
    expect(await message()).toMatch(soon)
    await expect(inWorkspace(ctx, workspaceId, (ctx) => requireCapture(ctx, workspaceId))).rejects.toMatchObject({
      code: 'plan-limit',
      message: expect.stringMatching(soon),
    })
    await set('paused_at = now()')
    expect(await message()).toBe(
      'O período de teste terminou em 12/11/2026, e por isso a captura está pausada: nada é consultado na SEFAZ. Os documentos já guardados estão seguros e continuam disponíveis para consulta, impressão e exportação. A SEFAZ guarda cada documento por cerca de 90 dias e, depois de 60 dias sem nenhuma consulta, deixa de numerar os novos: com um plano ativado antes disso, a captura continua de onde parou. Para ativar um plano, peça-o em "Minha conta" ou escreva para gente@exemplo.com.br.',
    )
  })
})

test('the documents of a month are those that arrived in it, whenever they were issued', async () => {
  const companyId = await addCompany()
  const arrivals = [1, 2, 3, 4].map((number) =>
    arrive(number, nfeProc({ number, issuedAt: '2020-01-01T10:00:00-03:00' })),
  )
  await inWorkspace(ctx, workspaceId, (ctx) =>
    receive(ctx, { workspaceId, companyId, cnpj: '44555666000181' }, 'nfe', arrivals),
  )
  const count = () => inWorkspace(ctx, workspaceId, (ctx) => countArrivals(ctx, workspaceId))
  expect(await count()).toBe(4)
  await inWorkspace(ctx, workspaceId, ({ db }) =>
    sql`update document set created_at = now() - interval '32 days' where workspace_id = ${workspaceId} and number = 1`.execute(
      db,
    ),
  )
  expect(await count()).toBe(3)
  expect((await describePlan(ctx, workspaceId)).documentosNoMes.usadas).toBe(3)
})

test('an account has entered from its first login on, and keeps the moment', async () => {
  const email = `${crypto.randomUUID()}@exemplo.com.br`
  const passwordHash = await hashPassword(ctx, 'segredo1')
  await insertAccount(ctx.db, workspaceId, { email, passwordHash, enteredAt: null })
  const enter = (password: string) => logIn(ctx, { email, password }, testCaller)
  const enteredAt = () =>
    inWorkspace(ctx, workspaceId, async ({ db }) => {
      const row = await db
        .selectFrom('account')
        .select('entered_at')
        .where('email', '=', email)
        .executeTakeFirstOrThrow()
      return row.entered_at
    })
  expect(await enter('outra-senha')).toBeNull()
  expect(await enteredAt()).toBeNull()
  await Promise.all([enter('segredo1'), enter('segredo1')])
  const first = await enteredAt()
  expect(first).toEqual(expect.any(Date))
  await enter('segredo1')
  expect(await enteredAt()).toEqual(first)
})

describe('letters', () => {
  const write = async (kind: string, payload: object) =>
    planMails[kind]!(ctx, { id: 1n, workspaceId, recipient: 'ana@exemplo.com.br', payload })
  const endsAt = async () => (await read()).endsAt!.toISOString()

  test('of an end that is near, while it is', async () => {
    await set("trial_until = now() + interval '70 hours'")
    const payload = { endsAt: await endsAt() }
    const letter = await write('plano-termina', payload)
    expect(letter).toMatchObject({
      subject: `O período de teste do ${ctx.config.productName} termina em 3 dias`,
      button: { label: 'Fale com a Gente', url: `${ctx.config.publicUrl}/#contato` },
      replyTo: { address: 'gente@exemplo.com.br' },
    })
    expect(letter?.paragraphs.join(' ')).toMatch(
      /Até lá nada muda.*continuam disponíveis.*90 dias.*escreva para gente@/,
    )
    await activatePlan(ctx, workspaceId, { type: 2, until: null })
    expect(await write('plano-termina', payload)).toBeNull()
  })

  test('of an end that has come, unless a plan is active by now', async () => {
    await set(trialEnded)
    await addCompany()
    const payload = { endsAt: await endsAt() }
    const letter = await write('plano-terminou', payload)
    expect(letter).toMatchObject({
      subject: 'A captura foi pausada: o período de teste terminou em 12/11/2026',
      paragraphs: [expect.stringContaining('pausada em todas as empresas'), ...Array(3).fill(expect.any(String))],
    })
    await activatePlan(ctx, workspaceId, { type: 2, until: null })
    expect(await write('plano-terminou', payload)).toBeNull()
  })

  test('of an end that has come where there is nothing to capture', async () => {
    await set(trialEnded)
    const letter = await write('plano-terminou', { endsAt: await endsAt() })
    expect(letter?.subject).toBe('O período de teste do Vigia Fiscal terminou em 12/11/2026')
    const text = letter?.paragraphs.join(' ')
    expect(text).toMatch(/não tem empresas cadastradas.*escreva para gente@/)
    expect(text).not.toMatch(/pausada|ciência/)
  })

  test('say in small print why they come and of which account they speak', async () => {
    await set(trialEnded)
    const month = await inWorkspace(ctx, workspaceId, (ctx) => thisMonth(ctx))
    const ended = await write('plano-terminou', { endsAt: await endsAt() })
    await set("trial_until = now() + interval '70 hours'")
    const soon = await write('plano-termina', { endsAt: await endsAt() })
    for (const letter of [ended, soon, await write('plano-documentos', { month })]) {
      expect(letter?.footnote).toMatch(
        /^Você recebe este e-mail porque tem uma conta no Vigia Fiscal\. A conta é ana@exemplo\.com\.br\. Avisamos /,
      )
      expect(JSON.stringify(letter)).not.toMatch(/workspace|botão/i)
    }
  })

  test('of many documents, in the month that they are of', async () => {
    const month = await inWorkspace(ctx, workspaceId, (ctx) => thisMonth(ctx))
    const letter = await write('plano-documentos', { month })
    expect(letter?.paragraphs.join(' ')).toMatch(
      /o plano Básico prevê até 5\.000.*continuam sendo capturados e guardados/,
    )
    expect(await write('plano-documentos', { month: '2020-01' })).toBeNull()
    await activatePlan(ctx, workspaceId, { type: 3, until: null })
    expect(await write('plano-documentos', { month })).toBeNull()
  })
})

test('in a trial a plan with more room counts at once until it ends, and a smaller one changes nothing', async () => {
  const { id } = await insertAccount(ctx.db, workspaceId)
  const session = testSession(workspaceId, id)
  const { trialUntil } = await read()
  expect(await sendRequest(ctx, session, 3)).toMatchObject({ plan: 'Corporativo', tried: trialUntil })
  expect(await read()).toMatchObject({ type: 3, situation: 'trial', companiesMax: null, trialUntil })
  expect((await auditEntries()).at(-1)?.description).toBe('Pediu o plano Corporativo, que já vale até o fim do teste.')
  expect(await sendRequest(ctx, session, 1)).toMatchObject({ tried: null })
  expect(await read()).toMatchObject({ type: 3 })
  await set(trialEnded)
  expect(await read()).toMatchObject({ type: 3, situation: 'ended' })
  await set('plan = 1')
  expect(await sendRequest(ctx, session, 3)).toMatchObject({ tried: null })
  await activatePlan(ctx, workspaceId, { type: 1, until: null })
  expect(await sendRequest(ctx, session, 3)).toMatchObject({ tried: null })
  expect(await read()).toMatchObject({ type: 1 })
})

test('who asks for a plan is heard with what is needed to grant it, five times a day, and not from the shared account', async () => {
  await activatePlan(ctx, workspaceId, { type: 1, until: null })
  const { id, email } = await insertAccount(ctx.db, workspaceId)
  const session = testSession(workspaceId, id)
  expect(await sendRequest(ctx, session, 2)).toEqual({ plan: 'Profissional', email, tried: null })
  const [message] = await listContactMessages(ctx)
  expect(message).toMatchObject({ email, suspect: false })
  expect(message!.message).toMatch(/^Pedido do plano Profissional, .* Hoje: .*Básico/)
  expect((await auditEntries()).at(-1)).toMatchObject({ action: 'plano', description: 'Pediu o plano Profissional.' })
  for (let n = 1; n < 5; n++) await sendRequest(ctx, session, 1)
  await expect(sendRequest(ctx, session, 1)).rejects.toMatchObject({ code: 'too-many' })
})
