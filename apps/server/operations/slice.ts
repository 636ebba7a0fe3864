import { repeat } from '../platform/jobs/loop.ts'
import { watch } from '../platform/jobs/watch.ts'
import { operatorMails, tellOperator, watchStorage } from '../platform/mail/operator.ts'
import { deleteSettledMails } from '../platform/mail/queue.ts'
import { forgetOutbox } from '../platform/mail/transport.ts'
import { slice } from '../slice.ts'
import { backupCron } from './backup/worker.ts'
import { eraseDue, eraseUnused } from './deletion/deletion.ts'
import { deletionMails } from './deletion/mails.ts'
import { deletionRoutes } from './deletion/routes.ts'
import { leavingRoutes } from './export/leaving.ts'
import { exportJobs } from './export/worker.ts'
import { heldRoutes } from './held-routes.ts'
import { jobRoutes } from './jobs.ts'
import { shortenPauses } from './pauses.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const noSigner =
  'O assinador, o processo que guarda as chaves dos certificados, não está respondendo. Nada é consultado na SEFAZ e nenhuma manifestação sai; as que foram pedidas esperam na fila. Os documentos já guardados estão seguros. A SEFAZ guarda os novos por cerca de 90 dias, e a captura continua de onde parou. O que fazer: veja no log por que ele parou; com SIGNER_SOCKET, confira o serviço dele (vigia-signer); sem ela, reinicie o programa.'

export const operations = slice({
  jobs: exportJobs,
  routes: [...deletionRoutes, ...leavingRoutes, ...heldRoutes, ...jobRoutes],
  crons: [
    backupCron,
    { name: 'erase', everyMs: minuteMs, run: eraseDue },
    { name: 'operator', everyMs: minuteMs, run: tellOperator },
    { name: 'forget-mails', everyMs: 6 * hourMs, run: deleteSettledMails },
    { name: 'forget-outbox', everyMs: 6 * hourMs, run: ({ config }) => forgetOutbox(config) },
  ],
  reviews: [eraseUnused],
  mails: { ...deletionMails, ...operatorMails },
  loops: [
    // By the clock of the process: a job of its own would wait as long as what it writes back.
    (ctx) => repeat(minuteMs, () => shortenPauses(ctx), ctx.log),
    watchStorage,
    (ctx) => watch(ctx, 'assinador', noSigner, () => ctx.signer.check()),
  ],
})
