import { readConfig } from '@vigia/server/start'
import { expect, test } from 'vitest'
import { describeOverflow, describePlans, managePlans, readPlanOrder } from './plans.ts'

const now = new Date('2026-11-20T01:00:00Z')
const read = (line: string) => readPlanOrder(line.split(' ').filter(Boolean), now)

test('orders are read', () => {
  expect(read('listar')).toEqual({ task: 'list' })
  expect(read('ativar --email a@x.example --tipo Corporativo')).toEqual({
    task: 'activate',
    email: 'a@x.example',
    type: 3,
    until: null,
  })
  // In São Paulo it is still the nineteenth.
  expect(read('ativar --email=a@x.example --tipo basico --ate 2026-11-19')).toMatchObject({
    type: 1,
    until: '2026-11-19',
  })
  expect(read('encerrar --email a@x.example')).toEqual({ task: 'end', email: 'a@x.example' })
})

test.each([
  ['', /^Use: /],
  ['mudar', /^Use: /],
  ['listar --email a@x.example', /^Use: /],
  ['listar tudo', /^Use: /],
  ['ativar --email', /^Use: /],
  ['ativar --plano 3', /^Use: /],
  ['ativar --tipo basico', /^Falta --email/],
  ['encerrar', /^Falta --email/],
  ['encerrar --email a@x.example --tipo basico', /^Use: /],
  ['ativar --email a@x.example', /^--tipo deve ser basico, profissional ou corporativo\. Nada foi alterado\.$/],
  ['ativar --email a@x.example --tipo ouro', /^--tipo deve ser/],
  ['ativar --email a@x.example --tipo constructor', /^--tipo deve ser/],
  ['ativar --email a@x.example --tipo __proto__', /^--tipo deve ser/],
  ['ativar --email a@x.example --email b@x.example --tipo basico', /^--email foi informado mais de uma vez\. Nada/],
  ['ativar --email a@x.example --tipo basico --tipo=corporativo', /^--tipo foi informado mais de uma vez/],
  ['ativar --email a@x.example --tipo basico --ate 2026-12-01 --ate 2026-12-01', /^--ate foi informado mais de uma/],
  ['encerrar --email a@x.example --email a@x.example', /^--email foi informado mais de uma vez/],
  ['ativar --email a@x.example --tipo basico --ate 2026-02-30', /^--ate deve ser um dia como/],
  ['ativar --email a@x.example --tipo basico --ate amanha', /^--ate deve ser um dia como/],
  ['ativar --email a@x.example --tipo basico --ate 2026-11-18', /^O dia 2026-11-18 já passou\. Nada foi alterado\./],
])('"%s" is refused in words', (line, words) => {
  expect(() => read(line)).toThrow(words)
})

test('an installation without plans activates and ends none', async () => {
  const config = { ...readConfig({}, process.cwd()), plans: false }
  for (const line of ['ativar --email a@x.example --tipo basico', 'encerrar --email a@x.example'])
    await expect(managePlans(config, line.split(' '))).rejects.toThrow(
      'Esta instalação não tem planos (PLANOS=desligados): nenhuma captura para por causa de um. Nada foi alterado.',
    )
})

test('plans are shown with how they stand', () => {
  const at = new Date('2026-11-12T17:30:00Z')
  const plan = {
    type: 2 as const,
    name: 'Profissional',
    companiesMax: 10,
    documentsPerMonthMax: null,
    situation: 'trial' as const,
    trialUntil: at,
    paidFrom: null,
    paidUntil: null,
    endsAt: at,
    leftMs: 0,
    endsWith: 'trial' as const,
    pausedAt: null,
  }
  expect(describeOverflow({ plan, companies: 10 })).toEqual([])
  expect(describeOverflow({ plan: { ...plan, companiesMax: null }, companies: 99 })).toEqual([])
  expect(describeOverflow({ plan: { ...plan, companiesMax: 1 }, companies: 2 })).toEqual([
    'A conta tem 2 empresas, e o plano prevê 1: as que existem continuam, uma nova não cabe.',
  ])
  const row = { plan, name: 'Ana\x1b[2J', emails: ['ana@x.example'], companies: 3 }
  expect(describePlans([])).toContain('Nenhuma conta')
  expect(describePlans([row])).toBe(
    '\nana@x.example  (Ana�[2J)\n  plano Profissional: em teste até 12/11/2026 14:30\n  empresas: 3 (de 10)',
  )
  const active = { ...plan, situation: 'active' as const, companiesMax: null, endsAt: null }
  expect(describePlans([{ ...row, plan: active }])).toContain('ativo, sem data de término\n  empresas: 3 (sem limite)')
  const ended = { ...plan, situation: 'ended' as const, endsWith: 'plan' as const, pausedAt: at }
  expect(describePlans([{ ...row, plan: ended }])).toContain(
    'terminou em 12/11/2026 14:30\n  empresas: 3 (de 10) · captura pausada desde 12/11/2026 14:30',
  )
})
