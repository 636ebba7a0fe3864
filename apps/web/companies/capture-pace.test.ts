import { expect, test } from 'vitest'
import type { Capture } from '../lib/capture.ts'
import { durationText, isMoving, isNothingThere, remainingMs } from './capture-pace.ts'

const capture = (part: Partial<Capture>): Capture => ({
  servico: 'nfe',
  estado: 'capturando',
  mensagem: '',
  proximaConsulta: null,
  ultimoNsu: '400',
  maxNsu: '1000',
  ultimaResposta: '2026-03-09T12:00:00Z',
  causaComum: null,
  providencia: null,
  ...part,
})

test('the estimate follows the pace so far, and there is none before the first progress', () => {
  expect(remainingMs(capture({}), { nsu: 200, at: 0 }, 10_000)).toBe(30_000)
  expect(remainingMs(capture({}), { nsu: 200, at: 0 }, 2_000)).toBeNull()
  expect(remainingMs(capture({}), { nsu: 400, at: 0 }, 60_000)).toBeNull()
  expect(remainingMs(capture({ ultimoNsu: '1000' }), { nsu: 200, at: 0 }, 60_000)).toBeNull()
})

test.each([
  [20_000, 'menos de 1 minuto'],
  [60_000, 'cerca de 1 minuto'],
  [12 * 60_000, 'cerca de 12 minutos'],
  [3 * 3_600_000, 'cerca de 3 horas'],
])('%d ms is %s', (ms, words) => {
  expect(durationText(ms)).toBe(words)
})

test('a capture that waits for its hour is not moving, and one without documents says so', () => {
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const done = capture({ estado: 'aguardando', ultimoNsu: '1000', proximaConsulta: later })
  const empty = capture({ estado: 'aguardando', ultimoNsu: '0', maxNsu: '0', proximaConsulta: later })
  const first = { ...empty, ultimaResposta: null }
  expect(isMoving([done, empty])).toBe(false)
  expect(isMoving([done, first])).toBe(true)
  expect(isMoving([capture({}), done])).toBe(true)
  expect(isMoving([capture({ estado: 'bloqueada' })])).toBe(false)
  expect([done, empty, first].map(isNothingThere)).toEqual([false, true, false])
})
