import { readdir, readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import type pg from 'pg'

/** Shares of one core, in percent: of the event loop's thread, of other threads of this process, of its children (worker, authority), and of the database's connections. */
interface Use {
  loop: number
  threads: number
  children: number
  database: number
}

const tickMs = 10

/** Begins to count who uses the processors (Linux only; elsewhere nothing is known of threads and database). */
export async function startUse(owner: pg.Client): Promise<() => Promise<Use>> {
  const began = performance.now()
  const before = await read(owner)
  return async () => {
    const after = await read(owner)
    const share = (of: (one: Counts) => Map<string, number>) => {
      // Of threads and connections that ended meanwhile nothing is known.
      const ms = [...of(after)].reduce((all, [id, ms]) => all + ms - (of(before).get(id) ?? 0), 0)
      return Math.round((100 * ms) / (performance.now() - began))
    }
    return {
      loop: share(({ loop }) => loop),
      threads: share(({ threads }) => threads),
      children: share(({ children }) => children),
      database: share(({ database }) => database),
    }
  }
}

type Counts = Record<keyof Use, Map<string, number>>

async function read(owner: pg.Client): Promise<Counts> {
  const { rows } = await owner.query<{ pid: number }>('select pid from pg_stat_activity')
  const own = `/proc/${process.pid}/task`
  const ids = await readdir(own).catch(() => [])
  const times = (files: [id: string, file: string][]) =>
    Promise.all(files.map(async ([id, file]) => [id, await readMs(file)] as const)).then((all) => new Map(all))
  return {
    loop: await times([['loop', `${own}/${process.pid}/stat`]]),
    children: await times((await childrenOf(own)).map((id) => [id, `/proc/${id}/stat`])),
    threads: await times(ids.filter((id) => Number(id) !== process.pid).map((id) => [id, `${own}/${id}/stat`])),
    database: await times(rows.map(({ pid }) => [String(pid), `/proc/${pid}/stat`])),
  }
}

async function childrenOf(tasks: string): Promise<string[]> {
  const ids = await readdir(tasks).catch(() => [])
  const lists = await Promise.all(ids.map((id) => readFile(`${tasks}/${id}/children`, 'utf8').catch(() => '')))
  return lists.flatMap((list) => list.split(' ').filter(Boolean))
}

// proc(5): utime and stime are the twelfth and thirteenth after the name in brackets.
async function readMs(file: string): Promise<number> {
  const text = await readFile(file, 'utf8').catch(() => '')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return tickMs * (Number(fields[11] ?? 0) + Number(fields[12] ?? 0))
}
