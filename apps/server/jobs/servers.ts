import { formatList } from '@vigia/contract/text'
import { sql } from 'kysely'
import { describeSkew, jumpMinMs, sharpMs } from '../platform/clock.ts'
import type { Context, WithDatabase } from '../platform/context.ts'
import { asScheduler, isDistributed } from '../platform/database.ts'
import { endTrouble, noteTrouble } from '../platform/trouble.ts'
import { repeat } from './jobs.ts'
import { type BeforeBack, lookAtServers, reachable } from './reach.ts'

const lookEveryMs = 5_000
const compareEveryMs = 60_000

// What was killed is back within a second or two.
const looksMin = 2

/**
 * Has statements of `ctx.db` about all workspaces pass over servers for rows that do not respond, until disposed, and tells the operator of them when told what to do `beforeBack`
 * (see `lookAtServers`), as one process of an installation has to.
 */
export function watchServers(ctx: Pick<Context, 'db' | 'log'>, beforeBack?: BeforeBack): AsyncDisposable {
  let missed = 0
  // A process before this one may have told it.
  let isTold = true
  const look = async () => {
    const away = await lookAtServers(ctx, beforeBack)
    missed = away.length > 0 ? missed + 1 : 0
    if (missed > 0) ctx.log.warn({ away }, 'servers for rows do not respond: the work of their workspaces waits')
    if (!beforeBack) return
    if (missed >= looksMin) await noteTrouble(ctx, 'servidores', awaySentence(away))
    else if (isTold && missed === 0) await endTrouble(ctx, 'servidores')
    isTold = missed >= looksMin || (isTold && missed > 0)
  }
  return repeat(lookEveryMs, look, ctx.log)
}

/** What the operator reads about servers for rows that do not respond. */
export function awaySentence(away: readonly string[]): string {
  const [them, their] =
    away.length === 1 ? ['Não responde o servidor', 'dele'] : ['Não respondem os servidores', 'deles']
  return `${them} do banco de dados distribuído em ${formatList(away)}. As empresas cujos dados estão lá não entram, não capturam e não enviam manifestações; as outras continuam. Nada se perde: os documentos novos esperam na SEFAZ, que os guarda por cerca de 90 dias. O que fazer: ponha de volta no ar o banco de dados ${their}, ou a réplica dele, e veja o caminho até ele a partir do coordenador.`
}

/** Compares the clocks of the servers for rows with that of the coordinator, until disposed, and tells the operator when one is off. */
export function watchServerClocks(ctx: Pick<Context, 'db' | 'log'>): AsyncDisposable {
  return repeat(compareEveryMs, () => compareServerClocks(ctx), ctx.log)
}

/**
 * Notes the trouble `relogios` while the clock of a server for rows is more than half a minute off that of the coordinator: leases and what is due are decided by both. What a server
 * that does not respond in time would say leaves it as it was. Nothing where there is one server.
 */
export async function compareServerClocks(ctx: Pick<Context, 'db' | 'log'>): Promise<void> {
  // One that is known to be away would only be waited for.
  if (!(await isDistributed(ctx)) || reachable(ctx)) return
  const clocks = await readServerClocks(ctx)
  const off = clocks.filter(({ offMs }) => offMs !== null && Math.abs(offMs) > jumpMinMs)
  if (off.length > 0) {
    ctx.log.warn({ off }, 'clocks of servers for rows are off that of the coordinator')
    await noteTrouble(
      ctx,
      'relogios',
      serverClocksSentence(off.map(({ name, offMs }) => ({ name, seconds: offMs! / 1000 }))),
    )
  } else if (clocks.every(({ offMs }) => offMs !== null)) await endTrouble(ctx, 'relogios')
}

// How far each is ahead of the coordinator's (negative: behind) at least; null: it is not known.
async function readServerClocks(ctx: WithDatabase): Promise<{ name: string; offMs: number | null }[]> {
  const { rows } = await asScheduler(ctx, ({ db }) =>
    sql<{ name: string; at: Date | null; before: Date; after: Date }>`
      select nodename || ':' || nodeport as name, case when success then result::timestamptz end as at,
             statement_timestamp() as before, clock_timestamp() as after
        from run_command_on_workers('select clock_timestamp()') order by 1`.execute(db),
  )
  return rows.map(({ name, at, before, after }) => {
    const tookMs = after.getTime() - before.getTime()
    if (at === null || tookMs > sharpMs) return { name, offMs: null }
    const [aheadMs, behindMs] = [at.getTime() - after.getTime(), before.getTime() - at.getTime()]
    return { name, offMs: aheadMs > 0 ? aheadMs : -Math.max(0, behindMs) }
  })
}

/** What the operator reads about servers for rows whose clocks are ahead of the coordinator's (negative: behind). */
export function serverClocksSentence(off: readonly { name: string; seconds: number }[]): string {
  const named = formatList(off.map(({ name, seconds }) => `o de ${name} está ${describeSkew(seconds)}`))
  return `Os relógios dos servidores do banco de dados distribuído diferem: em relação ao do coordenador, ${named}. Os documentos guardados estão seguros, mas reservas e esperas são decididas em parte por esses relógios: uma manifestação de lá pode sair duas vezes ao mesmo tempo, e o que espera pode esperar a diferença a mais. O que fazer: acerte o relógio desses computadores e ligue a sincronização automática (NTP) em todos, também no do coordenador; este aviso some em um minuto.`
}
