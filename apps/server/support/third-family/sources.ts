import { gzipSync } from 'node:zlib'
import type { FamilyId } from '@vigia/dfe/families/id'
import type { Source } from '../../capture/source.ts'
import { deliveries } from './deliveries.ts'

function source(webService: string, files: readonly string[]): Source {
  return {
    webService,
    url: () => `https://authority.example/${webService}`,
    async ask(_connection, _subject, question) {
      const position = 'after' in question ? Number(question.after) : 0
      const documents = files
        .map((xml, i) => ({ nsu: BigInt(i + 1), schema: 'recibo_v1.00.xsd', content: gzipSync(xml) }))
        .slice(position, position + 4)
      const isEnd = documents.length === 0
      return {
        kind: isEnd ? 'end' : 'page',
        code: isEnd ? 137 : 138,
        words: 'Resposta',
        cursor: BigInt(position + documents.length),
        max: BigInt(files.length),
        respondedAt: null,
        proves: true,
        documents,
        bytes: 1_000,
        durationMs: 1,
      }
    },
  }
}

/** In place of apps/server/capture/sources.ts: nobody is asked. */
export const sources: Readonly<Record<FamilyId | 'recibo', Source>> = {
  nfe: source('NF-e', []),
  cte: source('CT-e', []),
  recibo: source('Recibo', deliveries),
}
