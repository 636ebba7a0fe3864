import { parentPort } from 'node:worker_threads'
import { PrintError, printEvent } from '@vigia/print/event'
import { forms } from '@vigia/print/forms'
import { openReceived } from '../received/bytes.ts'
import type { PrintOrder, PrintResult } from './printer.ts'

// Runs in a thread of its own, because a layout cannot be interrupted, but a thread can be ended.

function print({ form, content, document, options }: PrintOrder): Uint8Array {
  const bytes = openReceived(content)
  if (form === 'evento') return printEvent(bytes, document && openReceived(document), options)
  const draw = forms[form]
  if (!draw) throw new Error(`no form is called ${form}`)
  return draw(bytes, options)
}

function carryOut(order: PrintOrder): PrintResult {
  try {
    return { pdf: new Uint8Array(print(order)) }
  } catch (error) {
    // The class of an error does not survive the way to another thread.
    return error instanceof PrintError ? { refused: error.message } : { failed: error }
  }
}

parentPort?.on('message', (order: PrintOrder) => {
  const printed = carryOut(order)
  parentPort?.postMessage(printed, 'pdf' in printed ? [printed.pdf.buffer] : [])
})
parentPort?.postMessage('ready')
