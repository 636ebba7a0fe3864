import * as contract from '@vigia/contract/accounts'
import { listWorkspaces, switchWorkspace } from '@vigia/contract/team'
import { inWorkspace } from '../platform/database.ts'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http/http.ts'
import * as accounts from './accounts.ts'
import * as confirmation from './confirmation.ts'
import * as emailChange from './email-change.ts'
import * as links from './links.ts'
import * as passkeys from './passkeys.ts'
import * as passwords from './passwords.ts'
import { atHome } from './places.ts'
import { requireReady } from './readiness.ts'
import * as recovery from './recovery.ts'
import * as secondFactor from './second-factor.ts'
import * as sessions from './sessions.ts'
import * as webauthn from './webauthn.ts'

export const accountRoutes = (findPublicIds: accounts.FindPublicIds) => [
  handle(contract.health, 'waiting', async (ctx) => {
    await requireReady(ctx)
    return { data: { status: 'ok' as const, versao: 'v1.0' } }
  }),

  handle(contract.signUp, async (ctx, { body, caller }) => {
    const { nome, email, senha, celular, tipoPlano } = body
    await accounts.signUp(ctx, { name: nome, email, password: senha, phone: celular, plan: tipoPlano }, caller)
    return { data: null, message: 'Conta criada com sucesso! Faça login para continuar.' }
  }),

  handle(contract.login, async (ctx, { body, caller }) => {
    const credentials = { email: body.email, password: body.senha, code: body.codigo }
    const opened = await sessions.logIn(ctx, credentials, caller)
    if (!opened) throw new AppError('unauthenticated', 'Credenciais inválidas.')
    return { data: { token: opened.token, wsId: opened.workspacePublicId }, message: 'Login realizado com sucesso!' }
  }),

  handle(contract.proveIdentity, async (ctx, { body, session }) => {
    if (body.passkey) {
      await webauthn.requirePasskey(ctx, atHome(session), body.passkey)
      await sessions.noteProof(ctx, session, { withFactor: true })
    } else await sessions.proveAgain(ctx, session, { password: body.senha, code: body.codigo })
    return { data: null, message: 'Confirmado. Vale por dez minutos nesta sessão.' }
  }),

  handle(contract.challengePasskey, async (ctx) => ({ data: await webauthn.challengeForPasskey(ctx) })),

  handle(contract.loginByPasskey, async (ctx, { body, caller }) => {
    const { token, workspacePublicId, email } = await webauthn.logInWithPasskey(ctx, body.resposta, caller)
    return { data: { token, wsId: workspacePublicId, email }, message: 'Login realizado com sucesso!' }
  }),

  handle(contract.beginPasskey, async (ctx, { session }) => {
    await sessions.requireShownFactor(ctx, session)
    return { data: await webauthn.challengeForRegistration(ctx, atHome(session)) }
  }),

  handle(contract.addPasskey, async (ctx, { body, session }) => {
    await sessions.requireShownFactor(ctx, session)
    await webauthn.addPasskey(ctx, atHome(session), body.nome, body.resposta)
    // Creating a passkey has just shown the device.
    await sessions.noteProof(ctx, session, { withFactor: true })
    return { data: null, message: 'Passkey cadastrada. Da próxima vez, entre com ela.' }
  }),

  handle(contract.removePasskey, async (ctx, { body, session }) => {
    await sessions.requireShownFactor(ctx, session)
    await passkeys.removePasskey(ctx, atHome(session), body.idPasskey)
    return { data: null, message: 'Passkey removida. Apague-a também no aparelho.' }
  }),

  handle(contract.beginSecondFactor, async (ctx, { session }) => {
    await sessions.requireShownFactor(ctx, session)
    const { secret, uri } = await secondFactor.beginSecondFactor(ctx, atHome(session))
    return { data: { segredo: secret, endereco: uri } }
  }),

  handle(contract.confirmSecondFactor, async (ctx, { body, session }) => {
    await sessions.requireShownFactor(ctx, session)
    const codigos = await secondFactor.confirmSecondFactor(ctx, atHome(session), body.codigo)
    await sessions.noteProof(ctx, session, { withFactor: true })
    return { data: { codigos }, message: 'Verificação em duas etapas ligada. Guarde os códigos de recuperação.' }
  }),

  handle(contract.renewRecoveryCodes, async (ctx, { session }) => {
    const codigos = await secondFactor.renewRecoveryCodes(ctx, atHome(session))
    return { data: { codigos }, message: 'Códigos novos gerados. Os anteriores deixaram de valer.' }
  }),

  handle(contract.dropSecondFactor, async (ctx, { session }) => {
    const person = atHome(session)
    const wasOn = await inWorkspace(ctx, person.workspaceId, (ctx) =>
      secondFactor.dropSecondFactor(ctx, person, person),
    )
    if (!wasOn) throw new AppError('conflict', secondFactor.isOff)
    return { data: null, message: 'Verificação em duas etapas desligada.' }
  }),

  handle(listWorkspaces, async (ctx, { session }) => ({ data: await accounts.listWorkspaces(ctx, session) })),

  handle(switchWorkspace, async (ctx, { body, session, caller }) => {
    const { token, workspacePublicId } = await sessions.switchWorkspace(ctx, session, body.wsId, caller)
    return { data: { token, wsId: workspacePublicId } }
  }),

  handle(contract.logout, async (ctx, { session }) => {
    await sessions.logOut(ctx, session)
    return { data: null, message: 'Sessão encerrada.' }
  }),

  handle(contract.listSessions, async (ctx, { session }) => ({ data: await sessions.listSessions(ctx, session) })),

  handle(contract.endSessions, async (ctx, { body, session }) => {
    const ended = await sessions.endSessions(ctx, session, body.idSessao)
    const message =
      ended === 0
        ? 'Não há outras sessões abertas.'
        : ended === 1
          ? 'Uma sessão foi encerrada.'
          : `${ended} sessões foram encerradas.`
    return { data: { encerradas: ended }, message }
  }),

  handle(contract.requestRecovery, async (ctx, { body, caller }) => {
    await recovery.requestRecovery(ctx, body.email, caller)
    return { data: null, message: 'Iremos enviar um email de recuperação de senha!' }
  }),

  handle(contract.checkRecovery, async (ctx, { params }) => {
    const { expiresAt } = await links.getLink(ctx, recovery.passwordLink, params.token)
    return { data: { validoAte: expiresAt.toISOString() } }
  }),

  handle(contract.updatePassword, async (ctx, { body, caller }) => {
    await recovery.updatePassword(ctx, body.urlAcesso, body.senha, caller)
    return { data: null, message: 'Senha atualizada com sucesso! Faça o login com sua nova senha.' }
  }),

  handle(contract.getAccount, async (ctx, { session }) => ({
    data: await accounts.getAccount(ctx, session, findPublicIds),
  })),

  handle(contract.updateAccount, async (ctx, { body, session }) => {
    await accounts.updateAccount(ctx, atHome(session), { name: body.nome, phone: body.celular })
    return { data: null, message: 'Dados atualizados.' }
  }),

  handle(contract.changeEmail, async (ctx, { body, session, caller }) => {
    const { email, senhaAtual } = body
    await emailChange.requestEmailChange(ctx, atHome(session), { email, password: senhaAtual }, caller)
    const message = `Enviamos um link para ${email}. O e-mail da conta muda quando ele for confirmado, em até 24 horas.`
    return { data: null, message }
  }),

  handle(contract.dropEmailChange, async (ctx, { session }) => {
    const dropped = await emailChange.dropEmailChange(ctx, atHome(session))
    const message = dropped ? 'A troca de e-mail não será feita.' : 'Não há troca de e-mail pedida. Nada foi alterado.'
    return { data: null, message }
  }),

  handle(contract.confirmEmail, async (ctx, { body, caller }) => {
    if (await links.isLink(ctx, emailChange.newEmailLink, body.urlAcesso)) {
      const email = await emailChange.changeEmail(ctx, body.urlAcesso, caller)
      return { data: null, message: `E-mail trocado: a partir de agora você entra com ${email}.` }
    }
    await confirmation.confirmEmail(ctx, body.urlAcesso, caller)
    return { data: null, message: 'E-mail confirmado. A conta já pode guardar certificados digitais.' }
  }),

  handle(contract.resendConfirmation, async (ctx, { session, caller }) => {
    const email = await confirmation.resendConfirmation(ctx, atHome(session), caller)
    const message =
      email === null
        ? 'Não há e-mail a confirmar nesta conta. Nada foi enviado.'
        : `Enviamos outro link para ${email}. Ele vale por 24 horas.`
    return { data: null, message }
  }),

  handle(contract.changePassword, async (ctx, { body, session }) => {
    await passwords.changePassword(ctx, atHome(session), body.senhaAtual, body.senha)
    return { data: null, message: 'Senha atualizada com sucesso! As outras sessões foram encerradas.' }
  }),
]
