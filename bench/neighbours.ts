import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { unzipDocument } from '@vigia/sefaz/distribution'
import { registerCaptured } from './captures.ts'
import type { CorpusDocZip } from './corpus.ts'
import { type LoadClient, type LoadRequest, type LoadTimes, timeLoad } from './load.ts'
import { quantile, report } from './measure.ts'
import { readTemplates } from './publish.ts'
import { type Asking, compareShares } from './shares.ts'
import { startTenants } from './tenants.ts'

// Four people of a customer open their list, and again 50 ms after they have it; another customer, or a stranger, attacks on sixteen
// connections, each sending the next request as soon as the last has its response. The list alone is measured before and after each attack,
// so that the machine's other work counts for both.
const people = 4
const pauseMs = 50
const connections = 16
const seconds = { alone: 3, attacked: 7 }
// From the first request of an attack to the first that counts, and from the last to the next measurement.
const settlingMs = 1_000
const goal = 3

const [victim, attacker] = [
  { documents: 10_000, companies: 1, suppliers: 1_000, currentMonth: 600, lastMonth: 300 },
  { documents: 400_000, companies: 500, suppliers: 20_000, currentMonth: 4_000, lastMonth: 10_000 },
]
const largeItems = 990
const notesMax = 300

const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
const note = (JSON.parse(await readFile(corpora.generated!, 'utf8')) as CorpusDocZip[])
  .map(({ schema, base64 }) => ({ schema, xml: unzipDocument(Buffer.from(base64, 'base64')).toString() }))
  .find(({ xml }) => xml.startsWith('<nfeProc') || xml.includes('<nfeProc '))!

// Exports are made by a worker.
await using api = await startTenants([victim, attacker], { withWorker: true })
const [its, theirs] = api.tenants as [Tenant, Tenant]
type Tenant = (typeof api.tenants)[number]
const company = await findCompany()
// With documents as people have them; then the office gets one of many items.
if (process.env.ONLY !== 'attacks')
  await compareShares(
    api,
    await askingOf(its, 1, { base: 11222333, companies: 1 }),
    await askingOf(theirs, 4, { base: 44555666, companies: 500 }),
  )
const [large = ''] = (await addFiles(theirs, largeItems)).notes

for (const [attack, client] of process.env.ONLY === 'shares' ? [] : Object.entries(attacks())) {
  const alone: number[] = []
  const before = await list(seconds.alone)
  const under = timeLoad({
    url: api.url,
    seconds: (settlingMs + seconds.attacked * 1000) / 1000,
    clients: Array.from({ length: connections }, () => client),
    impatient: true,
  })
  await settle()
  const attacked = await list(seconds.attacked)
  const attacking = Object.values(await under)[0]!
  await settle()
  const after = await list(seconds.alone)
  alone.push(...before.ms, ...after.ms)
  const [p99Alone, p99] = [at(alone, 0.99), at(attacked.ms, 0.99)]
  report('neighbours', {
    attack,
    goal,
    ratio: Number((p99 / p99Alone).toFixed(2)),
    p50Ratio: Number((at(attacked.ms, 0.5) / at(alone, 0.5)).toFixed(2)),
    aloneMs: { p50: at(alone, 0.5), p99: p99Alone },
    attackedMs: { p50: at(attacked.ms, 0.5), p99, max: at(attacked.ms, 1) },
    errors: before.errors + attacked.errors + after.errors,
    attacks: { requests: attacking.ms.length, refused: attacking.errors },
  })
}

// `keys`: each may make 120 calls in a minute.
async function askingOf(
  tenant: Tenant,
  keys: number,
  companies: Parameters<typeof registerCaptured>[3],
): Promise<Asking> {
  const { notes, token } = await addFiles(tenant, 1)
  const addKey = async (index: number) => {
    const body = { nome: `Programa ${index}`, permissoes: ['documentos:ler'] }
    const { data } = await read<{ chave: string }>('/v1/api/Chaves', token, body)
    return data.chave
  }
  return {
    token,
    notes,
    keys: await Promise.all(Array.from({ length: keys }, (_, index) => addKey(index))),
    captured: await registerCaptured(api, tenant, await readTemplates(corpora), companies),
  }
}

async function list(forSeconds: number): Promise<LoadTimes> {
  const { token } = its
  const requests = [{ kind: 'list', path: pathOf(0), headers: { 'accept-encoding': 'br' } }]
  const clients = Array.from({ length: people }, () => ({ token, requests, pauseMs }))
  const { ms, errors } = (await timeLoad({ url: api.url, seconds: forSeconds, clients })).list!
  // The first of each opens its connection and warms the thread up.
  return { ms: ms.slice(people), errors }
}

function settle(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, settlingMs))
}

function at(ms: number[], q: number): number {
  return Number(quantile(ms, q).toFixed(1))
}

function pathOf(type: 0 | 2, more = ''): string {
  return `/v1/api/DocumentosFiscais?TipoDFe=${type}${more}`
}

function attacks(): Record<string, LoadClient> {
  const member = (...requests: Omit<LoadRequest, 'kind'>[]): LoadClient => ({
    token: theirs.token,
    requests: requests.map((one) => ({ kind: 'attack', ...one })),
  })
  const stranger = (...requests: Omit<LoadRequest, 'kind'>[]): LoadClient => {
    const { token: _, ...client } = member(...requests)
    return client
  }
  const json = { 'content-type': 'application/json' }
  const month = new Date(Date.now() - 3 * 3_600_000).toISOString().slice(0, 7)
  const dates = `&DataDe=${month}-01T00:00:00&DataAte=${month}-28T23:59:59`
  const exporting = (contents: object, link: 'whole' | 'cut', filtro: object = {}): Omit<LoadRequest, 'kind'> => ({
    path: '/v1/api/DocumentosFiscais/exportar',
    headers: json,
    body: JSON.stringify({ filtro: { TipoDFe: 0, ...filtro }, ...contents }),
    link,
  })
  const account = { nome: 'Ana Souza', senha: 'notas-da-ana-em-dia', tipoPlano: 2 }
  const pages = Math.floor((attacker!.documents * 0.8) / 50)
  return {
    header: stranger({ path: '/', headers: { 'accept-encoding': `br${'\t'.repeat(15_500)};q=1` } }),
    'export cut off': member(
      exporting({ planilha: true, xml: false, pdf: false }, 'cut', {
        DataDe: `${Number(month.slice(0, 4)) - 1}-${month.slice(5)}-01T00:00:00`,
      }),
    ),
    pfx: member(upload()),
    'text e': member({ path: pathOf(0, '&CampoPesquisa=e') }),
    'all filters': member({
      path: pathOf(0, `&CampoPesquisa=e&Status=2&TipoParticipacao=1&IdEmpresa=${company}${dates}`),
    }),
    details: member({ path: `/v1/api/DocumentosFiscais/detalhes/${large}`, headers: { 'accept-encoding': 'br' } }),
    'export xml pdf': member(
      exporting({ xml: true, pdf: true }, 'whole', {
        DataDe: `${month}-01T00:00:00`,
        DataAte: `${month}-28T23:59:59`,
      }),
    ),
    dashboard: member({ path: '/v1/api/Dashboard' }),
    'sign-up': stranger({
      path: '/v1/api/Usuarios',
      headers: json,
      body: JSON.stringify({ ...account, email: 'maria{n}@exemplo.com.br' }),
    }),
    login: stranger({
      path: '/v1/api/Auth',
      headers: json,
      body: JSON.stringify({ email: 'ana1@exemplo.com.br', senha: account.senha }),
    }),
    negotiate: member({ path: '/notification-hub/negotiate?negotiateVersion=1', body: '' }),
    depth: member(
      ...Array.from({ length: 100 }, () => ({
        path: pathOf(0, `&PaginaAtual=${1 + Math.floor(Math.random() * pages)}`),
      })),
    ),
  }
}

// As many derivations as are taken at most, which take longer than the file may.
function upload(): Omit<LoadRequest, 'kind'> {
  const der = (tag: number, ...parts: Uint8Array[]) => {
    const content = Buffer.concat(parts)
    return Buffer.concat([Buffer.from([tag, content.length]), content])
  }
  const hex = (text: string) => Buffer.from(text, 'hex')
  // RFC 7292: an empty file, a digest that fits nothing, and 1,000,000 derivations before that is known.
  const [data, sha1] = [der(6, hex('2a864886f70d010701')), der(6, hex('2b0e03021a'))]
  const mac = der(
    0x30,
    der(0x30, der(0x30, sha1, der(5)), der(4, Buffer.alloc(20))),
    der(4, Buffer.alloc(8)),
    der(2, hex('0f4240')),
  )
  const pfx = der(0x30, der(2, hex('03')), der(0x30, data, der(0xa0, der(4, der(0x30)))), mac)
  const boundary = 'fronteira'
  const part = (name: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`
  const body = Buffer.concat([
    Buffer.from(`${part('Senha')}segredo\r\n${part('Certificado', '; filename="empresa.pfx"')}`),
    pfx,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return {
    path: '/v1/api/Empresas',
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body,
  }
}

async function findCompany(): Promise<string> {
  const { data } = await read<{ id: string }[]>('/v1/api/Empresas/obter-empresas')
  return data[0]!.id
}

// Gives the notes of the month bytes of their own, the newest complete one so many items; returns the names of the complete ones, newest first.
async function addFiles({ token, workspaceId }: Tenant, items: number): Promise<{ token: string; notes: string[] }> {
  const { rows } = await api.owner.query<{ company_id: number; nsu: string }>(
    `select company_id, nsu from document
      where workspace_id = $1 and type = 0 and issued_at >= date_trunc('month', now() at time zone 'America/Sao_Paulo')
      order by complete desc, issued_at desc, id desc`,
    [workspaceId],
  )
  const item = /<det nItem="\d+">.*?<\/det>/s.exec(note.xml)![0]
  const many = Array.from({ length: items }, (_, index) => item.replace(/nItem="\d+"/, `nItem="${index + 1}"`))
  const contents = rows.map((_, index) =>
    gzipSync(
      index === 0
        ? note.xml.replace(/<det .*<\/det>/s, many.join(''))
        : note.xml.replace(/<nNF>\d+/, `<nNF>${workspaceId}${index + 1}`),
    ),
  )
  await api.owner.query(
    `insert into receipt (workspace_id, company_id, service, codec, nsu, schema, unread, content)
     select $1, company_id, 0, 0, nsu, $2, false, content from unnest($3::int[], $4::bigint[], $5::bytea[]) r (company_id, nsu, content)
     on conflict (workspace_id, company_id, service, nsu) do update set content = excluded.content`,
    [workspaceId, note.schema, rows.map(({ company_id }) => company_id), rows.map(({ nsu }) => nsu), contents],
  )
  await api.owner.query('analyze receipt')
  const notes: string[] = []
  for (let page = 1; notes.length < notesMax; page++) {
    const path = pathOf(0, `&PaginaAtual=${page}`)
    const { data } = await read<{ items: { idDfe: string; notaCompleta: boolean }[] }>(path, token)
    if (data.items.length === 0) break
    notes.push(...data.items.filter(({ notaCompleta }) => notaCompleta).map(({ idDfe }) => idDfe))
  }
  return { token, notes: notes.slice(0, notesMax) }
}

async function read<T>(path: string, token = theirs.token, body?: object): Promise<{ data: T }> {
  const response = await fetch(new URL(path, api.url), {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    body: body && JSON.stringify(body),
  })
  return (await response.json()) as { data: T }
}
