import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../shared/data/samples/', import.meta.url))

/** A sample document beside the repository. */
interface Sample {
  name: string
  bytes: Uint8Array
}

/** The sample documents of a folder whose names match; none when the samples are not beside the repository. */
export function samples(folder: string, name = /\.xml$/): Sample[] {
  if (!existsSync(root + folder)) return []
  return readdirSync(root + folder)
    .filter((file) => name.test(file))
    .map((file) => ({ name: file, bytes: new Uint8Array(readFileSync(`${root}${folder}/${file}`)) }))
}
