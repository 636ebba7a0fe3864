import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { keepChild } from './children.ts'

test('a child that cannot be started is tried again', async () => {
  let times = 0
  const kept = keepChild(
    'O filho',
    () => {
      times++
      if (times === 2) throw new Error('spawn ENOMEM')
      return times === 3 ? spawn('/nowhere/node') : spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    },
    async () => {
      if (times < 4) throw new Error('it ended')
    },
  )
  await kept.begun
  await kept.stop(() => {}, 0)
  expect(times).toBe(4)
})
