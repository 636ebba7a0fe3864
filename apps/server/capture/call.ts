import type { Call } from '../sefaz/ledger.ts'
import { type CaptureLine, writeQuestion } from './lease.ts'
import type { Decision } from './situation.ts'
import type { Answer, Question } from './source.ts'

/** A call as the ledger keeps it. */
export function callOf(
  line: Pick<CaptureLine, 'lastNsu'>,
  question: Question,
  answer: Answer,
  { line: change, gaps }: Decision,
): Call {
  const before = 'at' in question ? question.at : line.lastNsu
  const isAnswered = answer.kind !== 'lost'
  return {
    query: writeQuestion(question).query,
    answer: outcomeOf(answer),
    chave: 'note' in question ? question.note : null,
    before,
    after: 'after' in question ? (change.lastNsu ?? before) : before,
    passedFrom: gaps.find(({ passed }) => passed)?.from ?? null,
    code: isAnswered ? answer.code : null,
    words: isAnswered ? answer.words : null,
    documents: isAnswered ? answer.documents.length : 0,
    bytes: isAnswered ? answer.bytes : 0,
    durationMs: answer.durationMs,
    error: isAnswered ? null : answer.detail,
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
