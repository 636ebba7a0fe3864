import { formatBrasiliaMoment } from '@vigia/contract/text'
import type { AnswerSubject } from '@vigia/dfe/families/family'
import type { FamilyId } from '@vigia/dfe/families/id'
import { answerOf, familyById } from '@vigia/dfe/families/lookup'
import { nfeRole } from '@vigia/dfe/families/nfe'

export interface EventSubject extends AnswerSubject {
  type: FamilyId
}

export type Verdict = { sequence: number } | { refusal: string }

/** Bit of the destinatário, who answers an NF-e, in a mask of roles. */
export const recipient = 1 << nfeRole.destinatario

/** Whether an event may be sent now: what the authority would refuse is refused here, with the reason (NT 2020.001; MOC CT-e 4.00 §3.7). */
export function judge(tpEvento: number, subject: EventSubject, now: Date): Verdict {
  const answer = answerOf(subject.type, tpEvento)
  if (!answer) return { refusal: `Este evento não existe para ${familyById(subject.type).name}.` }
  const verdict = answer.may(subject)
  const until = answer.until(subject)
  if ('refusal' in verdict || !until || now <= until) return verdict
  return { refusal: `O prazo deste evento terminou em ${formatBrasiliaMoment(until)}.` }
}
