import { repeat } from '../jobs/jobs.ts'
import type { Context } from '../platform/context.ts'
import { endTrouble, noteTrouble } from '../platform/trouble.ts'

const everyMs = 10_000
// One that was killed is back within a second or two.
const looksMin = 2

const sentence =
  'O assinador, o processo que guarda as chaves dos certificados, não está respondendo. Nada é consultado na SEFAZ e nenhuma manifestação sai; as que foram pedidas esperam na fila. Os documentos já guardados estão seguros. A SEFAZ guarda os novos por cerca de 90 dias, e a captura continua de onde parou. O que fazer: veja no log por que ele parou; com SIGNER_SOCKET, confira o serviço dele (vigia-signer); sem ela, reinicie o programa.'

/** Looks whether the signer responds, until disposed, and notes for the operator and for everybody when it does not. */
export function watchSigner(ctx: Pick<Context, 'db' | 'log' | 'signer'>): AsyncDisposable {
  let missed = 0
  // A process before this one may have told it.
  let isTold = true
  return repeat(
    everyMs,
    async () => {
      const problem = await ctx.signer.check().then(
        () => null,
        (error: unknown) => error,
      )
      missed = problem ? missed + 1 : 0
      if (problem) ctx.log.error({ err: problem }, 'the signer does not respond as it should')
      if (missed >= looksMin) await noteTrouble(ctx, 'assinador', sentence)
      else if (isTold && missed === 0) await endTrouble(ctx, 'assinador')
      isTold = missed >= looksMin || (isTold && missed > 0)
    },
    ctx.log,
  )
}
