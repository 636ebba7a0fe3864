import type { Answer } from '@vigia/dfe/families/family'
import { familyById } from '@vigia/dfe/families/lookup'
import { type Selectable, sql } from 'kysely'
import { nameOfAuthor } from '../accounts/authors.ts'
import type { ReadSent } from '../documents/panel/timeline.ts'
import type { Context, Database } from '../platform/context.ts'
import { readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import type { Tables } from '../platform/tables.ts'
import { findHoldups } from './holdups.ts'
import { judge } from './rules.ts'
import { type Candidate, loadCandidates } from './subjects.ts'

interface Option {
  answer: Answer
  deadline: Date | null
  refusal: string | null
}

/** Events sent for a document, oldest first, and events possible now. Refuses ids of others. */
export async function readHistory(ctx: Pick<Context, 'db' | 'ids' | 'config'>, workspaceId: number, publicId: string) {
  const id = ctx.ids.decode(workspaceId, publicId)
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
