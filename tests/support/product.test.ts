import { expect, test } from 'vitest'
import { control } from './authority.ts'
import { startProduct } from './product.ts'

test('the product runs on free ports with a database and a data directory of its own', async () => {
  await using product = await startProduct({ hourMs: 3000 })
  const health = await fetch(new URL('/health', product.url))
  expect(await health.json()).toMatchObject({ success: true })
  expect(await control(product.simulator, 'state')).toMatchObject({ hourMs: 3000 })
  const certificate = await product.simulator.issueCertificate({
    cnpj: '12ABC34501DE35',
    nome: 'EMPRESA EXEMPLO LTDA',
    senha: 'segredo',
  })
  expect(certificate.length).toBeGreaterThan(1000)
})
