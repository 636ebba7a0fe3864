import { parseCnpj } from '@vigia/dfe/cnpj'
import { ufBySigla } from '@vigia/dfe/uf'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createClient, nsu, startForTest, type TestSimulator } from './client.testing.ts'
import { inventCompany } from './generate/cast.ts'
import { createRandom } from './generate/random.ts'

// Every company is made with certificates and hundreds of signatures.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

interface Newcomer {
  cnpj: string
  nome: string
  uf: string
  documents: number
  pfxBase64: string
}

let test: TestSimulator
let company: Newcomer
beforeAll(async () => {
  test = await startForTest({ hourMs: 60_000 })
  company = await ask()
})
afterAll(() => test.stop())

const ask = async (simulator = test) =>
  (await simulator.control('POST', 'companies', { senha: 'teste-123' })) as Newcomer
const truth = async ({ cnpj }: Newcomer, simulator = test) =>
  ((await simulator.control('GET', `truth?cnpj=${cnpj}`)) as { documents: { service: string; at: string }[] }).documents
const clientOf = ({ pfxBase64 }: Newcomer) =>
  createClient(test.simulator, { pfx: Buffer.from(pfxBase64, 'base64'), passphrase: 'teste-123' })

describe('a company for a newcomer', () => {
  it('has a certificate that opens with the password, and documents of its last weeks', async () => {
    expect(parseCnpj(company.cnpj)).toBe(company.cnpj)
    const documents = await truth(company)
    const nfe = documents.filter(({ service }) => service === 'nfe')
    expect(nfe.length).toBeGreaterThan(300)
    expect(documents.length - nfe.length).toBeGreaterThan(50)
    const answer = await clientOf(company).ask('nfe', { cnpj: company.cnpj, ultNSU: 0 })
    expect(answer).toMatchObject({ cStat: '138', ultNSU: nsu(50), maxNSU: nsu(nfe.length) })
    const dates = answer.documents.flatMap(({ xml }) => /<dhRecbto>([^<]+)</.exec(xml)?.[1] ?? [])
    const weeks = dates.map((date) => (Date.now() - Date.parse(date)) / (7 * 86_400_000))
    expect(Math.min(...weeks)).toBeGreaterThan(0)
    expect(Math.max(...weeks)).toBeLessThan(12)
  })

  it('is another one each time, and speaks for nobody else', async () => {
    const other = await ask()
    expect(other.cnpj).not.toBe(company.cnpj)
    expect((await clientOf(company).ask('nfe', { cnpj: other.cnpj, ultNSU: 0 })).cStat).toBe('593')
  })

  it('needs a password', async () => {
    await expect(test.control('POST', 'companies', {})).rejects.toThrow('senha is missing')
  })

  it('is one of those that get a document now and then', async () => {
    const lively = await startForTest({ hourMs: 60_000, liveEveryMs: 200 })
    try {
      const added = await ask(lively)
      const before = (await truth(added, lively)).length
      await vi.waitFor(async () => expect((await truth(added, lively)).length).toBeGreaterThan(before), {
        timeout: 30_000,
        interval: 200,
      })
    } finally {
      await lively.stop()
    }
  })
})

it('made-up companies have a name, a valid CNPJ that no real one has, and letters in some', () => {
  const random = createRandom('made up')
  const companies = Array.from({ length: 500 }, () => inventCompany(random))
  for (const { cnpj, nome, uf } of companies) {
    expect(parseCnpj(cnpj)).toBe(cnpj)
    expect(cnpj.slice(0, 2)).toBe('98')
    expect(nome).toMatch(/^[^*]{8,60}$/)
    expect(ufBySigla(uf)).toBeDefined()
  }
  const lettered = companies.filter(({ cnpj }) => /[A-Z]/.test(cnpj)).length
  expect(lettered).toBeGreaterThan(100)
  expect(lettered).toBeLessThan(300)
  expect(new Set(companies.map(({ cnpj }) => cnpj)).size).toBe(500)
})
