import { downloadReport, getPrices, getReport } from '@vigia/contract/reports'
import type { RouteInput } from '@vigia/contract/route'
import { getCompanyId } from '../../companies/companies.ts'
import { noteRead } from '../../documents/reads.ts'
import { countWaiting } from '../../documents/unread.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import { readPrices } from './prices.ts'
import { aboutOf, periodText, readReport, titleOf } from './reports.ts'
import { makeSheet } from './sheet.ts'
import type { Question } from './sums.ts'

export const reportRoutes = [
  handle(getReport, 'slow', async (ctx, { query, session: { workspaceId } }) => {
    const question = await questionOf(ctx, workspaceId, query)
    const report = await readReport(ctx, workspaceId, question, query.PaginaAtual)
    const waiting = await readWorkspace({ db: ctx.db }, workspaceId, (ctx) => countWaiting(ctx, workspaceId))
    return { data: { ...report, faltam: waiting } }
  }),

  handle(downloadReport, 'slow', async (ctx, { query, session, caller }) => {
    const { workspaceId } = session
    const question = await questionOf(ctx, workspaceId, query)
    const about = await aboutOf(ctx, workspaceId, question.companyId)
    const content = await makeSheet(ctx, workspaceId, question, about)
    const title = `${titleOf(question)}, ${periodText(question.from, question.to)}`
    await noteRead(ctx, session, caller, `Baixou a planilha do relatório ${title} (${about}).`)
    return { content, fileName: `${title.replaceAll('/', '-')}.xlsx` }
  }),

  handle(getPrices, 'slow', async (ctx, { params, query, session: { workspaceId } }) => {
    const { idProduto } = params
    const companyId = query.IdEmpresa ? await getCompanyId(ctx, workspaceId, query.IdEmpresa) : undefined
    const isPossible = /^\d{1,10}$/.test(idProduto) && Number(idProduto) < 2 ** 31
    const question = { to: query.MesAte, companyId }
    const data = isPossible ? await readPrices(ctx, workspaceId, Number(idProduto), question) : null
    if (data === null) throw new AppError('not-found', 'Produto não encontrado.')
    return { data }
  }),
]

type Query = RouteInput<typeof downloadReport>['query']

async function questionOf(ctx: WithDatabase, workspaceId: number, query: Query): Promise<Question> {
  const { Tipo, Por, MesDe, MesAte, IdEmpresa, CampoPesquisa = '' } = query
  const companyId = IdEmpresa ? await getCompanyId(ctx, workspaceId, IdEmpresa) : undefined
  return { subject: Tipo, group: Por, from: MesDe, to: MesAte, companyId, text: CampoPesquisa }
}
