import { deadlineOf } from './deadlines.ts'

/** What the rules look at in a document of the company that wants to register an event. */
export interface Subject {
  type: 'nfe' | 'cte'
  /** Bit mask of participation codes. */
  roles: number
  /** As the filter knows it: 3 cancelled, 9 denied. */
  status: number
  authorizedAt: Date | null
  /** Events of this author that are registered or on their way, oldest first. */
  own: readonly { tpEvento: number; sequence: number }[]
}

/** Either the sequence number to send with, or why it is not sent, as a sentence for people. */
export type Verdict = { sequence: number } | { refusal: string }

const recipient = 1 << 1
const issuer = 1 << 0
const tomador = 1 << 7
const conclusive = [210200, 210220, 210240]

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
  const before = subject.own.filter((event) => event.tpEvento === tpEvento).length
  if (before >= 2) return refuse('Esta manifestação já foi registrada duas vezes, que é o máximo.')
  return late(tpEvento, subject, now) ?? { sequence: before + 1 }
}

function judgeCte(tpEvento: number, subject: Subject, now: Date): Verdict {
  const mine = subject.own.filter((event) => event.tpEvento === tpEvento).length
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

const date = new Intl.DateTimeFormat('pt-BR', { dateStyle: 'short', timeStyle: 'short', timeZone: 'America/Sao_Paulo' })

function late(tpEvento: number, { authorizedAt }: Subject, now: Date): Verdict | null {
  const until = authorizedAt && deadlineOf(tpEvento, authorizedAt)
  if (!until || now <= until) return null
  return refuse(`O prazo deste evento terminou em ${date.format(until).replace(',', ' às')}.`)
}

const refuse = (refusal: string): Verdict => ({ refusal })
