import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { Authority } from './authority.ts'
import { loseResponse } from './calls.ts'
import { issuePfx } from './certificates.ts'
import { isExpired } from './distribution.ts'
import { misuseCodes } from './events/verdict.ts'
import { certificateFaults, type FaultName, type FaultOrder, faultStages, type ServiceKind } from './faults/faults.ts'
import type { Service } from './inspect.ts'
import { type EventSending, type Published, sequenceKey } from './ledger.ts'
import { nsuText } from './message.ts'
import { publishFiles, publishRaw } from './publication.ts'
import type { HttpResponse } from './soap.ts'

// An error response of a control call.
class ControlError extends Error {
  override name = 'ControlError'
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

type ControlHandler = (authority: Authority, call: ControlCall) => unknown | Promise<unknown>

interface ControlCall {
  query: URLSearchParams
  body: () => Promise<Buffer>
  json: () => Promise<Record<string, unknown>>
}

/** The control interface: state of the simulator, and switches for clock, faults and documents. */
export async function respondToControl(
  authority: Authority,
  {
    method,
    url,
    isJson,
    readBody,
  }: { method: string; url: URL; isJson: boolean; readBody: () => Promise<Buffer | null> },
): Promise<HttpResponse> {
  const name = `${method} ${url.pathname.replace(/^\/_control\/?/, '').replace(/\/$/, '')}`
  const handler = handlers[name]
  const body = async () => {
    const bytes = await readBody()
    if (bytes === null) throw new ControlError(413, 'body too large')
    return bytes
  }
  const json = async () => {
    const text = (await body()).toString('utf8')
    if (!isJson) throw new ControlError(415, 'the body must be sent as application/json')
    return parseObject(text)
  }
  try {
    if (handler === undefined)
      throw new ControlError(404, `no such call; there are: ${Object.keys(handlers).join(', ')}`)
    const result = await handler(authority, { query: url.searchParams, body, json })
    if (result instanceof Uint8Array) {
      return { status: 200, contentType: 'application/x-pkcs12', body: Buffer.from(result) }
    }
    return jsonResponse(200, result)
  } catch (error) {
    if (error instanceof ControlError) return jsonResponse(error.status, { error: error.message })
    throw error
  }
}

const faultNames = Object.keys(faultStages) as FaultName[]

const handlers: Record<string, ControlHandler> = {
  'GET truth': (authority, { query }) => truth(authority, query),
  'GET state': (authority) => state(authority),
  'POST clock': async (authority, { json }) => setClock(authority, await json()),
  'POST certificates': async (authority, { json }) => certificate(authority, await json()),
  'POST revocations': async (authority, { json }) => revoke(authority, await json()),
  'POST companies': async (authority, { json }) => newCompany(authority, await json()),
  'GET story': (authority) => ({ surprise: storyOf(authority).surprise }),
  'POST story': async (authority) => {
    await storyOf(authority).cancelSurprise()
    return {}
  },
  'POST publish': async (authority, { json }) => publish(authority, await json()),
  'POST documents': async (authority, { query, body }) => {
    const bytes = await body()
    const activateParties = query.get('activate') !== 'false'
    const answered = query.get('answered') === 'true'
    const [reception] = publishFiles(authority.ledger, authority.clock, [{ load: () => bytes }], {
      activateParties,
      answered,
    })
    return reception
  },
  'GET calls': (authority, { query }) => calls(authority, query),
  'POST lost': async (authority, { json }) => lost(authority, await json()),
  'GET events': (authority, { query }) => events(authority, query),
  'GET faults': (authority) => ({
    faults: authority.faults.list(),
    available: faultNames.filter((name) => !certificateFaults.includes(name)),
    certificate: certificateFaults,
  }),
  'POST faults': async (authority, { json }) => authority.faults.add(faultOrder(await json())),
  'DELETE faults': (authority, { query }) => {
    const id = query.get('id')
    authority.faults.clear(id === null ? undefined : Number(id))
    return { faults: authority.faults.list() }
  },
  'GET misuse': (authority) => misuse(authority),
}

function storyOf({ story }: Authority) {
  if (story === undefined) throw new ControlError(404, 'this authority tells no story')
  return story
}

function truth({ ledger, clock }: Authority, query: URLSearchParams): unknown {
  const cnpj = query.get('cnpj')
  if (cnpj === null) throw new ControlError(400, 'cnpj is missing')
  const wanted = serviceOf(query.get('service'))
  const services: Service[] = wanted === undefined ? ['nfe', 'cte'] : [wanted]
  const withExpired = query.get('expired') === 'true'
  const now = clock.now()
  const documents = services.flatMap((service) =>
    (ledger.sequences.get(sequenceKey(service, cnpj)) ?? [])
      .map((published, index) => ({ published, nsu: nsuText(index + 1) }))
      .filter(({ published }) => withExpired || !isExpired(published, now))
      .map(({ published, nsu }) => ({ service, nsu, ...describe(published, ledger.gzip(published.content)) })),
  )
  return { cnpj, documents }
}

function describe(published: Published, gzip: Buffer): Record<string, unknown> {
  const { schema, kind, chave, tpEvento, nSeqEvento, roles, at } = published
  const content = gunzipSync(gzip)
  const sha256 = createHash('sha256').update(content).digest('hex')
  return {
    schema,
    kind,
    chave,
    tpEvento,
    nSeqEvento,
    roles,
    at: new Date(at).toISOString(),
    sha256,
    bytes: content.length,
  }
}

function state({ ledger, clock, hourMs, tpAmb, faults }: Authority): unknown {
  const usages = new Map(ledger.usages())
  const keys = [...new Set([...ledger.sequences.keys(), ...usages.keys()])].sort()
  return {
    now: new Date(clock.now()).toISOString(),
    offsetMs: clock.offsetMs(),
    hourMs,
    tpAmb,
    documents: ledger.documents.size,
    notes: Object.fromEntries(ledger.notes),
    faults: faults.list(),
    sequences: keys.map((key) => {
      const [service, taxId] = key.split(':')
      return { service, cnpj: taxId, maxNSU: ledger.sequences.get(key)?.length ?? 0, ...usages.get(key) }
    }),
  }
}

function setClock({ clock, ledger }: Authority, order: Record<string, unknown>): unknown {
  const { advanceMs, now } = order
  if (typeof advanceMs === 'number') clock.advance(advanceMs)
  else if (typeof now === 'string' && !Number.isNaN(Date.parse(now))) clock.setNow(Date.parse(now))
  else if (typeof now === 'number') clock.setNow(now)
  else throw new ControlError(400, 'give advanceMs (number) or now (ISO date or milliseconds)')
  ledger.saveClockOffset(clock.offsetMs())
  return { now: new Date(clock.now()).toISOString(), offsetMs: clock.offsetMs() }
}

function certificate({ certification, clock }: Authority, order: Record<string, unknown>): Promise<Uint8Array> {
  const expires = text(order, 'expires')
  const holder = {
    cnpj: text(order, 'cnpj'),
    cpf: text(order, 'cpf'),
    nome: text(order, 'nome') ?? 'EMPRESA DE TESTE LTDA',
    uf: text(order, 'uf'),
    expires: expires === undefined ? undefined : Date.parse(expires),
    senha: text(order, 'senha') ?? '',
    legacy: order.legacy === true,
  }
  if (holder.cnpj === undefined && holder.cpf === undefined) throw new ControlError(400, 'cnpj or cpf is missing')
  return issuePfx(certification, holder, clock.now())
}

function revoke({ certification }: Authority, order: Record<string, unknown>): unknown {
  const which = { serialNumber: text(order, 'serialNumber'), cnpj: text(order, 'cnpj') }
  if (which.serialNumber === undefined && which.cnpj === undefined)
    throw new ControlError(400, 'serialNumber or cnpj is missing')
  return { revoked: certification.revoke(which) }
}

// A company that a newcomer can try the product with.
async function newCompany(
  { addCompany, certification, clock }: Authority,
  order: Record<string, unknown>,
): Promise<unknown> {
  const senha = text(order, 'senha')
  if (senha === undefined) throw new ControlError(400, 'senha is missing')
  const { documents, ...company } = await addCompany()
  const pfx = await issuePfx(certification, { ...company, senha }, clock.now())
  return { ...company, documents, pfxBase64: Buffer.from(pfx).toString('base64') }
}

function publish({ ledger, clock }: Authority, order: Record<string, unknown>): unknown {
  const service = serviceOf(text(order, 'service') ?? null) ?? 'nfe'
  const taxId = text(order, 'cnpj')
  const schema = text(order, 'schema')
  const xmlBase64 = text(order, 'xmlBase64')
  if (taxId === undefined || schema === undefined || xmlBase64 === undefined) {
    throw new ControlError(400, 'cnpj, schema and xmlBase64 are needed')
  }
  const nsu = publishRaw(ledger, clock, { service, taxId, schema, bytes: Buffer.from(xmlBase64, 'base64') })
  return { service, cnpj: taxId, nsu: nsuText(nsu) }
}

function calls(authority: Authority, query: URLSearchParams): unknown {
  const cnpj = query.get('cnpj')
  const service = serviceOf(query.get('service'))
  const of = kindOf(query.get('of') ?? undefined) ?? 'distribution'
  const limit = Number(query.get('limit') ?? Number.POSITIVE_INFINITY)
  if (!(limit > 0)) throw new ControlError(400, 'limit must be a number above zero')
  const entries = authority.calls
    .list()
    .filter((one) => one.of === of)
    .filter((one) => (cnpj === null || one.taxId === cnpj) && (service === undefined || one.service === service))
    .slice(-limit)
  return { calls: entries.map(({ sendings, ...one }) => ({ ...one, at: new Date(one.at).toISOString() })) }
}

// The caller knows better than the socket: a response may be sent whole, and its reader killed
// before it is stored.
function lost(authority: Authority, { ids }: Record<string, unknown>): unknown {
  if (!Array.isArray(ids)) throw new ControlError(400, 'ids must be a list of the ids of GET calls')
  const found = ids.map((id) => (Number.isInteger(id) ? authority.calls.find(id) : undefined))
  const calls = found.filter((call) => call !== undefined)
  if (calls.length < ids.length) throw new ControlError(404, `no such call: ${ids[found.indexOf(undefined)]}`)
  for (const call of calls) loseResponse(authority, call)
  return { lost: calls.filter((call) => call.lost).map(({ id }) => id) }
}

function events({ ledger }: Authority, query: URLSearchParams): unknown {
  const cnpj = query.get('cnpj')
  const sent = [...ledger.sendingsByEvent.values()].filter((list) => cnpj === null || list[0]?.author === cnpj)
  return { events: sent.flatMap(describeEvent) }
}

// One row per event, however often sent; a registration wins over later rejections.
function describeEvent(sendings: EventSending[]): Record<string, unknown>[] {
  const last = sendings.findLast((one) => one.nProt !== undefined) ?? sendings.at(-1)
  if (last === undefined) return []
  const { service, authorizer, chave, tpEvento, nSeqEvento, author, cStat, nProt, at } = last
  return [
    {
      ...{ service, authorizer, chave, tpEvento, nSeqEvento, author, cStat, nProt },
      at: new Date(at).toISOString(),
      times: sendings.length,
      sendings: sendings.map((one) => ({
        at: new Date(one.at).toISOString(),
        cStat: one.cStat,
        lost: one.lost === true,
      })),
    },
  ]
}

function misuse({ ledger }: Authority): unknown {
  const rows = [...ledger.usages()].filter(([, usage]) => usage.misuse > 0)
  const ofEvents = new Map<string, number>()
  for (const one of ledger.sendings) {
    if (one.cStat !== misuseCodes[one.service]) continue
    const key = sequenceKey(one.service, one.author)
    ofEvents.set(key, (ofEvents.get(key) ?? 0) + 1)
  }
  return {
    misuse: [
      ...rows.map(([key, usage]) => ({ ...namesOf(key), count: usage.misuse, excused: usage.misuseExcused })),
      ...[...ofEvents].map(([key, count]) => ({ ...namesOf(key), of: 'events', count, excused: 0 })),
    ],
  }
}

function namesOf(key: string): { service?: string; cnpj?: string } {
  const [service, cnpj] = key.split(':')
  return { service, cnpj }
}

function faultOrder(order: Record<string, unknown>): FaultOrder {
  const fault = faultNames.find((name) => name === String(order.fault))
  if (fault === undefined) throw new ControlError(400, `fault must be one of: ${faultNames.join(', ')}`)
  return {
    fault,
    service: serviceOf(text(order, 'service') ?? null),
    of: kindOf(text(order, 'of')),
    cnpj: text(order, 'cnpj'),
    probability: number(order, 'probability'),
    times: number(order, 'times'),
    durationMs: number(order, 'durationMs'),
    delayMs: number(order, 'delayMs'),
  }
}

function kindOf(name: string | undefined): ServiceKind | undefined {
  if (name === undefined || name === 'distribution' || name === 'events') return name
  throw new ControlError(400, 'of must be distribution or events')
}

function serviceOf(name: string | null): Service | undefined {
  if (name === null) return undefined
  if (name === 'nfe' || name === 'cte') return name
  throw new ControlError(400, 'service must be nfe or cte')
}

function text(order: Record<string, unknown>, name: string): string | undefined {
  const value = order[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function number(order: Record<string, unknown>, name: string): number | undefined {
  const value = order[name]
  return typeof value === 'number' ? value : undefined
}

function parseObject(source: string): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(source)
  } catch {
    throw new ControlError(400, 'the body is not JSON')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new ControlError(400, 'the body must be a JSON object')
  }
  return { ...parsed }
}

function jsonResponse(status: number, value: unknown): HttpResponse {
  return { status, contentType: 'application/json; charset=utf-8', body: Buffer.from(`${JSON.stringify(value)}\n`) }
}
