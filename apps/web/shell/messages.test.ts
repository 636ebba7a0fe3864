import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createMessageToasts, inBursts } from './messages.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('messages as toasts', () => {
  const standing = new Map<string, () => void>()
  const shown: string[] = []
  beforeEach(() => {
    standing.clear()
    shown.length = 0
  })
  const open = () =>
    createMessageToasts((kind, title, description, gone) => {
      const text = `${kind}: ${title} ${description}`
      shown.push(text)
      standing.set(text, () => {
        standing.delete(text)
        gone()
      })
      return () => void standing.delete(text)
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

  test('a message that would hide another toast waits until that has disappeared', () => {
    const messages = open()
    send(messages, 'alert', '1', '2', '3', '4', '5', '6')
    expect(shown).toHaveLength(4)
    close('alert: Aviso 2')
    // Two more would still hide the first.
    expect(shown).toHaveLength(5)
    expect(standing.size).toBe(4)
    close('alert: Aviso 1')
    expect(shown).toHaveLength(6)
  })

  test('errors that nobody closes delay no other toast', () => {
    const messages = open()
    send(messages, 'error', '1', '2', '3', '4', '5', '6')
    expect(shown).toHaveLength(6)
    send(messages, 'sucesso', '7')
    send(messages, 'error', '8', '9', '10', '11')
    expect(shown.at(-1)).toBe('error: Aviso 10')
    close('sucesso: Aviso 7')
    expect(shown.at(-1)).toBe('error: Aviso 11')
  })

  test('of many errors the latest stay, and delay no other toast', () => {
    const messages = open()
    send(messages, 'error', ...Array.from({ length: 50 }, (_, index) => `${index}`))
    expect([...standing.keys()]).toEqual(shown.slice(30))
    expect(shown).toHaveLength(50)
    send(messages, 'alert', 'a')
    expect(shown.at(-1)).toBe('alert: Aviso a')
  })

  test('the same message is shown as often as toasts fit at once, and again when it has disappeared', () => {
    const messages = open()
    send(messages, 'error', '1', '1', '1')
    expect(shown).toHaveLength(3)
    send(messages, 'error', '1', '1', '1', '1')
    expect(shown).toHaveLength(4)
    close('error: Aviso 1')
    expect(shown).toHaveLength(4)
    send(messages, 'error', '1', '1')
    expect(shown).toHaveLength(5)
  })

  test('of successes that wait only the latest are shown, and all other messages', () => {
    const messages = open()
    send(messages, 'alert', 'a', 'b', 'c', 'd', 'e')
    send(messages, 'sucesso', ...Array.from({ length: 50 }, (_, index) => `${index}`))
    send(messages, 'error', 'f')
    while (standing.size > 0) for (const text of [...standing.keys()]) close(text)
    const bodies = shown.map((text) => text.split(' ').at(-1))
    expect(bodies).toEqual(['a', 'b', 'c', 'd', 'e', '42', '43', '44', '45', '46', '47', '48', '49', 'f'])
  })

  test('after closing, no message is shown', () => {
    const messages = open()
    send(messages, 'alert', '1', '2', '3', '4', '5')
    messages.close()
    close('alert: Aviso 1')
    expect(shown).toHaveLength(4)
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
