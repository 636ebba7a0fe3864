import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { truthOf } from '../../tests/support/authority.ts'
import { type Client, newClient } from '../../tests/support/client.ts'
import { isCluster } from '../../tests/support/database.ts'
import { startInstallation } from '../../tests/support/installation.ts'
import { withTestKeys } from '../../tests/support/keys.ts'
import { thorough } from '../../tests/support/seed.ts'
import { addNodes, createDatabaseOnNodes, dropClusterDatabase } from '../../tests/support/servers/cluster.ts'
import { migrate } from './platform/schema/migrate.ts'

// Distribution of a database that has rows. `RUNS=full` has thousands of documents.

if (!isCluster) console.log('Só com CITUS=1: nada foi provado sobre bancos com linhas que se distribuem.')

const account = { nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }
const companies = [
  { cnpj: '12ABC34501DE35', nome: 'EMPRESA ALFA LTDA', uf: 'SP' },
  { cnpj: '44555666000181', nome: 'EMPRESA BETA LTDA', uf: 'SC' },
]
const later = { cnpj: '11222333000181', nome: 'EMPRESA GAMA LTDA', uf: 'RS' }
const documentsEach = thorough ? 2_500 : 40

/** Workspaces with documents still to be judged. */
const behind = 'select workspace_id from document where judged_at is null or not isfinite(judged_at)'

/** A digest of all rows of each table, except those that a migration writes of itself. */
async function digest(owner: pg.Client): Promise<Record<string, string>> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and relname not in ('migration', 'installation') order by 1`,
  )
  const found: Record<string, string> = {}
  for (const { name } of tables) {
    const { rows } = await owner.query<{ digest: string }>(
      `select count(*) || ' ' || coalesce(md5(string_agg(row, e'\\n' order by row)), '') as digest from (select to_jsonb(t)::text as row from ${name} t) t`,
    )
    found[name] = rows[0]!.digest
  }
  return found
}

describe.skipIf(!isCluster)('a database with rows', () => {
  const name = `filled_${crypto.randomUUID().slice(0, 8)}`
  const ports = inject('clusterPorts') ?? []
  const stack = new AsyncDisposableStack()
  const url = new URL(`/${name}`, inject('postgresUrl')).href
  let owner: pg.Client

  beforeAll(async () => {
    await createDatabaseOnNodes(ports, name)
    stack.defer(() => dropClusterDatabase(ports, name))
    // As a superuser, whom no policy keeps from rows.
    owner = new pg.Client({ connectionString: `postgres://postgres@127.0.0.1:${ports[0]}/${name}` })
    await owner.connect()
    stack.defer(() => owner.end())
  })
  afterAll(() => stack.disposeAsync())

  test('becomes one on several servers by `migrate`, and keeps every row; what comes then is stored and counted there', async () => {
    await migrate(url)
    const dataDir = await mkdtemp(join(tmpdir(), 'vigia-filled-'))
    stack.defer(() => rm(dataDir, { recursive: true, force: true }))
    const installed = {
      hourMs: 600_000,
      prepareSimulator: withTestKeys,
      config: { dataDir },
      simulator: { seed: 17, since: Date.now() - 20 * 86_400_000, documentsEach, companies: [...companies, later] },
    }
    const received = async () =>
      (
        await owner.query<{ key: string }>(
          `select c.cnpj || ' ' || case r.service when 0 then 'nfe' else 'cte' end || ' ' || r.nsu as key
               from receipt r join company c on c.workspace_id = r.workspace_id and c.id = r.company_id where r.nsu > 0`,
        )
      ).rows
        .map(({ key }) => key)
        .sort()
    const shown = async (client: Client) => ({
      lists: [await client.list('TipoDFe=0'), await client.list('TipoDFe=2')],
      panel: (await client.call('GET', '/v1/api/Dashboard')).body.data,
    })
    let before: Awaited<ReturnType<typeof shown>>
    let held: string[]
    {
      await using product = await startInstallation(url, installed)
      const client = await newClient(product, account)
      for (const { cnpj, nome } of companies) await client.register(cnpj, nome)
      await client.captured({ timeoutMs: 300_000 })
      held = []
      for (const { cnpj } of companies)
        for (const { service, nsu } of await truthOf(product.simulator, cnpj))
          held.push(`${cnpj} ${service} ${Number(nsu)}`)
      held.sort()
      // Lists show results that are read from documents later.
      await vi.waitFor(async () => expect((await owner.query(behind)).rows).toEqual([]), {
        timeout: 300_000,
        interval: 200,
      })
      before = await shown(client)
    }
    expect(await received()).toEqual(held)
    const rows = await digest(owner)
    await addNodes(ports, name)
    expect(await migrate(url)).toEqual({ applied: [] })
    const { rows: distributed } = await owner.query(
      "select count(distinct logicalrelid)::int > 60 as all from pg_dist_partition where partmethod = 'h'",
    )
    expect(distributed).toEqual([{ all: true }])
    expect(await digest(owner)).toEqual(rows)

    await using product = await startInstallation(url, installed)
    const client = await newClient(product, account)
    const lists = async () =>
      (await shown(client)).lists.map((list) => list.filter(({ idEmpresa }) => known.has(idEmpresa)))
    const known = new Set(before.lists.flat().map(({ idEmpresa }) => idEmpresa))
    expect(await shown(client)).toEqual(before)
    await client.register(later.cnpj, later.nome)
    await client.captured({ timeoutMs: 300_000 })
    const arrived = (await truthOf(product.simulator, later.cnpj)).map(
      ({ service, nsu }) => `${later.cnpj} ${service} ${Number(nsu)}`,
    )
    expect(await received()).toEqual([...held, ...arrived].sort())
    expect(await lists()).toEqual(before.lists)
    const { rows: counted } = await owner.query(
      'select (select sum(n) from count_month)::int as counted, (select count(*) from document)::int as documents',
    )
    expect(counted[0].counted).toBe(counted[0].documents)
  }, 600_000)
})
