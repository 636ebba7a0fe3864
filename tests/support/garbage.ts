import fc from 'fast-check'

const huge = 'x'.repeat(300_000)
/** Texts that somebody somewhere did not expect. */
export const awkward = [
  ...[
    '',
    ' ',
    '\0',
    'a\0b',
    '\ud800',
    'x\udfff',
    '\u202e',
    '\u2028',
    '𝕏'.repeat(50),
    'İß',
    '٣',
    '%',
    '_',
    '\\',
    '$1',
    '%00',
  ],
  ...["'", "' or 1=1 --", '"; drop table x', '../../etc/passwd', '<script>', '{{7*7}}', '\r\nSet-Cookie: a=b'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'null',
    'undefined',
    'NaN',
    'Infinity',
    'true',
    '[]',
    '{}',
    '[object Object]',
  ],
  ...['-1', '-0', '0x10', '1e400', '1e3', '1.5', '2147483648', '9007199254740993', '99999999999999999999', '١٢'],
  ...[
    '0001-01-01T00:00:00',
    '1900-01-01T00:00:00',
    '2999-12-31T23:59:59',
    '2026-02-29T00:00:00',
    '275760-09-13T00:00:01',
  ],
  ...['0'.repeat(44), '1'.repeat(25), 'A'.repeat(22), '00000000-0000-0000-0000-000000000000', 'x'.repeat(500), huge],
]

/** Text of every kind, ids that exist among it. */
export const anyText = (ids: () => string[]) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...awkward) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 300 }) },
    { weight: 2, arbitrary: fc.nat(400).map((n) => ids()[n % ids().length] ?? '') },
  )

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`)
/** JSON of every kind, with `text` in it. */
export const anyValue = (text: fc.Arbitrary<string>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 5, arbitrary: text },
    { weight: 1, arbitrary: fc.array(text, { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.oneof(fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.maxSafeInteger()) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 4 }) },
    { weight: 1, arbitrary: fc.nat(1_500).map(nested) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        JSON.parse('{"__proto__":{"senha":"segredo1"}}') as unknown,
        { constructor: { prototype: { admin: true } } },
        { length: 1e9 },
        Array.from({ length: 400 }, () => 'x'),
      ),
    },
  )

/** `text` in an address, also where no encoder would write it: half characters stay half. */
export const encoded = (text: string) => {
  try {
    return encodeURIComponent(text)
  } catch {
    return `${Buffer.from(text, 'utf16le').toString('hex').replace(/../g, '%$&')}`
  }
}

export const boundary = 'fronteira'
/** A form with `file` for each certificate, cut off at `end` of its length. */
export function multipart(form: Record<string, unknown>, { file, end }: { file: Buffer; end: number }): Buffer {
  const parts = Object.entries(form).map(([name, value]) => {
    const isFile = /certificado$/i.test(name)
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${isFile ? '; filename="a.pfx"' : ''}\r\n\r\n`
    return Buffer.concat([Buffer.from(head), isFile ? file : Buffer.from(String(value)), Buffer.from('\r\n')])
  })
  const whole = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
  return end === 1 ? whole : whole.subarray(0, Math.trunc(whole.length * end))
}

const mediaTypes = [
  ...['application/json', 'application/json; charset=utf-16', 'text/plain', 'application/x-www-form-urlencoded', ''],
  ...[
    'multipart/form-data',
    `multipart/form-data; boundary=${boundary}`,
    'application/xml',
    'x',
    'application/json\t;;',
  ],
]

/** One body in seven is cut off, mislabelled or no object at all. */
export const tampered = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ type: null, cut: 1, end: 1, whole: null }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.option(fc.constantFrom(...mediaTypes)),
      cut: fc.double({ min: 0, max: 1, noNaN: true }),
      end: fc.double({ min: 0, max: 1, noNaN: true }),
      whole: fc.option(
        fc.constantFrom('['.repeat(100_000), '{"email":'.repeat(20_000), `"${huge}"`, 'null', '1', '"x"', '[]'),
      ),
    }),
  },
)

/** Instead of a certificate. */
export const anyFile = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
  fc.constant(Buffer.from('3082010a', 'hex')),
  fc.constant(Buffer.alloc(200_000, 1)),
)
