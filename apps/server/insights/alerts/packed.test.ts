import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { AlertFacts } from '@vigia/checks/alerts/facts'
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

// Rows are packed with them: another file under one of these numbers could not open them.
test.each([
  [
    2,
    '3f5b02b73ba23581e0b1a6c529b10f2953be9d4e2bc5d8110b293cbf377899f9',
    'Aii1L/0AAB0DANPCBiCRUp7rG129bFBEblKrpZz++zHfpS2+quc1Bhr8PCxF6gqSU1EqskmAwauBb0udhRArgOB+T74k9Y+4FTmP26RDCPATCN3nc8kilxzwiy9tIR2z1f659UiPHCOhfymOAQ==',
  ],
])('dictionary %i stays as it is, and what was packed with it is opened', async (number, hash, packed) => {
  const file = await readFile(new URL(`./facts-${number}.zdict`, import.meta.url))
  expect(createHash('sha256').update(file).digest('hex')).toBe(hash)
  expect(unpackFacts(Buffer.from(packed, 'base64'))).toEqual(facts)
})

test('every value comes back as it was', () => {
  const odd = {
    ...facts,
    natOp: 'VENDA\n"DE": \\"0\\\\\u0001\u0002,[1]\ud800é',
    amount: '',
    proof: 'null',
    nfe: { sums: { vProd: 1e21, 6102: -0.1 }, items: ['', '1', '[]'], dup: [{}], inside: undefined, plate: null },
    cte: {},
  } as unknown as AlertFacts
  expect(unpackFacts(packFacts(odd))).toEqual(JSON.parse(JSON.stringify(odd)))
})

test('what is broken is refused as data of one document', () => {
  const packed = packFacts(facts)
  expect(unpackFacts(packed)).toEqual(facts)
  for (const broken of [packed.subarray(0, 20), Buffer.concat([Buffer.of(99), packed.subarray(1)]), Buffer.alloc(0)])
    expect(() => unpackFacts(broken)).toThrow(RangeError)
})
