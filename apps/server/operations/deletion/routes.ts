import { deleteAccount, keepAccount } from '@vigia/contract/accounts'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { handle } from '../../platform/http/http.ts'
import * as deletion from './deletion.ts'

export const deletionRoutes = [
  handle(deleteAccount, async (ctx, { body, session }) => {
    const at = await deletion.askForDeletion(ctx, session, body.senhaAtual)
    return {
      data: { exclusaoEm: at.toISOString() },
      message: `As chaves dos certificados foram apagadas, e a conta será excluída em ${formatBrasiliaMoment(at)}. Até lá você pode levar tudo ou manter a conta.`,
    }
  }),

  handle(keepAccount, async (ctx, { session }) => ({
    data: null,
    message: (await deletion.keepAccount(ctx, session))
      ? 'A conta continua, com tudo o que ela guarda. Envie os certificados de novo para a captura continuar.'
      : 'Ninguém pediu a exclusão desta conta. Nada foi alterado.',
  })),
]
