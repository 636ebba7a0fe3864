import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useFolder } from '../../tests/support/folder.ts'
import { useDatabase } from './platform/database.testing.ts'
import { createHealth, openProbes } from './platform/http/probes.ts'
import { readConfig, type Server, start } from './start.ts'

const metricsToken = 'a-token-for-prometheus'
const headers = { authorization: `Bearer ${metricsToken}` }

const { url } = await useDatabase()
const dataDir = await useFolder()
let probes: Awaited<ReturnType<typeof openProbes>>
let server: Server
const health = createHealth(['worker'])

const config = (env: Record<string, string> = {}) =>
  readConfig(
    {
      PORT: '0',
      PROBE_PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      LOG_LEVEL: 'silent',
      // Its authority needs no file of a simulator.
      SEFAZ_AMBIENTE: 'homologacao',
      CADASTRO: 'aberto',
      PLANOS: 'ligados',
      ...env,
    },
    process.cwd(),
  )
const ask = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${probes.port}${path}`, init)

beforeAll(async () => {
  probes = await openProbes(config({ METRICS_TOKEN: metricsToken }), health)
  // Nothing is ready before it has begun.
  expect((await ask('/live')).status).toBe(200)
  expect([(await ask('/ready')).status, await (await ask('/ready')).json()]).toEqual([
    503,
    { ready: false, roles: { worker: 'starting' } },
  ])
  expect((await ask('/metrics', { headers })).status).toBe(503)
  server = await start(config({ METRICS_TOKEN: metricsToken }), { roles: ['worker'], health })
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await probes[Symbol.asyncDispose]()
})

test('a process that only captures says that it lives, is ready, and what it measures', async () => {
  expect(await (await ask('/ready')).json()).toEqual({ ready: true, roles: { worker: 'ready' } })
  const response = await ask('/metrics', { headers })
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
  const text = await response.text()
  expect(text).toContain('vigia_database_up 1')
  expect(text).toContain('vigia_ready{role="worker"} 1')
})

test('numbers are for who has the token, and nothing else is there', async () => {
  expect((await ask('/metrics')).status).toBe(401)
  expect((await ask('/metrics', { headers: { authorization: 'Bearer no' } })).status).toBe(401)
  expect((await ask('/v1/api/Dashboard')).status).toBe(404)
  expect((await ask('/ready', { method: 'POST' })).status).toBe(405)
})

test('each metric of the alarms exists', async () => {
  // Metrics of an embedded database that is backed up.
  const known = new Set<string>()
  const { backupMetrics } = await import('./operations/backup/worker.ts')
  const copied = config({ BACKUP_DIR: `${dataDir}-copies`, BACKUP_KEY: Buffer.alloc(32, 1).toString('base64') })
  const ofCopies = backupMetrics({ config: { ...copied, databaseUrl: undefined } })
  for (const { name } of ofCopies.getMetricsAsArray()) known.add(name)
  await using api = await start(config({ METRICS_TOKEN: metricsToken }), { roles: ['api'] })
  const text = await (await fetch(`${api.url}/metrics`, { headers })).text()
  for (const [, name] of text.matchAll(/^# TYPE (\w+)/gm)) known.add(name!)

  const named = new Set<string>()
  const source = await readFile(new URL('../../deploy/prometheus-rules.yml', import.meta.url), 'utf8')
  for (const [, expression] of source.matchAll(/expr: '(.*)'$/gm))
    for (const [name] of expression!.matchAll(/\bvigia_\w+/g)) named.add(name.replace(/_(bucket|count|sum)$/, ''))
  expect(named.size).toBeGreaterThan(12)
  expect([...named].filter((name) => !known.has(name))).toEqual([])
})

const isThere = spawnSync('promtool', ['--version']).status === 0
if (!isThere) console.log('there is no promtool on this machine: deploy/prometheus-rules.yml is not tried')

test.runIf(isThere)('Prometheus takes the alarms', () => {
  const cwd = new URL('../../deploy/', import.meta.url)
  const { status, stdout, stderr } = spawnSync('promtool', ['check', 'rules', 'prometheus-rules.yml'], {
    cwd,
    encoding: 'utf8',
  })
  expect(status, stdout + stderr).toBe(0)
})

test('who is told to end is ready no more, and lives', async () => {
  health.drain()
  expect((await ask('/ready')).status).toBe(503)
  expect(await (await ask('/ready')).json()).toEqual({ ready: false, roles: { worker: 'draining' } })
  expect((await ask('/live')).status).toBe(200)
})
