import * as contract from '@vigia/contract/team'
import { handle } from '../../platform/http/http.ts'
import * as invitations from './invitations.ts'
import * as team from './team.ts'

export const teamRoutes = [
  handle(contract.getTeam, async (ctx, { session }) => ({ data: await team.getTeam(ctx, session) })),

  handle(contract.updateWorkspace, async (ctx, { body, session }) => {
    await team.changeWorkspace(ctx, session, { name: body.nome, requiresFactor: body.exigeSegundoFator })
    return { data: null, message: 'Workspace atualizado.' }
  }),

  handle(contract.invite, async (ctx, { body, session }) => {
    const idConvite = await invitations.invite(ctx, session, body)
    return { data: { idConvite }, message: `Convite enviado a ${body.email}. O link vale por sete dias.` }
  }),

  handle(contract.resendInvitation, async (ctx, { body, session }) => {
    await invitations.resend(ctx, session, body.idConvite)
    return { data: null, message: 'Convite enviado de novo. O link anterior não vale mais.' }
  }),

  handle(contract.withdrawInvitation, async (ctx, { body, session }) => {
    await invitations.withdraw(ctx, session, body.idConvite)
    return { data: null, message: 'Convite cancelado: o link não vale mais.' }
  }),

  handle(contract.changeMember, async (ctx, { body, session }) => {
    await team.changeMember(ctx, session, body)
    return { data: null, message: 'Mudança feita. Ela já vale.' }
  }),

  handle(contract.removeMember, async (ctx, { body, session }) => {
    await team.removeMember(ctx, session, body.idPessoa)
    return { data: null, message: 'A pessoa não entra mais neste workspace.' }
  }),

  handle(contract.leaveWorkspace, async (ctx, { session }) => {
    const isGone = await team.leave(ctx, session)
    const message = isGone
      ? 'Você saiu, e a sua conta foi apagada: não havia outro workspace com ela.'
      : 'Você saiu do workspace. Entre de novo para usar os outros.'
    return { data: null, message }
  }),

  handle(contract.getInvitation, async (ctx, { params }) => {
    const { workspaceId, ...shown } = await invitations.openInvitation(ctx, params.token)
    return { data: shown }
  }),

  handle(contract.acceptInvitation, async (ctx, { body, caller }) => {
    await invitations.acceptWithNewAccount(ctx, { link: body.convite, name: body.nome, password: body.senha }, caller)
    return { data: null, message: 'Convite aceito! Faça login para continuar.' }
  }),

  handle(contract.joinWorkspace, async (ctx, { body, session, caller }) => {
    const { token, workspacePublicId } = await invitations.acceptWithSession(ctx, session, body.convite, caller)
    return { data: { token, wsId: workspacePublicId }, message: 'Convite aceito.' }
  }),
]
