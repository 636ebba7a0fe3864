import { cleanChave } from '@vigia/dfe/chave'
import { parseCnpj, parseCpf } from '@vigia/dfe/cnpj'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../platform/context.ts'
import { likeLiteral, searchable } from '../platform/text.ts'

/**
 * What a person typed as a condition on `document d`: a chave (also the beginning of one, also with spaces), a CNPJ or CPF with or without
 * mask, a number, or part of the issuer's name. Names are looked for in the dictionary of suppliers, never in the documents.
 */
export async function searchCondition(db: Database, workspaceId: number, text: string): Promise<RawBuilder<unknown>> {
  const bare = cleanChave(text)
  if (bare.length === 44 && chaveShape.test(bare)) return sql`d.chave = ${bare}`
  // Only what people write in numbers may be dropped: "A 3 MARIAS" is a name, "12.ABC.345/01DE-35" is not.
  const isCode = /^[0-9A-Za-z.\-/\s]+$/.test(text) && /\d/.test(bare)
  if (isCode && isBeginningOfChave(bare)) return sql`d.chave >= ${bare} and d.chave < ${`${bare}~`}`
  if (isCode && /^[\d.\s]+$/.test(text) && bare.length <= 9) return numberCondition(db, workspaceId, bare)
  const wholeTaxId = isCode && (parseCnpj(bare) ?? parseCpf(bare))
  if (wholeTaxId) return issuedBy(db, workspaceId, sql`s.tax_id = ${wholeTaxId}`)
  const named = sql`s.search like ${`%${likeLiteral(searchable(text))}%`}`
  const beginsTaxId =
    isCode && /^[0-9A-Z]{8,14}$/.test(bare) && (bare.length === 14 || /^\d+$/.test(bare) || /^\S+$/.test(text.trim()))
  return issuedBy(db, workspaceId, beginsTaxId ? sql`(${named} or s.tax_id like ${`${bare}%`})` : named)
}

const chaveShape = /^\d{6}[0-9A-Z]{0,12}\d*$/

// A name may have digits in it, but not fifteen and nothing else.
function isBeginningOfChave(bare: string): boolean {
  return bare.length < 44 && (/^\d{15,}$/.test(bare) || (bare.length >= 25 && chaveShape.test(bare)))
}

// Eight digits are also the base of a CNPJ.
async function numberCondition(db: Database, workspaceId: number, digits: string): Promise<RawBuilder<unknown>> {
  const ofNumber = sql`d.number = ${Number(digits)}`
  if (digits.length !== 8) return ofNumber
  return sql`(${ofNumber} or ${await issuedBy(db, workspaceId, sql`s.tax_id like ${`${digits}%`}`)})`
}

async function issuedBy(
  db: Database,
  workspaceId: number,
  condition: RawBuilder<unknown>,
): Promise<RawBuilder<unknown>> {
  // As one text: there may be thousands of ids, and they are only sent back to the database.
  const { rows } = await sql<{ ids: string }>`
    select coalesce(array_agg(s.id), '{}')::text as ids from supplier s where s.workspace_id = ${workspaceId} and ${condition}`.execute(
    db,
  )
  return sql`d.supplier_id = any (${rows[0]!.ids}::int[])`
}
