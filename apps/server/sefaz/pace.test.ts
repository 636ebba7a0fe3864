import { expect, test } from 'vitest'
import { readConfig } from '../config.ts'
import { conversationsNow, notePace } from './pace.ts'

const sefazOf = (conversations = 32) => ({ ...readConfig({}, '/').sefaz, conversations })
const respond = (sefaz: ReturnType<typeof sefazOf>, durationMs: number | null, times = 100) => {
  for (let time = 0; time < times; time++) notePace(sefaz, durationMs)
}

test('an authority that takes its time and responds gets more at once, one that fails gets fewer', () => {
  const sefaz = sefazOf()
  expect(conversationsNow(sefaz)).toBe(8)
  respond(sefaz, 200)
  expect(conversationsNow(sefaz)).toBe(8)
  respond(sefaz, 12_000)
  expect(conversationsNow(sefaz)).toBe(24)
  respond(sefaz, 30_000)
  expect(conversationsNow(sefaz)).toBe(32)
  respond(sefaz, null, 3)
  expect(conversationsNow(sefaz)).toBe(8)
})

test('never more than the configured conversations', () => {
  const sefaz = sefazOf(12)
  respond(sefaz, 60_000)
  expect(conversationsNow(sefaz)).toBe(12)
  expect(conversationsNow(sefazOf(4))).toBe(4)
})
