import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { checkCompany, checkFile, findCompleteness, operate, type Server, start } from '@vigia/server/start'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { control, order, truthOf } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { execute } from '../support/database.ts'
import { grantUnlimited, type Product, startProduct } from '../support/product.ts'
import { captureRests, letPass } from '../support/time.ts'

// Two capture processes on one database, and an authority whose answers get lost.
const hourMs = 600_000
const cnpjOf = (index: number) => {
  const body = `445556${String(index).padStart(2, '0')}0001`
  return body + cnpjCheckDigits(body)
}
const companies = Array.from({ length: 11 }, (_, index) => ({
  cnpj: cnpjOf(index),
  nome: `EMPRESA ${index} LTDA`,
  uf: 'SP',
}))
const cnpjs = companies.map(({ cnpj }) => cnpj)
const late = cnpjs[10]!
const patience = { timeout: 60_000, interval: 100 }
// An hour and the margin that we add to it.
const anHour = () => letPass(product, hourMs * 1.25)
let product: Product
let client: Client
let workers: Server[]

beforeAll(async () => {
  product = await startProduct({
    hourMs,
    roles: ['api'],
    simulator: { seed: 11, companies, documentsEach: 20 },
  })
  const account = { nome: 'Ana Souza', email: 'ana@exemplo.com.br', senha: 'segredo1' }
  client = await newClient(product, account)
  await grantUnlimited(product, account.email)
  workers = [await start(product.config, { roles: ['worker'] }), await start(product.config, { roles: ['worker'] })]
}, 120_000)
afterAll(async () => {
  await Promise.all((workers ?? []).map((worker) => worker[Symbol.asyncDispose]()))
  await product?.[Symbol.asyncDispose]()
})
afterEach(() => removeFaults())

const addFault = (fault: object) => order(product.simulator, 'faults', fault)
const removeFaults = () => order(product.simulator, 'faults', undefined, 'DELETE')

interface Call {
  service: string
  cStat: number | null
  query: unknown
  fault?: string
}
const callsOf = async (cnpj: string) =>
  (await control<{ calls: Call[] }>(product.simulator, `calls?cnpj=${cnpj}&service=nfe`)).calls
const blocksOf = async (cnpj: string) => (await callsOf(cnpj)).filter((call) => call.cStat === 656).length

interface Completeness {
  servico: string
  meses: {
    lacunas: { de: string; ate: string; recuperadas: number; perdidas: number; faltam: number; motivo: string }[]
  }[]
}

interface Row {
  cnpj: string
  captura: { servico: string; estado: string; mensagem: string }[]
}
const lineOf = async (cnpj: string) => {
  const { body } = await client.call<Row[]>('GET', '/v1/api/Empresas/obter-empresas')
  return body.data.find((row) => row.cnpj === cnpj)!.captura.find((line) => line.servico === 'nfe')!
}

const isComplete = async (cnpj: string, id: string) => {
  const truth = await truthOf(product.simulator, cnpj)
  const held = truth.filter((row) => row.service === 'nfe' && ['document', 'summary'].includes(row.kind))
  const rows = await client.list(`TipoDFe=0&IdEmpresa=${id}`)
  expect(rows.map((row) => row.chave).sort()).toEqual([...new Set(held.map((row) => row.chave!))].sort())
  return rows.length
}

test('a page that was counted and lost is asked for again once, explained, and fetched', async () => {
  const cnpj = cnpjs[0]!
  await addFault({ fault: 'resetAfter', service: 'nfe', cnpj, times: 1 })
  const id = await client.register(cnpj)
  await vi.waitFor(async () => expect((await lineOf(cnpj)).estado).toBe('falha'), patience)
  expect((await lineOf(cnpj)).mensagem).toMatch(/pode ter contado a consulta; .* espera uma hora/)
  await anHour()
  await vi.waitFor(async () => expect((await lineOf(cnpj)).estado).toBe('bloqueada'), patience)
  expect((await lineOf(cnpj)).mensagem).toMatch(
    /ela contou uma consulta nossa cuja resposta se perdeu no caminho\. Faltam/,
  )
  const gapsOf = async () => {
    const { body } = await client.call<Completeness[]>('GET', `/v1/api/Empresas/completude?id=${id}`)
    return body.data.find(({ servico }) => servico === 'nfe')!.meses.flatMap((month) => month.lacunas)
  }
  // Up to twenty positions an hour are asked for.
  for (let hours = 0; hours < 6 && (await gapsOf())[0]?.faltam !== 0; hours++) {
    await anHour()
    await captureRests(product)
  }
  const gaps = await gapsOf()
  expect(gaps).toMatchObject([
    { de: '1', faltam: 0, perdidas: 0, motivo: expect.stringMatching(/se perdeu no caminho/) },
  ])
  expect(gaps[0]!.recuperadas).toBe(Number(gaps[0]!.ate))
  expect(await isComplete(cnpj, id)).toBeGreaterThan(3)
  expect(await blocksOf(cnpj)).toBe(1)
})

test('a response "nothing new" that was counted and lost never becomes misuse', async () => {
  const cnpj = cnpjs[1]!
  await client.register(cnpj)
  await captureRests(product)
  // The first rest is between one hour and two.
  await letPass(product, 2.25 * hourMs)
  await vi.waitFor(async () => expect((await lineOf(cnpj)).mensagem).toMatch(/^Em dia\. Nenhum/), patience)
  await addFault({ fault: 'truncated', service: 'nfe', cnpj, times: 1 })
  await anHour()
  await vi.waitFor(async () => expect((await lineOf(cnpj)).estado).toBe('falha'), patience)
  await anHour()
  await vi.waitFor(async () => expect((await lineOf(cnpj)).estado).toBe('aguardando'), patience)
  expect(await blocksOf(cnpj)).toBe(0)
})

test('a document that came damaged is fetched again, whole', async () => {
  const cnpj = cnpjs[9]!
  await addFault({ fault: 'corruptedDocZip', service: 'nfe', cnpj, times: 2 })
  const id = await client.register(cnpj)
  const singles = async () => (await callsOf(cnpj)).filter((call) => JSON.stringify(call.query).includes('nsu')).length
  await vi.waitFor(async () => expect(await singles()).toBeGreaterThan(0), patience)
  // That one was damaged, too: the next one is an hour later.
  await captureRests(product)
  expect(await singles()).toBe(1)
  await anHour()
  await vi.waitFor(async () => {
    expect(await singles()).toBeGreaterThan(1)
    expect(await isComplete(cnpj, id)).toBeGreaterThan(3)
  }, patience)
  expect(await blocksOf(cnpj)).toBe(0)
})

test('a service that is down for all is asked by one at a time, and all go on when it answers', async () => {
  await addFault({ fault: 'http503' })
  const waiting = cnpjs.slice(2, 9)
  const ids = await Promise.all(waiting.map((cnpj) => client.register(cnpj)))
  await vi.waitFor(async () => {
    const told = await Promise.all(waiting.map(lineOf))
    expect(told.some((line) => /fora do ar para todas as empresas desde/.test(line.mensagem))).toBe(true)
  }, patience)
  await removeFaults()
  // Whoever was not reached waits up to an hour, the longest first.
  for (let hours = 0; hours < 3; hours++) {
    await anHour()
    await captureRests(product)
  }
  for (const [index, cnpj] of waiting.entries()) expect(await isComplete(cnpj, ids[index]!)).toBeGreaterThan(3)
  const misuse = await control<{ misuse: { count: number; excused: number }[] }>(product.simulator, 'misuse')
  for (const row of misuse.misuse) expect(row.count - row.excused, JSON.stringify(row)).toBe(0)
}, 120_000)

test('a note that was answered and does not come is asked for by chave, and comes again at its position', async () => {
  const cnpj = cnpjs[9]!
  const { body: companies } = await client.call<(Row & { id: string })[]>('GET', '/v1/api/Empresas/obter-empresas')
  const { id } = companies.data.find((row) => row.cnpj === cnpj)!
  const [summary] = await client.list(`TipoDFe=0&Status=1&IdEmpresa=${id}`)
  const change = (text: string) => execute(product.databaseUrl, text)
  // The query that would bring it does not leave.
  await change(`update capture_line set next_at = null where cnpj = '${cnpj}'`)
  const form = { idsDFe: [summary!.idDfe], tipoManifestacao: 1, justificativa: 'Ciente' }
  await client.call('POST', '/v1/api/DocumentosFiscais/manifestar-nfe', form)
  const rowOf = async () => (await client.list(`TipoDFe=0&CampoPesquisa=${summary!.chave}`))[0]!
  await vi.waitFor(async () => expect((await rowOf()).status.codigoEvento).toBe(210210), patience)
  const day = 25 * hourMs
  // A day after it the line was asked for the last time, as far as it goes.
  await change(
    `update document_event set registered_at = l.last_success_at - interval '${day + 1_000} ms'
       from capture_line l where l.cnpj = '${cnpj}' and l.service = 0 and chave = '${summary!.chave}'`,
  )
  await letPass(product, day)
  await vi.waitFor(async () => expect(await rowOf()).toMatchObject({ notaCompleta: true }), patience)
  const queries = (await callsOf(cnpj)).map(({ query, cStat }) => ({ query, cStat }))
  expect(queries.at(-1)).toEqual({ query: { chNFe: summary!.chave }, cStat: 138 })
  await change(`update capture_line set next_at = now() where cnpj = '${cnpj}'`)
  await captureRests(product)
  expect(await isComplete(cnpj, id)).toBeGreaterThan(3)
  expect(await blocksOf(cnpj)).toBe(0)
})

describe('the check of the access', () => {
  const check = async (cnpj: string) => {
    const { ok, lines } = await operate(product.config, (ctx) => checkCompany(ctx, cnpj))
    return { ok, text: lines.join('\n') }
  }
  const checkPfx = async (cnpj: string, senha = 'segredo', wanted?: string) => {
    const pfx = await product.simulator.issueCertificate({
      cnpj,
      nome: 'EMPRESA NOVA LTDA',
      senha: 'segredo',
      sharedKey: true,
    })
    const { ok, lines } = await operate(product.config, (ctx) => checkFile(ctx, pfx, senha, wanted))
    return { ok, text: lines.join('\n') }
  }

  test('says that all is well, beside a running capture', async () => {
    const { ok, text } = await check(cnpjs[1]!)
    expect(text).toMatch(/Certificado: EMPRESA .*válido de .* até /s)
    expect(text.match(/Resposta da SEFAZ: 13[78]/g)).toHaveLength(2)
    expect(ok).toBe(true)
    const found = await operate(product.config, (ctx) => findCompleteness(ctx, cnpjs[1]!))
    expect(found.map(({ service }) => service)).toEqual(['nfe', 'cte'])
  })

  test('of a company that nobody registered says so', async () => {
    expect(await check(late)).toMatchObject({ ok: false, text: expect.stringMatching(/está cadastrada aqui/) })
  })

  test('of a file needs no registration', async () => {
    const { ok, text } = await checkPfx(late)
    expect(text).toMatch(/EMPRESA NOVA LTDA/)
    expect(text).toMatch(/Resposta da SEFAZ: (13[78]|589)/)
    expect(ok).toBe(true)
  })

  test('of a file says what is wrong with the password and with the company', async () => {
    expect(await checkPfx(late, 'errada')).toMatchObject({
      ok: false,
      text: expect.stringMatching(/A senha informada/),
    })
    expect(await checkPfx(late, 'segredo', cnpjs[0])).toMatchObject({
      ok: false,
      text: expect.stringMatching(/oito primeiros caracteres/),
    })
  })

  test.each([
    ['http403', /erro 403/],
    ['http503', /HTTP 503/],
    ['soapFault', /não conseguiu atender a mensagem/],
    ['empty', /não veio no formato esperado/],
    ['reset', /conexão com a SEFAZ foi interrompida/],
    ['109', /fora do ar para todos/],
  ])('tells %s in words of its own', async (fault, words) => {
    await addFault({ fault, cnpj: late })
    const { ok, text } = await checkPfx(late)
    expect(ok).toBe(false)
    expect(text).toMatch(words)
    expect(text).toMatch(/O que fazer: /)
  })

  test.each([
    ['a name that is not found', 'https://nao-existe.invalid', /nao-existe\.invalid.*não foi encontrado.*DNS/s],
    ['a port where nobody listens', 'https://localhost:9', /localhost:9.*não atende/s],
  ])('tells %s', async (_, origin, words) => {
    const { sefaz } = product.config
    const distribution = { nfe: `${origin}/x`, cte: `${origin}/x` }
    const config = { ...product.config, sefaz: { ...sefaz, endpoints: { ...sefaz.endpoints, distribution } } }
    const pfx = await product.simulator.issueCertificate({ cnpj: late, nome: 'X', senha: 'segredo', sharedKey: true })
    const { ok, lines } = await operate(config, (ctx) => checkFile(ctx, pfx, 'segredo'))
    expect([ok, lines.join('\n')]).toEqual([false, expect.stringMatching(words)])
  })

  test('tells a server whose chain is not known, and an authority file that is not there', async () => {
    const { sefaz } = product.config
    const pfx = await product.simulator.issueCertificate({ cnpj: late, nome: 'X', senha: 'segredo', sharedKey: true })
    const checkWith = async (caFiles: string[]) => {
      const config = { ...product.config, sefaz: { ...sefaz, caFiles } }
      return operate(config, (ctx) => checkFile(ctx, pfx, 'segredo'))
    }
    expect((await checkWith([])).lines.join('\n')).toMatch(/confirmar a identidade do servidor.*SEFAZ_CA_FILE/s)
    expect((await checkWith(['/nao/existe.pem'])).lines.join('\n')).toMatch(/nao\/existe\.pem não pôde ser lido/)
  })

  test('asks nothing during a block', async () => {
    const cnpj = cnpjs[1]!
    await addFault({ fault: 'truncated', service: 'nfe', cnpj, times: 1 })
    await anHour()
    await vi.waitFor(async () => expect((await lineOf(cnpj)).estado).toBe('falha'), patience)
    const before = (await callsOf(cnpj)).length
    const { ok, text } = await check(cnpj)
    expect(text).toMatch(/NF-e.*\n {2}Não perguntamos agora: uma consulta poderia causar ou aumentar um bloqueio/)
    expect(ok).toBe(false)
    expect((await callsOf(cnpj)).length).toBe(before)
  })
})
