import { randomBytes } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../tests/support/seed.ts'
import { type Arrival, type ReceivedDocZip, readArrival, readPage } from './arrival.ts'
import { packXml } from './received/bytes.ts'
import { chaveOf, cteProc, evento, nfeProc, resNFe } from './testing.ts'

const sound = [resNFe(), nfeProc(), evento(110111), cteProc(), '<desconhecido/>', ''].map((xml) => gzipSync(xml))
const whole = sound[1]!
const withSize = (size: number) => {
  const content = Buffer.from(whole)
  content.writeUInt32LE(size, content.length - 4)
  return content
}
const damaged = [
  Buffer.alloc(0),
  randomBytes(40),
  whole.subarray(0, whole.length - 9),
  Buffer.concat([whole, Buffer.alloc(8)]),
  Buffer.concat([whole, Buffer.from('not part of the stream')]),
  Buffer.concat([sound[0]!, whole]),
  withSize(0),
  withSize(3),
  withSize(0xffff_ffff),
  gzipSync(Buffer.alloc(5_000_000, 'x')),
]

test('a page is read as its documents are read alone, whatever is wrong with some', async () => {
  const contents = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...sound) }, fc.constantFrom(...damaged))
  await fc.assert(
    fc.asyncProperty(fc.array(contents, { maxLength: 8 }), async (contents) => {
      const page = contents.map(
        (content, index): ReceivedDocZip => ({ nsu: BigInt(index), schema: 'x_v1.00.xsd', content }),
      )
      const alone = page.map(({ nsu, schema, content }) => readArrival(nsu, schema, content))
      const read = await readPage(page)
      expect(read.map(({ xml: _, ...arrival }) => arrival)).toEqual(alone)
      for (const { xml, content } of read) if (xml) expect(xml.equals(gunzipSync(content))).toBe(true)
    }),
    { numRuns: runs(300) },
  )
})

test('a wrong check digit of the chave is told, and the document is read', () => {
  const chave = chaveOf()
  const wrong = `${chave.slice(0, 43)}${(Number(chave[43]) + 1) % 10}`
  const arrival = readArrival(1n, 'procNFe_v4.00.xsd', gzipSync(nfeProc().replaceAll(chave, wrong)))
  expect(arrival.facts?.chave).toBe(wrong)
  expect(arrival.problem).toContain('O dígito verificador da chave de acesso não confere.')
})

test('two of them in every combination', async () => {
  const all = [...sound, ...damaged]
  const outcome = ({ facts, problem }: Arrival) => ({ facts, problem })
  const alone = new Map(all.map((content) => [content, outcome(readArrival(0n, 'x_v1.00.xsd', content))]))
  for (const first of all) {
    for (const second of all) {
      const page = [first, second].map(
        (content, index): ReceivedDocZip => ({ nsu: BigInt(index), schema: 'x_v1.00.xsd', content }),
      )
      expect((await readPage(page)).map(outcome)).toEqual([alone.get(first), alone.get(second)])
    }
  }
})

test.each([
  // Random text: a stream as long as that of a note with hundreds of items.
  ['large', () => gzipSync(`<a>${randomBytes(100_000).toString('hex')}</a>`)],
  ['packed', () => packXml(Buffer.from(`<a>${'<b>x</b>'.repeat(25_000)}</a>`))!.content],
])('a page of %s documents lets other work in between', async (_, make) => {
  const content = make()
  const page = Array.from({ length: 10 }, (_, index) => ({ nsu: BigInt(index), schema: 'x', content }))
  let turns = 0
  const other = () => {
    turns++
    waiting = setImmediate(other)
  }
  let waiting = setImmediate(other)
  await readPage(page)
  clearImmediate(waiting)
  expect(turns).toBeGreaterThan(5)
})

test('a page without anything wrong is read whole', async () => {
  const page = sound.map((content, index): ReceivedDocZip => ({ nsu: BigInt(index), schema: 'x_v1.00.xsd', content }))
  expect((await readPage(page)).map(({ facts }) => facts?.root)).toEqual([
    'resNFe',
    'nfeProc',
    'procEventoNFe',
    'cteProc',
    undefined,
    undefined,
  ])
})
