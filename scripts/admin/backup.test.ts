import { expect, test } from 'vitest'
import { describeCopies, readTarget } from './backup.ts'

test('a moment is one of Brasília, unless it says otherwise', () => {
  expect(readTarget([], 'x')).toEqual({ isDone: false })
  expect(readTarget(['--ate', '2026-01-02 14:05', '--fazer'], 'x')).toEqual({
    until: new Date('2026-01-02T17:05:00Z'),
    isDone: true,
  })
  expect(readTarget(['--ate', '2026-01-02T14:05:30+00:00'], 'x').until).toEqual(new Date('2026-01-02T14:05:30Z'))
})

test.each(['ontem', '2026-01-02', '2026-13-02 10:00', '2026-01-02 10:00; rm'])('"%s" is none', (text) => {
  expect(() => readTarget(['--ate', text], 'x')).toThrow('--ate deve ser um momento')
})

test('what is to come cannot be restored', () => {
  expect(() => readTarget(['--ate', '2999-01-01 00:00'], 'x')).toThrow('está no futuro')
})

test('copies are shown with the moments that can be reached, and those that do not open', () => {
  const none = { bases: [], damaged: [], lines: [], until: null, place: '/copias' }
  expect(describeCopies(none)).toBe('Em /copias não há uma cópia que abra.')
  const endedAt = new Date('2026-01-02T17:05:00Z')
  const contents = { companies: 3, receipts: 70, workspaces: 1, documents: 60, waitingEvents: 0 }
  const base = {
    name: '20260102T170400Z-0a0b0c0d',
    bytes: 2_500_000,
    systemIdentifier: '1',
    startedAt: endedAt,
    endedAt,
    timeline: 1,
    startLsn: '0/1',
    endLsn: '0/2',
    contents: { ...contents, installation: 'x', mark: 1, markedAt: endedAt, masterKeyId: null },
  }
  const text = describeCopies({ ...none, bases: [base], damaged: ['other'], until: new Date('2026-01-03T12:00:00Z') })
  expect(text).toContain(
    '20260102T170400Z-0a0b0c0d  2,5 MB · de 02/01/2026 14:05 · linha 1 · 3 empresas, 70 arquivos recebidos',
  )
  expect(text).toContain('other  não abre')
  expect(text).toContain('de 02/01/2026 14:05 até cerca de 03/01/2026 09:00')
})
