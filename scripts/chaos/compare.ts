import { callsWhileBlocked, matchCalls, overlaps, queriesTooMany } from './conversations.ts'
import { compareList, compareReceipts, compareStatuses } from './documents.ts'
import { eventMisuse, forgotten, registeredTwice, sentAgain, unacknowledged, unwanted, wronglyTold } from './events.ts'
import type { Installation } from './installation.ts'
import type { Wish } from './people.ts'
import type { Plan } from './plan.ts'
import { readLedger, readLines, readOutgoing, readReceipts, type Service } from './records.ts'

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
  plan: Plan,
  wishes: readonly Wish[],
  pending: string[],
): Promise<Check[]> {
  return [
    { name: 'everything settled', problems: pending },
    ...(await compareDocuments(installation)),
    ...(await compareCalls(installation, plan)),
    ...(await compareEvents(installation, wishes)),
    { name: 'no process wrote an error', problems: installation.complaints },
  ]
}

async function compareDocuments({ authority, database, companies }: Installation): Promise<Check[]> {
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
      const name = `${cnpj} ${service} of workspace ${workspace}`
      checks.push(
        { name: `${name}: receipts`, problems: compareReceipts(truth, held) },
        { name: `${name}: list`, problems: compareList(truth, list) },
        { name: `${name}: statuses`, problems: compareStatuses(service, truth, own, list) },
      )
    }
  }
  return checks
}

async function compareCalls({ authority, database }: Installation, { hourMs, answerMs }: Plan): Promise<Check[]> {
  const calls = await authority.calls()
  const misuse = await authority.misuse()
  const checks: Check[] = []
  for (const [line, conversation] of matchCalls(calls, await readLedger(database))) {
    const [service, cnpj] = line.split(' ')
    const caused = misuse
      .filter((row) => row.of === undefined && row.service === service && row.cnpj === cnpj && row.count > row.excused)
      .map(({ count, excused }) => `${count} answers 656, of which ${excused} are excused`)
    const unexcused = conversation
      .filter(({ call }) => call.cStat === 656 && call.excused !== true)
      .map(({ call }) => `${call.at} 656 to ${JSON.stringify(call.query)}`)
    checks.push(
      { name: `${line}: no misuse`, problems: [...caused, ...unexcused] },
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
  wishes: readonly Wish[],
): Promise<Check[]> {
  const outgoing = await readOutgoing(database)
  const sent = await authority.events()
  const calls = await authority.calls()
  const withoutCiencia: string[] = []
  for (const company of companies)
    withoutCiencia.push(...unacknowledged(company, await authority.truth(company.cnpj), outgoing, installedAt))
  return [
    { name: 'events: automatic Ciência', problems: withoutCiencia },
    { name: 'events: as they were told', problems: wronglyTold(outgoing, sent) },
    { name: 'events: registered once', problems: registeredTwice(sent) },
    { name: 'events: wanted', problems: unwanted(outgoing, sent, wishes, companies) },
    { name: 'events: not forgotten', problems: forgotten(outgoing, wishes) },
    { name: 'events: not sent again', problems: sentAgain(outgoing, sent) },
    { name: 'events: no misuse', problems: eventMisuse(calls, sent) },
  ]
}
