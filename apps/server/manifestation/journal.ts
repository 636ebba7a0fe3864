import { appendFile, mkdir, open, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Context } from '../platform/context.ts'
import type { Batch } from './queue.ts'

// The distribution does not bring a company its own events. Outside the database they are written down once more, so that those registered
// after a copy was made are there when the copy takes the place of the database.

const keptDays = 30
const dayMs = 24 * 3_600_000
const name = /^(\d{4}-\d\d-\d\d)\.jsonl$/
const folderOf = ({ config }: Pick<Context, 'config'>) => join(config.dataDir, 'events')
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10)

const readBackPath = (ctx: Pick<Context, 'config'>) => join(folderOf(ctx), 'read-back')

/** Who registered events: a company of a workspace. */
export type Author = Pick<Batch, 'workspaceId' | 'companyId' | 'cnpj' | 'service'>

interface Entry extends Author {
  xml: string
}

/** Writes down events that the authority registered: XML with its response. A failure is told and holds nothing up. */
export async function writeJournal(
  ctx: Pick<Context, 'config' | 'log'>,
  { workspaceId, companyId, cnpj, service }: Author,
  events: readonly string[],
): Promise<void> {
  const folder = folderOf(ctx)
  const path = join(folder, `${dayOf(Date.now())}.jsonl`)
  const lines = events.map(
    (xml) => `${JSON.stringify({ workspaceId, companyId, cnpj, service, xml } satisfies Entry)}\n`,
  )
  const write = () => appendFile(path, lines.join(''), { mode: 0o600 })
  try {
    await write().catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await write()
    })
    if (!cleaned.has(path)) await removeOld(folder)
    cleaned.add(path)
  } catch (error) {
    ctx.log.warn({ err: error, events: events.length }, 'registered events were not written down outside the database')
  }
}

const cleaned = new Set<string>()

async function removeOld(folder: string): Promise<void> {
  const oldest = dayOf(Date.now() - keptDays * dayMs)
  for (const file of await readdir(folder)) {
    const day = name.exec(file)?.[1]
    if (day && day < oldest) await rm(join(folder, file), { force: true })
  }
}

/** All that was written down, oldest first. */
export async function* readJournal(ctx: Pick<Context, 'config'>): AsyncGenerator<Entry> {
  const folder = folderOf(ctx)
  for (const file of (await readdir(folder).catch(() => [])).sort()) {
    if (!name.test(file)) continue
    await using handle = await open(join(folder, file))
    for await (const line of handle.readLines()) {
      const entry = parse(line)
      if (entry) yield entry
    }
  }
}

/** Whether the events were read back after the restore that was found at `foundAt`. */
export async function wasReadBack(ctx: Pick<Context, 'config'>, foundAt: Date): Promise<boolean> {
  const text = await readFile(readBackPath(ctx), 'utf8').catch(() => '')
  return text === foundAt.toISOString()
}

/** Notes that they were. */
export async function noteReadBack(ctx: Pick<Context, 'config'>, foundAt: Date): Promise<void> {
  await mkdir(folderOf(ctx), { recursive: true, mode: 0o700 })
  await writeFile(readBackPath(ctx), foundAt.toISOString(), { mode: 0o600 })
}

// Null: cut off in the middle.
function parse(line: string): Entry | null {
  try {
    return JSON.parse(line) as Entry
  } catch {
    return null
  }
}
