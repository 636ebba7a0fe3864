import { late, readAnnouncements } from './announcements.ts'
import { callsWhileBlocked, matchCalls, misread, misuse, overlaps, queriesTooMany } from './conversations.ts'
import { compareList, compareReceipts, compareStatuses } from './documents.ts'
import { eventMisuse, forgotten, registeredTwice, sentAgain, unacknowledged, unwanted, wronglyTold } from './events.ts'
import { databaseIsDown, diskFull, whileRowsMove } from './faults.ts'
import type { Installation } from './installation.ts'
import type { SentRequest } from './people.ts'
import type { ChaosPlan } from './plan.ts'
import { readDoubted, readLedger, readLines, readOutgoing, readReceipts, type Service } from './records.ts'

/** A comparison; without problems it passed. */
export interface Check {
  name: string
  problems: string[]
}

const services: readonly { service: Service; type: number }[] = [
  { service: 'nfe', type: 0 },
  { service: 'cte', type: 2 },
]
// NT 2014.002 §3.11.4.2.
const queriesPerHour = 20

/** Compares all that the product has with all that the authority knows. */
export async function compareAll(
  installation: Installation,
  plan: ChaosPlan,
  requests: readonly SentRequest[],
  pending: string[],
): Promise<Check[]> {
  return [
    { name: 'everything settled', problems: pending },
    ...(await compareDocuments(installation)),
    ...(await compareCalls(installation, plan)),
    ...(await compareEvents(installation, requests)),
    { name: 'no process wrote an error', problems: installation.complaints.filter((line) => !isOfTrouble(line)) },
  ]
}

/** Whether a process says this of the trouble that it is in. */
export function isOfTrouble(line: string): boolean {
  return (
    line.includes(diskFull) ||
    /"trouble":"(relogio|consultas|servico|espaco|servidores)"/.test(line) ||
    databaseIsDown.test(line) ||
    // The shard has just moved; who met it tries again.
    line.includes('shard for the given value does not exist') ||
    // Who waits no longer than ten seconds, as the signer, cannot write while the last of a shard is moved; and who holds a lock for which another waits that the move waits for.
    // Both try again.
    (line.startsWith(whileRowsMove) &&
      ['canceling statement due to lock timeout', 'was involved in a distributed deadlock'].some((text) =>
        line.includes(text),
      ))
  )
}

/** Compares what the product holds and shows of each company with what the authority holds; `prefix` stands before the names. */
export async function compareDocuments(
  { authority, database, companies }: Installation,
  prefix = '',
): Promise<Check[]> {
  const checks: Check[] = []
  const receipts = await readReceipts(database)
  const sent = await authority.events()
  for (const { cnpj, client, id, workspace } of companies) {
    const all = await authority.truth(cnpj)
    for (const { service, type } of services) {
      const truth = all.filter((row) => row.service === service)
      const list = await client.list(`TipoDFe=${type}&IdEmpresa=${id}`)
      const held = receipts.filter((row) => row.workspace === workspace && row.cnpj === cnpj && row.service === service)
      const own = sent.filter((event) => event.author === cnpj && event.service === service)
      const name = `${prefix}${cnpj} ${service} of workspace ${workspace}`
      checks.push(
        { name: `${name}: receipts`, problems: compareReceipts(truth, held) },
        { name: `${name}: list`, problems: compareList(truth, list) },
        { name: `${name}: statuses`, problems: compareStatuses(service, truth, own, list) },
      )
    }
  }
  return checks
}

async function compareCalls(
  { authority, database, servers }: Installation,
  { hourMs, answerMs }: ChaosPlan,
): Promise<Check[]> {
  const calls = await authority.calls()
  const announcements = await readAnnouncements(servers.all)
  const checks: Check[] = [
    {
      name: 'nothing left after its lease',
      problems: late(announcements, calls, await authority.events(), answerMs),
    },
  ]
  for (const [line, conversation] of matchCalls(calls, await readLedger(database))) {
    checks.push(
      { name: `${line}: responses as they came`, problems: misread(conversation) },
      { name: `${line}: no misuse`, problems: misuse(conversation, hourMs) },
      { name: `${line}: no call while blocked`, problems: callsWhileBlocked(conversation, hourMs) },
      { name: `${line}: queries by NSU`, problems: queriesTooMany(conversation, hourMs, queriesPerHour) },
      { name: `${line}: one conversation at a time`, problems: overlaps(conversation, answerMs) },
    )
  }
  const lost = (await readLines(database)).filter((line) => line.lost > 0)
  checks.push({
    name: 'nothing is given up',
    problems: lost.map(({ service, cnpj, lost }) => `${service} ${cnpj}: ${lost}`),
  })
  return checks
}

async function compareEvents(
  { authority, database, companies, installedAt }: Installation,
  requests: readonly SentRequest[],
): Promise<Check[]> {
  const outgoing = await readOutgoing(database)
  const sent = await authority.events()
  const calls = await authority.calls()
  const doubted = await readDoubted(database)
  const withoutCiencia: string[] = []
  for (const company of companies) {
    const truth = (await authority.truth(company.cnpj)).filter(
      ({ chave }) => chave === undefined || !doubted.has(chave),
    )
    withoutCiencia.push(...unacknowledged(company, truth, outgoing, installedAt))
  }
  return [
    { name: 'events: automatic Ciência', problems: withoutCiencia },
    { name: 'events: as they were told', problems: wronglyTold(outgoing, sent) },
    { name: 'events: registered once', problems: registeredTwice(sent) },
    { name: 'events: wanted', problems: unwanted(outgoing, sent, requests, companies) },
    { name: 'events: not forgotten', problems: forgotten(outgoing, requests) },
    { name: 'events: not sent again', problems: sentAgain(outgoing, sent) },
    { name: 'events: no misuse', problems: eventMisuse(calls, sent) },
  ]
}
