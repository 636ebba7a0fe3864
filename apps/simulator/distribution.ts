import { gunzipSync, gzipSync } from 'node:zlib'
import { chaveCheckDigit, chaveParts } from '@vigia/dfe/chave'
import { cnpjBase, parseCnpj, parseCpf } from '@vigia/dfe/cnpj'
import { ufByCode } from '@vigia/dfe/uf'
import { type Clock, localDateTime } from './clock.ts'
import type { Service } from './inspect.ts'
import type { ContentRef, Ledger, Published, ReceivedRecord, ServiceUsage } from './ledger.ts'
import { certificateMotives } from './motives.ts'
import { isActive, taxpayerBase } from './publication.ts'
import { rolesByTaxpayer } from './recipients.ts'
import { summaryOfNfe } from './summaries.ts'

/** One docZip of a response. `nsu` is null when the document has no NSU for the client (consChNFe). */
export interface ReturnedDocument {
  nsu: number | null
  schema: string
  gzip: Buffer
}

export interface DistributionOutcome {
  cStat: number
  xMotivo: string
  ultNSU: number
  maxNSU: number
  documents: ReturnedDocument[]
  /** Value of `dhResp`; default: the authority's time. */
  at?: number
  /** For a 656: an earlier response was lost, and the client could not know better. */
  excused?: boolean
  /** For a 656: only the cursor was wrong, which only the lost response contained. */
  outOfSequence?: boolean
}

interface Rules {
  /** Length of the authority's hour. */
  hourMs: number
}

export const pageSize = 50
// NT 2014.002 §3.11.4.2.
const queriesPerHour = 20
const retentionMs = 90 * 86_400_000

const motives: Record<number, string> = {
  108: 'Servico Paralisado Momentaneamente (curto prazo)',
  109: 'Servico Paralisado sem Previsao',
  137: 'Nenhum documento localizado',
  138: 'Documento(s) localizado(s)',
  214: 'Rejeicao: Tamanho da mensagem excedeu o limite estabelecido',
  215: 'Rejeicao: Falha no schema XML',
  217: 'Rejeicao: NF-e inexistente para a chave de acesso informada',
  236: 'Rejeicao: Chave de Acesso com digito verificador invalido',
  238: 'Rejeicao: Cabecalho - Versao do arquivo XML superior a Versao vigente',
  239: 'Rejeicao: Cabecalho - Versao do arquivo XML nao suportada',
  243: 'Rejeicao: XML Mal Formado',
  252: 'Rejeicao: Ambiente informado diverge do Ambiente de recebimento',
  402: 'Rejeicao: XML da area de dados com codificacao diferente de UTF-8',
  404: 'Rejeicao: Uso de prefixo de namespace nao permitido',
  472: 'Rejeicao: CPF consultado difere do CPF do Certificado Digital',
  473: 'Rejeicao: Certificado Transmissor sem CNPJ ou CPF',
  489: 'Rejeicao: CNPJ informado invalido (DV ou zeros)',
  490: 'Rejeicao: CPF informado invalido (DV ou zeros)',
  589: 'Rejeicao: Numero do NSU informado superior ao maior NSU da base de dados do Ambiente Nacional',
  593: 'Rejeicao: CNPJ-Base consultado difere do CNPJ-Base do Certificado Digital',
  614: 'Rejeicao: Chave de Acesso invalida (Codigo UF invalido)',
  615: 'Rejeicao: Chave de Acesso invalida (Ano menor que 06 ou Ano maior que Ano corrente)',
  616: 'Rejeicao: Chave de Acesso invalida (Mes menor que 1 ou Mes maior que 12)',
  617: 'Rejeicao: Chave de Acesso invalida (CNPJ zerado ou digito invalido)',
  618: 'Rejeicao: Chave de Acesso invalida (modelo diferente de 55)',
  619: 'Rejeicao: Chave de Acesso invalida (numero NF = 0)',
  632: 'Rejeicao: Solicitacao fora de prazo, a NF-e nao esta mais disponivel para download',
  640: 'Rejeicao: CNPJ/CPF do interessado nao possui permissao para consultar esta NF-e',
  641: 'Rejeicao: NF-e indisponivel para o emitente',
  653: 'Rejeicao: NF-e Cancelada, arquivo indisponivel para download',
  654: 'Rejeicao: NF-e Denegada, arquivo indisponivel para download',
  ...certificateMotives,
  999: 'Rejeicao: Erro nao catalogado',
}

export const misuse = {
  waiting:
    'Rejeicao: Consumo Indevido (Deve ser aguardado 1 hora para efetuar nova solicitacao caso nao existam mais documentos a serem pesquisados. Tente apos 1 hora)',
  sequence: 'Rejeicao: Consumo Indevido (Deve ser utilizado o ultNSU nas solicitacoes subsequentes. Tente apos 1 hora)',
  queries: 'Rejeicao: Consumo Indevido (Ultrapassou o limite de 20 consultas por hora. Tente apos 1 hora)',
}

export function rejection(cStat: number): DistributionOutcome {
  return { cStat, xMotivo: motives[cStat] ?? motives[999] ?? '', ultNSU: 0, maxNSU: 0, documents: [] }
}

export type DistributionQuery = { ultNSU: number } | { nsu: number } | { chNFe: string }

interface QueryMessage {
  service: Service
  taxId: string
  query: DistributionQuery
}

/** The rules of use of both distribution services (NT 2014.002 §3.4 to §3.11, NT 2015.002), one call at a time. */
export function distribute(ledger: Ledger, clock: Clock, rules: Rules, request: QueryMessage): DistributionOutcome {
  const { service, taxId, query } = request
  const call: QueryCall = { ledger, rules, service, taxId, now: clock.now(), usage: ledger.usage(service, taxId) }
  const outcome = applyQuery(call, query)
  // A query leaves open which page was lost.
  if ('ultNSU' in query || call.usage.answerLost?.of !== 'page') call.usage.answerLost = null
  ledger.saveUsage(service, taxId)
  return outcome
}

/** Compares the certificate of the client with the taxpayer of its query: null when they belong together. */
export function refuseTaxpayer(taxId: string, certificate: { cnpj?: string; cpf?: string }): number | null {
  if (taxId.length === 14) {
    if (parseCnpj(taxId) === null) return 489
    if (certificate.cnpj === undefined) return certificate.cpf === undefined ? 473 : 593
    return cnpjBase(certificate.cnpj) === cnpjBase(taxId) ? null : 593
  }
  if (parseCpf(taxId) === null) return 490
  if (certificate.cnpj === undefined && certificate.cpf === undefined) return 473
  return certificate.cpf === taxId ? null : 472
}

interface QueryCall {
  ledger: Ledger
  rules: Rules
  service: Service
  taxId: string
  now: number
  usage: ServiceUsage
}

function applyQuery(call: QueryCall, query: DistributionQuery): DistributionOutcome {
  const { usage, now } = call
  const known = 'ultNSU' in query ? (usage.lastReturned ?? 0) : 0
  // Any call while blocked starts the hour again.
  if (usage.blockedUntil !== null && now < usage.blockedUntil)
    return block(call, usage.blockReason ?? misuse.waiting, known)
  if ('ultNSU' in query) return page(call, query.ultNSU)
  if ('chNFe' in query) {
    const invalid = invalidChave(query.chNFe, now)
    if (invalid !== null) return rejection(invalid)
  }
  const since = now - call.rules.hourMs
  usage.queriesAt = usage.queriesAt.filter((at) => at > since)
  if (usage.queriesAt.length >= queriesPerHour) return block(call, misuse.queries, 0)
  usage.queriesAt.push(now)
  return 'nsu' in query ? one(call, query.nsu) : byChave(call, query.chNFe)
}

/**
 * Whether a response lost at `lostAt` excuses a 656 at `now`: either its cursor was in that
 * response, or the client has waited the hour that the response may have asked for.
 */
export function excuses(
  lostAt: number,
  { now, outOfSequence, hourMs }: { now: number; outOfSequence: boolean; hourMs: number },
): boolean {
  return outOfSequence || now >= lostAt + hourMs
}

function block(call: QueryCall, xMotivo: string, ultNSU: number, outOfSequence = false): DistributionOutcome {
  const { usage, now, rules } = call
  usage.blockedUntil = now + rules.hourMs
  usage.blockReason = xMotivo
  usage.misuse++
  const lost = usage.answerLost
  const excused = lost !== null && excuses(lost.at, { now, outOfSequence, hourMs: rules.hourMs })
  if (excused) usage.misuseExcused++
  usage.answerLost = null
  return { cStat: 656, xMotivo, ultNSU, maxNSU: 0, documents: [], excused, outOfSequence }
}

function page(call: QueryCall, ultNSU: number): DistributionOutcome {
  const { ledger, service, taxId, usage, now, rules } = call
  const sequence = ledger.sequence(service, taxId)
  const maxNSU = sequence.length
  const firstUse = !isActive(ledger, service, taxId, now)
  ledger.touch(service, taxpayerBase(taxId), now)
  if (firstUse) {
    // A client that returns after 60 days may send its old cursor or the zero of this response.
    usage.lastReturned = maxNSU === 0 ? 0 : null
    usage.endReachedAt = now
    return rejection(137)
  }
  if (usage.endReachedAt !== null && now < usage.endReachedAt + rules.hourMs) {
    return block(call, misuse.waiting, usage.lastReturned ?? 0)
  }
  if (usage.lastReturned !== null && ultNSU !== usage.lastReturned)
    return block(call, misuse.sequence, usage.lastReturned, true)
  if (ultNSU > maxNSU) return rejection(589)

  let nsu = ultNSU + 1
  while (nsu <= maxNSU && isExpired(sequence[nsu - 1], now)) nsu++
  const documents: ReturnedDocument[] = []
  for (; nsu <= maxNSU && documents.length < pageSize; nsu++) {
    const published = sequence[nsu - 1]
    if (published !== undefined) documents.push(toDocument(ledger, nsu, published))
  }
  const last = nsu - 1
  usage.lastReturned = last
  usage.endReachedAt = last === maxNSU ? now : null
  const cStat = documents.length === 0 ? 137 : 138
  return { cStat, xMotivo: motives[cStat] ?? '', ultNSU: last, maxNSU, documents }
}

function one({ ledger, service, taxId, now }: QueryCall, nsu: number): DistributionOutcome {
  const sequence = ledger.sequence(service, taxId)
  const maxNSU = sequence.length
  if (nsu > maxNSU) return rejection(589)
  const published = sequence[nsu - 1]
  if (published === undefined || isExpired(published, now)) return found(nsu, maxNSU, [])
  return found(nsu, maxNSU, [toDocument(ledger, nsu, published)])
}

function byChave(call: QueryCall, chNFe: string): DistributionOutcome {
  const { ledger, taxId, now } = call
  const document = ledger.documents.get(chNFe)
  if (document === undefined || document.facts.service !== 'nfe') return rejection(217)
  if (document.at < keptSince('nfe', now)) return rejection(632)
  const roles = rolesOfBase(ledger, document, taxId)
  if (roles.size === 0) return rejection(640)
  if (roles.has('emitente')) return rejection(641)
  const cancelled = (ledger.events.get(chNFe) ?? []).some((event) => event.facts.tpEvento === 110111)
  if (cancelled || document.facts.situation === 'cancelled') return rejection(653)
  if (document.facts.situation === 'denied') return rejection(654)

  const complete = !roles.has('destinatario') || ledger.released.has(chNFe) || ledger.awaited.has(chNFe)
  const sequence = ledger.sequence('nfe', taxId)
  const kind = complete ? 'document' : 'summary'
  const index = sequence.findIndex((published) => published.chave === chNFe && published.kind === kind)
  const published = sequence[index]
  if (published !== undefined) return found(index + 1, sequence.length, [toDocument(ledger, index + 1, published)])
  // Since NT 2014.002 v1.15 the query by chave needs no NSU.
  const { schema } = document.facts
  const gzip = complete
    ? ledger.gzip(document.content)
    : gzipSync(summaryOfNfe(gunzipSync(ledger.gzip(document.content)), chNFe, '1'))
  return found(0, sequence.length, [{ nsu: null, schema: complete ? schema : 'resNFe_v1.01.xsd', gzip }])
}

// Rule H16 compares the base of the CNPJ: the head office may ask for a document of a branch.
function rolesOfBase(ledger: Ledger, document: ReceivedRecord, taxId: string): Set<string> {
  const roles = new Set<string>()
  const interested = (ledger.events.get(document.facts.chave) ?? []).flatMap((event) => event.facts.parties)
  const parties = [...document.facts.parties, ...interested.filter((one) => one.role === 'ator-interessado')]
  for (const [party, partyRoles] of rolesByTaxpayer(parties)) {
    if (taxpayerBase(party) !== taxpayerBase(taxId)) continue
    for (const role of partyRoles) if (role !== 'emitente' || party === taxId) roles.add(role)
  }
  return roles
}

function found(ultNSU: number, maxNSU: number, documents: ReturnedDocument[]): DistributionOutcome {
  const cStat = documents.length === 0 ? 137 : 138
  return { cStat, xMotivo: motives[cStat] ?? '', ultNSU, maxNSU, documents }
}

export function toDocument(ledger: Ledger, nsu: number, published: Published): ReturnedDocument {
  const content: ContentRef = published.content
  return { nsu, schema: published.schema, gzip: ledger.gzip(content) }
}

export function isExpired(published: Published | undefined, now: number): boolean {
  return published === undefined || published.at < keptSince(published.service, now)
}

/** When the oldest documents that are still distributed were received: 90 days ago, of CT-e three months (NT 2015.002). */
export function keptSince(service: Service, now: number): number {
  if (service === 'nfe') return now - retentionMs
  const since = new Date(now)
  since.setUTCMonth(since.getUTCMonth() - 3)
  // Three months before the 31st of May are the last day of February.
  if (since.getUTCDate() < new Date(now).getUTCDate()) since.setUTCDate(0)
  return since.getTime()
}

/** Checks the chave of an NF-e: returns cStat 236 or 614 to 619; null if it is valid. */
export function invalidChave(chave: string, now: number): number | null {
  if (chaveCheckDigit(chave.slice(0, 43)) !== Number(chave.slice(43))) return 236
  const { cUF, aamm, cnpj, mod, numero } = chaveParts(chave)
  if (ufByCode(cUF) === undefined) return 614
  const year = Number(aamm.slice(0, 2))
  if (year < 6 || year > Number(localDateTime(now).slice(2, 4))) return 615
  const month = Number(aamm.slice(2))
  if (month < 1 || month > 12) return 616
  // A CPF is padded with three zeros.
  if (parseCnpj(cnpj) === null && !(cnpj.startsWith('000') && parseCpf(cnpj.slice(3)) !== null)) return 617
  if (mod !== '55') return 618
  return numero === 0 ? 619 : null
}
