import { expect, test } from 'vitest'
import { describeReadBack, refuseTooSoon } from './restore.ts'

const company = {
  workspaceId: 1,
  companyId: 1,
  name: 'Sol',
  cnpj: '12ABC34501DE35',
  acknowledgesSince: null,
  automatic: 1,
  requested: 0,
}
const readBack = { events: true, read: 1, unread: [], unasked: [] }
const described = (changes: Partial<typeof readBack | { unread: string[]; unasked: string[] }>) =>
  describeReadBack({ companies: [company], readBack: { ...readBack, ...changes } }).join('\n')

test('what is known of what happened after the copy is said, by company where something is missing', () => {
  expect(described({})).toMatch(
    /foram lidas de volta\.\n {2}1 empresa já foi consultada na SEFAZ até o fim desde que o banco voltou\.$/,
  )
  expect(described({ events: false })).toContain('ainda não foram lidas de volta')
  const many = Array.from({ length: 12 }, (_, n) => `4455566600018${n % 10}`)
  expect(described({ unread: [company.cnpj, ...many] })).toMatch(
    /13 empresas ainda não foram: o que a SEFAZ tem .*\n {4}12\.ABC\.345\/01DE-35 {2}Sol\n[\s\S]* {4}e mais 3$/,
  )
  expect(described({ unasked: ['44555666000181'] })).toMatch(/1 empresa não é consultada agora .*\)\.$/)
  expect(described({ unasked: ['44555666000181', company.cnpj] })).toMatch(
    /2 empresas não são consultadas agora .*e de 1 delas esperam manifestações .*:\n {4}12\.ABC/,
  )
})

test('a release that is too soon is refused with an error, unless it is wanted nevertheless', () => {
  const late = { companies: [company], readBack }
  const soon = { companies: [company], readBack: { ...readBack, unread: ['44555666000181'] } }
  expect(() => refuseTooSoon(soon, ['--sem-ciencia'])).toThrow(/^Nada foi liberado: .* liberar --sem-ciencia --fazer$/)
  refuseTooSoon(soon, ['--fazer'])
  refuseTooSoon(late, [])
})
