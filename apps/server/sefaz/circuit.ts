import { formatBrasiliaShortMoment } from '@vigia/contract/text'
import { explainFailure, isOfTheHost, type SefazError } from '@vigia/sefaz/error'
import { sql } from 'kysely'
import type { WithConfig, WithDatabase } from '../platform/context.ts'

// Five calls of any process in a row without a response; then one at a time, every sixth of an hour.
const failuresMax = 5

/** How a service is named here. */
export function addressOf(url: string): string {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** An outage of a web service: its start, its reason as noted, and the end of the pause. */
export interface Outage {
  since: Date
  reason: string
  detail: string | null
  until: Date
}

/** Claims a call of `url`; false: not now. After a pause one caller gets it, because `open_until` moves on. */
export async function mayCall({ db, config }: WithConfig, url: string): Promise<boolean> {
  const address = addressOf(url)
  const probeMs = Math.round(config.sefaz.hourMs / 6)
  const { rows } = await sql<{ closed: boolean; mine: boolean }>`
    with mine as (
      update circuit set open_until = now() + ${probeMs} * interval '1 ms'
       where address = ${address} and open_until <= now() returning address)
    select not exists (select 1 from circuit where address = ${address} and open_until is not null) as closed,
           exists (select 1 from mine) as mine`.execute(db)
  return rows[0]!.closed || rows[0]!.mine
}

/** Addresses of the services that must not be called now. */
export async function pausedServices({ db }: WithDatabase): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`select address from circuit where open_until > now()`.execute(db)
  return rows.map(({ address }) => address)
}

/** Outage of the service at `url`; null when it serves, or one failure has not yet become an outage. */
export async function findOutage({ db }: WithDatabase, url: string): Promise<Outage | null> {
  const { rows } = await sql<Outage>`
    select since, reason, detail, open_until as until from circuit
     where address = ${addressOf(url)} and open_until > now()`.execute(db)
  return rows[0] ?? null
}

/** Notes that the service at `url` answered a call. */
export async function noteAnswer({ db }: WithDatabase, url: string): Promise<void> {
  await sql`update circuit set failures = 0, open_until = null, since = null, reason = null, detail = null
             where address = ${addressOf(url)} and (failures > 0 or open_until is not null)`.execute(db)
}

// Somebody has to change something first, and it concerns every certificate.
const lasting: ReadonlySet<string> = new Set(['tls-chain', 'encryption'])

/**
 * Notes that a call to the service at `url` got no response. Returns the outage that this is part of.
 * A refusal of our certificate proves that the host serves, so it closes the circuit: null.
 */
export async function noteSilence(ctx: WithConfig, url: string, error: SefazError): Promise<Outage | null> {
  if (isOfTheHost(error)) {
    const pauseMs = lasting.has(error.kind) ? ctx.config.sefaz.hourMs / 6 : undefined
    return noteFailure(ctx, url, error.kind, pauseMs, error.detail)
  }
  await noteAnswer(ctx, url)
  return null
}

/**
 * Notes that the service at `url` did not respond, or announced an outage, of which `pauseMs` is
 * the duration. Returns the outage that this belongs to, if there is one already.
 */
export async function noteFailure(
  { db, config }: WithConfig,
  url: string,
  reason: string,
  pauseMs?: number,
  detail: string | null = null,
): Promise<Outage | null> {
  const openMs = Math.round(pauseMs ?? config.sefaz.hourMs / 6)
  const failuresNeeded = pauseMs === undefined ? failuresMax : 1
  const address = addressOf(url)
  const { rows } = await sql<{ since: Date; until: Date | null }>`
    insert into circuit as c (address, failures, since, reason, detail, open_until)
    values (${address}, 1, now(), ${reason}, ${detail}, case when 1 >= ${failuresNeeded} then now() + ${openMs} * interval '1 ms' end)
    on conflict (address) do update
       set failures = c.failures + 1, since = coalesce(c.since, now()), reason = excluded.reason, detail = excluded.detail,
           open_until = case when c.failures + 1 >= ${failuresNeeded}
                             then greatest(c.open_until, now() + ${openMs} * interval '1 ms') else c.open_until end
    returning since, open_until as until`.execute(db)
  const { since, until } = rows[0]!
  return until ? { since, reason, detail, until } : null
}

const capturesLater = 'Os documentos já guardados estão seguros e as consultas voltam sozinhas quando ele responder.'

/** Sentence for people: the service is down for all companies, since when and why; nobody has to act. */
export function outageSentence({ since, reason, detail }: Omit<Outage, 'until'>, follows = capturesLater): string {
  const when = formatBrasiliaShortMoment(since)
  const why = explainFailure(reason, detail ?? undefined)?.happened ?? reason.split('. ')[0]
  const how = lasting.has(reason) ? 'sem conexão segura' : 'fora do ar'
  return `O serviço da SEFAZ está ${how} para todas as empresas desde ${when}: ${why}. ${follows}`
}
