import { expect, test } from 'vitest'
import { startProduct } from './product.ts'

test('the product runs on free ports with a database and a data directory of its own', async () => {
  await using product = await startProduct({ hourMs: 3000 })
  const health = await fetch(new URL('/health', product.url))
  expect(await health.json()).toMatchObject({ success: true })
  const control = await fetch(`http://127.0.0.1:${product.simulator.port}/_control/state`)
  expect(await control.json()).toMatchObject({ hourMs: 3000 })
  const certificate = await product.simulator.issueCertificate({
    cnpj: '12ABC34501DE35',
    nome: 'EMPRESA EXEMPLO LTDA',
    senha: 'segredo',
  })
  expect(certificate.length).toBeGreaterThan(1000)
})
