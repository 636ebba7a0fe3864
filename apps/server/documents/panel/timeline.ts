import type { TimelineEntry } from '@vigia/contract/documents'
import { formatCnpj, formatCpf } from '@vigia/dfe/cnpj'
import { cte } from '@vigia/dfe/families/cte'
import { familyOf } from '@vigia/dfe/families/lookup'
import { nfe } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import type { Proof } from '@vigia/dfe/proof'
import { ufByCode } from '@vigia/dfe/uf'
import { sql } from 'kysely'
import type { Database } from '../../platform/context.ts'
import { type Service, serviceOf } from '../../platform/service.ts'
import { eventId } from '../files.ts'
import { type DocumentListRow, eventName } from '../list/rows.ts'
import { eventProofSentences, holds } from '../signatures/proof.ts'

interface TimelineSource {
  row: DocumentListRow
  /** When the file that is shown arrived. */
  receivedAt: Date
  names: ReadonlyMap<string, string>
  protocol: string | null
  /** Events about the document that left from here, oldest first. */
  sent: readonly SentEvent[]
  /** Texts from event files beyond their names, by event id. */
  texts: ReadonlyMap<string, string>
}

export async function readTimeline(
  db: Database,
  workspaceId: number,
  subject: TimelineSource,
): Promise<TimelineEntry[]> {
  const { company_id, chave } = subject.row
  const { rows: received } = await sql<ReceivedEvent>`
    select * from document_event
     where workspace_id = ${workspaceId} and company_id = ${company_id} and chave = ${chave}`.execute(db)
  const delivered = new Set<ReceivedEvent>()
  const sendings = subject.sent.map((event) => {
    const back = ['asked', 'rejected'].includes(event.state)
      ? undefined
      : received.find((one) => isSame(one, event, subject.row.company_cnpj))
    if (back) delivered.add(back)
    return sending(serviceOf(subject.row.type), event, back, subject.texts)
  })
  const registrations = received.filter((event) => !delivered.has(event)).map((event) => registration(event, subject))
  const all = [...arrivals(subject), ...authorization(subject), ...registrations, ...sendings]
  // At the same moment, the later entry of the list happened later.
  return all.reverse().sort((a, b) => (a.quando < b.quando ? 1 : a.quando > b.quando ? -1 : 0))
}

interface ReceivedEvent {
  type: number
  tp_evento: number
  sequence: number
  orgao: number
  rank: number
  summary: boolean
  registered_at: Date
  protocol: string | null
  author: string | null
  description: string
  justification: string | null
  known: boolean
  undone: boolean
  proof: Proof | null
}

export interface SentEvent {
  tp_evento: number
  sequence: number
  state: 'asked' | 'waiting' | 'sending' | 'registered' | 'rejected' | 'unconfirmed'
  message: string
  justification: string | null
  why: string
  requested_by: number | null
  rule_id: bigint | null
  approved_by: number | null
  name: string | null
  requested_at: Date
  answered_at: Date | null
  registered_at: Date | null
  protocol: string | null
}

/** Reads what left from here about a document, oldest first; `db` is inside the workspace. Events stand above. */
export type ReadSent = (
  db: Database,
  workspaceId: number,
  about: Pick<DocumentListRow, 'company_id' | 'chave'>,
) => Promise<SentEvent[]>

// An event that we sent is delivered like any other once it is registered.
function isSame(received: ReceivedEvent, sent: SentEvent, cnpj: string): boolean {
  const { tp_evento, sequence, author, rank } = received
  return rank > 0 && tp_evento === sent.tp_evento && sequence === sent.sequence && author === cnpj
}

const plainEntry = {
  quando: '',
  tpEvento: null,
  descricao: '',
  autor: 'SEFAZ',
  origem: 'sefaz',
  situacao: 'registrado',
  texto: null,
  protocolo: null,
  idEvento: null,
  conferencia: null,
} satisfies TimelineEntry

function arrivals({ row, receivedAt }: TimelineSource): TimelineEntry[] {
  const arrival = (at: Date, descricao: string): TimelineEntry => ({
    ...plainEntry,
    quando: at.toISOString(),
    descricao,
    origem: 'chegada',
  })
  if (!row.complete) return [arrival(row.created_at, 'Chegou o resumo')]
  const { id, name, feminine, summary } = familyOf(row.type)
  const whole = id === nfe.id ? 'Chegou a nota completa' : `Chegou ${feminine ? 'a' : 'o'} ${name}`
  const hadSummary = summary && row.roles & (1 << summary.role) && receivedAt > row.created_at
  return hadSummary
    ? [arrival(row.created_at, 'Chegou o resumo'), arrival(receivedAt, whole)]
    : [arrival(row.created_at, whole)]
}

function authorization({ row, protocol }: TimelineSource): TimelineEntry[] {
  if (row.authorized_at === null) return []
  const isDenied = row.base_status === status.denied
  return [
    {
      ...plainEntry,
      quando: row.authorized_at.toISOString(),
      descricao: isDenied ? 'Uso denegado' : 'Autorização de uso',
      autor: row.issuer_name,
      situacao: isDenied ? 'recusado' : 'registrado',
      protocolo: protocol,
    },
  ]
}

function registration(event: ReceivedEvent, subject: TimelineSource): TimelineEntry {
  const unregistered = event.rank === 0
  return {
    quando: event.registered_at.toISOString(),
    tpEvento: event.tp_evento,
    descricao: event.known ? eventName(serviceOf(event.type), event.tp_evento) : event.description,
    autor: authorName(event, subject),
    origem: 'sefaz',
    situacao: unregistered ? 'recusado' : event.undone ? 'desfeito' : 'registrado',
    texto: joinTexts(
      saidBy(event, subject.texts) ?? event.justification,
      unregistered ? 'O arquivo deste evento não traz o registro da SEFAZ.' : null,
    ),
    protocolo: event.protocol,
    idEvento: printableId(event),
    conferencia: proofOf(event),
  }
}

function sending(
  family: Service,
  event: SentEvent,
  back: ReceivedEvent | undefined,
  texts: TimelineSource['texts'],
): TimelineEntry {
  const situacao = back ? (back.undone ? 'desfeito' : 'registrado') : states[event.state]
  const pending = situacao === 'em-envio' || situacao === 'aguarda-segunda-pessoa'
  const settledAt = back?.registered_at ?? event.registered_at ?? event.answered_at
  return {
    quando: ((pending ? null : settledAt) ?? event.requested_at).toISOString(),
    tpEvento: event.tp_evento,
    descricao: eventName(family, event.tp_evento),
    autor: event.requested_by === null ? 'Ciência automática' : (event.name ?? 'Conta removida'),
    origem: 'envio',
    situacao,
    // The event was delivered before the response to its sending: the message about the sending is outdated.
    texto: joinTexts(
      back ? (saidBy(back, texts) ?? null) : null,
      event.justification && `Justificativa: ${event.justification}`,
      back && event.state !== 'registered' ? null : event.message,
      // Skip the reason when the requester is the author, whom the row names already.
      event.requested_by === null || event.rule_id !== null || event.approved_by !== null ? event.why : null,
    ),
    protocolo: back?.protocol ?? event.protocol,
    idEvento: back ? printableId(back) : null,
    conferencia: back ? proofOf(back) : null,
  }
}

const proofOf = ({ proof }: ReceivedEvent): TimelineEntry['conferencia'] =>
  proof && { confere: holds(proof), texto: eventProofSentences[proof] }

const saidBy = (event: ReceivedEvent, texts: TimelineSource['texts']) => texts.get(eventId(event))

function printableId(event: ReceivedEvent): string | null {
  return event.rank > 0 && !event.summary ? eventId(event) : null
}

const states = {
  asked: 'aguarda-segunda-pessoa',
  waiting: 'em-envio',
  sending: 'em-envio',
  registered: 'registrado',
  rejected: 'recusado',
  unconfirmed: 'sem-confirmacao',
} as const

function joinTexts(...texts: (string | null)[]): string | null {
  return texts.filter(Boolean).join('\n') || null
}

// Events of 3xxxxx and above are of the Fisco and of other bodies, who write their own CNPJ; but 6101xx of a CT-e are of who pays.
function authorName({ author, orgao, tp_evento, type }: ReceivedEvent, { names }: TimelineSource): string {
  const known = author === null ? undefined : names.get(author)
  if (known !== undefined) return known
  const ofTomador = type === cte.code && Math.floor(tp_evento / 100) === 6101
  if (author === null || (tp_evento >= 300_000 && !ofTomador)) return bodyName(orgao)
  return author.length === 11 ? `CPF ${formatCpf(author)}` : `CNPJ ${formatCnpj(author)}`
}

// cOrgao: a state, or 90 and above (MOC 7.0, tabela de órgãos).
function bodyName(orgao: number): string {
  const state = ufByCode(orgao)
  if (state) return `SEFAZ ${state.uf}`
  return orgao === 90 ? 'Receita Federal ou Suframa' : 'SEFAZ'
}
