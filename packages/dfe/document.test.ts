import { XmlError } from '@vigia/xml/parse'
import { expect, test } from 'vitest'
import { child, children, openDocument, value } from './document.ts'

const root = openDocument(
  new TextEncoder().encode('<n:a xmlns:n="u"><b><c> 1 </c><n:c>2</n:c></b><b><c>3</c><d/></b><CNPJ/><e> \n </e></n:a>'),
)

test('child takes the first match of each step, by local name', () => {
  expect(child(root, 'b/c')?.text).toBe(' 1 ')
  expect(child(root, 'b/d')).toBe(undefined)
  expect(child(root, 'x/y/z')).toBe(undefined)
  expect(child(undefined, 'b')).toBe(undefined)
})

test('children takes all matches of the last step', () => {
  expect(children(root, 'b/c').map(({ text }) => text)).toEqual([' 1 ', '2'])
  expect(children(root, 'b')).toHaveLength(2)
  expect(children(root, 'x/y')).toEqual([])
  expect(children(undefined, 'b')).toEqual([])
})

test('value trims, and an empty element counts as absent', () => {
  expect(value(root, 'b/c')).toBe('1')
  expect(['CNPJ', 'e', 'b/x'].map((path) => value(root, path))).toEqual([undefined, undefined, undefined])
})

test('openDocument refuses what is not well formed', () => {
  expect(() => openDocument(new TextEncoder().encode('<a>'))).toThrow(XmlError)
})
