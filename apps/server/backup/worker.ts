import { statfs } from 'node:fs/promises'
import { formatBrasiliaMoment } from '@vigia/contract/text'
import { sql } from 'kysely'
import { Gauge, Registry } from 'prom-client'
import { longMs, repeat } from '../jobs/jobs.ts'
import type { Context } from '../platform/context.ts'
import { inTransaction } from '../platform/database.ts'
import { embeddedCluster, InstallationError } from '../platform/installation.ts'
import { tryLock } from '../platform/locks.ts'
import { pause } from '../platform/pause.ts'
import { endTrouble, noteTrouble } from '../platform/trouble.ts'
import { listBaseTimes } from './folder.ts'
import { type Identity, identify, readLines } from './lines.ts'
import type { BackupPlace } from './place.ts'
import { discardWaiting, measureWaiting, readDiscarded, shipWal } from './shipping.ts'

const everyMs = 10_000
// So that the lock is not held for long.
const filesAtOnce = 20
// A place that accepts and stays silent must not keep the worker from telling and discarding.
const patienceMs = 30_000
const scrapeMs = 1_000
const waitsMinutes = 15
const baseHours = 48
// Below 256 MiB nothing is captured any more.
const freeBytesMin = 1 << 30

type BackupContext = Pick<Context, 'db' | 'config' | 'log'>

interface Shipping {
  place: BackupPlace
  archive: string
  /** The cluster whose log it is. */
  identify: () => Promise<Identity>
  /** Free bytes where the log waits. */
  free: () => Promise<number>
  /** How long one turn waits for each thing that it wants of the place. */
  patienceMs: number
}

// What did not end in the turn that began it; nothing new is taken there before it has.
const underWay = new WeakMap<Shipping, Promise<void>>()

// What the log has of the last turn: a trouble is told again by mail, screens and metrics, not every ten seconds there.
const logged = new WeakMap<Shipping, Set<string>>()

/** Takes what the embedded server puts aside of its log to the copies, and tells the operator when copies are missing; until disposed. */
export function startBackupWorker(ctx: BackupContext, databaseUrl: string): AsyncDisposable {
  const { backup, databaseUrl: external } = ctx.config
  const { directory, archive } = embeddedCluster(ctx.config)
  if (!backup || !archive || external) return { [Symbol.asyncDispose]: () => Promise.resolve() }
  let identity: Promise<Identity> | undefined
  const shipping: Shipping = {
    place: backup,
    archive,
    patienceMs,
    identify() {
      identity ??= identify(databaseUrl, directory).catch((error: unknown) => {
        identity = undefined
        throw error
      })
      return identity
    },
    async free() {
      const { bavail, bsize } = await statfs(archive)
      return bavail * bsize
    },
  }
  return repeat(everyMs, () => shipAndTell(ctx, shipping), ctx.log, longMs)
}

/** One turn of it. */
export async function shipAndTell(ctx: BackupContext, shipping: Shipping): Promise<void> {
  const { place, archive } = shipping
  const problems: string[] = []
  const said = new Set<string>()
  const warn = (err: unknown, message: string) => {
    const line = `${message}: ${err instanceof Error ? err.message : String(err)}`
    said.add(line)
    if (!logged.get(shipping)?.has(line)) ctx.log.warn({ err }, message)
  }
  let isLate = false
  try {
    await inTime(ship(ctx, shipping), shipping)
  } catch (error) {
    warn(error, 'the log of the database was not taken to the copies')
    isLate = error instanceof LateError
    // A slow place is told by what waits.
    if (!isLate)
      problems.push(
        error instanceof InstallationError
          ? error.message
          : `O registro do banco de dados não pôde ser levado para as cópias${codeIn(error)}.`,
      )
  }
  const failing = await findArchiverFailure(ctx)
  if (failing) {
    warn(`${failing.wal} since ${failing.since.toISOString()}`, 'the server cannot put its log aside')
    problems.push(
      `O PostgreSQL não consegue separar o que grava em ${archive} desde ${formatBrasiliaMoment(failing.since)} (${failing.wal}): confira espaço e permissões dessa pasta. Enquanto isso o registro cresce em pg_wal, no disco do banco de dados.`,
    )
  }
  try {
    const waiting = await measureWaiting(archive)
    // Copies must not stop the capture: the authority keeps what comes for 90 days only.
    if (waiting.files > 0 && (problems.length > 0 || isLate) && (await shipping.free()) < freeBytesMin) {
      ctx.log.error(
        { files: waiting.files, bytes: waiting.bytes },
        'the log that waited for the copies is discarded: the disk is nearly full',
      )
      await discardWaiting(archive)
    } else if (waiting.since && isOlder(waiting.since, waitsMinutes / 60))
      problems.push(`O que o banco de dados gravou desde ${formatBrasiliaMoment(waiting.since)} ainda não está nelas.`)
  } catch (error) {
    warn(error, 'what waits for the copies cannot be measured or discarded')
    problems.push(`A pasta ${archive}, onde espera o que vai para elas, não pôde ser lida ou gravada${codeIn(error)}.`)
  }
  const times = await inTime(listBaseTimes(place), shipping).catch((error: NodeJS.ErrnoException) => error)
  if (times instanceof Error)
    problems.push(
      `A pasta das cópias não pôde ser lida (${times instanceof LateError ? 'não respondeu a tempo' : (times.code ?? times.message)}).`,
    )
  const newest = times instanceof Error ? null : times.at(-1)
  if (newest === null) warn(times, 'the folder of copies cannot be read')
  else if (!newest) problems.push('Ainda não foi feita nenhuma cópia inteira.')
  else if (isOlder(newest.at, baseHours))
    problems.push(`A última cópia inteira é de ${formatBrasiliaMoment(newest.at)}.`)
  try {
    const discarded = await readDiscarded(archive, newest?.at)
    if (discarded)
      problems.push(
        `O disco estava quase cheio, e o que esperava para ser levado foi descartado em ${formatBrasiliaMoment(discarded)}: das cópias de antes não se chega mais a um momento depois disso. Faça uma cópia nova.`,
      )
  } catch (error) {
    warn(error, 'whether the log was discarded cannot be read')
    problems.push(`Não se sabe se algo que esperava para ser levado foi descartado${codeIn(error)}.`)
  }
  try {
    const counting = (await inTime(readLines(place), shipping)).lines.at(-1)!
    const { line } = await shipping.identify()
    if (counting.timeline !== line.timeline)
      problems.push(
        `Desde ${formatBrasiliaMoment(counting.since)} conta nelas a linha ${counting.timeline}, de um banco de dados que voltou destas cópias, e este é a linha ${line.timeline}. O que este grava vai para lá à parte, e uma restauração só o segue com --linha ${line.timeline}. Se a outra instalação está no ar, pare esta: as duas não podem capturar ao mesmo tempo. Se é esta que vale, pare a outra e diga-o: npm run admin -- backup iniciar.`,
      )
  } catch (error) {
    warn(error, 'the lines of the copies cannot be read')
    problems.push(
      error instanceof InstallationError ? error.message : `Não se sabe que linha conta nelas${codeIn(error)}.`,
    )
  }
  logged.set(shipping, said)
  if (problems.length === 0) return endTrouble(ctx, 'copia')
  await noteTrouble(
    ctx,
    'copia',
    `As cópias de segurança em ${place.directory} não estão em dia. ${problems.join(' ')} O banco de dados funciona, e nada se perdeu; se este disco falhar, falta o que não está nelas. O que fazer: confira se a pasta existe, tem espaço e aceita gravações, e faça uma cópia inteira por dia: npm run admin -- backup.`,
  )
}

function ship(ctx: BackupContext, shipping: Shipping): Promise<void> {
  const { place, archive } = shipping
  const begun =
    underWay.get(shipping) ??
    inTransaction(ctx, async (ctx) => {
      if (await tryLock(ctx, 'backup')) await shipWal(archive, place, await shipping.identify(), filesAtOnce)
    }).finally(() => underWay.delete(shipping))
  underWay.set(shipping, begun)
  return begun
}

class LateError extends Error {}

// What is late goes on, and nobody hears how it ends.
async function inTime<T>(work: Promise<T>, { patienceMs }: Pick<Shipping, 'patienceMs'>): Promise<T> {
  work.catch(() => {})
  const over = new AbortController()
  const tooLate = pause(patienceMs, over.signal).then(() => {
    throw new LateError('the place of the copies did not respond in time')
  })
  return Promise.race([work, tooLate]).finally(() => over.abort())
}

/** Since when the server could not put a part of its log aside; null: it can. */
export async function findArchiverFailure({
  db,
}: Pick<Context, 'db'>): Promise<{ since: Date; wal: string; failures: number } | null> {
  // It tries the same part again and again: the first failure is not known, but no success is later than the last part that was put aside.
  const { rows } = await sql<{ since: Date; wal: string; failures: number }>`
    select coalesce(last_archived_time, stats_reset, last_failed_time) as since, last_failed_wal as wal, failed_count::float8 as failures
      from pg_stat_archiver
     where last_failed_time > coalesce(last_archived_time, '-infinity')`.execute(db)
  return rows[0] ?? null
}

function codeIn(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  return code ? ` (${code})` : ''
}

const isOlder = (at: Date, hours: number) => Date.now() - at.getTime() > hours * 3_600_000

/** What the folders tell of the copies, for Prometheus. */
export function backupMetrics({ config, db }: Pick<Context, 'config' | 'db'>): Registry {
  const registry = new Registry()
  const { archive } = embeddedCluster(config)
  const { backup } = config
  if (!backup || !archive || config.databaseUrl) return registry
  const registers = [registry]
  let newest: Date | undefined
  let reading: Promise<void> | undefined
  const read = async () => {
    const times = await listBaseTimes(backup).catch(() => [])
    newest = times.at(-1)?.at
    reading = undefined
  }
  new Gauge({
    name: 'vigia_backup_base_age_seconds',
    help: 'Age of the newest copy of the whole database; absent before the first.',
    registers,
    async collect() {
      // A scrape does not wait for a place that stays silent: it tells what was found last.
      reading ??= read()
      await inTime(reading, { patienceMs: scrapeMs }).catch(() => {})
      if (newest) this.set((Date.now() - newest.getTime()) / 1000)
      else this.remove()
    },
  })
  new Gauge({
    name: 'vigia_backup_waiting_bytes',
    help: 'Log of the database that the copies do not have yet.',
    registers,
    async collect() {
      this.set((await measureWaiting(archive)).bytes)
    },
  })
  new Gauge({
    name: 'vigia_backup_waiting_seconds',
    help: 'For how long the oldest of it has waited.',
    registers,
    async collect() {
      const { since } = await measureWaiting(archive)
      this.set(since ? (Date.now() - since.getTime()) / 1000 : 0)
    },
  })
  new Gauge({
    name: 'vigia_backup_archiver_failing_seconds',
    help: 'For how long the server has not been able to put its log aside; 0: it can.',
    registers,
    async collect() {
      const failing = await findArchiverFailure({ db })
      this.set(failing ? (Date.now() - failing.since.getTime()) / 1000 : 0)
    },
  })
  return registry
}
