import type { DocumentRow } from '@vigia/contract/documents'
import { alertBands } from '@vigia/contract/workspace'
import { cte, disagreement } from '@vigia/dfe/families/cte'
import type { OwnAnswer } from '@vigia/dfe/families/family'
import { eventKind, statusNames } from '@vigia/dfe/families/lookup'
import { primaryRole } from '@vigia/dfe/roles'
import { sql } from 'kysely'
import { nameOfAuthor } from '../../accounts/authors.ts'
import type { Database } from '../../platform/context.ts'
import { executePrepared } from '../../platform/database.ts'
import type { PublicIds } from '../../platform/ids.ts'
import { type Service, serviceOf } from '../../platform/service.ts'
import { type Answerable, dueAnswer, isAnswered } from '../deadlines.ts'
import { holds, type KnownProof, proofSentence } from '../signatures/proof.ts'
import { isAltered, isOpenStatus, isUnanswered } from '../workflow/remarks.ts'
import { reformPresence } from './filter.ts'

export interface DocumentListRow extends Answerable {
  id: bigint
  number: number
  issuer_name: string
  issuer_tax_id: string
  amount: string
  issued_at: string
  issued_offset: number | null
  event_code: number
  event_text: string | null
  base_status: number
  company_id: number
  company_public_id: string
  company_name: string
  created_at: Date
  nat_op: string | null
  proof: KnownProof | null
  checked_at: Date | null
  checked_by: string | null
  booked_at: Date | null
  booked_by: string | null
  delivered_at: Date | null
  delivered_by: string | null
  altered_at: Date | null
  altered_by: number | null
  remarks: number
  alert_band: number | null
  /** What a rule suggests to answer. */
  suggestion: { tpEvento: number; rule: string } | null
  /** What waits for a second person. */
  asked: { tpEvento: number; by: string | null } | null
  /** The last event of ours, when the authority does not tell whether it has it or whether it stands. */
  unconfirmed: number | null
  /** What the document says of IBS and CBS; amounts in cents. Null: it was not read inside. */
  reform: number | null
  ibs: bigint | null
  cbs: bigint | null
  misfits: boolean
}

/** Documents of a workspace with their companies' answers, in the order of the ids. `db` is inside the workspace, where `readWorkspace` entered it. */
export async function readRows(db: Database, workspaceId: number, ids: readonly bigint[]): Promise<DocumentListRow[]> {
  if (ids.length === 0) return []
  // To plan it takes longer than to carry it out.
  const rows = await executePrepared(
    db,
    sql<Omit<DocumentListRow, 'own' | 'asked' | 'unconfirmed'> & { sent: Sent[] | null }>`
    select d.id, d.type, d.number::float8 as number, s.name as issuer_name, s.tax_id as issuer_tax_id,
           d.chave, d.amount, d.issued_at, d.issued_offset, d.roles, d.status, d.event_code, d.event_text, d.base_status, d.complete,
           d.created_at, d.authorized_at, d.nat_op, d.proof, d.alert_band, d.reform, d.misfits, d.ibs, d.cbs, d.company_id, c.public_id as company_public_id, c.name as company_name,
           u.checked_at, case when u.checked_by is not null then ${nameOfAuthor(workspaceId, 'u.checked_by')} end as checked_by,
           u.booked_at, case when u.booked_by is not null then ${nameOfAuthor(workspaceId, 'u.booked_by')} end as booked_by,
           u.delivered_at, case when u.delivered_by is not null then ${nameOfAuthor(workspaceId, 'u.delivered_by')} end as delivered_by,
           case when ${isAltered} then u.altered_at end as altered_at, u.altered_by,
           coalesce(u.remarks, 0) as remarks,
           (select json_agg(json_build_object('tpEvento', o.tp_evento, 'sequence', o.sequence, 'state', o.state, 'answered', ${isAnswered},
                                              'by', case when o.state = 'asked' then ${nameOfAuthor(workspaceId, 'o.requested_by')} end) order by o.id)
              from outgoing_event o where o.workspace_id = ${workspaceId} and o.document_id = d.id and o.state <> 'rejected') as sent,
           (select json_build_object('tpEvento', g.tp_evento, 'rule', r.name)
              from answer_suggestion g join answer_rule r on r.workspace_id = g.workspace_id and r.id = g.rule_id and r.active
             where g.workspace_id = ${workspaceId} and g.document_id = d.id and ${isOpenStatus} and ${isUnanswered}) as suggestion
      from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      left join document_reliance u on u.workspace_id = d.workspace_id and u.document_id = d.id
     where d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[])`,
  )
  const byId = new Map(rows.map(({ sent, ...row }) => [row.id, { ...row, ...answersOf(sent ?? []) }]))
  const documents = ids.flatMap((id) => byId.get(id) ?? [])
  await addFromElsewhere(db, workspaceId, documents)
  return documents
}

interface Sent {
  tpEvento: number
  sequence: number
  state: string
  answered: boolean
  by: string | null
}

function answersOf(sent: Sent[]): Pick<DocumentListRow, 'own' | 'asked' | 'unconfirmed'> {
  const asked = sent.findLast(({ state }) => state === 'asked')
  return {
    own: sent
      .filter(({ state, answered }) => answered || state === 'waiting' || state === 'sending')
      .map(({ tpEvento, sequence, answered }) => ({ tpEvento, sequence, pending: !answered })),
    asked: asked ? { tpEvento: asked.tpEvento, by: asked.by } : null,
    unconfirmed: sent.at(-1)?.state === 'unconfirmed' ? sent.at(-1)!.tpEvento : null,
  }
}

// The status of an NF-e tells how it was answered; what other programs sent about a CT-e is only among its events.
async function addFromElsewhere(db: Database, workspaceId: number, documents: DocumentListRow[]): Promise<void> {
  const open = documents.filter(
    (document) => document.type === cte.code && dueAnswer({ ...document, own: [] }, new Date()),
  )
  if (open.length === 0) return
  const rows = await executePrepared(
    db,
    sql<OwnAnswer & { id: bigint }>`
    select d.id, e.tp_evento as "tpEvento", e.sequence, false as pending
      from document d
      join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
      join document_event e on e.workspace_id = d.workspace_id and e.company_id = d.company_id and e.chave = d.chave
     where d.workspace_id = ${workspaceId} and d.id = any (${open.map(({ id }) => id)}::bigint[])
       and e.tp_evento = any (${disagreement}::int[]) and e.rank > 0 and e.author = c.cnpj`,
  )
  const byId = new Map(open.map((document) => [document.id, document]))
  for (const { id, ...answer } of rows) byId.get(id)?.own.unshift(answer)
}

export function toRow(row: DocumentListRow, workspaceId: number, ids: PublicIds): DocumentRow {
  const family = serviceOf(row.type)
  const due = dueAnswer(row, new Date())
  const sending = row.own.findLast(({ pending }) => pending)
  return {
    idDfe: ids.encode(workspaceId, row.id),
    numero: row.number,
    emitente: row.issuer_name,
    cnpjCpfEmitente: row.issuer_tax_id,
    chave: row.chave,
    valor: Number(row.amount),
    dataEmissao: row.issued_at.replace(' ', 'T') + offsetText(row.issued_offset),
    tipoParticipacao: primaryRole(family, row.roles),
    status: { codigoEvento: row.event_code, descricaoEvento: eventText(family, row) },
    notaCompleta: row.complete,
    idEmpresa: row.company_public_id,
    empresa: row.company_name,
    chegadaEm: row.created_at.toISOString(),
    prazo: due && { para: due.answer, ate: due.until.toISOString() },
    eventoSemConfirmacao: row.unconfirmed === null ? null : eventName(family, row.unconfirmed),
    eventoEmEnvio: sending ? eventName(family, sending.tpEvento) : null,
    naturezaOperacao: row.nat_op,
    situacaoBase: row.base_status,
    conferencia: row.proof && { confere: holds(row.proof), texto: proofSentence(row.proof, row.base_status) },
    conferidaPor: row.checked_at && { nome: row.checked_by, quando: row.checked_at.toISOString() },
    lancadaPor: row.booked_at && { nome: row.booked_by, quando: row.booked_at.toISOString() },
    entreguePor: row.delivered_at && { nome: row.delivered_by, quando: row.delivered_at.toISOString() },
    mudouDepois: row.altered_at && {
      evento: eventName(family, row.altered_by!),
      quando: row.altered_at.toISOString(),
    },
    observacoes: row.remarks,
    alerta: row.alert_band === null ? null : alertBands[row.alert_band]!,
    sugestao: row.suggestion && {
      tipoManifestacao: row.suggestion.tpEvento === 210200 ? 2 : 3,
      regra: row.suggestion.rule,
    },
    aguardaSegunda: row.asked && { evento: eventName(family, row.asked.tpEvento), quem: row.asked.by },
    reforma:
      row.reform === null
        ? null
        : {
            presenca: presences[row.reform] ?? 'dispensado',
            ibs: reais(row.ibs),
            cbs: reais(row.cbs),
            achados: row.misfits,
          },
  }
}

const presences: Record<number, NonNullable<DocumentRow['reforma']>['presenca']> = {
  [reformPresence.exempt]: 'dispensado',
  [reformPresence.none]: 'sem',
  [reformPresence.some]: 'parcial',
  [reformPresence.all]: 'com',
}

const reais = (cents: bigint | null) => (cents === null ? null : Number(cents) / 100)

function offsetText(minutes: number | null): string {
  if (minutes === null) return ''
  const absolute = Math.abs(minutes)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${minutes < 0 ? '-' : '+'}${pad(Math.floor(absolute / 60))}:${pad(absolute % 60)}`
}

export function eventText(
  type: Service,
  row: Pick<DocumentListRow, 'event_code' | 'event_text' | 'base_status'>,
): string {
  return (
    row.event_text ?? eventKind(type, row.event_code)?.description ?? statusNames[row.base_status] ?? 'Desconhecido'
  )
}

export function eventName(type: Service, tpEvento: number): string {
  return eventKind(type, tpEvento)?.description ?? `Evento ${tpEvento}`
}
