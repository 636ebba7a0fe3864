import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { joinPostgres, sharePostgres, startPostgres } from '@vigia/embedded-postgres/postgres'
import { forgetOld } from './accounts/accounts.ts'
import { auditRoutes } from './accounts/audit/routes.ts'
import { contactMails, contactRoutes } from './accounts/contact/contact.ts'
import { accountMails } from './accounts/mails.ts'
import { requireReady } from './accounts/readiness.ts'
import { accountRoutes } from './accounts/routes.ts'
import { findSession } from './accounts/sessions.ts'
import { captureAnnouncements } from './capture/announcements.ts'
import { isProved } from './capture/capture.ts'
import { certificateMails, warnOfCertificates } from './capture/certificate-warnings.ts'
import { companyChangeRoutes } from './capture/company-change-routes.ts'
import { companyRoutes } from './capture/company-routes.ts'
import { completenessRoutes } from './capture/completeness.ts'
import { followPlan } from './capture/plan.ts'
import { captureMails, warnOfCaptures } from './capture/warnings.ts'
import { startCaptureWatch } from './capture/watch.ts'
import { askSoon, startCaptureWorker } from './capture/worker.ts'
import { companyAnnouncements } from './companies/announcements.ts'
import { findPublicIds } from './companies/chosen-companies.ts'
import { keys } from './companies/keys/keys.ts'
import { keyMails } from './companies/keys/mails.ts'
import { keyRoutes } from './companies/keys/routes.ts'
import { recordUses } from './companies/keys/uses.ts'
import { logoRoutes } from './companies/routes.ts'
import { teamMails } from './companies/team/mails.ts'
import { teamRoutes } from './companies/team/routes.ts'
import { startCertificateWorker } from './companies/worker.ts'
import type { Config } from './config.ts'
import { documentAnnouncements } from './documents/announcements.ts'
import { readAnew } from './documents/contents/contents.ts'
import { startContentWorker } from './documents/contents/worker.ts'
import { forgetExports } from './documents/export/keeping.ts'
import { createPrinter } from './documents/print/printer.ts'
import { rebuildAll as rebuildDocuments } from './documents/rebuild.ts'
import { documentRoutes } from './documents/routes.ts'
import { proveMissed } from './documents/signatures/missed-proofs.ts'
import { manifestationAnnouncements, manifestationMails } from './events/announcements.ts'
import { reviewAsked } from './events/asked.ts'
import { acknowledgePending, certificateFollowers, countRefusedCiencias, tellWithheld } from './events/events.ts'
import { holdAfterSilence, markAlive, noteHold } from './events/hold.ts'
import { manifestationRoutes } from './events/routes.ts'
import { reviewSuggestions } from './events/suggestions.ts'
import { startManifestationWorker } from './events/worker.ts'
import { alertAnnouncements, forgetNews } from './insights/alerts/news.ts'
import { alertRoutes } from './insights/alerts/routes.ts'
import { startAlertWorker } from './insights/alerts/worker.ts'
import { calendarRoutes } from './insights/calendar/calendar.ts'
import { dashboardRoutes } from './insights/dashboard/routes.ts'
import { freightRoutes } from './insights/freight/routes.ts'
import { planMails } from './insights/plans/mails.ts'
import { planRoutes } from './insights/plans/routes.ts'
import { warnOfPlan } from './insights/plans/warnings.ts'
import { reformRoutes } from './insights/reform/routes.ts'
import { reportRoutes } from './insights/reports/routes.ts'
import { supplierRoutes } from './insights/suppliers/routes.ts'
import { changeRoutes, forgetChanges } from './notifications/changes/changes.ts'
import { openHub } from './notifications/hub.ts'
import { letterMails } from './notifications/letters/mails.ts'
import { letterRoutes } from './notifications/letters/routes.ts'
import { startLetterWorker } from './notifications/letters/worker.ts'
import { forgetAnnouncements } from './notifications/notifications.ts'
import { notificationRoutes } from './notifications/routes.ts'
import { startTeller } from './notifications/teller.ts'
import { forgetDeliveries } from './notifications/webhooks/deliveries.ts'
import { webhookMails } from './notifications/webhooks/mails.ts'
import { webhookRoutes } from './notifications/webhooks/routes.ts'
import { startWebhookWorker } from './notifications/webhooks/worker.ts'
import { startReviewWorker } from './notifications/worker.ts'
import { backupMetrics, startBackupWorker } from './operations/backup/worker.ts'
import { eraseDue, eraseUnused } from './operations/deletion/deletion.ts'
import { deletionMails } from './operations/deletion/mails.ts'
import { deletionRoutes } from './operations/deletion/routes.ts'
import { leavingRoutes } from './operations/export/leaving.ts'
import { startExportWorker } from './operations/export/worker.ts'
import { heldRoutes } from './operations/held-routes.ts'
import { productMetrics } from './operations/metrics.ts'
import { openSigner } from './operations/signer/in-process.ts'
import type { Context, Database } from './platform/context.ts'
import { appRole, limitedRole, openDatabase, type PoolOptions, pools, requireRole } from './platform/database.ts'
import { prepareClosing } from './platform/http/closing.ts'
import { serveDocs } from './platform/http/docs.ts'
import { createDoor } from './platform/http/door.ts'
import { serveRoutes } from './platform/http/http.ts'
import { createMetrics, serveMetrics } from './platform/http/metrics.ts'
import { describeApi } from './platform/http/openapi.ts'
import type { Health } from './platform/http/probes.ts'
import { serveSite, siteSettings } from './platform/http/site.ts'
import { refuseWhileStarting } from './platform/http/starting.ts'
import { createPublicIds } from './platform/ids.ts'
import { embeddedCluster, InstallationError, prepareInstallation } from './platform/installation.ts'
import { lateLoops, longMs, repeat, together } from './platform/jobs/jobs.ts'
import { shortenPauses } from './platform/jobs/pauses.ts'
import { watch } from './platform/jobs/watch.ts'
import { createLogger } from './platform/log.ts'
import { operatorMails, startOperatorLetters, watchStorage } from './platform/mail/operator.ts'
import { deleteSettledMails } from './platform/mail/queue.ts'
import { forgetOutbox } from './platform/mail/transport.ts'
import { startMailWorker } from './platform/mail/worker.ts'
import { migrate } from './platform/schema/migrate.ts'
import type { Service } from './platform/service.ts'
import { connectSigner } from './platform/signer/client.ts'
import type { Signer } from './platform/signer/signer.ts'
import { watchSigner } from './platform/signer/watch.ts'
import { createStorage } from './platform/storage.ts'
import { endTrouble } from './platform/trouble.ts'
import { createVault } from './platform/vault.ts'

export type Role = 'api' | 'worker'

/** Reaches the signer of a database, whose address is that of its owner. */
export type ReachSigner = (databaseUrl: string) => Promise<Signer & Partial<Disposable & AsyncDisposable>>

/** The role `worker`, carried out by a process of its own that belongs to this program. */
export interface WorkerProcess {
  /** Rejects while it cannot work. */
  check(): Promise<unknown>
  /** Rejects while it is away or hangs, whatever it can do: what it finds missing it tells by itself. */
  respond(): Promise<unknown>
}

export interface Server {
  /** Where the API answers; empty when this process only captures. */
  url: string
  /** Settles when the embedded PostgreSQL ended without being asked to: nothing works after that. */
  died: Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Every call that this program serves, in the order in which the description of the API lists them. */
export const routes = [
  ...accountRoutes(findPublicIds),
  ...contactRoutes,
  ...companyRoutes(countRefusedCiencias),
  ...logoRoutes,
  ...documentRoutes,
  ...leavingRoutes,
  ...calendarRoutes,
  ...reportRoutes,
  ...reformRoutes,
  ...alertRoutes,
  ...freightRoutes,
  ...supplierRoutes,
  ...letterRoutes,
  ...changeRoutes,
  ...teamRoutes,
  ...keyRoutes,
  ...webhookRoutes,
  ...manifestationRoutes,
  ...companyChangeRoutes(certificateFollowers),
  ...completenessRoutes,
  ...dashboardRoutes,
  ...auditRoutes,
  ...notificationRoutes,
  ...planRoutes,
  ...deletionRoutes,
  ...heldRoutes,
]
const site = fileURLToPath(new URL('../web/dist', import.meta.url))

/** Holds the port of the API with a refusal in words, for what comes before its start. */
export function holdPort(config: Config): Promise<AsyncDisposable> {
  return refuseWhileStarting(config)
}

/**
 * Starts the given roles on one database: the embedded one of `dataDir` (begun here, or joined when a single role finds it running), or
 * that of `databaseUrl`. `listening` is awaited before the API opens its port. `reachSigner`: where there is a signer that the configuration
 * does not know of. `health`: where the roles tell how they are. `worker`:
 * where an API has the other role beside it in a process of its own. `joinsPostgres`: an embedded database has to run already. Dispose to stop in order: no new calls, pages under way finished, then the database.
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
  const { ctx, databaseUrl, died } = await openContext(config, stack, {
    postgres: joinsPostgres ? 'join' : roles.length === 1 ? 'share' : 'start',
    step,
    reachSigner,
  })
  const openNext = (pool: PoolOptions) => openPool(databaseUrl, stack, pool)
  const withPool = (name: Role): Context => {
    const db = openNext(pools[name])
    return { ...ctx, db }
  }
  const ready = health && (() => health.ready())
  // An API that asks nothing must know too, and say it before somebody waits.
  stack.use(repeat(proveEveryMs, async () => void (await ctx.storage.prove()), ctx.log))
  let url = ''
  if (roles.includes('api')) {
    step('Abrindo a API e o site…')
    const serving = withPool('api')
    const door = createDoor(isProved, config.door)
    const hub = openHub(serving, databaseUrl, door.watch(findSession))
    const limited = openNext(pools.limited)
    await requireRole(limited, limitedRole)
    const app = await serveRoutes(serving, routes, findSession, { guest: hub, keys, limited, door })
    const close = prepareClosing(app, ctx.log)
    // Who is sent away to come back later finds nobody listening here any more.
    stack.defer(async () => {
      const closed = close()
      await hub[Symbol.asyncDispose]()
      await closed
    })
    const contract = routes.map(({ route }) => route)
    await serveDocs(app, describeApi(contract, config.productName))
    const metrics = createMetrics(serving, productMetrics, [hub.metrics, backupMetrics(serving)], ready)
    serveMetrics(app, serving, metrics)
    health?.tell(metrics)
    if (await exists(join(site, 'index.html'))) await serveSite(app, site, siteSettings(config))
    await listening?.()
    url = await app.listen({ port: config.port, host: config.listenHost })
    health?.add('api', () => requireReady(serving))
    if (worker) {
      health?.add('worker', worker.check)
      stack.use(watch(serving, 'trabalho', workerIsAway, worker.respond))
    }
    // What was said of the process beside an API before this one; whoever has it still says it again.
    else await endTrouble(ctx, 'trabalho').catch((err: unknown) => ctx.log.warn({ err }, 'trouble was not ended'))
  }
  if (roles.includes('worker')) {
    const working = withPool('worker')
    const limited = openNext(pools.limitedWorker)
    await requireRole(limited, limitedRole)
    const loops: AsyncDisposable[] = []
    // Whatever a webhook or a mail server still takes, no query begins.
    stack.use(together(loops))
    const begin = (loop: AsyncDisposable) => void loops.push(loop)
    // What an event releases comes by the distribution.
    const acknowledge = (workspaceId: number, companyId: number) => acknowledgePending(working, workspaceId, companyId)
    const registered = (service: Service, cnpj: string) => askSoon(working, service, cnpj)
    await holdAfterSilence(working)
    await noteHold(working)
    await markAlive(working)
    begin(repeat(markEveryMs, () => markAlive(working), working.log))
    begin(repeat(pausesEveryMs, () => shortenPauses(working), working.log))
    begin(await startCaptureWorker(working, { received: acknowledge }))
    begin(await startManifestationWorker(working, { registered }))
    const stop = new AbortController()
    begin(
      startReviewWorker(working, [
        followPlan,
        warnOfPlan,
        warnOfCertificates,
        warnOfCaptures,
        eraseUnused,
        proveMissed,
        tellWithheld,
        reviewSuggestions,
        reviewAsked,
      ]),
    )
    const tidyUp = async () => {
      await forgetOld(working)
      await forgetAnnouncements(working)
      await forgetNews(working)
      await deleteSettledMails(working)
      await forgetOutbox(config)
      await forgetExports(working)
      await forgetChanges(working)
      await forgetDeliveries(working)
    }
    const writers = {
      ...companyAnnouncements,
      ...documentAnnouncements,
      ...alertAnnouncements,
      ...manifestationAnnouncements,
      ...captureAnnouncements,
    }
    begin(startTeller(working, writers))
    begin(repeat(tidyUpEveryMs, tidyUp, working.log, longMs))
    begin(repeat(usesEveryMs, () => recordUses(working), working.log))
    begin(startExportWorker(working, limited))
    begin(startWebhookWorker(working))
    begin(startAlertWorker(working, { judged: acknowledge }))
    begin(startContentWorker(working))
    begin(startLetterWorker(working))
    begin(startCertificateWorker(working, certificateFollowers))
    begin(repeat(eraseEveryMs, async () => void (await eraseDue(working, stop.signal)), working.log, longMs))
    begin({ [Symbol.asyncDispose]: async () => stop.abort() })
    begin(startCaptureWatch(working))
    begin(startBackupWorker(working))
    begin(startOperatorLetters(working))
    begin(watchStorage(working))
    begin(watchSigner(working))
    const mails = [
      accountMails,
      deletionMails,
      planMails,
      certificateMails,
      captureMails,
      webhookMails,
      teamMails,
      letterMails(limited),
      keyMails,
      manifestationMails,
      contactMails,
      operatorMails,
    ]
    begin(startMailWorker(working, Object.assign({}, ...mails)))
    health?.tell(createMetrics(working, productMetrics, [backupMetrics(working)], ready))
    health?.add('worker', async () => {
      await requireReady(working)
      if (!(await working.storage.prove())) throw new Error('nothing can be stored')
      if (working.signer.isDown) throw new Error('the signer does not respond')
      if (lateLoops().length > 0) throw new Error('a loop does not turn')
    })
  }
  const owned = stack.move()
  return { url, died, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/** Carries out `work` on the data of an installation, beside its running server or without one. */
export async function operate<T>(
  config: Config,
  work: (ctx: Context) => Promise<T>,
  step: (text: string) => void = () => {},
  reachSigner?: ReachSigner,
): Promise<T> {
  await using stack = new AsyncDisposableStack()
  const { ctx } = await openContext(config, stack, { postgres: 'share', step, reachSigner })
  return await work(ctx)
}

interface OpenOptions {
  /** What becomes of the embedded database: it has to run already, is started unless it runs, or is this process's alone. */
  postgres: 'join' | 'share' | 'start'
  step: (text: string) => void
  reachSigner?: ReachSigner
}

async function reachOwn(config: Config, url: string): ReturnType<ReachSigner> {
  return config.signerSocket ? connectSigner(config.signerSocket, config.sefaz) : openSigner(config, url)
}

async function openContext(
  config: Config,
  stack: AsyncDisposableStack,
  { reachSigner = (url) => reachOwn(config, url), ...options }: OpenOptions,
): Promise<{ ctx: Context; databaseUrl: string; died: Promise<void> }> {
  const { url, died } = await openStorage(config, stack, options)
  const idKey = await prepareInstallation(url, config.sefaz.ambiente)
  const db = openPool(url, stack, pools.task)
  const log = createLogger(config.logLevel)
  await requireRole(db, appRole)
  const signer = await reachSigner(url)
  stack.defer(async () => {
    signer[Symbol.dispose]?.()
    await signer[Symbol.asyncDispose]?.()
  })
  const ctx: Context = {
    db,
    config,
    log,
    vault: createVault(await signer.tokensKey()),
    signer,
    ids: createPublicIds(idKey),
    printer: stack.use(createPrinter()),
    storage: createStorage({ db, config, log }),
  }
  return { ctx, databaseUrl: url, died }
}

function openPool(url: string, stack: AsyncDisposableStack, pool: PoolOptions): Database {
  const db = openDatabase(url, pool)
  stack.defer(() => db.destroy())
  return db
}

/** Brings the database to the newest schema and ends. Returns the names of the migrations that ran. */
export async function migrateOnly(config: Config, step: (text: string) => void = () => {}): Promise<string[]> {
  await using stack = new AsyncDisposableStack()
  return (await openStorage(config, stack, { postgres: 'share', step })).applied
}

async function openStorage(config: Config, stack: AsyncDisposableStack, options: Omit<OpenOptions, 'reachSigner'>) {
  let url = config.databaseUrl
  let died = new Promise<void>(() => {})
  if (!url) {
    options.step('Preparando o PostgreSQL…')
    const openPostgres = { join: joinPostgres, share: sharePostgres, start: startPostgres }[options.postgres]
    const postgres = await openPostgres({ ...embeddedCluster(config), log: options.step })
    if (!postgres) throw new InstallationError('O PostgreSQL deste programa não está no ar. Nada foi alterado.')
    stack.use(postgres)
    url = postgres.url
    died = postgres.died
  }
  options.step('Conferindo a estrutura do banco de dados…')
  return { url, died, ...(await migrate(url)) }
}

const workerIsAway =
  'O processo que captura, envia, avisa e exporta não está funcionando; o programa o inicia de novo sempre que ele termina. Nada é consultado na SEFAZ e nada sai: manifestações, exportações, e-mails e webhooks esperam na fila. Os documentos já guardados estão seguros. A SEFAZ guarda os novos por cerca de 90 dias, e a captura continua de onde parou. O que fazer: veja no log por que ele terminou ou o que o detém, e reinicie o programa se ele não voltar.'

const tidyUpEveryMs = 6 * 3_600_000
const markEveryMs = 60_000
const usesEveryMs = 5 * 60_000
const pausesEveryMs = 60_000
const proveEveryMs = 60_000
const eraseEveryMs = 60_000

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

export { PostgresError } from '@vigia/embedded-postgres/postgres'
export { createAccount, dropSecondFactorOf, shareAccount } from './accounts/accounts.ts'
export { confirmEmailOf } from './accounts/confirmation.ts'
export { listContactMessages } from './accounts/contact/contact.ts'
export { checkCompany, checkFile } from './capture/check/check.ts'
export { examineFile } from './capture/check/file.ts'
export { describeHosts, examineHosts, fetchAuthorities } from './capture/check/hosts.ts'
export { findCompleteness } from './capture/completeness.ts'
export { grantPlan, withdrawPlan } from './capture/plan.ts'
export { listStopped, wakeStopped } from './capture/wake.ts'
export { type Config, ConfigError, readConfig } from './config.ts'
export {
  backUp,
  beginCopies,
  listCopies,
  type MasterKeyCheck,
  prepareRestored,
  type Restored,
  restore,
  tryRestore,
} from './operations/backup/backup.ts'
export { deleteWorkspaceOf, eraseDue, keepWorkspaceOf } from './operations/deletion/deletion.ts'
/** Makes the documents of all companies anew, and has what is inside them read again. */
export const rebuildAll = (ctx: Parameters<typeof rebuildDocuments>[0], done: Parameters<typeof rebuildDocuments>[1]) =>
  rebuildDocuments(ctx, done, readAnew)
export type { Announcement } from './companies/topics.ts'
export { openReceived } from './documents/received/bytes.ts'
export { findPlan, listPlans } from './insights/plans/usage.ts'
export { tellWorkspace } from './notifications/notifications.ts'
export { holdByHand, listHeld, releaseHeld } from './operations/held.ts'
export { openSigner } from './operations/signer/in-process.ts'
export { rotateMasterKey } from './operations/signer/rotation.ts'
export { describeApi } from './platform/http/openapi.ts'
export { createHealth, type Health, openProbes } from './platform/http/probes.ts'
export { InstallationError } from './platform/installation.ts'
export { listUnsentMails, retryFailedMails } from './platform/mail/queue.ts'
export { connectSigner } from './platform/signer/client.ts'
