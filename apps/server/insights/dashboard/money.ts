import { alertBands } from '@vigia/contract/alerts'
import type { Money } from '@vigia/contract/workspace'
import { cte } from '@vigia/dfe/families/cte'
import { sql } from 'kysely'
import { readHiding, shownConditions } from '../../companies/switches.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { openFindings } from '../freight/freight.ts'

const carriersShown = 3
/** With fewer bills a price by weight says little. */
const billsMin = 3

/** What documents with a grave open alert are worth, and the dearest carriers by weight of this month and the two before. */
export async function readMoney(ctx: WithDatabase, workspaceId: number): Promise<Money> {
  const shown = shownConditions(await readHiding(ctx, workspaceId), 'd')
  const hidden = shown.map((condition) => sql`and ${condition}`)
  const { rows } = await sql<Money['aConferir']>`
    select count(*)::int as documentos, coalesce(sum(d.amount), 0)::float8 as valor from document d
     where d.workspace_id = ${workspaceId} and d.alert_band >= ${alertBands.indexOf('alto')} ${sql.join(hidden, sql` `)}`.execute(
    ctx.db,
  )
  const { rows: carriers } = await sql<Money['transportadoras'][number]>`
    with bill as materialized (
      select s.tax_id, s.name, f.document_id, f.cents, (f.facts #>> '{trip,kilos}')::float8 as kilos
        from document_facts f
        join document d on d.workspace_id = f.workspace_id and d.id = f.document_id
        join supplier s on s.workspace_id = d.workspace_id and s.id = d.supplier_id
       where f.workspace_id = ${workspaceId} and f.side = 2 and f.type = ${cte.code} and f.counted
         and f.month >= date_trunc('month', now() at time zone 'America/Sao_Paulo') - interval '2 months' ${sql.join(hidden, sql` `)})
    select tax_id as "cnpjCpf", max(name) as nome, count(*)::int as documentos, sum(cents)::float8 / 100 as valor,
           sum(cents) filter (where kilos > 0) / sum(kilos) / 100 as "porQuilo",
           coalesce(sum(cents) filter (where document_id = any (${await openFindings(ctx, workspaceId, 'fr-dobro')})), 0)::float8 / 100 as "aRecuperar"
      from bill group by tax_id having sum(kilos) > 0 and count(*) >= ${billsMin}
     order by "porQuilo" desc limit ${carriersShown}`.execute(ctx.db)
  return { aConferir: rows[0]!, transportadoras: carriers }
}
