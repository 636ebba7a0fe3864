import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Plugin } from 'vite'

const web = path.join(import.meta.dirname, '..')
const publicFiles = ['theme.js', 'favicon.svg']

/**
 * Writes the service worker with the list of what the application needs without a connection: the code of every screen, its styles and its one
 * font. pdf.js is not among it: without a connection there is no document to show.
 */
export function offline(font: string): Plugin {
  return {
    name: 'offline',
    apply: 'build',
    enforce: 'post',
    async generateBundle(_, bundle) {
      const files = new Set<string>()
      const reach = (file: string) => {
        const chunk = bundle[file]
        if (chunk?.type !== 'chunk' || files.has(file) || chunk.moduleIds.some((id) => id.includes('/pdfjs-dist/')))
          return
        files.add(file)
        for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(style)
        for (const next of [...chunk.imports, ...chunk.dynamicImports]) reach(next)
      }
      const entry = Object.values(bundle).find(
        (chunk) => chunk.type === 'chunk' && chunk.isEntry && chunk.facadeModuleId === path.join(web, 'index.html'),
      )
      if (!entry) throw new Error('no chunk belongs to index.html')
      reach(entry.fileName)
      for (const file of Object.keys(bundle)) if (file.includes(`${font}-`) && file.endsWith('.woff2')) files.add(file)
      const addresses = [...files, ...publicFiles].map((file) => `/${file}`).sort()
      const code = await readFile(path.join(web, 'service-worker.js'), 'utf8')
      const hash = createHash('sha256').update(code).update(addresses.join('\n'))
      for (const file of publicFiles) hash.update(await readFile(path.join(web, 'public', file)))
      const written = { version: hash.digest('hex').slice(0, 16), entry: `/${entry.fileName}`, files: addresses }
      const constants = Object.entries(written).map(([key, value]) => `const ${key} = ${JSON.stringify(value)}\n`)
      this.emitFile({ type: 'asset', fileName: 'service-worker.js', source: constants.join('') + code })
    },
  }
}
