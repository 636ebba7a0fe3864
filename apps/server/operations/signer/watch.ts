import type { Context } from '../../platform/context.ts'
import { watch } from '../../platform/jobs/watch.ts'

const sentence =
  'O assinador, o processo que guarda as chaves dos certificados, não está respondendo. Nada é consultado na SEFAZ e nenhuma manifestação sai; as que foram pedidas esperam na fila. Os documentos já guardados estão seguros. A SEFAZ guarda os novos por cerca de 90 dias, e a captura continua de onde parou. O que fazer: veja no log por que ele parou; com SIGNER_SOCKET, confira o serviço dele (vigia-signer); sem ela, reinicie o programa.'

/** Looks whether the signer responds, until disposed, and notes for the operator and for everybody when it does not. */
export function watchSigner(ctx: Pick<Context, 'db' | 'log' | 'signer'>): AsyncDisposable {
  return watch(ctx, 'assinador', sentence, () => ctx.signer.check())
}
