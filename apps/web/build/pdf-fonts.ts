import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Plugin } from 'vite'

const resolve = createRequire(import.meta.url).resolve

// The forms use the base-14 fonts, which a PDF does not carry; pdf.js asks for them by name under one address.
export function pdfFonts(): Plugin {
  const manifest = resolve('pdfjs-dist/package.json')
  const directory = path.join(path.dirname(manifest), 'standard_fonts')
  const base = `assets/pdf-fonts-${JSON.parse(readFileSync(manifest, 'utf8')).version}/`
  const fonts = readdirSync(directory).filter((file) => /\.(pfb|ttf)$/.test(file))
  return {
    name: 'pdf-fonts',
    generateBundle() {
      for (const file of fonts) {
        this.emitFile({ type: 'asset', fileName: base + file, source: readFileSync(path.join(directory, file)) })
      }
    },
    configureServer(server) {
      server.middlewares.use(`/${base}`, (request, response, next) => {
        const file = path.basename(request.url ?? '')
        if (!fonts.includes(file)) return next()
        response.end(readFileSync(path.join(directory, file)))
      })
    },
  }
}
