import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Validator } from '@seriousme/openapi-schema-validator'
import { type Envelope, mayAs, memberRoles, type RouteDefinition, scopes } from '@vigia/contract/route'
import { routes } from '@vigia/server/start'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Description } from '../support/description.ts'
import { callGenerated } from '../support/generated-client.ts'
import {
  digest,
  disposable,
  type Good,
  type GoodInput,
  goodCalls,
  newKey,
  newPersonOf,
  newSessionOf,
} from '../support/good-calls.ts'
import { thorough } from '../support/seed.ts'
import { logIn, type Member, startTwoWorkspaces, type TwoWorkspaces } from '../support/two-workspaces.ts'

// A walk over everything that the server answers, and over the table of section 7 of the specification.

const specified = [
  ['GET', '/health', 'public'],
  ['POST', '/v1/api/Auth', 'public'],
  ['POST', '/v1/api/RecuperarSenha', 'public'],
  ['GET', '/v1/api/RecuperarSenha/{token}', 'public'],
  ['POST', '/v1/api/RecuperarSenha/atualizar-senha', 'public'],
  ['POST', '/v1/api/Usuarios', 'public'],
  ['GET', '/v1/api/Dashboard', 'session'],
  ['GET', '/v1/api/DocumentosFiscais', 'session'],
  ['GET', '/v1/api/DocumentosFiscais/danfe/{idDfe}', 'session'],
  ['GET', '/v1/api/DocumentosFiscais/dacte/{idDfe}', 'session'],
  ['POST', '/v1/api/DocumentosFiscais/manifestar-nfe', 'session'],
  ['POST', '/v1/api/DocumentosFiscais/manifestar-cte', 'session'],
  ['GET', '/v1/api/Empresas/obter-empresas', 'session'],
  ['GET', '/v1/api/Empresas/obter-empresa', 'session'],
  ['POST', '/v1/api/Empresas', 'session'],
  ['PUT', '/v1/api/Empresas', 'session'],
  ['POST', '/v1/api/Empresas/sincronizar', 'session'],
] as const

type Section = 'params' | 'query' | 'body' | 'form'

// Names of section 7, letter by letter; what begins with + is ours.
const names: Record<string, Partial<Record<Section, string>>> = {
  'POST /v1/api/Auth': { body: 'email senha +codigo' },
  'POST /v1/api/RecuperarSenha': { body: 'email' },
  'GET /v1/api/RecuperarSenha/{token}': { params: 'token' },
  'POST /v1/api/RecuperarSenha/atualizar-senha': { body: 'urlAcesso senha senhaNovamente' },
  'POST /v1/api/Usuarios': { body: 'nome email senha celular tipoPlano' },
  'GET /v1/api/DocumentosFiscais': {
    query:
      'TipoDFe CampoPesquisa PaginaAtual IdEmpresa Status TipoParticipacao DataDe DataAte +ValorDe +ValorAte +Marca +Alerta +Produto +NCM +CFOP +ContaComo +LinhaDoRelatorio +Reforma +Empresas +PrazoDe +PrazoAte +PrazoPara +Ordem +Sentido',
  },
  'GET /v1/api/DocumentosFiscais/danfe/{idDfe}': { params: 'idDfe' },
  'GET /v1/api/DocumentosFiscais/dacte/{idDfe}': { params: 'idDfe' },
  'POST /v1/api/DocumentosFiscais/manifestar-nfe': { body: 'justificativa idsDFe tipoManifestacao' },
  'POST /v1/api/DocumentosFiscais/manifestar-cte': { body: 'justificativa idsDFe tipoManifestacao +correcoes' },
  'GET /v1/api/Empresas/obter-empresas': { query: 'busca' },
  'GET /v1/api/Empresas/obter-empresa': { query: 'id' },
  'POST /v1/api/Empresas': { form: 'Certificado Senha +Cnpj' },
  'PUT /v1/api/Empresas': {
    form: `IdEmpresa RazaoSocial Email Uf SincronizacaoAutomatica ConfiguracoesNfe.Emitente ConfiguracoesNfe.Destinatario
      ConfiguracoesNfe.Transportador ConfiguracoesNfe.Terceiro ConfiguracoesNfe.ManifestarCienciaAutomaticamente
      ConfiguracoesCte.Emitente ConfiguracoesCte.Remetente ConfiguracoesCte.Destinatario ConfiguracoesCte.Expedidor
      ConfiguracoesCte.Recebedor ConfiguracoesCte.Tomador ConfiguracoesCte.Terceiro CertificadoDigital.Certificado
      CertificadoDigital.Senha`,
  },
  'POST /v1/api/Empresas/sincronizar': { query: 'idEmpresa' },
}

const nameOf = (route: RouteDefinition) => `${route.method} ${route.path}`
const served: RouteDefinition[] = routes.map(({ route }) => route)
const all = served.map((route) => [nameOf(route), route] as const)
const sections: readonly Section[] = ['params', 'query', 'body', 'form']

function fieldsOf(route: RouteDefinition, section: Section): string[] {
  const schema = route[section]
  if (schema === undefined) return []
  if (!('shape' in schema)) throw new Error(`${nameOf(route)}: ${section} is not an object`)
  return Object.keys(schema.shape as object)
}

describe('the table of section 7', () => {
  test.each(specified.map((row) => [`${row[0]} ${row[1]}`, row[2]] as const))(
    '%s is served once, %s',
    (name, access) => {
      expect(served.filter((route) => nameOf(route) === name)).toMatchObject([{ access }])
    },
  )

  test('is the one that the specification prints', () => {
    const folder = fileURLToPath(new URL('../../../shared/spec/', import.meta.url))
    if (!existsSync(folder)) return
    const text = readdirSync(folder)
      .map((file) => readFileSync(`${folder}${file}`, 'utf8'))
      .join('\n')
    const printed = [...text.matchAll(/^\| (GET|POST|PUT|DELETE) (\/[^\s?|]*)/gm)].map(([, method, path]) => [
      method,
      path,
    ])
    expect(specified.map(([method, path]) => [method, path])).toEqual(printed)
  })

  test.each(Object.entries(names))('%s takes what is written there, and nothing else of other names', (name, taken) => {
    const route = served.find((route) => nameOf(route) === name)!
    const wanted = sections.map((section) => [
      section,
      (taken[section]?.split(/\s+/) ?? []).map((field) => field.replace('+', '')).sort(),
    ])
    expect(sections.map((section) => [section, fieldsOf(route, section).sort()])).toEqual(wanted)
  })

  test('no two routes share method and path', () => {
    expect(new Set(served.map(nameOf)).size).toBe(served.length)
  })
})

let two: TwoWorkspaces
let description: Description
const warnings: Error[] = []
const noteWarning = (warning: Error) => void warnings.push(warning)
beforeAll(async () => {
  process.on('warning', noteWarning)
  two = await startTwoWorkspaces({ working: true })
  description = await Description.of(two.product.url)
  // The walk makes more companies than other plans have.
  await two.owner.query('update workspace set plan = 3')
  await send(served.find(({ path }) => path === '/v1/api/Usuarios')!, { body: disposable })
}, 120_000)
afterAll(async () => {
  process.off('warning', noteWarning)
  await two?.[Symbol.asyncDispose]()
})

async function goodFor(name: string): Promise<Good> {
  const make = goodCalls[name]
  if (!make) throw new Error(`${name} is new: say in tests/support/good-calls.ts with which input it answers 200`)
  return make(two)
}

const goods = new Map<string, Promise<Good>>()

/** Reuses inputs of refused or reading calls: making their objects costs more than the calls. */
function sharedGood(name: string): Promise<Good> {
  const good = goods.get(name) ?? goodFor(name)
  goods.set(name, good)
  return good
}

interface Answer {
  status: number
  type: string
  text: string
  body: Envelope<unknown>
}

async function send(route: RouteDefinition, input: GoodInput, authorization?: string): Promise<Answer> {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input.params?.[name] ?? 'x'))
  const url = new URL(path, two.product.url)
  for (const [name, value] of Object.entries(input.query ?? {}))
    for (const one of [value].flat()) url.searchParams.append(name, one)
  const response = await fetch(url, {
    method: route.method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(route.body ? { 'content-type': 'application/json' } : {}),
    },
    body: route.body ? JSON.stringify(input.body ?? {}) : route.form ? formOf(input.form ?? {}) : undefined,
  })
  const text = await response.text()
  const type = response.headers.get('content-type') ?? ''
  const answer = { status: response.status, type, text, body: type.includes('json') ? JSON.parse(text) : null }
  expect(description.problemsOfAnswer(route, answer), nameOf(route)).toBe('')
  return answer
}

function formOf(fields: Record<string, string | File>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

const bearer = ({ token = two.mine.token }: { token?: string } = {}) => `Bearer ${token}`
const english = /\b(invalid|expected|received|must|required|failed|error|unexpected|too|string|input|request)\b/i

/** A failure as section 3 describes it, in words for a person. */
function expectFailure({ status, body }: Answer, expected: number, about: string): void {
  expect([status, body.success, body.statusCode, body.data], about).toEqual([expected, false, expected, null])
  expect(Object.keys(body).sort(), about).toEqual(['data', 'errors', 'message', 'statusCode', 'success'])
  expect(body.errors.length, about).toBeGreaterThan(0)
  for (const words of [body.message, ...body.errors]) {
    expect(words, about).toMatch(/\S/)
    expect(words, about).not.toMatch(english)
  }
}

describe('without a session', () => {
  const ended = {
    success: false,
    message: 'Sessão expirada. Faça login novamente.',
    data: null,
    errors: ['Sessão expirada. Faça login novamente.'],
    statusCode: 401,
  }
  const wrong: Record<string, () => string | undefined | Promise<string | undefined>> = {
    'no token': () => undefined,
    'an empty token': () => 'Bearer ',
    'no scheme': () => two.mine.token,
    'a wrong token': () => bearer({ token: 'x'.repeat(43) }),
    'a malformed token': () => bearer({ token: 'not a token' }),
    'a token with one letter changed': () =>
      bearer({ token: two.mine.token.replace(/^./, (first) => (first === 'A' ? 'B' : 'A')) }),
    'a token cut short': () => bearer({ token: two.mine.token.slice(0, -1) }),
    'the identifier of the workspace': () => bearer({ token: two.mine.companyId }),
    'a token of Basic': () => `Basic ${Buffer.from(`${two.mine.account.email}:segredo1`).toString('base64')}`,
    'the token under another scheme': () => `Digest ${two.mine.token}`,
    'an expired token': async () => {
      const token = await logIn(two.product, two.mine.account)
      await two.owner.query("update session set expires_at = now() - interval '1 second' where token_hash = $1", [
        digest(token),
      ])
      return bearer({ token })
    },
    'an ended token': async () => {
      const token = await logIn(two.product, two.mine.account)
      const leave = served.find(({ path }) => path === '/v1/api/Auth/sair')!
      expect((await send(leave, {}, bearer({ token }))).status).toBe(200)
      return bearer({ token })
    },
  }
  const ways = Object.keys(wrong)
  // Token checks are the same for all calls: each call meets no token, a wrong one, and one other way.
  const everywhere = ['no token', 'a wrong token']
  test.each(ways)('%s: no call that needs one does anything', async (name) => {
    const authorization = await wrong[name]!()
    const isChosen = (index: number) => thorough || everywhere.includes(name) || ways[index % ways.length] === name
    for (const [name, route] of asked.filter((_, index) => isChosen(index))) {
      const answer = await send(route, {}, authorization)
      expect([answer.status, answer.body], name).toEqual([401, ended])
    }
  })
})

/** Reuses the token of `make` while `query` finds it: a new one per call costs more than the calls. */
function reused(query: string, make: () => Promise<string>): () => Promise<string> {
  let known: string | undefined
  return async () => {
    if (known === undefined || (await two.owner.query(query, [digest(known)])).rowCount === 0) known = await make()
    return bearer({ token: known })
  }
}

const asked = all.filter(([, { access }]) => access === 'session')

const keys = new Map<string, () => Promise<string>>()
function keyWith(member: Member, granted: readonly string[]): Promise<string> {
  const name = [member.account.email, ...granted].join(' ')
  const make = async () => (await newKey(two, member, granted)).chave
  const key = keys.get(name) ?? reused('select from api_key where token_hash = $1', make)
  keys.set(name, key)
  return key()
}

test.each(asked)(
  '%s lets in no key but one with its scope, and that in its own workspace only',
  async (name, route) => {
    const { scope } = route
    const others = scopes.filter((one) => one !== scope)
    const refusal = await send(route, {}, await keyWith(two.mine, others))
    expectFailure(refusal, 403, name)
    expect(refusal.body.message).toContain(scope ? `não tem a permissão ${scope}` : 'só de pessoas')
    if (!scope) return
    const fitting = await keyWith(two.mine, [scope])
    // A call without its fields is let in, and refused for that.
    if (route.method !== 'GET') {
      expect([400, 404]).toContain((await send(route, {}, fitting)).status)
      return
    }
    const input = await sharedGood(name)
    expect((await send(route, input, fitting)).status).toBe(200)
    // Calls that name something are tested below.
    if (input.id !== undefined) return
    const { text } = await send(route, input, await keyWith(two.theirs, scopes))
    const { companyId, company, nfe, cte } = two.mine
    for (const own of [companyId, company.nome, ...nfe, ...cte]) expect(text, name).not.toContain(own)
  },
)

test('every call with a session says who may make it', () => {
  expect(asked.filter(([, { atLeast }]) => atLeast === undefined).map(([name]) => name)).toEqual([])
})

const people = memberRoles.map(
  (role) =>
    [
      role,
      reused(
        'select from session where token_hash = $1',
        async () => (await newPersonOf(two, two.mine, { role })).token,
      ),
    ] as const,
)

test.each(asked)('%s serves a person by their role, and no company that is not theirs', async (name, route) => {
  const isPersonal = route.atLeast === 'pessoa'
  for (const [role, person] of people) {
    const answer = await send(route, {}, await person())
    if (!mayAs(role, route.atLeast)) expectFailure(answer, 403, `${name} as ${role}`)
    // A call without its fields is let in, and refused for that.
    else expect([200, 400, 404, 409, 429], `${name} as ${role}: ${answer.text}`).toContain(answer.status)
  }
  if (isPersonal || route.atLeast === 'administrador') return
  const input = await sharedGood(name)
  const answer = await send(route, input, await ofNoCompany())
  if (input.id && !ofWorkspace.has(input.id)) expectFailure(answer, 404, name)
  else expect([200, 409], `${name}: ${answer.text}`).toContain(answer.status)
  const { companyId, company, nfe, cte } = two.mine
  for (const own of [companyId, company.nome, company.cnpj, ...nfe, ...cte])
    expect(answer.text, name).not.toContain(own)
})

const ofNoCompany = reused('select from session where token_hash = $1', async () => {
  return (await newPersonOf(two, two.mine, { role: 'fiscal', companies: [] })).token
})

// Ids that belong to all people of a workspace.
const ofWorkspace = new Set(['idVisao', 'antesDe', 'ate'])

// The actions for which an open session is not enough: `always`, or the inputs that need a proof of the last ten minutes.
const many = (field: string) => ({ body: { [field]: Array.from({ length: 51 }, (_, index) => `de-ninguem-${index}`) } })
const pfx = () => new File([Uint8Array.of(0x30, 0x82)], 'empresa.pfx')
const proofs: Record<string, 'always' | GoodInput[]> = {
  // Events leave.
  'POST /v1/api/DocumentosFiscais/manifestar-nfe': [many('idsDFe')],
  'POST /v1/api/DocumentosFiscais/manifestar-cte': [many('idsDFe')],
  'POST /v1/api/RegrasDeResposta/guardar': 'always',
  'POST /v1/api/RegrasDeResposta/ordenar': 'always',
  'POST /v1/api/RegrasDeResposta/apagar': 'always',
  'POST /v1/api/SegundaPessoa/decidir': [many('idsPedido')],
  'POST /v1/api/SegundaPessoa/liberar': 'always',
  'PUT /v1/api/SegundaPessoa/valor': 'always',
  // Certificates, and the switch with which events leave in a company's name.
  'POST /v1/api/Empresas': 'always',
  'PUT /v1/api/Empresas': [
    { form: { 'CertificadoDigital.Certificado': pfx(), 'CertificadoDigital.Senha': 'segredo' } },
    { form: { 'ConfiguracoesNfe.ManifestarCienciaAutomaticamente': 'true' } },
  ],
  'POST /v1/api/Empresas/remover-certificado': 'always',
  'POST /v1/api/Empresas/certificados-em-lote': 'always',
  // Members.
  'PUT /v1/api/Equipe': 'always',
  'POST /v1/api/Equipe/convites': 'always',
  'POST /v1/api/Equipe/convites/reenviar': 'always',
  'PUT /v1/api/Equipe/pessoas': 'always',
  'POST /v1/api/Equipe/pessoas/remover': 'always',
  'POST /v1/api/Equipe/sair': 'always',
  // Data leaves for other programs.
  'POST /v1/api/Webhooks': 'always',
  'PUT /v1/api/Webhooks': 'always',
  'POST /v1/api/Webhooks/trocar-segredo': 'always',
  'POST /v1/api/Prazos/calendario': [{ body: { ligado: true } }],
  'POST /v1/api/Chaves': 'always',
  'PUT /v1/api/Chaves': 'always',
  'POST /v1/api/Chaves/apagar': 'always',
  'POST /v1/api/DocumentosFiscais/sair-com-tudo': 'always',
  // Ways into the account.
  'POST /v1/api/Usuarios/passkeys/desafio': 'always',
  'POST /v1/api/Usuarios/passkeys': 'always',
  'POST /v1/api/Usuarios/passkeys/remover': 'always',
  'POST /v1/api/Usuarios/duas-etapas': 'always',
  'PUT /v1/api/Usuarios/duas-etapas': 'always',
  'POST /v1/api/Usuarios/duas-etapas/codigos': 'always',
  'POST /v1/api/Usuarios/duas-etapas/desligar': 'always',
}

test('the calls that need a recent proof are those of the table', () => {
  const declared = asked.flatMap(([name, { proof }]) => (proof ? [[name, proof === 'always']] : []))
  const listed = Object.entries(proofs).map(([name, when]) => [name, when === 'always'])
  expect(declared.toSorted()).toEqual(listed.toSorted())
})

test.each(Object.entries(proofs))('%s needs a recent proof', async (name, when) => {
  const route = served.find((route) => nameOf(route) === name)!
  const good = await sharedGood(name)
  // The switch is off.
  if (name === 'PUT /v1/api/Empresas') expect((await send(route, good, bearer())).status).toBe(200)
  for (const { body, form } of when === 'always' ? [{}] : when) {
    const input = { ...good, body: { ...good.body, ...body }, form: { ...good.form, ...form } }
    const refused = await send(route, input, await unproved())
    expectFailure(refused, 403, name)
    expect(refused.body.message).toContain('confirme antes que é você')
  }
})

const unproved = reused(
  "select from session where token_hash = $1 and proved_at < now() - interval '10 minutes'",
  async () => {
    const token = await logIn(two.product, two.mine.account)
    await two.owner.query("update session set proved_at = now() - interval '11 minutes' where token_hash = $1", [
      digest(token),
    ])
    return token
  },
)

function replaceId(input: Good, value: string): GoodInput {
  const put = <T>(fields: Record<string, T> | undefined): Record<string, T> | undefined =>
    fields && input.id! in fields
      ? { ...fields, [input.id!]: (Array.isArray(fields[input.id!]) ? [value] : value) as T }
      : fields
  return { params: put(input.params), query: put(input.query), body: put(input.body), form: put(input.form) }
}

test.each(asked)('%s does not tell ids of others from ids of nobody', async (name, route) => {
  const input = await sharedGood(name)
  if (input.id === undefined) return
  const { mine, theirs } = two
  const documents = [theirs.nfe[0]!, theirs.cte[0]!]
  const foreign = /dfe$/i.test(input.id) ? documents : [theirs.companyId, await newSessionOf(two, theirs)]
  // Not 1, which is the id of the first product read, in whichever workspace.
  const nobodys = [crypto.randomUUID(), 'A'.repeat(22), '2147483647', mine.nfe[0]!.toLowerCase(), '../x', ' ']
  const answers = new Set<string>()
  for (const value of [...foreign, ...nobodys]) {
    const answer = await send(route, replaceId(input, value), bearer())
    expectFailure(answer, 404, value)
    answers.add(answer.text)
  }
  expect(answers.size).toBe(1)
})

const badTexts = [
  '',
  ' ',
  'x',
  '-1',
  '0',
  '1.5',
  '99',
  '9'.repeat(30),
  'x'.repeat(5_000),
  '2026-02-30T00:00:00',
  '2026-13-01',
  'ção',
]
const bad: Record<Section, unknown[]> = {
  params: [],
  query: [...badTexts, ['1', '2']],
  body: [...badTexts, undefined, null, true, 0, -1, 1.5, 1e308, [], [null], [[]], ['x', 1], {}, { length: 1 }],
  form: [...badTexts, undefined, new File(['x'], 'nota.xml'), new File(['x'], ''), new File([], 'empresa.pfx.exe')],
}

test.each(all.filter(([, route]) => route.query ?? route.body ?? route.form))(
  '%s says what is wrong with each field',
  async (name, route) => {
    const input = await sharedGood(name)
    const authorization = route.access === 'session' ? bearer(input) : undefined
    for (const section of sections) {
      const schema = route[section]
      for (const field of section === 'params' ? [] : fieldsOf(route, section)) {
        // Values that the contract refuses in the same words are sent once.
        const refusals = new Set<string>()
        for (const value of bad[section]) {
          const { [field]: _, ...rest } = { ...input[section] } as Record<string, unknown>
          const fields =
            value === undefined || (section === 'query' && value === '') ? rest : { ...rest, [field]: value }
          const verdict = schema!.safeParse(fields)
          if (verdict.success) continue
          const refusal = JSON.stringify(verdict.error.issues.map(({ code, message }) => [code, message]))
          if (refusals.size === refusals.add(refusal).size) continue
          const answer = await send(route, { ...input, [section]: fields }, authorization)
          const about = `${section} ${field} = ${JSON.stringify(value)?.slice(0, 60)}`
          expectFailure(answer, 400, about)
          if (section === 'query' && Array.isArray(value)) continue
          // Portuguese sentences of the contract arrive letter by letter.
          const own = verdict.error.issues.map(({ message }) => message).filter((message) => !english.test(message))
          expect(answer.body.errors, about).toEqual(expect.arrayContaining(own))
          if (answer.body.errors.length === 1) expect(answer.body.message, about).toBe(answer.body.errors[0])
        }
        expect(refusals.size, `${field} takes everything`).toBeGreaterThan(0)
      }
    }
  },
)

describe('names, defaults and omissions of section 7', () => {
  const call = (query: string) => two.mine.client.call('GET', `/v1/api/DocumentosFiscais?${query}`)

  test('PaginaAtual is 1 unless said, and empty parameters are omitted ones', async () => {
    const { body } = await call('TipoDFe=0')
    expect(body.success).toBe(true)
    for (const query of [
      'TipoDFe=0&PaginaAtual=1',
      'TipoDFe=0&PaginaAtual=&CampoPesquisa=&IdEmpresa=&Status=&TipoParticipacao=&DataDe=&DataAte=',
      'TipoDFe=0&CampoPesquisa=%20%20',
    ])
      expect((await call(query)).body).toEqual(body)
  })

  test('names in other letters are not those of the specification', async () => {
    expect((await call('tipoDFe=0')).status).toBe(400)
    expect((await call('TipoDFe=0&status=3&campoPesquisa=x')).body).toMatchObject({
      statusCode: 400,
      errors: [expect.stringContaining('Parâmetro desconhecido: status, campoPesquisa.')],
    })
  })

  test('TipoDFe is demanded', async () => {
    expect((await call('')).body).toMatchObject({ statusCode: 400, errors: ['TipoDFe deve ser 0 (NFe) ou 2 (CTe)'] })
  })
})

const beginnings = {
  'application/pdf': '%PDF-',
  'application/xml': '<',
  'application/octet-stream': 'x',
  'application/zip': 'PK',
  'application/x-pkcs12': '0',
  'image/png': '\ufffdPNG',
  'text/csv': '"registro";',
  'text/calendar': 'BEGIN:VCALENDAR',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'PK',
}

test('what the server publishes is valid OpenAPI 3.1 to somebody who did not write it, with every route', async () => {
  const response = await fetch(new URL('/docs/json', two.product.url))
  const published = (await response.json()) as { paths: Record<string, Record<string, object>> }
  const validator = new Validator()
  expect(await validator.validate(structuredClone(published))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
  const described = Object.entries(published.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(described.sort()).toEqual(routes.map(({ route }) => `${route.method} ${route.path}`).sort())
})

test.each(all)('%s answers a good call as its description says', async (name, route) => {
  const input = await goodFor(name)
  const parameters = (['params', 'query'] as const).flatMap((section) =>
    fieldsOf(route, section).map((field) => `${section === 'params' ? 'path' : section} ${field}`),
  )
  expect(description.parametersOf(route)).toEqual(parameters.sort())
  if (route.body) expect(description.problemsOfBody(route, input.body)).toBe('')
  const answer = await send(route, input, route.access === 'session' ? bearer(input) : undefined)
  expect(answer.status, answer.text.slice(0, 300)).toBe(200)
  if (route.produces) {
    expect(answer.type).toBe(route.produces)
    expect(answer.text.startsWith(beginnings[route.produces])).toBe(true)
    return
  }
  const { data, ...envelope } = answer.body
  expect(envelope).toEqual({ success: true, message: expect.stringMatching(/\S/), errors: [] })
  // Parsing drops fields that the contract does not name.
  expect(route.data ? route.data.parse(data) : null).toStrictEqual(data)
})

test('no call leaves so many listeners that Node warns', () => {
  expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([])
})

test('a client that a tool of others made from the description compiles and does its work', async () => {
  const response = await fetch(new URL('/docs/json', two.product.url))
  const seen = await callGenerated((await response.json()) as object, String(two.product.url), two.mine.account)
  expect(seen).toEqual({
    signUp: true,
    errors: [],
    company: expect.stringContaining('EMPRESA ALFA'),
    listed: true,
    due: true,
    xml: true,
    pdf: '%PDF-',
    csv: '"registro"',
    refusals: [401, 400, 404, 400, 400].map((status) => [false, status, true]),
  })
})
