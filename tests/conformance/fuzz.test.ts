import { Agent, request } from 'node:http'
import querystring from 'node:querystring'
import type { RouteDefinition } from '@vigia/contract/route'
import { routes } from '@vigia/server/start'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collectSecrets, takeSnapshot } from '../support/canary.ts'
import { anyFile, anyText, anyValue, awkward, boundary, encoded, multipart, tampered } from '../support/garbage.ts'
import { runs } from '../support/seed.ts'
import { logIn, startTwoWorkspaces, type TwoWorkspaces } from '../support/two-workspaces.ts'

// Whatever is sent: no failure of ours, no inside of the program in an answer, nothing of another workspace, always an envelope.

const atOnce = 6
// Eight times as many cases with RUNS=full.
const timeout = 200_000

let two: TwoWorkspaces
let token: string
let before: Map<string, string[]>
let secrets: string[]
let printable: string
let port: number
let wordReplies: Promise<PromiseSettledResult<Reply>[]>
const shared = new Agent({ keepAlive: true, maxSockets: atOnce })

beforeAll(async () => {
  two = await startTwoWorkspaces({ working: false })
  port = Number(new URL(two.product.url).port)
  token = two.mine.token
  secrets = await collectSecrets(two)
  printable = (await two.mine.client.list('TipoDFe=0')).find(({ notaCompleta }) => notaCompleta)!.idDfe
  before = await takeSnapshot(two)
  // They wait for a worker that is not there: meanwhile everything else is sent.
  wordReplies = Promise.allSettled(wordCalls().map((call) => send(call, new Agent())))
}, 120_000)
afterAll(async () => {
  shared.destroy()
  await two?.[Symbol.asyncDispose]()
})

interface Call {
  method: string
  path: string
  headers: Record<string, string>
  body?: Buffer
}

interface Reply {
  status: number
  type: string
  text: string
}

function send(sent: Call, agent = shared): Promise<Reply> {
  const { method, path, headers, body } = sent
  return new Promise((resolve, reject) => {
    const call = request({ agent, port, method, path, headers, timeout: 25_000 }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          type: response.headers['content-type'] ?? '',
          text: Buffer.concat(parts).toString(),
        }),
      )
    })
    call.on('error', (cause: NodeJS.ErrnoException) => {
      // An unreadable request hides its method, so a HEAD may be refused with a body.
      if (method === 'HEAD' && cause.code === 'HPE_CLOSED_CONNECTION') resolve({ status: 400, type: '', text: '' })
      else reject(new Error(told(sent), { cause }))
    })
    call.on('timeout', () => call.destroy(new Error('no answer')))
    call.end(body)
  })
}

const insides =
  /node_modules|\bat \S+ \(|\.ts:\d|file:\/\/|\/(work|home|usr|tmp|etc)\/|\b(select|insert into|update|delete from) \w+|syntax error|violates|constraint|pg_|vigia_app|kysely|ZodError|(Type|Syntax|Range|Reference)Error|undefined|\[object|postgres(ql)?:/i

/** How the files begin that calls answer with instead of an envelope. */
const fileBeginnings = new Map([
  ['application/pdf', /^%PDF-/],
  ['application/xml', /^<\?xml|^<\w/],
  ['application/zip', /^PK/],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', /^PK/],
  ['application/x-pkcs12', /^0/],
  ['image/png', /^.PNG/],
])

/** The rules for every answer. */
function expectCalm({ status, type, text }: Reply, { method, path, body }: Call): void {
  expect(status, text.slice(0, 300)).toBeLessThan(500)
  for (const secret of secrets) expect(text.includes(secret), `${secret} in ${text.slice(0, 300)}`).toBe(false)
  const beginning = fileBeginnings.get(type)
  if (beginning) {
    expect(status).toBe(200)
    if (method !== 'HEAD') expect(text).toMatch(beginning)
    return
  }
  if (method === 'HEAD' || status === 204) return
  const isPage = !path.startsWith('/v1') && status === 200 && !type.startsWith('application/json')
  if (isPage || path.startsWith('/docs')) return
  expect(type).toBe('application/json; charset=utf-8')
  const envelope = JSON.parse(text) as Record<string, unknown>
  if (status < 400) {
    expect(Object.keys(envelope).sort()).toEqual(['data', 'errors', 'message', 'success'])
    expect([envelope.success, envelope.errors]).toEqual([true, []])
  } else {
    // Duplicate names are quoted back to the sender.
    const [inside] = insides.exec(text) ?? []
    const isTheirs = inside && (querystring.unescape(path).includes(inside) || body?.includes(inside))
    if (!isTheirs) expect(inside).toBeUndefined()
    expect(Object.keys(envelope).sort()).toEqual(['data', 'errors', 'message', 'statusCode', 'success'])
    expect([envelope.success, envelope.data, envelope.statusCode]).toEqual([false, null, status])
    expect(envelope.errors).toEqual(expect.arrayContaining([expect.stringMatching(/\S/)]))
  }
  expect(envelope.message).toEqual(expect.stringMatching(/\S/))
}

/** Calls at once; what they may have ended or used up is made good afterwards. */
async function sendAll(calls: Call[]): Promise<void> {
  const replies = await Promise.all(calls.map((call) => send(call)))
  if (replies.some(({ status }) => status === 429)) await two.owner.query('delete from throttle')
  if (calls.some(({ path }) => /Auth|senha/i.test(path)) && (await send(dashboard())).status === 401) {
    await two.owner.query('delete from throttle')
    token = await logIn(two.product, two.mine.account)
  }
  for (const [index, reply] of replies.entries()) {
    const call = calls[index]!
    try {
      expectCalm(reply, call)
    } catch (cause) {
      throw new Error(`${told(call)} ${call.body?.subarray(0, 2_000)} → ${reply.status} ${reply.text.slice(0, 500)}`, {
        cause,
      })
    }
  }
}

const told = ({ method, path, headers }: Call) =>
  `${method} ${path.slice(0, 500)} ${JSON.stringify(headers).slice(0, 500)}`

const bearer = () => ({ authorization: `Bearer ${token}` })
const dashboard = (): Call => ({ method: 'GET', path: '/v1/api/Dashboard', headers: bearer() })

/** Sends batches of calls: `full` of them with RUNS=full. */
async function explore(calls: fc.Arbitrary<() => Call>, full: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { minLength: 1, maxLength: atOnce }), async (batch) => {
      await sendAll(batch.map((make) => make()))
    }),
    { numRuns: runs(full) },
  )
}

const text = anyText(() => [two.theirs.companyId, ...two.theirs.nfe, ...two.theirs.cte, two.mine.companyId])
const value = anyValue(text)

// Values that get a call past the first checks. A manifestação of one's own documents would wait
// for a worker: it has a test of its own.
const plausible: Record<string, () => unknown> = {
  email: () => 'ana@exemplo.com.br',
  nome: () => 'Ana Souza',
  senha: () => 'outra-senha',
  senhaAtual: () => 'senha errada',
  senhaNovamente: () => 'outra-senha',
  urlAcesso: () => 'A'.repeat(43),
  token: () => 'A'.repeat(43),
  celular: () => '11912345678',
  tipoPlano: () => 1,
  mensagem: () => 'Bom dia',
  TipoDFe: () => '0',
  PaginaAtual: () => '1',
  Status: () => '2',
  DataDe: () => '2026-01-01T00:00:00',
  DataAte: () => '2026-12-31T00:00:00',
  justificativa: () => 'Uma justificativa bastante longa',
  tipoManifestacao: () => 1,
  idsDFe: () => [two.mine.nfe[0], two.theirs.nfe[0]],
  idDfe: () => printable,
  id: () => two.mine.companyId,
  idEmpresa: () => two.mine.companyId,
  IdEmpresa: () => two.mine.companyId,
  RazaoSocial: () => 'EMPRESA ALFA LTDA',
  Senha: () => 'segredo',
  Certificado: () => '',
  Uf: () => '35',
  SincronizacaoAutomatica: () => 'true',
  'ConfiguracoesCte.Tomador': () => 'false',
  busca: () => 'alfa',
  Acao: () => 'empresa',
  CampoPesquisa: () => 'a',
  empresa: () => 'EMPRESA ALFA LTDA',
  correcoes: () => [{ grupoAlterado: 'ide', campoAlterado: 'serie', valorAlterado: '1' }],
}

const shapeOf = (schema: RouteDefinition['body']): string[] =>
  schema && 'shape' in schema ? Object.keys(schema.shape as object) : []

/**
 * Plausible fields but for a few, which hold something else or are missing; of ten, `strangers` may have more fields than are asked for.
 */
function fields<T>(
  names: string[],
  garbage: fc.Arbitrary<T>,
  strangers = 7,
): fc.Arbitrary<() => Record<string, unknown>> {
  const strange = fc.array(fc.tuple(fc.nat(1_000), fc.oneof(garbage, fc.constant(undefined))), { maxLength: 3 })
  const more = fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', 'senha')), garbage, { maxKeys: 2 })
  const some = fc.oneof(
    { weight: 10 - strangers, arbitrary: fc.constant(null) },
    { weight: strangers, arbitrary: more },
  )
  return fc.tuple(strange, some).map(([strange, more]) => () => {
    const made = new Map<string, unknown>(names.map((name) => [name, plausible[name]?.()]))
    for (const [n, value] of strange) if (names.length > 0) made.set(names[n % names.length]!, value)
    const all = [...made, ...Object.entries(more ?? {})]
    return Object.fromEntries(all.filter(([, value]) => value !== undefined))
  })
}

function callOf(route: RouteDefinition): fc.Arbitrary<() => Call> {
  const short = text.filter((one) => one.length < 1_000)
  return fc
    .record({
      params: fields(shapeOf(route.params), short),
      // One more parameter, and the call is refused.
      query: fields(shapeOf(route.query), fc.oneof(short, fc.array(short, { maxLength: 3 })), 1),
      body: fields(shapeOf(route.body), value),
      form: fields(shapeOf(route.form), text),
      file: anyFile,
      tampered,
    })
    .map(({ tampered, ...given }) => () => {
      const params = given.params()
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(String(params[name] ?? 'x')))
      const query = Object.entries(given.query()).flatMap(([name, value]) =>
        [value].flat().map((one) => `${encoded(name)}=${encoded(String(one))}`),
      )
      const json = tampered.whole ?? JSON.stringify(given.body())
      const body = route.form
        ? multipart(given.form(), { file: given.file, end: tampered.end })
        : Buffer.from(json.slice(0, Math.ceil(json.length * tampered.cut)))
      const type = tampered.type ?? (route.form ? `multipart/form-data; boundary=${boundary}` : 'application/json')
      const hasBody = route.method !== 'GET'
      return {
        method: route.method,
        path: query.length > 0 ? `${path}?${query.join('&')}` : path,
        headers: { ...bearer(), ...(hasBody ? { 'content-type': type, 'content-length': String(body.length) } : {}) },
        ...(hasBody ? { body } : {}),
      }
    })
}

/** Manifestações of one's own documents. */
function wordCalls(): Call[] {
  const words = awkward.filter((word) => word.trim() !== '' && word.length <= 200)
  return words.map((word, index) => {
    const [path, own] = index % 2 === 0 ? ['manifestar-nfe', two.mine.nfe] : ['manifestar-cte', two.mine.cte]
    const body = {
      justificativa: index % 3 === 0 ? word : `${word} — e mais do que quinze letras`,
      idsDFe: [own[index % own.length], own[(index + 1) % own.length]],
      tipoManifestacao: 1 + (index % 4),
    }
    return {
      method: 'POST',
      path: `/v1/api/DocumentosFiscais/${path}`,
      headers: { authorization: `Bearer ${two.mine.token}`, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    }
  })
}

test('the input of every call', { timeout }, async () => {
  await explore(fc.oneof(...routes.map(({ route }) => callOf(route))), 320)
})

test('certificates that are nearly right', { timeout }, async () => {
  const { simulator } = two.product
  const pfx = await simulator.issueCertificate({
    cnpj: '11222333000181',
    nome: 'EMPRESA BETA LTDA',
    senha: 'segredo',
    sharedKey: true,
  })
  const changes = fc.array(fc.tuple(fc.nat(pfx.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 })
  const calls = fc.record({ changes, end: fc.constantFrom(1, 0.99, 0.5) }).map(({ changes, end }) => () => {
    const file = Buffer.from(pfx)
    for (const [at, byte] of changes) file[at] = byte
    const body = multipart({ Certificado: '', Senha: 'segredo' }, { file: file.subarray(0, file.length * end), end: 1 })
    const headers = { ...bearer(), 'content-type': `multipart/form-data; boundary=${boundary}` }
    return { method: 'POST', path: '/v1/api/Empresas', headers, body }
  })
  // A password is tried slowly on purpose.
  await explore(calls, 64)
})

const piece = fc.oneof(
  fc.constantFrom('v1', 'api', 'Auth', 'Empresas', 'DocumentosFiscais', 'danfe', 'health', 'docs', 'metrics', 'assets'),
  fc.constantFrom(
    '..',
    '.',
    '',
    '%2e%2e',
    '%2f',
    '%',
    '%zz',
    '%00',
    ';',
    '*',
    ':id',
    '{idDfe}',
    '__proto__',
    'x'.repeat(9_000),
  ),
  text.filter((one) => one.length < 300).map(encoded),
)
const headerText = fc.string({ unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)) })
const headerName = fc.constantFrom(
  ...[
    'accept',
    'accept-encoding',
    'content-type',
    'x-forwarded-for',
    'x-forwarded-host',
    'host',
    'origin',
    'cookie',
    'range',
  ],
  ...[
    'if-none-match',
    'if-modified-since',
    'x-http-method-override',
    'user-agent',
    'accept-version',
    'access-control-request-method',
  ],
  ...['authorization', 'x-request-id', 'te', 'via', 'priority'],
)
const strange = fc
  .record({
    method: fc.constantFrom(
      'GET',
      'GET',
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'HEAD',
      'OPTIONS',
      'TRACE',
      'PROPFIND',
      'QUERY',
    ),
    path: fc.oneof(
      fc.array(piece, { maxLength: 6 }).map((pieces) => `/${pieces.join('/')}`),
      fc.constantFrom(...routes.map(({ route }) => route.path)),
    ),
    headers: fc.dictionary(headerName, fc.oneof(headerText, fc.constantFrom('a'.repeat(4_000), '-1', '*', 'null')), {
      maxKeys: 4,
    }),
    known: fc.boolean(),
  })
  .map(({ method, path, headers, known }) => () => ({
    method,
    path,
    headers: { ...(known ? bearer() : {}), ...headers },
  }))

test('addresses, methods and headers of every kind', { timeout }, async () => {
  await explore(strange, 800)
})

test('words of every kind about documents of one’s own', { timeout: 60_000 }, async () => {
  const calls = wordCalls()
  // Events cannot leave before tomorrow, so the test does not wait for them.
  await two.owner.query("update outgoing_event set next_at = now() + interval '1 day'")
  for (const [index, outcome] of (await wordReplies).entries()) {
    if (outcome.status === 'rejected') throw outcome.reason
    expectCalm(outcome.value, calls[index]!)
  }
})

test('the other workspace is as it was, row by row', async () => {
  const after = await takeSnapshot(two)
  for (const [table, rows] of before) expect([table, after.get(table)]).toEqual([table, rows])
  expect(JSON.parse((await send(dashboard())).text)).toMatchObject({
    success: true,
    data: { qtdEmpresasCadastradas: 1 },
  })
})
