import pg from 'pg'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createDatabase, onOneServer } from '../../tests/support/database.ts'
import { useFolder } from '../../tests/support/folder.ts'
import { useDatabase, useOwner } from './platform/database.testing.ts'
import { InstallationError } from './platform/installation.ts'
import { readConfig, start } from './start.ts'

const { url } = await useDatabase()
const owner = await useOwner(url)
const dataDir = await useFolder()

const config = (env: Record<string, string> = {}) =>
  readConfig({ PORT: '0', DATA_DIR: dataDir, DATABASE_URL: url, LOG_LEVEL: 'silent', ...env }, process.cwd())

const server = await start(config(), { roles: ['api'] })
afterAll(() => server[Symbol.asyncDispose]())

async function call(method: string, path: string, options: { token?: string; json?: unknown } = {}) {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      accept: 'application/json',
      ...(options.token ? { authorization: `Bearer ${options.token}` } : {}),
      ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: options.json === undefined ? undefined : JSON.stringify(options.json),
  })
  return { status: response.status, envelope: (await response.json()) as Record<string, unknown> }
}

let number = 0
async function newSession() {
  const account = { nome: 'Ana Souza', email: `ana${++number}@exemplo.com.br`, senha: 'segredo1' }
  await call('POST', '/v1/api/Usuarios', { json: account })
  const { envelope } = await call('POST', '/v1/api/Auth', { json: account })
  return { ...account, ...(envelope.data as { token: string; wsId: string }) }
}

test('health answers without a session', async () => {
  expect(await call('GET', '/health')).toEqual({
    status: 200,
    envelope: {
      success: true,
      message: 'Operação realizada com sucesso',
      data: { status: 'ok', versao: 'v1.0' },
      errors: [],
    },
  })
})

describe('what no form of ours would send', () => {
  test.each([
    ['DocumentosFiscais?TipoDFe=0&CampoPesquisa=%00', 400],
    ['Empresas/obter-empresas?busca=a%00b', 400],
    ['DocumentosFiscais?TipoDFe=0&DataAte=9999-12-31T23:59:59', 200],
    ['DocumentosFiscais?TipoDFe=0&DataDe=0000-12-31T23:59:59', 400],
    ['DocumentosFiscais?TipoDFe=0&DataAte=2999-12-31T23:59:59', 200],
    [`DocumentosFiscais/danfe/${'x'.repeat(300)}`, 404],
  ])('%s is answered in words, with %s', async (path, status) => {
    const { token } = await newSession()
    const answer = await call('GET', `/v1/api/${path}`, { token })
    expect(answer.status).toBe(status)
    expect(answer.envelope.success).toBe(status === 200)
  })

  test('a call without a body that says it would be JSON', async () => {
    const { token } = await newSession()
    const response = await fetch(`${server.url}/v1/api/Auth/sair`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })
    expect(response.status).toBe(200)
  })
})

// It locks tables and looks for who waits for them, which on a cluster is to be seen on the servers of their rows only.
onOneServer(
  'the API answers while all conversations and batches of the workers wait',
  { timeout: 60_000 },
  async () => {
    await using own = await createDatabase()
    const { sefaz, ...rest } = config({ DATABASE_URL: own.url })
    await using both = await start({ ...rest, sefaz: { ...sefaz, caFiles: [] } }, { roles: ['api', 'worker'] })
    const locker = new pg.Client({ connectionString: own.url })
    await locker.connect()
    // Before the workers are told to stop, because they wait for it.
    await using _ = { [Symbol.asyncDispose]: () => locker.end() }
    // A conversation begins with who holds a certificate, a batch with what is known of its documents.
    await locker.query('begin; lock table certificate, document_event in access exclusive mode')
    await giveWork(own.url, 20)
    const waiting = async () => {
      const { rows } = await locker.query<{ n: number }>(
        `select count(distinct pid)::int as n from pg_locks
        where not granted and database = (select oid from pg_database where datname = current_database())`,
      )
      return rows[0]!.n
    }
    // Eight conversations and four batches; a review that looks at the certificates may wait beside them.
    const allWait = async () => expect(await waiting()).toBeGreaterThanOrEqual(12)
    await vi.waitFor(allWait, { timeout: 30_000 })
    for (const path of ['/v1/api/Usuarios', '/v1/api/Auth']) {
      const response = await fetch(both.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }),
        signal: AbortSignal.timeout(20_000),
      })
      expect(response.status).toBe(200)
    }
    await allWait()
  },
)

// Companies with a conversation that is due and an event that may leave, each.
async function giveWork(url: string, companies: number): Promise<void> {
  const owner = new pg.Client({ connectionString: url })
  await owner.connect()
  await owner.query(`
    set app.ws = '9'; set app.capture = 'on';
    create temporary table cnpjs as select n::int, lpad(n::text, 14, '0') as cnpj from generate_series(1, ${companies}) n;
    insert into workspace (id, name, plan) values (9, 'x', 1);
    insert into company (workspace_id, id, cnpj, name, search, uf) select 9, n, cnpj, 'x', 'x', 35 from cnpjs;
    with line as (insert into capture_line (service, cnpj, next_at) select 0, cnpj, now() from cnpjs returning id, cnpj)
      insert into capture_subscription (line_id, workspace_id, company_id) select id, 9, cnpj::int from line;
    insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, why)
      select 9, n, n, 0, cnpj, repeat('1', 44), 210210, 1, 'x' from cnpjs`)
  await owner.end()
}

test('an API that asks nothing of the authority finds out by itself that nothing can be stored, and says so', async () => {
  const { token } = await newSession()
  await owner.query(`create function no_room() returns trigger language plpgsql as $$ begin raise sqlstate '53100'; end $$;
    create trigger no_room before insert on storage_probe for each row execute function no_room()`)
  await using other = await start(config(), { roles: ['api'] })
  const look = async () => {
    const response = await fetch(`${other.url}/v1/api/Dashboard`, { headers: { authorization: `Bearer ${token}` } })
    const { data } = (await response.json()) as { data: { avisos: string[]; armazenamentoSaudavel: boolean } }
    expect(data).toMatchObject({
      avisos: [expect.stringContaining('problema de armazenamento')],
      armazenamentoSaudavel: false,
    })
  }
  await vi.waitFor(look, { timeout: 20_000 })
  await owner.query('drop trigger no_room on storage_probe; drop function no_room()')
})

test('an API without a worker beside it does not go on saying that the one of an API before it is away', async () => {
  await owner.query("insert into trouble (key, sentence, told_at) values ('trabalho', 'Não funciona.', now())")
  await using _other = await start(config(), { roles: ['api'] })
  const { rows } = await owner.query("select ended_at is not null as ended from trouble where key = 'trabalho'")
  expect(rows).toEqual([{ ended: true }])
})

test('a worker that starts after hours of silence holds the events that wait', async () => {
  await owner.query(`
    with w as (insert into workspace (name, plan) values ('x', 1) returning id),
         c as (insert into company (workspace_id, cnpj, name, search, uf) select id, '44555666000181', 'x', 'x', 35 from w returning workspace_id, id)
    insert into outgoing_event (workspace_id, company_id, document_id, type, cnpj, chave, tp_evento, sequence, why)
    select workspace_id, id, 1, 0, '44555666000181', 'x', 210210, 1, 'x' from c returning id`)
  await owner.query(`update installation set marked_at = now() - interval '3 hours'`)
  const { sefaz, ...rest } = config()
  await using _worker = await start({ ...rest, sefaz: { ...sefaz, caFiles: [] } }, { roles: ['worker'] })
  const { rows } = await owner.query(
    `select state, held_why as why, marked_at > now() - interval '1 hour' as marked from installation, outgoing_event`,
  )
  expect(rows).toEqual([{ state: 'sending', why: expect.stringContaining('mais de duas horas parado'), marked: true }])
  await owner.query('update installation set held_since = null')
  await owner.query('delete from outgoing_event')
})

test('options of DATABASE_URL do not take the place of the role', async () => {
  const address = `${url}?options=${encodeURIComponent('-c statement_timeout=60000')}`
  await using other = await start(config({ DATABASE_URL: address }), { roles: ['api'] })
  expect((await fetch(`${other.url}/health`)).status).toBe(200)
})

test('a database of one ambiente does not serve another', async () => {
  await expect(
    start(config({ SEFAZ_AMBIENTE: 'homologacao', CADASTRO: 'aberto', PLANOS: 'ligados' }), { roles: ['worker'] }),
  ).rejects.toThrow(InstallationError)
})

test('another master key does not open the certificates of a database, and says so before anything runs', async () => {
  await owner.query(`with w as (insert into workspace (name, plan) values ('x', 1) returning id),
                          c as (insert into company (workspace_id, cnpj, name, search, uf) select id, '44555666000181', 'x', 'x', 35 from w returning workspace_id, id)
                     insert into certificate (workspace_id, company_id, holder_cnpj, holder_name, issuer, serial_number, valid_from, valid_to, certificate_pem, chain_pem, key_encrypted, key_id, uploaded_by)
                     select workspace_id, id, '44555666000181', 'x', 'x', '1', now(), now(), 'x', '{}', 'x', 'another key', 1 from c returning id`)
  await expect(start(config(), { roles: ['worker'] })).rejects.toThrow(/chave mestra/)
})
