import { formatBrasiliaMoment } from '@vigia/contract/text'
import { ciencia, conclusive, deadlineOf, disagreement } from '../documents/deadlines.ts'

export interface EventSubject {
  type: 'nfe' | 'cte'
  /** Of the chave: 55; 57, 64 and 67. */
  model: string
  /** Bit mask of participation codes. */
  roles: number
  /** As the filter knows it: 3 cancelled, 9 denied. */
  status: number
  authorizedAt: Date | null
  /** The Fisco allowed a late cancellation of the CT-e (event 240170). */
  deadlineLifted: boolean
  /** In the order in which they count. */
  own: readonly OwnEvent[]
}

export interface OwnEvent {
  tpEvento: number
  sequence: number
  pending: boolean
  /** The authority does not tell whether it has it (`untold`), or whether it stands, because it is another system's: it only uses up its number. */
  doubt?: 'untold' | 'elsewhere' | null
  protocol: string | null
}

export type Verdict = { sequence: number } | { refusal: string }

export const recipient = 1 << 1
const issuer = 1 << 0
const tomador = 1 << 7
const gtv = '64'

/** The events of which the last one counts, `tpEvento` among them. */
export function rivalsOf(tpEvento: number): readonly number[] {
  return [conclusive, disagreement].find((events) => events.includes(tpEvento)) ?? [tpEvento]
}

/** Whether an event may be sent now: what the authority would refuse is refused here, with the reason (NT 2020.001; MOC CT-e 4.00 §3.7). */
export function judge(tpEvento: number, subject: EventSubject, now: Date): Verdict {
  return subject.type === 'nfe' ? judgeNfe(tpEvento, subject, now) : judgeCte(tpEvento, subject, now)
}

function judgeNfe(tpEvento: number, subject: EventSubject, now: Date): Verdict {
  if (tpEvento !== ciencia && !conclusive.includes(tpEvento))
    return refuse('Este evento não é uma manifestação de NF-e.')
  if (!(subject.roles & recipient))
    return refuse('Só o destinatário da nota pode manifestar; a sua empresa não é a destinatária.')
  if (subject.status === 3) return refuse('A nota foi cancelada pelo emitente: não há mais o que manifestar.')
  if (subject.status === 9) return refuse('O uso da nota foi denegado: não há o que manifestar.')
  const certain = subject.own.filter((event) => !event.doubt)
  const answer = certain.findLast((event) => conclusive.includes(event.tpEvento))
  if (tpEvento === ciencia && (answer || subject.own.some((event) => event.doubt === 'elsewhere')))
    return refuse('A nota já tem uma manifestação final, que vale mais do que a Ciência.')
  const standing = tpEvento === ciencia ? certain.find((event) => event.tpEvento === tpEvento) : answer
  // A second equal answer changes nothing, and would use up the only rectification allowed.
  if (standing?.tpEvento === tpEvento) return refuse(standsAlready(standing))
  const before = lastSequence(tpEvento, subject)
  if (before >= 2) return refuse('Esta manifestação já foi registrada duas vezes, que é o máximo.')
  return late(tpEvento, subject, now) ?? { sequence: before + 1 }
}

function judgeCte(tpEvento: number, subject: EventSubject, now: Date): Verdict {
  const mine = lastSequence(tpEvento, subject)
  switch (tpEvento) {
    case 110111:
    case 110110:
      if (!(subject.roles & issuer))
        return refuse('Só a transportadora que emitiu o CT-e pode cancelá-lo ou corrigi-lo.')
      break
    case 610110:
    case 610111:
      if (!(subject.roles & tomador))
        return refuse('Só quem paga o frete (tomador) pode dizer que a prestação está em desacordo.')
      break
    default:
      return refuse('Este evento não existe para CT-e.')
  }
  if (subject.model === gtv && tpEvento !== 110111) return refuse('Este evento não existe para GTV-e.')
  if (subject.status === 3) return refuse('O CT-e já foi cancelado.')
  if (subject.status === 9) return refuse('O uso do CT-e foi denegado.')
  if (tpEvento === 110111 && subject.own.some((event) => event.tpEvento === 110110)) {
    return refuse('Um CT-e que tem Carta de Correção não pode mais ser cancelado.')
  }
  if (tpEvento === 110111 && mine > 0) return refuse('O cancelamento deste CT-e já foi pedido.')
  const standing = standingDisagreement(subject)
  if (tpEvento === 610110 && standing) return refuse(standsAlready(standing))
  if (tpEvento === 610111 && !standing) return refuse('Não há desacordo registrado que possa ser cancelado.')
  if (tpEvento === 610111 && standing && !standing.pending && standing.protocol === null)
    return refuse(
      'O desacordo foi registrado por outro sistema e não temos o protocolo dele, que o cancelamento precisa citar: cancele pelo sistema que o registrou.',
    )
  if (mine >= 20) return refuse('Este evento já foi registrado vinte vezes, que é o máximo.')
  return late(tpEvento, subject, now) ?? { sequence: mine + 1 }
}

function standingDisagreement({ own }: EventSubject): OwnEvent | undefined {
  const [made, withdrawn] = disagreement.map((tpEvento) =>
    own.filter((event) => event.tpEvento === tpEvento && !event.doubt),
  )
  return made!.length > withdrawn!.length ? made!.at(-1) : undefined
}

const names: Readonly<Record<number, readonly [name: string, done: string]>> = {
  210210: ['A Ciência desta nota', 'registrada'],
  210200: ['A Confirmação desta nota', 'registrada'],
  210220: ['O Desconhecimento desta nota', 'registrado'],
  210240: ['A Operação não Realizada desta nota', 'registrada'],
  610110: ['O desacordo deste CT-e', 'registrado'],
}

function standsAlready({ tpEvento, pending }: OwnEvent): string {
  const [name, done] = names[tpEvento]!
  return `${name} já está ${pending ? 'em envio' : done}.`
}

// Sequence numbers used by other programs may be missing here: the next one follows the greatest that we know.
function lastSequence(tpEvento: number, { own }: EventSubject): number {
  const sequences = own.filter((event) => event.tpEvento === tpEvento).map((event) => event.sequence)
  return Math.max(sequences.length, ...sequences)
}

/** The last instant in which the event may be registered for this document; null when none is known. */
export function deadlineFor(tpEvento: number, { authorizedAt, model, deadlineLifted }: EventSubject): Date | null {
  // The 168 hours are those of the models 57 and 67; for GTV-e only the authority checks it (rejection 876).
  if (tpEvento === 110111 && (deadlineLifted || model === gtv)) return null
  return authorizedAt && deadlineOf(tpEvento, authorizedAt)
}

function late(tpEvento: number, subject: EventSubject, now: Date): Verdict | null {
  const until = deadlineFor(tpEvento, subject)
  if (!until || now <= until) return null
  return refuse(`O prazo deste evento terminou em ${formatBrasiliaMoment(until)}.`)
}

const refuse = (refusal: string): Verdict => ({ refusal })
