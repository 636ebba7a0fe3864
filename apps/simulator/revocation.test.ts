import { afterEach, expect, it } from 'vitest'
import { startForTest, type TestSimulator } from './client.testing.ts'

const [cnpj, other] = ['44555666000181', '12ABC34501DE35']
let test: TestSimulator
afterEach(() => test.stop())

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
