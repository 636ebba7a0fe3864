import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { SaxesParser } from 'saxes'
import { compare, report } from '../../../bench/measure.ts'
import { rowsOf } from './projection.ts'
import { readArrival } from './reading/read.ts'

// docZip read rate: base64 → gunzip → facts and proof → row, against a bare XML parser without handlers on the same bytes, already decompressed.
const pageSize = 50
const corpora = JSON.parse(process.argv[2] ?? '{}') as Record<string, string>
for (const [name, file] of Object.entries(corpora)) {
  const documents = JSON.parse(await readFile(file, 'utf8')) as { nsu: string; schema: string; base64: string }[]
  const unzipped = documents.map((document) => gunzipSync(Buffer.from(document.base64, 'base64')))
  // Enough for the engine to have compiled what a worker that runs all day has compiled.
  const repeat = Math.max(1, Math.ceil(4000 / documents.length))
  const result = await compare(9, [
    {
      name: 'bareParser',
      run: () => {
        for (let turn = 0; turn < repeat; turn++) for (const bytes of unzipped) parse(bytes)
        return repeat * documents.length
      },
    },
    {
      name: 'docZipToRow',
      run: async () => {
        for (let turn = 0; turn < repeat; turn++) {
          for (let first = 0; first < documents.length; first += pageSize) {
            const page = documents.slice(first, first + pageSize)
            const arrivals = page.map(({ nsu, schema, base64 }) =>
              readArrival({ nsu: BigInt(nsu), schema, content: Buffer.from(base64, 'base64') }),
            )
            rowsOf(arrivals, '44555666000181')
          }
        }
        return repeat * documents.length
      },
    },
  ])
  const bytes = unzipped.reduce((sum, one) => sum + one.length, 0)
  const meanBytes = Math.round(bytes / documents.length)
  const { perSecond, ratio } = result.docZipToRow!
  report('read', { corpus: name, documents: documents.length, meanBytes, goal: 0.2, ...result }, [
    {
      what: `docZip to facts, verified signature and row: ${documents.length} ${name}, ${meanBytes} bytes each`,
      number: `${perSecond} documents/s, ratio ${ratio}`,
      against: 'saxes without handlers on the unpacked bytes',
      goal: '≥ 0.2',
    },
  ])
}

function parse(bytes: Buffer): void {
  const parser = new SaxesParser({ position: false })
  // Some samples are broken on purpose; the parser stops where it likes.
  parser.on('error', () => {})
  parser.write(bytes.toString('utf8')).close()
}
