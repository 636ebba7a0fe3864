import { type AlertFacts, isPurchase } from '@vigia/checks/alerts/facts'
import { askOf, contactsIn } from '@vigia/checks/alerts/history'
import { normalName } from '@vigia/checks/alerts/names'
import { sql } from 'kysely'
import { recordsOf } from '../../documents/store.ts'
import type { Context, Database } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { dateOf } from './history.ts'
import { holdAlerts } from './judging.ts'

// Suppliers of each company base: since when, under which names, and with which telephone, e-mail or address.

const pairTypes = { companyBase: 'text', issuerBase: 'text' }
const nameTypes = { ...pairTypes, name: 'text', at: 'timestamptz', chave: 'text' }
const contactTypes = { ...pairTypes, contact: 'text' }

interface Named {
  companyBase: string
  issuerBase: string
  name: string
  at: string
  chave: string
}

/** Writes what purchases tell of their suppliers, sorted by key. */
export async function addPartners(db: Database, workspaceId: number, documents: readonly AlertFacts[]): Promise<void> {
  const purchases = documents.filter(isPurchase).map((facts) => {
    const { companyBase, issuerBase, at } = askOf(facts)
    const name = normalName(facts.issuer.name)
    return { companyBase, issuerBase, name, at: dateOf(at), chave: facts.chave, contacts: contactsIn(facts) }
  })
  await writeNames(db, workspaceId, purchases)
  const contacts = purchases.flatMap(({ contacts, ...pair }) => contacts.map((contact) => ({ ...pair, contact })))
  await sql`
    insert into partner_contact (workspace_id, company_base, contact, issuer_base)
    select distinct ${workspaceId}::int, r."companyBase", r.contact, r."issuerBase" from ${recordsOf(contacts, contactTypes)} order by 2, 3, 4
    on conflict do nothing`.execute(db)
}

async function writeNames(db: Database, workspaceId: number, rows: readonly Named[]): Promise<void> {
  await sql`
    insert into partner as p (workspace_id, company_base, issuer_base, name, first_at, first_chave)
    select distinct on (2, 3, 4) ${workspaceId}::int, r."companyBase", r."issuerBase", r.name, r.at, r.chave from ${recordsOf(rows, nameTypes)}
     order by 2, 3, 4, 5, 6
    on conflict (workspace_id, company_base, issuer_base, name) do update set first_at = excluded.first_at, first_chave = excluded.first_chave
     where (excluded.first_at, excluded.first_chave) < (p.first_at, p.first_chave)`.execute(db)
}

const pageSize = 2_000

/** Makes the suppliers anew whose first document is no purchase any more, or says another name. */
export async function mendPartners(ctx: Pick<Context, 'db'>, workspaceId: number): Promise<void> {
  let after = { companyBase: '', issuerBase: '', name: '' }
  for (;;) {
    const last = await inWorkspace({ db: ctx.db }, workspaceId, async ({ db }) => {
      await holdAlerts({ db }, workspaceId)
      const { rows } = await sql<typeof after & { now: string | null }>`
        select p.company_base as "companyBase", p.issuer_base as "issuerBase", p.name, x.name as now
          from (select * from partner where workspace_id = ${workspaceId}
                   and (company_base, issuer_base, name) > (${after.companyBase}, ${after.issuerBase}, ${after.name})
                 order by company_base, issuer_base, name limit ${pageSize}) p
          left join lateral (
            select f.facts -> 'issuer' ->> 'name' as name
              from (select id from document d where d.workspace_id = ${workspaceId} and d.chave = p.first_chave offset 0) d
             cross join lateral (select * from document_facts f where f.workspace_id = ${workspaceId} and f.document_id = d.id offset 0) f
             where f.company_base = p.company_base and f.purchase limit 1) x on true
         order by 1, 2, 3`.execute(db)
      const stale = rows.filter(({ name, now }) => now === null || normalName(now) !== name)
      for (const pair of stale) await mendPartner(db, workspaceId, pair)
      return rows.length === pageSize ? rows.at(-1)! : null
    })
    if (last === null) return
    after = last
  }
}

async function mendPartner(
  db: Database,
  workspaceId: number,
  { companyBase, issuerBase }: Pick<Named, 'companyBase' | 'issuerBase'>,
): Promise<void> {
  const isIts = sql`workspace_id = ${workspaceId} and company_base = ${companyBase} and issuer_base = ${issuerBase}`
  const { rows } = await sql<{ issuer: string; at: string; chave: string }>`
    select distinct on (1) facts -> 'issuer' ->> 'name' as issuer, at::text as at, chave from document_facts where ${isIts} and purchase
     order by 1, document_facts.at, chave`.execute(db)
  await sql`delete from partner where ${isIts}`.execute(db)
  await writeNames(
    db,
    workspaceId,
    rows.map(({ issuer, ...row }) => ({ ...row, companyBase, issuerBase, name: normalName(issuer) })),
  )
  await sql`delete from partner_contact where ${isIts}`.execute(db)
  await sql`
    insert into partner_contact (workspace_id, company_base, contact, issuer_base)
    select distinct ${workspaceId}::int, ${companyBase}::text, k.contact, ${issuerBase}::text
      from (select facts -> 'issuer' -> 'contacts' as contacts from document_facts where ${isIts} and purchase) f
     cross join lateral jsonb_array_elements_text(f.contacts) k (contact) order by 3
    on conflict do nothing`.execute(db)
}
