import type { WithConfig } from '../../platform/context.ts'
import { type ServiceCode, serviceOf } from '../../platform/service.ts'
import type { Call } from '../../sefaz/ledger.ts'
import { type CaptureLine, writeQuestion } from '../lease.ts'
import type { Decision } from '../situation.ts'
import type { Answer, Question } from '../source.ts'
import { sources } from '../sources.ts'

/** Where the questions of a service go. */
export function distributionUrl({ config }: Pick<WithConfig, 'config'>, service: ServiceCode): string {
  return sources[serviceOf(service)].url(config.sefaz.endpoints)
}

/** A call as the ledger keeps it. */
export function callOf(
  line: Pick<CaptureLine, 'lastNsu'>,
  question: Question,
  answer: Answer,
  { line: change, gaps }: Decision,
): Call {
  const before = 'at' in question ? question.at : line.lastNsu
  const gap = gaps.find(({ cause }) => cause !== null)
  return {
    query: writeQuestion(question).query,
    answer: outcomeOf(answer),
    chave: 'note' in question ? question.note : null,
    nsu_before: before,
    nsu_after: 'after' in question ? (change.lastNsu ?? before) : before,
    passed_from: gap?.passed ? gap.from : null,
    cause: gap?.cause ?? null,
    duration_ms: Math.round(answer.durationMs),
    ...(answer.kind === 'lost'
      ? { error: answer.detail.slice(0, 500) }
      : {
          c_stat: answer.code,
          x_motivo: answer.words.slice(0, 500),
          documents: answer.documents.length,
          bytes: answer.bytes,
        }),
  }
}

/** The kind of an answer, in one word or two. */
export function outcomeOf(answer: Answer): Call['answer'] {
  switch (answer.kind) {
    case 'lost':
      return answer.counted ? 'lost' : 'failed'
    case 'absent':
      return answer.forever ? 'gone' : 'absent'
    case 'pause':
      return answer.whom === 'line' ? 'blocked' : 'down'
    case 'refused':
      return `refused ${answer.what}`
    default:
      return answer.kind
  }
}
