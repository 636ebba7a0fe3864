import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { drainMs, stopTogether } from './stopping.ts'

test('all are stopped at once, and what does not end is left', async () => {
  const told: string[] = []
  const complaints: string[] = []
  const ending = (name: string, ended: Promise<void>) => ({
    [Symbol.asyncDispose]: () => {
      told.push(name)
      return ended
    },
  })
  const complain = (text: string) => void complaints.push(text)
  await stopTogether([ending('a', Promise.resolve()), ending('b', Promise.resolve())], complain)
  expect([told, complaints]).toEqual([['a', 'b'], []])
  await stopTogether([ending('c', new Promise(() => {})), ending('d', Promise.resolve())], complain, 20)
  expect(told).toEqual(['a', 'b', 'c', 'd'])
  expect(complaints).toHaveLength(1)
})

test('what fails to stop is said after the others ended, and also where one of them never does', async () => {
  const failing = { [Symbol.asyncDispose]: () => Promise.reject(new Error('it cannot')) }
  const ended: string[] = []
  const slow = Promise.withResolvers<void>()
  const stopping = stopTogether([failing, { [Symbol.asyncDispose]: () => slow.promise }], () => {}).catch(
    (error: Error) => void ended.push(error.message),
  )
  await new Promise(setImmediate)
  expect(ended).toEqual([])
  slow.resolve()
  await stopping
  expect(ended).toEqual(['it cannot'])

  const hanging = { [Symbol.asyncDispose]: () => new Promise<void>(() => {}) }
  await expect(stopTogether([failing, hanging], () => {}, 20)).rejects.toThrow('it cannot')
})

test('who stops the program waits longer than it takes, and says so where an operator reads it', async () => {
  const read = (file: string) => readFile(new URL(`../${file}`, import.meta.url), 'utf8')
  const seconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(await read('deploy/vigia.service'))?.[1])
  // Besides the drain: the signer (5 s), and a checkpoint of the database.
  expect(seconds).toBeGreaterThanOrEqual(drainMs / 1000 + 5 + 60)
  const page = await read('docs/run/operations.md')
  expect(page).toContain(`${drainMs / 1000} s`)
  expect(page).toContain(`--stop-timeout ${seconds}`)
  expect(await read('compose.yaml')).toContain(`stop_grace_period: ${seconds}s`)
})
