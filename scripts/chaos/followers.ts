import type { Client } from '../../tests/support/client.ts'
import type { Chance } from './chance.ts'
import type { Check } from './compare.ts'
import type { Installation } from './installation.ts'
import { sleep } from './processes.ts'
import { readOutgoing } from './records.ts'

/** A change as the API tells it. */
export interface ToldChange {
  versao: number
  tipo: string
  idEmpresa: string
  chave: string
}

/** A program that follows a workspace by its change feed, from the first change on. */
export interface Follower {
  workspace: number
  client: Client
  /** Null: it has not been there yet. */
  version: number | null
  read: ToldChange[]
}

/** Two for each workspace: with one rhythm everybody would see the same pages. */
export function newFollowers({ companies }: Pick<Installation, 'companies'>): Follower[] {
  const clients = new Map(companies.map(({ workspace, client }) => [workspace, client]))
  return [...clients].flatMap(([workspace, client]) =>
    [0, 1].map(() => ({ workspace, client, version: null, read: [] })),
  )
}

/** Has `followers` come and go until `signal`. */
export async function comeAndGo(
  followers: readonly Follower[],
  { chance, everyMs }: { chance: Chance; everyMs: number },
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    followers.map(async (follower, index) => {
      while (!signal.aborted) {
        await sleep(chance.between(0, (1 + 9 * (index % 2)) * everyMs), signal)
        if (!signal.aborted) await readPage(follower)
      }
    }),
  )
}

interface Page {
  alteracoes: ToldChange[]
  versao: number
  temMais: boolean
}

// Returns whether there is nothing more.
async function readPage(follower: Follower): Promise<boolean> {
  const since = follower.version === null ? '' : `?desde=${follower.version}`
  const { status, body } = await follower.client.call<Page>('GET', `/v1/api/Alteracoes${since}`)
  // What is said while the database is down.
  if (status === 503) return false
  if (!body.success) throw new Error(`changes after ${follower.version}: ${status} ${body.message}`)
  follower.read.push(...body.data.alteracoes)
  follower.version = body.data.versao
  return !body.data.temMais
}

/** Has them read all that there is. */
export async function readToEnd(followers: readonly Follower[]): Promise<void> {
  for (const follower of followers) while (!(await readPage(follower)));
}

/** Compares what followers were told, whoever came when, with what is here; `prefix` stands before the names. */
export async function compareFollowers(
  { companies, database }: Installation,
  followers: readonly Follower[],
  prefix = '',
): Promise<Check[]> {
  await readToEnd(followers)
  const newcomers = newFollowers({ companies })
  await readToEnd(newcomers)
  const here = new Map<number, string[]>()
  for (const { client, id, workspace } of companies)
    for (const type of [0, 2])
      for (const { chave } of await client.list(`TipoDFe=${type}&IdEmpresa=${id}`))
        here.set(workspace, [...(here.get(workspace) ?? []), `${id} ${chave}`])
  const settled = (await readOutgoing(database)).filter(({ state }) =>
    ['registered', 'rejected', 'unconfirmed'].includes(state),
  )
  const once = newcomers.filter(({ workspace }, index) => newcomers[index - 1]?.workspace !== workspace)
  const answers = once.flatMap(({ read }) => read.filter(({ tipo }) => tipo === 'resposta'))
  return [
    { name: `${prefix}changes: in order, none twice`, problems: [...followers, ...newcomers].flatMap(outOfOrder) },
    {
      name: `${prefix}changes: every document was told`,
      problems: [...followers, ...newcomers].flatMap((one) => untold(one, here.get(one.workspace) ?? [])),
    },
    {
      name: `${prefix}changes: no document was told twice, nor one that is not here`,
      problems: once.flatMap((one) => toldForNothing(one, here.get(one.workspace) ?? [])),
    },
    {
      name: `${prefix}changes: every answer was told`,
      problems: answers.length === settled.length ? [] : [`${answers.length} of ${settled.length}`],
    },
  ]
}

const news = ({ read }: Pick<Follower, 'read'>) =>
  read.filter(({ tipo }) => tipo === 'documento-novo').map(({ idEmpresa, chave }) => `${idEmpresa} ${chave}`)

/** Versions that do not come after the one before. */
export function outOfOrder({ workspace, read }: Pick<Follower, 'workspace' | 'read'>): string[] {
  return read.flatMap(({ versao }, index) => {
    const before = read[index - 1]?.versao ?? 0
    return versao > before ? [] : [`${versao} after ${before} in workspace ${workspace}`]
  })
}

/** Documents that are here and that nobody told. */
export function untold(follower: Pick<Follower, 'workspace' | 'read'>, here: readonly string[]): string[] {
  const told = new Set(news(follower))
  return here.filter((one) => !told.has(one)).map((one) => `${one} in workspace ${follower.workspace}`)
}

/** Documents that were told as new and are not here, or were told twice. */
export function toldForNothing(follower: Pick<Follower, 'workspace' | 'read'>, here: readonly string[]): string[] {
  const left = new Set(here)
  return news(follower).flatMap((one) => (left.delete(one) ? [] : [`${one} in workspace ${follower.workspace}`]))
}
