import { expect, test } from 'vitest'
import { createLogger } from '../platform/log.ts'
import { prove } from './prover.ts'
import { arrive, nfeProc, resNFe } from './testing.ts'

const log = createLogger('silent')
const proofs = async (...given: Parameters<typeof prove>) => (await prove(...given)).map(({ proof }) => proof ?? null)

test('complete documents are verified, in their order; summaries are not', async () => {
  const notes = Array.from({ length: 60 }, (_, index) => arrive(index + 2, nfeProc({ number: index + 1 })))
  const all = [arrive(1, resNFe()), ...notes]
  const proved = await prove({ log }, all)
  expect(proved.map(({ nsu }) => nsu)).toEqual(all.map(({ nsu }) => nsu))
  expect(proved.map(({ proof }) => proof ?? null)).toEqual([null, ...notes.map(() => 'unsigned')])
})

test('a document that brings its thread down, or whose time is over, is stored unverified, and the next ones are verified', async () => {
  const note = arrive(1, nfeProc())
  const broken = { ...note, content: Buffer.from('no gzip stream, but facts') }
  expect(await proofs({ log }, [note, broken])).toEqual([null, null])
  expect(await proofs({ log }, [note], { withinMs: 0 })).toEqual([null])
  expect(await proofs({ log }, [note])).toEqual(['unsigned'])
})
