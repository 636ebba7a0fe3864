import { readCertificate } from '@vigia/sefaz/certificate'
import { connect } from '@vigia/sefaz/connection'
import { queryDistribution } from '@vigia/sefaz/distribution'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callsOf, truthOf } from '../support/authority.ts'
import { type Client, newClient } from '../support/client.ts'
import { type Product, startProduct } from '../support/product.ts'
import { captureRests, letPass } from '../support/time.ts'

// Another program of the company asks with the same certificate: the authority gives it a page that we never see.
const company = { cnpj: '44555666000181', nome: 'EMPRESA LTDA', uf: 'SC' }
const hourMs = 600_000
let product: Product
let client: Client

interface Capture {
  servico: string
  estado: string
  mensagem: string
}

beforeAll(async () => {
  product = await startProduct({
    hourMs,
    simulator: { seed: 5, companies: [company], documentsEach: 100 },
  })
  client = await newClient(product)
  const { cnpj, nome } = company
  const pfx = await product.simulator.issueCertificate({ cnpj, nome, senha: 'x', sharedKey: true })
  const connection = connect(await readCertificate(pfx, 'x'), { ca: [product.simulator.ca] })
  const url = product.config.sefaz.endpoints.distribution.nfe
  const answer = await queryDistribution(connection, {
    service: 'nfe',
    url,
    tpAmb: 2,
    cUFAutor: 42,
    cnpj,
    query: { ultNSU: '0'.repeat(15) },
  })
  connection.close()
  expect([answer.cStat, answer.documents.length]).toEqual([138, 50])
  await client.register(cnpj)
})
afterAll(() => product?.[Symbol.asyncDispose]())

const capture = async () => {
  const { body } = await client.call<{ captura: Capture[] }[]>('GET', '/v1/api/Empresas/obter-empresas')
  return body.data[0]!.captura.find((line) => line.servico === 'nfe')!
}

test('the block, its cause and what is missing are told, and no button asks during it', async () => {
  await vi.waitFor(async () => expect((await capture()).estado).toBe('bloqueada'), { timeout: 60_000, interval: 100 })
  expect((await capture()).mensagem.replace(/\d\d:\d\d\.$/, 'hh:mm.')).toBe(
    'A SEFAZ bloqueou as consultas deste CNPJ por uma hora: outro sistema consultou com este certificado. Faltam os documentos das posições 1 a 50, que serão buscados um a um, até vinte por hora. A captura volta sozinha às hh:mm.',
  )
})

test('in the end nothing is missing, and the authority counted no other misuse', async () => {
  const held = (await truthOf(product.simulator, company.cnpj)).filter(
    (row) => row.service === 'nfe' && ['document', 'summary'].includes(row.kind),
  )
  // Up to twenty positions an hour are asked for.
  for (let hours = 0; hours < 8 && /Faltam|bloqueou/.test((await capture()).mensagem); hours++) {
    await letPass(product, 1.25 * hourMs)
    await captureRests(product)
  }
  expect((await capture()).mensagem).not.toMatch(/Faltam/)
  const rows = await client.list('TipoDFe=0')
  expect(rows.map(({ chave }) => chave).sort()).toEqual([...new Set(held.map(({ chave }) => chave!))].sort())
  const calls = await callsOf(product.simulator, company.cnpj)
  expect(calls.filter((call) => call.service === 'nfe' && call.cStat === 656)).toHaveLength(1)
})
