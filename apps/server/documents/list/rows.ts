import { alertBands } from '@vigia/contract/alerts'
import type { DocumentRow } from '@vigia/contract/documents'
import type { OwnAnswer } from '@vigia/dfe/families/family'
import { answerOf, eventKind, statusNames } from '@vigia/dfe/families/lookup'
import type { Proof } from '@vigia/dfe/proof'
import { primaryRole } from '@vigia/dfe/roles'
import { sql } from 'kysely'
import { nameOfAuthor } from '../../accounts/authors.ts'
import type { Database } from '../../platform/context.ts'
import { executePrepared } from '../../platform/database.ts'
import type { PublicIds } from '../../platform/ids.ts'
import { type Service, type ServiceCode, serviceOf } from '../../platform/service.ts'
import type { Answerable } from '../due.ts'
import { holds, proofSentence } from '../signatures/proof.ts'
import { isAltered, isSuggested } from '../workflow/remarks.ts'
import { reformPresences } from './filter.ts'

export interface Suggestion {
  tpEvento: number
  ruleId: string
  /** Its name. */
  rule: string
}

export interface DocumentListRow extends Answerable {
  id: bigint
  type: ServiceCode
  authorized_at: Date | null
  answer_due_at: Date | null
  answer_due: number | null
  /** Answers that left from here or are about to, oldest first. */
  own: OwnAnswer[]
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
  company_cnpj: string
  created_at: Date
  nat_op: string | null
  proof: Proof | null
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
  /** Answer that a rule suggests. */
  suggestion: Suggestion | null
  /** Answer that waits for a second person. */
  asked: { tpEvento: number; by: string | null } | null
  /** The last event of ours, when the authority does not tell whether it has it or whether it stands. */
  unconfirmed: number | null
  /** IBS and CBS of the document, amounts in cents. Null: it was not read inside. */
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
    sql<DocumentListRow>`
    select d.id, d.type, d.number::float8 as number, s.name as issuer_name, s.tax_id as issuer_tax_id,
           d.chave, d.amount, d.issued_at, d.issued_offset, d.roles, d.status, d.event_code, d.event_text, d.base_status, d.complete,
           d.created_at, d.authorized_at, d.answer_due_at, d.answer_due, coalesce(d.own_answers, '[]') as own, d.nat_op, d.proof, d.alert_band, d.reform, d.misfits, d.ibs, d.cbs, d.company_id, c.public_id as company_public_id, c.name as company_name, c.cnpj as company_cnpj,
           u.checked_at, case when u.checked_by is not null then ${nameOfAuthor(workspaceId, 'u.checked_by')} end as checked_by,
           u.booked_at, case when u.booked_by is not null then ${nameOfAuthor(workspaceId, 'u.booked_by')} end as booked_by,
           u.delivered_at, case when u.delivered_by is not null then ${nameOfAuthor(workspaceId, 'u.delivered_by')} end as delivered_by,
           case when ${isAltered} then u.altered_at end as altered_at, u.altered_by,
           coalesce(u.remarks, 0) as remarks,
           case when d.asked is not null then json_build_object('tpEvento', d.asked, 'by', ${nameOfAuthor(workspaceId, 'd.asked_by')}) end as asked,
           d.unconfirmed, case when ${isSuggested} then d.suggestion end as suggestion
      from document d join company c on c.workspace_id = d.workspace_id and c.id = d.company_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      left join document_reliance u on u.workspace_id = d.workspace_id and u.document_id = d.id
     where d.workspace_id = ${workspaceId} and d.id = any (${ids}::bigint[])`,
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export function toRow(row: DocumentListRow, workspaceId: number, ids: PublicIds): DocumentRow {
  const family = serviceOf(row.type)
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
    prazo: dueIn(row, new Date()),
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
            presenca: reformPresences[row.reform]!,
            ibs: reais(row.ibs),
            cbs: reais(row.cbs),
            achados: row.misfits,
          },
  }
}

/** The answer that is due, as a row shows it. */
export function dueIn({ type, answer_due_at: until, answer_due }: DocumentListRow, now: Date): DocumentRow['prazo'] {
  if (until === null || answer_due === null || until < now) return null
  return { para: answerOf(serviceOf(type), answer_due)!.due!, ate: until.toISOString() }
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
