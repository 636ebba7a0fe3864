import { formatBrasiliaMoment } from '@vigia/contract/text'
import { familyOf } from '@vigia/dfe/families/lookup'
import { conclusiveTerms, desconhecimento, nfe } from '@vigia/dfe/families/nfe'
import { status } from '@vigia/dfe/families/statuses'
import { termEnd } from '@vigia/dfe/families/terms'
import { type DocumentListRow, dueIn, eventName } from './rows.ts'

// The authority hands out a note for this long after its authorisation (NT 2014.002).
const keptMs = 90 * 86_400_000
const released = {
  statuses: [status.notPerformed, status.confirmed, status.acknowledged] as number[],
  events: nfe.summary?.releasedBy ?? [],
}
const disowned = { statuses: [status.unknownOperation] as number[], events: [desconhecimento] }

const lead = 'Só o resumo desta nota chegou: faltam os itens, os impostos e o XML completo.'

/** Why only a summary is here, until when the rest can be had, and how; null for a complete document. */
export function missingText(row: DocumentListRow, now: Date): string | null {
  return row.complete || !familyOf(row.type).summary ? null : `${lead} ${wayOut(row, now)}`
}

function wayOut(row: DocumentListRow, now: Date): string {
  const { authorized_at, issuer_name, own } = row
  const ask = `Peça o arquivo XML ao emitente (${issuer_name}).`
  if (row.status === status.cancelled) return `O emitente cancelou a nota, e não há mais o que responder. ${ask}`
  if (row.status === status.denied) return 'A SEFAZ denegou o uso da nota: ela não tem valor fiscal.'
  if (authorized_at && now.getTime() - authorized_at.getTime() > keptMs)
    return `A SEFAZ guarda o XML por cerca de três meses, e esse tempo passou. ${ask}`
  const pending = own.findLast((event) => event.pending)
  if (pending)
    return `O evento ${eventName(nfe.id, pending.tpEvento)} está em envio. Depois que a SEFAZ o registrar, o XML chega sozinho.`
  const due = dueIn(row, now)
  if (due?.para === 'ciencia')
    return `A SEFAZ libera o XML depois que a empresa registra a Ciência da Operação, até ${formatBrasiliaMoment(new Date(due.ate))}. A Ciência diz apenas que a empresa sabe da nota; a resposta final vem depois.`
  if (was(released, row))
    return 'A empresa já respondeu à nota. O XML chega sozinho numa das próximas consultas à SEFAZ, o que pode levar algumas horas.'
  const until = termEnd(conclusiveTerms, authorized_at)
  if (until && until < now) return `O prazo para responder à nota terminou, e a SEFAZ não libera mais o XML. ${ask}`
  const before = until ? `, até ${formatBrasiliaMoment(until)}` : ''
  if (was(disowned, row))
    return `A empresa respondeu que desconhece a nota, e com essa resposta a SEFAZ não libera o XML. Se a nota for da empresa, registre a Confirmação da Operação${before}.`
  return `O prazo da Ciência terminou. A Confirmação da Operação e a Operação não Realizada ainda liberam o XML${before}.`
}

function was(
  answer: { statuses: readonly number[]; events: readonly number[] },
  { status, own }: DocumentListRow,
): boolean {
  return (
    answer.statuses.includes(status) || own.some((event) => !event.pending && answer.events.includes(event.tpEvento))
  )
}
