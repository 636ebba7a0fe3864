import { cnpjCheckDigits } from '@vigia/dfe/cnpj'
import { checkCompany, checkFile, findCompleteness, operate } from '@vigia/server/start'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { control, order } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'
import { captureRests, letPass } from '../support/time.ts'

// `admin -- sefaz`: what it says of the access to the authority, beside a running capture.
const hourMs = 600_000
const [registered, late] = ['44555600', '44555610'].map((root) => `${root}0001${cnpjCheckDigits(`${root}0001`)}`) as [
  string,
  string,
]
const companies = [registered, late].map((cnpj) => ({ cnpj, nome: 'EMPRESA LTDA', uf: 'SP' }))
const patience = { timeout: 60_000, interval: 100 }
// An hour and the margin that we add to it.
const anHour = () => letPass(product, hourMs * 1.25)
let product: Product
let client: Client

beforeAll(async () => {
  product = await startProduct({
    hourMs,
    simulator: { seed: 11, companies, documentsEach: 20 },
  })
  client = await newClient(product)
  await client.register(registered)
  await captureRests(product)
  // The first rest is between one hour and two.
  await letPass(product, 2.25 * hourMs)
  await vi.waitFor(async () => expect((await lineOf(registered)).mensagem).toMatch(/^Em dia\. Nenhum/), patience)
}, 120_000)
afterAll(() => product?.[Symbol.asyncDispose]())
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

interface Row {
  cnpj: string
  captura: { servico: string; estado: string; mensagem: string }[]
}
const lineOf = async (cnpj: string) => {
  const { body } = await client.call<Row[]>('GET', '/v1/api/Empresas/obter-empresas')
  return body.data.find((row) => row.cnpj === cnpj)!.captura.find((line) => line.servico === 'nfe')!
}

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
    const { ok, text } = await check(registered)
    expect(text).toMatch(/Certificado: EMPRESA .*válido de .* até /s)
    expect(text.match(/Resposta da SEFAZ: 13[78]/g)).toHaveLength(2)
    expect(ok).toBe(true)
    const found = await operate(product.config, (ctx) => findCompleteness(ctx, registered))
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
    expect(await checkPfx(late, 'segredo', registered)).toMatchObject({
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

  test('asks nothing during a block', async () => {
    const cnpj = registered
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
