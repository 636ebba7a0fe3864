import { expect, test } from 'vitest'
import { createLogger } from '../../platform/log.ts'
import { type Arrival, readPage } from '../arrival.ts'
import { arrive, nfeProc, resNFe } from '../testing.ts'
import { prove } from './prover.ts'

const log = createLogger('silent')
const proofs = (...given: Parameters<typeof prove>) =>
  Promise.all(prove(...given).map(async ({ proof }) => (await proof) ?? null))

test('complete documents are verified, in their order; summaries are not', async () => {
  const notes = Array.from({ length: 60 }, (_, index) => arrive(index + 2, nfeProc({ number: index + 1 })))
  const all = [arrive(1, resNFe()), ...notes]
  expect(prove({ log }, all).map(({ nsu }) => nsu)).toEqual(all.map(({ nsu }) => nsu))
  expect(await proofs({ log }, all)).toEqual([null, ...notes.map(() => 'unsigned')])
})

test('a page that was opened at once is verified as it was opened, and its XML is not kept', async () => {
  const opened = await readPage([arrive(1, resNFe()), arrive(2, nfeProc()), arrive(3, nfeProc({ number: 2 }))])
  expect(opened.every(({ xml }) => xml)).toBe(true)
  // What is sent to the thread is the XML: the streams are not opened again.
  const streamless = opened.map((arrival): Arrival => ({ ...arrival, content: Buffer.from('no gzip stream') }))
  expect(await proofs({ log }, streamless)).toEqual([null, 'unsigned', 'unsigned'])
  expect(prove({ log }, opened).some((arrival) => 'xml' in arrival)).toBe(false)
})

test('a document that brings its thread down, or whose time is over, is stored unverified, and the next ones are verified', async () => {
  const note = arrive(1, nfeProc())
  const broken = { ...note, content: Buffer.from('no gzip stream, but facts') }
  expect(await proofs({ log }, [note, broken])).toEqual([null, null])
  expect(await proofs({ log }, [note], { withinMs: 0 })).toEqual([null])
  expect(await proofs({ log }, [note])).toEqual(['unsigned'])
})
