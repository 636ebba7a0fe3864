import { operate } from '@vigia/server/start'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newClient } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { openSocket } from '../support/hub-wire.ts'
import { type Installation, startInstallation } from '../support/installation.ts'
import { withTestKeys } from '../support/keys.ts'
import { hasPooler, startPooler } from '../support/servers/pooler.ts'

// The product behind the PgBouncer of deploy/pgbouncer.ini, in transaction mode.

const isThere = hasPooler()
if (!isThere) console.log('no PgBouncer can be started on this machine: deploy/pgbouncer.ini is not tried')

const cnpj = '12ABC34501DE35'

describe.runIf(isThere)('behind PgBouncer in transaction mode', () => {
  const stack = new AsyncDisposableStack()
  let database: Awaited<ReturnType<typeof createDatabase>>
  let pooler: Awaited<ReturnType<typeof startPooler>>
  let product: Installation

  beforeAll(async () => {
    database = stack.use(await createDatabase())
    pooler = stack.use(await startPooler(database.url))
    product = stack.use(
      await startInstallation(database.url, {
        hourMs: 600_000,
        prepareSimulator: withTestKeys,
        simulator: {
          seed: 11,
          since: Date.now() - 5 * 86_400_000,
          companies: [{ cnpj, nome: 'EMPRESA ALFA LTDA', uf: 'SP' }],
        },
        config: { poolerUrl: pooler.url, announcementPauseMs: 200 },
      }),
    )
  })
  afterAll(() => stack.disposeAsync())

  test('who signs up captures, lists, searches, answers, and hears of it at once', async () => {
    const account = { nome: 'Ana Souza', email: 'ana-pooler@exemplo.com.br', senha: 'segredo1' }
    const client = await newClient(product, account)
    const { body } = await client.call<{ token: string }>('POST', '/v1/api/Auth', account)
    const negotiated = await fetch(new URL('/notification-hub/negotiate?negotiateVersion=1', product.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${body.data.token}` },
    })
    const { connectionToken } = (await negotiated.json()) as { connectionToken: string }
    const hub = `${product.url}/notification-hub?id=${connectionToken}&access_token=${body.data.token}`
    const socket = await openSocket(hub)
    if (typeof socket === 'number') throw new Error(`the hub refused: ${socket}`)
    socket.say({ protocol: 'json', version: 1 })

    const id = await client.register(cnpj)
    await client.captured({ timeoutMs: 60_000 })
    // Workers have written it down, the API listens for it on a connection of its own.
    await socket.heard((record) => JSON.stringify(record).includes('Captura concluída'))
    const rows = await client.list(`TipoDFe=0&IdEmpresa=${id}`)
    expect(rows.length).toBeGreaterThan(5)
    const found = await client.list(`TipoDFe=0&CampoPesquisa=${encodeURIComponent(rows[0]!.emitente)}`)
    expect(found.map(({ idDfe }) => idDfe)).toContain(rows[0]!.idDfe)

    const untouched = await client.list(`TipoDFe=0&IdEmpresa=${id}&Status=1`)
    const first = untouched.find(({ status }) => status.codigoEvento === 0)
    const answer = await client.call('POST', '/v1/api/DocumentosFiscais/manifestar-nfe', {
      justificativa: 'A pedido do departamento fiscal',
      idsDFe: [first?.idDfe],
      tipoManifestacao: 1,
    })
    expect(answer.body).toMatchObject({ success: true, message: '1 documento manifestado.' })
    socket.ws.close()
  })

  test('nothing of the product was refused by the pooler, and nothing came to it with the rights of the owner', async () => {
    expect(pooler.log()).not.toMatch(/WARNING|ERROR|login failed/)
    const owner = new pg.Client({ connectionString: database.url })
    await owner.connect()
    const { rows } = await owner.query<{ n: number }>(
      "select count(*)::int as n from pg_stat_activity where datname = current_database() and usename = 'vigia_app'",
    )
    await owner.end()
    // Four of the pooler; the two that listen go around it.
    expect(rows[0]!.n).toBeLessThanOrEqual(6)
  })

  test('workers may have a line of their own, with connections of its own', async () => {
    const url = new URL(pooler.url)
    url.pathname += '_worker'
    const there = operate({ ...product.config, poolerUrl: url.href }, async () => 'there')
    await expect(there).resolves.toBe('there')
  })

  test('a pooler that leads to another database is refused', async () => {
    await using other = await createDatabase()
    const astray = { ...product.config, databaseUrl: other.url }
    await expect(operate(astray, async () => {})).rejects.toThrow('leva a outro banco de dados')
  })
})
