import { sql } from 'kysely'
import type { WithDatabase } from '../platform/context.ts'
import { inCapture } from '../platform/database.ts'
import { endTrouble, noteTrouble } from '../platform/trouble.ts'

const silence = 'O sistema ficou mais de duas horas parado, e voltou com manifestações à espera.'

export async function findHold({ db }: WithDatabase): Promise<{ since: Date; why: string } | null> {
  const row = await db.selectFrom('installation').select(['held_since as since', 'held_why as why']).executeTakeFirst()
  return row?.since ? { since: row.since, why: row.why ?? '' } : null
}

/** Keeps events, and older webhooks and mails, until a person releases them. `why` is for people. Held events may have left already. */
export async function hold(ctx: WithDatabase, why: string): Promise<void> {
  await inCapture(ctx, async ({ db }) => {
    await sql`update installation set held_since = now(), held_why = ${why}, restored_at = now()`.execute(db)
    await sql`
      update outgoing_event set state = 'sending', signed_xml = null, sent_at = null, lease_by = null, lease_until = null
       where state = 'waiting'`.execute(db)
  })
  await noteHold(ctx)
}

/** Tells the operator and the dashboard that events wait, when they do. */
export async function noteHold(ctx: WithDatabase): Promise<void> {
  const held = await findHold(ctx)
  if (!held) return
  await noteTrouble(
    ctx,
    'liberacao',
    `${held.why} A captura funciona. Nenhuma manifestação sai, nem os webhooks e e-mails que já esperavam, até uma pessoa conferir. O que fazer: confira e libere o envio em “Aprovações pendentes” (/aprovacoes), ou com npm run admin -- restauracao.`,
  )
}

export async function release({ db }: WithDatabase): Promise<void> {
  await db.updateTable('installation').set({ held_since: null, held_why: null }).execute()
  await endTrouble({ db }, 'liberacao')
}

/** Holds events that wait when nothing ran for two hours: the database may be an old copy, and people may have changed their minds. */
export async function holdAfterSilence(ctx: WithDatabase): Promise<void> {
  const { rows } = await sql<{ silent: boolean }>`
    select held_since is null and marked_at < now() - interval '2 hours' as silent from installation`.execute(ctx.db)
  if (!rows[0]?.silent) return
  const waiting = await inCapture(ctx, ({ db }) =>
    db.selectFrom('outgoing_event').select('id').where('state', 'in', ['waiting', 'sending']).limit(1).execute(),
  )
  if (waiting.length > 0) await hold(ctx, silence)
}

export async function markAlive({ db }: WithDatabase): Promise<void> {
  await db.updateTable('installation').set({ marked_at: sql<Date>`now()` }).execute()
}

export const areEventsHeld = sql<boolean>`exists (select 1 from installation where held_since is not null)`
