import { readFileSync } from 'node:fs'
import { constants } from 'node:zlib'

/** Frames without what is known beside them: the size of what is inside, the dictionary, a checksum. */
export const bareFrame = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_contentSizeFlag]: 0,
  [constants.ZSTD_c_dictIDFlag]: 0,
  [constants.ZSTD_c_checksumFlag]: 0,
}

/** Dictionaries by their numbers, each read once. */
export function readDictionaries(fileOf: (id: number) => URL): (id: number) => Buffer {
  const loaded = new Map<number, Buffer>()
  return (id) => {
    const known = loaded.get(id)
    if (known) return known
    const read = readFileSync(fileOf(id))
    loaded.set(id, read)
    return read
  }
}
