import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { awaitEnd, hasEnded, keepChild } from './kept-child.ts'

test('a child that cannot be started is tried again', async () => {
  const { promise: again, resolve } = Promise.withResolvers<void>()
  const first = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
  let times = 0
  const kept = keepChild('O filho', first, (started) => {
    times++
    if (times > 1) {
      resolve()
      return new Promise(() => {})
    }
    started(spawn('/nowhere/node'))
    // As where memory is missing.
    throw new Error('spawn ENOMEM')
  })
  await again
  kept.leave()
  expect(hasEnded(first)).toBe(true)
  await awaitEnd(kept.current(), 0)
})
