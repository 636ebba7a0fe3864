import fc from 'fast-check'
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import { runs } from '../../tests/support/seed.ts'
import { decodeXml, parseReceived, parseXml, type XmlElement, XmlError } from './parse.ts'
import { bytesOf, samples } from './samples.testing.ts'
import { escapeAttribute, escapeText } from './write.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const latin1 = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0))

describe('parseXml reads', () => {
  test('names, prefixes, attributes, text and offsets', () => {
    const source = `<n:a xmlns:n="u" x='1 "é"'>t<b/><c y = "2" >in &amp; &#231;&#x41;</c >u</n:a\n>`
    const root = parseXml(source)
    expect(root).toMatchObject({ name: 'a', prefix: 'n', text: 'tu', start: 0, end: source.length })
    expect({ ...root.attributes }).toEqual({ 'xmlns:n': 'u', x: '1 "é"' })
    expect(root.children.map(({ name, text }) => [name, text])).toEqual([
      ['b', ''],
      ['c', 'in & çA'],
    ])
    const [b, c] = root.children
    expect(source.slice(b!.start, b!.end)).toBe('<b/>')
    expect(source.slice(c!.start, c!.end)).toBe('<c y = "2" >in &amp; &#231;&#x41;</c >')
    expect(root.content).toEqual(['t', b, c, 'u'])
  })

  test('CDATA as text, comments and processing instructions as nothing', () => {
    const root = parseXml('<!-- a --><?p q?><a>1<!-- & < -->2<![CDATA[<&]]]]>3<?p q r?></a>\n<!-- z -->')
    expect(root.text).toBe('12<&]]3')
    expect(root.children).toEqual([])
  })

  test('line ends as \\n and white space in attributes as spaces, but not when written as references', () => {
    const root = parseXml('<a x="1\r\n2\t3\n4\r5&#13;&#10;&#9;">1\r\n2\r3&#13;</a>')
    expect(root.attributes.x).toBe('1 2 3 4 5\r\n\t')
    expect(root.text).toBe('1\n2\n3\r')
  })

  test('attributes into an object without prototype', () => {
    const root = parseXml('<a __proto__="1" constructor="2"/>')
    expect(Object.getPrototypeOf(root.attributes)).toBe(null)
    expect(Object.entries(root.attributes)).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
    expect(Object.getPrototypeOf(parseXml('<a/>').attributes)).toBe(null)
  })

  test('an undeclared prefix', () => {
    expect(parseXml('<soap:Fault/>')).toMatchObject({ name: 'Fault', prefix: 'soap' })
  })

  test('100 levels and no more', () => {
    const nested = (levels: number) => '<a>'.repeat(levels) + '</a>'.repeat(levels)
    expect(parseXml(nested(100)).name).toBe('a')
    expect(() => parseXml(nested(101))).toThrow('more than 100 levels')
    expect(() => parseXml('<a>'.repeat(1_000_000))).toThrow(XmlError)
  })

  test('at most 20 MB', () => {
    const large = `<a>${'x'.repeat(20_000_000)}</a>`
    expect(() => parseXml(large)).toThrow('20 MB')
    expect(() => parseXml(bytes(large))).toThrow('20 MB')
  })
})

describe('decodeXml', () => {
  const euro = '<a>ção €</a>'
  test.each([
    ['UTF-8', bytes(euro), euro],
    ['UTF-8 with byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes(euro)), euro],
    [
      'ISO-8859-1',
      latin1('<?xml version="1.0" encoding="ISO-8859-1"?><a>ção §</a>'),
      '<?xml version="1.0" encoding="ISO-8859-1"?><a>ção §</a>',
    ],
    [
      'ISO-8859-1 with the quotes of Windows',
      latin1("<?xml version='1.0' encoding='iso-8859-1' ?><a>\x93a\x94 \x96 \x80</a>"),
      "<?xml version='1.0' encoding='iso-8859-1' ?><a>“a” – €</a>",
    ],
    [
      'windows-1252 whose bytes are also UTF-8',
      Uint8Array.of(...bytes('<?xml version="1.0" encoding="windows-1252"?><a>'), 0xc3, 0xa7, ...bytes('</a>')),
      '<?xml version="1.0" encoding="windows-1252"?><a>Ã§</a>',
    ],
  ])('%s', (_, input, text) => {
    expect(decodeXml(input)).toBe(text)
    expect(parseXml(input).name).toBe('a')
  })

  test.each([
    ['bytes that are not UTF-8', latin1('<a>ção</a>')],
    ['an encoding it does not know', bytes('<?xml version="1.0" encoding="EBCDIC"?><a/>')],
    ['UTF-16', Uint8Array.of(0xff, 0xfe, 0x3c, 0, 0x61, 0, 0x2f, 0, 0x3e, 0)],
  ])('refuses %s', (_, input) => {
    expect(() => parseXml(input)).toThrow(XmlError)
  })
})

describe('parseReceived', () => {
  test('reads bytes that are not UTF-8 as windows-1252, and keeps those that are', () => {
    const declared = '<?xml version="1.0" encoding="UTF-8"?>'
    const mixed = Uint8Array.of(
      ...bytes(`${declared}<a>CAFÉ € 𝄞 `),
      ...latin1('autorização \x96 \xc7\xd5'),
      ...bytes('</a>'),
    )
    const { root, source, faults } = parseReceived(mixed)
    expect([root.text, [...faults]]).toEqual(['CAFÉ € 𝄞 autorização – ÇÕ', ['encoding']])
    expect(source.slice(root.start, root.end)).toBe('<a>CAFÉ € 𝄞 autorização – ÇÕ</a>')
    expect(parseReceived(latin1('<a b="é">\xed\xa0\x80 \xc3</a>')).root).toMatchObject({
      attributes: { b: 'é' },
      text: 'í\xa0€ Ã',
    })
  })

  test('every text in UTF-8 stays what it is beside a byte that is not', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const clean = text.replace(/[<&\p{Cc}\ufffe\uffff]|\]\]>/gu, ' ')
        expect(parseReceived(Uint8Array.of(...bytes(`<a>${clean} `), 0xe7, ...bytes('</a>'))).root.text).toBe(
          `${clean} ç`,
        )
      }),
    )
  })

  test('leaves a reference to an entity that nobody declared as it stands', () => {
    const { root, faults } = parseReceived('<a b="&copy;">&null;&amp;<c>&null;</c></a>')
    expect([root.attributes.b, root.text, root.children[0]!.text, [...faults]]).toEqual([
      '&copy;',
      '&null;&',
      '&null;',
      ['entity'],
    ])
    expect(parseReceived('<a>&#233;</a>').faults.size).toBe(0)
  })

  test.each(['<a>a & b</a>', '<a>&#0;</a>', '<a>&null</a>', '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>', '<a></b>'])(
    'refuses %s',
    (xml) => expect(() => parseReceived(xml)).toThrow(XmlError),
  )
})

describe('parseXml refuses', () => {
  test.each([
    ['nothing', ''],
    ['only white space', ' \n'],
    ['a truncated tag', '<a'],
    ['a truncated element', '<a><b></b>'],
    ['a tag that is not closed', '<a><b></a>'],
    ['another end tag', '<a></ab>'],
    ['an end tag with attributes', '<a></a x="1">'],
    ['an end tag alone', '</a>'],
    ['a second root', '<a/><b/>'],
    ['text before the root', 'x<a/>'],
    ['text after the root', '<a/>x'],
    ['an entity after the root', '<a/>&#32;'],
    ['CDATA outside the root', '<![CDATA[]]><a/>'],
    ['a DOCTYPE', '<!DOCTYPE a><a/>'],
    ['a DOCTYPE with entities', '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'],
    ['an unknown entity', '<a>&nbsp;</a>'],
    ['a name of Object.prototype as entity', '<a>&constructor;</a>'],
    ['an ampersand alone', '<a>a & b</a>'],
    ['an entity without end', '<a>&amp</a>'],
    ['a reference to a control character', '<a>&#0;</a>'],
    ['a reference to a surrogate', '<a>&#xD800;</a>'],
    ['a reference beyond Unicode', '<a>&#x110000;</a>'],
    ['an upper case X in a reference', '<a>&#X41;</a>'],
    ['an entity in a value', '<a b="&copy;"/>'],
    ['a control character', '<a>\u0001</a>'],
    ['a lone surrogate', '<a>\ud800</a>'],
    ['U+FFFE', '<a>\ufffe</a>'],
    [']]> in text', '<a>]]></a>'],
    ['an attribute twice', '<a b="1" b="2"/>'],
    ['an attribute without quotes', '<a b=1/>'],
    ['an attribute without value', '<a b/>'],
    ['attributes without space between', '<a b="1"c="2"/>'],
    ['< in a value', '<a b="<"/>'],
    ['a value without end', '<a b="1/>'],
    ['a name that begins with a digit', '<1/>'],
    ['a space before the name', '< a/>'],
    ['a name with two colons', '<a:b:c/>'],
    ['a name that ends in a colon', '<a:/>'],
    ['a / in the tag', '<a / >'],
    ['-- in a comment', '<a><!-- a -- b --></a>'],
    ['a comment without end', '<a><!-- </a>'],
    ['CDATA without end', '<a><![CDATA[ </a>'],
    ['an instruction without end', '<a><?p </a>'],
    ['an instruction without name', '<a><? p?></a>'],
    ['an XML declaration after a space', ' <?xml version="1.0"?><a/>'],
    ['an XML declaration inside', '<a><?xml version="1.0"?></a>'],
    ['an XML declaration without version', '<?xml encoding="UTF-8"?><a/>'],
    ['version 1.1', '<?xml version="1.1"?><a/>'],
  ])('%s', (_, source) => {
    expect(() => parseXml(source)).toThrow(XmlError)
  })
})

// Saxes has been the reference among the strict parsers. We refuse a little more: DOCTYPE, version 1.1, names that are
// not qualified names, more than 100 levels, and the characters of XML 1.0 §2.2 wherever they stand.
const short = samples.filter((sample) => bytesOf(sample).length < 12_000)
const sources = [
  '<?xml version="1.0" encoding="UTF-8"?><?p q?><!-- c --><a:b x="1" y=\'&amp;&#10;\'>\r\n<![CDATA[<x>]]]]><c/>t&lt;<?q?>u</a:b>\n',
  '<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="4.00"><NFe><infNFe Id="NFe1"><xNome>AÇÃO &amp; CIA</xNome><CNPJ/></infNFe></NFe></nfeProc>',
  ...short.filter((sample) => !sample.malformado).map((sample) => decodeXml(bytesOf(sample))),
]

const piece = fc.constantFrom(
  ...'<>&"\'/= \n\r;#x-!?[]:a1.é\u0085\u2028\0',
  ...['-->', ']]>', '<![CDATA[', '<!--', '<?', '?>', '&#0;', '&#xD800;', '&amp;', '&nbsp;', '</', '<a/>', '\ud800'],
)
const edit = fc.record({ at: fc.nat(), cut: fc.nat({ max: 3 }), piece: fc.option(piece), rest: fc.boolean() })
const damage = fc
  .tuple(fc.constantFrom(...sources), fc.array(edit, { minLength: 1, maxLength: 3 }))
  .map(([source, edits]) => {
    let damaged = source
    for (const { at, cut, piece, rest } of edits) {
      const where = at % (damaged.length + 1)
      damaged = damaged.slice(0, where) + (piece ?? '') + (rest || piece ? damaged.slice(where + cut) : '')
    }
    return damaged
  })

describe('agrees with saxes', () => {
  test.runIf(samples.length > 0).each(samples)('on $file', (sample) => {
    const source = decodeXml(bytesOf(sample))
    if (sample.malformado) expect(() => parseXml(source)).toThrow(XmlError)
    else expect(plain(parseXml(source))).toEqual(withSaxes(source))
  })

  test('on random trees', () => {
    fc.assert(
      fc.property(tree, ({ source }) => {
        expect(plain(parseXml(source))).toEqual(withSaxes(source))
      }),
      { numRuns: runs(300) },
    )
  })

  test('on random damage: what saxes refuses is refused, what both accept is read alike', () => {
    fc.assert(
      fc.property(damage, (damaged) => {
        const ours = attempt(() => plain(parseXml(damaged)))
        if (ours === null) return
        expect(ours).toEqual(withSaxes(damaged))
      }),
      { numRuns: runs(3000) },
    )
  })

  test('on every truncation', () => {
    const source = sources[0] ?? ''
    for (let length = 0; length < source.length - 1; length++) {
      expect(() => parseXml(source.slice(0, length)), source.slice(0, length)).toThrow(XmlError)
    }
  })
})

interface Plain {
  name: string
  attributes: Record<string, string>
  text: string
  children: Plain[]
}

function plain(element: XmlElement): Plain {
  const name = element.prefix === '' ? element.name : `${element.prefix}:${element.name}`
  return { name, attributes: { ...element.attributes }, text: element.text, children: element.children.map(plain) }
}

function withSaxes(source: string): Plain {
  const parser = new SaxesParser({ position: false, xmlns: false })
  const open: Plain[] = []
  let root: Plain | undefined
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: { ...attributes }, text: '', children: [] }
    open.at(-1)?.children.push(element)
    root ??= element
    open.push(element)
  })
  parser.on('closetag', () => void open.pop())
  const addText = (text: string) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += text
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.write(source).close()
  if (root === undefined) throw new Error('no root')
  return root
}

function attempt<T>(run: () => T): T | null {
  try {
    return run()
  } catch (error) {
    if (error instanceof XmlError) return null
    throw error
  }
}

const nameArbitrary = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,14}$/)
const characters = fc.string({ unit: fc.constantFrom(...'aZ09 é€ã😀<>&"\'\n\t]-?;#'), maxLength: 30 })

const { tree } = fc.letrec<{ tree: { source: string } }>((tie) => ({
  tree: fc
    .record({
      name: nameArbitrary,
      attributes: fc.dictionary(nameArbitrary, characters, { maxKeys: 3 }),
      content: fc.array(
        fc.oneof(
          { depthSize: 'small' },
          characters.map((text) => escapeText(text)),
          characters.map((text) => `<![CDATA[${text.replaceAll(']]>', '')}]]>`),
          characters.map((text) => `<!--${text.replaceAll('-', '')}-->`),
          characters.map((text) => `<?p ${text.replaceAll('?>', '')}?>`),
          tie('tree').map(({ source }) => source),
        ),
        { maxLength: 6 },
      ),
    })
    .map(({ name, attributes, content }) => {
      const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeAttribute(value)}"`)
      return { source: `<${name}${list.join('')}>${content.join('')}</${name}>` }
    }),
}))
