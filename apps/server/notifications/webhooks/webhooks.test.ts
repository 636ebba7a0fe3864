import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { addWebhook as addRoute, testWebhook as testRoute } from '@vigia/contract/changes'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { receive } from '../../documents/receive.ts'
import { arrive, chaveOf, company as cnpj, evento, nfeProc } from '../../documents/testing.ts'
import { useContext, useOwner } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import type { Session } from '../../platform/http/session.ts'
import { startQueue } from '../../platform/jobs/jobs.ts'
import { carryOutDue } from '../../platform/jobs/testing.ts'
import { insertAccount, insertCompany, newWorkspace, testSession } from '../../platform/testing.ts'
import { deliverAgain, deliverTest, listDeliveries, webhookJobs } from './deliveries.ts'
import { webhookMails } from './mails.ts'
import { webhookRoutes } from './routes.ts'
import { signatureOf } from './sending.ts'
import { addWebhook, byHand, changeWebhook, listWebhooks, replaceSecret, webhooksMax } from './webhooks.ts'

interface Received {
  headers: IncomingHttpHeaders
  body: string
  message: { idEntrega: string; tipo: string; alteracao: { chave: string; versao: number } | null }
}

let received: Received[] = []
let respond: (one: Received) => { status: number; body?: string; location?: string } = () => ({ status: 204 })
const receiver = createServer((request, response) => {
  void text(request).then((body) => {
    const one = { headers: request.headers, body, message: JSON.parse(body) }
    received.push(one)
    const { status, body: answer = '', location } = respond(one)
    response.writeHead(status, location ? { location } : {}).end(answer)
  })
})

await once(receiver.listen(0, '127.0.0.1'), 'listening')
afterAll(() => void receiver.close())
const host = `localhost:${(receiver.address() as AddressInfo).port}`
const url = `http://${host}/aviso`
const { url: databaseUrl, ctx } = await useContext({ PORT: '0', WEBHOOK_HOSTS: host })
const owner = await useOwner(databaseUrl)
let session: Session
let companyId: number
let companyPublicId: string

beforeEach(async () => {
  await owner.query('delete from webhook')
  await owner.query('delete from job')
  session = await newSession()
  const company = await insertCompany(ctx.db, session.workspaceId, { cnpj })
  companyId = company.id
  companyPublicId = company.publicId
  received = []
  respond = () => ({ status: 204 })
})

async function newSession() {
  const workspaceId = await newWorkspace(ctx.db)
  const { id } = await insertAccount(ctx.db, workspaceId)
  return testSession(workspaceId, id)
}

const all: Parameters<typeof addWebhook>[2]['tipos'] = [
  'documento-novo',
  'xml-completo',
  'situacao',
  'cancelamento',
  'resposta',
]
const choice = { endereco: '', tipos: all, idsEmpresas: null as string[] | null }
const add = (more: Partial<typeof choice> = {}) => addWebhook(ctx, session, { ...choice, endereco: url, ...more })

const arriveHere = (...arrivals: ReturnType<typeof arrive>[]) =>
  inWorkspace(ctx, session.workspaceId, (ctx) =>
    receive(ctx, { workspaceId: session.workspaceId, companyId, cnpj }, 'nfe', arrivals),
  )
const note = (number: number) => arrive(number, nfeProc({ number }))
const cancellation = (number: number) => arrive(100 + number, evento(110111, { number }))

// Runs due jobs, like the worker, until none is left.
async function work() {
  // A change has woken it.
  await owner.query(
    `update job set run_at = now() where kind = 'webhook-feed' and run_at < now() + interval '1 minute'`,
  )
  await carryOutDue(ctx, webhookJobs)
}

// All waits are over.
async function pass() {
  await owner.query(`update job set run_at = now() where kind = 'webhook'`)
}

const told = () =>
  received.map(({ message }) => [message.tipo, message.alteracao && Number(message.alteracao.chave.slice(25, 34))])
const deliveries = async (webhook: string) => (await listDeliveries(ctx, session.workspaceId, webhook)).entregas

test('what changes is sent as the feed tells it, signed; with both secrets while one replaces the other', async () => {
  await arriveHere(note(1))
  const { publicId, secret } = await add()
  await arriveHere(note(2))
  await work()
  expect(told()).toEqual([['documento-novo', 2]])
  const [{ headers, body, message }] = received as [Received]
  expect(message).toEqual({
    idEntrega: headers['vigia-id'],
    tipo: 'documento-novo',
    alteracao: expect.objectContaining({ versao: 2, chave: chaveOf({ number: 2 }), idEmpresa: companyPublicId }),
  })
  const signed = (one: Received, secret: string) =>
    `v1=${signatureOf(secret, String(one.headers['vigia-timestamp']), one.body)}`
  expect(headers['vigia-signature']).toBe(signed(received[0]!, secret))
  expect(Math.abs(Number(headers['vigia-timestamp']) * 1000 - Date.now())).toBeLessThan(600_000)
  const { rows } = await owner.query('select secret from webhook')
  expect(String(rows[0].secret)).not.toContain(secret)
  const next = await replaceSecret(ctx, session, publicId)
  await arriveHere(note(3))
  await work()
  expect(received[1]!.headers['vigia-signature']).toBe(`${signed(received[1]!, next)},${signed(received[1]!, secret)}`)
  await owner.query('update webhook set old_until = now()')
  await arriveHere(note(4))
  await work()
  expect(received[2]!.headers['vigia-signature']).toBe(signed(received[2]!, next))
  expect(await deliveries(publicId)).toMatchObject(
    [3, 2, 1].map(() => ({ situacao: 'entregue', status: 204, tentativas: 1 })),
  )
  expect(await deliveries(publicId)).toContainEqual(expect.objectContaining({ corpo: body }))
})

test('nothing leaves with a secret that cannot be opened any more, until it is replaced', async () => {
  const { publicId } = await add()
  await arriveHere(note(1))
  await owner.query(`update webhook set secret = 'sealed with a key that is lost'`)
  await work()
  expect(await deliveries(publicId)).toMatchObject([
    { situacao: 'esperando', problema: expect.stringContaining('Troque o segredo') },
  ])
  const secret = await replaceSecret(ctx, session, publicId)
  await pass()
  await work()
  const [one] = received as [Received]
  expect(one.headers['vigia-signature']).toBe(
    `v1=${signatureOf(secret, String(one.headers['vigia-timestamp']), one.body)}`,
  )
})

test('only the kinds and companies that were chosen are told', async () => {
  const other = await insertCompany(ctx.db, session.workspaceId, { cnpj: '11222333000181' })
  await add({ tipos: ['cancelamento'] })
  await add({ idsEmpresas: [other.publicId] })
  await arriveHere(note(1), cancellation(1))
  await work()
  expect(told()).toEqual([['cancelamento', 1]])
})

test('of one document one is told after the other, and others do not wait for it', async () => {
  const { publicId } = await add()
  respond = ({ message }) => ({ status: message.alteracao!.chave === chaveOf({ number: 1 }) ? 500 : 200 })
  await arriveHere(note(1), note(2), cancellation(1))
  await work()
  await pass()
  await work()
  expect(told()).toEqual([1, 2, 1].map((number) => ['documento-novo', number]))
  respond = () => ({ status: 200 })
  await pass()
  await work()
  expect(told().slice(-2)).toEqual([
    ['documento-novo', 1],
    ['cancelamento', 1],
  ])
  // The same message each time.
  expect(
    new Set(received.filter(({ message }) => message.tipo === 'documento-novo').map(({ body }) => body)).size,
  ).toBe(2)
  expect((await listWebhooks(ctx, session.workspaceId))[0]).toMatchObject({ idWebhook: publicId, entregasEsperando: 0 })
})

test('what fails waits longer each time; after three days all is paused and told, and leaves when it is wanted again', async () => {
  const { publicId } = await add()
  respond = () => ({ status: 503, body: 'manutenção' })
  await arriveHere(note(1))
  const waits: number[] = []
  for (let attempt = 1; attempt <= 9; attempt++) {
    await pass()
    await work()
    const { rows } = await owner.query(
      `select extract(epoch from j.run_at - d.tried_at)::float8 as wait from webhook_delivery d join job j on j.key = d.id::text`,
    )
    waits.push(Math.floor(rows[0].wait))
  }
  expect(waits).toEqual([10, 60, 300, 1800, 7200, 21600, 43200, 86400, 86400])
  expect(await deliveries(publicId)).toMatchObject([
    { situacao: 'esperando', tentativas: 9, status: 503, respostaRecebida: 'manutenção' },
  ])
  await owner.query(`update webhook_delivery set failing_since = now() - interval '73 hours'`)
  await pass()
  await work()
  const [paused] = await listWebhooks(ctx, session.workspaceId)
  expect(paused).toMatchObject({
    pausadoEm: expect.any(Date),
    problema: 'O endereço respondeu 503.',
    entregasEsperando: 1,
  })
  const { rows: mails } = await owner.query(
    "select kind, payload from mail where workspace_id = $1 and kind <> 'webhook-novo'",
    [session.workspaceId],
  )
  expect(mails).toEqual([{ kind: 'webhook-pausado', payload: { webhook: publicId } }])
  const mail = { id: 1n, workspaceId: session.workspaceId, recipient: '', payload: mails[0].payload }
  expect((await webhookMails['webhook-pausado']!(ctx, mail))!.paragraphs[1]).toContain('1 entrega espera')
  received = []
  respond = () => ({ status: 200 })
  await arriveHere(cancellation(1))
  await pass()
  await work()
  expect(told()).toEqual([])
  await changeWebhook(ctx, session, { ...choice, idWebhook: publicId, endereco: url, ativo: true })
  await work()
  expect(told()).toEqual([
    ['documento-novo', 1],
    ['cancelamento', 1],
  ])
  expect(await webhookMails['webhook-pausado']!(ctx, mail)).toBeNull()
})

test('a letter tells of each webhook that is made or redirected', async () => {
  const { publicId } = await add()
  await changeWebhook(ctx, session, { ...choice, idWebhook: publicId, endereco: url, tipos: ['situacao'], ativo: true })
  await changeWebhook(ctx, session, {
    ...choice,
    idWebhook: publicId,
    endereco: 'https://outro.example/aviso',
    ativo: true,
  })
  const { rows } = await owner.query(
    `select kind, recipient, payload from mail m join account a on a.email = m.recipient and a.id = $2 where m.workspace_id = $1 order by m.id`,
    [session.workspaceId, session.accountId],
  )
  const letters = await Promise.all(
    rows.map((row) => webhookMails[row.kind]!(ctx, { id: 1n, workspaceId: null, ...row })),
  )
  expect(letters.map((letter) => letter!.paragraphs[0])).toEqual([
    expect.stringContaining(`criou um webhook para ${new URL(url).host}:`),
    expect.stringContaining('mudou o endereço de um webhook para outro.example:'),
  ])
})

test('nothing leaves for an internal address, whatever its name, and no redirect is followed', async () => {
  const port = new URL(url).port
  const inside = [`https://127.0.0.1:${port}/`, 'https://localhost:1/', 'https://[::1]/', 'https://169.254.169.254/']
  for (const endereco of inside) await add({ endereco })
  const { publicId } = await add()
  respond = () => ({ status: 302, location: url })
  await arriveHere(note(1))
  await work()
  expect(received).toHaveLength(1)
  const [redirected] = await deliveries(publicId)
  expect(redirected).toMatchObject({
    situacao: 'esperando',
    problema: expect.stringContaining('redirecionamentos não são seguidos'),
  })
  for (const { idWebhook, endereco: address } of await listWebhooks(ctx, session.workspaceId))
    if (address !== url)
      expect(await deliveries(String(idWebhook))).toMatchObject([
        { status: null, problema: expect.stringContaining('rede interna') },
      ])
})

test('of an answer only the beginning is read and kept', async () => {
  const { publicId } = await add()
  respond = () => ({ status: 400, body: 'x\0'.repeat(1_000_000) })
  await arriveHere(note(1))
  await work()
  expect(await deliveries(publicId)).toMatchObject([{ status: 400, respostaRecebida: 'x'.repeat(500) }])
})

test('one that is always refused fails alone when others are taken, and is sent again when a person wants it', async () => {
  const { publicId } = await add()
  respond = ({ message }) => ({ status: message.alteracao!.chave === chaveOf({ number: 1 }) ? 400 : 200 })
  await arriveHere(note(1))
  await work()
  await arriveHere(note(2), cancellation(1))
  await work()
  expect(told()).toContainEqual(['documento-novo', 2])
  await owner.query(
    `update webhook_delivery set failing_since = now() - interval '73 hours' where state = 'waiting' and failures > 0`,
  )
  await pass()
  await work()
  expect(await listWebhooks(ctx, session.workspaceId)).toMatchObject([{ pausadoEm: null }])
  const refused = (await deliveries(publicId)).at(-1)!
  expect(refused).toMatchObject({ situacao: 'falhou', status: 400 })
  respond = () => ({ status: 200 })
  await deliverAgain(ctx, session, String(refused.idEntrega))
  await pass()
  await work()
  expect(await deliveries(publicId)).toMatchObject([1, 2, 3].map(() => ({ situacao: 'entregue' })))
})

test('what waits for an address that is paused does not leave, whoever wants it, until the address is wanted again', async () => {
  const { publicId } = await add()
  respond = () => ({ status: 500 })
  await arriveHere(note(1), note(2), note(3))
  await work()
  await changeWebhook(ctx, session, { ...choice, idWebhook: publicId, endereco: url, ativo: false })
  received = []
  respond = () => ({ status: 200 })
  await deliverAgain(ctx, session, String((await deliveries(publicId))[0]!.idEntrega))
  await pass()
  await work()
  expect(received).toEqual([])
  expect(await deliveries(publicId)).toMatchObject(
    [1, 2, 3].map(() => ({ situacao: 'esperando', proximaTentativa: null })),
  )
  await changeWebhook(ctx, session, { ...choice, idWebhook: publicId, endereco: url, ativo: true })
  await work()
  expect(await deliveries(publicId)).toMatchObject([1, 2, 3].map(() => ({ situacao: 'entregue' })))
})

test('switching it off and on does not take away all waits as often as one likes', async () => {
  const { publicId } = await add()
  const turn = (active: boolean) =>
    changeWebhook(ctx, session, { ...choice, idWebhook: publicId, endereco: url, ativo: active })
  for (let n = 0; n < byHand.times; n++) {
    await turn(false)
    await turn(true)
  }
  await turn(false)
  await expect(turn(true)).rejects.toMatchObject({ code: 'too-many' })
})

test('an address that is behind what is kept is paused, and its people are told that something is missing', async () => {
  const { publicId } = await add()
  await arriveHere(note(1))
  await owner.query('update change_position set forgotten = version where workspace_id = $1', [session.workspaceId])
  await work()
  expect(await listWebhooks(ctx, session.workspaceId)).toMatchObject([{ pausadoEm: expect.any(Date) }])
  const mail = { id: 1n, workspaceId: session.workspaceId, recipient: '', payload: { webhook: publicId } }
  const { paragraphs } = (await webhookMails['webhook-pausado']!(ctx, mail))!
  expect(paragraphs[0]).toContain('já não está guardado por inteiro')
})

test('nothing is sent to others before the e-mail of the account is confirmed', async () => {
  const { publicId } = await add()
  await owner.query('update account set email_proved_at = null where workspace_id = $1', [session.workspaceId])
  const asked = { ...ctx, config: { ...ctx.config, mail: { ...ctx.config.mail, smtpUrl: 'smtp://127.0.0.1:1' } } }
  const run = (path: unknown, body: object) =>
    webhookRoutes.find(({ route }) => route === path)!.run(asked, { body, query: {} } as never, session, {} as never)
  const calls: [unknown, object][] = [
    [addRoute, { endereco: url, tipos: all, idsEmpresas: null }],
    [testRoute, { idWebhook: publicId }],
  ]
  for (const [path, body] of calls)
    await expect(run(path, body)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^Antes de enviar avisos a outros sistemas, confirme o e-mail/),
    })
  expect(await deliveries(publicId)).toEqual([])
})

test('a test says nothing, is tried once, and leaves also while paused; a delivery is made again as the same message', async () => {
  const { publicId } = await add()
  await changeWebhook(ctx, session, { ...choice, idWebhook: publicId, endereco: url, ativo: false })
  respond = () => ({ status: 404 })
  await deliverTest(ctx, session, publicId)
  await work()
  expect(received[0]!.message).toMatchObject({ tipo: 'teste', alteracao: null })
  const [failed] = await deliveries(publicId)
  expect(failed).toMatchObject({ situacao: 'falhou', status: 404 })
  respond = () => ({ status: 200 })
  await deliverAgain(ctx, session, String(failed!.idEntrega))
  await work()
  expect(received[1]!.body).toBe(received[0]!.body)
  expect(await deliveries(publicId)).toMatchObject([{ situacao: 'entregue', status: 200, tentativas: 2 }])
})

test('the worker tells what changes while it runs', async () => {
  await add()
  await using _worker = await startQueue(ctx, { jobs: webhookJobs })
  await arriveHere(note(1))
  await expect.poll(told, { timeout: 30_000 }).toEqual([['documento-novo', 1]])
})

test('there are ten of them at most, with https', async () => {
  await add({ endereco: 'https://ERP.Exemplo.com.br:443/a/../aviso#parte' })
  expect(await listWebhooks(ctx, session.workspaceId)).toMatchObject([{ endereco: 'https://erp.exemplo.com.br/aviso' }])
  await expect(add({ endereco: 'http://exemplo.com.br/aviso' })).rejects.toMatchObject({ code: 'invalid-input' })
  await expect(add({ endereco: 'https://a:b@exemplo.com.br/' })).rejects.toMatchObject({ code: 'invalid-input' })
  for (let n = 1; n < webhooksMax; n++) await add()
  await expect(add()).rejects.toMatchObject({ code: 'conflict' })
})
