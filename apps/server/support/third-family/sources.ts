import { gzipSync } from 'node:zlib'
import type { FamilyId } from '@vigia/dfe/families/id'
import type { Source } from '../../capture/source.ts'
import { deliveries } from './deliveries.ts'

const nsu = (n: number) => String(n).padStart(15, '0')

function source(webService: string, files: readonly string[]): Source {
  return {
    webService,
    url: () => `https://authority.example/${webService}`,
    async ask(_, { query }) {
      const position = 'ultNSU' in query ? Number(query.ultNSU) : 0
      const documents = files
        .map((xml, i) => ({ nsu: nsu(i + 1), schema: 'recibo_v1.00.xsd', content: gzipSync(xml) }))
        .slice(position, position + 4)
      const last = nsu(position + documents.length)
      const said = {
        cStat: documents.length > 0 ? 138 : 137,
        xMotivo: 'Resposta',
        ultNSU: last,
        maxNSU: nsu(files.length),
      }
      return { ...said, documents, bytes: 1_000, durationMs: 1 }
    },
  }
}

/** In place of apps/server/capture/sources.ts: nobody is asked. */
export const sources: Readonly<Record<FamilyId | 'recibo', Source>> = {
  nfe: source('NF-e', []),
  cte: source('CT-e', []),
  recibo: source('Recibo', deliveries),
}
