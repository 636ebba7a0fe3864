import { X509Certificate } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { openCertificationAuthority } from './certificates.ts'
import { startForTest, type TestSimulator } from './client.testing.ts'

const [cnpj, other] = ['44555666000181', '12ABC34501DE35']
let test: TestSimulator
afterEach(() => test.stop())

const list = async (name = 'ac') => {
  const response = await fetch(`http://localhost:${test.simulator.port}/lcr/${name}.crl`)
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()).toString('hex') }
}
const ask = async (client: Awaited<ReturnType<TestSimulator['client']>>, taxId = cnpj) =>
  (await client.ask('nfe', { cnpj: taxId, ultNSU: 0 }).catch(() => ({ cStat: 'refused' }))).cStat

it('revokes the certificates of a CNPJ: they are refused, the next one and those of others are not', async () => {
  test = await startForTest()
  const [before, stranger] = [await test.client(cnpj), await test.client(other)]
  expect(await ask(before)).toBe('137')
  expect(await test.control('POST', 'revocations', { cnpj })).toMatchObject({ revoked: [expect.any(String)] })
  expect(await test.control('POST', 'revocations', { cnpj })).toEqual({ revoked: [] })
  expect(await ask(before)).toBe('refused')
  expect(await ask(stranger, other)).toBe('137')
  expect(await ask(await test.client(cnpj))).not.toBe('refused')
  await expect(test.control('POST', 'revocations', {})).rejects.toThrow('400')
})

it('names in each certificate where its list is, and lists what is revoked, also after a restart', async () => {
  test = await startForTest()
  const { directory } = test
  const authority = await openCertificationAuthority(directory, Date.now())
  const { certificate } = await authority.issue({ cnpj, nome: 'EMPRESA' }, Date.now())
  const origin = `http://localhost:${test.simulator.port}`
  expect(certificate.raw.includes(`${origin}/lcr/ac.crl`)).toBe(true)
  expect(new X509Certificate(authority.intermediate).raw.includes(`${origin}/lcr/raiz.crl`)).toBe(true)
  const { serialNumber } = certificate
  expect((await list()).body).not.toContain(serialNumber.toLowerCase())
  await test.control('POST', 'revocations', { serialNumber })
  expect((await list()).body).toContain(serialNumber.toLowerCase())
  expect(await list('raiz')).toMatchObject({ status: 200 })
  await test.stop({ keep: true })
  test = await startForTest({ directory })
  expect((await list()).body).toContain(serialNumber.toLowerCase())
})
