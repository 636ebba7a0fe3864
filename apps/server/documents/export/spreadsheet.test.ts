import { openDocument } from '@vigia/dfe/document'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../../tests/support/seed.ts'
import { readZip } from '../../../../tests/support/zip.ts'
import { column, type SpreadsheetColumn, startSpreadsheet } from './spreadsheet.ts'

const columns: SpreadsheetColumn<string[]>[] = [
  column('Chave', 48, (row) => row[0]!),
  column('Número', 9, (row) => row[1]!, 'whole'),
  column('Valor', 12, (row) => row[2]!, 'money'),
  column('Emissão', 18, (row) => row[3]!, 'date'),
]

async function sheetOf(lines: string[], rows: string[][]): Promise<string> {
  const sheet = startSpreadsheet(lines, columns, new Date())
  for (const row of rows) await sheet.add([row])
  const files = readZip(await sheet.end())
  for (const [name, content] of files) expect(() => openDocument(content), name).not.toThrow()
  return files.get('xl/worksheets/sheet1.xml')!.toString('utf8')
}

test('keys are text, numbers and dates are numbers, and what is empty is empty', async () => {
  const chave = '35261111222333000181550010000000011000000007'
  const xml = await sheetOf(
    ['Filtro'],
    [
      [chave, '12', '1234.56', '2026-11-10T12:00:00'],
      ['', '', '', ''],
    ],
  )
  expect(xml).toContain(
    `<row r="4"><c r="A4" s="3" t="inlineStr"><is><t xml:space="preserve">${chave}</t></is></c><c r="B4" s="4"><v>12</v></c><c r="C4" s="5"><v>1234.56</v></c><c r="D4" s="6"><v>46336.5</v></c></row><row r="5"></row>`,
  )
  expect(xml).toContain('<autoFilter ref="A3:D5"/>')
  expect(xml).toContain('<pane ySplit="3" topLeftCell="A4"')
})

test.each([
  ['1900-02-28T00:00:00', '"inlineStr"'],
  ['1900-03-01T00:00:00', '<v>61</v>'],
  ['0001-01-01T00:00:00', '"inlineStr"'],
])('a date that spreadsheets do not know is text: %s', async (date, cell) => {
  expect((await sheetOf([], [['', '', '', date]])).split('<row').at(-1)).toContain(cell)
})

test('a text that looks like a formula, a markup or a character by its number is that text', async () => {
  const xml = await sheetOf(
    [],
    [['=1+1<&> _x0041_ \u0000\uD83D\uFFFE']].map(([text]) => [text!, '', '', '']),
  )
  expect(xml).toContain('>=1+1&#60;&#38;&#62; _x005F_x0041_ \uFFFD</t>')
})

test('whatever is written, it can be read', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(fc.array(text, { maxLength: 3 }), fc.array(text, { maxLength: 20 }), async (lines, texts) => {
      const xml = await sheetOf(
        lines,
        texts.map((one) => [one, '', '', '']),
      )
      expect(xml.match(/<row /g)).toHaveLength(lines.length + 1 + texts.length)
    }),
    { numRuns: runs(100) },
  )
})
