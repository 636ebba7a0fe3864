import { families } from '@vigia/dfe/families/all'
import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { tryLock } from '../../platform/locks.ts'
import { receivedContent } from '../received/column.ts'
import type { KnownProof } from './proof.ts'
import { proveAlone } from './prover.ts'

// Documents and events that were stored unproved, because the threads were busy or one of them died.

const tables = [
  { table: sql`document`, provable: sql`complete` },
  { table: sql`document_event`, provable: sql`not summary` },
]
const provableTypes = families.filter(({ signed }) => signed).map(({ code }) => code)
const batchSize = 200
const batchesMax = 5

/** Verifies up to a thousand unproved documents and events of a workspace, each alone, so that one that ends its thread is known. */
export async function proveMissed(ctx: WithDatabase, workspaceId: number): Promise<void> {
  for (const one of tables)
    for (let batch = 0; batch < batchesMax; batch++) if (!(await proveBatch(ctx, workspaceId, one))) break
}

// Proves documents of one company, because its lock orders all its writers. Returns whether to go on.
async function proveBatch(
  ctx: WithDatabase,
  workspaceId: number,
  { table, provable }: (typeof tables)[number],
): Promise<boolean> {
  const missed = await inWorkspace(ctx, workspaceId, async ({ db }) => {
    const { rows } = await sql<{ company_id: number; chave: string; nsu: bigint; content: Buffer }>`
      select d.company_id, d.chave, d.nsu, ${receivedContent(workspaceId, 'r')} as content
        from ${table} d
        join receipt r on r.workspace_id = d.workspace_id and r.company_id = d.company_id and r.service = d.type and r.nsu = d.nsu
       where d.workspace_id = ${workspaceId} and d.proof is null and ${provable} and d.type = any (${provableTypes}::int[])
       order by d.company_id limit ${batchSize}`.execute(db)
    return rows.filter(({ company_id }) => company_id === rows[0]!.company_id)
  })
  const proofs: { chave: string; nsu: string; proof: KnownProof }[] = []
  for (const { chave, nsu, content } of missed) {
    const proof = await proveAlone(content)
    if (proof !== null) proofs.push({ chave, nsu: String(nsu), proof })
  }
  if (proofs.length === 0) return false
  const companyId = missed[0]!.company_id
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    // A rebuild holds it long, and verifies all.
    if (!(await tryLock({ db }, 'company', companyId))) return false
    // Another file may have taken its place.
    await sql`
      update ${table} d set proof = p.proof
        from json_to_recordset(${JSON.stringify(proofs)}::json) as p (chave text, nsu bigint, proof text)
       where d.workspace_id = ${workspaceId} and d.company_id = ${companyId} and d.chave = p.chave and d.nsu = p.nsu
         and d.proof is null and ${provable}`.execute(db)
    return true
  })
}
