import { parentPort } from 'node:worker_threads'
import { dacte } from '@vigia/print/dacte'
import { danfe } from '@vigia/print/danfe'
import { unzipDocument } from '@vigia/sefaz/distribution'
import type { PrintOrder, PrintResult } from './printer.ts'

// A printer's thread that some documents poison: those whose text says so. For tests only.

parentPort?.on('message', ({ form, content, options }: PrintOrder) => {
  const document = unzipDocument(content)
  const text = document.toString()
  if (text.includes('LACO INFINITO')) for (;;);
  if (text.includes('FIM DA LINHA')) process.exit(1)
  if (text.includes('ERRO NOSSO')) {
    parentPort?.postMessage({ failed: new Error('a mistake of ours') } satisfies PrintResult)
    return
  }
  const pdf = new Uint8Array(form === 'danfe' ? danfe(document, options) : dacte(document, options))
  parentPort?.postMessage({ pdf } satisfies PrintResult)
})
parentPort?.postMessage('ready')
