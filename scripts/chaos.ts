import { fork } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { openReceived } from '@vigia/server/documents/received/bytes'
import { prepareRestored } from '@vigia/server/operations/backup/backup'
import { operate, readConfig, rebuildAll, releaseHeld, start } from '@vigia/server/start'
import { start as startSimulator } from '@vigia/simulator/start'
import pg from 'pg'
import { control, order, type TruthRow, truthOf, weeksAgo } from '../tests/support/authority.ts'
import { type Client, type ListRow, newClient } from '../tests/support/client.ts'
import { keepFilesInMemory } from '../tests/support/memory.ts'
import { startDatabase } from '../tests/support/postgres.ts'

// The whole product against every fault: `npm run chaos -- --seed 7`. Workers are killed, answers get lost, the database and the disk
// fail; then everything is compared with what the simulated authority knows. A seed repeats the choices, not the instants.

type Service = 'nfe' | 'cte'
type Chance = ReturnType<typeof newChance>
type Planned = { cnpj: string; nome: string; uf: string; acknowledges: boolean }
type Company = Planned & { id: string; client: Client; workspace: number }
/** As the authority noted it; `counted` changed what it knows of the caller, `excused` is a 656 after a lost answer. */
type Call = { id: number; at: string; service: Service; of: string; taxId?: string; query?: object; cStat?: number } & {
  fault?: string
  counted: boolean
  excused?: boolean
}
/** An event that was sent to the authority; with `nProt` it is registered. */
type Sent = { service: Service; chave: string; tpEvento: number; nSeqEvento: number; author: string; cStat: number } & {
  nProt?: string
  sendings: { at: string; cStat: number }[]
}
/** An event as the product keeps it; `document` is its key without the number. */
type Outgoing = {
  document: string
  sequence: number
  state: string
  message: string
  cStat: number | null
  protocol: string | null
}
type Asked = { key: string; accepted: boolean }

/** Runs a role of the product in this process until the parent ends it; without an order it ends at once. */
async function runRole(order: string): Promise<void> {
  if (!order) process.exit()
  process.on('disconnect', () => process.exit())
  const { role, environment, directory, times } = JSON.parse(order)
  const config = readConfig(environment, directory)
  const server = await start({ ...config, sefaz: { ...config.sefaz, ...times } }, { roles: [role] })
  process.send?.({ url: server.url })
  process.on('SIGTERM', () => void server[Symbol.asyncDispose]().then(() => process.exit()))
}

async function runChaos(): Promise<void> {
  const began = performance.now()
  const say = (text: string) => console.log(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`)
  const { values } = parseArgs({ options: { seed: { type: 'string' } } })
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
  if (!Number.isInteger(seed) || seed < 0) throw new Error(`--seed takes a whole number, not ${values.seed}`)
  keepFilesInMemory()
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'vigia-compiled')
  // How many times slower than two quiet cores this machine is: two processes load the server. All times grow by it.
  const loading = performance.now()
  await Promise.all([0, 1].map(() => new Promise((ended) => fork(import.meta.filename, ['role']).once('close', ended))))
  const pace = Math.min(2, Math.max(1, Math.ceil((2 * (performance.now() - loading)) / 1_500) / 2))
  console.log(`seed ${seed}, all times ${pace} times as long as usual`)
  const [hourMs, marginMs, answerMs, everyMs] = [1_000 * pace, 500 * pace, 400 * pace, 200 * pace]
  const checks: [name: string, problems: string[]][] = []
  await using stack = new AsyncDisposableStack()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void stack.disposeAsync().finally(() => process.exit(1)))

  const directory = await mkdtemp(join(tmpdir(), 'vigia-chaos-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  const { url } = stack.use(await startDatabase(directory, { durable: true }))
  const database = new pg.Pool({ connectionString: url, max: 4 })
  database.on('error', () => {})
  stack.defer(() => database.end())
  // The database may be down when it is asked.
  const query = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> => {
    for (const since = performance.now(); ; await sleep(50))
      try {
        return (await database.query<Row>(text)).rows
      } catch (error) {
        const refused = error instanceof pg.DatabaseError && !error.code?.startsWith('57P')
        if (refused || performance.now() - since > 60_000) throw error
      }
  }

  const busy = { companies: [...new Set(workspaces.flat())], liveEveryMs: everyMs, since: weeksAgo() }
  const options = { directory: join(directory, 'simulator'), seed, hourMs }
  let simulator = await startSimulator({ ...options, port: 0, ...busy })
  stack.defer(() => simulator[Symbol.asyncDispose]())
  const { port } = simulator
  const earlier: Call[] = []
  // Restarts the authority, with or without new documents; no calls may be under way.
  const replaceAuthority = async (isBusy: boolean) => {
    earlier.push(...(await callsMade()).slice(earlier.length))
    await simulator[Symbol.asyncDispose]()
    simulator = await startSimulator({ ...options, port, ...(isBusy && busy) })
  }
  const eventsSent = async () => (await control<{ events: Sent[] }>(simulator, 'events')).events
  const callsMade = async () => {
    const lists = ['distribution', 'events'].map((of) => control<{ calls: Call[] }>(simulator, `calls?of=${of}`))
    return [...earlier, ...(await Promise.all(lists)).flatMap(({ calls }) => calls)]
  }

  const environment = { DATA_DIR: directory, DATABASE_URL: url, SIMULATOR_PORT: String(port), LOG_LEVEL: 'error' }
  const times = { hourMs, pagePauseMs: hourMs / 1800, marginMs, answerMs }
  const config = readConfig(environment, directory)
  // Starts a role as its supervisor would: again when the database is down.
  const startRole = async (role: 'api' | 'worker', apiPort = '0') => {
    for (let failures = 0; ; failures++) {
      const given = JSON.stringify({ role, environment: { ...environment, PORT: apiPort }, directory, times })
      const child = fork(import.meta.filename, ['role', given], { stdio: 'ignore' })
      const ended = new Promise<null>((resolve) => child.once('close', () => resolve(null)))
      const ready = await Promise.race([ended, once(child, 'message')])
      if (ready) return { url: String(ready[0].url), child, ended }
      if (failures === 10) throw new Error(`${role} did not start`)
      await sleep(200)
    }
  }
  const end = async ({ child, ended }: Awaited<ReturnType<typeof startRole>>, how: NodeJS.Signals = 'SIGTERM') => {
    child.kill(how)
    await ended
  }
  let api = await startRole('api')
  stack.defer(() => end(api))
  await query(triggers)
  const companies: Company[] = []
  for (const [workspace, planned] of workspaces.entries()) {
    const client = await newClient({ url: api.url, simulator })
    for (const company of planned) {
      const form = new FormData()
      form.append('IdEmpresa', await client.register(company.cnpj, company.nome))
      form.append('RazaoSocial', company.nome)
      form.append('ConfiguracoesNfe.ManifestarCienciaAutomaticamente', String(company.acknowledges))
      await client.call('PUT', '/v1/api/Empresas', form)
      companies.push({ ...company, client, workspace, id: String(form.get('IdEmpresa')) })
    }
  }

  try {
    const asked = await trouble()
    const worker = await proveFullDisk()
    const pending = await settle()
    await end(worker)
    checks.push(['everything settled, no gap is left', pending], ...(await compareDocuments('')))
    checks.push(...(await compareCalls()), ...(await compareEvents(asked)))
    await rebuild()
    await restore(asked)
  } catch (error) {
    console.log(error)
    checks.push(['it ran to its end', [String(error)]])
  }
  await stack.disposeAsync()
  const failed = checks.filter(([, problems]) => problems.length > 0)
  for (const [name, problems] of failed)
    console.log(`✗ ${name}\n    ${problems.slice(0, 20).join('\n    ')}\n    ${problems.length} in all`)
  if (failed.length > 0) console.log(`Repeat with: npm run chaos -- --seed ${seed}`)
  console.log(`${checks.length - failed.length} passed, ${failed.length} failed`)
  process.exit(failed.length > 0 ? 1 : 0)

  // Eight hours of the authority with every fault, and on a slow machine more, until people could ask for events; returns these.
  async function trouble(): Promise<Asked[]> {
    say(`${companies.length} companies, an hour of ${hourMs / 1000} s; eight hours of trouble begin`)
    const since = performance.now()
    let [killed, databases, disks] = [0, 0, 0]
    const asked: Asked[] = []
    const isOver = () => performance.now() - since > (asked.length > 0 ? 8 : 40) * hourMs
    const again = async (chance: Chance, from: number, to: number, work: () => Promise<void>) => {
      for (;;) {
        await sleep(chance.between(from, to))
        if (isOver()) return
        await work()
      }
    }
    const { available } = await control<{ available: string[] }>(simulator, 'faults')
    for (const fault of available)
      await order(simulator, 'faults', {
        fault,
        probability: harmless.has(fault) ? 0.1 : 0.02,
        delayMs: 1.3 * answerMs,
      })
    const keepKilling = async (chance: Chance) => {
      let worker = await startRole('worker')
      // The next one starts before one is killed, so something is always under way.
      await again(chance, 100 * pace, 1_000 * pace, async () => {
        const next = await startRole('worker')
        await end(worker, 'SIGKILL')
        killed++
        worker = next
      })
      await end(worker, 'SIGKILL')
      killed++
    }
    const faultChance = newChance(seed)
    const diskChance = newChance(seed + 5)
    const people = askForEvents(newChance(seed + 1), isOver, asked)
    people.catch(() => {})
    await Promise.all([
      keepKilling(newChance(seed + 2)),
      keepKilling(newChance(seed + 3)),
      again(faultChance, hourMs / 2, 2 * hourMs, async () => {
        const [fault, durationMs] = [faultChance.pick(available), faultChance.between(hourMs / 30, hourMs / 4)]
        await order(simulator, 'faults', { fault, probability: 0.7, durationMs, delayMs: 1.3 * answerMs })
      }),
      again(newChance(seed + 4), 3 * hourMs, 4 * hourMs, async () => {
        // A server that cannot be started again three times within ten minutes is left to a person.
        if (databases === 2) return
        await query('select')
        const [pid] = (await readFile(join(directory, 'postgres/postmaster.pid'), 'utf8')).split('\n')
        process.kill(Number(pid), 'SIGKILL')
        databases++
      }),
      again(diskChance, hourMs, 3 * hourMs, async () => {
        await query('update chaos.disk set is_full = true')
        disks++
        await sleep(diskChance.between(hourMs / 4, hourMs))
        await query('update chaos.disk set is_full = false')
      }),
    ])
    await order(simulator, 'faults', undefined, 'DELETE')
    await people
    const all = await callsMade()
    const faults = all.filter(({ fault }) => fault !== undefined).length
    say(`${all.length} calls, ${faults} with a fault; ${killed} workers killed`)
    say(`${databases} databases killed, ${disks} full disks, ${asked.length} events asked for`)
    checks.push(['there was trouble', [faults, killed, databases, disks, asked.length].includes(0) ? ['none'] : []])
    // The authority cannot know which answers were never written down.
    const lost = (await matchCalls()).flat().filter(({ counted, isWritten }) => counted && !isWritten)
    await order(simulator, 'lost', { ids: lost.map(({ id }) => id) })
    await replaceAuthority(false)
    return asked
  }

  // True once that time has passed.
  function after(ms: number): () => boolean {
    const until = performance.now() + ms
    return () => performance.now() > until
  }

  // People who ask for events, now and then for the same one twice at once.
  async function askForEvents(chance: Chance, isOver: () => boolean, asked: Asked[] = []): Promise<Asked[]> {
    const person = async () => {
      for (; !isOver(); await sleep(chance.between(0, 2 * everyMs * people))) {
        const { client, id, cnpj } = chance.pick(companies)
        if (chance.next() < 0.2) await client.call('POST', `/v1/api/Empresas/sincronizar?idEmpresa=${id}`)
        const [service, tpEvento, tipoManifestacao] = chance.pick(answerKinds)
        const type = service === 'nfe' ? 0 : 2
        const query = `TipoDFe=${type}&IdEmpresa=${id}`
        const { status, body } = await client.call<{ items: ListRow[] }>('GET', `/v1/api/DocumentosFiscais?${query}`)
        if (!body.success && status !== 503) throw new Error(`list: ${status} ${body.message}`)
        const rows = body.data?.items ?? []
        if (rows.length === 0) continue
        const chosen = [...new Set(Array.from({ length: chance.pick([1, 1, 2, 4]) }, () => chance.pick(rows)))]
        const answer = { tipoManifestacao, justificativa, idsDFe: chosen.map(({ idDfe }) => idDfe) }
        const manifest = async () => {
          const path = `/v1/api/DocumentosFiscais/manifestar-${service}`
          const { status, body } = await client.call<{ documentos: { chave: string; situacao: string }[] } | null>(
            'POST',
            path,
            answer,
          )
          if (status >= 500 && status !== 503) throw new Error(`${path}: ${status} ${body.message}`)
          const results = body.data?.documentos
          for (const { chave } of chosen) {
            const situacao = results?.find((one) => one.chave === chave)?.situacao
            const accepted = situacao !== undefined && situacao !== 'recusada'
            asked.push({ key: `${service} ${cnpj} ${chave} ${tpEvento}`, accepted })
          }
        }
        await Promise.all(Array.from({ length: chance.next() < 0.2 ? 2 : 1 }, manifest))
      }
    }
    const people = 6
    await Promise.all(Array.from({ length: people }, person))
    return asked
  }

  // P7: a worker that cannot store queries nothing, and resumes when it can. Returns the worker.
  async function proveFullDisk() {
    const since = new Date().toISOString()
    await query('update chaos.disk set is_full = true')
    const worker = await startRole('worker')
    await sleep(2 * hourMs)
    const calls = (await callsMade()).filter(({ of, at }) => of === 'distribution' && at > since)
    checks.push(['nothing is asked while storing fails', calls.map(({ at }) => `a query at ${at}`)])
    await query('update chaos.disk set is_full = false')
    return worker
  }

  // Waits until nothing is under way, or no event where `events` may be; returns what still is when the patience ends.
  async function settle({ events = true } = {}): Promise<string[]> {
    // A killed process holds its job for two minutes, and an automatic event waits until the alerts have judged its document.
    const patience = performance.now() + Math.max(60 * hourMs, 150_000 * pace)
    // A registered event releases its document, so each line has to be asked once more.
    for (let quietMs = 0; quietMs < 2.5 * hourMs; await sleep(hourMs / 10)) {
      const pending = await pendingOf(events)
      quietMs = pending.length > 0 ? 0 : quietMs + hourMs / 10
      if (performance.now() > patience) return [...pending, 'the patience ended']
    }
    return []
  }

  async function pendingOf(events: boolean): Promise<string[]> {
    const { sequences } = await control<{ sequences: { service: string; cnpj: string; maxNSU: number }[] }>(
      simulator,
      'state',
    )
    const highest = new Map(sequences.map(({ service, cnpj, maxNSU }) => [`${service} ${cnpj}`, maxNSU]))
    const lines = await query<{ line: string; last: string; missing: number }>(
      `select ${service('l.service')} || ' ' || l.cnpj as line, l.last_nsu as last,
              (select count(*)::int from capture_gap g where g.line_id = l.id and not g.passed)
              + (select count(*)::int from capture_subscription s where s.line_id = l.id and s.delivered_nsu <> l.last_nsu) as missing
         from capture_line l`,
    )
    // A page whose thread was late is read again by a job.
    const unread = await query<{ nsu: string }>('select nsu::text from receipt where again_at is not null')
    const open = events ? (await readOutgoing()).filter(({ state }) => state === 'waiting' || state === 'sending') : []
    return [
      ...lines
        .filter(({ line, last, missing }) => Number(last) !== (highest.get(line) ?? 0) || missing > 0)
        .map(({ line, last, missing }) => `${line} is at ${last} of ${highest.get(line)}, ${missing} missing`),
      ...unread.map(({ nsu }) => `NSU ${nsu} is not read`),
      ...open.map(({ document, state, message }) => `${document} is ${state}: ${message}`),
    ]
  }

  function readOutgoing(): Promise<Outgoing[]> {
    return query(`select ${service('type')} || ' ' || cnpj || ' ' || chave || ' ' || tp_evento as document, sequence, state, message,
                         c_stat as "cStat", protocol from outgoing_event`)
  }

  // The calls of each line in order; an answer is written down after its call came and before the next one left.
  async function matchCalls() {
    const rows = await query<{ line: string; at: number; cStat: number | null }>(
      `select ${service('l.service')} || ' ' || l.cnpj as line, (extract(epoch from k.at) * 1000)::float8 as at, k.c_stat as "cStat"
         from capture_call k join capture_line l on l.id = k.line_id`,
    )
    const calls = (await callsMade()).filter(({ of, taxId }) => of === 'distribution' && taxId !== undefined)
    const lines = Map.groupBy(calls, ({ service, taxId }) => `${service} ${taxId}`)
    return [...lines].map(([line, all]) => {
      const sorted = all.map((call) => ({ ...call, time: Date.parse(call.at) })).sort((a, b) => a.time - b.time)
      const written = rows.filter((row) => row.line === line)
      return sorted.map((call, n) => {
        const next = sorted[n + 1]?.time ?? Number.POSITIVE_INFINITY
        const isOfCall = ({ at, cStat }: { at: number; cStat: number | null }) =>
          at >= call.time && at <= next && cStat === call.cStat
        return { ...call, isWritten: written.some(isOfCall) }
      })
    })
  }

  // P1, P4: the bytes of each company against the authority.
  async function compareDocuments(prefix: string): Promise<typeof checks> {
    const receipts = await query<{ of: string; nsu: string; unread: boolean; content: Buffer }>(
      `select w.number || ' ' || c.cnpj || ' ' || ${service('r.service')} as of, r.nsu, r.unread,
              r.content || coalesce(k.der, '') as content
         from receipt r left join issuer_certificate k on k.workspace_id = r.workspace_id and k.id = r.issuer_certificate_id
         join company c on c.workspace_id = r.workspace_id and c.id = r.company_id
         join (select id, row_number() over (order by id) - 1 as number from workspace) w on w.id = r.workspace_id`,
    )
    const held = Map.groupBy(receipts, ({ of }) => of)
    const result: typeof checks = []
    for (const { cnpj, workspace } of companies)
      for (const family of ['nfe', 'cte']) {
        const truth = (await truthOf(simulator, cnpj)).filter((row) => row.service === family)
        const problems = compareReceipts(truth, held.get(`${workspace} ${cnpj} ${family}`) ?? [])
        result.push([`${prefix}${cnpj} ${family} of workspace ${workspace}: receipts`, problems])
      }
    return result
  }

  // P2: every query was written before it left, none was early, none twice at a time.
  async function compareCalls(): Promise<typeof checks> {
    const written = await query<{ key: string; at: number }>(
      'select key, (extract(epoch from at) * 1000)::float8 as at from chaos.announced order by at',
    )
    const queries = (await callsMade()).filter(({ of, taxId }) => of === 'distribution' && taxId !== undefined)
    const left = [
      ...queries.map(({ service, taxId, at }) => ({ key: `${service} ${taxId}`, at: Date.parse(at) })),
      ...(await eventsSent()).flatMap(({ service, author, chave, tpEvento, sendings }) =>
        sendings.map(({ at }) => ({ key: `${service} ${author} ${chave} ${tpEvento}`, at: Date.parse(at) })),
      ),
    ]
    const times = Map.groupBy(written, ({ key }) => key)
    // At each moment as many were written as had left.
    const unannounced = [...Map.groupBy(left, ({ key }) => key)].flatMap(([key, calls]) =>
      calls.sort((a, b) => a.at - b.at).filter(({ at }, n) => !(Number(times.get(key)?.[n]?.at) <= at + 1)),
    )
    const misused = (await matchCalls()).flatMap((line) =>
      line.filter(({ cStat, excused }, n) => {
        const before = line.slice(0, n).findLast(({ counted }) => counted)
        return cStat === 656 && !excused && before?.isWritten !== false
      }),
    )
    return [
      ['all was written before it left', unannounced.map(({ key, at }) => `${key} at ${new Date(at).toISOString()}`)],
      ['no 656 that we are to blame for', misused.map((one) => JSON.stringify(one))],
    ]
  }

  // P3: events are registered once, wanted, kept, and told as the authority has them.
  async function compareEvents(asked: readonly Asked[]): Promise<typeof checks> {
    const outgoing = await readOutgoing()
    const sent = await eventsSent()
    const known = new Set(outgoing.map(({ document }) => document))
    const forgotten = asked.filter(({ key, accepted }) => accepted && !known.has(key)).map(({ key }) => key)
    return [
      ['events: told as registered', outgoing.flatMap((event) => wronglyTold(event, outgoing, sent))],
      ['events: registered once', registeredTwice(sent)],
      ['events: wanted', unwanted(sent, asked)],
      ['events: not forgotten', forgotten],
    ]
  }

  // P5: rebuilding from the received bytes changes nothing but proofs, which a busy machine leaves to the night.
  async function rebuild(): Promise<void> {
    const read = async () => {
      // A counter may stand at zero.
      const select = (table: string) =>
        `select '${table} ' || (to_jsonb(t) - '{created_at,proof,judged_at,judge_at}'::text[])::text as row from ${table} t where to_jsonb(t) ->> 'n' is distinct from '0'`
      const tables = ['document', 'document_event', 'count_month']
      return (await query<{ row: string }>(`${tables.map(select).join(' union all ')} order by 1`)).map(
        ({ row }) => row,
      )
    }
    const before = await read()
    await operate(config, (ctx) => rebuildAll(ctx, () => {}))
    const after = await read()
    const kept = new Set(after)
    const changed = before.filter((row) => !kept.has(row)).map((row) => `${row} is gone`)
    if (after.length !== before.length) changed.push(`${before.length} rows became ${after.length}`)
    checks.push(['a rebuild gives the same', changed])
    say(`${before.length} rows were rebuilt`)
  }

  // P8: a database of before comes back; it refills, and no event, webhook or mail of before leaves before a person releases it.
  async function restore(askedBefore: readonly Asked[]): Promise<void> {
    const own = new URL(url).pathname.slice(1)
    const outside = new pg.Client({ connectionString: new URL('/postgres', url).href })
    await outside.connect()
    const whileClosed = async (...statements: string[]) => {
      const apiPort = new URL(api.url).port
      await end(api)
      const sessions = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${own}' and backend_type = 'client backend'`
      for (const statement of [sessions, ...statements]) await outside.query(statement)
      api = await startRole('api', apiPort)
    }
    const sendings = async () => (await eventsSent()).reduce((sum, event) => sum + event.sendings.length, 0)
    await query(`
      with w as (insert into webhook (workspace_id, url, kinds, secret, version) select id, 'https://127.0.0.1:1/', '{}', 'x', 0 from workspace limit 1
                 returning workspace_id, id, public_id),
      m as (insert into mail (workspace_id, kind, recipient, payload)
            select workspace_id, 'webhook-pausado', 'ana@exemplo.com.br', jsonb_build_object('webhook', public_id) from w
            returning workspace_id, message_id),
      d as (insert into webhook_delivery (workspace_id, webhook_id, version, kind, body) select workspace_id, id, 1, 'x', '{}' from w
            returning workspace_id, id)
      insert into job (kind, workspace_id, key)
      select 'mail', workspace_id, message_id::text from m union all select 'webhook', workspace_id, id::text from d`)
    const copiedAt = new Date()
    await whileClosed(`create database copy template ${own}`)
    const inCopy = await sendings()
    await replaceAuthority(true)
    const before = await startRole('worker')
    const asked = [...askedBefore]
    // Six hours, and on a slow machine more, until events left.
    const isLate = after(40 * hourMs)
    for (const chance = newChance(seed + 8); ; ) {
      await askForEvents(chance, after(6 * hourMs), asked)
      await sleep(hourMs)
      if (isLate() || (await sendings()) > inCopy) break
    }
    await end(before)
    await replaceAuthority(false)
    const since = await sendings()
    await prepareRestored(new URL('/copy', url).href, copiedAt)
    await whileClosed(`drop database ${own} with (force)`, `alter database copy rename to ${own}`)
    await outside.end()
    say('the database is back from a copy')
    const worker = await startRole('worker')
    const refilled = await settle({ events: false })
    const told = await query<{ of: string }>(
      "select kind as of from mail where kind = 'webhook-pausado' and state <> 'waiting' union all select 'webhook' from webhook_delivery where attempts > 0",
    )
    const whileHeld = await sendings()
    await operate(config, (ctx) => releaseHeld(ctx, { withoutAutomatic: false }))
    const pending = await settle()
    await end(worker)
    const sent = await eventsSent()
    checks.push(
      ['restore: events had left after the copy', since > inCopy ? [] : ['none']],
      ['restore: no webhook or mail of before leaves before the release', told.map(({ of }) => of)],
      ['restore: all is captured before the release', refilled],
      ['restore: no event leaves before the release', whileHeld > since ? [`${whileHeld - since} left`] : []],
      ['restore: everything settled', pending],
      ['restore: events registered once', registeredTwice(sent)],
      ['restore: events wanted', unwanted(sent, asked)],
      ...(await compareDocuments('restore: ')),
    )
    say('released and settled')
  }
}

const planned = (first12: string, uf: string, acknowledges: boolean): Planned => {
  const cnpj = first12 + cnpjCheckDigits(first12)
  return { cnpj, nome: `EMPRESA ${cnpj} LTDA`, uf, acknowledges }
}
const shared = planned('12ABC34501DE', 'SP', true)
const workspaces = [
  [planned('445556660001', 'SC', true), shared],
  [shared, planned('12ABC34502DE', 'SP', false)],
]
const justificativa = 'Mercadoria devolvida no recebimento, conforme conferência'
const answerKinds = [
  ['nfe', 210210, 1],
  ['nfe', 210200, 2],
  ['nfe', 210220, 3],
  ['nfe', 210240, 4],
  ['cte', 610110, 610110],
] as const
// After these the conversation goes on, so there may be more of them.
const harmless = new Set(['corruptedDocZip', 'unknownSchema', 'maxNsuZero'])
const service = (column: string) => `case ${column} when 0 then 'nfe' else 'cte' end`

// A disk that can be filled, and what was written before each query and event: the product forgets it with the answer.
const triggers = `
  create schema chaos;
  create table chaos.disk (is_full boolean not null);
  insert into chaos.disk values (false);
  create function chaos.need_room() returns trigger language plpgsql security definer as $$ begin
    if (select is_full from chaos.disk) then raise sqlstate '53100'; end if;
    return new;
  end $$;
  create table chaos.announced (key text not null, at timestamptz not null default clock_timestamp());
  create function chaos.query() returns trigger language plpgsql security definer as $$ begin
    insert into chaos.announced values (concat_ws(' ', ${service('new.service')}, new.cnpj));
    return null;
  end $$;
  create function chaos.event() returns trigger language plpgsql security definer as $$ begin
    insert into chaos.announced values (concat_ws(' ', ${service('new.type')}, new.cnpj, new.chave, new.tp_evento));
    return null;
  end $$;
  grant usage on schema chaos to public;
  create trigger no_room before insert on receipt for each row execute function chaos.need_room();
  create trigger no_room before insert on storage_probe for each row execute function chaos.need_room();
  create trigger announced after update of asked_at on capture_line for each row
    when (new.asked_at is not null) execute function chaos.query();
  create trigger announced after update of sent_at on outgoing_event for each row
    when (new.sent_at is not null) execute function chaos.event()`

/** Choices that a seed repeats: mulberry32. */
function newChance(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)]!
  return { next, pick, between: (from: number, to: number) => from + next() * (to - from) }
}

// Null: a damaged answer, which cannot be opened.
function hash(content: Buffer): string | null {
  try {
    return createHash('sha256').update(openReceived(content)).digest('hex')
  } catch {
    return null
  }
}

function compareReceipts(
  truth: readonly TruthRow[],
  held: readonly { nsu: string; unread: boolean; content: Buffer }[],
) {
  const hashed = held.map((row) => ({ ...row, sha256: hash(row.content) }))
  const byNsu = new Map(hashed.map((row) => [Number(row.nsu), row]))
  // Whole copies of documents that arrived damaged have positions below zero.
  const whole = new Set(hashed.filter(({ nsu, unread }) => Number(nsu) < 0 && !unread).map(({ sha256 }) => sha256))
  const known = new Set(truth.map(({ nsu }) => Number(nsu)))
  const isRight = ({ nsu, sha256 }: TruthRow) => {
    const row = byNsu.get(Number(nsu))
    return row && (row.unread ? whole.has(sha256) : row.sha256 === sha256)
  }
  return [
    ...truth
      .filter((row) => !isRight(row))
      .map(({ nsu, kind, chave }) => `NSU ${nsu} (${kind} of ${chave}) is not as there`),
    ...[...byNsu.keys()].filter((nsu) => nsu > 0 && !known.has(nsu)).map((nsu) => `NSU ${nsu} is not of the authority`),
  ]
}

const keyOf = ({ service, author, chave, tpEvento }: Sent) => `${service} ${author} ${chave} ${tpEvento}`

function registeredTwice(sent: readonly Sent[]): string[] {
  const isRegistered = ({ cStat }: { cStat: number }) => [134, 135, 136].includes(cStat)
  return sent.filter(({ sendings }) => sendings.filter(isRegistered).length > 1).map(keyOf)
}

// Events that neither a person nor a switch wanted. A number 2 after a 573 is of the same request.
function unwanted(sent: readonly Sent[], asked: readonly Asked[]): string[] {
  const requested = new Set(asked.map(({ key }) => key))
  const isAutomatic = ({ tpEvento, author }: Sent) =>
    tpEvento === 210210 && workspaces.flat().some(({ cnpj, acknowledges }) => acknowledges && cnpj === author)
  return sent.filter((event) => !requested.has(keyOf(event)) && !isAutomatic(event)).map(keyOf)
}

// Lists where an event's state differs from the authority's registration.
function wronglyTold(event: Outgoing, all: readonly Outgoing[], sent: readonly Sent[]): string[] {
  const { document, sequence, state, cStat, protocol } = event
  const there = sent.find((one) => keyOf(one) === document && one.nSeqEvento === sequence)
  const isThere = there?.nProt !== undefined
  // Another workspace with the same company, or a later answer to the document, may have taken its place.
  const byOther = all.some((one) => one.state === 'registered' && one.document === document)
  let isRight = state === 'unconfirmed' && cStat === null
  if (state === 'rejected') isRight = !isThere || byOther || cStat === 573
  if (state === 'registered' && isThere) isRight = protocol === null || protocol === there.nProt
  if (state === 'registered' && there && !isThere) isRight = [573, 631, 655].includes(there.cStat)
  if (isRight) return []
  return [`${document} number ${sequence} is ${state} (${cStat}), at the authority ${there?.cStat} (${there?.nProt})`]
}

if (process.argv[2] === 'role') await runRole(process.argv[3] ?? '')
else await runChaos()
