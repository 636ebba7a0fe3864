import { expect, it } from 'vitest'
import { cnpjOf, withMask } from './specification.ts'

it('knows the alphanumeric CNPJ of the official example', () => {
  expect(cnpjOf('12ABC345', '01DE')).toBe('12ABC34501DE35')
  expect(withMask('12ABC34501DE35')).toBe('12.ABC.345/01DE-35')
  expect(cnpjOf('11222333')).toBe('11222333000181')
})
