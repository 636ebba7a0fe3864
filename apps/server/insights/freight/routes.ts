import { downloadFreight, getFreight, listFreight, markFreight } from '@vigia/contract/freight'
import type { RouteInput } from '@vigia/contract/route'
import { getCompanyId } from '../../companies/companies.ts'
import { noteRead } from '../../documents/reads.ts'
import { countWaiting } from '../../documents/unread.ts'
import type { WithDatabase } from '../../platform/context.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import { aboutOf, periodText } from '../reports/reports.ts'
import { findFindings, listFindings, markFinding, type Question, sumFindings } from './freight.ts'
import { makeSheet } from './sheet.ts'

export const freightRoutes = [
  handle(listFreight, 'slow', async (ctx, { query, session: { workspaceId } }) => {
    const question = await questionOf(ctx, workspaceId, query)
    const data = await readWorkspace(ctx, workspaceId, async (ctx) => ({
      ...(await listFindings(ctx, workspaceId, question, query.depoisDe)),
      ...(await sumFindings(ctx, workspaceId, question)),
      faltam: await countWaiting(ctx, workspaceId),
    }))
    return { data }
  }),

  handle(downloadFreight, 'slow', async (ctx, { query, session, caller }) => {
    const { workspaceId } = session
    const question = await questionOf(ctx, workspaceId, query)
    const about = await aboutOf(ctx, workspaceId, question.companyId)
    const content = await makeSheet(ctx, workspaceId, question, about)
    const title = `Auditoria de fretes, ${periodText(question.MesDe, question.MesAte)}`
    await noteRead(ctx, session, caller, `Baixou a planilha ${title} (${about}).`)
    return { content, fileName: `${title.replaceAll('/', '-')}.xlsx` }
  }),

  handle(getFreight, async (ctx, { params, session: { workspaceId } }) => {
    const id = ctx.ids.decode(workspaceId, params.idDFe)
    const data = id === null ? null : await readWorkspace(ctx, workspaceId, (ctx) => findFindings(ctx, workspaceId, id))
    if (data === null) throw new AppError('not-found', 'Documento não encontrado.')
    return { data }
  }),

  handle(markFreight, async (ctx, { body, session }) => {
    const { idDFe, regra, certo, frase } = body
    const finding = { id: ctx.ids.decode(session.workspaceId, idDFe) ?? 0n, code: regra, sentence: frase }
    const changed = await inWorkspace(ctx, session.workspaceId, (ctx) => markFinding(ctx, session, finding, certo))
    return { data: { alterados: Number(changed) }, message: certo ? 'Cobrança aceita.' : 'Divergência reaberta.' }
  }),
]

async function questionOf(
  ctx: WithDatabase,
  workspaceId: number,
  { IdEmpresa, ...query }: RouteInput<typeof downloadFreight>['query'],
): Promise<Question> {
  return { ...query, companyId: IdEmpresa ? await getCompanyId(ctx, workspaceId, IdEmpresa) : undefined }
}
