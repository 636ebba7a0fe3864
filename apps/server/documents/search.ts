import { cleanChave } from '@vigia/dfe/chave'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../platform/context.ts'
import { likeLiteral, searchable } from '../platform/text.ts'

/**
 * What a person typed as a condition on `document d`: a chave (also part of one, also with spaces), a CNPJ or CPF with or without mask,
 * a number, or part of the issuer's name. Names are looked for in the dictionary of suppliers, never in the documents.
 */
export async function searchCondition(db: Database, workspaceId: number, text: string): Promise<RawBuilder<unknown>> {
  const bare = cleanChave(text)
  // Only what people write in numbers may be dropped: "A 3 MARIAS" is a name, "12.ABC.345/01DE-35" is not.
  const isCode = /^[0-9A-Za-z.\-/\s]+$/.test(text) && /\d/.test(bare)
  if (isCode && bare.length === 44) return sql`d.chave = ${bare}`
  if (isCode && bare.length >= 25 && bare.length < 44) return sql`d.chave >= ${bare} and d.chave < ${`${bare}~`}`
  if (/^[\d.\s]+$/.test(text) && bare.length <= 9) return sql`d.number = ${Number(bare)}`
  const byTaxId =
    isCode && /^[0-9A-Z]{8,14}$/.test(bare) && (bare.length === 14 || /^\d+$/.test(bare) || /^\S+$/.test(text.trim()))
  const { rows } = await sql<{ id: number }>`
    select s.id from supplier s
     where s.workspace_id = ${workspaceId}
       and (s.search like ${`%${likeLiteral(searchable(text))}%`} ${byTaxId ? sql`or s.tax_id like ${`${bare}%`}` : sql``})`.execute(
    db,
  )
  return sql`d.supplier_id = any (${rows.map((row) => row.id)}::int[])`
}
