import { alertBands } from '@vigia/contract/alerts'
import type { Money } from '@vigia/contract/workspace'
import { cte } from '@vigia/dfe/families/cte'
import { sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { WithDatabase } from '../../platform/context.ts'

const carriersShown = 3
/** With fewer bills a price by weight says little. */
const billsMin = 3

/** The value of documents with an open alert `alto` or `critico`, and the dearest carriers by weight of this month and the two before. */
export async function readMoney(ctx: WithDatabase, workspaceId: number): Promise<Money> {
  const shown = shownConditions(await readHiding(ctx, workspaceId), 'd')
  const hidden = shown.map((condition) => sql`and ${condition}`)
  const { rows } = await sql<Money['aConferir']>`
    select count(*)::int as documentos, coalesce(sum(d.amount), 0)::float8 as valor from document d
     where d.workspace_id = ${workspaceId} and d.alert_band >= ${alertBands.indexOf('alto')} ${sql.join(hidden, sql` `)}`.execute(
    ctx.db,
  )
  const { rows: carriers } = await sql<Money['transportadoras'][number]>`
    select s.tax_id as "cnpjCpf", max(s.name) as nome, count(*)::int as documentos, sum(f.cents)::float8 / 100 as valor,
           sum(f.cents) filter (where k.kilos > 0) / sum(k.kilos) / 100 as "porQuilo",
           coalesce(sum(f.cents) filter (where r.code is not null and m.code is null), 0)::float8 / 100 as "aRecuperar"
      from document_facts f
     cross join lateral (select (f.facts #>> '{trip,kilos}')::float8 as kilos) k
      join document d on d.workspace_id = f.workspace_id and d.id = f.document_id
      join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
      left join freight_finding r on r.workspace_id = f.workspace_id and r.document_id = f.document_id and r.code = 'fr-dobro'
      left join freight_mark m on m.workspace_id = r.workspace_id and m.document_id = r.document_id and m.code = r.code and m.sentence = r.sentence
     where f.workspace_id = ${workspaceId} and f.side = 2 and f.type = ${cte.code} and f.counted
       and f.month >= date_trunc('month', now() at time zone 'America/Sao_Paulo') - interval '2 months' ${sql.join(hidden, sql` `)}
     group by s.tax_id having sum(k.kilos) > 0 and count(*) >= ${billsMin}
     order by "porQuilo" desc limit ${carriersShown}`.execute(ctx.db)
  return { aConferir: rows[0]!, transportadoras: carriers }
}
