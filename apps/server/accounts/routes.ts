import { health, login, logout, signUp } from '@vigia/contract/accounts'
import { sql } from 'kysely'
import { AppError } from '../platform/errors.ts'
import { handle } from '../platform/http.ts'
import * as accounts from './accounts.ts'

export const accountRoutes = [
  handle(health, async ({ db }) => {
    try {
      await sql`select 1`.execute(db)
    } catch (cause) {
      throw new AppError('unavailable', 'O banco de dados não está respondendo.', { cause })
    }
    return { data: { status: 'ok' as const, versao: 'v1.0' } }
  }),

  handle(signUp, async (ctx, { body }) => {
    await accounts.signUp(ctx, {
      name: body.nome,
      email: body.email,
      password: body.senha,
      phone: body.celular,
      plan: body.tipoPlano,
    })
    return { data: null, message: 'Conta criada com sucesso! Faça login para continuar.' }
  }),

  handle(login, async (ctx, { body }) => {
    const opened = await accounts.logIn(ctx, body.email, body.senha)
    if (!opened) throw new AppError('unauthenticated', 'Credenciais inválidas.')
    return { data: { token: opened.token, wsId: opened.workspacePublicId }, message: 'Login realizado com sucesso!' }
  }),

  handle(logout, async (ctx, { session }) => {
    await accounts.logOut(ctx, session)
    return { data: null, message: 'Sessão encerrada.' }
  }),
]
