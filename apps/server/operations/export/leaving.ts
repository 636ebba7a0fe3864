import { exportMax, takeEverything } from '@vigia/contract/document-files'
import { formatCount, formatInteger, writeBrasiliaTime } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { isLeaving, type Kept, newSecret, type Place, queueExport } from '../../documents/export/keeping.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { inWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { countTry, type Limit } from '../../platform/http/throttle.ts'

export const leavingRoutes = [
  handle(takeEverything, 'slow', async (ctx, { body, session }) => {
    const { files, receipts } = await prepareLeaving(ctx, session, body)
    return {
      data: { totalDeArquivos: files, totalDeItens: receipts },
      message: `${files === 1 ? 'O arquivo com tudo está' : `Tudo está em ${formatInteger(files)} arquivos, que estão`} a caminho. Acompanhe no sino, de onde você baixa quando ficar pronto: fica lá por três dias.`,
    }
  }),
]

const leavingAtMost: Limit = { name: 'leaving', times: 3, withinMs: 24 * 3_600_000 }

/**
 * Has an archive of everything made that the workspace keeps, in as many files as it takes; they replace the last one. Refuses a second one while one
 * is made, more than three a day, and PDFs of more documents than can be laid out in a reasonable time. Neither plan nor a deletion that
 * waits stands against it.
 */
export async function prepareLeaving(
  ctx: WithDatabase,
  session: Session,
  { pdf }: { pdf: boolean },
): Promise<{ files: number; receipts: number }> {
  const { workspaceId, accountId, accountName: requestedBy, shared } = session
  const now = new Date()
  return inWorkspace(ctx, workspaceId, async ({ db }) => {
    // Two that ask at once take turns, and the second one finds the first.
    await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).forNoKeyUpdate().execute()
    const { rows: waiting } = await sql`
      select from document_export where workspace_id = ${workspaceId} and ${isLeaving} and state = 'waiting'
       limit 1`.execute(db)
    if (waiting.length > 0)
      throw new AppError(
        'conflict',
        'O arquivo com tudo já está sendo feito. Acompanhe no sino e baixe-o quando estiver pronto.',
      )
    const { receipts, documents, ends } = await measure({ db }, workspaceId)
    if (pdf && documents > exportMax.leavingPdf)
      throw new AppError(
        'conflict',
        `Com PDF, o arquivo com tudo alcança até ${formatInteger(exportMax.leavingPdf)} documentos, e são ${formatInteger(documents)}. Nada foi feito: leve tudo sem PDF, que o XML é o documento, e exporte das listas os PDF de que precisa.`,
      )
    await countTry({ db }, leavingAtMost, String(workspaceId))
    // Nobody waits while `forgetExports` deletes them: there may be twenty gigabytes.
    await sql`
      update document_export set requested_at = '-infinity' where workspace_id = ${workspaceId}
       and ${isLeaving}`.execute(db)
    const made = writeBrasiliaTime(now).slice(0, 16).replace('T', ' às ').replace(':', 'h')
    const of = ends.length + 1
    for (let number = 1; number <= of; number++) {
      const leaving = { pdf, number, of, after: ends[number - 2] ?? null, upto: ends[number - 1] ?? null }
      const kept: Kept = {
        leaving,
        contents: { xml: true, pdf, planilha: true },
        filter: 'tudo',
        fileName: `Tudo ${made}${of > 1 ? ` (${number} de ${of})` : ''}.zip`,
        requestedBy,
        shared,
        secret: newSecret(),
      }
      const total = number < of ? exportMax.documents : receipts - exportMax.documents * (of - 1)
      const { rows } = await sql<{ id: bigint }>`
        insert into document_export (workspace_id, account_id, form, total, request)
        values (${workspaceId}, ${accountId}, 'zip', ${total}, ${JSON.stringify(kept)}) returning id`.execute(db)
      await queueExport({ db }, { workspaceId, id: rows[0]!.id, queue: 'leaving' })
    }
    await recordAudit(
      { db },
      session,
      'exportacao',
      `Pediu o arquivo com tudo o que a conta guarda${pdf ? ', com PDF' : ''}: ${formatCount(receipts, 'arquivo recebido da SEFAZ', 'arquivos recebidos da SEFAZ')}, planilhas, auditoria e configurações.`,
    )
    return { files: of, receipts }
  })
}

// How much there is, and the last receipt of each file but the last one.
async function measure({ db }: WithDatabase, workspaceId: number) {
  const { rows: counts } = await sql<{ receipts: number; documents: number }>`
    select (select count(*)::int from receipt where workspace_id = ${workspaceId}) as receipts,
           (select coalesce(sum(n), 0)::int from count_month where workspace_id = ${workspaceId}) as documents`.execute(
    db,
  )
  const { rows } = await sql<{ companyId: number; service: number; nsu: string }>`
    select company_id as "companyId", service, nsu::text
      from (select company_id, service, nsu, row_number() over (order by company_id, service, nsu) as n
              from receipt where workspace_id = ${workspaceId}) r
     where n % ${exportMax.documents} = 0 and n < ${counts[0]!.receipts} order by n`.execute(db)
  return { ...counts[0]!, ends: rows.map(({ companyId, service, nsu }): Place => [companyId, service, nsu]) }
}
