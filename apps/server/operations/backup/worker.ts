import { formatBrasiliaMoment } from '@vigia/contract/text'
import { Gauge, Registry } from 'prom-client'
import type { Context } from '../../platform/context.ts'
import { inTransaction } from '../../platform/database.ts'
import { inTime } from '../../platform/http/metrics.ts'
import { InstallationError } from '../../platform/installation.ts'
import { repeat } from '../../platform/jobs/loop.ts'
import { tryLock } from '../../platform/locks.ts'
import { endTrouble, noteTrouble } from '../../platform/trouble.ts'
import { backUp, tryRestore } from './backup.ts'
import { listCopyTimes } from './copies.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const everyMs = 60_000
// Enough for a database of some hundred gigabytes and its trial.
const workMs = 12 * hourMs
// Pause before a failed copy is tried again.
const restMs = hourMs
const lateMs = 48 * hourMs
// Three o'clock in Brasília, by UTC.
const nightMs = 6 * hourMs

type BackupContext = Pick<Context, 'db' | 'config' | 'log'>

/** Copies the embedded database each night at three and restores a copy for a trial each week; tells the operator what failed; until disposed. */
export function startBackupWorker(ctx: BackupContext): AsyncDisposable {
  if (!ctx.config.backup || ctx.config.databaseUrl) return { [Symbol.asyncDispose]: () => Promise.resolve() }
  const stop = new AbortController()
  const turn = createBackupTurn(ctx, stop.signal)
  const loop = repeat(everyMs, () => turn(new Date()), ctx.log, workMs)
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await loop[Symbol.asyncDispose]()
    },
  }
}

/** One turn of it, which does what is due at `now`. */
export function createBackupTurn(ctx: BackupContext, signal: AbortSignal): (now: Date) => Promise<void> {
  const { config, log } = ctx
  const place = config.backup!
  const failed = new Map<'copy' | 'trial', { at: number; sentence: string }>()
  const attempt = async (what: 'copy' | 'trial', now: Date, work: () => Promise<unknown>) => {
    const before = failed.get(what)
    if (signal.aborted || (before && now.getTime() - before.at < restMs)) return
    try {
      await inTransaction(ctx, async (locked) => {
        if (!(await tryLock(locked, 'backup'))) return
        await work()
        failed.delete(what)
      })
    } catch (err) {
      if (signal.aborted) return
      log.warn({ err }, `the ${what} of the database failed`)
      const { code } = err as NodeJS.ErrnoException
      const said = err instanceof InstallationError ? err.message : code ? `(${code})` : String(err)
      const begins =
        what === 'copy' ? 'A cópia desta noite não pôde ser feita' : 'A última cópia não pôde ser restaurada'
      failed.set(what, { at: now.getTime(), sentence: `${begins}: ${said}` })
    }
  }
  return async (now) => {
    const night = Math.floor((now.getTime() - nightMs) / dayMs) * dayMs + nightMs
    const newest = async () => (await listCopyTimes(place)).copies.at(-1)
    const isCopied = async () => ((await newest())?.at.getTime() ?? 0) >= night
    const isTried = async () => {
      const { copies, tried } = await listCopyTimes(place)
      const last = tried.at(-1)?.at.getTime() ?? 0
      return copies.length === 0 || now.getTime() - last < 7 * dayMs
    }
    const problems: string[] = []
    try {
      if (!(await isCopied())) await attempt('copy', now, () => backUp(config, undefined, signal))
      if (!(await isTried())) await attempt('trial', now, () => tryRestore(config, undefined, undefined, signal))
      const last = await newest()
      if (!last) problems.push('Ainda não foi feita nenhuma cópia.')
      else if (now.getTime() - last.at.getTime() > lateMs)
        problems.push(`A última cópia é de ${formatBrasiliaMoment(last.at)}.`)
      if (await isCopied()) failed.delete('copy')
      if (await isTried()) failed.delete('trial')
    } catch (err) {
      log.warn({ err }, 'the folder of copies cannot be read')
      const { code, message } = err as NodeJS.ErrnoException
      problems.push(`A pasta das cópias não pôde ser lida (${code ?? message}).`)
    }
    if (signal.aborted) return
    problems.unshift(...[...failed.values()].map(({ sentence }) => sentence))
    if (problems.length === 0) return endTrouble(ctx, 'copia')
    await noteTrouble(
      ctx,
      'copia',
      `As cópias de segurança em ${place.directory} não estão em dia. ${problems.join(' ')} O banco de dados funciona, e nada se perdeu; se este disco falhar, falta o que não está nelas. O que fazer: confira se a pasta existe, tem espaço e aceita gravações, e rode npm run admin -- backup e npm run admin -- backup conferir.`,
    )
  }
}

/** The age of the newest copy, for Prometheus. */
export function backupMetrics({ config }: Pick<Context, 'config'>): Registry {
  const registry = new Registry()
  const { backup } = config
  if (!backup || config.databaseUrl) return registry
  new Gauge({
    name: 'vigia_backup_base_age_seconds',
    help: 'Age of the newest copy of the database; +Inf: there is none, or the folder cannot be read.',
    registers: [registry],
    async collect() {
      const { copies } = await inTime(listCopyTimes(backup)).catch(() => ({ copies: [] }))
      const newest = copies.at(-1)?.at
      this.set(newest ? (Date.now() - newest.getTime()) / 1000 : Infinity)
    },
  })
  return registry
}
