import { expect, test } from 'vitest'
import { ManifestationForm } from './forms.ts'

const typeOf = (tipoManifestacao: unknown) =>
  ManifestationForm.safeParse({ justificativa: 'x', idsDFe: ['x'], tipoManifestacao })

test.each([4, '4'])('%j is a type', (type) => {
  expect(typeOf(type).data?.tipoManifestacao).toBe(4)
})

// Each value was once coerced to a number and sent an unwanted Cancelamento.
test.each([true, [4], null, '', ' 1', '0x1', '1e0', 1.5, 0, 5, '5', undefined])('%j is no type', (type) => {
  expect(typeOf(type).error?.issues.map((issue) => issue.message)).toEqual(['Tipo de manifestação desconhecido.'])
})

test.each([
  [{ idsDFe: [] }, 'Selecione pelo menos um documento para manifestar.'],
  [{ idsDFe: undefined }, 'Selecione pelo menos um documento para manifestar.'],
  [{ justificativa: undefined }, 'A justificativa é obrigatória'],
  [{ justificativa: '  \n\t ' }, 'A justificativa é obrigatória'],
  [{ justificativa: 'ã'.repeat(201) }, 'A justificativa deve ter no máximo 200 caracteres'],
])('%j is refused in the words of the specification', (changes, message) => {
  const form = { justificativa: 'x', idsDFe: ['x'], tipoManifestacao: 1, ...changes }
  expect(ManifestationForm.safeParse(form).error?.issues.map((issue) => issue.message)).toEqual([message])
})
