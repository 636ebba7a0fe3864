import { formatBrasiliaMoment } from '@vigia/contract/text'
import { Gauge, Registry } from 'prom-client'
import type { Context } from '../../platform/context.ts'
import { inTime } from '../../platform/http/metrics.ts'
import { InstallationError } from '../../platform/installation.ts'
import type { Cron } from '../../platform/jobs/jobs.ts'
import { endTrouble, noteTrouble } from '../../platform/trouble.ts'
import { backUp, tryRestore } from './backup.ts'
import { listCopyTimes } from './copies.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
// Three o'clock in Brasília, by UTC.
const nightMs = 6 * hourMs

/** Copies the embedded database each night at three and restores a copy for a trial each week. */
export const backupCron: Cron = {
  name: 'backup',
  everyMs: 60_000,
  run: (ctx, signal) => keepCopies(ctx, signal),
}

/** Makes the copy and the trial that are due at `now`; tells the operator what failed, and throws it, to be tried again. */
export async function keepCopies(
  ctx: Pick<Context, 'db' | 'config'>,
  signal: AbortSignal,
  now = new Date(),
): Promise<void> {
  const { config } = ctx
  const { backup: place } = config
  if (!place || config.databaseUrl) return
  const night = Math.floor((now.getTime() - nightMs) / dayMs) * dayMs + nightMs
  let failing = 'A pasta das cópias não pôde ser lida'
  try {
    const { copies, tried } = await listCopyTimes(place)
    failing = 'A cópia desta noite não pôde ser feita'
    if ((copies.at(-1)?.at.getTime() ?? 0) < night) await backUp(config, undefined, signal)
    failing = 'A última cópia não pôde ser restaurada'
    if (now.getTime() - (tried.at(-1)?.at.getTime() ?? 0) >= 7 * dayMs)
      await tryRestore(config, undefined, undefined, signal)
    await endTrouble(ctx, 'copia')
  } catch (err) {
    if (signal.aborted) throw err
    const { code } = err as NodeJS.ErrnoException
    const said = err instanceof InstallationError ? err.message : code ? `(${code}).` : `${String(err)}.`
    const known = await listCopyTimes(place).catch(() => null)
    const newest = known?.copies.at(-1)
    const last = newest ? ` A última cópia é de ${formatBrasiliaMoment(newest.at)}.` : ''
    const none = known && !newest ? ' Ainda não foi feita nenhuma cópia.' : ''
    await noteTrouble(
      ctx,
      'copia',
      `As cópias de segurança em ${place.directory} não estão em dia. ${failing}: ${said}${last}${none} O banco de dados funciona, e nada se perdeu; se este disco falhar, falta o que não está nelas. O que fazer: confira se a pasta existe, tem espaço e aceita gravações, e rode npm run admin -- backup e npm run admin -- backup conferir.`,
    )
    throw err
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
