import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMessageToasts, inBursts } from './messages.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('messages as toasts', () => {
  const standing = new Map<string, () => void>()
  const shown: string[] = []
  let away = false
  beforeEach(() => {
    standing.clear()
    shown.length = 0
    away = false
  })
  const open = () =>
    createMessageToasts({
      isAway: () => away,
      show(kind, title, description, gone) {
        const text = `${kind}: ${title} ${description}`
        shown.push(text)
        standing.set(text, () => {
          standing.delete(text)
          gone()
        })
        return () => void standing.delete(text)
      },
    })
  const send = (messages: ReturnType<typeof open>, kind: string, ...bodies: string[]) => {
    for (const body of bodies) messages.add({ header: 'Aviso', body, kind })
  }
  const close = (text: string) => standing.get(text)?.()

  test('each kind of section 4 is shown, and no other', () => {
    const messages = open()
    for (const kind of ['sucesso', 'error', 'alert', 'info', 'success', 'Sucesso', 'toString', ''])
      send(messages, kind, 'a')
    expect(shown).toEqual(['sucesso: Aviso a', 'error: Aviso a', 'alert: Aviso a'])
  })

  test('of errors the two latest stay, and of the others the two latest', () => {
    const messages = open()
    send(messages, 'error', '1', '2', '3')
    send(messages, 'alert', 'a', 'b')
    send(messages, 'sucesso', 'c')
    expect(shown).toHaveLength(6)
    expect([...standing.keys()]).toEqual(['error: Aviso 2', 'error: Aviso 3', 'alert: Aviso b', 'sucesso: Aviso c'])
    close('error: Aviso 3')
    send(messages, 'error', '4')
    expect([...standing.keys()]).toContain('error: Aviso 2')
  })

  test('the same message stands once, and is shown again when it has disappeared', () => {
    const messages = open()
    send(messages, 'error', '1', '1', '1')
    expect(shown).toHaveLength(1)
    close('error: Aviso 1')
    send(messages, 'error', '1')
    expect(shown).toHaveLength(2)
  })

  test('what came while nobody could look waits: a few one by one, more as one that counts them', () => {
    const messages = open()
    away = true
    send(messages, 'sucesso', '1', '2', '3')
    messages.look()
    expect(shown).toEqual([])
    away = false
    messages.look()
    messages.look()
    expect(shown).toEqual(['sucesso: Aviso 1', 'sucesso: Aviso 2', 'sucesso: Aviso 3'])

    away = true
    send(messages, 'sucesso', '1', '2', '3')
    for (const header of ['Captura parada', 'Captura normalizada', 'Certificados digitais', 'Captura parada'])
      messages.add({ header, body: 'x', kind: header === 'Captura parada' ? 'error' : 'alert' })
    away = false
    messages.look()
    expect(shown.slice(3)).toEqual([
      'error: 7 avisos novos Aviso, Captura parada, Captura normalizada e mais 1. Leia todos no sino, no alto da tela.',
    ])
  })

  test('who reads them elsewhere finds no toast any more', () => {
    const messages = open()
    send(messages, 'error', '1')
    away = true
    send(messages, 'error', '2')
    messages.withdraw()
    away = false
    messages.look()
    expect(shown).toEqual(['error: Aviso 1'])
    expect(standing.size).toBe(0)
  })
})

describe('reloading after messages', () => {
  test('once for a burst, and again for messages that came while it was running', async () => {
    const answers: (() => void)[] = []
    const ask = inBursts(() => new Promise((resolve) => answers.push(resolve)), new AbortController().signal)
    for (let count = 0; count < 50; count++) ask()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(answers).toHaveLength(1)
    ask()
    ask()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(answers).toHaveLength(1)
    answers[0]?.()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(answers).toHaveLength(2)
    answers[1]?.()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(answers).toHaveLength(2)
    ask()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(answers).toHaveLength(3)
  })

  test('not after the signal was aborted', async () => {
    const leaving = new AbortController()
    const refresh = vi.fn(async () => {})
    const ask = inBursts(refresh, leaving.signal)
    ask()
    leaving.abort()
    ask()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(refresh).not.toHaveBeenCalled()
  })
})
