import type { Authority } from './authority.ts'
import { type CallEntry, loseResponse } from './calls.ts'
import {
  type DistributionOutcome,
  distribute,
  type ReturnedDocument,
  refuseTaxpayer,
  rejection,
} from './distribution.ts'
import type { Fault } from './faults/faults.ts'
import { certificateTaxpayer } from './holder.ts'
import { type DistributionService, readDistributionMessage, writeRetDistDFeInt } from './message.ts'
import { insteadOfResponse, type Reply, spoilResponse } from './reply.ts'
import {
  type HttpResponse,
  readSoapEnvelope,
  type SoapRequest,
  type SoapVersion,
  soapFault,
  soapResponse,
  versionOf,
} from './soap.ts'

/** A request to one of the distribution services, from the HTTP body to the HTTP body. */
export async function respondToDistribution(
  authority: Authority,
  service: DistributionService,
  request: SoapRequest,
): Promise<Reply> {
  const announced = versionOf(request.contentType)
  if (announced === null) return { status: 415, contentType: 'text/html', body: Buffer.from('') }
  const entry = authority.calls.add({ at: authority.clock.now(), service: service.service, of: 'distribution' })
  const reply = await respondToMessage(authority, service, announced, request, entry)
  entry.status = reply === 'reset' ? 0 : reply.status
  return reply
}

async function respondToMessage(
  authority: Authority,
  service: DistributionService,
  announced: SoapVersion,
  request: SoapRequest,
  entry: CallEntry,
): Promise<Reply> {
  const read = readSoapEnvelope(service, announced, request)
  if (typeof read === 'string') return soapFault(announced, 'client', read)
  const version = typeof read === 'number' ? announced : read.version
  const respond = ({ at = authority.clock.now(), ...outcome }: DistributionOutcome) => {
    Object.assign(entry, outcome, { documents: outcome.documents.length })
    return soapResponse(service, version, writeRetDistDFeInt(service, authority.tpAmb, at, outcome))
  }
  if (typeof read === 'number') return respond(rejection(read))

  const message = readDistributionMessage(service, read.data, read.ancestors, { ...read, tpAmb: authority.tpAmb })
  const taxId = typeof message === 'number' ? undefined : message.taxId
  entry.taxId = taxId
  const struck = authority.faults.strike('before', { service: service.service, of: 'distribution', taxId })
  if (struck !== undefined) {
    entry.fault = struck.fault
    return insteadOfResponse(struck, version, (cStat) => respond(rejection(cStat)))
  }
  if (typeof message === 'number') return respond(rejection(message))
  entry.query = message.query
  const refused = refuseTaxpayer(message.taxId, certificateTaxpayer(request.certificate))
  if (refused !== null) return respond(rejection(refused))

  const { ledger, clock, hourMs } = authority
  const call = { service: service.service, taxId: message.taxId, query: message.query }
  entry.counted = true
  const outcome = distribute(ledger, clock, { hourMs }, call)
  const fault = authority.faults.strike('after', { ...call, of: 'distribution' })
  const lost = () => loseResponse(authority, entry)
  if (fault === undefined) return { ...respond(outcome), lost }
  entry.fault = fault.fault
  return spoil(authority, fault, service, version, { outcome, respond, lost })
}

function spoil(
  authority: Authority,
  fault: Fault,
  service: DistributionService,
  version: SoapVersion,
  call: { outcome: DistributionOutcome; respond: (outcome: DistributionOutcome) => HttpResponse; lost: () => void },
): Reply | Promise<Reply> {
  const { outcome, respond, lost } = call
  switch (fault.fault) {
    case 'maxNsuZero':
      return { ...respond({ ...outcome, maxNSU: 0 }), lost }
    case 'corruptedDocZip':
      return { ...respond(withOneDocument(authority, outcome, corrupt)), lost }
    case 'unknownSchema':
      return { ...respond(withOneDocument(authority, outcome, unknownSchema)), lost }
    default:
      return spoilResponse(fault, respond(outcome), soapResponse(service, version, ''), lost)
  }
}

function withOneDocument(
  authority: Authority,
  outcome: DistributionOutcome,
  change: (one: ReturnedDocument) => ReturnedDocument,
): DistributionOutcome {
  if (outcome.documents.length === 0) return outcome
  const chosen = authority.random.integer(0, outcome.documents.length - 1)
  return { ...outcome, documents: outcome.documents.map((one, index) => (index === chosen ? change(one) : one)) }
}

// The deflate stream is damaged in its middle: base64 and the gzip header are fine.
function corrupt(document: ReturnedDocument): ReturnedDocument {
  const gzip = Buffer.from(document.gzip)
  const middle = Math.floor(gzip.length / 2)
  gzip.fill(0xff, middle, Math.min(middle + 16, gzip.length))
  return { ...document, gzip }
}

function unknownSchema(document: ReturnedDocument): ReturnedDocument {
  return { ...document, schema: 'procDocumentoNovo_v1.00.xsd' }
}
