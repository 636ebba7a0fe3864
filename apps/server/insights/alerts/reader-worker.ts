import { parentPort } from 'node:worker_threads'
import { alertFacts } from '@vigia/checks/alerts/facts'
import { detailsOf, readReceived } from '@vigia/dfe/read'
import { openReceived } from '../../documents/received/bytes.ts'
import type { ReadQuestion } from './reading.ts'

// Runs in a thread of its own: a document of 990 items takes longer to read than a hundred verdicts.

parentPort?.on('message', (questions: ReadQuestion[]) => {
  parentPort?.postMessage(
    questions.map(({ chave, content, events, known }) => {
      try {
        const { facts, tree } = readReceived(openReceived(content))
        if (facts.kind !== 'document') return null
        return { ...alertFacts(facts, detailsOf(tree!), events, known), chave }
      } catch {
        // Unreadable documents are kept, without facts.
        return null
      }
    }),
  )
})
parentPort?.postMessage('ready')
