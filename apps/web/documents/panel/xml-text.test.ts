import { expect, test } from 'vitest'
import { indentXml } from './xml-text.ts'

test('one element per line, indented', () => {
  const xml = '<?xml version="1.0"?><a x="1"><b>texto &lt;b&gt; com  espaços</b>\n<c/><d><e>1</e></d></a>'
  expect(indentXml(xml)).toBe(
    [
      '<?xml version="1.0"?>',
      '<a x="1">',
      '  <b>texto &lt;b&gt; com  espaços</b>',
      '  <c/>',
      '  <d>',
      '    <e>1</e>',
      '  </d>',
      '</a>',
    ].join('\n'),
  )
})

test('a text that is no XML stays as it is', () => {
  expect(indentXml('')).toBe('')
  expect(indentXml('não é xml')).toBe('não é xml')
})
