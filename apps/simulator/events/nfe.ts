import { parseCnpj, parseCpf } from '@vigia/dfe/cnpj'
import { child, value } from '@vigia/dfe/document'
import type { Authority } from '../authority.ts'
import { invalidChave } from '../distribution.ts'
import type { SentEvent } from './event.ts'
import { eventsOf, knownDocument } from './known.ts'
import { refuseSignature } from './signature.ts'
import { type EventVerdict, refuseDate, refusedBy } from './verdict.ts'

const dayMs = 86_400_000
const ciencia = 210210
const desconhecimento = 210220
const naoRealizada = 210240

const descriptions: Record<number, string> = {
  210200: 'Confirmacao da Operacao',
  [ciencia]: 'Ciencia da Operacao',
  [desconhecimento]: 'Desconhecimento da Operacao',
  [naoRealizada]: 'Operacao nao Realizada',
}

/** The deadline in days of a conclusive event by the day it is sent: Ajuste SINIEF 44/20, then 14/26. */
const conclusiveDeadlines = [
  { from: Date.parse('2026-06-01T00:00:00-03:00'), days: 90 },
  { from: Number.NEGATIVE_INFINITY, days: 180 },
]
const cienciaDays = 10
// Ajuste SINIEF 43/23.
const conclusiveTimesMax = 2

/** The rules of NT 2020.001 for one manifestação do destinatário, in their order. */
export function judgeManifestation(authority: Authority, event: SentEvent): EventVerdict {
  const refused = refuseSignature(authority, event) ?? refuseSchema(event) ?? refuseFields(authority, event)
  if (refused !== null) return { cStat: refused }
  const { ledger } = authority
  const { chave } = event
  const document = knownDocument(ledger, chave)
  if (document !== null && !document.taxIdsOf('destinatario').includes(event.author)) return { cStat: 575 }
  const { tpEvento, nSeqEvento } = event
  const same = eventsOf(ledger, chave, tpEvento).find((one) => one.facts.nSeqEvento === nSeqEvento)
  if (same !== undefined) return refusedBy(authority, 573, same)
  const isConclusive = tpEvento !== ciencia
  const conclusive = Object.keys(descriptions).flatMap((code) =>
    Number(code) === ciencia ? [] : eventsOf(ledger, chave, Number(code)),
  )
  // A destinatário that was released without an event here has sent a Ciência from another system.
  const releases = conclusive.filter((one) => one.facts.tpEvento !== desconhecimento)
  const answeredElsewhere = ledger.released.has(chave) && releases.length === 0
  if (!isConclusive && nSeqEvento === 1 && answeredElsewhere && eventsOf(ledger, chave, ciencia).length === 0)
    return { cStat: 573 }
  if (nSeqEvento > (isConclusive ? conclusiveTimesMax : 1)) return { cStat: 594 }
  if (!isConclusive && conclusive.length > 0) return { cStat: 655 }
  if (document === null) return { cStat: refuseDate(authority, event, null, dateCodes) ?? 136 }
  if (document.isCancelled || document.isDenied) {
    if (tpEvento === ciencia) return { cStat: 650 }
    if (tpEvento === desconhecimento) return { cStat: 651 }
  }
  const days = daysFor(authority, event)
  if (authority.clock.now() - document.deadlineFrom > days * dayMs) return { cStat: 596, appended: `[${days} dias]` }
  return { cStat: refuseDate(authority, event, document, dateCodes) ?? 135 }
}

const dateCodes = { beforeIssue: 577, beforeAuthorization: 579, inFuture: 578 }

// The letter of confRecebto and e2102xx.
function refuseSchema({ author, tpEvento, verEvento, detEvento }: SentEvent): number | null {
  if (author.length === 14 ? parseCnpj(author) === null : parseCpf(author) === null) {
    return author.length === 14 ? 489 : 490
  }
  const description = descriptions[tpEvento]
  if (description === undefined) return 491
  if (verEvento !== '1.00') return 492
  const [first, second, ...more] = detEvento.children
  if (detEvento.attributes.versao !== '1.00' || detEvento.text !== '' || more.length > 0) return 493
  if (first?.name !== 'descEvento' || first.text !== description || first.children.length > 0) return 493
  if (second !== undefined && second.name !== 'xJust') return 493
  const justification = child(detEvento, 'xJust')
  if (tpEvento === naoRealizada && value(detEvento, 'xJust') === undefined) return 595
  if (justification === undefined) return null
  return justification.children.length === 0 && isReason(justification.text) ? null : 493
}

/** Text of 15 to 255 characters of Latin-1, without space at its ends. */
export function isReason(text: string): boolean {
  return text.length >= 15 && text.length <= 255 && /^[!-ÿ](?:[ -ÿ]*[!-ÿ])?$/.test(text)
}

function refuseFields({ clock, tpAmb }: Authority, event: SentEvent): number | null {
  const { id, tpEvento, chave, nSeqEvento } = event
  if (id !== `ID${tpEvento}${chave}${String(nSeqEvento).padStart(2, '0')}`) return 572
  const invalid = invalidChave(chave, clock.now())
  if (invalid !== null) return invalid
  if (!/[1-79]/.test(chave.charAt(34))) return 496
  if (event.cOrgao !== '91') return 250
  return event.tpAmb === String(tpAmb) ? null : 252
}

function daysFor({ clock }: Authority, { tpEvento }: SentEvent): number {
  if (tpEvento === ciencia) return cienciaDays
  return conclusiveDeadlines.find((one) => clock.now() >= one.from)?.days ?? 0
}
