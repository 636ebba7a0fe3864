import { gzipSync } from 'node:zlib'
import { danfe } from '@vigia/print/danfe'
import { afterEach, expect, test } from 'vitest'
import type { ThreadsOptions } from '../../platform/threads.ts'
import { nfeProc } from '../testing.ts'
import { createPrinter, type Printer, type PrintOrder } from './printer.ts'

const opened: Printer[] = []
afterEach(async () => {
  for (const printer of opened.splice(0)) await printer[Symbol.asyncDispose]()
})

function open(options: Partial<ThreadsOptions> = {}): Printer {
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

test('the bytes are those of the layout', async () => {
  const order = note()
  const pdf = await open().print(order)
  expect(Buffer.from(pdf)).toEqual(Buffer.from(danfe(Buffer.from(nfeProc({ number: 1, issuerName: 'PAPELARIA' })))))
  expect(order.content.length).toBeGreaterThan(0)
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
