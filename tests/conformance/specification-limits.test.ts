import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Product, startProduct } from '../support/product.ts'
import {
  type Answer,
  type CompanyRow,
  certificateForm,
  cnpjOf,
  enter,
  logIn,
  openClient,
  type Person,
  type SpecificationClient,
  somebody,
} from '../support/specification.ts'

let product: Product

beforeAll(async () => {
  product = await startProduct({ simulator: { companies: [] } })
})
afterAll(() => product?.[Symbol.asyncDispose]())

async function register(client: SpecificationClient, cnpj: string): Promise<Answer<{ idEmpresa: string } | null>> {
  const file = await product.simulator.issueCertificate({ cnpj, nome: `Empresa ${cnpj} Ltda`, senha: 'abc123' })
  return client.call('POST', '/v1/api/Empresas', { form: certificateForm({ file, password: 'abc123' }) })
}

const companies = async (client: SpecificationClient) =>
  (await client.get<CompanyRow[]>('/v1/api/Empresas/obter-empresas')).data

describe('plans', () => {
  it('give one company to Básico, and say so at the second', async () => {
    const client = await enter(product.url, { tipoPlano: 1 })
    expect(await register(client, cnpjOf('12ABC345', '01DE'))).toMatchObject({ success: true })
    const second = await register(client, cnpjOf('98ZYX765'))
    expect(second.success).toBe(false)
    expect(second.status).toBeGreaterThanOrEqual(400)
    expect(second.status).toBeLessThan(500)
    expect(second.message).toMatch(/plano/i)
    expect(second.message).toMatch(/empresa/i)
    expect(await companies(client)).toHaveLength(1)
  })

  it('give Básico to who does not say which', async () => {
    const client = await enter(product.url, { tipoPlano: undefined })
    expect(await register(client, cnpjOf('12ABC345', '01DE'))).toMatchObject({ success: true })
    expect(await register(client, cnpjOf('98ZYX765'))).toMatchObject({ success: false })
  })

  it('give one company to Básico even when two arrive at the same time', async () => {
    const client = await enter(product.url, { tipoPlano: 1 })
    await Promise.all(['12ABC345', '98ZYX765', '55BCD111', '11222333'].map((base) => register(client, cnpjOf(base))))
    expect(await companies(client)).toHaveLength(1)
  })

  it('give ten companies to Profissional, and say so at the eleventh', async () => {
    const client = await enter(product.url, { tipoPlano: 2 })
    for (let i = 0; i < 10; i += 1) {
      expect(await register(client, cnpjOf(`AB12345${i}`))).toMatchObject({ success: true })
    }
    const eleventh = await register(client, cnpjOf('ZZ123456'))
    expect(eleventh).toMatchObject({ success: false, message: expect.stringMatching(/plano/i) })
    expect(await companies(client)).toHaveLength(10)
  })
})

describe('wrong passwords', () => {
  const known = somebody()
  const neighbour = somebody({ nome: 'Vizinha' })
  const wrong = (email: string) =>
    openClient(product.url).call('POST', '/v1/api/Auth', { json: { email, senha: 'palpite-2026' } })

  async function guess(email: string): Promise<Answer<unknown>[]> {
    const answers: Answer<unknown>[] = []
    while (answers.length < 15 && answers.at(-1)?.status !== 429) answers.push(await wrong(email))
    return answers
  }

  beforeAll(async () => {
    for (const person of [known, neighbour] satisfies Person[]) {
      await openClient(product.url).post('/v1/api/Usuarios', person)
    }
  })

  it('are refused at last in words, for an unknown e-mail exactly as for a known one', async () => {
    const [forKnown, forUnknown] = [await guess(known.email), await guess('ninguem@escritorio.example')]
    const last = forKnown.at(-1)!
    expect(last.status).toBe(429)
    expect(last.message).toMatch(/tent/i)
    expect(last.message).toMatch(/minuto|hora/)
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    const seen = (answers: Answer<unknown>[]) => answers.map((answer) => answer.status)
    expect(seen(forUnknown)).toEqual(seen(forKnown))
  })

  it('let nobody in with the right password until the time is over', async () => {
    const answer = await openClient(product.url).call('POST', '/v1/api/Auth', {
      json: { email: known.email.toUpperCase(), senha: known.senha },
    })
    expect(answer.status).toBe(429)
  })

  it('do not keep another account of the same address out', async () => {
    expect((await logIn(product.url, neighbour)).token).toMatch(/\S/)
  })

  it('count when they come at the same time', async () => {
    const person = somebody()
    await openClient(product.url).post('/v1/api/Usuarios', person)
    const answers = await Promise.all(Array.from({ length: 20 }, () => wrong(person.email)))
    expect(answers.filter((answer) => answer.status === 401).length).toBeLessThanOrEqual(10)
    expect(answers.filter((answer) => answer.status === 429).length).toBeGreaterThanOrEqual(10)
  })

  it('are forgotten by whoever remembers the password in time', async () => {
    const person = somebody()
    await openClient(product.url).post('/v1/api/Usuarios', person)
    for (let i = 0; i < 3; i += 1) expect((await wrong(person.email)).status).toBe(401)
    expect((await logIn(product.url, person)).token).toMatch(/\S/)
  })
})
