import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { truthOf } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { type Installation, startInstallation } from '../support/installation.ts'
import { withTestKeys } from '../support/keys.ts'
import {
  type Cluster,
  connectAs,
  hasCitus,
  migrateTwice,
  startCluster,
  withoutCitus,
} from '../support/servers/cluster.ts'
import { type Statement, watchStatements } from '../support/servers/statements.ts'

// The whole product on a Citus coordinator with two servers for rows: docs/decisions/0064-several-machines.md.

if (!hasCitus) console.log(withoutCitus)

const first = { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' }
const second = { cnpj: '44555666000181', nome: 'SEGREDO DA CONCORRENTE LTDA', uf: 'SC' }
const patience = { timeout: 30_000, interval: 100 }

/** Statements that ask more than one server, and why. */
const manyServers: readonly { like: RegExp; why: string }[] = [
  {
    like: /limit \$\d+\s*$|^\s*select 1 from \w+ where .* limit 1\s*$/is,
    why: 'whose turn it is among all workspaces; the row itself is taken on its server',
  },
  { like: /group by b\.cnpj, b\.type/, why: 'the authority blocks a CNPJ, which several workspaces may have' },
  { like: /o\.workspace_id <> \$/, why: 'what other workspaces are about to send about the same note' },
  { like: /^\s*insert into \S+ \(workspace_id/i, why: 'begins to follow the changes of workspaces that are new' },
  {
    like: /as counts from outgoing_event|k\.counts then/,
    why: 'whether another registration is the later one: of the same document, but the planner does not see it',
  },
  { like: /^select from receipt$/, why: 'of this test' },
  { like: /^\s*delete from/i, why: 'what is old goes, of all workspaces' },
  {
    like: /\bas id from (api_key_use|alert_position)|from (certificate_batch|document_export|document_change|"?workspace"?|"?happening"?)\b/i,
    why: 'looks for workspaces with something to do or to forget',
  },
  {
    like: /from happening order by workspace_id|^\s*with moved as/i,
    why: 'of all workspaces: what to tell, pauses after a jump of the clock',
  },
  {
    like: /isDoubted|cross join lateral|cienc|authorized_at/i,
    why: 'deadlines look into events of the document; both are on one server, but the planner does not see it',
  },
]

describe.skipIf(!hasCitus)('on a cluster', () => {
  const stack = new AsyncDisposableStack()
  const statements: Statement[] = []
  let cluster: Cluster
  let product: Installation
  let mine: Client
  let theirs: Client
  let superuser: pg.Client

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'vigia-cluster-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    cluster = stack.use(await startCluster(directory, { shards: 4 }))
    expect(await migrateTwice(cluster)).toEqual({ applied: [] })
    superuser = new pg.Client({ connectionString: cluster.superUrl })
    await superuser.connect()
    stack.defer(() => superuser.end())
    stack.use(watchStatements((statement) => statements.push(statement)))
    product = stack.use(
      await startInstallation(cluster.url, {
        hourMs: 600_000,
        prepareSimulator: withTestKeys,
        simulator: { seed: 17, since: Date.now() - 5 * 86_400_000, documentsEach: 60, companies: [first, second] },
      }),
    )
    mine = await newClient(product)
    theirs = await newClient(product)
    await mine.register(first.cnpj, first.nome)
    await mine.captured({ timeoutMs: 60_000 })
  }, 120_000)
  afterAll(() => stack.disposeAsync())

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
      'select count(distinct colocationid)::int as groups, count(*) > 70 as all from pg_dist_partition',
    )
    expect(rows).toEqual([{ groups: 1, all: true }])
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
    const month = new Date().toISOString().slice(0, 7)
    for (const path of [
      `Relatorios?Tipo=compras&Por=produto&MesDe=${month}&MesAte=${month}`,
      ...['Prazos', 'Alertas/resumo', 'Alertas', 'Auditoria', 'Alteracoes', 'Avisos'],
    ]) {
      const { status, body } = await mine.call('GET', `/v1/api/${path}`)
      expect([path, status, status === 200 ? null : body]).toEqual([path, 200, null])
    }
    await vi.waitFor(async () => {
      const { rows } = await superuser.query<{ n: number }>('select count(*)::int as n from alert_fact')
      expect(rows[0]!.n).toBeGreaterThan(0)
    }, patience)
  })

  test('a large workspace moves to another server while its documents arrive, and nothing is lost or doubled', async () => {
    await theirs.register(second.cnpj, second.nome)
    const workspaceId = await workspaceOf(second.cnpj)
    const before = await received(first.cnpj)
    const capture = theirs.captured({ timeoutMs: 100_000 })
    await superuser.query(
      `select isolate_tenant_to_new_shard('workspace', $1::int, 'CASCADE', shard_transfer_mode => 'block_writes')`,
      [workspaceId],
    )
    const from = await placeOf(workspaceId)
    const to = cluster.workers.find(({ port }) => port !== from.port)!
    await superuser.query(`select citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, 'block_writes')`, [
      from.shard,
      from.port,
      to.port,
    ])
    expect(await placeOf(workspaceId)).toEqual({ shard: from.shard, port: to.port })
    await capture
    await vi.waitFor(async () => expect(await received(second.cnpj)).toEqual(await held(second.cnpj)), patience)
    expect(await received(first.cnpj)).toEqual(expect.arrayContaining(before))
    const { rows } = await superuser.query(
      `select (select sum(n) from count_year)::int as counted, (select count(*) from document)::int as documents`,
    )
    expect(rows[0]!.counted).toBe(rows[0]!.documents)
  }, 150_000)

  test('rows of another workspace are neither seen nor written, on whatever server they are', async () => {
    const [own, other] = [await workspaceOf(first.cnpj), await workspaceOf(second.cnpj)]
    const { rows: companies } = await superuser.query<{ id: number }>(
      'select id from company where workspace_id = $1',
      [own],
    )
    for (const role of ['vigia_app', 'vigia_limited'] as const) {
      const client = await connectAs(cluster, role)
      try {
        expect((await client.query('select from receipt')).rowCount).toBe(0)
        await client.query(`begin; set local app.ws = '${own}'`)
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
        await expect(
          client.query(`insert into notice (workspace_id, key) values (${other}, 'x')`),
        ).rejects.toMatchObject({ code: '42501' })
        await client.query('rollback')
      } finally {
        await client.end()
      }
    }
  })

  test('a statement of a workspace asks one server; those that do not are listed with the reason', () => {
    // A statement that meets the move of its shard is refused, and tried again.
    const moving = /^(40001|55P03|CIINF)|could not find valid entry for shard|^42501/
    const refused = statements.filter(({ how, detail }) => how === 'error' && !moving.test(detail))
    expect(refused.map(({ text, detail }) => ({ text, detail }))).toEqual([])
    const many = statements.filter(({ how }) => how === 'many').map(({ text }) => text.replace(/\s+/g, ' ').trim())
    expect(many.filter((text) => !manyServers.some(({ like }) => like.test(text)))).toEqual([])
    const count = (how: Statement['how']) => statements.filter((statement) => statement.how === how).length
    expect(count('router')).toBeGreaterThan(100)
    console.log(
      `statements on a cluster: ${['local', 'router', 'steps', 'many'].map((how) => `${how} ${count(how as Statement['how'])}`).join(', ')}`,
    )
  })
})
