import { randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { link, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { syncFolder } from '@vigia/postgres/durable'
import type { Config } from '../config.ts'
import type { Store } from './store.ts'

export type BackupPlace = NonNullable<Config['backup']>

/** What the settings name. */
export async function storeOf({ directory }: Pick<BackupPlace, 'directory'>): Promise<Store> {
  const pathOf = (name: string) => join(directory, name)
  return {
    async list(folder) {
      const names = await readdir(pathOf(folder), { recursive: true }).catch(absent)
      return names ?? []
    },
    async read(name) {
      const path = pathOf(name)
      return (await stat(path).catch(absent)) && createReadStream(path, { highWaterMark: 1 << 20 })
    },
    async write(name, content) {
      const path = pathOf(name)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      // Another process may write the same at this moment.
      const partial = `${path}.part-${randomBytes(6).toString('hex')}`
      try {
        await pipeline(content, createWriteStream(partial, { mode: 0o600, flush: true }))
        // A link, unlike a rename, replaces nothing.
        const isNew = await link(partial, path).then(
          () => true,
          (error: NodeJS.ErrnoException) => {
            if (error.code === 'EEXIST') return false
            throw error
          },
        )
        await syncFolder(dirname(path))
        return isNew
      } finally {
        await rm(partial, { force: true })
      }
    },
    async look(name) {
      const found = await stat(pathOf(name)).catch(absent)
      return found && { bytes: found.size, at: found.mtime }
    },
    async remove(name) {
      await rm(pathOf(name), { recursive: true, force: true })
    },
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null
  throw error
}
