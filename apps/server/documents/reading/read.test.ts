import { gzipSync } from 'node:zlib'
import { families } from '@vigia/dfe/families/all'
import type { Family } from '@vigia/dfe/families/family'
import { nfe } from '@vigia/dfe/families/nfe'
import type { DocumentFacts } from '@vigia/dfe/read'
import { expect, onTestFinished, test } from 'vitest'
import { arrive, chaveOf, nfeProc } from '../testing.ts'
import { readArrival } from './read.ts'

test('a wrong check digit of the chave is told, and the document is read', () => {
  const chave = chaveOf()
  const wrong = `${chave.slice(0, 43)}${(Number(chave[43]) + 1) % 10}`
  const arrival = arrive(1, nfeProc().replaceAll(chave, wrong))
  expect(arrival.facts?.chave).toBe(wrong)
  expect(arrival.problem).toContain('O dígito verificador da chave de acesso não confere.')
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
  const content = gzipSync('<evento xmlns="urn:made-up"/>')
  expect(readArrival({ nsu: 1n, schema: 'x', content })).toMatchObject({
    facts: { type: id, chave },
    problem: null,
    proof: null,
  })
})
