import type { Installation } from './installation.ts'
import { sleep } from './processes.ts'
import { readLines, readOutgoing, readUnjudged } from './records.ts'

/** Waits until nothing is under way any more, unless `events` may be; returns what still is when the patience is over. */
export async function waitUntilQuiet(
  { authority, database }: Installation,
  { patienceMs, stillMs, events = true }: { patienceMs: number; stillMs: number; events?: boolean },
): Promise<string[]> {
  const until = Date.now() + patienceMs
  for (let quietSince: number | null = null; ; await sleep(stillMs / 15)) {
    const pending = await pendingOf({ authority, database }, events)
    if (pending.length > 0) quietSince = null
    else quietSince ??= Date.now()
    // What has ended may cause something new: a registered event releases a document. A Ciência may wait for the next turn, if a worker was
    // killed after it wrote the summary; and that turn for two hours, if the clock was set.
    if (quietSince !== null && Date.now() - quietSince >= stillMs) {
      const unasked = events ? await unaskedSince({ authority, database }, quietSince) : []
      if (unasked.length === 0 || Date.now() > until) return unasked
    } else if (Date.now() > until) return pending
  }
}

async function unaskedSince(
  { authority, database }: Pick<Installation, 'authority' | 'database'>,
  since: number,
): Promise<string[]> {
  const calls = (await authority.calls()).filter(({ of, at }) => of === 'distribution' && Date.parse(at) > since)
  const asked = new Set(calls.map(({ service, taxId }) => `${service} ${taxId}`))
  const lines = (await readLines(database)).filter(({ service }) => service === 'nfe')
  return lines.flatMap(({ cnpj, service }) =>
    asked.has(`${service} ${cnpj}`) ? [] : `${cnpj} ${service} was not asked for since everything else had ended`,
  )
}

/**
 * Ends the leases of workers that were killed while they judged, when no worker is left: they last two minutes, however short the hours are.
 */
export async function endLeasesOfJudging({ database }: Pick<Installation, 'database'>): Promise<void> {
  await database.query('update alert_position set lease_until = null')
}

async function pendingOf(
  { authority, database }: Pick<Installation, 'authority' | 'database'>,
  withEvents: boolean,
): Promise<string[]> {
  const [highest, lines, events, unjudged] = [
    await authority.sequences(),
    await readLines(database),
    withEvents ? await readOutgoing(database) : [],
    withEvents ? await readUnjudged(database) : [],
  ]
  const pending = unjudged.map((id) => `not all of workspace ${id} is judged`)
  for (const { cnpj, service, lastNsu, gaps, behind, state, message } of lines) {
    const max = highest.get(`${service} ${cnpj}`) ?? 0
    if (BigInt(max) === lastNsu && gaps === 0 && behind === 0) continue
    pending.push(
      `${cnpj} ${service} is at ${lastNsu} of ${max}, ${gaps} gaps, ${behind} subscribers behind (${state}: ${message})`,
    )
  }
  for (const { cnpj, chave, tpEvento, state, message } of events) {
    if (state === 'waiting' || state === 'sending')
      pending.push(`${cnpj} event ${tpEvento} of ${chave} is ${state} (${message})`)
  }
  return pending
}
