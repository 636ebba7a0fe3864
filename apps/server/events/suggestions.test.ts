import { nfe } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { arrive, decideAll, evento, resNFe } from '../documents/testing.ts'
import { markCondition } from '../documents/workflow/remarks.ts'
import type { Context } from '../platform/context.ts'
import { useContext } from '../platform/database.testing.ts'
import { inCapture, inWorkspace } from '../platform/database.ts'
import { serveRoutes } from '../platform/http/http.ts'
import { acknowledgePending } from './ciencia.ts'
import { requestEvents } from './request.ts'
import { answerRuleRoutes } from './rule-routes.ts'
import { reviewSuggestions } from './suggestions.ts'
import { daysAgo, newOffice, type Office, readInside, store } from './testing.ts'

const { ctx } = await useContext({ PORT: '0' })
let office: Office

beforeEach(async () => {
  await inCapture(ctx, ({ db }) => db.deleteFrom('outgoing_event').execute())
  office = await newOffice(ctx)
})

const known = '11222333000181'
const other = '99888777000166'
const summary = (number: number, issuer = known) => arrive(number, resNFe({ number, issuer, issuedAt: daysAgo(2) }))
const inside = <T>(work: (ctx: Context) => Promise<T>) => inWorkspace(ctx, office.workspaceId, work)

async function call(path: string, body: object) {
  const app = await serveRoutes(ctx, answerRuleRoutes, async () => office.session)
  const response = await app.inject({
    method: 'POST',
    url: `/v1/api/RegrasDeResposta/${path}`,
    headers: { authorization: `Bearer ${'x'.repeat(43)}` },
    payload: body,
  })
  expect(response.statusCode, response.body).toBe(200)
  return response.json().data.regras.at(-1).idRegra as string
}
const save = (rule: object) => call('guardar', { nome: 'Regra', condicoes: {}, ...rule })
const marked = (mark: 'confirmacao-sugerida' | 'desconhecimento-preparado') =>
  inside(async ({ db }) => {
    const { rows } = await sql<{ number: number }>`
      select number::int from document d where d.workspace_id = ${office.workspaceId} and ${markCondition(office.workspaceId, mark)} order by number`.execute(
      db,
    )
    return rows.map(({ number }) => number)
  })

test('a rule marks the notes that it reaches, sends nothing, and stops what the rules after it would send', async () => {
  await store(ctx, office, 'nfe', [summary(1), summary(2, other)])
  await save({ nome: 'Fornecedores', condicoes: { emitentes: [known, '44.555.666'] }, resposta: 'sugerir-confirmacao' })
  await save({ nome: 'Outros', resposta: 'preparar-desconhecimento' })
  await save({ nome: 'Todas', resposta: 'ciencia' })
  expect(await marked('confirmacao-sugerida')).toEqual([1])
  expect(await marked('desconhecimento-preparado')).toEqual([2])
  expect(await acknowledgePending(ctx, office.workspaceId, office.companyId)).toBe(0)
})

test('what arrives later is marked, and a mark ends with its rule, with another rule before it, and with an answer', async () => {
  const rule = await save({ nome: 'Fornecedores', resposta: 'sugerir-confirmacao' })
  await store(ctx, office, 'nfe', [summary(1), summary(2, other), summary(3)])
  expect(await marked('confirmacao-sugerida')).toEqual([])
  await reviewSuggestions(ctx, office.workspaceId)
  expect(await marked('confirmacao-sugerida')).toEqual([1, 2, 3])
  const asking = await save({ nome: 'Perguntar', condicoes: { emitentes: [other] }, resposta: 'perguntar' })
  await call('ordenar', { idsRegra: [asking, rule] })
  expect(await marked('confirmacao-sugerida')).toEqual([1, 3])
  const cancelled = arrive(9, evento(110111, { number: 3, issuer: known, issuedAt: daysAgo(2) }))
  await store(ctx, office, 'nfe', [cancelled])
  expect(await marked('confirmacao-sugerida')).toEqual([1])
  await save({ idRegra: rule, nome: 'Fornecedores', ativa: false, resposta: 'sugerir-confirmacao' })
  expect(await marked('confirmacao-sugerida')).toEqual([])
})

test('the event says which rule suggested it, and who sent it', async () => {
  await store(ctx, office, 'nfe', [summary(1)])
  await save({ nome: 'Fornecedores', resposta: 'sugerir-confirmacao' })
  const documents = await inside(async ({ db }) => {
    const rows = await db.selectFrom('document').select('id').where('workspace_id', '=', office.workspaceId).execute()
    return rows.map(({ id }) => ctx.ids.encode(office.workspaceId, id))
  })
  const kind = nfe.answers.find(({ choice }) => choice === 2)!
  await requestEvents(ctx, office.session, { service: 'nfe', kind, documents, justification: 'Conferida.' }, 0)
  const [event] = await inside(({ db }) => db.selectFrom('outgoing_event').select(['why', 'rule_id']).execute())
  expect(event).toMatchObject({
    why: expect.stringMatching(/^Pedida por Ana Souza em .+, como sugere a regra “Fornecedores”\.$/),
    rule_id: expect.anything(),
  })
  expect(await marked('confirmacao-sugerida')).toEqual([])
})

test('an old mark is decided again once an hour', async () => {
  await store(ctx, office, 'nfe', [summary(1), summary(2)])
  const rule = await save({ nome: 'Fornecedores', resposta: 'sugerir-confirmacao' })
  const first = await save({ nome: 'Entradas', condicoes: { operacao: '0' }, resposta: 'preparar-desconhecimento' })
  await call('ordenar', { idsRegra: [first, rule] })
  await inside(({ db }) =>
    sql`update document set created_at = now() - interval '20 days' where workspace_id = ${office.workspaceId}`.execute(
      db,
    ),
  )
  expect(await marked('confirmacao-sugerida')).toEqual([1, 2])
  await readInside(ctx, office, [2], { tpNF: '0' })
  await reviewSuggestions(ctx, office.workspaceId)
  expect(await marked('confirmacao-sugerida')).toEqual([1])
  expect(await marked('desconhecimento-preparado')).toEqual([2])
})

test('no mark stays when the deadline of its day has passed', async () => {
  await store(ctx, office, 'nfe', [summary(1)])
  await save({ resposta: 'sugerir-confirmacao' })
  const authorized = (days: number) =>
    inside(async ({ db }) => {
      await sql`update document set authorized_at = now() - ${days} * interval '1 day' where workspace_id = ${office.workspaceId}`.execute(
        db,
      )
      await decideAll({ db }, office.workspaceId)
    })
  await authorized(89)
  await reviewSuggestions(ctx, office.workspaceId)
  expect(await marked('confirmacao-sugerida')).toEqual([1])
  await authorized(91)
  await reviewSuggestions(ctx, office.workspaceId)
  expect(await marked('confirmacao-sugerida')).toEqual([])
})

test('operation and CFOP are those that were read of the note; a summary has no CFOP', async () => {
  await store(ctx, office, 'nfe', [summary(1), summary(2), summary(3, other)])
  await readInside(ctx, office, [1], { tpNF: '1', purpose: 4, cfops: ['5102', '5405'] })
  await readInside(ctx, office, [2], { tpNF: '0' })
  const rule = await save({ condicoes: { cfops: ['5.405'], finalidades: ['4'] }, resposta: 'sugerir-confirmacao' })
  expect(await marked('confirmacao-sugerida')).toEqual([1])
  await save({ idRegra: rule, condicoes: { operacao: '0' }, resposta: 'sugerir-confirmacao' })
  expect(await marked('confirmacao-sugerida')).toEqual([2])
})
