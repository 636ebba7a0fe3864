import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSamples } from '../../tests/support/samples.ts'

interface SampleEntry {
  file: string
  root: string | null
  malformado: boolean
  assinaturaConfere: boolean | null
}

const folder = findSamples()

/** The sample documents kept beside the repository; none when the folder is missing. */
export const samples: SampleEntry[] = folder ? JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) : []

export function bytesOf(sample: SampleEntry): Buffer {
  return readFileSync(join(folder ?? '', sample.file))
}
