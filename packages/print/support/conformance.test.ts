import { expect, test } from 'vitest'
import { danfe } from '../danfe.ts'
import { objectStream, plainStream, rowStream } from '../pdf/objects.ts'
import { conformanceFaults } from './conformance.ts'
import { readObjects } from './graphics.ts'
import { writeNfe } from './nfe.ts'
import { png } from './png.ts'

const note = writeNfe({ items: 2, infCpl: 'Resistência de 10 kΩ' })
const good = danfe(note)
const pictured = danfe(note, { logo: png(20, 10) })

type Change = (text: string) => string
const put =
  (from: string | RegExp, to: string): Change =>
  (text) =>
    text.replace(from, to)

// One fault in a good file, and the clause that has to be named.
const broken: [clause: string, change: Change][] = [
  ['19005-2, 6.1.2', put('\xe2\xe3\xcf\xd3', 'abcd')],
  ['19005-2, 6.1.3', put(/\/ID\[.*?\]/, '')],
  ['19005-2, 6.1.3', put('/Type/XRef', '/Type/XRef/Encrypt 9 0 R')],
  ['19005-2, 6.1.3', put('%%EOF\n', '%%EOF\nmore')],
  ['19005-2, 6.1.7.1 and 6.1.9', put(/ 0 obj\n(?=<<[^>]*Type1C)/, ' 0 obj ')],
  ['19005-2, 6.1.7.2', put('/Subtype/Type1C', '/Subtype/Type1C/Filter/LZWDecode')],
  ['19005-2, 6.1.13', put('/CapHeight 655', '/CapHeight 4294967296')],
  ['19005-2, 6.2.2', put(/\/Resources \d+ 0 R/, '')],
  ['19005-2, 6.2.2', put('BT\n', 'BT\nXX\n')],
  ['19005-2, 6.2.3: the output intent has', put('mntrGRAY', 'scnrGRAY')],
  ['19005-2, 6.2.3: the output intent does', put('/Info(sGray)', '')],
  ['19005-2, 6.2.3: the profile has no', put('kTRC', 'rTRC')],
  ['19005-2, 6.2.3: the profile has another', put('/N 1', '/N 3')],
  ['19005-2, 6.2.4.3: colours', put(/\/OutputIntents\[.*?\]/, '')],
  ['19005-2, 6.2.10', put('/Type/Page/', '/Group<</S/Transparency>>/Type/Page/')],
  ['19005-2, 6.2.11.4.1', put(/\/FontFile3 \d+ 0 R/, '')],
  ['19005-2, 6.2.11.5', put(/\/Widths\[250/, '/Widths[252')],
  ['19005-2, 6.2.11.7.2', put(/beginbfchar\n<../, 'beginbfchar\n<00')],
  ['19005-2, 6.2.11.8', put(/\(DANFE\)Tj/, '(\\001)Tj'.replace('\\001', '\x01'))],
  ['19005-2, 6.3.1', put('/Type/Page/', '/Annots[<</Subtype/Text>>]/Type/Page/')],
  ['14289-1, 7.18.3', put('/Type/Page/', '/Annots[<</Subtype/Text>>]/Type/Page/')],
  ['19005-2, 6.5.2', put('/Type/Catalog', '/Type/Catalog/AA<<>>')],
  ['19005-2, 6.6.2.1', put('</rdf:RDF>', '')],
  ['19005-2, 6.6.2.3', put(/<pdfaExtension:schemas>.*<\/pdfaExtension:schemas>/, '')],
  ['19005-2, 6.6.3', put('/Title(DANFE', '/Title(DACTE')],
  ['19005-2, 6.6.4', put('<pdfaid:part>2', '<pdfaid:part>1')],
  ['19005-2, 6.7.2.2', put('/Marked true', '/Marked false')],
  ['19005-2, 6.7.3.3', put('/S/TD', '/Type/Element/S/TD')],
  ['19005-2, 6.7.3.4', put(/\/S\/H2 */, '/S/Titulo')],
  ['19005-2, 6.7.4', put('/Lang(pt-BR)', '')],
  ['14289-1, 5', put('<pdfuaid:part>1', '<pdfuaid:part>2')],
  ['14289-1, 7.1: the title', put('/DisplayDocTitle true', '/DisplayDocTitle false')],
  ['14289-1, 7.1: the metadata has no title', put(/<dc:title>.*<\/dc:title>/, '')],
  ['14289-1, 7.1: page', put('/Artifact BMC', '/Other BMC')],
  ['14289-1, 7.1: page', put(/\/P<<\/MCID 3>>BDC/, '/P<</MCID 4>>BDC')],
  ['14289-1, 7.1: page', put(/(\/P<<\/MCID 3>>BDC\n)/, '$1/Artifact BMC EMC\n')],
  ['14289-1, 7.1: the parent tree', put(/(Nums\[ *0\[)( *\d+ 0 R)( *\d+ 0 R)/, '$1$3$2')],
  ['14289-1, 7.1: an element', put(/\/K +7>>/, '/K 7000>>')],
  ['14289-1, 7.2: row', put('/S/TD', '/S/P ')],
  ['14289-1, 7.2: cell', put('/S/TR', '/S/P ')],
  ['14289-1, 7.3', put(/\/Alt\(.*?\)/, '')],
  ['14289-1, 7.4.2', put('/S/H1', '/S/P ')],
  ['14289-1, 7.5: heading', put('/Scope/Column', '')],
  ['14289-1, 7.5: table', put('/Scope/Column', '/Scope/Column/ColSpan 2')],
]

test.each(broken)('%s is named where it is broken', (clause, change) => {
  expect(conformanceFaults(rebuilt(good, change)).join('\n')).toContain(`ISO ${clause}`)
})

test.each([
  ['6.2.3: the profile has no', put('gTRC', 'kTRC')],
  ['6.2.4.3: DeviceRGB', put('mntrRGB ', 'mntrGRAY')],
])('%s is named where a picture has colours', (clause, change) => {
  expect(conformanceFaults(rebuilt(pictured, change)).join('\n')).toContain(`ISO 19005-2, ${clause}`)
})

test('a file that was only taken apart and put together has no fault', () => {
  expect(conformanceFaults(rebuilt(good, (text) => text))).toEqual([])
})

// The file with a change made to the first part of it that takes one: a stream, an object, the trailer, or the whole.
function rebuilt(pdf: Uint8Array, change: Change): Uint8Array {
  let isMade = false
  const once = (text: string) => {
    const changed = isMade ? text : change(text)
    isMade ||= changed !== text
    return changed
  }
  const streams: [number, string, Buffer][] = []
  const objects: { number: number; body: string }[] = []
  let trailer = ''
  for (const [number, { head, data }] of readObjects(pdf)) {
    if (head.includes('/Type/XRef')) trailer = head
    else if (head.includes('/Type/ObjStm')) continue
    else if (!/\/Length \d/.test(head)) objects.push({ number, body: once(head) })
    else {
      const entries = head.slice(2, -2).replace(/\/Length \d+|\/Filter\/FlateDecode/g, '')
      streams.push([number, once(entries), Buffer.from(once(data.toString('latin1')), 'latin1')])
    }
  }
  const container = Math.max(...objects.map(({ number }) => number), ...streams.map(([number]) => number)) + 1
  const rows = Buffer.alloc(8 * (container + 2))
  const row = (number: number, kind: number, where: number, place = 0) => {
    rows.writeUInt8(kind, 8 * number)
    rows.writeUInt32BE(where, 8 * number + 1)
    rows.writeUInt16BE(place, 8 * number + 6)
  }
  let text = '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n'
  const add = (number: number, body: Buffer) => {
    row(number, 1, text.length)
    text += `${number} 0 obj\n${body.toString('latin1')}`
  }
  for (const [number, entries, data] of streams) add(number, plainStream(data, entries))
  for (const [place, { number }] of objects.entries()) row(number, 2, container, place)
  add(container, objectStream(objects))
  const start = text.length
  const kept = `/Type/XRef${/\/Root \d+ 0 R\/Info \d+ 0 R\/ID\[.*?\]/.exec(trailer)?.[0] ?? ''}`
  row(container + 1, 1, start)
  add(container + 1, rowStream(rows, 8, `${once(kept)}/Size ${container + 2}/W[1 4 3]`))
  return Buffer.from(once(`${text}startxref\n${start}\n%%EOF\n`), 'latin1')
}
