import { sql } from 'kysely'
import type { WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { countedText } from './audit.ts'

const columns = ['registro', 'quando', 'quem', 'acao', 'descricao', 'endereco'] as const
const batchSize = 1_000

interface EntryRow {
  id: bigint
  when: string
  actor: string
  action: string
  description: string
  times: number
  address: string | null
}

/** The whole audit of a workspace as CSV, oldest first. */
export async function* writeAudit(ctx: WithDatabase, workspaceId: number): AsyncGenerator<Buffer> {
  const { rows: ends } = await readWorkspace(ctx, workspaceId, ({ db }) =>
    sql<{ id: bigint | null }>`select max(id) as id from audit where workspace_id = ${workspaceId}`.execute(db),
  )
  const end = ends[0]?.id ?? 0n
  yield Buffer.from(`\ufeff${line(columns)}`)
  let n = 0
  // Each batch in a transaction of its own: who downloads slowly keeps no connection.
  for (let last = 0n; last < end; ) {
    const { rows } = await readWorkspace(ctx, workspaceId, ({ db }) =>
      sql<EntryRow>`
        select id, to_char(at at time zone 'America/Sao_Paulo', 'YYYY-MM-DD"T"HH24:MI:SS.US')
                   || to_char((at at time zone 'America/Sao_Paulo') - (at at time zone 'UTC'), 'HH24:MI') as when,
               actor, action, description, times, address
          from audit where workspace_id = ${workspaceId} and id > ${last} and id <= ${end} order by id
          limit ${batchSize}`.execute(db),
    )
    if (rows.length === 0) return
    let text = ''
    for (const { id, when, actor, action, description, times, address } of rows) {
      n++
      text += line([String(n), ...[when, actor, action, countedText(description, times), address ?? ''].map(asText)])
      last = id
    }
    yield Buffer.from(text)
  }
}

function line(cells: readonly string[]): string {
  return `${cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(';')}\r\n`
}

// An apostrophe in front of what a spreadsheet would calculate with, and of an apostrophe, so that it can be taken away again.
function asText(cell: string): string {
  return /^[=+\-@＝＋－＠'\t\r\n]/.test(cell) ? `'${cell}` : cell
}
