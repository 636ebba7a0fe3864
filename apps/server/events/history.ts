import type { listManifestations, ManifestedDocument } from '@vigia/contract/manifestation'
import { familyById } from '@vigia/dfe/families/lookup'
import { type Selectable, sql } from 'kysely'
import type { z } from 'zod'
import { nameOfAuthor } from '../accounts/authors.ts'
import { eventName } from '../documents/list/rows.ts'
import type { ReadSent } from '../documents/panel/timeline.ts'
import type { Context, Database } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Tables } from '../platform/tables.ts'
import { type Candidate, loadCandidates, permit } from './candidates.ts'
import { findHoldups } from './queue.ts'

type History = z.output<typeof listManifestations.data>

/** Events sent for a document, oldest first, and events possible now. Refuses ids of others. */
export async function readHistory(
  ctx: Pick<Context, 'db' | 'ids' | 'config'>,
  workspaceId: number,
  idDfe: string,
): Promise<History> {
  const id = ctx.ids.decode(workspaceId, idDfe)
  const found =
    id === null
      ? null
      : await readWorkspace(ctx, workspaceId, async ({ db }) => {
          const [candidate] = await loadCandidates({ db }, workspaceId, [id])
          if (!candidate) return null
          const about = { company_id: candidate.companyId, chave: candidate.chave }
          return { candidate, events: await readSent(db, workspaceId, about) }
        })
  if (!found) throw new AppError('not-found', 'Documento não encontrado.')
  const { candidate, events } = found
  const holdups = await findHoldups(
    ctx,
    workspaceId,
    events.map((event) => event.id),
  )
  return {
    idDfe,
    chave: candidate.chave,
    eventos: events.map((event) => {
      const { until = event.next_at, message = event.message } = holdups.get(event.id) ?? {}
      return {
        tpEvento: event.tp_evento,
        descricao: eventName(candidate.type, event.tp_evento),
        sequencia: event.sequence,
        situacao: event.state === 'waiting' ? 'aguardando' : situations[event.state],
        mensagem: message,
        motivo: event.why,
        automatica: event.requested_by === null,
        justificativa: event.justification,
        // Written by this slice, in this shape.
        correcoes: (event.corrections ?? []) as History['eventos'][number]['correcoes'],
        pedidaEm: event.requested_at.toISOString(),
        enviadaEm: event.sent_at?.toISOString() ?? null,
        respondidaEm: event.answered_at?.toISOString() ?? null,
        registradaEm: event.registered_at?.toISOString() ?? null,
        proximoEnvio: ['waiting', 'sending'].includes(event.state) ? until.toISOString() : null,
        codigo: event.c_stat,
        motivoSefaz: event.x_motivo,
        protocolo: event.protocol,
        podeReenviar: event.state === 'unconfirmed' && event.c_stat === null,
      }
    }),
    opcoes: optionsOf(candidate),
  }
}

/** States of an event as the caller of a request reads them. */
export const situations: Readonly<Record<SentRow['state'], ManifestedDocument['situacao']>> = {
  asked: 'aguarda-segunda-pessoa',
  waiting: 'enviando',
  sending: 'enviando',
  registered: 'registrada',
  rejected: 'recusada',
  unconfirmed: 'sem-confirmacao',
}

function optionsOf(candidate: Candidate): History['opcoes'] {
  const now = new Date()
  return familyById(candidate.type).answers.map((answer) => {
    const permission = permit(answer.tpEvento, candidate, now)
    return {
      tipoManifestacao: answer.choice,
      tpEvento: answer.tpEvento,
      descricao: eventName(candidate.type, answer.tpEvento),
      prazo: answer.until(candidate)?.toISOString() ?? null,
      permitida: !('refusal' in permission),
      impedimento: 'refusal' in permission ? permission.refusal : null,
    }
  })
}

type SentRow = Selectable<Tables['outgoing_event']> & { name: string | null }

/** Events about a document that left from here, oldest first; `db` is inside the workspace. */
export async function readSent(
  db: Database,
  workspaceId: number,
  { company_id, chave }: Parameters<ReadSent>[2],
): Promise<SentRow[]> {
  const { rows } = await sql<SentRow>`
    select o.*, ${nameOfAuthor(workspaceId, 'o.requested_by')} as name from outgoing_event o
     where o.workspace_id = ${workspaceId} and o.company_id = ${company_id} and o.chave = ${chave}
     order by o.id`.execute(db)
  return rows
}
