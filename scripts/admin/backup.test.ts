import { expect, test } from 'vitest'
import { describeCopies } from './backup.ts'

test('copies are shown with what they have, and those that do not open', () => {
  expect(describeCopies({ copies: [], damaged: [], place: '/copias' })).toBe('Em /copias não há uma cópia que abra.')
  const endedAt = new Date('2026-01-02T17:05:00Z')
  const contents = { companies: 3, receipts: 70, workspaces: 1, documents: 60, waitingEvents: 0, bytes: 9_000_000 }
  const copy = {
    name: '20260102T170400Z-0a0b0c0d',
    bytes: 2_500_000,
    endedAt,
    contents: { ...contents, installation: 'x', markedAt: endedAt },
  }
  const text = describeCopies({ copies: [copy], damaged: ['other'], place: '/copias' })
  expect(text).toContain('20260102T170400Z-0a0b0c0d  2,5 MB · de 02/01/2026 14:05 · 3 empresas, 70 arquivos recebidos')
  expect(text).toContain('other  não abre')
})
