import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { freePort } from '@vigia/embedded-postgres/port'
import { startPostgres } from '@vigia/embedded-postgres/postgres'
import { type Simulator, start as startSimulator } from '@vigia/simulator/start'
import pg from 'pg'

// Records one line for each GET of an installation with fixed contents: `npm run record -- OUT --authority FOLDER`.
// Run it on two commits with the same FOLDER (the first run makes it) on one day, and compare the files.

const root = fileURLToPath(new URL('..', import.meta.url))
// The first two have generated documents, the others the samples.
const cnpjs = '12ABC34501DE35 44555666000181 99429951000148 99012478000107 99427512000104 99427024000199 99889891000146'
const companies = cnpjs.split(' ').map((cnpj) => ({ cnpj, nome: `EMPRESA ${cnpj}`, uf: 'SP' }))
const senha = 'notas-em-dia-2026'

// Moments of this run.
const masked = new Set(
  `id idAviso proximaConsulta ultimaResposta ultimaSincronizacaoNFe ultimaSincronizacaoCTe criadaEm
  expiraEm vistaEm abertaEm enviadoEm validoDe validoAte validadeCertificadoA1 avaliadoEm testeAte
  quando desde`.split(/\s+/),
)
/** Labels of companies and documents, whose ids are drawn anew in each run. */
const labels = new Map<string, string>()

/** Lists of the two families: each with every filter once, and the orders. */
const filters = `PaginaAtual=1 PaginaAtual=2 CampoPesquisa=ltda CampoPesquisa=992
  Status=0 Status=1 Status=2 Status=3 Status=4 Status=5 Status=6 Status=7 Status=8
  TipoParticipacao=0 TipoParticipacao=1 TipoParticipacao=2 TipoParticipacao=3 TipoParticipacao=4 TipoParticipacao=5
  DataDe=2026-01-01T00:00:00&DataAte=2026-12-31T23:59:59 Ordem=valor Ordem=-valor Ordem=emitente Ordem=prazo`.split(
  /\s+/,
)
const lists = [0, 2].flatMap((type) => filters.map((filter) => `/v1/api/DocumentosFiscais?TipoDFe=${type}&${filter}`))

const plain = `
  Alertas Alertas/ajustes Alertas/conhecidos Alertas/habitos Alertas/regras Alertas/resumo Auditoria Auth/sessoes
  Auth/workspaces Avisos Chaves Dashboard DocumentosFiscais/exportacoes DocumentosFiscais/selecao?TipoDFe=0
  DocumentosFiscais/selecao?TipoDFe=2 DocumentosFiscais/sugestoes?TipoDFe=0&CampoPesquisa=ltda
  DocumentosFiscais/textos-de-manifestacao?TipoDFe=0&tipoManifestacao=2 DocumentosFiscais/visoes
  Empresas/certificado-de-teste Empresas/certificados-em-lote Empresas/obter-empresas Equipe Fretes Plano Prazos
  Prazos/calendario Reforma?Mes=2026-11 RegrasDeResposta Relatorios/mensais
  Relatorios?Tipo=compras&Por=produto&MesDe=2026-09&MesAte=2026-12
  Relatorios?Tipo=compras&Por=fornecedor&MesDe=2026-09&MesAte=2026-12
  Relatorios?Tipo=compras&Por=cfop&MesDe=2026-09&MesAte=2026-12
  Relatorios?Tipo=vendas&Por=mes&MesDe=2026-09&MesAte=2026-12
  Relatorios?Tipo=fretes&Por=transportador&MesDe=2026-09&MesAte=2026-12 SegundaPessoa SegundaPessoa/valor
  Usuarios/avisos Usuarios/conta Vencimentos Vencimentos/resumo?Por=fornecedor Vencimentos/selecao Webhooks nada
`
  .trim()
  .split(/\s+/)
  .map((where) => `/v1/api/${where}`)

const { values, positionals } = parseArgs({ options: { authority: { type: 'string' } }, allowPositionals: true })
const [out] = positionals
if (!out || !values.authority) throw new Error('npm run record -- OUT --authority FOLDER')
const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })

await using stack = new AsyncDisposableStack()
const dataDir = await mkdtemp(path.join(tmpdir(), 'vigia-record-'))
stack.defer(() => rm(dataDir, { recursive: true, force: true }))
const simulator = await openAuthority(values.authority)
const postgres = stack.use(await startPostgres({ directory: path.join(dataDir, 'postgres') }))
const database = new pg.Pool({ connectionString: postgres.url })
stack.defer(() => database.end())
const { url, worker } = await startProduct()
const lines: string[] = []
await record()
await writeFile(out, `${commit}${lines.join('\n')}\n`)
console.log(`${lines.length} calls`)

// A copy of the folder, which the first run makes: keys and documents are the same on each commit.
async function openAuthority(folder: string): Promise<Simulator> {
  const directory = path.join(dataDir, 'simulator')
  const options = { port: 0, hourMs: 60_000 }
  if (!existsSync(folder)) {
    const archive = path.join(root, '../shared/data/samples')
    const contents = { companies: companies.slice(0, 2), documentsEach: 150, ...(existsSync(archive) && { archive }) }
    const made = await startSimulator({ ...options, directory: folder, ...contents })
    await made[Symbol.asyncDispose]()
  }
  await cp(folder, directory, { recursive: true })
  return stack.use(await startSimulator({ ...options, directory }))
}

async function startProduct(): Promise<{ url: string; worker: ChildProcess }> {
  const port = await freePort()
  const env = {
    ...process.env,
    PORT: String(port),
    DATA_DIR: dataDir,
    DATABASE_URL: postgres.url,
    SIMULATOR_PORT: String(simulator.port),
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    LOG_LEVEL: 'error',
  }
  const run = (mode: string): ChildProcess =>
    spawn(process.execPath, ['scripts/start.ts', mode], { cwd: root, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(run('migrate'), 'exit')
  if (code !== 0) throw new Error('migrate failed')
  await database.query(
    `insert into installation (ambiente, id_key) values ('simulado', '\\x000102030405060708090a0b0c0d0e0f')`,
  )
  const [api, worker] = [run('api'), run('worker')]
  for (const child of [api, worker]) stack.defer(() => end(child))
  const url = `http://localhost:${port}`
  await until('the API', () => fetch(`${url}/health`).then(({ ok }) => ok))
  return { url, worker }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.kill('SIGTERM')) await once(child, 'exit')
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 180_000; Date.now() < deadline; await sleep(300)) {
    // Lines that are up to date ask nothing more, so that each company is captured alone and once.
    await database.query(
      `update capture_line set next_at = now() + interval '1 min' where state = 'waiting' and next_at - now() > '10 s'`,
    )
    if (await isSo().catch(() => false)) return
  }
  throw new Error(`${what} does not come`)
}

async function call(token: string, method: string, where: string, body?: object): Promise<{ data: unknown }> {
  const isForm = body instanceof FormData
  const json = { 'content-type': 'application/json' }
  const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(body && !isForm && json) }
  const sent = isForm ? body : body && JSON.stringify(body)
  const response = await fetch(new URL(where, url), { method, headers, ...(sent && { body: sent }) })
  const answer = (await response.json()) as { success: boolean; message: string; data: unknown }
  if (!answer.success) throw new Error(`${method} ${where}: ${answer.message}`)
  return answer
}

async function enter(role: string): Promise<string> {
  const email = `${role}@exemplo.com.br`
  if (role !== 'administrador') await accept(email, role)
  else await call('', 'POST', '/v1/api/Usuarios', { nome: 'Dona Ana', email, senha, tipoPlano: 2 })
  return ((await call('', 'POST', '/v1/api/Auth', { email, senha })).data as { token: string }).token
}

async function accept(email: string, role: string): Promise<void> {
  const convite = randomBytes(32).toString('base64url')
  await database.query(
    `with made as (insert into invitation (workspace_id, email, role, invited_by, token_hash, expires_at)
       select workspace_id, $1, $2, id, $3, now() + interval '1 day' from account order by id limit 1 returning workspace_id)
     insert into token_directory (token_hash, workspace_id, kept_until) select $3, workspace_id, 'infinity' from made`,
    [email, role, createHash('sha256').update(convite).digest()],
  )
  await call('', 'POST', '/v1/api/Convites/aceitar', { convite, nome: role, senha, senhaNovamente: senha })
}

async function register(token: string, company: (typeof companies)[number]): Promise<void> {
  const pfx = await simulator.issueCertificate({ ...company, senha: 'segredo', sharedKey: true })
  const form = new FormData()
  form.append('Certificado', new File([new Uint8Array(pfx)], 'empresa.pfx'))
  form.append('Senha', 'segredo')
  await call(token, 'POST', '/v1/api/Empresas', form)
  // Reports and alerts follow the arrival; they are done when they stay equal.
  const followers = plain.filter((where) => /Alertas\/resumo|Relatorios\?|Fretes$|Reforma|Vencimentos$/.test(where))
  let [last, equal] = ['', 0]
  await until(`what ${company.cnpj} receives`, async () => {
    const { data } = await call(token, 'GET', '/v1/api/Empresas/obter-empresas')
    const lines = (data as { captura: { estado: string; ultimoNsu: string; maxNsu: string }[] }[]).flatMap(
      ({ captura }) => captura,
    )
    if (lines.some((line) => line.estado !== 'aguardando' || line.ultimoNsu !== line.maxNsu)) return false
    const now = (await Promise.all(followers.map((where) => answerOf(where, token)))).join()
    equal = now === last ? equal + 1 : 0
    last = now
    return equal >= 8
  })
}

async function record(): Promise<void> {
  const administrador = await enter('administrador')
  for (const company of companies) await register(administrador, company)
  await end(worker)
  const tokens = { administrador, leitura: await enter('leitura'), auditor: await enter('auditor') }
  await database.query(`update receipt set received_at = timestamptz '2026-11-02 12:00Z' + nsu * interval '1 second'`)
  await database.query(`update document set created_at = timestamptz '2026-11-02 12:00Z' + nsu * interval '1 second'`)
  const ids = await idsOf(administrador)
  for (const [role, token] of Object.entries(tokens))
    for (const where of [...plain, ...lists, ...ids]) lines.push(`${role} ${await answerOf(where, token)}`)
}

// Details, forms and XML of each document, and what one company and one supplier have.
async function idsOf(token: string): Promise<string[]> {
  const found: string[] = []
  const owned = (await call(token, 'GET', '/v1/api/Empresas/obter-empresas')).data as { id: string; cnpj: string }[]
  for (const { id, cnpj } of owned) labels.set(id, cnpj)
  for (const type of [0, 2]) {
    const form = type === 0 ? 'danfe' : 'dacte'
    const rows: { idDfe: string; chave: string; idEmpresa: string }[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data } = await call(token, 'GET', `/v1/api/DocumentosFiscais?TipoDFe=${type}&PaginaAtual=${page}`)
      const { items, totalDePaginas } = data as { items: typeof rows; totalDePaginas: number }
      rows.push(...items)
      pages = totalDePaginas
    }
    for (const { idDfe, chave, idEmpresa } of rows) labels.set(idDfe, `${chave}/${labels.get(idEmpresa)}`)
    for (const { idDfe, idEmpresa } of rows)
      found.push(
        ...['detalhes', 'xml', 'manifestacoes', form].map((what) => `/v1/api/DocumentosFiscais/${what}/${idDfe}`),
        `/v1/api/Alertas/detalhes/${idDfe}`,
        ...(type === 2 ? [`/v1/api/Fretes/detalhes/${idDfe}`] : []),
        `/v1/api/Empresas/obter-empresa?id=${idEmpresa}`,
        `/v1/api/Empresas/completude?id=${idEmpresa}`,
      )
    found.push(...rows.map(({ chave }) => `/v1/api/Fornecedores/${chave.slice(6, 14)}`))
  }
  return [...new Set(found)]
}

async function answerOf(where: string, token: string): Promise<string> {
  const response = await fetch(new URL(where, url), { headers: { authorization: `Bearer ${token}` } })
  const bytes = Buffer.from(await response.arrayBuffer())
  const type = response.headers.get('content-type') ?? ''
  const text = type.includes('json') ? shown(where, bytes.toString()) : ''
  // Test certificates have a new key each time.
  const content = type.includes('pkcs12') ? '' : text || bytes
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 16)
  return `${label(where)} ${response.status} ${digest} ${text}`
}

function shown(where: string, json: string): string {
  const mask = (name: string, value: unknown) => (masked.has(name) && value !== null ? '•' : value)
  const text = label(JSON.stringify(JSON.parse(json), mask))
  // Installments of one day are ordered by ids of this run.
  const sort = (_: string, value: unknown) =>
    Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value
  return where.includes('/Vencimentos') ? JSON.stringify(JSON.parse(text), sort) : text
}

function label(text: string): string {
  const labelOf = (id: string) => labels.get(id) ?? (/^[\da-f]{8}-/.test(id) ? '•' : id)
  return text
    .replace(/(?<![\w-])(?:[\w-]{36}|[\w-]{22})(?![\w-])/g, labelOf)
    .replace(/às \d\d:\d\d/g, 'às •')
    .replace(/"chave":"\d{1,9}"/g, '"chave":"•"')
}
