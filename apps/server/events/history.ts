import type { Answer } from '@vigia/dfe/families/family'
import { familyById } from '@vigia/dfe/families/lookup'
import { sql } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import type { ReadSent, SentEvent } from '../documents/panel/timeline.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { findHoldups } from './holdups.ts'
import { judge } from './rules.ts'
import { type Candidate, loadCandidates } from './subjects.ts'

interface Option {
  answer: Answer
  deadline: Date | null
  refusal: string | null
}

/** What left from here about a document, oldest first, and what may still be sent. Refuses ids that are not of this workspace. */
export async function readHistory(ctx: Pick<Context, 'db' | 'ids' | 'config'>, workspaceId: number, publicId: string) {
  const id = ctx.ids.decode(workspaceId, publicId)
  const found =
    id === null
      ? null
      : await readWorkspace(ctx, workspaceId, async ({ db }) => {
          const [candidate] = await loadCandidates({ db }, workspaceId, [id])
          return candidate ? { candidate, events: await readEvents({ db }, workspaceId, candidate) } : null
        })
  if (!found) throw new AppError('not-found', 'Documento não encontrado.')
  const { candidate, events } = found
  const holdups = await findHoldups(
    ctx,
    workspaceId,
    events.map((event) => event.id),
  )
  return {
    candidate,
    events: events.map((event) => {
      const { until = event.next_at, message = event.message } = holdups.get(event.id) ?? {}
      return { ...event, next_at: until, message, again: event.state === 'unconfirmed' && event.c_stat === null }
    }),
    options: optionsOf(candidate),
  }
}

function optionsOf(candidate: Candidate): Option[] {
  const now = new Date()
  return familyById(candidate.type).answers.map((answer) => {
    const verdict = judge(answer.tpEvento, candidate, now)
    const refusal = 'refusal' in verdict ? verdict.refusal : null
    return { answer, deadline: answer.until(candidate), refusal }
  })
}

async function readEvents({ db }: WithDatabase, workspaceId: number, { companyId, chave }: Candidate) {
  return db
    .selectFrom('outgoing_event')
    .select([
      'id',
      'tp_evento',
      'sequence',
      'state',
      'message',
      'why',
      'requested_by',
      'justification',
      'corrections',
      'requested_at',
      'sent_at',
      'answered_at',
      'registered_at',
      'next_at',
      'c_stat',
      'x_motivo',
      'protocol',
    ])
    .where('workspace_id', '=', workspaceId)
    .where('company_id', '=', companyId)
    .where('chave', '=', chave)
    .orderBy('id')
    .execute()
}

/** What left from here about a document, oldest first; `db` is inside the workspace. */
export const readSent: ReadSent = async (db, workspaceId, { company_id, chave }) => {
  const { rows } = await sql<SentEvent>`
    select o.tp_evento, o.sequence, o.state, o.message, o.justification, o.why, o.requested_by, o.rule_id, o.approved_by,
           ${nameOfAuthor(workspaceId, 'o.requested_by')} as name, o.requested_at, o.answered_at, o.registered_at, o.protocol
      from outgoing_event o
     where o.workspace_id = ${workspaceId} and o.company_id = ${company_id} and o.chave = ${chave}
     order by o.id`.execute(db)
  return rows
}
