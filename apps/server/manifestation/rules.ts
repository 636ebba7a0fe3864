import { deadlineOf } from './deadlines.ts'
import { momentText } from './wording.ts'

/** What the rules look at in a document of the company that wants to register an event. */
export interface Subject {
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
  /** Events of this author that are registered or on their way, oldest first. */
  own: readonly { tpEvento: number; sequence: number }[]
}

/** Either the sequence number to send with, or why it is not sent, as a sentence for people. */
export type Verdict = { sequence: number } | { refusal: string }

const recipient = 1 << 1
const issuer = 1 << 0
const tomador = 1 << 7
const conclusive = [210200, 210220, 210240]
const gtv = '64'

/** Whether an event may be sent now: what the authority would refuse is refused here, with the reason (NT 2020.001; MOC CT-e 4.00 §3.7). */
export function judge(tpEvento: number, subject: Subject, now: Date): Verdict {
  return subject.type === 'nfe' ? judgeNfe(tpEvento, subject, now) : judgeCte(tpEvento, subject, now)
}

function judgeNfe(tpEvento: number, subject: Subject, now: Date): Verdict {
  if (tpEvento !== 210210 && !conclusive.includes(tpEvento))
    return refuse('Este evento não é uma manifestação de NF-e.')
  if (!(subject.roles & recipient))
    return refuse('Só o destinatário da nota pode manifestar; a sua empresa não é a destinatária.')
  if (subject.status === 3) return refuse('A nota foi cancelada pelo emitente: não há mais o que manifestar.')
  if (subject.status === 9) return refuse('O uso da nota foi denegado: não há o que manifestar.')
  if (tpEvento === 210210) {
    if (subject.own.some((event) => conclusive.includes(event.tpEvento))) {
      return refuse('A nota já tem uma manifestação final, que vale mais do que a Ciência.')
    }
    if (subject.own.some((event) => event.tpEvento === 210210)) return refuse('A Ciência desta nota já foi registrada.')
  }
  const before = lastSequence(tpEvento, subject)
  if (before >= 2) return refuse('Esta manifestação já foi registrada duas vezes, que é o máximo.')
  return late(tpEvento, subject, now) ?? { sequence: before + 1 }
}

function judgeCte(tpEvento: number, subject: Subject, now: Date): Verdict {
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
  if (tpEvento === 610111 && !isInDisagreement(subject))
    return refuse('Não há desacordo registrado que possa ser cancelado.')
  if (mine >= 20) return refuse('Este evento já foi registrado vinte vezes, que é o máximo.')
  return late(tpEvento, subject, now) ?? { sequence: mine + 1 }
}

function isInDisagreement({ own }: Subject): boolean {
  const count = (tpEvento: number) => own.filter((event) => event.tpEvento === tpEvento).length
  return count(610110) > count(610111)
}

// Numbers that were given elsewhere may be missing here: the next one follows the greatest.
function lastSequence(tpEvento: number, { own }: Subject): number {
  const sequences = own.filter((event) => event.tpEvento === tpEvento).map((event) => event.sequence)
  return Math.max(sequences.length, ...sequences)
}

/** The last instant in which the event may be registered for this document; null when none is known. */
export function deadlineFor(tpEvento: number, { authorizedAt, model, deadlineLifted }: Subject): Date | null {
  // The 168 hours are those of the models 57 and 67; of the GTV-e the authority has the word (876).
  if (tpEvento === 110111 && (deadlineLifted || model === gtv)) return null
  return authorizedAt && deadlineOf(tpEvento, authorizedAt)
}

function late(tpEvento: number, subject: Subject, now: Date): Verdict | null {
  const until = deadlineFor(tpEvento, subject)
  if (!until || now <= until) return null
  return refuse(`O prazo deste evento terminou em ${momentText(until)}.`)
}

const refuse = (refusal: string): Verdict => ({ refusal })
