import { downloadReformSheet, getReformSheet } from '@vigia/contract/reform'
import { formatMonth } from '@vigia/contract/text'
import { sql } from 'kysely'
import { recordRead } from '../../accounts/audit/audit.ts'
import { getCompanyId } from '../../companies/companies.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { handle } from '../../platform/http/http.ts'
import { readSheet, type SheetFilter, type SheetSize } from './sheet.ts'
import { sheetFile } from './spreadsheet.ts'

const onScreen: SheetSize = { suppliers: 100, codes: 30, findings: 20, notes: 50 }
const inFile: SheetSize = { suppliers: 10_000, codes: 2_000, findings: 200, notes: 2_000 }

export const reformRoutes = [
  handle(getReformSheet, 'slow', async (ctx, { query, session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, async (ctx) =>
      readSheet(ctx, workspaceId, await filterOf(ctx, workspaceId, query), onScreen),
    ),
  })),

  handle(downloadReformSheet, 'slow', async (ctx, { query, session, caller }) => {
    const { workspaceId } = session
    const { sheet, company } = await readWorkspace(ctx, workspaceId, async (ctx) => {
      const filter = await filterOf(ctx, workspaceId, query)
      return {
        sheet: await readSheet(ctx, workspaceId, filter, inFile),
        company: filter.companyId === undefined ? '' : await companyName(ctx, workspaceId, filter.companyId),
      }
    })
    const content = await sheetFile(sheet, company, new Date())
    const about = `${formatMonth(sheet.mes)} (${company || 'todas as empresas'})`
    await inWorkspace({ db: ctx.db }, workspaceId, ({ db }) =>
      recordRead({ db }, session, caller, `Baixou a planilha de IBS e CBS de ${about}.`),
    )
    return { content, fileName: `ibs-cbs-${sheet.mes}.xlsx` }
  }),
]

async function filterOf(
  ctx: WithDatabase,
  workspaceId: number,
  { Mes, IdEmpresa }: { Mes: string; IdEmpresa?: string | undefined },
): Promise<SheetFilter> {
  return { month: Mes, ...(IdEmpresa && { companyId: await getCompanyId(ctx, workspaceId, IdEmpresa) }) }
}

async function companyName({ db }: WithDatabase, workspaceId: number, id: number): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select name from company where workspace_id = ${workspaceId} and id = ${id}`.execute(db)
  return rows[0]!.name
}
