import { formatBrasiliaMoment } from '@vigia/contract/text'
import { cartaCorrecao } from '@vigia/dfe/families/cte'
import { conclusive } from '@vigia/dfe/families/nfe'
import { isOfTheNetwork, type SefazError } from '@vigia/sefaz/error'
import type { Service } from '../../platform/service.ts'
import { protocols } from '../protocols.ts'
import type { QueuedEvent } from '../queue.ts'
import type { Said } from './protocol.ts'

export interface Consequence {
  /** `waiting`: this sending certainly registered nothing; `sending`: that is not known; `unconfirmed`: the authority does not tell what stands. */
  state: 'registered' | 'rejected' | 'waiting' | 'sending' | 'unconfirmed'
  message: string
  /** Until an unsettled event is sent again, in units of the authority's hour. */
  waitHours?: number
  /** The event leaves anew with this number, because the one that it had is another system's. */
  sequence?: number
  /** The event and its response are a document to keep. */
  keeps?: boolean
  /** Failures of this code are counted separately, because it may be repeated only a few times. */
  countsAlone?: boolean
  /** Nothing leaves for this author meanwhile. */
  blocksAuthor?: boolean
}

const minutes = (count: number) => count / 60

/** Rejections about the certificate (of the connection, of the signature, of another CNPJ): with another one the event can be sent. */
export const certificateCodes = [213, 280, 281, 282, 283, 284, 285, 286, 290, 291, 292, 293, 294, 295, 296]
export const isAboutCertificate = (cStat: number) => certificateCodes.includes(cStat)

const clockTriesMax = 5

/**
 * Whether an event gets new bytes. New: its old ones can never be accepted. Else old: it may be
 * registered, or our clock was ahead. Else new.
 */
export function isSignedAnew(
  service: Service,
  { isUnknown, cStat }: Pick<QueuedEvent, 'isUnknown' | 'cStat'>,
): boolean {
  if (cStat === null) return !isUnknown
  const { ahead, behind } = protocols[service].clock
  return isAboutCertificate(cStat) || behind.includes(cStat) || (!isUnknown && cStat !== ahead)
}

/** Codes of a service that is down for a while, with the pause in hours. */
export const servicePauses: Readonly<Record<number, number>> = { 108: minutes(10), 109: minutes(30) }

// How much the clocks of both sides may differ.
const toleranceMs = 5 * 60_000

export function decideResponse(service: Service, event: QueuedEvent, said: Said): Consequence {
  const { cStat, ofLoteWith } = said
  if (isAboutCertificate(cStat)) return certificateRefused(said)
  const { ahead, behind } = protocols[service].clock
  if (cStat === ahead || behind.includes(cStat)) return clockRefused(event, said)
  const outcome = protocols[service].outcome(cStat)
  // A registration is confirmed for each event: a lote that claims one confirms nothing.
  if (ofLoteWith !== undefined && (outcome === 'registered' || outcome === 'already-registered'))
    return decideSilence(event, null)
  // The response does not say for which of its events a lote is rejected, and this one may be registered.
  if (ofLoteWith !== undefined && ofLoteWith > 1 && outcome === 'rejected' && event.isUnknown)
    return { state: 'sending', waitHours: minutes(1), message: loteRefused(said) }
  switch (outcome) {
    case 'registered':
      return { state: 'registered', message: registeredMessage(said), keeps: said.xml !== undefined }
    case 'already-registered':
      return alreadyRegistered(service, event, said)
    case 'rejected':
      return { state: 'rejected', message: `A SEFAZ recusou: ${wordsOf(said)} (código ${cStat}).` }
    case 'retry':
      return passing(event, said)
  }
}

function loteRefused(said: Said): string {
  return `A SEFAZ recusou o lote inteiro: ${wordsOf(said)} (código ${said.cStat}). Este evento pode ter sido registrado antes; ele é enviado de novo sozinho para saber.`
}

function registeredMessage(said: Said): string {
  const { cStat, protocol } = said
  const at = registrationTime(said)
  const when = Number.isNaN(at) ? '' : ` em ${formatBrasiliaMoment(new Date(at))}`
  const note =
    cStat === 136
      ? ' A base nacional ainda não tem o documento; o registro vale.'
      : cStat === 134
        ? ' O documento já não estava autorizado.'
        : ''
  return `Registro feito na SEFAZ${when}${protocol ? `, protocolo ${protocol}` : ''}.${note}`
}

function alreadyRegistered(service: Service, event: QueuedEvent, said: Said): Consequence {
  if (said.cStat === 655) {
    const message =
      'A nota já tem na SEFAZ uma manifestação final, que vale mais do que a Ciência: nada mais é preciso.'
    return { state: 'registered', message }
  }
  if (event.tpEvento === cartaCorrecao && !isOurs(event, said)) return letterOfOthers(event)
  const ours = isOurs(event, said)
  if (!ours && conclusive.includes(event.tpEvento)) return answeredElsewhere(event)
  if (!ours && event.rivalAt && registrationTime(said) < event.rivalAt.getTime())
    return { state: 'rejected', message: overtaken, keeps: said.xml !== undefined }
  const subject = protocols[service].words.alreadyRegistered
  const why = ours ? ': a resposta a um envio anterior tinha se perdido' : ', por outro sistema ou pelo portal'
  return {
    state: 'registered',
    message: `${subject}${why}${said.protocol ? ` (protocolo ${said.protocol})` : ''}.`,
    keeps: said.xml !== undefined,
  }
}

// 573 says that the number is taken, not which of the author's answers was registered last. Ajuste SINIEF 43/23 admits each of them twice.
function answeredElsewhere({ sequence }: QueuedEvent): Consequence {
  if (sequence === 1)
    return {
      state: 'waiting',
      sequence: 2,
      waitHours: 0,
      message:
        'Outro sistema já tinha registrado esta resposta, e a SEFAZ não diz se é ela que vale: a sua sai de novo, com o número 2, para que passe a valer.',
    }
  return {
    state: 'unconfirmed',
    message:
      'Outro sistema já registrou esta resposta as duas vezes que a SEFAZ permite, e a SEFAZ não diz qual resposta vale agora. Consulte a nota com o certificado da empresa em www.nfe.fazenda.gov.br; se não for a resposta certa, envie daqui outra, que passa a valer.',
  }
}

/** Message of an event when an equal answer, requested after it, has the next number. */
export const replacedByEqual =
  'Outro sistema já tinha registrado esta resposta; a que foi pedida depois, igual a esta, sai com o número seguinte e passa a valer.'

/** Message when the authority did not tell for a day whether it has the event. */
export const neverTold =
  'Não sabemos se foi registrado: em um dia a SEFAZ não respondeu o que fez com este evento, e ele não sai mais sozinho. Use Enviar de novo: a SEFAZ o registra uma vez só, e diz se já o tinha.'

/** Message of a registered event that a later event of its author has replaced. */
export const overtaken =
  'Este evento já estava registrado na SEFAZ, mas outro, registrado depois, tomou o lugar dele. Nada mudou: peça de novo para que ele volte a valer.'

/** Consequence when the number belongs to another sender's Carta de Correção with another text. */
export function letterOfOthers({ sequence }: Pick<QueuedEvent, 'sequence'>): Consequence {
  const message = `Outro sistema já registrou a Carta de Correção número ${sequence} deste CT-e, e a sua não foi registrada. Uma nova carta substitui a anterior por inteiro: peça de novo com todas as correções que devem valer.`
  return { state: 'rejected', message }
}

function isOurs({ isUnknown, requestedAt }: QueuedEvent, said: Said): boolean {
  return isUnknown && !(registrationTime(said) < requestedAt.getTime() - toleranceMs)
}

/** When the authority registered it; NaN when it did not say so. */
export function registrationTime({ registeredAt }: Pick<Said, 'registeredAt'>): number {
  return registeredAt === undefined ? Number.NaN : Date.parse(registeredAt)
}

function certificateRefused(said: Said): Consequence {
  return {
    state: 'waiting',
    waitHours: 1,
    countsAlone: true,
    message: `A SEFAZ não aceitou o certificado digital: ${wordsOf(said)} (código ${said.cStat}). O evento continua na fila e sai com o próximo certificado aceito; confira o certificado da empresa.`,
  }
}

function clockRefused({ cStat, failures }: QueuedEvent, said: Said): Consequence {
  const problem = `A SEFAZ não aceitou a data do evento: ${wordsOf(said)} (código ${said.cStat}). O relógio deste servidor parece errado; quem cuida dele precisa acertá-lo.`
  const tries = cStat === said.cStat ? failures : 0
  if (tries >= clockTriesMax) return { state: 'rejected', message: problem }
  return {
    state: 'waiting',
    waitHours: minutes(15) * 2 ** tries,
    countsAlone: true,
    message: `${problem} O evento continua na fila e é enviado de novo sozinho.`,
  }
}

function passing({ failures }: QueuedEvent, said: Said): Consequence {
  const { cStat } = said
  const pause = servicePauses[cStat]
  if (pause !== undefined) {
    const message = `O serviço da SEFAZ está parado: ${wordsOf(said)} (código ${cStat}). O evento continua na fila e sai sozinho quando o serviço voltar.`
    return { state: 'waiting', waitHours: pause, message }
  }
  if (cStat === 999) {
    // Each time longer, because the authority blocks after twenty equal rejections of one event.
    const message = `A SEFAZ teve um erro interno (código 999). O evento continua na fila e é enviado de novo sozinho.`
    return { state: 'sending', waitHours: minutes(15) * 2 ** Math.min(failures, 6), message }
  }
  return {
    state: 'waiting',
    waitHours: 1,
    blocksAuthor: true,
    message: `A SEFAZ bloqueou por uma hora os envios deste CNPJ (consumo indevido, código ${cStat}). Enviar agora só aumentaria a espera: o evento sai sozinho depois.`,
  }
}

// The same event is registered once (NT 2020.001, MOC CT-e). The authority blocks its author at the twentieth equal rejection.
const unknownWaits = [1, 5, 15, 30, 60, 120].map(minutes)

const lost =
  'A resposta da SEFAZ se perdeu no caminho. O mesmo evento é enviado de novo sozinho, e a SEFAZ o registra uma vez só.'
const garbled =
  'O serviço da SEFAZ respondeu com erro, e não sabemos se o evento foi registrado. O mesmo evento é enviado de novo sozinho, e a SEFAZ o registra uma vez só.'

/** Consequence without a response: unless nothing left, it is unknown whether the event was registered. */
export function decideSilence({ failures }: QueuedEvent, error: SefazError | null): Consequence {
  const waitHours = unknownWaits[Math.min(failures, unknownWaits.length - 1)]!
  if (error && (!error.sent || error.kind === 'certificate' || error.kind === 'forbidden')) {
    return {
      state: error.sent ? 'sending' : 'waiting',
      // An early retry does not help where somebody has to change something first.
      waitHours: isOfTheNetwork(error) ? waitHours : Math.max(waitHours, minutes(30)),
      message: `${error.message} O evento continua na fila e é enviado de novo sozinho.`,
    }
  }
  const isGarbled = error !== null && ['http', 'fault', 'not-xml'].includes(error.kind)
  return { state: 'sending', waitHours, message: isGarbled ? garbled : lost }
}

function wordsOf({ xMotivo }: Said): string {
  const words = xMotivo
    .replace(/^Rejei[cç][aã]o\s*:\s*/i, '')
    .trim()
    .replace(/\.$/, '')
  return words || 'sem explicação'
}
