import {
  type CalendarKind,
  calendarKinds,
  changeCalendar,
  feedDays,
  getCalendar,
  readCalendar,
} from '@vigia/contract/agenda'
import { formatCount, formatMoney, writeBrasiliaTime } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { createToken, listToken, tokenHash } from '../../accounts/tokens.ts'
import { endCalendar } from '../../accounts/ways-in.ts'
import { listCapturedCompanies } from '../../capture/state.ts'
import { dueWords, readDue } from '../../documents/workflow/agenda.ts'
import { readPayments } from '../../documents/workflow/installments.ts'
import type { WithConfig, WithDatabase } from '../../platform/context.ts'
import { beyondLimit, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'
import { type DayEvent, writeCalendar } from './calendar-text.ts'

// The deadlines, or the payments, at a secret address: docs/decisions/0044-calendar-feed.md.

// Calendars ask a few times a day.
const ofFeed: Limit = { name: 'calendar-feed', times: 30, withinMs: 3_600_000 }
const made: Limit = { name: 'calendar-made', times: 20, withinMs: 3_600_000 }

export const calendarRoutes = [
  handle(getCalendar, async (ctx, { query, session }) => ({
    data: {
      desde: await readWorkspace(beyondLimit(ctx), session.workspaceId, (ctx) =>
        findSince(ctx, session, query.Calendario),
      ),
    },
  })),

  handle(changeCalendar, async (ctx, { body: { ligado, calendario }, session }) => {
    if (!ligado) {
      await inWorkspace(beyondLimit(ctx), session.workspaceId, (ctx) => revoke(ctx, session, calendario))
      return { data: { endereco: null, desde: null }, message: 'Endereço revogado: os calendários deixam de receber.' }
    }
    await countTry(ctx, made, `${session.workspaceId}/${session.accountId}`)
    const token = createToken()
    const desde = await inWorkspace(beyondLimit(ctx), session.workspaceId, async ({ db }) => {
      await replace({ db }, session, calendario, token)
      return findSince({ db }, session, calendario)
    })
    const path = readCalendar.path.replace('{segredo}', token)
    return {
      data: { endereco: `${ctx.config.publicUrl}${path}`, desde },
      message: 'Endereço criado. Copie agora: ele não é mostrado de novo.',
    }
  }),

  handle(readCalendar, async (ctx, { params }) => {
    const feed = await findFeed(ctx, params.segredo)
    if (!feed)
      throw new AppError(
        'not-found',
        'Este calendário não existe ou foi revogado. Para assinar de novo, abra Prazos ou Vencimentos e crie outro endereço.',
      )
    await countTry(ctx, ofFeed, params.segredo)
    const now = new Date()
    const kind = calendarKinds[feed.kind]!
    const events = await readEventsOf[kind](ctx, feed, now)
    return { content: Buffer.from(writeCalendar(names[kind], events, now)) }
  }),
]

// Code in the database: the index of the kind.
const codeOf = (kind: CalendarKind) => calendarKinds.indexOf(kind)
const names = { prazos: 'Prazos fiscais', vencimentos: 'Vencimentos a pagar' }
const ofWhat = { prazos: 'os prazos', vencimentos: 'os vencimentos' }

async function findSince(
  { db }: WithDatabase,
  { workspaceId, accountId }: Session,
  kind: CalendarKind,
): Promise<string | null> {
  const { rows } = await sql<{ created_at: Date }>`
    select created_at from calendar_feed
     where workspace_id = ${workspaceId} and account_id = ${accountId} and kind = ${codeOf(kind)}`.execute(db)
  return rows[0]?.created_at.toISOString() ?? null
}

// The address of before ends.
async function replace({ db }: WithDatabase, session: Session, kind: CalendarKind, token: string): Promise<void> {
  const { workspaceId, accountId } = session
  await endCalendar({ db }, session, codeOf(kind))
  // Two that are made at once: the later one holds.
  await sql`
    insert into calendar_feed (workspace_id, account_id, kind, token_hash, created_at)
    values (${workspaceId}, ${accountId}, ${codeOf(kind)}, ${tokenHash(token)}, now())
        on conflict (workspace_id, account_id, kind) do update
       set token_hash = excluded.token_hash, created_at = excluded.created_at`.execute(db)
  await listToken({ db }, workspaceId, token, sql<Date>`'infinity'`)
  await recordAudit(
    { db },
    session,
    'leitura',
    `Criou um endereço secreto para assinar ${ofWhat[kind]} num calendário.`,
  )
}

async function revoke(ctx: WithDatabase, session: Session, kind: CalendarKind): Promise<void> {
  if (await endCalendar(ctx, session, codeOf(kind)))
    await recordAudit(ctx, session, 'leitura', `Revogou o endereço secreto do calendário de ${kind}.`)
}

interface Feed {
  workspaceId: number
  workspacePublicId: string
  /** Null: all. */
  companies: number[] | null
  kind: number
}

async function findFeed({ db }: WithDatabase, token: string): Promise<Feed | null> {
  if (!/^[\w-]{43}$/.test(token)) return null
  const { rows } = await sql<Feed>`
    select workspace_id as "workspaceId", workspace_public_id as "workspacePublicId", company_ids as companies, kind
      from feed_for_token(${tokenHash(token)})`.execute(db)
  return rows[0] ?? null
}

const readEventsOf = { prazos: readDeadlines, vencimentos: readPaymentEvents }

async function readPaymentEvents(
  ctx: WithConfig,
  { workspaceId, workspacePublicId, companies }: Feed,
): Promise<DayEvent[]> {
  const payments = await readWorkspace(ctx, workspaceId, (ctx) =>
    readPayments(ctx, workspaceId, { days: feedDays, companies }),
  )
  return payments.map(({ day, count, value, suppliers }) => {
    const parcels = formatCount(count, 'parcela', 'parcelas')
    return {
      uid: `${day}-vencimentos-${workspacePublicId}@vigia-fiscal`,
      day,
      summary: `Vencimentos: ${parcels}, ${formatMoney(value)}`,
      description: `${parcels} de ${formatCount(suppliers, 'fornecedor', 'fornecedores')}, em aberto.`,
      url: `${ctx.config.publicUrl}/vencimentos`,
    }
  })
}

async function readDeadlines(
  ctx: WithConfig,
  { workspaceId, workspacePublicId, companies }: Feed,
  now: Date,
): Promise<DayEvent[]> {
  const about = { days: feedDays, companies }
  const due = await readWorkspace(ctx, workspaceId, (ctx) => readDue(ctx, workspaceId, about))
  const all = (await listCapturedCompanies(ctx, workspaceId, undefined)).filter(({ active }) => active)
  const shown = companies === null ? all : all.filter(({ id }) => companies.includes(id))
  const dayOf = (at: Date) => writeBrasiliaTime(at).slice(0, 10)
  const last = dayOf(new Date(now.getTime() + (feedDays - 1) * 86_400_000))
  const byDay = (times: (Date | null)[]) => {
    const days = times.flatMap((time) => (time !== null && time > now && dayOf(time) <= last ? [dayOf(time)] : []))
    return [...Map.groupBy(days, (day) => day)].map(([day, { length }]) => ({ day, count: length }))
  }
  const url = `${ctx.config.publicUrl}/prazos`
  const event = (day: string, kind: string, summary: string, description: string): DayEvent => ({
    uid: `${day}-${kind}-${workspacePublicId}@vigia-fiscal`,
    day,
    summary,
    description,
    url,
  })
  return [
    ...due.map(({ dia, para, totalDeItens, valorTotal, totalDeEmpresas }) => {
      const { title, one, many } = dueWords[para]
      const count = formatCount(totalDeItens, one, many)
      const of = `de ${formatCount(totalDeEmpresas, 'empresa', 'empresas')}`
      return event(dia, para, `${title}: ${count}`, `Último dia para ${count} ${of}, ${formatMoney(valorTotal)}.`)
    }),
    ...byDay(shown.map(({ valid_to }) => valid_to)).map(({ day, count }) =>
      event(
        day,
        'certificado',
        `Certificado vence: ${formatCount(count, 'empresa', 'empresas')}`,
        'Depois, sem outro certificado, a captura não continua.',
      ),
    ),
    ...byDay(
      shown.flatMap(({ lines }) => lines.flatMap(({ state, next_at }) => (state === 'blocked' ? next_at : []))),
    ).map(({ day, count }) =>
      event(
        day,
        'pausa',
        formatCount(count, 'pausa da captura termina', 'pausas da captura terminam'),
        'Nada se perde: a SEFAZ guarda o que falta.',
      ),
    ),
  ].sort((a, b) => a.uid.localeCompare(b.uid))
}
