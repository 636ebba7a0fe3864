import type { X509Certificate } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeXml, parseXml, type XmlElement } from '@vigia/xml/parse'
import type { Authority, CallEntry } from './authority.ts'
import { type Answer, type AnswerDocument, distribute, loseAnswer, refuseTaxpayer, rejection } from './distribution.ts'
import type { Fault } from './faults.ts'
import { certificateTaxpayer } from './holder.ts'
import { type DistributionService, readMessage, writeAnswer } from './message.ts'
import { htmlError } from './pages.ts'
import {
  actionOf,
  dataOf,
  type HttpAnswer,
  refuseEnvelope,
  type SoapVersion,
  soapAnswer,
  soapFault,
  versionOf,
} from './soap.ts'

/** What the server does with a call: an answer, perhaps cut short, or the connection reset. */
export type Reply = (HttpAnswer & { sendBytes?: number; lost?: () => void }) | 'reset'

export interface SoapRequest {
  contentType: string
  soapAction: string | undefined
  body: Buffer
  certificate: X509Certificate
}

/** A request to one of the distribution services, from the HTTP body to the HTTP body. */
export async function answerDistribution(
  authority: Authority,
  service: DistributionService,
  request: SoapRequest,
): Promise<Reply> {
  const version = versionOf(request.contentType)
  if (version === null) return { status: 415, contentType: 'text/html', body: Buffer.from('') }
  const entry: CallEntry = { at: authority.clock.now(), service: service.service }
  authority.calls.add(entry)
  const reply = await answerMessage(authority, service, version, request, entry)
  entry.status = reply === 'reset' ? 0 : reply.status
  return reply
}

async function answerMessage(
  authority: Authority,
  service: DistributionService,
  version: SoapVersion,
  request: SoapRequest,
  entry: CallEntry,
): Promise<Reply> {
  const answer = (outcome: Answer) => {
    Object.assign(entry, outcome, { documents: outcome.documents.length })
    return soapAnswer(service, version, writeAnswer(service, authority.tpAmb, authority.clock.now(), outcome))
  }
  const read = readEnvelope(service, version, request)
  if (typeof read === 'string') return soapFault(version, 'client', read)
  if (typeof read === 'number') return answer(rejection(read))

  const message = readMessage(service, read.data, read.ancestors, { ...read, tpAmb: authority.tpAmb })
  const taxId = typeof message === 'number' ? undefined : message.taxId
  entry.taxId = taxId
  const struck = authority.faults.strike('before', service.service, taxId)
  if (struck !== undefined) {
    entry.fault = struck.fault
    return insteadOfAnswer(struck, version, answer)
  }
  if (typeof message === 'number') return answer(rejection(message))
  entry.query = message.query
  const refused = refuseTaxpayer(message.taxId, certificateTaxpayer(request.certificate))
  if (refused !== null) return answer(rejection(refused))

  const { ledger, clock, hourMs } = authority
  const call = { service: service.service, taxId: message.taxId, query: message.query }
  const outcome = distribute(ledger, clock, { hourMs }, call)
  const fault = authority.faults.strike('after', service.service, message.taxId)
  const lost = () => loseAnswer(ledger, service.service, message.taxId)
  if (fault === undefined) return { ...answer(outcome), lost }
  entry.fault = fault.fault
  return spoil(authority, fault, service, version, { outcome, answer, lost })
}

interface Envelope {
  data: XmlElement
  ancestors: XmlElement[]
  /** Size of the data, from its start tag to its end tag. */
  sourceBytes: number
  utf8: boolean
}

// The reason of a SOAP Fault, or the code of a rejection, or the data of the request.
function readEnvelope(
  service: DistributionService,
  version: SoapVersion,
  request: SoapRequest,
): Envelope | string | number {
  const { body } = request
  const declared = /^<\?xml[^>]*?encoding\s*=\s*["']([^"']+)["']/.exec(body.subarray(0, 200).toString('latin1'))?.[1]
  let source: string
  let envelope: XmlElement
  try {
    source = decodeXml(body)
  } catch {
    return 402
  }
  try {
    envelope = parseXml(source)
  } catch {
    return 243
  }
  const reason = refuseEnvelope(service, version, actionOf(version, request.contentType, request.soapAction), envelope)
  if (reason !== null) return reason
  const found = dataOf(service, envelope)
  if (found === null) {
    return 'Server was unable to process request. ---> Object reference not set to an instance of an object.'
  }
  const sourceBytes = Buffer.byteLength(source.slice(found.data.start, found.data.end))
  return { ...found, sourceBytes, utf8: declared === undefined || /^utf-?8$/i.test(declared) }
}

function insteadOfAnswer(fault: Fault, version: SoapVersion, answer: (outcome: Answer) => HttpAnswer): Reply {
  switch (fault.fault) {
    case 'reset':
      return 'reset'
    case 'http403':
      return htmlError(403)
    case 'http500':
      return htmlError(500)
    case 'http503':
      return htmlError(503)
    case 'soapFault':
      return soapFault(version, 'server', 'Server was unable to process request. ---> Timeout expired.')
    default:
      return answer(rejection(Number(fault.fault)))
  }
}

async function spoil(
  authority: Authority,
  fault: Fault,
  service: DistributionService,
  version: SoapVersion,
  call: { outcome: Answer; answer: (outcome: Answer) => HttpAnswer; lost: () => void },
): Promise<Reply> {
  const { outcome, answer, lost } = call
  const whole = answer(outcome)
  switch (fault.fault) {
    case 'resetAfter':
      lost()
      return 'reset'
    case 'truncated':
      lost()
      return { ...whole, sendBytes: Math.floor(whole.body.length / 2) }
    case 'empty':
      lost()
      return { ...whole, body: Buffer.alloc(0) }
    case 'emptyResult':
      lost()
      return soapAnswer(service, version, '')
    case 'maxNsuZero':
      return { ...answer({ ...outcome, maxNSU: 0 }), lost }
    case 'corruptedDocZip':
      return { ...answer(withOneDocument(authority, outcome, corrupt)), lost }
    case 'unknownSchema':
      return { ...answer(withOneDocument(authority, outcome, unknownSchema)), lost }
    default:
      await sleep(fault.delayMs)
      return { ...whole, lost }
  }
}

function withOneDocument(
  authority: Authority,
  outcome: Answer,
  change: (one: AnswerDocument) => AnswerDocument,
): Answer {
  if (outcome.documents.length === 0) return outcome
  const chosen = authority.random.integer(0, outcome.documents.length - 1)
  return { ...outcome, documents: outcome.documents.map((one, index) => (index === chosen ? change(one) : one)) }
}

// The deflate stream is damaged in its middle: base64 and the gzip header are fine.
function corrupt(document: AnswerDocument): AnswerDocument {
  const gzip = Buffer.from(document.gzip)
  const middle = Math.floor(gzip.length / 2)
  gzip.fill(0xff, middle, Math.min(middle + 16, gzip.length))
  return { ...document, gzip }
}

function unknownSchema(document: AnswerDocument): AnswerDocument {
  return { ...document, schema: 'procDocumentoNovo_v1.00.xsd' }
}
