import { randomUUID } from 'node:crypto'
import { type RouteDefinition, route } from '@vigia/contract/route'
import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { nameOfAuthor } from '../../accounts/authors.ts'
import { requireProvedEmail } from '../../accounts/email-proof.ts'
import type { Context } from '../../platform/context.ts'
import { useContext, useOwner } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { handle, serveRoutes } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { insertAccount, newWorkspace, testSession } from '../../platform/testing.ts'
import { addKey, keys, keysMax, listKeys, removeAllKeys } from './keys.ts'
import { keyMails } from './mails.ts'
import { keyRoutes } from './routes.ts'

const { ctx, url } = await useContext({ PORT: '0' })
const owner = await useOwner(url)
let app: FastifyInstance
let session: Session
// Sessions that got through.
let seen: Session[] = []

const data = z.object({ ok: z.boolean() })
const shape = { access: 'session', summary: 'Uma chamada.', data } as const
const read = route({ ...shape, method: 'GET', path: '/v1/api/Leitura', scope: 'documentos:ler' })
const write = route({ ...shape, method: 'POST', path: '/v1/api/Escrita', scope: 'empresas:gerir', body: z.object({}) })
const ofPeople = route({ ...shape, method: 'GET', path: '/v1/api/Pessoas' })
const slow = route({ ...shape, method: 'GET', path: '/v1/api/Lenta', scope: 'documentos:ler' })
const personToken = 'pessoa'.repeat(5)
let gate = Promise.withResolvers<void>()
const letIn = <R extends RouteDefinition>(one: R) =>
  handle(one, async (_, { session }) => {
    seen.push(session as Session)
    return { data: { ok: true } } as never
  })

beforeAll(async () => {
  const waiting = handle(slow, async (_, { session }) => {
    seen.push(session)
    await gate.promise
    return { data: { ok: true } }
  })
  const authenticate = async (_: Context, token: string) => (token === personToken ? session : null)
  app = await serveRoutes(ctx, [letIn(read), letIn(write), letIn(ofPeople), waiting], authenticate, { keys })
})
afterAll(() => app.close())
beforeEach(async () => {
  const workspaceId = await newWorkspace(ctx.db)
  const { id } = await insertAccount(ctx.db, workspaceId)
  session = testSession(workspaceId, id)
  seen = []
})

const newKey = (change: Partial<Parameters<typeof addKey>[2]> = {}) =>
  addKey(ctx, session, { nome: `ERP ${randomUUID()}`, permissoes: ['documentos:ler'], ...change })

async function call(key: string, { method, path }: Pick<RouteDefinition, 'method' | 'path'> = read) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await app.inject({ method, url: path, headers, ...(method === 'POST' && { payload: {} }) })
  return { status: response.statusCode, headers: response.headers, message: response.json().message as string }
}

const change = (column: string, value: string, key: string) =>
  owner.query(`update api_key set ${column} = ${value} where token_hash = sha256($1::bytea)`, [Buffer.from(key)])

async function audit(): Promise<{ description: string }[]> {
  const { rows } = await owner.query(
    'select actor, action, description, address, account_id, times from audit where workspace_id = $1 order by id',
    [session.workspaceId],
  )
  return rows
}

describe('a key', () => {
  test('is shown once, kept as a digest, and recognized by how it begins', async () => {
    const { key } = await newKey({ nome: 'ERP', permissoes: ['exportar', 'documentos:ler'] })
    expect(key).toMatch(/^vigia_[0-9a-f]{64}$/)
    const { rows } = await owner.query('select k::text from api_key k where workspace_id = $1', [session.workspaceId])
    expect(JSON.stringify(rows)).not.toContain(key.slice(0, 15))
    const [one] = await listKeys(ctx, session.workspaceId)
    expect(one).toMatchObject({ nome: 'ERP', inicio: key.slice(0, 14), permissoes: ['documentos:ler', 'exportar'] })
    expect(one).toMatchObject({ criadaPor: 'Ana Souza', validaAte: null, vencida: false, usadaEm: null })
    expect((await audit()).at(-1)!.description).toBe(
      `Criou a chave de API “ERP” (${key.slice(0, 14)}…), sem validade, que pode: documentos:ler e exportar.`,
    )
  })

  test('acts in its workspace under its own name, and its last use is kept to the hour', async () => {
    const { key, publicId } = await newKey({ nome: 'ERP' })
    expect(await call(key)).toMatchObject({ status: 200 })
    expect(seen).toMatchObject([
      { workspaceId: session.workspaceId, accountName: 'chave de API “ERP”', publicId, scopes: ['documentos:ler'] },
    ])
    expect(seen[0]!.accountId).toBeLessThan(0)
    const [first] = await listKeys(ctx, session.workspaceId)
    await call(key)
    expect((await listKeys(ctx, session.workspaceId))[0]!.usadaEm).toEqual(first!.usadaEm)
    await change('used_at', "now() - interval '2 hours'", key)
    await call(key)
    expect((await listKeys(ctx, session.workspaceId))[0]!.usadaEm! >= first!.usadaEm!).toBe(true)
  })

  test('makes the calls of its scopes and no others, and none that is for people', async () => {
    const { key } = await newKey({ nome: 'ERP' })
    const lacking = await call(key, write)
    expect(lacking).toMatchObject({ status: 403, headers: { 'www-authenticate': 'Bearer error="insufficient_scope"' } })
    expect(lacking.message).toMatch(/^A chave de API “ERP” não tem a permissão empresas:gerir/)
    expect(await call(key, ofPeople)).toMatchObject({ status: 403, message: expect.stringContaining('só de pessoas') })
    expect(seen).toEqual([])
  })

  test('that was removed or has expired lets nobody in, and neither does one that never was', async () => {
    const { key: removed } = await newKey()
    await inWorkspace(ctx, session.workspaceId, (ctx) => removeAllKeys(ctx, session.workspaceId))
    const { key: expired } = await newKey({ validadeEmDias: 1 })
    expect((await call(expired)).status).toBe(200)
    await change('expires_at', "now() - interval '1 second'", expired)
    const answers = [removed, expired, `vigia_${'0'.repeat(64)}`, `${expired}0`, 'vigia_x'].map((one) => call(one))
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ status: 401, message: expect.stringMatching(/^Esta chave de API não existe/) })
    expect(seen).toHaveLength(1)
    expect(await listKeys(ctx, session.workspaceId)).toMatchObject([{ vencida: true }])
    const { rows } = await owner.query('select from token_directory where token_hash = sha256($1::bytea)', [
      Buffer.from(removed),
    ])
    expect(rows).toEqual([])
  })

  test('takes the places of its workspace, like its people', async () => {
    gate = Promise.withResolvers()
    const { key } = await newKey()
    const slowOnes = Array.from({ length: 4 }, () => call(key, slow))
    await expect.poll(() => seen.length).toBe(4)
    const person = call(personToken, read)
    const own = session
    session = testSession(await newWorkspace(ctx.db), (await insertAccount(ctx.db, own.workspaceId)).id)
    expect((await call((await newKey()).key)).status).toBe(200)
    expect(seen.map(({ workspaceId }) => workspaceId)).toEqual([...Array(4).fill(own.workspaceId), session.workspaceId])
    gate.resolve()
    expect((await person).status).toBe(200)
    expect((await Promise.all(slowOnes)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  })

  test('lets nobody in when the time of its workspace is over', async () => {
    const { key } = await newKey()
    const erase = (when: string) =>
      owner.query(`update workspace set erase_at = now() + $2::interval where id = $1`, [session.workspaceId, when])
    await erase('1 day')
    expect((await call(key)).status).toBe(200)
    await erase('-1 second')
    expect((await call(key)).status).toBe(401)
  })

  // Sets the count of limits that last an hour.
  const countHour = (count: number) =>
    owner.query("update throttle set count = $1 where until > now() + interval '5 minutes'", [count])

  test('changes something a thousand times an hour, and reads on', async () => {
    const { key } = await newKey({ permissoes: ['documentos:ler', 'empresas:gerir'] })
    await call(key, write)
    await countHour(999)
    expect((await call(key, write)).status).toBe(200)
    const refused = await call(key, write)
    expect(refused).toMatchObject({ status: 429, message: expect.stringContaining('1.000 chamadas que mudam algo') })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(60)
    expect((await call(key)).status).toBe(200)
  })

  test('makes 120 calls a minute, is told so, and others go on', async () => {
    const [{ key }, { key: other }] = [await newKey(), await newKey()]
    expect((await call(key)).headers).toMatchObject({ 'ratelimit-limit': '120', 'ratelimit-remaining': '119' })
    await owner.query("update throttle set count = 119, until = now() + interval '1 minute'")
    expect((await call(key)).headers).toMatchObject({ 'ratelimit-remaining': '0' })
    const refused = await call(key)
    expect(refused).toMatchObject({ status: 429, headers: { 'ratelimit-remaining': '0' } })
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
    expect(refused.headers['ratelimit-reset']).toBe(refused.headers['retry-after'])
    expect((await call(other)).status).toBe(200)
  })
})

test('in the audit each call is one entry an hour, also when the key is removed afterwards', async () => {
  const { key } = await newKey({ nome: 'ERP' })
  for (let n = 0; n < 3; n++) await call(key)
  await call(key, write)
  const name = sql<{ name: string }>`
    select ${nameOfAuthor(session.workspaceId, 'done.by')} as name from (select ${seen[0]!.accountId}::int as by) done`
  await inWorkspace(ctx, session.workspaceId, async (ctx) => {
    await removeAllKeys(ctx, session.workspaceId)
    expect((await name.execute(ctx.db)).rows).toEqual([{ name: 'chave de API “ERP”' }])
  })
  expect((await audit()).slice(1)).toEqual([
    {
      actor: 'chave de API “ERP”',
      action: 'chave',
      account_id: seen[0]!.accountId,
      description: 'Chamou GET /v1/api/Leitura.',
      address: '127.0.0.1',
      times: 3,
    },
    expect.objectContaining({
      description: 'Chamou POST /v1/api/Escrita sem ter a permissão (chamada recusada).',
      times: 1,
    }),
  ])
})

describe('people', () => {
  const run = (path: string, body: object) =>
    keyRoutes
      .find(({ route }) => `${route.method} ${route.path}` === path)!
      .run(ctx, { body, query: {} } as never, session, {} as never)

  test('rename and remove a key; two that are good have different names', async () => {
    const { publicId, key } = await newKey({ nome: 'ERP' })
    await expect(newKey({ nome: 'erp' })).rejects.toThrow('Já há uma chave de API com o nome “erp”.')
    await run('PUT /v1/api/Chaves', { idChave: publicId, nome: 'Contábil' })
    await newKey({ nome: 'ERP' })
    await expect(run('PUT /v1/api/Chaves', { idChave: publicId, nome: 'ERP' })).rejects.toThrow('Já há uma chave')
    await run('POST /v1/api/Chaves/apagar', { idChave: publicId })
    expect((await call(key)).status).toBe(401)
    await expect(run('POST /v1/api/Chaves/apagar', { idChave: publicId })).rejects.toThrow('não encontrada')
    expect((await audit()).map(({ description }) => description)).toEqual([
      expect.stringMatching(/^Criou a chave de API “ERP”/),
      expect.stringMatching(/^Mudou o nome da chave de API “ERP” \(vigia_\w{8}…\) para “Contábil”\.$/),
      expect.stringMatching(/^Criou a chave de API “ERP”/),
      expect.stringMatching(/^Apagou a chave de API “Contábil”/),
    ])
  })

  test('change none before their e-mail is confirmed', async () => {
    const { publicId } = await newKey()
    const changes = [
      ['POST /v1/api/Chaves', { nome: 'ERP', permissoes: ['documentos:ler'] }],
      ['PUT /v1/api/Chaves', { idChave: publicId, nome: 'ERP' }],
      ['POST /v1/api/Chaves/apagar', { idChave: publicId }],
    ] as const
    await owner.query('update account set email_proved_at = null where workspace_id = $1', [session.workspaceId])
    const { mail } = ctx.config
    ctx.config = { ...ctx.config, mail: { ...mail, smtpUrl: 'smtp://127.0.0.1:1' } }
    for (const [path, body] of changes) await expect(run(path, body)).rejects.toThrow('confirme o e-mail')
    ctx.config = { ...ctx.config, mail }
    expect(await listKeys(ctx, session.workspaceId)).toHaveLength(1)
  })

  test('get a letter of each key that is made, which tells what it may do and where it is removed', async () => {
    await newKey({ nome: 'ERP', permissoes: ['documentos:ler', 'exportar'], validadeEmDias: 30 })
    const { rows } = await owner.query('select recipient, payload from mail where workspace_id = $1 and kind = $2', [
      session.workspaceId,
      'chave-criada',
    ])
    const { rows: accounts } = await owner.query('select email from account where id = $1', [session.accountId])
    expect(rows).toMatchObject([{ recipient: accounts[0].email }])
    const letter = (await keyMails['chave-criada']!(ctx, { id: 1n, workspaceId: null, ...rows[0] }))!
    expect(letter.paragraphs[0]).toMatch(
      /criou a chave de API “ERP”, que começa por vigia_\w{8}, válida até [\d/]+\. Com ela um programa pode, sem senha nem código: ler os documentos e exportar documentos\.$/,
    )
    expect(letter.button!.url).toMatch(/\/integracoes#chaves$/)
    expect(letter.footnote).toContain('127.0.0.1')
    expect(JSON.stringify(rows)).not.toMatch(/vigia_\w{9}/)
  })

  test('who made a key have a confirmed e-mail for what the key does too', async () => {
    await newKey()
    const { rows } = await owner.query('select id from api_key where workspace_id = $1', [session.workspaceId])
    const key = { workspaceId: session.workspaceId, accountId: rows[0].id as number }
    const asked = { ...ctx, config: { ...ctx.config, mail: { ...ctx.config.mail, smtpUrl: 'smtp://127.0.0.1:1' } } }
    await expect(requireProvedEmail(asked, key)).rejects.toThrow('confirme o e-mail')
    await owner.query('update account set email_proved_at = now() where id = $1', [session.accountId])
    await requireProvedEmail(asked, key)
  })

  test('have twenty at most', async () => {
    for (let n = 0; n < keysMax; n++) await newKey()
    await expect(newKey()).rejects.toThrow('Já há 20 chaves de API.')
  })
})
