import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { readZip } from '../../../../tests/support/zip.ts'
import { type Entry, safeName, zip } from './archive.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

describe('a ZIP', () => {
  test('holds what it was given, byte for byte', async () => {
    const content = fc.uint8Array({ maxLength: 70_000 })
    const entry = fc.record({ content, stored: fc.boolean(), inPieces: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 20 }), async (drawn) => {
        const entries = drawn.map((one, index) => ({ ...one, name: `ção ${index}/a.xml`, at: new Date() }))
        const files = readZip(
          await buffer(
            zip(async function* () {
              for (const { inPieces, content, ...entry } of entries)
                yield { ...entry, content: inPieces ? pieces(content) : content }
            }),
          ),
        )
        expect([...files].map(([name, content]) => [name, Buffer.from(content)])).toEqual(
          entries.map(({ name, content }) => [name, Buffer.from(content)]),
        )
      }),
      { numRuns: runs(40) },
    )
  })

  async function* pieces(content: Uint8Array) {
    for (let at = 0; at < content.length; at += 10_000) yield content.subarray(at, at + 10_000)
  }

  interface Watched {
    made: number
    ended: boolean
  }
  async function* heavy(watched: Watched, of: number, size = 1_000_000): AsyncGenerator<Entry> {
    try {
      for (; watched.made < of; watched.made++) {
        // Compressed content compresses well, so making it takes no time.
        const content = size > 100_000 ? randomFillSync(Buffer.alloc(size)) : Buffer.alloc(size)
        yield { name: `${watched.made}`, content, at: new Date(), stored: size > 100_000 }
      }
    } finally {
      watched.ended = true
    }
  }

  // A library that keeps every file, or the slab of memory that its name was cut from, would keep more than twice of it.
  test.each([
    ['few large files', 60, 1_000_000],
    ['many small files', 1_500, 16_000],
  ])('of %s is never held', async (_, files, size) => {
    const held = () => {
      collectGarbage()
      return process.memoryUsage().arrayBuffers
    }
    const before = held()
    const watched = { made: 0, ended: false }
    let tenths = 0
    let peak = 0
    for await (const _ of zip(() => heavy(watched, files, size))) {
      if (watched.made < (tenths * files) / 10) continue
      tenths++
      peak = Math.max(peak, held() - before)
    }
    expect(tenths).toBe(11)
    expect(peak).toBeLessThan((files * size) / 2)
  })

  test('is made as far as it is read, and no further when nobody reads on', async () => {
    const watched = { made: 0, ended: false }
    const stream = zip(() => heavy(watched, 400))
    expect(watched.made).toBe(0)
    for await (const _ of stream) break
    expect(watched.made).toBeLessThan(5)
    await expect.poll(() => watched.ended).toBe(true)
    expect(watched.made).toBeLessThan(5)
  })

  test('that nobody reads any more tells so to the entry that is being made', async () => {
    let told: AbortSignal | undefined
    const stream = zip(async function* (abandoned): AsyncGenerator<Entry> {
      told = abandoned
      yield { name: 'a', content: Buffer.from('a'), at: new Date() }
      // As a spreadsheet of a hundred thousand rows.
      await once(abandoned, 'abort')
      abandoned.throwIfAborted()
    })
    stream.once('data', () => setImmediate(() => stream.destroy()))
    await once(stream, 'close')
    expect(told!.aborted).toBe(true)
  })

  test('of which a file cannot be made breaks off', async () => {
    const stream = zip(async function* (): AsyncGenerator<Entry> {
      yield { name: 'a', content: Buffer.from('a'), at: new Date() }
      throw new Error('the database went away')
    })
    await expect(buffer(stream)).rejects.toThrow('the database went away')
  })
})

describe('a name for every system', () => {
  test.each([
    ['PAPELARIA SÃO JOÃO LTDA', 'PAPELARIA SÃO JOÃO LTDA'],
    ['A/B\\C:D*E?F"G<H>I|J', 'A B C D E F G H I J'],
    ['  Sol   & Mar S.A. ', 'Sol & Mar S.A'],
    ['..\\..\\etc', 'etc'],
    ['.oculta', 'oculta'],
    ['CON', '_CON'],
    ['nul.ltda', '_nul.ltda'],
    ['COM1 . X', '_COM1 . X'],
    ['CONTABIL', 'CONTABIL'],
    ['linha\r\nnova\u0000', 'linha nova'],
    ['\u202Egpj.exe', 'gpj.exe'],
    ['Sa\u0303o', 'São'],
    [`${'x'.repeat(59)} .y`, 'x'.repeat(59)],
    ['🚚'.repeat(80), '🚚'.repeat(60)],
    ['\ud83d', ''],
    ['???', ''],
  ])('%j', (text, name) => {
    expect(safeName(text)).toBe(name)
  })

  test('whatever the text is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const name = safeName(text)
        expect(name).not.toMatch(/[<>:"/\\|?*]|\p{C}|^[. ]|[. ]$/u)
        expect(name).not.toMatch(/^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i)
        expect(name.isWellFormed()).toBe(true)
        expect([...name].length).toBeLessThanOrEqual(61)
        expect(safeName(name)).toBe(name)
      }),
      { numRuns: runs(2_000) },
    )
  })
})
