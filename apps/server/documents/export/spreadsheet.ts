import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { ZipFile } from 'yazl'

/** A column of rows of one kind. `width` is in characters. */
export interface SpreadsheetColumn<Row> {
  title: string
  width: number
  /** The cell of a row: decimal text for numbers, `aaaa-MM-ddTHH:mm:ss` for dates, `aaaa-MM-dd` for days; empty: an empty cell. */
  of: (row: Row) => string
  kind: 'text' | 'whole' | 'money' | 'date' | 'day'
}

/** A column, of texts unless told otherwise. */
export function column<Row>(
  title: string,
  width: number,
  of: (row: Row) => string,
  kind: SpreadsheetColumn<Row>['kind'] = 'text',
): SpreadsheetColumn<Row> {
  return { title, width, of, kind }
}

export interface Spreadsheet<Row> {
  add(rows: readonly Row[]): Promise<void>
  end(): Promise<Buffer>
}

const styles = { plain: 0, title: 1, header: 2, text: 3, whole: 4, money: 5, date: 6, day: 7 }

/** An XLSX file (ECMA-376) of one sheet: `lines` above the header, then the rows. Only its compressed bytes are in memory. */
export function startSpreadsheet<Row>(
  lines: string[],
  columns: readonly SpreadsheetColumn<Row>[],
  at: Date,
  name = 'Documentos',
): Spreadsheet<Row> {
  const file = new ZipFile()
  const sheet = new PassThrough()
  for (const [part, text] of Object.entries(partsOf(name)))
    file.addBuffer(Buffer.from(declaration + text), part, { mtime: at })
  file.addReadStream(sheet, 'xl/worksheets/sheet1.xml', { mtime: at })
  file.end()
  const bytes = collect(file.outputStream)
  const header = lines.length + 2
  let last = header
  sheet.write(
    declaration +
      sheetHead(columns, header) +
      lines
        .map((line, index) => rowXml(index + 1, [textCell(line, index === 0 ? styles.title : styles.plain)]))
        .join('') +
      rowXml(
        header,
        columns.map(({ title }) => textCell(title, styles.header)),
      ),
  )
  return {
    async add(rows) {
      const xml = rows.map((row) =>
        rowXml(
          ++last,
          columns.map(({ of, kind }) => cellOf(of(row), kind)),
        ),
      )
      if (!sheet.write(xml.join(''))) await once(sheet, 'drain')
    },
    end() {
      sheet.end(sheetTail(columns, header, last))
      return bytes
    },
  }
}

async function collect(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

const placeOf = (index: number, row: number) => `${String.fromCharCode(65 + index)}${row}`

type CellWriter = (place: string) => string

function rowXml(row: number, cells: CellWriter[]): string {
  return `<row r="${row}">${cells.map((cell, index) => cell(placeOf(index, row))).join('')}</row>`
}

function cellOf(value: string, kind: SpreadsheetColumn<unknown>['kind']): CellWriter {
  if (value === '') return () => ''
  if (kind === 'text') return textCell(value, styles.text)
  const number = kind === 'date' ? serialOf(value) : kind === 'day' ? serialOf(`${value}T00:00:00`) : value
  return number === null
    ? textCell(value, styles.text)
    : (place) => `<c r="${place}" s="${styles[kind]}"><v>${number}</v></c>`
}

function textCell(text: string, style: number): CellWriter {
  return (place) =>
    `<c r="${place}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeText(text)}</t></is></c>`
}

function escapeText(text: string): string {
  return (
    text
      .toWellFormed()
      // Characters that no XML has (XML 1.0 §2.2).
      .replace(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, '')
      // Reads as a character by its number (ECMA-376 part 1, §22.9.2.19) unless its underscore is written so.
      .replace(/_(?=x[0-9a-f]{4}_)/gi, '_x005F_')
      .replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  )
}

// Days since the end of 1899; spreadsheets count a 29 February 1900 that there was not, and nothing before that year.
function serialOf(local: string): string | null {
  const days = Date.parse(`${local}Z`) / 86_400_000 + 25_569
  return days >= 61 ? String(Math.round(days * 1e8) / 1e8) : null
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const relations = 'http://schemas.openxmlformats.org/package/2006/relationships'
const officeRelations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const parts = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const partsOf = (name: string) => ({
  '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${parts}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${parts}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${parts}.styles+xml"/></Types>`,
  '_rels/.rels': `<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${officeRelations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${officeRelations}"><sheets><sheet name="${escapeText(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${relations}"><Relationship Id="rId1" Type="${officeRelations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${officeRelations}/styles" Target="styles.xml"/></Relationships>`,
  // Formats 1, 4 and 49 are known to every program: 0, #,##0.00 and text.
  'xl/styles.xml': `<styleSheet xmlns="${main}"><numFmts count="2"><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm"/><numFmt numFmtId="165" formatCode="dd/mm/yyyy"/></numFmts><fonts count="3"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="14"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="2"><border><left/><right/><top/><bottom/><diagonal/></border><border><left/><right/><top/><bottom style="thin"><color auto="1"/></bottom><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="8"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/><xf numFmtId="0" fontId="2" fillId="0" borderId="1" xfId="0" applyFont="1" applyBorder="1"/><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="1" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="4" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
})

function sheetHead(columns: readonly SpreadsheetColumn<never>[], header: number): string {
  const widths = columns.map(
    ({ width }, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  )
  return `<worksheet xmlns="${main}"><sheetViews><sheetView tabSelected="1" workbookViewId="0"><pane ySplit="${header}" topLeftCell="A${header + 1}" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${widths.join('')}</cols><sheetData>`
}

// Keys and CNPJs are meant to be text: no warning in each cell.
function sheetTail(columns: readonly SpreadsheetColumn<never>[], header: number, last: number): string {
  const end = placeOf(columns.length - 1, last)
  return `</sheetData><autoFilter ref="A${header}:${end}"/><pageMargins left="0.4" right="0.4" top="0.5" bottom="0.5" header="0.3" footer="0.3"/><pageSetup paperSize="9" orientation="landscape"/><ignoredErrors><ignoredError sqref="A1:${end}" numberStoredAsText="1"/></ignoredErrors></worksheet>`
}
