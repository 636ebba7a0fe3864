import { execFileSync } from 'node:child_process'
import { deflateSync, inflateSync } from 'node:zlib'
import { median, report } from '../../bench/measure.ts'
import { dacte } from './dacte.ts'
import { danfe } from './danfe.ts'
import { writeCte } from './support/cte.ts'
import { writeNfe } from './support/nfe.ts'

// CPU of this process for one document, warm, beside a bare writer that only puts as many words and rules on as many pages: without
// reading, measuring, fonts and tags. The goals are those of the tracker, in milliseconds and bytes.
interface Program {
  name: string
  print: () => Uint8Array
  times: number
  goalMs: number
  /** Limit relative to the bare writer. */
  goalRatio: number
  goalBytes?: number
}

const notes = (items: number) => {
  const xml = writeNfe({ items })
  return () => danfe(xml)
}
const transports = (documents: number) => {
  const xml = writeCte({ documents })
  return () => dacte(xml)
}
const programs: Program[] = [
  { name: 'danfe, 1 item', print: notes(1), times: 400, goalMs: 1, goalRatio: 3, goalBytes: 7 * 1024 },
  { name: 'danfe, 10 items', print: notes(10), times: 300, goalMs: 2, goalRatio: 3, goalBytes: 11 * 1024 },
  { name: 'danfe, 100 items', print: notes(100), times: 60, goalMs: 12, goalRatio: 2.5 },
  { name: 'danfe, 500 items', print: notes(500), times: 20, goalMs: 55, goalRatio: 2.5 },
  { name: 'dacte, 2 documents', print: transports(2), times: 300, goalMs: 2, goalRatio: 3, goalBytes: 9 * 1024 },
  { name: 'dacte, 500 documents', print: transports(500), times: 40, goalMs: 14, goalRatio: 3 },
]

for (const { name, print, times, goalMs, goalRatio, goalBytes } of programs) {
  const file = print()
  const bare = bareWriter(file)
  for (let n = 0; n < times; n++) [print(), bare()]
  const own: number[] = []
  const plain: number[] = []
  for (let n = 0; n < times; n++) {
    own.push(cpuMs(print))
    plain.push(cpuMs(bare))
  }
  const ms = rounded(median(own))
  const ratio = rounded(median(own) / median(plain))
  const bytes = file.length
  const bareWriterMs = rounded(median(plain))
  report('print', { document: name, unit: 'CPU milliseconds', ms, bareWriterMs, ratio, bytes, pages: pagesOf(file) }, [
    {
      what: `${name}, XML to PDF`,
      number: `${ms} ms of CPU, ratio ${ratio}, ${bytes} bytes`,
      against: 'bare writer of as many words and rules',
      goal: [`${goalMs} ms`, `ratio ${goalRatio}`, ...(goalBytes ? [`${goalBytes} bytes`] : [])].join(', '),
    },
  ])
}

// The first form of a process: once the code is there, and with the code read.
const first = Array.from({ length: 9 }, () => {
  const script = `
    const began = performance.now()
    const { danfe } = await import(${JSON.stringify(new URL('./danfe.ts', import.meta.url).href)})
    const loaded = performance.now()
    danfe(Buffer.from(process.argv[1], 'base64'))
    console.log(JSON.stringify([performance.now() - loaded, performance.now() - began]))`
  const xml = Buffer.from(writeNfe({ items: 1 })).toString('base64')
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script, xml], { encoding: 'utf8' }))
}) as [number, number][]
const firstMs = rounded(median(first.map(([ms]) => ms)))
const withTheCodeRead = rounded(median(first.map(([, ms]) => ms)))
report('print', { document: 'danfe, 1 item, first of a process', unit: 'milliseconds', ms: firstMs, withTheCodeRead }, [
  {
    what: 'danfe, 1 item, first of a process',
    number: `${firstMs} ms, ${withTheCodeRead} ms with the code read`,
    against: '',
    goal: '60 ms',
  },
])

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function rounded(value: number): number {
  return Number(value.toPrecision(3))
}

function contentsOf(file: Uint8Array): string[] {
  const text = Buffer.from(file).toString('latin1')
  return [...text.matchAll(/stream\n([\s\S]*?)\nendstream/g)].flatMap(([, body = '']) => {
    const bytes = Buffer.from(body, 'latin1')
    try {
      return [inflateSync(bytes).toString('latin1')]
    } catch {
      return [body]
    }
  })
}

function pagesOf(file: Uint8Array): number {
  const whole = [Buffer.from(file).toString('latin1'), ...contentsOf(file)].join('\n')
  return whole.match(/\/Type\s*\/Page\b(?!s)/g)?.length ?? 0
}

/**
 * A minimal writer for comparison: as many words, rules and pages, compressed, with a
 * cross-reference table.
 */
function bareWriter(file: Uint8Array): () => Uint8Array {
  const contents = contentsOf(file).filter((content) => /\bT[jJ]\b|\bre\b/.test(content))
  const words = contents.flatMap((content) => [...content.matchAll(/\((?:[^\\)]|\\.)*\)\s*Tj/g)].map(([word]) => word))
  const rules = contents.reduce((sum, content) => sum + (content.match(/ (?:re|l)\n/g)?.length ?? 0), 0)
  const pages = pagesOf(file)
  return () => {
    const bodies = ['<</Type/Catalog/Pages 2 0 R>>', '', '<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>']
    const kids: number[] = []
    for (let page = 0; page < pages; page++) {
      let content = 'BT\n/F 8 Tf\n'
      for (let n = page; n < words.length; n += pages) content += `${n % 9} ${-(n % 7)} Td${words[n]}\n`
      content += 'ET\n'
      for (let n = page; n < rules; n += pages) content += `${n} ${n % 800} m ${n + 9} ${n % 800} l\n`
      const data = deflateSync(Buffer.from(`${content}S\n`, 'latin1'))
      bodies.push(`<</Filter/FlateDecode/Length ${data.length}>>stream\n${data.toString('latin1')}\nendstream`)
      bodies.push(`<</Type/Page/Parent 2 0 R/Contents ${bodies.length} 0 R>>`)
      kids.push(bodies.length)
    }
    const box = '/MediaBox[0 0 595 842]/Resources<</Font<</F 3 0 R>>>>'
    bodies[1] = `<</Type/Pages/Count ${pages}/Kids[${kids.map((kid) => `${kid} 0 R`).join(' ')}]${box}>>`
    let out = '%PDF-1.7\n'
    let table = ''
    bodies.forEach((body, n) => {
      table += `${String(out.length).padStart(10, '0')} 00000 n \n`
      out += `${n + 1} 0 obj\n${body}\nendobj\n`
    })
    return Buffer.from(`${out}xref\n0 ${bodies.length + 1}\n0000000000 65535 f \n${table}trailer\n`, 'latin1')
  }
}
