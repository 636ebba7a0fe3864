import { join } from 'node:path'
import type { Config } from '../config.ts'

/** Where the embedded PostgreSQL of an installation is, and where it puts its log when that is copied: whoever starts it starts it so. */
export function embeddedCluster({ dataDir, backup }: Pick<Config, 'dataDir' | 'backup'>): {
  directory: string
  archive?: string
} {
  const directory = join(dataDir, 'postgres')
  return backup ? { directory, archive: `${directory}.wal` } : { directory }
}
