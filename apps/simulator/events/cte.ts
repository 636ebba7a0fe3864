import { chaveCheckDigit, chaveParts } from '@vigia/dfe/chave'
import { parseCnpj, parseCpf } from '@vigia/dfe/cnpj'
import { value, type XmlElement } from '@vigia/dfe/document'
import { ufByCode } from '@vigia/dfe/uf'
import type { Authority } from '../authority.ts'
import { localDateTime } from '../clock.ts'
import { isKnownEvent, readDetail, refuseCorrections } from './cte-details.ts'
import type { SentEvent } from './event.ts'
import { eventsOf, type KnownDocument, knownDocument, openReceived, registrationRecord, stands } from './known.ts'
import type { EventService } from './services.ts'
import { refuseSignature } from './signature.ts'
import { type EventVerdict, refuseDate, refusedBy } from './verdict.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const cancelamento = 110111
const cartaDeCorrecao = 110110
const desacordo = 610110
const cancelamentoDoDesacordo = 610111

/** The rules of MOC CT-e 4.00 for one event, in their order: C-1, D, E, N, and those of the event itself. */
export function judgeCteEvent(authority: Authority, service: EventService, event: SentEvent): EventVerdict {
  if (!isServedBy(service, event.chave)) return { cStat: 410 }
  const refused = refuseSignature(authority, event) ?? refuseFields(authority, event)
  if (refused !== null) return { cStat: refused }
  const detail = readDetail(event)
  if (detail === null) return { cStat: 630 }
  const { ledger, clock } = authority
  const { chave, tpEvento, nSeqEvento, author } = event
  const invalid = invalidChave(chave, clock.now())
  if (invalid !== null) return { cStat: 236, appended: `[Motivo: ${invalid}]` }
  const { mod } = chaveParts(chave)
  if (mod === '64' && tpEvento !== cancelamento) return { cStat: 595 }
  const same = eventsOf(ledger, chave, tpEvento).find((one) => one.facts.nSeqEvento === nSeqEvento)
  if (same !== undefined) return refusedBy(authority, 631, same)
  const isOfIssuer = tpEvento === cancelamento || tpEvento === cartaDeCorrecao
  if (isOfIssuer && author !== issuerIn(chave)) return { cStat: 632 }
  const document = knownDocument(ledger, chave)
  if (document === null) return { cStat: unknownChave(authority, chave) }
  if (!isOfIssuer && !document.taxIdsOf('tomador').includes(author)) return { cStat: 755 }
  const codes = { beforeIssue: 634, beforeAuthorization: 637, inFuture: 635 }
  const badDate = refuseDate(authority, event, document, codes)
  if (badDate !== null) return { cStat: badDate }
  const specific = rules[tpEvento]?.({ authority, event, document, detail, mod }) ?? null
  if (specific !== null) return specific
  return { cStat: document.isCancelled || document.isDenied ? 134 : 135 }
}

// SVSP, the virtual authoriser of three states, is the service of SP.
function isServedBy({ authorizer }: EventService, chave: string): boolean {
  const own = ufByCode(chave.slice(0, 2))?.cteAuthorizer
  return own === undefined || own.replace('SVSP', 'SP') === authorizer
}

// N01 to N07.
function refuseFields({ tpAmb }: Authority, event: SentEvent): number | null {
  const { chave, author, tpEvento, nSeqEvento } = event
  if (event.tpAmb !== String(tpAmb)) return 252
  if (event.cOrgao !== chave.slice(0, 2)) return 677
  const { serie } = chaveParts(chave)
  if (serie >= 890 && serie <= 899) return 670
  if (author.length === 14 && parseCnpj(author) === null) return 627
  if (author.length === 11 && parseCpf(author) === null) return 905
  if (event.id !== `ID${tpEvento}${chave}${String(nSeqEvento).padStart(3, '0')}`) return 628
  return isKnownEvent(tpEvento) ? null : 629
}

function invalidChave(chave: string, now: number): string | null {
  const { cUF, aamm, cnpj, mod, numero } = chaveParts(chave)
  if (chaveCheckDigit(chave.slice(0, 43)) !== Number(chave.slice(43))) return 'Digito verificador invalido'
  if (ufByCode(cUF) === undefined) return 'Codigo UF invalido'
  const year = Number(aamm.slice(0, 2))
  if (year < 6 || year > Number(localDateTime(now).slice(2, 4))) return 'Ano invalido'
  if (Number(aamm.slice(2)) < 1 || Number(aamm.slice(2)) > 12) return 'Mes invalido'
  if (parseCnpj(cnpj) === null && !(cnpj.startsWith('000') && parseCpf(cnpj.slice(3)) !== null)) return 'CNPJ invalido'
  if (!['57', '64', '67'].includes(mod)) return 'Modelo invalido'
  return numero === 0 ? 'Numero invalido' : null
}

// Série 920 to 969 carries a CPF behind three zeros.
function issuerIn(chave: string): string {
  const { cnpj, serie } = chaveParts(chave)
  return serie >= 920 && serie <= 969 ? cnpj.slice(3) : cnpj
}

// Another chave may have the same issuer and number: another month or another random code.
function unknownChave({ ledger }: Authority, chave: string): number {
  const number = (one: string) => one.slice(0, 2) + one.slice(6, 34)
  const sameNumber = [...ledger.documents.keys()].find((one) => number(one) === number(chave))
  if (sameNumber === undefined) return 217
  return sameNumber.slice(2, 6) === chave.slice(2, 6) ? 216 : 600
}

interface Case {
  authority: Authority
  event: SentEvent
  document: KnownDocument
  detail: XmlElement
  mod: string
}

const rules: Record<number, (of: Case) => EventVerdict | null> = {
  [cancelamento]: refuseCancellation,
  [cartaDeCorrecao]: (of) => refuseOther(of, true, refuseCorrections(of.detail)),
  [desacordo]: (of) => refuseOther(of, true, isOlder(of, 45 * dayMs) ? 787 : null),
  [cancelamentoDoDesacordo]: (of) => refuseOther(of, false, hasDesacordo(of) ? null : 866),
}

// Events that block a cancellation, with the event that undoes each.
const obstacles: readonly [cStat: number, tpEvento: number, undoneBy?: number][] = [
  [219, 310620],
  [219, 510620],
  [576, 240140],
  [660, 240130, 240131],
  [523, cartaDeCorrecao],
  [528, 310610, 310611],
  [862, 110180, 110181],
  [888, 240180, 240181],
]
const liberacaoDePrazo = 240170

function refuseCancellation(of: Case): EventVerdict | null {
  const { authority, document, detail, mod, event } = of
  const { ledger } = authority
  const { chave, nSeqEvento } = event
  if (nSeqEvento !== 1) return { cStat: 636 }
  if (document.isDenied) return { cStat: 205 }
  if (document.isCancelled) return alreadyCancelled(of)
  if (mod === '64') {
    if (isOlder(of, 45 * dayMs)) return { cStat: 876 }
  } else if (isOlder(of, 168 * hourMs) && !stands(ledger, chave, liberacaoDePrazo)) return { cStat: 220 }
  if (value(detail, 'nProt') !== document.protocol) return { cStat: 222 }
  // tpCTe 3: this CT-e itself takes the place of another.
  if (isSubstitute(document.root)) return { cStat: 574 }
  const obstacle = obstacles.find(([, tpEvento, undoneBy]) => stands(ledger, chave, tpEvento, undoneBy))
  return obstacle === undefined ? null : { cStat: obstacle[0] }
}

// Rules shared by the other three events; `own` is the result of the event's own rule.
function refuseOther(of: Case, mustBeAuthorized: boolean, own: number | null): EventVerdict | null {
  const { event, document, authority } = of
  if (event.nSeqEvento < 1 || event.nSeqEvento > 20) return { cStat: 636 }
  if (own !== null) return { cStat: own }
  if (mustBeAuthorized && document.isDenied) return { cStat: 205 }
  if (mustBeAuthorized && document.isCancelled) return alreadyCancelled(of)
  return stands(authority.ledger, event.chave, 240140) ? { cStat: 664 } : null
}

function alreadyCancelled({ authority, event }: Case): EventVerdict {
  const [cancellation] = eventsOf(authority.ledger, event.chave, cancelamento)
  return cancellation === undefined ? { cStat: 218 } : refusedBy(authority, 218, cancellation, 'dhCanc')
}

function isOlder({ authority, document }: Case, ms: number): boolean {
  return authority.clock.now() - document.deadlineFrom > ms
}

function isSubstitute(root: XmlElement): boolean {
  const [document] = root.children
  const info = document?.children.find((one) => one.name.startsWith('infC'))
  return value(info, 'ide/tpCTe') === '3'
}

// The protocol must be that of an event 610110 of this CT-e that was not cancelled.
function hasDesacordo({ authority, event, detail }: Case): boolean {
  const { ledger } = authority
  const protocol = value(detail, 'nProtEvPrestDes')
  const cancelled = eventsOf(ledger, event.chave, cancelamentoDoDesacordo).map((one) =>
    value(openReceived(ledger, one), 'eventoCTe/infEvento/detEvento/evCancPrestDesacordo/nProtEvPrestDes'),
  )
  const registered = eventsOf(ledger, event.chave, desacordo).map((one) => registrationRecord(ledger, one).nProt)
  return registered.includes(protocol) && !cancelled.includes(protocol)
}
