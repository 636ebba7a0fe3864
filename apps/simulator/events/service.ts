import { value } from '@vigia/dfe/document'
import { tag } from '@vigia/xml/write'
import type { Authority } from '../authority.ts'
import { type CallEntry, loseResponse } from '../calls.ts'
import { dateTimeWithOffset, localDateTime } from '../clock.ts'
import { textElement } from '../generate/elements.ts'
import type { EventSending } from '../ledger.ts'
import { publishFiles } from '../publication.ts'
import { insteadOfResponse, type Reply, spoilResponse } from '../reply.ts'
import { readSoapEnvelope, type SoapRequest, type SoapVersion, soapFault, soapResponse, versionOf } from '../soap.ts'
import { judgeCteEvent } from './cte.ts'
import type { SentEvent } from './event.ts'
import { type EventMessage, readEventMessage } from './message.ts'
import { motiveOf } from './motives.ts'
import { judgeManifestation } from './nfe.ts'
import type { EventService } from './services.ts'
import { countMisuse, type EventVerdict, isBlocked, isRegistration, misuseCodes } from './verdict.ts'

/** A request to a service that receives events, from the HTTP body to the HTTP body. */
export async function respondToEvents(
  authority: Authority,
  service: EventService,
  request: SoapRequest,
): Promise<Reply> {
  const announced = versionOf(request.contentType)
  if (announced === null || !service.versions.includes(announced)) {
    return { status: 415, contentType: 'text/html', body: Buffer.from('') }
  }
  const { authorizer } = service
  const at = authority.clock.now()
  const entry = authority.calls.add({ at, service: service.service, of: 'events', authorizer })
  const reply = await respondToMessage(authority, service, announced, request, entry)
  entry.status = reply === 'reset' ? 0 : reply.status
  return reply
}

async function respondToMessage(
  authority: Authority,
  service: EventService,
  announced: SoapVersion,
  request: SoapRequest,
  entry: CallEntry,
): Promise<Reply> {
  const { ledger, faults } = authority
  const envelope = readSoapEnvelope(service, announced, request)
  if (typeof envelope === 'string') return soapFault(announced, 'client', envelope)
  const version = typeof envelope === 'number' ? announced : envelope.version
  const reject = (cStat: number, message?: EventMessage) => {
    Object.assign(entry, { cStat, xMotivo: motiveOf(service.service, cStat) })
    return soapResponse(service, version, writeRejection(authority, service, cStat, message))
  }
  if (typeof envelope === 'number') return reject(envelope)
  const message = readEventMessage(service, envelope)
  const taxId = message.events[0]?.author
  entry.taxId = taxId
  const call = { service: service.service, of: 'events', taxId } as const
  const struck = faults.strike('before', call)
  if (struck !== undefined) {
    entry.fault = struck.fault
    return insteadOfResponse(struck, version, (cStat) => reject(cStat, message))
  }
  if (message.refused !== undefined) return reject(message.refused, message)

  const first = ledger.sendings.length
  const results = message.events.map((event) => takeEvent(authority, service, event))
  const last = ledger.sendings.at(-1)
  const sendings = results.map((_, index) => first + index)
  const cStat = service.service === 'nfe' ? 128 : last?.cStat
  Object.assign(entry, { cStat, events: results.length, counted: true, sendings })
  const written = service.service === 'nfe' ? writeLote(authority, service, message.idLote, 128, results) : results[0]
  const whole = soapResponse(service, version, written ?? '')
  const lost = () => loseResponse(authority, entry)
  const fault = faults.strike('after', call)
  if (fault === undefined) return { ...whole, lost }
  entry.fault = fault.fault
  return spoilResponse(fault, whole, soapResponse(service, version, ''), lost)
}

/** Judges an event, registers it if allowed, and returns the retEvento. */
function takeEvent(authority: Authority, service: EventService, event: SentEvent): string {
  const { ledger, clock, xmlDelayMs } = authority
  const { chave, tpEvento, nSeqEvento, author } = event
  const verdict = isBlocked(authority, service, event)
    ? { cStat: misuseCodes[service.service] }
    : countMisuse(authority, service, event, judge(authority, service, event))
  const { cStat } = verdict
  const sending: EventSending = {
    type: 'sending',
    at: clock.now(),
    service: service.service,
    authorizer: service.authorizer,
    chave,
    tpEvento,
    nSeqEvento,
    author,
    cStat,
  }
  if (!isRegistration(cStat)) {
    ledger.append([sending])
    return writeResult(authority, service, event, verdict, sending)
  }
  sending.nProt = newProtocol(authority, service, event)
  const result = writeResult(authority, service, event, verdict, sending)
  const root = service.service === 'nfe' ? 'procEventoNFe' : 'procEventoCTe'
  const versao = service.service === 'nfe' ? '1.00' : '4.00'
  const bytes = Buffer.from(tag(root, { xmlns: service.messageNamespace, versao }, event.xml, result))
  const incoming = { load: () => bytes, also: [sending] }
  const [reception] = publishFiles(ledger, clock, [incoming], { activateParties: false, xmlDelayMs })
  if (reception?.outcome !== 'accepted') throw new Error(`event not taken: ${reception?.reason}`)
  return result
}

function judge(authority: Authority, service: EventService, event: SentEvent): EventVerdict {
  return service.service === 'nfe' ? judgeManifestation(authority, event) : judgeCteEvent(authority, service, event)
}

// Kind and órgão, year, and a number that no other registration of this authority has.
function newProtocol({ ledger, clock }: Authority, { service }: EventService, { chave }: SentEvent): string {
  const prefix = service === 'nfe' ? '891' : `1${chave.slice(0, 2)}`
  return `${prefix}${localDateTime(clock.now()).slice(2, 4)}${String(ledger.sendings.length + 1).padStart(10, '0')}`
}

function writeResult(
  authority: Authority,
  service: EventService,
  event: SentEvent,
  { cStat, appended }: EventVerdict,
  { at, nProt }: EventSending,
): string {
  const isNfe = service.service === 'nfe'
  const registered = nProt !== undefined
  const recipient = event.author.length === 14 ? 'CNPJDest' : 'CPFDest'
  return tag(
    isNfe ? 'retEvento' : 'retEventoCTe',
    { xmlns: isNfe ? undefined : service.messageNamespace, versao: isNfe ? '1.00' : '4.00' },
    tag(
      'infEvento',
      null,
      textElement('tpAmb', authority.tpAmb),
      textElement('verAplic', service.verAplic),
      textElement('cOrgao', isNfe ? '91' : event.chave.slice(0, 2)),
      textElement('cStat', cStat),
      textElement('xMotivo', motiveOf(service.service, cStat, appended)),
      textElement(isNfe ? 'chNFe' : 'chCTe', event.chave),
      textElement('tpEvento', event.tpEvento),
      registered && textElement('xEvento', descriptionOf(event)),
      textElement('nSeqEvento', event.nSeqEvento),
      registered && isNfe && textElement(recipient, event.author),
      // The layout of the NF-e also requires the date of a rejection.
      (registered || isNfe) && textElement('dhRegEvento', dateTimeWithOffset(at)),
      textElement('nProt', nProt),
    ),
  )
}

// The Ambiente Nacional does not always repeat descEvento: the texts are informative.
function descriptionOf({ tpEvento, detEvento }: SentEvent): string | undefined {
  if (tpEvento === 210200) return 'Confirmacao de Operacao registrada'
  return value(detEvento, 'descEvento') ?? value(detEvento.children[0], 'descEvento')
}

function writeRejection(authority: Authority, service: EventService, cStat: number, message?: EventMessage): string {
  if (service.service === 'nfe') return writeLote(authority, service, message?.idLote ?? '0', cStat, [])
  return tag(
    'retEventoCTe',
    { xmlns: service.messageNamespace, versao: '4.00' },
    tag('infEvento', null, ...head(authority, service, cStat)),
  )
}

function writeLote(
  authority: Authority,
  service: EventService,
  idLote: string,
  cStat: number,
  results: string[],
): string {
  return tag(
    'retEnvEvento',
    { xmlns: service.messageNamespace, versao: '1.00' },
    textElement('idLote', idLote),
    ...head(authority, service, cStat),
    ...results,
  )
}

function head({ tpAmb }: Authority, { verAplic, cOrgao, service }: EventService, cStat: number): string[] {
  return [
    textElement('tpAmb', tpAmb),
    textElement('verAplic', verAplic),
    textElement('cOrgao', cOrgao),
    textElement('cStat', cStat),
    textElement('xMotivo', motiveOf(service, cStat)),
  ]
}
