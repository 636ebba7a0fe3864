import type { AlertHabits } from '@vigia/contract/alerts'
import { nfe, nfeRole } from '@vigia/dfe/families/nfe'
import { sql } from 'kysely'
import { readCaptureStates } from '../../capture/state.ts'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import { taxBase } from '../../documents/store.ts'
import type { WithDatabase } from '../../platform/context.ts'

// Oddities of a company or an issuer, not of a document: S50 and S48. People look them up, unnotified.

// Newest notes of two years whose first digits are examined.
const notesMax = 100_000
const shownMax = 50
const dayMs = 86_400_000

export interface Quiet {
  /** How many gaps between days with notes there were in a year, and how long 95 % of them are at most. */
  gaps: number
  usual: number
  /** Days since the last note. */
  days: number
}

/** S50: whether a company has had no notes for longer than its habit explains; few gaps say nothing. */
export function isSilent({ gaps, usual, days }: Quiet): boolean {
  return gaps >= 20 && days >= 3 && days > 3 * usual
}

/** S48: how far first digits (counts of 1 to 9) are from Benford's law, as a mean absolute deviation; null: they are as usual, or too few. */
export function digitDrift(counts: readonly number[]): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all < 300) return null
  const off = counts.reduce((sum, count, at) => sum + Math.abs(count / all - Math.log10(1 + 1 / (at + 1))), 0) / 9
  return off > 0.015 ? off : null
}

export async function readHabits({ db }: WithDatabase, workspaceId: number): Promise<AlertHabits> {
  const shown = shownConditions(await readHiding({ db }, workspaceId), 'd')
  const bought = sql.join(
    [
      sql`d.workspace_id = ${workspaceId}`,
      sql`d.type = ${nfe.code}`,
      sql`d.roles & ${1 << nfeRole.destinatario} <> 0`,
      ...shown,
    ],
    sql` and `,
  )
  const { rows: quiet } = await sql<Quiet & { companyId: number; publicId: string; name: string }>`
    with g as (
      select company_id, day, day - lag(day) over (partition by company_id order by day) as gap from (
        select c.id as company_id, t.day::date
          from company c, generate_series(current_date::timestamp - interval '364 days', current_date::timestamp, '1 day') t (day),
               lateral (select from document d where ${bought} and d.company_id = c.id and d.issued_at >= t.day and d.issued_at < t.day + interval '1 day' limit 1) f
         where c.workspace_id = ${workspaceId} and c.active) n)
    select c.id as "companyId", c.public_id as "publicId", c.name, q.* from (
      select company_id, count(gap)::int as gaps, percentile_cont(0.95) within group (order by gap)::float8 as usual,
             (current_date - max(day))::int as days from g group by 1) q
      join company c on c.workspace_id = ${workspaceId} and c.id = q.company_id and c.active
     where q.gaps > 0 order by q.days desc`.execute(db)
  const silent = quiet.filter(isSilent).slice(0, shownMax)
  const digit = (first: number) => sql`coalesce(sum(n) filter (where first = ${sql.lit(String(first))}), 0)::int`
  const { rows: digits } = await sql<{ base: string; name: string; counts: number[] }>`
    select ${taxBase('s')} as base, max(s.name) as name,
           array[${sql.join([1, 2, 3, 4, 5, 6, 7, 8, 9].map(digit))}] as counts
      from (select supplier_id, left(ltrim(amount::text, '0.'), 1) as first, count(*) as n from (
              select d.supplier_id, d.amount from document d where ${bought} and d.issued_at > now() - interval '2 years'
               order by d.issued_at desc, d.id desc limit ${notesMax}) newest
             where amount > 0 group by 1, 2) f
      join supplier s on s.workspace_id = ${workspaceId} and s.id = f.supplier_id
     group by 1 having sum(n) >= 300 order by sum(n) desc limit 500`.execute(db)
  const stopped = silent.length === 0 ? new Set() : await readStopped({ db }, workspaceId)
  return {
    silencios: silent.map(({ companyId, publicId, name, usual, days }) => ({
      idEmpresa: publicId,
      empresa: name,
      dias: days,
      comum: Math.round(usual),
      capturaParada: stopped.has(companyId),
    })),
    digitos: digits
      .flatMap(({ base, name, counts }) => {
        const drift = digitDrift(counts)
        const notas = counts.reduce((sum, count) => sum + count, 0)
        return drift === null
          ? []
          : [{ raizEmitente: base, emitente: name, notas, desvio: Math.round(drift * 1000) / 1000 }]
      })
      .sort((a, b) => b.desvio - a.desvio)
      .slice(0, shownMax),
  }
}

// Companies whose notes were not asked for successfully for a day: then the silence is ours.
async function readStopped({ db }: WithDatabase, workspaceId: number): Promise<Set<number>> {
  const lines = (await readCaptureStates(db, workspaceId)).filter(({ service }) => service === nfe.code)
  const running = new Set(
    lines.flatMap(({ company_id, paused, last_success_at }) =>
      !paused && last_success_at !== null && last_success_at.getTime() > Date.now() - dayMs ? company_id : [],
    ),
  )
  return new Set(lines.flatMap(({ company_id }) => (running.has(company_id) ? [] : company_id)))
}
