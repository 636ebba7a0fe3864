import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Clock } from './clock.ts'
import type { FileSource, Ledger } from './ledger.ts'
import { activate, publishFiles, type Reception, release } from './publication.ts'

/** A folder of XML files that the authority receives; each reading finds new and changed files. */
interface Archive {
  read(): Reception[]
}

export function openArchive(ledger: Ledger, clock: Clock, folder: string, options: { answered: boolean }): Archive {
  const seen = new Map<string, string>()
  for (const { source, facts } of ledger.received.values()) {
    if (source === undefined) continue
    seen.set(source.file, stamp(source))
    // Parties of archived documents are users of the service from the start, also after a restart.
    for (const { taxId } of facts.parties) activate(ledger, taxId, clock.now())
    if (options.answered && facts.service === 'nfe') release(ledger, clock, facts.chave)
  }
  return {
    read: () => {
      const fresh = xmlFiles(folder).filter((source) => seen.get(source.file) !== stamp(source))
      for (const source of fresh) seen.set(source.file, stamp(source))
      const incoming = fresh.map((source) => ({ load: () => readFileSync(join(folder, source.file)), source }))
      return publishFiles(ledger, clock, incoming, { activateParties: true, answered: options.answered })
    },
  }
}

function stamp({ size, mtimeMs }: FileSource): string {
  return `${size}:${mtimeMs}`
}

function xmlFiles(folder: string): FileSource[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.xml$/i.test(entry.name))
    .flatMap((entry) => {
      const path = join(entry.parentPath, entry.name)
      // A file may be taken away while the folder is read.
      const stats = statSync(path, { throwIfNoEntry: false })
      return stats === undefined ? [] : [{ file: relative(folder, path), size: stats.size, mtimeMs: stats.mtimeMs }]
    })
    .sort((a, b) => (a.file < b.file ? -1 : 1))
}
