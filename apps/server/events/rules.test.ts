import fc from 'fast-check'
import { type RawBuilder, sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import { arrive, chaveOf, nfeProc, resNFe } from '../documents/testing.ts'
import { useContext } from '../platform/database.testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { serveRoutes } from '../platform/http/http.ts'
import { holdLock } from '../platform/locks.ts'
import { acknowledgePending } from './ciencia.ts'
import { prepareBatch } from './prepare.ts'
import { claimBatch } from './queue.ts'
import { answerRuleRoutes } from './rule-routes.ts'
import { daysAgo, newOffice, type Office, readInside, store } from './testing.ts'

const { ctx } = await useContext({ PORT: '0' })
let office: Office

beforeEach(async () => {
  await inCapture(ctx, ({ db }) => db.deleteFrom('outgoing_event').execute())
  office = await newOffice(ctx)
})

const known = '11222333000181'
const stranger = '99888777000166'
const summary = (number: number, { issuer = known, days = 2, amount = '100.00' } = {}) =>
  arrive(number, resNFe({ number, issuer, amount, issuedAt: daysAgo(days) }))
const switchOn = (since: Date | null = new Date('2026-11-20T13:05:00Z')) =>
  inWorkspace(ctx, office.workspaceId, ({ db }) =>
    db.updateTable('company').set({ acknowledges_since: since, acknowledges_by: office.session.accountId }).execute(),
  )
const acknowledge = () => acknowledgePending(ctx, office.workspaceId, office.companyId)
const events = () =>
  inWorkspace(ctx, office.workspaceId, ({ db }) =>
    db
      .selectFrom('outgoing_event as o')
      .innerJoin('document as d', (join) =>
        join.onRef('d.workspace_id', '=', 'o.workspace_id').onRef('d.id', '=', 'o.document_id'),
      )
      .select(['d.number', 'o.why', 'o.state', 'o.message'])
      .where('o.workspace_id', '=', office.workspaceId)
      .orderBy('o.id')
      .execute(),
  )
const numbers = async () => (await events()).map(({ number }) => Number(number)).sort((a, b) => a - b)

interface Draft {
  nome?: string
  condicoes?: object
  resposta?: string
  dias?: number
  ativa?: boolean
  idRegra?: string
}

const call = async (path: string, body: object) => {
  const app = await serveRoutes(ctx, answerRuleRoutes, async () => office.session)
  const response = await app.inject({
    method: 'POST',
    url: `/v1/api/RegrasDeResposta/${path}`,
    headers: { authorization: `Bearer ${'x'.repeat(43)}` },
    payload: body,
  })
  return { status: response.statusCode, body: response.json() }
}
const draft = (rule: Draft) => ({ nome: 'Regra', condicoes: {}, resposta: 'ciencia', ...rule })
async function save(rule: Draft): Promise<string> {
  const { status, body } = await call('guardar', draft(rule))
  expect(status, body.message).toBe(200)
  return body.data.regras.at(-1).idRegra
}

describe('the first rule that fits decides', () => {
  test('by company, issuer, whether the issuer is known, and amount; where none fits, the switch does', async () => {
    await store(ctx, office, 'nfe', [
      arrive(1, nfeProc({ number: 1, issuer: known, issuedAt: daysAgo(30) })),
      summary(2),
      summary(3, { issuer: stranger }),
      summary(4, { amount: '900.00' }),
      summary(5, { issuer: stranger, amount: '5000.00', days: 1 }),
    ])
    await save({ nome: 'Desconhecidos', condicoes: { emitenteNovo: true }, resposta: 'perguntar' })
    await save({ nome: 'Até quinhentos', condicoes: { valorAte: 500, idsEmpresa: undefined } })
    await acknowledge()
    expect(await numbers()).toEqual([2])
    expect((await events())[0]!.why).toMatch(/^Ciência pela regra “Até quinhentos”, guardada em .+ por Ana Souza\.$/)
    await switchOn()
    await acknowledge()
    // The third is asked about first; its issuer is known when the fifth comes.
    expect(await numbers()).toEqual([2, 4, 5])
    expect((await events())[1]!.why).toMatch(/^Ciência automática, ligada em/)
  })

  test('in the order that people give them', async () => {
    await store(ctx, office, 'nfe', [summary(1)])
    const ask = await save({
      nome: 'Perguntar',
      resposta: 'perguntar',
      condicoes: { emitentes: ['11.222.333/0009-99'] },
    })
    const all = await save({ nome: 'Todas' })
    expect(await acknowledge()).toBe(0)
    expect(await call('ordenar', { idsRegra: [all] })).toMatchObject({ status: 409 })
    expect(await call('ordenar', { idsRegra: [all, ask] })).toMatchObject({ status: 200 })
    expect(await acknowledge()).toBe(1)
  })

  test('after as many days as it says', async () => {
    await store(ctx, office, 'nfe', [summary(1, { days: 2 }), summary(2, { days: 4 })])
    await save({ resposta: 'ciencia-apos', dias: 3 })
    await acknowledge()
    expect(await numbers()).toEqual([2])
    expect(await call('guardar', draft({ resposta: 'ciencia-apos' }))).toMatchObject({ status: 400 })
  })
})

describe('what a summary does not tell', () => {
  test.each([
    { resposta: 'ciencia', condicoes: { cfops: ['5102'] } },
    { resposta: 'ciencia-apos', dias: 2, condicoes: { finalidades: ['4'] } },
  ])('is no condition of a Ciência: $resposta', async (rule) => {
    const { status, body } = await call('guardar', draft(rule))
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toMatch(/Um resumo não tem finalidade nem CFOP/)
    expect(await call('guardar', draft({ ...rule, resposta: 'ciencia', dias: undefined, ativa: false }))).toMatchObject(
      {
        status: 400,
      },
    )
  })

  test.each([{ cfops: ['5102'] }, { finalidades: ['4'] }, { operacao: '0' }, { comAlerta: 'alto' }])(
    'may fit, where a person is asked: %j',
    async (condicoes) => {
      await store(ctx, office, 'nfe', [summary(1), summary(2)])
      const judge = (change: RawBuilder<unknown>) =>
        inWorkspace(ctx, office.workspaceId, ({ db }) => sql`update document set ${change}`.execute(db))
      await judge(sql`created_at = now() - interval '2 hours', judged_at = null`)
      await inWorkspace(ctx, office.workspaceId, ({ db }) => sql`delete from document_facts`.execute(db))
      await save({ nome: 'Perguntar', resposta: 'perguntar', condicoes })
      await save({ nome: 'Todas' })
      expect(await acknowledge()).toBe(0)
      // The first is read now: another CFOP, another purpose, another operation, no alert.
      await readInside(ctx, office, [1], { tpNF: '1', purpose: 1, cfops: ['5405'] })
      await judge(sql`judged_at = now() where number = 1`)
      await acknowledge()
      expect(await numbers()).toEqual([1])
    },
  )
})

describe('what waits', () => {
  test('is withdrawn when the rules say otherwise before it leaves, and comes back when they want it again', async () => {
    await store(ctx, office, 'nfe', [summary(1)])
    const rule = await save({ nome: 'Todas' })
    expect(await acknowledge()).toBe(1)
    await save({ idRegra: rule, nome: 'Todas', resposta: 'perguntar' })
    expect(await prepareBatch(ctx, (await claimBatch(ctx))!)).toBeNull()
    expect(await events()).toMatchObject([
      { state: 'rejected', message: 'As regras de resposta mudaram antes do envio: nada foi enviado.' },
    ])
    await save({ idRegra: rule, nome: 'Todas' })
    expect(await acknowledge()).toBe(1)
    expect((await prepareBatch(ctx, (await claimBatch(ctx))!))!.ready).toHaveLength(1)
  })

  test('waits on while its document is not judged, an hour at most, and is withdrawn when an alert stands against it', async () => {
    const set = (change: RawBuilder<unknown>) =>
      inWorkspace(ctx, office.workspaceId, ({ db }) => sql`update document set ${change}`.execute(db))
    const prepare = async () => {
      await inCapture(ctx, ({ db }) => sql`update outgoing_event set next_at = now(), lease_until = null`.execute(db))
      return (await prepareBatch(ctx, (await claimBatch(ctx))!))?.ready.length ?? 0
    }
    await store(ctx, office, 'nfe', [summary(1)])
    await save({ nome: 'Todas' })
    await set(sql`judged_at = null`)
    expect(await acknowledge()).toBe(0)
    await set(sql`created_at = now() - interval '61 minutes'`)
    expect(await acknowledge()).toBe(1)
    await set(sql`created_at = now() - interval '59 minutes'`)
    expect(await prepare()).toBe(0)
    expect(await events()).toMatchObject([
      { state: 'waiting', message: expect.stringContaining('no máximo até uma hora') },
    ])
    await set(sql`judged_at = now()`)
    expect(await prepare()).toBe(1)
    await inCapture(ctx, ({ db }) => sql`update outgoing_event set state = 'waiting', signed_xml = null`.execute(db))
    await set(sql`suspect = true`)
    expect(await prepare()).toBe(0)
    expect(await events()).toMatchObject([
      { state: 'rejected', message: 'Há um alerta em aberto neste documento: nada foi enviado.' },
    ])
    expect(await acknowledge()).toBe(0)
  })

  test('of the switch alone is withdrawn when a rule asks a person first', async () => {
    await store(ctx, office, 'nfe', [summary(1)])
    await switchOn()
    expect(await acknowledge()).toBe(1)
    await save({ resposta: 'perguntar' })
    expect(await prepareBatch(ctx, (await claimBatch(ctx))!)).toBeNull()
  })
})

test('a batch that is made ready waits for an edit of the rules that is under way, and goes by it', async () => {
  await store(ctx, office, 'nfe', [summary(1)])
  const rule = await save({ nome: 'Todas' })
  await acknowledge()
  const batch = (await claimBatch(ctx))!
  const preparing = await inWorkspace(ctx, office.workspaceId, async ({ db }) => {
    await holdLock({ db }, 'answerRules', office.workspaceId)
    const prepared = prepareBatch(ctx, batch)
    const waiting = sql`
      select from pg_locks l join pg_database b on b.oid = l.database and b.datname = current_database()
       where l.locktype = 'advisory' and not l.granted`
    await vi.waitFor(async () => expect((await waiting.execute(ctx.db)).rows).toHaveLength(1), { timeout: 20_000 })
    await sql`update answer_rule set answer = 'perguntar' where id = ${ctx.ids.decode(office.workspaceId, rule)}`.execute(
      db,
    )
    return { prepared }
  })
  expect(await preparing.prepared).toBeNull()
})

test('the test of a rule tells what it would decide and change, and sends nothing', async () => {
  await store(ctx, office, 'nfe', [
    arrive(1, nfeProc({ number: 1, issuer: known, issuedAt: daysAgo(30) })),
    summary(2),
    summary(3, { issuer: stranger }),
  ])
  await switchOn()
  const { body } = await call(
    'testar-regra',
    draft({ nome: 'Novos', condicoes: { emitenteNovo: true }, resposta: 'perguntar' }),
  )
  expect(body.data).toMatchObject({ totalDeItens: 3, decididas: 2, mudariam: 2 })
  expect(body.data.exemplos).toMatchObject([
    {
      chave: chaveOf({ number: 3, issuer: stranger, issuedAt: daysAgo(2) }),
      antes: { regra: null, resposta: 'ciencia' },
      depois: { regra: 'Novos', resposta: 'perguntar' },
    },
    { numero: 1 },
  ])
  expect(await events()).toEqual([])
})

test('no Ciência is made ready that no rule and no switch wants at that moment, whatever was edited in between', async () => {
  const edit = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('save' as const),
        at: fc.nat(3),
        answer: fc.constantFrom('ciencia', 'perguntar'),
        issuer: fc.option(fc.constantFrom(known, stranger)),
        to: fc.option(fc.constantFrom(50, 500)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), at: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('switch' as const), on: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('doubt' as const), number: fc.integer({ min: 1, max: 4 }) }) },
  )
  type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never
  const round = fc.record({
    before: fc.array(edit, { minLength: 1, maxLength: 2 }),
    after: fc.array(edit, { maxLength: 2 }),
  })
  let left = 0
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), async (rounds) => {
      await inCapture(ctx, ({ db }) => db.deleteFrom('outgoing_event').execute())
      office = await newOffice(ctx)
      const notes = [known, stranger].flatMap((issuer, at) =>
        [10, 100].map((amount, i) => ({ number: at * 2 + i + 1, issuer, amount })),
      )
      const arrivals = notes.map(({ number, issuer, amount }) => summary(number, { issuer, amount: amount.toFixed(2) }))
      await store(ctx, office, 'nfe', arrivals)
      let rules: { id: string; answer: string; issuer: string | null; to: number | null }[] = []
      let switched = false
      let suspect = 0
      const isWanted = (number: number) => {
        if (number === suspect) return false
        const note = notes.find((one) => one.number === number)!
        const rule = rules.find(
          ({ issuer, to }) => (issuer ?? note.issuer) === note.issuer && note.amount <= (to ?? 1e9),
        )
        return rule ? rule.answer === 'ciencia' : switched
      }
      const make = async (one: Edit) => {
        if (one.do === 'save') {
          const { answer, issuer, to } = one
          const condicoes = { ...(issuer && { emitentes: [issuer] }), ...(to && { valorAte: to }) }
          const before = rules[one.at]
          const id = await save({ condicoes, resposta: answer, ...(before && { idRegra: before.id }) })
          const rule = { id: before?.id ?? id, answer, issuer, to }
          rules = before ? rules.with(one.at, rule) : [...rules, rule]
        } else if (one.do === 'remove') {
          const gone = rules[one.at]
          if (gone) await call('apagar', { idRegra: gone.id })
          rules = rules.filter((rule) => rule !== gone)
        } else if (one.do === 'doubt') {
          suspect = one.number
          await inWorkspace(ctx, office.workspaceId, ({ db }) =>
            sql`update document set suspect = number = ${suspect}`.execute(db),
          )
        } else {
          switched = one.on
          await switchOn(one.on ? new Date() : null)
        }
      }
      for (const { before, after } of rounds) {
        for (const one of before) await make(one)
        await acknowledge()
        for (const one of after) await make(one)
        const batch = await claimBatch(ctx)
        const prepared = batch && (await prepareBatch(ctx, batch))
        const ids = prepared?.ready.map(({ event }) => event.id) ?? []
        const { rows } = await inWorkspace(ctx, office.workspaceId, ({ db }) =>
          sql<{ number: number }>`
            select d.number::int from outgoing_event o join document d on d.workspace_id = o.workspace_id and d.id = o.document_id
             where o.id = any (${ids}::bigint[])`.execute(db),
        )
        left += rows.length
        for (const { number } of rows) expect(isWanted(number), `note ${number}`).toBe(true)
        // They left: the next batch is of others.
        await inCapture(ctx, ({ db }) =>
          sql`update outgoing_event set state = 'registered', lease_by = null, lease_until = null
               where id = any (${ids}::bigint[])`.execute(db),
        )
      }
    }),
    { numRuns: runs(80), endOnFailure: true },
  )
  expect(left).toBeGreaterThan(0)
})
