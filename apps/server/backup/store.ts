import type { Readable } from 'node:stream'

/** Where copies are kept: files under names with `/`, each written once, whole and for ever, or not at all. */
export interface Store {
  /** The names below `folder`, relative to it; none when there is no such folder. */
  list(folder: string): Promise<string[]>
  /** Null: there is no such file. */
  read(name: string): Promise<Readable | null>
  /** False: there is one of this name, and it stays as it is. */
  write(name: string, content: AsyncIterable<Buffer>): Promise<boolean>
  look(name: string): Promise<{ bytes: number; at: Date } | null>
  /** A file, or a folder with all that is in it. */
  remove(name: string): Promise<void>
}
