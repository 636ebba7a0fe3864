import { sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { useContext } from '../platform/database.testing.ts'
import { asOperator, inCapture, inWorkspace, openDatabase } from '../platform/database.ts'
import { serveRoutes } from '../platform/http/http.ts'
import { createMetrics, serveMetrics } from '../platform/http/metrics.ts'
import { createLogger } from '../platform/log.ts'
import { newWorkspace } from '../platform/testing.ts'
import { noteTrouble } from '../platform/trouble.ts'
import { start } from '../start.ts'
import { productMetrics } from './metrics.ts'

const metricsToken = 'a-token-for-prometheus'
const authorization = `Bearer ${metricsToken}`

const { url, ctx } = await useContext()
const { db } = ctx

const config = (env: Record<string, string> = {}) =>
  readConfig({ PORT: '0', DATABASE_URL: url, LOG_LEVEL: 'silent', ...env }, process.cwd())

const server = await start(config({ METRICS_TOKEN: metricsToken }), { roles: ['api'] })
afterAll(() => server[Symbol.asyncDispose]())

/** The samples by name and labels, as they are written. */
async function scrape(): Promise<Map<string, number>> {
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
  const lines = (await response.text()).split('\n').filter((line) => line && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.replace(/ [^ ]+$/, ''), Number(line.slice(line.lastIndexOf(' ')))]))
}

describe('who may see them', () => {
  test.each([undefined, 'Bearer wrong', `Bearer ${metricsToken}x`, `Basic ${metricsToken}`, metricsToken])(
    '%s may not',
    async (given) => {
      const response = await fetch(`${server.url}/metrics`, { headers: given ? { authorization: given } : {} })
      expect(response.status).toBe(401)
      expect(await response.json()).toMatchObject({ success: false, message: 'Informe o token de METRICS_TOKEN.' })
    },
  )

  test('it is only asked for', async () => {
    const response = await fetch(`${server.url}/metrics`, { method: 'POST', headers: { authorization } })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('HEAD, GET')
    expect(await response.json()).toMatchObject({ success: false, statusCode: 405 })
  })

  test('without a token in the configuration there is no such address', async () => {
    await using other = await start(config(), { roles: ['api'] })
    const response = await fetch(`${other.url}/metrics`, { headers: { authorization } })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ success: false, message: 'Endereço não encontrado.' })
    expect((await fetch(`${other.url}/metrics`, { method: 'POST' })).status).toBe(404)
  })
})

test('requests by status', async () => {
  await fetch(`${server.url}/v1/api/Nada/secret`)
  const samples = await scrape()
  expect(samples.get('vigia_http_request_duration_seconds_count{status="404"}')).toBeGreaterThanOrEqual(1)
  expect([...samples.keys()].join()).not.toContain('secret')
  expect(samples.get('process_start_time_seconds')).toBeGreaterThan(1.5e9)
})

test('each of our metrics has our prefix, a unit or a count, and a help text', async () => {
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization } })
  const help = (await response.text()).split('\n').filter((line) => line.startsWith('# HELP vigia_'))
  expect(help.length).toBeGreaterThan(10)
  for (const line of help) expect(line).toMatch(/^# HELP vigia_[a-z]+(_[a-z]+)* [A-Z].+\.$/)
  expect(await scrape()).toHaveProperty('size')
})

test('the captures, mails, events and circuits of all workspaces', async () => {
  const empty = await scrape()
  expect(empty.get('vigia_database_up')).toBe(1)
  expect(empty.get('vigia_capture_late_seconds')).toBe(0)
  expect(empty.get('vigia_mails_waiting_seconds')).toBe(0)

  await inCapture({ db }, async ({ db }) => {
    await sql`insert into capture_line (service, cnpj, next_at, state, automatic, paused, lease_until) values
      (0, '1', now() - interval '1 hour', 'waiting', true, false, null),
      (0, '2', now() - interval '2 hours', 'failed', true, false, null),
      (0, '3', now() - interval '10 minutes', 'waiting', true, false, null),
      (2, '4', now() - interval '9 hours', 'waiting', false, false, null),
      (2, '5', now() - interval '9 hours', 'waiting', true, true, null),
      (2, '6', now() - interval '1 minute', 'waiting', true, false, now() + interval '1 minute'),
      (2, '7', null, 'stopped', true, false, null)`.execute(db)
    await sql`update capture_line set trouble_since = now() - interval '7 hours' where state <> 'waiting'`.execute(db)
    await sql`insert into capture_gap (line_id, from_nsu, to_nsu, lost, passed)
      select id, n, n + 4, n < 20, n = 10 from capture_line, unnest(array[1, 10, 20]) n where cnpj = '2'`.execute(db)
    await sql`insert into capture_call (line_id, at, query, answer, nsu_before, nsu_after)
      select id, now() - interval '5 hours', 'page', 'end', 0, 0 from capture_line`.execute(db)
    await sql`insert into circuit (address, failures, since, reason, open_until)
      values ('a', 9, now(), 'timeout', now() + interval '1 hour'), ('b', 2, now(), 'timeout', null)`.execute(db)
  })
  const workspaceId = await newWorkspace(db)
  await inWorkspace({ db }, workspaceId, async ({ db }) => {
    await sql`insert into company (workspace_id, id, cnpj, name, search, uf) values (${workspaceId}, 1, '44555666000181', 'x', 'x', 35)`.execute(
      db,
    )
    await sql`insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, why, state, next_at)
      select ${workspaceId}, 1, n, 0, '1', n::text, 210210, 1, 'x', state, now() - n * interval '1 hour'
        from (values (1, 'waiting'), (2, 'waiting'), (3, 'sending'), (9, 'registered')) v(n, state) returning id`.execute(
      db,
    )
  })
  await asOperator({ db }, ({ db }) =>
    sql`insert into mail (kind, recipient, state, created_at, settled_at) values
      ('x', 'a@b.example', 'waiting', now() - interval '1 hour', null), ('x', 'a@b.example', 'waiting', now(), null),
      ('x', 'a@b.example', 'failed', now(), now()), ('x', 'a@b.example', 'failed', now(), now() - interval '2 days'),
      ('x', 'a@b.example', 'sent', now(), now())`.execute(db),
  )

  await noteTrouble({ db }, 'relogio', 'O relógio está errado.')
  await sql`update trouble set since = now() - interval '4 hours'`.execute(db)

  await sql`insert into clock_skew (service, seconds, odd) values (2, -400, 2)`.execute(db)

  const samples = await scrape()
  const near = (name: string, hours: number) => {
    expect(samples.get(name), name).toBeGreaterThanOrEqual(hours * 3600)
    expect(samples.get(name), name).toBeLessThan(hours * 3600 + 120)
  }
  near('vigia_capture_late_seconds', 2)
  near('vigia_mails_waiting_seconds', 1)
  near('vigia_outgoing_events_due_seconds', 3)
  near('vigia_trouble{key="relogio"}', 4)
  near('vigia_capture_last_query_seconds', 5)
  expect(samples.get('vigia_capture_lines_stuck{state="failed"}')).toBe(1)
  expect(samples.get('vigia_capture_lines_stuck{state="stopped"}')).toBe(1)
  expect(samples.get('vigia_capture_lost_positions')).toBe(5)
  expect(samples.get('vigia_circuits_open')).toBe(1)
  expect(samples.get('vigia_clock_skew_seconds')).toBe(-400)
})

test('a database that does not answer hides no other metric', async () => {
  const lines: string[] = []
  const narrow = openDatabase(url, { connections: 1 })
  const log = createLogger('info', { write: (line) => lines.push(line) })
  const narrowed = { ...ctx, db: narrow, config: config({ METRICS_TOKEN: metricsToken }), log }
  const app = await serveRoutes(narrowed, [], async () => null)
  const roles = { api: 'ready', worker: 'not-ready' }
  serveMetrics(
    app,
    narrowed,
    createMetrics(narrowed, productMetrics, [], async () => ({ roles })),
  )
  const ask = () => app.inject({ url: '/metrics', headers: { authorization } })
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
  const taken = Promise.withResolvers<void>()
  const stuck = narrow.connection().execute(() => {
    taken.resolve()
    return held
  })
  await taken.promise
  const { statusCode, body } = await ask()
  expect(statusCode).toBe(200)
  expect(body).toContain('vigia_database_up 0')
  expect(body).not.toMatch(/^vigia_mails_waiting_seconds \d/m)
  expect(body).toContain('vigia_ready{role="api"} 1')
  expect(body).toContain('vigia_ready{role="worker"} 0')
  expect(lines.join()).toContain('metrics of the database are missing')
  letGo()
  await stuck
  expect((await ask()).body).toContain('vigia_database_up 1')
  await app.close()
  await narrow.destroy()
})
