import { gzipSync } from 'node:zlib'
import { danfe } from '@vigia/print/danfe'
import { afterEach, expect, test } from 'vitest'
import { nfeProc } from '../testing.ts'
import { createPrinter, type Printer, type PrinterOptions, type PrintOrder } from './printer.ts'

const opened: Printer[] = []
afterEach(async () => {
  for (const printer of opened.splice(0)) await printer[Symbol.asyncDispose]()
})

function open(options: Partial<PrinterOptions> = {}): Printer {
  const printer = createPrinter({ threads: 1, ...options })
  opened.push(printer)
  return printer
}

const poisonable = new URL('./printer.testing.ts', import.meta.url)

function note(issuerName = 'PAPELARIA', number = 1): PrintOrder {
  return {
    form: 'danfe',
    name: 'o DANFE deste documento',
    content: gzipSync(nfeProc({ number, issuerName })),
    options: {},
  }
}

test('a document is laid out once, and the bytes are those of the layout', async () => {
  const printer = open()
  const order = note()
  const first = await printer.print(order)
  const second = await printer.print(note())
  expect(Buffer.from(first)).toEqual(Buffer.from(danfe(Buffer.from(nfeProc({ number: 1, issuerName: 'PAPELARIA' })))))
  expect(second).toBe(first)
  expect(order.content.length).toBeGreaterThan(0)
})

test('whatever else is on the paper makes it another form', async () => {
  const printer = open()
  const order = note()
  const plain = await printer.print(order)
  const cancelled = await printer.print({ ...order, options: { cancelled: { protocol: '135260000000009' } } })
  expect(Buffer.from(cancelled)).not.toEqual(Buffer.from(plain))
})

test('what is remembered has a size: the oldest makes way', async () => {
  const size = (await open().print(note())).length
  const printer = open({ cacheBytes: Math.round(size * 2.5) })
  const print = (number: number) => printer.print(note('PAPELARIA', number))
  const [first, , third] = [await print(1), await print(2), await print(3)]
  expect(await print(3)).toBe(third)
  expect(await print(1)).not.toBe(first)
})

test('an export pushes nothing out of what is remembered', async () => {
  const printer = open()
  const ofExport = await printer.print(note('PAPELARIA', 1), { patient: true })
  expect(await printer.print(note('PAPELARIA', 1))).not.toBe(ofExport)
})

test('a file that is no such document is refused with the words of the layout', async () => {
  const printer = open()
  const broken: PrintOrder = {
    form: 'danfe',
    name: 'o DANFE deste documento',
    content: gzipSync('<nada/>'),
    options: {},
  }
  await expect(printer.print(broken)).rejects.toMatchObject({ name: 'PrintError', message: /NF-e/ })
})

test.each([
  ['never ends', 'LACO INFINITO', /o DANFE deste documento demorou demais e foi interrompido\. O XML original/],
  ['ends its thread', 'FIM DA LINHA', /o DANFE deste documento foi interrompido por uma falha do nosso lado\. O XML/],
])('a document that %s is refused alone', async (_, poison, words) => {
  const printer = open({ file: poisonable, timeoutMs: 3_000 })
  const poisoned = expect(printer.print(note(poison))).rejects.toMatchObject({ code: 'unavailable', message: words })
  const healthy = printer.print(note('PAPELARIA', 2))
  await poisoned
  expect((await healthy).length).toBeGreaterThan(1_000)
})

test('a mistake of ours stays one, and the thread goes on', async () => {
  const printer = open({ file: poisonable })
  await expect(printer.print(note('ERRO NOSSO'))).rejects.toMatchObject({ name: 'Error', message: 'a mistake of ours' })
  expect((await printer.print(note())).length).toBeGreaterThan(1_000)
})

test('when too much waits, people are told to come back', async () => {
  const printer = open({ file: poisonable, timeoutMs: 1_500, waitingMax: 0 })
  const poisoned = expect(printer.print(note('LACO INFINITO'))).rejects.toMatchObject({ code: 'unavailable' })
  await expect(printer.print(note())).rejects.toMatchObject({
    code: 'too-many',
    message: /impressões demais desta conta na fila/,
    retryAfterMs: 5_000,
  })
  await poisoned
})
