import type pg from 'pg'
import type { AuthorityCall, AuthorityEvent } from './authority.ts'
import type { Service } from './records.ts'
import type { Servers } from './servers.ts'

/** What the product wrote before a query (without `chave`) or an event left, and when by a clock that nobody sets. */
export interface Announcement {
  service: Service
  cnpj: string
  chave: string | null
  tpEvento: number | null
  at: number
}

// The product forgets them with the response. Each server keeps what is announced on it.
const schema = `
  create schema announced;
  create table announced.one (service smallint not null, cnpj text not null, chave text, tp_evento int, at timestamptz not null);
  create function announced.query() returns trigger language plpgsql security definer as $$ begin
    insert into announced.one values (new.service, new.cnpj, null, null, pg_catalog.clock_timestamp());
    return null;
  end $$;
  create function announced.event() returns trigger language plpgsql security definer as $$ begin
    insert into announced.one values (new.type, new.cnpj, new.chave, new.tp_evento, pg_catalog.clock_timestamp());
    return null;
  end $$;
  grant usage on schema announced to public`

const triggers = `
  create trigger announced after update of asked_at on capture_line for each row
    when (new.asked_at is not null) execute function announced.query();
  create trigger announced after update of sent_at on outgoing_event for each row
    when (new.sent_at is not null) execute function announced.event()`

/** Makes a migrated database keep what is announced. */
export async function keepAnnouncements(servers: Pick<Servers, 'onEach' | 'addTriggers'>): Promise<void> {
  await servers.onEach(schema)
  await servers.addTriggers(triggers)
}

export async function readAnnouncements(servers: readonly pg.Pool[]): Promise<Announcement[]> {
  const each = servers.map((server) =>
    server.query<Announcement>(`
      select case service when 0 then 'nfe' else 'cte' end as service, cnpj, chave, tp_evento as "tpEvento",
             (extract(epoch from at) * 1000)::float8 as at
        from announced.one`),
  )
  return (await Promise.all(each)).flatMap(({ rows }) => rows)
}

interface Left {
  key: string
  what: string
  at: number
}

const keyOf = (service: Service, cnpj: string, chave: string | null, tpEvento: number | null) =>
  [service, cnpj, ...(chave === null ? [] : [chave, tpEvento])].join(' ')

/** The queries and events that left although the lease of who announced them was over, so that somebody else might have sent another. */
export function late(
  announcements: readonly Announcement[],
  calls: readonly AuthorityCall[],
  events: readonly AuthorityEvent[],
  answerMs: number,
): string[] {
  // A lease is two and a half responses long, and what leaves must be answered within it; the rest is for a machine that delivers late.
  const mostMs = 2.75 * answerMs
  const left: Left[] = [
    ...calls.flatMap(({ of, service, taxId, at }) => {
      if (of !== 'distribution' || taxId === undefined) return []
      return { key: keyOf(service, taxId, null, null), what: `a query of ${service} ${taxId}`, at: Date.parse(at) }
    }),
    ...events.flatMap(({ service, author, chave, tpEvento, sendings }) =>
      sendings.map(({ at }) => ({
        key: keyOf(service, author, chave, tpEvento),
        what: `event ${tpEvento} of ${author} about ${chave}`,
        at: Date.parse(at),
      })),
    ),
  ]
  const announced = Map.groupBy(announcements, (one) => keyOf(one.service, one.cnpj, one.chave, one.tpEvento))
  const unused = new Map([...announced].map(([key, ones]) => [key, ones.map(({ at }) => at).sort((a, b) => a - b)]))
  return left
    .sort((a, b) => a.at - b.at)
    .flatMap(({ key, what, at }) => {
      const times = unused.get(key) ?? []
      const place = times.findLastIndex((time) => time <= at)
      const [since] = place < 0 ? [] : times.splice(place, 1)
      if (since !== undefined && at - since <= mostMs) return []
      const told =
        since === undefined
          ? 'without an announcement of its own'
          : `${Math.round(at - since)} ms after its announcement`
      return [`${what} came at ${new Date(at).toISOString()}, ${told}`]
    })
}
