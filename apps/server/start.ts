import { requireReady } from './accounts/readiness.ts'
import { openApi } from './api.ts'
import type { Config } from './config.ts'
import { openContext, openPool, type ReachSigner } from './open.ts'
import { backupMetrics } from './operations/backup/worker.ts'
import { productMetrics } from './operations/metrics.ts'
import { limitedRole, pools, requireRole } from './platform/database.ts'
import { createMetrics } from './platform/http/metrics.ts'
import type { Health } from './platform/http/probes.ts'
import { repeat } from './platform/jobs/loop.ts'
import { watch } from './platform/jobs/watch.ts'
import { endTrouble } from './platform/trouble.ts'
import { startWorker } from './worker.ts'
export type Role = 'api' | 'worker'

/** The role `worker`, carried out by a process of its own that belongs to this program. */
export interface WorkerProcess {
  /** Rejects while it cannot work. */
  check(): Promise<unknown>
  /** Rejects while it is away or hangs, whatever it can do: what it finds missing it tells by itself. */
  respond(): Promise<unknown>
}

export interface Server {
  /** Address of the API; empty when this process only captures. */
  url: string
  /** Settles when the embedded PostgreSQL ended without being asked to: nothing works after that. */
  died: Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts the given roles on one database: the embedded one of `dataDir` (begun here, or joined when a single role finds it running), or
 * that of `databaseUrl`. `listening` is awaited before the API opens its port. `reachSigner`: where there is a signer that the configuration
 * does not know of. `health`: where the roles tell how they are. `worker`: where an API has the other role beside it in a process of its own.
 * `joinsPostgres`: an embedded database has to run already. Dispose to stop in order: no new calls, pages under way finished, then the database.
 */
export async function start(
  config: Config,
  {
    roles,
    step = () => {},
    listening,
    reachSigner,
    health,
    worker,
    joinsPostgres = false,
  }: {
    roles: Role[]
    step?: (text: string) => void
    listening?: () => Promise<void>
    reachSigner?: ReachSigner
    health?: Health
    worker?: WorkerProcess
    joinsPostgres?: boolean
  },
): Promise<Server> {
  await using stack = new AsyncDisposableStack()
  const postgres = joinsPostgres ? 'join' : roles.length === 1 ? 'share' : 'start'
  const { ctx, databaseUrl, died } = await openContext(config, stack, { postgres, step, reachSigner })
  // An API that asks nothing must know too, and say it before somebody waits.
  stack.use(repeat(proveEveryMs, async () => void (await ctx.storage.prove()), ctx.log))
  let url = ''
  if (roles.includes('api')) {
    step('Abrindo a API e o site…')
    const serving = { ...ctx, db: openPool(databaseUrl, stack, pools.api) }
    const limited = openPool(databaseUrl, stack, pools.limited)
    await requireRole(limited, limitedRole)
    url = await openApi(serving, stack, { databaseUrl, limited, listening, health })
    if (worker) {
      health?.add('worker', worker.check)
      stack.use(watch(serving, 'trabalho', workerIsAway, worker.respond))
    }
    // Ends the trouble noted by an earlier process; a process that still has it notes it again.
    else await endTrouble(ctx, 'trabalho').catch((err: unknown) => ctx.log.warn({ err }, 'trouble was not ended'))
  }
  if (roles.includes('worker')) {
    const db = openPool(databaseUrl, stack, pools.worker)
    const working = { ...ctx, db, limited: openPool(databaseUrl, stack, pools.limitedWorker) }
    await requireRole(working.limited, limitedRole)
    stack.use(await startWorker(working))
    health?.tell(createMetrics(working, productMetrics, [backupMetrics(working)], () => health.ready()))
    health?.add('worker', async () => {
      await requireReady(working)
      if (!(await working.storage.prove())) throw new Error('nothing can be stored')
      if (working.signer.isDown) throw new Error('the signer does not respond')
    })
  }
  const owned = stack.move()
  return { url, died, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

const workerIsAway =
  'O processo que captura, envia, avisa e exporta não está funcionando; o programa o inicia de novo sempre que ele termina. Nada é consultado na SEFAZ e nada sai: manifestações, exportações, e-mails e webhooks esperam na fila. Os documentos já guardados estão seguros. A SEFAZ guarda os novos por cerca de 90 dias, e a captura continua de onde parou. O que fazer: veja no log por que ele terminou ou o que o detém, e reinicie o programa se ele não voltar.'
const proveEveryMs = 60_000

// Parts of the server that tests, benches and scripts use.
export { createAccount, shareAccount } from './accounts/accounts.ts'
export { checkCompany, checkFile } from './capture/check/check.ts'
export { examineFile } from './capture/check/file.ts'
export { describeHosts, examineHosts, fetchAuthorities } from './capture/check/hosts.ts'
export { findCompleteness } from './capture/completeness.ts'
export { grantPlan } from './capture/plan.ts'
export type { Announcement } from './companies/topics.ts'
export { type Config, readConfig } from './config.ts'
export { rebuildAll } from './documents/rebuild.ts'
export { tellWorkspace } from './notifications/notifications.ts'
export { operate } from './open.ts'
export { backUp, beginCopies, listCopies, restore, tryRestore } from './operations/backup/backup.ts'
export { releaseHeld } from './operations/held.ts'
export { routes } from './slices.ts'
