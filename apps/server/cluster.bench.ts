import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { compare, report } from '../../bench/measure.ts'
import { startDatabase } from '../../tests/support/postgres.ts'
import { hasCitus, startCluster, withoutCitus } from '../../tests/support/servers/cluster.ts'
import { readDashboard } from './dashboard/dashboard.ts'
import type { Filter } from './documents/filter.ts'
import { searchDocuments } from './documents/list.ts'
import { arrive, resNFe } from './documents/testing.ts'
import { manifestationKinds } from './manifestation/kinds.ts'
import { requestEvents } from './manifestation/requests.ts'
import { contextOf, daysAgo, newOffice, type Office, store } from './manifestation/testing.ts'
import { readWorkspace } from './platform/database.ts'
import { migrate } from './platform/schema/migrate.ts'

// What people and captures do most, on one plain server and on a coordinator with one, two and three servers for rows, all on this machine and all
// durable: what distributing costs a call. What several machines gain cannot be seen on one.
const nodes = [1, 2, 3]
const rounds = 3
const pageSize = 50
const pages = 8
const workspaces = 4

if (!hasCitus) {
  console.log(withoutCitus)
  process.exit(0)
}
const directory = await mkdtemp(join(tmpdir(), 'vigia-bench-'))
await using stack = new AsyncDisposableStack()
stack.defer(() => rm(directory, { recursive: true, force: true }))
const urls: [name: string, url: string][] = [
  ['plain', stack.use(await startDatabase(directory, { durable: true })).url],
]
for (const workers of nodes) {
  const cluster = stack.use(await startCluster(join(directory, `of-${workers}`), { workers, durable: true, shards: 4 }))
  urls.push([`nodes${workers}`, cluster.url])
}
interface Answerable {
  office: Office
  document: string
}
const places = []
for (const [name, url] of urls) {
  await migrate(url)
  const ctx = contextOf(url)
  stack.defer(() => ctx.db.destroy())
  const offices = []
  for (let n = 0; n < workspaces; n++) offices.push(await newOffice(ctx))
  places.push({ name, ctx, offices, number: 0, turn: 0, answerable: [] as Answerable[] })
}
type Place = (typeof places)[number]

const kind = manifestationKinds.nfe.find(({ choice }) => choice === 2)!
const nextOf = (place: Place) => place.offices[place.turn++ % workspaces]!

async function ingest(place: Place): Promise<void> {
  const page = Array.from({ length: pageSize }, () => {
    const number = ++place.number
    return arrive(
      number,
      resNFe({ number, issuerName: 'PAPELARIA CENTRAL LTDA', amount: `${100 + number}.00`, issuedAt: daysAgo(2) }),
    )
  })
  await store(place.ctx, nextOf(place), 'nfe', page)
}

async function list(place: Place, filter: Partial<Filter>): Promise<void> {
  const { rows } = await searchDocuments(place.ctx, nextOf(place).workspaceId, { type: 0, page: 1, ...filter })
  if (rows.length === 0) throw new Error(`${place.name}: nothing was found`)
}

async function findAnswerable({ ctx, offices, answerable }: Place): Promise<void> {
  for (const office of offices) {
    const { rows } = await readWorkspace(ctx, office.workspaceId, ({ db }) =>
      sql<{
        id: bigint
      }>`select id from document where workspace_id = ${office.workspaceId} order by id limit 100`.execute(db),
    )
    answerable.push(...rows.map(({ id }) => ({ office, document: ctx.ids.encode(office.workspaceId, id) })))
  }
}

async function request(place: Place): Promise<void> {
  const { office, document } = place.answerable.pop()!
  const asked = { service: 'nfe' as const, kind, documents: [document], justification: 'Conferida.' }
  const [outcome] = await requestEvents(place.ctx, office.session, asked, 0)
  if (!outcome) throw new Error(`${place.name}: no event was asked for`)
}

const calls: Record<string, { times: number; call: (place: Place) => Promise<unknown> }> = {
  ingest: { times: 4, call: ingest },
  list: { times: 6, call: (place) => list(place, {}) },
  search: { times: 6, call: (place) => list(place, { text: 'papelaria' }) },
  dashboard: { times: 4, call: (place) => readDashboard(place.ctx, nextOf(place).workspaceId) },
  request: { times: 4, call: request },
}
for (const place of places) for (let page = 0; page < pages; page++) await ingest(place)
for (const place of places) await findAnswerable(place)
for (const [name, { times, call }] of Object.entries(calls))
  report(`cluster ${name}`, {
    ...(await compare(
      rounds,
      places.map((place) => ({
        name: place.name,
        run: async () => {
          for (let n = 0; n < times; n++) await call(place)
          return times
        },
      })),
    )),
  })
