import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { AlertFacts } from '@vigia/alerts/facts'
import { expect, test } from 'vitest'
import { packFacts, unpackFacts } from './packed.ts'

const facts: AlertFacts = {
  type: 'nfe',
  complete: false,
  chave: '27261198138444000192550015000000311661899499',
  issuedAt: '2026-11-04T13:37:08-03:00',
  issuer: { taxId: '98138444000192', name: 'ROLAMENTOS CRUZEIRO DO SUL LTDA', uf: 'AL' },
  amount: '8279.38',
  tpAmb: '',
  situation: 'authorized',
  part: 'receives',
  references: [],
  events: [],
  company: {
    base: '44555666',
    tpAmb: '1',
    establishments: [{ taxId: '44555666000181', names: ['E'], ies: [], uf: 'SP' }],
    captures: { nfe: true, cte: true },
  },
  marks: [],
}

// Rows are packed with it: another file under this number could not open them.
test('the first dictionary stays as it is, and what was packed with it is opened', async () => {
  const file = await readFile(new URL('./facts-1.zdict', import.meta.url))
  expect(createHash('sha256').update(file).digest('hex')).toBe(
    'bbff7dea8cf817edb2dc8fd5a96c576e4f0d598b4911f034a3bb9e4b6a83c08f',
  )
  const packed =
    'ASi1L/0AACUDAEODCDZwyfWNDqJOJdLHQ3MidTYlN04nJ8+k+u/HfJe2+Krq2RgZ/A/ZinnP75HQBM+Vrxqjgi+rJmRY4UWwnc3dN0E85vyRgQNxUVbbDsLGJipAQ8z+3CC8+r1aQT9oFChJ+Jw='
  expect(unpackFacts(Buffer.from(packed, 'base64'))).toEqual(facts)
})

test('what is broken is refused as data of one document', () => {
  const packed = packFacts(facts)
  expect(unpackFacts(packed)).toEqual(facts)
  for (const broken of [packed.subarray(0, 20), Buffer.concat([Buffer.of(99), packed.subarray(1)]), Buffer.alloc(0)])
    expect(() => unpackFacts(broken)).toThrow(RangeError)
})
