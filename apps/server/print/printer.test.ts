import { gzipSync } from 'node:zlib'
import { danfe } from '@vigia/print/danfe'
import { afterEach, expect, test } from 'vitest'
import { nfeProc } from '../documents/testing.ts'
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
  return { form: 'danfe', content: gzipSync(nfeProc({ number, issuerName })), options: {} }
}

test('a document is laid out once, and the bytes are those of the layout', async () => {
  const printer = open()
  const order = note()
  const [first, second] = await Promise.all([printer.print(order), printer.print(note())])
  const third = await printer.print(note())
  expect(Buffer.from(first)).toEqual(Buffer.from(danfe(Buffer.from(nfeProc({ number: 1, issuerName: 'PAPELARIA' })))))
  expect(second).toBe(first)
  expect(third).toBe(first)
  expect(printer.counts()).toMatchObject({ rendered: 1, shared: 1, cached: 1, refused: 0, failed: 0 })
  expect(order.content.length).toBeGreaterThan(0)
})

test('whatever else is on the paper makes it another form', async () => {
  const printer = open()
  const order = note()
  const plain = await printer.print(order)
  const cancelled = await printer.print({ ...order, options: { cancelled: { protocol: '135260000000009' } } })
  expect(Buffer.from(cancelled)).not.toEqual(Buffer.from(plain))
  expect(printer.counts()).toMatchObject({ rendered: 2, cached: 0 })
})

test('what is remembered has a size: the oldest makes way', async () => {
  const size = (await open().print(note())).length
  const printer = open({ cacheBytes: Math.round(size * 2.5) })
  for (const number of [1, 2, 3]) await printer.print(note('PAPELARIA', number))
  expect(printer.counts().bytes).toBeLessThanOrEqual(size * 2.5)
  await printer.print(note('PAPELARIA', 3))
  await printer.print(note('PAPELARIA', 1))
  expect(printer.counts()).toMatchObject({ rendered: 4, cached: 1 })
})

test('an export pushes nothing out of what is remembered', async () => {
  const printer = open()
  await printer.print(note('PAPELARIA', 1), { patient: true })
  expect(printer.counts().bytes).toBe(0)
})

test('a file that is no such document is refused with the words of the layout', async () => {
  const printer = open()
  const broken: PrintOrder = { form: 'danfe', content: gzipSync('<nada/>'), options: {} }
  await expect(printer.print(broken)).rejects.toMatchObject({ name: 'PrintError', message: /NF-e/ })
  expect(printer.counts()).toMatchObject({ refused: 1 })
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
  expect(printer.counts()).toMatchObject({ rendered: 1, failed: 1 })
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
