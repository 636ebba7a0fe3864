import { parentPort } from 'node:worker_threads'
import { readDetails, readReceived } from '@vigia/dfe/read'
import { openReceived } from '../received/bytes.ts'
import { type Inside, insideOf } from './inside.ts'
import type { ReadQuestion } from './reading.ts'

// Runs in a thread of its own: a document of 990 items takes longer to read than a hundred small ones to store.

parentPort?.on('message', (questions: ReadQuestion[]) => {
  parentPort?.postMessage(questions.map(read))
})
parentPort?.postMessage('ready')

function read({ content, cnpj }: ReadQuestion): Inside | null {
  try {
    const xml = openReceived(content)
    const { facts } = readReceived(xml)
    return facts.kind === 'document' ? insideOf(facts, readDetails(xml), cnpj) : null
  } catch {
    // Unreadable documents are kept, and found by their summary.
    return null
  }
}
