import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './faults/faults.ts'
import { htmlError } from './pages.ts'
import { type HttpResponse, type SoapVersion, soapFault } from './soap.ts'

/** Reply to a call: a response, possibly truncated, or a connection reset. */
export type Reply = (HttpResponse & { sendBytes?: number; lost?: () => void }) | 'reset'

/** The response of a fault that stops a call; `reject` writes the rejections of the service. */
export function insteadOfResponse(fault: Fault, version: SoapVersion, reject: (cStat: number) => HttpResponse): Reply {
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
      return reject(Number(fault.fault))
  }
}

/** Applies a fault to the response of a processed call. */
export async function spoilResponse(
  fault: Fault,
  whole: HttpResponse,
  emptyResult: HttpResponse,
  lost: () => void,
): Promise<Reply> {
  if (fault.fault === 'delay') {
    await sleep(fault.delayMs)
    return { ...whole, lost }
  }
  lost()
  switch (fault.fault) {
    case 'resetAfter':
      return 'reset'
    case 'truncated':
      return { ...whole, sendBytes: Math.floor(whole.body.length / 2) }
    case 'empty':
      return { ...whole, body: Buffer.alloc(0) }
    default:
      return emptyResult
  }
}
