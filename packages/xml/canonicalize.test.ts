import fc from 'fast-check'
import { XmlDocument } from 'libxml2-wasm'
import { describe, expect, test } from 'vitest'
import { runs } from '../../tests/support/seed.ts'
import { canonicalize } from './canonicalize.ts'
import { decodeXml, parseXml, type XmlElement } from './parse.ts'
import { bytesOf, samples } from './samples.testing.ts'
import { pathsTo, scopeInPlace } from './signature.ts'
import { escapeAttribute, escapeText } from './write.ts'

describe('canonicalize', () => {
  test.each([
    ['empty elements get an end tag', '<a><b/><c></c></a>', '<a><b></b><c></c></a>'],
    ['white space between tags stays', '<a>\n  <b/>\r\n</a>', '<a>\n  <b></b>\n</a>'],
    ['comments go, instructions stay', '<a>1<!-- x -->2<?p  q ?><?p?></a>', '<a>12<?p q ?><?p?></a>'],
    ['CDATA becomes text', '<a><![CDATA[<&>"]]></a>', '<a>&lt;&amp;&gt;"</a>'],
    ['references become characters', '<a>&#233;&quot;&apos;&#xD;</a>', '<a>é"\'&#xD;</a>'],
    [
      'values get double quotes and their own escapes',
      "<a b='&lt;\"&gt;&amp;&#9;&#10;&#13; '/>",
      '<a b="&lt;&quot;>&amp;&#x9;&#xA;&#xD; "></a>',
    ],
    [
      'declarations come first, attributes by namespace then name',
      '<a d="1" p:d="2" q:c="3" xmlns:q="a" xmlns:p="b" xmlns="z" c="4" xml:lang="pt"/>',
      '<a xmlns="z" xmlns:p="b" xmlns:q="a" c="4" d="1" q:c="3" p:d="2" xml:lang="pt"></a>',
    ],
    [
      'a repeated declaration is written once',
      '<a xmlns="u" xmlns:p="v"><b xmlns="u" xmlns:p="v"><p:c xmlns:p="w"/></b></a>',
      '<a xmlns="u" xmlns:p="v"><b><p:c xmlns:p="w"></p:c></b></a>',
    ],
    [
      'xmlns="" is written only where it undoes another',
      '<a xmlns=""><b xmlns="u"><c xmlns=""><d xmlns=""/></c></b></a>',
      '<a><b xmlns="u"><c xmlns=""><d></d></c></b></a>',
    ],
  ])('%s', (_, source, canonical) => {
    expect(canonicalize(parseXml(source))).toBe(canonical)
  })

  test('writes what the ancestors declare into the first start tag, and there alone', () => {
    const element = parseXml('<p:a xmlns:q="2"><b xmlns=""/><c xmlns:p="1"/></p:a>')
    const namespaces = { '': 'd', p: '1', q: 'other' }
    expect(canonicalize(element, namespaces)).toBe(
      '<p:a xmlns="d" xmlns:p="1" xmlns:q="2"><b xmlns=""></b><c></c></p:a>',
    )
  })
})

describe('agrees with libxml2', () => {
  const wellFormed = samples.filter((sample) => !sample.malformado)

  test.runIf(samples.length > 0).each(wellFormed)('on $file', (sample) => {
    const source = decodeXml(bytesOf(sample))
    expect(canonicalize(parseXml(source))).toBe(withLibxml2(source))
  })

  test('on random documents and each of their elements', () => {
    fc.assert(
      fc.property(tree, ({ source: inner }) => {
        const source = `<r xmlns="urn:u0" xmlns:p="urn:u1" xmlns:q="urn:u2">${inner}</r>`
        const root = parseXml(source)
        expect(canonicalize(root)).toBe(withLibxml2(source))
        for (const path of pathsTo(root, () => true)) {
          const element = path.at(-1)!
          const namespaces = scopeInPlace(path.slice(0, -1))
          expect(canonicalize(element, namespaces)).toBe(withLibxml2(standalone(source, element, namespaces)))
        }
      }),
      { numRuns: runs(150) },
    )
  })
})

function withLibxml2(source: string): string {
  const document = XmlDocument.fromString(source)
  try {
    return document.root.canonicalizeToString()
  } finally {
    document.dispose()
  }
}

// The element as a document of its own, with the inherited declarations written into its start tag.
function standalone(source: string, element: XmlElement, namespaces: Record<string, string>): string {
  const name = element.prefix === '' ? element.name : `${element.prefix}:${element.name}`
  const declared = Object.entries(namespaces)
    .map(([prefix, uri]) => [prefix === '' ? 'xmlns' : `xmlns:${prefix}`, uri] as const)
    .filter(([attribute]) => !(attribute in element.attributes))
    .map(([attribute, uri]) => ` ${attribute}="${escapeAttribute(uri)}"`)
  const after = element.start + 1 + name.length
  return `<${name}${declared.join('')}${source.slice(after, element.end)}`
}

const characters = fc.string({ unit: fc.constantFrom(...'aZ09 é€😀<>&"\'\n\t\r'), maxLength: 12 })
const uri = fc.constantFrom('urn:u0', 'urn:u1', 'urn:u2', 'http://x.test/y')
const prefixed = fc.constantFrom('', 'p:', 'q:')

const { tree } = fc.letrec<{ tree: { source: string } }>((tie) => ({
  tree: fc
    .record({
      prefix: prefixed,
      name: fc.constantFrom('a', 'b', 'Signature'),
      defaultUri: fc.option(fc.oneof(uri, fc.constant(''))),
      p: fc.option(uri),
      attributes: fc.uniqueArray(
        fc.record({ prefix: prefixed, name: fc.constantFrom(...'vwxyz'), value: characters }),
        {
          selector: ({ name }) => name,
          maxLength: 3,
        },
      ),
      content: fc.array(
        fc.oneof(
          { depthSize: 'small' },
          characters.map((text) => escapeText(text)),
          fc.constantFrom('<![CDATA[<x>&]]>', '<!-- c -->', '<?p  q?>', '&#xD;', ' ', '\n'),
          tie('tree').map(({ source }) => source),
        ),
        { maxLength: 5 },
      ),
    })
    .map(({ prefix, name, defaultUri, p, attributes, content }) => {
      const list = attributes.map((a) => ` ${a.prefix}${a.name}="${escapeAttribute(a.value)}"`)
      if (defaultUri !== null) list.push(` xmlns="${escapeAttribute(defaultUri)}"`)
      if (p !== null) list.unshift(` xmlns:p="${escapeAttribute(p)}"`)
      return { source: `<${prefix}${name}${list.join('')}>${content.join('')}</${prefix}${name}>` }
    }),
}))
