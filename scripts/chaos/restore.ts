import { operate, releaseHeld } from '@vigia/server/start'
import type { AuthorityCall, AuthorityEvent, Remote } from './authority.ts'
import { createChance } from './chance.ts'
import { type Check, compareDocuments } from './compare.ts'
import { registeredTwice } from './events.ts'
import { compareFollowers, type Follower, readToEnd } from './followers.ts'
import type { Installation, RegisteredCompany } from './installation.ts'
import { askForEvents, type SentRequest } from './people.ts'
import type { ChaosPlan } from './plan.ts'
import { sleep } from './processes.ts'
import { waitUntilQuiet } from './settle.ts'

/**
 * Brings the database back from a copy, after which documents came and events left, and compares what becomes of it. Everything must be settled
 * before; `requests` are the events that were asked for until then, and `followers` have read all that changed.
 */
export async function restoreAndCompare(
  installation: Installation,
  plan: ChaosPlan,
  requests: readonly SentRequest[],
  followers: readonly Follower[],
): Promise<Check[]> {
  const { authority, database, config } = installation
  const patience = { patienceMs: plan.patienceHours * plan.hourMs, stillMs: 1.5 * plan.hourMs }
  const copy = await installation.copyDatabase()
  const sentInCopy = await countSendings(authority)
  const forgotten = await workOn(installation, plan)
  // Versions that the copy does not know.
  await readToEnd(followers)
  const sentSince = await countSendings(authority)
  await copy.bringBack()

  const restoredAt = new Date().toISOString()
  const worker = (await installation.startWorker())!
  const held = await waitUntilQuiet(installation, { ...patience, events: false })
  const { rows: found } = await database.query('select 1 from restore where released_at is null')
  const sentWhileHeld = await countSendings(authority)
  await operate(config, (ctx) => releaseHeld(ctx, { withoutAutomatic: false }))
  const pending = await waitUntilQuiet(installation, patience)
  await worker.stop()

  const sent = await authority.events()
  const calls = (await authority.calls()).filter(({ at }) => at > restoredAt)
  const all = [...requests, ...forgotten]
  return [
    { name: 'restore: events had left after the copy', problems: sentSince > sentInCopy ? [] : ['none'] },
    { name: 'restore: it was noticed', problems: found.length === 1 ? [] : ['nobody noticed'] },
    { name: 'restore: no event left before its release', problems: sentWhileHeld > sentSince ? ['some left'] : [] },
    { name: 'restore: all was captured before its release', problems: held },
    { name: 'restore: everything settled', problems: pending },
    { name: 'restore: one refusal a conversation', problems: refusedTwice(calls) },
    { name: 'restore: events registered once', problems: registeredTwice(sent) },
    { name: 'restore: events wanted', problems: unasked(sent, all, installation.companies) },
    ...(await compareDocuments(installation, 'restore: ')),
    ...(await compareFollowers(installation, followers, 'restore: ')),
  ]
}

// Some hours of a usual day.
async function workOn(installation: Installation, { seed, hourMs, requestEveryMs }: ChaosPlan): Promise<SentRequest[]> {
  await installation.replaceAuthority('busy')
  const worker = (await installation.startWorker())!
  const over = AbortSignal.timeout(4 * hourMs)
  const requests = await askForEvents(installation, { chance: createChance(seed + 8), everyMs: requestEveryMs }, over)
  await sleep(hourMs)
  await worker.stop()
  await installation.replaceAuthority('calm')
  return requests
}

async function countSendings(authority: Remote): Promise<number> {
  return (await authority.events()).reduce((sum, { sendings }) => sum + sendings.length, 0)
}

// The authority refuses the first query of a cursor that is too old; the next one must go on from where it says.
function refusedTwice(calls: readonly AuthorityCall[]): string[] {
  const refused = calls.filter(({ of, cStat }) => of === 'distribution' && cStat === 656)
  return [...Map.groupBy(refused, ({ service, taxId }) => `${service} ${taxId}`)]
    .filter(([, refusals]) => refusals.length > 1)
    .map(([line, refusals]) => `${line}: ${refusals.map(({ at }) => at).join(', ')}`)
}

const acknowledgement = 210210

// Events that neither a person nor a switch wanted.
function unasked(
  sent: readonly AuthorityEvent[],
  requests: readonly SentRequest[],
  companies: readonly RegisteredCompany[],
): string[] {
  const requested = new Set(
    requests.map(({ company, service, chave, tpEvento }) => [service, company.cnpj, chave, tpEvento].join(' ')),
  )
  const acknowledging = new Set(companies.filter((one) => one.acknowledges).map(({ cnpj }) => cnpj))
  return sent
    .filter(({ tpEvento, author }) => tpEvento !== acknowledgement || !acknowledging.has(author))
    .map(({ service, author, chave, tpEvento }) => [service, author, chave, tpEvento].join(' '))
    .filter((key) => !requested.has(key))
}
