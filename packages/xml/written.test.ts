import { createHash, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '../../tests/support/seed.ts'
import { canonicalize, dsigNamespace } from './canonicalize.ts'
import { testCertificate } from './certificate.testing.ts'
import { decodeXml, parseXml } from './parse.ts'
import { bytesOf, samples } from './samples.testing.ts'
import { signEnveloped } from './sign.ts'
import { pathsTo, scopeAlone } from './signature.ts'
import { verifySignature } from './verify.ts'
import { findWritten, verifyWritten } from './written.ts'

const { key, certificate } = testCertificate('EMITENTE LTDA:11222333000181')
const { certificate: other } = testCertificate('OUTRA EMPRESA LTDA:44555666000181')
const certificateText = certificate.raw.toString('base64')

/** What the whole canonicalizer hashes; throws what the parser throws. */
function octetsOf(xml: Uint8Array): string {
  const root = parseXml(xml)
  const [path] = pathsTo(root, ({ name }) => name === 'Signature')
  const around = path!.slice(0, -1)
  const id = pathsTo(path!.at(-1)!, ({ name }) => name === 'Reference')[0]!
    .at(-1)!
    .attributes.URI!.slice(1)
  const signed = around.at(-1)!.children.find(({ attributes }) => attributes.Id === id)!
  return canonicalize(signed, { namespaces: scopeAlone(around, [around.at(-1)!, signed, path!.at(-1)!]) })
}

const inside = '<a>São Paulo &amp; filhos</a><b n="1"><c/><d>1 &lt; 2</d></b>'
// Long enough to be in no certificate by chance.
const whole = signEnveloped(
  `<p xmlns="u" v="4"><N xmlns="u"><inf v="4" Id="Signed12345">${inside}</inf></N></p>`,
  'Signed12345',
  key,
  certificate,
)
const bytes = (xml: string) => Buffer.from(xml)

describe('findWritten', () => {
  test('gives what the canonicalizer gives, of nearly all samples', () => {
    const found = samples.flatMap((sample) => {
      const xml = bytesOf(sample)
      const written = findWritten(xml)
      return written ? [[Buffer.from(written.octets).toString(), octetsOf(xml)]] : []
    })
    for (const [written, canonical] of found) expect(written).toBe(canonical)
    if (samples.length > 0) expect(found.length).toBeGreaterThan(50)
  })

  test('gives what the canonicalizer gives, or nothing, whatever is put into a document', () => {
    const pieces = [
      ...[
        '<x/>',
        '<x></x>',
        '<x >',
        '</x >',
        '<x y="1">',
        '<x y="1"/>',
        "<x y='1'>",
        '<x z="1" y="2">',
        '<x xmlns="v">',
      ],
      ...[
        '<x xmlns="u">',
        '<q:x>',
        '<x q:y="1">',
        '<x y="&lt;">',
        '<x y=">">',
        '<x y="\t">',
        '<!-- -->',
        '<?i?>',
        '<![CDATA[x]]>',
      ],
      ...[
        '&amp;',
        '&lt;',
        '&gt;',
        '&quot;',
        '&#65;',
        '&#xD;',
        '\r',
        '\r\n',
        '\n',
        '\t',
        '>',
        ' ',
        'é',
        '\u{1F600}',
        '&',
        '"',
        "'",
      ],
      ...[
        ' Id="Signed12345"',
        "<x Id='Signed12345'>",
        '<x Id="Signed12345">',
        '<x Id="&#83;igned12345">',
        ' xmlns:q="w"',
        ' xmlns="w"',
        ' y="1"',
        '</inf>',
        '</x>',
      ],
    ]
    const edit = fc.record({ at: fc.nat(), piece: fc.constantFrom(...pieces), cut: fc.nat(3) })
    let taken = 0
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let xml = whole
        for (const { at, piece, cut } of edits) {
          // Most of a signature is base64, where little may change.
          const place = at % (xml.indexOf('<SignatureValue>') + 40)
          xml = xml.slice(0, place) + piece + xml.slice(place + cut)
        }
        let canonical: string
        try {
          canonical = octetsOf(bytes(xml))
        } catch {
          // Of what is not well formed, or has no signature of an element beside it, nothing is promised.
          return
        }
        const written = findWritten(bytes(xml))
        if (written === null) return
        taken++
        expect(Buffer.from(written.octets).toString()).toBe(canonical)
      }),
      { numRuns: runs(2_000) },
    )
    expect(taken).toBeGreaterThan(0)
  })

  test('takes references, empty elements, other characters and its own order of attributes', () => {
    const written = findWritten(bytes(whole))
    expect(Buffer.from(written!.octets).toString()).toBe(
      `<inf xmlns="u" Id="Signed12345" v="4">${inside.replace('<c/>', '<c></c>')}</inf>`,
    )
    expect(written).toMatchObject({ around: ['p', 'N'], name: 'inf', id: 'Signed12345' })
  })
})

// The digest of the bytes as they stand, whatever a reader makes of them: so may a hostile issuer sign.
function signAsWritten(content: string): string {
  const digest = createHash('sha1').update(`<inf xmlns="u" Id="Signed12345" v="4">${content}</inf>`).digest('base64')
  const unsigned = whole.replace(inside, () => content).replace(/<DigestValue>[^<]*/, `<DigestValue>${digest}`)
  const info = parseXml(/<SignedInfo.*<\/SignedInfo>/.exec(unsigned)![0])
  const octets = canonicalize(info, { namespaces: { '': dsigNamespace } })
  const value = sign('RSA-SHA1', Buffer.from(octets), key).toString('base64')
  return unsigned.replace(/<SignatureValue>[^<]*/, `<SignatureValue>${value}`)
}

describe('verifyWritten', () => {
  test('verifies what is signed, and nothing else', () => {
    for (const xml of [whole, signAsWritten('<a>1</a>')]) {
      expect(verifyWritten(bytes(xml))).toMatchObject({ id: 'Signed12345' })
      expect(verifySignature(xml)).toMatchObject({ valid: true, id: 'Signed12345' })
    }
    const altered = [/S(?=ão)/, /(?<=<DigestValue>)./, /(?<=<SignatureValue>)./, /(?<=<X509Certificate>)./]
    const another = (letter: string) => (letter === 'A' ? 'B' : 'A')
    for (const from of altered) expect(verifyWritten(bytes(whole.replace(from, another)))).toBeNull()
    expect(verifyWritten(bytes(whole.replace(certificateText, other.raw.toString('base64'))))).toBeNull()
  })

  test.each([
    ['a reference that reads as another text', '<a>&#65;</a>'],
    ['a reference that canonical text does not write', '<a>&quot;</a>'],
    ['a comment with tags', '<a>1</a><!--<a>2</a>-->'],
    ['a section with tags', '<a>1</a><![CDATA[<a>2</a>]]>'],
    ['an instruction with tags', '<a>1</a><?i  <a>2</a>?>'],
    ['a space in an end tag', '<a>1</a >'],
    ['other quotes', "<a b='1'></a>"],
    ['attributes in another order', '<a c="1" b="2"></a>'],
    ['an attribute value with a tab', '<a b="\t"></a>'],
    ['a namespace declared again', '<a xmlns="u">1</a>'],
    ['a carriage return', '<a>1\r\n</a>'],
    ['a > in text', '<a>></a>'],
  ])('does not take a digest over the bytes of %s', (_, content) => {
    const xml = signAsWritten(content)
    expect(verifySignature(xml)).toMatchObject({ valid: false, reason: 'digest' })
    expect(verifyWritten(bytes(xml))).toBeNull()
  })

  test.each<[string, string | RegExp, string]>([
    ['another element of the same Id before', '<N ', '<x Id="Signed12345"></x><N '],
    ['around', '<p ', '<p Id="Signed12345" '],
    ['beside', '<Signature', '<x Id="Signed12345"></x><Signature'],
    ['in other quotes', '</N></p>', "</N><x Id='Signed12345'></x></p>"],
    ['written with a reference', '</N></p>', '</N><x Id="&#83;igned12345"></x></p>'],
    ['inside', '<b n="1">', '<b Id="Signed12345">'],
    ['an element before the signed one', '<inf ', '<x></x><inf '],
    ['a deep element beside the signed one', '<Signature', '<x><y><inf></inf></y></x><Signature'],
    ['a signature elsewhere', '<Signature', '</N><N xmlns="u"><Signature'],
    ['a DOCTYPE', '<p ', '<!DOCTYPE p [<!ENTITY a "b">]><p '],
    ['a comment after it', /$/, '<!-- -->'],
    ['an instruction before it', '<p ', '<?i?><p '],
    ['a prefix in scope', '<N xmlns="u"', '<N xmlns="u" xmlns:q="v"'],
    ['a namespace in the value of another attribute', '<N xmlns="u">', `<N x=' xmlns="u"'>`],
    ['another encoding', '<p ', '<?xml version="1.0" encoding="ISO-8859-1"?><p '],
  ])('says nothing about a document with %s', (_, from, to) => {
    const xml = whole.replace(from, to)
    expect(xml).not.toBe(whole)
    expect(verifyWritten(bytes(xml))).toBeNull()
  })

  test('says nothing about bytes that are not UTF-8', () => {
    expect(verifyWritten(Buffer.from(whole, 'latin1'))).toBeNull()
  })

  test('takes a declaration, a byte order mark, one flat element beside, and a declaration made further out', () => {
    const beside = '<s><q><![CDATA[https://a?b&c]]></q><u>1</u></s>'
    const ways = [
      `\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n${whole}`,
      whole.replace('<Signature', `${beside}<Signature`),
      whole.replace('<N xmlns="u"', '<N'),
      whole.replace('<p xmlns="u"', '<p xmlns="other" xmlns:q="w"'),
    ]
    for (const xml of ways) {
      expect(verifyWritten(bytes(xml))).toMatchObject({ id: 'Signed12345' })
      expect(verifySignature(decodeXml(bytes(xml)))).toMatchObject({ valid: true })
    }
  })
})
