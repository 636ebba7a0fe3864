import { type LoadClient, runLoad } from './load.ts'
import { median, report } from './measure.ts'
import { startTenants } from './tenants.ts'

// The list page and the dashboard over HTTP on loopback, sessions opened beforehand: a workspace of a million documents against one of a
// thousand in the same database, and both against a call with nothing but an empty statement in it. The client has a thread of its own.
const sizes = {
  large: { documents: 1_000_000, companies: 10, suppliers: 20_000, currentMonth: 475_000, lastMonth: 117_000 },
  small: { documents: 1_000, companies: 2, suppliers: 300, currentMonth: 60, lastMonth: 60 },
}
const seconds = 3
const rounds = 3

await using api = await startTenants(Object.values(sizes))
const calls = { health: '/health', list: listOfThisMonth(), dashboard: '/v1/api/Dashboard' }
for (const connections of [1, 10]) {
  const measured: Record<string, Awaited<ReturnType<typeof runLoad>>[string][]> = {}
  // Turn by turn, so that a noisy machine disturbs all alike; the first round is not counted.
  for (let round = -1; round < rounds; round++) {
    for (const [kind, path] of Object.entries(calls)) {
      for (const [index, size] of Object.keys(sizes).entries()) {
        if (kind === 'health' && size === 'small') continue
        const client: LoadClient = { token: api.tenants[index]!.token, requests: [{ kind, path }] }
        const clients = Array.from({ length: connections }, () => client)
        const stats = await runLoad({ url: api.url, seconds, clients })
        const name = `${kind}.${size}`
        if (round >= 0) measured[name] = [...(measured[name] ?? []), stats[kind]!]
      }
    }
  }
  const result = Object.fromEntries(
    Object.entries(measured).map(([name, runs]) => [
      name,
      {
        perSecond: median(runs.map(({ perSecond }) => perSecond)),
        p50Ms: median(runs.map(({ p50Ms }) => p50Ms)),
        p99Ms: median(runs.map(({ p99Ms }) => p99Ms)),
        errors: runs.reduce((sum, { errors }) => sum + errors, 0),
      },
    ]),
  )
  const largeToSmall = (kind: string) =>
    Number((result[`${kind}.large`]!.p50Ms / result[`${kind}.small`]!.p50Ms).toFixed(2))
  report('api', {
    connections,
    documents: { large: sizes.large.documents, small: sizes.small.documents },
    goal: { largeToSmall: 1.5 },
    largeToSmall: { list: largeToSmall('list'), dashboard: largeToSmall('dashboard') },
    ...result,
  })
}

function listOfThisMonth(): string {
  const month = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Sao_Paulo' }).format(new Date()).slice(0, 7)
  const last = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate()
  return `/v1/api/DocumentosFiscais?TipoDFe=0&DataDe=${month}-01T00:00:00&DataAte=${month}-${last}T23:59:59`
}
