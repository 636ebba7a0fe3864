import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nfe } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { truthOf } from '../../tests/support/authority.ts'
import { type Client, newClient } from '../../tests/support/client.ts'
import { type Installation, startInstallation } from '../../tests/support/installation.ts'
import { withTestKeys } from '../../tests/support/keys.ts'
import { thorough } from '../../tests/support/seed.ts'
import {
  type Cluster,
  connectAs,
  hasCitus,
  migrateTwice,
  startCluster,
  withoutCitus,
} from '../../tests/support/servers/cluster.ts'
import { type Statement, watchStatements } from '../../tests/support/servers/statements.ts'
import { listAsked, settleAsked } from './events/approve.ts'
import { hold, holdAfterSilence, release } from './events/hold.ts'
import { requestEvents } from './events/request.ts'
import { contextOf } from './events/testing.ts'
import { saveTwoFrom } from './events/two-people.ts'
import { noteRisen } from './insights/alerts/news.ts'
import { eraseDue } from './operations/deletion/deletion.ts'
import { listHeld, releaseHeld } from './operations/held.ts'
import type { Context } from './platform/context.ts'
import { inWorkspace, readWorkspace } from './platform/database.ts'
import { createLogger } from './platform/log.ts'
import { migrate } from './platform/schema/migrate.ts'
import { insertAccount, testSession } from './platform/testing.ts'

// The whole product on a Citus coordinator with two servers for rows: docs/decisions/0064-several-machines.md.

// The move and the deletion take most of the time: with `RUNS=full`.

if (!hasCitus) console.log(withoutCitus)

const first = { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' }
const second = { cnpj: '44555666000181', nome: 'SEGREDO DA CONCORRENTE LTDA', uf: 'SC' }
const patience = { timeout: 30_000, interval: 100 }

/** Statements that ask more than one server, on one line, and why. */
const manyServers: readonly { like: RegExp; why: string }[] = [
  {
    like: /^select ("\w+", )+xmin::text as version from "?\w+"?( \w)? where .* limit \$\d+$/,
    why: 'whose turn it is among all workspaces; the row itself is taken on its server',
  },
  {
    like: /^select from outgoing_event where state [^;]{0,40} and next_at <= now\(\) limit 1$/,
    why: 'whether it is the turn of any',
  },
  {
    like: /^select distinct workspace_id as id from outgoing_event o where /,
    why: 'which workspaces have something that is due',
  },
  {
    like: /^(with blocked as materialized \( )?select b\.cnpj, b\.type, .* group by b\.cnpj, b\.type/,
    why: 'the authority blocks a CNPJ, which several workspaces may have',
  },
  {
    like: /^select count\(\*\)::int as n from webhook_delivery where state = 'waiting' and |^select company_id as "companyId", count\(\*\) filter [^;]* from outgoing_event where state in \('waiting', 'sending'\) group by 1$|^update webhook_delivery set state = 'failed', problem = \$1 where state = 'waiting' and |^update outgoing_event set state = 'sending', [^;]{0,80} where state = 'waiting'$|^select "id" from "outgoing_event" where "state" in \(\$1, \$2\) limit \$3$/,
    why: 'what waits for a release, of all workspaces',
  },
  { like: /o\.workspace_id <> \$/, why: 'what other workspaces are about to send about the same note' },
  {
    like: /^delete from (announcement|certificate_batch|webhook_delivery) where [^;]{0,60} < now\(\) - \$1 \* interval '1 day'$/,
    why: 'what is old goes, of all workspaces',
  },
  {
    like: /^select distinct "workspace_id" from "happening" where "at" < /,
    why: 'looks for workspaces with something to forget',
  },
  {
    like: /^select workspace_id as "workspaceId", (id|max\(version\) as version) from (certificate_batch|document_export|document_change) where /,
    why: 'looks for workspaces with something to end or to forget',
  },
  {
    like: /^select "?id"?(, public_id as "publicId")? from "?workspace"? (where erase_at <= now\(\) )?order by "?(id|erase_at)"?$/,
    why: 'which workspaces there are, and which are to be erased',
  },
  { like: /^select workspace_id as id, version from change_position where true$/, why: 'how far each server is' },
  { like: /^select max\(id\) from workspace where true$/, why: 'whether all servers respond' },
  { like: /^select from receipt$/, why: 'of this test' },
  {
    like: /^update "\w+" set "\w+" = now\(\) \+ \$1::float8 \* interval '1 ms' where .* < 'infinity'$/,
    why: 'pauses of all workspaces that are longer than any rule allows',
  },
  {
    like: /^with ready as \( select h\.company_id from \( select distinct on \(company_id\)/,
    why: 'the happenings of a workspace, but the planner does not see it',
  },
  {
    like: /^select d\.id, d\.company_id as "companyId", d\.chave, d\.number::float8 as number, s\.name as issuer from document d .* n\.key = 'ciencia-retida:'/,
    why: 'which Ciência was held back, of all workspaces',
  },
  {
    like: /^select o\.id, case d\.status when 3 then 'O documento foi cancelado antes do envio/,
    why: 'event and document are on one server, but the planner does not see it',
  },
]

const onOneLine = (text: string) => text.replace(/\s+/g, ' ').trim()

// Errors of statements that meet the move of a shard, which are retried.
const moving = /^(40001|55P03|CIINF) |^XX000 could not find valid entry for shard/
// Errors of statements that meet a lost node, and of later ones in the same transaction or connection.
const away =
  /^(08006|57P0\d|25P02|EPIPE|ECONNRESET) |^undefined (Connection terminated|Client has encountered)|^XX000 (failure on connection|server closed the connection|connection not open|could not commit|SSL SYSCALL error|cannot switch local execution status)|^3B001 /
const intrusion = (workspaceId: number) => `insert into notice (workspace_id, key) values (${workspaceId}, 'x')`

describe.skipIf(!hasCitus)('on a cluster', () => {
  const stack = new AsyncDisposableStack()
  const statements: Statement[] = []
  let cluster: Cluster
  let product: Installation
  let mine: Client
  let theirs: Client
  let superuser: pg.Client
  let ctx: Context
  // Statements of this test itself.
  const intrusions: string[] = []

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'vigia-cluster-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    cluster = stack.use(await startCluster(directory, { shards: 4 }))
    expect(await migrateTwice(cluster)).toEqual({ applied: [] })
    superuser = new pg.Client({ connectionString: cluster.superUrl })
    await superuser.connect()
    stack.defer(() => superuser.end())
    renewSessions()
    stack.defer(() => ctx.db.destroy())
    stack.use(watchStatements((statement) => statements.push(statement)))
    product = stack.use(
      await startInstallation(cluster.url, {
        hourMs: 600_000,
        prepareSimulator: withTestKeys,
        simulator: { seed: 17, since: Date.now() - 5 * 86_400_000, documentsEach: 25, companies: [first, second] },
      }),
    )
    mine = await newClient(product)
    theirs = await newClient(product)
    await mine.register(first.cnpj, first.nome)
    await mine.captured({ timeoutMs: 180_000 })
  }, 300_000)
  // The first transaction over a connection that the coordinator kept to a server which a test ended is refused.
  afterEach(async () => {
    await ctx.db.destroy()
    renewSessions()
  })
  afterAll(() => stack.disposeAsync())

  const renewSessions = () => {
    ctx = { ...contextOf(cluster.url), log: createLogger('error') }
  }

  const workspaceOf = async (cnpj: string) => {
    const { rows } = await superuser.query<{ id: number }>('select workspace_id as id from company where cnpj = $1', [
      cnpj,
    ])
    return rows[0]!.id
  }

  const placeOf = async (workspaceId: number) => {
    const { rows } = await superuser.query<{ shard: string; port: number }>(
      `select p.shardid as shard, n.nodeport as port from pg_dist_placement p join pg_dist_node n using (groupid)
        where p.shardid = get_shard_id_for_distribution_column('workspace', $1::int)`,
      [workspaceId],
    )
    return rows[0]!
  }

  // Each document once, under the place that the authority gave it.
  const received = async (cnpj: string) => {
    const { rows } = await superuser.query<{ key: string }>(
      `select case r.service when 0 then 'nfe' else 'cte' end || ' ' || r.nsu as key
         from receipt r join company c on c.workspace_id = r.workspace_id and c.id = r.company_id where c.cnpj = $1 and r.nsu > 0`,
      [cnpj],
    )
    return rows.map(({ key }) => key).sort()
  }
  const held = async (cnpj: string) =>
    (await truthOf(product.simulator, cnpj)).map(({ service, nsu }) => `${service} ${Number(nsu)}`).sort()

  test('all tables of workspaces lie together', async () => {
    const { rows } = await superuser.query(
      `select count(distinct colocationid)::int as groups, count(*) > 60 as all from pg_dist_partition`,
    )
    expect(rows).toEqual([{ groups: 1, all: true }])
    // While others write, a shard is moved as the owner: not one that holds the owner to row-level security.
    const { rows: fixed } = await superuser.query(
      'select c.relname from pg_class c join pg_dist_partition d on d.logicalrelid = c.oid where c.relforcerowsecurity',
    )
    expect(fixed).toEqual([])
  })

  test('what the authority has arrives, is listed, counted, printed and answered', async () => {
    expect(await received(first.cnpj)).toEqual(await held(first.cnpj))
    const notes = await mine.list('TipoDFe=0')
    expect((await mine.list('TipoDFe=2')).length).toBeGreaterThan(0)
    const { body: panel } = await mine.call<{ totalNfeCte: number }>('GET', '/v1/api/Dashboard')
    expect(panel.success).toBe(true)
    const printable = notes.find(({ notaCompleta }) => notaCompleta)!
    const danfe = await mine.call('GET', `/v1/api/DocumentosFiscais/danfe/${printable.idDfe}`)
    expect(danfe.status).toBe(200)
    const [summary] = await mine.list('TipoDFe=0&Status=1')
    const answer = await mine.call('POST', '/v1/api/DocumentosFiscais/manifestar-nfe', {
      idsDFe: [summary!.idDfe],
      justificativa: 'A carga não foi entregue',
      tipoManifestacao: 1,
    })
    expect([answer.status, answer.body]).toMatchObject([200, {}])
    const stateOf = async () => {
      const { rows } = await superuser.query<{ state: string }>('select state from outgoing_event')
      return rows.map(({ state }) => state)
    }
    await vi.waitFor(async () => expect(await stateOf()).toEqual(['registered']), patience)
  })

  test('a file of all, reports, deadlines, alerts and entries of the audit are there', async () => {
    const { body } = await mine.call<{ idExportacao: string; endereco: string }>(
      'POST',
      '/v1/api/DocumentosFiscais/exportar',
      { filtro: { TipoDFe: 2 } },
    )
    const file = await mine.call('GET', body.data.endereco)
    expect(file.bytes.subarray(0, 2).toString()).toBe('PK')
    const month = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 7)
    for (const path of [
      `Relatorios?Tipo=compras&Por=produto&MesDe=${month}&MesAte=${month}`,
      ...['Prazos', 'Alertas/resumo', 'Alertas', 'Auditoria', 'Alteracoes', 'Avisos'],
    ]) {
      const { status, body } = await mine.call('GET', `/v1/api/${path}`)
      expect([path, status, status === 200 ? null : body]).toEqual([path, 200, null])
    }
    await vi.waitFor(async () => {
      const { rows } = await superuser.query<{ n: number }>(
        'select count(*)::int as n from document where judged_at is not null',
      )
      expect(rows[0]!.n).toBeGreaterThan(0)
    }, patience)
  })

  test.runIf(thorough)(
    'a large workspace moves to another server while its documents arrive, and nothing is lost or doubled',
    async () => {
      await theirs.register(second.cnpj, second.nome)
      const workspaceId = await workspaceOf(second.cnpj)
      const before = await received(first.cnpj)
      const capture = theirs.captured({ timeoutMs: 100_000 })
      // An online isolation never ends when a row of the shard is changed in its first moments: docs/run/citus.md.
      await superuser.query(
        `select isolate_tenant_to_new_shard('workspace', $1::int, 'CASCADE', shard_transfer_mode => 'block_writes')`,
        [workspaceId],
      )
      const from = await placeOf(workspaceId)
      const to = cluster.workers.find(({ port }) => port !== from.port)!
      await superuser.query(
        `select citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'force_logical')`,
        [from.shard, from.port, to.port],
      )
      expect(await placeOf(workspaceId)).toEqual({ shard: from.shard, port: to.port })
      await capture
      await vi.waitFor(async () => expect(await received(second.cnpj)).toEqual(await held(second.cnpj)), patience)
      expect(await received(first.cnpj)).toEqual(expect.arrayContaining(before))
      const { rows } = await superuser.query(
        `select (select sum(n) from count_month)::int as counted, (select count(*) from document)::int as documents`,
      )
      expect(rows[0]!.counted).toBe(rows[0]!.documents)
    },
    150_000,
  )

  test('rows of another workspace are neither seen nor written, on whatever server they are', async () => {
    if (!thorough) {
      await theirs.register(second.cnpj, second.nome)
      await theirs.captured({ timeoutMs: 60_000 })
    }
    const [own, other] = [await workspaceOf(first.cnpj), await workspaceOf(second.cnpj)]
    const { rows: companies } = await superuser.query<{ id: number }>(
      'select id from company where workspace_id = $1',
      [own],
    )
    for (const role of ['vigia_app', 'vigia_limited'] as const) {
      const client = await connectAs(cluster, role)
      try {
        expect((await client.query('select from receipt')).rowCount).toBe(0)
        await client.query('begin')
        await client.query(`set local app.ws = '${own}'`)
        const seen = async (table: string, ws: number) =>
          (await client.query(`select from ${table} where workspace_id = ${ws}`)).rowCount
        for (const table of ['company', 'document', 'receipt'])
          expect([role, table, await seen(table, other)]).toEqual([role, table, 0])
        expect(await seen('document', own)).toBe(
          role === 'vigia_app' ? (await mine.list('TipoDFe=0')).length + (await mine.list('TipoDFe=2')).length : 0,
        )
        await client.query(`set local app.companies = '${companies[0]!.id}'`)
        expect(await seen('document', own)).toBeGreaterThan(0)
        expect((await client.query(`update company set name = 'x' where workspace_id = ${other}`)).rowCount).toBe(0)
        expect((await client.query(`delete from document where workspace_id = ${other}`)).rowCount).toBe(0)
        intrusions.push(intrusion(other))
        await expect(client.query(intrusion(other))).rejects.toMatchObject({ code: '42501' })
        await client.query('rollback')
      } finally {
        await client.end()
      }
    }
  })

  test('processes start while no worker node takes new shards', async () => {
    const ports = cluster.workers.map(({ port }) => port)
    const take = async (taking: boolean) => {
      for (const port of ports)
        await superuser.query("select citus_set_node_property('127.0.0.1', $1, 'shouldhaveshards', $2)", [port, taking])
    }
    await take(false)
    try {
      expect(await migrate(cluster.url)).toEqual({ applied: [] })
    } finally {
      await take(true)
    }
  })

  test('while a worker node is away, calls for its workspaces get 503, and all is there when it is back', async () => {
    const { port } = await placeOf(await workspaceOf(first.cnpj))
    const lost = cluster.workers.find((worker) => worker.port === port)!
    const before = await received(first.cnpj)
    const status = async () => (await mine.call('GET', '/v1/api/DocumentosFiscais?TipoDFe=0')).status
    await lost.kill()
    try {
      expect(await status()).toBe(503)
    } finally {
      await lost.start()
    }
    await vi.waitFor(async () => expect(await status()).toBe(200), patience)
    expect(await received(first.cnpj)).toEqual(expect.arrayContaining(before))
  })

  test('an answer that two people want is sent, and no other', async () => {
    const workspaceId = await workspaceOf(first.cnpj)
    const { rows: accounts } = await superuser.query<{ id: number }>('select id from account where workspace_id = $1', [
      workspaceId,
    ])
    const [asks, approves] = [accounts[0]!, await insertAccount(ctx.db, workspaceId, { name: 'Bruno Lima' })].map(
      ({ id }) => testSession(workspaceId, id),
    )
    await saveTwoFrom(ctx, asks!, 0.01)
    const { rows } = await superuser.query<{ id: string }>(
      `select id from document d where workspace_id = $1 and type = 0 and status = 1 and not complete
          and not exists (select from outgoing_event o where o.workspace_id = $1 and o.document_id = d.id) order by id limit 1`,
      [workspaceId],
    )
    const kind = nfe.answers.find(({ choice }) => choice === 2)!
    const documents = rows.map(({ id }) => ctx.ids.encode(workspaceId, BigInt(id)))
    await requestEvents(ctx, asks!, { service: 'nfe', kind, documents, justification: 'Conferida.' }, 0)
    const stateOf = async () => {
      const { rows: found } = await superuser.query<{ state: string }>(
        'select state from outgoing_event where workspace_id = $1 and document_id = $2 and requested_by is not null',
        [workspaceId, rows[0]!.id],
      )
      return found.map(({ state }) => state)
    }
    expect(await stateOf()).toEqual(['asked'])
    const { answers } = await readWorkspace(ctx, workspaceId, (ctx) => listAsked(ctx, approves!))
    const chosen = answers.map(({ id }) => ctx.ids.encode(workspaceId, id))
    expect(await settleAsked(ctx, asks!, { chosen, reason: null })).toMatchObject({ feitas: 0 })
    expect(await settleAsked(ctx, approves!, { chosen, reason: null })).toEqual({ feitas: 1, impedidas: [] })
    await vi.waitFor(async () => expect(await stateOf()).toEqual(['registered']), patience)
  })

  test('what waits for a release is counted and let go', async () => {
    await hold(ctx, '')
    expect(await listHeld(ctx)).toMatchObject({ deliveries: 0 })
    await releaseHeld(ctx, { withoutAutomatic: false, withoutNotices: true })
    await superuser.query(`update installation set marked_at = now() - interval '3 hours'`)
    await holdAfterSilence(ctx)
    await release(ctx)
  })

  test.runIf(thorough)(
    'a workspace that somebody wants erased leaves nothing, and no other loses anything',
    async () => {
      const [own, other] = [await workspaceOf(first.cnpj), await workspaceOf(second.cnpj)]
      const before = await received(first.cnpj)
      // Its lines would be left when their pause is over.
      await superuser.query('delete from capture_subscription where workspace_id = $1', [other])
      await superuser.query('update workspace set erase_at = now() where id = $1', [other])
      await vi.waitFor(async () => expect(await eraseDue(ctx)).toBe(0), patience)
      const { rows: tables } = await superuser.query<{ name: string }>(
        `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'`,
      )
      const left = await superuser.query(
        tables
          .map(({ name }) => `select '${name}' as name from ${name} where workspace_id = ${other}`)
          .join(' union all '),
      )
      expect(left.rows).toEqual([])
      expect((await superuser.query('select id from workspace')).rows).toEqual([{ id: own }])
      expect(await received(first.cnpj)).toEqual(expect.arrayContaining(before))
    },
  )

  test('what a function changes with the rights of the owner goes beside what the transaction reads and writes', async () => {
    const own = await workspaceOf(first.cnpj)
    const { rows } = await superuser.query<{ company: number; nsu: string }>(
      'select company_id as company, nsu from receipt where workspace_id = $1 and service = 0 and nsu > 0 order by nsu limit 3',
      [own],
    )
    await superuser.query(
      'update receipt set problem = null, unread = false where workspace_id = $1 and service = 0 and nsu = any ($2)',
      [own, rows.map(({ nsu }) => nsu)],
    )
    const nsus = rows.map(({ nsu }) => nsu)
    await inWorkspace(ctx, own, async ({ db }) => {
      await sql`select nsu from receipt where workspace_id = ${own} limit 1`.execute(db)
      await sql`select restate_receipts(${own}::int, ${rows[0]!.company}::int, 0::smallint, ${nsus}::bigint[],
        ${nsus.map(() => 'x')}::text[], ${nsus.map(() => true)}::boolean[], ${nsus.map(() => null)}::text[], ${nsus.map(() => null)}::float8[])`.execute(
        db,
      )
    })
    const { rows: after } = await superuser.query(
      "select count(*)::int as n from receipt where workspace_id = $1 and unread and problem = 'x'",
      [own],
    )
    expect(after).toEqual([{ n: 3 }])
  })

  test('what people are to be told of alerts has numbers in one order', async () => {
    const own = await workspaceOf(first.cnpj)
    const { rows } = await superuser.query<{ document_id: string; company_id: number }>(
      'select id as document_id, company_id from document where workspace_id = $1 order by id desc limit 2',
      [own],
    )
    for (const { document_id, company_id } of rows)
      await inWorkspace(ctx, own, (ctx) =>
        noteRisen(ctx, own, [{ document_id: BigInt(document_id), company_id, band: 1, again: true }]),
      )
    const { rows: news } = await superuser.query<{ id: string }>(
      'select id from alert_news where workspace_id = $1 order by id desc limit 2',
      [own],
    )
    expect(BigInt(news[0]!.id)).toBeLessThan(2n ** 32n)
  })

  test('who shows a secret is looked up on one server', async () => {
    const { rows: functions } = await superuser.query<{ name: string }>(
      `select proname as name from pg_proc where pronamespace = 'public'::regnamespace and prosecdef and proname ~ '_for_(token|passkey)$' order by 1`,
    )
    expect(functions.length).toBeGreaterThan(4)
    // Plans do not show the statements inside functions.
    const asked: string[] = []
    const note = ({ message, detail }: { message?: string; detail?: string }) =>
      void (
        /^issuing (select|update|insert|delete)/i.test(message!) && asked.push(detail!.replace(/ connectionId.*/, ''))
      )
    superuser.on('notice', note)
    await superuser.query('set citus.log_remote_commands = on; set client_min_messages = notice')
    for (const { name } of functions) {
      asked.length = 0
      await superuser.query(`select from ${name}((select token_hash from token_directory limit 1))`)
      expect(new Set(asked).size, name).toBe(1)
    }
    await superuser.query('reset citus.log_remote_commands; reset client_min_messages')
    superuser.off('notice', note)
  })

  test('a statement of a workspace asks one server; those that do not are listed with the reason', () => {
    const atNodes = cluster.workers.map(({ port }) => `port=${port} `)
    const refused = statements.filter(
      ({ how, detail, text }) =>
        how === 'error' &&
        !moving.test(detail) &&
        !away.test(detail) &&
        !(/^(42501|22012) /.test(detail) && intrusions.includes(text)),
    )
    expect(refused.map(({ text, detail }) => ({ text, detail }))).toEqual([])
    // Numbers that a server for rows gives are not in one order with those of the coordinator, and the application may not have them there; what it
    // is to tell other processes nobody hears.
    const misplaced = statements.filter(({ detail }) =>
      detail
        .split('->  Task\n')
        .some((task) => /nextval\(|pg_notify\(/.test(task) && atNodes.some((node) => task.includes(node))),
    )
    expect(misplaced.map(({ text }) => onOneLine(text))).toEqual([])
    // One for each transaction would fill the disks of the servers.
    const warnings = statements.filter(({ how, detail }) => how === 'warning' && detail === '25001')
    expect(warnings.map(({ text }) => text)).toEqual([])
    const many = statements.filter(({ how }) => how === 'many').map(({ text }) => onOneLine(text))
    expect(many.filter((text) => !manyServers.some(({ like }) => like.test(text)))).toEqual([])
    const count = (how: Statement['how']) => statements.filter((statement) => statement.how === how).length
    expect(count('router')).toBeGreaterThan(100)
    console.log(
      `statements on a cluster: ${['local', 'router', 'steps', 'many'].map((how) => `${how} ${count(how as Statement['how'])}`).join(', ')}`,
    )
  })
})
