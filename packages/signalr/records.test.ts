import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EncodedMessage, ProtocolError, parseRecord, RecordReader, refuseHandshake } from './records.ts'

const bytes = (value: unknown) => Buffer.from(JSON.stringify(value))

/** `whole` in pieces that end where `cuts` say. */
function cut(whole: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...cuts.map((at) => at % (whole.length + 1)), whole.length].sort((a, b) => a - b)
  return ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end))
}

describe('RecordReader', () => {
  it('gives the same records however the stream is cut', () => {
    const anyValue = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }), fc.constantFrom('ação ✓', '𝛀', '\x1e'))
    fc.assert(
      fc.property(fc.array(anyValue), fc.array(fc.nat()), fc.string(), (values, cuts, rest) => {
        const stream = Buffer.concat([
          ...values.map((value) => new EncodedMessage({ value }).record),
          Buffer.from(rest.replaceAll('\x1e', '')),
        ])
        const reader = new RecordReader(1_000_000)
        const records = cut(stream, cuts).flatMap((piece) =>
          reader.push(piece).map((record) => JSON.parse(`${record}`)),
        )
        expect(records).toEqual(values.map((value) => JSON.parse(JSON.stringify({ value }))))
        expect(reader.tooLarge).toBe(false)
      }),
    )
  })

  it('keeps what a record began with, though the piece it came in is used again', () => {
    const reader = new RecordReader(100)
    const piece = Buffer.from('{"a":')
    reader.push(piece)
    piece.fill(0)
    expect(`${reader.push(Buffer.from('1}\x1e'))[0]}`).toBe('{"a":1}')
  })

  it('finds the same record too large however the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), fc.array(fc.nat()), (lengths, cuts) => {
        const stream = Buffer.from(lengths.map((length) => `${'x'.repeat(length)}\x1e`).join(''))
        const reader = new RecordReader(16)
        const read = cut(stream, cuts).flatMap((piece) => reader.push(piece).map(({ length }) => length))
        const large = lengths.findIndex((length) => length + 1 > 16)
        expect(read).toEqual(large < 0 ? lengths : lengths.slice(0, large))
        expect(reader.tooLarge).toBe(large >= 0)
      }),
    )
  })

  it('counts the separator, and a record without one as too large before it comes', () => {
    const reader = new RecordReader(8)
    expect(reader.push(Buffer.from('1234567\x1e'))).toHaveLength(1)
    reader.push(Buffer.from('1234567'))
    expect(reader.tooLarge).toBe(false)
    reader.push(Buffer.from('8'))
    expect(reader.tooLarge).toBe(true)
  })
})

describe('parseRecord', () => {
  it.each([
    [
      { arguments: [1], target: 'A', type: 1, headers: {}, more: 1 },
      { kind: 'invocation', target: 'A' },
    ],
    [
      { type: 1, target: 'A', arguments: [], invocationId: null },
      { kind: 'invocation', target: 'A' },
    ],
    [
      { type: 1, target: 'A', arguments: [], invocationId: '0', streamIds: ['1'] },
      { kind: 'invocation', id: '0', target: 'A' },
    ],
    [
      { type: 4, target: 'A', arguments: [], invocationId: '0' },
      { kind: 'invocation', id: '0', target: 'A' },
    ],
    [{ type: 2, invocationId: '0', item: 1 }, { kind: 'other' }],
    [{ type: 3, invocationId: '0', result: 1 }, { kind: 'other' }],
    [{ type: 5, invocationId: '0' }, { kind: 'other' }],
    [{ type: 6 }, { kind: 'ping' }],
    [{ type: 7, error: 'x' }, { kind: 'close' }],
    [{ type: 8, sequenceId: 1 }, { kind: 'other' }],
    [{ type: 9, sequenceId: 1 }, { kind: 'other' }],
    [{ type: 99 }, { kind: 'other' }],
  ])('reads %j', (record, read) => {
    expect(parseRecord(bytes(record))).toEqual(read)
  })

  it.each([
    {},
    [],
    null,
    1,
    { type: '1' },
    { type: 1, arguments: [] },
    { type: 1, target: 'A' },
    { type: 1, target: 'A', arguments: {} },
    { type: 1, target: 'A', arguments: [], invocationId: 0 },
    { type: 1, target: 'A', arguments: [], invocationId: '' },
    { type: 4, target: 'A', arguments: [] },
    { type: 2, item: 1 },
    { type: 3, invocationId: 1 },
    { type: 5 },
    { protocol: 'json', version: 1 },
  ])('refuses %j', (record) => {
    expect(() => parseRecord(bytes(record))).toThrow(ProtocolError)
  })

  it('refuses what is no JSON and no UTF-8', () => {
    expect(() => parseRecord(Buffer.from('{"type":6'))).toThrow(ProtocolError)
    expect(() => parseRecord(Buffer.from(''))).toThrow(ProtocolError)
    expect(() => parseRecord(Buffer.from('{"type":6,"x":"\xe9"}', 'latin1'))).toThrow(ProtocolError)
  })
})

describe('refuseHandshake', () => {
  it('takes every version of JSON up to its own', () => {
    expect(refuseHandshake(bytes({ protocol: 'json', version: 0 }))).toBeNull()
    expect(refuseHandshake(bytes({ protocol: 'json', version: 1, more: 1 }))).toBeNull()
    expect(refuseHandshake(bytes({ version: 2, protocol: 'json' }))).toBeNull()
  })

  it.each([
    { protocol: 'messagepack', version: 1 },
    { protocol: 'json', version: -1 },
    { protocol: 'json', version: 0.5 },
    { protocol: 'json', version: 3 },
    { protocol: 'json', version: '0' },
    { protocol: 'json' },
    { version: 1 },
    { type: 6 },
    [],
  ])('refuses %j', (request) => {
    expect(refuseHandshake(bytes(request))).toEqual(expect.any(String))
  })
})
