import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const ana = { token: 'a', wsId: 'w', email: 'ana@x.br' }

beforeEach(() => {
  for (const name of ['localStorage', 'sessionStorage']) {
    const stored = new Map<string, string>()
    vi.stubGlobal(name, {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => stored.set(key, value),
      removeItem: (key: string) => stored.delete(key),
    })
  }
  vi.resetModules()
})
afterEach(() => void vi.unstubAllGlobals())

test('a session survives a reload', async () => {
  const before = await import('./session.ts')
  before.openSession(ana)
  vi.resetModules()
  const after = await import('./session.ts')
  expect(after.currentSession()).toEqual(ana)
  after.closeSession()
  expect(localStorage.getItem('vigia.session')).toBeNull()
})

test('a stored value that is no session is ignored', async () => {
  localStorage.setItem('vigia.session', '{"token":1}')
  expect((await import('./session.ts')).currentSession()).toBeNull()
  vi.resetModules()
  localStorage.setItem('vigia.session', 'x')
  expect((await import('./session.ts')).currentSession()).toBeNull()
})

test('a 401 ends only the session whose token was refused', async () => {
  const { currentSession, expireSession, openSession } = await import('./session.ts')
  openSession(ana)
  expireSession('older')
  expect(currentSession()).toEqual(ana)
  expireSession('a')
  expect(currentSession()).toBeNull()
})

test('what is kept of documents ends with the session', async () => {
  const { closeSession, expireSession, listsKey, openSession, ownerOf } = await import('./session.ts')
  const keep = () => localStorage.setItem(listsKey, JSON.stringify({ owner: ownerOf(ana), lists: {} }))
  for (const end of [
    () => expireSession('a'),
    () => openSession({ token: 'c', wsId: 'x', email: 'bruno@x.br' }),
    () => closeSession(),
  ]) {
    openSession(ana)
    keep()
    end()
    expect(localStorage.getItem(listsKey)).toBeNull()
  }
})
