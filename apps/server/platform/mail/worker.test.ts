import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { simpleParser } from 'mailparser'
import pino from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { useFolder } from '../../../../tests/support/folder.ts'
import { readConfig } from '../../config.ts'
import type { Context } from '../context.ts'
import { useContext } from '../database.testing.ts'
import { asOperator } from '../database.ts'
import { prepareInstallation } from '../installation.ts'
import { claimJob } from '../jobs/jobs.ts'
import { type MailKind, queueMail } from './mail.ts'
import { deleteSettledMails, listUnsentMails, retryFailedMails } from './queue.ts'
import { openMailServer, refusal, type TestMailServer } from './testing.ts'

const patience = { timeout: 25_000, interval: 20 }

// A copy of the worker whose pauses and grace at the end are as many as ever, and thirty times shorter.
const shorter = 30
let startQueue: typeof import('../jobs/jobs.ts').startQueue
let mailJob: typeof import('./worker.ts').mailJob
beforeAll(async () => {
  vi.resetModules()
  vi.doMock('../pause.ts', async (load) => {
    const { pause } = await load<typeof import('../pause.ts')>()
    return { pause: (ms: number, signal: AbortSignal) => pause(ms / shorter, signal) }
  })
  vi.doMock('../jobs/loop.ts', async (load) => {
    const loop = await load<typeof import('../jobs/loop.ts')>()
    const afterGrace: typeof loop.afterGrace = (signal, ms, cut) => loop.afterGrace(signal, ms / shorter, cut)
    return { ...loop, afterGrace }
  })
  ;({ startQueue } = await import('../jobs/jobs.ts'))
  ;({ mailJob } = await import('./worker.ts'))
})
afterAll(() => {
  vi.doUnmock('../pause.ts')
  vi.doUnmock('../jobs/loop.ts')
  vi.resetModules()
})

const { url, ctx: plain } = await useContext()
const { db } = plain
const folder = await useFolder()
let server: TestMailServer
let logged: Record<string, unknown>[]

beforeEach(async () => {
  server = await openMailServer()
  logged = []
  await operate(sql`delete from mail`)
  await operate(sql`delete from job`)
})
afterEach(() => server[Symbol.asyncDispose]())

function context(env: Record<string, string> = {}): Context {
  const smtp = { SMTP_URL: `smtp://127.0.0.1:${server.port}`, MAIL_FROM: 'avisos@vigia.example' }
  return {
    ...plain,
    config: readConfig({ DATA_DIR: folder, ...smtp, ...env }, folder),
    log: pino({ level: 'info' }, { write: (line: string) => void logged.push(JSON.parse(line)) }),
  }
}

const kinds: Record<string, MailKind> = {
  aviso: async (_, { payload }) => {
    const { name } = payload as { name: string }
    return { subject: `Aviso para ${name}`, paragraphs: [`Olá, ${name}.`] }
  },
  nada: async () => null,
  quebrado: async () => {
    throw new Error('a bug of ours')
  },
}
const work = (ctx = context()) => startQueue(ctx, { jobs: [mailJob(kinds)] })
const queue = (change: Partial<Parameters<typeof queueMail>[1]> = {}) =>
  queueMail({ db }, { kind: 'aviso', recipient: 'ana@empresa.example', payload: { name: 'João' }, ...change })

interface Row {
  state: string
  failures: number
  problem: string | null
  payload: unknown
  settled: boolean
  /** Seconds until it may leave. */
  wait: number
  leased: boolean
  recipient: string
}
async function operate<T>(query: ReturnType<typeof sql<T>>): Promise<T[]> {
  return asOperator({ db }, async ({ db }) => (await query.execute(db)).rows)
}
const rows = () =>
  operate(sql<Row>`
    select m.state, coalesce(j.attempts - (j.lease is not null)::int, m.failures) as failures, coalesce(j.error, m.problem) as problem, m.payload,
           m.settled_at is not null as settled, m.recipient, extract(epoch from nullif(j.run_at, 'infinity') - now())::float8 as wait,
           coalesce(j.lease_until > now(), false) as leased
      from mail m left join job j on j.key = m.message_id::text order by m.id`)
// Updates the jobs of the mails that meet a condition.
const setJobs = (change: string, mails = 'true') =>
  operate(
    sql`update job set ${sql.raw(change)} where key in (select message_id::text from mail where ${sql.raw(mails)})`,
  )
const becomes = (...expected: Partial<Row>[]) =>
  vi.waitFor(async () => expect(await rows()).toMatchObject(expected), patience)
const makeDue = () => setJobs('run_at = now()')

test('a mail leaves, and keeps nothing of what it said', async () => {
  await queue()
  await using _ = await work()
  await becomes({ state: 'sent', failures: 0, problem: null, payload: {}, settled: true, leased: false })
  expect(server.received).toHaveLength(1)
  expect(server.received[0]).toMatchObject({ from: 'avisos@vigia.example', to: ['ana@empresa.example'] })
  expect(server.received[0]?.mail).toMatchObject({ subject: 'Aviso para João' })
  expect(JSON.stringify(logged)).not.toMatch(/ana@|João/)
})

test('a refusal for now is tried again as the same message', async () => {
  const tries: (string | undefined)[] = []
  server.refuse = ({ mail }) => {
    tries.push(mail.messageId)
    if (tries.length === 1) throw refusal(451, '4.7.1 greylisted')
  }
  await queue()
  await using _ = await work()
  await becomes({ state: 'waiting', failures: 1, leased: false, payload: { name: 'João' } })
  const [row] = await rows()
  expect(row?.problem).toContain('greylisted')
  expect(row?.wait).toBeGreaterThan(20)
  expect(row?.wait).toBeLessThanOrEqual(60)
  await makeDue()
  await becomes({ state: 'sent', problem: null })
  expect(new Set(tries).size).toBe(1)
  expect(tries).toHaveLength(2)
})

test('a refusal for good is not repeated', async () => {
  server.refuse = () => {
    throw refusal(550, '5.1.1 no such mailbox')
  }
  await queue()
  await using _ = await work()
  await becomes({ state: 'failed', settled: true, payload: { name: 'João' } })
  expect((await rows())[0]?.problem).toContain('no such mailbox')
  expect(logged.filter(({ level }) => level === 50)).toHaveLength(1)
})

test('the waits grow from a minute to six hours, and end after three days', async () => {
  server.refuse = () => {
    throw refusal(451, 'later')
  }
  const minutes = [1, 5, 15, 60, 180, 360, 360]
  for (const failures of minutes.keys()) await queue({ payload: { name: String(failures) } })
  await operate(sql`
    update job j set attempts = (m.payload->>'name')::int from (select message_id, payload from mail) m where j.key = m.message_id::text`)
  await queue({ payload: { name: 'x' } })
  await setJobs('attempts = 16', `payload->>'name' = 'x'`)
  await using _ = await work()
  await becomes(...minutes.map((_, index) => ({ state: 'waiting', failures: index + 1 })), { state: 'failed' })
  const waits = (await rows()).slice(0, minutes.length).map(({ wait }) => Math.ceil(wait / 60))
  expect(waits).toEqual(minutes)
  expect(logged.filter(({ msg }) => msg === 'a mail was given up')).toMatchObject([{ level: 50 }])
})

test('what cannot or need not be said does not leave', async () => {
  await queue({ kind: 'nada' })
  await queue({ kind: 'quebrado' })
  await queue({ kind: 'inventado' })
  await queue({ kind: 'constructor' })
  await queue({ recipient: 'a@b.example,c@d.example' })
  await queue({ usefulMs: -1_000 })
  await using _ = await work()
  await becomes(
    { state: 'dropped', payload: {}, settled: true },
    { state: 'waiting', failures: 1 },
    { state: 'failed', problem: 'Este programa não conhece e-mails do tipo "inventado".' },
    { state: 'failed' },
    { state: 'dropped', recipient: 'a@b.example,c@d.example', problem: expect.stringContaining('não é um endereço') },
    { state: 'dropped', problem: expect.stringContaining('tarde demais') },
  )
  expect(server.received).toEqual([])
  const said = (level: number) => logged.filter((line) => line.level === level).map(({ msg }) => msg)
  expect(said(50).sort()).toEqual([
    'a letter could not be written',
    'a mail is of an unknown kind',
    'a mail is of an unknown kind',
  ])
  expect(said(40)).toContain('a mail has no usable recipient')
})

test('a mailbox that does not exist is for the operator to see, and no error of ours', async () => {
  await server[Symbol.asyncDispose]()
  server = await openMailServer({ onRcptTo: (_, __, done) => done(refusal(550, '5.1.1 no such mailbox')) })
  await queue()
  await using _ = await work()
  await becomes({ state: 'failed', settled: true })
  expect(logged.filter(({ msg }) => msg === 'a mail was refused for good')).toMatchObject([{ level: 40 }])
})

test('without a mail server a mail becomes a file, and the log says where, not what', async () => {
  await queue({ payload: { name: 'Conceição' } })
  await using _ = await work(context({ SMTP_URL: '', MAIL_FROM: '' }))
  await becomes({ state: 'sent' })
  const files = await readdir(join(folder, 'outbox'))
  expect(files).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-\d+\.eml$/)])
  const path = join(folder, 'outbox', files[0]!)
  const mail = await simpleParser(await readFile(path))
  expect(mail).toMatchObject({ subject: 'Aviso para Conceição', to: { text: 'ana@empresa.example' } })
  expect(mail.text).toContain('Olá, Conceição.')
  expect(logged.filter((line) => 'path' in line)).toMatchObject([{ path, kind: 'aviso' }])
  expect(JSON.stringify(logged)).not.toMatch(/ana@|Concei/)
})

test('a program that ends does not wait for a server that says nothing, and the mail is as before', async () => {
  let reached = false
  server.refuse = () => {
    reached = true
    return new Promise<void>(() => {})
  }
  await queue()
  {
    await using _ = await work()
    await vi.waitFor(() => expect(reached).toBe(true), patience)
  }
  expect(await rows()).toMatchObject([{ state: 'waiting', failures: 0, leased: false, problem: null }])
})

test('what was settled long ago is deleted; what waits never is', async () => {
  for (const name of ['old', 'recent', 'waiting']) await queue({ payload: { name } })
  await operate(sql`
    update mail set created_at = now() - interval '200 days',
           state = case payload->>'name' when 'waiting' then 'waiting' else 'failed' end,
           settled_at = case payload->>'name' when 'old' then now() - interval '91 days' when 'recent' then now() - interval '89 days' end`)
  await deleteSettledMails({ db })
  expect((await rows()).map(({ payload }) => payload)).toEqual([{ name: 'recent' }, { name: 'waiting' }])
})

test('the operator sees what did not leave and lets it be tried again', async () => {
  await queue({ recipient: 'um@x.example' })
  await queue({ recipient: 'dois@x.example', usefulMs: -1_000 })
  await queue({ recipient: 'tres@x.example', kind: 'nada' })
  await setJobs('attempts = 2', `recipient = 'dois@x.example'`)
  server.refuse = () => {
    throw refusal(550, 'no such mailbox')
  }
  {
    await using _ = await work()
    await becomes({ state: 'failed' }, { state: 'dropped' }, { state: 'dropped' })
  }
  expect(await listUnsentMails({ db })).toMatchObject([
    { recipient: 'dois@x.example', state: 'dropped' },
    { recipient: 'um@x.example', state: 'failed', problem: expect.stringContaining('no such mailbox') },
  ])
  server.refuse = () => {}
  // Mails that failed before a restore wait for the release too.
  await prepareInstallation(url, 'homologacao')
  await sql`update installation set held_since = now()`.execute(db)
  expect(await retryFailedMails({ db })).toBe(1)
  expect(await claimJob({ db } as Context, [mailJob({})], [])).toBeNull()
  await sql`update installation set held_since = null`.execute(db)
  expect(await retryFailedMails({ db })).toBe(0)
  await using _ = await work()
  await becomes({ state: 'sent', failures: 0 }, { state: 'dropped' }, { state: 'dropped' })
  expect(server.received).toHaveLength(1)
})
