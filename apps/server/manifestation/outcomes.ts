import type { SefazError } from '@vigia/sefaz/error'
import { type EventResult, eventOutcome } from '@vigia/sefaz/events'
import type { Service } from '../platform/service.ts'
import type { QueuedEvent } from './queue.ts'
import { momentText } from './wording.ts'

/** What follows from an answer, or from its absence. */
export interface Consequence {
  state: 'registered' | 'rejected' | 'waiting'
  /** For the person. */
  message: string
  /** Of what waits: until it is sent again, in units of the authority's hour. */
  waitHours?: number
  /** The event and its answer are a document to keep. */
  keeps?: boolean
  /** It is signed anew, with the certificate that is valid then. */
  signsAnew?: boolean
  /** Nothing leaves for this author meanwhile. */
  blocksAuthor?: boolean
}

/** What was said of an event; of a lote that was not looked into, code and words only. */
export type Said = Pick<EventResult, 'cStat' | 'xMotivo'> &
  Partial<Pick<EventResult, 'protocol' | 'registeredAt' | 'xml'>>

const minutes = (count: number) => count / 60

// Bad certificates: of the connection, of the signature, of another CNPJ. Somebody replaces it, and the event can leave.
const certificateCodes = [213, 280, 281, 282, 283, 284, 285, 286, 290, 291, 292, 293, 294, 295, 296]
/** Whether a rejection is about the certificate and not about the event. */
export const isAboutCertificate = (cStat: number) => certificateCodes.includes(cStat)

/** Codes of a service that takes nothing from anybody for a while, with the pause in hours. */
export const servicePauses: Readonly<Record<number, number>> = { 108: minutes(10), 109: minutes(30) }

const letterOfCorrection = 110110
// The clocks of both sides may differ by as much.
const toleranceMs = 5 * 60_000

/** What the authority's answer about one event asks for. */
export function decideAnswer(service: Service, event: QueuedEvent, said: Said): Consequence {
  const { cStat } = said
  if (isAboutCertificate(cStat)) return certificateRefused(said)
  switch (eventOutcome(service, cStat)) {
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

function registeredMessage({ cStat, registeredAt, protocol }: Said): string {
  const at = registeredAt === undefined ? Number.NaN : Date.parse(registeredAt)
  const when = Number.isNaN(at) ? '' : ` em ${momentText(new Date(at))}`
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
  // Whose letter it is matters: its words are not ours, and a new one would take its place.
  if (event.tpEvento === letterOfCorrection && !isOurs(event, said)) {
    const message = `Outro sistema já registrou a Carta de Correção número ${event.sequence} deste CT-e, e a sua não foi registrada. Uma nova carta substitui a anterior por inteiro: peça de novo com todas as correções que devem valer.`
    return { state: 'rejected', message }
  }
  const subject = service === 'nfe' ? 'Já estava registrada na SEFAZ' : 'O evento já estava registrado na SEFAZ'
  const why = event.isUnknown
    ? ': a resposta a um envio anterior tinha se perdido'
    : ', por outro sistema ou pelo portal'
  return {
    state: 'registered',
    message: `${subject}${why}${said.protocol ? ` (protocolo ${said.protocol})` : ''}.`,
    keeps: said.xml !== undefined,
  }
}

function isOurs({ isUnknown, requestedAt }: QueuedEvent, { registeredAt }: Said): boolean {
  const at = registeredAt === undefined ? Number.NaN : Date.parse(registeredAt)
  return isUnknown && !(at < requestedAt.getTime() - toleranceMs)
}

function certificateRefused(said: Said): Consequence {
  return {
    state: 'waiting',
    waitHours: 1,
    signsAnew: true,
    message: `A SEFAZ não aceitou o certificado digital: ${wordsOf(said)} (código ${said.cStat}). O evento continua na fila e sai com o próximo certificado aceito; confira o certificado da empresa.`,
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
    // Each time longer: the authority counts equal rejections of one event, and blocks after twenty.
    const message = `A SEFAZ teve um erro interno (código 999). O evento continua na fila e é enviado de novo sozinho.`
    return { state: 'waiting', waitHours: minutes(15) * 2 ** Math.min(failures, 6), message }
  }
  return {
    state: 'waiting',
    waitHours: 1,
    blocksAuthor: true,
    message: `A SEFAZ bloqueou por uma hora os envios deste CNPJ (consumo indevido, código ${cStat}). Enviar agora só aumentaria a espera: o evento sai sozinho depois.`,
  }
}

// NT 2020.001 and MOC CT-e: the same event again, which the authority registers once.
const unknownWaits = [1, 5, 15, 30, 60].map(minutes)

const lost =
  'A resposta da SEFAZ se perdeu no caminho. O mesmo evento é enviado de novo sozinho, e a SEFAZ o registra uma vez só.'
const unreached = 'Não conseguimos falar com a SEFAZ agora. O evento continua na fila e é enviado de novo sozinho.'

/** What follows when no answer came: whether the event was registered is not known. */
export function decideSilence({ failures }: QueuedEvent, error: SefazError | null): Consequence {
  const waitHours = unknownWaits[Math.min(failures, unknownWaits.length - 1)]!
  // The connection itself was refused: our certificate, or theirs, and no hurry helps.
  if (error && ['tls-chain', 'handshake', 'forbidden'].includes(error.kind))
    return {
      state: 'waiting',
      waitHours: Math.max(waitHours, minutes(30)),
      message: `${error.message} O evento continua na fila.`,
    }
  const isUnreached = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|no connection/.test(
    error?.detail ?? '',
  )
  return { state: 'waiting', waitHours, message: isUnreached ? unreached : lost }
}

function wordsOf({ xMotivo }: Said): string {
  const words = xMotivo
    .replace(/^Rejei[cç][aã]o\s*:\s*/i, '')
    .trim()
    .replace(/\.$/, '')
  return words || 'sem explicação'
}
