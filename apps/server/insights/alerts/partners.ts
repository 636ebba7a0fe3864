import { type AlertFacts, isPurchase } from '@vigia/checks/alerts/facts'
import { askOf, contactsIn } from '@vigia/checks/alerts/history'
import { normalName } from '@vigia/checks/alerts/names'
import { sql } from 'kysely'
import { recordsOf } from '../../documents/store.ts'
import type { Database, WithDatabase } from '../../platform/context.ts'
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

/** Makes the suppliers of a company base anew from the purchases that are here. */
export async function remakePartners({ db }: WithDatabase, workspaceId: number, companyBase: string): Promise<void> {
  await holdAlerts({ db }, workspaceId)
  const isIts = sql`workspace_id = ${workspaceId} and company_base = ${companyBase}`
  const { rows } = await sql<{ issuerBase: string; name: string; at: string; chave: string }>`
    select distinct on (1, 2) issuer_base as "issuerBase", facts -> 'issuer' ->> 'name' as name, at::text as at, chave
      from document_facts where ${isIts} and purchase order by 1, 2, document_facts.at, chave`.execute(db)
  await sql`delete from partner where ${isIts}`.execute(db)
  for (let start = 0; start < rows.length; start += atOnce) {
    const some = rows.slice(start, start + atOnce)
    await writeNames(
      db,
      workspaceId,
      some.map((row) => ({ ...row, companyBase, name: normalName(row.name) })),
    )
  }
  await sql`delete from partner_contact where ${isIts}`.execute(db)
  await sql`
    insert into partner_contact (workspace_id, company_base, contact, issuer_base)
    select distinct ${workspaceId}::int, ${companyBase}::text, k.contact, f.issuer_base
      from (select issuer_base, facts -> 'issuer' -> 'contacts' as contacts from document_facts where ${isIts} and purchase) f
     cross join lateral jsonb_array_elements_text(f.contacts) k (contact) order by 3, 4
    on conflict do nothing`.execute(db)
}

const atOnce = 2_000
