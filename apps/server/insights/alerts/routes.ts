import { getAlertSettings, saveAlertSettings } from '@vigia/contract/alert-settings'
import {
  countAlerts,
  downloadEvidence,
  getAlert,
  getAlertTest,
  listAlertHabits,
  listAlertRules,
  listAlerts as listAlertsRoute,
  listKnownAlerts,
  removeKnownAlert,
  setAlertState,
  switchAlertRule,
  testAlertRule,
} from '@vigia/contract/alerts'
import { formatBrasiliaMoment, formatCount } from '@vigia/contract/text'
import { behindMax } from '../../documents/unread.ts'
import { inWorkspace, readWorkspace } from '../../platform/database.ts'
import { AppError } from '../../platform/errors.ts'
import { handle } from '../../platform/http/http.ts'
import { openEvidence } from './evidence.ts'
import { readHabits } from './habits.ts'
import { findAlert, listAlerts } from './list.ts'
import { type Backlog, readBacklog } from './queue.ts'
import {
  countOpen,
  listKnown,
  listRules,
  readAlertSettings,
  removeKnown,
  saveAlertSettings as save,
  setState,
  switchRule,
} from './states.ts'
import { askTest, readTest } from './trying.ts'

export const alertRoutes = [
  handle(listAlertsRoute, async (ctx, { query, session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, (ctx) => listAlerts(ctx, workspaceId, query)),
  })),

  handle(countAlerts, async (ctx, { session: { workspaceId } }) => {
    const { open, backlog } = await readWorkspace(ctx, workspaceId, async ({ db }) => ({
      open: await countOpen({ db }, workspaceId),
      backlog: await readBacklog({ db }, workspaceId),
    }))
    const situation = situationOf(backlog)
    return {
      data: {
        abertos: open.bands,
        emAprendizado: open.learning,
        situacao: situation,
        faltam: backlog.waiting,
        desde: backlog.since?.toISOString() ?? null,
        mensagem: situationText(situation, backlog),
      },
    }
  }),

  handle(getAlert, async (ctx, { params, session: { workspaceId } }) => {
    const id = ctx.ids.decode(workspaceId, params.idDFe)
    const data = id === null ? null : await readWorkspace(ctx, workspaceId, (ctx) => findAlert(ctx, workspaceId, id))
    if (data === null) throw new AppError('not-found', 'Não há alerta deste documento.')
    return { data }
  }),

  handle(downloadEvidence, 'slow', (ctx, { params, session, caller }) =>
    openEvidence(ctx, session, caller, ctx.ids.decode(session.workspaceId, params.idDFe)),
  ),

  handle(setAlertState, async (ctx, { body, session }) => {
    const { workspaceId } = session
    const ids = body.idsDFe.map((id) => {
      const decoded = ctx.ids.decode(workspaceId, id)
      if (decoded === null) throw new AppError('not-found', 'Um destes alertas não existe. Nada foi alterado.')
      return decoded
    })
    const changed = await inWorkspace(ctx, workspaceId, (ctx) =>
      setState(ctx, session, ids, {
        state: body.estado,
        rules: body.regras,
        ceiling: body.teto === undefined ? undefined : Math.round(Number(body.teto) * 100),
        until: body.ate === undefined ? undefined : new Date(`${body.ate}-03:00`),
      }),
    )
    return { data: { alterados: changed }, message: formatCount(changed, 'alerta alterado.', 'alertas alterados.') }
  }),

  handle(listAlertRules, async (ctx, { session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, ({ db }) => listRules({ db }, workspaceId)),
  })),

  handle(switchAlertRule, async (ctx, { params, body, session }) => {
    const { workspaceId } = session
    const data = await inWorkspace(ctx, workspaceId, async ({ db }) => {
      await switchRule({ db }, session, params.id, body.ligada)
      return listRules({ db }, workspaceId)
    })
    return {
      data,
      message: `Regra ${body.ligada ? 'ligada' : 'desligada'}. O que já foi avaliado é avaliado de novo aos poucos.`,
    }
  }),

  handle(testAlertRule, 'slow', async (ctx, { params, session: { workspaceId } }) => {
    const data = await inWorkspace(ctx, workspaceId, async ({ db, ids }) => {
      await askTest({ db }, workspaceId, params.id)
      return readTest({ db, ids }, workspaceId, params.id)
    })
    return { data: data! }
  }),

  handle(getAlertTest, async (ctx, { params, session: { workspaceId } }) => {
    const data = await readWorkspace(ctx, workspaceId, (ctx) => readTest(ctx, workspaceId, params.id))
    if (data === null) throw new AppError('not-found', 'Esta regra ainda não foi testada.')
    return { data }
  }),

  handle(listAlertHabits, async (ctx, { session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, ({ db }) => readHabits({ db }, workspaceId)),
  })),

  handle(getAlertSettings, async (ctx, { session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, ({ db }) => readAlertSettings({ db }, workspaceId)),
  })),

  handle(saveAlertSettings, async (ctx, { body, session }) => {
    const { workspaceId } = session
    const data = await inWorkspace(ctx, workspaceId, async ({ db }) => {
      const limit = body.limite === null ? null : Math.round(body.limite * 100)
      await save({ db }, session, { limit, groups: body.grupos })
      return readAlertSettings({ db }, workspaceId)
    })
    return { data, message: 'Guardado. O que já foi avaliado é avaliado de novo aos poucos.' }
  }),

  handle(listKnownAlerts, async (ctx, { session: { workspaceId } }) => ({
    data: await readWorkspace(ctx, workspaceId, ({ db, ids }) => listKnown({ db, ids }, workspaceId)),
  })),

  handle(removeKnownAlert, async (ctx, { body, session }) => {
    const { workspaceId } = session
    const data = await inWorkspace(ctx, workspaceId, async ({ db, ids }) => {
      await removeKnown({ db }, session, ids.decode(workspaceId, body.idConhecido))
      return listKnown({ db, ids }, workspaceId)
    })
    return { data, message: 'Conhecido apagado. O que ele calava volta a ser mostrado em instantes.' }
  }),
]

function situationOf({ building, waiting }: Backlog): 'em-dia' | 'avaliando' | 'construindo' {
  return building ? 'construindo' : waiting > 0 ? 'avaliando' : 'em-dia'
}

function situationText(situation: ReturnType<typeof situationOf>, { waiting, since }: Backlog): string {
  const count =
    waiting >= behindMax
      ? `Mais de ${behindMax.toLocaleString('pt-BR')} documentos`
      : formatCount(waiting, 'documento', 'documentos')
  switch (situation) {
    case 'em-dia':
      return 'Todos os documentos que chegaram já foram avaliados.'
    case 'avaliando':
      return `${count} por avaliar${since ? `, o mais antigo desde ${formatBrasiliaMoment(since)}` : ''}. Os alertas deles ainda não aparecem.`
    case 'construindo':
      return `${count} por avaliar: os documentos mais antigos ainda estão sendo lidos, e os alertas podem mudar até o fim.`
  }
}
