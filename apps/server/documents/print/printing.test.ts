import type { DocumentDetail } from '@vigia/contract/documents'
import { chaveParts } from '@vigia/dfe/chave'
import { sql } from 'kysely'
import { PNG } from 'pngjs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { setLogo } from '../../companies/logo.ts'
import { showOnly } from '../../companies/testing.ts'
import { useContext } from '../../platform/database.testing.ts'
import { inWorkspace } from '../../platform/database.ts'
import { serveRoutes } from '../../platform/http/http.ts'
import { createLogger } from '../../platform/log.ts'
import { insertCompany, newWorkspace, testSession } from '../../platform/testing.ts'
import type { ThreadsOptions } from '../../platform/threads.ts'
import type { Arrival } from '../arrival.ts'
import { readByChave } from '../export/rows.ts'
import { documentRoutes } from '../routes.ts'
import {
  arrive,
  chaveOf,
  cteChaveOf,
  cteProc,
  deliverTo,
  evento,
  eventoCte,
  nfce,
  nfeProc,
  resEvento,
  resNFe,
} from '../testing.ts'
import { createPrinter } from './printer.ts'
import { orderOf } from './printing.ts'

const { ctx } = await useContext()
const { db, ids } = ctx
let workspaceId: number
let companyId: number
const cnpj = '12ABC34501DE35'
const lines: string[] = []
const opened: AsyncDisposable[] = []

beforeEach(async () => {
  lines.length = 0
  workspaceId = await newWorkspace(db)
  companyId = (await insertCompany(db, workspaceId, { cnpj })).id
})
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]()
})

async function serve(options: Partial<ThreadsOptions> = {}) {
  const printer = createPrinter({ threads: 1, ...options })
  const log = createLogger('warn', { write: (line) => lines.push(line) })
  const app = await serveRoutes(
    { ...ctx, log, printer },
    documentRoutes(async () => []),
    async () => testSession(workspaceId),
  )
  opened.push(printer, { [Symbol.asyncDispose]: async () => void (await app.close()) })
  return async (path: string, headers: Record<string, string> = {}) =>
    app.inject({
      url: `/v1/api/DocumentosFiscais${path}`,
      headers: { authorization: `Bearer ${'x'.repeat(43)}`, ...headers },
    })
}

const store = (service: 'nfe' | 'cte', arrivals: Arrival[]) =>
  deliverTo(ctx, { workspaceId, companyId, cnpj }, service, arrivals)

const note = (number: number, issuerName = 'PAPELARIA SÃO JOÃO LTDA') =>
  nfeProc({ number, recipient: cnpj, issuerName })

async function idOf(chave: string): Promise<string> {
  const { id } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    db.selectFrom('document').select('id').where('chave', '=', chave).executeTakeFirstOrThrow(),
  )
  return ids.encode(workspaceId, id)
}

const poisonable = new URL('./printer.testing.ts', import.meta.url)

test('a document whose layout never ends holds up nobody, is told, and keeps its XML', async () => {
  const get = await serve({ file: poisonable, timeoutMs: 3_000 })
  await store('nfe', [arrive(1, note(1, 'LACO INFINITO')), arrive(2, note(2))])
  const order: string[] = []
  const poisoned = get(`/danfe/${await idOf(chaveOf({ number: 1 }))}`).finally(() => order.push('poisoned'))
  const list = await get('?TipoDFe=0').finally(() => order.push('list'))
  expect(list.statusCode).toBe(200)
  const answer = await poisoned
  expect(order).toEqual(['list', 'poisoned'])
  expect(answer.statusCode).toBe(503)
  expect(answer.headers['retry-after']).toBe('60')
  expect(answer.json().message).toBe(
    'Montar o DANFE deste documento demorou demais e foi interrompido. O XML original está guardado e íntegro, e pode ser baixado.',
  )
  expect(lines.join('')).toContain('too-slow')
  expect((await get(`/xml/${await idOf(chaveOf({ number: 1 }))}`)).body).toContain('LACO INFINITO')
  expect((await get(`/danfe/${await idOf(chaveOf({ number: 2 }))}`)).statusCode).toBe(200)
})

test('a client that has the form already is told that it still holds, until something on it changes', async () => {
  const get = await serve()
  await store('nfe', [arrive(1, note(1))])
  const path = `/danfe/${await idOf(chaveOf({ number: 1 }))}`
  const first = await get(path)
  expect(first.statusCode).toBe(200)
  expect(first.headers).toMatchObject({ 'content-type': 'application/pdf', 'cache-control': 'private, no-store' })
  const etag = String(first.headers.etag)
  const again = await get(path, { 'if-none-match': `"other", W/${etag}` })
  expect(again.statusCode).toBe(304)
  expect(again.rawPayload).toHaveLength(0)
  expect((await get(path, { 'if-none-match': '"other"' })).rawPayload).toEqual(first.rawPayload)
  await store('nfe', [arrive(2, evento(110111, { number: 1 }))])
  const cancelled = await get(path, { 'if-none-match': etag })
  expect(cancelled.statusCode).toBe(200)
  expect(cancelled.headers.etag).not.toBe(etag)
})

test('the EPEC of a note without its authorisation stands on the form, in an export too', async () => {
  const get = await serve()
  const pending = note(1)
    .replace(/<protNFe.*<\/protNFe>/s, '')
    .replace('</ide>', '<tpEmis>4</tpEmis></ide>')
  await store('nfe', [arrive(1, pending)])
  const path = `/danfe/${await idOf(chaveOf({ number: 1 }))}`
  const before = await get(path)
  await store('nfe', [arrive(2, evento(110140, { number: 1 }))])
  const after = await get(path)
  expect([before.statusCode, after.statusCode]).toEqual([200, 200])
  expect(after.headers.etag).not.toBe(before.headers.etag)
  const [row] = await inWorkspace({ db }, workspaceId, ({ db }) =>
    readByChave({ db }, workspaceId, [{ companyId, chave: chaveOf({ number: 1 }) }]),
  )
  expect(orderOf({ form: 'danfe', name: 'DANFE' }, { ...row!, content: Buffer.alloc(0) }).options.epec).toMatchObject({
    protocol: expect.stringMatching(/^\d{15,16}$/),
    at: expect.stringMatching(/^20\d\d-\d\d-\d\dT/),
  })
})

test('who took a file is written down, once for each time, and nothing when a list is read', async () => {
  const get = await serve()
  await store('nfe', [arrive(1, note(1)), arrive(2, evento(110111, { number: 1 }))])
  await store('cte', [arrive(1, cteProc({ number: 1, recipient: cnpj }))])
  const [nfe, cte] = [await idOf(chaveOf({ number: 1 })), await idOf(cteChaveOf({ number: 1 }))]
  const taken = [`/xml/${nfe}`, `/danfe/${nfe}`, `/dacte/${cte}`, `/evento/${nfe}/110111-1-91`]
  for (const path of ['?TipoDFe=0', `/${nfe}`, ...taken, '/xml/nada']) await get(path)
  const { rows } = await inWorkspace({ db }, workspaceId, ({ db }) =>
    sql<{ actor: string; action: string; description: string }>`
      select actor, action, description from audit order by id`.execute(db),
  )
  expect(new Set(rows.map(({ actor, action }) => `${actor} ${action}`))).toEqual(new Set(['Ana Souza leitura']))
  expect(rows.map(({ description }) => description)).toEqual([
    `Baixou o XML do documento ${chaveOf({ number: 1 })}.`,
    `Abriu o DANFE da NF-e ${chaveOf({ number: 1 })}.`,
    `Abriu o DACTE do CT-e ${cteChaveOf({ number: 1 })}.`,
    `Abriu a folha do evento 110111-1-91 do documento ${chaveOf({ number: 1 })}.`,
  ])
})

test('of a note only the summary: no DANFE yet, and no DACTE ever', async () => {
  const get = await serve()
  await store('nfe', [arrive(1, resNFe({ number: 1 }))])
  const id = await idOf(chaveOf({ number: 1 }))
  const answer = await get(`/danfe/${id}`)
  expect(answer.statusCode).toBe(409)
  expect(answer.json().message).toBe(
    'Só o resumo desta nota chegou até agora. O DANFE fica disponível quando o XML completo for liberado pela SEFAZ.',
  )
  expect((await get(`/dacte/${id}`)).statusCode).toBe(404)
})

test('each kind has its own form, and unknown and hidden documents have none', async () => {
  const get = await serve()
  await store('nfe', [arrive(1, note(1))])
  await store('cte', [arrive(1, cteProc({ number: 1, recipient: cnpj }))])
  const [nfe, cte] = [await idOf(chaveOf({ number: 1 })), await idOf(cteChaveOf({ number: 1 }))]
  expect((await get(`/danfe/${nfe}`)).statusCode).toBe(200)
  expect((await get(`/dacte/${cte}`)).statusCode).toBe(200)
  for (const path of [`/dacte/${nfe}`, `/danfe/${cte}`, '/danfe/nada', `/dacte/${ids.encode(workspaceId, 999_999n)}`]) {
    const answer = await get(path)
    expect(answer.statusCode, path).toBe(404)
    expect(answer.json().message).toBe('Documento não encontrado.')
  }
  for (const [roles, status] of [
    [0, 404],
    [2, 200],
  ] as const) {
    await showOnly(ctx.db, workspaceId, { nfe: roles })
    expect((await get(`/danfe/${nfe}`)).statusCode).toBe(status)
  }
})

test('a file that cannot be laid out is told, and kept', async () => {
  const get = await serve()
  await store('nfe', [arrive(1, note(1).replace('<mod>55</mod>', '<mod>65</mod>'))])
  const answer = await get(`/danfe/${await idOf(chaveOf({ number: 1 }))}`)
  expect(answer.statusCode).toBe(409)
  expect(answer.json().message).toBe(
    'Não conseguimos montar o DANFE deste documento. O XML original está guardado e íntegro.',
  )
})

test('an NFC-e has no DANFE, and print and panel say why', async () => {
  const get = await serve()
  const { xml, chave } = nfce({ recipient: cnpj })
  await store('nfe', [arrive(1, xml)])
  const id = await idOf(chave)
  const printed = await get(`/danfe/${id}`)
  expect(printed.statusCode).toBe(409)
  const { message } = printed.json()
  expect(message).toMatch(/^Esta é uma NFC-e \(modelo 65\)/)
  const { secoes } = (await get(`/detalhes/${id}`)).json().data as DocumentDetail
  expect(secoes[0]?.campos).toContainEqual({ rotulo: 'DANFE', valor: message })
})

describe('the sheet of an event', () => {
  type History = { tpEvento: number | null; idEvento: string | null }[]
  const historyOf = async (get: Awaited<ReturnType<typeof serve>>, id: string): Promise<History> =>
    (await get(`/detalhes/${id}`)).json().data.historico

  test('is asked for by the name that the history gives it', async () => {
    const get = await serve()
    const letter = {
      seq: 9999,
      description: 'Carta de Correcao',
      detail: '<xCorrecao>Onde se lê A, leia-se B</xCorrecao>',
    }
    await store('nfe', [arrive(1, note(1)), arrive(2, evento(110110, letter)), arrive(3, evento(99))])
    await store('cte', [arrive(1, cteProc({ recipient: cnpj })), arrive(2, eventoCte(610110))])
    const [nfe, cte] = [await idOf(chaveOf()), await idOf(cteChaveOf())]
    const printable = (history: History) => history.flatMap(({ idEvento }) => idEvento ?? []).sort()
    expect(printable(await historyOf(get, nfe))).toEqual(['110110-9999-91', '99-1-91'])
    expect(printable(await historyOf(get, cte))).toEqual(['610110-1-35'])
    for (const [id, event] of [
      [nfe, '110110-9999-91'],
      [nfe, '99-1-91'],
      [cte, '610110-1-35'],
    ]) {
      const answer = await get(`/evento/${id}/${event}`)
      expect(answer.statusCode, answer.body).toBe(200)
      expect(answer.headers['content-type']).toBe('application/pdf')
      expect(answer.rawPayload.subarray(0, 5).toString()).toBe('%PDF-')
    }
  })

  test('is there while only the summary of its document is', async () => {
    const get = await serve()
    await store('nfe', [arrive(1, resNFe()), arrive(2, evento(110110))])
    expect((await get(`/evento/${await idOf(chaveOf())}/110110-1-91`)).statusCode).toBe(200)
  })

  test('says that an event was taken back, from then on', async () => {
    const get = await serve()
    await store('nfe', [arrive(1, note(1)), arrive(2, evento(110192))])
    const path = `/evento/${await idOf(chaveOf())}/110192-1-91`
    const before = await get(path)
    await store('nfe', [arrive(3, evento(110193, { detail: '<nProtEvento>8912600000110192</nProtEvento>' }))])
    const after = await get(path)
    expect([before.statusCode, after.statusCode]).toEqual([200, 200])
    expect(after.rawPayload).not.toEqual(before.rawPayload)
  })

  test('is not there for a summary, an unknown event and a hidden or unknown document', async () => {
    const get = await serve()
    await store('nfe', [arrive(1, note(1)), arrive(2, resEvento(110110))])
    const id = await idOf(chaveOf())
    const [{ idEvento }] = (await historyOf(get, id)).filter(({ tpEvento }) => tpEvento === 110110) as [History[0]]
    expect(idEvento).toBeNull()
    const answer = await get(`/evento/${id}/110110-1-91`)
    expect(answer.statusCode).toBe(409)
    expect(answer.json().message).toMatch(/^Deste evento só o resumo chegou até agora/)
    for (const name of ['110110-2-91', '110110-1-35', 'nada', '110110', "110110-1-91'"]) {
      const answer = await get(`/evento/${id}/${encodeURIComponent(name)}`)
      expect(answer.statusCode, name).toBe(404)
      expect(answer.json().message).toBe('Evento não encontrado.')
    }
    expect((await get('/evento/nada/110110-1-91')).json().message).toBe('Documento não encontrado.')
  })
})

test('what a company issues is printed with its logo as soon as it has one', async () => {
  const get = await serve()
  await store('nfe', [arrive(1, note(1))])
  const chave = chaveOf({ number: 1 })
  const path = `/danfe/${await idOf(chave)}`
  // In the chave of a person a CPF stands behind three zeros, which may look like the base of a company.
  const person = { number: 2, issuer: '00011222333396' }
  await store('nfe', [
    arrive(2, nfeProc({ ...person, recipient: cnpj }).replace(/<CNPJ>000(\d{11})<\/CNPJ>/, '<CPF>$1</CPF>')),
  ])
  const pathOfPerson = `/danfe/${await idOf(chaveOf(person))}`
  const pictures = async (of = path) =>
    (await get(of)).rawPayload.toString('latin1').match(/\/Subtype\/Image/g)?.length ?? 0
  expect(await pictures()).toBe(0)
  for (const cnpj of [chaveParts(chave).cnpj, '00011222000103']) {
    const { id } = await insertCompany(db, workspaceId, { cnpj })
    const logo = PNG.sync.write(new PNG({ width: 3, height: 2 }))
    await inWorkspace(ctx, workspaceId, (ctx) => setLogo(ctx, workspaceId, id, logo))
  }
  expect(await pictures()).toBe(1)
  expect(await pictures(pathOfPerson)).toBe(0)
})
