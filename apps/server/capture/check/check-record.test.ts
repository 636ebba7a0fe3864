import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readConfig } from '../../config.ts'
import { ours, rhythm } from '../testing.ts'
import { noteCheck, noteCheckBlocked } from './check-record.ts'

let directory: string
let ctx: Parameters<typeof noteCheck>[0]

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'vigia-checks-'))
  const config = readConfig({ DATA_DIR: directory }, directory)
  ctx = { config: { ...config, sefaz: { ...config.sefaz, ...rhythm } } }
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(async () => {
  vi.useRealTimers()
  await rm(directory, { recursive: true, force: true })
})

const pass = (ms: number) => vi.setSystemTime(Date.now() + ms)

test('a CNPJ that is not registered is asked about eighteen times an hour, each service for itself', async () => {
  const first = Date.now()
  for (let time = 0; time < 18; time++) {
    expect(await noteCheck(ctx, 'nfe', ours)).toBeNull()
    pass(60_000)
  }
  const refusal = await noteCheck(ctx, 'nfe', ours)
  expect(refusal).toEqual({ at: new Date(first + rhythm.hourMs + rhythm.marginMs / 5), blocked: false })
  expect(await noteCheck(ctx, 'cte', ours)).toBeNull()
  pass(refusal!.at.getTime() - Date.now())
  expect(await noteCheck(ctx, 'nfe', ours)).toBeNull()
  expect(await noteCheck(ctx, 'nfe', ours)).toMatchObject({ blocked: false })
})

test('and never in the hour after a block', async () => {
  expect(await noteCheck(ctx, 'nfe', ours)).toBeNull()
  await noteCheckBlocked(ctx, 'nfe', ours)
  pass(rhythm.hourMs)
  expect(await noteCheck(ctx, 'nfe', ours)).toMatchObject({ blocked: true })
  pass(rhythm.marginMs)
  expect(await noteCheck(ctx, 'nfe', ours)).toBeNull()
})
