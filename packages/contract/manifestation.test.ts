import { expect, test } from 'vitest'
import { ManifestationForm } from './manifestation.ts'

const typeOf = (tipoManifestacao: unknown) =>
  ManifestationForm.safeParse({ justificativa: 'x', idsDFe: ['x'], tipoManifestacao })

test.each([4, '4'])('%j is a type', (type) => {
  expect(typeOf(type).data?.tipoManifestacao).toBe(4)
})

// Each of these was once read as a number, and sent a Cancelamento that nobody had asked for.
test.each([true, [4], null, '', ' 1', '0x1', '1e0', 1.5, 0, 5, '5', undefined])('%j is no type', (type) => {
  expect(typeOf(type).error?.issues.map((issue) => issue.message)).toEqual(['Tipo de manifestação desconhecido.'])
})
