import { glob, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

// Writes a compressed copy beside each file, as small as possible, for the server to send.
export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir = '' }) {
      const compressed: Promise<void>[] = []
      for await (const name of glob('**/*.{js,mjs,css,svg}', { cwd: dir })) {
        const file = path.join(dir, name)
        const content = await readFile(file)
        compressed.push(
          promisify(brotliCompress)(content).then((result) => writeFile(`${file}.br`, result)),
          promisify(gzip)(content, { level: 9 }).then((result) => writeFile(`${file}.gz`, result)),
        )
      }
      await Promise.all(compressed)
    },
  }
}
