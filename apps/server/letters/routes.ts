import { changeLetterChoice, getLetterChoice, stopLetters } from '@vigia/contract/workspace'
import { recordAudit } from '../audit/audit.ts'
import { handle } from '../http/http.ts'
import { countTry, type Limit, networkOf } from '../http/throttle.ts'
import { beyondLimit, inWorkspace, readWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { keepChoice, readChoice } from './letters.ts'
import { readStop } from './stop.ts'

// Makers of mail programs press the button for many people from the same addresses.
const ofNetwork: Limit = { name: 'letters-network', times: 600, withinMs: 3_600_000 }

export const letterRoutes = [
  handle(getLetterChoice, async (ctx, { session }) => {
    const { alerts, deadlines } = await readWorkspace(beyondLimit(ctx), session.workspaceId, (ctx) =>
      readChoice(ctx, session),
    )
    return { data: { alertas: alerts, prazos: deadlines } }
  }),

  handle(changeLetterChoice, async (ctx, { body: { alertas, prazos }, session }) => {
    if (session.shared)
      throw new AppError(
        'conflict',
        'Esta conta é compartilhada e não recebe avisos por e-mail. Nada foi alterado. Para receber, crie uma conta.',
      )
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
    await countTry(ctx, ofNetwork, networkOf(caller.address))
    const stop = readStop(ctx, params.segredo)
    if (!stop)
      throw new AppError(
        'not-found',
        'Este link não vale mais. Nada foi alterado: abra o link de um e-mail mais novo ou escolha em “Minha conta”, Avisos por e-mail.',
      )
    const { about, ...person } = stop
    const change = about === 'alertas' ? { alerts: 'nenhum' as const } : { deadlines: 'nenhum' as const }
    await inWorkspace(ctx, person.workspaceId, async (ctx) => {
      const before = await keepChoice(ctx, person, change, new Date())
      // Who clicks again ends nothing.
      if (!before || before[about === 'alertas' ? 'alerts' : 'deadlines'] === 'nenhum') return
      const { name } = await ctx.db
        .selectFrom('account')
        .select('name')
        .where('workspace_id', '=', person.workspaceId)
        .where('id', '=', person.accountId)
        .executeTakeFirstOrThrow()
      const actor = { ...person, accountName: name, address: caller.address }
      await recordAudit(ctx, actor, 'conta', `Encerrou os e-mails sobre ${about} pelo link de um deles.`)
    })
    return {
      data: null,
      message:
        about === 'alertas'
          ? 'Pronto: os e-mails sobre alertas deste workspace param aqui. Os alertas continuam na tela e no sino.'
          : 'Pronto: os e-mails sobre prazos deste workspace param aqui. Os prazos continuam na tela.',
    }
  }),
]
