import { changeLetterChoice, getLetterChoice, stopLetters } from '@vigia/contract/letters'
import { addMonthlyReport, listMonthlyReports, type MonthlyReport, removeMonthlyReport } from '@vigia/contract/reports'
import { recordAudit } from '../../accounts/audit/audit.ts'
import { getCompanyId } from '../../companies/companies.ts'
import type { Context, WithDatabase } from '../../platform/context.ts'
import { beyondLimit, inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import type { Session } from '../../platform/http/session.ts'
import { keepChoice, readChoice, scheduleReports } from './letters.ts'
import { addMonthly, readMonthly, removeMonthly } from './monthly.ts'
import { readStop, type Stop } from './stop.ts'

export const letterRoutes = [
  handle(getLetterChoice, async (ctx, { session }) => {
    const { alerts, deadlines } = await readWorkspace(beyondLimit(ctx), session.workspaceId, (ctx) =>
      readChoice(ctx, session),
    )
    return { data: { alertas: alerts, prazos: deadlines } }
  }),

  handle(changeLetterChoice, async (ctx, { body: { alertas, prazos }, session }) => {
    await inWorkspace(beyondLimit(ctx), session.workspaceId, async (ctx) => {
      // Both always come; chosen was what differs.
      const before = await readChoice(ctx, session)
      const change = {
        ...(alertas !== before.alerts && { alerts: alertas }),
        ...(prazos !== before.deadlines && { deadlines: prazos }),
      }
      await keepChoice(ctx, session, change, new Date())
    })
    return { data: { alertas, prazos }, message: 'Escolha guardada: vale a partir do próximo aviso.' }
  }),

  handle(stopLetters, async (ctx, { params, caller }) => {
    const stop = readStop(ctx, params.segredo)
    if (!stop)
      throw new AppError(
        'not-found',
        'Este link não vale mais. Nada foi alterado: abra o link de um e-mail mais novo ou escolha em “Minha conta”, Avisos por e-mail.',
      )
    const { about, ...person } = stop
    if (about === 'relatorios') {
      await inWorkspace(ctx, person.workspaceId, async (ctx) => {
        if (!(await removeMonthly(ctx, person, 'all'))) return
        await scheduleReports(ctx, person, new Date())
        await recordStop(ctx, { ...person, about }, caller.address)
      })
      return {
        data: null,
        message:
          'Pronto: os relatórios por e-mail deste workspace param aqui. Para receber de novo, escolha na página Relatórios.',
      }
    }
    const change = about === 'alertas' ? { alerts: 'nenhum' as const } : { deadlines: 'nenhum' as const }
    await inWorkspace(ctx, person.workspaceId, async (ctx) => {
      const before = await keepChoice(ctx, person, change, new Date())
      // A second click ends nothing.
      if (!before || before[about === 'alertas' ? 'alerts' : 'deadlines'] === 'nenhum') return
      await recordStop(ctx, { ...person, about }, caller.address)
    })
    return {
      data: null,
      message:
        about === 'alertas'
          ? 'Pronto: os e-mails sobre alertas deste workspace param aqui. Os alertas continuam na tela e no sino.'
          : 'Pronto: os e-mails sobre prazos deste workspace param aqui. Os prazos continuam na tela.',
    }
  }),

  handle(listMonthlyReports, async (ctx, { session }) => ({
    data: await readWorkspace(beyondLimit(ctx), session.workspaceId, (ctx) => monthlyOf(ctx, session)),
  })),

  handle(addMonthlyReport, async (ctx, { body: { Tipo, Por, IdEmpresa }, session }) => {
    // Only of what the person sees.
    const companyId = IdEmpresa ? await getCompanyId(ctx, session.workspaceId, IdEmpresa) : null
    const data = await inWorkspace(beyondLimit(ctx), session.workspaceId, async (ctx) => {
      await addMonthly(ctx, session, { subject: Tipo, group: Por, companyId })
      await scheduleReports(ctx, session, new Date())
      return monthlyOf(ctx, session)
    })
    return { data, message: 'Pronto: no dia 1º de cada mês chega por e-mail o relatório do mês que terminou.' }
  }),

  handle(removeMonthlyReport, async (ctx, { body, session }) => {
    const { workspaceId } = session
    const id = ctx.ids.decode(workspaceId, body.id)
    const data = await inWorkspace(beyondLimit(ctx), workspaceId, async (ctx) => {
      if (id === null || id > 2_147_483_647n || !(await removeMonthly(ctx, session, Number(id))))
        throw new AppError('not-found', 'Este relatório já não chega por e-mail. Nada foi alterado.')
      await scheduleReports(ctx, session, new Date())
      return monthlyOf(ctx, session)
    })
    return { data, message: 'Pronto: este relatório não chega mais por e-mail.' }
  }),
]

async function monthlyOf(ctx: Pick<Context, 'db' | 'ids'>, session: Session): Promise<MonthlyReport[]> {
  const found = await readMonthly(ctx, session)
  return found.map(({ id, subject, group, publicId }) => ({
    id: ctx.ids.encode(session.workspaceId, BigInt(id)),
    tipo: subject,
    por: group,
    idEmpresa: publicId,
  }))
}

const subjectWords = { alertas: 'alertas', prazos: 'prazos', relatorios: 'relatórios' }

async function recordStop(ctx: WithDatabase, stop: Stop, address: string | undefined): Promise<void> {
  const { workspaceId, accountId, about } = stop
  const { name } = await ctx.db
    .selectFrom('account')
    .select('name')
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  const actor = { workspaceId, accountId, accountName: name, address }
  await recordAudit(ctx, actor, 'conta', `Encerrou os e-mails sobre ${subjectWords[about]} pelo link de um deles.`)
}
