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
  await writeContacts(
    db,
    workspaceId,
    purchases.flatMap(({ contacts, ...pair }) => contacts.map((contact) => ({ ...pair, contact }))),
  )
}

type Contact = Pick<Named, 'companyBase' | 'issuerBase'> & { contact: string }

async function writeContacts(db: Database, workspaceId: number, rows: readonly Contact[]): Promise<void> {
  await sql`
    insert into partner_contact (workspace_id, company_base, contact, issuer_base)
    select distinct ${workspaceId}::int, r."companyBase", r.contact, r."issuerBase" from ${recordsOf(rows, contactTypes)} order by 2, 3, 4
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
  const { rows: names } = await sql<Named>`
    select distinct on (1, 2, 3) company_base as "companyBase", issuer_base as "issuerBase", facts -> 'issuer' ->> 'name' as name, at::text as at, chave
      from document_facts where ${isIts} and purchase order by 1, 2, 3, document_facts.at, chave`.execute(db)
  const { rows: contacts } = await sql<Contact>`
    select distinct f.company_base as "companyBase", f.issuer_base as "issuerBase", k.contact
      from (select company_base, issuer_base, facts -> 'issuer' -> 'contacts' as contacts from document_facts where ${isIts} and purchase) f
     cross join lateral jsonb_array_elements_text(f.contacts) k (contact)`.execute(db)
  await sql`delete from partner where ${isIts}`.execute(db)
  await sql`delete from partner_contact where ${isIts}`.execute(db)
  for (let start = 0; start < Math.max(names.length, contacts.length); start += atOnce) {
    const some = names.slice(start, start + atOnce).map((row) => ({ ...row, name: normalName(row.name) }))
    await writeNames(db, workspaceId, some)
    await writeContacts(db, workspaceId, contacts.slice(start, start + atOnce))
  }
}

const atOnce = 2_000
