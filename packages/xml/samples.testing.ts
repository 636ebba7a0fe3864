import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Sample {
  file: string
  root: string | null
  malformado: boolean
  assinaturaConfere: boolean | null
}

const folder = join(import.meta.dirname, '../../../shared/data/samples')

/** The sample documents kept beside the repository; none when the folder is missing. */
export const samples: Sample[] = existsSync(folder) ? JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) : []

export function bytesOf(sample: Sample): Buffer {
  return readFileSync(join(folder, sample.file))
}
