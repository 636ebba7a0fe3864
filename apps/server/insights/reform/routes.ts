import { downloadReformSheet, getReformSheet } from '@vigia/contract/reform'
import { formatMonth } from '@vigia/contract/text'
import { getCompanyId } from '../../companies/companies.ts'
import { noteRead } from '../../documents/reads.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { handle } from '../../platform/http/http.ts'
import { aboutOf } from '../reports/reports.ts'
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
    const filter = await filterOf(ctx, workspaceId, query)
    const companies = await aboutOf(ctx, workspaceId, filter.companyId)
    const sheet = await readWorkspace(ctx, workspaceId, (ctx) => readSheet(ctx, workspaceId, filter, inFile))
    const content = await sheetFile(sheet, companies, new Date())
    const about = `${formatMonth(sheet.mes)} (${filter.companyId === undefined ? 'todas as empresas' : companies})`
    await noteRead(ctx, session, caller, `Baixou a planilha de IBS e CBS de ${about}.`)
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
