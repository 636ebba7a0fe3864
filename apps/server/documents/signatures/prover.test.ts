import { families } from '@vigia/dfe/families/all'
import type { Family } from '@vigia/dfe/families/family'
import { nfe } from '@vigia/dfe/families/nfe'
import type { DocumentFacts } from '@vigia/dfe/read'
import { expect, onTestFinished, test } from 'vitest'
import { createLogger } from '../../platform/log.ts'
import { type Arrival, readPage } from '../arrival.ts'
import { arrive, chaveOf, nfeProc, resNFe } from '../testing.ts'
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
  // The thread gets the XML: the streams are not opened again.
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

test('a document of a family with other chaves is read, and not verified where the family says so', () => {
  const id = 'made-up' as typeof nfe.id
  const chave = 'A'.repeat(50)
  const madeUp: Family = {
    ...nfe,
    id,
    namespace: 'urn:made-up',
    roots: { evento: 'document' },
    key: { ...nfe.key, parse: (text) => (text === chave ? { ...nfe.key.parse(chaveOf())!, family: id, text } : null) },
    read: () => ({ ...(arrive(1, nfeProc()).facts as DocumentFacts), type: id, chave }),
    signed: null,
  }
  const all = families as Family[]
  all.push(madeUp)
  onTestFinished(() => void all.pop())
  const arrival = arrive(1, '<evento xmlns="urn:made-up"/>')
  expect(arrival).toMatchObject({ facts: { type: id, chave }, problem: null })
  expect(prove({ log }, [arrival])[0]!.proof).toBeUndefined()
})
