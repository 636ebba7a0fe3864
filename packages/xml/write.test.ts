import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalize } from './canonicalize.ts'
import { parseXml } from './parse.ts'
import { escapeAttribute, escapeText, tag } from './write.ts'

describe('tag', () => {
  test('writes nothing between the tags and leaves out what is absent', () => {
    const xml = tag(
      'a',
      { versao: '1.00', Id: undefined },
      tag('b', null, escapeText('x & y')),
      null,
      undefined,
      false,
      '',
    )
    expect(xml).toBe('<a versao="1.00"><b>x &amp; y</b></a>')
  })

  test('closes an empty element at once', () => {
    expect(tag('CNPJ', null)).toBe('<CNPJ/>')
    expect(tag('CNPJ', null, '')).toBe('<CNPJ/>')
  })

  test('escapes attribute values', () => {
    expect(tag('a', { b: '"<&>\n' })).toBe('<a b="&quot;&lt;&amp;>&#xA;"/>')
  })
})

test('what is written is read back, and is canonical already', () => {
  const text = fc.string({ unit: fc.constantFrom(...'aé€😀 <>&"\'\n\t\r'), minLength: 1 })
  fc.assert(
    fc.property(text, text, (content, value) => {
      const xml = tag('a', { b: value }, escapeText(content))
      const element = parseXml(xml)
      expect([element.text, element.attributes.b]).toEqual([content, value])
      expect(canonicalize(element)).toBe(xml)
      expect(escapeAttribute(value)).not.toMatch(/["<\n\t\r]/)
    }),
  )
})
